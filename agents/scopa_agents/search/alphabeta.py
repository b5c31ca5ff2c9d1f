"""Exact values of positions with every card known: alpha-beta with a transposition table, compiled.

Values are the final points of side 0 less those of side 1.  For two sides only.

The table recognises a position by everything that the rest of the round depends on, in 64 bits: hands, table, size of
the stock, seat to act, the play in progress, the side that captured last, and of the piles what scoring asks of them
(`_piles_key`), so that positions whose difference cannot matter any more are one.  The order of the stock is told
apart by the record's generator, which no play moves on: every world needs another one.  Sweeps made so far only add
to the value; entries hold the value without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scopa_agents.greedy import move_score
from scopa_env.actions import Move
from scopa_env.engine.bits import NONE, popcount, word, wrapping_add, wrapping_mul
from scopa_env.engine.captures import COINS
from scopa_env.engine.moves import next_move
from scopa_env.engine.play import play
from scopa_env.engine.rng import GAMMA, mix
from scopa_env.engine.scoring import marked_cards
from scopa_env.engine.state import GAME, NOBODY, PLAYING, Records, side_of
from scopa_env.kernel import kernel

WORST = 1 << 20
"""Beyond every value."""
MOST_PLIES = 41
MOST_MOVES = 4096
"""Room for the moves of all positions on the path together."""
EXACT, AT_LEAST, AT_MOST = 1, 2, 3
"""What an entry's value is."""

ENTRY = np.dtype(
    [
        ("key", "u8"),  # of the position
        ("captured", "u8"),  # the best move: what it takes
        ("value", "i4"),  # without the sweeps made before
        ("card", "i1"),  # the best move: the hand card
        ("bound", "u1"),  # EXACT, AT_LEAST, AT_MOST; 0: empty
    ],
    align=True,
)
"""A place of the transposition table."""

MOVE = np.dtype([("captured", "u8"), ("score", "i8"), ("card", "i8")], align=True)
"""A move to be tried."""

FRAME = np.dtype(
    [
        ("key", "u8"),
        ("captured", "u8"),  # best move so far, or the table's: what it takes
        ("card", "i8"),  # the same: the hand card
        ("alpha", "i8"),  # the window that was asked for, narrowed by the table
        ("beta", "i8"),
        ("low", "i8"),  # what is left of it
        ("high", "i8"),
        ("best", "i8"),  # value so far
        ("swept", "i8"),  # value of the sweeps made before
        ("first", "i8"),  # place of its first move
        ("at", "i8"),  # of the move being tried
        ("end", "i8"),  # behind its last move
        ("maximizes", "i8"),
    ],
    align=True,
)
"""A position on the path that is being searched."""

VISITED, LIMIT = 0, 1
"""Places of the counters: positions visited, and the most that may be."""


@kernel
def _stir(key: Any, value: Any) -> Any:
    return mix(wrapping_add(wrapping_mul(key, GAMMA), value))


@kernel
def _piles_key(rules: Any, game: Any) -> Any:
    """Return a hash of what scoring asks of the two piles."""
    own, other = game["piles"][0], game["piles"][1]
    counts = popcount(own) + 64 * popcount(other) + 4096 * popcount(own & COINS) + 65536 * popcount(other & COINS)
    return _stir(_stir(word(counts), marked_cards(rules, own)), marked_cards(rules, other))


@kernel
def position_key(rules: Any, game: Any) -> Any:
    """Return the hash of a position (see the module)."""
    key = _piles_key(rules, game)
    for seat in range(int(rules["players"])):
        key = _stir(key, game["hands"][seat])
    key = _stir(key, game["table"])
    key = _stir(key, game["chosen"])
    small = int(game["seat"]) + 8 * (int(game["last"]) + 1) + 64 * (int(game["card"]) + 1) + 4096 * int(game["dealt"])
    return _stir(_stir(key, word(small)), game["rng"])


@kernel
def _sweeps(rules: Any, game: Any) -> int:
    """Return what the sweeps made so far add to the value."""
    return int(rules["sweep_points"]) * (int(game["sweeps"][0]) - int(game["sweeps"][1]))


@kernel
def list_moves(rules: Any, game: Any, moves: Any, first: int, card: int, captured: Any) -> int:
    """Write the legal moves to moves[first:]; return their end, -1 if they do not fit.

    The one given is scored above all, the others by what `greedy` thinks of them.
    """
    end = first
    found, taken = next_move(rules, game, NOBODY, NONE)
    while found != NOBODY:
        if end == len(moves):
            return -1
        move = moves[end]
        move["card"] = found
        move["captured"] = taken
        move["score"] = move_score(game, found, taken)
        if found == card and taken == captured:
            move["score"] = 1 << 30
        end += 1
        found, taken = next_move(rules, game, found, taken)
    return end


@kernel
def bring_best(moves: Any, first: int, end: int) -> None:
    """Swap the move with the best score to the front."""
    best = first
    for at in range(first + 1, end):
        if moves[at]["score"] > moves[best]["score"]:
            best = at
    if best != first:
        here, there = moves[first], moves[best]
        card, captured, score = here["card"], here["captured"], here["score"]
        here["card"], here["captured"], here["score"] = there["card"], there["captured"], there["score"]
        there["card"], there["captured"], there["score"] = card, captured, score


@kernel
def _look_up(frame: Any, entry: Any, key: Any) -> bool:
    """Narrow the window of a frame by what the table knows; True if that is enough, then ``best`` is the value."""
    frame["key"] = key
    frame["card"] = NOBODY
    frame["captured"] = NONE
    if entry["bound"] == 0 or entry["key"] != key:
        return False
    value = int(entry["value"]) + int(frame["swept"])
    if entry["bound"] != AT_MOST:
        frame["alpha"] = max(int(frame["alpha"]), value)
    if entry["bound"] != AT_LEAST:
        frame["beta"] = min(int(frame["beta"]), value)
    frame["best"] = value
    frame["card"] = entry["card"]
    frame["captured"] = entry["captured"]
    return bool(frame["alpha"] >= frame["beta"])


@kernel
def _remember(frame: Any, entry: Any) -> None:
    """Write the result of a frame to the table."""
    value = int(frame["best"])
    entry["key"] = frame["key"]
    entry["value"] = value - int(frame["swept"])
    entry["card"] = frame["card"]
    entry["captured"] = frame["captured"]
    entry["bound"] = AT_MOST if value <= frame["alpha"] else AT_LEAST if value >= frame["beta"] else EXACT


@kernel
def _improve(frame: Any, value: int, move: Any) -> None:
    """Take note of the value of a move."""
    better = value > int(frame["best"]) if frame["maximizes"] else value < int(frame["best"])
    if better:
        frame["best"] = value
        frame["card"] = move["card"]
        frame["captured"] = move["captured"]
    if frame["maximizes"]:
        frame["low"] = max(int(frame["low"]), value)
    else:
        frame["high"] = min(int(frame["high"]), value)


@kernel
def _enter(rules: Any, game: Any, frame: Any, moves: Any, first: int, memory: Any, counts: Any) -> bool:
    """Begin with the position of a frame, whose window is set; True if its value, ``best``, is known at once."""
    if game["stage"] != PLAYING:
        frame["best"] = int(game["points"][0]) - int(game["points"][1])
        return True
    counts[VISITED] += 1
    frame["swept"] = _sweeps(rules, game)
    key = position_key(rules, game)
    if _look_up(frame, memory[key & word(len(memory) - 1)], key):
        return True
    frame["low"], frame["high"] = frame["alpha"], frame["beta"]
    frame["maximizes"] = side_of(rules, int(game["seat"])) == 0
    frame["best"] = -WORST if frame["maximizes"] else WORST
    frame["first"] = first
    frame["end"] = list_moves(rules, game, moves, first, int(frame["card"]), frame["captured"])
    frame["at"] = first - 1
    return False


@kernel
def value_of_position(rules: Any, work: Any, start: int) -> int:
    """Return the value of a position.

    Args:
        rules: RULES[1].
        work: `Work.arrays`: games, frames, moves, memory and counts; beyond counts[LIMIT] the result means nothing.
        start: place of the position in the games; those after it are written.
    """
    games, frames, moves, memory, counts = work
    ply = start
    frames[ply]["alpha"], frames[ply]["beta"] = -WORST, WORST
    done = _enter(rules[0], games[ply], frames[ply], moves, 0, memory, counts)
    while True:
        frame = frames[ply]
        if done:
            if ply == start or counts[VISITED] > counts[LIMIT]:
                return int(frames[start]["best"])
            value = int(frame["best"])
            ply -= 1
            frame = frames[ply]
            _improve(frame, value, moves[frame["at"]])
        if frame["end"] < 0:  # no room for the moves
            counts[VISITED] = counts[LIMIT] + 1
            return 0
        frame["at"] += 1
        at, end = int(frame["at"]), int(frame["end"])
        if at == end or frame["low"] >= frame["high"]:
            _remember(frame, memory[frame["key"] & word(len(memory) - 1)])
            done = True
            continue
        bring_best(moves, at, end)
        games[ply + 1] = games[ply]
        play(rules[0], games[ply + 1], int(moves[at]["card"]), moves[at]["captured"])
        ply += 1
        frames[ply]["alpha"], frames[ply]["beta"] = frame["low"], frame["high"]
        done = _enter(rules[0], games[ply], frames[ply], moves, end, memory, counts)


def list_of_moves(moves: Sequence[Move]) -> Records:
    """Return moves as MOVE[M]."""
    found = np.zeros(len(moves), MOVE)
    found["card"] = [move.card for move in moves]
    found["captured"] = [move.mask for move in moves]
    return found


class Work:
    """Working memory of alpha-beta.

    Args:
        positions: positions visited at most for one question.
        memory_bits: places of the transposition table, as a power of two; 24 bytes each.

    Attributes:
        games: GAME[MOST_PLIES + 1], a path of positions.
        memory: ENTRY[2 ** memory_bits], the transposition table.
        counts: int64[2]: positions visited, and the most that may be.
        arrays: what kernels get: games, FRAME[MOST_PLIES + 1], MOVE[MOST_MOVES], memory and counts.
    """

    def __init__(self, positions: int, memory_bits: int) -> None:
        self.games = np.zeros(MOST_PLIES + 1, GAME)
        self.memory = np.zeros(1 << memory_bits, ENTRY)
        self.counts = np.array([0, positions])
        frames, moves = np.zeros(MOST_PLIES + 1, FRAME), np.zeros(MOST_MOVES, MOVE)
        self.arrays = (self.games, frames, moves, self.memory, self.counts)

    def clear(self) -> None:
        """Forget all positions."""
        self.memory["bound"] = 0
        self.counts[VISITED] = 0

    @property
    def gave_up(self) -> bool:
        """Whether the last question would have taken too many positions."""
        return bool(self.counts[VISITED] > self.counts[LIMIT])
