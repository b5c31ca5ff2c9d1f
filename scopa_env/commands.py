"""`scopa rules`, `scopa show`, `scopa check-cases` and `scopa check-records`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from scopa_env.game import Game, View
from scopa_env.notation import PositionError, parse_position
from scopa_env.presets import PRESETS, source_of
from scopa_env.record import RecordError, read_records
from scopa_env.render.text import table_text
from scopa_env.rules import FIELD_NAMES, Rules, preset_rules, value_text


def rules_command(preset: str | None = None, /) -> None:
    """List the presets, or print every field of one with its source.

    Args:
        preset: a preset's name, or text such as ``scopa:players=3`` for a changed one.
    """
    console = Console()
    if preset is None:
        _list_presets(console)
    else:
        _show_fields(console, Rules.parse(preset))


def _list_presets(console: Console) -> None:
    table = Table("preset", "players", "to", "game", "source", box=None)
    for name, preset in PRESETS.items():
        rules = preset_rules(name)
        seats = f"{rules.players}{' in teams' if rules.teams else ''}"
        table.add_row(name, seats, str(rules.target), preset.title, preset.source)
    console.print(table)


def _show_fields(console: Console, rules: Rules) -> None:
    name = rules.text().partition(":")[0]
    preset = preset_rules(name)
    table = Table(
        "field", "value", "source", box=None, title=f"{rules.text()}: {PRESETS[name].title}", title_justify="left"
    )
    for field_name in FIELD_NAMES:
        value = getattr(rules, field_name)
        source = source_of(name, field_name) if value == getattr(preset, field_name) else "changed here"
        table.add_row(field_name, value_text(value) or "none", source)
    console.print(table)


def check_cases_command(file: Path, /) -> int:
    """Run every case of a file; prints the problems of those that fail, and ``N passed, M failed``.

    Args:
        file: a YAML file in the format of ``tests/cases/rules.yaml``.

    Returns:
        Exit status: 0 if all passed, else 1.
    """
    from scopa_env.cases import check_file

    passed, failed = check_file(file)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def show_command(position: str, /) -> None:
    """Show a position: the table, what the seat to act may play, and what makes the position impossible.

    Args:
        position: rules hands table stock piles sweeps turn last dealer [totals [sets]], such as
            ``scopa 7d3c5s/?3 2dFcRb4c ?30 -/- 0/0 0 - 1``.
    """
    found = parse_position(position)
    problems = found.status()
    if problems:
        raise PositionError(f"position: {'; '.join(problems)}")
    table = View.from_text(position) if found.hides_cards else Game.from_position(found, 0)
    print(table_text(table))
    if not table.round_over:
        print(f"legal   {' '.join(table.move_text(move) for move in table.legal_moves)}")


def check_records_command(file: Path, /) -> None:
    """Replay every game of a file of records and check each move and result.

    Args:
        file: a ``.toml`` file with one game, or a ``.jsonl`` file with one a line.
    """
    count = 0
    for record in read_records(file):
        count += 1
        try:
            record.replay()
        except RecordError as error:
            raise RecordError(f"{file}: game {count}: {error}") from None
    print(f"{count} games, every move and result right")
