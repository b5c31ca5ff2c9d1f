"""Settings of search agents as text: ``4000,rollout=random``, a budget first and options after it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from scopa_agents.search.budget import Budget
from scopa_env.agents import AgentError
from scopa_env.rules import allowed_names

MOST_THREADS = 256


def number(default: float, low: float, high: float) -> Any:
    """Return the field of a number from `low` to `high`."""
    return dataclasses.field(default=default, metadata={"low": low, "high": high})


def word(default: str, allowed: Sequence[str]) -> Any:
    """Return the field of one of some words."""
    return dataclasses.field(default=default, metadata={"allowed": allowed})


@dataclass(frozen=True)
class Settings:
    """Settings of a search agent; further fields are made by `number` and `word`.

    Attributes:
        budget: how long to search for a move.
        threads: threads of a search.
    """

    budget: Budget
    threads: int = number(1, 1, MOST_THREADS)


S = TypeVar("S", bound=Settings)


def parse_settings(kind: type[S], agent: str, text: str, unit: str) -> S:
    """Read settings: a budget, then options ``name=value``, all separated by commas.

    Args:
        kind: what to return.
        agent: name of the agent, for messages.
        text: the text.
        unit: what a budget without a unit counts, for messages.

    Raises:
        AgentError: naming what is wrong and what is allowed.
    """
    fields = {field.name: field for field in dataclasses.fields(kind)[1:]}
    first, *options = text.split(",") if text else [""]
    values: dict[str, Any] = {}
    try:
        budget = Budget.parse(first.strip(), unit)
        for option in options:
            name, _, value = option.strip().partition("=")
            if name not in fields:
                raise ValueError(f"{name!r}: {allowed_names(name, list(fields))}")
            if name in values:
                raise ValueError(f"{name!r} given twice")
            values[name] = _value_of(fields[name], value)
    except ValueError as error:
        raise AgentError(f"agent {agent!r}: settings {text!r}: {error}") from None
    return kind(budget, **values)


def _value_of(field: dataclasses.Field[Any], text: str) -> Any:
    allowed = field.metadata.get("allowed")
    if allowed is not None:
        if text not in allowed:
            raise ValueError(f"{field.name}={text!r}: allowed are {', '.join(allowed)}")
        return text
    low, high = field.metadata["low"], field.metadata["high"]
    whole = isinstance(field.default, int)
    try:
        value = int(text) if whole else float(text)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        raise ValueError(f"{field.name}={text!r}: allowed are {'whole ' * whole}numbers {low} .. {high}")
    return value


def settings_text(settings: Settings) -> str:
    """Return settings as text that `parse_settings` reads: the budget and what differs from the defaults."""
    parts = [str(settings.budget)]
    for field in dataclasses.fields(settings)[1:]:
        value = getattr(settings, field.name)
        if value != field.default:
            whole = isinstance(value, float) and value.is_integer()
            parts.append(f"{field.name}={int(value) if whole else value}")
    return ",".join(parts)
