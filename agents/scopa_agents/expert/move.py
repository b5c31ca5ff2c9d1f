"""`expert`: one-ply play by counting cards, after common advice on Scopa and Scopone.

Each legal move gets the points that the own side may expect of it: the worth of the cards that it takes, its sweep,
and the worth of the table that it leaves.  The best wins, ties at random.  It uses only what its seat may know.

Its rules, and where each is found (letters below; "ours" where we know of no source):

- Sevens above all, the settebello first, then sixes and aces: the order of the primiera [C, rule 3].  How much a card
  is worth follows from the rules record and the piles: nothing in a category that is decided or out of reach, most
  where one card may turn it [ours: `scopa_agents.expert.values`].
- Leave no table that the next seat sweeps, best more than ten; lay a high card for it [M].  The chance that the next
  seat holds a card that sweeps, or takes something dear, follows from the unseen cards and its hand's size [ours].
- Remember what has been played [M, S]: a card whose fellows are gone cannot be swept, nor taken but by sums [I, L].
- Who lays on an empty table is at a disadvantage, so a sweep is more than its point; taking one of two cards risks a
  sweep of the other and the wheel (mulinello) in which one side lays and the other takes [F].  Here: what the next seat
  takes counts less if the own side may sweep what that leaves.
- Lay a card of which you hold two or more, above all to open [I, L, S].
- Keep sevens and cards of the primiera, do not open with coins [I].  Here: a laid card may be lost with its worth.
- Keep the high cards, which take sums, and lay the low ones, which make them: S says the last for the side that does
  not deal; measured between experts it is right for both [ours].
- A seat that let a capture pass has probably not got the card: used of the next seat and of the partner [ours].
- The side that deals keeps the values paired, the other unpairs them (spariglio) [F, S, L; C rule 35 as quoted by S].
  Here a small bonus for each value of which an odd number is out.  Left out, nothing measurable changes.
- The last to play has the advantage [C, rule 5]: who captured last keeps the leftovers, with a chance that falls with
  the plays still to come [ours].  Left out, nothing measurable changes either.

Against itself without the fear of the next seat's sweep it wins 0.2 points a round in Scopa and 3.7 in Scopone
scientifico, without any look at what the next seat takes 0.6 and 6.8: most of its strength is there.

C: Chitarrella's rules of Scopone, https://www.pagat.com/fishing/scopone/chita.html (read: rules 1 to 6).
F: ten hints of the Federazione Italiana Gioco Scopone, https://giochistars.it/news/10-trucchi-per-vincere-a-scopone.
I: the opening of Scopone scientifico, http://www.ideefesta.it/giochi-online/giochi-di-carte-scopone-scientifico.html.
L: the spariglio, https://ludopoli.it/scopone_scientifico_spariglio.aspx.
M: hints for Scopa, https://www.digitalmoka.com/come-vincere-a-scopa.
S: strategy by seat, http://scoponescientifico.tripod.com/strategia.htm (and est, ovest, sud).

Di Palma and Lanzi ("Traditional Wisdom and Monte Carlo Tree Search Face-to-Face in the Card Game Scopone", 2018) made
rule-based agents of the rules of Chitarrella with Saracino and of Cicuti and Guardamagna (we know its abstract, not
those books, and claim none of their rules).  This agent adds up expectations; its weights were searched in matches.
"""

from __future__ import annotations

from typing import Any

from scopa_agents.base import CompiledAgent
from scopa_agents.expert.notes import new_notes
from scopa_agents.expert.reply import table_value
from scopa_agents.expert.values import HOLD, long_hands, worth_of, write_worth
from scopa_env.engine.bits import NONE, ONE, bit, lowest, popcount, word
from scopa_env.engine.captures import COINS, SEVENS, reachable_sums, same_value, value_of
from scopa_env.engine.deal import more_deals
from scopa_env.engine.hidden import hand_count, sees_hand
from scopa_env.engine.moves import first_action, next_move
from scopa_env.engine.play import is_banked, is_sweep, sweep_counts
from scopa_env.engine.rng import random_below
from scopa_env.engine.state import HAND, NOBODY, next_seat, relative_seat, side_of
from scopa_env.kernel import inlined, kernel
from scopa_env.policy import Policy

HIGH, LONG_HIGH = 0.02, 0.005
"""Points for each unit of value kept in hand, where a high card takes sums."""
DOUBLE = 0.06
"""Points that two cards of a value in one hand of a team are worth less: one of them is better laid."""
HOLD_SEVEN = 0.3
"""Part of an unseen seven's worth that its holder gains by capturing with it."""
TRUST = 0.6
"""How likely a value is held whose holder let a capture with it pass, compared with the others."""
SWEEP, LONG_SWEEP = 1.1, 1.5
"""A sweep of the next seat in sweep points: it leaves an empty table, where laying a card is a risk."""
ODD = 0.03
"""Points for each value of which an odd number is out in the last deal, for the side that does not deal."""

_WORST = 1e9
"""Beyond every value."""
_SAME = 1e-9
"""Values that differ by rounding alone are ties."""


@inlined
def _other_pile(rules: Any, game: Any, side: int) -> Any:
    """Return the largest pile of another side."""
    other = NONE
    for one in range(int(rules["sides"])):
        if one != side and popcount(game["piles"][one]) >= popcount(other):
            other = game["piles"][one]
    return other


@inlined
def _taken(rules: Any, game: Any) -> Any:
    """Return the cards in all piles."""
    taken = NONE
    for side in range(int(rules["sides"])):
        taken |= game["piles"][side]
    return taken


@inlined
def _shown(rules: Any, game: Any, seat: int) -> Any:
    """Return the cards of the hands that `seat` sees, its own included."""
    shown = game["hands"][seat]
    if rules["partner_hand_visible"]:
        for one in range(int(rules["players"])):
            if sees_hand(rules, seat, one):
                shown |= game["hands"][one]
    return shown


@kernel
def doubted(rules: Any, game: Any, seat: int) -> int:
    """Return the values, as bits, that `seat` probably lacks: it laid a card while they would have captured."""
    values = 0
    turns = int(rules["hand_size"]) - hand_count(game, seat)
    back = relative_seat(rules, int(game["seat"]), seat)
    play = int(game["plays"])
    table = game["table"]
    while turns > 0 and play > 0:
        play -= 1
        back -= 1
        card = int(game["cards"][play])
        captured = game["captured"][play]
        laid = captured == NONE and table & bit(card) != NONE
        table = table & ~bit(card) | captured
        if back == 0:
            back = int(rules["players"])
            turns -= 1
            if laid:
                values |= int(reachable_sums(table)) & 0x7FFE
    return values


@inlined
def _sweep_points(rules: Any, again: bool, last_play: bool) -> float:
    """Return what a sweep pays, by ``last_sweep``."""
    return float(rules["sweep_points"]) if sweep_counts(rules, not again, last_play) else 0.0


@inlined
def _write_seats(rules: Any, game: Any, notes: Any, again: bool) -> None:
    """Write what is known of the next seat and of the helper."""
    seat = int(game["seat"])
    after = next_seat(rules, seat)
    helper = next_seat(rules, after) if rules["teams"] else seat
    next_held = hand_count(game, after)
    helper_held = hand_count(game, helper) - (1 if helper == seat else 0)
    known = helper == seat or bool(rules["partner_hand_visible"])
    notes["helper_known"] = 1 if known and helper_held > 0 else 0
    notes["helper_hand"] = game["hands"][helper] if notes["helper_known"] else NONE
    notes["next_doubt"] = doubted(rules, game, after) if next_held > 0 else 0
    notes["helper_doubt"] = doubted(rules, game, helper) if helper != seat and helper_held > 0 else 0
    hand_size = int(rules["hand_size"]) if again else 0
    notes["next_held"] = next_held if next_held > 0 else hand_size
    notes["helper_held"] = helper_held if helper_held > 0 else hand_size
    notes["trust"] = 0.0 if rules["obligation"] == HAND else TRUST


@inlined
def _write_notes(rules: Any, game: Any, notes: Any) -> float:
    """Write what the seat to act knows; return what a sweep pays it now."""
    seat = int(game["seat"])
    side = side_of(rules, seat)
    shown = _shown(rules, game, seat)
    taken = _taken(rules, game)
    unseen = rules["deck"] & ~(taken | game["table"] | shown)
    notes["taken"] = taken
    notes["unseen"] = unseen
    notes["count"] = popcount(unseen)
    held_values = NONE
    for value in range(1, 11):
        notes["number"][value] = popcount(unseen & same_value(value - 1))
        if (unseen | shown) & same_value(value - 1) != NONE:
            held_values |= bit(value)
    notes["held_values"] = held_values
    again = more_deals(rules, game)
    left = -1
    for one in range(int(rules["players"])):
        left += hand_count(game, one)
    if again:
        left += popcount(rules["deck"]) - int(game["dealt"])
    notes["left"] = left
    notes["next_sweep"] = (LONG_SWEEP if long_hands(rules) else SWEEP) * _sweep_points(rules, again, left == 1)
    notes["helper_sweep"] = _sweep_points(rules, again, left == 2) if left > 1 else 0.0
    notes["odd_pays"] = 0.0 if again else ODD
    if side_of(rules, int(game["dealer"])) == side:
        notes["odd_pays"] = -notes["odd_pays"]
    _write_seats(rules, game, notes, again)
    cards = game["table"] | game["hands"][seat] | (unseen & SEVENS)
    write_worth(rules, notes, game["piles"][side], _other_pile(rules, game, side), cards)
    notes["seven"] = 0.0
    if notes["number"][7] > 0:
        notes["seven"] = HOLD_SEVEN * worth_of(notes, unseen & SEVENS) / notes["number"][7]
    return _sweep_points(rules, again, left == 0)


@inlined
def _odd_values(taken: Any) -> int:
    """Return the number of values of which an odd number has been taken."""
    odd = taken ^ (taken >> word(20))
    odd ^= odd >> word(10)
    return popcount(odd & COINS)


@inlined
def _hand_value(rules: Any, notes: Any) -> float:
    """Return what the kept cards promise beside their worth."""
    high = 0.0
    if not rules["fifteen"]:
        high = LONG_HIGH if long_hands(rules) else HIGH
    value = 0.0
    kept = notes["hand"]
    while kept != NONE:
        card = lowest(kept)
        kept &= kept - ONE
        value += high * value_of(card)
        if rules["teams"] and kept & same_value(card) != NONE:
            value -= DOUBLE
    return value


@inlined
def _move_value(rules: Any, game: Any, notes: Any, card: int, captured: Any, sweep: float) -> float:
    """Return the points that the own side expects of a move, less what is the same for all."""
    table = game["table"]
    notes["hand"] = game["hands"][int(game["seat"])] & ~bit(card)
    if not rules["teams"]:
        notes["helper_hand"] = notes["hand"]
    last = int(game["last"])
    ours = 0.0 if last == NOBODY else (1.0 if last == side_of(rules, int(game["seat"])) else -1.0)
    gone = captured
    if captured != NONE or is_banked(rules, card, table):
        value = worth_of(notes, captured) + (1 - HOLD) * notes["worth"][card]
        gone |= bit(card)
        ours = 1.0
        left = table & ~captured
        if captured != NONE and is_sweep(rules, card, captured, table):
            value += sweep
    else:
        value = -HOLD * notes["worth"][card]
        left = table | bit(card)
    value += _hand_value(rules, notes)
    value += table_value(rules, notes, left, ours)
    if notes["odd_pays"] != 0:
        value += notes["odd_pays"] * _odd_values(notes["taken"] | gone)
    return float(value)


@kernel
def survey_expert(rules: Any, game: Any, asked_card: int, asked_captured: Any) -> Any:
    """Return the legal move with the best value (ties by the generator of `game`), and how many have that value.

    The number is 0 if the move that is asked about is none of them.  Uses only what the seat to act may know, also
    where `game` holds more.
    """
    card, captured = next_move(rules, game, NOBODY, NONE)
    then_card, then_captured = next_move(rules, game, card, captured)
    if then_card == NOBODY:
        return card, captured, 1 if card == asked_card and captured == asked_captured else 0
    notes = new_notes()
    sweep = _write_notes(rules, game, notes)
    best_card, best_captured = card, captured
    best, ties, asked = -_WORST, 0, -_WORST
    while card != NOBODY:
        value = _move_value(rules, game, notes, card, captured, sweep)
        if value > best + _SAME:
            best, ties = value, 0
        if value >= best - _SAME:
            ties += 1
            if ties == 1 or random_below(game, ties) == 0:
                best_card, best_captured = card, captured
        if card == asked_card and captured == asked_captured:
            asked = value
        card, captured = then_card, then_captured
        if card != NOBODY:
            then_card, then_captured = next_move(rules, game, card, captured)
    return best_card, best_captured, ties if asked >= best - _SAME else 0


@kernel
def expert_move(rules: Any, game: Any) -> Any:
    """Return the legal move with the best value; ties by the generator of `game`.

    Uses only what the seat to act may know, also where `game` holds more.
    """
    card, captured, _ = survey_expert(rules, game, NOBODY, NONE)
    return card, captured


@kernel
def expert_action(rules: Any, game: Any) -> int:
    """Return the next action of the expert's move."""
    card, captured = expert_move(rules, game)
    return first_action(game, card, captured)


class ExpertAgent(CompiledAgent):
    """Plays the move with the best expectation in points (see the module)."""

    name = "expert"
    policy = Policy(expert_action)
