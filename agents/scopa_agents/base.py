"""What agents share that decide by a compiled kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from scopa_env.actions import Move, move_of
from scopa_env.agents import AgentError
from scopa_env.game import View
from scopa_env.rules import Rules
from scopa_env.table import Records

Actions = np.ndarray[Any, np.dtype[np.int64]]


class CompiledAgent(ABC):
    """An agent that writes the next action of many games by one kernel.

    Attributes:
        name: its name.
    """

    name: str

    def __init__(self, settings: str = "", *, seed: int | None = None) -> None:
        if settings:
            raise AgentError(f"agent {self.name!r}: settings {settings!r}; it has none")
        self.seed(seed)

    def seed(self, seed: int | None) -> None:
        """Start the agent's random choices afresh."""
        self._rng = np.random.default_rng(seed)

    @abstractmethod
    def _decide(self, rules: np.ndarray[Any, Any], views: Records, out: Actions) -> None:
        """Write the next action of each game; random choices come from the games' own generators."""

    def act_batch(self, rules: Rules, views: Records) -> Actions:
        """Return the next action in each game, int64[N] (see `scopa_env.agents.BatchAgent`)."""
        views["rng"] = self._rng.integers(0, 1 << 64, len(views), dtype=np.uint64)
        out = np.empty(len(views), np.int64)
        self._decide(rules.record, views, out)
        return out

    @abstractmethod
    def _decide_move(self, rules: np.ndarray[Any, Any], views: Records, out: np.ndarray[Any, Any]) -> None:
        """Write the move of one game into uint64[2]: card, captured set."""

    def act(self, view: View) -> Move:
        """Return a legal move."""
        records = view.records.copy()
        records["rng"] = self._rng.integers(0, 1 << 64, dtype=np.uint64)
        out = np.empty(2, np.uint64)
        self._decide_move(view.rules.record, records, out)
        return move_of(int(out[0]), int(out[1]))
