"""What the arena prints, writes and draws."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import arena_agents
from scopa_agents.arena import ArenaSettings, Tournament, tournament
from scopa_agents.arena_table import reports
from scopa_agents.plots import LINE, LINES, PlotError, cross_table, draw_tournament, labels, reference_of
from test_cli import scopa

HERE = Path(__file__).parent


def mixture(noise: float) -> Any:
    agent = arena_agents.Mixture()
    agent.noise, agent.name = noise, f"greedy with {noise:g} of its moves at random"
    return agent


@pytest.fixture(scope="module")
def result() -> Tournament:
    agents = ["greedy", "random", mixture(0.1), mixture(0.6)]
    return tournament(agents, settings=ArenaSettings(deals=100, null=True))


@pytest.fixture(scope="module")
def against() -> Tournament:
    return tournament([mixture(0.1), "random", mixture(0.6)], "greedy", ArenaSettings(deals=100))


def text_of(shown: Tournament, half_width: float | None = None, width: int = 200) -> str:
    console = Console(width=width, record=True, force_terminal=False, file=io.StringIO())
    for report in reports(shown, half_width):
        report.print(console)
    return console.export_text()


def test_the_tables_hold_every_figure(result: Tournament) -> None:
    text = text_of(result, 0.05)
    for one in result.pairings:
        assert f"{one.margin:+.3f}" in text
        assert f"{one.low:+.3f} .. {one.high:+.3f}" in text
    for rating in result.ratings:
        assert re.search(rf"{re.escape(rating.agent)} +{re.escape(f'{rating.elo:+.0f}')} ", text)
    assert "scopa, 100 duplicate deals" in text
    assert "forfeits" not in text
    assert all(f"{one.duplicate_deals:,}" in text for one in result.variances())


def test_tables_fit_a_terminal() -> None:
    text = text_of(tournament(["greedy", "random", arena_agents.first], settings=ArenaSettings(deals=4)), 0.05, 80)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_two_agents_need_no_scale() -> None:
    assert "Elo" not in text_of(tournament(["greedy", "random"], settings=ArenaSettings(deals=4)))


def test_json_is_complete(result: Tournament) -> None:
    content = json.loads(json.dumps(result.as_json(0.1)))
    assert set(content) == {
        "rules", "seed", "agents", "cheating", "pairings", "ratings", "variance", "forfeits",
    }  # fmt: skip
    assert len(content["pairings"]) == 10
    assert content["ratings"][-1]["agent"] == "random"
    assert content["variance"][0]["half_width"] == 0.1


# pictures


def test_the_cross_table(result: Tournament, against: Tournament) -> None:
    agents, table = cross_table(result)
    assert agents == [one.agent for one in result.ratings]
    first = next(one for one in result.pairings if (one.a, one.b) == ("greedy", "random"))
    row, column = agents.index("greedy"), agents.index("random")
    assert table[row, column] == -table[column, row] == first.margin
    assert not np.isnan(table).any()
    agents, table = cross_table(against)
    assert np.isnan(table).sum() == 10
    assert reference_of(against) == "greedy"
    assert reference_of(result) is None


def test_names_fit_beside_an_axis() -> None:
    path = "learned:runs/2026-01-01/ppo-with-very-many-words-in-its-name/policy"
    names = ["greedy", *(f"{path}-{k}.safetensors" for k in range(3)), "a" * 300, "a" * 301]
    found = labels(names)
    search = "ismcts:100,rollout=expert,epsilon=0.1,inference=greedy"
    assert labels([search]) == ["ismcts:100,\nrollout=expert,\nepsilon=0.1,\ninference=greedy"]
    longer = [f"{search},solve={plays},determinizations=32,trees=4" for plays in (6, 8)]
    assert labels(longer) == [f"ismcts:100,\nrollout=expert,\n{mark}\ntrees=4" for mark in ("…", "… #2 …")]
    assert labels(["a$b$"]) == [r"a\$b\$"]
    assert labels(["learned:runs/ppo/policy.safetensors"]) == ["learned:runs/ppo/\npolicy.safetensors"]
    assert len(set(found)) == len(names)
    for name in found:
        assert len(name.splitlines()) <= LINES
        assert max(map(len, name.splitlines())) <= LINE + 3


@pytest.mark.parametrize("kind", ["all", "against", "two", "null"])
def test_pictures(kind: str, result: Tournament, against: Tournament, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    shown = {
        "all": lambda: result,
        "against": lambda: against,
        "two": lambda: tournament(["greedy", "random"], settings=ArenaSettings(deals=4)),
        "null": lambda: tournament([arena_agents.first], settings=ArenaSettings(deals=4, null=True)),
    }[kind]()
    files = draw_tournament(shown, tmp_path / "plots")
    assert [file.name for file in files] == ["cross_table.png", "ladder.png"]
    for file in files:
        assert file.read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_extra_is_named(
    result: Tournament, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PlotError, match=r"matplotlib is not installed; pictures need the extra 'plot'"):
        draw_tournament(result, tmp_path)


# the command


def test_a_run_from_the_command_line_and_its_file(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "run.jsonl"
    agents = ("greedy", "arena_agents:Mixture", "arena_agents:babbles")
    more = ("--markdown", str(tmp_path / "t.md"), "--plots", str(tmp_path / "plots"), "--variance")
    run = ("--against", "random", "--deals", "10", "--rules", "escoba", "--out", str(file), "--jobs", "2")
    done = scopa("arena", *agents, *run, *more, "--json", str(tmp_path / "a.json"), cwd=HERE)
    assert done.returncode == 0, done.stderr
    assert "Elo by Bradley-Terry" in done.stdout
    assert "forfeit: deal " in done.stdout
    assert "more forfeited games" in done.stdout or done.stdout.count("forfeit: deal") <= 5
    assert {path.name for path in (tmp_path / "plots").iterdir()} == {"cross_table.png", "ladder.png"}
    markdown = (tmp_path / "t.md").read_text("utf-8")
    assert "| agent | against | margin | 95 % interval | won/drawn/lost % | forfeits |\n" in markdown
    assert "deals for a 95 % interval" in markdown
    before = file.read_bytes()
    again = scopa("arena", *agents, *run, "--json", str(tmp_path / "b.json"), cwd=HERE)
    assert again.returncode == 0, again.stderr
    assert file.read_bytes() == before
    shown = scopa("arena", "--from", str(file), "--json", str(tmp_path / "c.json"))
    assert shown.returncode == 0, shown.stderr
    content = [(tmp_path / name).read_text("utf-8") for name in ("a.json", "b.json", "c.json")]
    assert content[0] == content[1] == content[2]
    other = scopa("arena", *agents, "--deals", "10", "--rules", "escoba", "--out", str(file), cwd=HERE)
    assert (other.returncode, other.stdout) == (2, "")
    assert re.search(r"^scopa: .*run.jsonl: agents: .* it belongs to another run$", other.stderr.strip())


def test_what_agents_print_is_not_mixed_with_the_results() -> None:
    agents = ("arena_agents:prints", "arena_agents:first")
    done = scopa("arena", *agents, "--deals", "2", "--jobs", "1", "--json", "-", cwd=HERE)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["agents"] == ["prints", "first"]
    assert "printed by Python" in done.stderr
    assert "printed by the process" in done.stderr


def test_an_agent_that_prints_here() -> None:
    """Agents on arrays play in the process of the command."""
    done = scopa("arena", "arena_agents:PrintsOnArrays", "random", "--deals", "2", "--json", "-", cwd=HERE)
    assert json.loads(done.stdout)["agents"] == ["prints on arrays", "random"]
    assert "printed by Python" in done.stderr


def test_plots_into_a_file_names_the_option(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "here"
    file.write_text("")
    for folder in (file, file / "below"):
        done = scopa("arena", "greedy", "random", "--deals", "2", "--plots", str(folder))
        assert done.returncode == 2
        assert re.search(r"^scopa: plots='.*here.*': .*; allowed is a folder, or the name of a new one$", done.stderr)


def test_few_deals_are_said_to_be_few(result: Tournament) -> None:
    few = tournament(["greedy", "random", arena_agents.first], settings=ArenaSettings(deals=29))
    note = "intervals of fewer than 30 deals are too narrow"
    assert note in " ".join(text_of(few).split())
    assert note not in " ".join(text_of(result).split())


def test_names_with_brackets_are_shown_as_they_are() -> None:
    agent = arena_agents.Mixture()
    agent.name = "mine [bold]x[/bold] [/]"
    assert agent.name in text_of(tournament([agent, "random"], settings=ArenaSettings(deals=2)))


def test_a_cheating_agent_is_marked_and_refused_elsewhere() -> None:
    done = scopa("arena", "arena_agents:Peeking", "random", "--deals", "4", cwd=HERE)
    assert "cheating:peeking" in done.stdout
    refused = scopa("play", "--against", "arena_agents:Peeking", cwd=HERE)
    assert refused.returncode == 2
    assert refused.stderr == "scopa: agent 'peeking': sees every card; only the arena plays with such an agent\n"
