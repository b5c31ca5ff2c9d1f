"""`scopa train exit`: expert iteration.

Search labels decisions with the value of every legal move, a network learns them by regression, and then moves in the
playouts of the next labels (Anthony, Tian and Barber, "Thinking Fast and Slow with Deep Learning and Tree Search",
NeurIPS 2017).  The first labels are plain Monte Carlo, played out by a fast policy.  From then on the network moves for
every seat, by what that seat knows, up to the mover's next turn, where it says what that is worth: much less noise.

Reads top to bottom: settings, labels, learning, the loop.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Annotated, Any

import numpy as np
import torch
from cyclopts import Parameter

from scopa_agents.arena_table import Bar, progress_bar
from scopa_agents.network.agent import NetworkAgent
from scopa_agents.network.network import MoveNetwork
from scopa_agents.search.rollouts import ROLLOUTS
from scopa_env.files import whole_file
from scopa_train.checkpoint import load_checkpoint, save_checkpoint
from scopa_train.labels import Labeller, Labels, search_record
from scopa_train.move_net import PRECISIONS, Fit, Window, make_module, network_of
from scopa_train.run import Run, RunSettings, parse_all


@dataclass(frozen=True, kw_only=True)
class ExitSettings(RunSettings):
    """Settings of expert iteration."""

    rules: tuple[str, ...] = ("scopa",)
    "Presets to learn, or preset:field=value,field=value."
    iterations: int = 10
    "Rounds of labels and learning."
    first_decisions: int = 200_000
    "Decisions labelled in the first iteration."
    decisions: int = 100_000
    "Decisions labelled in each later one."
    rollout: str = "greedy"
    "Policy of the first playouts."
    epsilon: float = 0.3
    "Share of random moves in them."
    first_worlds: int = 12
    "Worlds of a decision in the first iteration."
    worlds: int = 4
    "Worlds of a decision in later ones."
    horizon: int = 1
    "Turns of the mover's up to the value in later playouts."
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
    precision: str = "auto"
    "float32, bfloat16 or auto."
    out: Path = Path("runs/exit")
    "Folder of the results."

    def __post_init__(self) -> None:
        self.check_run()
        parse_all(self.rules)
        counts = "iterations first_decisions decisions first_worlds worlds horizon window first_steps steps batch"
        self.at_least(1, *counts.split())
        if self.rollout not in ROLLOUTS:
            raise ValueError(f"rollout={self.rollout!r}: allowed are {', '.join(ROLLOUTS)}")
        if self.precision not in PRECISIONS:
            raise ValueError(f"precision={self.precision!r}: allowed are {', '.join(PRECISIONS)}")
        for name in ("epsilon", "explore", "decay"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}={getattr(self, name)}: allowed are numbers from 0 to 1")
        if not self.hidden or min(self.hidden) < 1:
            raise ValueError(f"hidden={self.hidden}: allowed are widths from 1, at least one")

    def total_decisions(self) -> int:
        """Return the decisions that all iterations label, about."""
        return self.first_decisions + (self.iterations - 1) * self.decisions

    def total_steps(self) -> int:
        """Return the batches of all iterations."""
        return self.first_steps + (self.iterations - 1) * self.steps


TASKS = 16
"""Parts of an iteration's labelling; they do not depend on the number of threads."""


class Exit:
    """The state of a run between two iterations."""

    def __init__(self, settings: ExitSettings) -> None:
        self.settings = settings
        torch.manual_seed(settings.seed)
        module = make_module(settings.hidden)
        self.fit = Fit(module, settings.learning_rate, settings.centred, settings.decay, settings.precision)
        self.rng = np.random.default_rng(settings.seed)
        self.iteration = 0
        self.labelled = 0
        self.window: list[Labels] = []
        self.best: MoveNetwork | None = None

    def labels(self, progress: Any, stop: Event) -> Labels:
        """Label the decisions of this iteration."""
        settings = self.settings
        first = self.iteration == 0
        worlds = settings.first_worlds if first else settings.worlds
        horizon = 0 if first else settings.horizon
        search = search_record(settings.rollout, settings.epsilon, worlds, settings.explore, horizon)
        labeller = Labeller(parse_all(settings.rules), search, TASKS, settings.threads)
        count = settings.first_decisions if first else settings.decisions
        seed = int(np.random.SeedSequence((settings.seed, self.iteration)).generate_state(1)[0])
        return labeller.label(count, seed, None if first else self.network(), progress, stop)

    def learn(self, progress: Any) -> tuple[float, float]:
        """Learn from the window; return the mean errors over this iteration's batches."""
        settings = self.settings
        steps = settings.first_steps if self.iteration == 0 else settings.steps
        window = Window(self.window)
        errors = np.zeros(2)
        for step in range(steps):
            at = (self.fit.steps + 1) / settings.total_steps()
            rate = 0.5 * (1 + math.cos(math.pi * min(at, 1))) * min(1, (self.fit.steps + 1) / 100)
            errors += self.fit.step(*window.batch(settings.batch, self.rng), rate)
            progress(step + 1)
        plain, centred = (errors / steps).tolist()
        return plain, centred

    def network(self) -> MoveNetwork:
        """Return the averaged weights."""
        return network_of(self.fit.average)

    def state(self) -> dict[str, Any]:
        """Return everything but the labels."""
        return {
            "fit": self.fit.state(),
            "rng": self.rng.bit_generator.state,
            "iteration": self.iteration,
            "labelled": self.labelled,
            "kept": len(self.window),
            "best": None if self.best is None else [list(layer) for layer in self.best.layers],
        }


def train_exit_run(settings: ExitSettings, resume: bool = False) -> MoveNetwork:
    """Train and save everything into ``settings.out``; return the network."""
    torch.set_num_threads(settings.threads)
    run = Run(settings, f"Expert iteration on {', '.join(settings.rules)}", settings.rules, "labelled decisions")
    learner = Exit(settings)
    stop = Event()
    every = max(settings.iterations // settings.evaluations, 1)
    while learner.iteration < settings.iterations:
        number = learner.iteration
        with progress_bar(f"{number + 1}/{settings.iterations} labels", settings.decisions, "decisions") as bar:
            done = 0

            def add(count: int, bar: Bar = bar) -> None:
                nonlocal done
                done += count
                bar.advance_to(done)

            fresh = learner.labels(add, stop)
        t_label = run.total_seconds()
        learner.window.append(fresh)
        learner.labelled += len(fresh)
        while sum(map(len, learner.window[1:])) >= settings.window:
            learner.window.pop(0)
        with progress_bar(f"{number + 1}/{settings.iterations} learning", settings.steps, "batches") as bar:
            plain, centred = learner.learn(bar.advance_to)
            learner.iteration += 1
            run.log(learner.labelled, {"loss/plain": plain, "loss/centred": centred})
            bar.say(f"{number + 1}: {learner.labelled:,} labelled, errors {plain:.4f} {centred:.4f}  {t_label:.0f} {run.total_seconds():.0f}s")
            if learner.iteration % every == 0 or learner.iteration == settings.iterations:
                network = learner.network()
                run.evaluate(NetworkAgent(network), learner.labelled, None, bar)
                np.savez(settings.out / f"net{learner.iteration}.npz", **{f"{'wb'[k]}{i}": x for i, l in enumerate(network.layers) for k, x in enumerate(l)})
    run.finish(NetworkAgent(learner.network(), "exit"), {"labelled decisions": learner.labelled})
    return learner.network()
