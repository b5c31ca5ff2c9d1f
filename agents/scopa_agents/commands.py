"""`scopa arena` and `scopa agents`."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from scopa_agents.arena import ArenaSettings, Tournament, read_tournament, tournament
from scopa_agents.arena.results import HALF_WIDTH
from scopa_agents.arena_table import progress_bar, reports
from scopa_agents.learned import model_for, shipped_models
from scopa_agents.plots import check_plots, draw_tournament
from scopa_env.agents import agent_names
from scopa_env.files import check_folder, whole_file
from scopa_env.presets import PRESETS
from scopa_env.rules import Rules

DEFAULTS = ArenaSettings()

SHOWN_FORFEITS = 5
"""Forfeited games that are named under the tables; the files have all of them."""


def arena_command(
    *agents: str,
    against: str | None = None,
    settings: Annotated[ArenaSettings, Parameter(name="*")] = DEFAULTS,
    from_files: Annotated[list[Path] | None, Parameter(name="--from", consume_multiple=True)] = None,
    json_file: Annotated[Path | None, Parameter(name="--json", allow_leading_hyphen=True)] = None,
    markdown: Path | None = None,
    plots: Path | None = None,
    variance: bool = False,
    half_width: float = HALF_WIDTH,
) -> None:
    """Let agents play each other on duplicate deals: every deal once per rotation of the seats.

    Args:
        agents: names (greedy, expert, pimc:100, ismcts:20ms, learned:FILE) or module:attribute.
        against: play everyone against this agent only, instead of all pairings.
        settings: how it is played.
        from_files: show what these files of earlier runs (--out) hold instead of playing.
        json_file: write the results to this file as JSON; ``-`` is standard output.
        markdown: write the tables to this file.
        plots: draw the cross table and the ladder into this folder.
        variance: also show how many deals an interval takes, with duplicate deals and without.
        half_width: half-width of that interval, in points a round.
    """
    to_stdout = str(json_file) == "-"
    if not 0 < half_width < float("inf"):
        raise ValueError(f"half_width={half_width!r}: allowed are numbers above 0")
    for path in (None if to_stdout else json_file, markdown):
        if path is not None:
            check_folder(path)
    if plots is not None:
        _check_plots_folder(plots)
    if from_files is None:
        result = _play(agents, against, settings)
    elif agents or against or settings != DEFAULTS:
        raise ValueError("--from: shows files, plays nothing; how to play and agents are allowed without it only")
    else:
        result = read_tournament(from_files)
    _show(result, Console(stderr=to_stdout), half_width if variance else None, markdown)
    if plots is not None:
        draw_tournament(result, plots)
    if json_file is not None:
        _write(None if to_stdout else json_file, json.dumps(result.as_json(half_width), indent=2) + "\n")


def _check_plots_folder(folder: Path) -> None:
    check_plots()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "is a file" if folder.is_file() else error.strerror
        raise ValueError(f"plots={str(folder)!r}: {reason}; allowed is a folder, or the name of a new one") from None


def _play(agents: tuple[str, ...], against: str | None, settings: ArenaSettings) -> Tournament:
    """Play; what agents print goes to stderr, as standard output is for the results."""
    with redirect_stdout(sys.stderr), progress_bar("arena", 1, "deals") as bar:
        return tournament(agents, against, settings, bar.advance_to)


def _show(result: Tournament, console: Console, half_width: float | None, markdown: Path | None) -> None:
    found = reports(result, half_width)
    for report in found:
        report.print(console)
    if markdown is not None:
        _write(markdown, "\n".join(report.markdown() for report in found))
    forfeits = result.forfeits
    for one in forfeits[:SHOWN_FORFEITS]:
        text = f"forfeit: deal {one['deal']} of {' against '.join(one['pairing'])}: {one['error']}"
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    if len(forfeits) > SHOWN_FORFEITS:
        console.print(f"and {len(forfeits) - SHOWN_FORFEITS} more forfeited games", highlight=False)


def _write(path: Path | None, text: str) -> None:
    if path is None:
        sys.stdout.write(text)
        return
    with whole_file(path) as unfinished:
        unfinished.write_text(text, "utf-8")


AGENTS = {
    "random": "every legal move equally likely",
    "greedy": "the best card of this moment by fixed weights",
    "expert": "one-ply play by counting cards, in points",
    "pimc": "W worlds that agree with what is known, judged with open cards: pimc:100, pimc:20ms",
    "ismcts": "N iterations of information-set tree search: ismcts:1000, ismcts:20ms",
    "mcts_cheating": "sees every card, an upper reference, in the arena only: mcts_cheating:1000",
    "learned": "a trained network: learned:NAME, learned:FILE; in search learned:NAME+pimc:100, +ismcts:1000",
    "text": "a language model, or any function from a text to a text: text:MODULE:FUNCTION",
    "open_spiel": "a bot of OpenSpiel: open_spiel:ismcts:100, open_spiel:random",
}
"""What the agents of this package do."""


def agents_command() -> None:
    """List the agents that are installed and the shipped networks, with the presets for which `learned` takes each."""
    console = Console()
    agents = Table("agent", "", box=None)
    for name in agent_names():
        agents.add_row(name, AGENTS.get(name, "of another package"))
    agents.add_row("module:attribute", "your own: an agent, its class, or a function from a View to a Move")
    console.print(agents)
    taken: dict[str, list[str]] = {name: [] for name in shipped_models()}
    for preset in PRESETS:
        taken[model_for(Rules.preset(preset))].append(preset)
    networks = Table("network", "points a round over greedy", "what 'learned' is in", box=None)
    for name, path in shipped_models().items():
        card = json.loads(path.with_suffix(".json").read_text("utf-8"))
        rows = [row for row in card["arena"] if row["against"] == "greedy" and row["rules"] in card["rules"]]
        margins = [f"{row['rules']} {row['margin']:+.2f} ± {row['interval'][1] - row['margin']:.2f}" for row in rows]
        networks.add_row(f"learned:{name}", "\n".join(margins), "\n".join(taken[name]))
    console.print()
    console.print(networks)
