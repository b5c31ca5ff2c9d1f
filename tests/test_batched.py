"""`BatchedScopa`: the games of single environments, whatever their number and that of the threads."""

from __future__ import annotations

import copy
import os
import pickle
import random
import re
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

from helpers import ALL_PRESETS, VARIANTS, contents
from scopa_env import Game, IllegalAction, raw_env
from scopa_env.batched import seeds_of
from scopa_env.observation import observation_size, unpack
from scopa_env.vector import BatchedScopa

pytestmark = pytest.mark.nojit

SIX = "scopa:players=6,teams=true"


def check_against_single(rules: str, *, steps: int, **arguments: Any) -> None:
    """Step a batch and as many single environments by the same actions, and compare everything."""
    settings = {name: arguments[name] for name in ("episode", "reward") if name in arguments}
    batch = BatchedScopa(5, rules, seed=40, **arguments)
    singles = [raw_env(rules, **settings) for _ in range(5)]
    for i, env in enumerate(singles):
        env.reset(seed=40 + i)
    ends = 0
    for _ in range(steps):
        for i, env in enumerate(singles):
            agent = env.agent_selection
            assert batch.to_play[i] == env.possible_agents.index(agent)
            seen = env.observe(agent)
            assert np.array_equal(seen["observation"], batch.observations[i])
            assert np.array_equal(seen["action_mask"], batch.action_masks[i])
            assert contents(env._episode.records) == contents(batch.records[i : i + 1])
        actions = batch.random_actions()
        batch.step(actions)
        for i, env in enumerate(singles):
            env.step(int(actions[i]))
            over = all(env.terminations.values())
            assert batch.terminations[i] == over
            paid = [env.rewards[agent] for agent in env.possible_agents]
            assert batch.rewards[i].tolist() == np.array(paid, np.float32).tolist()
            if over:
                ends += 1
                env.reset()
    assert ends > 0


@pytest.mark.parametrize("rules", [*ALL_PRESETS, *VARIANTS])
def test_a_game_of_a_batch_is_the_game_of_a_single_environment(rules: str) -> None:
    check_against_single(rules, steps=90)


@pytest.mark.parametrize("reward", ["points", "win", "decided"])
@pytest.mark.parametrize("rules", ["scopa:target=4", "bga_scopa:players=3,target=3", "scopa:target=2,target_tie=draw"])
def test_matches_and_rewards_of_a_batch(rules: str, reward: str) -> None:
    check_against_single(rules, steps=250, episode="match", reward=reward)


def run_of(batch: BatchedScopa, steps: int, actions: list[np.ndarray] | None = None) -> list[tuple[bytes, ...]]:
    """Step and say everything that a step writes."""
    said = []
    for step in range(steps):
        given = batch.random_actions() if actions is None else actions[step]
        batch.step(given)
        arrays = (given, batch.observations, batch.masks, batch.rewards, batch.terminations, batch.to_play)
        said.append(tuple(array.tobytes() for array in arrays))
    return said


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_threads_change_nothing(threads: int) -> None:
    one = run_of(BatchedScopa(33, "scopone", seed=5), 120)
    assert run_of(BatchedScopa(33, "scopone", seed=5, threads=threads), 120) == one


def test_the_size_of_the_batch_changes_nothing() -> None:
    large, small = BatchedScopa(64, "scopa", seed=9), BatchedScopa(3, "scopa", seed=9 + 20)
    for _ in range(100):
        actions = large.random_actions()
        large.step(actions)
        small.step(actions[20:23])
        assert np.array_equal(large.observations[20:23], small.observations)
        assert np.array_equal(large.rewards[20:23], small.rewards)


@pytest.mark.parametrize("rules", ["scopa", "escoba:players=3", "scopone", SIX])
def test_packed_bits_are_the_same_features(rules: str) -> None:
    plain, packed = BatchedScopa(20, rules, seed=3), BatchedScopa(20, rules, seed=3, packed=True)
    size = observation_size(plain.rules.players)
    for _ in range(60):
        assert np.array_equal(unpack(packed.observations, size), plain.observations)
        assert np.array_equal(unpack(packed.masks, 81), plain.action_masks)
        assert np.array_equal(plain.masks[:, 81:], np.zeros((20, 7)))
        assert np.array_equal(unpack(plain.legal, 81), plain.action_masks)
        actions = plain.random_actions()
        plain.step(actions)
        packed.step(actions)


def test_the_recipe_for_torch_unpacks_alike() -> None:
    torch = pytest.importorskip("torch")
    batch = BatchedScopa(20, "scopa", seed=3, packed=True)
    run_of(batch, 30)
    words = torch.from_numpy(batch.observations.view(np.int64))
    bits = (words[..., None] >> torch.arange(64) & 1).flatten(-2)[..., :592]
    assert np.array_equal(bits.numpy(), unpack(batch.observations, 592))


def test_given_buffers_are_written_and_shared_with_torch() -> None:
    torch = pytest.importorskip("torch")
    tensors = {
        "observations": torch.empty(16, 592, dtype=torch.int8),
        "masks": torch.empty(16, 88, dtype=torch.int8),
        "rewards": torch.empty(16, 2),
        "terminations": torch.empty(16, dtype=torch.bool),
        "to_play": torch.empty(16, dtype=torch.int64),
    }
    batch = BatchedScopa(16, "scopa", seed=1, buffers={name: tensor.numpy() for name, tensor in tensors.items()})
    plain = BatchedScopa(16, "scopa", seed=1)
    for _ in range(40):
        plain.step(batch.random_actions())
        batch.step(plain._actions)
        for name, tensor in tensors.items():
            assert getattr(batch, name).ctypes.data == tensor.data_ptr()
            assert np.array_equal(tensor.numpy(), getattr(plain, name))


@pytest.mark.parametrize(
    "arguments",
    [
        {"observations": np.zeros((4, 592), np.int32)},
        {"observations": np.zeros((4, 591), np.int8)},
        {"observations": np.zeros((4, 1184), np.int8)[:, ::2]},
        {"masks": np.zeros((4, 81), np.int8)},
        {"rewards": [[0.0, 0.0]] * 4},
        {"terminations": np.zeros(4, np.uint8)},
        {"to_play": np.zeros(4, np.int32)},
        {"seats": np.zeros(4, np.int64)},
    ],
)
def test_buffers_that_do_not_fit_are_named(arguments: dict[str, Any]) -> None:
    name = next(iter(arguments))
    with pytest.raises(ValueError, match=name):
        BatchedScopa(4, "scopa", buffers=arguments)


def test_save_and_restore_at_any_step() -> None:
    batch = BatchedScopa(12, "scopa:target=3", seed=2, episode="match", reward="decided", threads=2)
    run_of(batch, 37)
    state = pickle.loads(pickle.dumps(batch.get_state()))
    copies = [
        copy.deepcopy(batch),
        pickle.loads(pickle.dumps(batch)),
        BatchedScopa(12, "scopa:target=3", episode="match", reward="decided"),
    ]
    copies[-1].set_state(state)
    for other in copies:
        for name in ("observations", "masks", "rewards", "terminations", "to_play"):
            assert np.array_equal(getattr(other, name), getattr(batch, name)), name
    said = run_of(batch, 60)
    for other in copies:
        assert run_of(other, 60) == said
    with pytest.raises(ValueError, match="belongs to BatchedScopa scopa:target=3"):
        BatchedScopa(12, "escoba").set_state(state)
    with pytest.raises(ValueError, match="it has 12 games, this batch 5"):
        BatchedScopa(5, "scopa:target=3", episode="match", reward="decided").set_state(state)


def test_an_illegal_action_changes_nothing_in_any_game() -> None:
    batch = BatchedScopa(6, "scopa", seed=4, threads=2)
    run_of(batch, 11)
    before = batch.get_state()
    actions = batch.random_actions()
    before = batch.get_state()
    for wrong in (80, 81, -1, 2**40, next(a for a in range(40) if not batch.action_masks[3, a])):
        spoiled = actions.copy()
        spoiled[3] = wrong
        with pytest.raises(IllegalAction, match=re.escape(f"game 3: action {wrong}")):
            batch.step(spoiled)
        after = batch.get_state()
        assert all(np.array_equal(before[name], after[name]) for name in ("records", "runs", "rewards"))
    batch.step(actions)


def test_an_illegal_action_can_forfeit() -> None:
    batch = BatchedScopa(3, "scopa", seed=4, illegal="forfeit", forfeit_margin=2)
    seat = int(batch.to_play[1])
    actions = batch.random_actions()
    actions[1] = 99
    batch.step(actions)
    assert batch.terminations.tolist() == [False, True, False]
    assert batch.rewards[1, seat] == -2
    assert batch.rewards[1].sum() == 0
    assert batch.game(1).plays == ()


@pytest.mark.parametrize(
    "actions", [[0, 1], [0.0, 1.0, 2.0], [[0, 1, 2]], np.zeros(3, bool), None, "abc", [2**70, 0, 0]]
)
def test_actions_that_are_no_whole_numbers_of_the_right_shape(actions: Any) -> None:
    batch = BatchedScopa(3, "scopa", seed=4)
    with pytest.raises(ValueError, match="actions: "):
        batch.step(actions)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
def test_actions_of_every_integer_type(dtype: type) -> None:
    one, other = BatchedScopa(8, "scopa", seed=4), BatchedScopa(8, "scopa", seed=4)
    for _ in range(20):
        actions = one.random_actions()
        one.step(actions)
        other.step(actions.astype(dtype))
        assert np.array_equal(one.observations, other.observations)
        other.random_actions()


def test_random_actions_are_legal_and_uniform_and_leave_the_games_alone() -> None:
    batch = BatchedScopa(1, "escoba", seed=8)
    counts = np.zeros(81)
    before = contents(batch.records)
    for _ in range(6000):
        counts[batch.random_actions()] += 1
    assert contents(batch.records) == before
    legal = np.flatnonzero(batch.action_masks[0])
    assert counts.sum() == counts[legal].sum()
    expected = 6000 / len(legal)
    assert abs(((counts[legal] - expected) ** 2 / expected).sum() - (len(legal) - 1)) < 5 * (2 * len(legal)) ** 0.5


def test_resets() -> None:
    batch = BatchedScopa(4, "scopa", seed=7)
    first = batch.observations.copy()
    run_of(batch, 10)
    batch.reset(7)
    assert np.array_equal(batch.observations, first)
    batch.reset()
    single = raw_env("scopa")
    single.reset(seed=7)
    single.reset()
    assert contents(single._episode.records) == contents(batch.records[:1])
    batch.reset([7, 7, 8, 9])
    assert np.array_equal(batch.observations[0], batch.observations[1])
    assert not np.array_equal(batch.observations[1], batch.observations[2])
    deck = Game("scopa", seed=1).deck
    batch.reset(3, options={"deck": deck, "dealer": 1})
    assert {batch.game(i).deck for i in range(4)} == {deck}
    assert set(batch.to_play.tolist()) == {0}
    batch.reset(options={"position": "scopa 7d3c5s/?3 2dFc4s6b ?30 -/- 0/0 0 - 1"})
    assert {batch.game(i).hands[0] for i in range(4)} == {(6, 12, 24)}
    assert len({batch.game(i).hands[1] for i in range(4)}) > 1
    before = batch.get_state()
    for options in ({"deck": "7d"}, {"postion": "x"}, {"dealer": 2}):
        with pytest.raises(ValueError, match=r"deck|position|dealer"):
            batch.reset(1, options=options)
    assert np.array_equal(batch.get_state()["records"], before["records"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_games": 0}, "num_games=0: allowed are whole numbers 1 .. "),
        ({"num_games": 2.0}, "num_games=2.0"),
        ({"num_games": True}, "num_games=True"),
        ({"num_games": 10**12}, "num_games=1000000000000: allowed are whole numbers 1 .. 2147483647"),
        ({"num_games": 2, "threads": 0}, "threads=0"),
        ({"num_games": 2, "seed": -1}, "seed=-1"),
        ({"num_games": 2, "seed": [1, 2, 3]}, "3 seeds, [1, 2] ..; expected a number for each of 2 games"),
        ({"num_games": 2, "seed": [1, None]}, "2 seeds, [1, None] .."),
        ({"num_games": 2, "rules": "skopa"}, "did you mean 'scopa'"),
        ({"num_games": 2, "reward": "money"}, "reward='money'"),
    ],
)
def test_arguments_that_are_not_allowed(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        BatchedScopa(**arguments)


def test_seeds_are_those_of_gymnasium() -> None:
    assert seeds_of(5, 3).tolist() == [5, 6, 7]
    assert seeds_of([9, 2], 2).tolist() == [9, 2]
    assert seeds_of(2**64 + 1, 2).tolist() == [1, 2]
    assert len(set(seeds_of(None, 50).tolist())) == 50


def test_looking_at_a_game() -> None:
    batch = BatchedScopa(3, "scopone", seed=1)
    run_of(batch, 9)
    game = batch.game(2)
    assert game.seat == batch.to_play[2]
    assert np.array_equal(batch.view(2).observation(), batch.observations[2])
    assert np.array_equal(batch.states()[2], game.state())
    rows = batch.histories()[2]
    assert rows.shape == (40, 88)
    assert rows.any(axis=1).sum() == len(game.plays)
    assert batch.game(-1) == game
    for index in (3, -4):
        with pytest.raises(IndexError, match="allowed are games"):
            batch.game(index)


def test_a_batch_that_does_not_observe_plays_the_same_games() -> None:
    blind, seeing = BatchedScopa(7, "scopa", seed=1, observe=False), BatchedScopa(7, "scopa", seed=1)
    rng = random.Random(1)
    for _ in range(50):
        actions = [rng.choice(np.flatnonzero(mask).tolist()) for mask in seeing.action_masks]
        blind.step(actions)
        seeing.step(actions)
        assert np.array_equal(blind.legal, seeing.legal)
        assert np.array_equal(blind.rewards, seeing.rewards)
    assert blind.observations.shape == (7, 0)
    with pytest.raises(ValueError, match="does not observe"):
        _ = blind.action_masks


def test_an_observation_does_not_tell_hidden_cards() -> None:
    """The redraw test: what a seat cannot see changes nothing in what the batch writes for it."""
    from scopa_env import batch as kernels

    for rules in ("scopa", "escoba", "german_4p:partner_hand_visible=true", "bga_scopa:players=3"):
        one = BatchedScopa(30, rules, seed=6)
        run_of(one, 25)
        seen, masks = one.observations.copy(), one.masks.copy()
        kernels.redraw(one.rules.record, one.records, one.to_play)
        one._refresh()
        assert np.array_equal(one.observations, seen)
        assert np.array_equal(one.masks, masks)


# threads


INTERRUPTED = """
import signal, sys
import numpy as np
from scopa_env.vector import BatchedScopa
batch = BatchedScopa(3000, "scopa", seed=1, threads=2)
plain = BatchedScopa(3000, "scopa", seed=1)
batch.step(batch.random_actions())
plain.step(plain.random_actions())

def interrupt(*_):
    if armed:
        raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
steps = interrupts = 0
armed = False
rng = np.random.default_rng(0)
while interrupts < 60:
    actions = plain.random_actions()
    before = batch.get_state()
    made = False
    signal.setitimer(signal.ITIMER_REAL, rng.random() * 1e-3 + 1e-6)
    try:
        armed = True
        batch.step(actions)
        armed = False
        made = True
    except KeyboardInterrupt:
        armed = False
        interrupts += 1
        made = any(not np.array_equal(before["records"][name], batch.records[name]) for name in ("plays", "card"))
    signal.setitimer(signal.ITIMER_REAL, 0)
    if made:
        plain.step(actions)
        steps += 1
    assert all(np.array_equal(batch.records[name], plain.records[name]) for name in batch.records.dtype.names)
print(steps, interrupts)
"""


def test_an_interrupt_leaves_no_slice_behind_another() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout.split()[1]) == 60


FORKED = """
import os, sys
import numpy as np
from scopa_env.vector import BatchedScopa
batch = BatchedScopa(100, "scopa", seed=1, threads=2)
batch.step(batch.random_actions())
child = os.fork()
batch.step(batch.random_actions())
if child == 0:
    os._exit(0 if batch.records["plays"].any() else 1)
sys.exit(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_starts_threads_of_its_own() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_of_python_take_turns(threads: int) -> None:
    batch = BatchedScopa(2000, "scopa", seed=1, threads=threads)

    def work() -> None:
        for _ in range(30):
            batch.random_actions()

    others = [threading.Thread(target=work, daemon=True) for _ in range(3)]
    for thread in others:
        thread.start()
    for thread in others:
        thread.join(timeout=60)
        assert not thread.is_alive()
    alone = BatchedScopa(2000, "scopa", seed=1)
    for _ in range(90):
        alone.random_actions()
    assert np.array_equal(batch.random_actions(), alone.random_actions())


def test_threads_sleep_and_wake_up() -> None:
    import time

    batch, plain = BatchedScopa(50, "scopa", seed=1, threads=3), BatchedScopa(50, "scopa", seed=1)
    for pause in (0, 0.05, 0, 0.2, 0):
        time.sleep(pause)
        actions = plain.random_actions()
        assert np.array_equal(batch.random_actions(), actions)
        plain.step(actions)
        batch.step(actions)
        assert np.array_equal(batch.observations, plain.observations)
    batch.close()
    batch.step(plain.random_actions())


@pytest.mark.parametrize("rules", ["scopa", "scopone", SIX])
def test_views_of_all_games_are_those_of_each(rules: str) -> None:
    batch = BatchedScopa(7, rules, seed=3)
    for _ in range(50):
        views = batch.views()
        for i in range(7):
            assert views[i].tobytes() == batch.view(i).records[0].tobytes()
        batch.step(batch.random_actions())
