"""A second, independent program for `scopone_study.py`: captures by brute force, nothing of the engine.

Seat 0 leads, seat 3 deals.  Cards are 0 .. 39 as in the engine, everything else is written anew and plainly.
"""

from __future__ import annotations

import numba
import numpy as np

PRIMIERA = np.array([16, 12, 13, 14, 15, 18, 21, 10, 10, 10])


@numba.njit
def list_moves(hand, held, table, laid, cards, takes):  # type: ignore[no-untyped-def]
    """Write every legal move: place in the hand, and the table cards taken as bits of their places; return how many."""
    sums = np.zeros(1 << laid, np.int64)
    for subset in range(1, 1 << laid):
        low = 0
        while not subset >> low & 1:
            low += 1
        sums[subset] = sums[subset & (subset - 1)] + table[low] % 10 + 1
    moves = 0
    for place in range(held):
        value = hand[place] % 10 + 1
        before = moves
        for k in range(laid):
            if table[k] % 10 + 1 == value:
                cards[moves], takes[moves] = place, 1 << k
                moves += 1
        if moves == before:
            for subset in range(1, 1 << laid):
                if sums[subset] == value:
                    cards[moves], takes[moves] = place, subset
                    moves += 1
        if moves == before:
            cards[moves], takes[moves] = place, 0
            moves += 1
    return moves


@numba.njit
def points_of(owner, sweeps):  # type: ignore[no-untyped-def]
    """Return the points of both sides."""
    points = sweeps.copy()
    cards, coins, best = np.zeros(2, np.int64), np.zeros(2, np.int64), np.zeros((2, 4), np.int64)
    for card in range(40):
        side = owner[card]
        cards[side] += 1
        coins[side] += card < 10
        best[side, card // 10] = max(best[side, card // 10], PRIMIERA[card % 10])
    primiera = np.zeros(2, np.int64)
    for side in range(2):
        primiera[side] = best[side].sum() if best[side].min() > 0 else -1
    for numbers in (cards, coins, primiera):
        if numbers[0] != numbers[1]:
            points[0 if numbers[0] > numbers[1] else 1] += 1
    points[owner[6]] += 1
    return points


@numba.njit
def play_deal():  # type: ignore[no-untyped-def]
    """Return the points of the dealer's team less the other's in one random round; -1000 if the deal is void."""
    deck = np.random.permutation(40)  # noqa: NPY002  # numba compiles the old generator
    hands, table = deck[:36].copy().reshape(9, 4).T.copy(), np.zeros(40, np.int64)
    table[:4] = deck[36:]
    if (deck[36:] % 10 == 9).sum() >= 3:
        return -1000
    laid, last = 4, -1
    held, owner, sweeps = np.full(4, 9), np.full(40, -1), np.zeros(2, np.int64)
    cards, takes = np.zeros(4096, np.int64), np.zeros(4096, np.int64)
    for play in range(36):
        seat = play % 4
        moves = list_moves(hands[seat], held[seat], table, laid, cards, takes)
        pick = np.random.randint(moves)  # noqa: NPY002
        card = hands[seat, cards[pick]]
        held[seat] -= 1
        hands[seat, cards[pick]] = hands[seat, held[seat]]
        if takes[pick] == 0:
            table[laid] = card
            laid += 1
            continue
        owner[card] = last = seat % 2
        kept = 0
        for k in range(laid):
            if takes[pick] >> k & 1:
                owner[table[k]] = last
            else:
                table[kept] = table[k]
                kept += 1
        laid = kept
        sweeps[last] += laid == 0 and play < 35
    for k in range(laid):
        owner[table[k]] = last
    points = points_of(owner, sweeps)
    return points[1] - points[0]


@numba.njit
def brute_force(deals, seed):  # type: ignore[no-untyped-def]
    """Return int64[3]: deals won by the dealer's team, by the other, tied."""
    np.random.seed(seed)  # noqa: NPY002
    counts = np.zeros(3, np.int64)
    while counts.sum() < deals:
        lead = play_deal()
        if lead != -1000:
            counts[0 if lead > 0 else 1 if lead < 0 else 2] += 1
    return counts
