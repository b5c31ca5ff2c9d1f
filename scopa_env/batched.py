"""Many games at once, every seat played from outside, arrays in and arrays out.

>>> from scopa_env.vector import BatchedScopa
>>> env = BatchedScopa(4096, "scopa", seed=1)
>>> for _ in range(100):
...     env.step(env.random_actions())
>>> env.observations.shape, env.rewards.shape
((4096, 592), (4096, 2))
"""

from __future__ import annotations

import copy
import itertools
import math
import os
import threading
from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

import numpy as np

from scopa_env import batch, observation, run
from scopa_env.actions import NUM_ACTIONS, IllegalAction
from scopa_env.engine.state import GAME, MAX_PLAYERS, NOBODY, Records, copy_of
from scopa_env.episode import EpisodeSettings, check_options, check_state, history, opening
from scopa_env.game import Game, View, check_index, check_seed, illegal_action_text, random_seed
from scopa_env.rules import Rules
from scopa_env.workers import Workers

Array = np.ndarray[Any, Any]
_MASK_WORDS = 2


def check_count(name: str, value: object, most: int = 1 << 31) -> int:
    """Return `value` as an int; raises a ValueError unless it is a whole number from 1."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 1 <= index(value) < most:
        raise ValueError(f"{name}={value!r}: allowed are whole numbers 1 .. {most - 1}")
    return index(value)


def seeds_of(seed: int | Sequence[int] | None, count: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Return a seed for each of `count` games: ``seed``, ``seed + 1`` .. as of Gymnasium, or those given.

    Raises:
        ValueError: a seed is none, or there are not `count` of them.
    """
    if isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str):
        if len(seed) != count or any(one is None for one in seed):
            raise ValueError(
                f"seed: {len(seed)} seeds, {list(seed)[:2]} ..; expected a number for each of {count} games"
            )
        return np.array([int(check_seed(one) or 0) & (1 << 64) - 1 for one in seed], np.uint64)
    first = check_seed(seed)
    whole = random_seed() if first is None else first & (1 << 64) - 1
    return np.uint64(whole) + np.arange(count, dtype=np.uint64)


_STATE = ("records", "runs", "rewards", "terminations")
"""The attributes that make up a state."""


class BatchedScopa:
    """Many games that are stepped together; a game that is over starts anew in the same step.

    Game `i` is move for move the game that `raw_env` plays after ``reset(seed=seed + i)`` with the same actions, its
    later episodes those after ``reset()``: whatever the number of games and of threads.

    Args:
        num_games: number of games.
        rules: a preset's name, text for `Rules.parse`, a mapping or Rules.
        seed: seed of game 0; game `i` has ``seed + i``; or a seed for each game; None: drawn.
        threads: number of threads; results do not depend on it.
        episode: ``"round"`` or ``"match"``.
        reward: ``"points"``, ``"win"`` or ``"decided"``, see `EpisodeSettings`.
        illegal: ``"raise"`` or ``"forfeit"``.
        forfeit_margin: what a forfeit costs.
        packed: write observations and masks as bits, see `scopa_env.observation.unpack`.
        observe: write observations and masks; without them `legal` and the games themselves are there.
        buffers: arrays to write into instead of new ones, by the name of the attribute; C-contiguous, of its shape and
            dtype, such as ``torch.empty(4096, 592, dtype=torch.int8).numpy()``.

    Attributes:
        observations: int8[N, D] of 0/1: what the seat to act observes; with `packed` uint64[N, W].
        masks: int8[N, 88]: its legal actions, `action_masks` without the seven bytes behind them; with `packed`
            uint64[N, 2].
        rewards: float32[N, players]: what each seat was paid by the last step.
        terminations: bool[N]: whether the episode ended in the last step; the observation is of the next one.
        to_play: int64[N]: the seat to act.

    These arrays are written by every `step` and `reset`; copy what you keep.

    Raises:
        ValueError: an argument that is not allowed; the message names it.
    """

    def __init__(
        self,
        num_games: int,
        rules: Rules | str | Mapping[str, Any] = "scopa",
        seed: int | Sequence[int] | None = None,
        *,
        threads: int = 1,
        episode: str = "round",
        reward: str = "points",
        illegal: str = "raise",
        forfeit_margin: float | None = None,
        packed: bool = False,
        observe: bool = True,
        buffers: Mapping[str, Array] | None = None,
    ) -> None:
        self.settings = EpisodeSettings(Rules.of(rules), episode, reward, illegal, forfeit_margin)
        self.rules = self.settings.rules
        self.num_games = check_count("num_games", num_games)
        self.threads = min(check_count("threads", threads, 1 << 10), self.num_games)
        self.packed = bool(packed)
        self._record = self.rules.record
        self._settings = self.settings.record(restarts=True)
        self._size = observation.observation_size(self.rules.players)
        self._make_buffers(bool(observe), dict(buffers or {}))
        self._workers: Workers | None = None
        self._busy = threading.Lock()  # one thread of Python at a time
        self._cut()
        self.reset(seed)

    # arrays

    def _make_buffers(self, observe: bool, buffers: dict[str, Array]) -> None:
        count, players = self.num_games, self.rules.players
        words = observation.words_of(self._size)
        shapes: dict[str, tuple[tuple[int, ...], type]] = {
            "observations": ((count, words), np.uint64) if self.packed else ((count, self._size), np.int8),
            "masks": ((count, _MASK_WORDS), np.uint64) if self.packed else ((count, observation.MASK_ROW), np.int8),
            "rewards": ((count, players), np.float32),
            "terminations": ((count,), np.bool_),
            "to_play": ((count,), np.int64),
        }
        if not observe:
            for name in ("observations", "masks"):
                shapes[name] = ((count, 0), shapes[name][1])
        for name, array in buffers.items():
            if name not in shapes:
                raise ValueError(f"buffers: {name!r}: allowed are {', '.join(shapes)}")
            _check_buffer(name, array, *shapes[name])
        arrays = {name: buffers[name] if name in buffers else _zeros(*shapes[name]) for name in shapes}
        self.observations, self.masks = arrays["observations"], arrays["masks"]
        self.rewards, self.terminations, self.to_play = (
            arrays[name] for name in ("rewards", "terminations", "to_play")
        )
        self.records = _zeros((count,), GAME)
        self.runs = _zeros((count,), run.RUN)
        self._actions = np.zeros(count, np.int64)
        self._drawn = np.zeros(count, np.int64)

    def _cut(self) -> None:
        """Cut all arrays into one slice for each thread."""
        bounds = np.linspace(0, self.num_games, self.threads + 1).astype(int).tolist()
        self._slices = [slice(begin, end) for begin, end in itertools.pairwise(bounds)]
        words = observation.words_of(self._size)
        self._parts: list[tuple[Any, ...]] = []
        for part in self._slices:
            seen = self.observations[part], self.masks[part]
            self._parts.append(
                (
                    self._record,
                    self._settings,
                    self.records[part],
                    self.runs[part],
                    self._actions[part],
                    self.rewards[part],
                    self.terminations[part].view(np.uint8),
                    self.to_play[part],
                    self.packed,
                    np.empty(MAX_PLAYERS, np.float64),
                    np.empty(words, np.uint64),
                    *(
                        array.view(np.uint64) if array.shape[1] else np.empty((len(array), 0), np.uint64)
                        for array in seen
                    ),
                )
            )

    @property
    def action_masks(self) -> Array:
        """int8[N, 81] of 0/1: the legal actions of the seat to act; a view of `masks`.

        Raises:
            ValueError: the batch is packed, or does not observe.
        """
        if self.packed or not self.masks.shape[1]:
            raise ValueError("action_masks: the batch is packed or does not observe; `legal` has the bits")
        masks: Array = self.masks[:, :NUM_ACTIONS]
        return masks

    @property
    def legal(self) -> Array:
        """uint64[N, 2], a copy: bit `a` of the 128 says that action `a` is legal."""
        legal: Array = self.runs["legal"].copy()
        return legal

    # stepping

    def reset(self, seed: int | Sequence[int] | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a new episode in every game.

        Args:
            seed: as of the constructor; None goes on with the games' generators, once they have been seeded.
            options: ``deck``, ``dealer`` or ``position``, the same for every game (`check_options`).

        Raises:
            ValueError: an argument that is not allowed; the running episodes stay as they are.
        """
        options = check_options(options)
        fresh = seed is not None or not self.records["rng"].any()
        records, runs = copy_of(self.records), copy_of(self.runs)
        if fresh:
            run.seed_all(records, runs, seeds_of(seed, self.num_games))
        if any(options.get(name) is not None for name in ("deck", "dealer", "position")):
            for i in range(self.num_games):
                dealer = NOBODY if fresh else (int(records["dealer"][i]) + 1) % self.rules.players
                records[i : i + 1] = opening(self.rules, options, int(records["rng"][i]), dealer)
        elif fresh:
            batch.start(self._record, records, NOBODY)
        else:
            run.deal_all(self._record, records, runs)
        run.begin_all(self._record, records, runs)
        with self._busy:
            self.records[:], self.runs[:] = records, runs
            self._refresh()

    def _refresh(self) -> None:
        """Write the arrays anew from the games, as after a reset."""
        self.rewards[:] = 0
        self.terminations[:] = False
        self.to_play[:] = self.records["seat"]
        for part in self._parts:
            rules, _, games, runs, *_, packed, _, scratch, observations, masks = part
            run.observe(rules, games, runs, packed, scratch, observations, masks)

    def step(self, actions: Array | Sequence[int]) -> None:
        """Take one action in every game, and write the arrays.

        Args:
            actions: [N] whole numbers: the action of the seat to act.

        Raises:
            IllegalAction: an action is illegal (with ``illegal="raise"``); nothing has changed in any game.
            ValueError: the actions are not N whole numbers.
        """
        given = np.asarray(actions)
        if given.shape != (self.num_games,) or given.dtype.kind not in "iu":
            raise ValueError(
                f"actions: {given.dtype}{given.shape}; expected whole numbers of shape ({self.num_games},)"
            )
        with self._busy:
            self._step(given)

    def _step(self, given: Array) -> None:
        self._actions[:] = given
        if not self._settings["forfeits"][0]:
            wrong = run.first_illegal(self.runs, self._actions)
            if wrong >= 0:
                raise IllegalAction(f"game {wrong}: {illegal_action_text(self.game(wrong), int(given[wrong]))}")
        if self.threads == 1:
            run.step(*self._parts[0])
            return
        self._threads().step()

    def _threads(self) -> Workers:
        """Return the threads; they start when they are needed first."""
        if self._workers is None or self._workers.process != os.getpid():
            parts = [(part, self._drawn[place]) for part, place in zip(self._parts, self._slices, strict=True)]
            self._workers = Workers(parts)
        return self._workers

    def random_actions(self, out: Array | None = None) -> Array:
        """Return int64[N]: one of the legal actions of each game, each equally likely.

        They come from generators beside the games: drawing does not change what the games will deal.

        Args:
            out: int64[N] to write to; None: a new array.
        """
        if out is None:
            out = np.empty(self.num_games, np.int64)
        _check_buffer("out", out, (self.num_games,), np.int64)
        with self._busy:
            if self.threads == 1:
                run.random_actions(self.runs, out)
            else:
                self._threads().draw()
                out[:] = self._drawn
        return out

    # looking at games, saving and restoring

    def game(self, index: int) -> Game:
        """Return a copy of a game, hidden cards included."""
        index = check_index(index, self.num_games)
        return Game.from_records(self.rules, copy_of(self.records[index : index + 1]))

    def view(self, index: int) -> View:
        """Return what the seat to act knows in a game."""
        game = self.game(index)
        return game.view(game.seat)

    def views(self) -> Records:
        """Return GAME[N]: what the seats to act know, for agents that decide on many games (``agent.act_batch``)."""
        out = np.empty(self.num_games, GAME)
        batch.strip(self._record, self.records, np.asarray(self.to_play, np.int64), out)
        return out

    def histories(self) -> Array:
        """Return int8[N, 40, 88]: the plays of each round as the seat to act sees them."""
        return history(self.rules, self.records, self.to_play)

    def states(self) -> Array:
        """Return int8[N, S]: everything, hidden cards included, see `observation.state_pieces`."""
        size = observation.state_size(self.rules.players)
        out = np.empty((self.num_games, size // 8), np.uint64)
        batch.full_states(self._record, self.records, np.empty(observation.words_of(size), np.uint64), out)
        return out.view(np.int8)

    def get_state(self) -> dict[str, Any]:
        """Return everything that `set_state` needs to go on from here; it can be pickled."""
        with self._busy:
            arrays = {name: getattr(self, name).copy() for name in _STATE}
        return {"of": self.settings.text("BatchedScopa"), **arrays}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go back to a state that `get_state` returned, in this or an equal batch.

        Raises:
            ValueError: it is no such state, or belongs to another kind of environment, other rules or settings, or
                another number of games.
        """
        state = check_state(state, self.settings.text("BatchedScopa"), _STATE)
        records: Records = state["records"]
        if len(records) != self.num_games:
            raise ValueError(f"state: it has {len(records)} games, this batch {self.num_games}")
        with self._busy:
            self.records[:], self.runs[:] = records, state["runs"]
            self._refresh()
            self.rewards[:], self.terminations[:] = state["rewards"], state["terminations"]

    def close(self) -> None:
        """End the threads; they start again when they are needed."""
        with self._busy:
            workers, self._workers = self._workers, None
        if workers is not None:
            workers.close()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_workers", "_parts", "_busy")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._workers = None
        self._busy = threading.Lock()
        self._cut()

    def __deepcopy__(self, memo: dict[int, Any]) -> BatchedScopa:
        twin = BatchedScopa.__new__(BatchedScopa)
        memo[id(self)] = twin
        twin.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return twin

    def __del__(self) -> None:
        workers = getattr(self, "_workers", None)
        if workers is not None:
            workers.close()


def _zeros(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return an array of zeros that begins with a cache line, so that no record lies in one more than it must."""
    of = np.dtype(dtype)
    size = math.prod(shape) * of.itemsize
    memory = np.zeros(size + 64, np.uint8)
    begin = -memory.ctypes.data % 64
    array: Array = memory[begin : begin + size].view(of).reshape(shape)
    return array


def _check_buffer(name: str, array: object, shape: tuple[int, ...], dtype: type) -> None:
    fits = (
        isinstance(array, np.ndarray)
        and array.shape == shape
        and array.dtype == dtype
        and array.flags.c_contiguous
        and array.flags.writeable
        and array.ctypes.data % 8 == 0
    )
    if not fits:
        found = f"{array.dtype}{array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        if isinstance(array, np.ndarray):
            found += "".join(f", {what}" for what, is_so in _faults(array) if is_so)
        raise ValueError(
            f"{name}: {found}; expected a writeable C-contiguous {np.dtype(dtype)}{shape} array, aligned to 8 bytes"
        )


def _faults(array: Array) -> list[tuple[str, bool]]:
    return [
        ("read-only", not array.flags.writeable),
        ("not C-contiguous", not array.flags.c_contiguous),
        ("not aligned", array.ctypes.data % 8 != 0),
    ]
