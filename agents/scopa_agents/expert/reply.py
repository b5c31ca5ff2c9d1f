"""What a table that `expert` leaves is worth: what the next seat takes, and what its own side does after that."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from scopa_agents.expert.values import HOLD
from scopa_env.cards import NUM_CARDS
from scopa_env.engine.bits import NONE, ONE, lowest, popcount, word
from scopa_env.engine.captures import ACES, FIFTEEN, same_value, value_of
from scopa_env.engine.state import ANY, FEWEST
from scopa_env.kernel import inlined

KEEP = 0.5
"""Chance that a play near the end captures nothing: the leftovers are for who captured last."""
ANSWER = 0.5
"""Part of the helper's sweep, after the next seat's play, that counts: that seat sees it coming."""
HELP = 0.6
"""Part of the helper's best capture that counts if the next seat leaves the table alone."""
STILL = 0.3
"""Part of this that is left if it does not."""
OWN = 0.55
"""Part of the own best capture after a partner's turn that counts."""

_MOST_HELD = 20
_NO_SET = -1e9
_PER_CARD = 1000.0
"""Under "the fewest cards" sums are ordered by their number first."""

# Everything is inlined into the one kernel that decides: measured, a sixth less time.


def _none_held() -> Any:
    table = np.zeros((NUM_CARDS + 1, _MOST_HELD + 1, NUM_CARDS + 1))
    for unseen in range(NUM_CARDS + 1):
        for held in range(min(unseen, _MOST_HELD) + 1):
            for wanted in range(unseen + 1):
                table[unseen, held, wanted] = comb(unseen - wanted, held) / comb(unseen, held)
    return table.astype(np.float32)


NONE_HELD = _none_held()
"""By unseen cards, cards in a hand and wanted cards among the unseen: the chance that the hand has none of them."""


@inlined
def _is_doubted(rules: Any, doubt: int, value: int) -> bool:
    return bool(doubt >> (FIFTEEN - value if rules["fifteen"] else value) & 1)


@inlined
def sweep_chance(rules: Any, notes: Any, total: int) -> float:
    """Return the chance that the helper has the card that sweeps a table with the sum `total`."""
    value = FIFTEEN - total if rules["fifteen"] else total
    if total <= 0 or value < 1 or value > 10:
        return 0.0
    if notes["helper_known"]:
        return 1.0 if notes["helper_hand"] & same_value(value - 1) != NONE else 0.0
    number = notes["number"][value]
    chance = 1.0 - float(NONE_HELD[notes["count"], notes["helper_held"], number])
    return float(chance * notes["trust"]) if _is_doubted(rules, notes["helper_doubt"], value) else chance


@inlined
def _laying_chance(rules: Any, notes: Any) -> float:
    """Return the chance that the helper sweeps if the next seat lays any unseen card."""
    total = notes["total"]
    if notes["count"] == 0 or total > (13 if rules["fifteen"] else 9):
        return 0.0
    chance = 0.0
    for value in range(1, 11):
        if notes["number"][value] > 0:
            chance += notes["number"][value] * sweep_chance(rules, notes, total + value)
    return float(chance / notes["count"])


@inlined
def _write_sums(rules: Any, notes: Any, table: Any) -> None:
    """Write what the best set of table cards is worth by its sum, and the best card by its value."""
    top = 14 if rules["fifteen"] else 10
    penalty = _PER_CARD if rules["priority"] == FEWEST else 0.0
    for total in range(1, 15):
        notes["sums"][total] = _NO_SET
    notes["sums"][0] = 0.0
    for value in range(1, 11):
        notes["match"][value] = -1.0
    while table != NONE:
        card = lowest(table)
        table &= table - ONE
        value = value_of(card)
        worth = notes["worth"][card]
        notes["match"][value] = max(notes["match"][value], worth)
        for total in range(top, value - 1, -1):
            notes["sums"][total] = max(notes["sums"][total], notes["sums"][total - value] + worth - penalty)


@inlined
def _ace_gain(rules: Any, notes: Any, table: Any, worth: float, sweep: float) -> Any:
    """Return what an ace that takes all captures, without and with the sweep."""
    aces = table & ACES
    alone = popcount(table) == 1 and aces != NONE
    plain = notes["match"][1] if aces != NONE and not rules["ace_faces_all"] else worth
    swept = alone or (bool(rules["ace_scopa"]) and (aces == NONE or bool(rules["ace_faces_all"])))
    return plain, plain + sweep if swept else plain


@inlined
def _gain(rules: Any, notes: Any, table: Any, value: int, worth: float, sweep: float) -> Any:
    """Return what a card of `value` captures at best, without and with the sweep; below 0: nothing."""
    if rules["ace_takes_all"] and value == 1:
        return _ace_gain(rules, notes, table, worth, sweep)
    target = FIFTEEN - value if rules["fifteen"] else value
    all_of_it = notes["total"] == target
    plain = notes["match"][value]
    if rules["priority"] == ANY or plain < 0:
        plain = notes["sums"][target]
        if plain < _NO_SET / 2:
            return -1.0, -1.0
        if rules["priority"] == FEWEST:
            count = int((_PER_CARD - 1 - plain) // _PER_CARD)
            plain += _PER_CARD * count
            all_of_it = all_of_it and count == popcount(table)
    if all_of_it:
        return worth, worth + sweep
    return plain, plain


@inlined
def _write_gains(rules: Any, notes: Any, table: Any, worth: float) -> int:
    """Write what each card value captures from `table`; return the values, as bits, that the next seat may use."""
    values = 0
    rest = notes["held_values"]
    while rest != NONE:
        value = lowest(rest)
        rest &= rest - ONE
        plain, gain = _gain(rules, notes, table, value, worth, notes["next_sweep"])
        notes["plain"][value] = plain
        if plain >= 0 and notes["number"][value] > 0:
            values |= 1 << value
            left = notes["total"] - (FIFTEEN - value if rules["fifteen"] else value)
            if left > 0:
                gain -= ANSWER * notes["helper_sweep"] * sweep_chance(rules, notes, left)
            notes["gain"][value] = max(0.0, gain)
    return values


@inlined
def _best_value(notes: Any, values: int) -> int:
    """Return which of `values` (bits) gains most."""
    rest = word(values)
    best = lowest(rest)
    rest &= rest - ONE
    while rest != NONE:
        value = lowest(rest)
        rest &= rest - ONE
        if notes["gain"][value] > notes["gain"][best]:
            best = value
    return best


@inlined
def _best_of_hand(notes: Any, hand: Any) -> float:
    """Return what the best capture of a known hand is worth."""
    best = 0.0
    while hand != NONE:
        best = max(best, notes["plain"][value_of(lowest(hand))])
        hand &= hand - ONE
    return float(best)


@inlined
def _held_by(rules: Any, notes: Any, doubt: int, value: int, without: float, without_both: float) -> float:
    """Return the chance of a card of `value` in a hand that lacks the better ones.

    Args:
        rules: a RULES record.
        notes: a NOTES record.
        doubt: values, as bits, that the hand probably lacks.
        value: the value.
        without: the chance that it has none of the better ones, above 0.
        without_both: the chance that it has none of `value` either.
    """
    chance = 1.0 - without_both / without
    return chance * notes["trust"] if _is_doubted(rules, doubt, value) else chance


@inlined
def _loss(rules: Any, notes: Any, values: int, flip: float) -> Any:
    """Return what the next seat gains where `values` (bits) capture, and the chance that it has none of them."""
    loss, missed, without = 0.0, 1.0, 1.0
    wanted = 0
    while values != 0 and without > 0:
        value = _best_value(notes, values)
        values ^= 1 << value
        wanted += notes["number"][value]
        gain = notes["gain"][value] + (1 - HOLD) * notes["each"] + flip
        if value == 7:
            gain += notes["seven"]
        without_both = float(NONE_HELD[notes["count"], notes["next_held"], wanted])
        chance = missed * _held_by(rules, notes, notes["next_doubt"], value, without, without_both)
        loss += gain * chance
        missed -= chance
        without = without_both
    return loss, missed


@inlined
def _help(rules: Any, notes: Any, values: int) -> float:
    """Return what the helper gains where `values` (bits) capture and the next seat has left the table alone."""
    if notes["helper_known"]:
        return _best_of_hand(notes, notes["helper_hand"])
    gain, missed, without = 0.0, 1.0, 1.0
    wanted = 0
    while values != 0 and without > 0:
        value = _best_value(notes, values)
        values ^= 1 << value
        wanted += notes["number"][value]
        without_both = float(NONE_HELD[notes["count"], notes["helper_held"], wanted])
        chance = missed * _held_by(rules, notes, notes["helper_doubt"], value, without, without_both)
        gain += notes["plain"][value] * chance
        missed -= chance
        without = without_both
    return gain


@inlined
def _exchange(rules: Any, notes: Any, values: int, flip: float) -> float:
    """Return what the own side expects from a table on which `values` (bits) capture.

    The next seat takes the best capture that its hand allows, `flip` for the leftovers with it; then the helper.
    """
    loss, missed = _loss(rules, notes, values, flip)
    value = HELP * (missed + STILL * (1 - missed)) * _help(rules, notes, values) - loss
    if rules["teams"]:
        value += missed * OWN * _best_of_hand(notes, notes["hand"])
    if missed > 0 and notes["helper_sweep"] > 0:
        value += missed * ANSWER * notes["helper_sweep"] * _laying_chance(rules, notes)
    return float(value)


@inlined
def table_value(rules: Any, notes: Any, table: Any, ours: float) -> float:
    """Return what `table` is worth to the own side when the next seat is to play.

    Args:
        rules: a RULES record.
        notes: a NOTES record; what concerns one move is written.
        table: the cards left.
        ours: 1 if the own side has captured last, -1 if another has, 0 if none.
    """
    total = 0
    worth = 0.0
    rest = table
    while rest != NONE:
        card = lowest(rest)
        total += value_of(card)
        worth += notes["worth"][card]
        rest &= rest - ONE
    if notes["left"] == 0:
        return float(ours * worth)
    notes["total"] = total
    if table == NONE:
        return float(ANSWER * notes["helper_sweep"] * _laying_chance(rules, notes))
    keep = worth * KEEP ** notes["left"]
    _write_sums(rules, notes, table)
    values = _write_gains(rules, notes, table, worth)
    return float(ours * keep) + _exchange(rules, notes, values, (ours + 1) * keep)
