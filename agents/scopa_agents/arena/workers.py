"""Processes that play units, and their supervisors, who notice when an agent hangs or takes its process with it.

A worker process tells by a piece of shared memory who is thinking about what since when.  Its supervisor, in the
process that started it, kills it when that takes too long; the game at fault is forfeited and a new worker goes on with
the rest.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np

from scopa_agents.arena.games import Fault, Watch, seatings
from scopa_agents.arena.unit import GameResult, Job, Unit, UnitPlayer, forfeited
from scopa_env.agents import AgentError
from scopa_env.engine.state import GAME, Records
from scopa_env.rules import Rules

CONTEXT = multiprocessing.get_context("spawn")  # numba's threads do not survive a fork

MOST_FAILURES = 3
"""Times in a row that a worker may end without an agent being at fault, as by a lack of memory."""

Task = tuple[Unit, tuple[tuple[int, int], ...] | None]
"""A unit, and the games (deal, seating) of it to be played one by one; None: the whole block at the same time."""


class WorkerError(ChildProcessError):
    """A worker process ended, and no agent was at fault."""


class Desk(Watch):
    """What a worker is doing, in memory that its supervisor sees.

    Args:
        memory: shared bytes, `Desk.SIZE` of them.
    """

    HEAD = np.dtype([("since", "f8"), ("agent", "i8")])
    SIZE = HEAD.itemsize + GAME.itemsize

    def __init__(self, memory: Any) -> None:
        self._head = np.frombuffer(memory, self.HEAD, 1)
        self._record = np.frombuffer(memory, np.uint8, GAME.itemsize, self.HEAD.itemsize)

    def begin(self, agent: int, record: Records) -> None:
        """Write down who starts to think about what."""
        self._record[:] = np.frombuffer(record.tobytes(), np.uint8)
        self._head["agent"] = agent
        self._head["since"] = time.monotonic()  # last: from now on the clock runs

    def end(self) -> None:
        """Clear the desk."""
        self._head["since"] = 0

    @property
    def seconds(self) -> float:
        """How long an agent has been thinking; 0: none is."""
        since = float(self._head["since"][0])
        return time.monotonic() - since if since else 0.0

    def fault(self, error: str) -> Fault:
        """Return whom to blame, as of the decision that is on the desk."""
        return Fault(int(self._head["agent"][0]), error, np.frombuffer(self._record.tobytes(), GAME).copy())


def work(job: Job, channel: Connection, memory: Any) -> None:
    """Play the tasks that come through `channel` until it is closed: what a worker process runs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who started this process decides what Ctrl-C means
    with suppress(OSError):  # no stderr
        os.dup2(2, 1)  # what an agent prints, in whatever language, is not mixed with the results on stdout
    threading.Thread(target=_end_with_parent, daemon=True).start()
    warnings.simplefilter("ignore")  # said once, by the process that reads the command
    player = UnitPlayer(job, Desk(memory))
    while True:
        try:
            task = channel.recv()
        except EOFError:
            return
        for results in _played(player, task):
            channel.send(results)


def _played(player: UnitPlayer, task: Task) -> Iterator[list[GameResult] | Exception]:
    unit, games = task
    try:
        if games is None:
            yield player.play_together(unit)
        else:
            for deal, seating in games:
                yield [player.play_one(unit, deal, seating)]
    except AgentError as error:
        yield error
    except Exception as error:  # not an agent's decision: those are results
        yield WorkerError(f"{type(error).__name__}: {error}")


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


class _Ended(Exception):
    """The worker has ended.

    Args:
        fault: whom to blame; None: nobody.
        how: how it ended.
    """

    def __init__(self, fault: Fault | None, how: str) -> None:
        super().__init__(how)
        self.fault = fault


class Supervisor:
    """Plays units in a process of its own and outlives whatever an agent does there.

    Args:
        job: the job.
        hard_limit: seconds of a decision after which the process is killed; None: never.
    """

    def __init__(self, job: Job, hard_limit: float | None = None) -> None:
        self._job = job
        self._limit = hard_limit
        self._seatings = len(seatings(Rules.parse(job.rules)))
        self._process: Any = None
        self._channel: Connection | None = None
        self._memory: Any = None
        self._closed = False

    def play(self, unit: Unit) -> list[GameResult]:
        """Play a unit.

        Raises:
            WorkerError: the process ended again and again outside of any decision.
            Exception: what else goes wrong in it, such as an AgentError of an agent that cannot be made.
        """
        games = [(deal, seating) for deal in unit.deals for seating in range(self._seatings)]
        if unit.together:
            found = self._play_block(unit, len(games))
            if found is not None:
                return found
        return self._play_singly(unit, games)

    def _play_block(self, unit: Unit, count: int) -> list[GameResult] | None:
        """Play a whole block; None if an agent has ended the process: then each game has to be played by itself."""
        for _ in range(MOST_FAILURES):
            found: list[GameResult] = []
            try:
                found.extend(self._run((unit, None), count))
            except _Ended as end:
                if end.fault:
                    return None
                how = str(end)
            else:
                return found
        raise self._failed(unit, how)

    def _play_singly(self, unit: Unit, games: list[tuple[int, int]]) -> list[GameResult]:
        found: list[GameResult] = []
        failures = 0
        while len(found) < len(games):
            before = len(found)
            try:
                for result in self._run((unit, tuple(games[before:])), len(games) - before):
                    found.append(result)
            except _Ended as end:
                if end.fault:
                    found.append(forfeited(self._job, unit, *games[len(found)], end.fault))
                failures = failures + 1 if len(found) == before else 0
                if failures == MOST_FAILURES:
                    raise self._failed(unit, str(end)) from None
        return found

    def _failed(self, unit: Unit, how: str) -> WorkerError:
        who = " against ".join(self._job.names[unit.pairing])
        return WorkerError(
            f"{who}: a worker process {how}, {MOST_FAILURES} times in a row and in no decision of an agent"
        )

    def _run(self, task: Task, count: int) -> Iterator[GameResult]:
        """Let the worker play a task; yield the `count` results as they come."""
        channel, desk = self._worker()
        try:
            channel.send(task)
            while count:
                self._wait(channel, desk)
                results = channel.recv()
                if isinstance(results, Exception):
                    raise results
                yield from results
                count -= len(results)
        except (EOFError, ConnectionError):
            self._raise_end(desk, "")

    def _wait(self, channel: Connection, desk: Desk) -> None:
        """Wait for an answer, and end a decision that takes too long."""
        if self._limit is None:
            return
        while not channel.poll(max(min(self._limit - desk.seconds, self._limit / 4), 0.001)):
            if desk.seconds > self._limit:
                self._kill()
                self._raise_end(desk, f"took more than {self._limit:g} s for a move; its process was killed")

    def _raise_end(self, desk: Desk, why: str) -> None:
        """Raise an `_Ended` for a process that has ended, or is just being killed (`why`)."""
        process = self._process
        process.join(10)
        # killed, but it has gone on to another decision in the last moment: nobody is at fault
        guilty = desk.seconds > (self._limit if why and self._limit else 0)
        why = why or f"ended its process, with status {process.exitcode}"
        self._drop()
        if self._closed:
            raise InterruptedError("closed")
        raise _Ended(desk.fault(why) if guilty else None, f"ended with status {process.exitcode}")

    def _worker(self) -> tuple[Connection, Desk]:
        """Return the channel and the desk of a running worker."""
        if self._closed:
            raise InterruptedError("closed")
        if self._process is None:
            self._memory = CONTEXT.RawArray("c", Desk.SIZE)
            self._channel, end = CONTEXT.Pipe()
            self._process = CONTEXT.Process(target=work, args=(self._job, end, self._memory), daemon=True)
            self._process.start()
            end.close()
        assert self._channel is not None
        return self._channel, Desk(self._memory)

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _drop(self) -> None:
        if self._channel is not None:
            self._channel.close()
        self._process = self._channel = None

    def close(self) -> None:
        """End the worker at once; a `play` that is waiting for it in another thread raises an InterruptedError."""
        self._closed = True
        self._kill()
