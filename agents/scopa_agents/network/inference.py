"""Inference by a network: worlds weighted by how likely the plays that were seen are if all seats move by it.

See `scopa_agents.search.inference`.  The model plays a move by the softmax of its values, or errs with probability
`noise`: then every legal move is equally likely.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_agents.network.forward import move_value
from scopa_agents.network.network import MoveNetwork
from scopa_agents.search.inference import MODELS, NO_MODEL, Pool, draw_afresh, go_back
from scopa_env.engine.bits import NONE
from scopa_env.engine.hidden import plays_since_deal
from scopa_env.engine.moves import next_move
from scopa_env.engine.state import NOBODY, Records
from scopa_env.kernel import kernel
from scopa_env.rules import Rules

BY_NETWORK = "network"
"""The model of the network itself."""
INFERENCES = (NO_MODEL, BY_NETWORK, *MODELS)
"""What ``inference`` may be of an agent with a network."""
SOFTNESS = 0.1
"""Of the softmax, in points."""


@kernel
def chance_by_network(rules: Any, games: Any, noise: float, net: Any, space: Any) -> float:
    """Return how likely the move is that games[0] names, which is taken back.

    Args:
        rules: RULES[1].
        games: GAME[1], with a card named.
        noise: probability that the seat errs.
        net: `MoveNetwork.arrays`.
        space: `new_space`.
    """
    game = games[0]
    named_card, named_captured = int(game["card"]), game["chosen"]
    game["card"], game["chosen"] = NOBODY, NONE
    top, total, named, count = -np.inf, 0.0, -np.inf, 0
    card, captured = next_move(rules[0], game, NOBODY, NONE)
    while card != NOBODY:
        value = move_value(rules, games, 0, card, captured, net, space, count == 0)
        if value > top:  # the sum stays one of exponentials up to 1
            total = total * np.exp((top - value) / SOFTNESS) + 1.0
            top = value
        else:
            total += np.exp((value - top) / SOFTNESS)
        if card == named_card and captured == named_captured:
            named = value
        count += 1
        card, captured = next_move(rules[0], game, card, captured)
    return noise / count + (1.0 - noise) * float(np.exp((named - top) / SOFTNESS)) / total


@kernel
def likelihood_by_network(
    rules: Any, worlds: Any, at: int, past: Any, observer: int, noise: float, net: Any, space: Any
) -> float:
    """Return what `likelihood` does, by a network (the last two arguments as for `chance_by_network`)."""
    past[0] = worlds[at]
    result = 1.0
    left = go_back(rules[0], past[0], observer, plays_since_deal(rules[0], worlds[at]))
    while left >= 0:
        result *= chance_by_network(rules, past, noise, net, space)
        left = go_back(rules[0], past[0], observer, left)
    return result


@kernel
def draw_pool_by_network(
    rules: Any, root: Any, pool: Any, past: Any, weights: Any, noise: float, net: Any, space: Any
) -> None:
    """Draw worlds as `draw_pool` does, by a network (the last two arguments as for `chance_by_network`)."""
    observer = int(root[0]["seat"])
    for k in range(len(pool)):
        draw_afresh(rules[0], root[0], pool, k)
        weights[k] = np.log(likelihood_by_network(rules, pool, k, past, observer, noise, net, space))


class NetworkPool(Pool):
    """Weighted worlds by the model of a network.

    Args:
        network: the network.
        space: `new_space`.
        noise: probability that a seat errs, above 0.
        size: number of worlds.
    """

    def __init__(self, network: MoveNetwork, space: Any, noise: float, size: int) -> None:
        super().__init__(BY_NETWORK, noise, size)
        self._net, self._space = network.arrays, space

    def _fill(self, rules: Rules, root: Records, places: slice) -> None:
        worlds, weights = self._worlds[places], self._weights[places]
        draw_pool_by_network(rules.record, root, worlds, self._past, weights, self.noise, self._net, self._space)


def pool_of(settings: Any, network: MoveNetwork, space: Any) -> Pool:
    """Return the pool of an agent's settings: ``inference``, ``noise`` and ``pool``."""
    if settings.inference == BY_NETWORK:
        return NetworkPool(network, space, settings.noise, settings.pool)
    return Pool(settings.inference, settings.noise, settings.pool)
