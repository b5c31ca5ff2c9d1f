"""Settings that every recipe has, and how settings are checked."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from scopa_env import make_agent
from scopa_env.rules import Rules, same_rounds


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Settings that every recipe has."""

    seed: int = 0
    "Seed of everything random."
    threads: int = 1
    "Threads. The same seed and number of threads give the same weights on the same machine."
    against: tuple[str, ...] = ("greedy", "expert")
    "Agents that it is evaluated against."
    evaluations: int = 8
    "Points of the learning curve."
    eval_deals: int = 500
    "Duplicate deals of an evaluation against each agent."
    final_deals: int = 2000
    "Duplicate deals of the closing table."
    out: Path = Path("runs/run")
    "Folder of the results."

    def check_run(self, rules: Sequence[str]) -> None:
        """Check the types of all settings, and those that every recipe has.

        Args:
            rules: the games that it plays.

        Raises:
            ValueError: one is not allowed.
        """
        self._check_types()
        if self.out == Path():
            raise ValueError(f"out={str(self.out)!r}: allowed is a folder of its own")
        self.between(0, MOST_SEED, "seed")
        self.at_least(1, "threads", "evaluations")
        self.at_least(2, "eval_deals", "final_deals")
        if not self.against:
            raise ValueError("against=(): name at least one agent")
        for game in parse_all(rules):
            for name in self.against:
                make_agent(name, 0, game)

    def _check_types(self) -> None:
        """Refuse values of another type than a setting's; lists become tuples, texts paths."""
        hints = get_type_hints(type(self))
        for field in dataclasses.fields(self):
            value, hint = getattr(self, field.name), hints[field.name]
            fitting = _fitting(value, hint)
            if fitting is None:
                raise ValueError(f"{field.name}={value!r}: allowed is {_WORDS[hint]}")
            object.__setattr__(self, field.name, fitting)

    def check_widths(self, *names: str) -> None:
        """Raise a ValueError if one of these settings is not a row of widths of layers."""
        for name in names:
            widths = getattr(self, name)
            if not widths or min(widths) < 1:
                raise ValueError(f"{name}={widths}: allowed are widths from 1, at least one")

    def between(self, low: float, high: float, *names: str) -> None:
        """Raise a ValueError if one of these settings is outside an interval (its ends are allowed)."""
        for name in names:
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name}={getattr(self, name)}: allowed are numbers from {low} to {high}")

    def at_least(self, least: float, *names: str) -> None:
        """Raise a ValueError if one of these settings is smaller."""
        for name in names:
            if getattr(self, name) < least:
                raise ValueError(f"{name}={getattr(self, name)}: allowed are numbers from {least}")

    def above_zero(self, *names: str) -> None:
        """Raise a ValueError if one of these settings is 0 or less."""
        for name in names:
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}={getattr(self, name)}: allowed are numbers above 0")

    def plain(self) -> dict[str, Any]:
        """Return the settings as JSON values, without the place of the results."""
        return {key: value for key, value in dataclasses.asdict(self).items() if key != "out"}


MOST_SEED = 2**32 - 1
"""numpy, torch and stable-baselines3 all take seeds up to it."""
_WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a finite number",
    str: "text",
    Path: "the path of a folder",
    tuple[str, ...]: "several texts",
    tuple[int, ...]: "several whole numbers",
}


def _fitting(value: Any, hint: Any) -> Any:
    """Return a value as one of the type of a setting, None if it is none."""
    if get_origin(hint) is tuple:
        if not isinstance(value, list | tuple):
            return None
        items = tuple(_fitting(item, get_args(hint)[0]) for item in value)
        return None if None in items else items
    if hint is Path:
        return Path(value) if isinstance(value, str | Path) else None
    if isinstance(value, bool):
        return None
    if hint is float:
        return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
    return value if isinstance(value, hint) else None


def parse_all(rules: Sequence[str]) -> list[Rules]:
    """Return the rules that are named; at least one."""
    if not rules:
        raise ValueError("rules=(): name at least one")
    return [Rules.parse(text) for text in rules]


def check_distinct(rules: Sequence[str]) -> None:
    """Raise a ValueError if two of these games are the same but for the end of a match."""
    games = parse_all(rules)
    for k, one in enumerate(games):
        for other in games[:k]:
            if same_rounds(one, other):
                raise ValueError(f"rules: {one} is the same game as {other}; allowed is each game once")
