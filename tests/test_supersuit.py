"""SuperSuit: the page's example, and which wrappers work on what, as its table says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

supersuit = pytest.importorskip("supersuit", reason="needs the extra supersuit")

from pettingzoo.utils.conversions import turn_based_aec_to_parallel  # noqa: E402

import scopa_env  # noqa: E402
from helpers import run_example  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # gymnasium's and SuperSuit's own

ALONE = {
    "agent_indicator_v0": (),
    "dtype_v0": (np.float32,),
    "flatten_v0": (),
    "frame_stack_v1": (4,),
    "frame_stack_v2": (4,),
    "max_observation_v0": (2,),
    "delay_observations_v0": (1,),
    "reshape_v0": ((4, 148),),
    "pad_observations_v0": (),
}
"""Wrappers, with their arguments, that work on the observation alone."""
BOTH = {
    "reward_lambda_v0": (lambda reward: reward / 10,),
    "clip_reward_v0": (-1, 1),
    "pad_action_space_v0": (),
    "nan_random_v0": (),
    "nan_noop_v0": (0,),
    "nan_zeros_v0": (),
}
"""Those that work on the dict as well."""
NEITHER = {
    "sticky_actions_v0": (0.9,),
    "frame_skip_v0": (2,),
    "clip_actions_v0": (),
    "scale_actions_v0": (2,),
    "color_reduction_v0": (),
    "resize_v1": (10, 10),
    "black_death_v3": (),
    "normalize_obs_v0": (),
}
"""Those that work on neither."""


def alone(env: Any) -> Any:
    """Take the observation alone."""
    return supersuit.observation_lambda_v0(env, lambda seen, _: seen["observation"], lambda space: space["observation"])


def wrap(name: str, arguments: tuple[Any, ...], prepare: Callable[[Any], Any], rules: str = "scopa") -> Any:
    return getattr(supersuit, name)(prepare(scopa_env.env(rules)), *arguments)


def play(env: Any) -> dict[str, float]:
    """Play a round by the masks; return what every seat got."""
    env.reset(seed=3)
    rng = np.random.default_rng(1)
    collected = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, info = env.last()
        assert env.observation_space(agent).contains(seen)
        collected[agent] += reward
        mask = (seen if isinstance(seen, dict) else info)["action_mask"]
        env.step(None if terminated or truncated else int(rng.choice(np.flatnonzero(mask))))
    return collected


PLAIN = play(scopa_env.env("scopa"))


def as_paid(name: str) -> dict[str, float]:
    change = {"reward_lambda_v0": lambda reward: reward / 10, "clip_reward_v0": lambda reward: np.clip(reward, -1, 1)}
    return {agent: change.get(name, lambda reward: reward)(reward) for agent, reward in PLAIN.items()}


def test_the_page() -> None:
    run_example("supersuit")
    assert max(map(abs, PLAIN.values())) > 1


@pytest.mark.parametrize("name", [*ALONE, *BOTH])
def test_these_work_on_the_observation_alone(name: str) -> None:
    assert play(wrap(name, {**ALONE, **BOTH}[name], alone)) == as_paid(name)


@pytest.mark.parametrize("name", BOTH)
def test_these_work_on_the_dict(name: str) -> None:
    assert play(wrap(name, BOTH[name], lambda env: env)) == as_paid(name)


@pytest.mark.parametrize("name", [*ALONE, *NEITHER])
def test_these_fail_on_the_dict(name: str) -> None:
    with pytest.raises((AssertionError, AttributeError, TypeError, scopa_env.IllegalAction)):
        play(wrap(name, {**ALONE, **NEITHER}[name], lambda env: env))


@pytest.mark.parametrize("name", NEITHER)
def test_these_fail_on_the_observation_alone(name: str) -> None:
    with pytest.raises((AssertionError, AttributeError, KeyError, scopa_env.IllegalAction)):
        play(wrap(name, NEITHER[name], alone))


def test_normalised_after_a_change_of_type() -> None:
    def prepare(env: Any) -> Any:
        return supersuit.dtype_v0(alone(env), np.float32)

    assert play(wrap("normalize_obs_v0", (), prepare)) == PLAIN


def test_black_death_never_ends() -> None:
    env = supersuit.black_death_v3(turn_based_aec_to_parallel(alone(scopa_env.env("mini_scopa"))))
    _, infos = env.reset(seed=1)
    for _ in range(30):
        acting = env.unwrapped.agent_selection
        if not env.unwrapped.agents:
            break
        action = int(infos[acting]["action_mask"].argmax())
        _, _, over, _, infos = env.step(dict.fromkeys(env.agents, action))
    assert not env.unwrapped.agents  # the round is over
    assert not any(over.values())


def test_seats_as_a_vector() -> None:
    env = supersuit.pettingzoo_env_to_vec_env_v1(turn_based_aec_to_parallel(alone(scopa_env.env("mini_scopa"))))
    seen, infos = env.reset(seed=1)
    assert seen.shape == (2, 592)
    rounds = 0
    for _ in range(40):
        masks = np.array([info["action_mask"] for info in infos])
        assert masks.any(axis=1).sum() == 1
        seen, rewards, over, _, infos = env.step(masks.argmax(axis=1))
        assert rewards.sum() == 0
        rounds += bool(over.all())
    assert rounds > 5
    several = supersuit.concat_vec_envs_v1(env, 2)
    assert several.reset()[0].shape == (4, 592)
