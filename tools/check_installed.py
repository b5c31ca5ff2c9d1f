"""Check an installed scopa_env that came without the extras: it imports and plays a random game.

Usage, from outside the checkout: python -I tools/check_installed.py
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any


def random_game(seed: int) -> tuple[int, dict[str, float]]:
    """Play one game with random legal actions; return the number of steps and the rewards."""
    import scopa_env

    env: Any = scopa_env.env(rules="scopa")
    env.reset(seed=seed)
    rewards = dict.fromkeys(env.possible_agents, 0.0)
    for index, agent in enumerate(env.possible_agents):
        env.action_space(agent).seed(seed + index)
    steps = 0
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        rewards[agent] += reward
        if terminated or truncated:
            env.step(None)
        else:
            env.step(env.action_space(agent).sample(observation["action_mask"]))
            steps += 1
    env.close()
    return steps, rewards


def main() -> int:
    """Run the checks; return the exit status."""
    if importlib.util.find_spec("torch"):
        print("torch is installed here: this checks an environment without it", file=sys.stderr)
        return 2
    import scopa_env

    checkout = Path(__file__).resolve().parent.parent
    if Path(scopa_env.__file__).resolve().is_relative_to(checkout):
        print(f"scopa_env is the checkout's, not an installed one: {checkout}", file=sys.stderr)
        return 2
    steps, rewards = random_game(seed=0)
    if steps < 36 or sum(rewards.values()) != 0:
        print(f"a random game went wrong: {steps} steps, rewards {rewards}", file=sys.stderr)
        return 1
    print(f"scopa_env works without torch: a random game of {steps} steps, rewards {rewards}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
