"""RLlib: its multi-agent environment is the game of the PettingZoo environment; the recipe on a local Ray."""

from __future__ import annotations

import gc
import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray.rllib.env.multi_agent_env", reason="needs the extra rllib")

import scopa_env
from helpers import run_example, run_fragments
from scopa_env.interop.rllib import ScopaMultiAgentEnv


def strict_env(config: dict[str, Any]) -> ScopaMultiAgentEnv:
    return ScopaMultiAgentEnv({**config, "seed_once": False})


@pytest.mark.parametrize("rules", ["scopa", "escoba", "scopone", "scopa:players=3"])
def test_it_is_the_game_of_the_pettingzoo_environment(rules: str) -> None:
    ours, theirs = scopa_env.env(rules, reward="decided"), strict_env({"rules": rules, "reward": "decided"})
    rng = np.random.default_rng(1)
    for seed in range(5):
        ours.reset(seed=seed)
        seen, infos = theirs.reset(seed=seed)
        earned = dict.fromkeys(theirs.possible_agents, 0.0)
        over = False
        while not over:
            ((agent, found),) = seen.items()
            assert agent == ours.agent_selection
            assert theirs.observation_spaces[agent].contains(found)
            expected = ours.observe(agent)
            assert np.array_equal(found["observations"], expected["observation"])
            assert np.array_equal(found["action_mask"], expected["action_mask"])
            action = int(rng.choice(np.flatnonzero(found["action_mask"])))
            ours.step(action)
            seen, rewards, terminated, truncated, infos = theirs.step({agent: action})
            for name, reward in rewards.items():
                earned[name] += reward
            over = terminated["__all__"]
            assert truncated == {"__all__": False}
            assert infos == {}
        assert set(seen) == set(theirs.possible_agents)
        outcome = ours.game().outcome()
        assert outcome is not None
        for seat, agent in enumerate(theirs.possible_agents):
            others = [p for side, p in enumerate(outcome.points) if side != ours.rules.side_of(seat)]
            own = outcome.points[ours.rules.side_of(seat)]
            assert earned[agent] == pytest.approx(own - sum(others) / len(others))


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match="history=True"):
        ScopaMultiAgentEnv({"history": True})
    with pytest.raises(ValueError, match="did you mean"):
        ScopaMultiAgentEnv({"rules": "skopa"})
    env = ScopaMultiAgentEnv({"reward_scale": 0.5})
    seen, _ = env.reset(seed=1)
    (agent,) = seen
    other = next(name for name in env.possible_agents if name != agent)
    with pytest.raises(ValueError, match=f"actions of {other}: allowed is one of {agent}"):
        env.step({other: 0})
    with pytest.raises(scopa_env.IllegalAction):
        env.step({agent: int(np.flatnonzero(seen[agent]["action_mask"] == 0)[0])})


# the recipe: Ray takes half a minute to start


TINY: dict[str, Any] = {
    "steps": 1500,
    "runners": 0,
    "envs": 4,
    "past": 2,
    "snapshots": 3,
    "train_batch": 500,
    "batch_size": 64,
    "hidden": 16,
    "evaluations": 3,
    "eval_deals": 10,
    "final_deals": 10,
}


@pytest.fixture
def local_ray() -> Iterator[Callable[[Any], None]]:
    """Return what starts Ray for settings; it is stopped after the test."""
    import ray

    from scopa_train.rllib import start_ray

    yield start_ray
    gc.collect()  # handles of actors that are collected later would start it again
    ray.shutdown()


def recipe_settings(out: Path, **more: Any) -> Any:
    from scopa_train.rllib import RllibSettings

    return RllibSettings(**{**TINY, "hidden": (16,), "out": out, **more})


def recipe_command(out: Path, *more: str) -> list[str]:
    words = [f"--{name.replace('_', '-')}={value}" for name, value in TINY.items()]
    return [sys.executable, "-m", "scopa_train.cli", "train", "rllib", *words, "--out", str(out), *more]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # RLlib's own
@pytest.mark.parametrize("rules", ["scopa", "scopone"])
def test_the_learner_learns_past_selves_do_not_and_the_export_is_the_policy(
    rules: str, tmp_path: Path, local_ray: Callable[[Any], None]
) -> None:
    import torch
    from ray.rllib.core.columns import Columns

    from scopa_train.checkpoint import load_checkpoint, save_checkpoint
    from scopa_train.rllib import MAIN, RankEnv, Rllib, past_self

    settings = recipe_settings(tmp_path, rules=rules)
    local_ray(settings)
    learner = Rllib(settings)
    begun = learner.weights()
    learner.train()
    assert learner.steps >= 500
    learnt = learner.weights()
    assert not same(learnt[MAIN], begun[MAIN])
    assert same(begun[past_self(0)], begun[MAIN])
    assert same(learnt[past_self(0)], begun[MAIN])
    learner.snapshot()
    taken = learner.weights()
    assert same(taken[past_self(0)], learnt[MAIN])
    assert same(taken[past_self(1)], begun[past_self(1)])
    playing = learner.algorithm.env_runner_group.local_env_runner.module
    assert all(np.array_equal(value, taken[past_self(0)][name]) for name, value in acting(playing, past_self(0)))

    env = RankEnv(settings.env_config())
    seen, _ = env.reset(seed=3)
    ((agent, found),) = seen.items()
    batch = {Columns.OBS: {name: torch.from_numpy(value[None].copy()) for name, value in found.items()}}
    theirs = playing[MAIN].forward_inference(batch)[Columns.ACTION_DIST_INPUTS][0].numpy()
    ours = learner.policy().logits(env.game_env.observe(agent)["observation"][None])[0]
    legal = found["action_mask"] == 1
    assert 1 < legal.sum() < 81
    assert np.allclose(ours[legal], theirs[legal], atol=1e-4)
    assert np.all(theirs[~legal] < -1e30)

    save_checkpoint(tmp_path / "state.safetensors", learner.state())
    other = Rllib(settings, load_checkpoint(tmp_path / "state.safetensors"))
    assert (other.steps, other.taken) == (learner.steps, 1)
    assert all(same(one, taken[name]) for name, one in other.weights().items())
    optimizer = other.state()["optimizer"][f"{MAIN}_default_optimizer"]["state"]["state"]
    assert optimizer
    assert all(entry["step"] > 0 for entry in optimizer.values())
    other.train()  # the optimiser goes on


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    assert a.keys() == b.keys()
    return all(np.array_equal(a[name], b[name]) for name in a)


def acting(module: Any, name: str) -> list[tuple[str, Any]]:
    """Return the weights of a policy where games are played."""
    return [(key, value.numpy()) for key, value in module[name].state_dict().items() if key.startswith("pi.")]


@pytest.mark.slow
def test_who_sits_where() -> None:
    from types import SimpleNamespace

    from scopa_train.rllib import MAIN, Seating

    seating = Seating(recipe_settings(Path("unused"), rules="scopone", self_play=0.5, past=3), 1)
    tables = []
    for number in range(400):
        episode = SimpleNamespace(id_=str(number))
        tables.append([seating(f"player_{seat}", episode) for seat in range(4)])
        assert tables[-1] == [seating(f"player_{seat}", episode) for seat in range(4)]
    assert all(table[0] == table[2] and table[1] == table[3] for table in tables)  # partners
    assert all(MAIN in table for table in tables)
    alone = sum(set(table) == {MAIN} for table in tables)
    assert 150 < alone < 250
    assert {name for table in tables for name in table} == {MAIN, "past_0", "past_1", "past_2"}
    assert len(pickle.dumps(seating)) < 2000  # copies travel with every episode
    first = sum(table[0] == MAIN and table[1] != MAIN for table in tables)
    assert 0.3 < first / (400 - alone) < 0.7


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # RLlib's own
@pytest.mark.parametrize(("runners", "learners"), [(0, 0), (2, 0), (1, 1)])
def test_no_deal_comes_twice_and_every_process_gets_the_weights(
    runners: int, learners: int, tmp_path: Path, local_ray: Callable[[Any], None]
) -> None:
    """Of 20 rounds of each process no two begin alike: not from batch to batch, nor in two processes."""
    from scopa_train.rllib import MAIN, Rllib, past_self

    settings = recipe_settings(tmp_path, runners=runners, learners=learners)
    local_ray(settings)
    learner = Rllib(settings)
    group = learner.algorithm.env_runner_group
    for _ in range(3):
        learner.train()
    assert learner.steps >= 1500
    learner.snapshot()
    mine = learner.weights()[MAIN]
    assert same(learner.weights()[past_self(0)], mine)

    def look(runner: Any) -> tuple[list[bytes], list[Any]]:
        found = []
        for _ in range(5):
            for episode in runner.sample(num_episodes=4):
                first = min(episode.agent_episodes.values(), key=lambda one: one.t_started)
                found.append(first.observations[0]["observations"].tobytes())
        weights = runner.module[past_self(0)].state_dict()
        return found, [(name, value.numpy()) for name, value in weights.items() if name.startswith("pi.")]

    results = group.foreach_env_runner(look, local_env_runner=runners == 0)
    assert len(results) == max(runners, 1)
    deals = [deal for found, _ in results for deal in found]
    assert len(deals) == 20 * max(runners, 1)
    assert len(set(deals)) == len(deals)
    assert all(np.array_equal(value, mine[name]) for _, weights in results for name, value in weights)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # RLlib's own
def test_one_seed_gives_the_same_weights_in_one_process(tmp_path: Path) -> None:
    from scopa_train.rllib import train

    found = [train(recipe_settings(tmp_path / str(k), seed=seed))[0] for k, seed in enumerate((3, 3, 4))]
    weights = [[array.tobytes() for layer in policy.layers for array in layer] for policy in found]
    assert weights[0] == weights[1]
    assert weights[0] != weights[2]


def test_only_the_first_seed_counts_for_rllib_unless_told_otherwise() -> None:
    def hands(env: ScopaMultiAgentEnv, seed: int) -> bytes:
        env.reset(seed=seed)
        return bytes(env.game_env.state().tobytes())

    env, other = ScopaMultiAgentEnv(), ScopaMultiAgentEnv()
    first = hands(env, 5)
    assert hands(other, 5) == first
    assert hands(env, 5) != first
    strict = strict_env({})
    assert hands(strict, 5) == hands(strict, 5)


@pytest.mark.slow
def test_a_killed_run_on_a_local_ray_goes_on(tmp_path: Path) -> None:
    environment = {**os.environ, "SCOPA_ENV_QUIET": "1"}
    process = subprocess.Popen(
        recipe_command(tmp_path), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 300
    while not (tmp_path / "checkpoint.safetensors").exists() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert not (tmp_path / "result.json").exists()
    words = [
        sys.executable,
        "-m",
        "scopa_train.cli",
        "train",
        "rllib",
        "--resume",
        "--runners=1",
        "--out",
        str(tmp_path),
    ]
    resumed = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert resumed.returncode == 0, resumed.stderr
    assert "points a round" in resumed.stdout
    card = json.loads((tmp_path / "network.json").read_text())
    assert card["actions"] >= 1500
    assert card["command"] is None or "--resume" not in card["command"]
    points = json.loads((tmp_path / "curve.json").read_text())["curves"]["greedy"]
    assert [point["actions"] for point in points] == sorted({point["actions"] for point in points})
    assert len(points) == 3
    game = scopa_env.Game("scopa", seed=1)
    agent = scopa_env.make_agent(f"learned:{tmp_path / 'network.safetensors'}")
    assert agent.act(game.view(game.seat)) in game.legal_moves


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # RLlib's own
def test_where_the_time_goes(tmp_path: Path) -> None:
    from scopa_train.bench_recipes import measure_rllib

    share = measure_rllib(recipe_settings(tmp_path), None)  # type: ignore[arg-type]
    assert share.frames >= TINY["train_batch"]
    assert min(share.env, share.inference, share.learning) > 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # RLlib's own
def test_the_page() -> None:
    import ray

    try:
        assert run_fragments("rllib", run_example("rllib")) == 1
    finally:
        gc.collect()
        ray.shutdown()
