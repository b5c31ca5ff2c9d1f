"""Units of work: what one process plays in one go, seeded so that nothing depends on who plays it, or when.

Agents that decide on arrays of games play blocks of `BLOCK` deals, always whole ones, and are seeded once for each
block.  Where one of the two agents acts on single views, the games of a deal are played one after the other, and both
agents are seeded for each game.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from scopa_agents.arena.games import Fault, Floats, Ints, Referee, Watch, deal_games, is_ctrl_c, margins, seatings
from scopa_env.agents import (
    AgentSpec,
    AnyAgent,
    CheatingAgent,
    failure,
    make_any_agent,
)
from scopa_env.engine.state import Records
from scopa_env.game import Game
from scopa_env.record import GameRecord, RecordError
from scopa_env.rules import Rules

BLOCK = 256
"""Deals that agents on arrays play at the same time."""

BINS_PER_OCTAVE = 16
"""Times are counted in bins of a sixteenth of an octave: read back, they are within 2.2 %."""

MOST_ERROR = 500
"""Most characters of an error that are kept."""

Spec = AgentSpec | CheatingAgent
Times = dict[int, int]
"""Number of moves by bin of their time (`bin_of`)."""


def bin_of(seconds: Floats) -> Ints:
    """Return the bins of times: 16 times the binary logarithm of the nanoseconds, rounded."""
    bins: Ints = np.rint(BINS_PER_OCTAVE * np.log2(np.maximum(seconds * 1e9, 1))).astype(np.int64)
    return bins


def seconds_of(index: int) -> float:
    """Return the time in the middle of a bin."""
    return float(2 ** (index / BINS_PER_OCTAVE) * 1e-9)


@dataclass(frozen=True)
class Job:
    """What is to be played.

    Attributes:
        rules: text of the rules.
        seed: seed of the deals and the agents.
        pairings: who plays whom.
        names: what both are called, for each pairing.
        forfeit_margin: points by which a forfeited game is lost.
        move_limit: most seconds of a decision, judged after it.
        strict: raise what an agent does wrong instead of letting it forfeit the game.
    """

    rules: str
    seed: int
    pairings: tuple[tuple[Spec, Spec], ...]
    names: tuple[tuple[str, str], ...]
    forfeit_margin: float
    move_limit: float | None = None
    strict: bool = False


@dataclass(frozen=True)
class Unit:
    """A part of a job.

    Attributes:
        pairing: index of the pairing.
        first: the first deal of a block, or the only deal.
        deals: the deals whose results are wanted.
        together: whether it is a block whose games are played at the same time.
    """

    pairing: int
    first: int
    deals: tuple[int, ...]
    together: bool


@dataclass(frozen=True)
class GameResult:
    """The result of one game.

    Attributes:
        deal: number of the deal.
        seating: index in `seatings`.
        margin: points of a's sides over b's.
        points: points by side; None if the game was forfeited.
        forfeit: who is at fault and why, as it is written to files; None if nobody is.
        times: of a's moves and of b's.
    """

    deal: int
    seating: int
    margin: float
    points: tuple[int, ...] | None
    forfeit: dict[str, Any] | None = None
    times: tuple[Times, Times] = field(default_factory=lambda: ({}, {}))


def forfeited(job: Job, unit: Unit, deal: int, seating: int, fault: Fault) -> GameResult:
    """Return the result of a game that an agent forfeits."""
    rules = Rules.parse(job.rules)
    game = Game.from_records(rules, fault.record)
    names = job.names[unit.pairing]
    players = [names[index] for index in seatings(rules)[seating]]
    forfeit = {
        "seating": seating,
        "agent": names[fault.agent],
        "side": "ab"[fault.agent],
        "error": fault.error[:MOST_ERROR],
        "position": game.text(),
        "record": _record(game, players),
    }
    margin = job.forfeit_margin if fault.agent else -job.forfeit_margin
    return GameResult(deal, seating, margin, None, forfeit)


def _record(game: Game, players: Sequence[str]) -> Any:
    try:
        record = GameRecord.from_game(game, players)
    except RecordError:  # a name that is no printable text
        record = GameRecord.from_game(game)
    return json.loads(record.to_json())


class UnitPlayer:
    """Plays units of a job in this process.

    Args:
        job: the job.
        watch: is told of each decision.
    """

    def __init__(self, job: Job, watch: Watch | None = None) -> None:
        self.job = job
        self._rules = Rules.parse(job.rules)
        self._plan = seatings(self._rules)
        self._watch = watch
        self._made: dict[tuple[str, int], AnyAgent] = {}
        self._warm: set[object] = set()
        warm_up_engine(self._rules)

    def play_together(self, unit: Unit) -> list[GameResult]:
        """Play the games of a block at the same time."""
        games = deal_games(self._rules, unit.first, BLOCK, self.job.seed, len(self._plan))
        seated = np.tile(self._plan, (BLOCK, 1))
        numbers = [(unit.first + row // len(self._plan), row % len(self._plan)) for row in range(len(games))]
        agents = self._agents(unit, (unit.first,))
        wanted = set(unit.deals)
        return [result for result in self._play(unit, games, seated, numbers, agents) if result.deal in wanted]

    def play_one(self, unit: Unit, deal: int, seating: int) -> GameResult:
        """Play one game."""
        games = deal_games(self._rules, deal, 1, self.job.seed, 1)
        agents = self._agents(unit, (deal, seating))
        seated = self._plan[seating : seating + 1]
        return self._play(unit, games, seated, [(deal, seating)], agents)[0]

    def play(self, unit: Unit) -> list[GameResult]:
        """Play a unit."""
        if unit.together:
            return self.play_together(unit)
        return [self.play_one(unit, deal, seating) for deal in unit.deals for seating in range(len(self._plan))]

    def _play(
        self,
        unit: Unit,
        games: Records,
        seated: Ints,
        numbers: Sequence[tuple[int, int]],
        agents: tuple[AnyAgent, AnyAgent],
    ) -> list[GameResult]:
        job = self.job
        referee = Referee(
            self._rules, games, seated, agents, move_limit=job.move_limit, strict=job.strict, watch=self._watch
        )
        referee.play()
        times = [_count(*referee.times(index), len(games)) for index in (0, 1)]
        found = margins(self._rules, games, seated).tolist()
        points = games["points"][:, : self._rules.sides].tolist()
        results = []
        for row, (deal, seating) in enumerate(numbers):
            thought = (times[0][row], times[1][row])
            if row in referee.faults:
                results.append(replace(forfeited(job, unit, deal, seating, referee.faults[row]), times=thought))
            else:
                results.append(GameResult(deal, seating, found[row], tuple(points[row]), None, thought))
        return results

    def _agents(self, unit: Unit, key: tuple[int, ...]) -> tuple[AnyAgent, AnyAgent]:
        """Return the agents of a pairing as they are at the beginning of what has the number `key`."""
        seeds = np.random.SeedSequence(self.job.seed, spawn_key=key).generate_state(2)
        a, b = (self._agent(spec, role, int(seeds[role])) for role, spec in enumerate(self.job.pairings[unit.pairing]))
        return a, b

    def _agent(self, spec: Spec, role: int, seed: int) -> AnyAgent:
        agent = self._made.get((spec, role)) if isinstance(spec, str) else None
        if agent is None:
            agent = make_any_agent(spec, seed)
        self._warm_up(agent, spec, role)
        reseed = getattr(agent, "seed", None)
        if callable(reseed):
            _call(agent, "seed", seed)
            if isinstance(spec, str):
                self._made[(spec, role)] = agent
        return agent

    def _warm_up(self, agent: AnyAgent, spec: Spec, role: int) -> None:
        """Let an agent compile what it runs, once, so that no compilation is counted as thinking."""
        key: object = (spec, role) if isinstance(spec, str) else id(spec)
        if key not in self._warm:
            self._warm.add(key)
            if callable(getattr(agent, "warm_up", None)):
                _call(agent, "warm_up", self._rules)


def _call(agent: AnyAgent, method: str, argument: object) -> None:
    """Call a method of an agent; what goes wrong in it is an AgentError that names both, and ends the run."""
    try:
        getattr(agent, method)(argument)
    except BaseException as error:
        if is_ctrl_c(error):
            raise
        raise failure(agent, error, method) from error


def _count(rows: Ints, seconds: Floats, games: int) -> list[Times]:
    """Return the times of one agent's moves by game."""
    found: list[Times] = [{} for _ in range(games)]
    for row, index in zip(rows.tolist(), bin_of(seconds).tolist(), strict=True):
        times = found[row]
        times[index] = times.get(index, 0) + 1
    return found


def add_times(total: Times, more: Times) -> None:
    """Add counted times to others, in place."""
    for index, count in more.items():  # collections.Counter takes four times as long over these few
        total[index] = total.get(index, 0) + count


def warm_up_engine(rules: Rules) -> None:
    """Compile what views and games offer to agents."""
    game = Game(rules, seed=0)
    view = game.view(game.seat)
    move = view.legal_moves[0]
    view.observation(), view.action_mask(), view.actions_of(move), view.is_legal(move)
    view.text(), view.sample(0)
    game.push(move)
    _ = game.plays
