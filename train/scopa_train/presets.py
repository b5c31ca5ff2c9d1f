"""Settings from files: the presets of the recipes, and those of a run that is taken up again.

A recipe's presets are in ``presets/RECIPE/GAME.yaml``, by name (``quick``, ``full``).  Options of the command line
come first, then the preset, then the defaults of the recipe.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from cyclopts.config import Dict

_FOLDER = resources.files("scopa_train") / "presets"
NAMES = ("quick", "full")
SETTINGS = "settings.json"
"""File of the settings of a run, in its folder."""


def preset_games(recipe: str) -> list[str]:
    """Return the games for which a recipe has presets."""
    folder = _FOLDER / recipe
    return sorted(one.name.removesuffix(".yaml") for one in folder.iterdir()) if folder.is_dir() else []


def load_preset(recipe: str, preset: str) -> dict[str, Any]:
    """Return the settings of a preset.

    Args:
        recipe: ``ppo``, ``exit`` ..
        preset: a game of `preset_games` and ``quick`` or ``full``: ``scopa/full``.

    Raises:
        ValueError: there is none.
    """
    game, _, name = preset.partition("/")
    games = preset_games(recipe)
    content = yaml.safe_load((_FOLDER / recipe / f"{game}.yaml").read_text("utf-8")) if game in games else {}
    if name not in content:
        allowed = ", ".join(f"{one}/{kind}" for one in games for kind in NAMES)
        raise ValueError(f"preset={preset!r}: allowed are {allowed}")
    found: dict[str, Any] = content[name]
    return found


def fill_in(app: Any, commands: tuple[str, ...], arguments: Any) -> None:
    """Give the options of a training command that are not on the command line the values of a preset or a run.

    For `cyclopts.App.config`.

    Raises:
        ValueError: there is no such preset, or no run in the folder.
    """
    given = {argument.name: [token.value for token in argument.tokens] for argument in arguments}
    preset, out = given.get("PRESET", []), given.get("--out", [])
    values = load_preset(commands[-1], preset[-1]) if preset else {}
    if given.get("--resume"):
        folder = out[-1] if out else values.get("out", f"runs/{commands[-1]}")
        saved = saved_run(Path(folder), commands[-1])["settings"]
        if preset and not given.get("--rules") and values["rules"] != saved["rules"]:
            raise ValueError(
                f"preset={preset[-1]!r}: is of {_named(values['rules'])}; the run in {str(folder)!r} is of "
                f"{_named(saved['rules'])}"
            )
        values = {**saved, "out": folder}
    nested: dict[str, Any] = dict(values)
    for command in reversed(commands):  # not flat: cyclopts would leave out a setting called like a command (rules)
        nested = {command: nested}
    Dict(nested, source="preset")(app, commands, arguments)


def _named(rules: Any) -> str:
    """Return one game or several in words."""
    return rules if isinstance(rules, str) else ", ".join(rules)


def saved_run(out: Path, recipe: str | None = None) -> Mapping[str, Any]:
    """Return what was written at the beginning of a run: its ``recipe``, ``settings``, ``command`` ..

    Args:
        out: the folder of the run.
        recipe: the recipe that it must be of; None: any.

    Raises:
        ValueError: there is no run in the folder, or one of another recipe.
    """
    try:
        found: dict[str, Any] = json.loads((out / SETTINGS).read_text("utf-8"))
        of = found["recipe"]
        if not isinstance(found["settings"], dict):
            raise TypeError("settings")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"out={str(out)!r}: holds no run ({error})") from None
    if recipe is not None and of != recipe:
        raise ValueError(f"out={str(out)!r}: the run there is one of {of!r}, not of {recipe!r}")
    return found
