"""Move networks: their features said once more, compiled and plain arithmetic, files, agents, search with them."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import ALL_PRESETS, VARIANTS
from scopa_agents import learned
from scopa_agents.arena import duel
from scopa_agents.learned import load_model, shipped_models
from scopa_agents.network.agent import TEMPERATURE, NetworkAgent
from scopa_agents.network.features import FEATURES, LATE, NUM_FEATURES, NUM_WORDS, PIECES, pack_position
from scopa_agents.network.files import ModelError
from scopa_agents.network.network import MoveNetwork
from scopa_agents.solve import Solver
from scopa_env import AgentError, Game, Rules, View, batch, make_agent
from scopa_env.cards import card_text, make_card, value_of
from scopa_env.engine.hidden import knows_all
from scopa_env.engine.past import plays_left
from scopa_env.engine.play import play_undealt
from scopa_env.engine.state import PLAYING, copy_of
from scopa_env.packing import unpack


def random_network(seed: int, hidden: tuple[int, ...] = (24, 7), rules: tuple[str, ...] = ()) -> MoveNetwork:
    """Return a network of random weights."""
    rng = np.random.default_rng(seed)
    widths = (NUM_FEATURES, *hidden, 1)
    layers = [
        ((rng.normal(size=(b, a)) / np.sqrt(a / 8)).astype(np.float32), rng.normal(size=b).astype(np.float32))
        for a, b in itertools.pairwise(widths)
    ]
    return MoveNetwork(layers, tuple(map(Rules.parse, rules)), {"note": "random"})


def plain_value(network: MoveNetwork, features: np.ndarray[Any, Any]) -> float:
    """Return the value of one position, with numpy."""
    units = features.astype(np.float64)
    for weight, bias in network.layers[:-1]:
        units = np.maximum(weight.astype(np.float64) @ units + bias, 0)
    weight, bias = network.layers[-1]
    return float((weight @ units + bias)[0])


def after(game: Game | View, index: int) -> np.ndarray[Any, Any]:
    """Return GAME[1] after a legal move, no new hands dealt."""
    move = game.legal_moves[index]
    records = copy_of(game.records)
    play_undealt(game.rules.record[0], records[0], move.card, np.uint64(move.mask))
    return records


def features_of(rules: Rules, records: np.ndarray[Any, Any], observer: int) -> np.ndarray[Any, Any]:
    words = np.zeros(NUM_WORDS, np.uint64)
    pack_position(rules.record[0], records[0], observer, words)
    return unpack(words, NUM_FEATURES)


def piece(features: np.ndarray[Any, Any], name: str) -> list[Any]:
    found: list[Any] = next(one for one in PIECES if one.name == name).of(features).tolist()
    return found


def cards_in(bits: list[int]) -> set[int]:
    return {card for card, on in enumerate(bits) if on}


def positions(text: str, count: int, seed: int = 1) -> list[Game]:
    """Return positions with a choice, of random rounds."""
    rng = random.Random(seed)
    found: list[Game] = []
    while len(found) < count:
        game = Game(text, seed=rng.randrange(1 << 32))
        while not game.round_over:
            if len(game.legal_moves) > 1 and rng.random() < 0.3:
                found.append(game.copy())
            game.push(rng.choice(game.legal_moves))
    return found[:count]


# features


@pytest.mark.parametrize("text", [*ALL_PRESETS, *VARIANTS])
def test_cards_and_counts_of_the_features(text: str) -> None:
    """Every piece that follows from what the mover knows, said once more with sets."""
    for game in positions(text, 12, seed=len(text)):
        rules, seat = game.rules, game.seat
        for index in range(min(len(game.legal_moves), 3)):
            records = after(game.view(seat), index)
            if records["stage"][0] != PLAYING:
                continue
            view = game.view(seat)
            move = view.legal_moves[index]
            found = features_of(rules, records, seat)
            hand = set(view.hand) - {move.card}
            banked = not move.captured and not records["table"][0] & np.uint64(1 << move.card)
            taken = {move.card, *move.captured} if move.captured or banked else set()
            table = (set(view.table) | ({move.card} if not taken else set())) - taken
            own, sides = rules.side_of(seat), rules.sides
            piles = [set(game.piles[(own + k) % sides]) for k in range(sides)]
            piles[0] |= taken
            others = set().union(*piles[2:])
            assert cards_in(piece(found, "hand")) == hand
            assert cards_in(piece(found, "table")) == table
            assert cards_in(piece(found, "unseen")) == set(view.unseen)
            assert [cards_in(pile) for pile in piece(found, "piles")] == [piles[0], piles[1], others]
            for name, cards in (("hand_ranks", hand), ("table_ranks", table), ("unseen_ranks", set(view.unseen))):
                counts = [sum(value_of(card) == value for card in cards) for value in range(1, 11)]
                assert piece(found, name) == [[int(count >= most) for count in counts] for most in range(1, 5)]
            numbers = {"counts": len, "coins": lambda cards: sum(card < 10 for card in cards)}
            for name, count in numbers.items():
                for row, number in zip(piece(found, name), (count(piles[0]), max(map(count, piles[1:]))), strict=True):
                    assert sum(row) == min(number, len(row))
                    assert row == sorted(row, reverse=True)
            assert sum(piece(found, "players")) == piece(found, "players")[rules.players] == 1


@pytest.mark.parametrize("text", [*ALL_PRESETS, *VARIANTS])
def test_what_the_table_offers_is_what_a_holder_could_play(text: str) -> None:
    """The features by value against the legal moves of a game in which the next seat holds that value."""
    for game in positions(text, 6, seed=7 * len(text)):
        rules, seat = game.rules, game.seat
        records = after(game, 0)
        if records["stage"][0] != PLAYING:
            continue
        found = features_of(rules, records, seat)
        names = ("takes", "takes_coin", "takes_two", "takes_three", "sweeps_table")
        said = {name: piece(found, name) for name in names}
        for value in range(1, rules.ranks + 1):
            trial = copy_of(records)
            card = next(make_card(suit, value) for suit in range(rules.suits))
            trial["hands"] = 0
            trial["hidden"] = 0
            trial["hands"][0][int(trial["seat"][0])] = 1 << card
            trial["table"][0] &= ~np.uint64(1 << card)
            if trial["table"][0] != records["table"][0]:
                continue  # the card lies on the table: another suit would do, the rule is the same
            moves = [move for move in Game.from_records(rules, trial).legal_moves if move.captured]
            assert said["takes"][value - 1] == bool(moves)
            assert said["takes_coin"][value - 1] == any(min(move.captured) < 10 for move in moves)
            assert said["takes_two"][value - 1] == any(len(move.captured) >= 2 for move in moves)
            assert said["takes_three"][value - 1] == any(len(move.captured) >= 3 for move in moves)
            if said["sweeps_table"][value - 1]:
                assert any(move.mask == trial["table"][0] for move in moves)


def _captures(rules: Rules, records: np.ndarray[Any, Any], card: int, table: int) -> list[int]:
    """Return the masks that a card takes from a table, as the legal moves of a seat that holds it alone."""
    trial = copy_of(records)
    trial["hands"] = 0
    trial["hidden"] = 0
    trial["hands"][0][int(trial["seat"][0])] = 1 << card
    trial["table"][0] = table
    return [move.mask for move in Game.from_records(rules, trial).legal_moves if move.captured]


def _tables_after(rules: Rules, records: np.ndarray[Any, Any], card: int) -> list[int]:
    """Return what can lie on the table after a card is played, by playing it; laid only if it cannot capture."""
    masks = _captures(rules, records, card, int(records["table"][0])) or [0]
    found = []
    for mask in masks:
        trial = copy_of(records)
        trial["hands"] = 0
        trial["hidden"] = 0
        seat, table = int(trial["seat"][0]), int(trial["table"][0])
        trial["hands"][0][seat] = 1 << card
        spare = next(other for other in rules.deck if other != card and not table >> other & 1)
        trial["hands"][0][(seat + 1) % rules.players] = 1 << spare  # so that the round goes on
        play_undealt(rules.record[0], trial[0], card, np.uint64(mask))
        found.append(int(trial["table"][0]))
    return found


def _is_single_ace(table: int) -> bool:
    return table.bit_count() == 1 and bool(table & _mask_of(range(0, 40, 10)))


def _mask_of(cards: Iterable[int]) -> int:
    return sum(1 << card for card in cards)


@pytest.mark.parametrize("text", [*ALL_PRESETS, *VARIANTS])
def test_what_can_be_taken_now_and_after_one_more_card(text: str) -> None:
    """Reach and answers against the legal moves of seats that hold one card."""
    seen_late = 0
    for game in positions(text, 40, seed=5):
        rules, seat = game.rules, game.seat
        records = after(game, 0)
        late = plays_left(rules.record[0], records[0]) <= LATE
        if records["stage"][0] != PLAYING:
            continue
        found = features_of(rules, records, seat)
        table = int(records["table"][0])
        groups = [cards_in(piece(found, name)) for name in ("hand", "unseen")]
        for name, cards in zip(("hand", "unseen"), groups, strict=True):
            by_value = {value_of(card): _captures(rules, records, card, table) for card in cards}
            taken = [
                {place for mask in masks for place in range(40) if mask >> place & 1} for masks in by_value.values()
            ]
            reached = [sum(card in one for one in taken) for card in range(40)]
            assert piece(found, f"{name}_reach") == [[int(n >= least) for n in reached] for least in (1, 2)]
            beauty = {value for value, masks in by_value.items() if any(mask >> 6 & 1 for mask in masks)}
            assert piece(found, f"{name}_settebello") == [int(value in beauty) for value in range(1, 11)]
        if not late:
            assert not np.any(piece(found, "hand_answers"))
            assert not np.any(piece(found, "unseen_answers"))
            continue
        seen_late += 1
        for name, first, then in (("hand_answers", groups[1], groups[0]), ("unseen_answers", *groups)):
            expected = np.zeros((5, 10), bool)
            for card in first:
                for left in _tables_after(rules, records, card):
                    for answer in then:
                        for mask in _captures(rules, records, answer, left):
                            by_ace = rules.ace == "takes_all" and value_of(answer) == 1 and not _is_single_ace(left)
                            sweeps = mask == left and (rules.ace_scopa or not by_ace)
                            coin, seven = mask & 0x3FF, mask & _mask_of(range(6, 40, 10))
                            kinds = (True, sweeps, coin, seven, mask.bit_count() >= 2)
                            expected[:, value_of(card) - 1] |= np.array(kinds, bool)
            assert piece(found, name) == expected.astype(int).tolist()
    assert seen_late > 0 or Rules.parse(text).players > 4, "more seats hold one card each so late"


@pytest.mark.parametrize(("rule", "taken"), [("place", 1), ("bank", 0)])
def test_an_ace_that_is_banked_leaves_nothing_to_take(rule: str, taken: int) -> None:
    """The mover takes 3c with 3d and keeps an ace; the other seat holds one too: on the table the own ace takes it."""
    hands = "3dAc/Ad2s"
    deck = Rules.preset("asso_piglia_tutto").deck
    rest = [card for card in map(card_text, deck) if card not in "3d Ac Ad 2s 3c"]
    piles = f"{''.join(rest[::2])}/{''.join(rest[1::2])}"
    game = Game.from_text(f"asso_piglia_tutto:ace_on_empty={rule} {hands} 3c - {piles} 0/0 0 0 1")
    move = game.parse("3dx3c")
    found = features_of(game.rules, after(game, game.legal_moves.index(move)), 0)
    for name in ("hand_answers", "unseen_answers"):
        assert piece(found, name)[0][0] == taken
        assert piece(found, name)[1][0] == taken  # a sweep


@pytest.mark.parametrize("text", [*ALL_PRESETS, *VARIANTS])
def test_a_redraw_of_hidden_cards_changes_no_feature(text: str) -> None:
    rng = random.Random(3)
    for game in positions(text, 8, seed=11):
        seat = game.seat
        stripped = game.records.copy()
        batch.strip(game.rules.record, game.records, np.array([seat]), stripped)
        found = set()
        for records in (game.records, stripped, *(_redrawn(game, rng) for _ in range(3))):
            trial = copy_of(records)
            move = game.legal_moves[-1]
            play_undealt(game.rules.record[0], trial[0], move.card, np.uint64(move.mask))
            found.add(features_of(game.rules, trial, seat).tobytes())
        assert len(found) == 1


def _redrawn(game: Game, rng: random.Random) -> np.ndarray[Any, Any]:
    records = game.records.copy()
    records["rng"] = rng.randrange(1 << 60)
    batch.redraw(game.rules.record, records, np.array([game.seat]))
    return records


def test_a_play_without_the_deal_that_follows_it() -> None:
    rng = random.Random(1)
    for text in ("scopa", "scopone", "escoba", "scopa:players=3"):
        game = Game(text, seed=4)
        while not game.round_over:
            move = rng.choice(game.legal_moves)
            records = after(game, game.legal_moves.index(move))
            deals = int(game.records["deals"][0])
            game.push(move)
            if int(game.records["deals"][0]) == deals:
                assert records.tobytes() == game.records.tobytes()
            else:
                assert not records["hands"].any()
                assert int(records["dealt"][0]) < int(game.records["dealt"][0])
                assert int(records["seat"][0]) == game.seat


def test_who_knows_every_card() -> None:
    for text, last in (("scopa", 6), ("escoba", 6), ("scopa:players=3", 0), ("mini_scopa", 0)):
        game = Game(text, seed=2)
        while not game.round_over:
            known = knows_all(game.rules.record[0], game.view(game.seat).records[0], game.seat)
            hidden = [len(hand) for seat, hand in enumerate(game.hands) if seat != game.seat and hand]
            assert known == (
                game.stock_size == 0 and len(hidden) <= 1 and len(game.view(game.seat).unseen) == sum(hidden)
            )
            if last:
                assert known == (game.rules.num_plays - len(game.plays) <= last)
            game.push(game.legal_moves[0])


# arithmetic


@pytest.mark.parametrize("hidden", [(1,), (24, 7), (33, 16, 5)])
@pytest.mark.parametrize("text", ["scopa", "escoba", "scopone_scientifico", "scopa:players=3"])
def test_the_compiled_network_is_the_plain_one(text: str, hidden: tuple[int, ...]) -> None:
    network = random_network(len(text), hidden)
    agent = NetworkAgent(network)
    for game in positions(text, 10):
        view = game.view(game.seat)
        judged = agent.judge(view)
        assert [one.move for one in judged] == view.legal_moves
        for index, one in enumerate(judged):
            records = after(view, index)
            if records["stage"][0] == PLAYING:
                value = plain_value(network, features_of(game.rules, records, view.observer))
                assert one.value == pytest.approx(value, abs=1e-3)
        values = [one.value for one in judged]
        assert agent.act(view) == judged[int(np.argmax(values))].move
        ratios = [one.probability / judged[0].probability for one in judged]
        assert ratios == pytest.approx([np.exp((value - values[0]) / TEMPERATURE) for value in values], rel=1e-6)
        assert sum(one.probability for one in judged) == pytest.approx(1)


def test_the_late_network_says_what_the_last_plays_are_worth() -> None:
    early, late = random_network(1), random_network(2)
    both = NetworkAgent(MoveNetwork(early.layers, late=late.layers))
    seen = set()
    for game in positions("scopa", 60):
        left = game.rules.num_plays - len(game.plays) - 1
        alone = NetworkAgent(late if left <= LATE else early)
        view = game.view(game.seat)
        assert both.judge(view) == alone.judge(view)
        seen.add(left <= LATE)
    assert seen == {True, False}


def test_the_last_play_of_a_round_has_its_exact_value() -> None:
    agent = NetworkAgent(random_network(3))
    seen = 0
    for seed in range(40):
        game = Game("escoba", seed=seed)
        while len(game.plays) + 1 < game.rules.num_plays:
            game.push(game.legal_moves[0])
        for one in agent.judge(game.view(game.seat)):
            trial = game.copy()
            trial.push(one.move)
            points = trial.outcome().points
            own = game.rules.side_of(game.seat)
            assert one.value == points[own] - points[1 - own]
            seen += 1
    assert seen > 40


def test_single_and_batched_decisions_agree() -> None:
    agent = NetworkAgent(random_network(5))
    for text in ("scopa", "escoba", "scopone"):
        games = positions(text, 30)
        views = np.concatenate([game.view(game.seat).records for game in games])
        actions = agent.act_batch(games[0].rules, views).tolist()
        for game, action in zip(games, actions, strict=True):
            assert action == agent.act(game.view(game.seat)).card


# files


def test_a_network_survives_its_file(tmp_path: Path) -> None:
    network = random_network(1, rules=("scopa", "escoba:players=3"))
    file = tmp_path / "network.safetensors"
    network.save(file)
    loaded = MoveNetwork.load(file)
    assert loaded.rules == network.rules
    assert loaded.notes["note"] == "random"
    for mine, theirs in zip(network.layers, loaded.layers, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))
    assert loaded.late is None
    both = MoveNetwork(network.layers, network.rules, late=random_network(2, (5,)).layers)
    both.save(file)
    found = MoveNetwork.load(file).late
    assert found is not None
    assert np.array_equal(found[0][0], random_network(2, (5,)).layers[0][0])
    network.save(file, half=True)
    halved = load_model(str(file))
    assert isinstance(halved, MoveNetwork)
    for mine, theirs in zip(network.layers, halved.layers, strict=True):
        assert theirs[0].dtype == np.float32
        assert np.allclose(mine[0], theirs[0], atol=2e-3, rtol=1e-3)


def test_files_that_are_no_networks(tmp_path: Path) -> None:
    good = tmp_path / "good.safetensors"
    network = random_network(1, rules=("scopa",))
    network.save(good)
    whole = good.read_bytes()
    narrow = tmp_path / "narrow.safetensors"
    MoveNetwork([(network.layers[0][0][:, 1:], network.layers[0][1]), *network.layers[1:]], network.rules).save(narrow)
    wild = tmp_path / "wild.safetensors"
    weight = network.layers[0][0].copy()
    weight[0, 0] = np.nan
    MoveNetwork([(weight, network.layers[0][1]), *network.layers[1:]], network.rules).save(wild)
    broken = {
        "other format": whole.replace(b"scopa-env moves 1", b"scopa-env moves 9"),
        "other features": whole.replace(b'"features":"moves 2"', b'"features":"moves 0"'),
        "other rules": whole.replace(b'"rules":"scopa"', b'"rules":"skopa"'),
        "missing tensor": whole.replace(b"layers.1.weight", b"layers.1.weighs"),
        "truncated": whole[:-8],
        "narrow": narrow.read_bytes(),
        "wild": wild.read_bytes(),
    }
    for name, content in broken.items():
        assert content != whole, name
        file = tmp_path / f"{name}.safetensors"
        file.write_bytes(content)
        for ending in ("", "+pimc:10", "+ismcts:10"):
            with pytest.raises(ModelError, match=f"model '{file}'"):
                make_agent(f"learned:{file}{ending}")


def test_names_of_networks_in_search(tmp_path: Path) -> None:
    file = tmp_path / "a+b.safetensors"
    random_network(1, rules=("scopa",)).save(file)
    for ending, name in (
        ("", ""),
        ("+pimc", "+pimc:100"),
        ("+pimc:7,horizon=1,solve=0", "+pimc:7,solve=0,horizon=1"),
        ("+ismcts:20ms,temperature=0.5", "+ismcts:20ms,temperature=0.5"),
    ):
        agent = make_agent(f"learned:{file}{ending}")
        assert agent.name == f"learned:{file}{name}"
        assert make_agent(agent.name).name == agent.name
    for ending, message in (
        ("+pimc:0", "'0': allowed are"),
        ("+pimc:5,horizon=-1", "horizon='-1': allowed are whole numbers 0 .. 40"),
        ("+ismcts:5,rollout=greedy", "'rollout': allowed are"),
        ("+mcts:5", "there is no such file"),
    ):
        with pytest.raises(AgentError, match=message):
            make_agent(f"learned:{file}{ending}")
    with pytest.warns(UserWarning, match="was trained on scopa and plays escoba"):
        make_agent(f"learned:{file}", 0, Rules.parse("escoba"))


# search


SEARCHES = (
    "+pimc:6",
    "+pimc:6,horizon=0,solve=0",
    "+pimc:6,others=greedy",
    "+pimc:6,inference=network,pool=32",
    "+ismcts:30",
    "+ismcts:30,threads=2",
    "+ismcts:30,inference=network,noise=0.1,threads=2",
)


@pytest.mark.parametrize("ending", SEARCHES)
def test_search_with_a_network_is_legal_reproducible_and_copies(ending: str, tmp_path: Path) -> None:
    file = tmp_path / "network.safetensors"
    random_network(1, rules=("scopa",)).save(file)
    for text in ("scopa", "escoba_site", "bga_scopa_4p", "scopa:players=3"):
        for game in positions(text, 3):
            view = game.view(game.seat)
            first = make_agent(f"learned:{file}{ending}", 5)
            move = first.act(view)
            assert game.is_legal(move)
            assert sum(one.visits for one in first.searched) > 0  # type: ignore[attr-defined]
            assert [one.move for one in first.searched] == view.legal_moves  # type: ignore[attr-defined]
            again = make_agent(f"learned:{file}{ending}", 5)
            for other in (copy.deepcopy(again), pickle.loads(pickle.dumps(again)), again):
                assert other.act(view) == move


@pytest.mark.parametrize("ending", ["+pimc:8", "+pimc:8,inference=network,pool=32", "+ismcts:60"])
def test_search_does_not_depend_on_hidden_cards(ending: str, tmp_path: Path) -> None:
    file = tmp_path / "network.safetensors"
    random_network(2, rules=("scopa",)).save(file)
    rng = random.Random(1)
    for game in positions("scopa", 6):
        moves = set()
        for records in (game.records, _redrawn(game, rng), _redrawn(game, rng)):
            other = Game.from_records(game.rules, records)
            moves.add(make_agent(f"learned:{file}{ending}", 3).act(other.view(game.seat)))
        assert len(moves) == 1


def test_search_with_a_network_plays_the_last_deal_exactly(tmp_path: Path) -> None:
    file = tmp_path / "network.safetensors"
    random_network(4, rules=("scopa",)).save(file)
    solver = Solver()
    agent = make_agent(f"learned:{file}+pimc:2", 1)
    for seed in range(12):
        game = Game("scopa", seed=seed)
        while game.rules.num_plays - len(game.plays) > 6:
            game.push(game.legal_moves[seed % len(game.legal_moves)])
        values = solver.solve(game).moves
        assert values[agent.act(game.view(game.seat))] == max(values.values())


def test_against_a_policy_the_last_plays_are_not_those_of_perfect_players(tmp_path: Path) -> None:
    file = tmp_path / "network.safetensors"
    random_network(4, rules=("scopa",)).save(file)
    for seed in range(4):
        game = Game("scopa", seed=seed)
        while game.rules.num_plays - len(game.plays) > 6:
            game.push(game.legal_moves[seed % len(game.legal_moves)])
        found = []
        for solve in (6, 0):
            agent = make_agent(f"learned:{file}+pimc:20,horizon=0,others=greedy,solve={solve}", 1)
            agent.act(game.view(game.seat))
            found.append(agent.searched)  # type: ignore[attr-defined]
        assert found[0] == found[1]


def test_a_network_that_knows_nothing_loses_to_the_same_in_search(tmp_path: Path) -> None:
    file = tmp_path / "network.safetensors"
    MoveNetwork(MoveNetwork.zeros((4,)).layers, (Rules.parse("scopa"),)).save(file)
    assert duel(f"learned:{file}+pimc:30,horizon=0", f"learned:{file}", "scopa", 40, seed=1).low > 0


# shipped networks


def test_shipped_networks_are_small_and_have_cards() -> None:
    assert {"scopa", "escoba", "scopone_scientifico", "generalist"} <= set(shipped_models())
    for name, path in shipped_models().items():
        network, card = load_model(name), json.loads(path.with_suffix(".json").read_text("utf-8"))
        assert isinstance(network, MoveNetwork)
        assert path.stat().st_size <= 4_000_000
        assert [str(rules) for rules in network.rules] == [str(Rules.parse(text)) for text in card["rules"]]
        assert card["features"] == FEATURES
        assert card["command"].startswith("scopa train exit ")
        assert "/tmp" not in card["command"]
        assert len(card["commit"]) == 40
        assert {row["against"] for row in card["arena"]} >= {"greedy", "expert"}
        for rules in network.rules:
            agent = make_agent(f"learned:{name}", 1, rules)  # a warning would be an error
            assert duel(agent, "random", rules, 10, seed=1).margin > 0


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of shipped networks, empty."""
    monkeypatch.setattr(learned, "_FOLDER", tmp_path)
    return tmp_path


def test_learned_alone_plays_by_the_network_for_the_rules(shelf: Path) -> None:
    with pytest.raises(ModelError, match="no network for scopa; shipped are none"):
        make_agent("learned", 1, Rules.preset("scopa"))
    random_network(1, rules=("scopa",)).save(shelf / "scopa.safetensors")
    with pytest.raises(ModelError, match="no network for escoba; shipped are scopa"):
        make_agent("learned", 1, Rules.preset("escoba"))
    random_network(2, rules=("scopa", "escoba", "scopone")).save(shelf / "generalist.safetensors")
    agent = make_agent("learned", 1, Rules.preset("scopa"))
    assert agent.name == "learned"
    for text, name in (("scopa", "scopa"), ("escoba", "generalist"), ("scopone", "generalist")):
        named = make_agent(f"learned:{name}")
        for game in positions(text, 5):
            view = game.view(game.seat)
            assert agent.act(view) == named.act(view)
            assert agent.judge(view) == named.judge(view)  # type: ignore[attr-defined]
    with pytest.warns(UserWarning, match="'learned' was trained on scopa, escoba, scopone and plays german"):
        make_agent("learned", 1, Rules.preset("german"))
    pickle.loads(pickle.dumps(agent)).act(view)
    with pytest.raises(ModelError, match=r"give a network, learned:NAME\+pimc; shipped are generalist, scopa"):
        make_agent("learned:+pimc:10")
