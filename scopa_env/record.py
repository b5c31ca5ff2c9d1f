"""Game records: what was dealt and played, to keep, to read and to replay.

A ``.toml`` file holds one game and is made to be read by people, a ``.jsonl`` file many, one a line; both have the same
keys.  Rules, deck, moves and points are written in the notation of the package (`scopa_env.notation`), numbers by side
with ``/`` between them:

    format = "scopa-env record 1"
    rules = "escoba:players=3"
    dealer = 2                          # of the first round
    players = ["Ada", "Bea", "Cleo"]    # by seat; may be absent

    [[rounds]]
    deck = "7d 3c Fb ..."               # in dealing order
    moves = "7dxFs 3c 5sx2d8b+ ..."     # + takes the whole table
    points = "3/1/0"                    # absent if the round was not finished

    [result]
    totals = "3/1/0"                    # of the current set
    sets = "0/0/0"
    winner = 0                          # a side, or "draw"; absent if the match goes on

Reading finds out whether a record is well formed; `GameRecord.replay` whether it is true.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

import tomli_w

from scopa_env.cards import cards_text, parse_cards
from scopa_env.files import whole_file
from scopa_env.game import Game, check_deck
from scopa_env.notation import parse_move
from scopa_env.rules import Rules, check_seat

__all__ = ["GameRecord", "RecordError", "Result", "RoundRecord", "read_records", "write_records"]

FORMAT = "scopa-env record 1"
SUFFIXES = (".toml", ".jsonl")


class RecordError(ValueError):
    """A record that is malformed, or not true by the rules; names the round, the move or the key."""


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """Turn an error inside into a RecordError that says where it is."""
    try:
        yield
    except OSError as error:
        raise RecordError(f"{where}: {error.strerror or error}") from None
    except ValueError as error:
        raise RecordError(f"{where}: {error}") from None


@dataclass(frozen=True)
class RoundRecord:
    """One round.

    Attributes:
        deck: the cards in dealing order.
        moves: the moves in order, as text.
        points: points by side; None if the round was not finished.
    """

    deck: tuple[int, ...]
    moves: tuple[str, ...]
    points: tuple[int, ...] | None


@dataclass(frozen=True)
class Result:
    """How the match stands at the end of a record.

    Attributes:
        totals: points of the current set, by side.
        sets: sets won, by side.
        winner: the side that won the match, ``"draw"``, or None if it goes on.
    """

    totals: tuple[int, ...]
    sets: tuple[int, ...]
    winner: int | str | None = None


@dataclass(frozen=True)
class GameRecord:
    """A game from its first deal on.

    Attributes:
        rules: the rules.
        dealer: seat that dealt the first round.
        rounds: the rounds, the last one perhaps not finished.
        result: how the match stands after them.
        players: names by seat, or nothing.

    Raises:
        RecordError: a part is malformed, or parts do not fit together.
    """

    rules: Rules
    dealer: int
    rounds: tuple[RoundRecord, ...]
    result: Result
    players: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        with _naming("dealer"):
            check_seat("seat", self.dealer, self.rules)
        _check_players(self.players, self.rules)
        if not self.rounds:
            raise RecordError("rounds: none; a record has at least one")
        for number, played in enumerate(self.rounds, 1):
            with _naming(f"round {number}"):
                check_deck(self.rules, played.deck)
            for place, text in enumerate(played.moves, 1):
                with _naming(f"round {number}, move {place}"):
                    parse_move(text)

    @classmethod
    def from_game(cls, game: Game, players: Sequence[str] = ()) -> GameRecord:
        """Record a game from its first deal on; a play whose capture is still being named is left out.

        Raises:
            RecordError: a deal is not known: the game began from a position or was sampled.
        """
        states = [Game.from_records(game.rules, records) for records in (*game.past, game.records)]
        finished = int(game.records["rounds"][0])
        if len(states) != finished + (not game.round_over):
            raise RecordError(f"only {len(game.past)} of the rounds before this one are known")
        rounds = []
        twin = None
        for number, state in enumerate(states, 1):
            with _naming(f"round {number}"):
                twin = _deal(twin, game.rules, states[0].dealer, _known_deck(state))
                moves = tuple(_push_all(twin, state))
            rounds.append(RoundRecord(_known_deck(state), moves, _points(state)))
        return cls(game.rules, states[0].dealer, tuple(rounds), _result(game), tuple(players))

    def replay(self) -> Game:
        """Play the record again; check every deal and move, the points and the result.

        Raises:
            RecordError: something is not as the rules say; the message says where.
        """
        game = None
        for number, played in enumerate(self.rounds, 1):
            with _naming(f"round {number}"):
                game = _deal(game, self.rules, self.dealer, played.deck)
            for place, text in enumerate(played.moves, 1):
                with _naming(f"round {number}, move {place}"):
                    game.push_text(text)
            _check_equal(f"round {number}, points", played.points, _points(game))
        assert game is not None  # there is at least one round
        found = _result(game)
        _check_equal("result, totals", self.result.totals, found.totals)
        _check_equal("result, sets", self.result.sets, found.sets)
        _check_equal("result, winner", self.result.winner, found.winner)
        return game

    def to_toml(self) -> str:
        """Return the record for people: the moves of each deal on a line."""
        rules = self.rules
        return tomli_w.dumps(_content(self, rules.players * rules.hand_size), multiline_strings=True)

    @classmethod
    def from_toml(cls, text: str) -> GameRecord:
        """Read what `to_toml` writes.

        Raises:
            RecordError: malformed text; `replay` finds out whether it is true.
        """
        with _naming("not TOML"):
            content = _loaded(tomllib.loads, text)
        return _from_content(content)

    def to_json(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps(_content(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> GameRecord:
        """Read what `to_json` writes.

        Raises:
            RecordError: malformed text; `replay` finds out whether it is true.
        """
        with _naming("not JSON"):
            content = _loaded(lambda line: json.loads(line, object_pairs_hook=_unique), text)
        return _from_content(content)


def _deal(game: Game | None, rules: Rules, dealer: int, deck: Sequence[int]) -> Game:
    """Start the game, or go on with its next round."""
    if game is None:
        return Game(rules, seed=0, dealer=dealer, deck=deck)
    game.next_round(deck)
    return game


def _known_deck(game: Game) -> tuple[int, ...]:
    if game.deck is None:
        raise RecordError("its deal is not known")
    return game.deck


def _push_all(twin: Game, game: Game) -> Iterator[str]:
    """Make the plays of the round of `game` in `twin` as well; yield their texts."""
    for play in game.plays:
        yield twin.move_text(play.move)
        twin.push(play.move)


def _points(game: Game) -> tuple[int, ...] | None:
    outcome = game.outcome()
    return None if outcome is None else outcome.points


def _result(game: Game) -> Result:
    outcome = game.outcome()
    winner: int | str | None = None
    if outcome is not None and outcome.match_over:
        winner = "draw" if outcome.match_winner is None else outcome.match_winner
    return Result(game.totals, game.sets, winner)


def _check_equal(where: str, said: object, found: object) -> None:
    if said != found:
        raise RecordError(f"{where}: {_said(said)} in the record, {_said(found)} by the rules")


def _said(value: object) -> str:
    if value is None:
        return "nothing"
    return _slashed(value) if isinstance(value, tuple) else str(value)


def _check_players(players: Collection[str], rules: Rules) -> None:
    if players and len(players) != rules.players:
        raise RecordError(f"players: {len(players)} names; allowed are {rules.players}, or none")
    for name in players:
        if not name or not name.isprintable():
            raise RecordError(f"players: {name!r}: expected printable text")


# the keys of a file


def _content(record: GameRecord, moves_a_line: int = 0) -> dict[str, Any]:
    """Return a record as plain values; the order of the keys is that of the file."""
    result: dict[str, Any] = {"totals": _slashed(record.result.totals), "sets": _slashed(record.result.sets)}
    if record.result.winner is not None:
        result["winner"] = record.result.winner
    content: dict[str, Any] = {"format": FORMAT, "rules": record.rules.text(), "dealer": record.dealer}
    if record.players:
        content["players"] = list(record.players)
    return content | {"rounds": [_round_content(played, moves_a_line) for played in record.rounds], "result": result}


def _round_content(played: RoundRecord, moves_a_line: int) -> dict[str, Any]:
    content = {"deck": cards_text(played.deck, " "), "moves": " ".join(played.moves)}
    if moves_a_line and len(played.moves) > moves_a_line:
        starts = range(0, len(played.moves), moves_a_line)
        content["moves"] = "\n".join(" ".join(played.moves[at : at + moves_a_line]) for at in starts)
    if played.points is not None:
        content["points"] = _slashed(played.points)
    return content


def _slashed(numbers: Iterable[int]) -> str:
    return "/".join(map(str, numbers))


def _loaded(load: Any, text: str) -> Any:
    try:
        return load(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a key stands twice")
    return content


def _from_content(content: Any) -> GameRecord:
    _check_keys("record", content, ("format", "rules", "dealer", "rounds", "result"), ("players",))
    if content["format"] != FORMAT:
        raise RecordError(f"format: {shortened(content['format'])}: expected {FORMAT!r}")
    with _naming("rules"):
        rules = Rules.parse(_text(content["rules"]))
    with _naming("players"):
        players = tuple(map(_text, _list(content.get("players", []))))
    with _naming("rounds"):
        items = _list(content["rounds"])
    rounds = tuple(_read_round(f"round {number}", item, rules) for number, item in enumerate(items, 1))
    return GameRecord(rules, content["dealer"], rounds, _read_result(content["result"], rules), players)


def _read_round(where: str, content: Any, rules: Rules) -> RoundRecord:
    _check_keys(where, content, ("deck", "moves"), ("points",))
    with _naming(f"{where}, deck"):
        deck = tuple(parse_cards(_text(content["deck"])))
    with _naming(f"{where}, moves"):
        moves = tuple(_text(content["moves"]).split())
    with _naming(f"{where}, points"):
        points = _numbers(content["points"], rules) if "points" in content else None
    return RoundRecord(deck, moves, points)


def _read_result(content: Any, rules: Rules) -> Result:
    _check_keys("result", content, ("totals", "sets"), ("winner",))
    with _naming("result, totals"):
        totals = _numbers(content["totals"], rules)
    with _naming("result, sets"):
        sets = _numbers(content["sets"], rules)
    winner = content.get("winner")
    if winner is not None and winner != "draw" and type(winner) is not int:
        raise RecordError(f"result, winner: {shortened(winner)}: expected a side or 'draw'")
    return Result(totals, sets, winner)


def _check_keys(where: str, content: Any, needed: Sequence[str], allowed: Sequence[str]) -> None:
    if not isinstance(content, dict):
        raise RecordError(f"{where}: {shortened(content)}: expected {', '.join(needed)}")
    for key in needed:
        if key not in content:
            raise RecordError(f"{where}: {key} is missing")
    for key in content:
        if key not in needed and key not in allowed:
            raise RecordError(f"{where}: {shortened(key)}: not understood; keys are {', '.join((*needed, *allowed))}")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{shortened(value)}: expected text")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{shortened(value)}: expected a list")
    return value


def _numbers(value: Any, rules: Rules) -> tuple[int, ...]:
    parts = _text(value).split("/")
    if len(parts) != rules.sides or not all(re.fullmatch("[0-9]{1,9}", part) for part in parts):
        raise ValueError(f"{shortened(value)}: expected {rules.sides} numbers with / between them")
    return tuple(map(int, parts))


# files


def read_records(path: str | os.PathLike[str]) -> Iterator[GameRecord]:
    """Read the game of a ``.toml`` file or, one after the other, those of a ``.jsonl`` file.

    Raises:
        RecordError: the file cannot be read, is no record or holds none; the message names it, and the line.
    """
    path = _checked_path(path)
    return _read_lines(path) if path.suffix == ".jsonl" else _read_one(path)


def _checked_path(path: str | os.PathLike[str]) -> Path:
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise RecordError(f"{path}: record files end in {' or '.join(SUFFIXES)}")
    return path


def _read_one(path: Path) -> Iterator[GameRecord]:
    with _naming(str(path)):
        record = GameRecord.from_toml(path.read_text("utf-8"))
    yield record


def _read_lines(path: Path) -> Iterator[GameRecord]:
    empty = True
    with _naming(str(path)), path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                with _naming(f"line {number}"):
                    record = GameRecord.from_json(line)
                yield record
                empty = False
        if empty:
            raise RecordError("holds no record")


def write_records(path: str | os.PathLike[str], records: Iterable[GameRecord]) -> int:
    """Write one game to a ``.toml`` file or many to a ``.jsonl`` file; return how many.

    The file appears, or is replaced, only when everything is written.

    Raises:
        RecordError: another ending, no record, or several for a ``.toml`` file.
    """
    path = _checked_path(path)
    with whole_file(path) as unfinished, unfinished.open("x", encoding="utf-8", newline="\n") as file:
        count = 0
        for record in records:
            file.write(record.to_json() + "\n" if path.suffix == ".jsonl" else record.to_toml())
            count += 1
        if count == 0 or (path.suffix == ".toml" and count > 1):
            raise RecordError(f"{path}: {count} records to write; .toml holds one, .jsonl at least one")
    return count
