"""One scale for all agents of a tournament: the Bradley-Terry model, as Elo.

Agent i beats agent j with probability p_i / (p_i + p_j); a draw counts as half a win for both.  The strengths p are the
maximum-likelihood estimate, for which W_i = sum_j n_ij p_i / (p_i + p_j) (Hunter, 2004, "MM algorithms for generalized
Bradley-Terry models", Annals of Statistics 32, 384-406).  It is found by Newton's method on the logarithms, where the
likelihood is concave; the MM algorithm of that paper takes thousands of rounds where one agent wins nearly everything.
One drawn game between every two agents is added to those that were played: that ties all of them together and keeps the
rating of one that has won, or lost, everything finite.  Elo is 400 log10 p, with a mean of zero over the agents.

The intervals are percentiles of a bootstrap over deals (Efron and Tibshirani, 1993): a deal is drawn with all its games
in all pairings, since they share its luck.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scopa_agents.arena.games import Floats, Ints

PRIOR_DRAWS = 1.0
"""Drawn games between every two agents that are added to those played."""

RESAMPLES = 1000
"""Resamples of the bootstrap."""

MOST_GROUPS = 2000
"""More deals than these are drawn in groups of neighbours, which are as independent as they are."""

_MOST_ROUNDS = 500
_PRECISION = 1e-9  # of the natural logarithms of the strengths


@dataclass(frozen=True)
class Rating:
    """An agent on the scale of a tournament.

    Attributes:
        agent: its name.
        elo: its rating; the mean of all agents is 0.
        low: lower end of the 95 % interval.
        high: upper end.
        games: games it has played against others.
        score: its share of the points of these games, a win 1 and a draw 0.5.
    """

    agent: str
    elo: float
    low: float
    high: float
    games: int
    score: float


def strengths(wins: Floats, start: Floats | None = None) -> Floats:
    """Return the logarithms of the strengths, float64[..., n], with a mean of zero.

    Args:
        wins: float64[..., n, n]: wins of the row against the column, a draw half a win for both.
        start: where to begin; None: all agents equal.
    """
    count = wins.shape[-1]
    if count == 1:
        return np.zeros(wins.shape[:-1])
    wins = wins + PRIOR_DRAWS / 2 * (1 - np.eye(count))
    games = wins + wins.swapaxes(-1, -2)
    logs = np.zeros(wins.shape[:-1]) if start is None else np.broadcast_to(start, wins.shape[:-1]).copy()
    for _ in range(_MOST_ROUNDS):
        expected = 1 / (1 + np.exp(logs[..., None, :] - logs[..., :, None]))  # of the row against the column
        slope = (wins - games * expected).sum(axis=-1)
        weight = games * expected * (1 - expected)
        bend = weight.sum(axis=-1)[..., None] * np.eye(count) - weight
        step = np.linalg.solve(bend + 1 / count, slope[..., None])[..., 0]  # 1 / count: the mean stays zero
        largest = np.abs(step).max(axis=-1, keepdims=True)
        logs += step / np.maximum(largest, 1)
        if largest.max() < _PRECISION:
            break
    return np.asarray(logs - logs.mean(axis=-1, keepdims=True))


Scores = Mapping[tuple[str, str], tuple[Ints, Floats]]
"""By pairing: the numbers of the deals, and float64[deals, seatings] of a's score in each game: 1, 0.5 or 0."""


def scores(margins: Floats) -> Floats:
    """Return a's scores in games of these margins: a win 1, a draw 0.5, a loss 0."""
    return (np.sign(margins) + 1) / 2


def ratings(agents: Sequence[str], played: Scores, seed: int = 0) -> list[Rating]:
    """Rate agents, the best one first.

    Args:
        agents: their names.
        played: what each pairing has played; games of an agent against itself count for nothing.
        seed: seed of the bootstrap.
    """
    index = {name: place for place, name in enumerate(agents)}
    others = {pair: found for pair, found in played.items() if pair[0] != pair[1]}
    won, lost = _by_group(others)
    pairs = [(index[a], index[b]) for a, b in others]
    wins = _table(won.sum(axis=0), lost.sum(axis=0), pairs, len(agents))
    center = strengths(wins)
    groups = len(won)
    drawn = np.random.default_rng(seed).multinomial(groups, np.full(groups, 1 / max(groups, 1)), RESAMPLES)
    spread = strengths(_table(drawn @ won, drawn @ lost, pairs, len(agents)), center)
    scale = 400 / np.log(10)
    low, high = np.percentile(scale * spread, [2.5, 97.5], axis=0)
    games = wins.sum(axis=1) + wins.sum(axis=0)
    rated = [
        Rating(
            agent=name,
            elo=float(scale * center[i]),
            low=float(low[i]),
            high=float(high[i]),
            games=round(games[i]),
            score=float(wins[i].sum() / games[i]) if games[i] else 0.5,
        )
        for name, i in index.items()
    ]
    return sorted(rated, key=lambda one: -one.elo)


def _by_group(played: Scores) -> tuple[Floats, Floats]:
    """Return a's and b's scores, float64[groups, pairings]: a group is a deal, or some of them."""
    numbers = np.unique(np.concatenate([deals for deals, _ in played.values()] or [np.empty(0, np.int64)]))
    size = -(-len(numbers) // MOST_GROUPS) or 1
    groups = -(-len(numbers) // size) or 1
    won, lost = np.zeros((groups, len(played))), np.zeros((groups, len(played)))
    for column, (deals, found) in enumerate(played.values()):
        rows = np.searchsorted(numbers, deals) // size
        np.add.at(won[:, column], rows, found.sum(axis=1))
        np.add.at(lost[:, column], rows, (1 - found).sum(axis=1))
    return won, lost


def _table(won: Any, lost: Any, pairs: Sequence[tuple[int, int]], count: int) -> Floats:
    """Return wins of the row against the column, float64[..., n, n]."""
    table = np.zeros((*won.shape[:-1], count, count))
    for column, (i, j) in enumerate(pairs):
        table[..., i, j] += won[..., column]
        table[..., j, i] += lost[..., column]
    return table
