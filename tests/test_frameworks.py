"""Frameworks that fit beside the others: PettingZoo, stable-baselines3.  The pages' examples and statements."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.test import max_cycles_test, parallel_api_test, parallel_seed_test
from pettingzoo.utils import average_total_reward, random_demo, wrappers
from pettingzoo.utils.conversions import aec_to_parallel, parallel_to_aec, turn_based_aec_to_parallel

import scopa_env
from helpers import run_example, run_fragments

REMARKS = pytest.mark.filterwarnings("ignore")
"""PettingZoo's own tests and wrappers remark on names, masks and illegal actions."""


def wrapped(rules: str = "scopa", **arguments: Any) -> AECEnv[str, Any, Any]:
    env = wrappers.TerminateIllegalWrapper(scopa_env.env(rules, **arguments), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))


def play(env: AECEnv[str, Any, Any], seed: int) -> list[tuple[str, float, bytes]]:
    """Play to the end; return who was to act, what it had got and what it saw."""
    env.reset(seed=seed)
    rng, found = np.random.default_rng(seed), []
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, _ = env.last()
        found.append((agent, reward, seen["observation"].tobytes()))
        done = terminated or truncated
        env.step(None if done else int(rng.choice(np.flatnonzero(seen["action_mask"]))))
    return found


# PettingZoo


@REMARKS
def test_the_page_of_pettingzoo() -> None:
    assert run_fragments("pettingzoo", run_example("pettingzoo")) == 2


@pytest.mark.parametrize("rules", ["scopa", "escoba", "scopone", "scopa:players=3", "german_4p"])
def test_wrappers_change_nothing_in_legal_games(rules: str) -> None:
    for arguments in ({}, {"episode": "match", "reward": "decided"}):
        if arguments and rules != "scopa":
            continue
        assert play(wrapped(rules, **arguments), 3) == play(scopa_env.env(rules, **arguments), 3)


@REMARKS
def test_pettingzoos_way_of_ending_illegal_games_charges_the_offender_alone() -> None:
    env = wrapped("scopone")
    env.reset(seed=1)
    offender = env.agent_selection
    mask = env.observe(offender)["action_mask"]
    env.step(int(np.flatnonzero(mask == 0)[0]))
    paid = {}
    for agent in env.agent_iter():
        _, paid[agent], terminated, truncated, _ = env.last()
        assert terminated
        assert truncated
        env.step(None)
    assert paid == {agent: -1.0 if agent == offender else 0.0 for agent in env.possible_agents}
    assert len(play(env, 2)) == len(play(scopa_env.env("scopone"), 2))  # and the next episode is whole


def test_wrapped_environments_can_be_copied_and_checked() -> None:
    env = wrapped()
    with pytest.raises(AttributeError, match="before reset"):
        _ = env.agent_selection
    env.reset(seed=1)
    with pytest.raises(AssertionError, match="not in action space"):
        env.step(81)
    assert env.view("player_0").observer == 0
    for other in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        assert play(other, 5) == play(wrapped(), 5)


def steps_of(env: ParallelEnv[str, Any, Any], seed: int) -> dict[str, float]:
    seen, _ = env.reset(seed=seed)
    total = dict.fromkeys(env.possible_agents, 0.0)
    acting = env.unwrapped.agent_selection
    while env.agents:
        assert [agent for agent in env.agents if seen[agent]["action_mask"].any()] == [acting]
        actions = {agent: int(one["action_mask"].argmax()) for agent, one in seen.items()}
        seen, rewards, _, _, infos = env.step(actions)
        for agent, reward in rewards.items():
            total[agent] += reward
        if env.agents:
            acting = infos[env.agents[0]]["active_agent"]
    return total


@pytest.mark.parametrize("rules", ["scopa", "scopone", "scopa:players=3"])
def test_the_parallel_form_is_the_same_game(rules: str) -> None:
    total = steps_of(turn_based_aec_to_parallel(scopa_env.env(rules)), 4)
    env = scopa_env.env(rules)
    env.reset(seed=4)
    expected = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        seen, reward, terminated, _, _ = env.last()
        expected[agent] += reward
        env.step(None if terminated else int(seen["action_mask"].argmax()))
    assert total == expected
    assert any(total.values())


@REMARKS
def test_pettingzoos_tests_of_parallel_environments_and_its_helpers() -> None:
    def parallel() -> ParallelEnv[str, Any, Any]:
        return turn_based_aec_to_parallel(scopa_env.env(illegal="forfeit"))

    parallel_api_test(parallel(), 50)
    parallel_seed_test(parallel, 50)
    back = parallel_to_aec(parallel())
    back.reset(seed=1)
    assert back.last()[0]["observation"].shape == (592,)
    random_demo(scopa_env.env(), render=False, episodes=2)
    average_total_reward(scopa_env.env(illegal="forfeit"), max_episodes=2, max_steps=100)
    several = wrappers.MultiEpisodeEnv(scopa_env.env(), num_episodes=3)
    assert len(play(several, 1)) > 3 * 36


@REMARKS
def test_what_pettingzoo_cannot_do_with_it() -> None:
    with pytest.raises(AssertionError, match="not generally safe"):
        aec_to_parallel(scopa_env.env())
    with pytest.raises(AssertionError, match="Box spaces"):
        wrappers.ClipOutOfBoundsWrapper(scopa_env.env())
    with pytest.raises(AssertionError, match="human"):
        wrappers.CaptureStdoutWrapper(scopa_env.env(render_mode="ansi"))
    with pytest.raises(scopa_env.IllegalAction):
        average_total_reward(scopa_env.env(), max_episodes=5, max_steps=1000)
    with pytest.raises(AttributeError, match="parallel_env"):
        max_cycles_test(scopa_env)


# stable-baselines3


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Small networks do not need the threads of torch, which hinder other workers; the page sets them, too."""
    torch = pytest.importorskip("torch", reason="needs the extra train")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.slow
def test_the_page_of_stable_baselines3() -> None:
    pytest.importorskip("sb3_contrib", reason="needs the extra train")
    assert run_fragments("stable_baselines3", run_example("stable_baselines3")) == 3


@pytest.mark.usefixtures("one_thread")
def test_the_example_of_stable_baselines3() -> None:
    pytest.importorskip("sb3_contrib", reason="needs the extra train")
    defined = run_example("stable_baselines3")
    assert defined["result"].margin > 0.2
    # without masks the same model is no agent
    defined["agent"].decide = lambda observations, masks: defined["model"].predict(observations)[0]
    with pytest.raises((ValueError, scopa_env.IllegalAction), match="illegal"):
        defined["duel"](defined["agent"], "random", rules="mini_scopa", deals=100)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("name", ["A2C", "DQN", "QRDQN", "TRPO", "RecurrentPPO"])
def test_algorithms_without_masks_need_forfeits(name: str) -> None:
    sb3, contrib = pytest.importorskip("stable_baselines3"), pytest.importorskip("sb3_contrib")
    from scopa_env.interop.sb3 import ScopaVecEnv

    kind = getattr(sb3, name, None) or getattr(contrib, name)
    policy = "MlpLstmPolicy" if name == "RecurrentPPO" else "MlpPolicy"
    more = {"learning_starts": 64} if name.endswith("DQN") else {"n_steps": 16}
    model = kind(policy, ScopaVecEnv(8, "mini_scopa", illegal="forfeit"), device="cpu", seed=1, **more)
    assert model.learn(256).num_timesteps >= 256
    with pytest.raises(scopa_env.IllegalAction):
        kind(policy, ScopaVecEnv(8, "mini_scopa"), device="cpu", seed=1, **more).learn(256)


@pytest.mark.parametrize("name", ["SAC", "TD3", "DDPG", "TQC", "CrossQ"])
def test_algorithms_for_continuous_actions_cannot(name: str) -> None:
    sb3, contrib = pytest.importorskip("stable_baselines3"), pytest.importorskip("sb3_contrib")
    from scopa_env.interop.sb3 import ScopaVecEnv

    with pytest.raises(AssertionError, match=r"Discrete\(81\) was provided"):
        (getattr(sb3, name, None) or getattr(contrib, name))(
            "MlpPolicy", ScopaVecEnv(2, illegal="forfeit"), device="cpu"
        )


@pytest.mark.usefixtures("one_thread")
def test_wrappers_of_stable_baselines3() -> None:
    contrib = pytest.importorskip("sb3_contrib", reason="needs the extra train")
    from stable_baselines3.common.vec_env import VecFrameStack, VecMonitor, VecNormalize

    from scopa_env.interop.sb3 import ScopaVecEnv

    for games in (
        VecMonitor(ScopaVecEnv(4, "mini_scopa")),
        VecNormalize(ScopaVecEnv(4, "mini_scopa"), norm_obs=False),
        VecFrameStack(ScopaVecEnv(4, "mini_scopa"), n_stack=2),
    ):
        model = contrib.MaskablePPO("MlpPolicy", games, n_steps=16, batch_size=32, device="cpu")
        assert model.learn(128).num_timesteps == 128  # an illegal action would be an error
