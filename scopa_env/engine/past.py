"""Back and forth in a round: how many plays are to come, and taking the last one back."""

from __future__ import annotations

from typing import Any

from scopa_env.engine.bits import NONE, bit, popcount, signed
from scopa_env.engine.hidden import cards_held
from scopa_env.engine.state import NOBODY, PLAYING, first_player, side_of
from scopa_env.kernel import kernel


@kernel
def plays_left(rules: Any, game: Any) -> int:
    """Return the number of plays up to the end of the round."""
    each = int(rules["players"]) * int(rules["hand_size"])
    stock = popcount(rules["deck"]) - signed(game["dealt"])
    return cards_held(rules, game) + each * min(stock // each, signed(rules["deals"]) - signed(game["deals"]))


@kernel
def _plays_of_round(rules: Any, game: Any) -> int:
    """Return the number of plays made this round, also those that the record does not hold."""
    return signed(rules["players"]) * signed(rules["hand_size"]) * signed(rules["deals"]) - plays_left(rules, game)


@kernel
def _last_side(rules: Any, game: Any) -> int:
    """Return the side that took cards last in the plays that a record holds, NOBODY if none did or it is not known."""
    players = int(rules["players"])
    owned = NONE
    for side in range(int(rules["sides"])):
        owned |= game["piles"][side]
    for k in range(signed(game["plays"]) - 1, -1, -1):
        if game["captured"][k] != NONE or owned & bit(int(game["cards"][k])) != NONE:
            return side_of(rules, (first_player(rules, game) + k) % players)
    if owned != NONE and _plays_of_round(rules, game) == signed(game["plays"]):
        return side_of(rules, int(game["dealer"]))  # the dealer's bonus
    return NOBODY


@kernel
def take_back(rules: Any, game: Any) -> None:
    """Take back the last play of a record, made since hands were last dealt; the sweeps stay as they are."""
    k = signed(game["plays"]) - 1
    players = int(rules["players"])
    seat = (first_player(rules, game) + k) % players
    side = side_of(rules, seat)
    card, captured = bit(int(game["cards"][k])), game["captured"][k]
    took = captured != NONE or game["piles"][side] & card != NONE  # a laid card is in no pile
    game["piles"][side] &= ~(captured | card)
    game["table"] = game["table"] & ~card | captured
    game["hands"][seat] |= card
    game["played"][seat] &= ~card
    game["plays"] = k
    game["seat"] = seat
    game["card"] = NOBODY
    game["chosen"] = NONE
    game["stage"] = PLAYING
    if took:
        game["last"] = _last_side(rules, game)
