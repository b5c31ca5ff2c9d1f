"""Exact values with open cards: what perfect play with every card known would reach, and what plays lost against it.

>>> from scopa_env import Game
>>> game = Game("scopa", seed=3, dealer=1)
>>> solution = solve(game)
>>> solution.value, [str(move) for move in solution.best]
(2, ['FdxAc7s'])

Nobody at the table knows that much, so a fair player loses points against it on every round; fewer is better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scopa_agents.search.alphabeta import LIMIT, VISITED, Work, list_of_moves, value_of_position
from scopa_agents.search.worlds import solve_moves
from scopa_env import batch
from scopa_env.actions import Move
from scopa_env.game import Game
from scopa_env.rules import Rules

MOST_POSITIONS = 20_000_000
"""Positions visited at most by default: ten seconds or less; Ctrl-C has to wait as long."""
MEMORY_BITS = 20
"""Places of the transposition table by default, as a power of two: 24 MiB."""


class Unsolvable(ValueError):
    """A position that cannot be solved: too far from the end, or of a game without two sides."""


@dataclass(frozen=True)
class Solution:
    """The exact solution of a position with every card known.

    Attributes:
        value: points of the round that the side to act gets more than the other, if both play perfectly.
        moves: the same after each legal move.
        positions: positions that were visited.
    """

    value: int
    moves: dict[Move, int]
    positions: int

    @property
    def best(self) -> list[Move]:
        """The moves that keep the value."""
        return [move for move, value in self.moves.items() if value == self.value]


@dataclass(frozen=True)
class Loss:
    """What a play lost against perfect play with open cards.

    Attributes:
        seat: who played.
        move: what it played.
        lost: points, from 0.
        best: moves that lose nothing.
    """

    seat: int
    move: Move
    lost: int
    best: tuple[Move, ...]


class Solver:
    """Solves positions one after the other with one transposition table.

    Args:
        positions: positions visited at most for one question.
        memory_bits: places of the table, as a power of two (4 .. 30); 24 bytes each.
    """

    def __init__(self, positions: int = MOST_POSITIONS, memory_bits: int = MEMORY_BITS) -> None:
        if positions < 1:
            raise ValueError(f"positions={positions!r}: allowed are numbers from 1")
        if not 4 <= memory_bits <= 30:
            raise ValueError(f"memory_bits={memory_bits!r}: allowed are 4 .. 30")
        self._work = Work(positions, memory_bits)

    def solve(self, game: Game) -> Solution:
        """Return the exact value of every legal move of the seat to act.

        Raises:
            Unsolvable: it would take too many positions, or there are more than two sides.
            ValueError: the round is over.
        """
        self._begin(game)
        moves = game.legal_moves
        listed = list_of_moves(moves)
        if not solve_moves(game.rules.record, listed, self._work.arrays):
            raise self._too_far(game)
        values = dict(zip(moves, listed["score"].tolist(), strict=True))
        return Solution(max(values.values()), values, int(self._work.counts[VISITED]))

    def value(self, game: Game) -> int:
        """Return the value of a position: points of side 0 less those of side 1 under perfect play.

        Raises:
            Unsolvable: as for `solve`.
            ValueError: the same.
        """
        self._begin(game)
        value = value_of_position(game.rules.record, self._work.arrays, 0)
        if self._work.gave_up:
            raise self._too_far(game)
        return int(value)

    def losses(self, game: Game, plays_left: int = 40) -> list[Loss]:
        """Return what each play of a round lost against perfect play with open cards.

        Args:
            game: a game whose deck is known; the plays of its current round are looked at.
            plays_left: only plays with at most so many to come are looked at (the far ones take longest).

        Raises:
            Unsolvable: as for `solve`.
            ValueError: the deck is not known.
        """
        found = []
        replay = _start_of(game)
        for play in game.plays:
            if batch.plays_left(replay.rules.record, replay.records) <= plays_left:
                solution = self.solve(replay)
                lost = solution.value - solution.moves[play.move]
                found.append(Loss(play.seat, play.move, lost, tuple(solution.best)))
            replay.push(play.move)
        return found

    def _begin(self, game: Game) -> None:
        if not isinstance(game, Game):
            raise TypeError(f"solve takes a Game, in which every card is known, not {type(game).__name__}")
        if game.rules.sides != 2:
            raise Unsolvable(f"rules {game.rules.text()!r}: {game.rules.sides} sides; allowed are games of two sides")
        if game.round_over:
            raise ValueError("the round is over")
        self._work.clear()
        self._work.games[0] = game.records[0]
        self._work.games[0]["rng"] = 0

    def _too_far(self, game: Game) -> Unsolvable:
        limit = int(self._work.counts[LIMIT])
        left = batch.plays_left(game.rules.record, game.records)
        return Unsolvable(f"position with {left} plays left: not solved within {limit:,} positions")


def solve(game: Game, positions: int = MOST_POSITIONS) -> Solution:
    """Return the exact solution of a position with every card known (see `Solver.solve`)."""
    return Solver(positions).solve(game)


def losses(game: Game, positions: int = MOST_POSITIONS) -> list[Loss]:
    """Return what each play of the current round lost against perfect play with open cards (see `Solver.losses`)."""
    return Solver(positions).losses(game)


def points_lost(found: Sequence[Loss], rules: Rules) -> tuple[int, ...]:
    """Return the sum of what the plays of each side lost, by side."""
    sides = [0] * rules.sides
    for loss in found:
        sides[rules.side_of(loss.seat)] += loss.lost
    return tuple(sides)


def _start_of(game: Game) -> Game:
    if game.deck is None:
        raise ValueError("the deck of this round is not known, so its plays cannot be made again")
    return Game(game.rules, dealer=game.dealer, deck=game.deck)
