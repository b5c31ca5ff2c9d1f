"""Write the golden games and perft counts of the tests: run only when a rule or the seeding changes on purpose."""

from __future__ import annotations

import json
import random
from pathlib import Path

from scopa_env import PRESETS, Game
from scopa_env.record import GameRecord, write_records

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "golden"
DEPTH = 4


def golden_record(preset: str) -> GameRecord:
    """Return two rounds of the preset, dealt from its seed and played at random."""
    rng = random.Random(preset)
    game = Game(preset, seed=1)
    for last in (False, True):
        while not game.round_over:
            game.push(rng.choice(game.legal_moves))
        if not last and not game.match_over:
            game.next_round()
    return GameRecord.from_game(game)


def perft(game: Game, depth: int) -> int:
    """Return the number of lines of `depth` moves (a line that ends before counts once)."""
    if depth == 0 or game.round_over:
        return 1
    moves = game.legal_moves
    if depth == 1:
        return len(moves)
    total = 0
    for move in moves:
        game.push(move)
        total += perft(game, depth - 1)
        game.pop()
    return total


def perft_counts(preset: str) -> list[int]:
    """Return the counts for depths 1 .. DEPTH from the first deal of seed 1."""
    game = Game(preset, seed=1)
    return [perft(game, depth) for depth in range(1, DEPTH + 1)]


def main() -> None:
    """Write both files."""
    FOLDER.mkdir(exist_ok=True)
    write_records(FOLDER / "games.jsonl", map(golden_record, PRESETS))
    counts = {preset: perft_counts(preset) for preset in PRESETS}
    lines = [f"  {json.dumps(preset)}: {json.dumps(numbers)}" for preset, numbers in counts.items()]
    (FOLDER / "perft.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
