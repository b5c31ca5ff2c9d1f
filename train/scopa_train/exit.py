"""`scopa train exit`: expert iteration.

Search labels decisions with the value of every legal move, a network learns them by regression, and then moves in the
playouts of the next labels (Anthony, Tian and Barber, "Thinking Fast and Slow with Deep Learning and Tree Search",
NeurIPS 2017).  The first labels are plain Monte Carlo, played out by a fast policy.  From then on the network moves for
every seat, by what that seat knows, up to the mover's next turn, where it says what that is worth: much less noise.

Reads top to bottom: settings, labels, learning, the loop.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from cyclopts import Parameter

from scopa_agents.arena import Pairing
from scopa_agents.arena_table import Bar, progress_bar
from scopa_agents.learned import model_for
from scopa_agents.network.agent import NetworkAgent
from scopa_agents.network.features import FEATURES, LATE
from scopa_agents.network.network import MoveNetwork
from scopa_agents.network.worlds import BY_NETWORK
from scopa_agents.search.rollouts import ROLLOUTS
from scopa_env import Rules, make_agent
from scopa_train.labels import Labeller, Labels, Opponent, Teacher
from scopa_train.move_net import PRECISIONS, Fit, Window, check_start, make_module, network_of, network_to_start_from
from scopa_train.run import NETWORK, Run, has_checkpoint, is_due
from scopa_train.settings import RunSettings, check_distinct, parse_all


@dataclass(frozen=True, kw_only=True)
class ExitSettings(RunSettings):
    """Settings of expert iteration."""

    rules: tuple[str, ...] = ("scopa",)
    "Presets to learn, or preset:field=value,field=value."
    unseen: tuple[str, ...] = ()
    "The same, not learnt, but played in the closing table."
    start: str = ""
    "A shipped network or the file of one to begin with, which then makes the first labels too; empty: none."
    opponent: str = ""
    "greedy, expert, random or learned:NAME: learn the best answer to it; empty: self-play."
    iterations: int = 10
    "Rounds of labels and learning."
    first_decisions: int = 200_000
    "Decisions labelled in the first iteration."
    decisions: int = 100_000
    "Decisions labelled in each later one."
    rollout: str = "greedy"
    "Policy of the first playouts, without a network to start from."
    epsilon: float = 0.3
    "Share of random moves in them."
    first_worlds: int = 12
    "Worlds of a decision labelled so."
    worlds: int = 4
    "Worlds of a decision in later ones."
    horizon: int = 1
    "Turns of the mover's up to the value in later playouts."
    solve: int = 6
    "Labels are exact where at most so many plays are left and the mover knows every card."
    explore: float = 0.1
    "Share of random moves in the games whose decisions are labelled."
    window: int = 1_000_000
    "Decisions to learn from: the latest, from whole iterations."
    first_steps: int = 1000
    "Batches learnt in the first iteration."
    steps: int = 500
    "Batches learnt in each later one."
    batch: int = 1024
    "Decisions of a batch."
    learning_rate: float = 1e-3
    "Adam's step size at the start; it falls to zero by a cosine."
    centred: float = 4.0
    "Weight of the errors less their mean in the decision."
    decay: float = 0.999
    "Of the moving average of the weights, for each batch."
    hidden: tuple[int, ...] = (512, 64, 32)
    "Widths of the hidden layers."
    late_hidden: tuple[int, ...] = ()
    "The same of a network of its own for the last six plays; empty: there is none."
    late_decisions: int = 0
    "Decisions with exact values that are labelled for it in each iteration, from games of expert."
    late_steps: int = 500
    "Batches that it learns in each iteration."
    precision: str = "auto"
    "float32, bfloat16 or auto."
    out: Path = Path("runs/exit")
    "Folder of the results."

    def __post_init__(self) -> None:
        self.check_run([*self.rules, *self.unseen])
        check_distinct([*self.rules, *self.unseen])
        counts = "iterations first_decisions decisions first_worlds worlds horizon window first_steps steps batch"
        self.at_least(1, *counts.split())
        self.at_least(0, "solve", "late_decisions", "late_steps")
        if self.late_decisions and not self.late_hidden:
            raise ValueError(f"late_decisions={self.late_decisions}: allowed is 0 without late_hidden")
        for rules in parse_all(self.rules):
            if self.late_decisions and rules.players != 2:
                raise ValueError(f"late_decisions={self.late_decisions}: allowed is 0 in {rules}, not of two players")
            if self.late_hidden and (rules.never_dealt or rules.num_plays <= LATE):
                raise ValueError(
                    f"late_hidden={self.late_hidden}: allowed is none in {rules}, which has {rules.num_plays} plays "
                    f"and {rules.never_dealt} cards that are never dealt: its last {LATE} are all, or hold secrets"
                )
        check_start(self.start, self.out)
        if self.rollout not in ROLLOUTS:
            raise ValueError(f"rollout={self.rollout!r}: allowed are {', '.join(ROLLOUTS)}")
        if self.opponent == "learned" and len(self.rules) > 1:
            raise ValueError("opponent='learned': allowed in several games is learned:NAME")
        if self.opponent:
            opponent_of(self.opponent, Rules.parse(self.rules[0]))
            if self.late_decisions:
                raise ValueError(f"late_decisions={self.late_decisions}: exact values mean two perfect players")
        self.above_zero("learning_rate")
        self.at_least(0, "centred")
        if self.precision not in PRECISIONS:
            raise ValueError(f"precision={self.precision!r}: allowed are {', '.join(PRECISIONS)}")
        self.between(0, 1, "epsilon", "explore", "decay")
        self.check_widths("hidden", *(["late_hidden"] if self.late_hidden else []))


TASKS = 16
"""Parts of an iteration's labelling, at least, equally many of each game; they do not depend on the threads."""


class Learner:
    """One of the two networks, what it learns from, and how far it has got.

    Args:
        settings: the settings.
        hidden: widths of the hidden layers.
        first_steps: batches of the first iteration.
        steps: batches of each later one.
    """

    def __init__(self, settings: ExitSettings, hidden: Sequence[int], first_steps: int, steps: int) -> None:
        self.fit = Fit(
            make_module(hidden), settings.learning_rate, settings.centred, settings.decay, settings.precision
        )
        self.batch, self.most = settings.batch, settings.window
        self.first_steps, self.steps = first_steps, steps
        self.total = first_steps + (settings.iterations - 1) * steps
        self.window: list[Labels] = []

    def keep(self, labels: Labels) -> None:
        """Add labels to the window; the oldest iterations leave it when there are enough without them."""
        self.window.append(labels)
        while sum(map(len, self.window[1:])) >= self.most:
            self.window.pop(0)

    def learn(self, rng: np.random.Generator, bar: Bar) -> tuple[float, float]:
        """Learn from the window; return the mean errors over this iteration's batches, plain and centred."""
        steps = self.steps if self.fit.steps else self.first_steps
        window = Window(self.window)
        errors = np.zeros(2)
        for _ in range(steps):
            done = (self.fit.steps + 1) / self.total
            rate = min(1, (self.fit.steps + 1) / WARM_UP) * 0.5 * (1 + math.cos(math.pi * min(done, 1)))
            errors += self.fit.step(*window.batch(self.batch, rng), rate)
            bar.advance(1)
        plain, centred = (errors / max(steps, 1)).tolist()
        return plain, centred


class Exit:
    """The state of expert iteration between two iterations."""

    def __init__(self, settings: ExitSettings) -> None:
        self.settings = settings
        torch.manual_seed(settings.seed)
        self.early = Learner(settings, settings.hidden, settings.first_steps, settings.steps)
        self.late = None
        if settings.late_hidden:
            self.late = Learner(settings, settings.late_hidden, settings.late_steps, settings.late_steps)
        self.rng = np.random.default_rng(settings.seed)
        self.iteration = 0
        self.labelled = 0
        self.best: MoveNetwork | None = None
        self.best_after = 0

    def begin_with(self, network: MoveNetwork) -> None:
        """Start from a network.

        Raises:
            ValueError: its layers are not as wide as the settings say.
        """
        self.early.fit.begin_with(network.layers, "hidden")
        if (self.late is None) != (network.late is None):
            raise ValueError(
                f"late_hidden={self.settings.late_hidden}: the network to start from has "
                + ("no late part" if network.late is None else "a late part")
            )
        if self.late is not None and network.late is not None:
            self.late.fit.begin_with(network.late, "late_hidden")
        self.best = replace(network, rules=tuple(parse_all(self.settings.rules)))

    def learners(self) -> dict[str, Learner]:
        """Return what learns, by name."""
        return {"early": self.early} if self.late is None else {"early": self.early, "late": self.late}

    def label(self, bar: Bar) -> Labels:
        """Label the decisions of this iteration."""
        settings = self.settings
        if self.iteration == 0 and not settings.start:
            teacher = Teacher(settings.first_worlds, settings.explore, settings.rollout, settings.epsilon)
        else:
            network, horizon = self.network(), settings.horizon
            teacher = Teacher(settings.worlds, settings.explore, network=network, horizon=horizon)
        opponent = opponent_of(settings.opponent, Rules.parse(settings.rules[0])) if settings.opponent else None
        labels = self._label(replace(teacher, opponent=opponent, solve=settings.solve), self.count(), 0, bar)
        if settings.late_decisions:
            exact = Teacher(1, LATE_EXPLORE, "expert", solve=LATE, only_exact=True)
            labels = Labels.join([labels, self._label(exact, settings.late_decisions, 1, bar)])
        return labels.shuffled(np.random.default_rng((settings.seed, self.iteration, 2)))

    def _label(self, teacher: Teacher, count: int, kind: int, bar: Bar) -> Labels:
        settings = self.settings
        games = parse_all(settings.rules)
        labeller = Labeller(games, teacher, len(games) * -(-TASKS // len(games)), settings.threads)
        seed = int(np.random.SeedSequence((settings.seed, self.iteration, kind)).generate_state(1)[0])
        return labeller.label(count, seed, bar.advance)

    def count(self) -> int:
        """Return how many decisions this iteration labels, without those for the late network alone."""
        return self.settings.first_decisions if self.iteration == 0 else self.settings.decisions

    def keep(self, labels: Labels) -> None:
        """Add labels to the windows."""
        if self.late is None:
            self.early.keep(labels)
            return
        early, late = labels.split()
        self.early.keep(early)
        self.late.keep(late)

    def network(self) -> MoveNetwork:
        """Return the averaged weights."""
        notes = {"recipe": "exit", "labelled": str(self.labelled)}
        network = network_of(self.early.fit.weights(), parse_all(self.settings.rules), notes)
        if self.late is None:
            return network
        return replace(network, late=network_of(self.late.fit.weights(), (), {}).layers)

    def state(self) -> dict[str, Any]:
        """Return everything but the labels."""
        return {
            "fits": {name: learner.fit.state() for name, learner in self.learners().items()},
            "kept": {name: len(learner.window) for name, learner in self.learners().items()},
            "rng": self.rng.bit_generator.state,
            "iteration": self.iteration,
            "labelled": self.labelled,
            "best": None if self.best is None else plain_layers(self.best),
            "best after": self.best_after,
        }

    def load(self, state: dict[str, Any], out: Path) -> None:
        """Go on from what `state` returned, with the labels in their files."""
        self.rng.bit_generator.state = state["rng"]
        self.iteration, self.labelled = state["iteration"], state["labelled"]
        for k in range(self.iteration - max(state["kept"].values()), self.iteration):
            self.keep(Labels.load(label_file(out, k)))
        for name, learner in self.learners().items():
            learner.fit.load(state["fits"][name])
            learner.window = learner.window[-state["kept"][name] :]
        self.best = None if state["best"] is None else network_of_layers(state["best"])
        self.best_after = state["best after"]


def plain_layers(network: MoveNetwork) -> list[Any]:
    """Return the weights of a network for a checkpoint."""
    return [[list(layer) for layer in layers] for layers in (network.layers, network.late or ())]


def network_of_layers(layers: list[Any]) -> MoveNetwork:
    """Return the network of which `plain_layers` made these."""
    early, late = ([(weight, bias) for weight, bias in part] for part in layers)
    return MoveNetwork(early, late=late or None)


def label_file(out: Path, iteration: int) -> Path:
    """Return the file of an iteration's labels."""
    return out / "labels" / f"{iteration:04}.safetensors"


def opponent_of(name: str, rules: Rules) -> Opponent:
    """Return what an agent plays in compiled code under some rules.

    Raises:
        ValueError: it is neither a compiled policy nor a network that values moves.
    """
    if name in ROLLOUTS:
        return Opponent(ROLLOUTS[name].address)
    if name == "learned":
        name = f"learned:{model_for(rules)}"
    agent = make_agent(name)
    if not isinstance(agent, NetworkAgent):
        raise ValueError(f"opponent={name!r}: allowed are {', '.join(ROLLOUTS)}, and learned:NAME of a move network")
    return Opponent(BY_NETWORK, agent.network)


WARM_UP = 100
"""Batches over which the learning rate rises."""
LATE_EXPLORE = 0.2
"""Share of random moves in the games from which decisions for the late network are taken."""


def train(settings: ExitSettings, resume: bool = False, overwrite: bool = False) -> tuple[MoveNetwork, list[Pairing]]:
    """Train, save everything into ``settings.out`` (see `Run`) and return the network and the closing results."""
    torch.set_num_threads(settings.threads)
    learner = Exit(settings)
    if settings.start and not has_checkpoint(settings, resume):
        learner.begin_with(network_to_start_from(settings.start))
    target = settings.opponent if settings.opponent in settings.against else ""
    run = Run(settings, "exit", settings.rules, "labelled decisions", resume, overwrite, target)
    label_file(run.out, 0).parent.mkdir(exist_ok=True)
    if run.state is not None:
        learner.load(run.state, run.out)
    elif learner.best is not None:
        with progress_bar("the network to start from", 1, "evaluations") as bar:
            run.evaluate(NetworkAgent(learner.best), 0, bar)
    while learner.iteration < settings.iterations:
        iterate(learner, run)
    network = learner.network()
    if learner.best is not None:
        network = replace(network, layers=learner.best.layers, late=learner.best.late)
    network.save(run.out / NETWORK, half=True)
    more = {
        "features": FEATURES,
        "labelled decisions": learner.labelled,
        "best after": learner.best_after,
        "precision": learner.early.fit.precision,
    }
    return network, run.finish(NetworkAgent(MoveNetwork.load(run.out / NETWORK), "exit"), more, settings.unseen)


def iterate(learner: Exit, run: Run) -> None:
    """Label, learn, evaluate where that is due, and write a checkpoint."""
    settings = learner.settings
    number = f"{learner.iteration + 1}/{settings.iterations}"
    began = run.seconds()
    with progress_bar(f"{number} labels", learner.count() + settings.late_decisions, "decisions") as bar:
        labels = learner.label(bar)
    labels.save(label_file(run.out, learner.iteration))
    learner.keep(labels)
    learner.labelled += len(labels)
    labelled = run.seconds()
    values = {"rate/labels": len(labels) / (labelled - began)}
    batches = sum(one.steps if one.fit.steps else one.first_steps for one in learner.learners().values())
    with progress_bar(f"{number} learning", batches, "batches") as bar:
        for name, one in learner.learners().items():
            plain, centred = one.learn(learner.rng, bar)
            values |= {f"{name}/loss": plain, f"{name}/centred": centred}
        values["rate/batches"] = batches / (run.seconds() - labelled)
        learner.iteration += 1
        run.log(learner.labelled, values)
        if is_due(learner.iteration - 1, learner.iteration, settings.iterations, settings.evaluations):
            network = learner.network()
            best = None if learner.best is None else NetworkAgent(learner.best)
            if run.evaluate(NetworkAgent(network), learner.labelled, bar, best):
                learner.best, learner.best_after = network, learner.labelled
    run.save(learner.state())
    if learner.best is not None and learner.best_after == learner.labelled:
        learner.best.save(run.out / NETWORK, half=True)
    for old in range(learner.iteration - max(len(one.window) for one in learner.learners().values())):
        label_file(run.out, old).unlink(missing_ok=True)


def train_exit(
    preset: str = "",
    /,
    *,
    settings: Annotated[ExitSettings, Parameter(name="*")] = ExitSettings(),
    resume: bool = False,
    overwrite: bool = False,
) -> None:
    """Expert iteration: learn what search says of every move, then search with what has been learnt.

    Args:
        preset: GAME/quick or GAME/full: settings that the options change.
        settings: the settings.
        resume: go on from the last checkpoint in --out, with its settings.
        overwrite: begin anew in the place of a run that is in --out.
    """
    train(settings, resume, overwrite)
