"""The file of a run: JSON lines, written as the deals are played, from which a run goes on after it was killed.

The first line is the header, each following one a deal of a pairing, in the order in which they were finished:

    {"format": "scopa-env arena 1", "version": "0.1.0", "rules": "scopa", "seed": 0, "deals": 1000,
     "agents": ["greedy", "random"], "cheating": [], "pairings": [["greedy", "random"]],
     "forfeit_margin": 4.0, "move_limit": null, "hard_limit": null}
    {"pairing": 0, "deal": 0, "margins": [1.0, -2.0], "points": [[2, 1], [3, 1]],
     "times": [{"148": 3, "151": 15}, {"140": 18}]}

A line of a deal with forfeited games has them under ``forfeits``.  ``docs/arena.md`` explains every key.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from scopa_agents.arena.reading import DealChecker, LineError, check_header, parse_line
from scopa_agents.arena.unit import GameResult, Times, add_times
from scopa_env.files import check_folder, open_alone, whole_file

FORMAT = "scopa-env arena 1"


class LogError(ValueError):
    """A file that is none of a run, or of another one; the message names the file and what is wrong."""


@dataclass(frozen=True)
class Header:
    """What a run plays: only the number of deals may grow from one start of it to the next.

    Attributes:
        rules: text of the rules.
        seed: seed of the deals and the agents.
        deals: deals of each pairing.
        agents: names of the agents.
        cheating: those of them that see everything.
        pairings: who plays whom, by name.
        forfeit_margin: points by which a forfeited game is lost.
        move_limit: most seconds of a decision, judged after it; None: any.
        hard_limit: seconds of a decision after which its process is killed; None: never.
        version: version of the package.
        format: name and version of the format.
    """

    rules: str
    seed: int
    deals: int
    agents: tuple[str, ...]
    cheating: tuple[str, ...]
    pairings: tuple[tuple[str, str], ...]
    forfeit_margin: float
    move_limit: float | None
    hard_limit: float | None
    version: str
    format: str = FORMAT

    def to_json(self) -> str:
        """Return the header as a line."""
        return json.dumps({"format": self.format, **asdict(self)}, ensure_ascii=False) + "\n"


@dataclass(frozen=True)
class DealResult:
    """What a pairing has played on one deal.

    Attributes:
        pairing: index of the pairing.
        deal: number of the deal.
        margins: points of a's sides over b's, by seating.
        points: points by side, by seating; None where the game was forfeited.
        times: number of moves of a and of b by bin of their time (`scopa_agents.arena.unit.seconds_of`).
        forfeits: of each forfeited game ``seating``, ``agent``, ``side`` (a or b), ``error``, ``position``, ``record``.
    """

    pairing: int
    deal: int
    margins: tuple[float, ...]
    points: tuple[tuple[int, ...] | None, ...]
    times: tuple[Times, Times]
    forfeits: tuple[dict[str, Any], ...] = ()

    @classmethod
    def of(cls, pairing: int, games: Sequence[GameResult]) -> DealResult:
        """Sum up all games of a deal."""
        games = sorted(games, key=lambda game: game.seating)
        times = [_sum(game.times[agent] for game in games) for agent in (0, 1)]
        return cls(
            pairing,
            games[0].deal,
            tuple(game.margin for game in games),
            tuple(game.points for game in games),
            (times[0], times[1]),
            tuple(game.forfeit for game in games if game.forfeit is not None),
        )

    def to_json(self) -> str:
        """Return the deal as a line."""
        content = {name: value for name, value in asdict(self).items() if value or name != "forfeits"}
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n"

    @classmethod
    def from_content(cls, content: dict[str, Any]) -> DealResult:
        """Return a deal from the object of its line, checked by `scopa_agents.arena.reading.DealChecker`."""
        a, b = ({int(index): count for index, count in one.items()} for one in content["times"])
        return cls(
            content["pairing"],
            content["deal"],
            tuple(map(float, content["margins"])),
            tuple(None if points is None else tuple(points) for points in content["points"]),
            (a, b),
            tuple(content.get("forfeits", ())),
        )


def _sum(parts: Iterator[Times]) -> Times:
    total: Times = {}
    for part in parts:
        add_times(total, part)
    return dict(sorted(total.items()))


@dataclass
class Log:
    """What a file holds.

    Attributes:
        header: its header.
        deals: the deals.
        size: bytes up to the end of the last whole line.
    """

    header: Header
    deals: list[DealResult] = field(default_factory=list)
    size: int = 0

    @classmethod
    def read(cls, path: Path) -> Log:
        """Read a file; a last line that is not finished is left out.

        Raises:
            LogError: it is no file of a run, or a line is malformed or there twice; the message says which.
            OSError: it cannot be read.
        """
        with path.open("rb") as file:
            first = file.readline()
            header, deals = _read_header(path, first)
            log = cls(header, size=len(first))
            seen = set()
            for number, line in enumerate(file, 2):
                if not line.endswith(b"\n"):
                    break
                deal = _read_deal(path, number, line, deals)
                if (deal.pairing, deal.deal) in seen:
                    raise LogError(f"{path}: line {number}: deal {deal.deal} of pairing {deal.pairing} is there twice")
                seen.add((deal.pairing, deal.deal))
                log.deals.append(deal)
                log.size += len(line)
        return log


@contextmanager
def _naming_line(path: Path, number: int) -> Iterator[None]:
    try:
        yield
    except LineError as error:
        raise LogError(f"{path}: line {number}: {error}") from None


def _read_header(path: Path, line: bytes) -> tuple[Header, DealChecker]:
    try:
        content = parse_line(line)
        found = content["format"]
    except (LineError, KeyError):
        raise LogError(f"{path}: is no file of an arena run: its first line is no header") from None
    if found != FORMAT:
        raise LogError(f"{path}: format is {found!r}; allowed is {FORMAT!r}")
    with _naming_line(path, 1):
        if not line.endswith(b"\n"):
            raise LineError("the header does not end with a line feed")
        check_header(content)
        deals = DealChecker(content)
    pairs = tuple((a, b) for a, b in content.pop("pairings"))
    agents, cheating = (tuple(content.pop(name)) for name in ("agents", "cheating"))
    return Header(agents=agents, cheating=cheating, pairings=pairs, **content), deals


def _read_deal(path: Path, number: int, line: bytes, deals: DealChecker) -> DealResult:
    with _naming_line(path, number):
        content = parse_line(line)
        deals.check(content)
        return DealResult.from_content(content)


def _check_same(path: Path, found: Header, wanted: Header) -> None:
    """Raise a LogError if a file belongs to another run."""
    for name, value in asdict(wanted).items():
        said = asdict(found)[name]
        if name == "deals":
            if said > value:
                raise LogError(f"{path}: deals: the file is of {said}; allowed are as many or more, not {value}")
        elif said != value:
            raise LogError(f"{path}: {name}: {said!r} in the file, {value!r} asked for; it belongs to another run")


class LogWriter:
    """Writes a file, or goes on with one: a new header if more deals are asked for, nothing if all is there.

    Args:
        path: the file.
        header: what is to be played.

    Attributes:
        deals: what the file has already.

    Raises:
        LogError: the file belongs to another run.
        OSError: it cannot be written, or another process is writing it.
    """

    def __init__(self, path: Path, header: Header) -> None:
        check_folder(path)
        self.deals: list[DealResult] = []
        if not path.exists() or not path.stat().st_size:
            with whole_file(path) as unfinished:
                unfinished.write_text(header.to_json(), "utf-8")
        self._file = open_alone(path)
        try:
            log = Log.read(path)
            _check_same(path, log.header, header)
            self.deals = log.deals
            self._file.truncate(log.size)
            if log.header != header:
                _replace_header(path, header)
                self._file.close()
                self._file = open_alone(path)
        except BaseException:
            self._file.close()
            raise

    def write(self, deals: Sequence[DealResult]) -> None:
        """Add deals; they are in the file when this returns, also if the process is killed."""
        self._file.write("".join(deal.to_json() for deal in deals).encode("utf-8"))
        self._file.flush()

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def _replace_header(path: Path, header: Header) -> None:
    with path.open("rb") as old, whole_file(path) as unfinished, unfinished.open("wb") as new:
        old.readline()
        new.write(header.to_json().encode("utf-8"))
        shutil.copyfileobj(old, new)
