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
    return within + max(between, 0.0)


@dataclass(frozen=True)
class Adjusted:
    """A mean margin adjusted by a control variate.

    Attributes:
        margin: the adjusted mean, points a round.
        low: lower end of its 95 % interval.
        high: upper end.
        slope: coefficient of the control.
        ratio: variance of the adjusted mean over that of the plain one; below 1, the control pays.
    """

    margin: float
    low: float
    high: float
    slope: float
    ratio: float


def adjust(means: Floats, control: Floats, extra: Floats) -> Adjusted:
    """Adjust the mean of `means` by a control variate whose mean is known better.

    With y the margins, x the control on the same deals and m its mean over all deals: mean(y) - slope (mean(x) - m),
    slope = cov(x, y) / var(x) (regression estimator in double sampling: Cochran, Sampling Techniques, 1977, chapter
    12).  The variance is that of the residuals over the deals, plus slope^2 var(x) over all deals.

    Args:
        means: float64[D], the margins of the deals.
        control: float64[D], the control on the same deals.
        extra: float64[M], the control on other deals.

    Raises:
        ValueError: fewer than three deals.
    """
    count = len(means)
    if count < 3 or len(control) != count:
        raise ValueError(f"{count} deals and {len(control)} of the control: expected three or more of each, as many")
    every = np.concatenate([control, extra])
    spread = float(control.var(ddof=1))
    slope = float(np.cov(control, means)[0, 1] / spread) if spread else 0.0
    residuals = means - slope * (control - control.mean())
    of_residuals = float((residuals - means.mean()) @ (residuals - means.mean())) / (count - 2)
    squared = of_residuals / count + slope**2 * spread / len(every)
    margin = float(means.mean() - slope * (control.mean() - every.mean()))
    half = Z * squared**0.5
    plain = float(means.var(ddof=1)) / count
    return Adjusted(margin, margin - half, margin + half, slope, squared / plain if plain else 1.0)
