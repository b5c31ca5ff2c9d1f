"""The readable face of one record: `Game` knows everything, `View` what one seat knows.

>>> game = Game("scopa", seed=3, dealer=1)
>>> game.push(game.legal_moves[0])
>>> view = game.view(game.seat)
>>> view.hand_sizes, len(view.unseen)
((2, 3), 33)
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scopa_env import batch, observation
from scopa_env.actions import IllegalAction, Move, action_text
from scopa_env.cards import CardError, as_card, cards_text, from_mask, parse_cards, to_mask
from scopa_env.engine.rng import split
from scopa_env.engine.scoring import CATEGORIES, NUM_CATEGORIES
from scopa_env.engine.state import DRAWN, GAME, MAX_PLAYERS, NOBODY, PLAYING, UNKNOWN
from scopa_env.notation import IllegalMove, Position, PositionError, parse_position
from scopa_env.rules import Rules
from scopa_env.table import Play, Records, Table

__all__ = ["Game", "Outcome", "Play", "View", "VoidDeal", "best_side", "check_deck", "seed_state"]


class VoidDeal(ValueError):
    """A given deck that the rules void."""


@dataclass(frozen=True)
class Outcome:
    """How a round ended, and the match if it did.

    Attributes:
        points: points of the round, by side.
        totals: points of the set with this round, by side.
        sets: sets won, by side.
        round_winner: the side with most points in this round; None if level.
        match_over: whether the match is decided.
        match_winner: the side that won it; None if it goes on or was drawn.
    """

    points: tuple[int, ...]
    totals: tuple[int, ...]
    sets: tuple[int, ...]
    round_winner: int | None
    match_over: bool
    match_winner: int | None


def best_side(numbers: Sequence[int]) -> int | None:
    """Return the index of the largest number, None if it is not alone."""
    top = max(numbers)
    return list(numbers).index(top) if list(numbers).count(top) == 1 else None


def seed_state(seed: int | None, index: int = 0) -> int:
    """Return the generator state of game `index` under `seed`; None draws a seed from the system."""
    whole = secrets.randbits(64) if seed is None else int(seed) & (1 << 64) - 1
    return int(split(np.uint64(whole), np.uint64(index)))


def check_deck(rules: Rules, deck: str | Iterable[int | str]) -> list[int]:
    """Return a deck in dealing order as card ids.

    Args:
        rules: the rules.
        deck: the cards as text (``"9c 8d 4s ..."``), or as ids or texts one by one.

    Raises:
        CardError: a card is missing, foreign or named twice.
    """
    cards = parse_cards(deck) if isinstance(deck, str) else [as_card(card) for card in deck]
    twice = sorted({card for card in cards if cards.count(card) > 1})
    if twice:
        raise CardError(f"deck: {cards_text(twice, ' ')} named more than once")
    foreign = sorted(set(cards) - set(rules.deck))
    if foreign:
        raise CardError(f"deck: {cards_text(foreign, ' ')} not in the deck of these rules")
    missing = sorted(set(rules.deck) - set(cards))
    if missing:
        raise CardError(f"deck: {len(missing)} cards are missing: {cards_text(missing, ' ')}")
    return cards


class View(Table):
    """What one seat knows; the only thing an agent gets.  It holds no hidden card."""

    def __init__(self, rules: Rules, records: Records, observer: int) -> None:
        """Take over `records` (GAME[1]) from which everything hidden from `observer` has been stripped."""
        super().__init__(rules, records)
        self.observer = observer

    @classmethod
    def from_text(cls, text: str, observer: int | None = None) -> View:
        """Read a position with unknown cards (``?n``) as seen by `observer` (default: the seat to act).

        Raises:
            NotationError: malformed text.
            PositionError: the position cannot occur.
        """
        position = _possible(parse_position(text))
        seat = position.turn if observer is None else observer
        if seat is None or not 0 <= seat < position.rules.players:
            raise PositionError(f"position {text!r}: no observer {seat!r}; give a seat")
        records = records_of(position)
        return View(position.rules, _stripped(position.rules, records, seat), seat)

    @property
    def hand(self) -> tuple[int, ...]:
        """The observer's cards, ascending."""
        return from_mask(int(self.records["hands"][0][self.observer]))

    @property
    def hands(self) -> tuple[tuple[int, ...], ...]:
        """The cards of every hand that the observer knows, by seat."""
        return self._cards("hands", self.rules.players)

    @property
    def unseen(self) -> tuple[int, ...]:
        """Cards whose place the observer does not know, ascending."""
        seen = {card for cards in (*self.hands, *self.piles, self.table) for card in cards}
        return tuple(card for card in self.rules.deck if card not in seen)

    @property
    def to_act(self) -> bool:
        """Whether the observer is the seat to act."""
        return not self.round_over and self.seat == self.observer

    def observation(self) -> np.ndarray[Any, np.dtype[np.int8]]:
        """Return int8[D] of 0/1, see `scopa_env.observation`."""
        return self._observe(self.observer)

    def sample(self, rng: np.random.Generator | int) -> Game:
        """Draw a game that agrees with everything the observer knows, every deal of the hidden cards equally likely.

        Args:
            rng: a numpy generator, or a seed.  Under ``obligation="hand"`` hands with which an earlier play would have been
                illegal are excluded.
        """
        if isinstance(rng, np.random.Generator):
            state = int(rng.integers(0, 1 << 64, dtype=np.uint64))
        else:
            state = seed_state(rng)
        records = self.records.copy()
        records["rng"] = state
        batch.redraw(self.rules.record, records, np.array([self.observer]))
        return Game.from_records(self.rules, records)

    def __repr__(self) -> str:
        return f"View({self.text()!r}, observer={self.observer})"


def _stripped(rules: Rules, records: Records, observer: int) -> Records:
    out = np.empty(1, GAME)
    batch.strip(rules.record, records, np.array([observer]), out)
    return out


class Game(Table):
    """A game with everything in it: one round after the other, up to the end of the match.

    Args:
        rules: a preset's name, text for `Rules.parse`, a mapping or Rules.
        seed: seed of everything random in the game; None draws one.
        dealer: seat that deals the first round; None: drawn from the seed.
        deck: the first round's deck in dealing order (text, ids or texts); None: shuffled.

    Raises:
        RulesError: rules that do not exist or cannot be played.
        CardError: a deck with missing, foreign or double cards.
        VoidDeal: a deck that the rules void.
    """

    def __init__(
        self,
        rules: Rules | str = "scopa",
        *,
        seed: int | None = None,
        dealer: int | None = None,
        deck: str | Iterable[int | str] | None = None,
    ) -> None:
        rules = Rules.of(rules)
        super().__init__(rules, np.zeros(1, GAME))
        self.records["rng"] = seed_state(seed)
        first = NOBODY if dealer is None else check_seat("dealer", dealer, rules)
        self._stack: list[Records] = []
        self.past: list[Records] = []
        if deck is None:
            batch.start(rules.record, self.records, first)
        else:
            batch.begin_match(rules.record, self.records, first)
            self._deal(check_deck(rules, deck))

    @classmethod
    def from_records(cls, rules: Rules, records: Records) -> Game:
        """Take over a GAME[1] array."""
        game = cls.__new__(cls)
        Table.__init__(game, rules, records)
        game._stack = []
        game.past = []
        return game

    @classmethod
    def from_position(cls, position: Position, seed: int | None = None) -> Game:
        """Return the game in which `position` has arisen.

        Raises:
            PositionError: the position cannot occur, or cards are unknown (`View.from_text` reads those).
        """
        _possible(position)
        if position.hides_cards:
            raise PositionError(f"position {position.text()!r}: some cards are unknown; read it as a View and sample it")
        return cls.from_records(position.rules, records_of(position, seed_state(seed)))

    @classmethod
    def from_text(cls, text: str, seed: int | None = None) -> Game:
        """Return the game of a position's text.

        Raises:
            NotationError: malformed text.
            PositionError: the position cannot occur, or cards are unknown.
        """
        return cls.from_position(parse_position(text), seed)

    def _deal(self, deck: Sequence[int]) -> None:
        records = self.records.copy()
        records["deck"][0][: len(deck)] = deck
        if not batch.deal_decks(self.rules.record, records):
            kings = self.rules.redeal_kings
            raise VoidDeal(f"deck: void under these rules ({kings} or more kings on the table)")
        self.records = records

    @property
    def hands(self) -> tuple[tuple[int, ...], ...]:
        """The cards of every hand, by seat."""
        return self._cards("hands", self.rules.players)

    @property
    def stock(self) -> tuple[int, ...]:
        """Undealt cards in dealing order."""
        return tuple(self.records["deck"][0].tolist()[self._int("dealt") : len(self.rules.deck)])

    @property
    def deck(self) -> tuple[int, ...] | None:
        """The deck of this round in dealing order; None if it is not known (a sampled game, a position)."""
        deck = tuple(self.records["deck"][0].tolist()[: len(self.rules.deck)])
        return None if UNKNOWN in deck else deck

    def push(self, move: Move) -> None:
        """Make a move of the seat to act.

        Raises:
            IllegalMove: the move is not legal; nothing has changed.
        """
        before = self.records.copy()
        captured = np.uint64(to_mask(move.captured))
        if not batch.play_one(self.rules.record, self.records, int(move.card), captured):
            raise IllegalMove(f"move {Move(*move)}: {self._why_illegal(move)}")
        self._stack.append(before)

    def push_text(self, text: str) -> Move:
        """Make the move that `text` stands for and return it.

        Raises:
            NotationError: the text is no move.
            IllegalMove: the move is not legal.
            AmbiguousMove: the text stands for several legal moves.
        """
        move = self.parse(text)
        self.push(move)
        return move

    def act(self, action: int) -> None:
        """Take one action of ``Discrete(81)``.

        Raises:
            IllegalAction: the action is not legal; nothing has changed.
        """
        before = self.records.copy()
        if batch.act_one(self.rules.record, self.records, int(action)) < 0:
            raise IllegalAction(illegal_action_text(self, int(action)))
        self._stack.append(before)

    def pop(self) -> None:
        """Take back the last `push`, `act` or `next_round`.

        Raises:
            IndexError: there is nothing to take back.
        """
        if not self._stack:
            raise IndexError("pop: no move to take back")
        self.records = self._stack.pop()
        del self.past[int(self.records["rounds"][0]) :]

    def next_round(self, deck: str | Iterable[int | str] | None = None) -> None:
        """Deal the next round by the next dealer, shuffled or from a given `deck`.

        Raises:
            ValueError: the round or the match is not in the state for it.
            CardError, VoidDeal: as for the constructor.
        """
        if not self.round_over or self.match_over:
            raise ValueError("next_round: " + ("the match is over" if self.match_over else "the round is not over"))
        before = self.records.copy()
        if deck is None:
            batch.next_rounds(self.rules.record, self.records)
        else:
            cards = check_deck(self.rules, deck)
            batch.rotate_dealer(self.rules.record, self.records)
            try:
                self._deal(cards)
            except VoidDeal:
                self.records = before
                raise
        self._stack.append(before)
        self.past.append(before)

    def copy(self) -> Game:
        """Return an independent copy."""
        game = Game.from_records(self.rules, self.records.copy())
        game._stack = self._stack.copy()
        game.past = self.past.copy()
        return game

    def view(self, seat: int) -> View:
        """Return what `seat` knows."""
        check_seat("seat", seat, self.rules)
        return View(self.rules, _stripped(self.rules, self.records, seat), seat)

    def score(self) -> dict[str, tuple[int, ...]]:
        """Return the points of the piles as they lie, by category and side, with their ``total``."""
        table = np.zeros((NUM_CATEGORIES, MAX_PLAYERS), np.int64)
        batch.tabulate(self.rules.record, self.records, table)
        sides = self.rules.sides
        points = {name: tuple(row[:sides]) for name, row in zip(CATEGORIES, table.tolist(), strict=True)}
        return points | {"total": tuple(table.sum(axis=0).tolist()[:sides])}

    def outcome(self) -> Outcome | None:
        """Return how the round ended; None while it is being played."""
        if not self.round_over:
            return None
        points = self._by_side("points")
        winner = self._int("winner")
        return Outcome(
            points=points,
            totals=self.totals,
            sets=self.sets,
            round_winner=best_side(points),
            match_over=self.match_over,
            match_winner=None if winner in (NOBODY, DRAWN) else winner,
        )

    def state(self) -> np.ndarray[Any, np.dtype[np.int8]]:
        """Return int8[S] of 0/1: everything, hidden cards included (`observation.state_pieces`)."""
        size = observation.state_size(self.rules.players)
        out = np.empty(size // 8, np.uint64)
        scratch = np.empty(observation.words_of(size), np.uint64)
        batch.full_state(self.rules.record, self.records, scratch, out)
        return out.view(np.int8)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        return self.rules == other.rules and self.records.tobytes() == other.records.tobytes()

    __hash__ = None  # type: ignore[assignment]  # a game changes

    def __repr__(self) -> str:
        return f"Game({self.text()!r})"


def check_seat(name: str, seat: object, rules: Rules) -> int:
    """Return `seat` as an int, or raise a ValueError that names it."""
    if isinstance(seat, bool) or not hasattr(seat, "__index__") or not 0 <= int(seat) < rules.players:  # type: ignore[call-overload]
        raise ValueError(f"{name}={seat!r}: allowed are seats 0 .. {rules.players - 1}")
    return int(seat)  # type: ignore[call-overload, no-any-return]


def illegal_action_text(table: Table, action: int) -> str:
    """Say which action is illegal for which seat, and what is legal."""
    if table.round_over:
        return f"action {action} ({action_text(action)}): the round is over"
    legal = np.flatnonzero(table.action_mask())
    allowed = ", ".join(f"{a} ({action_text(a)})" for a in legal.tolist())
    return f"action {action} ({action_text(action)}) of seat {table.seat}: legal are {allowed}"


def _possible(position: Position) -> Position:
    problems = position.status()
    if problems:
        raise PositionError(f"position {position.text()!r}: {'; '.join(problems)}")
    return position


def records_of(position: Position, rng: int = 0) -> Records:
    """Return a position as GAME[1]; it is not checked, cards that are nowhere simply do not exist."""
    rules = position.rules
    records = np.zeros(1, GAME)
    record = records[0]
    record["rng"] = rng
    record["table"] = to_mask(position.table)
    record["chosen"] = to_mask(position.chosen)
    record["card"] = NOBODY if position.card is None else position.card
    for seat, hand in enumerate(position.hands):
        record["hands"][seat] = to_mask(hand.known)
        record["hidden"][seat] = hand.unknown
    for side in range(rules.sides):
        record["piles"][side] = to_mask(position.piles[side])
        record["sweeps"][side] = position.sweeps[side]
        record["totals"][side] = position.totals[side]
        record["sets"][side] = position.sets[side]
    size = len(rules.deck)
    dealt = max(size - position.stock.count, 0)
    record["dealt"] = dealt
    record["deck"] = UNKNOWN
    record["deck"][dealt : dealt + len(position.stock.known)] = position.stock.known
    each = rules.players * rules.hand_size
    record["deals"] = max((dealt - rules.table_size) // each, 1)
    record["dealer"] = position.dealer
    record["seat"] = position.dealer if position.turn is None else position.turn
    record["last"] = NOBODY if position.last is None else position.last
    record["set_winner"] = record["winner"] = NOBODY
    record["stage"] = PLAYING
    if position.turn is None:
        _finish(rules, records)
    return records


def _finish(rules: Rules, records: Records) -> None:
    """Score a round that is over, of which totals and sets are known as they stand after it."""
    table = np.zeros((NUM_CATEGORIES, MAX_PLAYERS), np.int64)
    batch.tabulate(rules.record, records, table)
    records["points"][0] = table.sum(axis=0)
    records["totals"][0] -= records["points"][0]
    trial = records.copy()
    batch.finish_scored(rules.record, trial)
    winner = int(trial["set_winner"][0])
    if winner >= 0 and records["sets"][0][winner]:
        records["sets"][0][winner] -= 1
    batch.finish_scored(rules.record, records)
