"""Statistics of duplicate deals: intervals, and how many deals a given precision takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scopa_agents.arena.games import Floats

Z = 1.959963984540054
"""Quantile of the normal distribution for 95 % on both sides."""


def interval(means: Floats) -> tuple[float, float, float]:
    """Return the mean of independent values and the ends of its 95 % interval (Student's t, by expansion from 5 on)."""
    count = len(means)
    freedom = count - 1
    t = Z + (Z**3 + Z) / (4 * freedom) + (5 * Z**5 + 16 * Z**3 + 3 * Z) / (96 * freedom**2)
    t += (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / (384 * freedom**3)
    t = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764}.get(freedom, t)
    center = float(means.mean())
    half = float(t * means.std(ddof=1) / count**0.5)
    return center, center - half, center + half


@dataclass(frozen=True)
class Variance:
    """How many games of a pairing a 95 % interval of a given half-width takes, in duplicate and without.

    Attributes:
        a: name of the first agent.
        b: name of the second.
        half_width: the half-width, in points a round.
        deal: variance of the mean margin of a duplicate deal.
        game: variance of the margin of a single game, each on a deal of its own with the seating drawn.
        duplicate_deals: duplicate deals that the half-width takes.
        duplicate_games: games in them.
        single_games: single games that it takes.
        saving: single games for one game of a duplicate deal; above 1, duplicate deals pay.
    """

    a: str
    b: str
    half_width: float
    deal: float
    game: float
    duplicate_deals: int
    duplicate_games: int
    single_games: int
    saving: float


def variance(a: str, b: str, margins: Floats, half_width: float) -> Variance:
    """Estimate from duplicate deals what both designs take: (1.96 s / half-width)^2 deals or games.

    Args:
        a: name of the first agent.
        b: name of the second.
        margins: float64[deals, seatings].
        half_width: wanted half-width of the 95 % interval, in points a round.

    Raises:
        ValueError: a half-width that is not above 0.
    """
    if not 0 < half_width < np.inf:
        raise ValueError(f"half_width={half_width!r}: allowed are numbers above 0")
    seatings = margins.shape[1]
    deal = float(margins.mean(axis=1).var(ddof=1))
    game = _single(margins, deal)
    deals, single = (max(int(np.ceil(v * (Z / half_width) ** 2)), 2) for v in (deal, game))
    saving = game / (seatings * deal) if deal else (1.0 if game == 0 else float("inf"))
    return Variance(a, b, half_width, deal, game, deals, deals * seatings, single, saving)


def _single(margins: Floats, deal: float) -> float:
    """Return the variance of one game with its seating drawn: within the seatings, and between their means.

    The means' own spread is larger than that between what they estimate, by (within - deal) / deals.
    """
    within = float(margins.var(axis=0, ddof=1).mean())
    between = float(margins.mean(axis=0).var()) - (within - deal) / len(margins)
    return within + between
