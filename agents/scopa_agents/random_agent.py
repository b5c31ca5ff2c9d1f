"""`random`: every legal move equally likely."""

from __future__ import annotations

from collections import Counter
from typing import Any

from scopa_agents.base import CompiledAgent
from scopa_env.actions import next_action
from scopa_env.engine.moves import first_action, random_move
from scopa_env.game import View, view_to_act
from scopa_env.kernel import kernel
from scopa_env.policy import Policy


@kernel
def uniform_action(rules: Any, game: Any) -> int:
    """Return the next action of a random legal move, each move equally likely."""
    card, captured = random_move(rules, game)
    return first_action(game, card, captured)


class RandomAgent(CompiledAgent):
    """Plays every legal move with the same probability."""

    name = "random"
    policy = Policy(uniform_action)

    def action_probabilities(self, view: View) -> dict[int, float]:
        """Return the probabilities of the next action of the observer of `view`, which is to act."""
        moves = view_to_act(self.name, view).legal_moves
        counts = Counter(next_action(move, view.card, view.chosen) for move in moves)
        return {action: count / len(moves) for action, count in counts.items()}
