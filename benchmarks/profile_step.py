"""Where the time of a batched step goes, in ns a decision: rules, observation, mask, reset, beside a memory copy.

    python benchmarks/profile_step.py --rules scopa --games 4096

Each row is the same compiled loop with one more part, so a part costs the difference of two rows.  The copy moves as
many bytes as the observation and the mask have, from and to memory of the same size, in the same loop.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from scopa_env.engine.deal import start_round
from scopa_env.kernel import kernel
from scopa_env.observation import pack_observation, spread
from scopa_env.run import deal_again, random_action, take
from scopa_env.vector import BatchedScopa

DRAW, RULES, PACK, SPREAD, MASK, COPY = range(6)
NAMES = ("draw an action", "rules", "observation as bits", "bits to bytes", "mask to bytes")


@kernel
def loop(
    rules: Any,
    settings: Any,
    games: Any,
    runs: Any,
    earned: Any,
    scratch: Any,
    observations: Any,
    masks: Any,
    source: Any,
    level: int,
    steps: int,
) -> int:
    """Play `steps` actions in every game, with the parts up to `level`."""
    words = observations.shape[1]
    total = 0
    for _ in range(steps):
        for i in range(len(games)):
            action = random_action(runs[i])
            total += action
            if level >= RULES:
                take(rules[0], settings[0], games, runs, i, action, earned, games[:0])
                if runs[i]["over"]:
                    deal_again(rules[0], games[i], runs[i])
            if level == COPY:
                for k in range(words):
                    observations[i, k] = source[i, k]
                for k in range(11):
                    masks[i, k] = source[i, words + k]
                continue
            if level >= PACK:
                pack_observation(rules[0], games[i], int(games[i]["seat"]), scratch)
            if level >= SPREAD:
                spread(scratch, observations[i])
            if level >= MASK:
                spread(runs[i]["legal"], masks[i])
    return total


@kernel
def deal_rounds(rules: Any, games: Any) -> None:
    """Shuffle and deal in every game."""
    for i in range(len(games)):
        start_round(rules[0], games[i])


def best(work: Any, count: int, repeats: int) -> float:
    """Return the least ns for one of `count` units of some work."""
    work()
    found = []
    for _ in range(repeats):
        begin = time.process_time_ns()
        work()
        found.append((time.process_time_ns() - begin) / count)
    return min(found)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", default="scopa")
    parser.add_argument("--games", type=int, default=4096)
    parser.add_argument("--repeats", type=int, default=9)
    arguments = parser.parse_args()
    env = BatchedScopa(arguments.games, arguments.rules, seed=1)
    settings = env.settings.record(restarts=True)
    seen, masks = env.observations.view(np.uint64), env.masks.view(np.uint64)
    scratch, earned = np.empty(seen.shape[1] // 8 + 1, np.uint64), np.empty(6, np.float64)
    source = np.ones((arguments.games, seen.shape[1] + 11), np.uint64)
    steps = max(400_000 // arguments.games, 1)
    rows = []
    for level in (DRAW, RULES, PACK, SPREAD, MASK, COPY):

        def work(level: int = level) -> None:
            loop(env.rules.record, settings, env.records, env.runs, earned, scratch, seen, masks, source, level, steps)

        rows.append(best(work, steps * arguments.games, arguments.repeats))
    print(f"{arguments.rules}, {arguments.games} games, ns a decision\n")
    print("| part | ns | so far |\n|---|---|---|")
    before = 0.0
    for name, value in zip(NAMES, rows, strict=False):
        print(f"| {name} | {value - before:.1f} | {value:.1f} |")
        before = value
    encoding, copy = rows[MASK] - rows[RULES], rows[COPY] - rows[RULES]
    size = 8 * (seen.shape[1] + 11)
    print(f"| a copy of the same {size} bytes instead | {copy:.1f} | {rows[COPY]:.1f} |")
    print(f"\nobservation and mask: {encoding:.1f} ns, {encoding / copy:.2f} x the copy")
    deal = best(lambda: deal_rounds(env.rules.record, env.records), arguments.games, arguments.repeats)
    plays = env.rules.num_plays
    print(f"shuffle and deal a round: {deal:.0f} ns, {deal / plays:.1f} ns a play (in the rules above)")


if __name__ == "__main__":
    main()
