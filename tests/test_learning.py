"""What can be learnt is learnt: the best answer to a known opponent, whose value is computed exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")

from exact import SMALL, best_response_value, value_against_random
from scopa_agents.base import ArrayAgent
from scopa_agents.network.agent import NetworkAgent
from scopa_agents.network.policy import PolicyAgent
from scopa_train import exit, ppo  # the recipe is called so

NO_ARENA = {"eval_deals": 2, "final_deals": 2, "evaluations": 1}


def share_of_the_best(agent: ArrayAgent) -> float:
    """Return what an agent wins against random play, as a share of what can be won; the mean over both dealers.

    The values are exact: expectations over all deals and all plays of the opponent.
    """
    best = [best_response_value(0, dealer) for dealer in (0, 1)]
    found = [value_against_random(agent.act, 0, dealer) for dealer in (0, 1)]
    assert best == pytest.approx([0.930655, 0.360516], abs=1e-6)
    assert all(mine <= most + 1e-9 for mine, most in zip(found, best, strict=True)), "nobody does better than the best"
    return sum(found) / sum(best)


@pytest.mark.slow
def test_expert_iteration_reaches_the_value_of_the_best_response(tmp_path: Path) -> None:
    settings = exit.ExitSettings(
        rules=(SMALL,),
        opponent="random",
        iterations=4,
        first_decisions=8000,
        decisions=4000,
        first_worlds=8,
        worlds=8,
        first_steps=300,
        steps=150,
        batch=256,
        hidden=(64, 16),
        window=20_000,
        learning_rate=2e-3,
        decay=0.99,
        out=tmp_path,
        **NO_ARENA,
    )
    network, _ = exit.train(settings)
    assert share_of_the_best(NetworkAgent(network)) > 0.97


@pytest.mark.slow
def test_ppo_reaches_the_value_of_the_best_response(tmp_path: Path) -> None:
    settings = ppo.PPOSettings(
        rules=SMALL,
        opponents=("random",),
        snapshots=0,
        steps=150_000,
        num_envs=256,
        num_steps=16,
        batch_size=512,
        epochs=8,
        learning_rate=3e-3,
        gae_lambda=1.0,
        entropy=0.001,
        reward_scale=1.0,
        hidden=(64, 64),
        out=tmp_path,
        **NO_ARENA,
    )
    policy, _ = ppo.train(settings)
    assert share_of_the_best(PolicyAgent(policy)) > 0.93
