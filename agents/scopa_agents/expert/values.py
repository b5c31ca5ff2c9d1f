"""What each card is worth to `expert`: half the points by which owning it moves the round, from the rules record."""

from __future__ import annotations

from math import exp, pi, sqrt
from typing import Any

import numpy as np

from scopa_env.cards import RE_BELLO, SETTEBELLO
from scopa_env.engine.bits import NONE, ONE, below, bit, lowest, popcount, word
from scopa_env.engine.captures import COINS, SEVENS, value_of
from scopa_env.kernel import inlined

HOLD = 0.2
"""Part of its worth that a hand card is counted as owned already: it may end in either pile."""
PRIMIERA = 0.4
"""What a seven adds to the chance of the primiera while neither side has anything."""
COIN = 0.72
"""Part of a coin's worth that counts: between experts the lead in coins returns to the middle."""
LONG = 6
"""From so many cards in a hand on, sweeps come in chains, and some weights, named LONG_.., are others."""
LONG_CARD, LONG_PRIMIERA = 0.8, 0.5
"""Part of the worth of cards, coins and the primiera that counts: a sweep is more than its point."""


def _majority(total: int, lump: float) -> Any:
    """Return what a card adds to the sign of the last lead, by cards still to come and own lead + `total`.

    The final lead is taken as normal around the present one, with variance `lump` for each card still to come.
    """
    table = np.zeros((total + 1, 2 * total + 1), np.float32)
    for left in range(1, total + 1):
        spread = sqrt(lump * left)
        for lead in range(-left, left + 1):
            table[left, lead + total] = sqrt(2 / pi) / spread * exp(-((lead / spread) ** 2) / 2)
    return table


# Measured between experts: 2.2 to 3.2 for cards, 1.1 to 1.3 for coins, 1.1 to 1.7 for sevens.
_CARD = _majority(40, 2.6)
_COIN = _majority(10, 1.2)
_SEVEN = _majority(4, 1.5)

_PRIMIERA = np.array([0.25, 0.06, 0.07, 0.09, 0.13, 0.5, 1.0, 0.05, 0.05, 0.05])
"""By value - 1: what the best card of a suit is worth in the primiera, a seven being 1."""
_BEST = np.array([max([0.0, *(_PRIMIERA[rank] for rank in range(10) if cards >> rank & 1)]) for cards in range(1024)])
"""The same by the cards held of a suit, as bits."""


@inlined
def long_hands(rules: Any) -> bool:
    """Say whether hands are as long as in Scopone."""
    return int(rules["hand_size"]) >= LONG


@inlined
def _best(pile: Any, suit: int) -> float:
    return float(_BEST[int((pile >> word(10 * suit)) & COINS)])


@inlined
def _primiera(rules: Any, own: Any, other: Any, left: Any) -> float:
    """Return what a seven adds to the chance of the primiera; nothing once it is decided."""
    lead = 0.0
    for suit in range(4):
        lead += _best(own, suit) - _best(other, suit)
    behind = other if lead > 0 else own
    reach = 0.05
    for suit in range(4):
        reach += max(0.0, _best(left, suit) - _best(behind, suit))
    lead /= reach
    return max(0.0, PRIMIERA * int(rules["primiera_points"]) * (1 - lead * lead))


@inlined
def _napola(own: Any, other: Any, card: int) -> float:
    """Return what a coin is worth for the run from the ace: its points by the chance of the other cards needed."""
    need = below(max(card + 1, 3))
    points = 3.0 if card < 3 else 1.0
    worth = 0.0
    if other & need == NONE:
        worth += points * 0.5 ** popcount(need & ~own)
    if own & need == NONE:
        worth += points * 0.5 ** popcount(need & ~other)
    return worth


@inlined
def _seven(rules: Any, own: Any, other: Any, left: Any) -> float:
    """Return what a seven is worth where sevens score by themselves."""
    count = popcount(left & SEVENS)
    lead = popcount(own & SEVENS) - popcount(other & SEVENS)
    worth = int(rules["sevens_points"]) * float(_SEVEN[count, lead + 4])
    if own & SEVENS == NONE or other & SEVENS == NONE:
        worth += int(rules["all_sevens_bonus"]) * 0.5**count
    return worth


@inlined
def _coin_extra(rules: Any, own: Any, other: Any, card: int) -> float:
    """Return what a coin is worth beside being one."""
    worth = 0.0
    if card == SETTEBELLO:
        worth += int(rules["settebello_points"])
    if card == RE_BELLO:
        worth += int(rules["re_bello_points"])
    if rules["napola"]:
        worth += _napola(own, other, card)
    return worth


@inlined
def _for_primiera(own: Any, other: Any, card: int) -> float:
    """Return the mean of what a card adds to the best of its suit on either side."""
    strength = _PRIMIERA[value_of(card) - 1]
    suit = card // 10
    return 0.5 * float(max(0.0, strength - _best(own, suit)) + max(0.0, strength - _best(other, suit)))


@inlined
def write_worth(rules: Any, notes: Any, own: Any, other: Any, cards: Any) -> None:
    """Write what each of `cards` is worth, given the piles of the own side and of its rival."""
    left = rules["deck"] & ~own & ~other
    lead = popcount(own) - popcount(other)
    each = int(rules["cards_points"]) * float(_CARD[popcount(left), lead + 40])
    lead = popcount(own & COINS) - popcount(other & COINS)
    coin = COIN * int(rules["coins_points"]) * float(_COIN[popcount(left & COINS), lead + 10])
    seven = _seven(rules, own, other, left)
    primiera = _primiera(rules, own, other, left) if rules["primiera_points"] else 0.0
    if long_hands(rules):
        each *= LONG_CARD
        coin *= LONG_CARD
        primiera *= LONG_PRIMIERA
    notes["each"] = each
    while cards != NONE:
        card = lowest(cards)
        cards &= cards - ONE
        worth = each
        if bit(card) & COINS != NONE:
            worth += coin + _coin_extra(rules, own, other, card)
        if value_of(card) == 7:
            worth += seven
        if primiera > 0:
            worth += primiera * _for_primiera(own, other, card)
        notes["worth"][card] = worth


@inlined
def worth_of(notes: Any, cards: Any) -> float:
    """Return what a set of cards is worth."""
    total = 0.0
    while cards != NONE:
        total += notes["worth"][lowest(cards)]
        cards &= cards - ONE
    return total
