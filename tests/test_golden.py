"""Golden games and perft counts: nothing that was true of the rules and the seeds may change by accident.

``tools/make_golden.py`` writes the files anew when a change is meant.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

import reference
from helpers import ALL_PRESETS, rule_fields
from make_golden import golden_record, perft
from scopa_env import Game, Rules
from scopa_env.record import read_records

FOLDER = Path(__file__).parent / "golden"
COUNTS = json.loads((FOLDER / "perft.json").read_text("utf-8"))


def test_the_golden_games() -> None:
    """Each replays to its result, and is dealt and played again from its seed to the letter."""
    records = list(read_records(FOLDER / "games.jsonl"))
    assert [record.rules.text() for record in records] == list(ALL_PRESETS)
    for record in records:
        record.replay()
        assert golden_record(record.rules.text()) == record


@pytest.mark.parametrize("preset", ALL_PRESETS)
def test_perft(preset: str) -> None:
    game = Game(preset, seed=1)
    for depth, count in enumerate(COUNTS[preset], start=1):
        assert perft(game, depth) == count


def reference_perft(twin: reference.ReferenceRound, depth: int) -> int:
    if depth == 0 or twin.over:
        return 1
    total = 0
    for card, captured in twin.legal():
        after = copy.deepcopy(twin)
        after.play(card, captured)
        total += reference_perft(after, depth - 1)
    return total


@pytest.mark.parametrize("preset", ALL_PRESETS)
def test_perft_of_the_reference(preset: str) -> None:
    game = Game(preset, seed=1)
    assert game.deck is not None
    twin = reference.ReferenceRound(rule_fields(Rules.parse(preset)), game.deck, game.dealer)
    depth = 2 if max(COUNTS[preset]) > 500 else 3
    assert reference_perft(twin, depth) == COUNTS[preset][depth - 1]
