"""Which table cards a card may take.

Named card by card in ascending id: `next_options` says which table cards may be named next, by one sweep over the
table from its highest card down that keeps the sums still reachable as the bits of one word.  No capture of a card
contains another capture of the same card, so a capture is complete when nothing can be added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_env.engine.bits import NONE, ONE, below, bit, highest, lowest, popcount, word
from scopa_env.engine.state import ANY, FEWEST
from scopa_env.kernel import kernel

ACES = np.uint64(sum(1 << 10 * suit for suit in range(4)))
KINGS = np.uint64(sum(1 << 10 * suit + 9 for suit in range(4)))
SEVENS = np.uint64(sum(1 << 10 * suit + 6 for suit in range(4)))
COINS = np.uint64((1 << 10) - 1)

FIFTEEN = 15
UP_TO = np.array(
    [sum(1 << 10 * suit + rank for suit in range(4) for rank in range(min(value, 10))) for value in range(15)],
    np.uint64,
)
"""By value 0 .. 14: the cards of at most that value."""
_LANE = np.uint64(0xFFFF)
_SIXTEEN = np.uint64(16)


@kernel
def value_of(card: int) -> int:
    """Return the value 1 .. 10 of a card."""
    return int(card) % 10 + 1


@kernel
def same_value(card: int) -> Any:
    """Return the four cards that have the value of `card`."""
    return ACES << word(int(card) % 10)


@kernel
def sum_of(cards: Any) -> int:
    """Return the sum of the values of a set of cards."""
    total = 0
    while cards != NONE:
        total += value_of(lowest(cards))
        cards &= cards - ONE
    return total


@kernel
def reachable_sums(cards: Any) -> Any:
    """Return the sums 0 .. 63 of all subsets of `cards` as bits."""
    sums = ONE
    while cards != NONE:
        sums |= sums << word(value_of(lowest(cards)))
        cards &= cards - ONE
    return sums


@kernel
def target_of(rules: Any, card: int) -> int:
    """Return what table cards must sum to for `card` to take them."""
    if rules["fifteen"]:
        return FIFTEEN - value_of(card)
    return value_of(card)


@kernel
def _sum_options(cards: Any, target: int) -> Any:
    """Return which of `cards` can be the lowest card of a set that sums to `target`."""
    options = NONE
    sums = ONE  # of the cards above the one looked at
    cards &= UP_TO[target]
    while cards != NONE:
        card = highest(cards)
        value = value_of(card)
        if (sums >> word(target - value)) & ONE != NONE:
            options |= bit(card)
        sums |= sums << word(value)
        cards ^= bit(card)
    return options


@kernel
def _add_counted(low: Any, high: Any, value: int) -> Any:
    """Add a card to sums by count: lane `n` (16 bits) of low, high holds the sums of 0-3, 4-7 cards."""
    fits = below(16 - value)
    fits = fits | fits << _SIXTEEN | fits << word(32) | fits << word(48)
    carry = (low & fits) >> word(48 - value)
    step = word(16 + value)
    return low | (low & fits) << step, high | (high & fits) << step | carry & _LANE


@kernel
def _has_counted(low: Any, high: Any, count: int, total: int) -> bool:
    """Say whether `count` cards (at most 7) sum to `total`."""
    lanes = low if count < 4 else high
    return bool((lanes >> word(16 * (count % 4) + total)) & ONE != NONE)


@kernel
def _fewest_count(cards: Any, target: int) -> int:
    """Return the least number of `cards` that sum to `target`, 0 if none do."""
    low, high = ONE, NONE
    while cards != NONE:
        low, high = _add_counted(low, high, value_of(lowest(cards)))
        cards &= cards - ONE
    for count in range(1, 8):
        if _has_counted(low, high, count, target):
            return count
    return 0


@kernel
def _counted_options(cards: Any, target: int, count: int) -> Any:
    """Return which of `cards` can be the lowest of a set of `count` cards that sums to `target`."""
    options = NONE
    low, high = ONE, NONE
    while cards != NONE:
        card = highest(cards)
        value = value_of(card)
        if value <= target and _has_counted(low, high, count - 1, target - value):
            options |= bit(card)
        low, high = _add_counted(low, high, value)
        cards ^= bit(card)
    return options


@kernel
def _takes_all(rules: Any, card: int, table: Any) -> bool:
    """Say whether `card` is an ace that takes the whole (non-empty) table, and nothing else."""
    if not rules["ace_takes_all"] or value_of(card) != 1:
        return False
    return bool(rules["ace_faces_all"]) or table & ACES == NONE


@kernel
def next_options(rules: Any, card: int, table: Any, chosen: Any) -> Any:
    """Return the table cards that may be named next.

    Args:
        rules: a RULES record.
        card: the hand card being played.
        table: all cards on the table.
        chosen: those named so far, in ascending order.

    Returns:
        A mask; empty if `chosen` is a whole capture, or if `card` captures nothing.
    """
    if rules["ace_takes_all"] and value_of(card) == 1:
        if _takes_all(rules, card, table):
            left = table & ~chosen
            return left & (~left + ONE) if left != NONE else NONE
        return table & ACES if chosen == NONE else NONE
    target = target_of(rules, card)
    matching = table & same_value(card)
    if rules["priority"] != ANY and matching != NONE:
        return matching if chosen == NONE else NONE
    left = target - sum_of(chosen)
    if left == 0:
        return NONE
    above = table if chosen == NONE else table & ~below(highest(chosen) + 1)
    if rules["priority"] == FEWEST:
        count = _fewest_count(table, target) - popcount(chosen)
        return _counted_options(above, left, count) if count > 0 else NONE
    return _sum_options(above, left)


@kernel
def capturing_cards(rules: Any, cards: Any, table: Any) -> Any:
    """Return which of `cards` can take anything from `table`."""
    sums = reachable_sums(table)
    capturing = NONE
    while cards != NONE:
        card = lowest(cards)
        ace_rule = bool(rules["ace_takes_all"]) and value_of(card) == 1
        if (ace_rule and table != NONE) or (not ace_rule and (sums >> word(target_of(rules, card))) & ONE != NONE):
            capturing |= bit(card)
        cards &= cards - ONE
    return capturing


@kernel
def next_capture(rules: Any, card: int, table: Any, capture: Any) -> Any:
    """Return the capture of `card` that follows `capture` in the order of the names of its cards.

    Starts from the empty set, ends with the empty set.
    """
    chosen = capture
    options = next_options(rules, card, table, NONE) if capture == NONE else NONE
    while options == NONE and chosen != NONE:  # step back to the last card that has a later alternative
        last = highest(chosen)
        chosen ^= bit(last)
        options = next_options(rules, card, table, chosen) & ~below(last + 1)
    while options != NONE:
        chosen |= bit(lowest(options))
        options = next_options(rules, card, table, chosen)
    return chosen


@kernel
def takes_all_by_ace(rules: Any, card: int, table: Any) -> bool:
    """Say whether taking `table` with `card` is due to the ace rule alone: no single ace lies there."""
    if not _takes_all(rules, card, table):
        return False
    return not (popcount(table) == 1 and table & ACES != NONE)


@kernel
def starts_with(captured: Any, chosen: Any) -> bool:
    """Say whether `chosen` are the first cards of `captured` in ascending order."""
    return bool(chosen == NONE or captured & below(highest(chosen) + 1) == chosen)
