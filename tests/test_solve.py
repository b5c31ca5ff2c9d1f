"""Exact values with open cards: against brute force that knows only `Game`, and what plays lost."""

from __future__ import annotations

import random

import numpy as np
import pytest

from helpers import first_turn, play_randomly
from scopa_agents.search.alphabeta import position_key
from scopa_agents.solve import Solver, Unsolvable, losses, points_lost, solve
from scopa_env import Game, Rules, make_agent
from scopa_env.kernel import kernel

TWO_SIDES = (
    "scopa",
    "escoba",
    "stargames_escoba",
    "stargames_scopa",
    "gamerules_scopa_short",
    "german_4p",
    "bga_scopa_4p",
    "scopone",
    "scopone_scientifico",
    "asso_piglia_tutto",
    "asso_piglia_tutto:ace_on_empty=bank,ace_facing_ace=all",
    "scopa_dassi",
    "mini_scopa",
    "scopa:priority=fewest,obligation=none",
    "scopa:napola=true,re_bello_points=1,all_sevens_bonus=2",
    "scopa:players=6,teams=true",
    "scopa:majority=absolute,last_sweep=counts",
    "escoba:sweep_points=3",
)


def near_the_end(text: str, rng: random.Random, plays: int) -> Game:
    """Return a game with about `plays` random plays to go."""
    game = Game(text, seed=rng.randrange(1 << 32))
    while len(game.plays) < game.rules.num_plays - plays:
        game.push(rng.choice(game.legal_moves))
    return game


def brute_force(game: Game) -> int:
    """Return the value for side 0 by trying everything."""
    outcome = game.outcome()
    if outcome:
        return outcome.points[0] - outcome.points[1]
    values = []
    for move in game.legal_moves:
        game.push(move)
        values.append(brute_force(game))
        game.pop()
    return max(values) if game.rules.side_of(game.seat) == 0 else min(values)


@pytest.mark.nojit
@pytest.mark.parametrize("text", TWO_SIDES)
def test_values_are_those_of_brute_force(text: str) -> None:
    rng = random.Random(text)
    solver = Solver(memory_bits=12)
    for _ in range(8):
        game = near_the_end(text, rng, rng.randrange(1, 7))
        sign = 1 if game.rules.side_of(game.seat) == 0 else -1
        solution = solver.solve(game)
        assert solver.value(game) == brute_force(game) == sign * solution.value
        for move, value in solution.moves.items():
            after = game.copy()
            after.push(move)
            assert sign * value == brute_force(after), move
        assert solution.best == [move for move in game.legal_moves if solution.moves[move] == solution.value]


def test_over_a_deal_boundary_too() -> None:
    rng = random.Random(1)
    rules = "scopa:hand_size=2,table_size=4,deals=3"
    for _ in range(10):
        game = near_the_end(rules, rng, 8)
        assert Solver().value(game) == brute_force(game)


def test_a_small_table_changes_no_value() -> None:
    rng = random.Random(2)
    for text in ("scopa", "scopone_scientifico", "escoba"):
        game = near_the_end(text, rng, 12)
        small, large = Solver(memory_bits=4).solve(game), Solver().solve(game)
        assert small.moves == large.moves
        assert small.positions > large.positions


@pytest.mark.nojit
def test_a_play_in_progress() -> None:
    """The card is named, its capture not yet: the moves that complete it are solved."""
    game = first_turn("scopa", "7cAd2d/3c4c5c", "3d4d2s5s")
    game.act(16)
    assert game.card == 16
    solution = solve(game)
    assert set(solution.moves) == set(game.legal_moves)
    assert {move.card for move in solution.moves} == {16}


def test_a_whole_round_is_solved() -> None:
    game = Game("scopa", seed=1)
    solution = solve(game)
    assert solution.positions < 1_000_000
    assert len(solution.best) >= 1


@kernel
def key_of(rules: object, games: object) -> int:
    """Return the hash of games[0]."""
    return position_key(rules[0], games[0])  # type: ignore[index,no-any-return]


@pytest.mark.nojit
def test_the_hash_tells_positions_apart() -> None:
    """Whatever the future depends on changes it: the side that captured last, too, which others forgot."""
    game = near_the_end("scopa", random.Random(3), 4)
    record = game.rules.record
    base = key_of(record, game.records)
    for field, value in (("last", 1 - int(game.records["last"][0])), ("seat", 1 - game.seat), ("dealt", 30)):
        other = game.records.copy()
        other[field] = value
        assert key_of(record, other) != base, field
    for field in ("hands", "piles"):
        other = game.records.copy()
        other[field][0][:2] = other[field][0][1::-1].copy()
        assert key_of(record, other) != base, field
    other = game.records.copy()
    other["sweeps"] += 1  # they only add to the value
    assert key_of(record, other) == base
    for field, value in (("table", 1 << 7), ("chosen", 1 << 7), ("card", 5), ("rng", 1)):
        other = game.records.copy()
        other[field] ^= np.array(value).astype(other[field].dtype)
        assert key_of(record, other) != base, field
    other = game.records.copy()
    other["hands"][0][1] ^= np.uint64(1 << 7)
    assert key_of(record, other) != base


# refusals


def test_what_cannot_be_solved() -> None:
    with pytest.raises(Unsolvable, match="3 sides"):
        solve(Game("scopa:players=3", seed=1))
    with pytest.raises(Unsolvable, match="40 plays left: not solved within 1,000 positions"):
        solve(Game("scopone_scientifico", seed=1), positions=1000)
    text = Game("scopone_scientifico", seed=1)
    while len(text.plays) < 16:
        text.push(text.legal_moves[0])
    with pytest.raises(Unsolvable, match="24 plays left"):
        solve(Game.from_text(text.text()), positions=10)
    over = Game("scopa", seed=1)
    play_randomly(over, random.Random(1))
    with pytest.raises(ValueError, match="round is over"):
        solve(over)
    with pytest.raises(TypeError, match="solve takes a Game, in which every card is known, not View"):
        solve(Game("scopa", seed=1).view(0))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"memory_bits=3.*4 \.\. 30"):
        Solver(memory_bits=3)
    with pytest.raises(ValueError, match="positions=0"):
        Solver(0)
    sampled = Game("scopa", seed=1).view(0).sample(1)
    with pytest.raises(ValueError, match="deck of this round is not known"):
        losses(sampled)


# points lost


@pytest.mark.parametrize("text", ["scopa", "escoba", "gamerules_scopa_short"])
def test_losses_add_up(text: str) -> None:
    """The value at the start, less what side 0 lost, plus what side 1 lost, is the result."""
    rng = random.Random(4)
    for seed in range(3):
        game = Game(text, seed=seed)
        begin = Solver().value(game)
        play_randomly(game, rng)
        found = losses(game)
        assert [loss.move for loss in found] == [play.move for play in game.plays]
        assert all(loss.lost >= 0 and (loss.lost == 0) == (loss.move in loss.best) for loss in found)
        lost = points_lost(found, game.rules)
        outcome = game.outcome()
        assert outcome
        assert begin - lost[0] + lost[1] == outcome.points[0] - outcome.points[1]


def test_perfect_play_loses_nothing() -> None:
    game = Game("scopa", seed=5)
    solver = Solver()
    while not game.round_over:
        game.push(solver.solve(game).best[0])
    assert points_lost(solver.losses(game), game.rules) == (0, 0)


def test_greedy_loses_less_than_random() -> None:
    lost = {}
    for name in ("random", "greedy"):
        agent = make_agent(name, 1)
        sums = []
        for seed in range(8):
            game = Game("scopa", seed=seed)
            while not game.round_over:
                game.push(agent.act(game.view(game.seat)))
            sums.append(sum(points_lost(losses(game), Rules.of("scopa"))))
        lost[name] = np.mean(sums)
    assert lost["greedy"] < lost["random"]


def test_only_the_end_is_looked_at() -> None:
    game = Game("scopone_scientifico", seed=1)
    play_randomly(game, random.Random(1))
    assert len(Solver().losses(game, plays_left=12)) == 12
