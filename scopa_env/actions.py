"""``Discrete(81)``: what each action means, and how a whole move is said by actions.

===========  ==================================================================
0 .. 39      play the hand card with this id
40 .. 79     take table card ``id - 40`` with the card being played
80           lay the card being played although it could capture
===========  ==================================================================

A play names its hand card, then table cards in ascending id, but only while there is a real choice: an option that is
the only one left is taken by the engine.  So each legal move has exactly one sequence of actions.
"""

from __future__ import annotations

import operator
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from scopa_env import batch
from scopa_env.cards import NUM_CARDS, card_text, cards_text, from_mask, to_mask
from scopa_env.engine.play import LAY, NUM_ACTIONS, TAKE
from scopa_env.engine.state import NOBODY, copy_of

__all__ = [
    "LAY",
    "NUM_ACTIONS",
    "TAKE",
    "IllegalAction",
    "Move",
    "action_text",
    "actions_of",
    "check_action",
    "move_of",
    "next_action",
]


class IllegalAction(ValueError):
    """An action that is not legal where it was taken; nothing has changed."""


class Move(NamedTuple):
    """A card and what it takes.

    Attributes:
        card: id of the hand card.
        captured: ids of the table cards it takes, ascending; empty if it is laid on the table.
    """

    card: int
    captured: tuple[int, ...] = ()

    @property
    def mask(self) -> np.uint64:
        """The captured cards as a bit set."""
        return np.uint64(to_mask(self.captured))

    @property
    def exists(self) -> bool:
        """Whether it names ids of cards only."""
        return all(0 <= card < NUM_CARDS for card in (self.card, *self.captured))

    def text(self) -> str:
        """Return the move's text, such as ``7dx7c`` or ``Fc``."""
        return card_text(self.card) + ("x" + cards_text(self.captured) if self.captured else "")

    def __str__(self) -> str:
        return self.text()


def move_of(card: int, captured: int) -> Move:
    """Return the move of `card` that takes the bit set `captured`."""
    return Move(int(card), from_mask(int(captured)))


def action_text(action: int) -> str:
    """Return what an action means in words, such as ``take 7c``."""
    if 0 <= action < TAKE:
        return f"play {card_text(action)}"
    if TAKE <= action < LAY:
        return f"take {card_text(action - TAKE)}"
    if action == LAY:
        return "lay the card"
    return f"no action (allowed are 0 .. {NUM_ACTIONS - 1})"


def actions_of(rules: Any, games: Any, move: Move) -> list[int]:
    """Return the actions that say `move` from the start of a play.

    Args:
        rules: RULES[1].
        games: GAME[1]; unchanged.
        move: a legal move.

    Raises:
        IllegalAction: the move is not legal here.
    """
    if not move.exists:
        raise IllegalAction(f"move {tuple(move)}: allowed are the card ids 0 .. {NUM_CARDS - 1}")
    if not batch.move_is_legal(rules, games, move.card, move.mask):
        raise IllegalAction(f"move {move}: not legal here")
    games = copy_of(games)
    games["card"] = NOBODY
    games["chosen"] = 0
    actions = [move.card]
    while batch.choose_one(rules, games, actions[-1]) == 0:
        actions.append(next_action(move, move.card, from_mask(int(games["chosen"][0]))))
    return actions


def next_action(move: Move, card: int | None, chosen: Collection[int]) -> int:
    """Return the action that says a legal move, or goes on saying it.

    Args:
        move: the move.
        card: the hand card that has been named; None: nothing has been said yet.
        chosen: table cards that have been named.
    """
    if card is None:
        return move.card
    return next((TAKE + one for one in move.captured if one not in chosen), LAY)


def as_word(action: int) -> int:
    """Return an action for kernels, NUM_ACTIONS for every number that is none: Python's have no limit."""
    return action if 0 <= action < NUM_ACTIONS else NUM_ACTIONS


def check_action(action: object) -> int:
    """Return an action as an int.

    Raises:
        IllegalAction: it is no whole number.
    """
    try:
        if not isinstance(action, bool | np.bool_):
            return operator.index(action)  # type: ignore[arg-type]  # that is what is tried
    except TypeError:
        pass
    raise IllegalAction(f"action {action!r}: allowed are whole numbers 0 .. {NUM_ACTIONS - 1}")
