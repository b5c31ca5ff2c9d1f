"""A stable-baselines3 `VecEnv` of many games, with action masks for sb3-contrib's MaskablePPO.

>>> from scopa_env.interop.sb3 import ScopaVecEnv
>>> envs = ScopaVecEnv(256, "scopa", opponent=["random", "greedy"])
>>> model = MaskablePPO("MlpPolicy", envs)                              # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from scopa_env.rules import Rules
from scopa_env.seated import Specs
from scopa_env.vector import ScopaVectorEnv


class ScopaVecEnv(VecEnv):
    """Many games of `ScopaEnv` for stable-baselines3: arguments of `scopa_env.vector.ScopaVectorEnv`.

    ``VecEnv.seed(s)`` gives game `i` the seed ``s + i`` at the next reset.  ``env_method("action_masks")`` is what
    sb3-contrib asks for; `action_masks` returns the same as one array.

    Args:
        num_envs: number of games.
        rules: a preset's name, text for `Rules.parse`, a mapping or Rules.
        opponent: who plays the other seats, see `ScopaEnv`.
        partner: who plays the seats of the learner's team.
        reward_scale: factor of the rewards.
        arguments: ``seat``, ``episode``, ``reward``, ``history``, ``illegal``, ``forfeit_margin``, ``render_mode``.
    """

    def __init__(
        self,
        num_envs: int,
        rules: Rules | str | Mapping[str, Any] = "scopa",
        opponent: Specs = "random",
        partner: Specs | None = None,
        *,
        reward_scale: float = 1.0,
        **arguments: Any,
    ) -> None:
        self.envs = ScopaVectorEnv(num_envs, rules, opponent, partner, **arguments)
        self.rules = self.envs.rules
        self.reward_scale = float(reward_scale)
        self.render_mode = self.envs.render_mode
        self._waiting: Any = None
        super().__init__(self.envs.num_envs, self.envs.single_observation_space, self.envs.single_action_space)

    def reset(self) -> VecEnvObs:
        """Start a new episode in every game and return the observations."""
        seeds = self._seeds[0]
        options = [one for one in self._options if one]
        if any(one != self._options[0] for one in self._options):
            raise ValueError("options: they differ between the environments; all of them start alike")
        observations, infos = self.envs.reset(seed=seeds, options=options[0] if options else None)
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = self._infos(infos)
        seen: VecEnvObs = observations
        return seen

    def step_async(self, actions: np.ndarray[Any, Any]) -> None:
        """Remember the actions for `step_wait`."""
        self._waiting = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Take the actions; return observations, float32[N] rewards, bool[N] dones and a list of infos."""
        observations, rewards, dones, _, found = self.envs.step(self._waiting)
        infos = self._infos(found)
        for index in np.flatnonzero(dones).tolist():
            infos[index]["terminal_observation"] = found["final_obs"][index]
            infos[index]["TimeLimit.truncated"] = False
        return observations, (rewards * self.reward_scale).astype(np.float32), dones, infos

    def _infos(self, found: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"seat": seat} for seat in found["seat"].tolist()]

    def action_masks(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return bool[N, 81]: the legal actions of every game."""
        masks: np.ndarray[Any, np.dtype[np.bool_]] = self.envs.action_masks()
        return masks

    def close(self) -> None:
        """Nothing is held open."""

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of every game: its spaces, ``action_masks`` to call, or what all share."""
        rows = list(self._get_indices(indices))
        if attr_name == "action_masks":
            return [partial(self._row_of_masks, row) for row in rows]
        name = f"single_{attr_name}" if attr_name in ("action_space", "observation_space") else attr_name
        return [getattr(self.envs, name) for _ in rows]

    def _row_of_masks(self, row: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
        masks: np.ndarray[Any, np.dtype[np.bool_]] = self.action_masks()[row]
        return masks

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Refuse: the games of a batch share their settings."""
        raise AttributeError(f"{attr_name}: the games of a batch share their settings; make a new batch")

    def has_attr(self, attr_name: str) -> bool:
        """Say whether there is an attribute of this name."""
        return hasattr(self.envs, attr_name)

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method: ``"action_masks"`` (rows of one array), or ``"game"``, ``"view"`` of each game.

        Raises:
            AttributeError: games have no such method.
        """
        rows = list(self._get_indices(indices))
        if method_name == "action_masks":
            return list(self.action_masks()[rows])
        if method_name in ("game", "view"):
            return [getattr(self.envs, method_name)(row) for row in rows]
        raise AttributeError(f"{method_name}: allowed are action_masks, game, view")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Return False for every game."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[np.ndarray[Any, Any] | None]:
        """Return nothing for every game: tables are text."""
        return [None] * self.num_envs
