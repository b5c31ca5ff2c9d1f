"""The environment as a multi-agent environment of RLlib (Ray), for its new API stack.

>>> from scopa_env.interop.rllib import ScopaMultiAgentEnv
>>> env = ScopaMultiAgentEnv({"rules": "scopa"})
>>> observations, infos = env.reset(seed=1)
>>> [(agent, sorted(seen)) for agent, seen in observations.items()]   # who is to act
[('player_0', ['action_mask', 'observations'])]

Observations have the keys and types that RLlib's `ActionMaskingTorchRLModule` asks for: ``"observations"``, float32[D],
and ``"action_mask"``, float32[81].  RLlib's own check of environments plays illegal moves: switch it off by
``config.environment(..., disable_env_checking=True)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from scopa_env.actions import NUM_ACTIONS
from scopa_env.aec import raw_env
from scopa_env.observation import observation_size

Seen = dict[str, dict[str, np.ndarray[Any, np.dtype[np.float32]]]]


class ScopaMultiAgentEnv(MultiAgentEnv):
    """Scopa for RLlib: one agent a seat, ``player_0`` .. in playing order; only the one to act is observed.

    Rewards go to all seats in the step in which they are earned; at the end every seat gets a last observation.

    Args:
        config: arguments of `scopa_env.raw_env` (``rules``, ``episode``, ``reward`` ..) by name, ``reward_scale``, the
            factor of the rewards (1), and ``seed_once`` (True): only the first seed that `reset` is given counts,
            together with the number of the process that RLlib names.  RLlib resets with the same seeds whenever it
            collects whole episodes, and would play the same deals again and again.

    Raises:
        ValueError: an argument that is not allowed; the message names it.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        arguments = dict(config or {})
        self.reward_scale = float(arguments.pop("reward_scale", 1.0))
        self.seed_once = bool(arguments.pop("seed_once", True))
        self._worker = int(getattr(config, "worker_index", 0))
        self._seeded = False
        if arguments.get("history"):
            raise ValueError("history=True: RLlib's masking module takes one vector of observations")
        self.game_env = raw_env(**arguments)
        self.rules = self.game_env.rules
        self.possible_agents = list(self.game_env.possible_agents)
        self.agents = self.possible_agents[:]
        size = observation_size(self.rules.players)
        self.observation_spaces = {
            agent: gymnasium.spaces.Dict(
                {
                    "action_mask": gymnasium.spaces.Box(0.0, 1.0, (NUM_ACTIONS,), np.float32),
                    "observations": gymnasium.spaces.Box(0.0, 1.0, (size,), np.float32),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: gymnasium.spaces.Discrete(NUM_ACTIONS) for agent in self.possible_agents}

    def _observe(self, agent: str) -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
        seen = self.game_env.observe(agent)
        return {
            "action_mask": seen["action_mask"].astype(np.float32),
            "observations": seen["observation"].astype(np.float32),
        }

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, dict[str, Any]]]:
        """Start a new episode; return what the agent to act observes, and no infos (of seeds see the class)."""
        if seed is not None and self.seed_once:
            mixed = int(np.random.SeedSequence((seed, self._worker)).generate_state(1)[0])
            seed = None if self._seeded else mixed
            self._seeded = True
        self.game_env.reset(seed, options)
        self.agents = self.possible_agents[:]
        agent = self.game_env.agent_selection
        return {agent: self._observe(agent)}, {}

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[Seen, dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Take the action of the agent to act.

        Raises:
            ValueError: actions of other agents; or the action is illegal (then nothing has changed).
        """
        agent = self.game_env.agent_selection
        if list(action_dict) != [agent]:
            raise ValueError(f"actions of {', '.join(action_dict) or 'nobody'}: allowed is one of {agent}")
        self.game_env.step(action_dict[agent])
        over = self.game_env.terminations[agent]
        rewards = {name: self.reward_scale * reward for name, reward in self.game_env.rewards.items()}
        seen = self.possible_agents if over else [self.game_env.agent_selection]
        if over:
            self.agents = []
        observations = {name: self._observe(name) for name in seen}
        return observations, rewards, {"__all__": over}, {"__all__": False}, {}
