"""Actions: each legal move has exactly one sequence of them, and every masked sequence ends in a legal move."""

from __future__ import annotations

import random

import numpy as np
import pytest

from helpers import ALL_PRESETS, VARIANTS, first_turn
from scopa_env import Game, IllegalAction, Move
from scopa_env.actions import LAY, NUM_ACTIONS, TAKE, action_text


def sequences(game: Game) -> dict[tuple[int, ...], Move]:
    """Every masked sequence of actions from here to the end of the play, with the move it makes."""
    found: dict[tuple[int, ...], Move] = {}

    def walk(here: Game, said: tuple[int, ...]) -> None:
        plays = len(here.plays)
        for action in np.flatnonzero(here.action_mask()).tolist():
            after = here.copy()
            after.act(action)
            if len(after.plays) > plays or after.round_over:
                found[(*said, action)] = after.plays[-1].move
            else:
                walk(after, (*said, action))

    walk(game, ())
    return found


@pytest.mark.parametrize("text", [*ALL_PRESETS, *VARIANTS])
def test_sequences_and_moves_are_the_same_both_ways(text: str) -> None:
    rng = random.Random(text)
    for seed in range(3):
        game = Game(text, seed=seed)
        while not game.round_over:
            found = sequences(game)
            moves = game.legal_moves
            assert len(moves) == len(set(moves))
            assert sorted(found.values()) == sorted(moves)
            for said, move in found.items():
                assert tuple(game.actions_of(move)) == said
                takes = [action - TAKE for action in said[1:] if action != LAY]
                assert said[0] < TAKE
                assert takes == sorted(takes)
                assert LAY not in said[2:]
            game.push(rng.choice(moves))


@pytest.mark.parametrize("text", [*ALL_PRESETS, *VARIANTS])
def test_moves_of_a_play_in_progress_go_on_with_what_was_named(text: str) -> None:
    """Named are the lowest cards of the capture: what was legal before, and starts with them, is legal now."""
    rng = random.Random(text)
    for seed in range(3):
        game = Game(text, seed=seed)
        while not game.round_over:
            before = game.legal_moves
            plays = len(game.plays)
            while not game.round_over and len(game.plays) == plays:
                if game.card is not None:
                    named = game.chosen
                    going_on = [
                        move for move in before if (move.card, move.captured[: len(named)]) == (game.card, named)
                    ]
                    assert sorted(game.legal_moves) == sorted(going_on)
                    assert [move for move in before if game.is_legal(move)] == going_on
                game.act(rng.choice(np.flatnonzero(game.action_mask()).tolist()))


@pytest.mark.nojit
def test_a_choice_is_named_only_where_there_is_one() -> None:
    game = first_turn("scopa", "7dFcAb/2c3cRc", "3d4c2b5c")
    assert game.actions_of(Move(6, (2, 13))) == [6, TAKE + 2]
    assert game.actions_of(Move(6, (14, 31))) == [6, TAKE + 14]
    assert game.actions_of(Move(17, (2, 14))) == [17]  # 3d5c is its only capture
    escoba = first_turn("escoba", "8sAdAc/7b2sRb", "7d9b4c2c")
    assert escoba.actions_of(Move(27)) == [27, LAY]
    assert escoba.actions_of(Move(27, (6,))) == [27, TAKE + 6]


@pytest.mark.nojit
def test_illegal_actions_name_action_seat_and_what_is_legal() -> None:
    game = Game("scopa", seed=1, dealer=1)
    before = game.text()
    for action in (-1, 81, 10**9, LAY, TAKE, next(a for a in range(40) if a not in game.hands[0])):
        with pytest.raises(IllegalAction) as caught:
            game.act(action)
        message = str(caught.value)
        assert str(action) in message
        assert "seat 0" in message
        assert all(action_text(card) in message for card in game.hands[0])
        assert game.text() == before


@pytest.mark.nojit
def test_texts_of_actions() -> None:
    assert action_text(6) == "play 7d"
    assert action_text(TAKE + 16) == "take 7c"
    assert action_text(LAY) == "lay the card"
    assert "no action" in action_text(NUM_ACTIONS)


@pytest.mark.nojit
def test_one_action_in_several_games_is_all_or_nothing() -> None:
    from scopa_env import Rules, batch
    from scopa_env.engine.state import GAME

    rules = Rules.parse("scopa")
    games = np.zeros(3, GAME)
    games["rng"] = [1, 2, 3]
    batch.start(rules.record, games, 1)
    actions = np.empty(3, np.int64)
    batch.random_actions(rules.record, games, actions)
    before = games.tobytes()
    wrong = actions.copy()
    wrong[2] = LAY
    assert batch.act(rules.record, games, wrong) == 2
    assert games.tobytes() == before
    assert batch.act(rules.record, games, actions) == batch.LEGAL
    assert games["plays"].tolist() == [1, 1, 1]
