"""Decisions a second and memory against the number of games and threads: a table and a picture.

python benchmarks/scaling.py --out docs/images/scaling.png
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import matplotlib as mpl
import numpy as np

from scopa_env.vector import BatchedScopa

mpl.use("Agg")

import matplotlib.pyplot as plt  # behind the choice of the backend

SIZES = tuple(4**k for k in range(9))


def rate(games: int, threads: int, seconds: float, **arguments: bool) -> float:
    """Return decisions a second of wall time."""
    env = BatchedScopa(games, "scopa", seed=1, threads=threads, **arguments)
    actions = np.empty(games, np.int64)
    for _ in range(3):
        env.step(env.random_actions(actions))
    found = []
    for _ in range(5):
        begin, count = time.perf_counter(), 0
        while time.perf_counter() - begin < seconds:
            env.step(env.random_actions(actions))
            count += games
        found.append(count / (time.perf_counter() - begin))
    env.close()
    return statistics.median(found)


def megabytes(games: int, **arguments: bool) -> float:
    """Return the memory of the arrays of a batch in MB."""
    env = BatchedScopa(games, "scopa", seed=1, **arguments)
    arrays = [value for value in vars(env).values() if isinstance(value, np.ndarray)]
    return sum(array.nbytes for array in arrays) / 1e6


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/images/scaling.png"))
    parser.add_argument("--seconds", type=float, default=0.2)
    arguments = parser.parse_args()
    kinds = {
        "one thread": (1, {}),
        "two threads": (2, {}),
        "one thread, packed": (1, {"packed": True}),
        "one thread, not observed": (1, {"observe": False}),
    }
    rates = {
        name: [rate(games, threads, arguments.seconds, **more) for games in SIZES]
        for name, (threads, more) in kinds.items()
    }
    memory = {"bytes": {}, "packed": {"packed": True}, "not observed": {"observe": False}}
    sizes = {name: [megabytes(games, **more) for games in SIZES] for name, more in memory.items()}
    million = megabytes(1_000_000, observe=False)
    print(
        "| games | "
        + " | ".join(f"{name}, M/s" for name in rates)
        + " | "
        + " | ".join(f"{name}, MB" for name in sizes)
        + " |"
    )
    print("|---" * (1 + len(rates) + len(sizes)) + "|")
    for place, games in enumerate(SIZES):
        speeds = " | ".join(f"{values[place] / 1e6:.2f}" for values in rates.values())
        print(f"| {games:,} | {speeds} | " + " | ".join(f"{values[place]:,.2f}" for values in sizes.values()) + " |")
    print(f"\na million games, not observed: {million:,.0f} MB")
    draw(rates, sizes, arguments.out)


def draw(rates: dict[str, list[float]], sizes: dict[str, list[float]], path: Path) -> None:
    """Draw both against the number of games."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for style, (name, values) in zip(("o-", "s--", "^-.", "d:"), rates.items(), strict=True):
        left.plot(SIZES, [value / 1e6 for value in values], style, label=name, markersize=4)
    for style, (name, values) in zip(("o-", "^-.", "d:"), sizes.items(), strict=True):
        right.plot(SIZES, values, style, label=name, markersize=4)
    left.set(xscale="log", xlabel="games", ylabel="million decisions a second", title="scopa, random legal actions")
    right.set(xscale="log", yscale="log", xlabel="games", ylabel="MB of arrays", title="memory")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
