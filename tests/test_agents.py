"""Agents: found by name, greedy's weights, random's law, views and arrays alike, hidden cards without effect."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from importlib.metadata import EntryPoint, distribution
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import ALL_PRESETS, VARIANTS, first_turn, random_game
from scopa_agents.arena import duel
from scopa_agents.base import ObservationAgent, observe_batch
from scopa_agents.greedy import GreedyAgent
from scopa_agents.learned import learned_agent
from scopa_agents.network.files import ModelError
from scopa_agents.network.policy import Policy, PolicyAgent
from scopa_agents.random_agent import RandomAgent
from scopa_env import (
    Agent,
    AgentError,
    BatchAgent,
    Game,
    IllegalAction,
    Move,
    Rules,
    ScopaEnv,
    View,
    agents,
    make_agent,
    raw_env,
)
from scopa_env.agents import FunctionAgent, agent_names
from scopa_env.cards import SETTEBELLO, value_of


def first_move(view: View) -> Move:
    """An agent that is a function."""
    return view.legal_moves[0]


class Last:
    """An agent that is a class."""

    name = "last"

    def act(self, view: View) -> Move:
        return view.legal_moves[-1]


class Nameless:
    """An agent without name."""

    def act(self, view: View) -> Move:
        return view.legal_moves[0]


class Named(Nameless):
    """An agent with any name."""

    def __init__(self, name: Any) -> None:
        self.name = name


ESCAPES = Named("a\x1b[1m")


# names


def test_agents_are_found_by_name() -> None:
    assert {"random", "greedy", "learned"} <= set(agent_names())
    for name in ("random", "greedy"):
        agent = make_agent(name, 3)
        assert agent.name == name
        assert isinstance(agent, Agent)
        assert isinstance(agent, BatchAgent)
    assert make_agent("test_agents:Last").name == "last"
    assert make_agent("test_agents:first_move").name == "first_move"
    assert make_agent("scopa_agents.greedy:GreedyAgent", 1).name == "greedy"
    assert make_agent(first_move).name == "first_move"
    given = Last()
    assert make_agent(given) is given
    assert not isinstance(given, BatchAgent)
    assert isinstance(make_agent(lambda view: view.legal_moves[0]), FunctionAgent)


def test_an_agent_that_needs_another_package(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("open_spiel", "no_such_package:agent", agents.GROUP)
    monkeypatch.setattr(agents, "_registered", lambda: {"open_spiel": point})
    with pytest.raises(AgentError, match=r"'open_spiel:random': needs 'no_such_package', which is not installed$"):
        make_agent("open_spiel:random")
    ours = point._for(distribution("scopa-env"))  # type: ignore[attr-defined]
    monkeypatch.setattr(agents, "_registered", lambda: {"open_spiel": ours})
    with pytest.raises(AgentError, match=r"not installed: pip install 'scopa-env\[open_spiel\]', in a checkout pip"):
        make_agent("open_spiel:random")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gredy", "did you mean 'greedy'"),
        ("", "allowed are"),
        (":", "allowed are"),
        ("greedy:4", "settings '4'"),
        ("no_such_module:x", "No module named"),
        ("scopa_agents.greedy:x", "has no attribute 'x'"),
        ("scopa_agents.greedy:_TAKEN", "allowed are a name"),
        ("learned:+pimc:5", "give a network, learned:NAME+pimc; shipped are"),
        (None, "agent None"),
        (GreedyAgent, "a class"),
        ("isMcts:30", "did you mean 'ismcts'? ModuleNotFoundError: No module named 'isMcts'; registered names are"),
        ("Greedy", "did you mean 'greedy'? allowed are"),
        (Nameless(), "has no name; an agent needs the attribute name, a text"),
        *((Named(name), f"name={name!r}: allowed is printable text of one line") for name in ("", " ", "a\nb", 3)),
        ("test_agents:ESCAPES", "name='a\\x1b[1m': allowed"),
    ],
)
def test_agents_that_do_not_exist(spec: Any, message: str) -> None:
    with pytest.raises(AgentError, match=re.escape(message)):
        make_agent(spec)


@pytest.mark.parametrize("name", ["random", "greedy", "expert", "pimc:5", "ismcts:5"])
def test_agents_are_asked_about_views_of_the_seat_to_act(name: str) -> None:
    """A game has the same face as a view: taken for one, it would show every card."""
    agent = make_agent(name, 1)
    game = Game("scopa", seed=1)
    with pytest.raises(TypeError, match=r"act takes a View, not Game; game.view\(game.seat\) gives one"):
        agent.act(game)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="act takes a View, not str"):
        agent.act("view")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=f"asked for a move of seat {1 - game.seat}, but seat {game.seat} is to act"):
        agent.act(game.view(1 - game.seat))


def test_a_class_without_name_is_called_by_its_own() -> None:
    assert make_agent("test_agents:Nameless").name == "Nameless"


def test_an_agent_that_fails_over_rules_is_named() -> None:
    class Fails(Last):
        def check_rules(self, rules: Rules) -> None:
            raise KeyError("players")

    with pytest.raises(AgentError, match="agent 'last': check_rules failed: KeyError: 'players'"):
        make_agent(Fails(), rules=Rules.parse("scopa"))


# greedy


def greedy_score(move: Move, table: tuple[int, ...]) -> float:
    """The weights of the agent's text, once more."""
    primiera = {7: 21, 6: 18, 1: 16, 5: 15, 4: 14, 3: 13, 2: 12}
    if not move.captured:
        value = value_of(move.card)
        return (-10 if move.card < 10 else 0) + (-20 if value == 7 else 0) + (5 if value >= 8 else 0)
    score = 100.0 + 5 * (1 + len(move.captured))
    score += 1000 if set(move.captured) == set(table) else 0
    score += 500 if SETTEBELLO in move.captured else 0
    for card in move.captured:
        value = value_of(card)
        score += 50 if card < 10 else 0
        score += {7: 30, 6: 20, 1: 15}.get(value, primiera.get(value, 10) / 2)
    return score


@pytest.mark.parametrize("text", [*ALL_PRESETS, *VARIANTS])
def test_greedy_plays_a_move_with_the_best_score(text: str) -> None:
    rng = random.Random(text)
    agent = GreedyAgent(seed=1)
    for _ in range(10):
        game = random_game(text, rng)
        while not game.round_over:
            if game.card is not None:
                game.act(rng.choice(np.flatnonzero(game.action_mask()).tolist()))
                continue
            scores = {move: greedy_score(move, game.table) for move in game.legal_moves}
            move = agent.act(game.view(game.seat))
            assert scores[move] == max(scores.values())
            game.push(move)


def test_ties_are_broken_evenly() -> None:
    """The two captures with the best score, and equally often by view and by array."""
    game = first_turn("scopa", "5s2b3b/3d4d6d", "5c5bRcRs")
    agent = GreedyAgent(seed=0)
    counts = Counter(agent.act(game.view(0)) for _ in range(1000))
    assert set(counts) == {Move(24, (14,)), Move(24, (34,))}
    assert 430 < counts[Move(24, (14,))] < 570


# random


def test_random_plays_every_legal_move_equally_often() -> None:
    """Also by arrays, where a move is said by several actions (chi-square, about 5 deviations)."""
    game = first_turn("escoba", "8s5sAd/3d4d6d", "7d2c5bRb")
    moves = game.legal_moves
    assert len(moves) >= 6
    agent = RandomAgent(seed=0)
    draws = 6000
    for view_of in (game.view(0), None):
        if view_of is not None:
            counts = Counter(agent.act(view_of) for _ in range(draws))
        else:
            counts = batched_moves(game, agent, draws)
        assert set(counts) == set(moves)
        expected = draws / len(moves)
        chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
        freedom = len(moves) - 1
        assert abs(chi_square - freedom) < 5 * (2 * freedom) ** 0.5


def batched_moves(game: Game, agent: BatchAgent, count: int) -> Counter[Move]:
    from scopa_env import batch

    games = np.repeat(game.records, count)
    while (going := np.flatnonzero(games["plays"] == game.records["plays"][0])).size:
        part = games[going]
        assert batch.act(game.rules.record, part, agent.act_batch(game.rules, part.copy())) == batch.LEGAL
        games[going] = part
    done = [Game.from_records(game.rules, games[i : i + 1]).plays[-1].move for i in range(count)]
    return Counter(done)


# views and arrays


@pytest.mark.parametrize("text", ["scopa", "escoba", "scopone", "bga_scopa:players=3", "german"])
@pytest.mark.parametrize("name", ["random", "greedy", "policy"])
def test_decisions_do_not_depend_on_hidden_cards(text: str, name: str, tmp_path: Path) -> None:
    """The same seed, the same view, other hidden cards: the same move."""
    rng = random.Random(text)
    rules = Rules.parse(text)
    for _ in range(15):
        game = random_game(text, rng)
        if game.round_over or game.card is not None:
            continue
        view = game.view(game.seat)
        others = [view.sample(rng.randrange(1 << 30)).view(game.seat) for _ in range(3)]
        moves = {make(name, rules, 7).act(other) for other in (view, *others)}
        assert len(moves) == 1
        records = np.concatenate([other.records for other in (view, *others)])
        assert len({make(name, rules, 7).act_batch(rules, records[i : i + 1].copy())[0] for i in range(4)}) == 1


def make(name: str, rules: Rules, seed: int) -> Any:
    if name == "policy":
        return PolicyAgent(random_policy(rules, seed), "policy")
    return make_agent(name, seed)


@pytest.mark.parametrize("text", ["scopa", "escoba", "scopone", "bga_scopa:players=3"])
@pytest.mark.parametrize("name", ["greedy", "policy"])
def test_a_view_and_an_array_give_the_same_move(text: str, name: str) -> None:
    """Where no tie is broken at random, which the policy never does."""
    rules = Rules.parse(text)
    agent = make(name, rules, 1)
    for seed in range(10):
        game = Game(text, seed=seed)
        while not game.round_over:
            move = agent.act(game.view(game.seat))
            if name == "policy":
                said = []
                trial = game.copy()
                while len(trial.plays) == len(game.plays) and not trial.round_over:
                    said.append(int(agent.act_batch(rules, trial.view(trial.seat).records)[0]))
                    trial.act(said[-1])
                assert said == game.actions_of(move)
            assert game.is_legal(move)
            game.push(move)


# models


def random_policy(rules: Rules, seed: int) -> Policy:
    from scopa_agents.network.ranks import feature_size

    rng = np.random.default_rng(seed)
    sizes = (feature_size(rules.players), 16, 81)
    layers = [
        (rng.normal(size=(out, into)).astype(np.float32), rng.normal(size=out).astype(np.float32))
        for into, out in itertools.pairwise(sizes)
    ]
    return Policy(layers, rules, {"note": "random"})


def test_a_policy_survives_its_file(tmp_path: Path) -> None:
    rules = Rules.parse("escoba")
    policy = random_policy(rules, 1)
    file = tmp_path / "policy.safetensors"
    policy.save(file)
    assert [path.name for path in tmp_path.iterdir()] == ["policy.safetensors"]
    loaded = Policy.load(file)
    assert loaded.rules == rules
    assert loaded.notes["note"] == "random"
    games = np.concatenate([Game(rules, seed=seed).records for seed in range(20)])
    observations, masks = observe_batch(rules, games)
    assert np.array_equal(loaded.logits(observations), policy.logits(observations))
    actions = make_agent(f"learned:{file}").act_batch(rules, games)  # type: ignore[attr-defined]
    assert masks[np.arange(20), actions].all()
    with pytest.raises(ModelError, match="trained for 2 players, not 3"):
        learned_agent(str(file)).act(Game("scopa:players=3", seed=1, dealer=2).view(0))


def test_files_that_are_no_models(tmp_path: Path) -> None:
    good = tmp_path / "good.safetensors"
    random_policy(Rules.parse("scopa"), 1).save(good)
    of_four = tmp_path / "of_four.safetensors"
    Policy(random_policy(Rules.parse("scopa"), 1).layers, Rules.parse("scopone")).save(of_four)
    whole = good.read_bytes()
    broken = {
        "empty": b"",
        "text": b"hello, this is no model",
        "truncated": whole[: len(whole) // 2],
        "short": whole[:20],
        "wrong version": whole.replace(b"scopa-env policy 1", b"scopa-env policy 9"),
        "wrong rules": whole.replace(b'"rules":"scopa"', b'"rules":"skopa"'),
        "wrong players": of_four.read_bytes(),
        "missing tensor": whole.replace(b"layers.1.bias", b"layers.1.bxas"),
        "other layout": whole.replace(b'"observation_version":"1"', b'"observation_version":"7"'),
        "zip": b"PK\x03\x04" + whole,
    }
    for name, content in broken.items():
        assert content != whole, name
        file = tmp_path / f"{name}.safetensors"
        file.write_bytes(content)
        with pytest.raises(ModelError, match="model "):
            make_agent(f"learned:{file}")
    for missing in (tmp_path / "nothing.safetensors", tmp_path):
        with pytest.raises(ModelError):
            make_agent(f"learned:{missing}")


def test_a_policy_of_other_rules_says_so_before_it_plays(tmp_path: Path) -> None:
    file = tmp_path / "policy.safetensors"
    random_policy(Rules.parse("scopa"), 1).save(file)
    with pytest.warns(UserWarning, match="was trained on scopa and plays escoba"):
        make_agent(f"learned:{file}", 0, Rules.parse("escoba"))
    for seat in (
        lambda: make_agent(f"learned:{file}", 0, Rules.parse("scopone")),
        lambda: ScopaEnv("scopone", f"learned:{file}"),
        lambda: duel("greedy", f"learned:{file}", "scopone", 2),
    ):
        with pytest.raises(ModelError, match="trained for 2 players, not 4"):
            seat()
    make_agent(f"learned:{file}", 0, Rules.parse("scopa"))


@pytest.mark.parametrize("rules", ["scopa", "escoba", "scopone", "scopa:players=3"])
def test_a_function_of_observations_is_an_agent(rules: str) -> None:
    """It is shown what the environment shows, wherever it plays."""
    seen: list[tuple[bytes, bytes]] = []

    def last_legal(observations: Any, masks: Any) -> Any:
        assert observations.dtype == masks.dtype == np.int8
        seen.extend((one.tobytes(), mask.tobytes()) for one, mask in zip(observations, masks, strict=True))
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)

    agent = ObservationAgent(last_legal, "last")
    assert isinstance(agent, BatchAgent)
    env = raw_env(rules)
    for seed in range(3):
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            found = env.observe(env.agent_selection)
            seen.clear()
            agent.act(env.view(env.agent_selection))
            assert seen[0] == (found["observation"].tobytes(), found["action_mask"].tobytes())
            env.step(int(np.flatnonzero(found["action_mask"])[-1]))
    assert duel(agent, agent, rules, deals=20).margin == 0
    ScopaEnv(rules, opponent=agent).reset(seed=1)


def test_a_function_of_observations_that_returns_something_else_is_named() -> None:
    game = Game("scopa", seed=1)
    for answer in (None, [1.5], [1, 2]):
        with pytest.raises(IllegalAction, match="agent 'mine': act_batch returned"):
            ObservationAgent(lambda *_, answer=answer: answer, "mine").act(game.view(game.seat))
    with pytest.raises(ValueError, match="agent 'model': action 80 is illegal"):
        ObservationAgent(lambda *_: [80]).act(game.view(game.seat))
