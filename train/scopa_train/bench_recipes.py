"""`scopa bench recipes`: how fast the recipes train, and where their time goes.

One update of the preset, wall time, on as many threads as the preset says.  Three parts:

env: playing by the rules.  Where games run inside the compiled loops of the recipe it cannot be timed from outside: it
is the number of plays, those tried for their features included, times what the engine alone takes for one, measured in
the same run.  Of `ppo` and `rllib` it is what the environments take, without the opponents and the features in them;
`rllib` plays and learns in one process here.
inference: the rest of the time in which games are played: features, networks, opponents, drawing of worlds.
learning: gradient steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any
from unittest.mock import patch

import numpy as np
import torch
from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from scopa_agents.arena_table import Bar, progress_bar
from scopa_agents.network.ranks import observed_features
from scopa_env.files import check_folder
from scopa_env.rules import Rules
from scopa_train.bench import engine_alone, rate
from scopa_train.dmc import DMC, DMCSettings
from scopa_train.exit import Exit, ExitSettings
from scopa_train.presets import NAMES, load_preset, preset_games
from scopa_train.report import write_json


@dataclass(frozen=True)
class Share:
    """What an update of a recipe takes.

    Attributes:
        recipe: its name.
        frames: decisions that are learnt from.
        env: seconds of the rules.
        inference: seconds of the rest of playing.
        learning: seconds of gradient steps.
    """

    recipe: str
    frames: int
    env: float
    inference: float
    learning: float

    @property
    def seconds(self) -> float:
        """Seconds in all."""
        return self.env + self.inference + self.learning


MOVES = 3
"""Legal moves of a decision, about; each is tried for its features."""


def seconds_of_a_play(rules: str) -> float:
    """Return what the engine alone takes for a play on one core, with the legal moves of the next."""
    work = engine_alone(rules, rounds=False)
    work()
    return 1 / rate(work, 0.5, time.perf_counter)


def measure_exit(settings: ExitSettings, bar: Bar) -> Share:
    """Measure the labels and the learning of an iteration after the first."""
    small = 20
    settings = replace(settings, decisions=settings.decisions // small, late_decisions=settings.late_decisions // small)
    learner = Exit(settings)
    learner.iteration = 1
    learner.label(bar)  # compiled
    begin = time.perf_counter()
    labels = learner.label(bar)
    playing = time.perf_counter() - begin
    learner.keep(labels)
    learning = 0.0
    for one in learner.learners().values():
        steps, one.steps, one.first_steps = one.steps, 5, 5
        one.learn(learner.rng, bar)
        one.steps = max(steps // small, 5)
        begin = time.perf_counter()
        one.learn(learner.rng, bar)
        learning += (time.perf_counter() - begin) * (steps / small) / one.steps
    seats = Rules.parse(settings.rules[0]).players
    moves = len(labels.values) / len(labels)  # of a decision with a choice: more than the mean of all
    plays = len(labels.values) * (1 + settings.worlds * seats * settings.horizon * (1 + moves))
    env = plays * seconds_of_a_play(settings.rules[0]) / settings.threads
    return Share("exit", len(labels), env, playing - env, learning)


def measure_dmc(settings: DMCSettings, bar: Bar) -> Share:
    """Measure an update."""
    learner = DMC(settings)
    learner.learn(learner.actors())
    begin = time.perf_counter()
    played = learner.actors()
    playing = time.perf_counter() - begin
    learner.learn(played)
    learning = time.perf_counter() - begin - playing
    hand = Rules.parse(settings.rules).hand_size
    plays = len(played) * hand / max(hand - 1, 1) * (2 + MOVES)  # made, for the features of the row, tried
    env = plays * seconds_of_a_play(settings.rules) / settings.threads
    return Share("dmc", len(played), env, playing - env, learning)


class Stopwatch:
    """Adds up the seconds of calls."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def around(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, timed."""

        def call(*arguments: Any, **options: Any) -> Any:
            begin = time.perf_counter()
            try:
                return work(*arguments, **options)
            finally:
                self.seconds += time.perf_counter() - begin

        return call


def measure_ppo(settings: Any, bar: Bar) -> Share:
    """Measure an update against the pool with one past self; environments and opponents are timed from outside."""
    from scopa_train.bench_train import Timed  # sb3 is not installed where RLlib is
    from scopa_train.ppo import Pool, Slot, export, make_env, make_model

    pool = Pool(settings)
    timed = Timed(make_env(settings, pool), time.perf_counter)
    model = make_model(settings, timed)
    pool.add("past", export(model, settings))
    pool.seat(np.random.default_rng(settings.seed), export(model, settings))
    each = settings.num_envs * settings.num_steps
    model.learn(each)
    learning, opponents = Stopwatch(), Stopwatch()
    model.train = learning.around(model.train)  # type: ignore[method-assign]
    timed.seconds = 0.0
    begin = time.perf_counter()
    with patch.object(Slot, "act_batch", opponents.around(Slot.act_batch)):
        model.learn(each)
    seconds = time.perf_counter() - begin
    env = timed.seconds - opponents.seconds
    return Share("ppo", each, env, seconds - env - learning.seconds, learning.seconds)


def measure_rllib(settings: Any, bar: Bar) -> Share:
    """Measure an update of one process, which plays and learns; the environments are timed from outside."""
    import ray

    from scopa_train import rllib

    settings = replace(settings, runners=0, learners=0)
    rllib.start_ray(settings)
    try:
        learner = rllib.Rllib(settings)
        learner.train()
        kind, env, features, before = rllib.RankEnv, Stopwatch(), Stopwatch(), learner.steps
        begin = time.perf_counter()
        with (
            patch.object(kind, "step", env.around(kind.step)),
            patch.object(kind, "reset", env.around(kind.reset)),
            patch.object(rllib, "observed_features", features.around(observed_features)),
        ):
            values = learner.train()
        seconds = time.perf_counter() - begin
        rules = env.seconds - features.seconds
        learner.algorithm.stop()
    finally:
        ray.shutdown()
    learning = values["seconds/learn"]
    return Share("rllib", learner.steps - before, rules, seconds - rules - learning, learning)


MEASURES: dict[str, Callable[[Any, Bar], Share]] = {
    "exit": measure_exit,
    "dmc": measure_dmc,
    "ppo": measure_ppo,
    "rllib": measure_rllib,
}


SETTINGS = {"exit": "ExitSettings", "dmc": "DMCSettings", "ppo": "PPOSettings", "rllib": "RllibSettings"}


def settings_of(recipe: str, preset: str, out: Path) -> Any:
    """Return the settings of a recipe's preset.

    Raises:
        ImportError: what the recipe needs is not installed.
    """
    kind = getattr(import_module(f"scopa_train.{recipe}"), SETTINGS[recipe])
    plain = load_preset(recipe, preset)
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in plain.items()} | {"out": out})


def bench_recipes(
    preset: str = "scopa/full",
    /,
    *,
    json_file: Annotated[Path | None, Parameter(name="--json")] = None,
) -> None:
    """Measure an update of each recipe: decisions a second, and where the time goes.

    Args:
        preset: GAME/quick or GAME/full: the settings.
        json_file: write the figures to this file.
    """
    if json_file is not None:
        check_folder(json_file)
    games = sorted(set.intersection(*(set(preset_games(name)) for name in MEASURES)))
    if preset.partition("/")[0] not in games or preset.partition("/")[2] not in NAMES:
        allowed = ", ".join(f"{game}/{name}" for game in games for name in NAMES)
        raise ValueError(f"preset={preset!r}: allowed are {allowed}")
    found = []
    with TemporaryDirectory() as folder:
        for name, measure in MEASURES.items():
            try:
                settings = settings_of(name, preset, Path(folder))
            except ImportError as error:
                print(f"{name} is left out: {error}")
                continue
            torch.set_num_threads(settings.threads)
            with progress_bar(name, 1, "measurements") as bar:
                found.append(measure(settings, bar))
                bar.advance_to(1)
    table = Table("recipe", title=preset, box=None, title_justify="left")
    for column in ("decisions a second", "env %", "inference %", "learning %"):
        table.add_column(column, justify="right")
    for share in found:
        parts = [f"{100 * part / share.seconds:.1f}" for part in (share.env, share.inference, share.learning)]
        table.add_row(share.recipe, f"{share.frames / share.seconds:,.0f}", *parts)
    Console().print(table)
    if json_file is not None:
        write_json(json_file, {"preset": preset, "recipes": [vars(share) for share in found]})
