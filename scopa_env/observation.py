"""What a seat observes, as named pieces of one flat vector of bits, and the mask of its legal actions.

Every feature is 0 or 1.  The layout depends on the number of players only (`pieces`), so one network can learn several
games.  Seats and sides are relative to the observer: 0 is the observer itself or its side, 1 the next in playing order.
Numbers are thermometer codes (`n` ones, then zeros) that saturate at their length.  Compiled code packs the bits into
64-bit words and spreads each word to 64 int8.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from scopa_env.cards import NUM_CARDS
from scopa_env.engine.bits import NONE, bit, signed, word
from scopa_env.engine.captures import next_options
from scopa_env.engine.hidden import hand_count, known_cards, sees_hand
from scopa_env.engine.play import LAY, TAKE, may_lay, playable_cards
from scopa_env.engine.state import (
    NOBODY,
    PLAYING,
    first_player,
    next_seat,
    next_side,
    relative_seat,
    relative_side,
    side_of,
)
from scopa_env.kernel import inlined, kernel
from scopa_env.packing import Piece as Piece
from scopa_env.packing import finish, lay_out, piece_table, put, put_number
from scopa_env.packing import spread as spread
from scopa_env.packing import unpack as unpack
from scopa_env.packing import words_of as words_of
from scopa_env.rules import RULE_BITS as RULE_BITS

VERSION = 1
"""Version of the layout; a change of any piece raises it."""

HAND_SIZE_LENGTH = 10
STOCK_LENGTH = 40
SWEEPS_LENGTH = 10
TOTALS_LENGTH = 32
SETS_LENGTH = 3
RULES_LENGTH = 40
MASK_ROW = 88
"""Bytes of a row of action masks: NUM_ACTIONS used, the rest zero, a multiple of eight."""

HISTORY_PLAYS = 40
"""Most plays of a round."""
HISTORY_FEATURES = 88
"""Features of a play: card 40, table cards it took 40, relative seat 6, two zeros."""


def _public(players: int) -> list[tuple[str, tuple[int, ...], str]]:
    """Pieces that everyone at the table sees."""
    seats, cards = players, NUM_CARDS
    return [
        ("table", (cards,), "cards on the table"),
        ("card", (cards,), "card being played, while its capture is being named"),
        ("chosen", (cards,), "table cards named so far for it"),
        ("piles", (seats, cards), "cards won by each side"),
        ("played", (seats, cards), "cards that each seat has played this round"),
        ("hand_sizes", (seats, HAND_SIZE_LENGTH), "cards in each hand"),
        ("stock", (STOCK_LENGTH,), "cards in the stock"),
        ("sweeps", (seats, SWEEPS_LENGTH), "sweeps of each side this round"),
        ("totals", (seats, TOTALS_LENGTH), "points of each side before this round"),
        ("target", (TOTALS_LENGTH,), "points that win"),
        ("sets", (seats, SETS_LENGTH), "sets won by each side"),
        ("dealer", (seats,), "seat of the dealer"),
        ("last", (seats,), "side that captured last this round"),
        ("seat", (seats,), "seat to act"),
        ("stage", (3,), "to act: name a hand card; name table cards or lay; the round is over"),
        ("rules", (RULES_LENGTH,), "which rules are on, see RULE_BITS"),
    ]


@lru_cache(maxsize=8)
def pieces(players: int) -> tuple[Piece, ...]:
    """Return the pieces of an observation for `players` (2, 3, 4 or 6) seats, in order."""
    mates = players // 2 - 1 if players in (4, 6) else 0
    parts: list[tuple[str, tuple[int, ...], str]] = [
        ("hand", (NUM_CARDS,), "cards in the observer's hand"),
        ("unseen", (NUM_CARDS,), "cards whose place the observer does not know"),
    ]
    if mates:
        parts.append(("mates", (mates, NUM_CARDS), "hands of the team-mates in playing order, if the rules show them"))
    return lay_out(parts + _public(players))


@lru_cache(maxsize=8)
def state_pieces(players: int) -> tuple[Piece, ...]:
    """Return the pieces of the full-information state; seats and sides are absolute here."""
    parts = [
        ("hands", (players, NUM_CARDS), "cards in each hand"),
        ("order", (NUM_CARDS, NUM_CARDS), "the stock: place (0 is dealt next) by card"),
    ]
    return lay_out(parts + _public(players))


PIECES: dict[int, dict[str, Piece]] = {
    players: {piece.name: piece for piece in pieces(players)} for players in (2, 3, 4, 6)
}
"""The pieces of an observation by number of players and name."""


def _padded(parts: tuple[Piece, ...]) -> int:
    used = parts[-1].offset + parts[-1].size
    return -(-used // 8) * 8


@lru_cache(maxsize=8)
def observation_size(players: int) -> int:
    """Return the length D of an observation: all pieces, zeros up to a multiple of eight."""
    return _padded(pieces(players))


@lru_cache(maxsize=8)
def state_size(players: int) -> int:
    """Return the length of a full-information state, a multiple of eight."""
    return _padded(state_pieces(players))


@inlined
def _pack_public(rules: Any, game: Any, players: int, observer: int, words: Any, at: Any) -> Any:
    """Pack the pieces of `_public`, relative to `observer`."""
    card = int(game["card"])
    at = put(words, at, game["table"], NUM_CARDS)
    at = put(words, at, bit(card) if card != NOBODY else NONE, NUM_CARDS)
    at = put(words, at, game["chosen"], NUM_CARDS)
    at = _pack_by_side(rules, game, players, observer, words, at)
    seat = observer
    for _ in range(players):
        at = put(words, at, game["played"][seat], NUM_CARDS)
        seat = next_seat(rules, seat)
    for _ in range(players):
        at = put_number(words, at, hand_count(game, seat), HAND_SIZE_LENGTH)
        seat = next_seat(rules, seat)
    at = put_number(words, at, stock_count(rules, game), STOCK_LENGTH)
    at = _pack_scores(rules, game, players, observer, words, at)
    return _pack_situation(rules, game, players, observer, words, at)


@kernel
def stock_count(rules: Any, game: Any) -> int:
    """Return the number of cards in the stock."""
    return int(rules["suits"]) * int(rules["ranks"]) - int(game["dealt"])


@inlined
def _pack_by_side(rules: Any, game: Any, players: int, observer: int, words: Any, at: Any) -> Any:
    sides = int(rules["sides"])
    side = side_of(rules, observer)
    for k in range(players):
        at = put(words, at, game["piles"][side] if k < sides else NONE, NUM_CARDS)
        side = next_side(rules, side)
    return at


@inlined
def _pack_scores(rules: Any, game: Any, players: int, observer: int, words: Any, at: Any) -> Any:
    sides = int(rules["sides"])
    own = side_of(rules, observer)
    side = own
    for k in range(players):
        at = put_number(words, at, int(game["sweeps"][side]) if k < sides else 0, SWEEPS_LENGTH)
        side = next_side(rules, side)
    side = own
    for k in range(players):
        at = put_number(words, at, int(game["totals"][side]) if k < sides else 0, TOTALS_LENGTH)
        side = next_side(rules, side)
    at = put_number(words, at, int(rules["target"]), TOTALS_LENGTH)
    side = own
    for k in range(players):
        at = put_number(words, at, int(game["sets"][side]) if k < sides else 0, SETS_LENGTH)
        side = next_side(rules, side)
    return at


@inlined
def _pack_situation(rules: Any, game: Any, players: int, observer: int, words: Any, at: Any) -> Any:
    last = int(game["last"])
    playing = bool(game["stage"] == PLAYING)
    at = put(words, at, bit(relative_seat(rules, int(game["dealer"]), observer)), players)
    at = put(words, at, bit(relative_side(rules, last, observer)) if last != NOBODY else NONE, players)
    seat = bit(relative_seat(rules, int(game["seat"]), observer)) if playing else NONE
    at = put(words, at, seat, players)
    stage = 2
    if playing:
        stage = 0 if int(game["card"]) == NOBODY else 1
    at = put(words, at, bit(stage), 3)
    return put(words, at, rules["features"], RULES_LENGTH)


@kernel
def pack_observation(rules: Any, game: Any, observer: int, words: Any) -> int:
    """Write what the seat `observer` observes.

    Args:
        rules: a RULES record.
        game: a GAME record, whole or stripped for `observer`: the result is the same.
        observer: a seat.
        words: uint64[words_of(observation_size(players))], written.

    Returns:
        The number of bits written.
    """
    players = int(rules["players"])
    # A constant number of players makes every place a constant: twice as fast.  `signed` keeps it of one type with any
    # other number, so that all three are compiled as one.
    if players == 2:
        return _pack_observation(rules, game, signed(2), observer, words)
    if players == 4:
        return _pack_observation(rules, game, signed(4), observer, words)
    return _pack_observation(rules, game, players, observer, words)


@inlined
def _pack_observation(rules: Any, game: Any, players: int, observer: int, words: Any) -> int:
    at = put(words, (signed(0), NONE), game["hands"][observer], NUM_CARDS)
    at = put(words, at, rules["deck"] & ~known_cards(rules, game, observer), NUM_CARDS)
    mates = players // 2 - 1 if players == 4 or players == 6 else 0
    for k in range(mates):
        mate = (observer + 2 * (k + 1)) % players
        shown = rules["teams"] and sees_hand(rules, observer, mate)
        at = put(words, at, game["hands"][mate] if shown else NONE, NUM_CARDS)
    return finish(words, _pack_public(rules, game, players, observer, words, at))


@kernel
def pack_state(rules: Any, game: Any, words: Any) -> int:
    """Write the full-information state (`state_pieces`) into uint64[words_of(state_size(players))]."""
    players = int(rules["players"])
    at = (signed(0), NONE)
    for seat in range(players):
        at = put(words, at, game["hands"][seat], NUM_CARDS)
    dealt = int(game["dealt"])
    stock = stock_count(rules, game)
    for place in range(NUM_CARDS):
        card = bit(int(game["deck"][dealt + place])) if place < stock else NONE
        at = put(words, at, card, NUM_CARDS)
    return finish(words, _pack_public(rules, game, players, 0, words, at))


@kernel
def pack_history(rules: Any, game: Any, observer: int, words: Any) -> None:
    """Write the plays of this round in order into uint64[HISTORY_PLAYS, 2], one row a play, the rest zero.

    Bits of a row: card (40), table cards it took (40), seat relative to `observer` (6).
    """
    players = int(rules["players"])
    seat = first_player(rules, game)
    for k in range(HISTORY_PLAYS):
        words[k, 0] = NONE
        words[k, 1] = NONE
        if k < int(game["plays"]):
            at = put(words[k], (signed(0), NONE), bit(int(game["cards"][k])), NUM_CARDS)
            at = put(words[k], at, game["captured"][k], NUM_CARDS)
            finish(words[k], put(words[k], at, bit(relative_seat(rules, seat, observer)), players))
            seat = next_seat(rules, seat)


@kernel
def pack_mask(rules: Any, game: Any, seat: int, words: Any) -> None:
    """Write the legal actions of `seat`, bit `a` for action `a`, into uint64[2]; none if it is not to act."""
    words[0] = NONE
    words[1] = NONE
    if game["stage"] != PLAYING or int(game["seat"]) != seat:
        return
    card = int(game["card"])
    if card == NOBODY:
        words[0] = playable_cards(rules, game)
        return
    options = next_options(rules, card, game["table"], game["chosen"])
    words[0] = options << word(TAKE)
    words[1] = options >> word(64 - TAKE)
    if may_lay(rules, game):
        words[1] |= bit(LAY - 64)


def observation_table(players: int) -> str:
    """Return the layout of an observation as a Markdown table, generated from `pieces`."""
    return piece_table(pieces(players))
