"""The PettingZoo AEC environment.

>>> import scopa_env
>>> env = scopa_env.env(rules="scopa")
>>> env.reset(seed=1)
>>> for agent in env.agent_iter():
...     observation, reward, terminated, truncated, info = env.last()
...     done = terminated or truncated
...     env.step(None if done else env.action_space(agent).sample(observation["action_mask"]))
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from scopa_env.actions import NUM_ACTIONS, check_action
from scopa_env.episode import Array, Episode, EpisodeSettings
from scopa_env.game import Game, View, check_seed
from scopa_env.observation import state_size
from scopa_env.render import RENDER_MODES, check_render_mode
from scopa_env.render.text import table_text
from scopa_env.rules import Rules
from scopa_env.spaces import action_space, observation_space


class raw_env(AECEnv[str, Any, Any]):  # noqa: N801  # PettingZoo's name
    """Scopa for PettingZoo: one agent a seat, ``player_0`` .. in playing order.

    Args:
        rules: a preset's name, text for `Rules.parse`, a mapping or Rules.
        episode: ``"round"`` or ``"match"``.
        reward: ``"points"``, ``"win"`` or ``"decided"``, see `EpisodeSettings`.
        history: add ``"history"`` to observations: int8[40, 88], every play of the round.
        illegal: ``"raise"`` or ``"forfeit"``.
        forfeit_margin: what a forfeit costs.
        render_mode: None or ``"ansi"``.

    Observations are ``{"observation": int8[D], "action_mask": int8[81]}``, fresh arrays; the mask is also in
    ``infos[agent]["action_mask"]``.  Masks of seats that are not to act are zero.

    Raises:
        ValueError: an argument that is not allowed; the message names it.
    """

    metadata: dict[str, Any] = {
        "name": "scopa_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 1,
    }

    def __init__(
        self,
        rules: Rules | str | Mapping[str, Any] = "scopa",
        *,
        episode: str = "round",
        reward: str = "points",
        history: bool = False,
        illegal: str = "raise",
        forfeit_margin: float | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        settings = EpisodeSettings(Rules.of(rules), episode, reward, illegal, forfeit_margin)
        self.rules = settings.rules
        self.history = bool(history)
        self.render_mode = check_render_mode(render_mode)
        self._episode = Episode(settings)
        players = self.rules.players
        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.agents: list[str] = []
        self.observation_spaces = {
            agent: observation_space(players, mask=True, history=self.history) for agent in self.possible_agents
        }
        self.action_spaces = {agent: action_space() for agent in self.possible_agents}
        self.state_space: spaces.Space[Any] = spaces.Box(0, 1, (state_size(players),), np.int8)
        self._side = [self.rules.side_of(seat) for seat in range(players)]
        self._observed: tuple[Array, Array] | None = None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the observation space of `agent`, the same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the action space of `agent`, the same object each time."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new episode.

        Args:
            seed: seed of everything that follows; None goes on with the random generator as it stands.
            options: ``deck`` (the first round's, in dealing order), ``dealer`` (a seat), ``position`` (text); others
                are ignored.

        Raises:
            ValueError: an option that is not allowed; the running episode stays as it is.
        """
        self._episode.reset(check_seed(seed), options)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {"action_mask": np.zeros(NUM_ACTIONS, np.int8)} for agent in self.agents}
        self._skip_agent_selection: str | None = None  # type: ignore[assignment]
        self._select()

    def _select(self) -> None:
        """Make the seat to act the selected agent, its mask known in `infos`."""
        seat = self._episode.seat
        self.agent_selection = self.possible_agents[seat]
        self._observed = self._episode.observe(seat)
        self.infos[self.agent_selection] = {"action_mask": self._observed[1].copy()}

    def _seat_of(self, agent: str) -> int:
        if agent not in self._seats:
            raise KeyError(f"agent {agent!r}: allowed are {', '.join(self.possible_agents)}")
        return self._seats[agent]

    def observe(self, agent: str) -> dict[str, Array]:
        """Return what `agent` observes: fresh arrays."""
        self._episode.check_running()
        seat = self._seat_of(agent)
        if self._observed is not None and seat == self._episode.seat:
            packed, mask = self._observed
            self._observed = None  # handed out once, so that every array is the caller's own
        else:
            packed, mask = self._episode.observe(seat)
        seen = {"observation": packed, "action_mask": mask}
        if self.history:
            seen["history"] = self._episode.history(seat)
        return seen

    def action_mask(self, agent: str) -> Array:
        """Return int8[81]: the legal actions of `agent`, all zero if it is not to act."""
        self._episode.check_running()
        return self._episode.observe(self._seat_of(agent))[1]

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return observation, reward since its last step, terminated, truncated and info of the selected agent."""
        self._episode.check_running()
        return super().last(observe)

    def step(self, action: Any) -> None:
        """Take an action of the selected agent; None for an agent whose episode has ended.

        Raises:
            IllegalAction: the action is illegal (with ``illegal="raise"``); nothing has changed.
            RuntimeError: `reset` has not been called.
        """
        if not self.agents:
            raise RuntimeError("step: call reset() first; no episode is running")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        paid = self._episode.act(check_action(action))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if paid is not None:
            for name, seat in self._seats.items():
                self.rewards[name] = paid[self._side[seat]]
            self._accumulate_rewards()
        if self._episode.over:
            self._end()
        else:
            self.infos[agent] = {"action_mask": np.zeros(NUM_ACTIONS, np.int8)}
            self._select()

    def _end(self) -> None:
        self._observed = None
        self.terminations = dict.fromkeys(self.agents, True)
        self.infos = {agent: {"action_mask": np.zeros(NUM_ACTIONS, np.int8)} for agent in self.agents}
        if self._episode.forfeited_by is not None:
            for info in self.infos.values():
                info["forfeited_by"] = self.possible_agents[self._episode.forfeited_by]
        self._deads_step_first()

    def state(self) -> Array:
        """Return int8[S]: everything, hidden cards included (`observation.state_pieces`), for centralised critics."""
        return self._episode.game().state()

    def game(self) -> Game:
        """Return a copy of the running game, hidden cards included."""
        return self._episode.game()

    def view(self, agent: str) -> View:
        """Return what `agent` knows, as a `View`."""
        return self._episode.view(self._seat_of(agent))

    def get_state(self) -> dict[str, Any]:
        """Return everything that `set_state` needs to go on from here; it can be pickled."""
        self._episode.check_running()
        names = ("agents", "rewards", "_cumulative_rewards", "terminations", "truncations", "infos")
        faces = {name: getattr(self, name) for name in (*names, "agent_selection", "_skip_agent_selection")}
        return self._episode.get_state() | {"face": copy.deepcopy(faces)}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go back to a state that `get_state` returned, in this or an equal environment."""
        self._episode.set_state(state)
        self._observed = None
        for name, value in copy.deepcopy(dict(state.get("face", {}))).items():
            setattr(self, name, value)

    def render(self) -> str | None:
        """Return the table as text with ``render_mode="ansi"``, else None."""
        return table_text(self._episode.game()) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Nothing is held open."""


def env(rules: Rules | str | Mapping[str, Any] = "scopa", **arguments: Any) -> raw_env:
    """Return the environment (arguments of `raw_env`).

    Order of calls, range and legality of actions are checked inside, without PettingZoo's wrappers.
    """
    return raw_env(rules, **arguments)
