"""`scopa nash`: a small game solved exactly, and how exploitable agents are in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich import box
from rich.console import Console
from rich.table import Table

from scopa_agents.arena_table import progress_bar
from scopa_agents.nash import MOST_NODES, SmallGame
from scopa_env.agents import make_agent
from scopa_env.files import check_folder
from scopa_env.rules import Rules
from scopa_train.report import write_json


def nash_command(
    agents: tuple[str, ...] = (),
    /,
    *,
    rules: str = "mini_scopa",
    iterations: int = 1000,
    close: float = 1e-5,
    seed: int = 0,
    samples: int = 10,
    most_nodes: int = MOST_NODES,
    json_file: Annotated[Path | None, Parameter(name="--json")] = None,
) -> None:
    """Solve a small game, and say exactly how exploitable agents are in it.

    Args:
        agents: agents, by name.
        rules: preset, or preset:field=value,field=value, for two players.
        iterations: of CFR+, at most.
        close: exploitability at which the solver stops, points a round.
        seed: seed of agents that draw random numbers.
        samples: answers of an agent in each information state, of which its policy is the frequencies.
        most_nodes: give up a game whose tree has more nodes.
        json_file: write the figures to this file.
    """
    for field, number in (("iterations", iterations), ("most_nodes", most_nodes), ("samples", samples)):
        if number < 1:
            raise ValueError(f"{field}={number}: allowed are whole numbers from 1")
    if not close >= 0:
        raise ValueError(f"close={close}: allowed are numbers from 0")
    if json_file is not None:
        check_folder(json_file)
    made = [make_agent(name, seed, Rules.parse(rules)) for name in agents]
    with progress_bar("tree", most_nodes, "nodes at most") as bar:
        tree = SmallGame(rules, most_nodes, bar.advance_to)
    with progress_bar("solving", iterations, "iterations") as bar:
        solution = tree.equilibrium(iterations, close, bar.advance_to)
    value = tree.value(solution)
    print(
        f"{tree.rules}: {tree.deals:,} deals, {tree.nodes:,} nodes, {tree.ends:,} of them ends, {len(tree.states):,} "
        f"information states\nwho plays first wins {value:+.6f} points a round in equilibrium, by a solution with an "
        f"exploitability of {tree.exploitability(solution):.1e}"
    )
    rows = []
    for name, agent in zip(agents, made, strict=True):
        policy = tree.policy_of(agent, seed, samples)
        first, second = tree.value(policy, solution), -tree.value(solution, policy)
        rows.append({"agent": name, "exploitability": tree.exploitability(policy), "first": first, "second": second})
    if rows:
        _print_table(rows, value)
    if json_file is not None:
        sizes = {"deals": tree.deals, "nodes": tree.nodes, "ends": tree.ends, "states": len(tree.states)}
        write_json(json_file, {"rules": str(tree.rules), **sizes, "value": value, "agents": rows})


def _print_table(rows: Sequence[Mapping[str, Any]], value: float) -> None:
    """Print what each agent loses."""
    table = Table(title="points a round", box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column("agent", overflow="fold")
    for heading in ("exploitability", "against equilibrium", "playing first", "playing second"):
        table.add_column(heading, justify="right")
    for row in rows:
        mean = (row["first"] + row["second"]) / 2
        figures = [f"{mean:+.4f}", f"{row['first'] - value:+.4f}", f"{row['second'] + value:+.4f}"]
        table.add_row(row["agent"], f"{row['exploitability']:.4f}", *figures)
    Console().print(table)
