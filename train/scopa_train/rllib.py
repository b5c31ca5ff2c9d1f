"""`scopa train rllib`: RLlib's PPO with masked actions, self-play, on Ray: one machine, or a cluster by ``--address``.

One policy learns.  In each episode it plays one side; on the others sit itself or one of its past selves, whose weights
are frozen copies.  Games are played by as many processes as there are runners; learning is on this machine or, with
``--learners``, on processes of their own.

Reads top to bottom: settings, environment, seating, the algorithm, the loop.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import ray
import torch
from cyclopts import Parameter
from gymnasium import spaces
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from scopa_agents.arena import Pairing
from scopa_agents.arena_table import Bar, progress_bar
from scopa_agents.network.policy import Policy, PolicyAgent
from scopa_agents.network.ranks import FEATURES, PAIR_SUMS, feature_size, rank_features
from scopa_env import Rules
from scopa_env.interop.rllib import ScopaMultiAgentEnv
from scopa_train.run import NETWORK, Run, RunSettings

MAIN = "main"
"""The policy that learns."""


@dataclass(frozen=True, kw_only=True)
class RllibSettings(RunSettings):
    """Settings of RLlib's PPO."""

    rules: str = "scopa"
    "Preset, or preset:field=value,field=value."
    steps: int = 500_000
    "Plays of all seats, at least; whole batches are played."
    address: str = ""
    "Ray cluster to work on, as ray.init takes it (auto, ray://HOST:10001); empty: this machine."
    runners: int = 1
    "Processes that play games; 0: this one."
    envs: int = 32
    "Games that each of them plays side by side."
    learners: int = 0
    "Processes that learn; 0: this one."
    past: int = 4
    "Past selves to play against; 0: only itself."
    snapshots: int = 16
    "Times that a past self, the oldest, is replaced by what the learner is then."
    self_play: float = 0.5
    "Share of episodes against itself."
    reward: str = "points"
    "points, win or decided."
    reward_scale: float = 0.3
    "Factor of the rewards, so that returns are about 1."
    train_batch: int = 16_384
    "Plays of an update."
    batch_size: int = 1024
    "Decisions of a gradient step."
    epochs: int = 4
    "Passes over the decisions of an update."
    learning_rate: float = 5e-4
    "Adam's step size."
    gamma: float = 1.0
    "Discount of a decision."
    gae_lambda: float = 0.95
    "Lambda of the generalised advantage estimate."
    entropy: float = 0.003
    "Weight of the entropy bonus."
    clip: float = 0.2
    "How far the ratio of probabilities may move."
    hidden: tuple[int, ...] = (256, 256)
    "Widths of the hidden layers of policy and value."
    out: Path = Path("runs/rllib")
    "Folder of the results."

    def __post_init__(self) -> None:
        self.check_run()
        Rules.parse(self.rules)
        self.at_least(1, "steps", "envs", "train_batch", "batch_size", "epochs", "snapshots")
        self.at_least(0, "runners", "learners", "past")
        if not self.hidden or min(self.hidden) < 1:
            raise ValueError(f"hidden={self.hidden}: allowed are widths from 1, at least one")
        if not 0 <= self.self_play <= 1:
            raise ValueError(f"self_play={self.self_play}: allowed are numbers from 0 to 1")
        ScopaMultiAgentEnv(self.env_config())  # refuses what it cannot play

    def env_config(self) -> dict[str, Any]:
        """Return the arguments of the environment."""
        return {"rules": self.rules, "reward": self.reward, "reward_scale": self.reward_scale}


class RankEnv(ScopaMultiAgentEnv):
    """RLlib's environment with the features that `scopa_agents.network.policy` computes from an observation."""

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__(config)
        box = spaces.Box(0.0, np.inf, (feature_size(self.rules.players),), np.float32)
        for agent, space in self.observation_spaces.items():
            self.observation_spaces[agent] = spaces.Dict({**space, "observations": box})

    def _observe(self, agent: str) -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
        seen = super()._observe(agent)
        fifteen = self.rules.capture == "fifteen"
        rows = seen["observations"][None]
        features = rank_features(rows, self.rules.players, fifteen, PAIR_SUMS, np.concatenate)
        return {**seen, "observations": features[0].astype(np.float32)}


class Seating:
    """Says which policy sits where: the learner on one side, itself or one past self on the others.

    RLlib calls it once for each seat of an episode, in every process that plays; each has a copy of its own.

    Args:
        settings: the settings.
    """

    def __init__(self, settings: RllibSettings) -> None:
        self.rules = Rules.parse(settings.rules)
        self.past, self.self_play = settings.past, settings.self_play
        self.rng = random.Random(settings.seed)
        self.drawn: dict[str, tuple[int, str]] = {}

    def __call__(self, agent_id: str, episode: Any, **_: Any) -> str:
        """Return the policy of a seat."""
        if episode.id_ not in self.drawn:
            alone = not self.past or self.rng.random() < self.self_play
            other = MAIN if alone else past_self(self.rng.randrange(self.past))
            self.drawn[episode.id_] = self.rng.randrange(self.rules.sides), other
            while len(self.drawn) > EPISODES:
                self.drawn.pop(next(iter(self.drawn)))
        side, other = self.drawn[episode.id_]
        seat = int(agent_id.removeprefix("player_"))
        return MAIN if self.rules.side_of(seat) == side else other


EPISODES = 100_000
"""Episodes that `Seating` remembers; many more than are in progress."""


def past_self(index: int) -> str:
    """Return the name of a past self."""
    return f"past_{index}"


def make_config(settings: RllibSettings) -> PPOConfig:
    """Return the algorithm's configuration."""
    names = [MAIN, *map(past_self, range(settings.past))]
    model = DefaultModelConfig(fcnet_hiddens=list(settings.hidden), fcnet_activation="tanh", vf_share_layers=False)
    spec = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=model)
    config = (
        PPOConfig()
        .environment(RankEnv, env_config=settings.env_config(), disable_env_checking=True)  # that plays illegal moves
        .framework("torch")
        .env_runners(
            num_env_runners=settings.runners,
            num_envs_per_env_runner=settings.envs,
            batch_mode="complete_episodes",
            rollout_fragment_length="auto",
        )
        .learners(num_learners=settings.learners, num_gpus_per_learner=int(torch.cuda.is_available()))
        .multi_agent(policies=set(names), policy_mapping_fn=Seating(settings), policies_to_train=[MAIN])
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=dict.fromkeys(names, spec)))
        .training(
            train_batch_size_per_learner=settings.train_batch // max(settings.learners, 1),
            minibatch_size=settings.batch_size,
            num_epochs=settings.epochs,
            lr=settings.learning_rate,
            gamma=settings.gamma,
            lambda_=settings.gae_lambda,
            entropy_coeff=settings.entropy,
            clip_param=settings.clip,
            use_kl_loss=False,
            vf_clip_param=float("inf"),
        )
        .debugging(seed=settings.seed, log_level="ERROR")
    )
    return config


class Rllib:
    """The algorithm and what belongs to a checkpoint.

    Args:
        settings: the settings.
    """

    def __init__(self, settings: RllibSettings) -> None:
        self.settings = settings
        self.algorithm = make_config(settings).build_algo()
        self.steps = 0
        self.taken = 0
        self.best: Policy | None = None

    def train(self) -> dict[str, float]:
        """Play and learn from one batch; return what TensorBoard is to show."""
        result = self.algorithm.train()
        self.steps += int(result["env_runners"]["num_env_steps_sampled"])
        learner = result["learners"][MAIN]
        names = ("policy_loss", "vf_loss", "entropy", "vf_explained_var")
        timers = {"rate/play": "env_runner_sampling_timer", "rate/learn": "learner_update_timer"}
        values = {f"learner/{name}": float(learner[name]) for name in names if name in learner}
        return values | {name: float(result["timers"][of]) for name, of in timers.items()}

    def snapshot(self) -> None:
        """Put what the learner is now in the place of the oldest past self."""
        if not self.settings.past:
            return
        name = past_self(self.taken % self.settings.past)
        self.taken += 1
        self.put({name: self.weights()[MAIN]}, {})

    def weights(self) -> dict[str, Any]:
        """Return the weights of all policies."""
        found: dict[str, Any] = self.algorithm.learner_group.get_weights()
        return found

    def put(self, weights: Mapping[str, Any], optimizer: Mapping[str, Any]) -> None:
        """Replace weights of policies, and the state of the optimiser, on all learners and runners."""
        state: dict[str, Any] = {"rl_module": dict(weights)}
        if optimizer:
            state["optimizer"] = dict(optimizer)
        self.algorithm.learner_group.set_state({"learner": state})
        # `sync_weights` would do nothing: the number of learner updates, by which runners know new weights, is the same
        playing = {"rl_module": dict(weights)}
        self.algorithm.env_runner_group.foreach_env_runner(lambda runner: runner.set_state(playing))

    def policy(self) -> Policy:
        """Return the network of the learner for numpy."""
        found = self.weights()[MAIN]
        actor = [name for name in found if name.startswith(ACTOR) and name.endswith(".weight")]
        names = [*sorted(actor, key=lambda name: int(name.split(".")[-2])), HEAD]
        layers = [(found[name].copy(), found[name.removesuffix("weight") + "bias"].copy()) for name in names]
        return Policy(layers, Rules.parse(self.settings.rules), {"recipe": "rllib", "plays": str(self.steps)})

    def state(self) -> dict[str, Any]:
        """Return everything that training goes on from but the games in progress, which begin anew."""
        learner = self.algorithm.learner_group.get_state()["learner"]
        return {
            "weights": learner["rl_module"],
            "optimizer": learner["optimizer"],
            "steps": self.steps,
            "taken": self.taken,
            "torch": torch.get_rng_state(),
            "best": None if self.best is None else [list(layer) for layer in self.best.layers],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` returned."""
        self.put(state["weights"], state["optimizer"])
        self.steps, self.taken = state["steps"], state["taken"]
        torch.set_rng_state(state["torch"])
        if state["best"] is not None:
            self.best = Policy([(weight, bias) for weight, bias in state["best"]], Rules.parse(self.settings.rules))


ACTOR, HEAD = "encoder.actor_encoder.", "pi.net.mlp.0.weight"
"""Names of the policy's weights in RLlib's module."""


def train(settings: RllibSettings, resume: bool = False) -> tuple[Policy, list[Pairing]]:
    """Train, save everything into ``settings.out`` (see `Run`) and return the policy and the closing results."""
    torch.set_num_threads(settings.threads)
    run = Run(settings, "rllib", [settings.rules], "plays", resume)
    began = not ray.is_initialized()
    if began:
        start_ray(settings)
    learner = Rllib(settings)
    try:
        if run.state is not None:
            learner.load(run.state)
        with progress_bar("training", settings.steps, "plays") as bar:
            bar.advance_to(learner.steps)
            while learner.steps < settings.steps:
                update(learner, run, bar)
        policy = learner.policy()
    finally:
        learner.algorithm.stop()
        if began:
            ray.shutdown()
    policy.save(run.out / NETWORK)
    more = {"features": FEATURES, "plays": learner.steps, "ray": ray.__version__}
    return policy, run.finish(PolicyAgent(Policy.load(run.out / NETWORK), "rllib"), more)


def start_ray(settings: RllibSettings) -> None:
    """Join a cluster, or start one on this machine."""
    if settings.address:
        ray.init(address=settings.address, log_to_driver=False)
    else:
        cpus = settings.runners + settings.learners + 1
        ray.init(address="local", num_cpus=cpus, include_dashboard=False, log_to_driver=False)


def update(learner: Rllib, run: Run, bar: Bar) -> None:
    """Learn from one batch; where that is due, take a snapshot, evaluate and write a checkpoint."""
    settings, before = learner.settings, learner.steps
    values = learner.train()
    run.log(learner.steps, values)
    bar.advance_to(learner.steps)

    def due(times: int) -> bool:
        return learner.steps * times // settings.steps > before * times // settings.steps

    if due(settings.snapshots):
        learner.snapshot()
    if due(settings.evaluations) or learner.steps >= settings.steps:
        policy = learner.policy()
        best = None if learner.best is None else PolicyAgent(learner.best, "best")
        if run.evaluate(PolicyAgent(policy, "rllib"), learner.steps, bar, best) >= 0:
            learner.best = policy
        run.save(learner.state())


def train_rllib(
    preset: str = "",
    /,
    *,
    settings: Annotated[RllibSettings, Parameter(name="*")] = RllibSettings(),
    resume: bool = False,
) -> None:
    """RLlib's PPO with masked actions against itself and past selves, on Ray.

    Args:
        preset: GAME/quick or GAME/full: settings that the options change.
        settings: the settings.
        resume: go on from the last checkpoint in --out, with its settings; games in progress begin anew.
    """
    train(settings, resume)
