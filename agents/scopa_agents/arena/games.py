"""Games of the arena: dealt, seated, and played under a referee who times the agents and notes who fails."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from scopa_env import batch
from scopa_env.actions import IllegalAction
from scopa_env.agents import (
    AgentError,
    AgentUnavailable,
    AnyAgent,
    BatchAgent,
    as_actions,
    as_move,
    failure,
    sees_everything,
)
from scopa_env.engine.state import GAME, NOBODY, PLAYING, Records, copy_of
from scopa_env.game import Game, View, seed_state
from scopa_env.rules import Rules

Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]


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


def deal_games(rules: Rules, first: int, count: int, seed: int, copies: int) -> Records:
    """Return GAME[count * copies]: deals `first` .. of `seed`, each `copies` times in a row."""
    deals = np.zeros(count, GAME)
    deals["rng"] = [seed_state(seed, index) for index in range(first, first + count)]
    batch.start(rules.record, deals, NOBODY)
    return np.repeat(deals, copies)


def margins(rules: Rules, games: Records, seated: Ints) -> Floats:
    """Return float64[N]: the mean points of the sides of agent 0 less those of agent 1 in finished rounds."""
    sides = rules.sides
    points = games["points"][:, :sides].astype(np.float64)
    owner = seated[:, :sides]  # seat `s` belongs to side `s` for s < sides
    own = (points * (owner == 0)).sum(axis=1) / (owner == 0).sum(axis=1)
    other = (points * (owner == 1)).sum(axis=1) / (owner == 1).sum(axis=1)
    return np.asarray(own - other)


def on_arrays(agent: AnyAgent) -> bool:
    """Say whether an agent decides on arrays of games in the arena."""
    return isinstance(agent, BatchAgent) and not sees_everything(agent)


def is_ctrl_c(error: BaseException) -> bool:
    """Say whether an error may be a Ctrl-C: in a process that ignores it, as workers do, an agent has raised it."""
    return isinstance(error, KeyboardInterrupt) and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN


class Watch:
    """Is told when an agent begins and ends a decision.  This one looks away."""

    def begin(self, agent: int, record: Records) -> None:
        """Agent number `agent` starts to think in a game, GAME[1]; the first one of many if it is asked for many."""

    def end(self) -> None:
        """It has answered."""


@dataclass(frozen=True)
class Fault:
    """Why a game was forfeited.

    Attributes:
        agent: who is at fault, 0 or 1.
        error: what it did.
        record: GAME[1], the game as it stood.
    """

    agent: int
    error: str
    record: Records


class Referee:
    """Plays games to the end of their round, all at the same time.

    Args:
        rules: the rules.
        games: GAME[N], played in place.
        seated: int64[N, players]: index in `agents` of who has each seat.
        agents: the agents; they get what their seat can see, those that see everything a copy of the game.
        move_limit: most seconds of a decision, judged after it; None: any.
        strict: raise what an agent does wrong instead of noting it.
        watch: is told of each decision.

    Attributes:
        faults: why a game was forfeited, by its index.
    """

    def __init__(
        self,
        rules: Rules,
        games: Records,
        seated: Ints,
        agents: Sequence[AnyAgent],
        *,
        move_limit: float | None = None,
        strict: bool = False,
        watch: Watch | None = None,
    ) -> None:
        self._rules = rules
        self._record = rules.record
        self._games = games
        self._seated = seated
        self._agents = agents
        self._on_arrays = [on_arrays(agent) for agent in agents]
        self._limit = move_limit
        self._strict = strict
        self._watch = watch or Watch()
        self._forfeited = np.zeros(len(games), bool)
        self._thought = np.zeros(len(games))  # seconds for the move that is being made
        self._moves: list[tuple[int, Ints, Floats]] = []
        self.faults: dict[int, Fault] = {}

    def play(self) -> None:
        """Play.

        Raises:
            IllegalAction, AgentError: what an agent does wrong, if `strict`; the message names it.
        """
        rows = np.flatnonzero(self._games["stage"] == PLAYING)
        while len(rows):
            turns = self._seated[rows, self._games["seat"][rows]]
            for index, together in enumerate(self._on_arrays):
                mine = rows[turns == index]
                for part in [mine] if together else mine[:, None]:
                    if len(part):
                        self._turn(index, part)
            rows = rows[(self._games["stage"][rows] == PLAYING) & ~self._forfeited[rows]]

    def times(self, agent: int) -> tuple[Ints, Floats]:
        """Return int64[M], the games in which `agent` has made its moves, and float64[M], the seconds of each.

        Of a call for many games each has an equal share.
        """
        found = [(rows, seconds) for index, rows, seconds in self._moves if index == agent]
        if not found:
            return np.empty(0, np.int64), np.empty(0)
        return np.concatenate([rows for rows, _ in found]), np.concatenate([seconds for _, seconds in found])

    def _turn(self, index: int, rows: Ints) -> None:
        """Let an agent decide once in each of `rows`."""
        turn = self._games[rows]
        try:
            share = self._decide(index, turn, rows)
        except (AgentError, IllegalAction) as error:
            if self._strict or isinstance(error, AgentUnavailable):
                raise
            if len(rows) == 1:
                self._forfeit(int(rows[0]), index, error)
                return
            for row in rows[:, None]:  # ask again, so that only the game at fault is forfeited
                self._turn(index, row)
            return
        self._games[rows] = turn
        self._thought[rows] += share
        done = rows[turn["card"] == NOBODY]
        self._moves.append((index, done, self._thought[done]))
        self._thought[done] = 0

    def _forfeit(self, row: int, index: int, error: Exception) -> None:
        self._forfeited[row] = True
        self.faults[row] = Fault(index, str(error), copy_of(self._games[row : row + 1]))

    def _decide(self, index: int, turn: Records, rows: Ints) -> float:
        """Make what an agent decides in `turn`, in place; return the seconds that it took for each game."""
        agent = self._agents[index]
        call = self._question(index, turn)
        self._watch.begin(index, turn[:1])
        begin = time.perf_counter()
        try:
            answer = call()
        except (AgentError, IllegalAction):
            raise
        except BaseException as error:  # whatever goes wrong inside an agent, SystemExit too
            if is_ctrl_c(error):
                raise
            raise failure(agent, error) from error
        finally:
            share = (time.perf_counter() - begin) / len(rows)
            self._watch.end()
        if self._limit is not None and share > self._limit:
            raise AgentError(f"agent {agent.name!r}: took {share:.3g} s for a move; allowed are {self._limit:g} s")
        if self._on_arrays[index]:
            self._act(agent, turn, answer)
        else:
            self._move(agent, turn, answer)
        return share

    def _question(self, index: int, turn: Records) -> Callable[[], object]:
        """Return what asks an agent for actions in all games of `turn`, or for a move in its only one."""
        agent: Any = self._agents[index]
        if sees_everything(agent):
            return partial(agent.act_game, Game.from_records(self._rules, copy_of(turn)))
        seats = turn["seat"].astype(np.int64)
        views = np.empty(len(turn), GAME)
        batch.strip(self._record, turn, seats, views)
        if self._on_arrays[index]:
            return partial(agent.act_batch, self._rules, views)
        return partial(agent.act, View(self._rules, views, int(seats[0])))

    def _act(self, agent: AnyAgent, turn: Records, answer: object) -> None:
        actions = as_actions(agent, answer, len(turn))
        wrong = batch.act(self._record, turn, actions)
        if wrong >= 0:
            raise IllegalAction(f"agent {agent.name!r}: action {actions[wrong]} is illegal")

    def _move(self, agent: AnyAgent, turn: Records, answer: object) -> None:
        move = as_move(agent, answer)
        if not batch.play_one(self._record, turn, int(move.card), move.mask):
            raise IllegalAction(f"agent {agent.name!r}: move {move} is illegal")


def play_games(rules: Rules, games: Records, seated: Ints, agents: Sequence[AnyAgent]) -> None:
    """Play every game to the end of its round, in place, all at the same time (see `Referee`).

    Raises:
        IllegalAction: an agent's decision is illegal; the message names the agent.
        AgentError: an agent fails.
    """
    Referee(rules, games, seated, agents, strict=True).play()
