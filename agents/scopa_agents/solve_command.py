"""`scopa solve`: exact values of a position, or what the plays of recorded games lost, with open cards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from scopa_agents.solve import MOST_POSITIONS, Loss, Solver, Unsolvable, points_lost
from scopa_env import batch
from scopa_env.actions import Move
from scopa_env.game import Game
from scopa_env.record import SUFFIXES, GameRecord, RecordError, read_records
from scopa_env.rules import Rules

FAR = {2: 40}
"""By number of players: plays to come of the first play that is looked at; other numbers `NEAR`."""
NEAR = 16

MOST_PLAYS = 40
HIGHEST_LIMIT = 10**12
"""More positions than anyone waits for."""


def solve_command(
    what: str, /, *, plays_left: int | None = None, positions: int = MOST_POSITIONS, summary: bool = False
) -> None:
    """Solve a position with every card known, or show what the plays of recorded games lost against perfect play.

    Args:
        what: a position in which every card is known, or a file of game records (.toml, .jsonl).
        plays_left: of a file, look at plays with at most so many to come; default: with two players all, else 16.
        positions: give up a position that takes more; of a file, its play is marked ``?``.
        summary: of a file, only the points that each side lost, round by round.
    """
    if not 1 <= positions <= HIGHEST_LIMIT:
        raise ValueError(f"positions={positions!r}: allowed are whole numbers 1 .. {HIGHEST_LIMIT}")
    if plays_left is not None and not 1 <= plays_left <= MOST_PLAYS:
        raise ValueError(f"plays_left={plays_left!r}: allowed are whole numbers 1 .. {MOST_PLAYS}")
    if Path(what).suffix in SUFFIXES:
        solver = Solver(positions)
        for number, record in enumerate(read_records(what), 1):
            try:
                game = record.replay()
            except RecordError as error:
                raise RecordError(f"{what}: game {number}: {error}") from None
            _review(solver, record, game, number, plays_left, summary)
    elif plays_left is not None or summary:
        name = "--summary" if summary else f"--plays-left {plays_left}"
        raise ValueError(f"{name}: allowed with a file of game records only, not with a position")
    else:
        _show_position(Solver(positions), Game.from_text(what))


def _show_position(solver: Solver, game: Game) -> None:
    solution = solver.solve(game)
    table = Table(title=f"seat {game.seat} to act: points more than the other side", box=box.SIMPLE_HEAD)
    table.add_column("move")
    table.add_column("value", justify="right")
    for move, value in sorted(solution.moves.items(), key=lambda item: -item[1]):
        table.add_row(game.move_text(move), f"{value:+d}")
    Console().print(table)
    print(f"{solution.positions:,} positions")


def rounds_of(game: Game) -> Iterator[Game]:
    """Yield a game for each round of a match, as it stood at its end."""
    for records in game.past:
        yield Game.from_records(game.rules, records)
    yield game


def _farthest(rules: Rules, plays_left: int | None) -> int:
    return FAR.get(rules.players, NEAR) if plays_left is None else plays_left


@dataclass(frozen=True)
class _Unknown:
    """A play whose position was not solved."""

    seat: int
    move: Move


def _plays(solver: Solver, game: Game, limit: int) -> list[Loss | _Unknown]:
    """Return what the plays of a round lost that have at most `limit` to come."""
    found: list[Loss | _Unknown] = []
    replay = Game(game.rules, dealer=game.dealer, deck=game.deck)
    for play in game.plays:
        if batch.plays_left(replay.rules.record, replay.records) <= limit:
            try:
                solution = solver.solve(replay)
            except Unsolvable:
                found.append(_Unknown(play.seat, play.move))
            else:
                lost = solution.value - solution.moves[play.move]
                found.append(Loss(play.seat, play.move, lost, tuple(solution.best)))
        replay.push(play.move)
    return found


def _review(solver: Solver, record: GameRecord, game: Game, number: int, plays_left: int | None, summary: bool) -> None:
    rules = game.rules
    if rules.sides != 2:
        raise Unsolvable(f"game {number}: {rules.text()!r} has {rules.sides} sides; allowed are games of two sides")
    limit = _farthest(rules, plays_left)
    for count, one in enumerate(rounds_of(game), 1):
        found = _plays(solver, one, limit)
        if not summary:
            _print_plays(f"game {number}, round {count}: {rules.text()}", found, record.players)
        solved = [loss for loss in found if isinstance(loss, Loss)]
        lost = "/".join(map(str, points_lost(solved, rules)))
        print(f"game {number}, round {count}: points lost {lost} in the last {len(found)} plays", end="")
        if len(solved) < len(found):
            print(f"; {len(found) - len(solved)} of them, marked ?, not solved (see --positions)", end="")
        left_out = len(one.plays) - len(found)
        print(f"; the first {left_out} plays are left out; --plays-left {MOST_PLAYS} shows them" if left_out else "")


def _print_plays(title: str, found: Sequence[Loss | _Unknown], players: Sequence[str]) -> None:
    table = Table(title=escape(title), box=box.SIMPLE_HEAD)
    for heading in ("seat", "player", "move", "lost", "loses nothing"):
        table.add_column(heading)
    for one in found:
        lost, best = "?", ""
        if isinstance(one, Loss):
            lost = str(one.lost or "")
            best = " ".join(map(str, one.best)) if one.lost else ""
        player = escape(players[one.seat]) if players else ""
        table.add_row(str(one.seat), player, str(one.move), lost, best)
    Console().print(table)
