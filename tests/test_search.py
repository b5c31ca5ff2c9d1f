"""Search: settings, legal and reproducible moves, nothing hidden used, statistics of the tree, inference."""

from __future__ import annotations

import copy
import math
import os
import pickle
import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from helpers import ALL_PRESETS, VARIANTS, first_turn, random_game
from scopa_agents.arena import duel
from scopa_agents.learned import load_model
from scopa_agents.network.agent import NetworkAgent
from scopa_agents.network.forward import new_space
from scopa_agents.network.inference import SOFTNESS, likelihood_by_network
from scopa_agents.network.network import MoveNetwork
from scopa_agents.search.base import ViewSearchAgent
from scopa_agents.search.budget import Budget, run_for
from scopa_agents.search.inference import MODELS, Pool, likelihood, pick
from scopa_agents.search.ismcts import CheatingMctsAgent, IsmctsAgent
from scopa_agents.search.pimc import PimcAgent
from scopa_agents.solve import Solver
from scopa_env import AgentError, Game, Move, Rules, ScopaEnv, View, batch, make_agent
from scopa_env.agents import agent_names
from scopa_env.cards import parse_cards
from scopa_env.engine.past import take_back
from scopa_env.engine.state import GAME, copy_of
from scopa_env.kernel import kernel

SPECS = (
    "ismcts:40",
    "ismcts:40,trees=many",
    "ismcts:40,others=greedy,rollout=random",
    "ismcts:40,inference=greedy",
    "ismcts:40,threads=2",
    "pimc:6",
    "pimc:6,solve=8,inference=greedy,rollout=random",
    "pimc:6,threads=2",
)


def agent_of(spec: str, seed: int | None = 1) -> ViewSearchAgent[Any]:
    """Return a search agent."""
    agent = make_agent(spec, seed)
    assert isinstance(agent, ViewSearchAgent)
    return agent


# settings and names


def test_search_agents_have_names_that_state_their_settings() -> None:
    assert {"ismcts", "pimc", "mcts_cheating"} <= set(agent_names())
    for spec, name in (
        ("ismcts", "ismcts:1000"),
        ("ismcts:4000", "ismcts:4000"),
        ("ismcts:20ms", "ismcts:20ms"),
        ("ismcts:4000,epsilon=0.3,trees=one", "ismcts:4000"),
        ("ismcts:5, trees=many,epsilon=0", "ismcts:5,epsilon=0,trees=many"),
        ("ismcts:5,exploration=2.50", "ismcts:5,exploration=2.5"),
        ("ismcts:5,epsilon=0.1234567", "ismcts:5,epsilon=0.1234567"),
        ("pimc", "pimc:100"),
        ("pimc:7,threads=2,solve=12", "pimc:7,threads=2,solve=12"),
    ):
        agent = make_agent(spec)
        assert agent.name == name
        assert make_agent(agent.name).name == name
    assert CheatingMctsAgent("1000").name == "mcts_cheating:1000"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("ismcts:0", "'0': allowed are 1 .. 100000000 iterations, or a time such as 20ms"),
        ("ismcts:-5", "'-5': allowed are"),
        ("ismcts:4k", "'4k': allowed are"),
        ("ismcts:0ms", "'0ms': allowed are"),
        ("ismcts:1.5ms", "'1.5ms': allowed are"),
        ("ismcts:9999999999", "allowed are"),
        ("ismcts:,epsilon=1", "'': allowed are"),
        ("ismcts:epsilon=1", "'epsilon=1': allowed are"),
        ("ismcts:9,epsilon=2", "epsilon='2': allowed are numbers 0.0 .. 1.0"),
        ("ismcts:9,epsilon=nan", "epsilon='nan': allowed are numbers 0.0 .. 1.0"),
        ("ismcts:9,epsilon=", "epsilon='': allowed are numbers"),
        ("ismcts:9,epsilon", "epsilon='': allowed are numbers"),
        ("ismcts:9,threads=1.5", "threads='1.5': allowed are whole numbers 1 .. 256"),
        ("ismcts:9,rolout=random", "did you mean 'rollout'"),
        ("ismcts:9,rollout=best", "rollout='best': allowed are"),
        ("ismcts:9,", "'': allowed are threads"),
        ("ismcts:9,epsilon=1,epsilon=0", "'epsilon' given twice"),
        ("pimc:9,trees=many", "allowed are"),
        ("mcts_cheating:9,inference=greedy", "it sees every card"),
        ("pimc:9,solve=41", "solve='41': allowed are whole numbers 0 .. 40"),
    ],
)
def test_settings_that_are_not_allowed(spec: str, message: str) -> None:
    with pytest.raises(AgentError) as caught:
        make_agent(spec)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"agent {spec.partition(':')[0]!r}: ")


def test_budgets() -> None:
    assert Budget.parse("12", "worlds") == Budget(12)
    assert Budget.parse("12ms", "worlds") == Budget(None, 12)
    assert str(Budget(12)) == "12"
    assert str(Budget(None, 12)) == "12ms"


# moves


@pytest.mark.parametrize("text", [*ALL_PRESETS, *VARIANTS])
def test_moves_are_legal_everywhere(text: str) -> None:
    rng = random.Random(text)
    agents = [agent_of(spec) for spec in SPECS]
    for agent in agents:
        for _ in range(3):
            game = random_game(text, rng)
            if not game.round_over:
                assert game.is_legal(agent.act(game.view(game.seat)))
    cheating = CheatingMctsAgent("40", seed=1)
    game = random_game(text, rng)
    if not game.round_over:
        assert game.is_legal(cheating.act_game(game))


@pytest.mark.parametrize("spec", SPECS)
def test_moves_repeat_with_the_seed(spec: str) -> None:
    rng = random.Random(1)
    views = [game.view(game.seat) for game in (random_game("scopa", rng) for _ in range(12)) if not game.round_over]
    agent = agent_of(spec, 5)
    first = [agent.act(view) for view in views]
    agent.seed(5)
    assert [agent.act(view) for view in views] == first
    assert [agent_of(spec, 5).act(views[0])] == first[:1]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("text", ["scopa", "escoba", "stargames_scopa_4p", "german_4p:partner_hand_visible=true"])
def test_moves_do_not_depend_on_hidden_cards(spec: str, text: str) -> None:
    rng = random.Random(2)
    for _ in range(4):
        game = random_game(text, rng)
        if game.round_over:
            continue
        view = game.view(game.seat)
        other = view.sample(rng.randrange(1 << 30))
        agent = agent_of(spec, 3)
        move = agent.act(view)
        agent.seed(3)
        assert agent.act(other.view(game.seat)) == move


@pytest.mark.parametrize("spec", ["ismcts:60,threads=2,inference=greedy", "pimc:6,threads=2"])
def test_copies_and_pickles_go_on_alike(spec: str) -> None:
    """After a search, too: trees and threads stay behind, the random numbers go on."""
    game = Game("scopa", seed=3, dealer=1)
    view = game.view(game.seat)
    agent = agent_of(spec)
    agent.act(view)
    twins = [copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))]
    expected = [agent.act(view) for _ in range(4)]
    for twin in twins:
        assert [twin.act(view) for _ in range(4)] == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")  # that is what is tried
def test_a_forked_process_has_threads_of_its_own() -> None:
    game = Game("scopa", seed=3, dealer=1)
    view = game.view(game.seat)
    agent = agent_of("ismcts:60,threads=2")
    agent.act(view)
    child = os.fork()
    if child == 0:
        os._exit(0 if game.is_legal(agent.act(view)) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_view_is_left_as_it_was() -> None:
    game = Game("scopa", seed=1)
    view = game.view(game.seat)
    before = copy_of(view.records)
    for spec in SPECS:
        agent_of(spec).act(view)
    assert view.records.tobytes() == before.tobytes()


def test_one_legal_move_needs_no_search() -> None:
    game = Game("scopa", seed=1)
    while len(game.legal_moves) > 1:
        game.push(game.legal_moves[0])
    agent = IsmctsAgent("1000", seed=1)
    assert agent.act(game.view(game.seat)) == game.legal_moves[0]
    assert agent.iterations == 0


def test_nothing_to_do_when_the_round_is_over() -> None:
    game = random_game("mini_scopa", random.Random(1))
    while not game.round_over:
        game.push(game.legal_moves[0])
    with pytest.raises(ValueError, match="'pimc:5': asked for a move of seat 0, but the round is over"):
        PimcAgent("5").act(game.view(0))


def test_copies_of_agents_in_threads_wait_for_each_other() -> None:
    game = Game("scopa", seed=3, dealer=1)
    view = game.view(game.seat)
    agent = agent_of("ismcts:2000")
    with ThreadPoolExecutor(4) as pool:
        moves = list(pool.map(lambda _: agent.act(view), range(40)))
    assert all(game.is_legal(move) for move in moves)


def test_the_rules_may_change_between_searches() -> None:
    """What one search has solved is not taken for a position of another game."""
    game = near_the_end()
    other = Game.from_text(game.text().replace("scopa ", "scopa:sweep_points=3,settebello_points=5 "))
    agent = PimcAgent("4", seed=1)
    agent.act(game.view(game.seat))
    agent.seed(5)
    move = agent.act(other.view(other.seat))
    assert move in Solver().solve(other).best


def near_the_end() -> Game:
    """Return a game in its last deal with a choice."""
    return last_deals(1)[0]


@pytest.mark.parametrize("text", ALL_PRESETS)
def test_warming_up_searches(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also under rules whose first positions leave no choice."""
    agent = IsmctsAgent("123456", seed=1)
    made: list[Budget] = []
    search = IsmctsAgent.search
    monkeypatch.setattr(
        IsmctsAgent, "search", lambda self, *given: made.append(self.settings.budget) or search(self, *given)
    )
    agent.warm_up(Rules.of(text))
    assert made == [Budget(2)]
    assert agent.iterations == 0


def test_a_budget_of_time_looks_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock of its own: an iteration takes a millisecond, or more than there is."""
    for cost, limit, expected in ((1, 20, (19, 20)), (1, 5, (4, 5)), (30, 20, (1, 1)), (7, 20, (2, 3))):
        now = [0.0]
        monkeypatch.setattr("scopa_agents.search.budget.time.perf_counter", lambda now=now: now[0])

        def run(iterations: int, now: list[float] = now, cost: int = cost) -> None:
            now[0] += iterations * cost / 1000

        done = run_for(Budget(None, limit), run, 0.0)
        assert expected[0] <= done <= expected[1], (cost, limit, done)
    now = [0.5]
    monkeypatch.setattr("scopa_agents.search.budget.time.perf_counter", lambda: now[0])
    assert Budget(None, 20).is_over(0.0)
    assert not Budget(None, 600).is_over(0.0)
    assert not Budget(20).is_over(0.0)


def test_a_time_is_a_budget() -> None:
    game = Game("scopa", seed=1)
    view = game.view(game.seat)
    for agent in (IsmctsAgent("3ms", seed=1), PimcAgent("3ms", seed=1), IsmctsAgent("3ms,threads=2", seed=1)):
        assert game.is_legal(agent.act(view))
    agent = IsmctsAgent("30ms", seed=1)
    agent.act(view)
    assert agent.iterations > 100


def test_what_was_searched_can_be_read() -> None:
    game = Game("scopa", seed=3, dealer=1)
    view = game.view(game.seat)
    for spec in ("ismcts:400", "ismcts:400,threads=2", "pimc:40"):
        agent = agent_of(spec)
        move = agent.act(view)
        assert [one.move for one in agent.searched] == game.legal_moves
        assert move == max(agent.searched, key=lambda one: (one.visits, one.value)).move
        assert all(-20 < one.value < 20 for one in agent.searched)
        if spec.startswith("ismcts"):
            assert sum(one.visits for one in agent.searched) == 400
    while len(game.legal_moves) > 1:
        game.push(game.legal_moves[0])
    agent.act(game.view(game.seat))
    assert agent.searched == ()


INTERRUPTED = """
import os, signal, threading
from scopa_env import Game, make_agent
agent, game = make_agent({spec!r}, 1), Game("scopa", seed=3, dealer=1)
agent.warm_up(game.rules)
threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    agent.act(game.view(game.seat))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("spec", ["ismcts:100000000", "ismcts:100000000,threads=2", "pimc:3600000ms,threads=2"])
def test_an_interrupt_ends_a_search(spec: str) -> None:
    """Long before its budget: the process ends, its threads too."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(spec=spec)], capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "interrupted\n", done.stderr


# the tree


def moves_of(agent: IsmctsAgent) -> dict[tuple[int, int], tuple[int, float]]:
    """Return what the last search found at its root."""
    return agent.workspaces.spaces[0].moves()


@pytest.mark.nojit
def test_the_root_counts_every_iteration() -> None:
    for settings in ("500", "500,trees=many", "500,inference=greedy"):
        agent = IsmctsAgent(settings, seed=1)
        game = Game("scopa", seed=2)
        chosen = agent.act(game.view(game.seat))
        assert agent.iterations == 500
        found = moves_of(agent)
        assert sum(visits for visits, _ in found.values()) == 500
        assert {(move.card, int(move.mask)) for move in game.legal_moves} == set(found)
        assert max(found, key=lambda key: found[key]) == (chosen.card, int(chosen.mask))


def test_the_tree_is_consistent() -> None:
    """A node's visits are those of its children and the one that made it; no child has more than it was available."""
    agent = IsmctsAgent("2000", seed=1)
    game = Game("scopa", seed=2)
    agent.act(game.view(game.seat))
    space = agent.workspaces.spaces[0]
    used = int(space.search["used"][0])
    for at in range(used):
        node = space.nodes[at]
        child, visits, moves = int(node["child"]), 0, []
        while child:
            found = space.nodes[child]
            assert found["visits"] <= found["available"] <= node["visits"]
            assert int(node["seen"]) >> int(found["card"]) & 1
            visits += int(found["visits"])
            moves.append((int(found["card"]), int(found["captured"])))
            child = int(found["sibling"])
        assert len(set(moves)) == len(moves)
        if moves:
            assert visits == node["visits"] - (0 if at == 0 else 1)
    assert used > 1500


def test_many_trees_tell_hands_apart() -> None:
    """One root for each hand that the other seat held in some world; hands that come again have a tree."""
    agent = IsmctsAgent("20000,trees=many", seed=1)
    game = Game("scopa", seed=2)
    while len(game.plays) < 20:  # 8 cards are unseen then, so hands come again
        game.push(game.legal_moves[0])
    agent.act(game.view(game.seat))
    space = agent.workspaces.spaces[0]
    roots = space.roots["node"][space.roots["key"] != 0].tolist()
    unseen = len(game.view(game.seat).unseen)
    assert len(roots) == math.comb(unseen, game.hand_sizes[1 - game.seat])
    assert sum(int(space.nodes[root]["visits"]) for root in roots) == 20000
    for root in roots:
        child, seen = int(space.nodes[root]["child"]), 0
        while child:
            seen += int(space.nodes[child]["visits"])
            child = int(space.nodes[child]["sibling"])
        assert seen == space.nodes[root]["visits"] - 1  # from the second visit on its tree follows


def test_one_tree_and_many_agree_on_what_is_known() -> None:
    """In the last deal there is one hand: both searches find a best move."""
    for game in last_deals(10):
        best = Solver(memory_bits=10).solve(game).best
        assert IsmctsAgent("4000,trees=many", seed=1).act(game.view(game.seat)) in best


def test_many_trees_of_long_hands_stay_small() -> None:
    """Nearly every hand of ten cards is new: one node each, and the tree of the observer grows as ever."""
    agent = IsmctsAgent("1000,trees=many", seed=1)
    game = Game("scopone_scientifico", seed=2)
    agent.act(game.view(game.seat))
    space = agent.workspaces.spaces[0]
    assert 3 * 990 < int((space.roots["key"] != 0).sum()) <= 3 * 1000
    assert int(space.search["used"][0]) < 3 * 1000 + 1500


def test_a_full_tree_goes_on_counting() -> None:
    agent = IsmctsAgent("3000", seed=1)
    game = Game("escoba", seed=2)
    agent.act(game.view(game.seat))
    space = agent.workspaces.spaces[0]
    space.nodes = space.nodes[:40]
    assert game.is_legal(agent.act(game.view(game.seat)))
    assert sum(visits for visits, _ in moves_of(agent).values()) == 3000
    assert space.search["used"][0] <= 40


# known positions


def last_deals(count: int) -> list[Game]:
    """Return games of two players in their last deal, where each can deduce the other's hand."""
    rng = random.Random(7)
    found = []
    while len(found) < count:
        game = Game("scopa", seed=rng.randrange(1 << 32))
        while len(game.plays) < 30 + rng.randrange(3):
            game.push(rng.choice(game.legal_moves))
        if len(game.legal_moves) > 1:
            found.append(game)
    return found


def test_what_can_be_deduced_is_played_perfectly() -> None:
    for game in last_deals(40):
        best = Solver(memory_bits=10).solve(game).best
        assert PimcAgent("5", seed=1).act(game.view(game.seat)) in best


def test_tree_search_finds_a_best_play_of_solved_positions() -> None:
    """With 4 plays to come 20,000 iterations see everything; playouts and exploration must not blur it."""
    for game in last_deals(30):
        while len(game.plays) < 32:
            game.push(game.legal_moves[0])
        if len(game.legal_moves) < 2:
            continue
        best = Solver(memory_bits=10).solve(game).best
        assert IsmctsAgent("20000", seed=1).act(game.view(game.seat)) in best
        cheating = CheatingMctsAgent("20000", seed=1)
        assert cheating.act_game(game) in best


def test_the_settebello_is_taken() -> None:
    game = first_turn("scopa", "7c2c3b/5c6cAd", "7dFdRd4d")
    for spec in ("ismcts:2000", "pimc:100"):
        assert agent_of(spec).act(game.view(0)) == Move(16, (6,))


# cheating


def test_whoever_cheats_sees_what_comes() -> None:
    """Its move depends on the hidden cards, that of a fair agent does not."""
    game = Game("scopa", seed=4)
    view = game.view(game.seat)
    games = [view.sample(seed) for seed in range(12)]
    assert len({CheatingMctsAgent("500", seed=1).act_game(other) for other in games}) > 1
    assert len({IsmctsAgent("500", seed=1).act(other.view(game.seat)) for other in games}) == 1


def test_cheating_agents_are_refused_where_only_views_are_given() -> None:
    with pytest.raises(AgentError, match="mcts_cheating"):
        ScopaEnv("scopa", opponent="mcts_cheating:10")


# inference


@kernel
def take_back_in(rules: Any, games: Any) -> None:
    """Take back the last play of games[0]."""
    take_back(rules[0], games[0])


@pytest.mark.nojit
@pytest.mark.parametrize("text", [*ALL_PRESETS, *VARIANTS])
def test_plays_are_taken_back(text: str) -> None:
    """As `Game.pop` does it, but for the sweeps and the generator."""
    rng = random.Random(text)
    for _ in range(4):
        game = Game(text, seed=rng.randrange(1 << 32))
        for _ in range(rng.randrange(game.rules.num_plays)):
            game.push(rng.choice(game.legal_moves))
        records = copy_of(game.records)
        while game.plays and sum(game.hand_sizes) < game.rules.players * game.rules.hand_size:
            take_back_in(game.rules.record, records)
            game.pop()
            for name in ("hands", "piles", "table", "played", "plays", "seat", "last", "card", "chosen", "stage"):
                assert np.array_equal(records[name], game.records[name]), name


def expected_likelihood(game: Game, model: str, observer: int, noise: float) -> float:
    """Go back play by play with `Game.pop`, as far as the last deal."""
    game = game.copy()
    result = 1.0
    while game.plays and sum(game.hand_sizes) < game.rules.players * game.rules.hand_size:
        play = game.plays[-1]
        game.pop()
        if play.seat != observer:
            view = game.view(play.seat)
            agents = [make_agent(model, seed) for seed in range(60)]
            meant = {agent.act(view) for agent in agents}  # all moves that it thinks best
            result *= noise / len(game.legal_moves) + (1 - noise) * (play.move in meant) / len(meant)
    return result


@pytest.mark.nojit
@pytest.mark.parametrize(
    "text", ["scopa", "escoba", "scopone", "scopa:players=3", "stargames_scopa", "asso_piglia_tutto"]
)
def test_likelihoods_are_those_of_going_back(text: str) -> None:
    """Whatever generator the record has: a draw among equal moves must not count."""
    rng = random.Random(text)
    for model in ("greedy", "expert"):
        for _ in range(6):
            game = Game(text, seed=rng.randrange(1 << 32))
            for _ in range(rng.randrange(game.rules.num_plays)):
                game.push(rng.choice(game.legal_moves))
            expected = expected_likelihood(game, model, game.seat, 0.2)
            for seed in range(3):
                records = copy_of(game.records)
                records["rng"] = seed
                found = likelihood(
                    game.rules.record, records, 0, np.zeros(1, GAME), game.seat, MODELS[model].address, 0.2
                )
                assert found == pytest.approx(expected)


@pytest.mark.parametrize("text", ["scopa", "scopone_scientifico", "scopa:players=3"])
def test_likelihoods_by_a_network_are_those_of_going_back(text: str) -> None:
    network = load_model("scopa")
    assert isinstance(network, MoveNetwork)
    agent = NetworkAgent(network)
    rng = random.Random(text)
    for _ in range(6):
        game = Game(text, seed=rng.randrange(1 << 32))
        for _ in range(rng.randrange(game.rules.num_plays)):
            game.push(rng.choice(game.legal_moves))
        records, observer = copy_of(game.records), game.seat
        space, past = new_space(network.widest), np.zeros(1, GAME)
        found = likelihood_by_network(game.rules.record, records, 0, past, observer, 0.3, network.arrays, space)
        expected = 1.0
        while game.plays and sum(game.hand_sizes) < game.rules.players * game.rules.hand_size:
            play = game.plays[-1]
            game.pop()
            if play.seat != observer:
                judged = agent.judge(game.view(play.seat))
                best = max(one.value for one in judged)
                shares = {one.move: np.exp((one.value - best) / SOFTNESS) for one in judged}
                expected *= 0.3 / len(judged) + 0.7 * shares[play.move] / sum(shares.values())
        assert found == pytest.approx(expected, rel=1e-3)


def test_plays_of_positions_are_taken_back() -> None:
    """A position read from text does not hold the plays before it: who captured last stays, or is not known."""
    rng = random.Random(3)
    for _ in range(40):
        game = Game("scopa", seed=rng.randrange(1 << 32))
        for _ in range(6 * rng.randrange(1, 6)):
            game.push(rng.choice(game.legal_moves))
        later = Game.from_text(game.text())
        for _ in range(rng.randrange(1, 6)):
            later.push(rng.choice(later.legal_moves))
        records = copy_of(later.records)
        for _ in range(len(later.plays)):
            take_back_in(later.rules.record, records)
            captured = later.plays[-1].move.captured
            known = any(play.move.captured for play in later.plays[:-1])
            later.pop()
            assert np.array_equal(records["hands"], later.records["hands"])
            assert np.array_equal(records["piles"], later.records["piles"])
            if known or not captured:
                assert records["last"][0] == later.records["last"][0] or records["last"][0] == -1
            else:
                assert records["last"][0] == -1


@pytest.mark.nojit
def test_random_play_is_likely_where_there_are_few_moves() -> None:
    """The weight of a world under random play: one over the number of legal moves, play by play."""
    game = Game("scopa", seed=5)
    game.push(game.legal_moves[0])
    game.push(game.legal_moves[0])
    view = game.view(game.seat)
    worlds, sums = Pool("random", 0.2, 64).draw(view.rules, view.records, 1)
    weights = np.diff(sums, prepend=0.0)
    first = 0
    for index in range(64):
        records = copy_of(worlds[index : index + 1])
        take_back_in(view.rules.record, records)
        moves = len(Game.from_records(view.rules, records).legal_moves)
        first = first or moves
        assert weights[index] * moves == pytest.approx(weights[0] * first)


@pytest.mark.nojit
def test_worlds_are_drawn_by_weight() -> None:
    weights = np.cumsum([1.0, 0.0, 3.0, 0.0])
    rng = np.random.default_rng(1)
    found = Counter(pick(weights, share) for share in rng.random(4000).tolist())
    assert set(found) == {0, 2}
    assert math.isclose(found[2] / 4000, 0.75, abs_tol=0.03)
    assert pick(weights, 0.0) == 0
    assert pick(weights, 1.0 - 2.0**-53) == 2


def test_who_did_not_capture_has_no_such_card() -> None:
    """Seat 1 laid a 9 beside an 8: a greedy player would have taken the 8 with an 8, and so holds none."""
    rules = Rules.of("scopa")
    game = first_turn("scopa", "2c3cAd/Cb4c5d", "FdRdFcRc")
    game.push_text("2c")
    game.push_text("Cb")
    view = game.view(0)
    eights = {card for card in view.unseen if card % 10 == 7}
    assert eights == set(parse_cards("FsFb"))

    def share(model: str) -> float:
        pool = Pool(model, 0.1, 1024)
        worlds, weights = pool.draw(rules, view.records, 3)
        weights = np.diff(weights, prepend=0.0)
        holds = np.array([bool(int(hand) & sum(1 << card for card in eights)) for hand in worlds["hands"][:, 1]])
        return float((weights * holds).sum() / weights.sum())

    assert share("greedy") < 0.05 < 0.1 < share_without_model(view, eights)


def share_without_model(view: View, cards: set[int]) -> float:
    """Return how often seat 1 holds one of `cards` in worlds drawn without a model."""
    drawn = [view.sample(seed) for seed in range(400)]
    return sum(bool(cards & set(game.hands[1])) for game in drawn) / len(drawn)


def test_no_model_no_pool() -> None:
    worlds, weights = Pool("none", 0.2, 9).draw(Rules.of("scopa"), np.zeros(1, GAME), 1)
    assert len(worlds) == len(weights) == 0


# how far it is


@pytest.mark.nojit
@pytest.mark.parametrize("text", [*ALL_PRESETS, *VARIANTS])
def test_plays_left(text: str) -> None:
    rng = random.Random(text)
    game = Game(text, seed=1)
    while not game.round_over:
        assert batch.plays_left(game.rules.record, game.records) == game.rules.num_plays - len(game.plays)
        view = game.view(game.seat)
        assert batch.plays_left(game.rules.record, view.records) == game.rules.num_plays - len(game.plays)
        game.push(rng.choice(game.legal_moves))


def test_strength_needs_budget() -> None:
    """More iterations find the better of two moves more often: how often a clear best play is found."""
    found = []
    for settings in ("4", "400"):
        hits = 0
        for game in last_deals(25):
            best = Solver(memory_bits=10).solve(game).best
            hits += IsmctsAgent(settings, seed=1).act(game.view(game.seat)) in best
        found.append(hits)
    assert found[0] < found[1]


@pytest.mark.nojit
def test_the_worlds_are_spent_in_rounds() -> None:
    """Half of the moves stay after each round; those get twice as many worlds in the next."""
    assert [Budget(90).part(turn, 3, factor) for turn, factor in enumerate((1, 2, 4))] == [
        Budget(30),
        Budget(60),
        Budget(120),
    ]
    assert Budget(None, 90).part(0, 3, 1) == Budget(None, 30)
    assert Budget(None, 90).part(2, 3, 4) == Budget(None, 90)
    assert Budget(1).part(0, 4, 1) == Budget(1)
    game = Game("scopa", seed=3, dealer=1)
    assert len(game.legal_moves) == 4
    agent = PimcAgent("100", seed=1)
    agent.act(game.view(game.seat))
    assert agent.worlds == 50 + 100


def test_weights_keep_many_worlds() -> None:
    """However long the history, the flattened weights are worth a quarter of the worlds."""
    game = Game("scopone_scientifico", seed=1)
    greedy = make_agent("greedy", 1)
    while len(game.plays) < 24:
        game.push(greedy.act(game.view(game.seat)))
    view = game.view(game.seat)
    for model in ("random", "greedy", "expert"):
        _, sums = Pool(model, 0.05, 256).draw(view.rules, view.records, 1)
        weights = np.diff(sums, prepend=0.0)
        assert weights.sum() ** 2 / (weights**2).sum() >= 0.25 * 256


@pytest.mark.parametrize("text", ["scopa", "escoba", "scopone_scientifico"])
@pytest.mark.parametrize("spec", ["pimc:20", "ismcts:400"])
def test_search_beats_greedy(spec: str, text: str) -> None:
    result = duel(spec, "greedy", text, 40, seed=1)
    assert result.low > 0
