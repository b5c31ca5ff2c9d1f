"""What search agents share: seeds, budgets, threads, and moves that need no search."""

from __future__ import annotations

import copy
import dataclasses
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event, Lock
from typing import Any, Generic, TypeVar

import numpy as np

from scopa_agents.search.budget import Budget
from scopa_agents.search.settings import Settings, settings_text
from scopa_env.actions import Move
from scopa_env.engine.state import Records, copy_of
from scopa_env.game import Game, View, view_to_act
from scopa_env.rules import Rules
from scopa_env.table import Table

W = TypeVar("W")
R = TypeVar("R")


class Workspaces(Generic[W]):
    """Working memory of the threads of a search, and the threads.

    Args:
        make: makes the memory of one thread; is given the flag that stops its search.
        threads: how many.

    Attributes:
        spaces: the memory, one for each thread.
        process: id of the process that the threads belong to; a forked one has none of them.
        lock: held during a search.
    """

    def __init__(self, make: Callable[[Event], W], threads: int) -> None:
        self._stop = Event()
        self.spaces = [make(self._stop) for _ in range(threads)]
        self.process = os.getpid()
        self.lock = Lock()
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def each(self, work: Callable[[W, int], R], seeds: Sequence[int]) -> list[R]:
        """Return what `work` returns for each memory and its seed, side by side."""
        if self._pool is None:
            return [work(space, seed) for space, seed in zip(self.spaces, seeds, strict=True)]
        running = [self._pool.submit(work, space, seed) for space, seed in zip(self.spaces, seeds, strict=True)]
        try:
            return [one.result() for one in running]
        finally:  # a person's Ctrl-C reaches this thread only: let the others end, then go on
            self._stop.set()
            wait(running)
            self._stop.clear()


@dataclass(frozen=True)
class Searched:
    """What a search found out about a move.

    Attributes:
        move: the move.
        visits: iterations through it, or worlds in which it was judged.
        value: mean points of the own side over the others' after it; of a tree, with what it explored.
    """

    move: Move
    visits: int
    value: float


class SearchAgent(ABC, Generic[W]):
    """An agent that searches for its move, deterministic for a seed unless its budget is a time.

    One search at a time: a second thread waits for the first.  Copies and pickles start with working memory of their
    own.

    Attributes:
        name: its kind and settings, such as ``ismcts:4000``.
        settings: its settings.
        searched: what the last search found about each legal move, in their order; empty after a move without one.
    """

    kind: str

    def __init__(self, settings: Settings, seed: int | None) -> None:
        self.settings = settings
        self.name = f"{self.kind}:{settings_text(settings)}"
        self.searched: tuple[Searched, ...] = ()
        self._workspaces: Workspaces[W] | None = None
        self.seed(seed)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_workspaces": None}

    def seed(self, seed: int | None) -> None:
        """Start the agent's random choices afresh."""
        self._rng = np.random.default_rng(seed)

    @abstractmethod
    def make_space(self, stop: Event) -> W:
        """Return the working memory of one thread, whose searches end early once `stop` is set."""

    @property
    def workspaces(self) -> Workspaces[W]:
        """The working memory of all threads."""
        if self._workspaces is None or self._workspaces.process != os.getpid():
            self._workspaces = Workspaces(self.make_space, self.settings.threads)
        return self._workspaces

    def draw_seeds(self) -> list[int]:
        """Return a seed for each thread."""
        seeds: list[int] = self._rng.integers(0, 1 << 63, self.settings.threads).tolist()
        return seeds

    def decide(self, table: Table) -> Move:
        """Return a legal move of the seat to act; searches only where there is a choice."""
        moves = table.legal_moves
        if not moves:
            raise ValueError(f"agent {self.name!r}: the round is over")
        self.searched = ()
        if len(moves) == 1:
            return moves[0]
        with self.workspaces.lock:
            return self.search(table.rules, copy_of(table.records), moves)

    @abstractmethod
    def search(self, rules: Rules, records: Records, moves: list[Move]) -> Move:
        """Return the move of the seat to act.

        Args:
            rules: the rules.
            records: GAME[1] with what the agent may know; may be written to.
            moves: the legal moves, at least two.
        """

    def warm_up(self, rules: Rules) -> None:
        """Compile what a search runs."""
        twin = copy.copy(self)
        twin.settings = dataclasses.replace(self.settings, budget=Budget(2))
        twin._workspaces = None
        twin.seed(0)
        twin.decide(_position_with_a_choice(rules))


def _position_with_a_choice(rules: Rules) -> Table:
    """Return a view of a position with more than one legal move."""
    game = Game(rules, seed=0)
    while len(game.legal_moves) == 1:
        game.push(game.legal_moves[0])
        if game.round_over:
            game.next_round()
    return game.view(game.seat)


class ViewSearchAgent(SearchAgent[W]):
    """A search agent that sees what its seat sees."""

    def act(self, view: View) -> Move:
        """Return a legal move of the observer of `view`, which is to act.

        Raises:
            TypeError: it is no view.
            ValueError: its observer is not to act.
        """
        return self.decide(view_to_act(self.name, view))
