"""Tianshou: the page's examples, and that targets are what a round brought."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("tianshou", reason="needs the extra tianshou")

from gymnasium.wrappers import TransformObservation
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import (
    MultiAgentOffPolicyAlgorithm,
    MultiAgentPolicy,
)
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv, SubprocVectorEnv
from tianshou.utils.net.common import Net
from tianshou.utils.torch_utils import policy_within_training_step

import scopa_env
from helpers import run_example, run_fragments

pytestmark = pytest.mark.filterwarnings("ignore")  # Tianshou's own


def make_dqn(env: PettingZooEnv, horizon: int, **more: float) -> DQN[Any]:
    net = Net(state_shape=env.observation_space["observation"].shape, action_shape=81, hidden_sizes=[8])
    policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space, **more)
    return DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=1.0, n_step_return_horizon=horizon)


def collected(rules: str, horizon: int, reward: str) -> tuple[MultiAgentOffPolicyAlgorithm, VectorReplayBuffer]:
    """Return an algorithm for all seats and the transitions of a few random rounds."""
    env = PettingZooEnv(scopa_env.env(rules))
    dqn = make_dqn(env, horizon, eps_inference=1.0)
    seats = MultiAgentOffPolicyAlgorithm(algorithms=[dqn] * len(env.agents), env=env)
    games = DummyVectorEnv([lambda: PettingZooEnv(scopa_env.env(rules, reward=reward)) for _ in range(4)])
    buffer = VectorReplayBuffer(2000, 4)
    collector = Collector(seats, games, buffer, exploration_noise=True)
    collector.reset()
    collector.collect(n_episode=8)
    return seats, buffer


@pytest.mark.parametrize("rules", ["mini_scopa", "scopa", "scopone", "scopa:players=3"])
@pytest.mark.parametrize("reward", ["points", "decided"])
def test_targets_with_a_long_horizon_are_what_the_round_still_brings(rules: str, reward: str) -> None:
    seats, buffer = collected(rules, 100, reward)
    indices = buffer.sample_indices(0)
    batch = buffer[indices]
    expected = np.zeros(batch.rew.shape)
    left = np.zeros(batch.rew.shape[1])
    rounds = 0
    for row in reversed(range(len(indices))):
        if batch.done[row]:
            left = np.zeros_like(left)
            rounds += 1
        left = left + batch.rew[row]
        expected[row] = left
    assert rounds >= 8
    assert expected.any()
    found = seats._preprocess_batch(copy.deepcopy(batch), buffer, indices)
    for seat, agent in enumerate(seats.policy.policies):
        rows = np.flatnonzero(batch.obs.agent_id == agent)
        assert np.allclose(found[agent].returns.numpy().reshape(-1), expected[rows, seat], atol=1e-5)


def test_rewards_of_own_steps_miss_points() -> None:
    _, buffer = collected("mini_scopa", 1, "points")
    batch = buffer[buffer.sample_indices(0)]
    own = np.array([batch.rew[row, int(agent[-1])] for row, agent in enumerate(batch.obs.agent_id)])
    assert 0 < np.abs(own).sum() < np.abs(batch.rew).sum()


def test_the_transitions_are_the_games_of_our_environment() -> None:
    env, ours = PettingZooEnv(scopa_env.env("escoba")), scopa_env.env("escoba")
    seen, _ = env.reset(seed=3)
    ours.reset(seed=3)
    over = False
    total = np.zeros(2)
    while not over:
        expected = ours.observe(ours.agent_selection)
        assert seen["agent_id"] == ours.agent_selection
        assert np.array_equal(seen["obs"], expected["observation"])
        assert np.array_equal(seen["mask"], expected["action_mask"] == 1)
        action = int(np.argmax(seen["mask"]))
        ours.step(action)
        seen, rewards, over, _, _ = env.step(action)
        total += rewards
    outcome = ours.game().outcome()
    assert outcome is not None
    assert total.tolist() == [outcome.points[0] - outcome.points[1], outcome.points[1] - outcome.points[0]]


def test_exploration_in_training_is_not_passed_on_to_the_seats() -> None:
    """If this fails, the page's remark on `eps_training` is out of date."""
    env = PettingZooEnv(scopa_env.env("scopa"))
    policy = make_dqn(env, 1, eps_training=1.0).policy
    both = MultiAgentPolicy(dict.fromkeys(env.agents, policy))
    seen, _ = env.reset(seed=1)
    obs = Batch(agent_id=np.array([seen["agent_id"]] * 50), mask=np.array([seen["mask"]] * 50))
    with policy_within_training_step(both):
        acts = both.add_exploration_noise(np.full(50, -1), Batch(obs=obs))
    assert np.all(acts == -1)
    with policy_within_training_step(policy):
        acts = policy.add_exploration_noise(np.full(50, -1), Batch(obs=obs))
    assert np.all(np.array(seen["mask"])[acts])


def test_games_in_processes() -> None:
    def masked() -> Any:
        env = gymnasium.make("scopa_env:Scopa-v0", opponent="greedy")
        masks = env.get_wrapper_attr("action_masks")
        return TransformObservation(env, lambda seen: {"obs": seen, "mask": masks()}, None)

    games = SubprocVectorEnv([masked] * 2)
    games.seed(1)
    seen, _ = games.reset()
    assert all(one["mask"].any() for one in seen)
    _, rewards, *_ = games.step(np.array([int(one["mask"].argmax()) for one in seen]))
    assert rewards.shape == (2,)
    games.close()


@pytest.mark.slow
def test_the_page() -> None:
    assert run_fragments("tianshou", run_example("tianshou")) == 2
