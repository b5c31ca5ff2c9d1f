"""`scopa train rllib`: RLlib's PPO with masked actions, self-play, on Ray: one machine, or a cluster by ``--address``.

One policy learns.  In each episode it plays one side; on the others sit itself or one of its past selves, whose weights
are frozen copies.  Games are played by as many processes as there are runners; one process learns: this one or, with
``--learners 1``, one on any machine of the cluster.

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
from scopa_agents.network.ranks import FEATURES, feature_size, observed_features
from scopa_env import Rules
from scopa_env.interop.rllib import ScopaMultiAgentEnv
from scopa_train.checkpoint import CheckpointError
from scopa_train.run import NETWORK, Run, check_finite, is_due
from scopa_train.settings import RunSettings

MAIN = "main"
"""The policy that learns."""


@dataclass(frozen=True, kw_only=True)
class RllibSettings(RunSettings):
    """Settings of RLlib's PPO."""

    rules: str = "scopa"
    "Preset, or preset:field=value,field=value."
    steps: int = 500_000
    "Actions of all seats, at least; whole batches are played. A capture can take several."
    address: str = ""
    "Ray cluster to work on, as ray.init takes it (auto, ray://HOST:10001); empty: this machine."
    runners: int = 1
    "Processes that play games; 0: this one."
    envs: int = 32
    "Games that each of them plays side by side."
    learners: int = 0
    "1: learning has a process of its own, on any machine of the cluster; 0: it is in this one."
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
    "Actions of an update, of all seats."
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
        self.check_run([self.rules])
        self.at_least(1, "steps", "envs", "train_batch", "batch_size", "epochs", "snapshots")
        self.at_least(0, "runners", "past")
        self.between(0, 1, "learners")  # two of RLlib's learners did not get through an update in a trial
        self.check_widths("hidden")
        self.between(0, 1, "self_play", "gamma", "gae_lambda")
        self.above_zero("learning_rate", "clip", "reward_scale")
        self.at_least(0, "entropy")
        if self.batch_size > self.train_batch:
            raise ValueError(f"batch_size={self.batch_size}: allowed are numbers up to train_batch={self.train_batch}")
        ScopaMultiAgentEnv(self.env_config())  # refuses what it cannot play

    def plain(self) -> dict[str, Any]:
        """Return the settings as JSON values, without those that only say where it runs."""
        return {key: value for key, value in super().plain().items() if key not in ("address", "runners", "learners")}

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
        return {**seen, "observations": observed_features(self.rules, seen["observations"][None])[0]}


class Seating:
    """Says which policy sits where: the learner on one side, itself or one past self on the others.

    RLlib calls it once for each seat of an episode, in every process that plays.  Copies, also those that travel with
    the episodes, forget what was drawn; in another process they draw otherwise.

    Args:
        settings: the settings.
        seed: seed of the draws.
    """

    def __init__(self, settings: RllibSettings, seed: int) -> None:
        self.rules = Rules.parse(settings.rules)
        self.past, self.self_play, self.seed = settings.past, settings.self_play, seed
        self.__setstate__({})

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key not in ("drawn", "rng")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.drawn: dict[str, tuple[int, str]] = {}
        self.rng: random.Random | None = None

    def __call__(self, agent_id: str, episode: Any, **_: Any) -> str:
        """Return the policy of a seat."""
        if self.rng is None:
            process = ray.get_runtime_context().get_actor_id() if ray.is_initialized() else None
            self.rng = random.Random(f"{self.seed}:{process}")
        if episode.id_ not in self.drawn:
            alone = not self.past or self.rng.random() < self.self_play
            other = MAIN if alone else past_self(self.rng.randrange(self.past))
            self.drawn[episode.id_] = self.rng.randrange(self.rules.sides), other
            while len(self.drawn) > EPISODES:
                self.drawn.pop(next(iter(self.drawn)))
        side, other = self.drawn[episode.id_]
        seat = int(agent_id.removeprefix("player_"))
        return MAIN if self.rules.side_of(seat) == side else other


EPISODES = 10_000
"""Episodes that `Seating` remembers; many more than are in progress."""


def past_self(index: int) -> str:
    """Return the name of a past self."""
    return f"past_{index}"


def make_config(settings: RllibSettings, seed: int) -> PPOConfig:
    """Return the algorithm's configuration.

    Args:
        settings: the settings.
        seed: seed of weights, deals and draws.
    """
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
        .learners(num_learners=settings.learners, num_gpus_per_learner=gpus_of_a_learner(settings))
        .multi_agent(policies=names, policy_mapping_fn=Seating(settings, seed), policies_to_train=[MAIN])
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=dict.fromkeys(names, spec)))
        .training(
            train_batch_size_per_learner=settings.train_batch,
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
        .debugging(seed=seed, log_level="ERROR")
    )
    return config


class Rllib:
    """The algorithm and what belongs to a checkpoint.

    Args:
        settings: the settings.
        state: what `state` has returned, to go on from; games in progress begin anew, with new deals.
    """

    def __init__(self, settings: RllibSettings, state: Mapping[str, Any] | None = None) -> None:
        self.settings = settings
        begun = [settings.seed, 0 if state is None else state["steps"]]
        seed = int(np.random.SeedSequence(begun).generate_state(1)[0]) % SEEDS
        self.algorithm = make_config(settings, seed).build_algo()
        self.steps = 0
        self.taken = 0
        self.best: Policy | None = None
        self.best_after = 0
        if state is None:
            self.put({past_self(k): self.weights()[MAIN] for k in range(settings.past)}, {})
        else:
            self.load(state)

    def train(self) -> dict[str, float]:
        """Play and learn from one batch; return what TensorBoard is to show."""
        result = self.algorithm.train()
        if MAIN not in result.get("learners", {}):
            raise RuntimeError("rllib: nothing was learnt, as no games were played; ray's logs say why")
        self.steps += int(result["env_runners"]["num_env_steps_sampled"])
        learner = result["learners"][MAIN]
        names = ("policy_loss", "vf_loss", "entropy", "vf_explained_var")
        timers = {"seconds/play": "env_runner_sampling_timer", "seconds/learn": "learner_update_timer"}
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
        return Policy(layers, Rules.parse(self.settings.rules), {"recipe": "rllib", "actions": str(self.steps)})

    def state(self) -> dict[str, Any]:
        """Return everything that training goes on from but the games in progress, which begin anew."""
        learner = self.algorithm.learner_group.get_state()["learner"]
        return {
            "features": FEATURES,
            "weights": learner["rl_module"],
            "optimizer": learner["optimizer"],
            "steps": self.steps,
            "taken": self.taken,
            "torch": torch.get_rng_state(),
            "best": None if self.best is None else [list(layer) for layer in self.best.layers],
            "best after": self.best_after,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` returned."""
        if state["features"] != FEATURES:
            raise CheckpointError(f"checkpoint: its features are {state['features']!r}; allowed is {FEATURES!r}")
        self.put(state["weights"], state["optimizer"])
        self.steps, self.taken = state["steps"], state["taken"]
        torch.set_rng_state(state["torch"])
        self.best_after = state["best after"]
        if state["best"] is not None:
            self.best = Policy([(weight, bias) for weight, bias in state["best"]], Rules.parse(self.settings.rules))


SEEDS = 1 << 31
"""RLlib's seeds are below it."""
ACTOR, HEAD = "encoder.actor_encoder.", "pi.net.mlp.0.weight"
"""Names of the policy's weights in RLlib's module."""


def train(settings: RllibSettings, resume: bool = False, overwrite: bool = False) -> tuple[Policy, list[Pairing]]:
    """Train, save everything into ``settings.out`` (see `Run`) and return the policy and the closing results."""
    torch.set_num_threads(settings.threads)
    run = Run(settings, "rllib", [settings.rules], "actions", resume, overwrite)
    began = not ray.is_initialized()
    try:
        if began:
            start_ray(settings)
        learner = Rllib(settings, run.state)
        with progress_bar("training", settings.steps, "actions") as bar:
            bar.advance_to(learner.steps)
            while learner.steps < settings.steps:
                update(learner, run, bar)
        policy = learner.policy()
        if learner.best is not None:
            policy = Policy(learner.best.layers, policy.rules, policy.notes)
        learner.algorithm.stop()
    finally:
        if began:
            ray.shutdown()
    policy.save(run.out / NETWORK)
    more = {
        "features": FEATURES,
        "actions": learner.steps,
        "best after": learner.best_after,
        "ray": ray.__version__,
    }
    return policy, run.finish(PolicyAgent(Policy.load(run.out / NETWORK), "rllib"), more)


def start_ray(settings: RllibSettings) -> None:
    """Join a cluster, or start one on this machine.

    Raises:
        ValueError: the cluster has too few cores.
    """
    needed = settings.runners + settings.learners
    if not settings.address:
        ray.init(address="local", num_cpus=needed + 1, include_dashboard=False, log_to_driver=False)
        return
    ray.init(address=settings.address, log_to_driver=False)
    cores = int(ray.cluster_resources().get("CPU", 0))
    if needed > cores:
        raise ValueError(f"runners + learners = {needed}: allowed are up to {cores}, the cores of the cluster")


def gpus_of_a_learner(settings: RllibSettings) -> int:
    """Return 1 if there is a GPU: in the cluster or, if learning is in this process, on this machine; else 0."""
    return int(ray.cluster_resources().get("GPU", 0) >= 1 if settings.learners else torch.cuda.is_available())


def update(learner: Rllib, run: Run, bar: Bar) -> None:
    """Learn from one batch; where that is due, take a snapshot, evaluate and write a checkpoint."""
    settings, before = learner.settings, learner.steps
    values = learner.train()
    run.log(learner.steps, values)
    bar.advance_to(learner.steps)

    def due(times: int) -> bool:
        return is_due(before, learner.steps, settings.steps, times)

    if due(settings.snapshots):
        learner.snapshot()
    if due(settings.evaluations) or learner.steps >= settings.steps:
        policy = learner.policy()
        check_finite((weight for layer in policy.layers for weight in layer), learner.steps)
        best = None if learner.best is None else PolicyAgent(learner.best, "best")
        if run.evaluate(PolicyAgent(policy, "rllib"), learner.steps, bar, best):
            learner.best, learner.best_after = policy, learner.steps
        run.save(learner.state())


def train_rllib(
    preset: str = "",
    /,
    *,
    settings: Annotated[RllibSettings, Parameter(name="*")] = RllibSettings(),
    resume: bool = False,
    overwrite: bool = False,
) -> None:
    """RLlib's PPO with masked actions against itself and past selves, on Ray.

    Args:
        preset: GAME/quick or GAME/full: settings that the options change.
        settings: the settings.
        resume: go on from the last checkpoint in --out, with its settings; games in progress begin anew.
        overwrite: begin anew in the place of a run that is in --out.
    """
    train(settings, resume, overwrite)
