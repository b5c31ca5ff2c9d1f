"""Environments of many games: `BatchedScopa`, and the `gymnasium.vector.VectorEnv` with agents inside.

>>> import gymnasium
>>> envs = gymnasium.make_vec("scopa_env:Scopa-v0", num_envs=64, opponent="greedy")
>>> observations, infos = envs.reset(seed=1)
>>> actions = [int(mask.nonzero()[0][0]) for mask in infos["action_mask"]]
>>> observations, rewards, terminations, truncations, infos = envs.step(actions)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from scopa_env.actions import as_word, check_action
from scopa_env.batched import Array, BatchedScopa, check_count, seeds_of
from scopa_env.episode import EpisodeSettings, history
from scopa_env.game import Game, View
from scopa_env.render import RENDER_MODES, check_render_mode
from scopa_env.render.text import table_text
from scopa_env.rules import Rules
from scopa_env.seated import Ints, SeatedGames, Specs
from scopa_env.spaces import action_space, observation_space

__all__ = ["BatchedScopa", "ScopaVectorEnv"]


class ScopaVectorEnv(VectorEnv[Any, Any, Any]):
    """Many games of `ScopaEnv` in one: a learner in one seat of each, agents in the others.

    Random and greedy play inside the compiled loop; another agent is called once a step on all games where it is to
    act, if it has ``act_batch``, else once for each.  Game `i` is the game of ``ScopaEnv`` after
    ``reset(seed=seed + i)`` if all agents are compiled.

    Args:
        num_envs: number of games.
        rules: a preset's name, text for `Rules.parse`, a mapping or Rules.
        opponent: who plays the other seats, see `ScopaEnv`.
        partner: who plays the seats of the learner's team.
        seat: the learner's seat; None: drawn for each episode.
        episode: ``"round"`` or ``"match"``.
        reward: ``"points"``, ``"win"`` or ``"decided"``, see `EpisodeSettings`.
        history: observations become ``{"observation": ..., "history": int8[N, 40, 88]}``.
        illegal: ``"raise"`` or ``"forfeit"``.
        forfeit_margin: what a forfeit costs.
        render_mode: None or ``"ansi"``.

    An episode that is over is followed by the next one in the same step (``AutoresetMode.SAME_STEP``): the observation
    is the first of the next episode, ``infos["final_obs"]`` and ``infos["final_info"]`` are of the last one.
    ``infos["action_mask"]`` is int8[N, 81].  All arrays are the caller's own.

    Raises:
        ValueError: an argument that is not allowed; the message names it.
    """

    metadata: dict[str, Any] = {
        "render_modes": list(RENDER_MODES),
        "render_fps": 1,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        rules: Rules | str | Mapping[str, Any] = "scopa",
        opponent: Specs = "random",
        partner: Specs | None = None,
        *,
        seat: int | None = None,
        episode: str = "round",
        reward: str = "points",
        history: bool = False,
        illegal: str = "raise",
        forfeit_margin: float | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.settings = EpisodeSettings(Rules.of(rules), episode, reward, illegal, forfeit_margin)
        self.rules = self.settings.rules
        self.history = bool(history)
        self.render_mode = check_render_mode(render_mode)
        self.num_envs = check_count("num_envs", num_envs)
        self.games = SeatedGames(
            self.settings, self.num_envs, opponent, partner, seat, restarts=True, keep_rounds=self.history
        )
        self.single_observation_space = observation_space(self.rules.players, mask=False, history=self.history)
        self.single_action_space = action_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._masks: Array = np.zeros((self.num_envs, 0), np.int8)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start a new episode in every game.

        Args:
            seed: game `i` has ``seed + i``; or a seed for each game; None goes on with the generators as they stand.
            options: ``deck``, ``dealer``, ``seat``, ``position``, the same for every game; ``reset_mask``, bool[N]: the
                games to start anew, the others go on; others are ignored.

        Raises:
            ValueError: an argument that is not allowed; the running episodes stay as they are.
        """
        if isinstance(seed, Sequence) and all(one is None for one in seed):
            seed = None
        seeds = None if seed is None else seeds_of(seed, self.num_envs).tolist()
        rows = _rows_of((options or {}).get("reset_mask"), self.num_envs)
        self.games.reset(seeds, options, rows)
        if seeds is not None:
            self._np_random_seed = seeds[0]
            self._np_random = np.random.default_rng(seeds[0])
        return self._observations(), self._infos()

    def step(self, actions: Any) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        """Take the learner's action in every game.

        Args:
            actions: [N] whole numbers.

        Returns:
            Observations, float64[N] rewards, bool[N] terminations, bool[N] truncations (False), infos.

        Raises:
            IllegalAction: an action is illegal (with ``illegal="raise"``); nothing has changed in any game.
            RuntimeError: `reset` has not been called.
        """
        games = self.games
        if not games.started:
            raise RuntimeError("step: call reset() first; no episode is running")
        given = _whole_numbers(actions, self.num_envs)
        seats = games.runs["learner"].copy()
        games.step(given)
        done = games.terminations.astype(np.bool_)
        seen, infos = self._observations(), self._infos()
        if done.any():
            self._add_finals(infos, done, seats)
        return seen, games.rewards.copy(), done, np.zeros(self.num_envs, np.bool_), infos

    def _observations(self) -> Any:
        seen, self._masks = self.games.observe()
        if self.history:
            return {"observation": seen, "history": self._histories()}
        return seen

    def _histories(self) -> Array:
        return history(self.rules, self.games.records, self.games.runs["learner"].astype(np.int64))

    def _infos(self) -> dict[str, Any]:
        every = np.ones(self.num_envs, np.bool_)
        infos = {"action_mask": self._masks.copy(), "seat": self.games.runs["learner"].astype(np.int64)}
        return infos | {f"_{name}": every.copy() for name in infos}

    def _add_finals(self, infos: dict[str, Any], done: Array, seats: Array) -> None:
        """Add what belongs to the episodes that ended, in the form of Gymnasium's own vector environments."""
        rows = np.flatnonzero(done)
        last = list(self.games.finals[rows].view(np.int8))
        if self.history:
            plays = history(self.rules, self.games.last_rounds[rows], seats[rows].astype(np.int64))
            last = [{"observation": seen, "history": row} for seen, row in zip(last, plays, strict=True)]
        finals = np.full(self.num_envs, None, object)
        for row, seen in zip(rows.tolist(), last, strict=True):
            finals[row] = seen
        forfeits = self.games.runs["forfeited_by"].astype(np.int64)
        forfeited = done & (forfeits >= 0)
        final_info: dict[str, Any] = {
            "action_mask": np.zeros_like(self._masks),
            "_action_mask": done.copy(),
            "seat": np.where(done, seats, 0).astype(np.int64),
            "_seat": done.copy(),
        }
        if forfeited.any():
            final_info |= {"forfeited_by": np.where(forfeited, forfeits, 0), "_forfeited_by": forfeited}
        infos |= {"final_obs": finals, "_final_obs": done.copy(), "final_info": final_info, "_final_info": done.copy()}

    def action_masks(self) -> Array:
        """Return bool[N, 81]: the learners' legal actions."""
        masks: Array = self._masks.astype(np.bool_)
        return masks

    def game(self, index: int) -> Game:
        """Return a copy of a running game, hidden cards included."""
        return self.games.game(index)

    def view(self, index: int) -> View:
        """Return what the learner of a game knows."""
        return self.game(index).view(self.games.seat(index))

    def get_state(self) -> dict[str, Any]:
        """Return everything that `set_state` needs to go on from here."""
        return self.games.get_state()

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go back to a state that `get_state` returned."""
        self.games.set_state(state)
        self._masks = self.games.observe()[1]

    def render(self) -> tuple[str, ...] | None:
        """Return the table of each game as its learner sees it, as text, with ``render_mode="ansi"``, else None."""
        if self.render_mode != "ansi":
            return None
        return tuple(table_text(self.view(index)) for index in range(self.num_envs))


def _rows_of(mask: Any, count: int) -> Ints | None:
    """Return the games of Gymnasium's ``reset_mask``; None for all.

    Raises:
        ValueError: it is no bool[N] with at least one True.
    """
    if mask is None:
        return None
    if not isinstance(mask, np.ndarray) or mask.shape != (count,) or mask.dtype != np.bool_ or not mask.any():
        raise ValueError(f"options: reset_mask={mask!r}: expected a bool[{count}] array with at least one True")
    return np.flatnonzero(mask)


def _whole_numbers(actions: Any, count: int) -> Ints:
    """Return actions as int64[count]."""
    given = np.asarray(actions)
    if given.shape != (count,):
        raise ValueError(f"actions: shape {given.shape}; expected ({count},)")
    if given.dtype.kind in "iu":
        return np.ascontiguousarray(given, np.int64)
    return np.array([as_word(check_action(action)) for action in given.tolist()], np.int64)
