"""`scopa train dmc`: deep Monte Carlo, after DouZero.

Zha et al., "DouZero: Mastering DouDizhu with Self-Play Deep Reinforcement Learning", ICML 2021.  The network takes what
a seat knows together with a move, as the position right after it, and learns the points that the round brought in the
end.  All seats play the move with the largest value, now and then a random one.  Actors and learner take turns in one
process.

Reads top to bottom: settings, self-play, learning, the loop.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from cyclopts import Parameter

from scopa_agents.arena import Pairing
from scopa_agents.arena_table import Bar, progress_bar
from scopa_agents.network.agent import NetworkAgent
from scopa_agents.network.features import FEATURES, NUM_WORDS, pack_position
from scopa_agents.network.forward import best_move, new_space
from scopa_agents.network.network import MoveNetwork
from scopa_agents.search.rollouts import margin, name_random_move, random_unit
from scopa_env.engine.bits import popcount
from scopa_env.engine.deal import start_round
from scopa_env.engine.play import play, play_undealt
from scopa_env.engine.rng import random_below
from scopa_env.engine.state import GAME, NOBODY, PLAYING, side_of
from scopa_env.kernel import kernel
from scopa_env.rules import Rules
from scopa_train.labels import Labels
from scopa_train.move_net import PRECISIONS, Fit, Window, check_start, make_module, network_of, network_to_start_from
from scopa_train.run import NETWORK, Run, has_checkpoint, is_due
from scopa_train.settings import RunSettings


@dataclass(frozen=True, kw_only=True)
class DMCSettings(RunSettings):
    """Settings of deep Monte Carlo."""

    rules: str = "scopa"
    "Preset, or preset:field=value,field=value."
    start: str = ""
    "A shipped network or the file of one to begin with; empty: none."
    steps: int = 4_000_000
    "Decisions to learn from, at least; whole rounds are played."
    update: int = 50_000
    "Decisions that the actors play between two looks at the network."
    epsilon: float = 0.01
    "Share of random moves."
    epochs: float = 1.0
    "How often a decision is learnt from."
    batch: int = 1024
    "Decisions of a batch."
    learning_rate: float = 1e-3
    "Adam's step size at the start; it falls to zero in a straight line."
    decay: float = 0.999
    "Of the moving average of the weights that is evaluated, for each batch."
    hidden: tuple[int, ...] = (512, 64, 32)
    "Widths of the hidden layers."
    precision: str = "auto"
    "float32, bfloat16 or auto."
    out: Path = Path("runs/dmc")
    "Folder of the results."

    def __post_init__(self) -> None:
        self.check_run([self.rules])
        self.at_least(1, "steps", "update", "batch")
        check_start(self.start, self.out)
        if self.precision not in PRECISIONS:
            raise ValueError(f"precision={self.precision!r}: allowed are {', '.join(PRECISIONS)}")
        self.between(0, 1, "epsilon", "decay")
        self.above_zero("epochs", "learning_rate")
        self.check_widths("hidden")


MOST_PLAYS = 40
"""Plays of a round, at most."""


@kernel
def play_rounds(rules: Any, games: Any, net: Any, space: Any, epsilon: float, out: Any) -> int:
    """Play rounds until no room for another is left; return the number of rows written.

    Args:
        rules: RULES[1].
        games: GAME[2]; the generator of games[0] goes on from call to call; working space.
        net: `MoveNetwork.arrays`.
        space: `new_space`.
        epsilon: share of random moves.
        out: uint64[R, NUM_WORDS], float32[R], int64[R]: the position after each move of a seat with more than one card,
            what the round brought its side, the side.
    """
    words, values, sides = out
    row = 0
    while row + MOST_PLAYS <= len(values):
        games[0]["dealer"] = random_below(games[0], int(rules[0]["players"]))
        start_round(rules[0], games[0])
        first = row
        while games[0]["stage"] == PLAYING:
            seat = int(games[0]["seat"])
            choice = popcount(games[0]["hands"][seat]) > 1
            if random_unit(games[0]) < epsilon:
                name_random_move(rules[0], games[0])
                card, captured = int(games[0]["card"]), games[0]["chosen"]
                games[0]["card"] = NOBODY
            else:
                card, captured, _ = best_move(rules, games, 0, net, space, False)
            if choice:
                games[1] = games[0]
                play_undealt(rules[0], games[1], card, captured)
                pack_position(rules[0], games[1], seat, words[row])
                sides[row] = side_of(rules[0], seat)
                row += 1
            play(rules[0], games[0], card, captured)
        for k in range(first, row):
            values[k] = margin(rules[0], games[0], int(sides[k]))
    return row


class DMC:
    """The state of deep Monte Carlo between two updates."""

    def __init__(self, settings: DMCSettings) -> None:
        self.settings = settings
        self.rules = Rules.parse(settings.rules)
        torch.manual_seed(settings.seed)
        self.fit = Fit(make_module(settings.hidden), settings.learning_rate, 0.0, settings.decay, settings.precision)
        self.rng = np.random.default_rng(settings.seed)
        self.decisions = 0
        self.best: MoveNetwork | None = None
        self.best_after = 0

    def begin_with(self, network: MoveNetwork) -> None:
        """Start from a network.

        Raises:
            ValueError: its layers are not as wide as the settings say, or it has a late part.
        """
        if network.late is not None:
            raise ValueError(f"start={self.settings.start!r}: allowed is a network without a late part")
        self.best = replace(network, rules=(self.rules,))
        self.fit.begin_with(network.layers, "hidden")

    def actors(self) -> Labels:
        """Let the network play; every actor has a thread and a seed."""
        settings = self.settings
        net = self.network(self.fit.module.state_dict())
        rows = max(settings.update // settings.threads, MOST_PLAYS)

        def act(seed: int) -> tuple[Any, Any]:
            games = np.zeros(2, GAME)
            games["rng"] = seed
            out = np.empty((rows, NUM_WORDS), np.uint64), np.empty(rows, np.float32), np.empty(rows, np.int64)
            count = play_rounds(self.rules.record, games, net.arrays, new_space(net.widest), settings.epsilon, out)
            return out[0][:count], out[1][:count]

        seeds = self.rng.integers(1 << 63, size=settings.threads).tolist()
        with ThreadPoolExecutor(settings.threads) as pool:
            found = list(pool.map(act, seeds))
        words, values = (np.concatenate([one[k] for one in found]) for k in range(2))
        return Labels(words, values, np.arange(len(values) + 1)).shuffled(self.rng)

    def learn(self, played: Labels) -> float:
        """Learn from what the actors have played; return the mean squared error."""
        settings = self.settings
        window = Window([played])
        batches = max(1, round(settings.epochs * len(played) / settings.batch))
        rate = max(0.0, 1 - self.decisions / settings.steps)
        errors = [self.fit.step(*window.batch(settings.batch, self.rng), rate)[0] for _ in range(batches)]
        self.decisions += len(played)
        return sum(errors) / batches

    def network(self, weights: Any) -> MoveNetwork:
        """Return weights of the module for `scopa_agents`."""
        return network_of(weights, [self.rules], {"recipe": "dmc", "decisions": str(self.decisions)})

    def state(self) -> dict[str, Any]:
        """Return everything that training goes on from."""
        return {
            "fit": self.fit.state(),
            "rng": self.rng.bit_generator.state,
            "decisions": self.decisions,
            "best": None if self.best is None else [list(layer) for layer in self.best.layers],
            "best after": self.best_after,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Go on from what `state` returned."""
        self.fit.load(state["fit"])
        self.rng.bit_generator.state = state["rng"]
        self.decisions = state["decisions"]
        if state["best"] is not None:
            self.best = MoveNetwork([(weight, bias) for weight, bias in state["best"]])
        self.best_after = state["best after"]


def train(settings: DMCSettings, resume: bool = False, overwrite: bool = False) -> tuple[MoveNetwork, list[Pairing]]:
    """Train, save everything into ``settings.out`` (see `Run`) and return the network and the closing results."""
    torch.set_num_threads(settings.threads)
    learner = DMC(settings)
    if settings.start and not has_checkpoint(settings, resume):
        learner.begin_with(network_to_start_from(settings.start))
    run = Run(settings, "dmc", [settings.rules], "decisions", resume, overwrite)
    if run.state is not None:
        learner.load(run.state)
    with progress_bar("training", settings.steps, "decisions") as bar:
        if run.state is None and learner.best is not None:
            run.evaluate(NetworkAgent(learner.best), 0, bar)
        while learner.decisions < settings.steps:
            update(learner, run, bar)
    network = learner.network(learner.fit.weights())
    if learner.best is not None:
        network = replace(network, layers=learner.best.layers)
    network.save(run.out / NETWORK, half=True)
    more = {
        "features": FEATURES,
        "decisions": learner.decisions,
        "best after": learner.best_after,
        "precision": learner.fit.precision,
    }
    return network, run.finish(NetworkAgent(MoveNetwork.load(run.out / NETWORK), "dmc"), more)


def update(learner: DMC, run: Run, bar: Bar) -> None:
    """Play and learn; evaluate and write a checkpoint where that is due."""
    settings = learner.settings
    before = learner.decisions
    error = learner.learn(learner.actors())
    bar.advance_to(learner.decisions)
    run.log(learner.decisions, {"loss/plain": error})
    if is_due(before, learner.decisions, settings.steps, settings.evaluations):
        network = learner.network(learner.fit.weights())
        best = None if learner.best is None else NetworkAgent(learner.best)
        if run.evaluate(NetworkAgent(network), learner.decisions, bar, best):
            learner.best, learner.best_after = network, learner.decisions
        run.save(learner.state())
        if learner.best is not None and learner.best_after == learner.decisions:
            learner.best.save(run.out / NETWORK, half=True)


def train_dmc(
    preset: str = "",
    /,
    *,
    settings: Annotated[DMCSettings, Parameter(name="*")] = DMCSettings(),
    resume: bool = False,
    overwrite: bool = False,
) -> None:
    """Deep Monte Carlo: learn what the round brings after a move, from self-play.

    Args:
        preset: GAME/quick or GAME/full: settings that the options change.
        settings: the settings.
        resume: go on from the last checkpoint in --out, with its settings.
        overwrite: begin anew in the place of a run that is in --out.
    """
    train(settings, resume, overwrite)
