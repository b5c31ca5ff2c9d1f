"""What a move network sees: the position right after a move, through the eyes of the seat that made it, as bits.

One layout for every game and number of players (`PIECES`).  The cards themselves, and what follows from them by
counting: which values take or sweep the table, what can be taken after each card that may follow, how many cards of
each value are out, who let a capture pass, which points are certain.  Nothing in it depends on cards that the seat
cannot see.
"""

from __future__ import annotations

from typing import Any

from scopa_agents.expert import doubted
from scopa_agents.network.reach import answers, by_rank, reach, reached
from scopa_env.cards import NUM_CARDS, NUM_RANKS
from scopa_env.engine.bits import NONE, ONE, bit, lowest, popcount, signed, word
from scopa_env.engine.captures import COINS, SEVENS
from scopa_env.engine.hidden import hand_count, known_cards
from scopa_env.engine.past import plays_left
from scopa_env.engine.scoring import NUM_CATEGORIES, best_of_suit, score_side
from scopa_env.engine.state import NOBODY, next_side, relative_seat, relative_side, side_of
from scopa_env.kernel import inlined, kernel
from scopa_env.packing import Piece, finish, lay_out, put, put_number
from scopa_env.rules import RULE_BITS

FEATURES = "moves 2"
"""Name and version of the layout, kept with networks that use it."""

NEXT, BETWEEN, PREVIOUS = 0, 1, 2
"""Groups of the other seats: who plays after the mover, before it, and those between (of two players: NEXT alone)."""
OWN, AFTER, OTHERS = 0, 1, 2
"""Groups of the sides: the mover's, the one after it, and all others together."""
GROUPS = 3
HAND, PLAYS, COUNT, COINS_COUNT, SEVENS_COUNT, SWEEPS = 10, 40, 40, 10, 4, 8
"""Lengths of thermometer codes."""
MOST_OF_RANK = 4
RULES = len(RULE_BITS)

LATE = 6
"""With at most so many plays left the late network is asked, and `answers` are written."""
_ANSWERS = f"captures, sweeps, takes a coin, a seven, two cards, with {LATE} plays left at most"
_PARTS: list[tuple[str, tuple[int, ...], str]] = [
    ("hand", (NUM_CARDS,), "cards left in the mover's hand"),
    ("table", (NUM_CARDS,), "cards on the table"),
    ("unseen", (NUM_CARDS,), "cards whose place the mover does not know"),
    ("shown", (NUM_CARDS,), "cards in hands of team-mates that the mover sees"),
    ("piles", (GROUPS, NUM_CARDS), "cards won by the own side, the one after it, all others"),
    ("played", (GROUPS, NUM_CARDS), "cards played this round by the next seat, those between, the previous one"),
    ("doubted", (GROUPS, NUM_RANKS), "values that these seats probably lack, as they let a capture with them pass"),
    ("hand_ranks", (MOST_OF_RANK, NUM_RANKS), "values of which the hand has at least 1 .. 4 cards"),
    ("table_ranks", (MOST_OF_RANK, NUM_RANKS), "the same of the table"),
    ("unseen_ranks", (MOST_OF_RANK, NUM_RANKS), "the same of the unseen cards"),
    ("takes", (NUM_RANKS,), "values that capture from this table"),
    ("sweeps_table", (NUM_RANKS,), "values that sweep it"),
    ("takes_coin", (NUM_RANKS,), "values that capture a coin"),
    ("takes_seven", (NUM_RANKS,), "values that capture a seven"),
    ("takes_settebello", (NUM_RANKS,), "values that capture the seven of coins"),
    ("takes_two", (NUM_RANKS,), "values that capture two cards or more"),
    ("takes_three", (NUM_RANKS,), "values that capture three cards or more"),
    ("unseen_takes", (MOST_OF_RANK, NUM_RANKS), "values that capture, at least 1 .. 4 of them unseen"),
    ("unseen_sweeps", (MOST_OF_RANK, NUM_RANKS), "values that sweep, at least 1 .. 4 of them unseen"),
    ("hand_takes", (NUM_RANKS,), "values in hand that capture"),
    ("hand_sweeps", (NUM_RANKS,), "values in hand that sweep"),
    ("hand_settebello", (NUM_RANKS,), "values in hand that take the seven of coins"),
    ("unseen_settebello", (NUM_RANKS,), "values of unseen cards that take it"),
    ("hand_reach", (2, NUM_CARDS), "table cards that a value in hand can take, that two can"),
    ("unseen_reach", (2, NUM_CARDS), "table cards that a value of an unseen card can take, that two can"),
    ("hand_answers", (5, NUM_RANKS), f"unseen values after which a card in hand {_ANSWERS}"),
    ("unseen_answers", (5, NUM_RANKS), f"values in hand after which an unseen card {_ANSWERS}"),
    ("best", (2, NUM_CARDS), "cards of the own side's, the next side's pile that count for the primiera"),
    ("hand_sizes", (1 + GROUPS, HAND), "cards in the mover's hand and in the largest of the other groups'"),
    ("plays_left", (PLAYS,), "plays up to the end of the round"),
    ("counts", (2, COUNT), "cards in the own pile, in the largest other"),
    ("coins", (2, COINS_COUNT), "coins in them"),
    ("sevens", (2, SEVENS_COUNT), "sevens in them"),
    ("sweeps", (2, SWEEPS), "sweeps of the own side, of the best other"),
    ("settled", (2, NUM_CATEGORIES), "categories in which the own side, the next side has points for certain"),
    ("last", (GROUPS,), "side that captured last: own, next, another"),
    ("dealer", (1 + GROUPS,), "the dealer: the mover, the next seat, one between, the previous one"),
    ("to_play", (1 + GROUPS,), "who plays next, the same"),
    ("players", (7,), "number of players"),
    ("rules", (RULES,), "which rules are on, see RULE_BITS"),
]

PIECES: tuple[Piece, ...] = lay_out(_PARTS)
"""The pieces in order."""
NUM_FEATURES = PIECES[-1].offset + PIECES[-1].size
NUM_WORDS = -(-NUM_FEATURES // 64)
"""64-bit words that hold them."""


@inlined
def _group_of(rules: Any, seat: int, observer: int) -> int:
    """Return the group of another seat."""
    place = relative_seat(rules, seat, observer)
    if place == 1:
        return NEXT
    return PREVIOUS if place == signed(rules["players"]) - 1 else BETWEEN


@inlined
def _put_group(words: Any, at: Any, rules: Any, seat: int, observer: int) -> Any:
    """Write which seat: the observer, or a group of the others."""
    return put(words, at, bit(0 if seat == observer else 1 + _group_of(rules, seat, observer)), 1 + GROUPS)


@inlined
def _put_ranks(words: Any, at: Any, counts: Any, of: Any) -> Any:
    """Write by number of cards the values that are also in `of`."""
    at = put(words, at, counts[0] & of, NUM_RANKS)
    at = put(words, at, counts[1] & of, NUM_RANKS)
    at = put(words, at, counts[2] & of, NUM_RANKS)
    return put(words, at, counts[3] & of, NUM_RANKS)


@inlined
def _put_masks(words: Any, at: Any, masks: Any) -> Any:
    """Write five masks of values."""
    for k in range(5):
        at = put(words, at, masks[k], NUM_RANKS)
    return at


@inlined
def _put_table(rules: Any, game: Any, observer: int, unseen: Any, words: Any, at: Any) -> Any:
    """Write who can do what with the table."""
    hand, table = game["hands"][observer], game["table"]
    hand_ranks = by_rank(hand)
    unseen_ranks = by_rank(unseen)
    every = COINS
    at = _put_ranks(words, at, hand_ranks, every)
    at = _put_ranks(words, at, by_rank(table), every)
    at = _put_ranks(words, at, unseen_ranks, every)
    takes, sweeps, coin, seven, settebello, two, three = reach(rules, table)
    at = _put_masks(words, at, (takes, sweeps, coin, seven, settebello))
    at = put(words, at, two, NUM_RANKS)
    at = put(words, at, three, NUM_RANKS)
    at = _put_ranks(words, at, unseen_ranks, takes)
    at = _put_ranks(words, at, unseen_ranks, sweeps)
    at = put(words, at, hand_ranks[0] & takes, NUM_RANKS)
    at = put(words, at, hand_ranks[0] & sweeps, NUM_RANKS)
    at = put(words, at, hand_ranks[0] & settebello, NUM_RANKS)
    at = put(words, at, unseen_ranks[0] & settebello, NUM_RANKS)
    for ranks in (hand_ranks[0], unseen_ranks[0]):
        one, more = reached(rules, ranks, table)
        at = put(words, at, one, NUM_CARDS)
        at = put(words, at, more, NUM_CARDS)
    late = plays_left(rules, game) <= LATE
    at = _put_masks(words, at, answers(rules, unseen if late else NONE, hand_ranks[0], table))
    return _put_masks(words, at, answers(rules, hand if late else NONE, unseen_ranks[0], table))


@inlined
def _put_seats(rules: Any, game: Any, observer: int, words: Any, at: Any) -> Any:
    """Write what the other seats have played and what they probably lack."""
    players = int(rules["players"])
    for group in range(GROUPS):
        played = NONE
        for seat in range(players):
            if seat != observer and _group_of(rules, seat, observer) == group:
                played |= game["played"][seat]
        at = put(words, at, played, NUM_CARDS)
    for group in range(GROUPS):
        values = 0
        for seat in range(players):
            if seat != observer and _group_of(rules, seat, observer) == group and hand_count(game, seat) > 0:
                values |= doubted(rules, game, seat)
        at = put(words, at, word(values >> 1) & COINS, NUM_RANKS)
    return at


@inlined
def _put_piles(rules: Any, game: Any, own: int, words: Any, at: Any) -> Any:
    """Write the piles of the groups of sides."""
    others = NONE
    after = next_side(rules, own)
    for side in range(int(rules["sides"])):
        if side != own and side != after:
            others |= game["piles"][side]
    at = put(words, at, game["piles"][own], NUM_CARDS)
    at = put(words, at, game["piles"][after], NUM_CARDS)
    return put(words, at, others, NUM_CARDS)


@inlined
def _primiera_cards(rules: Any, pile: Any) -> Any:
    """Return the cards of a pile that count for the primiera."""
    cards = NONE
    for suit in range(int(rules["suits"])):
        best = best_of_suit(rules, pile, suit)
        if best != NOBODY:
            cards |= bit(best)
    return cards


@inlined
def _put_counts(rules: Any, game: Any, own: int, words: Any, at: Any) -> Any:
    """Write numbers of cards, coins, sevens and sweeps: of the own side, and the most of another."""
    cards = coins = sevens = sweeps = 0
    for side in range(int(rules["sides"])):
        if side != own:
            pile = game["piles"][side]
            cards = max(cards, popcount(pile))
            coins = max(coins, popcount(pile & COINS))
            sevens = max(sevens, popcount(pile & SEVENS))
            sweeps = max(sweeps, signed(game["sweeps"][side]))
    pile = game["piles"][own]
    at = put_number(words, at, popcount(pile), COUNT)
    at = put_number(words, at, cards, COUNT)
    at = put_number(words, at, popcount(pile & COINS), COINS_COUNT)
    at = put_number(words, at, coins, COINS_COUNT)
    at = put_number(words, at, popcount(pile & SEVENS), SEVENS_COUNT)
    at = put_number(words, at, sevens, SEVENS_COUNT)
    at = put_number(words, at, signed(game["sweeps"][own]), SWEEPS)
    return put_number(words, at, sweeps, SWEEPS)


@inlined
def _settled(rules: Any, game: Any, side: int, spare: Any) -> Any:
    """Return the categories, as bits, in which a side has points for certain."""
    found = NONE
    for category in range(NUM_CATEGORIES):
        if score_side(rules, game["piles"], game["sweeps"], spare, side, category) > 0:
            found |= bit(category)
    return found


@inlined
def _put_sizes(rules: Any, game: Any, observer: int, words: Any, at: Any) -> Any:
    """Write the sizes of hands."""
    at = put_number(words, at, hand_count(game, observer), HAND)
    for group in range(GROUPS):
        most = 0
        for seat in range(int(rules["players"])):
            if seat != observer and _group_of(rules, seat, observer) == group:
                most = max(most, hand_count(game, seat))
        at = put_number(words, at, most, HAND)
    return at


@kernel
def pack_position(rules: Any, game: Any, observer: int, words: Any) -> None:
    """Write the features of a position between two plays.

    Args:
        rules: a RULES record.
        game: a GAME record, whole or stripped for `observer`: the result is the same.
        observer: the seat that has just moved.
        words: uint64[NUM_WORDS], written.
    """
    own = side_of(rules, observer)
    known = known_cards(rules, game, observer)
    unseen = rules["deck"] & ~known
    owned = NONE
    for side in range(int(rules["sides"])):
        owned |= game["piles"][side]
    hand, table = game["hands"][observer], game["table"]
    at = put(words, (signed(0), NONE), hand, NUM_CARDS)
    at = put(words, at, table, NUM_CARDS)
    at = put(words, at, unseen, NUM_CARDS)
    at = put(words, at, known & ~(owned | table | hand), NUM_CARDS)
    at = _put_piles(rules, game, own, words, at)
    at = _put_seats(rules, game, observer, words, at)
    at = _put_table(rules, game, observer, unseen, words, at)
    after = next_side(rules, own)
    at = put(words, at, _primiera_cards(rules, game["piles"][own]), NUM_CARDS)
    at = put(words, at, _primiera_cards(rules, game["piles"][after]), NUM_CARDS)
    at = _put_sizes(rules, game, observer, words, at)
    at = put_number(words, at, plays_left(rules, game), PLAYS)
    at = _put_counts(rules, game, own, words, at)
    spare = rules["deck"] & ~owned
    at = put(words, at, _settled(rules, game, own, spare), NUM_CATEGORIES)
    at = put(words, at, _settled(rules, game, after, spare), NUM_CATEGORIES)
    last = int(game["last"])
    group = min(relative_side(rules, last, observer), OTHERS) if last != NOBODY else 0
    at = put(words, at, bit(group) if last != NOBODY else NONE, GROUPS)
    at = _put_group(words, at, rules, int(game["dealer"]), observer)
    at = _put_group(words, at, rules, int(game["seat"]), observer)
    at = put(words, at, bit(int(rules["players"])), 7)
    finish(words, put(words, at, rules["features"], RULES))


@inlined
def write_bits(bits: Any, place: int, out: Any, count: int) -> int:
    """Write the indices of the features that are on in word `place` behind the first `count`; return how many now."""
    while bits != NONE:
        out[count] = 64 * place + lowest(bits)
        count += 1
        bits &= bits - ONE
    return count
