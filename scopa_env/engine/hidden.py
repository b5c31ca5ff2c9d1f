"""What a seat cannot see: taking it out of a record, and drawing it anew.

A seat knows its own hand, the table, the piles, every play of the round, the card being played and, where the rules
show them, its team-mates' hands.  It does not know the other hands, the order of the stock, the cards that will never
be dealt, nor the game's random generator.
"""

from __future__ import annotations

from typing import Any

from scopa_env.engine.bits import NONE, ONE, bit, lowest, popcount, signed
from scopa_env.engine.captures import capturing_cards
from scopa_env.engine.rng import random_below
from scopa_env.engine.state import HAND, NOBODY, UNKNOWN, first_player, side_of
from scopa_env.kernel import kernel

_TRIES = 32
_MOST_ROUNDS = 1000


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
def cards_held(rules: Any, game: Any) -> int:
    """Return the number of cards in all hands, known or not."""
    held = 0
    for seat in range(int(rules["players"])):
        held += hand_count(game, seat)
    return held


@kernel
def plays_since_deal(rules: Any, game: Any) -> int:
    """Return the number of plays since hands were last dealt, of those that the record holds."""
    dealt = signed(rules["players"]) * signed(rules["hand_size"])
    return min(dealt - cards_held(rules, game), signed(game["plays"]))


@kernel
def known_cards(rules: Any, game: Any, observer: int) -> Any:
    """Return the cards whose place `observer` knows."""
    known = _open_cards(rules, game) | game["hands"][observer]
    if rules["partner_hand_visible"]:
        for seat in range(int(rules["players"])):
            if sees_hand(rules, observer, seat):
                known |= game["hands"][seat]
    return known


@kernel
def knows_all(rules: Any, game: Any, observer: int) -> bool:
    """Say whether `observer` can tell where every card is: no stock, and one hand at most that it does not see."""
    if int(game["dealt"]) < popcount(rules["deck"]):
        return False
    unseen = popcount(rules["deck"] & ~known_cards(rules, game, observer))
    hands = 0
    for seat in range(int(rules["players"])):
        if not sees_hand(rules, observer, seat) and hand_count(game, seat) > 0:
            hands += 1
    return hands <= 1 or unseen == 0


@kernel
def _open_cards(rules: Any, game: Any) -> Any:
    """Return the cards that everyone knows: table, piles and the card being played."""
    cards = game["table"]
    for side in range(int(rules["sides"])):
        cards |= game["piles"][side]
    if int(game["card"]) != NOBODY:
        cards |= bit(int(game["card"]))
    return cards


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
    plays = signed(game["plays"])
    table = game["table"]
    for k in range(plays - 1, plays - plays_since_deal(rules, game) - 1, -1):
        card = int(game["cards"][k])
        captured = game["captured"][k]
        laid_on_table = captured == NONE and table & bit(card) != NONE
        table = table & ~bit(card) | captured
        player = (first_player(rules, game) + k) % int(rules["players"])
        if player == seat and laid_on_table:
            out |= capturing_cards(rules, rules["deck"], table)
    return out


@kernel
def _gather_hidden(rules: Any, game: Any) -> int:
    """Write the cards whose place `game` does not know to `deck`: from the place returned up to `_end_of_hidden`."""
    cards = rules["deck"] & ~_open_cards(rules, game)
    for seat in range(int(rules["players"])):
        cards &= ~game["hands"][seat]
    for place in range(int(game["dealt"]), popcount(rules["deck"])):
        if int(game["deck"][place]) != UNKNOWN:
            cards &= ~bit(int(game["deck"][place]))
    first = _end_of_hidden(rules, game) - popcount(cards)
    place = first
    while cards != NONE:
        game["deck"][place] = lowest(cards)
        cards &= cards - ONE
        place += 1
    return first


@kernel
def _end_of_hidden(rules: Any, game: Any) -> int:
    """Return the end of the places of `deck` to draw in: all of it, or where a known stock begins."""
    dealt = int(game["dealt"])
    size = popcount(rules["deck"])
    return dealt if dealt < size and int(game["deck"][dealt]) != UNKNOWN else size


@kernel
def _swap(game: Any, place: int, other: int) -> None:
    card = int(game["deck"][place])
    game["deck"][place] = game["deck"][other]
    game["deck"][other] = card


@kernel
def _forbidden_at(rules: Any, game: Any, place: int, first: int) -> Any:
    """Return the cards that the seat whose hand gets deck[`place`] cannot hold; nothing for places of the stock."""
    end = first
    for seat in range(int(rules["players"])):
        end += int(game["hidden"][seat])
        if place < end:
            return ruled_out(rules, game, seat)
    return NONE


@kernel
def _misfits(rules: Any, game: Any, place: int, other: int, first: int) -> int:
    """Return how many of two places of `deck` hold a card that was ruled out there."""
    count = 0
    if bit(int(game["deck"][place])) & _forbidden_at(rules, game, place, first) != NONE:
        count += 1
    if bit(int(game["deck"][other])) & _forbidden_at(rules, game, other, first) != NONE:
        count += 1
    return count


@kernel
def _fits(rules: Any, game: Any, first: int, end: int) -> bool:
    """Say whether no place of deck[first:end] holds a card that was ruled out there."""
    if rules["obligation"] != HAND:
        return True
    for place in range(first, end):
        if _misfits(rules, game, place, place, first) > 0:
            return False
    return True


@kernel
def _swap_randomly(rules: Any, game: Any, first: int, end: int, steps: int) -> None:
    """Swap random places of deck[first:end], but never so that more of them hold a card that was ruled out."""
    for _ in range(steps):
        place = first + random_below(game, end - first)
        other = first + random_below(game, end - first)
        before = _misfits(rules, game, place, other, first)
        _swap(game, place, other)
        if _misfits(rules, game, place, other, first) > before:
            _swap(game, place, other)


@kernel
def _shuffle_hidden(rules: Any, game: Any, first: int, end: int) -> None:
    """Shuffle deck[first:end] so that no hand gets a card that was ruled out."""
    for _ in range(_TRIES):
        for place in range(end - 1, first, -1):
            _swap(game, place, first + random_below(game, place - first + 1))
        if _fits(rules, game, first, end):
            return
    for _ in range(_MOST_ROUNDS):
        _swap_randomly(rules, game, first, end, 20 * (end - first))
        if _fits(rules, game, first, end):
            return


@kernel
def fill(rules: Any, game: Any) -> None:
    """Draw every card whose place `game` does not know, from its own generator.

    Every deal of the hidden cards that agrees with the counts is equally likely.  Under ``obligation="hand"`` deals in
    which a seat laid a card although it could capture are excluded: by rejection, and if that fails often, by a random
    walk over swaps, whose limit is again the uniform law.
    """
    end = _end_of_hidden(rules, game)
    place = _gather_hidden(rules, game)
    _shuffle_hidden(rules, game, place, end)
    for seat in range(int(rules["players"])):
        for _ in range(int(game["hidden"][seat])):
            game["hands"][seat] |= bit(int(game["deck"][place]))
            game["deck"][place] = UNKNOWN
            place += 1
        game["hidden"][seat] = 0


@kernel
def redraw(rules: Any, game: Any, observer: int) -> None:
    """Draw everything that `observer` cannot see anew (`strip`, then `fill`), from the generator of `game`."""
    seed = game["rng"]
    strip(rules, game, observer)
    game["rng"] = seed
    fill(rules, game)
