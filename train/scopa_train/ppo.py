"""`scopa train ppo`: sb3-contrib's MaskablePPO on many games at once, against a pool of opponents.

In the pool are fixed agents and past selves; who wins more often against the learner is drawn more often (prioritised
fictitious self-play: Vinyals et al., "Grandmaster level in StarCraft II using multi-agent reinforcement learning",
Nature 2019).  In team play a current self plays beside the learner.

Reads top to bottom: settings, opponents, network, the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import gymnasium
import numpy as np
import torch
from cyclopts import Parameter
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.utils import set_random_seed
from stable_baselines3.common.vec_env import VecEnvWrapper

from scopa_agents.arena import Pairing
from scopa_agents.arena_table import Bar, progress_bar
from scopa_agents.network.policy import Policy, PolicyAgent
from scopa_agents.network.ranks import FEATURES, PAIR_SUMS, feature_size, rank_features
from scopa_env import Rules, ScopaEnv, make_agent
from scopa_env.agents import Agent, as_actions
from scopa_env.engine.state import Records
from scopa_env.files import whole_file
from scopa_env.interop.sb3 import ScopaVecEnv
from scopa_train.move_net import device_of_choice
from scopa_train.run import NETWORK, Run, check_finite, is_due
from scopa_train.settings import RunSettings


@dataclass(frozen=True, kw_only=True)
class PPOSettings(RunSettings):
    """Settings of MaskablePPO."""

    rules: str = "scopa"
    "Preset, or preset:field=value,field=value."
    steps: int = 500_000
    "Decisions to learn from, at least; whole batches are played."
    opponents: tuple[str, ...] = ("greedy", "expert")
    "Fixed agents of the pool; any that decides on arrays of games."
    snapshots: int = 20
    "Past selves that are added to the pool in the course of the training; 0: none."
    past_temperature: float = 0.0
    "Of past selves: 0, they play their most probable action; 1, they draw by their probabilities."
    slots: int = 8
    "Opponents that are played against side by side; drawn anew for each update."
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
    out: Path = Path("runs/ppo")
    "Folder of the results."

    def __post_init__(self) -> None:
        self.check_run([self.rules])
        self.at_least(1, "steps", "slots", "num_envs", "num_steps", "batch_size", "epochs")
        self.at_least(0, "snapshots", "past_temperature")
        self.check_widths("hidden")
        self.between(0, 1, "gamma", "gae_lambda")
        self.above_zero("learning_rate", "reward_scale")
        self.at_least(0, "entropy")
        if self.num_envs * self.num_steps < 2:
            raise ValueError("num_envs * num_steps: an update needs at least two decisions")
        if not self.opponents and not self.snapshots:
            raise ValueError("opponents=(), snapshots=0: there is nobody to play against")
        for name in self.opponents:
            if not hasattr(make_agent(name, 0, Rules.parse(self.rules)), "act_batch"):
                raise ValueError(f"opponents: {name!r} does not decide on arrays of games")
        ScopaEnv(self.rules, reward=self.reward)  # refuses what it cannot play


class Slot:
    """A seat at the table of the training: whoever sits there for an update."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.agent: Any = None

    def act(self, view: Any) -> Any:
        """Return the move of who sits here."""
        return self.agent.act(view)

    def act_batch(self, rules: Rules, views: Records) -> Any:
        """Return the actions of who sits here."""
        return as_actions(self.agent, self.agent.act_batch(rules, views), len(views))


HARDEST = 2.0
"""Power of the share of lost episodes by which opponents are drawn."""
LEAST = 0.05
"""Added to it, so that nobody is forgotten."""
MEMORY = 0.98
"""Of the moving average of the results against an opponent, for each episode."""


class Pool:
    """The opponents, and how the learner does against each.

    Args:
        settings: the settings.

    Attributes:
        names: of the opponents.
        agents: the opponents.
        lost: moving averages of the share of episodes that the learner loses (half of those that end level).
        slots: who is played against.
        partner: who plays beside the learner in team play.
    """

    def __init__(self, settings: PPOSettings) -> None:
        self.rules = Rules.parse(settings.rules)
        self.temperature = settings.past_temperature
        self.names = list(settings.opponents)
        self.agents: list[Agent] = [make_agent(name, 0, self.rules) for name in settings.opponents]
        self.lost = [0.5] * len(self.names)
        self.policies: dict[str, Policy] = {}
        self.slots = [Slot(f"slot_{k}") for k in range(settings.slots)]
        self.partner = Slot("partner")
        self.seated = np.zeros(len(self.slots), np.int64)

    def add(self, name: str, policy: Policy, lost: float = 0.5) -> None:
        """Add a past self."""
        self.names.append(name)
        self.agents.append(PolicyAgent(policy, name, temperature=self.temperature))
        self.lost.append(lost)
        self.policies[name] = policy

    def seat(self, rng: np.random.Generator, current: Policy) -> None:
        """Draw who sits in the slots: the harder, the likelier."""
        weights = np.array(self.lost) ** HARDEST + LEAST
        self.seated = rng.choice(len(self.names), len(self.slots), p=weights / weights.sum())
        for slot, index in zip(self.slots, self.seated.tolist(), strict=True):
            slot.agent = self.agents[index]
        for agent in self.agents:
            agent.seed(int(rng.integers(1 << 32)))  # type: ignore[attr-defined]
        self.partner.agent = PolicyAgent(current, "current", temperature=self.temperature)

    def count(self, slots: np.ndarray[Any, Any], rewards: np.ndarray[Any, Any]) -> None:
        """Count finished episodes: the slot of the opponent of each, and what the learner got."""
        for slot, reward in zip(slots.tolist(), rewards.tolist(), strict=True):
            index = int(self.seated[slot])
            lost = 0.5 - 0.5 * np.sign(reward)
            self.lost[index] = float(MEMORY * self.lost[index] + (1 - MEMORY) * lost)


class Counted(VecEnvWrapper):
    """Tells the pool how episodes end."""

    def __init__(self, venv: ScopaVecEnv, pool: Pool) -> None:
        super().__init__(venv)
        self.games = venv.envs.games
        self.pool = pool
        self.returns = np.zeros(venv.num_envs)

    def reset(self) -> Any:
        """Start new episodes."""
        self.returns[:] = 0
        return self.venv.reset()

    def step_wait(self) -> Any:
        """Step, and count the episodes that are over."""
        opponents = self.games.runs["opponent"].copy()
        result = self.venv.step_wait()
        self.returns += result[1]
        over = result[2]
        self.pool.count(opponents[over], self.returns[over])
        self.returns[over] = 0
        return result


def make_env(settings: PPOSettings, pool: Pool) -> ScopaVecEnv:
    """Return the environments of the training."""
    return ScopaVecEnv(
        settings.num_envs,
        settings.rules,
        pool.slots,
        [pool.partner] if pool.rules.teams else None,
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
        seed=settings.seed,
        device=device_of_choice(),
    )


def export(model: MaskablePPO, settings: PPOSettings) -> Policy:
    """Return the policy network of `model` for numpy."""
    modules = [*model.policy.mlp_extractor.policy_net, model.policy.action_net]
    linear = [module for module in modules if isinstance(module, torch.nn.Linear)]
    layers = [(m.weight.detach().cpu().numpy().copy(), m.bias.detach().cpu().numpy().copy()) for m in linear]
    return Policy(layers, Rules.parse(settings.rules), {"recipe": "ppo", "decisions": str(model.num_timesteps)})


class Learner(BaseCallback):
    """What happens between two updates: seats are drawn, the curve and the checkpoint are brought up to date."""

    model: MaskablePPO

    def __init__(self, settings: PPOSettings, run: Run, pool: Pool, bar: Bar) -> None:
        super().__init__()
        self.settings, self.run, self.pool, self.bar = settings, run, pool, bar
        self.rng = np.random.default_rng(settings.seed)
        self.best: Policy | None = None
        self.best_after = 0
        self.taken_up = -1

    def _on_step(self) -> bool:
        self.bar.advance_to(self.model.num_timesteps)
        return True

    def _on_rollout_start(self) -> None:
        each = self.settings.num_envs * self.settings.num_steps
        now = self.model.num_timesteps
        if now != self.taken_up:  # else all of this has been done before the checkpoint
            if self.settings.snapshots and self._due(now, each, self.settings.snapshots):
                self.pool.add(f"self_{now}", export(self.model, self.settings))
            if self._due(now, each, self.settings.evaluations):
                self.evaluate()
        self.pool.seat(self.rng, export(self.model, self.settings))

    def _due(self, now: int, each: int, times: int) -> bool:
        """Say whether one of `times` equal parts of the training has ended with the last update."""
        return now > 0 and is_due(now - each, now, self.settings.steps, times)

    def evaluate(self) -> None:
        """Add a point to the learning curve and write a checkpoint."""
        policy = export(self.model, self.settings)
        check_finite((weight for layer in policy.layers for weight in layer), self.model.num_timesteps)
        best = None if self.best is None else PolicyAgent(self.best, "best")
        if self.run.evaluate(PolicyAgent(policy, "ppo"), self.model.num_timesteps, self.bar, best):
            self.best, self.best_after = policy, self.model.num_timesteps
        hardest = max(zip(self.pool.lost, self.pool.names, strict=True))
        self.bar.say(f"{len(self.pool.names)} in the pool; hardest {hardest[1]}, lost {100 * hardest[0]:.0f} %")
        self.run.log(self.model.num_timesteps, {"pool/hardest": hardest[0]})
        self.run.save(self.state())

    def state(self) -> dict[str, Any]:
        """Return everything that training goes on from but the games in progress, which begin anew."""
        policies = {name: [list(layer) for layer in policy.layers] for name, policy in self.pool.policies.items()}
        return {
            "parameters": self.model.get_parameters(),
            "decisions": self.model.num_timesteps,
            "torch": torch.get_rng_state(),
            "rng": self.rng.bit_generator.state,
            "lost": dict(zip(self.pool.names, self.pool.lost, strict=True)),
            "pool": policies,
            "best": None if self.best is None else [list(layer) for layer in self.best.layers],
            "best after": self.best_after,
        }

    def load(self, model: MaskablePPO, state: dict[str, Any]) -> None:
        """Go on from what `state` returned."""
        model.set_parameters(state["parameters"])
        model.num_timesteps = self.taken_up = state["decisions"]
        torch.set_rng_state(state["torch"])
        self.rng.bit_generator.state = state["rng"]
        self.pool.lost = [state["lost"][name] for name in self.pool.names]
        for name, layers in state["pool"].items():
            self.pool.add(name, self._policy(layers), state["lost"][name])
        self.best = None if state["best"] is None else self._policy(state["best"])
        self.best_after = state["best after"]

    def _policy(self, layers: Sequence[Any]) -> Policy:
        return Policy([(weight, bias) for weight, bias in layers], Rules.parse(self.settings.rules))


def train(settings: PPOSettings, resume: bool = False, overwrite: bool = False) -> tuple[Policy, list[Pairing]]:
    """Train, save everything into ``settings.out`` (see `Run`) and return the policy and the closing results.

    Beside what every recipe writes there is ``model.zip``, for stable-baselines3.
    """
    torch.set_num_threads(settings.threads)
    set_random_seed(settings.seed)
    pool = Pool(settings)
    env = Counted(make_env(settings, pool), pool)
    model = make_model(settings, env)
    alone = not settings.snapshots and len(settings.opponents) == 1 and settings.opponents[0] in settings.against
    target = settings.opponents[0] if alone else ""
    run = Run(settings, "ppo", [settings.rules], "decisions", resume, overwrite, target)
    with progress_bar("training", settings.steps, "decisions") as bar:
        learner = Learner(settings, run, pool, bar)
        if run.state is not None:
            learner.load(model, run.state)
            env.seed(settings.seed + model.num_timesteps)
        pool.seat(np.random.default_rng(settings.seed), export(model, settings))
        left = settings.steps - model.num_timesteps
        if left > 0:
            try:
                model.learn(left, callback=learner, reset_num_timesteps=run.state is None)
            except ValueError:  # of a distribution without probabilities
                check_finite((one.detach().cpu().numpy() for one in model.policy.parameters()), model.num_timesteps)
                raise
            learner.evaluate()
    with whole_file(run.out / "model.zip") as unfinished:
        model.save(unfinished)
    policy = export(model, settings)
    if learner.best is not None:
        policy = Policy(learner.best.layers, policy.rules, policy.notes)
    policy.save(run.out / NETWORK)
    more = {"features": FEATURES, "decisions": model.num_timesteps, "best after": learner.best_after}
    return policy, run.finish(PolicyAgent(Policy.load(run.out / NETWORK), "ppo"), more)


def train_ppo(
    preset: str = "",
    /,
    *,
    settings: Annotated[PPOSettings, Parameter(name="*")] = PPOSettings(),
    resume: bool = False,
    overwrite: bool = False,
) -> None:
    """MaskablePPO against fixed agents and past selves.

    Args:
        preset: GAME/quick or GAME/full: settings that the options change.
        settings: the settings.
        resume: go on from the last checkpoint in --out, with its settings; games in progress begin anew.
        overwrite: begin anew in the place of a run that is in --out.
    """
    train(settings, resume, overwrite)
