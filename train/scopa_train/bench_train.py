"""`scopa bench train`: decisions a second of MaskablePPO's training on many games at once, and on single ones."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import gymnasium
import torch
from cyclopts import Parameter
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecEnvWrapper, VecMonitor

from scopa_env import ScopaEnv
from scopa_env.files import check_folder
from scopa_env.interop.sb3 import ScopaVecEnv
from scopa_train.ppo import PPOSettings, make_model
from scopa_train.report import print_figures, write_json

GAMES = 256

Model = Callable[[PPOSettings, VecEnv], MaskablePPO]


class Timed(VecEnvWrapper):
    """Adds up the time that the environments take.

    Args:
        venv: the environments.
        clock: what is read before and after.
    """

    def __init__(self, venv: VecEnv, clock: Callable[[], float] = time.process_time) -> None:
        super().__init__(venv)
        self.clock = clock
        self.seconds = 0.0

    def reset(self) -> Any:
        """Reset."""
        return self.venv.reset()

    def step_wait(self) -> Any:
        """Step."""
        begin = self.clock()
        result = self.venv.step_wait()
        self.seconds += self.clock() - begin
        return result

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **more: Any) -> list[Any]:
        """Call a method of the environments, such as that for the masks."""
        begin = self.clock()
        result = self.venv.env_method(method_name, *arguments, indices=indices, **more)
        self.seconds += self.clock() - begin
        return result


def recipe(settings: PPOSettings, env: VecEnv) -> MaskablePPO:
    """Return the model of the recipe `scopa_train.ppo`, with its features and network."""
    return make_model(settings, env)


def plain(settings: PPOSettings, env: VecEnv) -> MaskablePPO:
    """Return a model with stable-baselines3's own network, in batches of 2048, 4 epochs."""
    steps = settings.num_steps
    return MaskablePPO("MlpPolicy", env, n_steps=steps, batch_size=2048, n_epochs=4, seed=settings.seed, device="cpu")


def training_rate(settings: PPOSettings, make: Model, env: VecEnv, updates: int) -> tuple[float, float]:
    """Train for some updates; return decisions a second of CPU time, and the share of it that the environments take."""
    timed = Timed(env)
    model = make(settings, VecMonitor(timed))
    each = settings.num_envs * settings.num_steps
    model.learn(each)
    timed.seconds = 0.0
    begin = time.process_time()
    model.learn(updates * each)
    spent = time.process_time() - begin
    return updates * each / spent, timed.seconds / spent


def many_games(settings: PPOSettings) -> VecEnv:
    """Return the games of the recipe against compiled agents: what the environments take, without past selves."""
    return ScopaVecEnv(
        settings.num_envs,
        settings.rules,
        list(settings.opponents),
        reward=settings.reward,
        reward_scale=settings.reward_scale,
    )


def single_envs(settings: PPOSettings) -> DummyVecEnv:
    """Return the same games as single environments."""

    def make() -> gymnasium.Env[Any, Any]:
        env = ScopaEnv(settings.rules, opponent=list(settings.opponents), reward=settings.reward)
        return gymnasium.wrappers.TransformReward(env, lambda reward: float(reward) * settings.reward_scale)

    return DummyVecEnv([make] * settings.num_envs)


def bench_train(
    *,
    updates: int = 2,
    repeats: int = 3,
    json_file: Annotated[Path | None, Parameter(name="--json")] = None,
) -> None:
    """Measure MaskablePPO's training with 256 games on one thread.

    Args:
        updates: updates of a measurement.
        repeats: measurements; the medians are printed.
        json_file: write the figures to this file.
    """
    if updates < 1 or repeats < 1:
        raise ValueError(f"updates={updates}, repeats={repeats}: allowed are whole numbers from 1")
    if json_file is not None:
        check_folder(json_file)
    figures = measure_training(updates, repeats)
    print_figures("MaskablePPO, 256 games, one thread", figures)
    if json_file is not None:
        write_json(json_file, {"figures": figures})


def measure_training(updates: int, repeats: int) -> dict[str, float]:
    """Return the medians of rates and shares."""
    torch.set_num_threads(1)
    settings = PPOSettings(num_envs=GAMES, opponents=("random", "greedy"))
    kinds: dict[str, tuple[Model, Callable[[PPOSettings], VecEnv]]] = {
        "MlpPolicy on ScopaVecEnv": (plain, many_games),
        "MlpPolicy on single environments in DummyVecEnv": (plain, single_envs),
        "recipe on ScopaVecEnv": (recipe, many_games),
    }
    rates: dict[str, list[tuple[float, float]]] = {name: [] for name in kinds}
    for _ in range(repeats):
        for name, (model, make) in kinds.items():
            rates[name].append(training_rate(settings, model, make(settings), updates))
    figures = {
        f"{name}, decisions a second": statistics.median(rate for rate, _ in found) for name, found in rates.items()
    }
    shares = {
        f"{name}, share of the environments": statistics.median(part for _, part in found)
        for name, found in rates.items()
    }
    return figures | shares
