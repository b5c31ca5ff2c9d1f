"""What cards can do with a table: the part of the features of a move network that looks at captures."""

from __future__ import annotations

from typing import Any

from scopa_env.engine.bits import NONE, ONE, bit, lowest, popcount, word
from scopa_env.engine.captures import COINS, SEVENS, next_capture
from scopa_env.engine.play import is_banked, is_sweep
from scopa_env.kernel import inlined

SETTEBELLO = SEVENS & COINS


@inlined
def by_rank(cards: Any) -> Any:
    """Return the values of which there are at least 1, 2, 3 and 4 cards, as four masks."""
    one = two = three = four = NONE
    for suit in range(4):
        ranks = (cards >> word(10 * suit)) & COINS
        four |= three & ranks
        three |= two & ranks
        two |= one & ranks
        one |= ranks
    return one, two, three, four


@inlined
def reach(rules: Any, table: Any) -> Any:
    """Return values, as masks, that capture from `table`, and how.

    They sweep it, capture a coin, a seven, the seven of coins, two and three cards.
    """
    takes = sweeps = coin = seven = settebello = two = three = NONE
    for rank in range(int(rules["ranks"])):
        captured = next_capture(rules, rank, table, NONE)
        here = bit(rank)
        while captured != NONE:
            takes |= here
            if is_sweep(rules, rank, captured, table):
                sweeps |= here
            if captured & COINS != NONE:
                coin |= here
            if captured & SEVENS != NONE:
                seven |= here
            if captured & SETTEBELLO != NONE:
                settebello |= here
            count = popcount(captured)
            if count >= 2:
                two |= here
            if count >= 3:
                three |= here
            captured = next_capture(rules, rank, table, captured)
    return takes, sweeps, coin, seven, settebello, two, three


@inlined
def reached(rules: Any, ranks: Any, table: Any) -> Any:
    """Return the table cards that a card of these values can take, and those that two values can take."""
    one = two = NONE
    for rank in range(int(rules["ranks"])):
        if ranks & bit(rank) != NONE:
            cards = NONE
            captured = next_capture(rules, rank, table, NONE)
            while captured != NONE:
                cards |= captured
                captured = next_capture(rules, rank, table, captured)
            two |= one & cards
            one |= cards
    return one, two


@inlined
def _gains(rules: Any, ranks: Any, table: Any) -> Any:
    """Say whether a card of these values captures from `table`, sweeps it, takes a coin, a seven, two cards."""
    takes = sweeps = coin = seven = two = False
    for rank in range(int(rules["ranks"])):
        if ranks & bit(rank) != NONE:
            captured = next_capture(rules, rank, table, NONE)
            while captured != NONE:
                takes = True
                sweeps |= is_sweep(rules, rank, captured, table)
                coin |= captured & COINS != NONE
                seven |= captured & SEVENS != NONE
                two |= popcount(captured) >= 2
                captured = next_capture(rules, rank, table, captured)
    return takes, sweeps, coin, seven, two


@inlined
def answers(rules: Any, cards: Any, ranks: Any, table: Any) -> Any:
    """Return what cards of the values `ranks` can do after each of `cards`: values of `cards`, as masks.

    After it, capturing in one way or, if it cannot, laid, some card captures, sweeps, takes a coin, a seven, two cards.
    """
    takes = sweeps = coin = seven = two = NONE
    while cards != NONE:
        card = lowest(cards)
        cards &= cards - ONE
        here = bit(card % 10)
        captured = next_capture(rules, card, table, NONE)
        left = table & ~captured
        if captured == NONE and not is_banked(rules, card, table):
            left = table | bit(card)
        more = True
        while more:
            found = _gains(rules, ranks, left)
            if found[0]:
                takes |= here
            if found[1]:
                sweeps |= here
            if found[2]:
                coin |= here
            if found[3]:
                seven |= here
            if found[4]:
                two |= here
            if captured != NONE:
                captured = next_capture(rules, card, table, captured)
                left = table & ~captured
            more = captured != NONE
    return takes, sweeps, coin, seven, two
