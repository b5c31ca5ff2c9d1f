"""The types of rule cases: which fields each has, how they are read, and what a case does with what is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from reprlib import repr as shortened
from typing import Any, NamedTuple

import numpy as np

from scopa_env import batch
from scopa_env.actions import Move
from scopa_env.cards import CardNames, card_text, cards_text, names, parse_card
from scopa_env.engine.scoring import CATEGORIES
from scopa_env.engine.state import DRAWN, MAX_PLAYERS, NOBODY
from scopa_env.game import Game, VoidDeal, best_side, check_deck
from scopa_env.notation import AmbiguousMove, Cards, IllegalMove, Position, parse_move, records_of
from scopa_env.rules import Rules, check_seat

MAX_POINTS = 10_000
MAX_SWEEPS = 100


class CannotPlay(ValueError):
    """What is given cannot be played; the case fails."""


@dataclass(frozen=True)
class Case:
    """One case: read and well formed.

    Attributes:
        id: its name in the file.
        type: what kind of case it is, a key of the table of types below.
        rules: the rules it is played by.
        given: what is given, by field.
        expect: what is expected, by field.
        text_says: what its source states, by field; compared as well.
        title: what it is about.
    """

    id: str
    type: str
    rules: Rules
    given: Mapping[str, Any]
    expect: Mapping[str, Any]
    text_says: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""


# what a field may hold: each reader returns its value in the one form that is compared, or raises ValueError

Reader = Callable[[Any, Rules], Any]


def refuse(value: object, expected: str) -> ValueError:
    """Return the error that says what a value should have been."""
    return ValueError(f"{shortened(value)}: expected {expected}")


def _whole(value: Any, rules: Rules) -> int:
    if type(value) is not int:
        raise refuse(value, "a whole number")
    return value


def _yes_or_no(value: Any, rules: Rules) -> bool:
    if type(value) is not bool:
        raise refuse(value, "true or false")
    return value


def _text(value: Any, rules: Rules) -> str:
    if not isinstance(value, str):
        raise refuse(value, "text")
    return value


def _label(value: Any, rules: Rules) -> str:
    """Read what is printed on a card: ``7`` without quotes is a number in YAML."""
    return str(value) if type(value) is int else _text(value, rules)


def as_list(value: Any) -> list[Any]:
    """Return `value` if it is a list, else raise ValueError."""
    if not isinstance(value, list):
        raise refuse(value, "a list")
    return value


def as_mapping(value: Any) -> dict[Any, Any]:
    """Return `value` if it is a mapping, else raise ValueError."""
    if not isinstance(value, dict):
        raise refuse(value, "a mapping")
    return value


def _list_of(reader: Reader) -> Reader:
    return lambda value, rules: tuple(reader(item, rules) for item in as_list(value))


def _by(count_name: str, reader: Reader) -> Reader:
    """Read a list with one item for each seat (``players``) or side (``sides``)."""

    def read(value: Any, rules: Rules) -> tuple[Any, ...]:
        count = getattr(rules, count_name)
        if len(as_list(value)) != count:
            raise refuse(value, f"{count} items, one for each of the {count_name}")
        return tuple(reader(item, rules) for item in value)

    return read


def _up_to(most: int) -> Reader:
    def read(value: Any, rules: Rules) -> int:
        if not 0 <= _whole(value, rules) <= most:
            raise refuse(value, f"a whole number 0 .. {most}")
        return int(value)

    return read


def _or_nobody(reader: Reader) -> Reader:
    return lambda value, rules: None if value is None else reader(value, rules)


def _seat(value: Any, rules: Rules) -> int:
    return check_seat("seat", _whole(value, rules), rules)


def _side(value: Any, rules: Rules) -> int:
    return int(_up_to(rules.sides - 1)(value, rules))


def _card(value: Any, rules: Rules) -> int:
    card = parse_card(_text(value, rules))
    if card not in rules.deck:
        raise ValueError(f"{value!r} is not in the deck of these rules")
    return card


def _given_deck(value: Any, rules: Rules) -> tuple[int, ...]:
    return tuple(check_deck(rules, _list_of(_card)(value, rules)))


def _given_move(value: Any, rules: Rules) -> str:
    parse_move(_text(value, rules))
    return str(value)


def _named_card(value: Any, rules: Rules) -> int:
    return parse_card(_text(value, rules))


def _expected_set(value: Any, rules: Rules) -> tuple[str, ...]:
    return _sorted_texts(_list_of(_named_card)(value, rules))


def _expected_order(value: Any, rules: Rules) -> tuple[str, ...]:
    return _texts(_list_of(_named_card)(value, rules))


def _expected_move(value: Any, rules: Rules) -> Move:
    card, captured, sweep = parse_move(_text(value, rules))
    if captured is None or sweep:
        raise refuse(value, "a move with every card it takes, without +")
    return Move(card, captured)


def _expected_moves(value: Any, rules: Rules) -> tuple[str, ...]:
    return _move_texts(_list_of(_expected_move)(value, rules))


def _expected_winner(value: Any, rules: Rules) -> int | str | None:
    if value is not None and value != "draw" and type(value) is not int:
        raise refuse(value, "a side, null or draw")
    winner: int | str | None = value
    return winner


def fields_of(readers: Mapping[str, Reader]) -> Reader:
    """Read a mapping that has some of the fields of `readers`, and no others."""

    def read(value: Any, rules: Rules) -> dict[str, Any]:
        if not as_mapping(value):
            raise ValueError("is empty")
        return {name: read_field(name, readers, value[name], rules) for name in value}

    return read


def read_field(name: Any, readers: Mapping[str, Reader], value: Any, rules: Rules) -> Any:
    """Read a field by the reader of its name; an error names the field."""
    if name not in readers:
        raise ValueError(f"{shortened(name)} is not understood here; known are {', '.join(readers)}")
    try:
        return readers[name](value, rules)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


# the one form in which values are compared: numbers, texts, and tuples and mappings of them


def _texts(cards: Iterable[int]) -> tuple[str, ...]:
    return tuple(map(card_text, cards))


def _sorted_texts(cards: Iterable[int]) -> tuple[str, ...]:
    return _texts(sorted(cards))


def _move_texts(moves: Iterable[Move]) -> tuple[str, ...]:
    return tuple(move.text() for move in sorted(moves))


def _winner(number: int) -> int | str | None:
    return {NOBODY: None, DRAWN: "draw"}.get(number, number)


def _state(game: Game) -> dict[str, Any]:
    return {
        "hands": tuple(map(_sorted_texts, game.hands)),
        "table": _sorted_texts(game.table),
        "piles": tuple(map(_sorted_texts, game.piles)),
        "sweeps": game.sweeps,
        "last_capturer": game.last,
        "over": game.round_over,
        "to_move": None if game.round_over else game.seat,
        "stock": _texts(game.stock),
        "stock_left": game.stock_size,
        "score": game.score(),
    }


# what each type of case does with what is given


def _game_of(case: Case, hands: tuple[tuple[int, ...], ...], turn: int = 0) -> Game:
    """Return the game that the fields of a case describe; cards that are not listed do not exist."""
    rules, given = case.rules, case.given
    nothing: tuple[Any, ...] = ((),) * rules.sides
    zeros = (0,) * rules.sides
    position = Position(
        rules=rules,
        hands=tuple(map(Cards, hands)),
        table=given.get("table", ()),
        stock=Cards(given.get("stock", ())),
        piles=given.get("piles", nothing),
        sweeps=given.get("sweeps", zeros),
        turn=turn,
        last=given.get("last_capturer"),
        dealer=given.get("dealer", (turn - 1) % rules.players),
        totals=zeros,
        sets=zeros,
    )
    return Game.from_records(rules, records_of(position))


def _with_hand(case: Case) -> Game:
    return _game_of(case, (case.given["hand"], *((),) * (case.rules.players - 1)))


def _scored(case: Case) -> Game:
    return _game_of(case, ((),) * case.rules.players)


def _run_legal(case: Case) -> dict[str, Any]:
    return {"moves": _move_texts(_with_hand(case).legal_moves)}


def _run_illegal(case: Case) -> dict[str, Any]:
    try:
        _with_hand(case).parse(case.given["move"])
    except IllegalMove:
        return {"legal": False}
    except AmbiguousMove as error:
        raise CannotPlay(str(error)) from None
    return {"legal": True}


def _make_moves(game: Game, moves: Iterable[str]) -> dict[str, Any]:
    for number, text in enumerate(moves, 1):
        try:
            game.push_text(text)
        except (IllegalMove, AmbiguousMove) as error:
            raise CannotPlay(f"moves: number {number}: {error}") from None
    if game.round_over and game.stock_size and not game.rules.deals:
        raise CannotPlay(f"stock: it keeps {game.stock_size}, too few to deal to every seat")
    return _state(game)


def _run_play(case: Case) -> dict[str, Any]:
    game = _game_of(case, case.given["hands"], case.given.get("to_move", 0))
    return _make_moves(game, case.given["moves"])


def _dealt(case: Case) -> Game:
    return Game(case.rules, seed=0, deck=case.given["deck"], dealer=case.given.get("dealer", 0))


def _run_round(case: Case) -> dict[str, Any]:
    try:
        game = _dealt(case)
    except VoidDeal as error:
        raise CannotPlay(str(error)) from None
    return _make_moves(game, case.given["moves"])


def _run_deal(case: Case) -> dict[str, Any]:
    try:
        game = _dealt(case)
    except VoidDeal:
        return {"void": True}
    place = case.given["deck"].index  # cards of one hand were dealt in the order of the deck
    hands = tuple(_texts(sorted(hand, key=place)) for hand in game.hands)
    return _state(game) | {"void": False, "hands": hands, "first_to_play": game.seat}


def _run_names(case: Case) -> dict[str, Any]:
    return names(case.given["card"])._asdict()


def _run_score(case: Case) -> dict[str, Any]:
    return dict(_scored(case).score())


def _run_primiera(case: Case) -> dict[str, Any]:
    game = _scored(case)
    held = np.zeros((MAX_PLAYERS, 2), np.int64)
    batch.primiera(case.rules.record, game.records, held)
    contest = case.rules.replace(primiera_points=1)  # some rules give no point for it
    return {
        "suits_and_sum": tuple(map(tuple, held[: case.rules.sides].tolist())),
        "winner": best_side(Game.from_records(contest, game.records).score()["primiera"]),
    }


def _run_match(case: Case) -> dict[str, Any]:
    rules = case.rules
    game = Game(rules, seed=0, dealer=case.given.get("dealer", 0))
    records, rounds = game.records, []
    for number, points in enumerate(case.given["rounds"], 1):
        if game.match_over:
            raise CannotPlay(f"rounds: number {number} comes after the end of the match")
        if number > 1:
            batch.rotate_dealer(rules.record, records)
        records["points"][0][: rules.sides] = points
        batch.finish_scored(rules.record, records)
        set_winner = _winner(int(records["set_winner"][0]))
        rounds.append({"total": game.totals, "dealer": game.dealer, "set_winner": set_winner})
    winner = _winner(int(records["winner"][0]))
    batch.rotate_dealer(rules.record, records)
    return {"rounds": tuple(rounds), "winner": winner, "sets": game.sets, "next_dealer": game.dealer}


def _run_sees(case: Case) -> dict[str, Any]:
    view = Game(case.rules, seed=0).view(case.given["seat"])
    return {"visible": tuple(seat for seat, hand in enumerate(view.hands) if hand)}


class CaseType(NamedTuple):
    """A type of case: readers of what it needs, of what may be absent, and of what it finds; and what it does."""

    needs: Mapping[str, Reader]
    may_have: Mapping[str, Reader]
    finds: Mapping[str, Reader]
    run: Callable[[Case], dict[str, Any]]


_card_list = _list_of(_card)
_piles = _by("sides", _card_list)
_sweeps = _by("sides", _up_to(MAX_SWEEPS))
_expected_sets = _list_of(_expected_set)
_numbers = _list_of(_whole)
_score = dict.fromkeys((*CATEGORIES, "total"), _numbers)
_round_of_match = {"total": _numbers, "dealer": _whole, "set_winner": _expected_winner}
_found_state: dict[str, Reader] = {
    "hands": _expected_sets,
    "table": _expected_set,
    "piles": _expected_sets,
    "sweeps": _numbers,
    "last_capturer": _or_nobody(_whole),
    "over": _yes_or_no,
    "to_move": _or_nobody(_whole),
    "stock": _expected_order,
    "stock_left": _whole,
    "score": fields_of(_score),
}

TYPES: Mapping[str, CaseType] = {
    "legal": CaseType(
        {"hand": _card_list},
        {"table": _card_list},
        {"moves": _expected_moves},
        _run_legal,
    ),
    "illegal": CaseType(
        {"hand": _card_list, "move": _given_move},
        {"table": _card_list},
        {"legal": _yes_or_no},
        _run_illegal,
    ),
    "play": CaseType(
        {"hands": _by("players", _card_list), "moves": _list_of(_given_move)},
        {
            "table": _card_list,
            "stock": _card_list,
            "piles": _piles,
            "sweeps": _sweeps,
            "to_move": _seat,
            "dealer": _seat,
            "last_capturer": _or_nobody(_side),
        },
        _found_state,
        _run_play,
    ),
    "round": CaseType(
        {"deck": _given_deck, "moves": _list_of(_given_move)},
        {"dealer": _seat},
        _found_state,
        _run_round,
    ),
    "deal": CaseType(
        {"deck": _given_deck},
        {"dealer": _seat},
        _found_state | {"void": _yes_or_no, "hands": _list_of(_expected_order), "first_to_play": _whole},
        _run_deal,
    ),
    "names": CaseType(
        {"card": _named_card},
        {},
        dict.fromkeys(CardNames._fields, _label) | {"value": _whole, "spanish_index": _whole},
        _run_names,
    ),
    "score": CaseType({"piles": _piles}, {"sweeps": _sweeps}, _score, _run_score),
    "primiera": CaseType(
        {"piles": _piles},
        {},
        {"suits_and_sum": _list_of(_numbers), "winner": _or_nobody(_whole)},
        _run_primiera,
    ),
    "match": CaseType(
        {"rounds": _list_of(_by("sides", _up_to(MAX_POINTS)))},
        {"dealer": _seat},
        {
            "rounds": _list_of(fields_of(_round_of_match)),
            "winner": _expected_winner,
            "sets": _numbers,
            "next_dealer": _whole,
        },
        _run_match,
    ),
    "sees": CaseType(
        {"seat": _seat}, {}, {"visible": lambda value, rules: tuple(sorted(_numbers(value, rules)))}, _run_sees
    ),
}


def check_cards(given: Mapping[str, Any]) -> None:
    """Refuse a card that lies in two places.

    Raises:
        ValueError: naming the cards.
    """
    cards: list[int] = []
    for name in ("hand", "table", "stock", "hands", "piles"):
        places = given.get(name, ())
        cards += [card for place in places for card in (place if isinstance(place, tuple) else (place,))]
    twice = sorted({card for card in cards if cards.count(card) > 1})
    if twice:
        raise ValueError(f"given: {cards_text(twice, ' ')} named more than once")
