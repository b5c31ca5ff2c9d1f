"""The Gymnasium environment: one learner, the other seats played by agents.

>>> import gymnasium
>>> env = gymnasium.make("scopa_env:Scopa-v0", opponent="greedy")
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from scopa_env.actions import IllegalAction, check_action
from scopa_env.agents import Agent, AgentSpec, as_move, make_agent
from scopa_env.episode import Episode, EpisodeSettings, check_options
from scopa_env.game import Game, View, check_seed
from scopa_env.render import RENDER_MODES, check_render_mode
from scopa_env.render.text import table_text
from scopa_env.rules import Rules, check_seat
from scopa_env.spaces import action_space, observation_space

Specs = AgentSpec | Sequence[AgentSpec]


def _pool(name: str, specs: Specs) -> list[AgentSpec]:
    """Return agents given as one or several as a list; raises a ValueError if there is none."""
    several = isinstance(specs, Sequence) and not isinstance(specs, str)
    pool: list[AgentSpec] = list(specs) if several else [specs]  # type: ignore[arg-type, list-item]
    if not pool:
        raise ValueError(f"{name}=[]: allowed is an agent, or a sequence of at least one")
    return pool


def _seated(spec: AgentSpec, rng: np.random.Generator | None, rules: Rules) -> Agent:
    """Make an agent from a name, or seed one that is handed in if it can be seeded."""
    seed = None if rng is None else int(rng.integers(1 << 32))
    agent = make_agent(spec, seed, rules)
    reseed = getattr(agent, "seed", None)
    if seed is not None and not isinstance(spec, str) and callable(reseed):
        reseed(seed)
    return agent


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
        self.rules = settings.rules
        self.history = bool(history)
        self.render_mode = check_render_mode(render_mode)
        self._opponent_specs = _pool("opponent", opponent)
        self._partner_specs = [] if partner is None else _pool("partner", partner)
        if self._partner_specs and not self.rules.teams:
            raise ValueError(f"partner={partner!r}: allowed in team games only, not with {self.rules}")
        self._fixed_seat = None if seat is None else check_seat("seat", seat, self.rules)
        self._agents: list[Agent] = []
        self._make_agents()
        self._episode = Episode(settings)
        self.seat = 0
        self._owed = 0.0  # what the learner's side earned before its first step
        self.observation_space: spaces.Space[Any] = observation_space(
            self.rules.players, mask=False, history=self.history
        )
        self.action_space: spaces.Space[Any] = action_space()

    def _make_agents(self, rng: np.random.Generator | None = None) -> None:
        """Make the agents of both pools, with seeds from `rng`."""
        self._opponents = [_seated(spec, rng, self.rules) for spec in self._opponent_specs]
        self._partners = [_seated(spec, rng, self.rules) for spec in self._partner_specs]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a new episode; the other seats play up to the learner's first decision.

        Args:
            seed: seed of everything that follows, the agents made from names included.
            options: ``deck``, ``dealer``, ``seat``, ``position``; others are ignored.

        Raises:
            ValueError: an option that is not allowed; the running episode stays as it is.
        """
        given = check_options(options).get("seat")
        if given is not None:
            check_seat("seat", given, self.rules)
        seed = check_seed(seed)
        self._episode.reset(seed, options)
        super().reset(seed=seed)
        if seed is not None:
            self._make_agents(self.np_random)
        drawn = int(self.np_random.integers(self.rules.players))
        fixed = self._fixed_seat if given is None else int(given)
        self.seat = drawn if fixed is None else fixed
        self._side = self.rules.side_of(self.seat)
        self._seat_agents()
        try:
            self._owed = self._play_others()
        except BaseException:
            self._episode.over = True  # nothing to step in: `reset` again
            raise
        return self._observation(), self._info()

    def _seat_agents(self) -> None:
        """Draw who plays the other seats in this episode."""
        opponent = self._draw(self._opponents)
        partner = self._draw(self._partners) if self._partners else opponent
        seats = range(self.rules.players)
        self._agents = [partner if self.rules.side_of(seat) == self._side else opponent for seat in seats]

    def _draw(self, pool: list[Agent]) -> Agent:
        return pool[int(self.np_random.integers(len(pool)))] if len(pool) > 1 else pool[0]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take the learner's action; the other seats play up to its next decision or the end.

        Returns:
            Observation, reward of the learner's side since its last step, terminated, truncated (False), info.

        Raises:
            IllegalAction: the action is illegal (with ``illegal="raise"``) and nothing has changed; or another
                agent's move is.
            RuntimeError: no episode is running.
        """
        if self._episode.over:
            raise RuntimeError("step: call reset() first; no episode is running")
        mark = self._episode.mark()
        try:
            paid = self._episode.act(check_action(action))
            reward = self._owed if paid is None else self._owed + paid[self._side]
            reward += self._play_others()
        except BaseException:  # an agent failed, or a person interrupted it: the step was not made
            self._episode.go_back(mark)
            raise
        self._owed = 0.0
        return self._observation(), reward, self._episode.over, False, self._info()

    def _play_others(self) -> float:
        """Let the other seats play up to the learner's turn; return what its side earned."""
        reward = 0.0
        while not self._episode.over and self._episode.seat != self.seat:
            agent = self._agents[self._episode.seat]
            move = as_move(agent, agent.act(self._episode.view(self._episode.seat)))
            try:
                paid = self._episode.play(move)
            except IllegalAction as error:
                raise IllegalAction(f"agent {agent.name!r}: {error}") from None
            if paid is not None:
                reward += paid[self._side]
        return reward

    def _observation(self) -> Any:
        packed, self._mask = self._episode.observe(self.seat)
        if self.history:
            return {"observation": packed, "history": self._episode.history(self.seat)}
        return packed

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": self._mask.copy(), "seat": self.seat}
        if self._episode.forfeited_by is not None:
            info["forfeited_by"] = self._episode.forfeited_by
        return info

    def action_masks(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return bool[81]: the learner's legal actions (the name that sb3-contrib looks for)."""
        self._episode.check_running()
        return self._mask.astype(np.bool_)

    def game(self) -> Game:
        """Return a copy of the running game, hidden cards included."""
        return self._episode.game()

    def view(self) -> View:
        """Return what the learner knows, as a `View`."""
        return self._episode.view(self.seat)

    def get_state(self) -> dict[str, Any]:
        """Return everything that `set_state` needs to go on from here; the agents as far as they can be copied."""
        self._episode.check_running()
        names = (
            "seat",
            "_side",
            "_owed",
            "_agents",
            "_opponents",
            "_partners",
            "_mask",
            "_np_random",
            "_np_random_seed",
        )
        face = copy.deepcopy({name: getattr(self, name) for name in names})
        return {"episode": self._episode.get_state(), "face": face}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go back to a state that `get_state` returned."""
        self._episode.set_state(state["episode"])
        for name, value in copy.deepcopy(dict(state["face"])).items():
            setattr(self, name, value)

    def render(self) -> Any:
        """Return the table as the learner sees it, as text, with ``render_mode="ansi"``, else None."""
        return table_text(self.view()) if self.render_mode == "ansi" else None
