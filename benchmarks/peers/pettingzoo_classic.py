"""PettingZoo's tictactoe_v3 and leduc_holdem_v4: last and step with observation and mask.  Prints JSON."""

from __future__ import annotations

import json
import random
import sys
import time

import numpy as np
from pettingzoo.classic import leduc_holdem_v4, tictactoe_v3


def play(env, rng: random.Random) -> int:
    """Play an episode; return its decisions."""
    env.reset()
    decisions = 0
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        legal = np.flatnonzero(observation["action_mask"])
        env.step(int(legal[int(rng.random() * len(legal))]))
        decisions += 1
    return decisions


def main(seconds: float) -> None:
    """Measure everything for about `seconds` each."""
    figures = {}
    rng = random.Random(0)
    for name, module in (("tictactoe_v3", tictactoe_v3), ("leduc_holdem_v4", leduc_holdem_v4)):
        for kind in ("raw_env", "env"):
            env = getattr(module, kind)()
            env.reset(seed=0)
            play(env, rng)
            begin, count = time.process_time(), 0
            while time.process_time() - begin < seconds:
                count += play(env, rng)
            figures[f"PettingZoo {name}, {kind}"] = count / (time.process_time() - begin)
    print(json.dumps(figures))


if __name__ == "__main__":
    main(float(sys.argv[1]))
