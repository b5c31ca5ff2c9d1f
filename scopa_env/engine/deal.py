"""Shuffling and dealing: fixed decks, void deals, the dealer's bonus, the three table orders."""

from __future__ import annotations

from typing import Any

from scopa_env.engine.bits import NONE, ONE, bit, lowest, popcount
from scopa_env.engine.captures import KINGS, sum_of
from scopa_env.engine.rng import random_below
from scopa_env.engine.state import (
    BEFORE,
    INTERLEAVED,
    MAX_PLAYERS,
    NOBODY,
    PLAYING,
    first_seat,
    next_seat,
    side_of,
)
from scopa_env.kernel import kernel


@kernel
def shuffle(rules: Any, game: Any) -> None:
    """Put the whole deck of `rules` into `game["deck"]` in random order (Fisher-Yates)."""
    cards = rules["deck"]
    size = 0
    while cards != NONE:
        game["deck"][size] = lowest(cards)
        cards &= cards - ONE
        size += 1
    for place in range(size - 1, 0, -1):
        other = random_below(game, place + 1)
        card = int(game["deck"][place])
        game["deck"][place] = game["deck"][other]
        game["deck"][other] = card


@kernel
def _draw(game: Any) -> Any:
    """Take the next card from the stock."""
    card = int(game["deck"][int(game["dealt"])])
    game["dealt"] += 1
    return bit(card)


@kernel
def _deal_to_table(game: Any, count: int) -> None:
    for _ in range(count):
        game["table"] |= _draw(game)


@kernel
def _deal_one_each(rules: Any, game: Any) -> None:
    seat = first_seat(rules, game)
    for _ in range(int(rules["players"])):
        game["hands"][seat] |= _draw(game)
        seat = next_seat(rules, seat)


@kernel
def deal_hands(rules: Any, game: Any) -> None:
    """Deal `hand_size` cards to every seat, one at a time; the seat after the dealer leads."""
    for _ in range(int(rules["hand_size"])):
        _deal_one_each(rules, game)
    game["deals"] += 1
    game["seat"] = first_seat(rules, game)


@kernel
def more_deals(rules: Any, game: Any) -> bool:
    """Say whether hands will be dealt again this round."""
    stock = popcount(rules["deck"]) - int(game["dealt"])
    enough = stock >= int(rules["players"]) * int(rules["hand_size"])
    return enough and int(game["deals"]) < int(rules["deals"])


@kernel
def clear_round(game: Any) -> None:
    """Take everything of the last round off the record; the deck, the dealer and the match stay."""
    game["table"] = NONE
    game["chosen"] = NONE
    for i in range(MAX_PLAYERS):
        game["hands"][i] = NONE
        game["piles"][i] = NONE
        game["played"][i] = NONE
        game["hidden"][i] = 0
        game["sweeps"][i] = 0
        game["points"][i] = 0
    for i in range(int(game["plays"])):
        game["captured"][i] = NONE
        game["cards"][i] = 0
    game["dealt"] = 0
    game["deals"] = 0
    game["plays"] = 0
    game["last"] = NOBODY
    game["card"] = NOBODY
    game["set_winner"] = NOBODY
    game["stage"] = PLAYING


@kernel
def _deal_hands_and_table(rules: Any, game: Any) -> None:
    """Make the first deal: the table cards after the hands, before them, or one with each round of cards."""
    due = int(rules["table_size"])
    order = int(rules["table_deal"])
    if order == BEFORE:
        _deal_to_table(game, due)
        due = 0
    for _ in range(int(rules["hand_size"])):
        _deal_one_each(rules, game)
        if order == INTERLEAVED and due > 0:
            _deal_to_table(game, 1)
            due -= 1
    _deal_to_table(game, due)
    game["deals"] = 1
    game["seat"] = first_seat(rules, game)


@kernel
def first_table(rules: Any, table: Any) -> int:
    """Return the sweeps that the first table cards pay the dealer's side, mostly 0; -1: they void the deal."""
    kings = int(rules["redeal_kings"])
    if kings > 0 and popcount(table & KINGS) >= kings:
        return -1
    return int(rules["dealer_bonus"][sum_of(table)])


@kernel
def deal_round(rules: Any, game: Any) -> bool:
    """Deal a round from `game["deck"]` by `game["dealer"]`; False if the deal is void."""
    clear_round(game)
    _deal_hands_and_table(rules, game)
    sweeps = first_table(rules, game["table"])
    if sweeps > 0:
        side = side_of(rules, int(game["dealer"]))
        game["sweeps"][side] += sweeps
        game["piles"][side] |= game["table"]
        game["table"] = NONE
        game["last"] = side
    return sweeps >= 0


@kernel
def start_round(rules: Any, game: Any) -> None:
    """Shuffle and deal, again by the same dealer as long as the deal is void."""
    shuffle(rules, game)
    while not deal_round(rules, game):
        shuffle(rules, game)


@kernel
def start_match(rules: Any, game: Any, dealer: int) -> None:
    """Clear the match; `dealer` (NOBODY: drawn from the game's generator) deals its first round."""
    for i in range(MAX_PLAYERS):
        game["totals"][i] = 0
        game["sets"][i] = 0
    game["rounds"] = 0
    game["winner"] = NOBODY
    game["dealer"] = random_below(game, int(rules["players"])) if dealer == NOBODY else dealer


@kernel
def next_dealer(rules: Any, game: Any) -> None:
    """Pass the deal on after a round; a set that was won starts the totals afresh."""
    if int(game["set_winner"]) != NOBODY:
        for i in range(MAX_PLAYERS):
            game["totals"][i] = 0
    game["dealer"] = next_seat(rules, int(game["dealer"]))
