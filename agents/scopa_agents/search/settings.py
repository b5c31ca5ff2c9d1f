"""Settings of search agents as text: ``4000,rollout=random``, a budget first and options after it."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Any, TypeVar

from scopa_env.agents import AgentError
from scopa_env.rules import allowed_names

MOST_ITERATIONS = 100_000_000
MOST_MILLISECONDS = 3_600_000
MOST_THREADS = 256


@dataclass(frozen=True)
class Budget:
    """How long to search for a move: a number of iterations, or a time.

    Attributes:
        iterations: iterations, None with a time.
        milliseconds: milliseconds of wall time, None with iterations.
    """

    iterations: int | None = None
    milliseconds: int | None = None

    @classmethod
    def parse(cls, text: str, unit: str) -> Budget:
        """Read ``4000`` or ``20ms``.

        Raises:
            ValueError: it is something else; `unit` says what is counted.
        """
        found = re.fullmatch(r"([0-9]+)(ms)?", text)
        most = MOST_MILLISECONDS if found and found[2] else MOST_ITERATIONS
        if not found or not 1 <= int(found[1]) <= most:
            allowed = f"a number of {unit} (1 .. {MOST_ITERATIONS}), or a time such as 20ms (up to {MOST_MILLISECONDS}ms)"
            raise ValueError(f"{text!r}: allowed are {allowed}")
        return cls(None, int(found[1])) if found[2] else cls(int(found[1]))

    def __str__(self) -> str:
        return f"{self.milliseconds}ms" if self.iterations is None else str(self.iterations)


def number(default: float, low: float, high: float) -> Any:
    """Return the field of a number from `low` to `high`."""
    return dataclasses.field(default=default, metadata={"low": low, "high": high})


def word(*allowed: str) -> Any:
    """Return the field of one of some words; the first is the default."""
    return dataclasses.field(default=allowed[0], metadata={"allowed": allowed})


S = TypeVar("S")


def parse_settings(kind: type[S], agent: str, text: str, unit: str) -> S:
    """Read settings: a budget, then options ``name=value``, all separated by commas.

    Args:
        kind: a dataclass whose first field is the `Budget`, the others made by `number` and `word`.
        agent: name of the agent, for messages.
        text: the text.
        unit: what a budget without a unit counts, for messages.

    Raises:
        AgentError: naming what is wrong and what is allowed.
    """
    fields = {field.name: field for field in dataclasses.fields(kind)[1:]}  # type: ignore[arg-type]
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
    kind = type(field.default)
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not low <= value <= high:
        raise ValueError(f"{field.name}={text!r}: allowed are {'whole ' * (kind is int)}numbers {low} .. {high}")
    return value


def settings_text(settings: Any) -> str:
    """Return settings as text that `parse_settings` reads: the budget and what differs from the defaults."""
    budget, *others = dataclasses.fields(settings)
    parts = [str(getattr(settings, budget.name))]
    for field in others:
        value = getattr(settings, field.name)
        if value != field.default:
            parts.append(f"{field.name}={value:g}" if isinstance(value, float) else f"{field.name}={value}")
    return ",".join(parts)
