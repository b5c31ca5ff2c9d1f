"""A move network in compiled code: the value of the position after each move, one position at a time.

The features are few bits of many, so the first layer adds up the weights of those that are on; of the later layers
only units that are not zero count (rectified linear).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_agents.network.features import LATE, NUM_FEATURES, NUM_WORDS, pack_position, write_bits
from scopa_agents.search.rollouts import margin
from scopa_env.engine.bits import NONE
from scopa_env.engine.moves import next_move
from scopa_env.engine.past import plays_left
from scopa_env.engine.play import play_undealt
from scopa_env.engine.state import GAME, NOBODY, PLAYING, side_of
from scopa_env.kernel import inlined, kernel

_ZERO = np.float32(0.0)


def new_space(widest: int) -> tuple[Any, ...]:
    """Return working space of one thread for networks whose hidden layers have at most `widest` units."""
    return (
        np.zeros(1, GAME),  # the position after a move
        np.zeros((2, NUM_WORDS), np.uint64),  # its features, and those that the sums stand for
        np.zeros((2, NUM_FEATURES), np.int32),  # features to add, and to take off
        np.zeros((3, max(widest, 1)), np.float32),  # sums of the first layer, units of later ones
    )


@inlined
def _add_rows(first: Any, active: Any, count: int, sums: Any) -> None:
    """Add rows of the first layer to its sums, four in one pass."""
    width = first.shape[1]
    k = 0
    while k + 4 <= count:
        a, b, c, d = first[active[k]], first[active[k + 1]], first[active[k + 2]], first[active[k + 3]]
        for j in range(width):
            sums[j] += (a[j] + b[j]) + (c[j] + d[j])
        k += 4
    while k < count:
        row = first[active[k]]
        for j in range(width):
            sums[j] += row[j]
        k += 1


@inlined
def _take_rows(first: Any, active: Any, count: int, sums: Any) -> None:
    """Take rows of the first layer off its sums, two in one pass."""
    width = first.shape[1]
    k = 0
    while k + 2 <= count:
        a, b = first[active[k]], first[active[k + 1]]
        for j in range(width):
            sums[j] -= a[j] + b[j]
        k += 2
    if k < count:
        row = first[active[k]]
        for j in range(width):
            sums[j] -= row[j]


@kernel
def sum_features(net: Any, words: Any, changes: Any, sums: Any, afresh: bool) -> None:
    """Bring the sums of the first layer up to date with words[0].

    Args:
        net: one of `MoveNetwork.arrays`.
        words: uint64[2, NUM_WORDS]: the features, and those that the sums stand for so far; then the same twice.
        changes: int32[2, NUM_FEATURES], working space.
        sums: float32[W], written.
        afresh: from nothing, whatever the sums stand for.
    """
    first, rest, widths = net
    if afresh:
        for j in range(int(widths[0])):
            sums[j] = rest[j]
        for k in range(NUM_WORDS):
            words[1, k] = NONE
    added = removed = 0
    for k in range(NUM_WORDS):
        added = write_bits(words[0, k] & ~words[1, k], k, changes[0], added)
        removed = write_bits(words[1, k] & ~words[0, k], k, changes[1], removed)
        words[1, k] = words[0, k]
    _add_rows(first, changes[0], added, sums)
    _take_rows(first, changes[1], removed, sums)


@kernel
def later_layers(net: Any, units: Any) -> float:
    """Return what the network makes of the sums of its first layer.

    Args:
        net: one of `MoveNetwork.arrays`.
        units: float32[3, W]: the sums; working space.
    """
    _, rest, widths = net
    width = int(widths[0])
    at = width
    this = 0
    for layer in range(1, len(widths)):
        after = int(widths[layer])
        following = 1 if this != 1 else 2
        inputs, outputs = units[this], units[following]
        bias = at + width * after
        for j in range(after):
            outputs[j] = rest[bias + j]
        for i in range(width):
            unit = inputs[i]
            if unit > _ZERO:
                weights = rest[at + i * after : at + (i + 1) * after]
                for j in range(after):
                    outputs[j] += unit * weights[j]
        at = bias + after
        width = after
        this = following
    return float(units[this, 0])


@kernel
def _value(net: Any, words: Any, changes: Any, units: Any, afresh: bool) -> float:
    """Return what one of the two networks says of words[0] (arguments as for `sum_features`)."""
    sum_features(net, words, changes, units[0], afresh)
    return later_layers(net, units)


@kernel
def move_value(
    rules: Any, games: Any, index: int, card: int, captured: Any, net: Any, space: Any, afresh: bool
) -> float:
    """Return the value of a move for the side of the seat to act in games[index]: its points less the others' mean.

    Of the last play of a round it is exact.

    Args:
        rules: RULES[1].
        games: GAME[N], whole or stripped.
        index: the game.
        card: the hand card.
        captured: what it takes.
        net: `MoveNetwork.arrays`.
        space: `new_space`.
        afresh: whether it is the first move of this position; then the features of the others are changes from it.
    """
    after, words, changes, units = space
    seat = int(games[index]["seat"])
    after[0] = games[index]
    play_undealt(rules[0], after[0], card, captured)
    if after[0]["stage"] != PLAYING:
        return margin(rules[0], after[0], side_of(rules[0], seat))
    pack_position(rules[0], after[0], seat, words[0])
    early, late = net
    if plays_left(rules[0], after[0]) > LATE:  # after all moves of a position there are equally many
        return _value(early, words, changes, units, afresh)
    return _value(late, words, changes, units, afresh)


@kernel
def best_move(rules: Any, games: Any, index: int, net: Any, space: Any, valued: bool) -> Any:
    """Return the move with the largest value, the first of equal ones, and the value.

    Where there is only one move, its value is 0 unless `valued`.
    """
    card, captured = next_move(rules[0], games[index], NOBODY, NONE)
    best_card, best_captured = card, captured
    then_card, then_captured = next_move(rules[0], games[index], card, captured)
    if then_card == NOBODY and not valued:
        return best_card, best_captured, 0.0
    best = -np.inf
    afresh = True
    while card != NOBODY:
        value = move_value(rules, games, index, card, captured, net, space, afresh)
        afresh = False
        if value > best:
            best, best_card, best_captured = value, card, captured
        card, captured = then_card, then_captured
        if card != NOBODY:
            then_card, then_captured = next_move(rules[0], games[index], card, captured)
    return best_card, best_captured, best
