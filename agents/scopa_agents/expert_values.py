"""What each card is worth to `expert`: half the points by which owning it moves the round, from the rules record."""

from __future__ import annotations

from math import comb, exp, pi, sqrt
from typing import Any

import numpy as np

from scopa_env.cards import NUM_CARDS, RE_BELLO, SETTEBELLO
from scopa_env.engine.bits import NONE, ONE, bit, lowest, popcount, word
from scopa_env.engine.captures import COINS, SEVENS, value_of
from scopa_env.kernel import kernel

MOST_HELD = 20


def w(rules: Any, i: int) -> float:
    return rules["dealer_bonus"][150 + i] / 10000.0


w = kernel(w)


def _none_held() -> Any:
    table = np.zeros((NUM_CARDS + 1, MOST_HELD + 1, NUM_CARDS + 1), np.float32)
    for unseen in range(NUM_CARDS + 1):
        for held in range(min(unseen, MOST_HELD) + 1):
            for wanted in range(unseen + 1):
                table[unseen, held, wanted] = comb(unseen - wanted, held) / comb(unseen, held)
    return table


NONE_HELD = _none_held()
"""By unseen cards, cards in a hand and wanted cards among the unseen: the chance that the hand has none of them."""


def _majority(total: int, lump: float) -> Any:
    """Return by cards still to come and own lead + `total`: what one more card adds to the sign of the last lead."""
    table = np.zeros((total + 1, 2 * total + 1), np.float32)
    for left in range(1, total + 1):
        spread = sqrt(lump * left)
        for lead in range(-total, total + 1):
            if abs(lead) <= left:
                table[left, lead + total] = sqrt(2 / pi) / spread * exp(-((lead / spread) ** 2) / 2)
    return table


# A lead changes by whole captures: of all cards by 2.6 at a time, of coins and sevens hardly more than by one.
CARD_WORTH = _majority(40, 2.6)
COIN_WORTH = _majority(10, 1.3)
SEVEN_WORTH = _majority(4, 1.0)

_PRIMIERA = np.array([0.25, 0.06, 0.07, 0.09, 0.13, 0.5, 1.0, 0.05, 0.05, 0.05])
"""By value - 1: what the best card of a suit is worth in the primiera, a seven being 1."""
BEST_OF_SUIT = np.array([max([0.0, *(_PRIMIERA[r] for r in range(10) if bits >> r & 1)]) for bits in range(1024)])


@kernel
def _suit(cards: Any, suit: int) -> int:
    return int((cards >> word(10 * suit)) & COINS)


@kernel
def _strength(pile: Any) -> float:
    total = 0.0
    for suit in range(4):
        total += BEST_OF_SUIT[_suit(pile, suit)]
    return total


@kernel
def primiera_worth(rules: Any, own: Any, other: Any, left: Any) -> float:
    """Return what a seven would add to the chances in the primiera; nothing when it is decided."""
    mine, theirs = _strength(own), _strength(other)
    behind = other if mine > theirs else own
    reach = 0.05
    for suit in range(4):
        reach += max(0.0, BEST_OF_SUIT[_suit(left, suit)] - BEST_OF_SUIT[_suit(behind, suit)])
    lead = (mine - theirs) / reach
    if lead > 1 or lead < -1:
        return 0.0
    return w(rules, 3) * rules["primiera_points"] * (1 - lead * lead)


@kernel
def _napola(own: Any, other: Any, card: int) -> float:
    """Return the worth of a coin for the run from the ace: its points by the chance that the rest comes too."""
    rank = card % 10
    need = (ONE << word(max(rank + 1, 3))) - ONE
    points = 3.0 if rank < 3 else 1.0
    worth = 0.0
    if other & need == NONE:
        worth += points * 0.5 ** popcount(need & ~own)
    if own & need == NONE:
        worth += points * 0.5 ** popcount(need & ~other)
    return worth


@kernel
def write_values(rules: Any, own: Any, other: Any, cards: Any, out: Any) -> None:
    """Write to out[c] for each of `cards`: half the difference in points between owning card c and losing it."""
    deck = rules["deck"]
    left = deck & ~own & ~other
    lead = popcount(own) - popcount(other)
    each = w(rules, 1) * rules["cards_points"] * CARD_WORTH[popcount(left), lead + 40]
    lead = popcount(own & COINS) - popcount(other & COINS)
    coin = w(rules, 2) * rules["coins_points"] * COIN_WORTH[popcount(left & COINS), lead + 10]
    seven = 0.0
    if rules["sevens_points"]:
        lead = popcount(own & SEVENS) - popcount(other & SEVENS)
        seven += rules["sevens_points"] * SEVEN_WORTH[popcount(left & SEVENS), lead + 4]
    if rules["all_sevens_bonus"]:
        reach = 0.5 ** popcount(left & SEVENS)
        seven += rules["all_sevens_bonus"] * (reach if own & SEVENS == NONE or other & SEVENS == NONE else 0.0)
    if rules["players"] > 2:
        each *= w(rules, 17)
        coin *= w(rules, 18)
        prim_factor = w(rules, 19)
    else:
        prim_factor = 1.0
    primiera = 0.0
    if rules["primiera_points"]:
        primiera = 0.5 * prim_factor * primiera_worth(rules, own, other, left)
    out[95] = each
    while cards != NONE:
        card = lowest(cards)
        cards &= cards - ONE
        worth = each
        value = value_of(card)
        if card < 10:
            worth += coin
            if card == SETTEBELLO:
                worth += rules["settebello_points"]
            if card == RE_BELLO:
                worth += rules["re_bello_points"]
            if rules["napola"]:
                worth += _napola(own, other, card)
        if value == 7:
            worth += seven
        if primiera > 0:
            strength = _PRIMIERA[value - 1]
            suit = card // 10
            gain = max(0.0, strength - BEST_OF_SUIT[_suit(own, suit)])
            gain += max(0.0, strength - BEST_OF_SUIT[_suit(other, suit)])
            worth += primiera * gain
        out[card] = worth
