"""Agents that play the move which a network values most."""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_agents.base import Actions, ArrayAgent
from scopa_agents.network.forward import best_move, new_space
from scopa_agents.network.network import MoveNetwork
from scopa_env.engine.moves import first_action
from scopa_env.engine.state import PLAYING, Records
from scopa_env.kernel import kernel
from scopa_env.rules import Rules


@kernel
def decide_by_network(rules: Any, views: Any, net: Any, space: Any, out: Any) -> None:
    """Write the next action of the best move in each game.

    Args:
        rules: RULES[1].
        views: GAME[N], stripped.
        net: `MoveNetwork.arrays`.
        space: `new_space`.
        out: int64[N], written; 0 where the round is over.
    """
    for i in range(len(views)):
        out[i] = 0
        if views[i]["stage"] == PLAYING:
            card, captured, _ = best_move(rules, views, i, net, space, False)
            out[i] = first_action(views[i], card, captured)


class NetworkAgent(ArrayAgent):
    """Plays the move with the largest value; the first of equal ones.

    Args:
        network: the network.
        name: name of the agent.
    """

    def __init__(self, network: MoveNetwork, name: str = "network") -> None:
        self.network = network
        self.name = name

    def seed(self, seed: int | None) -> None:
        """Do nothing: the agent is deterministic, and need not be made again to be seeded."""

    def act_batch(self, rules: Rules, views: Records) -> Actions:
        """Return the next action of the best move in each game, int64[N]."""
        out = np.empty(len(views), np.int64)
        space = new_space(self.network.widest)
        decide_by_network(rules.record, views, self.network.arrays, space, out)
        return out
