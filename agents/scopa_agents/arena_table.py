"""Tables and progress of the arena, in a terminal and as markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from scopa_agents.arena import Pairing, Tournament
from scopa_agents.arena.results import note_of_few, what_is_played


class Bar:
    """A progress bar on stderr, with rate and time left."""

    def __init__(self, progress: Progress, what: str, total: int) -> None:
        self._progress = progress
        self._total = total
        self._task = progress.add_task(what, total=total, rate="")

    def advance_to(self, done: int, total: int | None = None) -> None:
        """Show that `done` of the total are done; `total` says how many there are, if that is known only now."""
        if total is not None:
            self._total = total
        speed = self._progress.tasks[0].speed
        rate = f"{speed:,.0f} a second" if speed else ""
        self._progress.update(self._task, completed=min(done, self._total), total=self._total, rate=rate)

    def advance(self, more: int) -> None:
        """Show that so many more are done."""
        self._progress.advance(self._task, more)
        self.advance_to(int(self._progress.tasks[0].completed))

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


@dataclass(frozen=True)
class Report:
    """A table of text.

    Attributes:
        title: what it is about, units included.
        headings: one for each column; the first `words` columns hold words, the others figures.
        rows: the cells.
        words: number of columns with words.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 2

    def print(self, console: Console | None = None) -> None:
        """Print it in the terminal."""
        table = Table(title=escape(self.title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
        for place, heading in enumerate(self.headings):
            if place < self.words:
                table.add_column(heading, overflow="fold")
            else:
                table.add_column(heading, justify="right", no_wrap=True)
        for row in self.rows:
            table.add_row(*map(escape, row))
        (console or Console()).print(table)

    def markdown(self) -> str:
        """Return it as markdown, the title as a paragraph above."""
        rules = ["---" if place < self.words else "---:" for place in range(len(self.headings))]
        lines = [self.headings, rules, *([cell.replace("|", "\\|") for cell in row] for row in self.rows)]
        return f"{self.title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def pairing_report(pairings: Sequence[Pairing]) -> Report:
    """Return the results of pairings, a row each."""
    fails = any(one.forfeits or one.b_forfeits for one in pairings)
    headings = ("agent", "against", "margin", "95 % interval", "won/drawn/lost %", *(["forfeits"] if fails else []))
    rows = []
    for one in pairings:
        shares = " ".join(f"{100 * count / one.games:.1f}" for count in (one.wins, one.draws, one.losses))
        row = (one.a, one.b, f"{one.margin:+.3f}", f"{one.low:+.3f} .. {one.high:+.3f}", shares)
        rows.append((*row, *([f"{one.forfeits} : {one.b_forfeits}"] if fails else [])))
    return Report(f"{what_is_played(pairings)}: points a round", headings, tuple(rows))


def time_report(pairings: Sequence[Pairing]) -> Report:
    """Return how long both agents of each pairing think."""
    rows = (
        (one.a, one.b, *map(_time, (one.median_seconds, one.slow_seconds, one.b_median_seconds, one.b_slow_seconds)))
        for one in pairings
    )
    title = "time a move: median and 99th percentile of the agent, and of the one against it"
    return Report(title, ("agent", "against", "median", "99 %", "its median", "its 99 %"), tuple(rows))


def _time(seconds: float) -> str:
    """Return a time with its unit, three digits."""
    for unit, size in (("us", 1e-6), ("ms", 1e-3)):
        if seconds < 999.5 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def pairing_table(pairings: Sequence[Pairing], console: Console | None = None) -> None:
    """Print results as a table."""
    pairing_report(pairings).print(console)


def rating_report(tournament: Tournament) -> Report:
    """Return the agents on one scale, the best one first."""
    rows = (
        (
            one.agent,
            f"{one.elo:+.0f}",
            f"{one.low:+.0f} .. {one.high:+.0f}",
            f"{100 * one.score:.1f} %",
            f"{one.games:,}",
        )
        for one in tournament.ratings
    )
    title = "Elo by Bradley-Terry, the mean of all agents 0; score: wins and half the draws"
    if note := note_of_few(tournament.pairings):
        title += f"; {note}"
    return Report(title, ("agent", "Elo", "95 % interval", "score", "games"), tuple(rows), words=1)


def variance_report(tournament: Tournament, half_width: float) -> Report:
    """Return what an interval of this half-width takes, by pairing."""
    rows = (
        (
            one.a,
            one.b,
            f"{one.deal**0.5:.2f}",
            f"{one.game**0.5:.2f}",
            f"{one.duplicate_deals:,}",
            f"{one.duplicate_games:,}",
            f"{one.single_games:,}",
            f"{one.saving:.2f}",
        )
        for one in tournament.variances(half_width)
    )
    title = f"deals for a 95 % interval of +-{half_width:g} points a round; s: standard deviation of a deal, a game"
    headings = ("agent", "against", "s deal", "s game", "deals", "games", "single games", "saving")
    return Report(title, headings, tuple(rows))


def reports(tournament: Tournament, half_width: float | None) -> list[Report]:
    """Return the tables of a tournament; with a half-width also the one of deals needed."""
    found = [pairing_report(tournament.pairings)]
    if len(tournament.agents) > 2:
        found.append(rating_report(tournament))
    found.append(time_report(tournament.pairings))
    if half_width is not None:
        found.append(variance_report(tournament, half_width))
    return found
