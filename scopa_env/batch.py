"""Compiled loops over arrays of games: the only kernels that Python code calls, besides those on one position.

`rules` is an array of one RULES record, `games` an array of GAME records; a single game is an array of length one.
"""

from __future__ import annotations

from typing import Any

from scopa_env.engine import deal, hidden, past, play, scoring, state
from scopa_env.engine.bits import NONE
from scopa_env.engine.deal import clear_round, deal_round, next_dealer, start_match, start_round
from scopa_env.engine.moves import first_action, next_move, random_move
from scopa_env.engine.state import NOBODY, PLAYING
from scopa_env.kernel import kernel
from scopa_env.observation import pack_history, pack_mask, pack_observation, pack_state, spread

LEGAL = -1
"""Result of a checked action that was made."""


@kernel
def start(rules: Any, games: Any, dealer: int) -> None:
    """Start a match in every game and deal its first round (`dealer` NOBODY: drawn)."""
    for i in range(len(games)):
        start_match(rules[0], games[i], dealer)
        start_round(rules[0], games[i])


@kernel
def begin_match(rules: Any, games: Any, dealer: int) -> None:
    """Clear the match of every game without dealing (`dealer` NOBODY: drawn)."""
    for i in range(len(games)):
        start_match(rules[0], games[i], dealer)


@kernel
def begin_round(rules: Any, games: Any, dealer: int) -> None:
    """Clear the round of every game, without dealing; `dealer` is to deal, the first player to act."""
    for i in range(len(games)):
        clear_round(games[i])
        games[i]["dealer"] = dealer
        games[i]["seat"] = state.first_seat(rules[0], games[i])


@kernel
def deal_decks(rules: Any, games: Any) -> bool:
    """Deal a round from the ``deck`` that each game holds; False if one was void."""
    fine = True
    for i in range(len(games)):
        fine = deal_round(rules[0], games[i]) and fine
    return fine


@kernel
def first_table(rules: Any, table: Any) -> int:
    """Return the sweeps that the first table cards, a mask, pay the dealer's side; -1: they void the deal."""
    return deal.first_table(rules[0], table)


@kernel
def next_rounds(rules: Any, games: Any) -> None:
    """Deal the next round in every game whose round is over and whose match goes on."""
    for i in range(len(games)):
        if games[i]["stage"] != PLAYING:
            play.next_round(rules[0], games[i])


@kernel
def act(rules: Any, games: Any, actions: Any) -> int:
    """Take one action (int64[N]) in each game that is being played.

    Returns:
        LEGAL, or the index of the first game whose action is illegal; then nothing has changed in any game.
    """
    for i in range(len(games)):
        if games[i]["stage"] == PLAYING and not play.is_legal(rules[0], games[i], int(actions[i])):
            return i
    for i in range(len(games)):
        if games[i]["stage"] == PLAYING:
            play.act(rules[0], games[i], int(actions[i]))
    return LEGAL


@kernel
def act_one(rules: Any, games: Any, action: int) -> int:
    """Take one action in games[0].

    Returns:
        -1 (and nothing has changed) if it is illegal, 0 if the play goes on, 1 if it is complete.
    """
    game = games[0]
    if not play.is_legal(rules[0], game, action):
        return -1
    if not play.choose(rules[0], game, action):
        return 0
    play.finish_play(rules[0], game)
    return 1


@kernel
def choose_one(rules: Any, games: Any, action: int) -> int:
    """Take one action in games[0] without making the play: 1 complete, 0 more to name, -1 illegal."""
    game = games[0]
    if not play.is_legal(rules[0], game, action):
        return -1
    return 1 if play.choose(rules[0], game, action) else 0


@kernel
def act_undealt(rules: Any, games: Any, action: int) -> int:
    """Take one action in games[0] as `act_one` does, but deal no new hands when all are empty (`deal_hands`)."""
    game = games[0]
    if not play.is_legal(rules[0], game, action):
        return -1
    if not play.choose(rules[0], game, action):
        return 0
    play.play_undealt(rules[0], game, int(game["card"]), game["chosen"])
    return 1


@kernel
def deal_hands(rules: Any, games: Any) -> None:
    """Deal new hands from the ``deck`` that each game holds."""
    for i in range(len(games)):
        deal.deal_hands(rules[0], games[i])


@kernel
def plays_left(rules: Any, games: Any) -> int:
    """Return the number of plays up to the end of the round in games[0]."""
    return past.plays_left(rules[0], games[0])


@kernel
def play_one(rules: Any, games: Any, card: int, captured: Any) -> bool:
    """Make a whole play in games[0]; False (and nothing changes) if it is illegal."""
    game = games[0]
    if not play.is_legal_move(rules[0], game, card, captured):
        return False
    play.play(rules[0], game, card, captured)
    return True


@kernel
def move_is_legal(rules: Any, games: Any, card: int, captured: Any) -> bool:
    """Say whether a whole play is legal in games[0]."""
    return play.is_legal_move(rules[0], games[0], card, captured)


@kernel
def list_moves(rules: Any, games: Any, cards: Any, captured: Any) -> int:
    """List the legal moves of games[0], laid cards after the captures of the same card.

    Args:
        rules: RULES[1].
        games: GAME[1].
        cards: int64[M], written: hand cards.
        captured: uint64[M], written: what each takes.

    Returns:
        The number of legal moves, of which at most M are written.
    """
    count = 0
    card, capture = next_move(rules[0], games[0], NOBODY, NONE)
    while card != NOBODY:
        if count < len(cards):
            cards[count] = card
            captured[count] = capture
        count += 1
        card, capture = next_move(rules[0], games[0], card, capture)
    return count


@kernel
def random_actions(rules: Any, games: Any, out: Any) -> None:
    """Write for each game (int64[N]) the next action of a random legal move, each move equally likely.

    Draws from the generators of the games; 0 where the round is over.
    """
    for i in range(len(games)):
        out[i] = 0
        if games[i]["stage"] == PLAYING:
            card, captured = random_move(rules[0], games[i])
            out[i] = first_action(games[i], card, captured)


@kernel
def play_randomly(rules: Any, games: Any) -> None:
    """Play every round to its end with random legal moves, by the games' own generators."""
    for i in range(len(games)):
        while games[i]["stage"] == PLAYING:
            card, captured = random_move(rules[0], games[i])
            play.play(rules[0], games[i], card, captured)


@kernel
def observe(rules: Any, games: Any, seats: Any, scratch: Any, out: Any) -> None:
    """Write observations.

    Args:
        rules: RULES[1].
        games: GAME[N].
        seats: int64[N], the observers.
        scratch: uint64[W], working space: the bits of one observation.
        out: uint64[N, D / 8], the memory of int8[N, D]; written.
    """
    for i in range(len(games)):
        pack_observation(rules[0], games[i], int(seats[i]), scratch)
        spread(scratch, out[i])


@kernel
def histories(rules: Any, games: Any, seats: Any, scratch: Any, out: Any) -> None:
    """Write the plays of the round as `seats` see them.

    Args:
        rules: RULES[1].
        games: GAME[N].
        seats: int64[N], the observers.
        scratch: uint64[HISTORY_PLAYS, 2], working space.
        out: uint64[N, HISTORY_PLAYS, 11], the memory of int8[N, HISTORY_PLAYS, 88]; written.
    """
    for i in range(len(games)):
        pack_history(rules[0], games[i], int(seats[i]), scratch)
        for k in range(len(scratch)):
            spread(scratch[k], out[i, k])


@kernel
def full_states(rules: Any, games: Any, scratch: Any, out: Any) -> None:
    """Write the full-information states of all games into uint64[N, S / 8]."""
    for i in range(len(games)):
        pack_state(rules[0], games[i], scratch)
        spread(scratch, out[i])


@kernel
def masks(rules: Any, games: Any, seats: Any, scratch: Any, out: Any) -> None:
    """Write the action masks of `seats` into uint64[N, 11], the memory of int8[N, 88]."""
    for i in range(len(games)):
        pack_mask(rules[0], games[i], int(seats[i]), scratch)
        spread(scratch, out[i])


@kernel
def strip(rules: Any, games: Any, seats: Any, out: Any) -> None:
    """Copy each game into `out` without what seats[i] (int64[N]) cannot see."""
    for i in range(len(games)):
        out[i] = games[i]
        hidden.strip(rules[0], out[i], int(seats[i]))


@kernel
def redraw(rules: Any, games: Any, seats: Any) -> None:
    """Draw what seats[i] cannot see in each game anew, in place, from the game's own generator."""
    for i in range(len(games)):
        hidden.redraw(rules[0], games[i], int(seats[i]))


@kernel
def fill(rules: Any, games: Any) -> None:
    """Draw the cards that each game does not know, in place, from the game's own generator."""
    for i in range(len(games)):
        hidden.fill(rules[0], games[i])


@kernel
def settled(rules: Any, games: Any, out: Any) -> None:
    """Write the points of the round that are certain for each side, int64[N, 6]."""
    for i in range(len(games)):
        for side in range(int(rules[0]["sides"])):
            out[i, side] = scoring.settled_points(rules[0], games[i], side)


@kernel
def tabulate(rules: Any, games: Any, table: Any) -> None:
    """Write the points of the piles of games[0] by category and side, int64[NUM_CATEGORIES, 6]."""
    scoring.tabulate(rules[0], games[0]["piles"], games[0]["sweeps"], table)


@kernel
def primiera(rules: Any, games: Any, out: Any) -> None:
    """Write suits held and primiera sum of each pile of games[0], int64[6, 2]."""
    for side in range(int(rules[0]["sides"])):
        out[side, 0] = scoring.suits_held(rules[0], games[0]["piles"][side])
        out[side, 1] = scoring.primiera_sum(rules[0], games[0]["piles"][side])


@kernel
def best_cards(rules: Any, games: Any, out: Any) -> None:
    """Write the card that counts in the primiera, or -1, of each suit of each pile of games[0], int64[6, 4]."""
    for side in range(int(rules[0]["sides"])):
        for suit in range(int(rules[0]["suits"])):
            out[side, suit] = scoring.best_of_suit(rules[0], games[0]["piles"][side], suit)


@kernel
def set_result(rules: Any, totals: Any) -> int:
    """Return the side that wins a set with `totals` (int64[6]), NOBODY: it goes on, DRAWN: it ends level."""
    return scoring.set_result(rules[0], totals)


@kernel
def is_banked(rules: Any, games: Any, card: int) -> bool:
    """Say whether `card`, capturing nothing from the table of games[0], goes to its player's pile."""
    return play.is_banked(rules[0], card, games[0]["table"])


@kernel
def finish_scored(rules: Any, games: Any) -> None:
    """Move the match of games[0] on by the round points that stand in ``points``."""
    scoring.finish_scored_round(rules[0], games[0])


@kernel
def first_player(rules: Any, games: Any) -> int:
    """Return the seat that made the first play that games[0] holds."""
    return state.first_player(rules[0], games[0])


@kernel
def rotate_dealer(rules: Any, games: Any) -> None:
    """Clear the round of games[0] and pass the deal on, without dealing."""
    next_dealer(rules[0], games[0])
    clear_round(games[0])
