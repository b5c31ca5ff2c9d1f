"""Playouts: a round played to its end by a fast policy, on records that hold every card."""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_agents.expert import expert_move
from scopa_agents.greedy import greedy_move
from scopa_env.engine.moves import random_move
from scopa_env.engine.play import finish_play
from scopa_env.engine.rng import random_bits
from scopa_env.engine.state import PLAYING
from scopa_env.kernel import kernel
from scopa_env.policy import Policy, call_policy

_UNIT = np.float64(2.0**-53)
_S11 = np.uint64(11)


@kernel
def random_unit(game: Any) -> float:
    """Draw a number from 0 (included) to 1 (excluded) by the generator of `game`."""
    return np.float64(random_bits(game) >> _S11) * _UNIT


@kernel
def name_random_move(rules: Any, game: Any) -> int:
    """Name a random legal move in the record: its ``card`` and all that it captures as ``chosen``."""
    game["card"], game["chosen"] = random_move(rules, game)
    return 0


@kernel
def name_greedy_move(rules: Any, game: Any) -> int:
    """Name the move of `greedy` in the record."""
    game["card"], game["chosen"] = greedy_move(rules, game)
    return 0


@kernel
def name_expert_move(rules: Any, game: Any) -> int:
    """Name the move of `expert` in the record."""
    game["card"], game["chosen"] = expert_move(rules, game)
    return 0


ROLLOUTS = {
    "random": Policy(name_random_move),
    "greedy": Policy(name_greedy_move),
    "expert": Policy(name_expert_move),
}
"""Policies of playouts.  Search calls them by their address: so what it compiles does not hold them all."""


@kernel
def name_move(rules: Any, games: Any, at: int, policy: int, epsilon: float) -> None:
    """Name a move in games[at], that of a policy or, with probability `epsilon`, a random one.

    Args:
        rules: RULES[1].
        games: GAME[N].
        at: the game.
        policy: address of one of ROLLOUTS.
        epsilon: share of random moves.
    """
    if epsilon > 0.0 and random_unit(games[at]) < epsilon:
        name_random_move(rules[0], games[at])
    else:
        call_policy(policy, rules, games, at)


@kernel
def roll_out(rules: Any, games: Any, at: int, policy: int, epsilon: float) -> None:
    """Play the round of games[at] to its end, in place (arguments as for `name_move`)."""
    while games[at]["stage"] == PLAYING:
        name_move(rules, games, at, policy, epsilon)
        finish_play(rules[0], games[at])


@kernel
def margin(rules: Any, game: Any, side: int) -> float:
    """Return the points of `side` in the finished round less the mean of the other sides' points."""
    sides = int(rules["sides"])
    total = 0
    for other in range(sides):
        total += int(game["points"][other])
    own = int(game["points"][side])
    return own - (total - own) / (sides - 1)
