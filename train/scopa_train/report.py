"""Small things that reports share: versions, tables of figures, JSON files."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from scopa_env.files import whole_file

PACKAGES = ("scopa-env", "numpy", "numba", "gymnasium", "pettingzoo", "torch", "stable-baselines3", "sb3-contrib")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that a result depends on, as far as they are installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def print_figures(title: str, figures: Mapping[str, float], digits: int = 3) -> None:
    """Print named figures as a table, with `digits` behind the point."""
    table = Table("what", title=title, box=None, title_justify="left")
    table.add_column("figure", justify="right")
    for name, value in figures.items():
        table.add_row(name, f"{value:,.{digits}f}")
    Console().print(table)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write `content` with the versions to a JSON file, whole or not at all."""
    with whole_file(path) as unfinished:
        unfinished.write_text(json.dumps({"versions": versions(), **content}, indent=2) + "\n", "utf-8")
