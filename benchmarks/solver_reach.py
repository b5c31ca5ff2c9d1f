"""How far from the end of a round open-card play is solved exactly, and in what time.

    python benchmarks/solver_reach.py --games 20

Positions are those of rounds between `greedy` players; a position that takes more than --positions is given up.
"""

from __future__ import annotations

import argparse
import statistics
import time

from scopa_agents.solve import Solver, Unsolvable
from scopa_env import Game, make_agent

PLAYS_LEFT = {
    "scopa": (12, 24, 36),
    "escoba": (12, 24, 36),
    "asso_piglia_tutto": (36,),
    "bga_scopa_4p": (12, 24, 36),
    "scopone": (12, 16, 20, 24),
    "scopone_scientifico": (12, 16, 20, 24),
}


def position(rules: str, seed: int, left: int) -> Game:
    """Return a game with `left` plays to come, played by `greedy`."""
    game = Game(rules, seed=seed)
    agent = make_agent("greedy", seed)
    while game.rules.num_plays - len(game.plays) > left:
        game.push(agent.act(game.view(game.seat)))
    return game


def main() -> None:
    """Solve and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--positions", type=int, default=50_000_000, help="positions visited at most")
    options = parser.parse_args()
    solver = Solver(options.positions)
    solver.solve(Game("mini_scopa", seed=1))  # compiled
    print("| rules | plays left | solved | median seconds | longest | median positions |\n|---|---|---|---|---|---|")
    for rules, lefts in PLAYS_LEFT.items():
        for left in lefts:
            seconds, visited, given_up = [], [], 0
            for seed in range(options.games):
                game = position(rules, seed, left)
                begin = time.perf_counter()
                try:
                    visited.append(solver.solve(game).positions)
                except Unsolvable:
                    given_up += 1
                    visited.append(options.positions)
                seconds.append(time.perf_counter() - begin)
            solved = f"{options.games - given_up} of {options.games}"
            figures = f"{statistics.median(seconds):.3f} | {max(seconds):.3f} | {statistics.median(visited):,.0f}"
            print(f"| {rules} | {left} | {solved} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
