"""`scopa bench search`: how fast search is, and how well it keeps a time."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from scopa_agents.search.ismcts import IsmctsAgent
from scopa_agents.search.pimc import PimcAgent
from scopa_agents.solve import Solver
from scopa_env import Game, make_agent
from scopa_env.files import check_folder
from scopa_train.bench import Measure, Work, measure
from scopa_train.report import print_figures, write_json

KEPT = (
    ("ismcts:5ms", "scopa"),
    ("ismcts:20ms", "scopa"),
    ("ismcts:100ms", "scopa"),
    ("pimc:5ms", "scopa"),
    ("pimc:20ms", "scopa"),
    ("pimc:100ms", "scopa"),
    ("ismcts:20ms", "scopone_scientifico"),
    ("pimc:20ms", "scopone_scientifico"),
    ("pimc:20ms,inference=expert", "scopone_scientifico"),
    ("pimc:20ms,solve=16", "scopone_scientifico"),
    ("ismcts:20ms,threads=2", "scopa"),
)
"""Agents with a time, and the games in which it is looked at how they keep it."""


def first_position(rules: str) -> Game:
    """Return a game at its first decision."""
    return Game(rules, seed=3, dealer=1)


def search_tree(settings: str, rules: str) -> Work:
    """Return the work of one search from the first decision of a round; the move that it finds is played."""
    agent = IsmctsAgent(settings, seed=1)
    game = first_position(rules)
    view = game.view(game.seat)

    def work() -> int:
        game.copy().push(agent.act(view))  # an illegal move is an exception
        return agent.iterations

    return work


def search_worlds(settings: str, rules: str) -> Work:
    """Return the work of one `pimc` search from the first decision of a round, counted in worlds."""
    agent = PimcAgent(settings, seed=1)
    game = first_position(rules)
    view = game.view(game.seat)

    def work() -> int:
        game.copy().push(agent.act(view))
        return agent.worlds

    return work


def solve_rounds(rules: str) -> Work:
    """Return the work of solving a round from its first decision, every card known, counted in positions."""
    solver = Solver()
    game = first_position(rules)
    return lambda: solver.solve(game).positions


MEASURES = (
    Measure("ismcts, scopa", "iterations", lambda: search_tree("2000", "scopa")),
    Measure("ismcts, scopa, random playouts", "iterations", lambda: search_tree("2000,rollout=random", "scopa")),
    Measure("ismcts, scopa, many trees", "iterations", lambda: search_tree("2000,trees=many", "scopa")),
    Measure("ismcts, escoba", "iterations", lambda: search_tree("2000", "escoba")),
    Measure("ismcts, scopone_scientifico", "iterations", lambda: search_tree("2000", "scopone_scientifico")),
    Measure("ismcts, scopa, wall time", "iterations", lambda: search_tree("8000", "scopa"), time.perf_counter),
    Measure(
        "ismcts, scopa, two threads, wall time",
        "iterations",
        lambda: search_tree("8000,threads=2", "scopa"),
        time.perf_counter,
    ),
    Measure("pimc, scopa", "worlds", lambda: search_worlds("200", "scopa")),
    Measure("pimc, scopa, playouts by greedy", "worlds", lambda: search_worlds("200,rollout=greedy", "scopa")),
    Measure("pimc, scopone_scientifico", "worlds", lambda: search_worlds("50", "scopone_scientifico")),
    Measure("pimc, scopa, wall time", "worlds", lambda: search_worlds("800", "scopa"), time.perf_counter),
    Measure(
        "pimc, scopa, two threads, wall time",
        "worlds",
        lambda: search_worlds("800,threads=2", "scopa"),
        time.perf_counter,
    ),
    Measure("solving a round of scopa", "positions", lambda: solve_rounds("scopa")),
)


def times_kept(spec: str, rules: str, moves: int) -> dict[str, float]:
    """Return the time that searches took by the limit that they had: median and 99th percentile over `moves` moves."""
    agent, greedy = make_agent(spec, 1), make_agent("greedy", 1)
    taken: list[float] = []
    seed = 0
    while len(taken) < moves:
        game = Game(rules, seed=seed)
        seed += 1
        while not game.round_over and len(taken) < moves:
            view = game.view(game.seat)
            if len(game.legal_moves) > 1:  # else there is nothing to search
                begin = time.perf_counter()
                move = agent.act(view)
                taken.append(time.perf_counter() - begin)
                assert game.is_legal(move)
            game.push(greedy.act(view))
    limit = float(spec.partition(":")[2].partition("ms")[0]) / 1000
    shares = [seconds / limit for seconds in taken[1:]]  # the first compiles and allocates
    return {
        f"{spec}, {rules}: median time by the limit": statistics.median(shares),
        f"{spec}, {rules}: 99th percentile": statistics.quantiles(shares, n=100)[98],
    }


def bench_search(
    *,
    seconds: float = 0.5,
    repeats: int = 5,
    moves: int = 100,
    json_file: Annotated[Path | None, Parameter(name="--json")] = None,
) -> None:
    """Measure iterations, worlds and positions a second, and how well time limits are kept.

    Args:
        seconds: time of one measurement.
        repeats: measurements of each figure; the median is printed.
        moves: moves searched for each time limit.
        json_file: write the figures to this file.
    """
    if seconds <= 0 or repeats < 1 or moves < 3:
        raise ValueError(f"seconds={seconds}, repeats={repeats}, moves={moves}: allowed are above 0, from 1, from 3")
    if json_file is not None:
        check_folder(json_file)
    figures = measure(MEASURES, seconds, repeats)
    print_figures("search, a second of CPU time, medians", figures, digits=0)
    kept: dict[str, float] = {}
    for spec, rules in KEPT:
        kept |= times_kept(spec, rules, moves)
    print_figures("time taken by the time allowed", kept)
    if json_file is not None:
        write_json(json_file, {"per_second": figures, "time_kept": kept, "seconds": seconds, "repeats": repeats})
