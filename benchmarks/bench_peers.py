"""Other environments and ours, alternately in one run: ratios.

    python benchmarks/bench_peers.py

Each peer has a virtual environment of its own in ``.venv-peers``, made here from ``benchmarks/peers``; nothing of it is
in ours.  Rates are decisions a second of CPU time on one core, medians of the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PEERS = HERE / "peers"
VENVS = HERE.parent / ".venv-peers"
GROUPS = {
    "speed": {"pgx": "pgx_leduc.py", "open_spiel": "open_spiel_games.py", "pettingzoo": "pettingzoo_classic.py"},
    "search": {"open_spiel": "open_spiel_search.py"},
    "training": {"tutorial": "tutorial_ppo.py"},
}
"""What is compared: the peers' virtual environments and their programs."""
OURS = {
    "speed": """
import json, sys
from scopa_train.bench import MEASURES, measure
chosen = tuple(one for one in MEASURES if "wall time" not in one.name)
print(json.dumps(measure(chosen, float(sys.argv[1]), 1)))
""",
    "search": """
import json, sys
from scopa_train.bench import measure
from scopa_train.bench_search import MEASURES
chosen = tuple(one for one in MEASURES if "wall time" not in one.name)
print(json.dumps(measure(chosen, float(sys.argv[1]), 1)))
""",
    "training": """
import json, sys
from scopa_train.bench_train import measure_training
print(json.dumps(measure_training(1, 1)))
""",
}
"""Our programs, by group; they get the seconds of a measurement and print JSON."""
TRAINING_ROUNDS = 3
"""Training takes longer, and is measured less often."""
TUTORIAL_SECONDS = 4
BARS = (
    ("batch of 4096, scopa", "pgx leduc_holdem, compiled loop", 4.0),
    ("batch of 4096, scopa, packed", "pgx leduc_holdem, compiled loop", 5.0),
    ("batch of 4096, scopa", "OpenSpiel leduc_poker, through Python", 20.0),
    ("batch of 4096, scopa, packed", "batch of 4096, scopa", 1.3),
    ("batch of 4096, escoba", "batch of 4096, scopa", 0.5),
    ("batch of 4096, scopone_scientifico", "batch of 4096, scopa", 0.5),
    ("engine alone, scopa", "OpenSpiel leduc_poker, legal and apply through Python", 20.0),
    ("engine alone, scopa", "OpenSpiel tarok, legal and apply through Python", 20.0),
    ("engine alone, scopa", "OpenSpiel tarok, whole games in C++", 20.0),
    ("AEC env", "PettingZoo tictactoe_v3, raw_env", 1.4),
    ("AEC env", "PettingZoo tictactoe_v3, env", 6.0),
    ("AEC env", "PettingZoo leduc_holdem_v4, env", 10.0),
    ("Gymnasium env against greedy", "AEC env", 0.5),
    ("ismcts, scopa", "OpenSpiel euchre, ISMCTS in C++", 1.0),
    ("ismcts, scopa, random playouts", "OpenSpiel euchre, ISMCTS in C++", 1.0),
    ("ismcts, scopa", "OpenSpiel euchre, MCTS in Python", 20.0),
    ("MlpPolicy on ScopaVecEnv, decisions a second", "MaskablePPO by PettingZoo's tutorial, connect_four", 10.0),
    (
        "MlpPolicy on ScopaVecEnv, decisions a second",
        "MlpPolicy on single environments in DummyVecEnv, decisions a second",
        4.0,
    ),
)
"""Ours, what it is compared with, and the ratio that it should reach."""


def python_of(peer: str) -> Path:
    """Return the Python of a peer's virtual environment; make it if it is not there."""
    folder = VENVS / peer
    python = folder / "bin" / "python"
    requirements = PEERS / f"requirements-{peer}.txt"
    done = folder / "installed.txt"
    if not done.exists() or done.read_text("utf-8") != requirements.read_text("utf-8"):
        print(f"installing {peer}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", requirements], check=True)
        done.write_text(requirements.read_text("utf-8"), "utf-8")
    return python


def figures_of(command: list[Any], core: int) -> dict[str, float]:
    """Run a program on one core; return the figures of the JSON object that it prints last."""
    environment = {**os.environ, "SCOPA_ENV_QUIET": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        ["taskset", "-c", str(core), *map(str, command)], check=True, stdout=subprocess.PIPE, text=True, env=environment
    )
    figures: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return figures


def main() -> None:
    """Measure, print the table of ratios, and write everything to a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU time of one measurement")
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured")
    parser.add_argument("--core", type=int, default=1, help="the core that everything runs on")
    parser.add_argument("--group", action="append", choices=list(GROUPS), help="only this (may be given again)")
    parser.add_argument("--json", type=Path, default=None, help="write the figures to this file")
    arguments = parser.parse_args()
    chosen = arguments.group or list(GROUPS)
    pythons = {peer: python_of(peer) for group in chosen for peer in GROUPS[group]}
    found: dict[str, list[float]] = {}
    for number in range(arguments.rounds):
        print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
        for group in chosen:
            if group == "training" and number >= TRAINING_ROUNDS:
                continue
            commands = [[sys.executable, "-c", OURS[group], arguments.seconds]]
            seconds = TUTORIAL_SECONDS if group == "training" else arguments.seconds
            commands += [[pythons[peer], PEERS / script, seconds] for peer, script in GROUPS[group].items()]
            for command in commands:
                for name, value in figures_of(command, arguments.core).items():
                    found.setdefault(name, []).append(value)
    figures = {name: statistics.median(values) for name, values in found.items()}
    print_table(figures)
    if arguments.json:
        content = {"machine": platform.processor() or platform.machine(), "per_second": figures, "values": found}
        arguments.json.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


def print_table(figures: dict[str, float]) -> None:
    """Print all figures and the ratios, as Markdown."""
    print("| what | a second |\n|---|---|")
    for name, value in figures.items():
        print(f"| {name} | {value:,.3f} |" if value < 10 else f"| {name} | {value:,.0f} |")
    print("\n| ours | beside | ratio | bar |\n|---|---|---|---|")
    for ours, theirs, bar in BARS:
        if ours not in figures or theirs not in figures:
            continue
        print(f"| {ours} | {theirs} | {figures[ours] / figures[theirs]:.2f} | {bar} |")


if __name__ == "__main__":
    main()
