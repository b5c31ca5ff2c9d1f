"""Scoring: the points of a round by category, what is certain before its end, and the match."""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_env.cards import RE_BELLO, SETTEBELLO
from scopa_env.engine.bits import NONE, bit, popcount, word
from scopa_env.engine.captures import COINS, SEVENS
from scopa_env.engine.state import (
    ABSOLUTE,
    DISQUALIFY,
    DRAW,
    DRAWN,
    MATCH_OVER,
    MAX_PLAYERS,
    MORE_SUITS,
    NOBODY,
    ROUND_OVER,
)
from scopa_env.kernel import kernel

PRIMIERA_ORDER = np.array([6, 5, 0, 4, 3, 2, 1, 9, 8, 7])
"""Ranks (value - 1) from the highest primiera value down: 7 6 A 5 4 3 2 and the faces, whatever these are worth."""

ALL_CARDS = np.uint64((1 << 40) - 1)
CATEGORIES = (
    "cards",
    "coins",
    "settebello",
    "primiera",
    "sevens",
    "sweeps",
    "napola",
    "re_bello",
)
"""The categories of a round's score, in the order of the first axis of a points table."""
NUM_CATEGORIES = len(CATEGORIES)
(_CARDS, _COINS, _SETTEBELLO, _PRIMIERA, _SEVENS, _SWEEPS, _NAPOLA, _RE_BELLO) = range(8)


@kernel
def _leads(rules: Any, piles: Any, side: int, cards: Any, spare: Any, absolute: bool) -> bool:
    """Say whether `side` has most of `cards`, and keeps that if any one other side gets all of `spare`.

    Args:
        rules: a RULES record.
        piles: uint64[6], by side.
        side: the side asked about.
        cards: the category, a mask.
        spare: cards that nobody owns yet.
        absolute: it needs more than half of the category's cards in the deck.
    """
    own = popcount(piles[side] & cards)
    if absolute and 2 * own <= popcount(rules["deck"] & cards):
        return False
    reach = popcount(spare & cards)
    for other in range(int(rules["sides"])):
        if other != side and own <= popcount(piles[other] & cards) + reach:
            return False
    return True


@kernel
def suits_held(rules: Any, pile: Any) -> int:
    """Return the number of suits of which `pile` has a card."""
    held = 0
    for suit in range(int(rules["suits"])):
        if (pile >> word(10 * suit)) & COINS != NONE:
            held += 1
    return held


@kernel
def best_of_suit(rules: Any, pile: Any, suit: int) -> int:
    """Return the card of `suit` in `pile` with the highest primiera value, NOBODY if there is none."""
    cards = (pile >> word(10 * suit)) & COINS
    if cards != NONE:
        for rank in PRIMIERA_ORDER:
            if cards & bit(rank) != NONE:
                return 10 * suit + int(rank)
    return NOBODY


@kernel
def primiera_sum(rules: Any, pile: Any) -> int:
    """Return the primiera values of the best card of each suit in `pile`, summed."""
    total = 0
    for suit in range(int(rules["suits"])):
        best = best_of_suit(rules, pile, suit)
        if best != NOBODY:
            total += int(rules["primiera_values"][best % 10])
    return total


@kernel
def primiera_rank(rules: Any, pile: Any) -> int:
    """Return a number that orders piles in the primiera by ``primiera_missing``; -1: out of the contest."""
    total = primiera_sum(rules, pile)
    if rules["primiera_missing"] == MORE_SUITS:
        return 1000 * suits_held(rules, pile) + total
    if rules["primiera_missing"] == DISQUALIFY and suits_held(rules, pile) < int(rules["suits"]):
        return -1
    return total


@kernel
def _leads_primiera(rules: Any, piles: Any, side: int, spare: Any) -> bool:
    """Say whether `side` has the best primiera, and keeps that if any one other side gets all of `spare`."""
    own = primiera_rank(rules, piles[side])
    for other in range(int(rules["sides"])):
        if other != side and own <= primiera_rank(rules, piles[other] | spare):
            return False
    return True


@kernel
def _napola(rules: Any, pile: Any) -> int:
    """Return the length of the run of coins from the ace, if it has at least the ace, two and three."""
    run = 0
    while run < int(rules["ranks"]) and pile & bit(run) != NONE:
        run += 1
    return run if run >= 3 else 0


@kernel
def score_side(rules: Any, piles: Any, sweeps: Any, spare: Any, side: int, category: int) -> int:
    """Return the points that `side` has for certain in `category`.

    Args:
        rules: a RULES record.
        piles: uint64[6], by side.
        sweeps: uint8[6], by side.
        spare: a mask of the cards in no pile that may yet come to one; empty at the end of a round.
        side: the side.
        category: index in CATEGORIES.
    """
    pile = piles[side]
    absolute = bool(rules["majority"] == ABSOLUTE)
    if category == _CARDS:
        points = int(rules["cards_points"])
        return points if points and _leads(rules, piles, side, ALL_CARDS, spare, absolute) else 0
    if category == _COINS:
        points = int(rules["coins_points"])
        return points if points and _leads(rules, piles, side, COINS, spare, absolute) else 0
    if category == _SETTEBELLO:
        return int(rules["settebello_points"]) if pile & bit(SETTEBELLO) != NONE else 0
    if category == _PRIMIERA:
        points = int(rules["primiera_points"])
        return points if points and _leads_primiera(rules, piles, side, spare) else 0
    if category == _SEVENS:
        return _sevens(rules, piles, side, spare)
    if category == _SWEEPS:
        return int(rules["sweep_points"]) * int(sweeps[side])
    if category == _NAPOLA:
        return _napola(rules, pile) if rules["napola"] else 0
    return int(rules["re_bello_points"]) if pile & bit(RE_BELLO) != NONE else 0


@kernel
def _sevens(rules: Any, piles: Any, side: int, spare: Any) -> int:
    """Return the points for most sevens and for all sevens of the deck."""
    points = 0
    if rules["sevens_points"] and _leads(rules, piles, side, SEVENS, spare, False):
        points += int(rules["sevens_points"])
    sevens = rules["deck"] & SEVENS
    if rules["all_sevens_bonus"] and sevens != NONE and piles[side] & sevens == sevens:
        points += int(rules["all_sevens_bonus"])
    return points


@kernel
def score_total(rules: Any, piles: Any, sweeps: Any, spare: Any, side: int) -> int:
    """Return the points that `side` has for certain, all categories together (arguments as in `score_side`)."""
    total = 0
    for category in range(NUM_CATEGORIES):
        total += score_side(rules, piles, sweeps, spare, side, category)
    return total


@kernel
def settled_points(rules: Any, game: Any, side: int) -> int:
    """Return the points of this round that are certain for `side`; at its end, its points."""
    if int(game["stage"]) >= ROUND_OVER:
        return int(game["points"][side])
    owned = NONE
    for other in range(int(rules["sides"])):
        owned |= game["piles"][other]
    return score_total(rules, game["piles"], game["sweeps"], rules["deck"] & ~owned, side)


@kernel
def finish_round(rules: Any, game: Any) -> None:
    """Give the leftovers to the side that captured last, score the round and move the match on."""
    last = int(game["last"])
    if last != NOBODY:
        game["piles"][last] |= game["table"]
        game["table"] = NONE
    for side in range(int(rules["sides"])):
        game["points"][side] = score_total(rules, game["piles"], game["sweeps"], NONE, side)
    finish_scored_round(rules, game)


@kernel
def leader(rules: Any, numbers: Any) -> int:
    """Return the side with the largest of `numbers` (int[6], by side), NOBODY if it is not alone."""
    best = 0
    alone = True
    for side in range(1, int(rules["sides"])):
        if int(numbers[side]) == int(numbers[best]):
            alone = False
        elif int(numbers[side]) > int(numbers[best]):
            best, alone = side, True
    return best if alone else NOBODY


@kernel
def set_result(rules: Any, totals: Any) -> int:
    """Return the side that wins the set with `totals` (int[6], by side), NOBODY: it goes on, DRAWN: it ends level."""
    reached = False
    for side in range(int(rules["sides"])):
        reached = reached or int(totals[side]) >= int(rules["target"])
    if not reached:
        return NOBODY
    ahead = leader(rules, totals)
    if ahead == NOBODY and rules["target_tie"] == DRAW:
        return DRAWN
    return ahead


@kernel
def finish_scored_round(rules: Any, game: Any) -> None:
    """Add the points of the round to the totals; decide set and match."""
    for side in range(int(rules["sides"])):
        game["totals"][side] += game["points"][side]
    game["rounds"] += 1
    game["stage"] = ROUND_OVER
    result = set_result(rules, game["totals"])
    if result == DRAWN:
        game["set_winner"] = DRAWN
        game["winner"] = DRAWN
        game["stage"] = MATCH_OVER
    elif result != NOBODY:
        _win_set(rules, game, result)


@kernel
def _win_set(rules: Any, game: Any, side: int) -> None:
    game["set_winner"] = side
    game["sets"][side] += 1
    if int(game["sets"][side]) >= int(rules["sets_to_win"]):
        game["winner"] = side
        game["stage"] = MATCH_OVER


@kernel
def tabulate(rules: Any, piles: Any, sweeps: Any, table: Any) -> None:
    """Write the points of finished piles.

    Args:
        rules: a RULES record.
        piles: uint64[6], by side.
        sweeps: uint8[6], by side.
        table: int64[NUM_CATEGORIES, 6], written: points by category and side.
    """
    for category in range(NUM_CATEGORIES):
        for side in range(MAX_PLAYERS):
            table[category, side] = 0
        for side in range(int(rules["sides"])):
            table[category, side] = score_side(rules, piles, sweeps, NONE, side, category)


@kernel
def marked_cards(rules: Any, pile: Any) -> Any:
    """Return the cards of `pile` that scoring asks for by name; of the others only how many, and how many coins."""
    named = NONE
    if rules["settebello_points"]:
        named |= bit(SETTEBELLO)
    if rules["re_bello_points"]:
        named |= bit(RE_BELLO)
    if rules["napola"]:
        named |= COINS
    if rules["sevens_points"] or rules["all_sevens_bonus"]:
        named |= SEVENS
    marked = pile & named
    if rules["primiera_points"]:
        for suit in range(int(rules["suits"])):
            best = best_of_suit(rules, pile, suit)
            if best != NOBODY:
                marked |= bit(best)
    return marked
