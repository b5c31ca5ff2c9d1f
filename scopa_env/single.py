"""The Gymnasium environment: one learner, the other seats played by agents.

>>> import gymnasium
>>> env = gymnasium.make("scopa_env:Scopa-v0", opponent="greedy")
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from scopa_env.actions import IllegalAction, as_word, check_action
from scopa_env.episode import Array, EpisodeSettings, history
from scopa_env.game import Game, View, check_seed, illegal_action_text
from scopa_env.render import RENDER_MODES, check_render_mode
from scopa_env.render.text import table_text
from scopa_env.rules import Rules
from scopa_env.seated import SeatedGames, Specs
from scopa_env.spaces import action_space, observation_space


class ScopaEnv(gymnasium.Env[Any, Any]):
    """Scopa for Gymnasium: the learner has one seat, agents have the others.

    Args:
        rules: a preset's name, text for `Rules.parse`, a mapping or Rules.
        opponent: who plays the other seats: a name such as ``"greedy"``, an agent, a function on a `View`; or a
            sequence of these, of which one is drawn for each episode.
        partner: who plays the seats of the learner's team, in the same forms; None: as the opponents.
        seat: the learner's seat; None: drawn for each episode.
        episode: ``"round"`` or ``"match"``.
        reward: ``"points"``, ``"win"`` or ``"decided"``, see `EpisodeSettings`.
        history: observations become ``{"observation": ..., "history": int8[40, 88]}``.
        illegal: ``"raise"`` or ``"forfeit"``.
        forfeit_margin: what a forfeit costs.
        render_mode: None or ``"ansi"``.

    Observations are int8[D] of 0/1 (`scopa_env.observation`), fresh arrays.  ``info["action_mask"]`` (int8[81]) and
    `action_masks` say what is legal; ``info["seat"]`` is the learner's seat.  ``info["forfeited_by"]`` is there
    only when an episode ended by an illegal action (``illegal="forfeit"``): the seat that made it.

    Raises:
        ValueError: an argument that is not allowed; the message names it.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 1}

    def __init__(
        self,
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
        settings = EpisodeSettings(Rules.of(rules), episode, reward, illegal, forfeit_margin)
        self.settings = settings
        self.rules = settings.rules
        self.history = bool(history)
        self.render_mode = check_render_mode(render_mode)
        self._table = SeatedGames(settings, 1, opponent, partner, seat, kind="ScopaEnv", keep_rounds=True)
        self.observation_space: spaces.Space[Any] = observation_space(
            self.rules.players, mask=False, history=self.history
        )
        self.action_space: spaces.Space[Any] = action_space()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a new episode; the other seats play up to the learner's first decision.

        Args:
            seed: seed of everything that follows, the agents made from names included.
            options: ``deck``, ``dealer``, ``seat``, ``position``; others are ignored.

        Raises:
            ValueError: an option that is not allowed; the running episode stays as it is.
        """
        seed = check_seed(seed)
        self._table.reset(None if seed is None else [seed], options)
        super().reset(seed=seed)
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take the learner's action; the other seats play up to its next decision or the end.

        Returns:
            Observation, reward of the learner's side since its last step, terminated, truncated (False), info.

        Raises:
            IllegalAction: the action is illegal (with ``illegal="raise"``) and nothing has changed; or another
                agent's move is.
            RuntimeError: no episode is running.
        """
        table = self._table
        if not table.started or table.runs["over"][0]:
            raise RuntimeError("step: call reset() first; no episode is running")
        said = check_action(action)
        if self.settings.illegal == "raise" and as_word(said) != said:
            raise IllegalAction(illegal_action_text(self.game(), said))
        table.step(np.array([as_word(said)]))
        return self._observation(), float(table.rewards[0]), bool(table.terminations[0]), False, self._info()

    def _observation(self) -> Any:
        observations, masks = self._table.observe()
        self._mask = masks[0]
        if self.history:
            return {"observation": observations[0], "history": self._history()}
        return observations[0]

    def _history(self) -> Array:
        seen: Array = history(self.rules, self._table.records, np.array([self.seat]))[0]
        return seen

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": self._mask.copy(), "seat": self.seat}
        if (seat := self._table.forfeited_by(0)) is not None:
            info["forfeited_by"] = seat
        return info

    @property
    def seat(self) -> int:
        """The learner's seat."""
        return self._table.seat(0)

    def _check_running(self) -> None:
        if not self._table.started:
            raise RuntimeError("call reset() first; no episode has been started")

    def action_masks(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return bool[81]: the learner's legal actions (the name that sb3-contrib looks for)."""
        self._check_running()
        masks: np.ndarray[Any, np.dtype[np.bool_]] = self._mask.astype(np.bool_)
        return masks

    def game(self) -> Game:
        """Return a copy of the running game, hidden cards included."""
        self._check_running()
        return self._table.game(0)

    def view(self) -> View:
        """Return what the learner knows, as a `View`."""
        return self.game().view(self.seat)

    def get_state(self) -> dict[str, Any]:
        """Return everything that `set_state` needs to go on from here; the agents as far as they can be copied."""
        self._check_running()
        face = copy.deepcopy({name: getattr(self, name) for name in ("_mask", "_np_random", "_np_random_seed")})
        return self._table.get_state() | {"face": face}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go back to a state that `get_state` returned."""
        self._table.set_state(state)
        for name, value in copy.deepcopy(dict(state.get("face", {}))).items():
            setattr(self, name, value)

    def render(self) -> Any:
        """Return the table as the learner sees it, as text, with ``render_mode="ansi"``, else None."""
        return table_text(self.view()) if self.render_mode == "ansi" else None
