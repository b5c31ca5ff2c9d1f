"""OpenSpiel's search from the first decision of a game, random playouts: simulations a second.  Prints JSON."""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable

import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts

SIMULATIONS = 200


def first_decision(game, rng: random.Random):
    """Return the state of the first decision after random chance events."""
    state = game.new_initial_state()
    while state.is_chance_node():
        actions, weights = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(rng.choices(actions, weights)[0])
    return state


def rate(bot, state, seconds: float) -> float:
    """Return the simulations a second of CPU time."""
    bot.step(state)
    begin, count = time.process_time(), 0
    while time.process_time() - begin < seconds:
        bot.step(state)
        count += SIMULATIONS
    return count / (time.process_time() - begin)


def ismcts(game) -> object:
    """Return the information-set search in C++."""
    policy = pyspiel.ISMCTSFinalPolicyType.NORMALIZED_VISIT_COUNT
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    return pyspiel.ISMCTSBot(1, evaluator, 2.0, SIMULATIONS, -1, policy, False, False)


def python_mcts(game) -> object:
    """Return the tree search in Python."""
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    return mcts.MCTSBot(game, 2.0, SIMULATIONS, evaluator)


BOTS: dict[str, tuple[str, Callable]] = {
    "OpenSpiel euchre, ISMCTS in C++": ("euchre", ismcts),
    "OpenSpiel leduc_poker, ISMCTS in C++": ("leduc_poker", ismcts),
    "OpenSpiel euchre, MCTS in Python": ("euchre", python_mcts),
    "OpenSpiel tic_tac_toe, MCTS in Python": ("tic_tac_toe", python_mcts),
}


def main(seconds: float) -> None:
    """Measure everything for about `seconds` each."""
    figures = {}
    for name, (short_name, make) in BOTS.items():
        game = pyspiel.load_game(short_name)
        figures[name] = rate(make(game), first_decision(game, random.Random(0)), seconds)
    print(json.dumps(figures))


if __name__ == "__main__":
    main(float(sys.argv[1]))
