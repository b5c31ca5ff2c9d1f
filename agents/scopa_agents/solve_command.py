"""`scopa solve`: exact values of a position, or what the plays of recorded games lost, with open cards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from scopa_agents.solve import MOST_POSITIONS, Solver, points_lost
from scopa_env.game import Game
from scopa_env.record import SUFFIXES, GameRecord, read_records
from scopa_env.rules import Rules

FAR = {2: 40}
"""By number of players: plays to come of the first play that is looked at; other numbers `NEAR`."""
NEAR = 16


def solve_command(
    what: str, /, *, plays_left: int | None = None, positions: int = MOST_POSITIONS, summary: bool = False
) -> None:
    """Solve a position with every card known, or show what the plays of recorded games lost against perfect play.

    Args:
        what: a position in which every card is known, or a file of game records (.toml, .jsonl).
        plays_left: of a file, look at plays with at most so many to come; default: with two players all, else 16.
        positions: give up a position that takes more.
        summary: of a file, only the points that each side lost, round by round.
    """
    solver = Solver(positions)
    if Path(what).suffix in SUFFIXES:
        for number, record in enumerate(read_records(what), 1):
            _review(solver, record, number, plays_left, summary)
    else:
        _show_position(solver, Game.from_text(what))


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


def _review(solver: Solver, record: GameRecord, number: int, plays_left: int | None, summary: bool) -> None:
    game = record.replay()
    limit = _farthest(game.rules, plays_left)
    for count, one in enumerate(rounds_of(game), 1):
        found = solver.losses(one, limit)
        if not summary:
            table = Table(title=f"game {number}, round {count}: {game.rules.text()}", box=box.SIMPLE_HEAD)
            for heading in ("seat", "player", "move", "lost", "loses nothing"):
                table.add_column(heading)
            for loss in found:
                player = record.players[loss.seat] if record.players else ""
                best = " ".join(map(str, loss.best)) if loss.lost else ""
                table.add_row(str(loss.seat), player, str(loss.move), str(loss.lost or ""), best)
            Console().print(table)
        lost = "/".join(map(str, points_lost(found, game.rules)))
        print(f"game {number}, round {count}: points lost {lost} in the last {len(found)} plays")
