"""Agents that play the move which a network values most."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from scopa_agents.base import Actions, ArrayAgent
from scopa_agents.network.forward import best_move, move_value, new_space
from scopa_agents.network.network import MoveNetwork
from scopa_agents.search.alphabeta import list_of_moves
from scopa_env.actions import Move
from scopa_env.engine.moves import first_action
from scopa_env.engine.state import PLAYING, Records, copy_of
from scopa_env.game import View, view_to_act
from scopa_env.kernel import kernel
from scopa_env.rules import Rules, same_rounds


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


@kernel
def judge_by_network(rules: Any, views: Any, moves: Any, net: Any, space: Any, values: Any) -> None:
    """Write the value of each of MOVE[M] in views[0], GAME[1], to float64[M]."""
    for k in range(len(moves)):
        card, captured = int(moves[k]["card"]), moves[k]["captured"]
        values[k] = move_value(rules, views, 0, card, captured, net, space, k == 0)


TEMPERATURE = 0.25
"""Points: a move that is so much worse than another counts as e times less likely to be played."""


@dataclass(frozen=True)
class Judged:
    """What a network says of a move.

    Attributes:
        move: the move.
        value: points of the own side over the mean of the others' that are to be expected after it; NaN if the network
            says none.
        probability: of the move: that of a policy; of values, the softmax with temperature `TEMPERATURE`.
    """

    move: Move
    value: float
    probability: float


class NetworkAgent(ArrayAgent):
    """Plays the move with the largest value; the first of equal ones.

    Args:
        network: the network.
        name: name of the agent.
    """

    def __init__(self, network: MoveNetwork, name: str = "network") -> None:
        self.network = network
        self.name = name

    def check_rules(self, rules: Rules) -> None:
        """Warn if the network was not trained on these rules."""
        trained = self.network.rules
        if trained and not any(same_rounds(rules, one) for one in trained):
            names = ", ".join(map(str, trained))
            warnings.warn(f"agent {self.name!r} was trained on {names} and plays {rules}", stacklevel=2)

    def seed(self, seed: int | None) -> None:
        """Do nothing: the agent is deterministic, and need not be made again to be seeded."""

    def judge(self, view: View) -> list[Judged]:
        """Return what the network says of each legal move of the observer of `view`, which is to act.

        Raises:
            TypeError: it is no view.
            ValueError: its observer is not to act.
        """
        records = copy_of(view_to_act(self.name, view).records)
        moves = view.legal_moves
        values, space = np.empty(len(moves)), new_space(self.network.widest)
        judge_by_network(view.rules.record, records, list_of_moves(moves), self.network.arrays, space, values)
        shares = np.exp((values - values.max()) / TEMPERATURE)
        return [Judged(*one) for one in zip(moves, values.tolist(), (shares / shares.sum()).tolist(), strict=True)]

    def act_batch(self, rules: Rules, views: Records) -> Actions:
        """Return the next action of the best move in each game, int64[N]."""
        out = np.empty(len(views), np.int64)
        decide_by_network(rules.record, views, self.network.arrays, new_space(self.network.widest), out)
        return out
