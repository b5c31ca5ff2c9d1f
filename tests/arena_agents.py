"""Agents of the arena's tests, found by name as ``arena_agents:...`` also in other processes."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from scopa_agents.base import ArrayAgent
from scopa_agents.greedy import GreedyAgent
from scopa_agents.random_agent import RandomAgent
from scopa_env import Game, Move, Rules, View
from scopa_env.cards import parse_cards
from scopa_env.engine.state import NOBODY

TROUBLE = frozenset(parse_cards("7c4b2s"))
"""Who holds one of these cards at its second move runs into trouble: about one game in seven."""


def first(view: View) -> Move:
    return view.legal_moves[0]


def last(view: View) -> Move:
    return view.legal_moves[-1]


def in_trouble(view: View) -> bool:
    return len(view.plays) in (2, 3) and not TROUBLE.isdisjoint(view.hand)


def _unless(view: View, trouble: Callable[[], object]) -> Move:
    if in_trouble(view):
        trouble()
    return view.legal_moves[0]


def _loop() -> None:
    while True:
        pass


def raises(view: View) -> Move:
    return _unless(view, lambda: 1 / 0)


def sleeps(view: View) -> Move:
    return _unless(view, lambda: time.sleep(1000))


def loops(view: View) -> Move:
    return _unless(view, _loop)


def exits(view: View) -> Move:
    return _unless(view, lambda: os._exit(3))


def leaves(view: View) -> Move:
    return _unless(view, lambda: sys.exit(3))


def interrupts(view: View) -> Move:
    def trouble() -> None:
        raise KeyboardInterrupt

    return _unless(view, trouble)


def prints(view: View) -> Move:
    """Prints, in Python and past it."""
    print("printed by Python")
    if multiprocessing.parent_process() is not None:
        os.write(1, b"printed by the process\n")
    return view.legal_moves[0]


class Odd:
    """An answer that cannot even be looked at."""

    def __iter__(self) -> Any:
        raise RuntimeError("no move")

    def __repr__(self) -> str:
        raise RuntimeError("no text")


def odd(view: View) -> Any:
    return Odd() if in_trouble(view) else view.legal_moves[0]


def dawdles(view: View) -> Move:
    return _unless(view, lambda: time.sleep(0.8))


def babbles(view: View) -> Any:
    return "nonsense" if in_trouble(view) else view.legal_moves[0]


def cheats(view: View) -> Move:
    """Plays a card that it does not hold."""
    return Move(view.unseen[0]) if in_trouble(view) else view.legal_moves[0]


class Drawn:
    """Draws its moves, and takes its time over them."""

    name = "drawn"
    pause = 0.0

    def __init__(self, seed: int | None = None) -> None:
        self._rng = np.random.default_rng(seed)

    def act(self, view: View) -> Move:
        time.sleep(self.pause)
        moves = view.legal_moves
        return moves[int(self._rng.integers(len(moves)))]


class Seeded(Drawn):
    """The same, but it can be seeded again, and counts in `made` how often it was made."""

    name = "seeded"
    made = 0

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(seed)
        type(self).made += 1

    def seed(self, seed: int | None) -> None:
        self._rng = np.random.default_rng(seed)


class FailsToSeed(Drawn):
    name = "fails to seed"

    def seed(self, seed: int | None) -> None:
        raise RuntimeError("no seed")


class LeavesInSeed(Drawn):
    name = "leaves in seed"

    def seed(self, seed: int | None) -> None:
        sys.exit(3)


class FailsToWarmUp(Drawn):
    name = "fails to warm up"

    def warm_up(self, rules: Rules) -> None:
        raise KeyboardInterrupt


class Nameless:
    def act(self, view: View) -> Move:
        return view.legal_moves[0]


class Slow(Seeded):
    name = "slow"
    pause = 0.002


class FirstOnArrays(ArrayAgent):
    """The first legal action, on arrays."""

    name = "first on arrays"

    def act_batch(self, rules: Rules, views: Any) -> Any:
        from scopa_agents.base import observe_batch

        return observe_batch(rules, views)[1].argmax(axis=1)


class PrintsOnArrays(FirstOnArrays):
    name = "prints on arrays"

    def act_batch(self, rules: Rules, views: Any) -> Any:
        print("printed by Python")
        return super().act_batch(rules, views)


class TroubleOnArrays(FirstOnArrays):
    """The same, until one of the games has `TROUBLE` in it."""

    name = "trouble on arrays"

    def trouble(self, actions: Any, where: Any) -> Any:
        raise RuntimeError("trouble")

    def act_batch(self, rules: Rules, views: Any) -> Any:
        hands = views["hands"][np.arange(len(views)), views["seat"].astype(np.int64)]
        mine = (hands & np.uint64(sum(1 << card for card in TROUBLE))) != 0
        where = mine & ((views["plays"] == 2) | (views["plays"] == 3)) & (views["card"] == NOBODY)
        actions = super().act_batch(rules, views)
        return self.trouble(actions, where) if where.any() else actions


class IllegalOnArrays(TroubleOnArrays):
    name = "illegal on arrays"

    def trouble(self, actions: Any, where: Any) -> Any:
        return np.where(where, 99, actions)


class UnevenOnArrays(TroubleOnArrays):
    name = "uneven on arrays"

    def trouble(self, actions: Any, where: Any) -> Any:
        return [[1], [2, 3]]


class SleepsOnArrays(TroubleOnArrays):
    name = "sleeps on arrays"

    def trouble(self, actions: Any, where: Any) -> Any:
        time.sleep(1000)
        return actions


class ExitsOnArrays(TroubleOnArrays):
    name = "exits on arrays"

    def trouble(self, actions: Any, where: Any) -> Any:
        os._exit(3)


class Mixture(ArrayAgent):
    """Greedy, but for a share `noise` of its moves, which are random."""

    noise = 0.3

    def __init__(self, seed: int | None = None) -> None:
        self.name = f"greedy with {self.noise:g} of its moves at random"
        self._greedy, self._random = GreedyAgent(), RandomAgent()
        self.seed(seed)

    def seed(self, seed: int | None) -> None:
        self._rng = np.random.default_rng(seed)
        self._greedy.seed(int(self._rng.integers(1 << 32)))
        self._random.seed(int(self._rng.integers(1 << 32)))

    def act_batch(self, rules: Rules, views: Any) -> Any:
        greedy = self._greedy.act_batch(rules, views.copy())
        drawn = self._random.act_batch(rules, views)
        begins = views["card"] == NOBODY
        return np.where(begins & (self._rng.random(len(views)) < self.noise), drawn, greedy)


class Peeking:
    """Sees everything: plays a settebello that the next seat cannot take, by looking at its hand."""

    name = "peeking"
    sees_everything = True
    seen = 0

    def act_game(self, game: Game) -> Move:
        type(self).seen += len(game.hands[(game.seat + 1) % game.rules.players]) + len(game.stock)
        return max(game.legal_moves, key=lambda move: self._gain(game, move))

    def _gain(self, game: Game, move: Move) -> tuple[int, int]:
        game.push(move)
        replies = 0 if game.round_over else max(len(reply.captured) for reply in game.legal_moves)
        game.pop()
        return len(move.captured) - replies, len(move.captured)
