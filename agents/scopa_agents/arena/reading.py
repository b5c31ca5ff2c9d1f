"""Reading the lines of a file of a run: everything in them is checked, as people edit such files by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from scopa_agents.arena.games import seatings
from scopa_env.rules import Rules

MOST_BIN = 1024
"""Last bin of times: 2^64 ns."""

MOST_MOVES = 1000
"""More than any agent can make in the games of one deal."""

MOST_POINTS = 32767
"""What a game can hold for a side and a round."""

HEADER_KEYS = (
    "format", "version", "rules", "seed", "deals", "agents", "cheating", "pairings", "forfeit_margin", "move_limit",
    "hard_limit",
)  # fmt: skip
DEAL_KEYS = ("pairing", "deal", "margins", "points", "times")
FORFEIT_KEYS = ("seating", "agent", "side", "error", "position", "record")

CLOSE = 1e-9
"""Most by which a margin may differ from that of its points."""


class LineError(ValueError):
    """What is wrong with a line; the message names the key, what it holds and what is allowed."""


def parse_line(line: bytes) -> dict[str, Any]:
    """Return the object of a line of JSON, in which no key is there twice.

    Raises:
        LineError: it is none.
    """
    try:
        content = json.loads(line.decode("utf-8"), object_pairs_hook=_object)
    except LineError:
        raise
    except (ValueError, RecursionError) as error:
        raise LineError(f"is no JSON ({error})") from None
    if not isinstance(content, dict):
        raise LineError(f"is no JSON object but {_short(content)}")
    return content


def _object(items: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(items)
    if len(found) < len(items):
        names = [name for name, _ in items]
        raise LineError(f"key {next(name for name in names if names.count(name) > 1)!r} is there twice")
    return found


def check_header(content: dict[str, Any]) -> None:
    """Raise a LineError unless the object of the first line is a header."""
    _keys(content, HEADER_KEYS)
    _text("version", content["version"])
    rules = _text("rules", content["rules"])
    try:
        Rules.parse(rules)
    except ValueError as error:
        raise LineError(f"rules: {error}") from None
    _whole("seed", content["seed"], 0)
    _whole("deals", content["deals"], 2)
    agents = _names("agents", content["agents"])
    _known("cheating", _names("cheating", content["cheating"]), agents)
    _pairings(content["pairings"], agents)
    for name in ("forfeit_margin", "move_limit", "hard_limit"):
        value = content[name]
        if (value is not None or name == "forfeit_margin") and _number(name, value) <= 0:
            raise LineError(f"{name}: {value!r}; allowed are numbers above 0")


def _pairings(found: Any, agents: list[str]) -> None:
    pairs = [tuple(_names(f"pairings[{place}]", pair, 2)) for place, pair in enumerate(_list("pairings", found))]
    if not pairs:
        raise LineError("pairings: there is none")
    for place, pair in enumerate(pairs):
        _known(f"pairings[{place}]", pair, agents)
        if pair in pairs[:place]:
            raise LineError(f"pairings[{place}]: {list(pair)!r} is there twice")


def _known(where: str, names: Iterable[str], agents: list[str]) -> None:
    for name in names:
        if name not in agents:
            raise LineError(f"{where}: {name!r} is not among the agents")


def _names(where: str, found: Any, count: int | None = None) -> list[str]:
    names = [_text(f"{where}[{place}]", name) for place, name in enumerate(_list(where, found, count))]
    if count is None and len(set(names)) < len(names):
        raise LineError(f"{where}: {_short(names)}: a name is there twice")
    return names


class DealChecker:
    """Checks the objects of the lines that follow a header.

    Args:
        header: the object of the first line, checked.
    """

    def __init__(self, header: dict[str, Any]) -> None:
        rules = Rules.parse(header["rules"])
        self._sides = rules.sides
        self._owners = [row[: rules.sides] for row in seatings(rules).tolist()]
        self._pairings = header["pairings"]
        self._deals = header["deals"]
        self._forfeit_margin = float(header["forfeit_margin"])

    def check(self, content: dict[str, Any]) -> None:
        """Raise a LineError unless the object is a deal of this run."""
        _keys(content, DEAL_KEYS, ("forfeits",))
        pairing = _whole("pairing", content["pairing"], 0, len(self._pairings) - 1)
        _whole("deal", content["deal"], 0, self._deals - 1)
        games = len(self._owners)
        margins = _list("margins", content["margins"], games)
        points = _list("points", content["points"], games)
        guilty = self._forfeits(content.get("forfeits", []), self._pairings[pairing])
        for seating in range(games):
            expected = self._margin(seating, points[seating], guilty)
            margin = _number(f"margins[{seating}]", margins[seating])
            if abs(margin - expected) > CLOSE:
                raise LineError(f"margins[{seating}]: {margin!r}; by points and forfeits it is {expected!r}")
        for place, times in enumerate(_list("times", content["times"], 2)):
            _times(f"times[{place}]", times)

    def _forfeits(self, found: Any, pair: list[str]) -> dict[int, int]:
        """Check the forfeited games of a deal; return who forfeited which: 0 or 1, by seating."""
        guilty: dict[int, int] = {}
        for place, one in enumerate(_list("forfeits", found)):
            where = f"forfeits[{place}]"
            if not isinstance(one, dict):
                raise LineError(f"{where}: {_short(one)}; expected an object")
            _keys(one, FORFEIT_KEYS, where=f"{where}: ")
            seating = _whole(f"{where}.seating", one["seating"], 0, len(self._owners) - 1)
            if one["side"] not in ("a", "b"):
                raise LineError(f"{where}.side: {_short(one['side'])}; allowed are 'a', 'b'")
            side = "ab".index(one["side"])
            if one["agent"] != pair[side]:
                raise LineError(f"{where}.agent: {_short(one['agent'])}; side {one['side']} is {pair[side]!r}")
            for name in ("error", "position"):
                if not isinstance(one[name], str):
                    raise LineError(f"{where}.{name}: {_short(one[name])}; expected a text")
            if not isinstance(one["record"], dict):
                raise LineError(f"{where}.record: {_short(one['record'])}; expected an object")
            if seating in guilty:
                raise LineError(f"{where}: seating {seating} is there twice")
            guilty[seating] = side
        return guilty

    def _margin(self, seating: int, points: Any, guilty: dict[int, int]) -> float:
        """Return the margin of a game by its points, or of one that was forfeited."""
        where = f"points[{seating}]"
        if seating in guilty:
            if points is not None:
                raise LineError(f"{where}: {_short(points)}; the game was forfeited, so null is expected")
            return self._forfeit_margin if guilty[seating] else -self._forfeit_margin
        if points is None:
            raise LineError(f"{where}: null, but the game was not forfeited")
        sums, counts = [0, 0], [0, 0]
        for owner, one in zip(self._owners[seating], _list(where, points, self._sides), strict=True):
            sums[owner] += _whole(where, one, -MOST_POINTS, MOST_POINTS)
            counts[owner] += 1
        return sums[0] / counts[0] - sums[1] / counts[1]


def _times(where: str, times: Any) -> None:
    if not isinstance(times, dict):
        raise LineError(f"{where}: {_short(times)}; expected an object")
    for key, count in times.items():
        if not (key.isascii() and key.isdigit() and len(key) < 5 and str(int(key)) == key and int(key) <= MOST_BIN):
            raise LineError(f"{where}: key {_short(key)}; allowed are bins 0 .. {MOST_BIN}")
        _whole(f"{where}[{key!r}]", count, 1, MOST_MOVES)


def _keys(content: dict[str, Any], needed: tuple[str, ...], optional: tuple[str, ...] = (), where: str = "") -> None:
    for name in needed:
        if name not in content:
            raise LineError(f"{where}key {name!r} is missing")
    for name in content:
        if name not in needed and name not in optional:
            raise LineError(f"{where}key {_short(name)} is not known; allowed are {', '.join(needed + optional)}")


def _list(where: str, found: Any, count: int | None = None) -> list[Any]:
    if not isinstance(found, list) or (count is not None and len(found) != count):
        raise LineError(f"{where}: {_short(found)}; expected a list{'' if count is None else f' of {count}'}")
    return found


def _whole(where: str, value: Any, low: int, high: int | None = None) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < low or (high is not None and value > high):
        allowed = f"from {low}" if high is None else f"{low} .. {high}"
        raise LineError(f"{where}: {_short(value)}; allowed are whole numbers {allowed}")
    return value


def _number(where: str, value: Any) -> float:
    try:
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    except OverflowError:
        pass
    raise LineError(f"{where}: {_short(value)}; expected a finite number")


def _text(where: str, value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable() or not value.strip():
        raise LineError(f"{where}: {_short(value)}; expected printable text")
    return value


def _short(value: Any) -> str:
    """Return a value as it is shown in messages."""
    try:
        text = json.dumps(value)
    except (ValueError, RecursionError):
        text = "a number" if isinstance(value, int) else "something"
    return text if len(text) <= 60 else f"{text[:57]}..."
