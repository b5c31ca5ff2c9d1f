"""The arena: agents against each other on duplicate deals.

Every deal (deck and dealer) is played once per seating, so that both agents hold the same cards.  The unit of the
statistics is the deal, not the game: the margins of one deal's games are averaged, and the interval comes from the
spread of these means.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from scopa_agents.base import CompiledAgent
from scopa_env import batch
from scopa_env.actions import IllegalAction, Move
from scopa_env.agents import Agent, AgentError, AgentSpec, BatchAgent, as_actions, as_move, make_agent
from scopa_env.engine.state import GAME, NOBODY, PLAYING, Records
from scopa_env.game import View, check_seed, seed_state
from scopa_env.rules import Rules

CHUNK = 256
"""Deals that are played at the same time."""

MOST_DEALS = 100_000_000
"""Most deals of a pairing; more take days."""

Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]


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
        seconds_per_move: mean thinking time of a for one decision.
        b_seconds_per_move: the same of b.
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
    b_seconds_per_move: float


def seatings(rules: Rules) -> Ints:
    """Return int64[S, players] of 0 (a) and 1 (b): who sits where in the S games of one deal.

    With two sides, or an even number of lone players, a and b take every other seat, once each way round.  Three
    players: each agent alone against two of the other, in every seat.
    """
    players = rules.players
    if players % 2 == 0:
        alternate = np.arange(players) % 2
        return np.stack([alternate, 1 - alternate])
    alone = np.eye(players, dtype=np.int64)
    return np.concatenate([1 - alone, alone])


def interval(means: Floats) -> tuple[float, float, float]:
    """Return the mean of independent values and the ends of its 95 % interval (Student's t, by expansion from 5 on)."""
    count = len(means)
    z = 1.959963984540054
    freedom = count - 1
    t = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    t += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    t = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764}.get(freedom, t)
    center = float(means.mean())
    half = float(t * means.std(ddof=1) / count**0.5)
    return center, center - half, center + half


class _Clock:
    """Thinking time and decisions of one agent."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.decisions = 0

    @property
    def per_move(self) -> float:
        return self.seconds / max(self.decisions, 1)


def deal_games(rules: Rules, first: int, count: int, seed: int, copies: int) -> Records:
    """Return GAME[count * copies]: deals `first` .. of `seed`, each `copies` times in a row."""
    deals = np.zeros(count, GAME)
    deals["rng"] = [seed_state(seed, index) for index in range(first, first + count)]
    batch.start(rules.record, deals, NOBODY)
    return np.repeat(deals, copies)


def _decide(agent: Agent, rules: Rules, views: Records, seats: Ints) -> Ints | list[Move]:
    """Return the agent's next action in each game, or whole moves if it acts on single views only."""
    try:
        if isinstance(agent, BatchAgent):
            return as_actions(agent, agent.act_batch(rules, views), len(views))
        return [as_move(agent, agent.act(View(rules, views[i : i + 1], int(seats[i])))) for i in range(len(views))]
    except (AgentError, IllegalAction):
        raise
    except Exception as error:  # whatever goes wrong inside an agent
        raise AgentError(f"agent {agent.name!r} failed: {type(error).__name__}: {error}") from error


def _make(agent: Agent, rules: Rules, games: Records, decisions: Ints | list[Move]) -> None:
    """Make what the agent has decided, in place."""
    if isinstance(decisions, np.ndarray):
        wrong = batch.act(rules.record, games, decisions)
        if wrong >= 0:
            raise IllegalAction(f"agent {agent.name!r}: action {decisions[wrong]} is illegal")
        return
    for i, move in enumerate(decisions):
        if not batch.play_one(rules.record, games[i : i + 1], int(move.card), move.mask):
            raise IllegalAction(f"agent {agent.name!r}: move {move} is illegal")


def play_games(
    rules: Rules, games: Records, seated: Ints, agents: Sequence[Agent], clocks: Sequence[_Clock] | None = None
) -> None:
    """Play every game to the end of its round, in place, all at the same time.

    Args:
        rules: the rules.
        games: GAME[N].
        seated: int64[N, players]: index in `agents` of who has each seat.
        agents: the agents; they get what their seat can see.
        clocks: collect the agents' thinking time.

    Raises:
        IllegalAction: an agent's decision is illegal; the message names the agent.
    """
    active = np.flatnonzero(games["stage"] == PLAYING)
    while len(active):
        seats = games["seat"][active].astype(np.int64)
        turns = seated[active, seats]
        for index, agent in enumerate(agents):
            mine = turns == index
            if mine.any():
                clock = clocks[index] if clocks else _Clock()
                _play_turn(rules, games, active[mine], seats[mine], agent, clock)
        active = active[games["stage"][active] == PLAYING]


def _play_turn(rules: Rules, games: Records, rows: Ints, seats: Ints, agent: Agent, clock: _Clock) -> None:
    """Let `agent` decide once in each of `rows`."""
    turn = games[rows]
    views = np.empty(len(rows), GAME)
    batch.strip(rules.record, turn, seats, views)
    begin = time.perf_counter()
    decisions = _decide(agent, rules, views, seats)
    clock.seconds += time.perf_counter() - begin
    clock.decisions += len(rows)
    _make(agent, rules, turn, decisions)
    games[rows] = turn


def margins(rules: Rules, games: Records, seated: Ints) -> Floats:
    """Return float64[N]: the mean points of the sides of agent 0 less those of agent 1 in finished rounds."""
    sides = rules.sides
    points = games["points"][:, :sides].astype(np.float64)
    owner = seated[:, :sides]  # seat `s` belongs to side `s` for s < sides
    own = (points * (owner == 0)).sum(axis=1) / (owner == 0).sum(axis=1)
    other = (points * (owner == 1)).sum(axis=1) / (owner == 1).sum(axis=1)
    return np.asarray(own - other)


def check_deals(deals: int) -> None:
    """Raise a ValueError unless `deals` is a number of deals that gives an interval."""
    if isinstance(deals, bool) or not hasattr(deals, "__index__") or not 2 <= deals <= MOST_DEALS:
        raise ValueError(f"deals={deals!r}: allowed are whole numbers 2 .. {MOST_DEALS}")


def duel(
    a: AgentSpec,
    b: AgentSpec,
    rules: Rules | str = "scopa",
    deals: int = 1000,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Pairing:
    """Play `a` against `b` on duplicate deals.

    Args:
        a: an agent, see `scopa_env.make_agent`.
        b: its opponent; in team play each agent has a whole team.
        rules: the rules.
        deals: number of deals, at least 2.
        seed: seed of the deals and of both agents.
        progress: called with the number of deals just finished.

    Returns:
        The result; the same for the same arguments, but for the times.

    Raises:
        ValueError: an argument that is not allowed.
        IllegalAction: an agent decided on something illegal.
    """
    rules = Rules.of(rules)
    check_deals(deals)
    check_seed(seed)
    seeds = np.random.SeedSequence(seed).generate_state(2)
    agents = [make_agent(spec, int(one), rules) for spec, one in zip((a, b), seeds, strict=True)]
    clocks = [_Clock(), _Clock()]
    plan = seatings(rules)
    _warm_up(rules, agents)
    found = []
    for first in range(0, deals, CHUNK):
        count = min(CHUNK, deals - first)
        games = deal_games(rules, first, count, seed, len(plan))
        seated = np.tile(plan, (count, 1))
        play_games(rules, games, seated, agents, clocks)
        found.append(margins(rules, games, seated).reshape(count, len(plan)))
        if progress:
            progress(count)
    return _pairing(agents, rules, np.concatenate(found), clocks)


def _warm_up(rules: Rules, agents: Sequence[Agent]) -> None:
    """Compile what the agents run, so that thinking times hold no compilation."""
    for agent in agents:
        if isinstance(agent, CompiledAgent):
            games = deal_games(rules, 0, 1, 0, 1)
            type(agent)(seed=0).act_batch(rules, games)


def _pairing(agents: Sequence[Agent], rules: Rules, found: Floats, clocks: Sequence[_Clock]) -> Pairing:
    """Sum up float64[deals, seatings] of margins."""
    center, low, high = interval(found.mean(axis=1))
    return Pairing(
        a=agents[0].name,
        b=agents[1].name,
        rules=rules.text(),
        deals=len(found),
        games=found.size,
        margin=center,
        low=low,
        high=high,
        wins=int((found > 0).sum()),
        draws=int((found == 0).sum()),
        losses=int((found < 0).sum()),
        seconds_per_move=clocks[0].per_move,
        b_seconds_per_move=clocks[1].per_move,
    )


def pairs(agents: Sequence[AgentSpec]) -> Iterator[tuple[AgentSpec, AgentSpec]]:
    """Return every pair of agents, in order; an agent that is named twice also meets itself, once."""
    seen: list[tuple[AgentSpec, AgentSpec]] = []
    for pair in itertools.combinations(agents, 2):
        if pair not in seen and pair[::-1] not in seen:
            seen.append(pair)
            yield pair


def as_json(pairings: Sequence[Pairing], seed: int) -> dict[str, Any]:
    """Return results as one JSON object: `seed`, and the `pairings` with the fields of `Pairing`."""
    return {"seed": seed, "pairings": [asdict(pairing) for pairing in pairings]}
