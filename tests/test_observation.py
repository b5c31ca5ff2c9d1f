"""Observations: every piece decoded, nothing hidden shown, nothing changed by a redraw."""

from __future__ import annotations

import random

import numpy as np
import pytest

from helpers import ALL_PRESETS, SHORT_MATCHES, VARIANTS, random_game
from scopa_env import Game, Rules, batch, observation
from scopa_env.cards import to_mask
from scopa_env.observation import PIECES, RULE_BITS, Piece, observation_size, pieces, state_pieces, state_size


def cards_of(bits: np.ndarray) -> tuple[int, ...]:
    return tuple(np.flatnonzero(bits).tolist())


def number_of(bits: np.ndarray) -> int:
    """A thermometer code: ones, then zeros."""
    count = int(bits.sum())
    assert bits[:count].all()
    return count


def check_public(parts: dict[str, Piece], vector: np.ndarray, game: Game, observer: int) -> None:
    """Compare the pieces that everyone sees with the game, read the long way round."""
    rules = game.rules
    players, sides = rules.players, rules.sides
    seats = [(observer + k) % players for k in range(players)]
    side_order = [(observer % sides + k) % sides for k in range(sides)]
    part = {name: piece.of(vector) for name, piece in parts.items()}
    assert cards_of(part["table"]) == game.table
    assert cards_of(part["card"]) == (() if game.card is None else (game.card,))
    assert cards_of(part["chosen"]) == game.chosen
    for k in range(players):
        pile = game.piles[side_order[k]] if k < sides else ()
        assert cards_of(part["piles"][k]) == pile
        played = {play.move.card for play in game.plays if play.seat == seats[k]}
        assert set(cards_of(part["played"][k])) == played
        assert number_of(part["hand_sizes"][k]) == min(len(game.hands[seats[k]]), 10)
        for name, most in (("sweeps", 10), ("totals", 32), ("sets", 3)):
            value = getattr(game, name)[side_order[k]] if k < sides else 0
            assert number_of(part[name][k]) == min(value, most)
    assert number_of(part["stock"]) == len(game.stock)
    assert number_of(part["target"]) == min(rules.target, 32)
    assert cards_of(part["dealer"]) == (seats.index(game.dealer),)
    assert cards_of(part["last"]) == (() if game.last is None else (side_order.index(game.last),))
    assert cards_of(part["seat"]) == (() if game.round_over else (seats.index(game.seat),))
    stage = 2 if game.round_over else int(game.card is not None)
    assert cards_of(part["stage"]) == (stage,)
    assert cards_of(part["rules"]) == tuple(i for i, text in enumerate(RULE_BITS) if rule_is_on(rules, text))


def rule_is_on(rules: Rules, text: str) -> bool:
    """Evaluate one of RULE_BITS on the fields."""
    if text == "ace_on_empty=bank":
        return rules.ace == "takes_all" and rules.ace_on_empty == "bank"
    if " >= " in text or " > " in text:
        name, sign, number = text.split()
        value = getattr(rules, name)
        return value >= int(number) if sign == ">=" else value > int(number)
    name, equals, value = text.partition("=")
    return bool(getattr(rules, name)) if not equals else getattr(rules, name) == value


@pytest.mark.parametrize("text", [*ALL_PRESETS, *VARIANTS, *SHORT_MATCHES])
def test_every_piece_of_an_observation(text: str) -> None:
    rng = random.Random(text)
    for _ in range(25):
        game = random_game(text, rng)
        rules = game.rules
        parts = {piece.name: piece for piece in pieces(rules.players)}
        for observer in range(rules.players):
            view = game.view(observer)
            vector = view.observation()
            assert vector.dtype == np.int8
            assert vector.shape == (observation_size(rules.players),)
            assert set(vector.tolist()) <= {0, 1}
            assert np.array_equal(vector, game._observe(observer))
            check_public(parts, vector, game, observer)
            assert cards_of(parts["hand"].of(vector)) == game.hands[observer]
            assert cards_of(parts["unseen"].of(vector)) == view.unseen
            check_mates(parts, vector, game, observer)
            assert not vector[sum(piece.size for piece in parts.values()) :].any()


def check_mates(parts: dict[str, Piece], vector: np.ndarray, game: Game, observer: int) -> None:
    players = game.rules.players
    if players not in (4, 6):
        assert "mates" not in parts
        return
    shown = game.rules.teams and game.rules.partner_hand_visible
    for k, bits in enumerate(parts["mates"].of(vector)):
        mate = (observer + 2 * (k + 1)) % players
        assert cards_of(bits) == (game.hands[mate] if shown else ())


@pytest.mark.parametrize("text", [*ALL_PRESETS, *VARIANTS])
def test_every_piece_of_the_state(text: str) -> None:
    rng = random.Random(text)
    for _ in range(10):
        game = random_game(text, rng)
        vector = game.state()
        parts = {piece.name: piece for piece in state_pieces(game.rules.players)}
        assert vector.shape == (state_size(game.rules.players),)
        check_public(parts, vector, game, 0)
        assert tuple(cards_of(bits) for bits in parts["hands"].of(vector)) == game.hands
        order = parts["order"].of(vector)
        assert [cards_of(bits) for bits in order] == [(card,) for card in game.stock] + [()] * (40 - len(game.stock))


@pytest.mark.parametrize("text", [*ALL_PRESETS, *VARIANTS])
def test_the_history_holds_every_play(text: str) -> None:
    rng = random.Random(text)
    for _ in range(10):
        game = random_game(text, rng)
        players = game.rules.players
        for observer in range(players):
            out = np.empty((1, 40, 11), np.uint64)
            batch.histories(
                game.rules.record, game.view(observer).records, np.array([observer]), np.empty((40, 2), np.uint64), out
            )
            tokens = out.view(np.int8)[0]
            for row, play in zip(tokens, game.plays, strict=False):
                assert cards_of(row[:40]) == (play.move.card,)
                assert cards_of(row[40:80]) == play.move.captured
                assert cards_of(row[80:]) == ((play.seat - observer) % players,)
            assert not tokens[len(game.plays) :].any()


@pytest.mark.nojit
@pytest.mark.parametrize("text", [*ALL_PRESETS, *VARIANTS])
def test_a_redraw_of_hidden_cards_changes_nothing_that_a_seat_sees(text: str) -> None:
    rng = random.Random(text)
    changed = 0
    for _ in range(6):
        game = random_game(text, rng)
        for observer in range(game.rules.players):
            view = game.view(observer)
            other = view.sample(rng.randrange(1 << 32))
            changed += other.hands != game.hands or other.stock != game.stock
            again = other.view(observer)
            assert np.array_equal(again.observation(), view.observation())
            assert np.array_equal(again.action_mask(observer), view.action_mask(observer))
            assert again.text() == view.text()
            assert again.legal_moves == view.legal_moves if view.to_act else True
            assert cards_everywhere(other) == cards_everywhere(game)
    assert changed


def cards_everywhere(game: Game) -> int:
    places = [*game.hands, *game.piles, game.table, game.stock]
    cards = [card for place in places for card in place]
    assert len(cards) == len(set(cards))
    return to_mask(cards)


@pytest.mark.nojit
def test_a_view_holds_nothing_hidden() -> None:
    """The record of a view: other hands, the deck and the generator are gone; sampling is even."""
    game = Game("scopa", seed=5, dealer=1)
    view = game.view(0)
    assert view.records["hands"][0, 1] == 0
    assert view.records["rng"][0] == 0
    assert set(view.records["deck"][0].tolist()) == {255}
    hands = [view.sample(seed).hands[1] for seed in range(300)]
    seen = {card for hand in hands for card in hand}
    assert seen == set(view.unseen)


def test_hidden_cards_are_drawn_evenly() -> None:
    """Every unseen card is as likely in the other hand (chi-square on 33 cards, about 5 deviations)."""
    game = Game("scopa", seed=5, dealer=1)
    view = game.view(0)
    counts = np.zeros(40)
    draws = 20_000
    for seed in range(draws):
        counts[list(view.sample(seed).hands[1])] += 1
    found = counts[list(view.unseen)]
    expected = draws * 3 / len(found)
    chi_square = ((found - expected) ** 2 / (expected * (1 - 3 / len(found)))).sum()
    freedom = len(found) - 1
    assert abs(chi_square - freedom) < 5 * (2 * freedom) ** 0.5


@pytest.mark.nojit
def test_layouts_are_contiguous_and_depend_on_the_players_only() -> None:
    for players in (2, 3, 4, 6):
        for parts, size in ((pieces(players), observation_size(players)), (state_pieces(players), state_size(players))):
            at = 0
            for piece in parts:
                assert piece.offset == at
                at += piece.size
            assert at <= size < at + 8
        assert PIECES[players] == {piece.name: piece for piece in pieces(players)}
    assert [observation_size(players) for players in (2, 3, 4, 6)] == [592, 736, 912, 1224]


@pytest.mark.nojit
def test_the_documented_table_is_the_generated_one() -> None:
    from pathlib import Path

    text = (Path(__file__).parent.parent / "docs" / "observation.md").read_text("utf-8")
    for players in (2, 3, 4, 6):
        assert observation.observation_table(players) in text
    assert all(f"`{bit}`" in text for bit in RULE_BITS)
