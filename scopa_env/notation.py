"""Text for moves and positions.

A move is ``7dx7c`` (captures), ``Fc`` (laid), ``5sx2d3b+`` (a sweep; the ``+`` is checked if present).  ``7dx`` stands
for the only capture of that card.  The form of the case files, ``5s>2d+3b``, is read as well.

A position is nine fields with spaces between them, two more for a match:

    rules hands table stock piles sweeps turn last dealer [totals [sets]]

``scopa 7d3c5s/?3 2dFc4s6b ?30 -/- 0/0 0 - 1``: seats and sides are separated by ``/``, ``?n`` are n unknown cards,
``-`` is nothing; turn, last (side that captured last) and dealer are numbers; turn is ``-`` when the round is over, and
names the play in progress while its capture is being named: ``0:9dx4c``.  Parsing finds out whether a text is well
formed; `Position.status` lists everything that makes it impossible.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from scopa_env import batch
from scopa_env.actions import TAKE, Move
from scopa_env.cards import CARD_PATTERN, CardError, card_text, cards_text, parse_card, parse_cards, to_mask
from scopa_env.engine.scoring import NUM_CATEGORIES
from scopa_env.engine.state import GAME, MAX_PLAYERS, NOBODY, PLAYING, UNKNOWN, Records, copy_of
from scopa_env.rules import Rules, RulesError


class NotationError(ValueError):
    """Malformed text; the message says where and what is expected."""


class IllegalMove(ValueError):
    """A well-formed move that is not legal in the position."""


class AmbiguousMove(ValueError):
    """Text that stands for several legal moves."""


class PositionError(ValueError):
    """A well-formed position that cannot occur; the message lists why."""


class MoveText(NamedTuple):
    """What a move's text says.

    Attributes:
        card: the hand card.
        captured: what it takes; None for ``7dx``, the only capture of the card.
        sweep: True if the text claims a sweep.
    """

    card: int
    captured: tuple[int, ...] | None
    sweep: bool


_MOVE = re.compile(rf"(?P<card>{CARD_PATTERN})(?:(?P<takes>[x>])(?P<captured>(?:\+?{CARD_PATTERN})*))?(?P<sweep>\+?)")
_HAND = re.compile(rf"(?P<cards>(?:{CARD_PATTERN})*)(?:\?(?P<unknown>[0-9]{{1,2}}))?")


def parse_move(text: str) -> MoveText:
    """Read the text of a move.

    Raises:
        NotationError: the text is no move.
    """
    match = _MOVE.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise NotationError(
            f"move {text!r}: expected a card, alone if it is laid (Fc), or with the cards it takes (7dx7c, 5sx2d3b+)"
        )
    captured: tuple[int, ...] | None = ()
    if match["sweep"] and not match["takes"]:
        raise NotationError(f"move {text!r}: a card that takes nothing is no sweep")
    if match["takes"]:
        cards = parse_cards(match["captured"].replace("+", " "))
        if len(set(cards)) < len(cards):
            raise NotationError(f"move {text!r}: a card is named twice")
        captured = tuple(sorted(cards)) or None
    return MoveText(parse_card(match["card"]), captured, bool(match["sweep"]))


@dataclass(frozen=True)
class Cards:
    """Cards of one place: the known ones in order, and how many unknown ones."""

    known: tuple[int, ...] = ()
    unknown: int = 0

    @property
    def count(self) -> int:
        """Number of cards, known or not."""
        return len(self.known) + self.unknown

    def text(self) -> str:
        """Return ``7d3c?2``, or ``-`` for nothing."""
        return (cards_text(self.known) + (f"?{self.unknown}" if self.unknown else "")) or "-"


@dataclass(frozen=True)
class Position:
    """A well-formed position, possible or not (`status` tells).

    Attributes:
        rules: the rules.
        hands: by seat.
        table: cards on the table, those being taken included.
        stock: undealt cards in dealing order.
        piles: by side.
        sweeps: by side.
        turn: seat to act; None when the round is over.
        last: side that captured last; None if nobody has.
        dealer: seat of the dealer.
        totals: by side: points of the set before this round (with it, when it is over).
        sets: by side: sets won.
        card: hand card being played while its capture is being named.
        chosen: table cards named so far for it.
    """

    rules: Rules
    hands: tuple[Cards, ...]
    table: tuple[int, ...]
    stock: Cards
    piles: tuple[tuple[int, ...], ...]
    sweeps: tuple[int, ...]
    turn: int | None
    last: int | None
    dealer: int
    totals: tuple[int, ...]
    sets: tuple[int, ...]
    card: int | None = None
    chosen: tuple[int, ...] = ()

    def text(self) -> str:
        """Return the position's text; `parse_position` reads it back."""
        turn = "-" if self.turn is None else str(self.turn)
        if self.card is not None:
            turn += ":" + Move(self.card, self.chosen).text()
        fields = [
            self.rules.text(),
            "/".join(hand.text() for hand in self.hands),
            cards_text(self.table) or "-",
            self.stock.text(),
            "/".join(cards_text(pile) or "-" for pile in self.piles),
            _slashed(self.sweeps),
            turn,
            "-" if self.last is None else str(self.last),
            str(self.dealer),
        ]
        if any(self.totals) or any(self.sets):
            fields.append(_slashed(self.totals))
        if any(self.sets):
            fields.append(_slashed(self.sets))
        return " ".join(fields)

    @property
    def hides_cards(self) -> bool:
        """Whether some cards are unknown."""
        return self.stock.unknown > 0 or any(hand.unknown for hand in self.hands)

    def status(self) -> list[str]:
        """List everything that makes the position impossible; an empty list if nothing was found.

        Checked are the cards (each of the deck once, none foreign), the sizes of the hands and of the stock, the side
        that captured last, what every pile must sum to, the play in progress, and totals and sets; not whether a line
        of play leads here.
        """
        return list(_contradictions(self))


def _contradictions(position: Position) -> Iterator[str]:
    cards = list(_card_contradictions(position))
    yield from cards
    yield from _hand_contradictions(position)
    yield from _pile_contradictions(position)
    yield from _opening_contradictions(position)
    yield from _play_contradictions(position)
    if not cards:  # it scores the piles, which supposes that every card is in one place
        yield from _match_contradictions(position)


def _known_cards(position: Position) -> list[int]:
    hands = [card for hand in position.hands for card in hand.known]
    piles = [card for pile in position.piles for card in pile]
    return [*hands, *position.table, *position.stock.known, *piles]


def _card_contradictions(position: Position) -> Iterator[str]:
    """Every card of the deck must be somewhere, once."""
    known = _known_cards(position)
    deck = set(position.rules.deck)
    twice = sorted(card for card, count in Counter(known).items() if count > 1)
    if twice:
        yield f"cards named more than once: {cards_text(twice, ' ')}"
    foreign = sorted(set(known) - deck)
    if foreign:
        yield f"cards that are not in this deck: {cards_text(foreign, ' ')}"
    unknown = position.stock.unknown + sum(hand.unknown for hand in position.hands)
    missing = sorted(deck - set(known))
    if len(missing) > unknown:
        yield f"cards that are nowhere: {len(missing) - unknown} of {cards_text(missing, ' ')}"
    elif len(missing) < unknown:
        yield f"unknown cards: {unknown}, but of the deck only {len(missing)} are not placed"


def _hand_contradictions(position: Position) -> Iterator[str]:
    """Seats that have played since the last deal hold one card less than those that have not."""
    rules = position.rules
    players, size = rules.players, rules.hand_size
    held = [hand.count for hand in position.hands]
    if position.turn is None:
        if any(held):
            yield f"the round is over (turn is -), but hands hold {'/'.join(map(str, held))} cards"
        deals = rules.num_deals
    else:
        most = held[position.turn]
        if not 1 <= most <= size:
            yield f"seat {position.turn} is to act with {most} cards; allowed are 1 .. {size}"
        leader = (position.dealer + 1) % players
        played = (position.turn - leader) % players
        for seat in range(players):
            right = most - ((seat - leader) % players < played)
            if held[seat] != right:
                yield (
                    f"seat {seat} holds {held[seat]} cards; {right} would fit turn {position.turn} and dealer"
                    f" {position.dealer}"
                )
        deals = None
    yield from _stock_contradictions(position, deals)


def _stock_contradictions(position: Position, deals: int | None) -> Iterator[str]:
    rules = position.rules
    each = rules.players * rules.hand_size
    first = len(rules.deck) - rules.table_size
    allowed = [first - each * n for n in range(1, rules.num_deals + 1)]
    if deals is not None:
        allowed = allowed[-1:]
    if position.stock.known and position.stock.unknown:
        yield "the stock is partly known; give all its cards in order, or ?n"
    if position.stock.count not in allowed:
        yield f"the stock holds {position.stock.count} cards; allowed are {', '.join(map(str, allowed))}"


def _pile_contradictions(position: Position) -> Iterator[str]:
    """Captures fix what a pile sums to; who captured last must own cards."""
    rules = position.rules
    piles = position.piles
    if position.last is None and any(piles):
        yield "piles hold cards, but nobody captured last (last is -)"
    if position.last is not None and not piles[position.last]:
        yield f"side {position.last} captured last, but its pile is empty"
    bonus = max(rules.dealer_bonus.values(), default=0)
    for side, (pile, sweeps) in enumerate(zip(piles, position.sweeps, strict=True)):
        if sweeps > len(pile) // 2 + bonus:
            yield f"side {side} has {sweeps} sweeps with {len(pile)} cards in its pile"
        total = sum(card % 10 + 1 for card in pile)
        if position.turn is None and side == position.last:
            continue  # leftovers
        if rules.capture == "match_or_sum" and rules.ace == "normal" and not bonus and total % 2:
            yield f"the pile of side {side} sums to {total}; captures take an even sum"
        if rules.capture == "fifteen" and not any(s % 15 for s in rules.dealer_bonus) and total % 15:
            yield f"the pile of side {side} sums to {total}; captures take 15"


def _opening_contradictions(position: Position) -> Iterator[str]:
    """Before the first play the table lies as it was dealt, or has just gone to the dealer's side."""
    rules = position.rules
    placed = [*position.table, *(card for pile in position.piles for card in pile)]
    if position.turn is None or len(placed) != rules.table_size:
        return
    sweeps = batch.first_table(rules.record, np.uint64(to_mask(placed)))
    if sweeps < 0:
        yield f"no card has been played, and the table {cards_text(placed, ' ')} voids the deal"
        return
    dealer = rules.side_of(position.dealer)
    due = tuple(sweeps * (side == dealer) for side in range(rules.sides))
    if sweeps and (position.table or position.sweeps != due or position.last != dealer):
        yield (
            f"no card has been played, and the table {cards_text(placed, ' ')} goes to the dealer's side, {dealer},"
            f" for sweeps {_slashed(due)}"
        )
    elif not sweeps and (any(position.piles) or any(position.sweeps)):
        yield "no card has been played, but sides have cards or sweeps"


def _play_contradictions(position: Position) -> Iterator[str]:
    """The card being played is in the hand, and its capture can be, and must be, named further."""
    card, turn = position.card, position.turn
    if card is None or turn is None:
        return
    absent = sorted(set(position.chosen) - set(position.table))
    if card not in position.hands[turn].known:
        yield f"{card_text(card)} is being played, but is not in the hand of seat {turn}"
    elif absent:
        yield f"cards being taken are not on the table: {cards_text(absent, ' ')}"
    elif not _can_be_in_progress(position, card):
        yield f"{Move(card, position.chosen)} cannot be a play in progress"


def _can_be_in_progress(position: Position, card: int) -> bool:
    """Say whether naming `card` and then cards of `chosen` stops at `chosen`, with more to name."""
    records = _bare_records(dataclasses.replace(position, card=None, chosen=()))
    left = list(position.chosen)
    action = card
    while batch.choose_one(position.rules.record, records, action) == 0:
        named = int(records["chosen"][0])
        left = [other for other in left if not named >> other & 1]
        if not left:
            return named == to_mask(position.chosen)
        action = TAKE + left[0]
    return False


def _match_contradictions(position: Position) -> Iterator[str]:
    """What went before must not have decided the set or the match; what this round decided must have been counted."""
    rules, totals = position.rules, position.totals
    before, won = totals, NOBODY
    if position.turn is None:
        points = tuple(tabulate(rules, _bare_records(position)).sum(axis=0).tolist())
        before = tuple(total - more for total, more in zip(totals, points, strict=False))
        won = _set_result(rules, totals)
        if min(before) < 0:
            yield f"totals {_slashed(totals)} are less than the points of this round, {_slashed(points[: rules.sides])}"
    if _set_result(rules, before) != NOBODY:
        yield f"totals before this round were {_slashed(before)}: the set was over (target {rules.target})"
    for side, sets in enumerate(position.sets):
        most = rules.sets_to_win - (side != won)
        if sets > most or (side == won and not sets):
            yield f"side {side} has won {sets} sets; allowed are {int(side == won)} .. {most}"


def _set_result(rules: Rules, totals: tuple[int, ...]) -> int:
    """Return the side that wins a set with `totals`, NOBODY if it goes on, DRAWN if it ends level."""
    padded = np.zeros(MAX_PLAYERS, np.int64)
    padded[: rules.sides] = totals
    return int(batch.set_result(rules.record, padded))


def _slashed(numbers: tuple[int, ...]) -> str:
    return "/".join(map(str, numbers))


def tabulate(rules: Rules, records: Records) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the points of the piles of records[0], int64[NUM_CATEGORIES, MAX_PLAYERS]."""
    table = np.zeros((NUM_CATEGORIES, MAX_PLAYERS), np.int64)
    batch.tabulate(rules.record, records, table)
    return table


def records_of(position: Position, rng: int = 0) -> Records:
    """Return a position as GAME[1]; it is not checked, cards that are nowhere simply do not exist."""
    records = _bare_records(position)
    records["rng"] = rng
    if position.turn is None:
        _finish(position.rules, records)
    return records


def _bare_records(position: Position) -> Records:
    """Return a position as GAME[1], a round that is over not scored yet."""
    rules = position.rules
    records = np.zeros(1, GAME)
    record = records[0]
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
    return records


def _finish(rules: Rules, records: Records) -> None:
    """Score a round that is over, of which totals and sets are known as they stand after it."""
    records["points"][0] = tabulate(rules, records).sum(axis=0)
    records["totals"][0] -= records["points"][0]
    trial = copy_of(records)
    batch.finish_scored(rules.record, trial)
    winner = int(trial["set_winner"][0])
    if winner >= 0 and records["sets"][0][winner]:
        records["sets"][0][winner] -= 1
    batch.finish_scored(rules.record, records)


def parse_position(text: str) -> Position:
    """Read a position.

    Raises:
        NotationError: the text is malformed; the message names the field.
    """
    fields = text.split() if isinstance(text, str) else []
    if not 9 <= len(fields) <= 11:
        raise NotationError(
            f"position {text!r}: {len(fields)} fields; expected rules hands table stock piles sweeps turn last dealer"
            " [totals [sets]]"
        )
    try:
        return _parse_fields(fields)
    except (CardError, RulesError) as error:
        raise NotationError(f"position {text!r}: {error}") from None


def _parse_fields(fields: list[str]) -> Position:
    rules = Rules.parse(fields[0])
    sides, players = rules.sides, rules.players
    hands = tuple(_read_cards("hands", part) for part in _split("hands", fields[1], players))
    piles = tuple(_read_known("piles", part) for part in _split("piles", fields[4], sides))
    turn, _, pending = fields[6].partition(":")
    totals, sets = (*fields[9:], *["/".join("0" * sides)] * 2)[:2]
    position = Position(
        rules=rules,
        hands=hands,
        table=_read_known("table", fields[2]),
        stock=_read_cards("stock", fields[3]),
        piles=piles,
        sweeps=_read_numbers("sweeps", fields[5], sides, 40),
        turn=_read_index("turn", turn, players),
        last=_read_index("last", fields[7], sides),
        dealer=_read_index("dealer", fields[8], players) or 0,
        totals=_read_numbers("totals", totals, sides, 30_000),
        sets=_read_numbers("sets", sets, sides, 100),
    )
    if fields[8] == "-":
        raise NotationError(f"dealer '-': allowed are seats 0 .. {players - 1}")
    return _with_pending(position, pending) if ":" in fields[6] else position


def _with_pending(position: Position, text: str) -> Position:
    """Add the play in progress to a position."""
    move = parse_move(text)
    if position.turn is None or move.captured is None or move.sweep:
        raise NotationError(f"turn: play in progress {text!r}: expected SEAT:CARD or SEAT:CARDxCARDS")
    return dataclasses.replace(position, card=move.card, chosen=move.captured)


def _split(name: str, text: str, count: int) -> list[str]:
    parts = text.split("/")
    if len(parts) != count:
        raise NotationError(f"{name} {text!r}: {len(parts)} parts, {count} expected")
    return parts


def _read_cards(name: str, text: str) -> Cards:
    if text == "-":
        return Cards()
    match = _HAND.fullmatch(text)
    if match is None or not text:
        raise NotationError(f"{name} {text!r}: expected cards, ?n for n unknown ones, or -")
    return Cards(tuple(parse_cards(match["cards"])), int(match["unknown"] or 0))


def _read_known(name: str, text: str) -> tuple[int, ...]:
    cards = _read_cards(name, text)
    if cards.unknown:
        raise NotationError(f"{name} {text!r}: cards there cannot be unknown")
    return cards.known


def _read_numbers(name: str, text: str, count: int, most: int) -> tuple[int, ...]:
    numbers = []
    for part in _split(name, text, count):
        if not re.fullmatch("[0-9]{1,5}", part) or int(part) > most:
            raise NotationError(f"{name} {text!r}: {part!r} is no number 0 .. {most}")
        numbers.append(int(part))
    return tuple(numbers)


def _read_index(name: str, text: str, count: int) -> int | None:
    if text == "-":
        return None
    if not re.fullmatch("[0-9]", text) or int(text) >= count:
        raise NotationError(f"{name} {text!r}: allowed are 0 .. {count - 1} and -")
    return int(text)
