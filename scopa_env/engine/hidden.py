"""What a seat cannot see: taking it out of a record, and drawing it anew.

A seat knows its own hand, the table, the piles, every play of the round, the card being played and, where the rules
show them, its team-mates' hands.  It does not know the other hands, the order of the stock, the cards that will never
be dealt, nor the game's random generator.
"""

from __future__ import annotations

from typing import Any

from scopa_env.engine.bits import NONE, ONE, bit, lowest, popcount
from scopa_env.engine.captures import capturing_cards
from scopa_env.engine.rng import random_below
from scopa_env.engine.state import HAND, NOBODY, UNKNOWN, first_seat, side_of
from scopa_env.kernel import kernel

_TRIES = 32


@kernel
def sees_hand(rules: Any, observer: int, seat: int) -> bool:
    """Say whether `observer` sees the hand of `seat`."""
    if observer == seat:
        return True
    same_team = rules["teams"] and side_of(rules, observer) == side_of(rules, seat)
    return bool(same_team and rules["partner_hand_visible"])


@kernel
def hand_count(game: Any, seat: int) -> int:
    """Return the number of cards in the hand of `seat`, known or not."""
    return popcount(game["hands"][seat]) + int(game["hidden"][seat])


@kernel
def known_cards(rules: Any, game: Any, observer: int) -> Any:
    """Return the cards whose place `observer` knows."""
    known = game["table"]
    for side in range(int(rules["sides"])):
        known |= game["piles"][side]
    for seat in range(int(rules["players"])):
        if sees_hand(rules, observer, seat):
            known |= game["hands"][seat]
    if int(game["card"]) != NOBODY:
        known |= bit(int(game["card"]))
    return known


@kernel
def strip(rules: Any, game: Any, observer: int) -> None:
    """Take out of `game` what `observer` cannot see: hands become counts, the deck and the generator unknown."""
    game["rng"] = NONE
    for seat in range(int(rules["players"])):
        if not sees_hand(rules, observer, seat):
            shown = NONE
            if seat == int(game["seat"]) and int(game["card"]) != NOBODY:
                shown = bit(int(game["card"]))
            game["hidden"][seat] += popcount(game["hands"][seat] & ~shown)
            game["hands"][seat] &= shown
    for place in range(len(game["deck"])):
        game["deck"][place] = UNKNOWN


@kernel
def ruled_out(rules: Any, game: Any, seat: int) -> Any:
    """Return the cards that `seat` cannot hold because it laid a card while they would have captured.

    Only under ``obligation="hand"``; looks at the plays since hands were last dealt.
    """
    out = NONE
    if rules["obligation"] != HAND:
        return out
    held = 0
    for other in range(int(rules["players"])):
        held += hand_count(game, other)
    since_deal = int(rules["players"]) * int(rules["hand_size"]) - held
    plays = int(game["plays"])
    table = game["table"]
    for k in range(plays - 1, max(plays - since_deal, 0) - 1, -1):
        card = int(game["cards"][k])
        captured = game["captured"][k]
        laid_on_table = captured == NONE and table & bit(card) != NONE
        table = table & ~bit(card) | captured
        player = (first_seat(rules, game) + k) % int(rules["players"])
        if player == seat and laid_on_table:
            out |= capturing_cards(rules, rules["deck"], table)
    return out


@kernel
def _gather_hidden(rules: Any, game: Any, observer: int) -> int:
    """Write the cards that `observer` cannot place to the end of `deck`; return the place of the first."""
    size = popcount(rules["deck"])
    cards = rules["deck"] & ~known_cards(rules, game, observer)
    first = size - popcount(cards)
    place = first
    while cards != NONE:
        game["deck"][place] = lowest(cards)
        cards &= cards - ONE
        place += 1
    return first


@kernel
def _swap(game: Any, place: int, other: int) -> None:
    card = int(game["deck"][place])
    game["deck"][place] = game["deck"][other]
    game["deck"][other] = card


@kernel
def _pick_allowed(game: Any, place: int, size: int, forbidden: Any) -> None:
    """Bring a random card of deck[place:size] that is not forbidden to `place`; any card if there is none."""
    allowed = 0
    for other in range(place, size):
        if bit(int(game["deck"][other])) & forbidden == NONE:
            allowed += 1
    if allowed == 0:
        return
    skip = random_below(game, allowed)
    for other in range(place, size):
        if bit(int(game["deck"][other])) & forbidden == NONE:
            if skip == 0:
                _swap(game, place, other)
                return
            skip -= 1


@kernel
def _fits(rules: Any, game: Any, place: int) -> bool:
    """Say whether the hands that deck[place:] would fill hold no card that was ruled out."""
    for seat in range(int(rules["players"])):
        forbidden = ruled_out(rules, game, seat) if game["hidden"][seat] else NONE
        for _ in range(int(game["hidden"][seat])):
            if bit(int(game["deck"][place])) & forbidden != NONE:
                return False
            place += 1
    return True


@kernel
def redraw(rules: Any, game: Any, observer: int) -> None:
    """Draw everything that `observer` cannot see at random, from the generator of `game`.

    Every deal of the hidden cards that agrees with the counts is equally likely.  Under ``obligation="hand"`` deals in
    which a seat laid a card although it could capture are excluded: by rejection, and if that fails often, card by card
    (then the law is uniform for one constrained seat and close to it for several).
    """
    seed = game["rng"]
    strip(rules, game, observer)
    game["rng"] = seed
    size = popcount(rules["deck"])
    first = _gather_hidden(rules, game, observer)
    tries = _TRIES
    while tries > 0:
        for place in range(size - 1, first, -1):
            _swap(game, place, first + random_below(game, place - first + 1))
        tries = tries - 1 if not _fits(rules, game, first) else -1
    place = first
    for seat in range(int(rules["players"])):
        forbidden = ruled_out(rules, game, seat) if tries == 0 and game["hidden"][seat] else NONE
        for _ in range(int(game["hidden"][seat])):
            if tries == 0:
                _pick_allowed(game, place, size, forbidden)
            place += 1
    _fill_hands(rules, game, first)


@kernel
def _fill_hands(rules: Any, game: Any, place: int) -> None:
    """Deal deck[place:] to the places of hands that are unknown."""
    for seat in range(int(rules["players"])):
        for _ in range(int(game["hidden"][seat])):
            game["hands"][seat] |= bit(int(game["deck"][place]))
            game["deck"][place] = UNKNOWN
            place += 1
        game["hidden"][seat] = 0
