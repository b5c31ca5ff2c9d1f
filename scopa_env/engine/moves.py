"""Whole moves one after the other, without a list: a card and the set it captures (empty: it is laid)."""

from __future__ import annotations

from typing import Any

from scopa_env.engine.bits import NONE, below, bit, lowest
from scopa_env.engine.captures import next_capture, starts_with
from scopa_env.engine.play import LAY, TAKE, may_lay, playable_cards
from scopa_env.engine.rng import random_below
from scopa_env.engine.state import NOBODY, PLAYING
from scopa_env.kernel import kernel


@kernel
def _next_capture_of_play(rules: Any, game: Any, card: int, captured: Any) -> Any:
    """Return the capture of `card` after `captured` that agrees with the table cards named so far."""
    captured = next_capture(rules, card, game["table"], captured)
    while captured != NONE and not starts_with(captured, game["chosen"]):
        captured = next_capture(rules, card, game["table"], captured)
    return captured


@kernel
def next_move(rules: Any, game: Any, card: int, captured: Any) -> Any:
    """Return the legal move of the seat to act that follows (`card`, `captured`).

    By ascending card; for each its captures in the order of their cards, then laying it.  Starts from and ends with
    (NOBODY, empty).  While a play is in progress, the moves that complete it.
    """
    if card != NOBODY and captured != NONE:
        captured = _next_capture_of_play(rules, game, card, captured)
        if captured != NONE or may_lay(rules, game):
            return card, captured
    if game["stage"] != PLAYING:
        return NOBODY, NONE
    cards = playable_cards(rules, game)
    if int(game["card"]) != NOBODY:
        cards = bit(int(game["card"]))
    later = cards & ~below(card + 1)
    if later == NONE:
        return NOBODY, NONE
    card = lowest(later)
    return card, _next_capture_of_play(rules, game, card, NONE)


@kernel
def first_action(game: Any, card: int, captured: Any) -> int:
    """Return the next action that says the move (`card`, `captured`)."""
    if int(game["card"]) == NOBODY:
        return card
    if captured == NONE:
        return LAY
    return TAKE + lowest(captured & ~game["chosen"])


@kernel
def count_moves(rules: Any, game: Any) -> int:
    """Return the number of legal moves."""
    count = 0
    card, captured = next_move(rules, game, NOBODY, NONE)
    while card != NOBODY:
        count += 1
        card, captured = next_move(rules, game, card, captured)
    return count


@kernel
def random_move(rules: Any, game: Any) -> Any:
    """Return one of the legal moves, each equally likely, by the generator of `game`."""
    skip = random_below(game, count_moves(rules, game))
    card, captured = next_move(rules, game, NOBODY, NONE)
    for _ in range(skip):
        card, captured = next_move(rules, game, card, captured)
    return card, captured
