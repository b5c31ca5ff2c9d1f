"""Training: the same seed gives the same weights, results are saved, every array that sb3 gets is its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO  # noqa: E402
from stable_baselines3.common.env_checker import check_env  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv  # noqa: E402

from scopa_agents.arena import duel  # noqa: E402
from scopa_agents.learned import Policy, PolicyAgent, observe_batch  # noqa: E402
from scopa_agents.network.ranks import PAIR_SUMS, feature_size, rank_features  # noqa: E402
from scopa_env import Game, Rules, ScopaEnv  # noqa: E402
from scopa_env.cards import value_of  # noqa: E402
from scopa_train.ppo import PPOSettings, export, train  # noqa: E402

TINY: dict[str, Any] = {
    "steps": 1000,
    "num_envs": 4,
    "num_steps": 64,
    "batch_size": 64,
    "hidden": (16,),
    "evaluations": 2,
    "eval_deals": 20,
    "final_deals": 20,
    "threads": 1,
}


def weights(model: MaskablePPO) -> list[bytes]:
    return [tensor.numpy().tobytes() for tensor in model.policy.state_dict().values()]


def test_one_seed_on_one_thread_gives_the_same_weights(tmp_path: Path) -> None:
    runs = [train(PPOSettings(**TINY, seed=seed, out=tmp_path / str(k)))[0] for k, seed in enumerate((1, 1, 2))]
    assert weights(runs[0]) == weights(runs[1])
    assert weights(runs[0]) != weights(runs[2])


def test_what_a_training_leaves_behind(tmp_path: Path) -> None:
    out = tmp_path / "run"
    model, results = train(PPOSettings(**TINY, rules="escoba", out=out))
    names = {path.name for path in out.iterdir()}
    assert {"model.zip", "policy.safetensors", "curve.png", "curve.json", "result.json", "tensorboard"} <= names
    assert any((out / "tensorboard").rglob("events*"))
    assert (out / "curve.png").read_bytes().startswith(b"\x89PNG")
    report = json.loads((out / "result.json").read_text())
    assert report["decisions"] == model.num_timesteps >= 1000
    assert report["settings"]["rules"] == "escoba"
    assert "torch" in report["versions"]
    assert [pairing["b"] for pairing in report["pairings"]] == ["random", "greedy"]
    curve = json.loads((out / "curve.json").read_text())["curves"]
    assert len(curve["random"]) == len(curve["greedy"]) >= 3
    again = duel(PolicyAgent(Policy.load(out / "policy.safetensors"), "ppo"), "random", "escoba", 20, seed=2)
    assert again.margin == results[0].margin


def test_the_exported_network_is_the_trained_one(tmp_path: Path) -> None:
    settings = PPOSettings(**TINY, rules="bga_scopa_4p", out=tmp_path)
    model, _ = train(settings)
    rules = Rules.parse(settings.rules)
    games = np.concatenate([Game(rules, seed=seed).records for seed in range(50)])
    observations, masks = observe_batch(rules, games)
    policy = export(model, settings)
    mine = np.where(masks == 1, policy.logits(observations), -np.inf).argmax(axis=1)
    theirs, _ = model.predict(observations, action_masks=masks, deterministic=True)
    assert np.array_equal(mine, theirs)
    distribution = model.policy.get_distribution(torch.from_numpy(observations).float())
    normalised = distribution.distribution.logits.detach().numpy()
    logits = policy.logits(observations)
    assert np.allclose(logits - logits[:, :1], normalised - normalised[:, :1], atol=1e-4)


class Copying(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Hands out copies of everything, and overwrites what it was given."""

    def reset(self, **arguments: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(**arguments)
        copied = observation.copy()
        observation[:] = 7
        info["action_mask"][:] = 1
        return copied, {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        copied = observation.copy()
        observation[:] = 7
        info["action_mask"][:] = 1
        return copied, reward, terminated, truncated, {}

    def action_masks(self) -> np.ndarray:
        masks = self.env.get_wrapper_attr("action_masks")()
        copied = masks.copy()
        masks[:] = True
        return copied


def test_training_on_copies_gives_the_same_weights() -> None:
    def learn(wrap: Any) -> list[bytes]:
        torch.set_num_threads(1)
        env = DummyVecEnv([lambda: wrap(ScopaEnv("scopa", opponent=["random", "greedy"]))] * 4)
        model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=64, n_epochs=2, seed=5, device="cpu")
        return weights(model.learn(1000))

    assert learn(lambda env: env) == learn(Copying)


def test_stable_baselines3_checker() -> None:
    check_env(ScopaEnv("scopa", illegal="forfeit"))


@pytest.mark.parametrize("text", ["scopa", "escoba"])
def test_rank_features(text: str) -> None:
    """The features said once more, card by card; numpy and torch give the same."""
    rules = Rules.parse(text)
    fifteen = rules.capture == "fifteen"
    games = [Game(rules, seed=seed) for seed in range(40)]
    observations = np.stack([game.view(game.seat).observation() for game in games]).astype(np.float32)
    found = rank_features(observations, 2, fifteen, PAIR_SUMS, np.concatenate)
    assert found.shape == (40, feature_size(2))
    tensor = rank_features(torch.from_numpy(observations), 2, fifteen, torch.from_numpy(PAIR_SUMS), torch.cat)
    assert np.array_equal(found.astype(np.float32), tensor.numpy())
    for game, row in zip(games, found[:, observations.shape[1] :], strict=True):
        view = game.view(game.seat)
        table = view.table
        for part, cards in zip(row[:30].reshape(3, 10), (view.hand, table, view.unseen), strict=True):
            assert part.tolist() == [sum(value_of(card) == value for card in cards) for value in range(1, 11)]
        pairs = {value_of(a) + value_of(b) for a in table for b in table if value_of(a) < value_of(b)}
        wanted = [15 - value if fifteen else value for value in range(1, 11)]
        assert row[30:40].tolist() == [float(want in pairs) for want in wanted]
        for kind, cards in enumerate((table, [card for card in table if card < 10])):
            values = {value_of(card) for card in cards}
            expected = [float(card in view.hand and wanted[card % 10] in values) for card in range(40)]
            assert row[40 + 40 * kind : 80 + 40 * kind].tolist() == expected
        expected = [float(card in view.hand and wanted[card % 10] in pairs) for card in range(40)]
        assert row[120:160].tolist() == expected


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 0}, "steps=0"),
        ({"num_envs": -1}, "num_envs=-1"),
        ({"eval_deals": 1}, "eval_deals=1"),
        ({"rules": "skopa"}, "did you mean"),
        ({"reward": "score"}, "reward='score'"),
        ({"opponents": ("nobody",)}, "agent 'nobody'"),
        ({"threads": 0}, "threads=0"),
        ({"hidden": (0,)}, "hidden"),
        ({"opponents": ()}, "opponent="),
    ],
)
def test_settings_that_are_not_allowed(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PPOSettings(**settings)
