"""`expert`: legal and without hidden cards under all rules, the obvious move in positions, stronger than greedy."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from helpers import ALL_PRESETS, VARIANTS, first_turn, random_game
from scopa_agents.arena import duel
from scopa_agents.expert import ExpertAgent, expert_action, expert_move
from scopa_agents.expert.move import doubted
from scopa_env import Rules, View, batch
from scopa_env.cards import cards_text, parse_cards
from scopa_env.engine.bits import Mask
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
def doubted_at(rules: Any, games: Any, seat: int) -> int:
    return doubted(rules[0], games[0], seat)


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
    view = View.from_text("scopa 3s2dAc/?3 3c3bCdRd ?30 -/- 0/0 0 - 1")
    moves = Counter(str(ExpertAgent(seed=seed).act(view)) for seed in range(100))
    assert set(moves) == {"3sx3c", "3sx3b"}
    assert min(moves.values()) > 25


def test_text_of_a_view_is_enough() -> None:
    rng = random.Random(1)
    for text in ALL_PRESETS:
        game = random_game(text, rng)
        if not game.round_over:
            view = View.from_text(game.view(game.seat).text())
            assert ExpertAgent(seed=1).act(view) in view.legal_moves


# positions


def last_cards(hands: str, table: str, unseen: str) -> str:
    """Return the end of a round in which all else lies in the pile of seat 0, which is to play."""
    out = parse_cards(hands.replace("/", "") + table + unseen)
    pile = cards_text([card for card in Rules.of("scopa").deck if card not in out])
    return f"scopa {hands}/?{len(unseen) // 2} {table} - {pile}/- 0/0 0 0 0"


TRIPLE = "scopone_scientifico 4b4c4sAd3c5b6s7dFcRb/?10/?10/?10 - - -/- 0/0 0 - 3"


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("why", "position", "moves"),
    [
        ("takes the settebello", "scopa 7c3dFs/?3 7d2c4sCb ?30 -/- 0/0 0 - 1", "7cx7d"),
        ("takes the coin", "scopa Fs5c2d/?3 FdFc3sRb ?30 -/- 0/0 0 - 1", "FsxFd"),
        ("sweeps", "scopa 5sRd7c/?3 2d3c ?24 RcRsRbFd2s/Cc4d5d 0/0 0 0 1", "5sx2d3c"),
        ("leaves more than ten", "scopa AcRs6b/?3 4s ?24 FcFdFb2d6d/CcCdCs7s 0/0 0 0 1", "Rs"),
        ("keeps a seven", "scopa 7cFc5c/?3 CsCbRbRs ?30 -/- 0/0 0 - 1", "5c Fc"),
        ("lays the card of which the others are gone", "scopa Rd4s6c/?3 - ?24 RcRsRbFd2d/Cc4d5dFcFs 0/0 0 0 1", "Rd"),
        ("opens with a card that it holds three of", TRIPLE, "4b 4c 4s"),
        ("fifteen: leaves what no card completes", "escoba AcRs3b/?3 2s ?24 Rb5dRc5c/Fd7dFc4c3c 0/0 0 0 1", "Ac"),
        ("the ace takes all", "asso_piglia_tutto AsRd2c/?3 7dCc6sFb ?30 -/- 0/0 0 - 1", "Asx7dCc6sFb"),
        ("knows the last card of the other hand", last_cards("4c5c", "3d", "Fb"), "4c"),
        ("is not afraid of a card that is not there", last_cards("RcFd", "6b", "2b"), "Rc Fd"),
    ],
)
def test_the_obvious_move(why: str, position: str, moves: str) -> None:
    view = View.from_text(position)
    assert {str(ExpertAgent(seed=seed).act(view)) for seed in range(8)} <= set(moves.split()), why


def test_doubts_the_values_that_a_seat_let_pass() -> None:
    game = first_turn("scopa", "FcFdCs/AdRb2s", "3d4dRc2c")
    game.push_text("Fc")
    assert not doubted_at(game.rules.record, game.records, 1)
    game.push_text("Ad")
    let_pass = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}  # the sums of 2 3 4 8 10
    found = doubted_at(game.rules.record, game.records, 1)
    assert {value for value in range(15) if found >> value & 1} == let_pass
    game.push_text("FdxFc")
    game.push_text("RbxRc")
    assert doubted_at(game.rules.record, game.records, 1) == found


# strength


@pytest.mark.parametrize(
    ("rules", "margin"), [("scopa", 0.6), ("escoba", 0.8), ("scopone", 3.5), ("scopone_scientifico", 4.5)]
)
def test_clearly_stronger_than_greedy(rules: str, margin: float) -> None:
    result = duel(EXPERT, "greedy", rules, deals=600, seed=2)
    assert result.low > 0.5 * margin
    assert result.high > margin


def test_the_same_seed_gives_the_same_games() -> None:
    assert duel(EXPERT, "greedy", "scopa", 20, 3).margin == duel(EXPERT, "greedy", "scopa", 20, 3).margin
