"""The readable face of one record: `Game` knows everything, `View` what one seat knows.

>>> game = Game("scopa", seed=3, dealer=1)
>>> game.push(game.legal_moves[0])
>>> view = game.view(game.seat)
>>> view.hand_sizes, len(view.unseen)
((2, 3), 32)
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from scopa_env import batch, observation
from scopa_env.actions import NUM_ACTIONS, IllegalAction, Move, action_text
from scopa_env.cards import NUM_CARDS, CardError, as_card, cards_text, from_mask, parse_cards
from scopa_env.engine.rng import split
from scopa_env.engine.scoring import CATEGORIES
from scopa_env.engine.state import DRAWN, GAME, NOBODY, UNKNOWN, Records, copy_of
from scopa_env.notation import IllegalMove, Position, PositionError, parse_position, records_of, tabulate
from scopa_env.rules import Rules, check_seat
from scopa_env.table import Play, Table

__all__ = ["Game", "Outcome", "Play", "View", "VoidDeal", "best_side", "check_deck", "records_of", "seed_state"]


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


def random_seed() -> int:
    """Draw a seed from the system."""
    return secrets.randbits(64)


def seed_state(seed: int | None, game: int = 0) -> int:
    """Return the generator state of game number `game` under `seed`; None draws a seed from the system."""
    whole = random_seed() if seed is None else index(seed) & (1 << 64) - 1
    return int(split(np.uint64(whole), np.uint64(game)))


def check_index(number: object, count: int) -> int:
    """Return the index of one of `count` games, counted from the end if it is negative.

    Raises:
        IndexError: there is no such game.
    """
    if isinstance(number, bool) or not hasattr(number, "__index__") or not -count <= index(number) < count:
        raise IndexError(f"index={number!r}: allowed are games 0 .. {count - 1}")
    return index(number) % count


def check_seed(seed: object) -> int | None:
    """Return a seed as an int; None stays None.

    Raises:
        ValueError: it is no whole number from 0.
    """
    if seed is None:
        return None
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or index(seed) < 0:
        raise ValueError(f"seed={seed!r}: allowed are whole numbers from 0, and None")
    return index(seed)


def check_deck(rules: Rules, deck: str | Iterable[int | str]) -> list[int]:
    """Return a deck in dealing order as card ids.

    Args:
        rules: the rules.
        deck: the cards as text (``"9c 8d 4s ..."``), or as ids or texts one by one.

    Raises:
        CardError: a card is missing, foreign or named twice.
    """
    if not isinstance(deck, Iterable):
        raise CardError(f"deck {deck!r}: expected text, or cards one by one")
    cards = parse_cards(deck) if isinstance(deck, str) else [as_card(card) for card in deck]
    twice = sorted({card for card in cards if cards.count(card) > 1})
    if twice:
        raise CardError(f"deck: {cards_text(twice, ' ')} named more than once")
    foreign = sorted(set(cards) - set(rules.deck))
    if foreign:
        raise CardError(f"deck: {cards_text(foreign, ' ')} not in the deck of these rules")
    missing = sorted(set(rules.deck) - set(cards))
    if missing:
        raise CardError(f"deck: missing {len(missing)}: {cards_text(missing, ' ')}")
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
            PositionError: the position cannot occur, or the observer does not know its own hand.
        """
        position = _possible(parse_position(text))
        seat = position.turn if observer is None else observer
        if seat is None:
            raise PositionError(f"position {text!r}: nobody is to act; give the observer's seat")
        check_seat("observer", seat, position.rules)
        if position.hands[seat].unknown:
            raise PositionError(f"position {text!r}: the observer, seat {seat}, does not know its own hand")
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
            rng: a numpy generator, or a seed.  Under ``obligation="hand"`` hands with which an earlier play would
                have been illegal are excluded.
        """
        if isinstance(rng, np.random.Generator):
            state = int(rng.integers(0, 1 << 64, dtype=np.uint64))
        else:
            state = seed_state(rng)
        records = copy_of(self.records)
        records["rng"] = state
        batch.redraw(self.rules.record, records, np.array([self.observer]))
        return Game.from_records(self.rules, records)

    def __repr__(self) -> str:
        return f"View({self.text()!r}, observer={self.observer})"


def view_to_act(name: str, view: object) -> View:
    """Return what an agent is asked about: the view of a seat that is to act.

    Args:
        name: name of the agent.
        view: what it was given.

    Raises:
        TypeError: it is no view; a `Game` would show the agent every card.
        ValueError: its observer is not to act.
    """
    if not isinstance(view, View):
        hint = "; game.view(game.seat) gives one" if isinstance(view, Game) else ""
        raise TypeError(f"agent {name!r}: act takes a View, not {type(view).__name__}{hint}")
    if not view.to_act:
        why = "the round is over" if view.round_over else f"seat {view.seat} is to act"
        raise ValueError(f"agent {name!r}: asked for a move of seat {view.observer}, but {why}")
    return view


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
            self._deal(self.records, check_deck(rules, deck))

    @classmethod
    def from_records(cls, rules: Rules, records: Records, past: Iterable[Records] = ()) -> Game:
        """Take over a GAME[1] array; `past` are those of the finished rounds of its match, never written again."""
        game = cls.__new__(cls)
        Table.__init__(game, rules, records)
        game._stack = []
        game.past = list(past)
        return game

    @classmethod
    def from_position(cls, position: Position, seed: int | None = None) -> Game:
        """Return the game in which `position` has arisen.

        Raises:
            PositionError: the position cannot occur, or cards are unknown (`View.from_text` reads those).
        """
        _possible(position)
        if position.hides_cards:
            raise PositionError(f"position {position.text()!r}: cards are unknown; read it as a View and sample it")
        return cls.from_records(position.rules, records_of(position, seed_state(seed)))

    @classmethod
    def from_text(cls, text: str, seed: int | None = None) -> Game:
        """Return the game of a position's text.

        Raises:
            NotationError: malformed text.
            PositionError: the position cannot occur, or cards are unknown.
        """
        return cls.from_position(parse_position(text), seed)

    def _deal(self, records: Records, deck: Sequence[int]) -> None:
        records["deck"][0][: len(deck)] = deck
        if not batch.deal_decks(self.rules.record, records):
            kings = self.rules.redeal_kings
            raise VoidDeal(f"deck: void under these rules ({kings} or more kings on the table)")

    def _advance(self, records: Records) -> None:
        """Go on to `records`; those left behind are never written again, copies of the game share them."""
        self._stack.append(self.records)
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
            TypeError: it is no `Move`.
        """
        if not isinstance(move, Move):
            raise TypeError(f"push({move!r}): expected a Move; push_text reads the text of one")
        if not move.exists:
            raise IllegalMove(f"move {tuple(move)}: allowed are the card ids 0 .. {NUM_CARDS - 1}")
        records = copy_of(self.records)
        if not batch.play_one(self.rules.record, records, int(move.card), move.mask):
            raise IllegalMove(f"move {move}: {self._why_illegal(move)}")
        self._advance(records)

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
        action = index(action)
        records = copy_of(self.records)
        if not 0 <= action < NUM_ACTIONS or batch.act_one(self.rules.record, records, action) < 0:
            raise IllegalAction(illegal_action_text(self, action))
        self._advance(records)

    def pop(self) -> None:
        """Take back the last `push`, `act` or `next_round`.

        Raises:
            IndexError: there is nothing to take back.
        """
        if not self._stack:
            raise IndexError("pop: no move to take back")
        self.records = self._stack.pop()
        if self.round_over:  # a `next_round` was taken back
            self.past.pop()

    def next_round(self, deck: str | Iterable[int | str] | None = None) -> None:
        """Deal the next round by the next dealer, shuffled or from a given `deck`.

        Raises:
            ValueError: the round or the match is not in the state for it.
            CardError, VoidDeal: as for the constructor.
        """
        if not self.round_over or self.match_over:
            raise ValueError("next_round: " + ("the match is over" if self.match_over else "the round is not over"))
        records = copy_of(self.records)
        if deck is None:
            batch.next_rounds(self.rules.record, records)
        else:
            cards = check_deck(self.rules, deck)
            batch.rotate_dealer(self.rules.record, records)
            self._deal(records, cards)
        self.past.append(self.records)
        self._advance(records)

    def copy(self) -> Game:
        """Return an independent copy."""
        game = Game.__new__(Game)
        game.rules = self.rules
        game.records = copy_of(self.records)
        game._stack = self._stack.copy()
        game.past = self.past.copy()
        return game

    def view(self, seat: int) -> View:
        """Return what `seat` knows."""
        check_seat("seat", seat, self.rules)
        return View(self.rules, _stripped(self.rules, self.records, seat), seat)

    def score(self) -> dict[str, tuple[int, ...]]:
        """Return the points of the piles as they lie, by category and side, with their ``total``."""
        table = tabulate(self.rules, self.records)
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
        out = np.empty((1, size // 8), np.uint64)
        scratch = np.empty(observation.words_of(size), np.uint64)
        batch.full_states(self.rules.record, self.records, scratch, out)
        state: np.ndarray[Any, np.dtype[np.int8]] = out.view(np.int8)[0]
        return state

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        return self.rules == other.rules and bool(np.all(self.records == other.records))

    __hash__ = None  # type: ignore[assignment]  # a game changes

    def __repr__(self) -> str:
        return f"Game({self.text()!r})"


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
