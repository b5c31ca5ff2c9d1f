"""TorchRL: its own checks pass, games are those of our environments step for step, its masks and collectors work."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torchrl", reason="needs the extra torchrl")

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torchrl.data import Categorical, OneHot
from torchrl.envs import (
    ActionMask,
    Compose,
    MarlGroupMapType,
    PettingZooWrapper,
    RewardSum,
    StepCounter,
    TransformedEnv,
    check_env_specs,
    step_mdp,
)
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor
from torchrl.objectives.value.functional import reward2go

import scopa_env
import scopa_env.interop.torchrl
from helpers import ALL_PRESETS, run_example, run_fragments
from scopa_env import IllegalAction
from scopa_env.interop.torchrl import BatchedScopaEnv
from scopa_env.vector import BatchedScopa, ScopaVectorEnv

SOME = ("mini_scopa", "scopa", "escoba", "scopone", "bga_scopa_4p", "scopa:players=3", "scopa:players=6,teams=true")
BOTH = pytest.mark.parametrize("opponent", ["random", None])
PIECES = {"observation": "observations", "action_mask": "action_masks", "turn": "to_play"}


def legal(masks: Any, rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return a random legal action of each row."""
    found: np.ndarray[Any, np.dtype[np.int64]] = (np.asarray(masks) * rng.random(masks.shape)).argmax(axis=1)
    return found


def actor_of(env: Any, size: int) -> Any:
    torch.manual_seed(1)
    return ProbabilisticActor(
        TensorDictModule(MLP(size, 81, num_cells=[16]), ["observation"], ["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        spec=env.action_spec,
        return_log_prob=True,
    )


@BOTH
@pytest.mark.parametrize("rules", ALL_PRESETS)
def test_its_own_check_of_specs(rules: str, opponent: str | None) -> None:
    env = BatchedScopaEnv(3, rules, opponent, seed=1)
    check_env_specs(env, seed=1)
    check_env_specs(env, break_when_any_done="both")


@BOTH
@pytest.mark.parametrize(
    "options",
    [
        {"categorical_actions": False},
        {"history": True, "dtype": torch.int8},
        {"episode": "match", "reward": "win", "device": "cpu"},
        {"reward": "decided", "illegal": "forfeit", "dtype": torch.bfloat16},
        {"rules": "scopa:players=3"},
        {"rules": "escoba:players=6,teams=true", "num_envs": 1},
    ],
    ids=str,
)
def test_its_own_check_of_specs_with_arguments(options: dict[str, Any], opponent: str | None) -> None:
    env = BatchedScopaEnv(**{"num_envs": 2, "seed": 1, "opponent": opponent, **options})
    check_env_specs(env, seed=1)
    check_env_specs(env, break_when_any_done="both")
    transformed = TransformedEnv(env, Compose(ActionMask(), StepCounter(), RewardSum()))
    check_env_specs(transformed, break_when_any_done="both")


@pytest.mark.parametrize("rules", SOME)
@pytest.mark.parametrize("episode", ["round", "match"])
def test_every_seat_is_the_batch_step_for_step(rules: str, episode: str) -> None:
    arguments: dict[str, Any] = {"episode": episode, "reward": "decided"}
    env = BatchedScopaEnv(6, rules, None, seed=4, threads=2, dtype=torch.int8, history=True, **arguments)
    batch = BatchedScopa(6, rules, 4, **arguments)
    rng = np.random.default_rng(1)
    data = env.reset()
    ended = 0
    for _ in range(120):
        for key, name in PIECES.items():
            assert np.array_equal(data[key].numpy(), getattr(batch, name)), key
        assert np.array_equal(data["history"].numpy(), batch.histories())
        actions, turn = legal(batch.action_masks, rng), batch.to_play.copy()
        batch.step(actions)
        stepped, data = env.step_and_maybe_reset(data.set("action", torch.from_numpy(actions)))
        new = stepped["next"]
        assert np.array_equal(new["agents", "reward"].squeeze(-1).numpy(), batch.rewards)
        over = batch.terminations
        for key in ("done", "terminated"):
            assert np.array_equal(new[key].squeeze(-1).numpy(), over)
        for key, name in PIECES.items():
            assert np.array_equal(new[key].numpy()[~over], getattr(batch, name)[~over])
        assert not new["observation"][over].any()
        assert not new["history"][over].any()
        assert new["action_mask"][over].all()
        assert np.array_equal(new["turn"].numpy()[over], turn[over])
        ended += over.sum()
    assert ended > 6 or episode == "match"
    env.close()


@pytest.mark.parametrize("rules", SOME)
@pytest.mark.parametrize("opponent", ["greedy", ["random", "greedy"]])
def test_one_seat_is_the_vector_environment_step_for_step(rules: str, opponent: Any) -> None:
    partner = "greedy" if scopa_env.Rules.parse(rules).teams else None
    env = BatchedScopaEnv(5, rules, opponent, partner, seed=2, history=True, dtype=torch.int8)
    theirs = ScopaVectorEnv(5, rules, opponent, partner, history=True)
    rng = np.random.default_rng(1)
    data = env.reset()
    seen, infos = theirs.reset(seed=2)
    ended = 0
    for _ in range(60):
        assert np.array_equal(data["observation"].numpy(), seen["observation"])
        assert np.array_equal(data["history"].numpy(), seen["history"])
        assert np.array_equal(data["action_mask"].numpy(), infos["action_mask"])
        assert np.array_equal(data["turn"].numpy(), infos["seat"])
        seats, actions = infos["seat"], legal(infos["action_mask"], rng)
        seen, rewards, over, _, infos = theirs.step(actions)
        stepped, data = env.step_and_maybe_reset(data.set("action", torch.from_numpy(actions)))
        new = stepped["next"]
        assert np.array_equal(new["reward"].squeeze(-1).numpy(), rewards.astype(np.float32))
        assert np.array_equal(new["done"].squeeze(-1).numpy(), over)
        for row in np.flatnonzero(over).tolist():
            for key, last in infos["final_obs"][row].items():
                assert np.array_equal(new[key][row].numpy(), last)
            assert new["turn"][row] == seats[row]
            assert new["action_mask"][row].all()
        assert np.array_equal(new["observation"].numpy()[~over], seen["observation"][~over])
        ended += over.sum()
    assert ended >= 5


@BOTH
def test_one_hot_actions_are_the_same_game(opponent: str | None) -> None:
    env = BatchedScopaEnv(4, "scopa", opponent, seed=3)
    other = BatchedScopaEnv(4, "scopa", opponent, seed=3, categorical_actions=False)
    assert isinstance(env.action_spec, Categorical)
    assert isinstance(other.action_spec, OneHot)
    torch.manual_seed(1)
    hot = other.rollout(60, break_when_any_done=False)
    assert hot["action"].shape == (4, 60, 81)
    numbers = hot["action"].to(torch.int8).argmax(-1).unbind(1)
    plain = env.rollout(60, actions=numbers, break_when_any_done=False)
    assert (plain.exclude("action") == hot.exclude("action")).all()


@BOTH
def test_seeds(opponent: str | None) -> None:
    def play(env: Any, seed: int | None = None) -> Any:
        if seed is not None:
            env.set_seed(seed)
        torch.manual_seed(1)
        return env.rollout(50, break_when_any_done=False)

    def same(first: Any, second: Any) -> bool:
        return bool((first == second).all())

    env = BatchedScopaEnv(4, "scopa", opponent, seed=3)
    first = play(env)
    assert same(play(BatchedScopaEnv(4, "scopa", opponent, seed=3)), first)
    assert not same(play(env), first)
    assert same(play(env, 3), first)
    assert not same(play(env, 4), first)
    assert not same(play(BatchedScopaEnv(4, "scopa", opponent)), play(BatchedScopaEnv(4, "scopa", opponent)))
    starts = [BatchedScopaEnv(2, "scopa", opponent, seed=seed).reset()["observation"] for seed in (3, 4, [4, 3])]
    assert torch.equal(starts[0][1], starts[1][0])
    assert torch.equal(starts[2], starts[0].flip(0))


@BOTH
def test_resets_of_some_games_leave_the_others(opponent: str | None) -> None:
    env, twin = (BatchedScopaEnv(6, "scopa", opponent, seed=3) for _ in range(2))
    data, expected = env.reset(), twin.reset()
    rows = torch.tensor([True, False, False, True, False, False])
    for _ in range(3):
        actions = torch.from_numpy(legal(data["action_mask"].numpy(), np.random.default_rng(1)))
        data = step_mdp(env.step(data.set("action", actions)))
        expected = step_mdp(twin.step(expected.set("action", actions)))
    data = env.reset(data.set("_reset", rows.unsqueeze(-1)))
    assert not (data["observation"][rows] == expected["observation"][rows]).all()
    for _ in range(5):
        for key in PIECES:
            assert torch.equal(data[key][~rows], expected[key][~rows])
        actions = torch.from_numpy(legal(data["action_mask"].numpy(), np.random.default_rng(1)))
        theirs = torch.where(rows, legal_tensor(expected), actions)
        data = step_mdp(env.step(data.set("action", actions)))
        expected = step_mdp(twin.step(expected.set("action", theirs)))


def legal_tensor(data: Any) -> torch.Tensor:
    return data["action_mask"].to(torch.int8).argmax(-1)


@BOTH
def test_options_of_resets(opponent: str | None) -> None:
    env = BatchedScopaEnv(2, "scopa", opponent, seed=3)
    data = env.reset(options={"position": "scopa 7d3c5s/?3 2dFc4s6b ?30 -/- 0/0 0 - 1", "seat": 0})
    assert data["turn"].tolist() == [0, 0]
    assert data["action_mask"].sum(1).tolist() == [3, 3]
    for index in range(2):
        assert [str(move) for move in env.games.game(index).legal_moves] == ["7d", "3c", "5s"]
    with pytest.raises(ValueError, match="did you mean 'position'"):
        env.reset(options={"postion": "x"})


@BOTH
@pytest.mark.parametrize("rules", ["scopa", "scopone", "scopa:players=3"])
def test_rollouts_until_all_are_over(rules: str, opponent: str | None) -> None:
    env = BatchedScopaEnv(5, rules, opponent, seed=3)
    data = env.rollout(300, break_when_all_done=True)
    done = data["next", "done"].squeeze(-1)
    assert done[:, -1].all()
    assert data.shape[1] < 300
    first = done.to(torch.int8).argmax(1)
    assert len(set(first.tolist())) > 1 or rules != "scopa"
    for row, end in enumerate(first.tolist()):
        assert done[row, end:].all()
    reward = data["next", "reward"] if opponent else data["next", "agents", "reward"]
    whole = BatchedScopaEnv(5, rules, opponent, seed=3)
    steps = iter(data["action"].unbind(1))
    expected = whole.reset()
    for time, actions in enumerate(steps):
        running = time <= first
        given = torch.where(running, actions, legal_tensor(expected))
        stepped, expected = whole.step_and_maybe_reset(expected.set("action", given))
        new = stepped["next"]
        paid = new["reward"] if opponent else new["agents", "reward"]
        assert torch.equal(paid[running], reward[running, time])
        assert torch.equal(new["observation"][running], data["next", "observation"][running, time])


def test_what_it_refuses() -> None:
    for arguments, message in (
        ({"num_envs": 0}, "num_envs=0"),
        ({"rules": "skopa"}, "did you mean"),
        ({"opponent": None, "partner": "greedy"}, "partner='greedy': allowed with an opponent only"),
        ({"opponent": None, "seat": 1}, "seat=1: allowed with an opponent only"),
        ({"threads": 2}, "threads=2: allowed with opponent=None only"),
        ({"opponent": None, "threads": 0}, "threads=0"),
        ({"dtype": torch.bool}, "dtype=torch.bool: allowed are torch.float32"),
        ({"reward": "money"}, "reward='money'"),
        ({"seed": [1, 2]}, "expected a number for each of 1 games"),
    ):
        with pytest.raises(ValueError, match=message):
            BatchedScopaEnv(**arguments)  # type: ignore[arg-type]


@BOTH
def test_steps_that_it_refuses(opponent: str | None) -> None:
    env = BatchedScopaEnv(3, "mini_scopa", opponent, seed=1)
    with pytest.raises(RuntimeError, match="game 0 is over or was never begun"):
        env.step(TensorDict({"action": torch.zeros(3, dtype=torch.int64)}, [3]))
    data = env.reset()
    wrong = data.clone().set("action", (~data["action_mask"]).to(torch.int8).argmax(-1))
    with pytest.raises(IllegalAction, match="game 0"):
        env.step(wrong)
    with pytest.raises(ValueError, match=r"action: torch.float32\[3\]: allowed are whole numbers"):
        env.step(data.clone().set("action", torch.zeros(3)))
    over = False
    while not over:
        data = step_mdp(env.step(data.set("action", legal_tensor(data))))
        over = bool(data["done"].any())
    with pytest.raises(RuntimeError, match="is over"):
        env.step(data.set("action", legal_tensor(data)))
    again = env.maybe_reset(data)
    env.step(again.set("action", legal_tensor(again)))


def test_what_a_forfeit_pays() -> None:
    env = BatchedScopaEnv(2, "scopa", None, seed=1, illegal="forfeit", reward="win")
    data = env.reset()
    turn = data["turn"]
    wrong = (~data["action_mask"]).to(torch.int8).argmax(-1)
    new = env.step(data.set("action", wrong))["next"]
    assert new["done"].all()
    paid = new["agents", "reward"].squeeze(-1)
    assert paid.gather(1, turn.unsqueeze(1)).flatten().tolist() == [-1, -1]
    assert paid.sum() == 0


def test_two_environments_and_what_they_returned_stay_apart() -> None:
    env, other = (BatchedScopaEnv(4, "scopa", None, seed=seed, dtype=torch.int8) for seed in (1, 2))
    data = env.reset()
    kept = data.clone()
    other.rollout(30, break_when_any_done=False)
    env.step(data.clone().set("action", legal_tensor(data)))
    assert (data == kept).all()


def test_it_can_be_put_on_a_device() -> None:
    env = BatchedScopaEnv(2, "scopa", seed=1)
    assert env.device is None
    assert env.to("cpu") is env
    assert env.rollout(20, break_when_any_done=False).device == torch.device("cpu")
    check_env_specs(env)


def test_an_agent_that_is_not_compiled() -> None:
    asked = 0

    def first(view: Any) -> Any:
        nonlocal asked
        asked += 1
        return view.legal_moves[0]

    env = BatchedScopaEnv(3, "scopa", first, seed=1)
    check_env_specs(env)
    env.rollout(50, break_when_any_done=False)
    env.rollout(50, break_when_all_done=True)
    assert asked > 100


@BOTH
def test_transforms_that_cut_episodes_short(opponent: str | None) -> None:
    env = TransformedEnv(
        BatchedScopaEnv(4, "scopa", opponent, seed=1), Compose(ActionMask(), StepCounter(7), RewardSum())
    )
    data = env.rollout(60, break_when_any_done=False)
    assert data["next", "step_count"].max() == 7
    assert data["next", "truncated"].sum() > 8
    chosen = data["action_mask"].gather(-1, data["action"].unsqueeze(-1))
    assert chosen.all()


@BOTH
def test_masked_policies_never_draw_what_is_illegal(opponent: str | None) -> None:
    env = BatchedScopaEnv(8, "scopone", opponent, seed=1)
    size = env.observation_spec["observation"].shape[-1]
    data = env.rollout(40, actor_of(env, size), break_when_any_done=False)
    assert data["action_mask"].gather(-1, data["action"].unsqueeze(-1)).all()
    assert data["action_log_prob"].isfinite().all()
    ends = actor_of(env, size)(data["next"].exclude("reward", "agents"))
    assert ends["action_log_prob"].isfinite().all()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # TorchRL's own
@BOTH
def test_a_collector(opponent: str | None) -> None:
    from torchrl.collectors import Collector

    def collect(seed: int | None) -> list[Any]:
        env = BatchedScopaEnv(8, "scopa", opponent, seed=1)
        actor = actor_of(env, 592)
        collector = Collector(
            env, actor, frames_per_batch=8 * 40, total_frames=2 * 8 * 40, auto_register_policy_transforms=False
        )
        if seed is not None:
            collector.set_seed(seed)
        found = list(collector)
        collector.shutdown()
        return found

    first, second = collect(None)
    assert first.shape == second.shape == (8, 40)
    assert first["next", "done"].any()
    assert torch.equal(collect(None)[1]["observation"], second["observation"])
    assert not torch.equal(collect(5)[1]["observation"], second["observation"])


def test_returns_of_self_play_are_those_of_the_seat_that_acted() -> None:
    env = BatchedScopaEnv(4, "scopa:players=3", None, seed=1)
    data = env.rollout(80, break_when_any_done=False)
    reward = data["next", "agents", "reward"].squeeze(-1)
    done = data["next", "done"]
    to_go = reward2go(reward, done.expand_as(reward), gamma=1.0)
    returns = to_go.gather(-1, data["turn"].unsqueeze(-1)).squeeze(-1)
    for game in range(4):
        end = int(done[game, :, 0].nonzero()[0])
        for step in range(end + 1):
            assert returns[game, step] == reward[game, end, data["turn"][game, step]]


GROUPS: dict[str, tuple[str, Any]] = {
    "each player": ("scopa", None),
    "all": ("scopa:players=3", MarlGroupMapType.ALL_IN_ONE_GROUP),
    "teams": ("scopone", {"team_0": ["player_0", "player_2"], "team_1": ["player_1", "player_3"]}),
    "uneven": ("scopa:players=3", {"first": ["player_0"], "rest": ["player_2", "player_1"]}),
}


@pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested:UserWarning")
@pytest.mark.parametrize("groups", GROUPS)
def test_its_wrapper_of_the_pettingzoo_environment(groups: str) -> None:
    rules, group_map = GROUPS[groups]
    ours = scopa_env.env(rules)
    env = PettingZooWrapper(env=scopa_env.env(rules), use_mask=True, group_map=group_map)
    check_env_specs(env, break_when_any_done="both")
    places = {agent: (group, k) for group, agents in env.group_map.items() for k, agent in enumerate(agents)}
    paid = 0.0
    for seed in range(4):
        env.set_seed(seed)
        data = env.reset(seed=seed)
        ours.reset(seed=seed)
        over = False
        while not over:
            for agent, (group, k) in places.items():
                acts = agent == ours.agent_selection
                seen = ours.observe(agent)
                assert np.array_equal(data[group, "observation", "observation"][k].numpy(), seen["observation"])
                assert bool(data[group, "mask"][k]) == acts
                mask = data[group, "action_mask"][k].numpy()
                assert np.array_equal(mask, seen["action_mask"]) if acts else mask.all()
            data = env.rand_action(data)
            group, k = places[ours.agent_selection]
            ours.step(int(data[group, "action"][k]))
            new = env.step(data)["next"]
            for agent, (group, k) in places.items():
                assert float(new[group, "reward"][k]) == pytest.approx(ours.rewards[agent])
                paid += abs(ours.rewards[agent])
            over = bool(new["done"])
            assert over == ours.terminations["player_0"]
            data = step_mdp(data)
    assert paid > 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # TorchRL's own
def test_the_example_of_its_page() -> None:
    points = run_example("torchrl")["points"]
    assert len(points) == 15
    assert points[0] < -0.1


@pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested:UserWarning")
def test_the_other_fragments_of_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    defined: dict[str, Any] = {"BatchedScopaEnv": BatchedScopaEnv}
    assert run_fragments("torchrl", defined) == 3
    assert defined["returns"].shape == (64, 80, 1)
    assert "torch.Size([100, 2, 912])\ntorch.Size([100, 2])" in capsys.readouterr().out


def test_the_example_of_the_module() -> None:
    found = doctest.testmod(scopa_env.interop.torchrl)
    assert found.attempted == 4
    assert found.failed == 0
