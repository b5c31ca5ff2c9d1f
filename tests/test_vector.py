"""The Gymnasium vector environment and the stable-baselines3 `VecEnv`: single environments, many at once."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from scopa_agents.greedy import GreedyAgent
from scopa_env import Game, IllegalAction, Move, Rules, ScopaEnv, View
from scopa_env.vector import ScopaVectorEnv

pytestmark = pytest.mark.nojit

SHORT = "scopa:target=3"


def first_move(view: View) -> Move:
    return view.legal_moves[0]


def first_actions(masks: np.ndarray) -> np.ndarray:
    return masks.argmax(axis=1)


def random_actions(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.where(masks == 1, rng.random(masks.shape), -1).argmax(axis=1)


CASES: list[dict[str, Any]] = [
    {"opponent": "greedy"},
    {"opponent": "random", "reward": "decided", "history": True},
    {"opponent": ["random", "greedy", "greedy"], "rules": "escoba", "reward": "win"},
    {"opponent": "greedy", "partner": ["random", "greedy"], "rules": "scopone"},
    {"opponent": "greedy", "rules": "bga_scopa:players=3", "seat": 1},
    {"opponent": "random", "rules": SHORT, "episode": "match", "reward": "decided", "history": True},
    {"opponent": first_move, "rules": SHORT, "episode": "match"},
    {"opponent": first_move, "partner": "greedy", "rules": "scopone", "seat": 2},
]


@pytest.mark.parametrize("arguments", CASES, ids=range(len(CASES)))
def test_each_game_is_that_of_a_single_environment(arguments: dict[str, Any]) -> None:
    """Observations, masks, rewards, ends, final observations and infos."""
    envs = ScopaVectorEnv(4, **arguments)
    singles = [ScopaEnv(**arguments) for _ in range(4)]
    observations, infos = envs.reset(seed=11)
    alone = [env.reset(seed=11 + i) for i, env in enumerate(singles)]
    rng = np.random.default_rng(1)
    ends = 0
    for _ in range(120):
        for i, (seen, info) in enumerate(alone):
            check_same(row_of(observations, i), seen)
            assert np.array_equal(infos["action_mask"][i], info["action_mask"])
            assert infos["seat"][i] == info["seat"]
        actions = random_actions(infos["action_mask"], rng)
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        assert not truncations.any()
        assert ("final_obs" in infos) == terminations.any()
        for i, env in enumerate(singles):
            seen, reward, terminated, _, info = env.step(int(actions[i]))
            assert reward == rewards[i]
            assert terminated == terminations[i]
            if terminated:
                ends += 1
                check_same(infos["final_obs"][i], seen)
                assert infos["_final_obs"][i]
                assert infos["_final_info"][i]
                assert infos["final_info"]["seat"][i] == info["seat"]
                assert not infos["final_info"]["action_mask"][i].any()
                seen, info = env.reset()
            alone[i] = (seen, info)
    assert ends > 3


def row_of(observations: Any, i: int) -> Any:
    return {name: part[i] for name, part in observations.items()} if isinstance(observations, dict) else observations[i]


def check_same(one: Any, other: Any) -> None:
    for left, right in zip(
        *(part.values() if isinstance(part, dict) else [part] for part in (one, other)), strict=True
    ):
        assert np.array_equal(left, right)


def test_make_vec_makes_a_real_vector_environment() -> None:
    envs = gymnasium.make_vec(
        "scopa_env:Scopa-v0", num_envs=3, vectorization_mode="vector_entry_point", opponent="greedy"
    )
    assert isinstance(envs, VectorEnv)
    assert isinstance(envs.unwrapped, ScopaVectorEnv)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    assert envs.num_envs == 3
    observations, infos = envs.reset(seed=1)
    assert envs.observation_space.contains(observations)
    assert envs.action_space.contains(first_actions(infos["action_mask"]))
    assert envs.single_observation_space == ScopaEnv().observation_space
    default = gymnasium.make_vec("scopa_env:Escoba-v0", num_envs=2)
    assert isinstance(default.unwrapped, ScopaVectorEnv)
    assert default.unwrapped.rules == Rules.parse("escoba")


def test_infos_have_the_form_of_gymnasiums_own() -> None:
    """Beside a SyncVectorEnv of the single environments, with the same actions."""
    ours = ScopaVectorEnv(3, "scopa", "greedy")
    theirs = SyncVectorEnv([lambda: ScopaEnv("scopa", "greedy")] * 3, autoreset_mode=AutoresetMode.SAME_STEP)
    seen, infos = ours.reset(seed=5)
    seen_there, infos_there = theirs.reset(seed=5)
    for _ in range(60):
        assert np.array_equal(seen, seen_there)
        check_infos(infos, infos_there)
        actions = first_actions(infos["action_mask"])
        seen, rewards, terminations, truncations, infos = ours.step(actions)
        seen_there, rewards_there, terminations_there, truncations_there, infos_there = theirs.step(actions)
        for one, other in (
            (rewards, rewards_there),
            (terminations, terminations_there),
            (truncations, truncations_there),
        ):
            assert np.array_equal(one, other)
            assert one.dtype == other.dtype


def check_infos(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert set(ours) == set(theirs)
    for name, value in theirs.items():
        if isinstance(value, dict):
            check_infos(ours[name], value)
        elif value.dtype == object:
            for one, other in zip(ours[name], value, strict=True):
                assert (one is None) == (other is None)
                assert one is None or np.array_equal(one, other)
        else:
            assert np.array_equal(ours[name], value), name


def test_gymnasiums_wrappers_accept_it() -> None:
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(ScopaVectorEnv(4, "mini_scopa", "random"))
    _, infos = envs.reset(seed=1)
    ends = 0
    for _ in range(30):
        _, rewards, done, _, infos = envs.step(first_actions(infos["action_mask"]))
        assert ("episode" in infos) == done.any()
        if done.any():
            assert infos["episode"]["r"][done].tolist() == rewards[done].tolist()  # a round pays at its end
            assert (infos["episode"]["l"][done] == 2).all()
        ends += int(done.sum())
    assert ends > 4


def test_arrays_are_the_callers_own() -> None:
    clean, rude = ScopaVectorEnv(3, "scopa", "greedy"), ScopaVectorEnv(3, "scopa", "greedy")
    (seen, infos), (seen_two, infos_two) = clean.reset(seed=2), rude.reset(seed=2)
    for _ in range(60):
        assert np.array_equal(seen, seen_two)
        actions = first_actions(infos["action_mask"])
        seen_two[:] = 1
        infos_two["action_mask"][:] = 1
        rude.action_masks()[:] = True
        seen, rewards, done, _, infos = clean.step(actions)
        seen_two, rewards_two, done_two, _, infos_two = rude.step(actions)
        assert np.array_equal(rewards, rewards_two)
        assert np.array_equal(done, done_two)
        rewards_two[:] = 9
        done_two[:] = True


class CountingAgent(GreedyAgent):
    """Not compiled for the environments: it has no policy there, but counts its calls."""

    policy = None  # type: ignore[assignment]
    name = "counting"

    def __init__(self) -> None:
        super().__init__(seed=1)
        self.calls: list[int] = []

    def act_batch(self, rules: Rules, views: np.ndarray) -> np.ndarray:
        self.calls.append(len(views))
        assert not views["rng"].any()
        hands = [np.bitwise_count(views["hands"][:, seat]) for seat in range(rules.players)]
        acting = np.choose(views["seat"].astype(int), hands)
        assert (sum(hands) - acting <= (views["card"] >= 0)).all()  # only its own hand is there
        actions = np.empty(len(views), np.int64)
        for i in range(len(views)):
            actions[i] = int(np.flatnonzero(View(rules, views[i : i + 1], int(views["seat"][i])).action_mask())[0])
        return actions


def test_other_agents_are_asked_once_for_all_games() -> None:
    agent = CountingAgent()
    envs = ScopaVectorEnv(32, "scopa", opponent=agent, seat=0)
    _, infos = envs.reset(seed=3)
    agent.calls.clear()
    for _ in range(20):
        before = len(agent.calls)
        _, _, _, _, infos = envs.step(first_actions(infos["action_mask"]))
        assert len(agent.calls) - before <= 6
    assert max(agent.calls) > 16


def test_a_failing_agent_leaves_every_game_as_it_was() -> None:
    calls = []

    def flaky(view: View) -> Move:
        calls.append(view)
        if len(calls) > 40:
            raise KeyboardInterrupt
        return view.legal_moves[0]

    envs = ScopaVectorEnv(8, "scopa", opponent=flaky, seat=0)
    _, infos = envs.reset(seed=1)
    steps = 0
    while True:
        before = envs.get_state()
        actions = first_actions(infos["action_mask"])
        try:
            _, _, _, _, infos = envs.step(actions)
        except KeyboardInterrupt:
            break
        steps += 1
    assert steps > 1
    after = envs.get_state()
    for name in ("records", "runs"):
        assert np.array_equal(before[name], after[name])
    calls.clear()
    envs.step(actions)


@pytest.mark.parametrize(
    ("opponent", "message"),
    [
        (lambda view: Move(39, (38,)), "agent '<lambda>': move RbxCb of seat"),
        (lambda view: 7, "is no move"),
    ],
)
def test_illegal_agents_are_named(opponent: Any, message: str) -> None:
    envs = ScopaVectorEnv(4, "scopa", opponent=opponent, seat=0)
    with pytest.raises(IllegalAction, match=message):
        envs.reset(seed=1)


def test_illegal_actions_and_forfeits() -> None:
    envs = ScopaVectorEnv(4, "scopa", "greedy")
    _, infos = envs.reset(seed=1)
    before = envs.get_state()
    actions = first_actions(infos["action_mask"])
    for wrong in (80, 81, -1):
        spoiled = actions.copy()
        spoiled[2] = wrong
        with pytest.raises(IllegalAction, match=re.escape(f"game 2: action {wrong}")):
            envs.step(spoiled)
        assert np.array_equal(envs.get_state()["records"], before["records"])
    for wrong_shape in (actions[:3], actions[:, None], [0.5] * 4):
        with pytest.raises(ValueError, match="action"):
            envs.step(wrong_shape)
    lenient = ScopaVectorEnv(4, "scopa", "greedy", illegal="forfeit", forfeit_margin=3)
    _, infos = lenient.reset(seed=1)
    actions[2] = 80
    seats = infos["seat"]
    _, rewards, terminations, _, infos = lenient.step(actions)
    assert rewards[2] == -3
    assert terminations.tolist() == [False, False, True, False]
    assert infos["final_info"]["forfeited_by"][2] == seats[2]
    assert infos["final_info"]["_forfeited_by"].tolist() == terminations.tolist()


def test_copies_and_states_go_on_alike() -> None:
    envs = ScopaVectorEnv(5, SHORT, ["greedy", "random"], episode="match", reward="decided")
    _, infos = envs.reset(seed=4)
    for _ in range(23):
        _, _, _, _, infos = envs.step(first_actions(infos["action_mask"]))
    fresh = ScopaVectorEnv(5, SHORT, ["greedy", "random"], episode="match", reward="decided")
    fresh.set_state(pickle.loads(pickle.dumps(envs.get_state())))
    others = [copy.deepcopy(envs), pickle.loads(pickle.dumps(envs)), fresh]
    for _ in range(40):
        actions = first_actions(envs.action_masks())
        said = envs.step(actions)
        for other in others:
            found = other.step(actions)
            assert all(np.array_equal(one, two) for one, two in zip(said[:4], found[:4], strict=True))
    with pytest.raises(ValueError, match="belongs to"):
        ScopaVectorEnv(5, "escoba").set_state(envs.get_state())


def test_some_games_can_be_started_anew() -> None:
    """Gymnasium's option ``reset_mask``."""
    envs = ScopaVectorEnv(5, "scopa", ["greedy", first_move])
    _, infos = envs.reset(seed=4)
    for _ in range(7):
        _, _, _, _, infos = envs.step(first_actions(infos["action_mask"]))
    before = [envs.game(i).text() for i in range(5)]
    observations, infos = envs.reset(options={"reset_mask": np.array([False, True, False, False, True])})
    now = [envs.game(i).text() for i in range(5)]
    assert [one == other for one, other in zip(before, now, strict=True)] == [True, False, True, True, False]
    assert observations.shape == (5, 592)
    observations, infos = envs.reset(seed=[9, 8, 7, 6, 5], options={"reset_mask": np.arange(5) == 3})
    single = ScopaEnv("scopa", ["greedy", first_move])
    seen, info = single.reset(seed=6)
    assert np.array_equal(observations[3], seen)
    assert np.array_equal(infos["action_mask"][3], info["action_mask"])
    assert envs.game(0).text() == now[0]
    for wrong in (np.zeros(5, bool), np.ones(4, bool), np.ones(5), [True] * 5, "x"):
        with pytest.raises(ValueError, match="reset_mask="):
            envs.reset(options={"reset_mask": wrong})


def test_order_render_and_bad_arguments() -> None:
    envs = ScopaVectorEnv(2, "scopa", render_mode="ansi")
    with pytest.raises(RuntimeError, match="reset"):
        envs.step([0, 0])
    envs.reset(seed=1)
    tables = envs.render()
    assert tables is not None
    assert all("to play" in table for table in tables)
    assert envs.view(1).observer == envs.games.seat(1)
    for arguments, message in (
        ({"num_envs": 0}, "num_envs=0"),
        ({"opponent": "gredy"}, "did you mean 'greedy'"),
        ({"partner": "greedy"}, "team games only"),
        ({"seat": 2}, "seat=2"),
    ):
        with pytest.raises(ValueError, match=message):
            ScopaVectorEnv(**{"num_envs": 2, **arguments})
    with pytest.raises(ValueError, match="3 seeds"):
        envs.reset(seed=[1, 2, 3])


# stable-baselines3


@pytest.fixture
def sb3() -> Any:
    pytest.importorskip("stable_baselines3")
    from scopa_env.interop import sb3

    return sb3


def test_vec_env_steps_as_the_vector_environment(sb3: Any) -> None:
    vec = sb3.ScopaVecEnv(4, "scopa", ["random", "greedy"], reward_scale=0.5)
    envs = ScopaVectorEnv(4, "scopa", ["random", "greedy"])
    vec.seed(3)
    observations = vec.reset()
    seen, infos = envs.reset(seed=3)
    for _ in range(60):
        assert np.array_equal(observations, seen)
        assert np.array_equal(vec.action_masks(), infos["action_mask"] == 1)
        assert np.array_equal(np.stack(vec.env_method("action_masks")), vec.action_masks())
        actions = first_actions(infos["action_mask"])
        observations, rewards, dones, said = vec.step(actions)
        seen, paid, over, _, infos = envs.step(actions)
        assert rewards.tolist() == (paid * 0.5).astype(np.float32).tolist()
        assert np.array_equal(dones, over)
        for i in np.flatnonzero(over):
            assert np.array_equal(said[i]["terminal_observation"], infos["final_obs"][i])
        assert [info["seat"] for info in said] == infos["seat"].tolist()
    assert vec.env_method("game", indices=[2])[0].rules == vec.rules
    assert vec.get_attr("action_space")[0] == vec.action_space
    assert vec.get_attr("observation_space")[3] == vec.observation_space
    assert np.array_equal(vec.get_attr("action_masks")[2](), vec.action_masks()[2])
    assert vec.env_is_wrapped(object) == [False] * 4
    for call in (lambda: vec.env_method("shuffle"), lambda: vec.set_attr("rules", 1), lambda: vec.get_attr("nothing")):
        with pytest.raises(AttributeError):
            call()


def test_maskable_ppo_trains_and_its_helpers_work(sb3: Any) -> None:
    pytest.importorskip("sb3_contrib")
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.evaluation import evaluate_policy
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
    from stable_baselines3.common.vec_env import VecMonitor

    vec = VecMonitor(sb3.ScopaVecEnv(8, "scopa", "greedy"))
    assert is_masking_supported(vec)
    vec.reset()
    assert get_action_masks(vec).shape == (8, 81)
    model = MaskablePPO("MlpPolicy", vec, n_steps=16, batch_size=32, n_epochs=1, seed=0, device="cpu")
    model.learn(512)
    assert model.ep_info_buffer
    mean, _ = evaluate_policy(model, VecMonitor(sb3.ScopaVecEnv(4, "scopa", "random")), n_eval_episodes=12)
    assert -12 < mean < 12


def test_training_on_copies_of_every_array_gives_the_same_weights(sb3: Any) -> None:
    """The VecEnv hands out arrays of its own, as every face that training reads."""
    pytest.importorskip("sb3_contrib")
    import torch
    from sb3_contrib import MaskablePPO

    class Copied(sb3.ScopaVecEnv):  # type: ignore[misc]
        def step_wait(self) -> Any:
            observations, rewards, dones, infos = super().step_wait()
            return observations.copy(), rewards.copy(), dones.copy(), copy.deepcopy(infos)

        def action_masks(self) -> np.ndarray:
            return super().action_masks().copy()

    weights = []
    torch.set_num_threads(1)
    for kind in (sb3.ScopaVecEnv, Copied):
        model = MaskablePPO("MlpPolicy", kind(4, "scopa", "greedy"), n_steps=16, n_epochs=1, seed=0, device="cpu")
        model.learn(256)
        weights.append(torch.cat([part.flatten() for part in model.policy.parameters()]))
    assert torch.equal(*weights)


# what a review found


PICKLED = """
import pickle, sys
import numpy as np
env, vec = pickle.load(sys.stdin.buffer)
mask = env.action_masks()
env.step(int(np.flatnonzero(mask)[0]))
vec.step(vec.action_masks().argmax(axis=1))
env.reset()
vec.reset()
print("fine")
"""


def test_a_pickle_works_in_another_process() -> None:
    """Addresses of compiled agents mean nothing there."""
    env, vec = ScopaEnv("scopa", "greedy"), ScopaVectorEnv(4, "scopa", ["random", "greedy"])
    env.reset(seed=1)
    vec.reset(seed=1)
    done = subprocess.run(
        [sys.executable, "-c", PICKLED], input=pickle.dumps((env, vec)), capture_output=True, timeout=200
    )
    assert done.stdout == b"fine\n", done.stderr.decode()[-1500:]


def test_states_belong_to_the_same_agents() -> None:
    many = ScopaEnv("scopa", ["random"] * 40)
    many.reset(seed=1)
    one = ScopaEnv("scopa", "random")
    one.reset(seed=1)
    before = one.game().text()
    for other in (many, ScopaVectorEnv(1, "scopa", "random"), ScopaVectorEnv(2, "scopa", "random")):
        other.reset(seed=2)
        with pytest.raises(ValueError, match="state: it belongs to"):
            one.set_state(other.get_state())
    with pytest.raises(ValueError, match="state: runs is missing"):
        one.set_state({name: part for name, part in one.get_state().items() if name != "runs"})
    assert one.game().text() == before
    greedy = ScopaEnv("scopa", "greedy")
    greedy.reset(seed=1)
    greedy.set_state(one.get_state())
    assert greedy._table.agents[0].name == "random"
    for _ in range(10):
        one.step(int(one.action_masks().argmax()))
        greedy.step(int(greedy.action_masks().argmax()))
    assert greedy.game().text() == one.game().text()


def test_what_agents_draw_from_does_not_tell_the_deals() -> None:
    """The two generators start from the seed by ways that cannot be turned into each other."""
    from scopa_env.game import seed_state

    env = ScopaEnv("scopa", "random")
    for seed in (0, 1, 2**63):
        env.reset(seed=seed)
        assert int(env._table.runs["rng"][0]) not in {seed_state(seed, game) for game in range(4)}
    assert len({_state(seed) for seed in range(100)}) == 100


def _state(seed: int) -> int:
    from scopa_env.seated import _agents_state

    return _agents_state(seed)


def test_games_that_are_not_there() -> None:
    envs = ScopaVectorEnv(3, "scopa", "greedy")
    envs.reset(seed=1)
    assert envs.game(-1) == envs.game(2)
    assert envs.view(-1).text() == envs.view(2).text()
    for index in (3, -4, True, 1.0, "a"):
        for look in (envs.game, envs.view):
            with pytest.raises(IndexError, match=r"allowed are games 0 \.\. 2"):
                look(index)  # type: ignore[arg-type]


def test_a_position_in_which_the_learner_never_acts_is_refused() -> None:
    game = Game("scopa", seed=5)
    while len(game.plays) < 35:
        game.push(game.legal_moves[0])
    options = {"position": game.text(), "seat": 1 - game.seat}
    for make in (lambda: ScopaEnv("scopa", "greedy"), lambda: ScopaVectorEnv(3, "scopa", first_move)):
        env: Any = make()
        env.reset(seed=1)
        before = env.get_state()
        with pytest.raises(ValueError, match="ends before the learner is to act"):
            env.reset(seed=2, options=options)
        after = env.get_state()
        assert np.array_equal(before["records"], after["records"])
        env.step(env.action_masks().argmax() if isinstance(env, ScopaEnv) else first_actions(env.action_masks()))


def test_decks_given_once_and_seeds_of_none() -> None:
    deck = Game("scopa", seed=1).deck
    assert deck is not None
    envs = ScopaVectorEnv(3, "scopa", "greedy")
    envs.reset(seed=1, options={"deck": iter(deck)})
    assert {envs.game(i).deck for i in range(3)} == {deck}
    envs.reset(seed=[None] * 3)  # type: ignore[list-item]
    assert len({envs.game(i).deck for i in range(3)}) == 3
    with pytest.raises(ValueError, match="201 agents; allowed are 200 together"):
        ScopaVectorEnv(2, "scopa", ["random"] * 201)


def test_an_illegal_compiled_agent_shows_nothing() -> None:
    from scopa_agents.base import CompiledAgent
    from scopa_env.kernel import kernel
    from scopa_env.policy import Policy

    @kernel
    def nonsense(rules, game):
        return 80

    class Nonsense(CompiledAgent):
        name = "nonsense"
        policy = Policy(nonsense)

    envs = ScopaVectorEnv(2, "scopa", Nonsense(), seat=0)
    envs.reset(seed=1, options={"dealer": 1})
    with pytest.raises(IllegalAction, match="compiled agent decided on an illegal action"):
        envs.step(first_actions(envs.action_masks()))
    with pytest.raises(RuntimeError, match="reset"):
        envs.step([0, 0])
