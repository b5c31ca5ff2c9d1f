"""`scopa bench start`: what the first use costs, each measured in processes of its own."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from scopa_env.files import check_folder
from scopa_train.report import print_figures, write_json

PEERS = "import numpy, numba, gymnasium, pettingzoo"
IMPORT = "import scopa_env"
ROUND = """
import scopa_env
env = scopa_env.env()
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    mask = None if terminated else observation["action_mask"]
    env.step(None if terminated else env.action_space(agent).sample(mask))
"""


def run_seconds(code: str, cache: str | None = None) -> float:
    """Return the wall time of a Python process that runs `code`, with `cache` as numba's cache folder."""
    environment = {**os.environ, "SCOPA_ENV_QUIET": "1"}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    return time.perf_counter() - begin


def first_use(repeats: int, cold_repeats: int) -> dict[str, float]:
    """Return the medians in seconds of every way to start."""
    cold = []
    for _ in range(cold_repeats):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(run_seconds(ROUND, cache))
    run_seconds(ROUND)  # fills the cache
    codes = {"import of numpy, numba, gymnasium, pettingzoo": PEERS, "import scopa_env": IMPORT}
    codes["import and one random round, warm cache"] = ROUND
    times: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(repeats):  # alternately, so that a slow spell of the machine meets all of them
        for name, code in codes.items():
            times[name].append(run_seconds(code))
    figures = {name: statistics.median(seconds) for name, seconds in times.items()}
    figures["import and one random round, cold cache"] = statistics.median(cold)
    base = figures["import of numpy, numba, gymnasium, pettingzoo"]
    figures["warm round more than those imports"] = figures["import and one random round, warm cache"] - base
    return figures


def bench_start(
    *, repeats: int = 5, cold: int = 1, json_file: Annotated[Path | None, Parameter(name="--json")] = None
) -> None:
    """Measure the first-use cost: import time, first round on a cold compile cache and on a warm one.

    Args:
        repeats: processes for each warm figure; the median is printed.
        cold: processes for the cold figure.
        json_file: write the figures to this file.
    """
    if repeats < 1 or cold < 1:
        raise ValueError(f"repeats={repeats}, cold={cold}: allowed are whole numbers from 1")
    if json_file is not None:
        check_folder(json_file)
    figures = first_use(repeats, cold)
    print_figures("first use, seconds of wall time of a process", figures)
    if json_file is not None:
        write_json(json_file, {"seconds": figures})
