"""`scopa arena`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from scopa_agents.arena import Pairing, as_json, check_deals, duel, pairs
from scopa_agents.arena_table import pairing_table, progress_bar
from scopa_env.agents import make_agent
from scopa_env.files import check_folder, whole_file
from scopa_env.game import check_seed
from scopa_env.rules import Rules


def arena_command(
    *agents: str,
    rules: str = "scopa",
    deals: int = 1000,
    seed: int = 0,
    against: str | None = None,
    json_file: Annotated[Path | None, Parameter(name="--json", allow_leading_hyphen=True)] = None,
) -> None:
    """Let agents play each other on duplicate deals: every deal once per rotation of the seats.

    Args:
        agents: names (random, greedy, learned:FILE) or module:attribute.
        rules: a preset, or preset:field=value,field=value.
        deals: deals of each pairing.
        seed: seed of the deals and the agents.
        against: play everyone against this agent only, instead of all pairings.
        json_file: write the results to this file as JSON; ``-`` is standard output.
    """
    chosen = [(agent, against) for agent in agents] if against else list(pairs(agents))
    if not chosen:
        raise ValueError(f"agents: {len(agents)} given; expected two or more, or one and --against")
    of = Rules.parse(rules)
    check_deals(deals)
    check_seed(seed)
    to_stdout = str(json_file) == "-"
    if json_file is not None and not to_stdout:
        check_folder(json_file)
    for spec in {name for pair in chosen for name in pair}:
        make_agent(str(spec), 0, of)  # a wrong name is found before anything is played
    results = _play(chosen, of, deals, seed)
    pairing_table(results, Console(stderr=to_stdout))
    if json_file is not None:
        text = json.dumps(as_json(results, seed), indent=2) + "\n"
        if to_stdout:
            sys.stdout.write(text)
        else:
            with whole_file(json_file) as unfinished:
                unfinished.write_text(text, "utf-8")


def _play(chosen: Sequence[tuple[object, object]], rules: Rules, deals: int, seed: int) -> list[Pairing]:
    results: list[Pairing] = []
    with progress_bar("arena", deals * len(chosen), "deals") as bar:
        for a, b in chosen:
            done = deals * len(results)

            def finished(count: int) -> None:
                nonlocal done
                done += count
                bar.advance_to(done)

            results.append(duel(str(a), str(b), rules, deals, seed, finished))
    return results
