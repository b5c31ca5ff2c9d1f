"""What lies open on a table: the readable face that `scopa_env.game.Game` and `View` share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from scopa_env import batch, observation
from scopa_env.actions import NUM_ACTIONS, Move, actions_of, move_of
from scopa_env.cards import card_text, cards_text, from_mask
from scopa_env.engine.state import MATCH_OVER, NOBODY, PLAYING, UNKNOWN, Records
from scopa_env.notation import AmbiguousMove, Cards, IllegalMove, Position, parse_move
from scopa_env.rules import Rules, check_seat


@dataclass(frozen=True)
class Play:
    """A play that was made: which seat played what."""

    seat: int
    move: Move


def _bits(words: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.int8]]:
    bits: np.ndarray[Any, np.dtype[np.int8]] = words.view(np.int8)[0]
    return bits


class Table:
    """What `Game` and `View` share: everything that lies open, by seat and by side."""

    rules: Rules
    records: Records

    def __init__(self, rules: Rules, records: Records) -> None:
        self.rules = rules
        self.records = records

    def _int(self, name: str) -> int:
        return int(self.records[name][0])

    def _by_side(self, name: str) -> tuple[int, ...]:
        return tuple(self.records[name][0].tolist()[: self.rules.sides])

    def _cards(self, name: str, count: int) -> tuple[tuple[int, ...], ...]:
        return tuple(from_mask(mask) for mask in self.records[name][0].tolist()[:count])

    @property
    def seat(self) -> int:
        """Seat to act; the last one that acted when the round is over."""
        return self._int("seat")

    @property
    def dealer(self) -> int:
        """Seat of the dealer."""
        return self._int("dealer")

    @property
    def last(self) -> int | None:
        """Side that captured last this round."""
        last = self._int("last")
        return None if last == NOBODY else last

    @property
    def table(self) -> tuple[int, ...]:
        """Cards on the table, ascending."""
        return from_mask(self._int("table"))

    @property
    def piles(self) -> tuple[tuple[int, ...], ...]:
        """Cards won this round, by side."""
        return self._cards("piles", self.rules.sides)

    @property
    def sweeps(self) -> tuple[int, ...]:
        """Sweeps of this round, by side."""
        return self._by_side("sweeps")

    @property
    def totals(self) -> tuple[int, ...]:
        """Points of the set before this round (with it, once it is over), by side."""
        return self._by_side("totals")

    @property
    def sets(self) -> tuple[int, ...]:
        """Sets won, by side."""
        return self._by_side("sets")

    @property
    def hand_sizes(self) -> tuple[int, ...]:
        """Number of cards in each hand, by seat."""
        hidden = self.records["hidden"][0].tolist()
        hands = self.records["hands"][0].tolist()
        seats = range(self.rules.players)
        return tuple(hands[seat].bit_count() + hidden[seat] for seat in seats)

    @property
    def stock_size(self) -> int:
        """Number of cards in the stock."""
        return len(self.rules.deck) - self._int("dealt")

    @property
    def card(self) -> int | None:
        """Hand card being played, while its capture is being named."""
        card = self._int("card")
        return None if card == NOBODY else card

    @property
    def chosen(self) -> tuple[int, ...]:
        """Table cards named so far for it."""
        return from_mask(self._int("chosen"))

    @property
    def plays(self) -> tuple[Play, ...]:
        """The plays of this round, in order."""
        first, players = batch.first_player(self.rules.record, self.records), self.rules.players
        cards = self.records["cards"][0].tolist()
        captured = self.records["captured"][0].tolist()
        return tuple(Play((first + k) % players, move_of(cards[k], captured[k])) for k in range(self._int("plays")))

    @property
    def round_over(self) -> bool:
        """Whether the round is over."""
        return self._int("stage") != PLAYING

    @property
    def match_over(self) -> bool:
        """Whether the match is over."""
        return self._int("stage") == MATCH_OVER

    @property
    def legal_moves(self) -> list[Move]:
        """The legal moves of the seat to act, by hand card and then by the cards taken."""
        size = 32
        while True:
            cards = np.empty(size, np.int64)
            captured = np.empty(size, np.uint64)
            count = batch.list_moves(self.rules.record, self.records, cards, captured)
            if count <= size:
                pairs = zip(cards[:count].tolist(), captured[:count].tolist(), strict=True)
                return [move_of(card, mask) for card, mask in pairs]
            size = count

    def is_legal(self, move: Move) -> bool:
        """Say whether `move` is legal for the seat to act."""
        return move.exists and bool(batch.move_is_legal(self.rules.record, self.records, int(move.card), move.mask))

    def actions_of(self, move: Move) -> list[int]:
        """Return the actions of ``Discrete(81)`` that say `move`."""
        return actions_of(self.rules.record, self.records, move)

    def parse(self, text: str) -> Move:
        """Read the text of a move of the seat to act.

        Raises:
            NotationError: the text is no move.
            IllegalMove: the move is not legal here, or claims a sweep that is none.
            AmbiguousMove: ``7dx``, and the card has several captures.
        """
        card, captured, sweep = parse_move(text)
        if captured is None:
            captured = self._only_capture(text, card)
        move = Move(card, captured)
        if not self.is_legal(move):
            raise IllegalMove(f"move {text!r}: {self._why_illegal(move)}")
        if sweep and set(captured) != set(self.table):
            raise IllegalMove(f"move {text!r}: no sweep, the table keeps {self._keeps(captured)}")
        return move

    def _keeps(self, captured: Iterable[int]) -> str:
        return cards_text(sorted(set(self.table) - set(captured)), " ") or "nothing"

    def _only_capture(self, text: str, card: int) -> tuple[int, ...]:
        moves = [move for move in self.legal_moves if move.card == card and move.captured]
        if len(moves) > 1:
            raise AmbiguousMove(f"move {text!r}: could be {', '.join(map(str, moves))}")
        if not moves:
            raise IllegalMove(f"move {text!r}: {card_text(card)} captures nothing here")
        return moves[0].captured

    def _why_illegal(self, move: Move) -> str:
        if self.round_over:
            return "the round is over"
        moves = self.legal_moves
        same = [other for other in moves if other.card == move.card]
        which = f"legal with {card_text(move.card)} are" if same else f"seat {self.seat} cannot play it; legal are"
        return f"{which} {', '.join(map(str, same or moves))}"

    def move_text(self, move: Move) -> str:
        """Return the text of a legal move, with ``+`` if it takes the whole table."""
        takes_all = bool(move.captured) and set(move.captured) == set(self.table)
        return move.text() + ("+" if takes_all else "")

    def _seat_to_act(self) -> int | None:
        return None if self.round_over else self.seat

    def position(self) -> Position:
        """Return the position as plain values."""
        hidden = self.records["hidden"][0].tolist()
        hands = self._cards("hands", self.rules.players)
        order = self.records["deck"][0].tolist()[self._int("dealt") : len(self.rules.deck)]
        known = tuple(card for card in order if card != UNKNOWN)
        return Position(
            rules=self.rules,
            hands=tuple(Cards(hand, hidden[seat]) for seat, hand in enumerate(hands)),
            table=self.table,
            stock=Cards(known, len(order) - len(known)),
            piles=self.piles,
            sweeps=self.sweeps,
            turn=self._seat_to_act(),
            last=self.last,
            dealer=self.dealer,
            totals=self.totals,
            sets=self.sets,
            card=self.card,
            chosen=self.chosen,
        )

    def text(self) -> str:
        """Return the position's text, see `scopa_env.notation`."""
        return self.position().text()

    def status(self) -> list[str]:
        """List everything that makes the position impossible."""
        return self.position().status()

    def action_mask(self, seat: int | None = None) -> np.ndarray[Any, np.dtype[np.int8]]:
        """Return int8[81] of 0/1: the legal actions of `seat` (default: the seat to act), zeros if it is not to act."""
        out = np.empty((1, observation.MASK_ROW // 8), np.uint64)
        seats = np.array([self.seat if seat is None else check_seat("seat", seat, self.rules)])
        batch.masks(self.rules.record, self.records, seats, np.empty(2, np.uint64), out)
        return _bits(out)[:NUM_ACTIONS]

    def _observe(self, seat: int) -> np.ndarray[Any, np.dtype[np.int8]]:
        size = observation.observation_size(self.rules.players)
        out = np.empty((1, size // 8), np.uint64)
        scratch = np.empty(observation.words_of(size), np.uint64)
        batch.observe(self.rules.record, self.records, np.array([seat]), scratch, out)
        return _bits(out)
