"""The PettingZoo and Gymnasium environments: their contracts, rewards, options and bad input."""

from __future__ import annotations

import copy
import pickle
import random
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

import scopa_env
from helpers import ALL_PRESETS, VARIANTS
from scopa_env import Game, IllegalAction, Move, ScopaEnv, View, raw_env
from scopa_env.record import GameRecord

SHORT = "scopa:target=3"
TEAMS = "bga_scopa_4p"
SIX = "scopa:players=6,teams=true"
THREE = "bga_scopa:players=3"
RULES = ["scopa", "escoba_site", "scopone", THREE, SIX, "mini_scopa", "scopa:players=6"]

# What PettingZoo's api_test says of every environment with dict observations and action masks.
API_TEST_REMARKS = (
    "Observation space for each agent probably should be gymnasium.spaces.box",  # a Dict, as all classic games have
    "Observation is not a NumPy array",  # the same
    "Action mask numpy array is all zeros",  # the agents' last observation, when nothing is left to do
)


@pytest.fixture
def expected_remarks() -> Iterator[None]:
    with warnings.catch_warnings():
        for remark in API_TEST_REMARKS:
            warnings.filterwarnings("ignore", message=re.escape(remark))
        yield


def random_action(mask: np.ndarray, rng: random.Random) -> int:
    return rng.choice(np.flatnonzero(mask).tolist())


def paid_so_far(env: raw_env) -> list[int]:
    """What ``reward="decided"`` has paid this round, by side."""
    paid: list[int] = env._episode.runs["paid"][0].tolist()[: env.rules.sides]
    return paid


def play_aec(env: raw_env, rng: random.Random) -> dict[str, float]:
    """Play an episode through `last`; return what each agent collected."""
    collected = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        collected[agent] += reward
        done = terminated or truncated
        env.step(None if done else random_action(observation["action_mask"], rng))
    return collected


# the suites of the libraries


@pytest.mark.usefixtures("expected_remarks")
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("reward", ["points", "win", "decided"])
def test_pettingzoo_api(rules: str, reward: str) -> None:
    api_test(scopa_env.env(rules, reward=reward), num_cycles=60)


@pytest.mark.usefixtures("expected_remarks")
def test_pettingzoo_api_of_matches_with_history() -> None:
    api_test(scopa_env.env(SHORT, episode="match", history=True), num_cycles=300)


@pytest.mark.parametrize("rules", ["scopa", "escoba", TEAMS])
def test_pettingzoo_seed(rules: str) -> None:
    seed_test(lambda: scopa_env.env(rules, episode="match"), num_cycles=100)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"opponent": "greedy", "reward": "decided"},
        {"episode": "match", "reward": "win", "rules": SHORT},
        {"history": True},
        {"rules": TEAMS, "partner": "greedy"},
    ],
)
def test_gymnasium_checker(arguments: dict[str, Any]) -> None:
    env = gymnasium.make("scopa_env:Scopa-v0", illegal="forfeit", **arguments)
    check_env(env.unwrapped)


def test_the_registered_ids() -> None:
    for name, rules in scopa_env.ENV_IDS.items():
        env = gymnasium.make(f"scopa_env:{name}", opponent="random")
        assert env.unwrapped.rules == scopa_env.Rules.parse(rules)  # type: ignore[attr-defined]
        env.reset(seed=1)
        assert env.action_space == gymnasium.spaces.Discrete(81)
        if hasattr(pettingzoo, "make"):
            assert isinstance(pettingzoo.make("aec", name), raw_env)


# rewards


@pytest.mark.parametrize("rules", [*ALL_PRESETS, *VARIANTS])
@pytest.mark.parametrize("reward", ["points", "decided"])
def test_every_agent_collects_the_result_of_its_side(rules: str, reward: str) -> None:
    rng = random.Random(f"{rules} {reward}")
    env = scopa_env.env(rules, reward=reward)
    sides = env.rules.sides
    for seed in range(4):
        env.reset(seed=seed)
        collected = play_aec_keeping_game(env, rng)
        points = env.game().outcome().points  # type: ignore[union-attr]
        for seat, agent in enumerate(env.possible_agents):
            side = seat % sides
            others = [points[other] for other in range(sides) if other != side]
            assert collected[agent] == pytest.approx(points[side] - sum(others) / len(others))
        assert sum(collected.values()) == pytest.approx(0)


def play_aec_keeping_game(env: raw_env, rng: random.Random) -> dict[str, float]:
    collected = play_aec(env, rng)
    assert env.agents == []
    return collected


@pytest.mark.parametrize("rules", ["scopa", THREE, TEAMS])
def test_win_rewards(rules: str) -> None:
    rng = random.Random(rules)
    env = scopa_env.env(rules, reward="win")
    sides = env.rules.sides
    for seed in range(30):
        env.reset(seed=seed)
        collected = play_aec(env, rng)
        winner = env.game().outcome().round_winner  # type: ignore[union-attr]
        for seat, agent in enumerate(env.possible_agents):
            expected = 0.0 if winner is None else 1.0 if seat % sides == winner else -1 / (sides - 1)
            assert collected[agent] == pytest.approx(expected)


@pytest.mark.parametrize("reward", ["points", "win", "decided"])
@pytest.mark.parametrize("rules", [SHORT, "german_best_of_3:target=2", "scopa:target=2,target_tie=draw", THREE])
def test_match_rewards(rules: str, reward: str) -> None:
    """Points of all rounds, or the winner of the match."""
    rng = random.Random(rules)
    env = scopa_env.env(rules, reward=reward, episode="match")
    for seed in range(4):
        env.reset(seed=seed)
        collected = dict.fromkeys(env.possible_agents, 0.0)
        expected = [0.0] * env.rules.sides
        for agent in env.agent_iter():
            observation, paid, terminated, _, _ = env.last()
            collected[agent] += paid
            if terminated:
                env.step(None)
                continue
            game = env.game()
            action = random_action(observation["action_mask"], rng)
            game.act(action)
            env.step(action)
            if game.round_over:
                outcome = game.outcome()
                assert outcome is not None
                expected = [have + points for have, points in zip(expected, outcome.points, strict=True)]
                assert outcome.match_over == all(env.terminations.values())
        sides = len(expected)
        if reward == "win":
            winner = env.game().outcome().match_winner  # type: ignore[union-attr]
            results = [0.0 if winner is None else 1.0 if s == winner else -1 / (sides - 1) for s in range(sides)]
        else:
            results = [own - (sum(expected) - own) / (sides - 1) for own in expected]
        assert [collected[agent] for agent in env.possible_agents[:sides]] == pytest.approx(results)


@pytest.mark.parametrize("rules", ["scopa", "escoba", "scopone_scientifico", THREE])
def test_decided_points_never_fall(rules: str) -> None:
    """Each step pays what became certain: the sides' sums only rise, and the others' only by that."""
    rng = random.Random(rules)
    env = scopa_env.env(rules, reward="decided")
    early = 0
    for seed in range(5):
        env.reset(seed=seed)
        steps, paid = [], [0.0] * env.rules.sides
        while not any(env.terminations.values()):
            env.step(random_action(env.action_mask(env.agent_selection), rng))
            steps.append(max(env.rewards.values()))
            assert paid_so_far(env) == sorted_up(paid, paid_so_far(env))
            paid = paid_so_far(env)
        early += sum(reward > 0 for reward in steps[:-1])
    assert early > 0


def sorted_up(before: list[float], now: list[float]) -> list[float]:
    """The larger of two numbers for each side."""
    return [max(pair) for pair in zip(before, now, strict=True)]


@pytest.mark.parametrize("rules", ["scopa", TEAMS, THREE, SIX])
@pytest.mark.parametrize("reward", ["points", "win", "decided"])
def test_the_gymnasium_learner_collects_the_result_of_its_side(rules: str, reward: str) -> None:
    rng = random.Random(rules)
    env = ScopaEnv(rules, opponent="greedy", reward=reward)
    for seed in range(8):
        _, info = env.reset(seed=seed)
        total, terminated = 0.0, False
        while not terminated:
            _, paid, terminated, truncated, info = env.step(random_action(info["action_mask"], rng))
            assert not truncated
            total += paid
        outcome = env.game().outcome()
        assert outcome is not None
        side, sides = info["seat"] % env.rules.sides, env.rules.sides
        if reward == "win":
            winner = outcome.round_winner
            expected = 0.0 if winner is None else 1.0 if winner == side else -1 / (sides - 1)
        else:
            expected = outcome.points[side] - (sum(outcome.points) - outcome.points[side]) / (sides - 1)
        assert total == pytest.approx(expected)


# seeds, options, states


def transcript(env: raw_env, seed: int | None, steps: int = 60) -> list[Any]:
    """What an environment says while the first legal action is played, over several episodes."""
    said: list[Any] = []
    env.reset(seed=seed)
    for _ in range(steps):
        if not env.agents:
            env.reset()
        observation, reward, terminated, _, _ = env.last()
        said.append((env.agent_selection, observation["observation"].tobytes(), reward, terminated))
        env.step(None if terminated else int(np.flatnonzero(observation["action_mask"])[0]))
    return said


def test_a_seed_fixes_everything_that_follows() -> None:
    env = scopa_env.env("scopa")
    first = transcript(env, 5)
    assert transcript(env, 5) == first
    assert transcript(scopa_env.env("scopa"), 5) == first
    assert transcript(env, 6) != first
    assert transcript(scopa_env.env("scopa"), None) != transcript(scopa_env.env("scopa"), None)


def test_the_deal_rotates_from_round_to_round() -> None:
    env = scopa_env.env(THREE)
    env.reset(seed=2)
    dealers = [env.game().dealer]
    for _ in range(5):
        env.reset()
        dealers.append(env.game().dealer)
    assert dealers == [(dealers[0] + k) % 3 for k in range(6)]
    first = set()
    for seed in range(30):
        env.reset(seed=seed)
        first.add(env.game().dealer)
    assert first == {0, 1, 2}


@pytest.mark.nojit
def test_a_given_deck_is_the_first_round() -> None:
    deck = Game("scopa", seed=9).deck
    assert deck is not None
    env = scopa_env.env("scopa", episode="match")
    for given in (deck, [card_text(card) for card in deck], " ".join(map(card_text, deck))):
        env.reset(seed=1, options={"deck": given, "dealer": 0, "options": 1})
        assert env.game().deck == deck
        assert env.game().dealer == 0
        assert env.agent_selection == "player_1"
    rng = random.Random(1)
    later = []
    for _ in range(2):
        env.reset(seed=1, options={"deck": deck, "dealer": 0})
        while env.game().records["rounds"][0] == 0:
            env.step(random_action(env.action_mask(env.agent_selection), rng))
        later.append(env.game().deck)
        assert env.game().dealer == 1
    assert later[0] == later[1] != deck


def card_text(card: int) -> str:
    from scopa_env.cards import card_text as text

    return text(card)


@pytest.mark.nojit
def test_a_given_position() -> None:
    env = scopa_env.env("scopa")
    text = "scopa ?2/4d7c2b CdAc7s ?30 FdAs/- 0/0 1 0 1".replace("FdAs", "FdFb")
    env.reset(seed=4, options={"position": text})
    assert env.agent_selection == "player_1"
    game = env.game()
    assert game.hands[1] == (3, 16, 31)
    assert len(game.hands[0]) == 2
    again = scopa_env.env("scopa")
    again.reset(seed=4, options={"position": text})
    assert again.game().hands == game.hands
    env.reset(seed=5, options={"position": game.text()})
    assert env.game().text() == game.text()


BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"deck": "7d"}, "deck: missing 39: "),
    ({"deck": [6] * 40}, "named more than once"),
    ({"deck": ["xx"] * 40}, "card 'xx'"),
    ({"deck": [99] * 40}, "card 99"),
    ({"deck": 7}, "deck"),
    ({"Deck": "7d"}, "options: 'Deck': did you mean 'deck'?"),
    ({"postion": "scopa"}, "options: 'postion': did you mean 'position'?"),
    ({"dealer": 2}, "dealer=2: allowed are seats 0 .. 1"),
    ({"dealer": "0"}, "dealer='0'"),
    ({"dealer": True}, "dealer=True"),
    ({"position": "scopa"}, "1 fields"),
    ({"position": 5}, "position 5"),
    ({"position": "escoba ?3/4d7c2b CdAc7s3b ?30 -/- 0/0 1 - 0"}, "its rules are escoba"),
    ({"position": "scopa ?3/4d7c2b CdAc7s3b ?29 -/- 0/0 1 - 0"}, "the stock holds 29"),
    ({"position": "scopa ?3/4d7c2b CdAc7s3b Ad?29 -/- 0/0 1 - 0"}, "partly known"),
    ({"position": "scopa ?3/4d7c2b CdAc7s3b ?30 -/- 0/0 1 - 0", "dealer": 1}, "together with"),
]


@pytest.mark.nojit
@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_bad_options_change_nothing(options: dict[str, Any], message: str) -> None:
    env = scopa_env.env("scopa")
    env.reset(seed=1)
    before, agent = env.game().text(), env.agent_selection
    single = ScopaEnv("scopa")
    single.reset(seed=1)
    seen = single.game().text()
    with pytest.raises(ValueError, match=re.escape(message)):
        env.reset(seed=2, options=options)
    with pytest.raises(ValueError, match=re.escape(message)):
        single.reset(seed=2, options=options)
    assert (env.game().text(), env.agent_selection) == (before, agent)
    assert single.game().text() == seen
    env.step(random_action(env.action_mask(agent), random.Random(0)))


def test_options_that_are_not_ours_are_ignored() -> None:
    env = scopa_env.env("scopa")
    env.reset(seed=1, options={"options": 1, "difficulty": "hard", 3: 4})
    assert env.agents


@pytest.mark.parametrize("face", ["aec", "single"])
def test_a_match_played_in_an_environment_can_be_recorded(face: str) -> None:
    rng = random.Random(1)
    env: Any = (
        scopa_env.env("scopa:target=9", episode="match")
        if face == "aec"
        else ScopaEnv("scopa:target=9", "greedy", episode="match")
    )
    env.reset(seed=5)
    rounds = 0
    while env.game().outcome() is None or not env.game().match_over:
        mask = env.action_mask(env.agent_selection) if face == "aec" else env.action_masks()
        env.step(random_action(mask, rng))
        rounds = max(rounds, len(env.game().past) + 1)
    game = env.game()
    assert rounds >= 2
    record = GameRecord.from_game(game)
    assert len(record.rounds) == rounds
    assert record.replay().totals == game.totals
    env.reset(seed=6)
    assert env.game().past == []


@pytest.mark.parametrize("face", ["aec", "single"])
def test_infos_say_who_forfeited(face: str) -> None:
    if face == "aec":
        env = scopa_env.env(SHORT, illegal="forfeit")
        env.reset(seed=1)
        offender = env.agent_selection
        assert "forfeited_by" not in env.infos[offender]
        env.step(80)
        assert {info["forfeited_by"] for info in env.infos.values()} == {offender}
        env.reset(seed=1)
        assert all("forfeited_by" not in info for info in env.infos.values())
        return
    single = ScopaEnv(SHORT, illegal="forfeit")
    _, info = single.reset(seed=1)
    assert "forfeited_by" not in info
    assert single.step(80)[4]["forfeited_by"] == info["seat"]


def test_a_deck_that_the_rules_void_is_refused() -> None:
    kings = [9, 19, 29, 0]
    others = [card for card in range(40) if card not in kings]
    deck = [*others[:6], *kings, *others[6:]]
    env = scopa_env.env("scopa")
    with pytest.raises(scopa_env.VoidDeal, match="void"):
        env.reset(options={"deck": deck})
    allowed = scopa_env.env("stargames_scopa")
    allowed.reset(options={"deck": deck, "dealer": 1})
    assert allowed.game().table == (0, 9, 19, 29)


def make_copies(env: Any) -> list[Any]:
    copies = [pickle.loads(pickle.dumps(env)), copy.deepcopy(env)]
    return copies


def test_aec_copies_at_every_ply_go_on_alike() -> None:
    for arguments in ({"rules": SHORT, "episode": "match"}, {"rules": TEAMS, "reward": "decided", "history": True}):
        env = scopa_env.env(**arguments)
        env.reset(seed=3)
        rng = random.Random(3)
        plies = 0
        while env.agents and plies < 60:
            state = env.get_state()
            others = [*make_copies(env), scopa_env.env(**arguments)]
            others[-1].set_state(pickle.loads(pickle.dumps(state)))
            seed = rng.random()
            said = rest_of(env, seed)
            for other in others:
                assert rest_of(other, seed) == said
            env.set_state(state)
            env.step(
                None
                if env.terminations[env.agent_selection]
                else random_action(env.action_mask(env.agent_selection), rng)
            )
            plies += 1


def rest_of(env: raw_env, seed: float, steps: int = 8) -> list[Any]:
    """Play on and say what happens."""
    rng = random.Random(seed)
    said: list[Any] = []
    for _ in range(steps):
        if not env.agents:
            env.reset()
        observation, reward, terminated, _, info = env.last()
        said.append((env.agent_selection, *(part.tobytes() for part in observation.values()), reward, terminated))
        said.append(info["action_mask"].tobytes())
        env.step(None if terminated else random_action(observation["action_mask"], rng))
    return said


def test_gymnasium_copies_go_on_alike() -> None:
    env = ScopaEnv(TEAMS, opponent=["greedy", "random"], partner="random")
    _, info = env.reset(seed=3)
    rng = random.Random(3)
    for _ in range(12):
        others = make_copies(env)
        blank = ScopaEnv(TEAMS, opponent=["greedy", "random"], partner="random")
        blank.reset(seed=77)
        blank.set_state(env.get_state())
        seed = rng.random()
        said = single_rest(copy.deepcopy(env), seed)
        for other in [*others, blank]:
            assert single_rest(other, seed) == said
        _, _, terminated, _, info = env.step(random_action(info["action_mask"], rng))
        if terminated:
            _, info = env.reset()


def single_rest(env: ScopaEnv, seed: float) -> list[Any]:
    rng = random.Random(seed)
    said: list[Any] = []
    for _ in range(25):
        observation, reward, terminated, _, info = env.step(random_action(env.action_masks(), rng))
        said.append((observation.tobytes(), reward, terminated, info["seat"], info["action_mask"].tobytes()))
        if terminated:
            said.append(env.reset()[0].tobytes())
    return said


# masks and observations


@pytest.mark.parametrize("rules", ["scopa", "escoba", TEAMS])
def test_masks_are_the_legal_actions_and_zero_for_idle_seats(rules: str) -> None:
    rng = random.Random(rules)
    env = scopa_env.env(rules)
    env.reset(seed=1)
    while not any(env.terminations.values()):
        for agent in env.agents:
            seen = env.observe(agent)
            assert list(seen) == ["observation", "action_mask"]
            assert np.array_equal(seen["action_mask"], env.infos[agent]["action_mask"])
            assert np.array_equal(seen["action_mask"], env.action_mask(agent))
            assert seen["action_mask"].any() == (agent == env.agent_selection)
            assert env.observation_space(agent).contains(seen)
        view = env.view(env.agent_selection)
        assert np.array_equal(env.action_mask(env.agent_selection), view.action_mask())
        env.step(random_action(env.action_mask(env.agent_selection), rng))
    assert not any(env.action_mask(agent).any() for agent in env.agents)


def test_every_array_is_the_callers_own() -> None:
    """Scribbling over everything that was handed out changes nothing."""
    clean, dirty = (scopa_env.env("scopa", history=True) for _ in range(2))
    clean.reset(seed=1)
    dirty.reset(seed=1)
    rng = random.Random(1)
    for _ in range(100):
        if not clean.agents:
            break
        fine, rude = clean.last(), dirty.last()
        for part in fine[0]:
            assert np.array_equal(fine[0][part], rude[0][part])
        done = fine[2]
        action = None if done else random_action(fine[0]["action_mask"], rng)
        for array in rude[0].values():
            array[:] = 1
        dirty.state()[:] = 1
        clean.step(action)
        dirty.step(action)
    one, two = ScopaEnv("scopa", opponent="greedy"), ScopaEnv("scopa", opponent="greedy")
    (seen, info), (seen_two, info_two) = one.reset(seed=1), two.reset(seed=1)
    for _ in range(100):
        assert np.array_equal(seen, seen_two)
        action = random_action(info["action_mask"], rng)
        seen_two[:] = 1
        info_two["action_mask"][:] = 1
        two.action_masks()[:] = True
        seen, _, terminated, _, info = one.step(action)
        seen_two, _, _, _, info_two = two.step(action)
        if terminated:
            (seen, info), (seen_two, info_two) = one.reset(), two.reset()


# bad input


@pytest.mark.nojit
@pytest.mark.parametrize(
    "action", [-1, 81, 80, 40, 10**20, 3.5, "7d", None, True, np.float32(3), [3], np.array([3, 4])]
)
def test_an_illegal_action_is_refused_and_changes_nothing(action: Any) -> None:
    env, single = scopa_env.env("scopa"), ScopaEnv("scopa", opponent="greedy")
    env.reset(seed=1)
    single.reset(seed=1)
    before, seen = env.game().text(), single.game().text()
    for target in (env, single):
        with pytest.raises(IllegalAction):
            target.step(action)
    assert (env.game().text(), single.game().text()) == (before, seen)


@pytest.mark.parametrize("kind", [int, np.int8, np.int32, np.int64, np.uint8, np.array])
def test_every_whole_number_is_an_action(kind: Callable[[int], Any]) -> None:
    env = scopa_env.env("scopa")
    env.reset(seed=1)
    env.step(kind(int(np.flatnonzero(env.action_mask(env.agent_selection))[0])))
    assert len(env.game().plays) + (env.game().card is not None) == 1


@pytest.mark.parametrize("reward", ["points", "win", "decided"])
@pytest.mark.parametrize("rules", ["scopa", THREE, TEAMS])
def test_a_forfeit_ends_the_episode_at_the_offenders_cost(rules: str, reward: str) -> None:
    rng = random.Random(1)
    env = scopa_env.env(rules, reward=reward, illegal="forfeit", forfeit_margin=1)
    sides = env.rules.sides
    for steps in (0, 5, 25):
        env.reset(seed=1)
        collected = dict.fromkeys(env.possible_agents, 0.0)
        for _ in range(steps):
            env.step(random_action(env.action_mask(env.agent_selection), rng))
            for agent, paid in env.rewards.items():
                collected[agent] += paid
        offender = env.possible_agents.index(env.agent_selection) % sides
        env.step(80)
        assert all(env.terminations.values())
        for seat, agent in enumerate(env.possible_agents):
            collected[agent] += env.rewards[agent]
            expected = -1 if seat % sides == offender else 1 / (sides - 1)
            assert collected[agent] == pytest.approx(expected)


BAD_ARGUMENTS: list[tuple[dict[str, Any], str]] = [
    ({"rules": "skopa"}, "did you mean 'scopa'"),
    ({"rules": 5}, "rules 5"),
    ({"rules": {"preset": "scopa", "players": 5}}, "players=5: allowed are 2, 3, 4, 6"),
    ({"reward": "score"}, "reward='score': allowed are 'points', 'win', 'decided'"),
    ({"episode": "game"}, "episode='game'"),
    ({"illegal": "ignore"}, "illegal='ignore'"),
    ({"forfeit_margin": 0}, "forfeit_margin=0"),
    ({"forfeit_margin": 1e9}, "forfeit_margin"),
    ({"forfeit_margin": "1"}, "forfeit_margin='1'"),
    ({"reward": "win", "forfeit_margin": 2}, "at most 1"),
    ({"render_mode": "human"}, "render_mode='human'"),
]


@pytest.mark.nojit
@pytest.mark.parametrize(("arguments", "message"), BAD_ARGUMENTS)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    for make in (scopa_env.env, ScopaEnv):
        with pytest.raises(ValueError, match=re.escape(message)):
            make(**arguments)


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"opponent": "gredy"}, "did you mean 'greedy'"),
        ({"opponent": "no.such:thing"}, "No module named"),
        ({"opponent": "scopa_agents.greedy:Nothing"}, "Nothing"),
        ({"opponent": "greedy:5"}, "it has none"),
        ({"opponent": []}, "opponent=[]"),
        ({"opponent": 5}, "agent 5"),
        ({"opponent": View}, "hand in an agent"),
        ({"seat": 2}, "seat=2: allowed are seats 0 .. 1"),
    ],
)
def test_bad_opponents(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        ScopaEnv("scopa", **arguments)


@pytest.mark.parametrize("seed", [-1, 2.5, "1", True])
def test_a_bad_seed_changes_nothing(seed: Any) -> None:
    for env in (scopa_env.env("scopa"), ScopaEnv("scopa")):
        env.reset(seed=1)
        before = env.game().text()
        with pytest.raises(ValueError, match="seed="):
            env.reset(seed=seed)
        assert env.game().text() == before
        env.reset(seed=np.int64(3))
        again = env.game().text()
        env.reset(seed=3)
        assert env.game().text() == again


def test_nothing_is_shown_before_the_first_reset() -> None:
    env, single = scopa_env.env("scopa", render_mode="ansi"), ScopaEnv("scopa", render_mode="ansi")
    calls = [env.game, env.state, env.last, env.render, env.get_state, lambda: env.observe("player_0")]
    calls += [lambda: env.view("player_0"), lambda: env.action_mask("player_0")]
    calls += [single.game, single.view, single.render, single.get_state, single.action_masks]
    for call in calls:
        with pytest.raises(RuntimeError, match="reset"):
            call()


def test_a_state_of_other_rules_is_refused() -> None:
    for make in (scopa_env.env, ScopaEnv):
        env, other = make("scopa"), make("escoba")
        env.reset(seed=1)
        other.reset(seed=1)
        with pytest.raises(ValueError, match=r"it belongs to (PettingZoo|ScopaEnv) scopa, episode='round'"):
            other.set_state(env.get_state())


def test_a_state_of_another_kind_or_other_settings_is_refused() -> None:
    from scopa_env.vector import BatchedScopa, ScopaVectorEnv

    def made(kind: Any) -> Any:
        env = kind(rules="scopa")
        env.reset(seed=1)
        return env

    envs = [
        made(scopa_env.env),
        made(ScopaEnv),
        made(lambda rules: ScopaVectorEnv(2, rules)),
        BatchedScopa(2, "scopa", seed=1),
        made(lambda rules: scopa_env.env(rules, reward="decided")),
        made(lambda rules: scopa_env.env(rules, episode="match")),
    ]
    for env in envs:
        env.set_state(env.get_state())
        for other in envs:
            if other is not env:
                with pytest.raises(ValueError, match="state: it "):
                    env.set_state(other.get_state())
        for nonsense in (None, {}, [], "state", {"of": 1}):
            with pytest.raises(ValueError, match="state: "):
                env.set_state(nonsense)


def test_the_state_space_and_names_of_agents() -> None:
    env = scopa_env.env("scopone")
    env.reset(seed=1)
    assert env.state_space.contains(env.state())
    for call in (env.observe, env.view, env.action_mask):
        with pytest.raises(KeyError, match="agent 'bob': allowed are player_0"):
            call("bob")


@pytest.mark.parametrize(
    "answer",
    [None, 7, "7d", (50,), (50, ()), (0, (70,)), (0, (-1,)), (0, None), (0.5, ()), (0, (1, 1)), Move(0, (1.5,))],
)
def test_answers_of_agents_that_are_no_moves(answer: Any) -> None:
    from scopa_agents.arena import duel

    env = ScopaEnv("scopa", opponent=lambda view: answer, seat=0)
    with pytest.raises(IllegalAction, match="is no move"):
        env.reset(seed=1, options={"dealer": 0})
    with pytest.raises(IllegalAction, match="is no move"):
        duel(lambda view: answer, "random", "scopa", 2)


def test_a_step_that_an_opponent_spoils_is_not_made() -> None:
    """An exception in an opponent, also a person's Ctrl-C, leaves the learner where it was."""
    calls = []

    def flaky(view: View) -> Move:
        calls.append(view)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return view.legal_moves[0]

    env = ScopaEnv("scopa", opponent=flaky, seat=0)
    env.reset(seed=1, options={"dealer": 0})
    before, masks = env.game().text(), env.action_masks()
    action = int(np.flatnonzero(masks)[0])
    with pytest.raises(KeyboardInterrupt):
        env.step(action)
    assert env.game().text() == before
    assert np.array_equal(env.action_masks(), masks)
    env.step(action)
    assert env.game().seat == 0


@pytest.mark.filterwarnings("ignore:.*render_mode='rgb_array'")  # Gymnasium's word on what stable-baselines3 asks for
def test_stable_baselines3_makes_the_registered_environment() -> None:
    make_vec_env = pytest.importorskip("stable_baselines3.common.env_util").make_vec_env
    env = make_vec_env("scopa_env:Scopa-v0", n_envs=2, seed=1)
    assert env.reset().shape == (2, 592)
    assert env.env_method("action_masks")[0].dtype == np.bool_


def test_a_partner_needs_a_team() -> None:
    with pytest.raises(ValueError, match="team games only"):
        ScopaEnv("scopa", partner="greedy")


def test_steps_out_of_order() -> None:
    for env in (scopa_env.env("scopa"), ScopaEnv("scopa")):
        with pytest.raises(RuntimeError, match="reset"):
            env.step(0)
    env = scopa_env.env("mini_scopa")
    env.reset(seed=1)
    play_aec(env, random.Random(1))
    with pytest.raises(RuntimeError, match="reset"):
        env.step(0)


def test_an_opponent_that_cheats_is_named() -> None:
    def cheat(view: View) -> Move:
        return Move(view.unseen[0])

    env = ScopaEnv("scopa", opponent=cheat, seat=0)
    with pytest.raises(IllegalAction, match="agent 'cheat'"):
        env.reset(seed=0, options={"dealer": 0})


def test_opponents_get_views_of_their_own_seat() -> None:
    seen: list[View] = []

    def watch(view: View) -> Move:
        seen.append(view)
        assert view.to_act
        assert view.records["hands"][0, 1 - view.observer] == 0
        return view.legal_moves[0]

    env = ScopaEnv("scopa", opponent=watch)
    _, info = env.reset(seed=1)
    terminated = False
    while not terminated:
        _, _, terminated, _, info = env.step(random_action(info["action_mask"], random.Random(0)))
    assert len(seen) == 18
    assert {view.observer for view in seen} == {1 - env.seat}


def test_the_learner_sits_where_it_is_told_or_anywhere() -> None:
    env = ScopaEnv(TEAMS, opponent="random")
    seats = set()
    for _ in range(60):
        env.reset()
        seats.add(env.seat)
    assert seats == {0, 1, 2, 3}
    assert env.reset(options={"seat": 2})[1]["seat"] == 2
    assert ScopaEnv(TEAMS, seat=3).reset(seed=1)[1]["seat"] == 3
    with pytest.raises(ValueError, match="seat=4"):
        env.reset(options={"seat": 4})


def test_rendering() -> None:
    env = scopa_env.env("scopa", render_mode="ansi")
    env.reset(seed=1)
    text = env.render()
    assert text is not None
    for card in (*env.game().hands[0], *env.game().hands[1], *env.game().table):
        assert card_text(card) in text
    assert scopa_env.env("scopa").render() is None
    single = gymnasium.make("scopa_env:Scopa-v0", render_mode="ansi")
    single.reset(seed=1)
    shown = single.render()
    assert isinstance(shown, str)
    assert "??" in shown
