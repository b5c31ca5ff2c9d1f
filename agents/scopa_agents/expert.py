"""`expert`."""

from __future__ import annotations

from typing import Any

from scopa_agents.base import CompiledAgent
from scopa_agents.expert_values import NONE_HELD, w, write_values
from scopa_agents.scratch import scratch
from scopa_env.engine.bits import NONE, ONE, bit, lowest, popcount, word
from scopa_env.engine.captures import ACES, COINS, reachable_sums, same_value, value_of
from scopa_env.engine.deal import more_deals
from scopa_env.engine.hidden import hand_count
from scopa_env.engine.moves import first_action, next_move
from scopa_env.engine.play import is_banked
from scopa_env.engine.captures import takes_all_by_ace
from scopa_env.engine.rng import random_below
from scopa_env.engine.state import ANY, COUNTS, FEWEST, NOBODY, NOT_LAST_HAND, next_seat, relative_seat, side_of
from scopa_env.kernel import kernel
from scopa_env.policy import Policy

# places of the working memory
_SUMS = 40
_MATCH = 56
_GAIN = 67
_PLAIN = 78
_EACH = 95
_NO_SET = -1e9
_PER_CARD = 1000.0


@kernel
def _sweep_counts(rules: Any, last_deal: bool, last_play: bool) -> bool:
    if rules["last_sweep"] == COUNTS:
        return True
    if rules["last_sweep"] == NOT_LAST_HAND:
        return not last_deal
    return not last_play


@kernel
def _worth_of(memory: Any, cards: Any) -> float:
    total = 0.0
    while cards != NONE:
        total += memory[lowest(cards)]
        cards &= cards - ONE
    return total


@kernel
def _write_sums(rules: Any, memory: Any, table: Any) -> None:
    """Write the best worth of table cards by their sum, and of single cards by value."""
    top = 14 if rules["fifteen"] else 10
    fewest = bool(rules["priority"] == FEWEST)
    for total in range(1, 15):
        memory[_SUMS + total] = _NO_SET
    memory[_SUMS] = 0.0
    for value in range(1, 11):
        memory[_MATCH + value] = -1.0
    while table != NONE:
        card = lowest(table)
        table &= table - ONE
        value = value_of(card)
        worth = memory[card]
        memory[_MATCH + value] = max(memory[_MATCH + value], worth)
        if fewest:
            worth -= _PER_CARD
        for total in range(top, value - 1, -1):
            memory[_SUMS + total] = max(memory[_SUMS + total], memory[_SUMS + total - value] + worth)


@kernel
def _write_gain(rules: Any, memory: Any, table: Any, value: int, total: int, worth: float, sweep: float) -> None:
    """Write what a card of `value` gains at best from `table`, with and without a sweep; below 0: it takes nothing."""
    plain, swept = -1.0, False
    if rules["ace_takes_all"] and value == 1:
        aces = table & ACES
        if aces != NONE and not rules["ace_faces_all"]:
            plain = memory[_MATCH + 1]
            swept = aces == table and popcount(aces) == 1
        elif table != NONE:
            plain = worth
            swept = bool(rules["ace_scopa"]) or (popcount(table) == 1 and aces != NONE)
    elif rules["priority"] != ANY and memory[_MATCH + value] >= 0:
        plain = memory[_MATCH + value]
        swept = popcount(table) == 1
    else:
        target = 15 - value if rules["fifteen"] else value
        best = memory[_SUMS + target]
        if best > _NO_SET / 2:
            plain = best
            swept = total == target
            if rules["priority"] == FEWEST:
                count = int((-best + _PER_CARD - 1) // _PER_CARD)
                plain = best + _PER_CARD * count
                swept = swept and count == popcount(table)
            if swept:
                plain = worth
    memory[_PLAIN + value] = plain
    memory[_GAIN + value] = plain + sweep if swept and plain >= 0 else plain


@kernel
def _next_best(memory: Any, values: int) -> int:
    best = 0
    for value in range(1, 11):
        if values >> value & 1 and (best == 0 or memory[_GAIN + value] > memory[_GAIN + best]):
            best = value
    return best


@kernel
def _best_of_hand(memory: Any, hand: Any) -> float:
    best = 0.0
    while hand != NONE:
        best = max(best, memory[_PLAIN + value_of(lowest(hand))])
        hand &= hand - ONE
    return best


@kernel
def _doubted(rules: Any, game: Any, seat: int) -> int:
    """Return the values, as bits, that `seat` probably lacks: it laid a card while they would have captured."""
    values = 0
    turns = int(rules["hand_size"]) - hand_count(game, seat)
    players = int(rules["players"])
    plays = int(game["plays"])
    back = relative_seat(rules, int(game["seat"]), seat)  # plays since the last one of `seat`, its own included
    table = game["table"]
    k = plays
    while turns > 0 and k > 0:
        k -= 1
        card = int(game["cards"][k])
        captured = game["captured"][k]
        laid = captured == NONE and table & bit(card) != NONE
        table = table & ~bit(card) | captured
        back -= 1
        if back == 0:
            back = players
            turns -= 1
            if laid:
                values |= int(reachable_sums(table)) & 0x7FFE
    return values


@kernel
def _has(values: int, rules: Any, value: int) -> bool:
    return bool(values >> ((15 - value) if rules["fifteen"] else value) & 1)


@kernel
def _answer(
    rules: Any, memory: Any, rest: int, unseen: Any, count: int, helper_held: int, helper_hand: Any, helper_doubt: int
) -> float:
    """Return the chance that the helper sweeps a table that sums to `rest`."""
    value = 15 - rest if rules["fifteen"] else rest
    if rest <= 0 or value < 1 or value > 10:
        return 0.0
    if helper_hand != NONE:
        return 1.0 if helper_hand & same_value(value - 1) != NONE else 0.0
    chance = 1.0 - NONE_HELD[count, helper_held, popcount(unseen & same_value(value - 1))]
    if _has(helper_doubt, rules, value):
        chance *= w(rules, 14)
    return chance


@kernel
def _after(
    rules: Any,
    memory: Any,
    table: Any,
    unseen: Any,
    held: int,
    helper_hand: Any,
    helper_held: int,
    sweep: float,
    ours: float,
    left: int,
    doubt: int,
    helper_doubt: int,
) -> float:
    """Return the value of leaving `table` to the next seat."""
    total = 0
    worth = 0.0
    rest = table
    while rest != NONE:
        total += value_of(lowest(rest))
        worth += memory[lowest(rest)]
        rest &= rest - ONE
    if left == 0:
        return ours * worth
    keep = w(rules, 8) ** left
    value = ours * keep * worth
    if table == NONE:
        return value + w(rules, 9) * rules["sweep_points"]
    _write_sums(rules, memory, table)
    flip = (ours * keep + keep) * worth
    each = w(rules, 10) * memory[_EACH] + flip
    values = 0
    count = popcount(unseen)
    points = float(rules["sweep_points"]) if left > 1 else 0.0
    for number in range(1, 11):
        _write_gain(rules, memory, table, number, total, worth, sweep)
        if memory[_GAIN + number] >= 0:
            values |= 1 << number
            rest_sum = total - (15 - number if rules["fifteen"] else number)
            risk = _answer(rules, memory, rest_sum, unseen, count, helper_held, helper_hand, helper_doubt)
            memory[_GAIN + number] = max(0.0, memory[_GAIN + number] - w(rules, 13) * points * risk)
    wanted = 0
    missed, helper_missed = 1.0, 1.0
    loss, help_gain = 0.0, 0.0
    while values != 0:
        number = _next_best(memory, values)
        values ^= 1 << number
        more = popcount(unseen & same_value(number - 1))
        if more > 0:
            wanted += more
            chance = 1.0
            if wanted - more < count:
                chance = NONE_HELD[count, held, wanted] / max(1e-6, NONE_HELD[count, held, wanted - more])
            if _has(doubt, rules, number):
                chance = 1.0 - w(rules, 14) * (1.0 - chance)
            loss += (memory[_GAIN + number] + each) * missed * (1.0 - chance)
            missed *= chance
            if helper_held > 0 and helper_hand == NONE:
                chance = NONE_HELD[count, helper_held, wanted] / max(1e-6, NONE_HELD[count, helper_held, wanted - more])
                if _has(helper_doubt, rules, number):
                    chance = 1.0 - w(rules, 14) * (1.0 - chance)
                help_gain += memory[_PLAIN + number] * helper_missed * (1.0 - chance)
                helper_missed *= chance
    if helper_hand != NONE:
        help_gain = _best_of_hand(memory, helper_hand)
    return value - w(rules, 5) * loss + w(rules, 6) * missed * help_gain


@kernel
def expert_move(rules: Any, game: Any) -> Any:
    """Return the legal move with the best estimate; ties by the generator of `game`."""
    best_card, best_captured = next_move(rules, game, NOBODY, NONE)
    card, captured = next_move(rules, game, best_card, best_captured)
    if card == NOBODY:
        return best_card, best_captured
    memory = scratch()
    seat = int(game["seat"])
    side = side_of(rules, seat)
    hand = game["hands"][seat]
    table = game["table"]
    own = game["piles"][side]
    other = NONE
    taken = NONE
    players = int(rules["players"])
    for one in range(int(rules["sides"])):
        pile = game["piles"][one]
        taken |= pile
        if one != side and popcount(pile) >= popcount(other):
            other = pile
    shown = NONE
    after = next_seat(rules, seat)
    helper = next_seat(rules, after) if rules["teams"] else seat
    if rules["teams"] and rules["partner_hand_visible"]:
        for one in range(seat & 1, players, 2):
            if one != seat:
                shown |= game["hands"][one]
    unseen = rules["deck"] & ~(taken | table | hand | shown)
    all_held = -1
    for one in range(players):
        all_held += hand_count(game, one)
    again = more_deals(rules, game)
    held = hand_count(game, after)
    helper_held = hand_count(game, helper)
    if helper == seat:
        helper_held -= 1
    helper_hand = NONE
    if helper_held > 0 and helper == seat:
        helper_hand = hand
    elif helper_held > 0 and rules["partner_hand_visible"]:
        helper_hand = game["hands"][helper]
    if again and held == 0:
        held = int(rules["hand_size"])
    if again and helper_held == 0:
        helper_held = int(rules["hand_size"])
    left = all_held
    if again:
        left += popcount(rules["deck"]) - int(game["dealt"])
    write_values(rules, own, other, table | hand, memory)
    points = float(rules["sweep_points"])
    sweep = points if _sweep_counts(rules, not again, left == 0) else 0.0
    their_sweep = (w(rules, 7) if players == 2 else w(rules, 15)) * points if _sweep_counts(rules, not again, left == 1) else 0.0
    doubt = _doubted(rules, game, after) if hand_count(game, after) > 0 else 0
    helper_doubt = _doubted(rules, game, helper) if helper != seat and hand_count(game, helper) > 0 else 0
    parity = 0.0
    if not again:
        parity = w(rules, 12) if players == 2 else w(rules, 11)
        if side_of(rules, int(game["dealer"])) == side:
            parity = -parity
    last = int(game["last"])
    best = -1e9
    ties = 0
    card, captured = best_card, best_captured
    while card != NOBODY:
        ours = 0.0 if last == NOBODY else (1.0 if last == side else -1.0)
        gone = taken
        if captured != NONE:
            score = _worth_of(memory, captured) + (1 - w(rules, 4)) * memory[card]
            ours = 1.0
            rest = table & ~captured
            gone |= captured | bit(card)
            if rest == NONE and (rules["ace_scopa"] or not takes_all_by_ace(rules, card, table)):
                score += sweep
        elif is_banked(rules, card, table):
            score = (1 - w(rules, 4)) * memory[card]
            ours = 1.0
            rest = table
            gone |= bit(card)
        else:
            score = -w(rules, 4) * memory[card]
            rest = table | bit(card)
        keep_hand = helper_hand & ~bit(card)
        score += _after(rules, memory, rest, unseen, held, keep_hand, helper_held, their_sweep, ours, left, doubt, helper_doubt)
        if parity != 0.0:
            odd = gone ^ (gone >> word(20))
            odd ^= odd >> word(10)
            score += parity * popcount(odd & COINS)
        if score > best + 1e-9:
            best, ties = score, 0
        if score >= best - 1e-9:
            ties += 1
            if ties == 1 or random_below(game, ties) == 0:
                best_card, best_captured = card, captured
        card, captured = next_move(rules, game, card, captured)
    return best_card, best_captured


@kernel
def expert_action(rules: Any, game: Any) -> int:
    """Return the next action of the expert's move."""
    card, captured = expert_move(rules, game)
    return first_action(game, card, captured)


class ExpertAgent(CompiledAgent):
    """Plays the move with the best estimate in points (see the module)."""

    name = "expert"
    policy = Policy(expert_action)
