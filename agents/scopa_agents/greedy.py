"""`greedy`: the best card of this moment by fixed weights.

A laid card scores coin -10, seven -20, face +5.  A capture scores +100, +1000 if it empties the table, +500 if it
takes the settebello; for each table card taken +50 if a coin, and +30 if a seven, +20 if a six, +15 if an ace, else
half its primiera value; and +5 for each card, the one played included.  The best score wins, ties at random; laying
instead of capturing scores as laying.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_agents.base import CompiledAgent
from scopa_env.cards import SETTEBELLO
from scopa_env.engine.bits import NONE, ONE, bit, lowest, popcount
from scopa_env.engine.captures import COINS, value_of
from scopa_env.engine.moves import first_action, next_move
from scopa_env.engine.rng import random_below
from scopa_env.engine.state import NOBODY
from scopa_env.kernel import kernel
from scopa_env.policy import Policy

# twice the scores of the text, so that half a primiera value stays whole
_TAKEN = np.array([30, 12, 13, 14, 15, 40, 60, 10, 10, 10])
"""Twice the score of a table card taken, by value - 1: aces, 2 .. 5 by the primiera, sixes, sevens, faces."""


_WORST = 1 << 30
"""Beyond every score."""


@kernel
def laid_score(card: int) -> int:
    """Return twice the score of laying `card`."""
    score = 0
    if bit(card) & COINS != NONE:
        score -= 20
    if value_of(card) == 7:
        score -= 40
    if value_of(card) >= 8:
        score += 10
    return score


@kernel
def capture_score(table: Any, captured: Any) -> int:
    """Return twice the score of taking `captured` from `table`."""
    score = 200 + 10 * (1 + popcount(captured))
    if captured == table:
        score += 2000
    if captured & bit(SETTEBELLO) != NONE:
        score += 1000
    score += 100 * popcount(captured & COINS)
    while captured != NONE:
        score += _TAKEN[value_of(lowest(captured)) - 1]
        captured &= captured - ONE
    return score


@kernel
def move_score(game: Any, card: int, captured: Any) -> int:
    """Return twice the score of a move."""
    return laid_score(card) if captured == NONE else capture_score(game["table"], captured)


@kernel
def survey_greedy(rules: Any, game: Any, asked_card: int, asked_captured: Any) -> Any:
    """Return the legal move with the best score (ties by the generator of `game`), and how many have that score.

    The number is 0 if the move that is asked about is none of them.
    """
    card, captured = next_move(rules, game, NOBODY, NONE)
    best_card, best_captured = card, captured
    best, ties, asked = -_WORST, 0, -_WORST
    while card != NOBODY:
        score = move_score(game, card, captured)
        if score > best:
            best, ties = score, 0
        if score == best:
            ties += 1
            if ties == 1 or random_below(game, ties) == 0:
                best_card, best_captured = card, captured
        if card == asked_card and captured == asked_captured:
            asked = score
        card, captured = next_move(rules, game, card, captured)
    return best_card, best_captured, ties if asked == best else 0


@kernel
def greedy_move(rules: Any, game: Any) -> Any:
    """Return the legal move with the best score; ties by the generator of `game`."""
    card, captured, _ = survey_greedy(rules, game, NOBODY, NONE)
    return card, captured


@kernel
def greedy_action(rules: Any, game: Any) -> int:
    """Return the next action of the greedy move."""
    card, captured = greedy_move(rules, game)
    return first_action(game, card, captured)


class GreedyAgent(CompiledAgent):
    """Plays the move with the best score by fixed weights (see the module)."""

    name = "greedy"
    policy = Policy(greedy_action)
