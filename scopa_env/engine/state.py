"""The record of one game and the record of its rules, field by field.

A game is one element of a structured array, so many games are one array and a copy is a memory copy.  Python code
passes arrays to kernels, never a bare record.  Inside a kernel ``game = games[i]`` is one record (by reference).

Card sets are ``uint64`` masks (bit `i` = card `i`).  Seats are absolute, 0 .. players - 1 in playing order; a side is
a team (seat mod 2) or a lone player (its seat).  Arrays by seat or side have six places, the unused ones zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_env.cards import NUM_CARDS
from scopa_env.engine.bits import signed
from scopa_env.kernel import kernel

MAX_PLAYERS = 6
MAX_SUM = 220
"""The sum of the values of all forty cards."""

# stage
PLAYING = 0
"""A seat is to act."""
ROUND_OVER = 1
"""The round is scored; the match goes on with the next deal."""
MATCH_OVER = 2
"""The round is scored and the match is decided."""

NOBODY = -1
"""No card, no seat, no side."""
DRAWN = -2
"""`winner` of a set or match that ended level under ``target_tie="draw"``."""
UNKNOWN = 255
"""A place of `deck` that this record does not know."""

GAME = np.dtype(
    [
        # what every play reads and writes, in as few cache lines as it goes
        ("rng", "u8"),  # state of the game's random generator
        ("table", "u8"),  # cards on the table, the chosen ones included
        ("chosen", "u8"),  # table cards named so far for the play in progress
        ("dealt", "u1"),  # cards of the deck that have left the stock
        ("deals", "u1"),  # times that hands have been dealt this round
        ("plays", "u1"),  # plays made this round
        ("dealer", "u1"),  # seat
        ("seat", "u1"),  # seat to act
        ("last", "i1"),  # side that captured last this round, or NOBODY
        ("card", "i1"),  # card being played, or NOBODY
        ("stage", "u1"),  # PLAYING, ROUND_OVER, MATCH_OVER
        ("hands", "u8", MAX_PLAYERS),  # by seat: cards in hand, the one being played included
        ("piles", "u8", MAX_PLAYERS),  # by side: cards won this round
        ("played", "u8", MAX_PLAYERS),  # by seat: cards played this round
        ("hidden", "u1", MAX_PLAYERS),  # by seat: cards in hand that this record does not know
        ("sweeps", "u1", MAX_PLAYERS),  # by side: sweeps of this round
        ("sets", "u1", MAX_PLAYERS),  # by side: sets won
        ("set_winner", "i1"),  # side that won a set with the round that is over, NOBODY or DRAWN
        ("winner", "i1"),  # side that won the match, NOBODY or DRAWN
        ("totals", "i4", MAX_PLAYERS),  # by side: points of the current set up to the last scored round
        ("rounds", "i4"),  # rounds finished in this match
        ("points", "i2", MAX_PLAYERS),  # by side: points of the round that is over, else zero
        ("cards", "u1", NUM_CARDS),  # by play of this round: the hand card
        ("captured", "u8", NUM_CARDS),  # by play of this round: table cards it took
        ("deck", "u1", NUM_CARDS),  # the deck in dealing order; deck[dealt:] is the stock
    ],
    align=True,
)
"""A game: 640 bytes, ten cache lines."""

Records = np.ndarray[Any, np.dtype[np.void]]
"""GAME[N]: games as a structured array."""


def copy_of(records: Records) -> Records:
    """Return a copy of a structured array: numpy's own goes field by field and takes ten times as long."""
    return np.frombuffer(bytearray(records.tobytes()), records.dtype)


RULES = np.dtype(
    [
        ("deck", "u8"),  # mask of the cards in play
        ("players", "i8"),
        ("sides", "i8"),
        ("teams", "i8"),
        ("suits", "i8"),
        ("ranks", "i8"),
        ("hand_size", "i8"),
        ("table_size", "i8"),
        ("deals", "i8"),  # most deals of a round
        ("table_deal", "i8"),
        ("redeal_kings", "i8"),
        ("fifteen", "i8"),
        ("priority", "i8"),
        ("obligation", "i8"),
        ("ace_takes_all", "i8"),
        ("ace_faces_all", "i8"),
        ("ace_scopa", "i8"),
        ("ace_banks", "i8"),
        ("last_sweep", "i8"),
        ("sweep_points", "i8"),
        ("cards_points", "i8"),
        ("coins_points", "i8"),
        ("settebello_points", "i8"),
        ("primiera_points", "i8"),
        ("sevens_points", "i8"),
        ("all_sevens_bonus", "i8"),
        ("napola", "i8"),
        ("re_bello_points", "i8"),
        ("majority", "i8"),
        ("primiera_missing", "i8"),
        ("partner_hand_visible", "i8"),
        ("target", "i8"),
        ("target_tie", "i8"),
        ("sets_to_win", "i8"),
        ("primiera_values", "i8", 10),  # by value - 1
        ("features", "u8"),  # which rules are on, one bit each, for encodings (`scopa_env.rules.RULE_BITS`)
        ("dealer_bonus", "i8", MAX_SUM + 1),  # by sum of the first table cards: sweeps for the dealer
    ],
    align=True,
)

# Values of RULES fields that are choices; `scopa_env.rules` maps its words to them by position.
AFTER, BEFORE, INTERLEAVED = 0, 1, 2  # table_deal
SINGLE, FEWEST, ANY = 0, 1, 2  # priority
CARD, HAND, FREE = 0, 1, 2  # obligation
NOT_LAST_PLAY, NOT_LAST_HAND, COUNTS = 0, 1, 2  # last_sweep
PLURALITY, ABSOLUTE = 0, 1  # majority
DISQUALIFY, MORE_SUITS, ZERO = 0, 1, 2  # primiera_missing
PLAY_ON, DRAW = 0, 1  # target_tie


@kernel
def next_seat(rules: Any, seat: int) -> int:
    """Return the seat that plays after `seat`."""
    return _wrapped(signed(seat) + 1, int(rules["players"]))


@kernel
def relative_seat(rules: Any, seat: int, observer: int) -> int:
    """Return how many seats after `observer` `seat` plays: 0 for the observer itself."""
    return _wrapped(signed(seat) - signed(observer), int(rules["players"]))


@kernel
def side_of(rules: Any, seat: int) -> int:
    """Return the side of `seat`: its team, or itself."""
    return signed(seat) & 1 if rules["teams"] else signed(seat)


@kernel
def next_side(rules: Any, side: int) -> int:
    """Return the side that comes after `side` in playing order."""
    return _wrapped(signed(side) + 1, int(rules["sides"]))


@kernel
def relative_side(rules: Any, side: int, observer: int) -> int:
    """Return how many sides after the side of the seat `observer` `side` comes: 0 for its own."""
    return _wrapped(signed(side) - side_of(rules, observer), int(rules["sides"]))


@kernel
def _wrapped(number: int, count: int) -> int:
    """Return `number` modulo `count` for -count <= number < 2 * count; a division costs more."""
    if number < 0:
        return number + count
    return number - count if number >= count else number


@kernel
def first_player(rules: Any, game: Any) -> int:
    """Return the seat that made the first of the plays that the record holds (of a position: the seat to act)."""
    played = int(game["plays"]) - (1 if game["stage"] != PLAYING else 0)
    players = int(rules["players"])
    return (int(game["seat"]) - played + 40 * players) % players


@kernel
def first_seat(rules: Any, game: Any) -> int:
    """Return the seat that leads: the one after the dealer."""
    return next_seat(rules, int(game["dealer"]))
