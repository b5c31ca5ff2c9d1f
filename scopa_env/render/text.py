"""The table as plain text."""

from __future__ import annotations

from scopa_env.cards import card_text, cards_text
from scopa_env.game import Game, View
from scopa_env.table import Table


def _hand_text(table: Table, seat: int) -> str:
    hand = table.hands[seat] if isinstance(table, Game | View) else ()
    hidden = table.hand_sizes[seat] - len(hand)
    return " ".join([*map(card_text, hand), *["??"] * hidden]) or "-"


def _seat_line(table: Table, seat: int) -> str:
    marks = []
    if seat == table.dealer:
        marks.append("dealer")
    if seat == table.seat and not table.round_over:
        marks.append("to act")
    if table.rules.teams:
        marks.append(f"side {seat % table.rules.sides}")
    return f"seat {seat}  {_hand_text(table, seat):<32}{', '.join(marks)}".rstrip()


def _side_line(table: Table, side: int) -> str:
    pile = table.piles[side]
    total = f", {table.totals[side]} points" if any(table.totals) else ""
    last = "  (captured last)" if table.last == side else ""
    cards = f"  {cards_text(pile, ' ')}" if pile else ""
    return f"side {side}  {len(pile)} cards, {table.sweeps[side]} sweeps{total}{last}{cards}"


def table_text(table: Table) -> str:
    """Return the table as lines of text: seats, table, stock, piles; hidden cards as ``??``."""
    lines = [str(table.rules)]
    lines += [_seat_line(table, seat) for seat in range(table.rules.players)]
    playing = f"   playing {card_text(table.card)}" if table.card is not None else ""
    chosen = f" for {cards_text(table.chosen, ' ')}" if table.chosen else ""
    lines.append(f"table   {cards_text(table.table, ' ') or '-'}{playing}{chosen}")
    lines.append(f"stock   {table.stock_size} cards")
    lines += [_side_line(table, side) for side in range(table.rules.sides)]
    return "\n".join(lines)
