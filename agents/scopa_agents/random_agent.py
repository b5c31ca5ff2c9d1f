"""`random`: every legal move equally likely."""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_agents.base import Actions, CompiledAgent
from scopa_env import batch
from scopa_env.engine.state import Records


class RandomAgent(CompiledAgent):
    """Plays every legal move with the same probability."""

    name = "random"

    def _decide(self, rules: np.ndarray[Any, Any], views: Records, out: Actions) -> None:
        batch.random_actions(rules, views, out)
