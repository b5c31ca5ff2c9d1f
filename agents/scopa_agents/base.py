"""What agents share that decide on arrays of games."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from scopa_env import batch
from scopa_env.actions import LAY, Move, move_of
from scopa_env.agents import AgentError
from scopa_env.engine.state import Records, copy_of
from scopa_env.game import Game, View, view_to_act
from scopa_env.policy import Policy, decide
from scopa_env.rules import Rules

Actions = np.ndarray[Any, np.dtype[np.int64]]


class ArrayAgent(ABC):
    """An agent that acts on arrays of games, and through them on a single view.

    Attributes:
        name: its name.
    """

    name: str

    @abstractmethod
    def act_batch(self, rules: Rules, views: Records) -> Actions:
        """Return the next action in each game, int64[N] (see `scopa_env.agents.BatchAgent`)."""

    def warm_up(self, rules: Rules) -> None:
        """Compile what `act_batch` runs, so that no compilation is counted as thinking."""
        game = Game(rules, seed=0)
        self.act_batch(rules, game.view(game.seat).records)

    def act(self, view: View) -> Move:
        """Return a legal move of the observer of `view`, which is to act.

        Raises:
            TypeError: it is no view.
            ValueError: its observer is not to act.
        """
        records = copy_of(view_to_act(self.name, view).records)
        record = view.rules.record
        while True:
            action = int(self.act_batch(view.rules, records)[0])
            done = batch.choose_one(record, records, action)
            if done < 0:
                raise ValueError(f"agent {self.name!r}: action {action} is illegal")
            if done:
                return move_of(int(records["card"][0]), 0 if action == LAY else int(records["chosen"][0]))


class CompiledAgent(ArrayAgent):
    """An agent whose decisions are a compiled `Policy`, with a random generator of its own.

    Environments with such an agent run it inside their compiled loop.

    Attributes:
        policy: the policy.
    """

    policy: Policy

    def __init__(self, settings: str = "", *, seed: int | None = None) -> None:
        if settings:
            raise AgentError(f"agent {self.name!r}: settings {settings!r}; it has none")
        self.seed(seed)

    def seed(self, seed: int | None) -> None:
        """Start the agent's random choices afresh."""
        self._rng = np.random.default_rng(seed)

    def act_batch(self, rules: Rules, views: Records) -> Actions:
        """Return the next action in each game, int64[N] (see `scopa_env.agents.BatchAgent`)."""
        views["rng"] = self._rng.integers(0, 1 << 64, len(views), dtype=np.uint64)
        out = np.empty(len(views), np.int64)
        decide(self.policy.address, rules.record, views, out)
        return out
