"""Playing: from the action of a seat to the next decision, the next deal or the end of the round.

A play names the hand card first, then table cards in ascending id, but only while there is a real choice: an option
that is the only one left is taken here.  The chosen cards stay on the table, and the card in the hand, until the play
is complete.
"""

from __future__ import annotations

from typing import Any

from scopa_env.engine.bits import NONE, bit, lowest, popcount
from scopa_env.engine.captures import (
    capturing_cards,
    next_options,
    starts_with,
    takes_all_by_ace,
    value_of,
)
from scopa_env.engine.deal import deal_hands, more_deals, next_dealer, start_round
from scopa_env.engine.scoring import finish_round
from scopa_env.engine.state import (
    COUNTS,
    FREE,
    HAND,
    MATCH_OVER,
    NOBODY,
    NOT_LAST_HAND,
    PLAYING,
    first_seat,
    next_seat,
    side_of,
)
from scopa_env.kernel import inlined, kernel

TAKE = 40
"""Action ``TAKE + t`` takes table card `t` with the card being played."""
LAY = 80
"""The action that lays the card being played on the table although it could capture."""
NUM_ACTIONS = 81


@kernel
def playable_cards(rules: Any, game: Any) -> Any:
    """Return the hand cards with which the seat to act may play."""
    hand = game["hands"][int(game["seat"])]
    if rules["obligation"] == HAND:
        capturing = capturing_cards(rules, hand, game["table"])
        if capturing != NONE:
            return capturing
    return hand


@inlined
def may_lay(rules: Any, game: Any) -> bool:
    """Say whether the card being played may be laid although it captures: only before a table card is named."""
    return bool(rules["obligation"] == FREE) and bool(game["chosen"] == NONE)


@kernel
def is_legal(rules: Any, game: Any, action: int) -> bool:
    """Say whether `action` is legal for the seat to act."""
    if action < 0 or action >= NUM_ACTIONS or game["stage"] != PLAYING:
        return False
    card = int(game["card"])
    if action < TAKE:
        return card == NOBODY and bool(playable_cards(rules, game) & bit(action) != NONE)
    if card == NOBODY:
        return False
    if action == LAY:
        return may_lay(rules, game)
    options = next_options(rules, card, game["table"], game["chosen"])
    return bool(options & bit(action - TAKE) != NONE)


@inlined
def choose(rules: Any, game: Any, action: int) -> bool:
    """Take a legal `action` and every option after it that is the only one; True if the play is complete.

    The play itself is made by `finish_play`: ``card`` with ``chosen``.
    """
    if action == LAY:
        return True
    if action < TAKE:
        game["card"] = action
        game["chosen"] = NONE
    else:
        game["chosen"] |= bit(action - TAKE)
    options = next_options(rules, int(game["card"]), game["table"], game["chosen"])
    if options != NONE and may_lay(rules, game):
        return False
    while options != NONE and popcount(options) == 1:
        game["chosen"] |= options
        options = next_options(rules, int(game["card"]), game["table"], game["chosen"])
    return bool(options == NONE)


@kernel
def _hands_are_empty(rules: Any, game: Any) -> bool:
    held = 0
    for seat in range(int(rules["players"])):
        held += popcount(game["hands"][seat]) + int(game["hidden"][seat])
    return held == 0


@kernel
def sweep_counts(rules: Any, last_deal: bool, last_play: bool) -> bool:
    """Say whether a sweep counts, by ``last_sweep``."""
    if rules["last_sweep"] == COUNTS:
        return True
    if rules["last_sweep"] == NOT_LAST_HAND:
        return not last_deal
    return not last_play


@kernel
def is_sweep(rules: Any, card: int, captured: Any, table: Any) -> bool:
    """Say whether `card`, taking `captured` from `table`, empties it in a way that can count as a sweep."""
    return bool(captured == table) and (bool(rules["ace_scopa"]) or not takes_all_by_ace(rules, card, table))


@inlined
def _capture(rules: Any, game: Any, side: int, card: int, captured: Any, last_play: bool) -> None:
    """Move the captured cards and the card to the side's pile; count a sweep."""
    swept = is_sweep(rules, card, captured, game["table"])
    game["table"] &= ~captured
    game["piles"][side] |= captured | bit(card)
    game["last"] = side
    if swept and sweep_counts(rules, not more_deals(rules, game), last_play):
        game["sweeps"][side] += 1


@kernel
def is_banked(rules: Any, card: int, table: Any) -> bool:
    """Say whether `card`, capturing nothing, goes to its player's pile: an ace on an empty table."""
    return bool(rules["ace_banks"]) and value_of(card) == 1 and bool(table == NONE)


NEXT_PLAYS, DEAL_OVER, ROUND_DONE = 0, 1, 2
"""What follows a play: the next seat's, hands dealt again, the score of the round."""


@inlined
def put_down(rules: Any, game: Any, card: int, captured: Any) -> int:
    """Make a whole legal play and nothing that follows it; return what does: NEXT_PLAYS, DEAL_OVER or ROUND_DONE."""
    seat = int(game["seat"])
    side = side_of(rules, seat)
    count = int(game["plays"])
    game["cards"][count] = card
    game["captured"][count] = captured
    game["plays"] = count + 1
    game["hands"][seat] &= ~bit(card)
    game["played"][seat] |= bit(card)
    game["card"] = NOBODY
    game["chosen"] = NONE
    deal_over = _hands_are_empty(rules, game)
    last_play = deal_over and not more_deals(rules, game)
    if captured != NONE:
        _capture(rules, game, side, card, captured, last_play)
    elif is_banked(rules, card, game["table"]):
        game["piles"][side] |= bit(card)
        game["last"] = side
    else:
        game["table"] |= bit(card)
    if last_play:
        return ROUND_DONE
    return DEAL_OVER if deal_over else NEXT_PLAYS


@inlined
def play(rules: Any, game: Any, card: int, captured: Any) -> None:
    """Make a whole legal play, then deal again or end the round where that is due."""
    follows = put_down(rules, game, card, captured)
    if follows == ROUND_DONE:
        finish_round(rules, game)
    elif follows == DEAL_OVER:
        deal_hands(rules, game)
    else:
        game["seat"] = next_seat(rules, int(game["seat"]))


@kernel
def play_undealt(rules: Any, game: Any, card: int, captured: Any) -> None:
    """Make a whole legal play as `play` does, but deal no new hands: what its player knows right after it."""
    follows = put_down(rules, game, card, captured)
    if follows == ROUND_DONE:
        finish_round(rules, game)
    elif follows == DEAL_OVER:
        game["seat"] = first_seat(rules, game)
    else:
        game["seat"] = next_seat(rules, int(game["seat"]))


@inlined
def finish_play(rules: Any, game: Any) -> None:
    """Make the play that `choose` has completed."""
    play(rules, game, int(game["card"]), game["chosen"])


@kernel
def act(rules: Any, game: Any, action: int) -> None:
    """Take a legal action of the seat to act."""
    if choose(rules, game, action):
        finish_play(rules, game)


@kernel
def next_round(rules: Any, game: Any) -> bool:
    """Deal the next round of the match by the next dealer; False if the match is over."""
    if game["stage"] == MATCH_OVER:
        return False
    next_dealer(rules, game)
    start_round(rules, game)
    return True


@kernel
def _completes(game: Any, card: int, captured: Any) -> bool:
    """Say whether a move agrees with what the play in progress has named so far."""
    return card == int(game["card"]) and starts_with(captured, game["chosen"])


@kernel
def is_legal_move(rules: Any, game: Any, card: int, captured: Any) -> bool:
    """Say whether the seat to act may play `card` taking exactly `captured`, without naming every capture."""
    if game["stage"] != PLAYING or playable_cards(rules, game) & bit(card) == NONE:
        return False
    if int(game["card"]) != NOBODY and not _completes(game, card, captured):
        return False
    table = game["table"]
    if captured == NONE:
        return bool(rules["obligation"] == FREE) or (next_options(rules, card, table, NONE) == NONE)
    chosen = NONE
    left = captured
    while left != NONE:
        options = next_options(rules, card, table, chosen)
        step = bit(lowest(left))
        if options & step == NONE:
            return False
        chosen |= step
        left ^= step
    return bool(next_options(rules, card, table, chosen) == NONE)
