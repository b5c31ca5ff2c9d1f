"""How long a search may take: iterations, or a time, and how both are kept."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event

MOST_ITERATIONS = 100_000_000
MOST_MILLISECONDS = 3_600_000
SLICE = 0.05
"""Seconds of a call of compiled code that cannot be interrupted, at most where iterations are shorter."""
SHARE_OF_TIME = 0.04
"""Share of a time between two looks at the clock."""
POOL_SHARE = 0.25
"""Share of a time for drawing worlds beforehand."""
POSITIONS_A_MILLISECOND = 1000
"""Positions that a world may take to be solved, for each millisecond of a time: a part of what could be visited."""


@dataclass(frozen=True)
class Budget:
    """How long to search for a move: a number of iterations, or a time.

    Attributes:
        iterations: iterations, None with a time.
        milliseconds: milliseconds of wall time, None with iterations.
    """

    iterations: int | None = None
    milliseconds: float | None = None

    @classmethod
    def parse(cls, text: str, unit: str) -> Budget:
        """Read ``4000`` or ``20ms``.

        Raises:
            ValueError: it is something else; `unit` says what is counted.
        """
        found = re.fullmatch(r"([0-9]+)(ms)?", text)
        most = MOST_MILLISECONDS if found and found[2] else MOST_ITERATIONS
        if not found or not 1 <= int(found[1]) <= most:
            allowed = f"1 .. {MOST_ITERATIONS} {unit}, or a time such as 20ms (1ms .. {MOST_MILLISECONDS}ms)"
            raise ValueError(f"{text!r}: allowed are {allowed}")
        return cls(None, int(found[1])) if found[2] else cls(int(found[1]))

    def part(self, number: int, rounds: int, factor: float) -> Budget:
        """Return the budget of round `number` of `rounds` equal ones, times `factor`; of a time, up to its end."""
        if self.iterations is None:
            assert self.milliseconds is not None
            return Budget(None, self.milliseconds * (number + 1) / rounds)
        return Budget(max(1, round(self.iterations / rounds * factor)))

    def for_pool(self, size: int) -> Budget:
        """Return what a search may spend on drawing `size` worlds beforehand: all of them, or a part of its time."""
        return Budget(size) if self.milliseconds is None else Budget(None, self.milliseconds * POOL_SHARE)

    def is_over(self, begin: float) -> bool:
        """Say whether a time that began at `begin` (`time.perf_counter`) is over; iterations never are."""
        return self.milliseconds is not None and time.perf_counter() - begin >= self.milliseconds / 1000

    def most_positions(self, positions: int) -> int:
        """Return the positions that a world may take to be solved: `positions`, in a short time fewer."""
        if self.milliseconds is None:
            return positions
        return max(1, min(positions, int(self.milliseconds * POSITIONS_A_MILLISECOND)))

    def __str__(self) -> str:
        return f"{self.milliseconds:g}ms" if self.iterations is None else str(self.iterations)


def run_for(
    budget: Budget,
    run: Callable[[int], None],
    begin: float,
    share: int = 1,
    most: int | None = None,
    stop: Event | None = None,
) -> int:
    """Call ``run(iterations)`` until a budget is spent; return the iterations made, at least one.

    Each call takes `SLICE` seconds or less where it can, so that an interrupt is noticed.

    Args:
        budget: iterations (of which this caller makes every `share`-th), or a time.
        run: makes iterations.
        begin: when the time began (`time.perf_counter`).
        share: among how many callers the iterations are shared.
        most: iterations after which there is nothing left to do.
        stop: a flag that ends it early.
    """
    if budget.iterations is not None:
        most, limit = -(-budget.iterations // share), float("inf")
    else:
        assert budget.milliseconds is not None
        limit = budget.milliseconds / 1000
    started = time.perf_counter()
    done, chunk = 0, 1
    while True:
        run(chunk)
        done += chunk
        now = time.perf_counter()
        left = limit - (now - begin)
        rate = done / max(now - started, 1e-9)
        if done == most or rate * left < 0.5 or (stop is not None and stop.is_set()):
            return done
        chunk = max(1, min(2 * chunk, int(min(limit * SHARE_OF_TIME, left, SLICE) * rate)))
        if most is not None:
            chunk = min(chunk, most - done)
