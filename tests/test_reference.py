"""The engine against an independent, slow implementation of the rules (`reference.py`)."""

from __future__ import annotations

import itertools
import os
import random
from functools import lru_cache

import numpy as np
import pytest

import reference
from helpers import ALL_PRESETS, VARIANTS, rule_fields
from scopa_env import Game, Move, Rules
from scopa_env.batch import settled
from scopa_env.engine.captures import next_capture
from scopa_env.game import VoidDeal
from scopa_env.kernel import kernel

GAMES = 200
MANY_GAMES = int(os.environ.get("SCOPA_REFERENCE_GAMES", "20000"))


def check_state(game: Game, twin: reference.ReferenceRound) -> None:
    """Everything that can be seen of the two is equal."""
    assert [frozenset(hand) for hand in game.hands] == list(twin.hands)
    assert frozenset(game.table) == twin.table
    assert [frozenset(pile) for pile in game.piles] == list(twin.piles)
    assert list(game.sweeps) == list(twin.sweeps)
    assert list(game.stock) == list(twin.stock)
    assert game.last == twin.last
    assert game.round_over == twin.over
    assert game.dealer == twin.dealer
    if not twin.over:
        assert game.seat == twin.seat
    plays = [(play.seat, play.move.card, frozenset(play.move.captured)) for play in game.plays]
    assert plays == list(twin.plays)
    points = np.zeros((1, 6), np.int64)
    settled(game.rules.record, game.records, points)
    assert points[0, : game.rules.sides].tolist() == list(twin.settled())


def check_round(rules: Rules, fields: dict[str, object], rng: random.Random) -> bool:
    """Play one random round in both and compare at every step; False if its deal was void."""
    deck = list(rules.deck)
    rng.shuffle(deck)
    dealer = rng.randrange(rules.players)
    twin = reference.ReferenceRound(fields, deck, dealer)
    if twin.void:
        with pytest.raises(VoidDeal):
            Game(rules, deck=deck, dealer=dealer)
        return False
    game = Game(rules, deck=deck, dealer=dealer)
    while not twin.over:
        check_state(game, twin)
        legal = twin.legal()
        moves = game.legal_moves
        assert len(moves) == len(legal)
        assert {(move.card, frozenset(move.captured)) for move in moves} == legal
        move = rng.choice(moves)
        game.push(move)
        twin.play(move.card, frozenset(move.captured))
    check_state(game, twin)
    score = {name: list(points) for name, points in game.score().items()}
    assert score == twin.score()
    outcome = game.outcome()
    assert outcome is not None
    assert list(outcome.points) == score["total"]
    return True


def check_rules(text: str, games: int, seed: int) -> None:
    rules = Rules.parse(text)
    fields = rule_fields(rules)
    rng = random.Random(f"{text} {seed}")
    played = sum(check_round(rules, fields, rng) for _ in range(games))
    assert played > 0


@pytest.mark.parametrize("text", ALL_PRESETS)
def test_random_rounds_agree(text: str) -> None:
    check_rules(text, GAMES, 1)


@pytest.mark.parametrize("text", VARIANTS)
def test_random_rounds_of_other_rules_agree(text: str) -> None:
    check_rules(text, 40, 2)


@pytest.mark.nojit
@pytest.mark.parametrize("text", ALL_PRESETS)
def test_a_few_random_rounds_agree(text: str) -> None:
    check_rules(text, 10, 3)


@pytest.mark.slow
@pytest.mark.parametrize("text", ALL_PRESETS)
def test_many_random_rounds_agree(text: str) -> None:
    check_rules(text, MANY_GAMES, 4)


@pytest.mark.parametrize("text", [*ALL_PRESETS, *VARIANTS])
def test_matches_agree(text: str) -> None:
    """Totals, sets, dealers and the winner over whole matches."""
    rules = Rules.parse(text)
    fields = rule_fields(rules)
    rng = random.Random(text)
    for seed in range(2):
        game = Game(rules, seed=seed)
        twin = reference.ReferenceMatch(fields, game.dealer)
        while True:
            assert game.dealer == twin.dealer
            while not game.round_over:
                game.push(rng.choice(game.legal_moves))
            outcome = game.outcome()
            assert outcome is not None
            twin.add_round(outcome.points)
            assert list(outcome.totals) == list(twin.totals)
            assert list(outcome.sets) == list(twin.sets)
            assert outcome.match_winner == (None if twin.winner == "draw" else twin.winner)
            assert outcome.match_over == (twin.winner is not None)
            if outcome.match_over:
                break
            game.next_round()


# captures by exhaustion


@kernel
def list_captures(rules, card, table, out):
    """Write every capture of `card` into uint64[M]; return how many."""
    count = 0
    capture = next_capture(rules[0], card, table, np.uint64(0))
    while capture != np.uint64(0):
        out[count] = capture
        count += 1
        capture = next_capture(rules[0], card, table, capture)
    return count


def engine_captures(rules: Rules, card: int, table: frozenset[int]) -> list[frozenset[int]]:
    out = np.zeros(2048, np.uint64)
    mask = np.uint64(sum(1 << c for c in table))
    count = list_captures(rules.record, card, mask, out)
    return [frozenset(c for c in range(40) if int(mask) >> c & 1) for mask in out[:count].tolist()]


def tables(most: int) -> list[frozenset[int]]:
    """One table for every multiset of at most `most` values, at most four of each."""
    found = []
    for size in range(most + 1):
        for values in itertools.combinations_with_replacement(range(1, 11), size):
            if all(values.count(value) <= 4 for value in values):
                suits = {value: iter(range(4)) for value in values}
                found.append(frozenset(10 * next(suits[value]) + value - 1 for value in values))
    return found


CAPTURE_RULES = {
    **{("match_or_sum", p): Rules(priority=p) for p in ("single", "fewest", "none")},
    ("fifteen", "none"): Rules(capture="fifteen", priority="none"),
}
OBLIGATIONS = ("card", "hand", "none")


@pytest.fixture
def brute_force_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brute force each card and table once; priorities and obligations are derived from it."""
    monkeypatch.setattr(reference, "brute_sets", lru_cache(maxsize=64)(reference.brute_sets))


def check_captures(table: frozenset[int]) -> None:
    """Every card, capture mode and priority on one table; brute force once per card and mode."""
    for value in range(1, 11):
        card = card_beside(table, value)
        raw = {mode: reference.brute_sets(card, table, mode) for mode in ("match_or_sum", "fifteen")}
        for (mode, priority), rules in CAPTURE_RULES.items():
            expected = reference.apply_priority(card, table, raw[mode], priority)
            found = engine_captures(rules, card, table)
            assert len(found) == len(set(found))
            assert set(found) == expected, (mode, priority, card, sorted(table))
            for one, other in itertools.permutations(found, 2):
                assert not one < other


ACE_RULES = [
    Rules(ace="takes_all", ace_facing_ace=facing, ace_scopa=scopa, ace_on_empty=empty, priority=priority)
    for facing in ("ace_only", "all")
    for scopa in (False, True)
    for empty, priority in (("place", "single"), ("bank", "none"))
]
GAMES_BY_RULES = {
    rules: Game(rules, seed=0, dealer=1)
    for base in [*CAPTURE_RULES.values(), *ACE_RULES]
    for rules in [base.replace(obligation=obligation) for obligation in OBLIGATIONS]
}


def check_obligations(table: frozenset[int]) -> None:
    """Every obligation, for a hand with a card of each value and for each of its cards alone."""
    cards = [card_beside(table, value) for value in range(1, 11)]
    hand = frozenset(card for card in cards if card not in table)
    for rules, game in GAMES_BY_RULES.items():
        fields = rule_fields(rules)
        aces = frozenset(card for card in hand if card % 10 == 0)
        alone = [frozenset({card}) for card in (hand if rules.ace == "normal" else aces)]
        for held in [hand, *(alone if rules.obligation == "hand" else [])]:
            expected = reference.legal_plays(fields, held, table)
            found = legal_moves(game, held, table)
            assert len(found) == len(set(found))
            assert {(m.card, frozenset(m.captured)) for m in found} == expected, (rules, sorted(held), sorted(table))


def card_beside(table: frozenset[int], value: int) -> int:
    """A card of `value` that is not on the table, if there is one."""
    cards = [10 * suit + value - 1 for suit in (3, 2, 1, 0)]
    return next((card for card in cards if card not in table), cards[0])


def legal_moves(game: Game, hand: frozenset[int], table: frozenset[int]) -> list[Move]:
    """The legal moves of seat 0 with this hand on this table."""
    game.records["hands"][0, 0] = sum(1 << card for card in hand)
    game.records["table"][0] = sum(1 << card for card in table)
    return game.legal_moves


@pytest.mark.nojit
@pytest.mark.usefixtures("brute_force_once")
def test_captures_and_obligations_on_every_table_of_three() -> None:
    for table in tables(3):
        check_captures(table)
        check_obligations(table)


@pytest.mark.nojit
@pytest.mark.usefixtures("brute_force_once")
@pytest.mark.parametrize(
    "values",
    [[1, 1, 1, 1], [1, 1, 1, 2, 2], [1, 1, 1, 1, 2, 2], [1, 1, 1, 1, 2, 2, 2], [1, 1, 2, 2, 3], [4, 4, 5, 5, 10, 10]],
)
def test_captures_on_tables_of_many_small_cards(values: list[int]) -> None:
    """Captures of up to seven cards: no king can take more than A A A A 2 2 2."""
    table = next(found for found in tables(len(values)) if sorted(card % 10 + 1 for card in found) == values)
    check_captures(table)
    check_obligations(table)


@pytest.mark.usefixtures("brute_force_once")
def test_captures_and_obligations_on_every_table_of_five() -> None:
    every = tables(5)
    assert len(every) == 2993
    for table in every:
        check_captures(table)
        check_obligations(table)


@pytest.mark.slow
@pytest.mark.usefixtures("brute_force_once")
@pytest.mark.parametrize("size", [6, 7, 8, 9])
def test_captures_and_obligations_on_larger_tables(size: int) -> None:
    for table in tables(size):
        if len(table) == size:
            check_captures(table)
            check_obligations(table)
