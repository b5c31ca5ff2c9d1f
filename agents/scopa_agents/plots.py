"""Pictures: the style that all of them share, and those of the arena.

matplotlib is imported when the first picture is drawn; it comes with the extra ``plot``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from scopa_agents.arena import Tournament
from scopa_agents.arena.results import Pairing, note_of_few, what_is_played
from scopa_env.extras import how_to_install
from scopa_env.files import whole_file

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
"""Colours that are told apart by everyone (Okabe and Ito)."""

DIVERGING = "PuOr_r"
"""From purple below zero to orange above it, told apart by everyone; white at zero."""

LINE = 24
"""Most characters of a line of an agent's name in a picture."""

LINES = 4
"""Most lines of it."""


class PlotError(ValueError):
    """Pictures that cannot be drawn; the message says what is missing."""


@contextmanager
def picture(path: Path, width: float, height: float, rows: int = 1, columns: int = 1) -> Iterator[tuple[Any, Any]]:
    """Give a figure of this size in inches and its axes; they are written to a PNG file, whole or not at all.

    Of several rows or columns the axes are an array.

    Raises:
        PlotError: matplotlib is not installed.
    """
    check_plots()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    yield figure, figure.subplots(rows, columns)
    with whole_file(path) as unfinished:
        figure.savefig(unfinished, dpi=150, format="png")


def check_plots() -> None:
    """Raise a PlotError if matplotlib is not installed: to be called before long work that ends in a picture."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise PlotError(
            f"matplotlib is not installed; pictures need the extra 'plot': {how_to_install('plot')}"
        ) from None


def labels(names: Sequence[str]) -> list[str]:
    """Return names as they fit beside an axis: in several lines, and of the longest the first lines and the last.

    Different names stay different: those that are shortened to the same are numbered.
    """
    whole = [_lines(name) for name in names]
    found = ["\n".join(lines) if len(lines) <= LINES else "" for lines in whole]
    for place, lines in enumerate(whole):
        if not found[place]:
            found[place] = _shortened(lines, found)
    return [label.replace("$", r"\$") for label in found]  # else matplotlib reads formulas


def _shortened(lines: Sequence[str], others: Sequence[str]) -> str:
    """Return the first lines and the last, with what is left out marked in between."""
    for number in itertools.count(1):
        mark = "…" if number == 1 else f"… #{number} …"
        label = "\n".join([*lines[: LINES - 2], mark, lines[-1]])
        if label not in others:
            return label
    raise AssertionError


def _lines(name: str) -> list[str]:
    """Break a name, after a space or a sign between its parts where there is one."""
    lines = [""]
    for part in re.findall(rf"[^ :/,]{{1,{LINE - 1}}}[ :/,]?|[ :/,]", name):
        if len(lines[-1]) + len(part) > LINE:
            lines.append("")
        lines[-1] += part
    return [line.strip() for line in lines]


def signed(value: float, digits: int) -> str:
    """Return a number with its sign, as the axes write it."""
    return f"{value:+.{digits}f}".replace("-", "\N{MINUS SIGN}")


def draw_tournament(tournament: Tournament, folder: Path) -> list[Path]:
    """Draw a tournament; return the files: ``cross_table.png`` and ``ladder.png``.

    Raises:
        PlotError: matplotlib is not installed.
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / "cross_table.png", folder / "ladder.png"]
    draw_cross_table(tournament, files[0])
    draw_ladder(tournament, files[1])
    return files


def cross_table(tournament: Tournament) -> tuple[list[str], np.ndarray[Any, np.dtype[np.float64]]]:
    """Return the agents, the best one first, and float64[n, n]: mean margin of the row against the column.

    NaN where two have not met.  An agent against itself is only there if it has been played.
    """
    agents = [one.agent for one in tournament.ratings]
    index = {name: place for place, name in enumerate(agents)}
    table = np.full((len(agents), len(agents)), np.nan)
    for one in tournament.pairings:
        table[index[one.b], index[one.a]] = -one.margin
        table[index[one.a], index[one.b]] = one.margin
    return agents, table


def draw_cross_table(tournament: Tournament, path: Path) -> None:
    """Draw who beats whom by how much as a heat map."""
    agents, table = cross_table(tournament)
    reference = reference_of(tournament)
    columns = range(len(agents)) if reference is None else [agents.index(reference)]
    shown = table[:, columns]
    opponents = [agents[column] for column in columns]
    most = float(np.nanmax(np.abs(shown))) or 1.0
    if reference is not None:
        met = ~np.isnan(shown[:, 0])
        agents, shown = [name for name, there in zip(agents, met, strict=True) if there], shown[met]
    check_plots()
    from matplotlib.patches import Rectangle

    names = labels(agents)
    if reference is None:
        rows, heads = [f"{rank}. {name}" for rank, name in enumerate(names, 1)], [str(rank + 1) for rank in columns]
    else:
        rows, heads = names, labels([reference])
    height = max(0.5, 0.19 * max(name.count("\n") + 1 for name in names))
    with picture(path, max(0.85 * len(columns) + 3.6, 5.2), height * len(agents) + 1.3) as (figure, axes):
        axes.set_facecolor("0.92")
        image = axes.imshow(shown, cmap=DIVERGING, vmin=-most, vmax=most, aspect="auto")
        axes.set_xticks(range(len(columns)), heads)
        axes.set_yticks(range(len(agents)), rows)
        axes.set_xticks(np.arange(len(columns) - 1) + 0.5, minor=True)
        axes.set_yticks(np.arange(len(agents) - 1) + 0.5, minor=True)
        axes.grid(which="minor", color="white", lw=1.5)
        axes.tick_params(which="both", length=0, labeltop=True, labelbottom=False)
        axes.spines[:].set_visible(False)
        for (row, column), value in np.ndenumerate(shown):
            if not np.isnan(value):
                color = "white" if abs(value) > 0.65 * most else "black"
                axes.text(column, row, signed(value, 2), ha="center", va="center", color=color, fontsize=9)
                if agents[row] == opponents[column]:  # against itself, a check
                    axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, hatch="//", ec="0.7", lw=0))
        figure.colorbar(image, ax=axes, label="points a round")
        figure.suptitle(
            f"{what_is_played(tournament.pairings)}\nmean margin of the row against the column", fontsize=10
        )


def reference_of(tournament: Tournament) -> str | None:
    """Return the one opponent of every pairing, as under ``--against``; None if there is none or more than one."""
    others = [{one.a, one.b} for one in tournament.pairings if one.a != one.b]
    common = set.intersection(*others) if others else set()
    return common.pop() if len(common) == 1 else None


def draw_ladder(tournament: Tournament, path: Path) -> None:
    """Draw the agents in order with their intervals: points against the one opponent of all, or else Elo."""
    reference = reference_of(tournament)
    if reference is None:
        rows = [(one.agent, one.elo, one.low, one.high) for one in tournament.ratings]
        what, digits = "Elo, the mean of all agents 0", 0
    else:
        rows = [_towards(one, reference) for one in tournament.pairings if one.a != one.b]
        rows.sort(key=lambda row: -row[1])
        what, digits = f"points a round over {' '.join(labels([reference])[0].splitlines())}", 2
    names = labels([row[0] for row in rows])
    height = max(0.45, 0.19 * max(name.count("\n") + 1 for name in names))
    places = range(len(rows))
    center = np.array([row[1] for row in rows])
    errors = np.array([[row[1] - row[2], row[3] - row[1]] for row in rows]).T
    with picture(path, 7, height * len(rows) + 1.5) as (figure, axes):
        axes.axvline(0, color="0.4", lw=0.8)
        axes.errorbar(center, places, xerr=errors, fmt="o", ms=5, color=COLORS[0], capsize=3, lw=1.5)
        for place, value in enumerate(center.tolist()):
            above = (value, place), (0, 6)
            axes.annotate(signed(value, digits), *above, textcoords="offset points", ha="center", fontsize=8)
        axes.set_yticks(places, names)
        axes.set_ylim(len(rows) - 0.5, -0.8)
        axes.margins(x=0.08)
        axes.set_xlabel(f"{what}; 95 % interval")
        axes.grid(axis="x", alpha=0.3)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        title = what_is_played(tournament.pairings)
        if reference is None and (note := note_of_few(tournament.pairings)):
            title += f"\n{note}"
        figure.suptitle(title, fontsize=10)


def _towards(one: Pairing, reference: str) -> tuple[str, float, float, float]:
    if one.b == reference:
        return one.a, one.margin, one.low, one.high
    return one.b, -one.margin, -one.high, -one.low
