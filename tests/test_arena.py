"""The arena: duplicate deals, statistics, published numbers, results that repeat."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scopa_agents.arena import (
    ArenaSettings,
    deal_games,
    duel,
    interval,
    margins,
    pairs,
    play_games,
    seatings,
    tournament,
)
from scopa_env import AgentError, IllegalAction, Move, Rules, View, make_agent
from scopa_env.engine.state import GAME

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("scopa", [[0, 1], [1, 0]]),
        ("scopone", [[0, 1, 0, 1], [1, 0, 1, 0]]),
        ("scopa:players=6,teams=true", [[0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0]]),
        ("scopa:players=3", [[0, 1, 1], [1, 0, 1], [1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    ],
)
def test_seatings(text: str, expected: list[list[int]]) -> None:
    assert seatings(Rules.parse(text)).tolist() == expected


def test_every_deal_is_the_same_for_all_seatings() -> None:
    rules = Rules.parse("scopa")
    games = deal_games(rules, 0, 5, seed=3, copies=2)
    assert games.dtype == GAME
    for name in ("deck", "dealer", "hands", "table"):
        assert np.array_equal(games[name][0::2], games[name][1::2])
    assert len({tuple(deck) for deck in games["deck"].tolist()}) == 5
    later = deal_games(rules, 3, 2, seed=3, copies=2)
    assert np.array_equal(later["deck"], games["deck"][6:])


def test_the_interval_is_students() -> None:
    """Values of t for 95 %: 4 degrees 2.7764, 9 degrees 2.2622, 999 degrees 1.9623."""
    for count, t in ((2, 12.7062), (5, 2.7764), (6, 2.5706), (10, 2.2622), (1000, 1.9623)):
        values = np.arange(count, dtype=float)
        center, low, high = interval(values)
        half = t * values.std(ddof=1) / count**0.5
        assert center == values.mean()
        assert (high - center, center - low) == pytest.approx((half, half), rel=0.005)


def test_deterministic_agents_of_one_kind_draw_every_deal() -> None:
    """With seats swapped on the same deal, equal play gives a margin of exactly zero."""
    result = duel(first_move, first_move, "scopa", 50)
    assert (result.margin, result.low, result.high) == (0, 0, 0)
    assert result.wins == result.losses


def first_move(view: View) -> Move:
    return view.legal_moves[0]


@pytest.mark.parametrize("text", ["scopa", "scopone", "scopa:players=3"])
def test_an_agent_against_itself_contains_zero(text: str) -> None:
    result = duel("greedy", "greedy", text, 1500, seed=5)
    assert result.low < 0 < result.high


def test_results_repeat_and_depend_on_the_seed() -> None:
    def figures(seed: int) -> tuple[Any, ...]:
        result = duel("greedy", "random", "escoba", 300, seed=seed)
        return result.margin, result.low, result.high, result.wins, result.draws, result.losses

    assert figures(1) == figures(1)
    assert figures(1) != figures(2)


def test_views_and_arrays_play_alike() -> None:
    """greedy on arrays, and the same behind a function on views: other ties, the same strength."""
    greedy = make_agent("greedy", 1)
    fast = duel("greedy", "random", "scopa", 1500, seed=1)
    slow = duel(greedy.act, "random", "scopa", 300, seed=2)
    assert slow.low - 0.2 < fast.margin < slow.high + 0.2
    assert slow.a == "act"


def test_margins_are_those_of_the_games() -> None:
    rules = Rules.parse("bga_scopa:players=3")
    plan = seatings(rules)
    games = deal_games(rules, 0, 4, 1, len(plan))
    seated = np.tile(plan, (4, 1))
    play_games(rules, games, seated, [make_agent("greedy", 1), make_agent("random", 2)])
    assert (games["stage"] > 0).all()
    for game, seats, margin in zip(games, seated, margins(rules, games, seated), strict=True):
        points = game["points"][:3]
        mine = [points[s] for s in range(3) if seats[s] == 0]
        others = [points[s] for s in range(3) if seats[s] == 1]
        assert margin == pytest.approx(np.mean(mine) - np.mean(others))


# standard errors of the figures, by an independent program with the same weights
GREEDY_AGAINST_RANDOM = {
    "scopa": (1.58, 0.03),
    "escoba": (3.46, 0.02),
    "bga_scopa_4p": (1.78, 0.03),
    "scopone": (3.84, 0.03),
    "scopone_scientifico": (4.66, 0.04),
    "gamerules_scopa_short": (1.51, 0.03),
}


@pytest.mark.parametrize("text", GREEDY_AGAINST_RANDOM)
def test_greedy_against_random_is_as_an_independent_program_found(text: str) -> None:
    expected, error = GREEDY_AGAINST_RANDOM[text]
    result = duel("greedy", "random", text, 4000, seed=11)
    own_error = (result.high - result.low) / 2 / 1.96
    assert abs(result.margin - expected) < 3 * (error**2 + own_error**2) ** 0.5


def test_random_scopone_is_as_published() -> None:
    """Shares of the dealer's team, the other, ties; brute force (500,000 deals) finds 45.25, 41.90, 12.85."""
    from scopone_study import INDEPENDENT, study

    shares, _ = study(60_000, seed=3, threads=1)
    for found, expected in zip(shares, INDEPENDENT[1:4], strict=True):
        assert abs(found - expected) < 3 * (0.2**2 + 0.08**2) ** 0.5


@pytest.mark.slow
def test_the_programs_of_the_figures_run(tmp_path: Path) -> None:
    """Those that play with agents, on a few deals: what they print is in docs/benchmarks.md."""
    for command, said in (
        (["scopone_study.py", "--deals", "1000", "--games", "2", "--out", str(tmp_path / "s.jsonl")], "tournament"),
        (["points_lost.py", "random", "mcts_cheating:50", "--deals", "3"], "| mcts_cheating:50 |"),
        (["solver_reach.py", "--games", "2", "--positions", "100000"], "| scopone | 12 | 2 of 2 |"),
    ):
        done = subprocess.run(
            [sys.executable, str(BENCHMARKS / command[0]), *command[1:]], capture_output=True, text=True, check=True
        )
        assert said in done.stdout


def test_json() -> None:
    result = tournament(["greedy", "random"], settings=ArenaSettings(deals=20))
    content = json.loads(json.dumps(result.as_json()))
    names = "a b rules deals games margin low high wins draws losses seconds_per_move"
    assert set(names.split()) <= set(content["pairings"][0])
    assert content["pairings"][0]["games"] == 40
    assert content["pairings"][0]["wins"] + content["pairings"][0]["draws"] + content["pairings"][0]["losses"] == 40
    assert content["pairings"][0]["low"] <= content["pairings"][0]["margin"] <= content["pairings"][0]["high"]


def test_pairs() -> None:
    assert list(pairs(["a", "b", "c"])) == [("a", "b"), ("a", "c"), ("b", "c")]


def test_an_agent_named_twice_meets_everyone_once() -> None:
    assert list(pairs(["a", "b", "a", "b", "a"])) == [("a", "b"), ("a", "a"), ("b", "b")]


def test_whole_numbers_of_numpy_are_numbers_of_deals() -> None:
    assert duel(first_move, first_move, deals=np.int64(2)).deals == 2  # type: ignore[arg-type]


def test_a_cheat_is_named() -> None:
    def cheat(view: View) -> Move:
        return Move(view.unseen[0])

    with pytest.raises(IllegalAction, match="agent 'cheat'"):
        duel(cheat, "random", "scopa", 2)


def test_an_agent_that_fails_is_named() -> None:
    def broken(view: View) -> Move:
        raise ValueError("my own fault")

    class Floats:
        name = "floats"

        def act(self, view: View) -> Move:
            return view.legal_moves[0]

        def act_batch(self, rules: Rules, views: Any) -> Any:
            return [0.5] * len(views)

    with pytest.raises(AgentError, match="agent 'broken' failed: ValueError: my own fault"):
        duel(broken, "random", "scopa", 2)
    with pytest.raises(IllegalAction, match="agent 'floats': act_batch returned float64"):
        duel(Floats(), "random", "scopa", 2)


@pytest.mark.parametrize("deals", [1, 0, -5, 2.5, True])
def test_numbers_of_deals_that_give_no_interval(deals: Any) -> None:
    with pytest.raises(ValueError, match="deals="):
        duel("greedy", "random", "scopa", deals)
