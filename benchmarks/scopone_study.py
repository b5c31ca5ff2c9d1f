"""The study of Scopone by Di Palma and Lanzi, ours beside theirs: 9 cards each, a round a game, percent of games.

Di Palma and Lanzi, "Traditional Wisdom and Monte Carlo Tree Search Face-to-Face in the Card Game Scopone", IEEE
Transactions on Games 10(3), 2018, played 1,000 fixed decks.  Their greedy and rule-based agents are other programs than
ours of that name.  Three tables:

- random against random: how often the dealer's team wins, beside an independent slow program of ours that played
  435,197 deals.  ``--brute-force`` adds `scopone_bruteforce.py`, which shares nothing with the engine.
- search against greedy, by who deals;
- a tournament: games won, lost and tied against all the others together.

    python benchmarks/scopone_study.py --deals 1000000
    python benchmarks/scopone_study.py --deals 1000000 --games 500 --out study.jsonl

The second command takes hours; killed, it goes on from its files when it is called again.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from scopa_agents.arena import ArenaSettings, Tournament, deal_games, tournament
from scopa_agents.arena_table import progress_bar
from scopa_env import Rules, batch
from scopa_env.engine.state import GAME, NOBODY
from scopa_env.game import seed_state
from scopone_bruteforce import brute_force

CHUNK = 20_000
RANDOM_PUBLISHED = ("Di Palma and Lanzi 2018, 1,000 decks", 45.7, 41.7, 12.6, 1.6)
INDEPENDENT = ("independent program, 435,197 deals", 45.13, 42.05, 12.82, 0.08)

AGAINST_GREEDY = {
    "ismcts:4000": (66.6, 53.0),
    "ismcts:4000,inference=expert": (66.6, 53.0),
    "pimc:100": (66.6, 53.0),
    "mcts_cheating:4000": (91.8, 84.0),
}
"""Against greedy: percent won as the dealer's team, and as the other, by the agent of theirs to compare with."""
TOURNAMENT = {
    "random": ("Random", 10.3, 84.8, 4.9),
    "expert": ("Chitarella-Saracino", 41.7, 47.9, 10.4),
    "ismcts:4000": ("ISMCTS-4000", 55.8, 34.1, 10.1),
    "mcts_cheating:1000": ("cheating MCTS-1000", 79.0, 12.6, 8.3),
}
"""Theirs, and percent won, lost and tied in their final tournament."""


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


def percent(margins: np.ndarray) -> tuple[float, float, float]:
    """Return how many percent of games are won, lost and tied."""
    return tuple(100 * float(share.mean()) for share in (margins > 0, margins < 0, margins == 0))  # type: ignore[return-value]


def by_role(found: Tournament, a: str, b: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a's margins in the games in which its team deals, and in the others."""
    tally = found.tallies[a, b]
    rules = Rules.parse(found.rules)
    dealers = [int(deal_games(rules, deal, 1, found.seed, 1)["dealer"][0]) for deal in tally.deals.tolist()]
    even = np.array(dealers) % 2 == 0
    margins = tally.margins  # in the first seating a sits in the even seats
    deals = np.stack([even, ~even], axis=1)
    return margins[deals], margins[~deals]


def play_all(options: argparse.Namespace, agents: Sequence[str], against: str | None, name: str) -> Tournament:
    """Play, or go on with, a part of the study."""
    out = options.out and options.out.with_name(f"{options.out.stem}_{name}.jsonl")
    settings = ArenaSettings(rules="scopone", deals=options.games, seed=options.seed, out=out)
    with progress_bar(name, options.games, "deals") as bar:
        return tournament(agents, against, settings, bar.advance_to)


def against_greedy(options: argparse.Namespace) -> None:
    """Print the second table."""
    found = play_all(options, list(AGAINST_GREEDY), "greedy", "greedy")
    print(f"\n{'against greedy, percent won':32}{'dealing':>10}{'other':>8}{'theirs':>10}{'':>8}{'points a round':>26}")
    for one in found.pairings:
        shares = [percent(margins)[0] for margins in by_role(found, one.a, one.b)]
        theirs = AGAINST_GREEDY[one.a]
        points = f"{one.margin:+.2f} ({one.low:+.2f} .. {one.high:+.2f})"
        print(f"{one.a:32}{shares[0]:10.1f}{shares[1]:8.1f}{theirs[0]:10.1f}{theirs[1]:8.1f}{points:>26}")


def final_tournament(options: argparse.Namespace) -> None:
    """Print the third table."""
    found = play_all(options, list(TOURNAMENT), None, "tournament")
    print(f"\n{'tournament, percent':24}{'won':>7}{'lost':>7}{'tied':>7}   theirs")
    for name, (label, *theirs) in TOURNAMENT.items():
        margins = np.concatenate([_margins_of(found, pair, name) for pair in found.tallies if name in pair])
        ours, other = ("".join(f"{share:7.1f}" for share in shares) for shares in (percent(margins), theirs))
        print(f"{name:24}{ours}   {label:20}{other}")


def _margins_of(found: Tournament, pair: tuple[str, str], name: str) -> np.ndarray:
    margins = found.tallies[pair].margins.ravel()
    return margins if pair[0] == name else -margins


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--brute-force", type=int, default=0, help="deals of the independent brute-force program")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--games", type=int, default=0, help="duplicate deals of each pairing of agents; 0: none")
    parser.add_argument("--out", type=Path, help="files of the games, from which an interrupted run goes on")
    options = parser.parse_args()
    shares, seconds = study(options.deals, options.seed, options.threads)
    rows = [
        RANDOM_PUBLISHED,
        INDEPENDENT,
        (f"this engine, {options.deals:,} deals", *shares, standard_error(options.deals)),
    ]
    if options.brute_force:
        counts = brute_force(options.brute_force, options.seed)
        found = 100 * counts / options.brute_force
        rows.append((f"brute force, {options.brute_force:,} deals", *found, standard_error(options.brute_force)))
    print(f"{'percent of deals':40}{'dealer':>9}{'other':>9}{'tied':>9}{'std. error':>12}")
    for name, *figures in rows:
        print(f"{name:40}" + "".join(f"{figure:9.2f}" for figure in figures[:3]) + f"{figures[3]:12.2f}")
    print(f"{seconds:.1f} s on {options.threads} threads")
    if options.games:
        against_greedy(options)
        final_tournament(options)


if __name__ == "__main__":
    main()
