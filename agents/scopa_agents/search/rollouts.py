"""Playouts: a round played to its end by a fast policy, on records that hold every card."""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_agents.expert import expert_move
from scopa_agents.greedy import greedy_move
from scopa_env.engine.moves import random_move
from scopa_env.engine.play import play
from scopa_env.engine.rng import random_bits
from scopa_env.engine.state import PLAYING
from scopa_env.kernel import inlined, kernel

ROLLOUTS = ("random", "greedy", "expert")
"""Policies of playouts; kernels know them by their place here."""
RANDOM, GREEDY, EXPERT = range(3)

_UNIT = np.float64(2.0**-53)
_S11 = np.uint64(11)


@kernel
def random_unit(game: Any) -> float:
    """Draw a number from 0 (included) to 1 (excluded) by the generator of `game`."""
    return np.float64(random_bits(game) >> _S11) * _UNIT


@inlined
def rollout_move(rules: Any, game: Any, policy: int, epsilon: float) -> Any:
    """Return a move by a policy of ROLLOUTS, with probability `epsilon` a random one."""
    if policy == RANDOM or (epsilon > 0.0 and random_unit(game) < epsilon):
        return random_move(rules, game)
    if policy == EXPERT:
        return expert_move(rules, game)
    return greedy_move(rules, game)


@kernel
def roll_out(rules: Any, game: Any, policy: int, epsilon: float) -> None:
    """Play the round of `game` to its end, in place."""
    while game["stage"] == PLAYING:
        card, captured = rollout_move(rules, game, policy, epsilon)
        play(rules, game, card, captured)


@kernel
def margin(rules: Any, game: Any, side: int) -> float:
    """Return the points of `side` in the finished round less the mean of the other sides' points."""
    sides = int(rules["sides"])
    total = 0
    for other in range(sides):
        total += int(game["points"][other])
    own = int(game["points"][side])
    return own - (total - own) / (sides - 1)
