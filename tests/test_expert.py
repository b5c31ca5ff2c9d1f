"""`expert`: legal and without hidden cards under all rules, the obvious move in positions, stronger than greedy."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from helpers import ALL_PRESETS, VARIANTS, first_turn, random_game
from scopa_agents.expert import ExpertAgent, expert_action, expert_move
from scopa_env import Game, View, batch
from scopa_env.engine.bits import Mask
from scopa_env.engine.hidden import known_cards
from scopa_env.kernel import kernel

EXPERT = "scopa_agents.expert:ExpertAgent"
ALL_RULES = [*ALL_PRESETS, *VARIANTS]


@kernel
def action_at(rules: Any, games: Any) -> int:
    return expert_action(rules[0], games[0])


@kernel
def move_at(rules: Any, games: Any) -> Any:
    return expert_move(rules[0], games[0])


@kernel
def known_at(rules: Any, games: Any, seat: int) -> Any:
    return known_cards(rules[0], games[0], seat)


def best(game: Game | View) -> str:
    """Return the move of the expert; there is only one in the positions below."""
    view = game.view(game.seat) if isinstance(game, Game) else game
    moves = {str(ExpertAgent(seed=seed).act(view)) for seed in range(5)}
    assert len(moves) == 1
    return moves.pop()


# under all rules


@pytest.mark.nojit
@pytest.mark.parametrize("text", ALL_RULES)
def test_every_move_is_legal_also_while_a_play_is_in_progress(text: str) -> None:
    rng = random.Random(text)
    agent = ExpertAgent(seed=1)
    for _ in range(8):
        game = random_game(text, rng)
        while not game.round_over:
            card, captured = move_at(game.rules.record, game.records.copy())
            assert batch.move_is_legal(game.rules.record, game.records, int(card), Mask(captured))
            action = int(agent.act_batch(game.rules, game.view(game.seat).records)[0])
            assert game.action_mask()[action]
            if game.card is None and rng.random() < 0.7:
                move = agent.act(game.view(game.seat))
                assert game.is_legal(move)
                game.push(move)
            else:
                game.act(action)


@pytest.mark.nojit
@pytest.mark.parametrize("text", ALL_RULES)
def test_the_cards_that_its_seat_cannot_see_change_nothing(text: str) -> None:
    """Not even on a full record, as a search hands it in: the same move as on a stripped and on a redrawn one."""
    rng = random.Random(text)
    for _ in range(12):
        game = random_game(text, rng)
        if game.round_over:
            continue
        seat = np.array([game.seat])
        stripped = game.records.copy()
        batch.strip(game.rules.record, game.records, seat, stripped)
        records = [game.records.copy(), stripped]
        for _ in range(3):
            redrawn = game.records.copy()
            redrawn["rng"] = rng.randrange(1 << 60)
            batch.redraw(game.rules.record, redrawn, seat)
            records.append(redrawn)
        moves = set()
        for record in records:
            record["rng"] = 7
            moves.add(tuple(int(part) for part in move_at(game.rules.record, record)))
        assert len(moves) == 1


def test_nothing_but_the_generator_is_written() -> None:
    rng = random.Random(5)
    for text in ALL_RULES:
        game = random_game(text, rng)
        records = game.records.copy()
        action_at(game.rules.record, records)
        records["rng"] = game.records["rng"]
        assert records.tobytes() == game.records.tobytes()


def test_ties_are_broken_by_the_generator() -> None:
    game = first_turn("scopa", "5sRbRc/3d4d6d", "5c5bFcCs")
    moves = {str(ExpertAgent(seed=seed).act(game.view(0))) for seed in range(20)}
    assert moves == {"5sx5c", "5sx5b"}


def test_text_of_a_view_is_enough() -> None:
    game = Game("scopa", seed=4)
    while not game.round_over:
        view = game.view(game.seat)
        move = ExpertAgent(seed=1).act(View.from_text(view.text()))
        assert game.is_legal(move)
        game.push(move)


# positions


@pytest.mark.parametrize(
    ("why", "position", "move"),
    [
        ("takes the settebello", "scopa 7c3dFs/?3 7d2c4sCb ?30 -/- 0/0 0 - 1", "7cx7d"),
        ("sweeps", "scopa 5sRd7c/?3 2d3c ?31 Rc/Rb 0/0 0 0 1", "5sx2d3c+"),
        ("a sweep before the settebello", "scopa 9c7c3s/?3 7d2s ?30 RcRb/- 0/0 0 0 1", "9cx7d2s+"),
        ("leaves more than ten", "scopa AcRs6b/?3 4s ?30 ReFd/Rc 0/0 0 0 1".replace("Re", "Rb"), "Rs"),
        ("keeps its sevens", "scopa 7d7cFc/?3 CsCbRb ?31 -/- 0/0 0 - 1", "Fc"),
        ("lays the card that is dead", "scopa Rd4s6c/?3 - ?30 RcRsRbFd/- 0/0 0 0 1", "Rd"),
        (
            "opens with the card it holds three of",
            "scopone_scientifico 4d4c4sAd3c5b6s7dFcRb/?10/?10/?10 - - -/- 0/0 0 - 3",
            "4s",
        ),
        ("leaves coins that are decided", "scopa Fs5c2d/?3 FdFc3s ?18 Ad2c3d4d5d6d7d/AsAcAbRdCd2s 0/0 0 0 1", "5c"),
        ("fifteen: leaves what no card completes", "escoba AcRs3b/?3 2s ?30 RbFd/Rc 0/0 0 0 1", "Ac"),
        ("the ace takes all", "asso_piglia_tutto AsRd2c/?3 7dCc6sFb ?30 -/- 0/0 0 - 1", "Asx7dCc6sFb+"),
    ],
)
def test_the_obvious_move(why: str, position: str, move: str) -> None:
    assert best(View.from_text(position)) == move, why
