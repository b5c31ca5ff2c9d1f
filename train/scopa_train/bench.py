"""`scopa bench`: how fast every way of using the environments is.

Every figure is measured several times, alternately with all others, so that a slow spell of the machine meets all of
them; the median is printed.  Rates are a second of CPU time of the process, but for those of several threads.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import scopa_env
from scopa_env import Game, Rules, ScopaEnv, batch
from scopa_env.engine.state import GAME, NOBODY
from scopa_env.files import check_folder
from scopa_env.kernel import kernel
from scopa_env.run import deal_again, first_illegal, may, random_action, take
from scopa_env.vector import BatchedScopa, ScopaVectorEnv
from scopa_train.report import print_figures, write_json

GAMES = 4096

Clock = Callable[[], float]
Work = Callable[[], int]
"""Does some work and returns how many units of it."""


@dataclass(frozen=True)
class Measure:
    """What is measured.

    Attributes:
        name: what it is called in the table.
        unit: what is counted.
        prepare: makes the work, once.
        clock: the clock: of the process, or of the wall for several threads.
    """

    name: str
    unit: str
    prepare: Callable[[], Work]
    clock: Clock = time.process_time


# every seat played from outside


def batch_step(rules: str, **arguments: Any) -> Work:
    """Return the work of stepping 4096 games by random legal actions; each is checked by the step itself."""
    env = BatchedScopa(GAMES, rules, seed=1, **arguments)
    actions = np.empty(GAMES, np.int64)

    def work() -> int:
        for _ in range(10):
            env.step(env.random_actions(actions))  # an illegal action is an exception
        return 10 * GAMES

    return work


@kernel
def play_alone(rules: Any, settings: Any, games: Any, runs: Any, earned: Any, steps: int) -> int:
    """Play random legal actions without observing; return how many rounds have ended, -1 if an action was illegal."""
    rounds = 0
    for _ in range(steps):
        for i in range(len(games)):
            action = random_action(runs[i])
            if not may(runs[i], action):
                return -1
            take(rules[0], settings[0], games, runs, i, action, earned, games[:0])
            if runs[i]["over"]:
                rounds += 1
                deal_again(rules[0], games[i], runs[i])
    return rounds


def engine_alone(rules: str, *, rounds: bool) -> Work:
    """Return the work of playing by the rules alone, counted in actions or in rounds."""
    env = BatchedScopa(GAMES, rules, seed=1, observe=False)
    settings = env.settings.record(restarts=True)
    earned = np.empty(6, np.float64)
    play_alone(env.rules.record, settings, env.records, env.runs, earned, 1)
    check_legal(env)

    def work() -> int:
        ended = play_alone(env.rules.record, settings, env.records, env.runs, earned, 20)
        assert ended >= 0
        return ended if rounds else 20 * GAMES

    return work


def check_legal(env: BatchedScopa) -> None:
    """Raise unless the random actions of a batch are legal, by the rules that say so of whole games."""
    actions = env.random_actions()
    assert first_illegal(env.runs, actions) < 0
    for index in range(0, len(actions), 97):
        env.game(index).act(int(actions[index]))  # an illegal action is an exception


# one game at a time


def random_legal(mask: np.ndarray[Any, Any], draws: Iterator[float]) -> int:
    """Return one of the legal actions."""
    legal = np.flatnonzero(mask)
    return int(legal[int(next(draws) * len(legal))])


def uniform() -> Iterator[float]:
    """Yield random numbers."""
    rng = np.random.default_rng(1)
    while True:
        yield from rng.random(4096).tolist()


def aec(name: str) -> Work:
    """Return the work of an episode of the PettingZoo environment: last and step, with observation and mask."""
    env = getattr(scopa_env, name)(rules="scopa")
    env.reset(seed=1)
    draws = uniform()

    def work() -> int:
        env.reset()
        decisions = 0
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            env.step(random_legal(observation["action_mask"], draws))
            decisions += 1
        return decisions

    return work


def single(opponent: str) -> Work:
    """Return the work of an episode of the Gymnasium environment."""
    env = ScopaEnv("scopa", opponent=opponent)
    env.reset(seed=1)
    draws = uniform()

    def work() -> int:
        _, info = env.reset()
        steps, done = 0, False
        while not done:
            _, _, done, _, info = env.step(random_legal(info["action_mask"], draws))
            steps += 1
        return steps

    return work


def vector(opponent: str, count: int = 256) -> Work:
    """Return the work of steps of the Gymnasium vector environment."""
    envs = ScopaVectorEnv(count, "scopa", opponent)
    _, infos = envs.reset(seed=1)
    masks = infos["action_mask"]

    def work() -> int:
        nonlocal masks
        for _ in range(10):
            _, _, _, _, found = envs.step(masks.argmax(axis=1))
            masks = found["action_mask"]
        return 10 * count

    return work


# copies


@kernel
def clone_all(games: Any, copies: Any) -> None:
    """Copy every game."""
    for i in range(len(games)):
        copies[i] = games[i]


def clone_in_kernels() -> Work:
    """Return the work of copying games inside compiled code."""
    games = np.zeros(GAMES, GAME)
    games["rng"] = np.arange(GAMES)
    batch.start(Rules().record, games, NOBODY)
    copies = np.empty_like(games)

    def work() -> int:
        clone_all(games, copies)
        return GAMES

    return work


def clone_game() -> Work:
    """Return the work of `Game.copy`."""
    game = Game("scopa", seed=1)
    game.push(game.legal_moves[0])

    def work() -> int:
        for _ in range(1000):
            game.copy()
        return 1000

    return work


MEASURES: tuple[Measure, ...] = (
    Measure("batch of 4096, scopa", "decisions", lambda: batch_step("scopa")),
    Measure("batch of 4096, scopa, packed", "decisions", lambda: batch_step("scopa", packed=True)),
    Measure("batch of 4096, scopa, not observed", "decisions", lambda: batch_step("scopa", observe=False)),
    Measure("batch of 4096, escoba", "decisions", lambda: batch_step("escoba")),
    Measure("batch of 4096, scopone_scientifico", "decisions", lambda: batch_step("scopone_scientifico")),
    Measure("batch of 4096, scopa, wall time", "decisions", lambda: batch_step("scopa"), time.perf_counter),
    Measure(
        "batch of 4096, scopa, two threads, wall time",
        "decisions",
        lambda: batch_step("scopa", threads=2),
        time.perf_counter,
    ),
    Measure("engine alone, scopa", "decisions", lambda: engine_alone("scopa", rounds=False)),
    Measure("engine alone, scopa, rounds", "rounds", lambda: engine_alone("scopa", rounds=True)),
    Measure("engine alone, escoba", "decisions", lambda: engine_alone("escoba", rounds=False)),
    Measure("AEC env", "decisions", lambda: aec("env")),
    Measure("Gymnasium env against greedy", "learner steps", lambda: single("greedy")),
    Measure("Gymnasium env against random", "learner steps", lambda: single("random")),
    Measure("Gymnasium vector env, 256 games against greedy", "learner steps", lambda: vector("greedy")),
    Measure("copies of a game in kernels", "copies", clone_in_kernels),
    Measure("Game.copy()", "copies", clone_game),
)


def rate(work: Work, seconds: float, clock: Clock) -> float:
    """Return units a second over about `seconds`."""
    begin = clock()
    count = 0
    while (spent := clock() - begin) < seconds:
        count += work()
    return count / spent


def measure(measures: tuple[Measure, ...], seconds: float, repeats: int) -> dict[str, float]:
    """Return the median rate of each measure, all of them measured alternately."""
    works = [one.prepare() for one in measures]
    for work in works:
        work()  # compiled, and caches warm
    found: dict[str, list[float]] = {one.name: [] for one in measures}
    for _ in range(repeats):
        for one, work in zip(measures, works, strict=True):
            found[one.name].append(rate(work, seconds, one.clock))
    return {name: statistics.median(rates) for name, rates in found.items()}


def two_processes(seconds: float, repeats: int) -> float:
    """Return what two processes reach together, decisions a second of wall time: the bound for two threads."""
    code = f"""
import time
from scopa_train.bench import batch_step, rate
work = batch_step("scopa")
work()
while time.time() < {{start}}:
    pass
print(rate(work, {seconds}, time.perf_counter))
"""
    sums = []
    for _ in range(repeats):
        command = [sys.executable, "-c", code.format(start=time.time() + 4)]
        environment = {**os.environ, "SCOPA_ENV_QUIET": "1"}
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)]
        sums.append(sum(float(process.communicate(timeout=120)[0]) for process in both))
    return statistics.median(sums)


def bench_all(
    *,
    seconds: float,
    repeats: int,
    only: str,
    processes: bool,
    json_file: Path | None,
) -> None:
    """Measure and print; the arguments are those of the command `scopa bench`."""
    if seconds <= 0 or repeats < 1:
        raise ValueError(f"seconds={seconds}, repeats={repeats}: allowed are numbers above 0")
    chosen = tuple(one for one in MEASURES if only in one.name)
    if not chosen:
        raise ValueError(f"only={only!r}: allowed is a part of {', '.join(repr(one.name) for one in MEASURES)}")
    if json_file is not None:
        check_folder(json_file)
    figures = measure(chosen, seconds, repeats)
    if processes and not only and (os.cpu_count() or 1) > 1:
        figures["batch of 4096, scopa, two processes, wall time"] = two_processes(seconds, repeats)
    print_figures("a second of CPU time, medians", figures, digits=0)
    if json_file is not None:
        write_json(json_file, {"per_second": figures, "seconds": seconds, "repeats": repeats})
