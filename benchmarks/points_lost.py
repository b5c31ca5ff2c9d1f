"""Points that agents lose against perfect play with open cards, a round, in two-player games.

    python benchmarks/points_lost.py random greedy expert pimc:100 ismcts:1000 mcts_cheating:1000 --deals 100

Each agent plays both seats of each deal against itself.  A play loses what it takes off the value that perfect play
with every card known would reach from there; the losses of a round are added up by side.
"""

from __future__ import annotations

import argparse

import numpy as np

from scopa_agents.arena import deal_games, interval
from scopa_agents.solve import Solver, points_lost
from scopa_env import Game, Rules
from scopa_env.agents import make_any_agent, sees_everything


def play(agents: list, game: Game) -> None:
    """Play a round to its end, seat by seat."""
    while not game.round_over:
        agent = agents[game.seat]
        game.push(agent.act_game(game.copy()) if sees_everything(agent) else agent.act(game.view(game.seat)))


def main() -> None:
    """Play, solve and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="+")
    parser.add_argument("--rules", default="scopa")
    parser.add_argument("--deals", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.deals < 2:
        parser.error("--deals: allowed are whole numbers from 2")
    rules = Rules.parse(options.rules)
    solver = Solver()
    print(f"{rules.text()}, {options.deals} deals, seed {options.seed}")
    print("| agent | points lost a round | 95 % interval | plays that lose nothing |\n|---|---|---|---|")
    for spec in options.agents:
        lost, clean = [], []
        for deal in range(options.deals):
            game = Game.from_records(rules, deal_games(rules, deal, 1, options.seed, 1))
            play([make_any_agent(spec, rules.players * deal + seat, rules) for seat in range(rules.players)], game)
            found = solver.losses(game)
            lost.append(np.mean(points_lost(found, rules)))
            clean.append(np.mean([loss.lost == 0 for loss in found]))
        mean, low, high = interval(np.array(lost))
        print(f"| {spec} | {mean:.2f} | {low:.2f} .. {high:.2f} | {100 * np.mean(clean):.1f} % |", flush=True)


if __name__ == "__main__":
    main()
