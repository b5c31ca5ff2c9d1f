"""`ismcts:N`, `ismcts:Nms` and `mcts_cheating:N`: Monte Carlo tree search over information sets, and with open cards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scopa_agents.search.base import SearchAgent, Workspaces, run_for
from scopa_agents.search.iterate import DEPTH, iterate
from scopa_agents.search.rollouts import ROLLOUTS
from scopa_agents.search.settings import MOST_THREADS, Budget, number, parse_settings, settings_text, word
from scopa_agents.search.tree import NODE, clear_node
from scopa_env.actions import Move, move_of
from scopa_env.engine.bits import NONE
from scopa_env.engine.state import GAME, NOBODY, Records
from scopa_env.game import Game
from scopa_env.rules import Rules

NODES_PER_ITERATION = 8
"""Room in a tree; a tree that is full grows no more, but goes on counting."""
MOST_NODES = 4_000_000
"""Nodes of a tree at most: 48 bytes each."""


@dataclass(frozen=True)
class IsmctsSettings:
    """Settings of `IsmctsAgent`.

    Attributes:
        budget: iterations, or a time.
        rollout: policy of the playouts.
        epsilon: share of random moves in playouts.
        exploration: factor of the confidence term, in points.
        threads: trees grown side by side, whose counts are added up (root parallelisation); iterations are shared.
    """

    budget: Budget
    rollout: str = word("greedy", "random")
    epsilon: float = number(0.3, 0.0, 1.0)
    exploration: float = number(2.0, 0.0, 1000.0)
    threads: int = number(1, 1, MOST_THREADS)


class _Space:
    """Working memory of one tree."""

    def __init__(self, nodes: int) -> None:
        self.nodes = np.empty(nodes, NODE)
        self.world = np.zeros(1, GAME)
        self.path = np.zeros(DEPTH, np.int32)
        self.sides = np.zeros(DEPTH, np.int32)
        self.used = 1

    def grow(self, rules: Rules, root: Records, settings: IsmctsSettings, seed: int) -> int:
        """Grow a new tree; return the iterations."""
        clear_node(self.nodes, 0, NOBODY, NONE)
        self.used = 1
        self.world["rng"] = seed
        policy = ROLLOUTS.index(settings.rollout)

        def run(iterations: int) -> None:
            self.used = iterate(
                rules.record,
                root,
                self.world,
                self.nodes,
                self.used,
                self.path,
                self.sides,
                iterations,
                settings.exploration,
                policy,
                settings.epsilon,
            )

        return run_for(settings.budget, run, settings.threads)

    def moves(self) -> dict[tuple[int, int], tuple[int, float]]:
        """Return visits and summed rewards of the root's moves, by card and what it captures."""
        found = {}
        child = int(self.nodes[0]["child"])
        while child:
            node = self.nodes[child]
            found[int(node["card"]), int(node["captured"])] = int(node["visits"]), float(node["total"])
            child = int(node["sibling"])
        return found


class IsmctsAgent(SearchAgent):
    """Information-set Monte Carlo tree search with a single observer (see `scopa_agents.search.iterate`).

    Args:
        settings: ``"4000"``, ``"20ms"``, ``"4000,rollout=random,epsilon=0"``: see `IsmctsSettings`.
        seed: seed of its random choices.

    Attributes:
        iterations: iterations of the last search.
    """

    kind = "ismcts"

    def __init__(self, settings: str = "1000", *, seed: int | None = None) -> None:
        self.settings = parse_settings(IsmctsSettings, self.kind, settings or "1000", "iterations")
        self._spaces: Workspaces[_Space] | None = None
        self.iterations = 0
        super().__init__(f"{self.kind}:{settings_text(self.settings)}", seed)

    def search(self, rules: Rules, records: Records) -> Move:
        """Return the move with most visits."""
        if self._spaces is None:
            self._spaces = Workspaces(lambda: _Space(self._nodes()), self.settings.threads)
        seeds = iter(self._rng.integers(0, 1 << 63, self.settings.threads).tolist())
        drawn = {id(space): next(seeds) for space in self._spaces.spaces}
        counts = self._spaces.each(lambda space: space.grow(rules, records, self.settings, drawn[id(space)]))
        self.iterations = sum(counts)
        total: dict[tuple[int, int], tuple[int, float]] = {}
        for space in self._spaces.spaces:
            for move, (visits, reward) in space.moves().items():
                before = total.get(move, (0, 0.0))
                total[move] = before[0] + visits, before[1] + reward
        return move_of(*max(total, key=lambda move: total[move]))

    def _nodes(self) -> int:
        budget = self.settings.budget
        if budget.iterations is None:
            return MOST_NODES
        return min(MOST_NODES, 4096 + NODES_PER_ITERATION * budget.iterations)


class CheatingMctsAgent(IsmctsAgent):
    """The same search with every card open, the order of the stock included: an upper reference, no fair player."""

    kind = "mcts_cheating"
    sees_everything = True

    def act_game(self, game: Game) -> Move:
        """Return a legal move of the seat to act."""
        return self._act(game)
