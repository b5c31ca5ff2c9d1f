"""A `View` and its legal moves in words and in notation; nothing in them depends on a hidden card."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from scopa_agents.text.rules import listed, rules_text
from scopa_env import batch
from scopa_env.actions import Move
from scopa_env.cards import card_text, card_words, cards_text
from scopa_env.game import View
from scopa_env.render.text import Names, counted
from scopa_env.table import Play

TASK = (
    "You play a card game. Here are its rules; in each turn you are shown what you know, and your legal moves with "
    "their numbers. Play to end the round with as many points more than the other side as you can."
)
HOW_TO_ANSWER = "End your answer with one line of this form, the move by its number or in notation:\nMOVE: <move>"
"""No move of the list as an example, which a model might follow."""


def names_of(view: View) -> Names:
    """Return what the observer calls the seats and sides: ``you (seat 0)``, ``opponent (seat 1)``, ``your team``."""
    rules = view.rules
    seats = tuple(f"{_role(view, seat)} (seat {seat})" for seat in range(rules.players))
    if not rules.teams:
        return Names(seats, seats)
    own = rules.side_of(view.observer)
    return Names(seats, tuple("your team" if side == own else "the other team" for side in range(rules.sides)))


def _role(view: View, seat: int) -> str:
    if seat == view.observer:
        return "you"
    return "partner" if view.rules.side_of(seat) == view.rules.side_of(view.observer) else "opponent"


def task_text(view: View) -> str:
    """Return what stays the same through a game: the task and the rules."""
    return f"{TASK}\n\n{rules_text(view.rules)}"


def turn_text(view: View) -> str:
    """Return what changes from turn to turn: the position, the legal moves and how to answer.

    Args:
        view: of a seat that is to act.
    """
    return f"{position_text(view)}\n\nYour legal moves:\n{moves_text(view)}\n\nYou may think first. {HOW_TO_ANSWER}"


def prompt(view: View) -> str:
    """Return everything that a language model needs for a move: `task_text` and `turn_text`."""
    return f"{task_text(view)}\n\n{turn_text(view)}"


def position_text(view: View) -> str:
    """Return what the observer knows: cards, piles, scores and the plays of the round so far."""
    return "\n".join(_position_lines(view))


def _position_lines(view: View) -> Iterator[str]:
    names = names_of(view)
    yield f"You have seat {view.observer}. Dealer of this round: {names.seats[view.dealer]}"
    yield f"Your hand: {_cards(view.hand)}"
    for k in range(1, view.rules.players):
        yield _other_hand(view, names, (view.observer + k) % view.rules.players)
    yield f"Table: {_cards(view.table)}"
    if view.card is not None:
        yield _in_progress(view)
    yield _stock(view)
    yield f"Cards that you have not seen: {cards_text(_unplaced(view), ' ') or 'none'}"
    for side, name in enumerate(names.sides):
        yield _side(view, name, side)
    if view.last is not None:
        yield f"Last to take cards: {names.sides[view.last]}"
    yield from _plays(view, names)
    yield f"The position in notation: {view.text()}"


def _cards(cards: Iterable[int]) -> str:
    return ", ".join(f"{card_words(card)} ({card_text(card)})" for card in cards) or "no cards"


def _hidden_hands(view: View) -> list[int]:
    """Return the seats that hold cards which the observer does not know."""
    return [seat for seat in range(view.rules.players) if len(view.hands[seat]) < view.hand_sizes[seat]]


def _all_in_one_hand(view: View) -> bool:
    """Say whether every card that the observer has not seen must be in one hand."""
    return view.stock_size == 0 and len(_hidden_hands(view)) == 1


def _unplaced(view: View) -> tuple[int, ...]:
    """Return the cards whose place the observer cannot tell."""
    return () if _all_in_one_hand(view) else view.unseen


def _other_hand(view: View, names: Names, seat: int) -> str:
    size, known = view.hand_sizes[seat], view.hands[seat]
    hand = f"Hand of {names.seats[seat]}: "
    if len(known) == size:
        return hand + _cards(known)
    if _all_in_one_hand(view):
        return f"{hand}{_cards(view.unseen)}; it must be these, the only cards not seen"
    return f"{hand}{counted(size, 'hidden card')}"


def _in_progress(view: View) -> str:
    assert view.card is not None
    chosen = f", taking {_cards(view.chosen)}" if view.chosen else ""
    return f"You are playing the {card_words(view.card)}{chosen}; what else it takes is still to be said."


def _stock(view: View) -> str:
    never = view.rules.never_dealt
    rest = f", of which {never} will not be dealt" if never else ""
    return f"Stock: {counted(view.stock_size, 'card')}{rest}; {counted(plays_left(view), 'play')} left in this round"


def plays_left(view: View) -> int:
    """Return the number of plays up to the end of the round."""
    return int(batch.plays_left(view.rules.record, view.records))


def _side(view: View, name: str, side: int) -> str:
    pile = view.piles[side]
    cards = f": {cards_text(pile, ' ')}" if pile else ""
    sets = f", {counted(view.sets[side], 'set')} won" if view.rules.sets_to_win > 1 else ""
    swept = counted(view.sweeps[side], "sweep")
    before = f"{counted(view.totals[side], 'point')} before this round{sets}"
    return f"Pile of {name}: {counted(len(pile), 'card')}{cards}; {swept} this round; {before}"


def _plays(view: View, names: Names) -> Iterator[str]:
    made = view.rules.num_plays - plays_left(view)
    plays = view.plays
    if not plays:
        yield "No card has been played in this round." if not made else "How this position came about is not known."
        return
    missing = made - len(plays)
    yield "Plays of this round so far" + (f", but for the first {missing}:" if missing else ":")
    for number, play in enumerate(plays, missing + 1):
        yield f"{number}. {names.seats[play.seat]}: {_play_words(play)}"


def _play_words(play: Play) -> str:
    what = "takes " + cards_text(play.move.captured, " ") if play.move.captured else "takes nothing"
    return f"{card_text(play.move.card)} {what}"


# moves


def moves_text(view: View) -> str:
    """Return the legal moves, a line each: number, notation, words."""
    return "\n".join(
        f"{number}. {view.move_text(move)} - {move_words(view, move)}"
        for number, move in enumerate(view.legal_moves, 1)
    )


def move_words(view: View, move: Move) -> str:
    """Return a legal move of the observer in words, such as ``the 7 of coins takes the 7 of cups``."""
    card = f"the {card_words(move.card)}"
    if not move.captured:
        banked = batch.is_banked(view.rules.record, view.records, move.card)
        return f"{card} goes to your pile" if banked else f"lay {card} on the table"
    taken = listed(f"the {card_words(one)}" for one in move.captured)
    if set(move.captured) != set(view.table):
        return f"{card} takes {taken}"
    return f"{card} takes {taken}: the whole table, {'a sweep' if makes_sweep(view, move) else 'but no sweep'}"


def makes_sweep(view: View, move: Move) -> bool:
    """Say whether a legal move of the seat to act counts as a sweep; that depends on nothing hidden."""
    side = view.rules.side_of(view.seat)
    game = view.sample(np.random.default_rng(0))
    game.push(move)
    return game.sweeps[side] > view.sweeps[side]
