"""MaskablePPO on PettingZoo's connect_four by the recipe of PettingZoo's stable-baselines3 tutorial.  Prints JSON."""

from __future__ import annotations

import json
import sys
import time

import gymnasium as gym
import pettingzoo.utils
import torch
from pettingzoo.classic import connect_four_v3
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from sb3_contrib.common.wrappers import ActionMasker


class SB3ActionMaskWrapper(pettingzoo.utils.BaseWrapper, gym.Env):
    """The tutorial's wrapper: the agent to act is the learner."""

    def reset(self, seed=None, options=None):
        """Start an episode."""
        super().reset(seed, options)
        self.observation_space = super().observation_space(self.possible_agents[0])["observation"]
        self.action_space = super().action_space(self.possible_agents[0])
        return self.observe(self.agent_selection), {}

    def step(self, action):
        """Take an action of the agent to act."""
        current_agent = self.agent_selection
        super().step(action)
        next_agent = self.agent_selection
        return (
            self.observe(next_agent),
            self._cumulative_rewards[current_agent],
            self.terminations[current_agent],
            self.truncations[current_agent],
            self.infos[current_agent],
        )

    def observe(self, agent):
        """Return the observation without the mask."""
        return super().observe(agent)["observation"]

    def action_mask(self):
        """Return the mask of the agent to act."""
        return super().observe(self.agent_selection)["action_mask"]


def main(steps: int) -> None:
    """Train for `steps` decisions on one thread."""
    torch.set_num_threads(1)
    env = SB3ActionMaskWrapper(connect_four_v3.env())
    env.reset(seed=0)
    env = ActionMasker(env, lambda env: env.action_mask())
    model = MaskablePPO(MaskableActorCriticPolicy, env, device="cpu", seed=0)
    model.learn(256)
    begin = time.process_time()
    model.learn(steps)
    done = -(-steps // model.n_steps) * model.n_steps
    print(json.dumps({"MaskablePPO by PettingZoo's tutorial, connect_four": done / (time.process_time() - begin)}))


if __name__ == "__main__":
    main(int(float(sys.argv[1]) * 1024))
