"""Tournaments: the same results whoever plays them and however often they are interrupted; agents that fail."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arena_agents
from scopa_agents.arena import ArenaSettings, Tournament, duel, read_tournament, tournament
from scopa_agents.arena.log import DealResult, Log, LogError
from scopa_env import AgentError, Game, ScopaEnv, make_agent
from scopa_env.record import GameRecord

HERE = Path(__file__).parent


def lines(path: Path) -> list[str]:
    """Return the deals of a file without their times, in order."""
    found = [json.loads(line) for line in path.read_text("utf-8").splitlines()[1:]]
    return sorted(json.dumps({**deal, "times": None}) for deal in found)


def figures(result: Tournament) -> dict[str, Any]:
    """Return all of a result but the times."""
    content = result.as_json()
    for pairing in content["pairings"]:
        for name in [name for name in pairing if name.endswith(("seconds", "seconds_per_move"))]:
            del pairing[name]
    return content


def play(*agents: Any, against: Any = None, **settings: Any) -> Tournament:
    return tournament(agents, against, ArenaSettings(**settings))


# the same results


def test_a_tournament_is_the_duels_that_it_consists_of() -> None:
    result = play("greedy", "random", arena_agents.Mixture(), deals=300, seed=4)
    assert [(one.a, one.b) for one in result.pairings] == [
        ("greedy", "random"),
        ("greedy", "greedy with 0.3 of its moves at random"),
        ("random", "greedy with 0.3 of its moves at random"),
    ]
    alone = duel("greedy", "random", deals=300, seed=4)
    assert (result.pairings[0].margin, result.pairings[0].wins) == (alone.margin, alone.wins)


@pytest.mark.parametrize("names", [("arena_agents:Drawn", "arena_agents:Seeded", "greedy"), ("greedy", "random")])
def test_the_number_of_processes_changes_nothing(names: tuple[str, ...], tmp_path: Path) -> None:
    here = tournament(names, None, ArenaSettings(deals=6, jobs=1, out=tmp_path / "one.jsonl"))
    there = tournament(names, None, ArenaSettings(deals=6, jobs=3, out=tmp_path / "three.jsonl"))
    assert figures(here) == figures(there)
    assert lines(tmp_path / "one.jsonl") == lines(tmp_path / "three.jsonl")


def test_playing_in_this_process_or_in_another_is_the_same() -> None:
    assert figures(play("greedy", "random", deals=10)) == figures(play("greedy", "random", deals=10, jobs=1))


def test_more_deals_later_are_as_if_asked_for_at_once(tmp_path: Path) -> None:
    """Also in the middle of a block of 256."""
    grown, whole = tmp_path / "grown.jsonl", tmp_path / "whole.jsonl"
    for deals in (100, 101, 400):
        play("greedy", "random", deals=deals, out=grown)
    result = play("greedy", "random", deals=400, out=whole)
    assert lines(grown) == lines(whole)
    assert Log.read(grown).header == Log.read(whole).header
    assert figures(read_tournament([grown])) == figures(result)


def test_agents_by_name_are_made_once_if_they_can_be_seeded_again() -> None:
    from scopa_agents.arena.unit import Job, Unit, UnitPlayer

    arena_agents.Seeded.made = 0
    job = Job("scopa", 0, (("arena_agents:Seeded", "random"),), (("seeded", "random"),), 4.0)
    player = UnitPlayer(job)
    found = [player.play(Unit(0, deal, (deal,), together=False)) for deal in (0, 1, 0)]
    assert arena_agents.Seeded.made == 1
    assert [game.margin for game in found[0]] == [game.margin for game in found[2]]


def test_an_agent_handed_in_without_seed_keeps_its_state() -> None:
    """Two runs of the same object go on with its generator."""
    agent = arena_agents.Drawn(seed=1)
    assert duel(agent, "greedy", deals=20).margin != duel(agent, "greedy", deals=20).margin
    agents = [arena_agents.Drawn(seed=1) for _ in range(2)]
    assert duel(agents[0], "greedy", deals=20).margin == duel(agents[1], "greedy", deals=20).margin


def test_the_null_check() -> None:
    result = play("greedy", arena_agents.first, null=True, deals=100)
    null = {one.a: one for one in result.pairings if one.a == one.b}
    assert set(null) == {"greedy", "first"}
    assert null["greedy"].low < 0 < null["greedy"].high
    assert (null["first"].margin, null["first"].low, null["first"].high) == (0, 0, 0)
    assert null["first"].wins == null["first"].losses > 0


def test_agents_of_one_name_are_told_apart() -> None:
    result = play("arena_agents:first", "arena_agents:Slow", deals=2, jobs=1)
    assert result.agents == ("first", "slow")
    copies = play(arena_agents.Drawn(1), arena_agents.Drawn(2), deals=2)
    assert copies.agents == ("drawn#1", "drawn#2")
    by_name = play("scopa_agents.greedy:GreedyAgent", "greedy", deals=2)
    assert by_name.agents == ("scopa_agents.greedy:GreedyAgent", "greedy")


# interruptions


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """SIGKILL in the middle, with two processes; then an unfinished line as of a machine that went down."""
    killed, whole = tmp_path / "killed.jsonl", tmp_path / "whole.jsonl"
    code = (
        "from scopa_agents.arena import tournament, ArenaSettings\n"
        "from pathlib import Path\n"
        "if __name__ == '__main__':\n"
        "    agents = ['arena_agents:Slow', 'arena_agents:first', 'greedy']\n"
        f"    tournament(agents, None, ArenaSettings(deals=40, jobs=2, out=Path({str(killed)!r})))\n"
    )
    (tmp_path / "run.py").write_text(code)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    process = subprocess.Popen([sys.executable, str(tmp_path / "run.py")], env=environment)
    until = time.monotonic() + 120
    while not killed.exists() or killed.read_bytes().count(b"\n") < 20:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    played = killed.read_bytes().count(b"\n") - 1
    assert 19 <= played < 120
    with killed.open("ab") as file:
        file.write(b'{"pairing":0,"deal":39,"marg')
    names = ["arena_agents:Slow", "arena_agents:first", "greedy"]
    steps: list[int] = []
    resumed = tournament(
        names, None, ArenaSettings(deals=40, jobs=2, out=killed), lambda done, total: steps.append(done)
    )
    assert steps[0] in (played, played + 1)  # what a process had ready may have been written after it was counted
    assert steps[-1] == 120
    uninterrupted = tournament(names, None, ArenaSettings(deals=40, jobs=1, out=whole))
    assert lines(killed) == lines(whole)
    assert figures(resumed) == figures(uninterrupted)


def test_a_finished_run_is_not_played_again(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    play("greedy", "random", deals=20, out=file)
    before = file.read_bytes()
    assert play("greedy", "random", deals=20, out=file).pairings[0].deals == 20
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rules": "escoba"}, "rules: 'scopa' in the file, 'escoba' asked for"),
        ({"seed": 1}, "seed: 0 in the file, 1 asked for"),
        ({"deals": 19}, "deals: the file is of 20; allowed are as many or more, not 19"),
        ({"null": True}, "pairings: "),
        ({"move_limit": 1.0}, "move_limit: None in the file, 1.0 asked for"),
        ({"forfeit_margin": 2.0}, "forfeit_margin: 4.0 in the file, 2.0 asked for"),
    ],
)
def test_a_file_of_another_run_is_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    play("greedy", "random", deals=20, out=file)
    before = file.read_bytes()
    with pytest.raises(LogError, match=message):
        play("greedy", "random", **{"deals": 20, "out": file, **change})
    assert file.read_bytes() == before


def test_other_agents_or_another_version_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "run.jsonl"
    play("greedy", "random", deals=2, out=file)
    with pytest.raises(LogError, match=r"agents: \('greedy', 'random'\) in the file, \('random', 'greedy'\)"):
        play("random", "greedy", deals=2, out=file)
    monkeypatch.setattr("scopa_env.__version__", "9.9.9")
    with pytest.raises(LogError, match=r"version: '0.1.0' in the file, '9.9.9' asked for"):
        play("greedy", "random", deals=2, out=file)


def test_files_that_are_none_of_a_run(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    play("greedy", "random", deals=3, out=file)
    header, *deals = file.read_text("utf-8").splitlines(keepends=True)
    wrong = {
        "first line is no header": "hello\n",
        "line 1: key 'version' is missing": '{"format": "scopa-env arena 1"}\n',
        "format is 'scopa-env arena 9'": header.replace("arena 1", "arena 9"),
        "line 3: key 'pairing' is missing": header + deals[0] + "{}\n" + deals[1],
        "line 4: deal 0 of pairing 0 is there twice": header + deals[0] + deals[1] + deals[0],
        "line 2: deal: 7; allowed are whole numbers 0 .. 2": header + deals[0].replace('"deal":0', '"deal":7'),
    }
    for message, content in wrong.items():
        file.write_text(content, "utf-8")
        with pytest.raises(LogError, match=message):
            play("greedy", "random", deals=3, out=file)
        assert file.read_text("utf-8") == content
    file.write_bytes(header.encode()[:-1])
    with pytest.raises(LogError, match="line 1: the header does not end with a line feed"):
        play("greedy", "random", deals=3, out=file)
    file.write_text("", "utf-8")  # as good as none
    play("greedy", "random", deals=3, out=file)
    assert len(lines(file)) == 3


FORFEIT = {"seating": 1, "agent": "greedy", "side": "a", "error": "e", "position": "p", "record": {}}
LOST = {"margins": [1, -4], "points": [[2, 1], None]}
BIG = 10**400


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"deal": 1.0}, "deal: 1.0; allowed are whole numbers 0 .. 2"),
        ({"deal": "1"}, 'deal: "1"; allowed are whole numbers'),
        ({"deal": True}, "deal: true; allowed"),
        ({"deal": 3}, "deal: 3; allowed"),
        ({"pairing": 1}, "pairing: 1; allowed are whole numbers 0 .. 0"),
        ({"pairing": None}, "pairing: null; allowed"),
        ({"margins": [1.0]}, r"margins: \[1.0\]; expected a list of 2"),
        ({"margins": {}}, "margins: {}; expected a list of 2"),
        ({"margins": ["1.0", -3.0]}, r'margins\[0\]: "1.0"; expected a finite number'),
        ({"margins": [float("nan"), -3.0]}, r"margins\[0\]: NaN; expected a finite number"),
        ({"margins": [BIG, -3.0]}, r"margins\[0\]: 10+\.\.\.; expected a finite number"),
        ({"margins": [2.0, -3.0]}, r"margins\[0\]: 2.0; by points and forfeits it is 1.0"),
        ({"points": [[2, 1]]}, r"points: \[\[2, 1\]\]; expected a list of 2"),
        ({"points": [[2], [4, 1]]}, r"points\[0\]: \[2\]; expected a list of 2"),
        ({"points": [[2.0, 1], [4, 1]]}, r"points\[0\]: 2.0; allowed are whole numbers"),
        ({"points": [None, [4, 1]]}, r"points\[0\]: null, but the game was not forfeited"),
        ({"times": [{}]}, r"times: \[{}\]; expected a list of 2"),
        ({"times": [{}, []]}, r"times\[1\]: \[\]; expected an object"),
        ({"times": [{"x": 1}, {}]}, r'times\[0\]: key "x"; allowed are bins 0 .. 1024'),
        ({"times": [{"1025": 1}, {}]}, r"times\[0\]: key .*1025"),
        ({"times": [{"9999999": 1}, {}]}, r"times\[0\]: key .*9999999"),
        ({"times": [{"007": 1}, {}]}, r"times\[0\]: key .*007"),
        ({"times": [{"7": -1}, {}]}, r"times\[0\]\['7'\]: -1; allowed are whole numbers 1 .. 1000"),
        ({"times": [{"7": 1.5}, {}]}, r"times\[0\]\['7'\]: 1.5; allowed"),
        ({"more": 1}, 'key "more" is not known; allowed are pairing, deal'),
        ({"forfeits": 1}, "forfeits: 1; expected a list"),
        ({"forfeits": [1]}, r"forfeits\[0\]: 1; expected an object"),
        ({"forfeits": [{"seating": 1}]}, r"forfeits\[0\]: key 'agent' is missing"),
        ({"forfeits": [FORFEIT]}, r"points\[1\]: \[4, 1\]; the game was forfeited, so null is expected"),
        ({**LOST, "margins": [1, 4], "forfeits": [FORFEIT]}, r"margins\[1\]: 4.0; by points and forfeits it is -4.0"),
        ({**LOST, "forfeits": [FORFEIT, FORFEIT]}, r"forfeits\[1\]: seating 1 is there twice"),
        ({**LOST, "forfeits": [{**FORFEIT, "agent": "x"}]}, r"forfeits\[0\].agent: \"x\"; side a is 'greedy'"),
        ({**LOST, "forfeits": [{**FORFEIT, "side": 0}]}, r"forfeits\[0\].side: 0; allowed are 'a', 'b'"),
        ({**LOST, "forfeits": [{**FORFEIT, "record": 1}]}, r"forfeits\[0\].record: 1; expected an object"),
        ({**LOST, "forfeits": [{**FORFEIT, "error": 1}]}, r"forfeits\[0\].error: 1; expected a text"),
    ],
)
def test_a_line_that_was_edited_is_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    right = {"pairing": 0, "deal": 1, "margins": [1.0, -3.0], "points": [[2, 1], [4, 1]], "times": [{"7": 1}, {}]}
    expect_refusal(tmp_path / "run.jsonl", {}, {**right, **change}, f"line 3: {message}")


def expect_refusal(file: Path, header: dict[str, Any], deal: dict[str, Any], message: str) -> None:
    play("greedy", "random", deals=3, out=file)
    first, second, *_ = file.read_text("utf-8").splitlines()
    content = [json.dumps({**json.loads(first), **header}), second.replace('"deal":1', '"deal":0'), json.dumps(deal)]
    file.write_text("".join(line + "\n" for line in content), "utf-8")
    for read in (lambda: read_tournament([file]), lambda: play("greedy", "random", deals=3, out=file)):
        with pytest.raises(LogError, match=f"run.jsonl: {message}"):
            read()


def test_lines_that_are_right_are_read(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    play("greedy", "random", deals=2, out=file)
    first, _, _ = file.read_text("utf-8").splitlines()
    deal = {"pairing": 0, "deal": 0, "margins": [1, -3], "points": [[2, 1], [4, 1]], "times": [{"0": 1}, {}]}
    lost = {**deal, "deal": 1, **LOST, "forfeits": [FORFEIT]}
    file.write_text("".join(f"{line}\n" for line in (first, json.dumps(deal), json.dumps(lost))), "utf-8")
    assert read_tournament([file]).pairings[0].forfeits == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rules": "nope"}, "rules: .*nope"),
        ({"rules": 1}, "rules: 1; expected printable text"),
        ({"seed": -1}, "seed: -1; allowed are whole numbers from 0"),
        ({"seed": True}, "seed: true; allowed"),
        ({"seed": "0"}, 'seed: "0"; allowed'),
        ({"deals": 2.5}, "deals: 2.5; allowed are whole numbers from 2"),
        ({"version": None}, "version: null; expected printable text"),
        ({"agents": "greedy"}, 'agents: "greedy"; expected a list'),
        ({"agents": ["greedy", "greedy"]}, "agents: .*: a name is there twice"),
        ({"agents": ["greedy", "a\nb"]}, r"agents\[1\]: .*; expected printable text"),
        ({"agents": ["greedy"]}, r"pairings\[0\]: 'random' is not among the agents"),
        ({"cheating": ["x"]}, "cheating: 'x' is not among the agents"),
        ({"pairings": []}, "pairings: there is none"),
        ({"pairings": [["greedy"]]}, r"pairings\[0\]: .*; expected a list of 2"),
        ({"pairings": [["greedy", "random"], ["greedy", "random"]]}, r"pairings\[1\]: .* is there twice"),
        ({"forfeit_margin": None}, "forfeit_margin: null; expected a finite number"),
        ({"forfeit_margin": 0}, "forfeit_margin: 0; allowed are numbers above 0"),
        ({"move_limit": "1"}, 'move_limit: "1"; expected a finite number'),
        ({"hard_limit": float("inf")}, "hard_limit: Infinity; expected a finite number"),
        ({"note": ""}, 'key "note" is not known'),
    ],
)
def test_a_header_that_was_edited_is_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    expect_refusal(tmp_path / "run.jsonl", change, {}, f"line 1: {message}")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"[1]", r"is no JSON object but \[1\]"),
        (b'{"deal":0,"deal":1}', "key 'deal' is there twice"),
        (b"\xff", "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
        (b'{"pairing":' + b"1" * 5000 + b"}", "is no JSON"),
    ],
)
def test_lines_that_are_no_objects(line: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    play("greedy", "random", deals=2, out=file)
    with file.open("ab") as more:
        more.write(line + b"\n")
    with pytest.raises(LogError, match=f"line 4: {message}"):
        read_tournament([file])


def test_two_runs_do_not_write_one_file(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    file = tmp_path / "run.jsonl"
    play("greedy", "random", deals=3, out=file)
    with file.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(OSError, match="another run is writing this file"):
            play("greedy", "random", deals=3, out=file)


def test_a_deal_survives_its_line(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    play("arena_agents:raises", against="random", deals=20, jobs=1, out=file)
    deals = Log.read(file).deals
    assert any(deal.forfeits for deal in deals)
    assert [DealResult.from_content(json.loads(deal.to_json())) for deal in deals] == deals


# several files


def test_files_go_together(tmp_path: Path) -> None:
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    play("greedy", "random", deals=50, out=files[0])
    play(arena_agents.Mixture(), against="random", deals=50, out=files[1])
    result = read_tournament(files)
    assert result.agents == ("greedy", "random", "greedy with 0.3 of its moves at random")
    assert [one.b for one in result.pairings] == ["random", "random"]
    with pytest.raises(LogError, match="greedy against random: deal 0 is there already, from another file"):
        read_tournament([files[0], files[0]])
    other = tmp_path / "c.jsonl"
    play("greedy", "random", deals=50, seed=1, out=other)
    with pytest.raises(LogError, match=r"c.jsonl: seed: 1, but 0 in .*a.jsonl"):
        read_tournament([files[0], other])


def test_an_unfinished_file_shows_what_it_has(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    play("greedy", "random", arena_agents.Mixture(), deals=10, out=file)
    content = file.read_text("utf-8").splitlines(keepends=True)
    file.write_text("".join(content[:12]), "utf-8")
    result = read_tournament([file])
    assert [one.deals for one in result.pairings] == [10]
    assert len(result.ratings) == 3
    file.write_text("".join(content[:2]), "utf-8")
    with pytest.raises(LogError, match="no pairing has two deals yet"):
        read_tournament([file])


# agents that fail

DEALS = 9


def guilty(result: Tournament) -> list[tuple[int, int]]:
    return [(one["deal"], one["seating"]) for one in result.forfeits]


def troublesome() -> list[tuple[int, int]]:
    """Return the games in which the agents of `arena_agents` that run into trouble do so."""
    return guilty(play(arena_agents.raises, against=arena_agents.last, deals=DEALS))


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("raises", "agent 'raises' failed: ZeroDivisionError: division by zero"),
        ("leaves", "agent 'leaves' failed: SystemExit: 3"),
        ("interrupts", "agent 'interrupts' failed: KeyboardInterrupt: "),
        ("odd", "agent 'odd': <Odd> is no move"),
        ("exits", "ended its process, with status 3"),
        ("sleeps", "took more than 0.6 s for a move; its process was killed"),
        ("loops", "took more than 0.6 s for a move; its process was killed"),
        ("dawdles", "agent 'dawdles': took 0.8"),
        ("babbles", "agent 'babbles': 'nonsense' is no move"),
        ("cheats", "agent 'cheats': move "),
    ],
)
def test_an_agent_that_fails_forfeits_that_game_and_the_run_goes_on(name: str, error: str, tmp_path: Path) -> None:
    limits = {"hard_limit": 0.6} if name in ("sleeps", "loops") else {}
    limits |= {"move_limit": 0.4} if name == "dawdles" else {}
    result = play(f"arena_agents:{name}", against="arena_agents:last", deals=DEALS, jobs=2, **limits)
    good = play(arena_agents.first, against=arena_agents.last, deals=DEALS)
    assert 1 <= len(result.forfeits) < 10
    assert guilty(result) == troublesome()
    margins = result.tallies[name, "last"].margins
    expected = good.tallies["first", "last"].margins.copy()
    for forfeit in result.forfeits:
        assert (forfeit["agent"], forfeit["side"]) == (name, "a")
        assert forfeit["error"].startswith(error)
        record = GameRecord.from_json(json.dumps(forfeit["record"]))
        game = record.replay()
        assert arena_agents.in_trouble(game.view(game.seat))
        assert game.text() == forfeit["position"]
        assert record.players[game.seat] == name
        expected[forfeit["deal"], forfeit["seating"]] = -4  # the categories of scopa but sweeps
    assert np.array_equal(margins, expected)
    assert result.pairings[0].forfeits == len(result.forfeits)
    assert result.pairings[0].b_forfeits == 0


def test_the_margin_of_a_forfeit_can_be_chosen_and_counts_for_the_other() -> None:
    result = play(arena_agents.last, against=arena_agents.raises, deals=DEALS, forfeit_margin=1.5)
    margins = result.tallies["last", "raises"].margins
    assert [margins[deal, seating] for deal, seating in guilty(result)] == [1.5] * len(result.forfeits)
    assert result.pairings[0].b_forfeits == len(result.forfeits) > 0


@pytest.mark.parametrize(
    ("agent", "settings", "error"),
    [
        ("TroubleOnArrays", {}, "agent 'trouble on arrays' failed: RuntimeError: trouble"),
        ("IllegalOnArrays", {}, "agent 'illegal on arrays': action 99 is illegal"),
        ("UnevenOnArrays", {}, "agent 'uneven on arrays': act_batch returned no int64[1] (list, ValueError: "),
        ("ExitsOnArrays", {"jobs": 1}, "ended its process, with status 3"),
        ("SleepsOnArrays", {"hard_limit": 0.8}, "took more than 0.8 s for a move"),
    ],
)
def test_of_many_games_only_those_at_fault_are_forfeited(agent: str, settings: dict[str, Any], error: str) -> None:
    result = play(f"arena_agents:{agent}", against="arena_agents:FirstOnArrays", deals=DEALS, **settings)
    twin = play("arena_agents:FirstOnArrays", against="arena_agents:FirstOnArrays", deals=DEALS)
    expected = twin.tallies["first on arrays", "first on arrays"].margins.copy()
    assert 1 <= len(result.forfeits) < 10
    for forfeit in result.forfeits:
        assert forfeit["error"].startswith(error)
        game = GameRecord.from_json(json.dumps(forfeit["record"])).replay()
        assert arena_agents.in_trouble(game.view(game.seat))
        expected[forfeit["deal"], forfeit["seating"]] = -4
    assert np.array_equal(next(iter(result.tallies.values())).margins, expected)


def test_an_agent_that_ends_every_process_before_it_plays_is_an_error() -> None:
    from scopa_agents.arena.workers import Supervisor, WorkerError

    message = "broken against random: a worker process ended with status 5, 3 times in a row and in no decision"
    with pytest.raises(WorkerError, match=message):
        _play_unit(Supervisor, "arena_broken:Dies")


def _play_unit(supervisor: Any, spec: str) -> Any:
    from scopa_agents.arena.unit import Job, Unit

    job = Job("scopa", 0, ((spec, "random"),), (("broken", "random"),), 4.0)
    one = supervisor(job)
    try:
        return one.play(Unit(0, 0, (0,), together=False))
    finally:
        one.close()


def test_an_agent_that_cannot_be_made_in_a_process_is_named() -> None:
    from scopa_agents.arena.workers import Supervisor

    with pytest.raises(AgentError, match="agent 'arena_broken:Nothing': "):
        _play_unit(Supervisor, "arena_broken:Nothing")


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("FailsToSeed", "agent 'fails to seed': seed failed: RuntimeError: no seed"),
        ("LeavesInSeed", "agent 'leaves in seed': seed failed: SystemExit: 3"),
        ("FailsToWarmUp", "agent 'fails to warm up': warm_up failed: KeyboardInterrupt: "),
    ],
)
def test_an_agent_that_fails_before_it_plays_is_named_and_ends_the_run(agent: str, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        play(f"arena_agents:{agent}", against="random", deals=2, jobs=1)


def test_ctrl_c_in_this_process_ends_the_run() -> None:
    """There it cannot be told from one that an agent raises."""
    with pytest.raises(KeyboardInterrupt):
        play(arena_agents.interrupts, against="random", deals=DEALS)


# agents that see everything


def test_an_agent_that_sees_everything_plays_in_the_arena_only() -> None:
    arena_agents.Peeking.seen = 0
    result = play(arena_agents.Peeking(), against="random", deals=50)
    assert result.pairings[0].a == "cheating:peeking"
    assert result.cheating == ("cheating:peeking",)
    assert result.pairings[0].low > 0
    assert arena_agents.Peeking.seen > 0
    message = "agent 'peeking': sees every card; only the arena plays with such an agent"
    for refused in (
        lambda: make_agent(arena_agents.Peeking()),  # type: ignore[arg-type]
        lambda: make_agent("arena_agents:Peeking"),
        lambda: ScopaEnv("scopa", opponent="arena_agents:Peeking"),
    ):
        with pytest.raises(AgentError, match=message):
            refused()


def test_an_agent_that_sees_everything_gets_a_copy() -> None:
    class Vandal(arena_agents.Peeking):
        name = "cheating_vandal"

        def act_game(self, game: Game) -> Any:
            move = game.legal_moves[0]
            game.records["hands"] = 0
            game.records["points"] = 30
            return move

    result = play(Vandal(), arena_agents.first, deals=20)
    twin = play(arena_agents.first, null=True, deals=20)
    assert result.agents == ("cheating_vandal", "first")
    assert np.array_equal(result.tallies["cheating_vandal", "first"].margins, twin.tallies["first", "first"].margins)


def test_what_says_that_it_sees_everything_must_act_on_games() -> None:
    class Pretender:
        name = "pretender"
        sees_everything = True

        def act(self, view: Any) -> Any:
            return view.legal_moves[0]

    with pytest.raises(AgentError, match=r"sees everything, and then needs name and act_game\(game\)"):
        play(Pretender(), "random", deals=2)


# times


def test_times_are_those_of_the_calls() -> None:
    result = play("arena_agents:Slow", against="greedy", deals=10, jobs=1)
    slow = result.pairings[0]
    assert 0.002 <= slow.median_seconds < 0.02
    assert slow.median_seconds <= slow.slow_seconds * 1.001
    assert slow.b_median_seconds < 0.002


def test_compilation_is_not_counted() -> None:
    class Compiles:
        name = "compiles"
        warm = False

        def warm_up(self, rules: Any) -> None:
            time.sleep(0.5)
            self.warm = True

        def act(self, view: Any) -> Any:
            if not self.warm:
                time.sleep(0.5)
            return view.legal_moves[0]

    result = duel(Compiles(), "random", deals=3)
    assert result.slow_seconds < 0.4


# arguments


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"jobs": 0}, "jobs=0: allowed are whole numbers 1"),
        ({"engine": "slurm"}, "engine='slurm': allowed are 'local', 'ray'"),
        ({"address": "auto"}, "address='auto': allowed with engine='ray' only"),
        ({"move_limit": 0.0}, "move_limit=0.0: allowed are numbers of seconds above 0"),
        ({"hard_limit": -1.0}, "hard_limit=-1.0: "),
        ({"forfeit_margin": 0.0}, "forfeit_margin=0.0: allowed are numbers above 0"),
        ({"seed": None}, "seed=None: "),
        ({"rules": "nope"}, "nope"),
        ({"deals": 1}, "deals=1: "),
    ],
)
def test_settings_that_are_not_allowed(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ArenaSettings(**settings)


def test_an_agent_that_cannot_be_sent_to_another_process_is_named() -> None:
    with pytest.raises(ValueError, match=r"agent <function .*lambda.*>: cannot be sent to another process"):
        play(lambda view: view.legal_moves[0], "random", deals=2, jobs=2)


# Ray


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_ray_cluster_plays_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster of two machines on this one, by its address; then one that the run starts for itself."""
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), *sys.path]))
    names = ["arena_agents:exits", "arena_agents:Drawn", "greedy"]
    here = tournament(names, None, ArenaSettings(deals=8, jobs=1, out=tmp_path / "here.jsonl"))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        there = tournament(
            names,
            None,
            ArenaSettings(deals=8, engine="ray", address=cluster.address, out=tmp_path / "there.jsonl"),
        )
    finally:
        cluster.shutdown()
    assert figures(here) == figures(there)
    assert lines(tmp_path / "here.jsonl") == lines(tmp_path / "there.jsonl")
    local = tournament(names, None, ArenaSettings(deals=8, engine="ray", jobs=2))
    assert figures(local) == figures(here)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"ray is not installed; engine 'ray' needs the extra: pip install 'scopa-env"):
        play("greedy", "random", deals=2, engine="ray")
