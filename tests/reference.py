"""The rules of docs/rules.md, written slowly and plainly, to check the engine against.

Nothing here comes from ``scopa_env`` and nothing here is fast: sets, ``itertools`` and the text of
the rules page. Quoted words in docstrings and comments are the sentences of that page which the
code next to them carries out. A rule is a plain dict (``full_rules``), a card is an int 0..39, a
capture is a frozenset of table cards, and a play is a pair (card, captured) with an empty set for
a card that captures nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

Cards = frozenset[int]
Play = tuple[int, Cards]
RuleFields = Mapping[str, Any]

NONE_TAKEN: Cards = frozenset()
COINS = 0
SETTEBELLO = 6  # "7 of coins = settebello"
RE_BELLO = 9  # "king of coins = re bello"
ACE, SEVEN, KING = 1, 7, 10

# "7=21, 6=18, A=16, 5=15, 4=14, 3=13, 2=12"; the faces are `primiera_faces`
PRIMIERA_VALUES = {7: 21, 6: 18, 1: 16, 5: 15, 4: 14, 3: 13, 2: 12}

# "Defaults: players 2, teams no, ranks 10, ..."
# fmt: off
DEFAULTS: dict[str, Any] = {
    "players": 2, "teams": False, "ranks": 10, "suits": 4, "hand_size": 3, "table_size": 4,
    "deals": 0,  # "until the stock is empty"
    "table_deal": "after", "redeal_kings": 3, "dealer_bonus": {},
    "capture": "match_or_sum", "priority": "single", "obligation": "card",
    "ace": "normal", "ace_facing_ace": "ace_only", "ace_scopa": True, "ace_on_empty": "place",
    "last_sweep": "not_last_play", "sweep_points": 1,
    "cards_points": 1, "coins_points": 1, "settebello_points": 1, "primiera_points": 1,
    "sevens_points": 0, "all_sevens_bonus": 0, "napola": False, "re_bello_points": 0,
    "majority": "plurality", "primiera_missing": "disqualify", "primiera_faces": 10,
    "partner_hand_visible": False, "target": 11, "target_tie": "play_on", "sets_to_win": 1,
}
# fmt: on


def full_rules(fields: RuleFields) -> dict[str, Any]:
    """Every field: the given ones, and the default for the rest."""
    unknown = set(fields) - set(DEFAULTS)
    if unknown:
        raise ValueError(f"unknown rule fields: {sorted(unknown)}")
    return {**DEFAULTS, **fields}


# ---------------------------------------------------------------------------------- cards, sides


def value_of(card: int) -> int:
    """1..10, from "card id = 10 * suit + value - 1"."""
    return card % 10 + 1


def suit_of(card: int) -> int:
    """0..3, from "card id = 10 * suit + value - 1"."""
    return card // 10


def deck_of(rules: RuleFields) -> list[int]:
    """All cards in play: `suits` suits of `ranks` values ("ranks=7: the faces are removed")."""
    return [10 * suit + rank for suit in range(rules["suits"]) for rank in range(rules["ranks"])]


def side_count(rules: RuleFields) -> int:
    """Two sides with teams ("six players are two sides of three"), else one for each player."""
    return 2 if rules["teams"] else int(rules["players"])


def side_of(rules: RuleFields, seat: int) -> int:
    """Rule: "With teams side = seat mod 2; without teams everyone for himself"."""
    return seat % 2 if rules["teams"] else seat


# -------------------------------------------------------------------------------------- captures


def brute_sets(card: int, table: Cards, capture: str) -> list[Cards]:
    """Every non-empty set of table cards with the right sum, before priority and the ace family.

    match_or_sum: "values sum to the card's value" (a matching card is a set of one).
    fifteen: "sums to 15 together with the card played".
    """
    wanted = value_of(card) if capture == "match_or_sum" else 15 - value_of(card)
    low = sorted(other for other in table if value_of(other) <= wanted)  # a higher one cannot fit
    return [
        frozenset(chosen)
        for size in range(1, min(len(low), wanted) + 1)  # every value is at least 1
        for chosen in combinations(low, size)
        if sum(map(value_of, chosen)) == wanted
    ]


def apply_priority(card: int, table: Cards, sets: Iterable[Cards], priority: str) -> set[Cards]:
    """Rule: "priority looks at the card played alone, never across the hand"."""
    allowed = set(sets)
    if priority == "single":  # "if a table card matches, only a single matching card may be taken"
        matches = {frozenset({other}) for other in table if value_of(other) == value_of(card)}
        return matches or allowed
    if priority == "fewest":  # "only sets with the least number of cards"
        least = min(map(len, allowed), default=0)
        return {chosen for chosen in allowed if len(chosen) == least}
    return allowed  # "none": any


def has_ace_rule(rules: RuleFields, card: int) -> bool:
    """Whether this card is an ace played under `ace="takes_all"`."""
    return bool(rules["ace"] == "takes_all" and value_of(card) == ACE)


def ace_captures(rules: RuleFields, table: Cards) -> set[Cards]:
    """Rule: "An ace captures the whole table and has no other capture; priority does not apply".

    "With an ace on the table it takes only that ace (ace_only; choose which), or all (all)."
    """
    if not table:
        return set()
    aces = {frozenset({other}) for other in table if value_of(other) == ACE}
    if aces and rules["ace_facing_ace"] == "ace_only":
        return aces
    return {table}


def captures(rules: RuleFields, card: int, table: Cards) -> set[Cards]:
    """Every set the card may take; "exactly one set is taken, never two"."""
    if has_ace_rule(rules, card):
        return ace_captures(rules, table)
    return apply_priority(card, table, brute_sets(card, table, rules["capture"]), rules["priority"])


def legal_plays(rules: RuleFields, hand: Cards, table: Cards) -> set[Play]:
    """Every play of a hand, `obligation` included.

    An ace that goes to the pile from an empty table (`ace_on_empty="bank"`) is the play
    (ace, nothing): it is "no capture for obligation", and the table is empty for every card.
    """
    sets = {card: captures(rules, card, table) for card in hand}
    capturing = {(card, chosen) for card in hand for chosen in sets[card]}
    if rules["obligation"] == "card":  # "a card that can capture must capture"
        return capturing | {(card, NONE_TAKEN) for card in hand if not sets[card]}
    if rules["obligation"] == "hand" and capturing:  # "only capturing plays are legal"
        return capturing
    return capturing | {(card, NONE_TAKEN) for card in hand}  # "any card may be laid down"


# --------------------------------------------------------------------------------------- scoring


def strictly_best(values: Sequence[Any]) -> int | None:
    """Rule: "The one side that is strictly best; a tie gives nobody the point"."""
    best = [side for side, value in enumerate(values) if value == max(values)]
    return best[0] if len(best) == 1 else None


def award(sides: int, winner: int | None, points: int) -> list[int]:
    """The points of a category for its winner, zero for the others (for all without winner)."""
    return [points if side == winner else 0 for side in range(sides)]


def majority_winner(rules: RuleFields, counts: Sequence[int], in_deck: int) -> int | None:
    """The best at cards or coins; absolute: "need more than half of the deck's, owned or not"."""
    winner = strictly_best(counts)
    if rules["majority"] == "absolute" and winner is not None and 2 * counts[winner] <= in_deck:
        return None
    return winner


def owner(piles: Sequence[Cards], wanted: Cards) -> int | None:
    """The side that owns all of these cards; cards that no deck has belong to nobody."""
    owners = [side for side, pile in enumerate(piles) if wanted and wanted <= pile]
    return owners[0] if owners else None


def of_suit(cards: Iterable[int], suit: int) -> Cards:
    return frozenset(card for card in cards if suit_of(card) == suit)


def of_value(cards: Iterable[int], value: int) -> Cards:
    return frozenset(card for card in cards if value_of(card) == value)


def primiera(rules: RuleFields, piles: Sequence[Iterable[int]]) -> tuple[list[tuple[int, int]], int | None]:
    """(suits held, sum) of each side, and the winner: "the unique best wins"."""
    results = [suits_and_sum(rules, pile) for pile in piles]
    if rules["primiera_missing"] == "more_suits":  # "compares (suits held, sum)"
        return results, strictly_best(results)
    if rules["primiera_missing"] == "zero":  # "the sum"
        return results, strictly_best([total for _, total in results])
    # "disqualify": "the sum of those that hold every suit of the deck"
    sums = [total if held == rules["suits"] else -1 for held, total in results]
    return results, strictly_best(sums) if max(sums) >= 0 else None


def suits_and_sum(rules: RuleFields, pile: Iterable[int]) -> tuple[int, int]:
    """Rule: "Best card of each suit, summed"; "a face worth 0 still holds its suit"."""
    worth = {8: rules["primiera_faces"], 9: rules["primiera_faces"], 10: rules["primiera_faces"]}
    worth.update(PRIMIERA_VALUES)
    best: dict[int, int] = {}
    for card in pile:
        best[suit_of(card)] = max(best.get(suit_of(card), 0), worth[value_of(card)])
    return len(best), sum(best.values())


def napola_run(pile: Cards) -> int:
    """Rule: "the unbroken run of coins from the ace, at least 3", a point for each."""
    run = 0
    while run < 10 and 10 * COINS + run in pile:
        run += 1
    return run if run >= 3 else 0


def sevens_points(rules: RuleFields, piles: Sequence[Cards]) -> list[int]:
    """Most sevens, and "every seven of the deck, independent of sevens_points"."""
    most = strictly_best([len(of_value(pile, SEVEN)) for pile in piles])
    every = owner(piles, of_value(deck_of(rules), SEVEN))
    for_most = award(len(piles), most, rules["sevens_points"])
    for_every = award(len(piles), every, rules["all_sevens_bonus"])
    return [first + second for first, second in zip(for_most, for_every, strict=True)]


def score(rules: RuleFields, piles: Sequence[Iterable[int]], sweeps: Sequence[int]) -> dict[str, list[int]]:
    """Points per side in every category of the table "Scoring a round", zeros included."""
    owned = [frozenset(pile) for pile in piles]
    sides, deck = len(owned), deck_of(rules)
    most_cards = majority_winner(rules, [len(pile) for pile in owned], len(deck))
    coins = [len(of_suit(pile, COINS)) for pile in owned]
    most_coins = majority_winner(rules, coins, len(of_suit(deck, COINS)))
    settebello = owner(owned, frozenset({SETTEBELLO}))
    re_bello = owner(owned, frozenset({RE_BELLO}))
    points = {
        "cards": award(sides, most_cards, rules["cards_points"]),
        "coins": award(sides, most_coins, rules["coins_points"]),
        "settebello": award(sides, settebello, rules["settebello_points"]),
        "primiera": award(sides, primiera(rules, owned)[1], rules["primiera_points"]),
        "sevens": sevens_points(rules, owned),
        "sweeps": [count * rules["sweep_points"] for count in sweeps],
        "napola": [napola_run(pile) if rules["napola"] else 0 for pile in owned],
        "re_bello": award(sides, re_bello, rules["re_bello_points"]),
    }
    points["total"] = [sum(category[side] for category in points.values()) for side in range(sides)]
    return points


# --------------------------------------------------------------------------------------- a round


class ReferenceRound:
    """One round: dealt from a fixed deck, or built from a state, then played card by card.

    A void deal sets `void` and nothing else. When the round is over, `table` holds cards only if
    nobody captured; `stock` keeps the cards that were never dealt (`deals`).
    """

    def __init__(self, rules: RuleFields, deck: Sequence[int], dealer: int) -> None:
        if sorted(deck) != deck_of(rules):
            raise ValueError("the deck must hold every card in play once")
        hands, table, stock = first_deal(rules, deck, dealer)
        kings = len(of_value(table, KING))
        self.void = 0 < rules["redeal_kings"] <= kings  # "0: never"; "the deal is void"
        if self.void:
            return
        self._set_up(rules, hands, table, stock, dealer)
        self._dealer_bonus()

    def _set_up(
        self,
        rules: RuleFields,
        hands: Sequence[Iterable[int]],
        table: Iterable[int],
        stock: Sequence[int],
        dealer: int,
    ) -> None:
        self.void, self.rules, self.dealer = False, rules, dealer
        self.hands = [frozenset(hand) for hand in hands]
        self.table = frozenset(table)
        self.stock = list(stock)  # undealt, in order
        self.piles = [NONE_TAKEN] * side_count(rules)
        self.sweeps = [0] * side_count(rules)
        self.seat = (dealer + 1) % rules["players"]  # "the seat after the dealer plays first"
        self.last: int | None = None
        self.over = not any(self.hands)
        self.plays: list[tuple[int, int, Cards]] = []
        self.deals_done = 1

    @classmethod
    def from_state(
        cls,
        rules: RuleFields,
        *,
        hands: Sequence[Iterable[int]],
        table: Iterable[int],
        stock: Sequence[int] = (),
        piles: Sequence[Iterable[int]] | None = None,
        sweeps: Sequence[int] | None = None,
        seat: int = 0,
        dealer: int | None = None,
        last: int | None = None,
    ) -> ReferenceRound:
        """A state as the `play` cases give it; "cards not listed do not exist in that case"."""
        state = cls.__new__(cls)
        before = (seat - 1) % rules["players"]  # "dealer = the seat before to_move"
        state._set_up(rules, hands, table, stock, before if dealer is None else dealer)
        state.seat, state.last = seat, last
        if piles is not None:
            state.piles = [frozenset(pile) for pile in piles]
        if sweeps is not None:
            state.sweeps = list(sweeps)
        # only matters where `deals` is given: what left the deck came off it by whole deals
        dealt = len(deck_of(rules)) - rules["table_size"] - len(state.stock)
        state.deals_done = dealt // (rules["players"] * rules["hand_size"])
        return state

    def _dealer_bonus(self) -> None:
        """Rule: "If the table cards sum to a listed number, the dealer's side takes them"."""
        sweeps = bonus_sweeps(self.rules, self.table)
        if sweeps:
            side = side_of(self.rules, self.dealer)
            self._give(side, self.table)
            self.table = NONE_TAKEN
            self.sweeps[side] += sweeps  # "as that many sweeps, untouched by last_sweep"

    def _give(self, side: int, cards: Cards) -> None:
        """Cards go to a pile and the side "counts as the last to have captured"."""
        self.piles[side] |= cards
        self.last = side

    def legal(self) -> set[Play]:
        """Every legal play of the seat to move; none when the round is over."""
        return legal_plays(self.rules, self.hands[self.seat], self.table)

    def play(self, card: int, captured: Cards) -> None:
        """Rule: "A play is one hand card and the table cards it captures (none: it is laid)"."""
        captured = frozenset(captured)
        if (card, captured) not in self.legal():
            raise ValueError(f"illegal play of seat {self.seat}: {card} takes {sorted(captured)}")
        self.plays.append((self.seat, card, captured))
        self.hands[self.seat] -= {card}
        side = side_of(self.rules, self.seat)
        if captured:
            self._capture(side, card, captured)
        elif self._banks(card):
            self._give(side, frozenset({card}))  # "to the player's own pile"; "no sweep"
        else:
            self.table |= {card}
        self.seat = (self.seat + 1) % self.rules["players"]
        if not any(self.hands):
            self._hands_empty()

    def _capture(self, side: int, card: int, captured: Cards) -> None:
        self.table -= captured
        self._give(side, captured | {card})
        if not self.table and self._sweep_counts(card, captured):
            self.sweeps[side] += 1  # "a capture that empties the table is a sweep"

    def _banks(self, card: int) -> bool:
        """`ace_on_empty="bank"`: "on an empty table the ace goes to the pile, never optional"."""
        bank = self.rules["ace_on_empty"] == "bank"
        return bank and not self.table and has_ace_rule(self.rules, card)

    def _sweep_counts(self, card: int, captured: Cards) -> bool:
        """`ace_scopa` and `last_sweep`, asked after the card has left the hand."""
        # "a single ace that is the whole table always does", else `ace_scopa` decides
        single_ace = len(captured) == 1 and bool(of_value(captured, ACE))
        if has_ace_rule(self.rules, card) and not single_ace and not self.rules["ace_scopa"]:
            return False
        last_deal = not self._deals_to_come()
        if self.rules["last_sweep"] == "not_last_play":  # "the very last play never counts"
            return any(self.hands) or not last_deal
        if self.rules["last_sweep"] == "not_last_hand":  # "no play of the last deal counts"
            return not last_deal
        return True  # "counts"

    def _deals_to_come(self) -> bool:
        """Rule: "Until the stock is used up (or `deals` deals are done, the first included)"."""
        done = self.rules["deals"] and self.deals_done >= self.rules["deals"]
        return bool(self.stock) and not done

    def _hands_empty(self) -> None:
        if self._deals_to_come():
            self._deal_again()
            return
        self.over = True
        if self.last is not None:  # "the cards left go to the side that captured last (no sweep)"
            self._give(self.last, self.table)
            self.table = NONE_TAKEN  # "if nobody captured, nobody gets them"

    def _deal_again(self) -> None:
        """Rule: "one at a time from the seat after the dealer, which leads again"."""
        order = dealing_order(self.rules, self.dealer)
        for seat in order * self.rules["hand_size"]:
            self.hands[seat] |= {self.stock.pop(0)}
        self.seat = order[0]
        self.deals_done += 1

    def score(self) -> dict[str, list[int]]:
        """The points of the piles as they are now."""
        return score(self.rules, self.piles, self.sweeps)

    def settled(self) -> list[int]:
        """The points each side is certain of; the round's points when it is over.

        A side's certain points are those it would score if every other side owned, at the same
        time, all cards that are in no pile yet (hands, table, stock, never dealt).
        """
        if self.over:
            return self.score()["total"]
        open_cards = self.table.union(self.stock, *self.hands)
        return [self._worst_case(side, open_cards) for side in range(len(self.piles))]

    def _worst_case(self, side: int, open_cards: Cards) -> int:
        piles = [pile if other == side else pile | open_cards for other, pile in enumerate(self.piles)]
        return score(self.rules, piles, self.sweeps)["total"][side]


def dealing_order(rules: RuleFields, dealer: int) -> list[int]:
    """Rule: "Starting with the seat after the dealer (seat i+1 plays after seat i)"."""
    return [(dealer + step) % rules["players"] for step in range(1, rules["players"] + 1)]


def first_deal(rules: RuleFields, deck: Sequence[int], dealer: int) -> tuple[list[list[int]], list[int], list[int]]:
    """Hands, table and stock: "hands one card at a time"; `table_deal` places the table cards."""
    rest = list(deck)
    hands: list[list[int]] = [[] for _ in range(rules["players"])]
    table: list[int] = []

    def deal_table(count: int) -> None:
        for _ in range(min(count, rules["table_size"] - len(table))):
            table.append(rest.pop(0))

    if rules["table_deal"] == "before":  # "table, then hands"
        deal_table(rules["table_size"])
    for _ in range(rules["hand_size"]):
        for seat in dealing_order(rules, dealer):
            hands[seat].append(rest.pop(0))
        if rules["table_deal"] == "interleaved":  # "one table card after each round of hand cards"
            deal_table(1)
    deal_table(rules["table_size"])  # "after", and "the rest at the end"
    return hands, table, rest


def bonus_sweeps(rules: RuleFields, table: Cards) -> int:
    """The sweeps that `dealer_bonus` gives for this first table, 0 if none."""
    return int(rules["dealer_bonus"].get(sum(map(value_of, table)), 0)) if table else 0


# --------------------------------------------------------------------------------------- a match


class ReferenceMatch:
    """Totals over rounds; after the last round of a set they stay until the next set begins."""

    def __init__(self, rules: RuleFields, dealer: int) -> None:
        self.rules = rules
        self.dealer = dealer
        self.totals = [0] * side_count(rules)
        self.sets = [0] * side_count(rules)
        self.set_winner: int | str | None = None
        self.winner: int | str | None = None

    def add_round(self, points: Sequence[int]) -> None:
        """Count a round; "the next seat deals after every round"."""
        if self.winner is not None:
            raise ValueError("the match is over")
        if self.set_winner is not None:  # "totals go back to 0 at each new set"
            self.totals = [0] * len(self.totals)
        self.totals = [old + new for old, new in zip(self.totals, points, strict=True)]
        self.dealer = (self.dealer + 1) % self.rules["players"]
        self.set_winner = self._decide()
        if isinstance(self.set_winner, int):
            self.sets[self.set_winner] += 1
            if self.sets[self.set_winner] == self.rules["sets_to_win"]:
                self.winner = self.set_winner
        elif self.set_winner == "draw":  # "the match is drawn"
            self.winner = "draw"

    def _decide(self) -> int | str | None:
        """Rule: "One side alone has the highest total and it is at least `target`"."""
        if max(self.totals) < self.rules["target"]:
            return None
        alone = strictly_best(self.totals)
        if alone is None and self.rules["target_tie"] == "draw":
            return "draw"
        return alone
