"""`ismcts:N`, `ismcts:Nms` and `mcts_cheating:N`: Monte Carlo tree search over information sets."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import Any, Generic, TypeVar

import numpy as np

from scopa_agents.search.base import SearchAgent, Searched, ViewSearchAgent
from scopa_agents.search.budget import Budget, run_for
from scopa_agents.search.inference import MODELS, NO_MODEL, Pool
from scopa_agents.search.iterate import ROOT, SEARCH, TREE, iterate
from scopa_agents.search.rollouts import ROLLOUTS
from scopa_agents.search.settings import Settings, number, parse_settings, word
from scopa_agents.search.tree import NODE, clear_root
from scopa_env.actions import Move
from scopa_env.agents import AgentError
from scopa_env.engine.state import GAME, Records, copy_of
from scopa_env.game import Game
from scopa_env.rules import Rules

Floats = np.ndarray[Any, np.dtype[np.float64]]

NODES_PER_ITERATION = 8
"""Room in a tree; a tree that is full grows no more, but goes on counting."""
MOST_NODES = 4_000_000
"""Nodes of a search at most: 48 bytes each."""
MOST_ROOTS = 1 << 16
"""Hands, of all seats together, for which many observers have trees."""


@dataclass(frozen=True)
class TreeSettings(Settings):
    """Settings of agents that grow trees.

    Attributes:
        budget: iterations, or a time.
        exploration: factor of the confidence term, in points.
        inference: model of the other seats by which worlds are weighted.
        noise: how often it errs.
        pool: number of weighted worlds that are drawn for a search with inference.
        threads: trees grown side by side, whose counts are added up (root parallelisation); iterations are shared.
    """

    exploration: float = number(4.0, 0.0, 1000.0)
    inference: str = word(NO_MODEL, (NO_MODEL, *MODELS))
    noise: float = number(0.2, 0.01, 1.0)
    pool: int = number(512, 1, 1_000_000)


@dataclass(frozen=True)
class IsmctsSettings(TreeSettings):
    """Settings of `IsmctsAgent`.

    Attributes:
        rollout: policy of the playouts.
        epsilon: share of random moves in playouts.
        others: how the other seats move inside the tree: by its counts too, or by a policy (then the search looks for
            the best answer to that policy).
        trees: one tree (a single observer), or one for each seat (many observers).
    """

    rollout: str = word("greedy", tuple(ROLLOUTS))
    epsilon: float = number(0.3, 0.0, 1.0)
    others: str = word("tree", ("tree", *ROLLOUTS))
    trees: str = word("one", ("one", "many"))


T = TypeVar("T", bound=TreeSettings)


class TreeSpace(ABC, Generic[T]):
    """Working memory of one search: its trees, and the worlds that they are grown from."""

    def __init__(self, settings: T, stop: Event) -> None:
        self.settings = settings
        self.stop = stop
        self.nodes = np.empty(_room(settings.budget), NODE)
        self.world = np.zeros(1, GAME)
        self.search = np.zeros(1, SEARCH)
        self.pool = self.make_pool()

    def make_pool(self) -> Pool:
        """Return what worlds are drawn from."""
        return Pool(self.settings.inference, self.settings.noise, self.settings.pool)

    @abstractmethod
    def iterate(self, rules: Rules, root: Records, pool: Records, weights: Floats, iterations: int) -> None:
        """Grow the trees by so many iterations; the other arguments as for `draw_world`."""

    def grow(self, rules: Rules, root: Records, seed: int) -> int:
        """Grow new trees; return the iterations."""
        begin = time.perf_counter()
        settings = self.settings
        clear_root(self.nodes)
        root = copy_of(root)
        root["rng"] = seed
        self.search["exploration"] = settings.exploration
        self.search["used"] = 1
        self.begin(rules)
        pool, weights = self.pool.draw(rules, root, seed, settings.budget)
        run = partial(self.iterate, rules, root, pool, weights)
        return run_for(settings.budget, run, begin, settings.threads, stop=self.stop)

    def begin(self, rules: Rules) -> None:
        """Set what a new search needs beside `grow`."""

    def moves(self) -> dict[tuple[int, int], tuple[int, float]]:
        """Return visits and summed rewards of the root's moves, by card and what it captures."""
        found = {}
        child = int(self.nodes[0]["child"])
        while child:
            node = self.nodes[child]
            found[int(node["card"]), int(node["captured"])] = int(node["visits"]), float(node["total"])
            child = int(node["sibling"])
        return found


def _room(budget: Budget) -> int:
    """Return the number of nodes to have room for."""
    if budget.iterations is None:
        return MOST_NODES
    return min(MOST_NODES, 4096 + NODES_PER_ITERATION * budget.iterations)


class _Space(TreeSpace[IsmctsSettings]):
    """Working memory of one search of `IsmctsAgent`."""

    def __init__(self, settings: IsmctsSettings, stop: Event) -> None:
        super().__init__(settings, stop)
        self.roots = np.zeros(MOST_ROOTS if settings.trees == "many" else 1, ROOT)

    def begin(self, rules: Rules) -> None:
        """Set what a new search needs beside `grow`."""
        settings, search = self.settings, self.search
        self.roots["key"] = 0
        search["epsilon"] = settings.epsilon
        search["policy"] = ROLLOUTS[settings.rollout].address
        search["others"] = TREE if settings.others == "tree" else ROLLOUTS[settings.others].address
        search["trees"] = rules.players if settings.trees == "many" else 1

    def iterate(self, rules: Rules, root: Records, pool: Records, weights: Floats, iterations: int) -> None:
        """Grow the trees by so many iterations."""
        iterate(rules.record, root, pool, weights, self.world, self.nodes, self.roots, self.search, iterations)


class TreeAgent(SearchAgent[TreeSpace[Any]]):
    """What agents that grow trees do.

    Attributes:
        iterations: iterations of the last search.
    """

    settings: TreeSettings
    iterations = 0

    def search(self, rules: Rules, records: Records, moves: list[Move]) -> Move:
        """Return the move with most visits."""
        found = self.workspaces
        counts = found.each(lambda space, seed: space.grow(rules, records, seed), self.draw_seeds())
        self.iterations = sum(counts)
        self.searched = tuple(_summed(move, [space.moves() for space in found.spaces]) for move in moves)
        return max(self.searched, key=lambda one: (one.visits, one.value)).move


def _summed(move: Move, trees: Sequence[dict[tuple[int, int], tuple[int, float]]]) -> Searched:
    """Add up what several trees say of a move."""
    counts = [tree.get((move.card, int(move.mask)), (0, 0.0)) for tree in trees]
    visits, total = sum(count for count, _ in counts), sum(reward for _, reward in counts)
    return Searched(move, visits, total / max(visits, 1))


class _IsmctsAgent(TreeAgent):
    """What both agents of this module do."""

    settings: IsmctsSettings

    def __init__(self, settings: str = "", *, seed: int | None = None) -> None:
        super().__init__(parse_settings(IsmctsSettings, self.kind, settings or "1000", "iterations"), seed)

    def make_space(self, stop: Event) -> TreeSpace[Any]:
        """Return the working memory of one thread."""
        return _Space(self.settings, stop)


class IsmctsAgent(_IsmctsAgent, ViewSearchAgent[TreeSpace[Any]]):
    """Information-set Monte Carlo tree search with a single observer (see `scopa_agents.search.iterate`).

    Args:
        settings: ``"4000"``, ``"20ms"``, ``"4000,rollout=random,epsilon=0"``: see `IsmctsSettings`.
        seed: seed of its random choices.
    """

    kind = "ismcts"


class CheatingMctsAgent(_IsmctsAgent):
    """The same search with every card open, the order of the stock included: an upper reference, no fair player."""

    kind = "mcts_cheating"
    sees_everything = True

    def __init__(self, settings: str = "", *, seed: int | None = None) -> None:
        super().__init__(settings, seed=seed)
        if self.settings.inference != NO_MODEL:
            raise AgentError(f"agent {self.kind!r}: inference={self.settings.inference!r}: it sees every card")

    def act_game(self, game: Game) -> Move:
        """Return a legal move of the seat to act.

        Raises:
            TypeError: it is no game.
        """
        if not isinstance(game, Game):
            raise TypeError(f"agent {self.name!r}: act_game takes a Game, not {type(game).__name__}")
        return self.decide(game)
