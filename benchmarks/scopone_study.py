"""Random against random in scopone (9 cards): how often the dealer's team wins, beside two other figures.

Di Palma and Lanzi, "Traditional Wisdom and Monte Carlo Tree Search Face-to-Face in the Card Game Scopone" (2018),
played 1,000 fixed decks.  An independent slow program of ours played 435,197 deals.  Every legal move is played with
the same probability.  ``--brute-force`` adds `scopone_bruteforce.py`, which shares nothing with the engine.

    python benchmarks/scopone_study.py --deals 1000000
"""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from scopa_env import Rules, batch
from scopa_env.engine.state import GAME, NOBODY
from scopa_env.game import seed_state
from scopone_bruteforce import brute_force

CHUNK = 20_000
PUBLISHED = ("Di Palma and Lanzi 2018, 1,000 decks", 45.7, 41.7, 12.6, 1.6)
INDEPENDENT = ("independent program, 435,197 deals", 45.13, 42.05, 12.82, 0.08)


def play_chunk(rules: Rules, seed: int, chunk: int, count: int) -> np.ndarray:
    """Return int64[3]: deals won by the dealer's team, by the other, tied."""
    games = np.zeros(count, GAME)
    stream = np.random.Generator(np.random.PCG64(seed_state(seed, chunk)))
    games["rng"] = stream.integers(0, 1 << 64, count, dtype=np.uint64)
    batch.start(rules.record, games, NOBODY)
    batch.play_randomly(rules.record, games)
    dealers = games["dealer"] % 2
    points = games["points"][:, :2]
    rows = np.arange(count)
    lead = points[rows, dealers] - points[rows, 1 - dealers]
    return np.array([(lead > 0).sum(), (lead < 0).sum(), (lead == 0).sum()])


def study(deals: int, seed: int, threads: int) -> tuple[np.ndarray, float]:
    """Return percentages (dealer's team, other, tied) and the seconds it took."""
    rules = Rules.parse("scopone")
    play_chunk(rules, seed, 0, 10)  # compile
    chunks = [min(CHUNK, deals - first) for first in range(0, deals, CHUNK)]
    begin = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        counts = sum(pool.map(lambda job: play_chunk(rules, seed, *job), enumerate(chunks)))
    return 100 * counts / deals, time.perf_counter() - begin


def standard_error(deals: int) -> float:
    """Return the standard error of a share near 45 %, in percent."""
    return float(100 * (0.45 * 0.55 / deals) ** 0.5)


def main() -> None:
    """Play and print all three."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--deals", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--brute-force", type=int, default=0, help="deals of the independent brute-force program")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    shares, seconds = study(options.deals, options.seed, options.threads)
    rows = [PUBLISHED, INDEPENDENT, (f"this engine, {options.deals:,} deals", *shares, standard_error(options.deals))]
    if options.brute_force:
        counts = brute_force(options.brute_force, options.seed)
        found = 100 * counts / options.brute_force
        rows.append((f"brute force, {options.brute_force:,} deals", *found, standard_error(options.brute_force)))
    print(f"{'percent of deals':40}{'dealer':>9}{'other':>9}{'tied':>9}{'std. error':>12}")
    for name, *figures in rows:
        print(f"{name:40}" + "".join(f"{figure:9.2f}" for figure in figures[:3]) + f"{figures[3]:12.2f}")
    print(f"{seconds:.1f} s on {options.threads} threads")


if __name__ == "__main__":
    main()
