"""The `scopa` command.  Each subcommand is defined beside what it runs and imported when it is called."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Annotated

import cyclopts

import scopa_env
from scopa_env.extras import how_to_install
from scopa_train.presets import fill_in

app = cyclopts.App(
    name="scopa",
    help="Scopa, Scopone and Escoba: rules, agents, arena and training.",
    version=scopa_env.__version__,
    exit_on_error=False,
    print_error=False,
    result_action="return_value",
    suppress_keyboard_interrupt=False,  # `main` says more
)
train = cyclopts.App(
    name="train",
    help="Train an agent.",
    config=(fill_in,),
    default_parameter=cyclopts.Parameter(consume_multiple=True),  # --hidden 512 64
)
bench = cyclopts.App(name="bench", help="Measure speed.")
app.command(train)
app.command(bench)

app.command("scopa_env.commands:rules_command", name="rules", help="List the presets, or the fields of one.")
app.command("scopa_env.commands:check_cases_command", name="check-cases", help="Run a file of rule cases.")
app.command("scopa_env.commands:check_records_command", name="check-records", help="Replay a file of game records.")
app.command("scopa_env.commands:show_command", name="show", help="Show a position and its legal moves.")
app.command("scopa_agents.commands:arena_command", name="arena", help="Let agents play each other on duplicate deals.")
app.command("scopa_agents.commands:agents_command", name="agents", help="List the agents and shipped networks.")
app.command("scopa_agents.play:play_command", name="play", help="Play in the terminal against an agent.")
app.command(
    "scopa_agents.solve_command:solve_command", name="solve", help="Solve a position, or review records, open cards."
)
app.command("scopa_train.exploit:exploit_command", name="exploit", help="Train a best responder to an agent.")
app.command("scopa_train.nash_command:nash_command", name="nash", help="Solve a small game; exact exploitability.")
app.command("scopa_train.curve:curves_command", name="curves", help="Draw the learning curves of several runs.")
train.command("scopa_train.exit:train_exit", name="exit", help="Expert iteration: learn from search, search better.")
train.command("scopa_train.dmc:train_dmc", name="dmc", help="Deep Monte Carlo: learn from the results of rounds.")
train.command("scopa_train.ppo:train_ppo", name="ppo", help="MaskablePPO against a pool of agents and past selves.")
train.command("scopa_train.rllib:train_rllib", name="rllib", help="PPO of RLlib on Ray, self-play.")
bench.command("scopa_train.bench_train:bench_train", name="train", help="Decisions a second of MaskablePPO.")
bench.command("scopa_train.bench_recipes:bench_recipes", name="recipes", help="Where a recipe's time goes.")
bench.command("scopa_train.bench_search:bench_search", name="search", help="Iterations a second, time limits kept.")
bench.command("scopa_train.start:bench_start", name="start", help="First-use cost: import, cold and warm first step.")


@bench.default
def bench_speed(
    *,
    seconds: float = 0.5,
    repeats: int = 5,
    only: str = "",
    processes: bool = True,
    json_file: Annotated[Path | None, cyclopts.Parameter(name="--json")] = None,
) -> None:
    """Measure decisions a second, every way of using the environments.

    Args:
        seconds: time of one measurement.
        repeats: measurements of each figure; the median is printed.
        only: measure what has this text in its name.
        processes: also measure two processes side by side, the bound for two threads.
        json_file: write the figures to this file.
    """
    from scopa_train.bench import bench_all

    bench_all(seconds=seconds, repeats=repeats, only=only, processes=processes, json_file=json_file)


EXTRAS = {"train rllib": "rllib", "nash": "open_spiel"}
"""Extras that commands need, where it is not `train`."""
RESUMED = ("train", "exploit")
"""Commands whose runs can be resumed."""


def main() -> None:
    """Run the command line; a wrong input is one line on stderr and exit status 2."""
    if os.getcwd() not in sys.path:  # module:attribute finds modules of the folder that one is in
        sys.path.append(os.getcwd())
    warnings.showwarning = _show_warning
    try:
        result = app()
    except cyclopts.UnknownCommandError as error:
        fail(_unknown_command(error))
    except cyclopts.CycloptsError as error:
        fail(str(error))
    except ImportError as error:
        cause = error.__cause__ or error
        missing = getattr(cause, "name", None) or str(cause)
        extra = EXTRAS.get(" ".join(sys.argv[1:3]), EXTRAS.get(" ".join(sys.argv[1:2]), "train"))
        where = " (in an environment of its own: docs/training.md)" if extra == "rllib" else ""
        fail(f"{missing} is not installed; this command needs the extra {extra!r}{where}: {how_to_install(extra)}")
    except (ValueError, OSError) as error:
        if os.environ.get("SCOPA_DEBUG"):
            raise
        fail(str(error) or type(error).__name__)
    except KeyboardInterrupt:
        go_on = "; the same command with --resume goes on from the last checkpoint"
        print(f"interrupted{go_on if sys.argv[1] in RESUMED else ''}", file=sys.stderr)
        sys.exit(130)
    sys.exit(result if isinstance(result, int) else 0)


def _unknown_command(error: cyclopts.UnknownCommandError) -> str:
    """Name the command and what is allowed, without importing every subcommand as cyclopts' own message does."""
    tokens = list(error.unused_tokens or ["?"])
    parent = {"train": train, "bench": bench}.get(sys.argv[1] if len(sys.argv) > 2 else "", app)
    names = [name for name in parent if not name.startswith("-")]
    return f"unknown command {tokens[0]!r}; allowed are {', '.join(names)}"


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"scopa: warning: {message}", file=sys.stderr)


def fail(message: str) -> None:
    """Print one line on stderr and exit with status 2."""
    print(f"scopa: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
