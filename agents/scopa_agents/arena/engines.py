"""Where units are played: in this process, in processes of this machine, or on a Ray cluster."""

from __future__ import annotations

import importlib
import itertools
import os
import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from scopa_agents.arena.unit import GameResult, Job, Unit, UnitPlayer
from scopa_agents.arena.workers import Supervisor
from scopa_env.extras import how_to_install

Results = Iterator[tuple[Unit, list[GameResult]]]


class EngineError(ValueError):
    """An engine that is not installed or cannot be reached; the message says what to do."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def play_here(job: Job, units: Iterable[Unit]) -> Results:
    """Play in this process, one unit after the other."""
    player = UnitPlayer(job)
    for unit in units:
        yield unit, player.play(unit)


def play_in_processes(job: Job, units: Iterable[Unit], jobs: int, hard_limit: float | None) -> Results:
    """Play in `jobs` processes; the results come as they are ready."""
    todo = iter(units)
    ready: queue.Queue[tuple[Unit, list[GameResult]] | BaseException | None] = queue.Queue()
    lock = threading.Lock()
    supervisors = [Supervisor(job, hard_limit) for _ in range(jobs)]

    def supervise(supervisor: Supervisor) -> None:
        try:
            while True:
                with lock:
                    unit = next(todo, None)
                if unit is None:
                    return
                ready.put((unit, supervisor.play(unit)))
        except BaseException as error:
            ready.put(error)
        finally:
            supervisor.close()
            ready.put(None)

    threads = [threading.Thread(target=supervise, args=(one,), daemon=True) for one in supervisors]
    for thread in threads:
        thread.start()
    try:
        running = jobs
        while running:
            found = ready.get()
            if isinstance(found, BaseException):
                raise found
            if found is None:
                running -= 1
            else:
                yield found
    finally:
        with lock:
            todo = iter(())
        for supervisor in supervisors:
            supervisor.close()
        for thread in threads:
            thread.join(10)


def play_on_ray(
    job: Job, units: Iterable[Unit], jobs: int | None, hard_limit: float | None, address: str | None
) -> Results:
    """Play on a Ray cluster; the results come as they are ready.

    Args:
        job: the job; the agents must be installed on every machine of the cluster.
        units: what to play.
        jobs: units at the same time; None: one for each CPU of the cluster.
        hard_limit: seconds of a decision after which its process is killed; None: never.
        address: of the cluster, as for ``ray.init``; None: that of the variable ``RAY_ADDRESS``, or else a new one on
            this machine, which ends with the run.

    Raises:
        EngineError: Ray is not installed, or there is no cluster at this address.
    """
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise EngineError(f"ray is not installed; engine 'ray' needs the extra: {how_to_install('ray')}") from None
    mine = not ray.is_initialized()
    if mine:
        try:
            ray.init(address, log_to_driver=False, logging_level="error", configure_logging=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise EngineError(f"address={address!r}: {error}") from error
    try:
        yield from _play_on_actors(ray, job, units, jobs or int(ray.cluster_resources().get("CPU", 1)), hard_limit)
    finally:
        if mine:
            ray.shutdown()


def _play_on_actors(ray: Any, job: Job, units: Iterable[Unit], jobs: int, hard_limit: float | None) -> Results:
    """Keep `jobs` supervisors busy, each an actor somewhere in the cluster; a lost machine's units are played again."""
    actor = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(Supervisor)
    todo = iter(units)
    busy = {}
    for unit in itertools.islice(todo, jobs):
        one = actor.remote(job, hard_limit)
        busy[one.play.remote(unit)] = one, unit
    while busy:
        done, _ = ray.wait(list(busy))
        for answer in done:
            one, unit = busy.pop(answer)
            following = next(todo, None)
            if following is not None:
                busy[one.play.remote(following)] = one, following
            yield unit, _unwrapped(ray, answer)


def _unwrapped(ray: Any, answer: Any) -> list[GameResult]:
    try:
        found: list[GameResult] = ray.get(answer)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    return found
