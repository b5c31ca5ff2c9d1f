"""Results of the arena: of a pairing, and of all pairings of a tournament."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from scopa_agents.arena.games import Floats, Ints
from scopa_agents.arena.log import DealResult, Header, Log, LogError
from scopa_agents.arena.rating import Rating, ratings, scores
from scopa_agents.arena.statistics import Variance, interval, variance
from scopa_agents.arena.unit import Times, add_times, seconds_of

HALF_WIDTH = 0.05
"""Half-width of an interval, in points a round, for which `Tournament.variances` counts deals by default."""

FEW_DEALS = 30
"""Below this number of deals bootstrap intervals are too narrow."""


@dataclass(frozen=True)
class Pairing:
    """The result of agent `a` against agent `b`.

    Attributes:
        a: name of the first agent.
        b: name of the second.
        rules: text of the rules.
        deals: number of deals.
        games: number of rounds played: deals times seatings.
        margin: points a round of a's sides over b's, mean over deals.
        low: lower end of its 95 % interval.
        high: upper end.
        wins: games in which a's margin was positive.
        draws: games in which it was zero.
        losses: games in which it was negative.
        seconds_per_move: mean thinking time of a for a move; of a call for many games, each has an equal share.
        median_seconds: median of a's times.
        slow_seconds: their 99th percentile.
        b_seconds_per_move: mean thinking time of b.
        b_median_seconds: median of b's times.
        b_slow_seconds: their 99th percentile.
        forfeits: games that a forfeited; they count as lost, by the margin of the run.
        b_forfeits: games that b forfeited.
    """

    a: str
    b: str
    rules: str
    deals: int
    games: int
    margin: float
    low: float
    high: float
    wins: int
    draws: int
    losses: int
    seconds_per_move: float
    median_seconds: float
    slow_seconds: float
    b_seconds_per_move: float
    b_median_seconds: float
    b_slow_seconds: float
    forfeits: int = 0
    b_forfeits: int = 0


def summary(times: Times) -> tuple[float, float, float]:
    """Return the mean, the median and the 99th percentile of counted times, in seconds; zeros if there are none."""
    if not times:
        return 0.0, 0.0, 0.0
    bins = sorted(times)
    seconds = np.array([seconds_of(index) for index in bins])
    counts = np.array([times[index] for index in bins])
    reached = counts.cumsum() / counts.sum()
    median, slow = (float(seconds[np.searchsorted(reached, share)]) for share in (0.5, 0.99))
    return float(seconds @ counts / counts.sum()), median, slow


class Tally:
    """What a pairing has played so far.

    Attributes:
        times: of a's moves and of b's.
        forfeits: the forfeited games, as in `DealResult`, each with its ``deal``.
    """

    def __init__(self) -> None:
        self._margins: dict[int, tuple[float, ...]] = {}
        self.times: tuple[Times, Times] = ({}, {})
        self.forfeits: list[dict[str, Any]] = []

    def add(self, deal: DealResult) -> None:
        """Add a deal.

        Raises:
            ValueError: it is there already.
        """
        if deal.deal in self._margins:
            raise ValueError(f"deal {deal.deal} is there already")
        self._margins[deal.deal] = deal.margins
        for total, times in zip(self.times, deal.times, strict=True):
            add_times(total, times)
        self.forfeits.extend({"deal": deal.deal, **forfeit} for forfeit in deal.forfeits)

    def __len__(self) -> int:
        return len(self._margins)

    def __contains__(self, deal: object) -> bool:
        return deal in self._margins

    @property
    def deals(self) -> Ints:
        """Numbers of the deals, int64[D], ascending."""
        return np.array(sorted(self._margins), np.int64)

    @property
    def margins(self) -> Floats:
        """Margins of a over b, float64[D, seatings], in the order of `deals`."""
        return np.array([self._margins[deal] for deal in self.deals.tolist()])


def pairing(a: str, b: str, rules: str, tally: Tally) -> Pairing:
    """Sum up what a pairing has played; two deals or more."""
    margins = tally.margins
    tally.forfeits.sort(key=operator.itemgetter("deal", "seating"))  # as they come from several processes
    center, low, high = interval(margins.mean(axis=1))
    guilty = Counter(forfeit["side"] for forfeit in tally.forfeits)
    return Pairing(
        a,
        b,
        rules,
        len(margins),
        margins.size,
        center,
        low,
        high,
        int((margins > 0).sum()),
        int((margins == 0).sum()),
        int((margins < 0).sum()),
        *summary(tally.times[0]),
        *summary(tally.times[1]),
        guilty["a"],
        guilty["b"],
    )


def what_is_played(pairings: Sequence[Pairing]) -> str:
    """Return rules and number of deals, for titles."""
    deals = sorted({one.deals for one in pairings})
    count = f"{deals[0]:,}" if len(deals) == 1 else f"{deals[0]:,} to {deals[-1]:,}"
    return f"{pairings[0].rules}, {count} duplicate deals"


def note_of_few(pairings: Sequence[Pairing]) -> str:
    """Return a warning for titles of Elo tables, whose intervals are resampled from the deals; empty if not needed."""
    few = min(one.deals for one in pairings) < FEW_DEALS
    return f"intervals of fewer than {FEW_DEALS} deals are too narrow" if few else ""


Pair = tuple[str, str]


@dataclass(frozen=True)
class Tournament:
    """The result of several pairings on the same deals.

    Attributes:
        rules: text of the rules.
        seed: seed of the deals and the agents.
        agents: names of the agents.
        cheating: those that see everything.
        tallies: what each pairing has played; pairings with fewer than two deals are left out.
        pairings: the results.
        ratings: the agents on one scale, the best one first.
    """

    rules: str
    seed: int
    agents: tuple[str, ...]
    cheating: tuple[str, ...]
    tallies: dict[Pair, Tally] = field(repr=False)
    pairings: tuple[Pairing, ...] = field(init=False)
    ratings: tuple[Rating, ...] = field(init=False)

    def __post_init__(self) -> None:
        played = {pair: tally for pair, tally in self.tallies.items() if len(tally) > 1}
        found = tuple(pairing(*pair, self.rules, tally) for pair, tally in played.items())
        scored = {pair: (tally.deals, scores(tally.margins)) for pair, tally in played.items()}
        object.__setattr__(self, "pairings", found)
        object.__setattr__(self, "ratings", tuple(ratings(self.agents, scored)))

    @classmethod
    def of(cls, header: Header, tallies: Sequence[Tally]) -> Tournament:
        """Put together what a run has played."""
        found = dict(zip(header.pairings, tallies, strict=True))
        return cls(header.rules, header.seed, header.agents, header.cheating, found)

    @property
    def forfeits(self) -> list[dict[str, Any]]:
        """The forfeited games, each with its ``pairing`` (two names) and ``deal``."""
        return [
            {"pairing": list(pair), **forfeit} for pair, tally in self.tallies.items() for forfeit in tally.forfeits
        ]

    def variances(self, half_width: float = HALF_WIDTH) -> list[Variance]:
        """Say for each pairing how many deals and games an interval of this half-width (points a round) takes."""
        return [variance(one.a, one.b, self.tallies[one.a, one.b].margins, half_width) for one in self.pairings]

    def as_json(self, half_width: float = HALF_WIDTH) -> dict[str, Any]:
        """Return everything as one JSON object; the keys are those of the attributes."""
        return {
            "rules": self.rules,
            "seed": self.seed,
            "agents": list(self.agents),
            "cheating": list(self.cheating),
            "pairings": [asdict(one) for one in self.pairings],
            "ratings": [asdict(one) for one in self.ratings],
            "variance": [asdict(one) for one in self.variances(half_width)],
            "forfeits": self.forfeits,
        }


def read_tournament(paths: Iterable[Path]) -> Tournament:
    """Read the results of one run, or of several with the same rules and seed.

    Raises:
        LogError: a file is none of a run, the files do not fit together, or no pairing has two deals.
        OSError: a file cannot be read.
    """
    tallies: dict[Pair, Tally] = {}
    agents: dict[str, None] = {}
    cheating: dict[str, None] = {}
    first: tuple[Path, Header] | None = None
    for path in paths:
        log = Log.read(path)
        first = first or (path, log.header)
        _check_fit(*first, path, log.header)
        agents.update(dict.fromkeys(log.header.agents))
        cheating.update(dict.fromkeys(log.header.cheating))
        _add(path, log, tallies)
    if first is None:
        raise LogError("no file given")
    header = first[1]
    result = Tournament(header.rules, header.seed, tuple(agents), tuple(cheating), tallies)
    if not result.pairings:
        raise LogError(f"{first[0]}: no pairing has two deals yet")
    return result


def _add(path: Path, log: Log, tallies: dict[Pair, Tally]) -> None:
    for pair in log.header.pairings:
        tallies.setdefault(pair, Tally())
    for deal in log.deals:
        pair = log.header.pairings[deal.pairing]
        try:
            tallies[pair].add(deal)
        except ValueError as error:
            raise LogError(f"{path}: {pair[0]} against {pair[1]}: {error}, from another file") from None


def _check_fit(first: Path, wanted: Header, path: Path, header: Header) -> None:
    for name in ("rules", "seed", "forfeit_margin", "version"):
        here, there = getattr(header, name), getattr(wanted, name)
        if here != there:
            raise LogError(f"{path}: {name}: {here!r}, but {there!r} in {first}; only runs with the same go together")
