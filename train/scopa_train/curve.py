"""Learning curves: margins against fixed opponents over the course of a training."""

from __future__ import annotations

import itertools
import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Parameter

from scopa_agents.arena import Pairing
from scopa_agents.plots import COLORS, picture
from scopa_env.files import check_folder
from scopa_train.presets import saved_run
from scopa_train.report import write_json


class Curve:
    """Points of a learning curve, by opponent."""

    def __init__(self, title: str, unit: str = "decisions") -> None:
        self.title = title
        self.unit = unit
        self.points: dict[str, list[dict[str, Any]]] = {}

    def add(self, opponent: str, step: int, result: Pairing, seconds: float = 0.0) -> None:
        """Add the result after `step` units, and so many seconds of training."""
        point = {
            self.unit: step,
            "seconds": round(seconds, 1),
            "margin": result.margin,
            "low": result.low,
            "high": result.high,
        }
        self.points.setdefault(opponent, []).append(point)

    def save(self, folder: Path) -> None:
        """Write ``curve.json`` and ``curve.png`` into `folder`."""
        write_json(folder / "curve.json", {"title": self.title, "unit": "points a round", "curves": self.points})
        self._draw(folder / "curve.png")

    def _draw(self, path: Path) -> None:
        most = max((point[self.unit] for points in self.points.values() for point in points), default=0)
        size, word = (1_000_000, "millions") if most >= 5_000_000 else (1000, "thousands")
        panels: dict[str, list[Line]] = {}
        for label, points in self.points.items():
            opponent, _, game = label.partition(" in ")
            line = f"against {opponent}", [point[self.unit] / size for point in points], points
            panels.setdefault(game, []).append(line)
        draw_panels(path, panels, self.title, f"{self.unit} ({word})")


Line = tuple[str, Sequence[float], Sequence[dict[str, Any]]]
"""A line of a picture: its name, places on the horizontal axis, points."""
INTERVALS = "mean and 95 % interval"
MOST_COLUMNS = 3


def draw_panels(path: Path, panels: Mapping[str, Sequence[Line]], title: str, axis: str, what: str = INTERVALS) -> None:
    """Draw lines with their intervals, those of each game in a panel of its own.

    Args:
        path: the picture.
        panels: lines by what stands above their panel.
        title: what stands above all.
        axis: what the horizontal axis counts.
        what: what lines and intervals are.
    """
    columns = max(1, min(MOST_COLUMNS, len(panels)))
    rows = max(1, -(-len(panels) // columns))
    width, height = (7.0, 4.2) if len(panels) < 2 else (3 * columns + 0.4, 2.4 * rows + 1.1)
    with picture(path, width, height, rows, columns) as (figure, grid):
        every = np.ravel(grid)
        names = dict.fromkeys(name for lines in panels.values() for name, *_ in lines)
        colors = dict(zip(names, itertools.cycle(COLORS), strict=False))
        for axes, (name, lines) in zip(every, panels.items(), strict=False):
            _draw_lines(axes, lines, colors)
            axes.set_title(name, fontsize=10)
        figure.suptitle(title)
        known = {line.get_label(): line for axes in every for line in axes.lines[:-1]}
        if known:
            columns_of_legend = min(len(known), LEGEND_COLUMNS)
            figure.legend(known.values(), known.keys(), loc="outside lower center", ncols=columns_of_legend, title=what)
        if len(panels) < 2:
            every[0].set(xlabel=axis, ylabel=POINTS)
            return
        for k, axes in enumerate(every):
            if k + columns >= len(panels):  # nothing below it
                axes.set_xlabel(axis)
            if k >= len(panels):
                axes.remove()
        figure.supylabel(POINTS, fontsize=10)


POINTS = "points a round over the opponent"
LEGEND_COLUMNS = 3


def _draw_lines(axes: Any, lines: Sequence[Line], colors: Mapping[str, str]) -> None:
    """Draw lines with their intervals, and one at zero; colours by name."""
    for name, places, points in lines:
        color = colors[name]
        low, high = [p["low"] for p in points], [p["high"] for p in points]
        axes.fill_between(places, low, high, color=color, alpha=0.2, lw=0)
        if len(points) == 1:  # an interval without width
            axes.vlines(places, low, high, color=color, alpha=0.4, lw=2)
        axes.plot(places, [p["margin"] for p in points], "o-", ms=3.5, color=color, label=name)
    axes.axhline(0, color="0.4", lw=0.8)
    axes.grid(alpha=0.3)


def read_curve(folder: Path) -> dict[str, Any]:
    """Return what ``curve.json`` of a run holds.

    Raises:
        ValueError: the folder has none, or it cannot be read.
    """
    path = folder / "curve.json"
    try:
        content = json.loads(path.read_text("utf-8"))
        points = [p for points in content["curves"].values() for p in points]
        if not isinstance(content["title"], str) or not all(p["low"] <= p["margin"] <= p["high"] for p in points):
            raise KeyError("title or margin")
        for point in points:
            _step(point)
            _minutes(point)
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"run={str(folder)!r}: has no curve.json; allowed is the folder of a training run") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: not the curve of a training run ({error!r})") from None
    return dict(content)


def game_of(title: str, opponent: str) -> str:
    """Return what is played on a curve, by its run's title and its name."""
    return opponent.partition(" in ")[2] or title.partition(" on ")[2].partition(", ")[0]


def _minutes(point: Mapping[str, Any]) -> float:
    """Return how long a point's run had trained."""
    return float(point["seconds"]) / 60


def _step(point: Mapping[str, Any]) -> float:
    """Return what the horizontal axis of a run's own curve counts, in thousands."""
    return (
        float(next(value for name, value in point.items() if name not in ("seconds", "margin", "low", "high"))) / 1000
    )


def groups_of(runs: Sequence[Path]) -> list[list[int]]:
    """Return the places of runs that differ in nothing but the seed, together.

    Raises:
        ValueError: the settings of one cannot be read.
    """
    found: dict[str, list[int]] = {}
    for k, folder in enumerate(runs):
        content = saved_run(folder)
        settings = {name: value for name, value in content["settings"].items() if name != "seed"}
        found.setdefault(json.dumps([content["recipe"], settings], sort_keys=True), []).append(k)
    return list(found.values())


def mean_of(curves: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean of the curves of some runs; its intervals are their ranges.

    Raises:
        ValueError: one of them has more points than another: it is not finished.
    """
    means: dict[str, list[dict[str, Any]]] = {}
    for opponent, first in curves[0]["curves"].items():
        rows = [curve["curves"].get(opponent, []) for curve in curves]
        if any(len(row) != len(first) for row in rows):
            counts = ", ".join(str(len(row)) for row in rows)
            raise ValueError(
                f"runs of {curves[0]['title']!r}: have {counts} points against {opponent}; allowed is the same number"
            )
        means[opponent] = []
        for points in zip(*rows, strict=True):
            point = {name: statistics.fmean(one[name] for one in points) for name in points[0]}
            margins = [one["margin"] for one in points]
            means[opponent].append({**point, "low": min(margins), "high": max(margins)})
    runs = f"{len(curves)} runs" if len(curves) > 1 else "1 run"
    return {"title": f"{curves[0]['title']}, {runs}", "curves": means}


def curves_command(
    runs: tuple[Path, ...],
    /,
    *,
    against: str = "greedy",
    over: Literal["minutes", "decisions"] = "minutes",
    mean: bool = False,
    out: Annotated[Path, Parameter(name="--out")] = Path("curves.png"),
) -> None:
    """Draw the learning curves of several runs in one picture.

    Args:
        runs: folders of training runs.
        against: the opponent; of a run in several games there is a panel for each.
        over: minutes of training, or decisions to learn from as the run's own curve counts them.
        mean: runs that differ in nothing but the seed become one line, their mean, with their range.
        out: the picture, PNG.
    """
    if out.suffix != ".png":
        raise ValueError(f"out={str(out)!r}: allowed is a file that ends in .png")
    check_folder(out)
    for k, folder in enumerate(runs):
        if folder.resolve() in [other.resolve() for other in runs[:k]]:
            raise ValueError(f"run={str(folder)!r}: given twice")
    curves = [read_curve(folder) for folder in runs]
    several = len({game_of(curve["title"], opponent) for curve in curves for opponent in curve["curves"]}) > 1
    if mean:
        groups = groups_of(runs)
        curves = [mean_of([curves[k] for k in group]) for group in groups]
        runs = tuple(runs[group[0]] for group in groups)
    titles = [curve["title"] for curve in curves]
    panels: dict[str, list[Line]] = {}
    where = _minutes if over == "minutes" else _step
    for folder, curve in zip(runs, curves, strict=True):
        found = {name: points for name, points in curve["curves"].items() if name.partition(" in ")[0] == against}
        if not found:
            names = ", ".join(dict.fromkeys(name.partition(" in ")[0] for name in curve["curves"]))
            raise ValueError(f"against={against!r}: {str(folder)!r} was evaluated against {names}")
        name = curve["title"] + (f" ({folder})" if titles.count(curve["title"]) > 1 else "")
        for opponent, points in found.items():
            game = game_of(curve["title"], opponent) if several else ""
            panels.setdefault(game, []).append((name, [where(p) for p in points], points))
    axis = "minutes of training" if over == "minutes" else "decisions to learn from (thousands)"
    draw_panels(out, panels, f"Against {against}", axis, "mean and range of runs" if mean else INTERVALS)
    print(f"saved {out}")
