"""Strength against budget: search with more and more time against one opponent, as a table and a picture.

    python benchmarks/budget_curve.py --rules scopa --against expert --deals 300 --out curve.jsonl --picture curve.png

Killed, it goes on from its file when it is called again.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scopa_agents.arena import ArenaSettings, Pairing, tournament
from scopa_agents.arena_table import progress_bar
from scopa_agents.plots import COLORS, picture

CURVES = {
    "pimc:W, playouts by expert": [f"pimc:{worlds}" for worlds in (5, 20, 100, 400)],
    "pimc:W, playouts by greedy": [f"pimc:{worlds},rollout=greedy,epsilon=0.3" for worlds in (20, 100, 400, 2000)],
    "ismcts:N": [f"ismcts:{iterations}" for iterations in (100, 400, 1600, 6400, 25600)],
}
"""By what is drawn as one line: the agents, by growing budget."""
DEPTHS = [f"pimc:50,solve={plays}" for plays in (12, 18, 24)]
"""Worlds solved from farther and farther away; ``pimc:50`` alone solves the last deal of two players."""


def rows_of(found: dict[str, Pairing], agents: list[str]) -> list[Pairing]:
    """Return the results of agents in order."""
    return [found[agent] for agent in agents if agent in found]


def draw(found: dict[str, Pairing], path: Path, title: str) -> None:
    """Draw margin against time a move."""
    with picture(path, 7, 4.5) as (figure, axes):
        axes.axhline(0, color="0.4", lw=0.8)
        for color, (label, agents) in zip(COLORS, CURVES.items(), strict=True):
            rows = rows_of(found, agents)
            times = [1000 * row.seconds_per_move for row in rows]
            errors = [[row.margin - row.low for row in rows], [row.high - row.margin for row in rows]]
            axes.errorbar(
                times, [row.margin for row in rows], yerr=errors, fmt="o-", ms=5, capsize=3, color=color, label=label
            )
        axes.set_xscale("log")
        axes.set_xlabel("mean time a move, milliseconds")
        axes.set_ylabel("points a round; 95 % interval")
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
        figure.suptitle(title, fontsize=10)


def main() -> None:
    """Play, print a table in Markdown and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", default="scopa")
    parser.add_argument("--against", default="expert")
    parser.add_argument("--deals", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--depths", action="store_true", help="also worlds solved from farther away")
    parser.add_argument("--out", type=Path, help="file of the games, from which an interrupted run goes on")
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    agents = [agent for curve in CURVES.values() for agent in curve] + (["pimc:50", *DEPTHS] if options.depths else [])
    settings = ArenaSettings(options.rules, options.deals, options.seed, jobs=options.jobs, out=options.out)
    with progress_bar("curve", options.deals, "deals") as bar:
        result = tournament(agents, options.against, settings, bar.advance_to)
    found = {one.a: one for one in result.pairings}
    print(f"| agent | against {options.against} | 95 % interval | ms a move |\n|---|---|---|---|")
    for one in rows_of(found, agents):
        print(
            f"| {one.a} | {one.margin:+.3f} | {one.low:+.3f} .. {one.high:+.3f} | {1000 * one.seconds_per_move:.2f} |"
        )
    if options.picture:
        title = f"{result.rules}, {options.deals} duplicate deals against {options.against}"
        draw(found, options.picture, title)


if __name__ == "__main__":
    main()
