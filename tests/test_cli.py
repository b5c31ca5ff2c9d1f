"""The command line: what it prints, and that a wrong input is one line on stderr and exit status 2."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from helpers import ALL_PRESETS, play_randomly
from scopa_agents.learned import shipped_models
from scopa_env import Game
from scopa_env.agents import agent_names
from scopa_env.presets import PRESETS, source_of
from scopa_env.record import GameRecord, write_records
from scopa_env.rules import FIELD_NAMES

CASES = Path(__file__).parent / "cases" / "rules.yaml"


def scopa(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SCOPA_ENV_QUIET": "1", "COLUMNS": "120", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "scopa_train.cli", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, env=environment, cwd=cwd, stdin=subprocess.DEVNULL
    )


def test_rules_lists_every_preset() -> None:
    done = scopa("rules")
    assert done.returncode == 0
    assert all(name in done.stdout for name in ALL_PRESETS)


def test_rules_shows_each_field_with_its_source() -> None:
    done = scopa("rules", "escoba_site")
    assert done.returncode == 0
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.split()}
    for field in FIELD_NAMES:
        assert source_of("escoba_site", field) in lines[field]
    changed = scopa("rules", "scopa:players=3")
    assert "changed here" in changed.stdout


def test_agents_lists_agents_and_for_each_preset_the_network_that_learned_is() -> None:
    done = scopa("agents")
    assert done.returncode == 0
    assert all(name in done.stdout for name in (*agent_names(), *ALL_PRESETS))
    assert all(f"learned:{name}" in done.stdout for name in shipped_models())
    assert "of another package" not in done.stdout


def test_every_field_of_every_preset_has_a_source() -> None:
    for name in PRESETS:
        for field in FIELD_NAMES:
            assert source_of(name, field)
        assert set(PRESETS[name].fields) | set(PRESETS[name].states) | set(PRESETS[name].notes) <= set(FIELD_NAMES)


def test_check_cases_passes_the_handed_cases() -> None:
    done = scopa("check-cases", str(CASES))
    assert done.stdout.splitlines()[-1] == "150 passed, 0 failed"
    assert done.returncode == 0


def test_check_cases_fails_with_status_1(tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text(CASES.read_text("utf-8").replace("moves: [5s>2d+3b]", "moves: [5s>2d+3b, 5s]", 1), "utf-8")
    done = scopa("check-cases", str(file))
    assert done.stdout.splitlines()[-1] == "149 passed, 1 failed"
    assert "o001" in done.stdout
    assert done.returncode == 1


def test_check_records_replays_the_golden_games() -> None:
    done = scopa("check-records", str(CASES.parent.parent / "golden" / "games.jsonl"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{len(ALL_PRESETS)} games, every move and result right\n"


def test_check_records_names_file_and_game(tmp_path: Path) -> None:
    lines = (CASES.parent.parent / "golden" / "games.jsonl").read_text("utf-8").splitlines(keepends=True)
    lines[2] = lines[2].replace('"points": "', '"points": "9', 1)
    file = tmp_path / "games.jsonl"
    file.write_text("".join(lines), "utf-8")
    done = scopa("check-records", str(file))
    assert done.returncode == 2
    assert f"{file}: game 3: round 1, points" in done.stderr


def test_show_prints_a_position_and_its_legal_moves() -> None:
    done = scopa("show", "scopa 7d3c5s/?3 2dFcRb4c ?30 -/- 0/0 0 - 1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "legal   7d 3c 5s"


def test_arena_prints_a_table_and_writes_json(tmp_path: Path) -> None:
    arguments = ("arena", "greedy", "random", "--rules", "escoba", "--deals", "100", "--seed", "3")
    file = tmp_path / "result.json"
    done = scopa(*arguments, "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "greedy" in done.stdout
    assert "95 %" in done.stdout
    piped = scopa(*arguments, "--json", "-")
    content = json.loads(piped.stdout)
    assert content["pairings"][0]["margin"] == json.loads(file.read_text())["pairings"][0]["margin"]
    assert "greedy" in piped.stderr
    assert (
        len(json.loads(scopa("arena", "greedy", "random", "random", "--deals", "10", "--json", "-").stdout)["pairings"])
        == 2
    )


def test_an_agent_of_ones_own_by_module_and_attribute(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def first(view):\n    return view.legal_moves[0]\n")
    script = str(Path(sys.executable).parent / "scopa")
    arguments = ("arena", "mine:first", "random", "--deals", "20", "--json", "-")
    by_script = subprocess.run([script, *arguments], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert json.loads(by_script.stdout)["pairings"][0]["a"] == "first"
    done = scopa(*arguments, cwd=tmp_path)
    assert json.loads(done.stdout)["pairings"][0]["a"] == "first"


WRONG = [
    ("nonsense",),
    ("rules", "escobar"),
    ("rules", "scopa:players=5"),
    ("rules", "scopa:colour=red"),
    ("rules", "scopa:hand_size=7"),
    ("check-cases", "no/such/file.yaml"),
    ("check-cases", str(Path(__file__).parent)),
    ("check-cases", __file__),
    ("check-records", "no/such/file.toml"),
    ("check-records", __file__),
    ("check-records", str(CASES)),
    ("show", "scopa"),
    ("show", "scopa 7d3c5s/?3 2dFcRb4c ?29 -/- 0/0 0 - 1"),
    ("show", "scopa 7d3c5s/?3 7dFcRb4c ?30 -/- 0/0 0 - 1"),
    ("arena",),
    ("arena", "greedy"),
    ("arena", "greedy", "gredy"),
    ("arena", "greedy", "no_module:agent"),
    ("arena", "greedy", "random", "--rules", "nope"),
    ("arena", "greedy", "random", "--deals", "1"),
    ("arena", "greedy", "random", "--deals", "many"),
    ("arena", "greedy", "random", "--seeds", "1"),
    ("arena", "greedy", f"learned:{__file__}"),
    ("arena", "greedy", "learned:no/such/model"),
    ("arena", "greedy", "random", "--deals", "10", "--json", "no/such/folder/x.json"),
    ("arena", "greedy", "random", "--jobs", "0"),
    ("arena", "greedy", "random", "--engine", "slurm"),
    ("arena", "greedy", "random", "--address", "auto"),
    ("arena", "greedy", "random", "--move-limit", "0"),
    ("arena", "greedy", "random", "--hard-limit", "nan"),
    ("arena", "greedy", "random", "--forfeit-margin", "1000"),
    ("arena", "greedy", "random", "--half-width", "0"),
    ("arena", "greedy", "random", "--out", "no/such/folder/x.jsonl"),
    ("arena", "greedy", "random", "--out", __file__),
    ("arena", "greedy", "random", "--markdown", "no/such/folder/x.md"),
    ("arena", "greedy", "random", "--plots", "/dev/null/x"),
    ("arena", "--from", "no/such/file.jsonl"),
    ("arena", "--from", __file__),
    ("arena", "greedy", "--from", __file__),
    ("arena", "--deals", "10", "--from", __file__),
    ("train", "nothing"),
    ("train", "ppo", "--steps", "0"),
    ("train", "ppo", "--rules", "nope"),
    ("train", "ppo", "--opponents", "nobody"),
    ("train", "ppo", "--reward", "nope"),
    ("train", "ppo", "--threads", "-1"),
    ("train", "ppo", "--hidden", "-5"),
    ("train", "ppo", "--steps", "10", "--out", "/dev/null/x"),
    ("arena", ".a:x", "random"),
    ("arena", "greedy", "random", "--seed", "-1"),
    ("arena", "greedy", "random", "--deals", "10", "--json", "/"),
    ("rules", "scopa:sweep_points=0,cards_points=0,coins_points=0,settebello_points=0,primiera_points=0"),
    ("show", "scopa -/- - " + "7d" * 45 + " -/- 0/0 - - 0"),
    ("play", "--against", "nobody"),
    ("play", "--against", "mcts_cheating:10"),
    ("play", "--against", "ismcts:0"),
    ("arena", "greedy", "pimc:10,rollout=best"),
    ("solve", "nothing"),
    ("solve", "no/such/file.toml"),
    ("solve", "scopa 7d3c5s/?3 2dFcRb4c ?30 -/- 0/0 0 - 1"),
    ("solve", "scopa 7d3c5s/2s3s4s 2dFcRb4c ?30 -/- 0/0 0 - 1"),
    ("bench", "search", "--moves", "1"),
    ("play", "--rules", "nope"),
    ("play", "--seat", "9"),
    ("bench", "nothing"),
    ("bench", "start", "--repeats", "0"),
    ("bench", "recipes", "nothing"),
    ("curves", "no/such/run"),
]


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_a_wrong_input_is_one_line_and_status_2(arguments: tuple[str, ...]) -> None:
    done = scopa(*arguments)
    assert done.returncode == 2, (done.stdout, done.stderr)
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("scopa: ")
    assert "Traceback" not in done.stdout + done.stderr


def test_help_of_every_command() -> None:
    for arguments in (
        (),
        ("rules",),
        ("show",),
        ("check-records",),
        ("check-cases",),
        ("arena",),
        ("play",),
        ("solve",),
        ("bench", "search"),
        ("curves",),
        ("train",),
        *([("train", "ppo")] if find_spec("torch") else []),
        ("bench", "start"),
    ):
        done = scopa(*arguments, "--help")
        assert done.returncode == 0, done.stderr
        assert "Usage" in done.stdout
    assert scopa("--version").stdout.strip() == "0.1.0"


def test_nothing_but_the_base_packages_is_imported_by_the_environment() -> None:
    code = (
        "import sys, scopa_env, scopa_agents.greedy, scopa_train.cli;"
        "print([m for m in ('torch', 'stable_baselines3', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_bench_measures_every_way_of_playing(tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    done = scopa("bench", "--seconds", "0.001", "--repeats", "1", "--no-processes", "--json", str(file))
    assert done.returncode == 0, done.stderr
    rates = json.loads(file.read_text())["per_second"]
    assert all(rate > 0 for rate in rates.values())
    assert all(name in done.stdout for name in ("AEC env", "Game.copy()"))
    wrong = scopa("bench", "--seconds", "0")
    assert (wrong.returncode, wrong.stderr) == (2, "scopa: seconds=0.0, repeats=5: allowed are numbers above 0\n")


def test_bench_measures_search(tmp_path: Path) -> None:
    file = tmp_path / "search.json"
    done = scopa("bench", "search", "--seconds", "0.001", "--repeats", "1", "--moves", "3", "--json", str(file))
    assert done.returncode == 0, done.stderr
    content = json.loads(file.read_text())
    assert all(rate > 0 for rate in content["per_second"].values())
    assert any("ismcts:20ms" in name for name in content["time_kept"])


def test_solve_shows_the_value_of_every_move() -> None:
    game = Game("scopa", seed=2)
    while len(game.plays) < 30:
        game.push(game.legal_moves[0])
    done = scopa("solve", game.text())
    assert done.returncode == 0, done.stderr
    assert all(game.move_text(move) in done.stdout for move in game.legal_moves)
    assert "positions" in done.stdout


def test_solve_reviews_a_recorded_game(tmp_path: Path) -> None:
    game = Game("scopa:target=2", seed=1)
    rng = random.Random(1)
    while not game.match_over:
        if game.round_over:
            game.next_round()
        play_randomly(game, rng)
    file = tmp_path / "game.toml"
    write_records(file, [GameRecord.from_game(game, ["Ada", "Bea"])])
    done = scopa("solve", str(file))
    assert done.returncode == 0, done.stderr
    rounds = len(game.past) + 1
    assert done.stdout.count("points lost") == rounds
    assert "Bea" in done.stdout
    short = scopa("solve", str(file), "--summary", "--plays-left", "6")
    assert short.stdout.count("in the last 6 plays") == rounds
    assert "Bea" not in short.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--positions", "99999999999999999999"),
            "positions=99999999999999999999: allowed are whole numbers 1 .. 10000",
        ),
        (("--positions", "0"), "positions=0: allowed are whole numbers 1 .. "),
        (("--plays-left", "-1"), "plays_left=-1: allowed are whole numbers 1 .. 40"),
        (("--plays-left", "41"), "plays_left=41: allowed are whole numbers 1 .. 40"),
        (("--plays-left", "6"), "--plays-left 6: allowed with a file of game records only, not with a position"),
        (("--summary",), "--summary: allowed with a file of game records only, not with a position"),
    ],
)
def test_solve_refuses_options(options: tuple[str, ...], message: str) -> None:
    done = scopa("solve", Game("scopa", seed=2).text(), *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"scopa: {message}")


def test_solve_goes_on_after_a_play_that_is_not_solved(tmp_path: Path) -> None:
    game = Game("scopone_scientifico", seed=1)
    play_randomly(game, random.Random(1))
    file = tmp_path / "games.jsonl"
    write_records(file, [GameRecord.from_game(game)] * 2)
    done = scopa("solve", str(file), "--plays-left", "12", "--positions", "50")
    assert done.returncode == 0, done.stderr
    for number in (1, 2):
        assert re.search(
            rf"game {number}, round 1: points lost \d+/\d+ in the last 12 plays; \d+ of them, marked \?, not solved"
            r" \(see --positions\); the first 28 plays are left out; --plays-left 40 shows them\n",
            done.stdout,
        )
    rows = [line for line in done.stdout.splitlines() if re.match(r" *[0-3] ", line)]
    assert len(rows) == 24
    assert 0 < sum("?" in row for row in rows) < 24


def test_solve_names_the_game_that_has_three_sides(tmp_path: Path) -> None:
    game = Game("scopa:players=3", seed=1)
    play_randomly(game, random.Random(1))
    file = tmp_path / "games.jsonl"
    write_records(file, [GameRecord.from_game(game)])
    done = scopa("solve", str(file))
    assert done.stderr == "scopa: game 1: 'scopa:players=3' has 3 sides; allowed are games of two sides\n"
