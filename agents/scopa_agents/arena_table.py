"""Tables and progress of the arena in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from scopa_agents.arena import Pairing


class Bar:
    """A progress bar on stderr, with rate and time left."""

    def __init__(self, progress: Progress, what: str, total: int) -> None:
        self._progress = progress
        self._total = total
        self._task = progress.add_task(what, total=total, rate="")

    def advance_to(self, done: int) -> None:
        """Show that `done` of the total are done."""
        speed = self._progress.tasks[0].speed
        rate = f"{speed:,.0f} a second" if speed else ""
        self._progress.update(self._task, completed=min(done, self._total), rate=rate)

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._progress.console.print(text, highlight=False, soft_wrap=True)


@contextmanager
def progress_bar(what: str, total: int, unit: str) -> Iterator[Bar]:
    """Show a bar while the block runs."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} " + unit),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield Bar(progress, what, total)


def pairing_table(pairings: Sequence[Pairing], console: Console | None = None) -> None:
    """Print results as a table."""
    deals = {pairing.deals for pairing in pairings}
    of = f", {deals.pop():,} duplicate deals" if len(deals) == 1 else ""
    title = f"{pairings[0].rules}{of}: points a round, microseconds a move"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("agent", "against"):
        table.add_column(heading, overflow="fold")
    for heading in ("margin", "95 % interval", "won", "drawn", "lost", "us"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in pairings:
        shares = (f"{100 * count / one.games:.1f} %" for count in (one.wins, one.draws, one.losses))
        interval = f"{one.low:+.3f} .. {one.high:+.3f}"
        table.add_row(one.a, one.b, f"{one.margin:+.3f}", interval, *shares, f"{1e6 * one.seconds_per_move:,.1f}")
    (console or Console()).print(table)
