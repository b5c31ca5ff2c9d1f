"""The table and the scoresheet of a round as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scopa_env import batch
from scopa_env.cards import RE_BELLO, SETTEBELLO, card_text, cards_text, suit_of, value_of
from scopa_env.engine.scoring import CATEGORIES
from scopa_env.engine.state import MAX_PLAYERS, NOBODY
from scopa_env.game import Game, View
from scopa_env.notation import tabulate
from scopa_env.rules import Rules
from scopa_env.table import Table

WIDTH = 80
"""Columns of a line of text, as far as possible."""


@dataclass(frozen=True)
class Names:
    """What the seats and the sides are called, in order."""

    seats: tuple[str, ...]
    sides: tuple[str, ...]

    @classmethod
    def plain(cls, rules: Rules) -> Names:
        """Return ``seat 0`` .., and ``side 0`` .. for teams."""
        seats = tuple(f"seat {seat}" for seat in range(rules.players))
        return cls(seats, tuple(f"side {side}" for side in range(rules.sides)) if rules.teams else seats)


def counted(number: int, word: str) -> str:
    """Return ``1 card``, ``2 cards``."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def grid(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of cells as lines: the first column to the left, the others to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]


# the table


def table_text(table: Table, names: Names | None = None, *, piles: bool = True) -> str:
    """Return the table as lines of text: hands, table and stock, what the sides hold, their piles.

    Args:
        table: a `Game`, or a `View`: then the hidden cards are ``??`` and the observer stands last.
        names: what seats and sides are called.
        piles: list the cards of the piles.
    """
    names = names or Names.plain(table.rules)
    lines = [f"{table.rules} to {table.rules.target}", *_middle_lines(table, names), "", *_side_lines(table, names)]
    if piles:
        lines += _pile_lines(table, names)
    return "\n".join(lines)


def _middle_lines(table: Table, names: Names) -> list[str]:
    """Return the hands, the table and the stock."""
    rows = [
        (names.seats[seat], _hand_text(table, seat), _seat_marks(table, names, seat)) for seat in _seat_order(table)
    ]
    rows.append(("table", cards_text(table.table, " ") or "-", _in_progress(table)))
    rows.append(("stock", counted(table.stock_size, "card"), ""))
    label = max(len(row[0]) for row in rows)
    width = max(len(row[1]) for row in rows)
    return [f"{name:<{label}}  {cards:<{width}}  {marks}".rstrip() for name, cards, marks in rows]


def _seat_order(table: Table) -> list[int]:
    players = table.rules.players
    first = table.observer + 1 if isinstance(table, View) else 0
    return [(first + k) % players for k in range(players)]


def _hand_text(table: Table, seat: int) -> str:
    hand = table.hands[seat] if isinstance(table, Game | View) else ()
    hidden = table.hand_sizes[seat] - len(hand)
    return " ".join([*map(card_text, hand), *["??"] * hidden]) or "-"


def _seat_marks(table: Table, names: Names, seat: int) -> str:
    marks = []
    if table.rules.teams:
        marks.append(names.sides[table.rules.side_of(seat)])
    if seat == table.dealer:
        marks.append("dealer")
    if seat == table.seat and not table.round_over:
        marks.append("to play")
    return ", ".join(marks)


def _in_progress(table: Table) -> str:
    if table.card is None:
        return ""
    chosen = f" for {cards_text(table.chosen, ' ')}" if table.chosen else ""
    return f"playing {card_text(table.card)}{chosen}"


def _side_lines(table: Table, names: Names) -> list[str]:
    """Return a line for each side with what it holds."""
    columns = _columns(table)
    rows = [["", *columns]]
    for side, name in enumerate(names.sides):
        rows.append([name, *(str(numbers[side]) for numbers in columns.values())])
    notes = ["", *(_side_notes(table, side) for side in range(table.rules.sides))]
    return [f"{line}   {note}".rstrip() for line, note in zip(grid(rows), notes, strict=True)]


def _columns(table: Table) -> dict[str, Sequence[int]]:
    """Return what counts under the rules, by side."""
    rules = table.rules
    columns: dict[str, Sequence[int]] = {}
    if rules.sets_to_win > 1:
        columns["sets"] = table.sets
    columns["points"] = table.totals
    columns["cards"] = _count(table, lambda card: True)
    if rules.coins_points or rules.napola:
        columns["coins"] = _count(table, lambda card: suit_of(card) == 0)
    if rules.sevens_points or rules.all_sevens_bonus or rules.primiera_points:
        columns["sevens"] = _count(table, lambda card: value_of(card) == 7)
    columns["sweeps"] = table.sweeps
    return columns


def _count(table: Table, counts: Callable[[int], bool]) -> list[int]:
    return [sum(map(counts, pile)) for pile in table.piles]


def _side_notes(table: Table, side: int) -> str:
    notes = []
    if table.rules.settebello_points and SETTEBELLO in table.piles[side]:
        notes.append("settebello")
    if table.rules.re_bello_points and RE_BELLO in table.piles[side]:
        notes.append("re bello")
    if table.last == side:
        notes.append("captured last")
    return ", ".join(notes)


def _pile_lines(table: Table, names: Names) -> Iterator[str]:
    yield "piles"
    label = max(map(len, names.sides))
    for name, pile in zip(names.sides, table.piles, strict=True):
        start = f"  {name:<{label}}  "
        cards = cards_text(pile, " ") or "-"
        yield textwrap.fill(cards, WIDTH, initial_indent=start, subsequent_indent=" " * len(start))


# the scoresheet


class _Row(NamedTuple):
    """A category: what each side holds, its points, and a remark."""

    label: str
    held: Sequence[str]
    points: Sequence[int]
    note: str = ""


def scoresheet_text(table: Table, names: Names | None = None) -> str:
    """Return the score of a round: what each side holds and its points for it, by category, with the totals.

    Before the end of the round these are the points of the piles as they lie.

    Args:
        table: a `Game` or a `View`.
        names: what the sides are called.
    """
    names = names or Names.plain(table.rules)
    scores = tabulate(table.rules, table.records)[:, : table.rules.sides]
    rows = list(_category_rows(table, dict(zip(CATEGORIES, scores.tolist(), strict=True))))
    cells = [["", *names.sides]]
    for row in rows:
        cells.append(
            [row.label, *(f"{held} {_plus(points):>3}" for held, points in zip(row.held, row.points, strict=True))]
        )
    cells += [[label, *numbers] for label, numbers in _total_rows(table, scores.sum(axis=0).tolist())]
    notes = ["", *(row.note for row in rows), *_total_notes(table)]
    lines = [f"{line}   {note}".rstrip() for line, note in zip(grid(cells), notes, strict=True)]
    return "\n".join([*lines, *_primiera_lines(table, names)])


def _plus(points: int) -> str:
    return f"+{points}" if points else ""


def _category_rows(table: Table, scores: dict[str, Sequence[int]]) -> Iterator[_Row]:
    """Return a row for each category that can score under the rules."""
    rules = table.rules
    nobody = "nobody has more than half" if rules.majority == "absolute" else "nobody"
    if rules.cards_points:
        yield _contest("cards", _count(table, lambda card: True), scores["cards"], nobody)
    if rules.coins_points:
        yield _contest("coins", _count(table, lambda card: suit_of(card) == 0), scores["coins"], nobody)
    if rules.settebello_points:
        yield _Row("settebello", _owner(table, SETTEBELLO), scores["settebello"])
    if rules.primiera_points:
        yield _contest("primiera", _primiera_sums(table), scores["primiera"])
    if rules.sevens_points or rules.all_sevens_bonus:
        yield _contest("sevens", _count(table, lambda card: value_of(card) == 7), scores["sevens"])
    if rules.sweep_points:
        yield _Row("sweeps", [str(sweeps) for sweeps in table.sweeps], scores["sweeps"])
    if rules.napola:
        yield _Row("napola", [_run_text(run) for run in scores["napola"]], scores["napola"])
    if rules.re_bello_points:
        yield _Row("re bello", _owner(table, RE_BELLO), scores["re_bello"])


def _contest(label: str, numbers: Sequence[int], points: Sequence[int], nobody: str = "nobody") -> _Row:
    """Return the row of a category that only the best side scores; `nobody` says why none did."""
    level = list(numbers).count(max(numbers)) > 1
    note = "" if any(points) else "level" if level else nobody
    return _Row(label, [str(number) for number in numbers], points, note)


def _owner(table: Table, card: int) -> list[str]:
    return [card_text(card) if card in pile else "-" for pile in table.piles]


def _run_text(run: int) -> str:
    """Return the unbroken run of `run` coins from the ace, such as ``Ad-4d``."""
    return f"{card_text(0)}-{card_text(run - 1)}" if run else "-"


def _total_rows(table: Table, points: Sequence[int]) -> Iterator[tuple[str, list[str]]]:
    yield "this round" if table.round_over else "so far", [f"+{number}" for number in points]
    yield "total" if table.round_over else "total before", [str(number) for number in table.totals]
    if table.rules.sets_to_win > 1:
        yield "sets won", [str(number) for number in table.sets]


def _total_notes(table: Table) -> list[str]:
    rules = table.rules
    notes = ["", f"to {rules.target}"]
    return [*notes, f"{rules.sets_to_win} win the match"] if rules.sets_to_win > 1 else notes


def _primiera(table: Table) -> list[tuple[int, int]]:
    """Return suits held and primiera sum of each side."""
    out = np.zeros((MAX_PLAYERS, 2), np.int64)
    batch.primiera(table.rules.record, table.records, out)
    return [(int(suits), int(total)) for suits, total in out[: table.rules.sides]]


def _primiera_sums(table: Table) -> list[int]:
    return [total for _, total in _primiera(table)]


def _primiera_lines(table: Table, names: Names) -> Iterator[str]:
    """Return the best card of each suit of each side."""
    if not table.rules.primiera_points:
        return
    yield "best of each suit"
    label = max(map(len, names.sides))
    for side, ((suits, total), cards) in enumerate(zip(_primiera(table), _best_cards(table), strict=True)):
        best = cards_text(cards, " ") or "-"
        missing = table.rules.suits - suits
        note = f"   {counted(missing, 'suit')} missing{_penalty(table.rules)}" if missing else ""
        yield f"  {names.sides[side]:<{label}}  {best:<11}  {total}{note}"


def _penalty(rules: Rules) -> str:
    return {"disqualify": ": out of the contest", "more_suits": ": behind more suits", "zero": ""}[
        rules.primiera_missing
    ]


def _best_cards(table: Table) -> list[list[int]]:
    """Return the cards of each side that count in the primiera, at most one of each suit."""
    rules = table.rules
    out = np.full((MAX_PLAYERS, 4), NOBODY, np.int64)
    batch.best_cards(rules.record, table.records, out)
    return [[card for card in cards if card != NOBODY] for cards in out[: rules.sides].tolist()]
