"""Features of an observation that spare a network from learning to compare card values.

An observation names cards; captures depend on their values.  `rank_features` adds counts by value and, for each hand
card,
whether the table holds its value, its value in coins, or a pair that sums to it.  Written once for numpy and torch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scopa_env.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from scopa_env.observation import PIECES, observation_size
from scopa_env.rules import Rules

FEATURES = "ranks 1"
"""Name and version of these features, kept with networks that use them."""

_COUNTED = ("hand", "table", "unseen")
_TARGETS = 14
"""Largest sum that a card can take: 15 less an ace."""


def _pair_sums() -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return float32[100, 14]: the pair of values (a, b), a < b, belongs to the sum a + b."""
    sums = np.zeros((NUM_RANKS, NUM_RANKS, _TARGETS), np.float32)
    for a in range(1, NUM_RANKS + 1):
        for b in range(a + 1, min(NUM_RANKS, _TARGETS - a) + 1):
            sums[a - 1, b - 1, a + b - 1] = 1
    return sums.reshape(NUM_RANKS * NUM_RANKS, _TARGETS)


PAIR_SUMS = _pair_sums()


def feature_size(players: int) -> int:
    """Return the number of features of `rank_features`, the observation included."""
    return observation_size(players) + NUM_RANKS * (len(_COUNTED) + 1) + 3 * NUM_CARDS


def observed_features(rules: Rules, observations: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return float32[N, feature_size]: `rank_features` of observations [N, D], with numpy."""
    seen, fifteen = observations.astype(np.float32), rules.capture == "fifteen"
    return rank_features(seen, rules.players, fifteen, PAIR_SUMS, np.concatenate).astype(np.float32)  # type: ignore[no-any-return]


def rank_features(
    observations: Any, players: int, fifteen: bool, pair_sums: Any, concatenate: Callable[..., Any]
) -> Any:
    """Return the observations with features by value behind them.

    Args:
        observations: float[N, D], a numpy array or a torch tensor.
        players: number of seats.
        fifteen: whether a card takes what makes 15 with it, rather than its value.
        pair_sums: PAIR_SUMS as the same kind of array.
        concatenate: ``np.concatenate`` or ``torch.cat``.

    Returns:
        float[N, feature_size(players)]: the observation; counts by value of hand, table and unseen cards; whether a
        pair on the
        table makes what each value takes; for each hand card whether the table has the one card it takes, has it in
        coins, has a pair.
    """
    pieces = PIECES[players]

    def by_suit(name: str) -> Any:
        offset = pieces[name].offset
        return observations[:, offset : offset + NUM_CARDS].reshape(-1, NUM_SUITS, NUM_RANKS)

    counts = [by_suit(name).sum(1) for name in _COUNTED]
    table = counts[1]
    nothing = table[:, : _TARGETS - NUM_RANKS] * 0.0
    taken = [_TARGETS - value if fifteen else value - 1 for value in range(1, NUM_RANKS + 1)]
    pairs = ((table[:, :, None] * table[:, None, :]).reshape(-1, NUM_RANKS * NUM_RANKS) @ pair_sums)[:, taken]
    singles = concatenate([table, nothing], 1)[:, taken]
    coins = concatenate([by_suit("table")[:, 0], nothing], 1)[:, taken]
    hand = by_suit("hand")
    matches = [(hand * ((found > 0) * 1.0)[:, None, :]).reshape(-1, NUM_CARDS) for found in (singles, coins, pairs)]
    return concatenate([observations, *counts, (pairs > 0) * 1.0, *matches], 1)
