"""`pimc:W`: perfect-information Monte Carlo.

W worlds that agree with what the seat knows are drawn, in each every move is judged with open cards, and the move with
the best mean is played (Ginsberg, "GIB: Imperfect Information in a Computationally Challenging Game", 2001; what that
cannot see: Long, Sturtevant, Buro and Furtak, "Understanding the Success of Perfect Information Monte Carlo Sampling
in Game Tree Search", 2010).  The worlds are spent in rounds of equal length, after each of which the better half of the
moves is kept (sequential halving: Karnin, Koren and Somekh, "Almost Optimal Exploration in Multi-Armed Bandits", 2013).
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import Any, Generic, TypeVar

import numpy as np

from scopa_agents.search.alphabeta import Work, list_of_moves
from scopa_agents.search.base import Searched, ViewSearchAgent
from scopa_agents.search.budget import Budget, run_for
from scopa_agents.search.inference import MODELS, NO_MODEL, Pool
from scopa_agents.search.rollouts import ROLLOUTS
from scopa_agents.search.settings import Settings, number, parse_settings, word
from scopa_agents.search.worlds import judge_worlds
from scopa_env import batch
from scopa_env.actions import Move
from scopa_env.engine.state import Records, copy_of
from scopa_env.rules import Rules

MEMORY_BITS = 16
"""Places of the transposition table of a thread, as a power of two: 1.5 MiB."""

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class WorldSettings(Settings):
    """Settings of agents that judge moves in sampled worlds.

    Attributes:
        budget: worlds, or a time.
        solve: worlds are solved exactly where at most so many plays are left (of games with two sides).
        positions: a world in which more positions would have to be visited is judged by playouts.
        inference: model of the other seats by which worlds are weighted.
        noise: how often it errs.
        pool: number of weighted worlds that are drawn for a search with inference.
        threads: how many work on worlds side by side.
    """

    solve: int = number(6, 0, 40)
    positions: int = number(1_000_000, 1, 1_000_000_000)
    inference: str = word(NO_MODEL, (NO_MODEL, *MODELS))
    noise: float = number(0.2, 0.01, 1.0)
    pool: int = number(512, 1, 1_000_000)


@dataclass(frozen=True)
class PimcSettings(WorldSettings):
    """Settings of `PimcAgent`.

    Attributes:
        rollout: policy of the playouts.
        epsilon: share of random moves in playouts.
    """

    rollout: str = word("expert", tuple(ROLLOUTS))
    epsilon: float = number(0.0, 0.0, 1.0)


S = TypeVar("S", bound=WorldSettings)


class WorldSpace(ABC, Generic[S]):
    """Working memory of one thread that judges moves in sampled worlds."""

    def __init__(self, settings: S, stop: Event) -> None:
        self.settings = settings
        self.stop = stop
        self.work = Work(settings.budget.most_positions(settings.positions), MEMORY_BITS)
        self.pool = self.make_pool()

    def make_pool(self) -> Pool:
        """Return what worlds are drawn from."""
        return Pool(self.settings.inference, self.settings.noise, self.settings.pool)

    def begin(self, rules: Rules, root: Records, seed: int) -> None:
        """Get ready for a search from GAME[1]."""
        self.rules = rules
        self.root = copy_of(root)
        self.root["rng"] = seed
        self.near = rules.sides == 2 and batch.plays_left(rules.record, root) <= self.settings.solve
        if self.near:
            self.work.clear()
        self.worlds, self.weights = self.pool.draw(rules, self.root, seed, self.settings.budget)

    @abstractmethod
    def add(self, moves: Records, totals: Floats, worlds: int) -> None:
        """Add the values of moves in so many worlds."""

    def judge(self, moves: Records, budget: Budget, begin: float) -> tuple[Floats, int]:
        """Return the summed values of moves, float64[M], and the number of worlds."""
        listed, totals = copy_of(moves), np.zeros(len(moves))
        run = partial(self.add, listed, totals)
        return totals, run_for(budget, run, begin, self.settings.threads, stop=self.stop)


class _Space(WorldSpace[PimcSettings]):
    """Working memory of one thread of `PimcAgent`."""

    def add(self, moves: Records, totals: Floats, worlds: int) -> None:
        """Add the values of moves in so many worlds."""
        judge_worlds(
            self.rules.record,
            self.root,
            self.worlds,
            self.weights,
            moves,
            totals,
            self.work.arrays,
            worlds,
            self.near,
            ROLLOUTS[self.settings.rollout].address,
            self.settings.epsilon,
        )


class WorldsAgent(ViewSearchAgent[WorldSpace[Any]]):
    """An agent that judges moves in sampled worlds, in rounds after each of which the better half is kept.

    Attributes:
        worlds: worlds in which the last search judged the move that it chose.
    """

    settings: WorldSettings
    worlds = 0

    def search(self, rules: Rules, records: Records, moves: list[Move]) -> Move:
        """Return the move with the best mean of those that are left after all rounds but the last."""
        begin = time.perf_counter()
        self.workspaces.each(lambda space, seed: space.begin(rules, records, seed), self.draw_seeds())
        visits, totals = self._spend(list_of_moves(moves), begin)
        self.worlds = int(visits.max())
        means = totals / visits
        self.searched = tuple(map(Searched, moves, visits.tolist(), means.tolist()))
        return max(self.searched, key=lambda one: (one.visits, one.value)).move

    def _spend(self, moves: Records, begin: float) -> tuple[Ints, Floats]:
        """Spend the budget in rounds; return the worlds in which each move was judged, and its summed values."""
        visits, totals = np.zeros(len(moves), np.int64), np.zeros(len(moves))
        active = np.arange(len(moves))
        rounds = max(1, (len(moves) - 1).bit_length())
        for turn in range(rounds):
            budget = self.settings.budget.part(turn, rounds, len(moves) / len(active))
            if turn and budget.is_over(begin):
                break
            values, worlds = self._judge(moves[active], budget, begin)
            totals[active] += values
            visits[active] += worlds
            active = active[np.argsort(-totals[active], kind="stable")]
            active = np.sort(active[: -(-len(active) // 2)])
        return visits, totals

    def _judge(self, moves: Records, budget: Budget, begin: float) -> tuple[Floats, int]:
        """Return the summed values of moves and the number of worlds, of all threads."""
        found = self.workspaces.each(lambda space, _: space.judge(moves, budget, begin), range(self.settings.threads))
        return np.sum([values for values, _ in found], axis=0), sum(worlds for _, worlds in found)


class PimcAgent(WorldsAgent):
    """Perfect-information Monte Carlo (see the module).

    Args:
        settings: ``"100"``, ``"20ms"``, ``"100,solve=12"``: see `PimcSettings`.
        seed: seed of its random choices.
    """

    kind = "pimc"
    settings: PimcSettings

    def __init__(self, settings: str = "", *, seed: int | None = None) -> None:
        super().__init__(parse_settings(PimcSettings, self.kind, settings or "100", "worlds"), seed)

    def make_space(self, stop: Event) -> WorldSpace[Any]:
        """Return the working memory of one thread."""
        return _Space(self.settings, stop)
