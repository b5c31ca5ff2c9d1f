"""OpenSpiel: its own checks pass, the game is ours step for step, resampling keeps what a seat knows."""

from __future__ import annotations

import doctest
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel", reason="needs the extra open_spiel")

from open_spiel.python.algorithms import evaluate_bots  # noqa: E402
from open_spiel.python.algorithms.external_sampling_mccfr import ExternalSamplingSolver  # noqa: E402
from open_spiel.python.algorithms.outcome_sampling_mccfr import OutcomeSamplingSolver  # noqa: E402
from open_spiel.python.observation import make_observation  # noqa: E402

import scopa_agents.open_spiel  # noqa: E402
import scopa_env  # noqa: E402
from exact import best_response_value, value_against_random  # noqa: E402
from helpers import ROOT  # noqa: E402
from scopa_agents.arena import duel  # noqa: E402
from scopa_agents.cfr import CFRPlus  # noqa: E402
from scopa_agents.nash import InformationState, Policy, SmallGame, TooLarge  # noqa: E402
from scopa_agents.open_spiel import OpenSpielAgent, ScopaBot, ismcts_bot  # noqa: E402
from scopa_env import PRESETS, AgentError, Game, Move, Rules, View, make_agent  # noqa: E402
from scopa_env.actions import next_action  # noqa: E402
from scopa_env.engine.state import UNKNOWN  # noqa: E402
from scopa_env.interop.open_spiel import ScopaState, chance_actions, replayed, state_of  # noqa: E402
from scopa_env.observation import pieces  # noqa: E402
from scopa_train.cli import app  # noqa: E402

SOME = (
    "mini_scopa",
    "scopa",
    "escoba",
    "german",
    "bga_scopa_4p",
    "scopone",
    "scopone_scientifico",
    "scopa:players:3",
    "german_4p:partner_hand_visible:true",
    "scopa:players:6;teams:true",
)
"""Rules, as OpenSpiel's texts write them."""


def load(rules: str, **more: Any) -> Any:
    return pyspiel.load_game("python_scopa", {"rules": rules, **more})


def random_states(game: Any, seed: int) -> list[Any]:
    """Return the states of a random round in which a player acts, and the last one."""
    rng, state, states = random.Random(seed), game.new_initial_state(), []
    while not state.is_terminal():
        if not state.is_chance_node():
            states.append(state.clone())
        state.apply_action(rng.choice(state.legal_actions()))
    return [*states, state]


@pytest.mark.parametrize("rules", sorted(PRESETS))
def test_its_own_random_simulations(rules: str) -> None:
    pyspiel.random_sim_test(load(rules), num_sims=2, serialize=True, verbose=False)


@pytest.mark.parametrize("options", [{"dealer": 1}, {"reward": "win"}, {"deal": "hands"}], ids=str)
def test_its_own_random_simulations_with_parameters(options: dict[str, Any]) -> None:
    pyspiel.random_sim_test(load("mini_scopa", **options), num_sims=5, serialize=True, verbose=False)


@pytest.mark.parametrize("rules", SOME)
@pytest.mark.parametrize("reward", ["points", "win"])
def test_it_is_the_game_of_our_environment_on_the_same_deck(rules: str, reward: str) -> None:
    game = load(rules, reward=reward, deal="cards")
    env = scopa_env.env(game.rules, reward=reward, history=True)
    rng = np.random.default_rng(1)
    for seed in range(3):
        env.reset(seed=seed)
        deck, dealer = env.game().deck, env.game().dealer
        assert deck is not None
        state = game.new_initial_state()
        state.apply_action(dealer)
        at = 0
        earned = dict.fromkeys(env.possible_agents, 0.0)
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes = state.chance_outcomes()
                assert sum(chance for _, chance in outcomes) == pytest.approx(1)
                assert [card for card, _ in outcomes] == sorted(deck[at:])
                state.apply_action(deck[at])
                at += 1
                continue
            seat = state.current_player()
            assert env.agent_selection == f"player_{seat}"
            seen = env.observe(env.agent_selection)
            assert state.legal_actions() == np.flatnonzero(seen["action_mask"]).tolist()
            for player in range(game.num_players()):
                expected = env.observe(f"player_{player}")
                size = sum(piece.size for piece in pieces(game.num_players()))
                assert state.observation_tensor(player) == expected["observation"][:size].tolist()
                plays = expected["history"][: game.rules.num_plays].ravel()
                assert state.information_state_tensor(player) == [*expected["observation"][:size], *plays]
            action = int(rng.choice(state.legal_actions()))
            state.apply_action(action)
            env.step(action)
            for agent, reward_now in env.rewards.items():
                earned[agent] += reward_now
        assert state.returns() == pytest.approx(list(earned.values()))


@pytest.mark.parametrize(("rules", "deal"), [*((rules, "cards") for rules in SOME), ("mini_scopa", "hands")])
def test_resampling_keeps_what_a_seat_knows_and_draws_the_rest(rules: str, deal: str) -> None:
    game = load(rules, deal=deal)
    rng = random.Random(1)
    others: dict[bool, int] = {True: 0, False: 0}
    for state in random_states(game, 5):
        for player in range(game.num_players()):
            again = state.resample_from_infostate(player, rng.random)
            assert again.information_state_string(player) == state.information_state_string(player)
            assert again.information_state_tensor(player) == state.information_state_tensor(player)
            assert again.current_player() == state.current_player()
            if not state.is_terminal() and player == state.current_player():
                assert again.legal_actions() == state.legal_actions()
            others[again.table().hands == state.table().hands] += 1
    assert others[False] > 0


@pytest.mark.parametrize("rules", SOME)
def test_information_states_say_the_same_as_text_and_as_numbers(rules: str) -> None:
    game = load(rules)
    texts: dict[str, bytes] = {}
    for seed in range(12):
        for state in random_states(game, seed):
            for player in range(game.num_players()):
                tensor = np.array([player, *state.information_state_tensor(player)], np.int8).tobytes()
                assert texts.setdefault(state.information_state_string(player), tensor) == tensor
    assert len(set(texts.values())) == len(texts)


def test_what_is_dealt_can_be_read_off_a_round_and_dealt_again() -> None:
    for rules in SOME:
        for seed in range(3):
            game = load(rules)
            for state in random_states(game, seed):
                again = replayed(
                    game, state.records, [step.action for step in state.full_history() if step.player >= 0]
                )
                assert str(again) == str(state)
                assert again.table().hands == state.table().hands
                assert again.current_player() == state.current_player()
                assert chance_actions(game, again.records) == chance_actions(game, state.records)


def test_hidden_cards_are_in_no_information_state() -> None:
    game = load("scopone")
    rng = random.Random(2)
    for state in random_states(game, 3)[:20]:
        for player in range(4):
            again = state.resample_from_infostate(player, rng.random)
            assert again.observation_string(player) == state.observation_string(player)
            assert (state.records["deck"][0][int(state.records["dealt"][0]) :] == UNKNOWN).all()


def test_a_void_deal_is_dealt_again_by_new_chance_nodes() -> None:
    game = load("gamerules_scopa", dealer=1)
    deck = [*range(36), 36, 37, 38, 39]
    kings = [card for card in deck if card % 10 == 9]
    rest = [card for card in deck if card not in kings]
    void = [*rest[:6], *kings[:3], rest[6]]
    good = rest[:10]
    state = game.new_initial_state()
    for card in (*void, *good):
        assert state.is_chance_node()
        assert [outcome for outcome, _ in state.chance_outcomes()]
        state.apply_action(card)
    assert state.current_player() == 0
    assert state.table().table == tuple(sorted(good[6:]))
    plain = game.new_initial_state()
    for card in good:
        plain.apply_action(card)
    assert [plain.information_state_string(k) for k in (0, 1)] == [state.information_state_string(k) for k in (0, 1)]
    again = state.resample_from_infostate(0, random.Random(1).random)
    assert again.information_state_string(0) == state.information_state_string(0)


def test_kinds_of_observations() -> None:
    game = load("mini_scopa", dealer=1)
    state = random_states(game, 4)[1]
    public = pyspiel.IIGObservationType(True, False, pyspiel.PrivateInfoType.NONE)
    private = pyspiel.IIGObservationType(False, False, pyspiel.PrivateInfoType.SINGLE_PLAYER)
    everything = pyspiel.IIGObservationType(True, False, pyspiel.PrivateInfoType.ALL_PLAYERS)
    seen = {kind: make_observation(game, kind) for kind in (public, private, everything)}
    for player in (0, 1):
        for observer in seen.values():
            observer.set_from(state, player)
        hands = state.table().hands
        assert "hand" not in seen[public].dict
        assert set(seen[private].dict) == {"hand", "unseen"}
        assert np.flatnonzero(seen[private].dict["hand"]).tolist() == list(hands[player])
        assert [np.flatnonzero(row).tolist() for row in seen[everything].dict["hands"]] == [list(h) for h in hands]
    assert seen[public].string_from(state, 0) == seen[public].string_from(state, 1)
    assert "?" in seen[public].string_from(state, 0)
    seen[public].set_from(state, 0)
    first = seen[public].tensor.copy()
    seen[public].set_from(state, 1)
    assert np.array_equal(first, seen[public].tensor)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"rules": "skopa"}, "did you mean 'scopa'"),
        ({"dealer": 2}, r"dealer=2: allowed are seats 0 \.\. 1"),
        ({"reward": "decided"}, "reward='decided': allowed are 'points', 'win'"),
        ({"deal": "all"}, "deal='all': allowed are 'auto', 'cards', 'hands'"),
        ({"deal": "hands"}, "deal='hands': a node of scopa has 46,376 outcomes; allowed are 10,000"),
    ],
)
def test_parameters_that_are_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pyspiel.load_game("python_scopa", params)


def test_actions_that_are_refused() -> None:
    state = load("scopa").new_initial_state()
    with pytest.raises(ValueError, match=r"chance outcome 2: allowed are seats 0 \.\. 1"):
        state.apply_action(2)
    with pytest.raises(ValueError, match="allowed is a state in which a player acts"):
        state.resample_from_infostate(0, random.random)
    state.apply_action(1)
    state.apply_action(7)
    with pytest.raises(ValueError, match="chance outcome 7: not possible"):
        state.apply_action(7)
    state = random_states(load("mini_scopa"), 1)[0]
    illegal = next(action for action in range(81) if action not in state.legal_actions())
    before = str(state)
    with pytest.raises(ValueError, match=f"action {illegal} .* is not legal"):
        state.apply_action(illegal)
    assert str(state) == before


def test_texts_of_a_game_with_changed_rules_can_be_read() -> None:
    game = load("escoba:dealer_bonus=15:2+30:3,target=11")
    again = pyspiel.load_game(str(game))
    assert again.rules == game.rules == Rules.parse("escoba:dealer_bonus=15:2+30:3,target=11")
    state = random_states(game, 1)[3]
    _, copied = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
    assert isinstance(copied, ScopaState)
    assert str(copied) == str(state)
    assert copied.legal_actions() == state.legal_actions()
    other = state.clone()
    other.apply_action(other.legal_actions()[0])
    assert str(other) != str(state) == str(copied)


def test_a_view_is_for_our_agents() -> None:
    state = random_states(load("escoba"), 2)[4]
    view = state.view(state.current_player())
    move = scopa_env.make_agent("greedy").act(view)
    assert move in view.legal_moves
    assert isinstance(state.table(), Game)


# small games solved


@pytest.fixture(scope="module")
def tree() -> SmallGame:
    return SmallGame("mini_scopa")


def test_the_tree_of_mini_scopa(tree: SmallGame) -> None:
    assert (tree.deals, len(tree.states), tree.ends, tree.nodes) == (2520, 15900, 10320, 39089)


def test_exploitability_of_random_play_is_what_brute_force_finds(tree: SmallGame) -> None:
    expected = [best_response_value(seat, 1) for seat in (0, 1)]
    assert tree.exploitability(tree.policy_of("random")) == pytest.approx(sum(expected) / 2, abs=1e-12)


def test_an_agent_wins_in_the_tree_what_it_wins_in_games(tree: SmallGame) -> None:
    def last(view: View) -> Move:
        return view.legal_moves[-1]

    own, other = tree.policy_of(last), tree.policy_of("random")
    assert tree.value(own, other) == pytest.approx(value_against_random(last, 0, 1), abs=1e-12)
    assert -tree.value(other, own) == pytest.approx(value_against_random(last, 1, 1), abs=1e-12)


def test_equilibrium(tree: SmallGame) -> None:
    solution = tree.equilibrium(80)
    assert tree.exploitability(solution) < 1e-3
    assert tree.value(solution) == pytest.approx(-0.39816, abs=1e-3)
    for name in ("random", "greedy", "pimc:3"):
        policy = tree.policy_of(name)
        assert tree.value(policy, solution) < tree.value(solution) + 1e-3
        assert tree.exploitability(policy) > 0.01
        assert sums_of_states(tree, policy) == pytest.approx(1)
    stopped: list[int] = []
    tree.equilibrium(1000, 0.1, stopped.append)
    assert stopped[-1] in (10, 20)


def test_answers_at_random_are_counted(tree: SmallGame) -> None:
    """A copy of random play that is asked comes near to what is known of it, the nearer the more often it is asked."""

    def first(view: View) -> Move:
        return view.legal_moves[int(rng.integers(len(view.legal_moves)))]

    rng = np.random.default_rng(1)
    exact = tree.exploitability(tree.policy_of("random"))
    found = [tree.exploitability(tree.policy_of(first, samples=samples)) for samples in (1, 30)]
    assert found[0] > found[1] > exact
    assert found[1] < exact + 0.1
    assert sums_of_states(tree, tree.policy_of(first, 0, 3)) == pytest.approx(1)


def sums_of_states(tree: SmallGame, policy: Policy) -> Any:
    """Return the sum of the probabilities in each information state."""
    return np.add.reduceat(policy, tree.tree.first[:-1])


@pytest.mark.parametrize("rules", ["mini_scopa:hand_size=1,deals=2", "mini_scopa"])
def test_the_solver_is_openspiels_iteration_by_iteration(rules: str) -> None:
    tree = SmallGame(rules)
    game = tree.open_spiel()
    theirs, ours = pyspiel.CFRPlusSolver(game), CFRPlus(tree.tree)
    for _ in range(4):
        theirs.evaluate_and_update_policy()
        ours.iterate()
        average = ours.average()
        assert tree.exploitability(average) == pytest.approx(
            pyspiel.exploitability(game, theirs.average_policy()), abs=1e-12
        )
        assert tree.exploitability(average) == pytest.approx(
            pyspiel.exploitability(game, tree.tabular(average)), abs=1e-12
        )
    both = pyspiel.expected_returns(game.new_initial_state(), tree.tabular(average), -1, True)
    assert tree.value(average) == pytest.approx(both[0], abs=1e-12)


def test_information_states_are_openspiels(tree: SmallGame) -> None:
    """Who acts, what it may do, and that the tree tells apart just what OpenSpiel's strings tell apart."""
    game = load("mini_scopa", dealer=1, deal="auto")
    known: dict[str, InformationState] = {}
    rng = random.Random(1)
    by_view = {(one.player, one.view.records.tobytes()): one for one in tree.states}
    for _ in range(300):
        state = game.new_initial_state()
        while not state.is_terminal():
            if not state.is_chance_node():
                seat = state.current_player()
                one = by_view[seat, state.view(seat).records.tobytes()]
                assert one.actions == tuple(state.legal_actions())
                assert known.setdefault(state.information_state_string(), one) is one
            state.apply_action(rng.choice(state.legal_actions()))
    assert len(known) == len({id(one) for one in known.values()})


def test_trees_that_are_refused() -> None:
    with pytest.raises(ValueError, match="allowed are those for two players, not 4"):
        SmallGame("scopone")
    with pytest.raises(TooLarge, match="more than 500 nodes"):
        SmallGame("scopa", 500)


def test_the_command_that_solves(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    app(["nash", "random", "--iterations", "10", "--json", str(tmp_path / "nash.json")])
    printed = capsys.readouterr().out
    assert "15,900 information states" in printed
    assert "0.6456" in printed
    content = json.loads((tmp_path / "nash.json").read_text())
    assert content["agents"][0]["exploitability"] == pytest.approx(0.6456, abs=1e-4)
    with pytest.raises(ValueError, match="agent 'nobody'"):
        app(["nash", "nobody"])
    for option in ("iterations", "samples", "most-nodes"):
        with pytest.raises(ValueError, match=f"{option.replace('-', '_')}=0: allowed are whole numbers from 1"):
            app(["nash", "random", f"--{option}", "0"])


# bots and agents


@pytest.mark.parametrize("rules", SOME)
def test_the_state_of_a_round_of_ours(rules: str) -> None:
    game = load(rules)
    rng = np.random.default_rng(2)
    for seed in range(3):
        table = Game(game.rules, seed=seed)
        while not table.round_over:
            state = state_of(game, table)
            assert state.current_player() == table.seat
            assert state.legal_actions() == np.flatnonzero(table.action_mask()).tolist()
            assert state.view(table.seat).text() == table.view(table.seat).text()
            table.act(int(rng.choice(state.legal_actions())))
        end = state_of(game, table)
        assert end.is_terminal()
        assert end.table().outcome() == table.outcome()
    with pytest.raises(ValueError, match="allowed are those of the game"):
        state_of(game, Game("german_4p"))
    with pytest.raises(ValueError, match="dealer 0: allowed is that of the game, 1"):
        state_of(load(rules, dealer=1), Game(game.rules, seed=1, dealer=0))


def test_a_table_that_was_set_up_is_no_state() -> None:
    """Who held what in its first deal is not known."""
    game = Game("scopa", seed=1)
    for _ in range(4):
        game.push(game.legal_moves[0])
    with pytest.raises(ValueError, match="4 plays were made in the round, of which it knows 0"):
        state_of(load("scopa"), Game.from_text(game.text()))


def test_an_agent_plays_as_a_bot_what_it_plays_as_an_agent() -> None:
    game = load("escoba")
    for seed in range(3):
        state = game.new_initial_state()
        bots = [ScopaBot(game, seat, "greedy", seed) for seat in range(2)]
        own = [make_agent("greedy", seed) for _ in range(2)]
        rng = np.random.RandomState(seed)
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(rng.choice(state.legal_actions()))
                continue
            view = state.view(state.current_player())
            action = bots[state.current_player()].step(state)
            if view.card is None:
                move = own[view.seat].act(view)
            assert action == next_action(move, view.card, view.chosen)
            state.apply_action(action)


def test_bots_that_play_for_each_other() -> None:
    """A bot as an agent as a bot is the bot."""

    def last(game: Any, seat: int, seed: int) -> Any:
        class Last(pyspiel.Bot):
            def restart_at(self, state: Any) -> None:
                pass

            def step(self, state: Any) -> int:
                return int(state.legal_actions()[-1])

        return Last()

    game = load("scopone")
    bots = [ScopaBot(game, seat, OpenSpielAgent(last, seed=1)) for seat in range(4)]
    state = game.new_initial_state()
    rng = random.Random(1)
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(rng.choice(state.legal_actions()))
            continue
        action = bots[state.current_player()].step(state)
        assert action == state.legal_actions()[-1]
        state.apply_action(action)
    assert sum(state.returns()) == 0


def test_the_arena_ranks_bots() -> None:
    with pytest.raises(AgentError, match=r"allowed are open_spiel:random and open_spiel:ismcts:N"):
        make_agent("open_spiel:ismcts:0")
    result = duel("open_spiel:random", "greedy", "scopa", 100, seed=1)
    again = duel("random", "greedy", "scopa", 100, seed=1)
    assert result.high < 0
    assert result.low < again.margin < result.high
    small = [duel("open_spiel:ismcts:40", "random", "mini_scopa", 8, seed=1).margin for _ in range(2)]
    assert small[0] == small[1]


def test_the_search_of_openspiel_repeats_itself() -> None:
    game = Game("mini_scopa", seed=2)
    found = set()
    for _ in range(5):
        made = load("mini_scopa")
        found.add(str(ismcts_bot(made, 1, 40).run_search(state_of(made, game))))
    assert len(found) == 1


def test_what_a_bot_is_shown_holds_no_hidden_card() -> None:
    seen = []

    def spy(game: Any, seat: int, seed: int) -> Any:
        class Spy(pyspiel.Bot):
            def restart_at(self, state: Any) -> None:
                pass

            def step(self, state: Any) -> int:
                seen.append(state.table().hands[1 - seat])
                return int(state.legal_actions()[0])

        return Spy()

    game = Game("scopa", seed=1, dealer=1)
    for seed in range(30):
        OpenSpielAgent(spy, seed=seed).act(game.view(game.seat))
    assert len(set(seen)) > 20
    other = game.view(game.seat).sample(5)  # what the seat knows is the same, the rest is not
    assert other.hands != game.hands
    seen.clear()
    for one in (game, other):
        OpenSpielAgent(spy, seed=3).act(one.view(one.seat))
    assert len(seen) in (2, 4, 6)
    assert seen[: len(seen) // 2] == seen[len(seen) // 2 :]


@pytest.mark.slow
def test_search_and_regret_minimisation_of_openspiel() -> None:
    full, small = load("scopa"), load("mini_scopa")
    result = duel("open_spiel:ismcts:30", "random", "scopa", 4, seed=1)
    assert result.forfeits == 0
    bots = [ScopaBot(full, 0, "pimc:2"), ScopaBot(full, 1, "greedy")]
    assert sum(evaluate_bots.evaluate_bots(full.new_initial_state(), bots, np.random.RandomState(1))) == 0
    outcome = OutcomeSamplingSolver(full)
    for _ in range(20):
        outcome.iteration()
    external = ExternalSamplingSolver(small)
    for _ in range(20):
        external.iteration()
    for solver, game in ((outcome, full), (external, small)):
        state = random_states(game, 1)[0]
        chances = solver.average_policy().action_probabilities(state)
        assert sum(chances.values()) == pytest.approx(1)


def test_the_examples_of_the_page() -> None:
    page = ROOT / "docs" / "frameworks" / "open_spiel.md"
    found = doctest.testfile(str(page), module_relative=False)
    assert found.attempted > 10
    assert found.failed == 0
    for module in (scopa_env.interop.open_spiel, scopa_agents.open_spiel):
        assert doctest.testmod(module).failed == 0
