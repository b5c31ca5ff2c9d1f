"""`scopa train ppo`: sb3-contrib's MaskablePPO on many games at once, against random and greedy.

Reads top to bottom: settings, environment, network, evaluation, training.
"""

from __future__ import annotations

import dataclasses
import json
import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import gymnasium
import torch
from cyclopts import Parameter
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.utils import set_random_seed
from stable_baselines3.common.vec_env import VecMonitor

from scopa_agents.arena import Pairing, duel
from scopa_agents.arena_table import Bar, pairing_table, progress_bar
from scopa_agents.network.ranks import PAIR_SUMS, feature_size, rank_features
from scopa_agents.network.policy import Policy, PolicyAgent
from scopa_env import Rules, ScopaEnv
from scopa_env.files import whole_file
from scopa_env.interop.sb3 import ScopaVecEnv
from scopa_train.curve import Curve
from scopa_train.report import write_json


@dataclass(frozen=True, kw_only=True)
class PPOSettings:
    """Settings of a training run; the defaults are the quick setting."""

    rules: str = "scopa"
    "Preset, or preset:field=value,field=value."
    steps: int = 500_000
    "Decisions to learn from, at least; whole batches are played."
    seed: int = 0
    "Seed of everything random."
    opponents: tuple[str, ...] = ("random", "greedy")
    "Agents to play against; one is drawn for each episode."
    reward: str = "points"
    "points, win or decided."
    reward_scale: float = 0.3
    "Factor of the rewards, so that returns are about 1."
    num_envs: int = 64
    "Games that are played side by side."
    num_steps: int = 64
    "Decisions of each game between two updates."
    batch_size: int = 1024
    "Decisions of a gradient step."
    epochs: int = 4
    "Passes over the decisions of an update."
    learning_rate: float = 1e-3
    "Adam's step size at the start; it falls to zero."
    gamma: float = 1.0
    "Discount of a decision."
    gae_lambda: float = 0.95
    "Lambda of the generalised advantage estimate."
    entropy: float = 0.003
    "Weight of the entropy bonus."
    hidden: tuple[int, ...] = (256, 256)
    "Widths of the hidden layers of policy and value."
    evaluations: int = 8
    "Points of the learning curve."
    eval_deals: int = 500
    "Duplicate deals of an evaluation against each of random and greedy."
    final_deals: int = 2000
    "Duplicate deals of the closing table."
    threads: int = 1
    "Threads of torch. With one, the same seed gives the same weights every time; more hardly help so small a network."
    out: Path = Path("runs/ppo")
    "Folder of the results."

    def __post_init__(self) -> None:
        Rules.parse(self.rules)
        for name in ("steps", "num_envs", "num_steps", "batch_size", "epochs", "evaluations", "threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: allowed are whole numbers from 1")
        for name in ("eval_deals", "final_deals"):
            if getattr(self, name) < 2:
                raise ValueError(f"{name}={getattr(self, name)}: allowed are whole numbers from 2")
        if not self.hidden or min(self.hidden) < 1:
            raise ValueError(f"hidden={self.hidden}: allowed are widths from 1, at least one")
        if self.num_envs * self.num_steps < 2:
            raise ValueError("num_envs * num_steps: an update needs at least two decisions")
        ScopaEnv(self.rules, opponent=self.opponents, reward=self.reward)  # refuses what it cannot play


def make_env(settings: PPOSettings) -> ScopaVecEnv:
    """Return the environments of the training."""
    return ScopaVecEnv(
        settings.num_envs,
        settings.rules,
        list(settings.opponents),
        reward=settings.reward,
        reward_scale=settings.reward_scale,
    )


class RankFeatures(BaseFeaturesExtractor):
    """`scopa_agents.network.ranks.rank_features` in front of the network."""

    def __init__(self, space: gymnasium.spaces.Box, rules: str) -> None:
        of = Rules.parse(rules)
        super().__init__(space, feature_size(of.players))
        self.players, self.fifteen = of.players, of.capture == "fifteen"
        self.register_buffer("pair_sums", torch.from_numpy(PAIR_SUMS))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return float[N, features]."""
        features: torch.Tensor = rank_features(observations, self.players, self.fifteen, self.pair_sums, torch.cat)
        return features


def make_model(settings: PPOSettings, env: Any) -> MaskablePPO:
    """Return an untrained model."""
    return MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=lambda left: settings.learning_rate * left,
        n_steps=settings.num_steps,
        batch_size=settings.batch_size,
        n_epochs=settings.epochs,
        gamma=settings.gamma,
        gae_lambda=settings.gae_lambda,
        ent_coef=settings.entropy,
        policy_kwargs={
            "net_arch": list(settings.hidden),
            "features_extractor_class": RankFeatures,
            "features_extractor_kwargs": {"rules": settings.rules},
        },
        tensorboard_log=str(settings.out / "tensorboard"),
        seed=settings.seed,
        device="cpu",
    )


def export(model: MaskablePPO, settings: PPOSettings) -> Policy:
    """Return the policy network of `model` for numpy."""
    modules = [*model.policy.mlp_extractor.policy_net, model.policy.action_net]
    linear = [module for module in modules if isinstance(module, torch.nn.Linear)]
    layers = [(m.weight.detach().numpy().copy(), m.bias.detach().numpy().copy()) for m in linear]
    notes = {"recipe": "ppo", "settings": json.dumps(plain(settings)), "steps": str(model.num_timesteps)}
    return Policy(layers, Rules.parse(settings.rules), notes)


def plain(settings: PPOSettings) -> dict[str, Any]:
    """Return settings as JSON values, without the place of the results."""
    return {key: value for key, value in dataclasses.asdict(settings).items() if key != "out"}


class Watch(BaseCallback):
    """Shows progress and evaluates at intervals."""

    def __init__(self, settings: PPOSettings, curve: Curve, bar: Bar) -> None:
        super().__init__()
        self.settings, self.curve, self.bar = settings, curve, bar
        self.every = max(settings.steps // settings.evaluations, 1)
        self.next = 0

    def _on_step(self) -> bool:
        self.bar.advance_to(self.model.num_timesteps)
        return True

    def _on_rollout_start(self) -> None:
        if self.model.num_timesteps >= self.next:
            self.next += self.every
            self.bar.say(evaluate(self.model, self.settings, self.curve))


def evaluate(model: Any, settings: PPOSettings, curve: Curve) -> str:
    """Add a point to the learning curve, on the same deals each time, and return it as text."""
    agent = PolicyAgent(export(model, settings), "ppo")
    text = f"{model.num_timesteps:9,} decisions:"
    for opponent in ("random", "greedy"):
        result = duel(agent, opponent, settings.rules, settings.eval_deals, seed=settings.seed + 1)
        curve.add(opponent, model.num_timesteps, result)
        model.logger.record(f"arena/margin_{opponent}", result.margin)
        text += f"  {opponent} {result.margin:+.2f} ({result.low:+.2f} .. {result.high:+.2f})"
    return text


def train(settings: PPOSettings) -> tuple[MaskablePPO, list[Pairing]]:
    """Train, save everything into ``settings.out`` and return the model and the closing results.

    Written are ``model.zip`` (stable-baselines3), ``policy.safetensors`` (for `learned:PATH`), ``curve.png``,
    ``curve.json``, ``result.json`` (settings, versions, arena) and TensorBoard's logs.
    """
    settings.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(settings.threads)
    set_random_seed(settings.seed)
    env = VecMonitor(make_env(settings))
    model = make_model(settings, env)
    curve = Curve(f"PPO on {settings.rules}")
    begin = time.monotonic()
    with progress_bar("training", settings.steps, "decisions") as bar:
        model.learn(settings.steps, callback=Watch(settings, curve, bar))
        bar.say(evaluate(model, settings, curve))
    seconds = time.monotonic() - begin
    with whole_file(settings.out / "model.zip") as unfinished:
        model.save(unfinished)
    policy = export(model, settings)
    policy.save(settings.out / "policy.safetensors")
    curve.save(settings.out)
    agent = PolicyAgent(policy, "ppo")
    results = [
        duel(agent, opponent, settings.rules, settings.final_deals, seed=settings.seed + 2)
        for opponent in ("random", "greedy")
    ]
    report = {
        "settings": plain(settings),
        "seconds": seconds,
        "decisions": model.num_timesteps,
        "pairings": [dataclasses.asdict(result) for result in results],
    }
    write_json(settings.out / "result.json", report)
    return model, results


def train_ppo(settings: Annotated[PPOSettings, Parameter(name="*")] = PPOSettings(), *, quick: bool = False) -> None:
    """Train MaskablePPO against random and greedy opponents and print how it does against both.

    Args:
        settings: the settings.
        quick: the quick setting, which is also the default of every option: about two minutes on two cores.
    """
    _, results = train(settings)
    pairing_table(results)
    print(f"saved in {settings.out}: policy.safetensors, model.zip, curve.png, result.json")
    agent = shlex.quote(f"learned:{settings.out / 'policy.safetensors'}")
    print(f"play against it: scopa play --against {agent} --rules {shlex.quote(settings.rules)}")
