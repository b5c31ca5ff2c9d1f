"""Statistics of the arena against independent calculations and simulations."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from scopa_agents.arena import ArenaSettings, interval, tournament
from scopa_agents.arena.rating import PRIOR_DRAWS, ratings, scores, strengths
from scopa_agents.arena.results import Tally, summary
from scopa_agents.arena.statistics import variance
from scopa_agents.arena.unit import bin_of, seconds_of


def log_likelihood(logs: Any, wins: Any) -> float:
    """Log-likelihood of Bradley-Terry with the drawn games that `strengths` adds."""
    total = 0.0
    for i, j in itertools.permutations(range(len(logs)), 2):
        total += (wins[i, j] + PRIOR_DRAWS / 2) * (logs[i] - np.logaddexp(logs[i], logs[j]))
    return total


def brute_force(wins: Any) -> Any:
    """Maximise by trying every neighbour on ever finer steps; the last agent is the zero of the scale."""
    logs = np.zeros(len(wins))
    step = 2.0
    while step > 1e-7:
        best = log_likelihood(logs, wins)
        for place, sign in itertools.product(range(len(wins) - 1), (-1, 1)):
            trial = logs.copy()
            trial[place] += sign * step
            if log_likelihood(trial, wins) > best:
                logs = trial
                break
        else:
            step /= 2
    return logs - logs.mean()


TABLES = {
    "all against all": [[0, 12, 7.5], [8, 0, 9], [12.5, 11, 0]],
    "against one": [[0, 0, 0, 15], [0, 0, 0, 9.5], [0, 0, 0, 2], [5, 10.5, 18, 0]],
    "one wins everything": [[0, 40, 40], [0, 0, 22], [0, 18, 0]],
    "nobody has played": [[0, 0], [0, 0]],
}


@pytest.mark.parametrize("name", TABLES)
def test_strengths_are_the_most_likely_ones(name: str) -> None:
    wins = np.array(TABLES[name], float)
    found = strengths(wins)
    assert np.isfinite(found).all()
    assert found == pytest.approx(brute_force(wins), abs=2e-6)
    assert found.mean() == pytest.approx(0, abs=1e-12)


def test_strengths_are_the_fixed_point_of_hunters_algorithm() -> None:
    """p_i = W_i / sum_j n_ij / (p_i + p_j), for a table in which one agent wins nearly everything."""
    wins = np.array([[0, 4000, 3999], [0, 0, 2100], [1, 1900, 0]], float)
    found = np.exp(strengths(wins))
    wins += PRIOR_DRAWS / 2 * (1 - np.eye(3))
    following = wins.sum(axis=1) / ((wins + wins.T) / (found[:, None] + found)).sum(axis=1)
    assert following / found == pytest.approx(np.ones(3))


def test_strengths_of_two_are_in_closed_form() -> None:
    """One drawn game added: 30.5 wins to 10.5."""
    found = strengths(np.array([[0, 30.0], [10.0, 0]]))
    assert found[0] - found[1] == pytest.approx(np.log(30.5 / 10.5))


def test_many_tables_at_once_are_as_one_by_one() -> None:
    rng = np.random.default_rng(1)
    wins = rng.integers(0, 30, (5, 4, 4)) * (1 - np.eye(4))
    together = strengths(wins)
    for table, found in zip(wins, together, strict=True):
        assert found == pytest.approx(strengths(table), abs=1e-7)


def simulated(rng: np.random.Generator, elo: dict[str, float], deals: int, luck: float) -> Any:
    """Play games whose two seatings share the luck of the deal, which favours a seat."""
    played = {}
    favour = luck * rng.normal(size=deals)
    for a, b in itertools.combinations(elo, 2):
        edge = (elo[a] - elo[b]) * np.log(10) / 400
        noise = rng.logistic(size=(deals, 2))
        found = np.sign(edge + noise + favour[:, None] * np.array([1, -1]))
        played[a, b] = np.arange(deals), scores(found)
    return played


def test_the_scale_is_elo() -> None:
    """Without luck of the deal the model is exact: the ratings are those that the games were drawn from."""
    true = {"a": 120.0, "b": 0.0, "c": -120.0}
    for one in ratings(list(true), simulated(np.random.default_rng(3), true, 20_000, luck=0)):
        assert one.elo == pytest.approx(true[one.agent], abs=4)
        assert one.low < one.elo < one.high
        assert one.high - one.low < 12
        assert one.games == 80_000


def test_intervals_of_ratings_hold_what_they_promise() -> None:
    """About 95 of 100, with a luck of the deal that the games of a deal share."""
    true = {"a": 60.0, "b": 0.0, "c": -60.0}
    rng = np.random.default_rng(5)
    center = {one.agent: one.elo for one in ratings(list(true), simulated(rng, true, 100_000, luck=1.0))}
    hits = 0
    for _ in range(100):
        hits += sum(
            one.low <= center[one.agent] <= one.high for one in ratings(list(true), simulated(rng, true, 150, 1.0))
        )
    assert 0.90 <= hits / 300 <= 0.99


def test_more_deals_than_groups_give_the_same_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    played = simulated(np.random.default_rng(7), {"a": 50.0, "b": 0.0}, 3000, luck=1.0)
    grouped = ratings(["a", "b"], played)[0]
    monkeypatch.setattr("scopa_agents.arena.rating.MOST_GROUPS", 3000)
    single = ratings(["a", "b"], played)[0]
    assert grouped.elo == single.elo
    assert grouped.high - grouped.low == pytest.approx(single.high - single.low, rel=0.1)


def test_games_against_oneself_and_agents_without_games_count_for_nothing() -> None:
    played = {("a", "a"): (np.arange(3), np.ones((3, 2))), ("a", "b"): (np.arange(3), np.full((3, 2), 0.5))}
    found = {one.agent: one for one in ratings(["a", "b", "c"], played)}
    assert {name: one.elo for name, one in found.items()} == {"a": 0, "b": 0, "c": 0}
    assert {name: one.games for name, one in found.items()} == {"a": 6, "b": 6, "c": 0}
    assert ratings(["a"], {})[0].elo == 0


def test_intervals_of_margins_hold_what_they_promise() -> None:
    """Of means of few skewed deals, about 95 of 100."""
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(2000):
        _, low, high = interval(rng.choice([-3.0, -1, 0, 1, 2, 6], size=40, p=[0.1, 0.25, 0.2, 0.25, 0.15, 0.05]))
        hits += low <= 0.25 <= high
    assert 0.935 <= hits / 2000 <= 0.965


# how many deals


def test_variances_are_those_of_the_designs() -> None:
    """Against drawing both designs from a population of a million duplicate deals."""
    rng = np.random.default_rng(2)
    luck = rng.normal(0, 2.0, 1_000_000)
    population = np.stack([0.5 + luck + rng.normal(0, 1, luck.size), 0.1 - luck + rng.normal(0, 1, luck.size)], axis=1)
    single = population[np.arange(len(population)), rng.integers(0, 2, len(population))]
    found = variance("a", "b", population[:200_000], 0.05)
    assert found.deal == pytest.approx(population.mean(axis=1).var(), rel=0.02)
    assert found.game == pytest.approx(single.var(), rel=0.02)
    assert found.duplicate_deals == int(np.ceil(found.deal * (1.959964 / 0.05) ** 2))
    assert found.duplicate_games == 2 * found.duplicate_deals
    assert found.single_games == pytest.approx(found.game * (1.959964 / 0.05) ** 2, abs=1)
    assert found.saving == pytest.approx(found.single_games / found.duplicate_games, rel=1e-3)


def test_the_variance_of_single_games_is_estimated_without_bias() -> None:
    """Few deals, whose seatings' means lie apart by chance alone."""
    rng = np.random.default_rng(3)
    found = [variance("a", "b", rng.normal(0, 1, (10, 2)), 0.1).game for _ in range(4000)]
    assert np.mean(found) == pytest.approx(1, abs=0.025)


def test_the_deals_that_are_said_to_be_needed_give_the_half_width() -> None:
    first = tournament(["greedy", "random"], settings=ArenaSettings(deals=512))
    (needed,) = first.variances(0.15)
    again = tournament(["greedy", "random"], settings=ArenaSettings(deals=needed.duplicate_deals, seed=1)).pairings[0]
    assert (again.high - again.low) / 2 == pytest.approx(0.15, rel=0.15)
    assert needed.saving > 1


def test_deals_without_any_spread() -> None:
    found = variance("a", "b", np.array([[2.0, -2.0], [1.0, -1.0]]), 0.05)
    assert (found.deal, found.duplicate_deals, found.saving) == (0, 2, float("inf"))
    level = variance("a", "b", np.zeros((5, 2)), 0.05)
    assert (level.game, level.saving) == (0, 1)
    with pytest.raises(ValueError, match=r"half_width=0: allowed are numbers above 0"):
        variance("a", "b", np.zeros((5, 2)), 0)


# times


def test_counted_times_are_within_two_percent() -> None:
    rng = np.random.default_rng(4)
    seconds = np.exp(rng.normal(np.log(3e-3), 1.5, 20_000))
    bins, counts = np.unique(bin_of(seconds), return_counts=True)
    mean, median, slow = summary(dict(zip(bins.tolist(), counts.tolist(), strict=True)))
    assert mean == pytest.approx(seconds.mean(), rel=0.005)
    assert median == pytest.approx(np.median(seconds), rel=0.023)
    assert slow == pytest.approx(np.percentile(seconds, 99), rel=0.03)
    assert summary({}) == (0, 0, 0)
    assert seconds_of(int(bin_of(np.array([0.0]))[0])) == 1e-9


def test_a_deal_is_counted_once() -> None:
    from scopa_agents.arena.log import DealResult

    deal = DealResult(0, 5, (1.0, -1.0), ((2, 1), (3, 2)), ({}, {}))
    tally = Tally()
    tally.add(deal)
    with pytest.raises(ValueError, match="deal 5 is there already"):
        tally.add(deal)
    assert len(tally) == 1
