"""The spaces of the environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from scopa_env import observation
from scopa_env.actions import NUM_ACTIONS


def action_space() -> spaces.Discrete:
    """Return ``Discrete(81)``."""
    return spaces.Discrete(NUM_ACTIONS)


def observation_space(players: int, *, mask: bool, history: bool) -> spaces.Space[Any]:
    """Return the space of observations.

    Args:
        players: number of seats.
        mask: whether observations hold ``"action_mask"``, int8[81].
        history: whether they hold ``"history"``, int8[40, 88].

    Returns:
        A Box of int8[D] of 0/1, or a Dict with that as ``"observation"`` and what else they hold.
    """
    box = _bits(observation.observation_size(players))
    parts: dict[str, spaces.Space[Any]] = {"observation": box}
    if mask:
        parts["action_mask"] = _bits(NUM_ACTIONS)
    if history:
        parts["history"] = _bits(observation.HISTORY_PLAYS, observation.HISTORY_FEATURES)
    return spaces.Dict(parts) if len(parts) > 1 else box


def _bits(*shape: int) -> spaces.Box:
    return spaces.Box(0, 1, shape, np.int8)
