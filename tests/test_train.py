"""Training: the same seed gives the same weights, results are saved, every array that sb3 gets is its own."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO  # noqa: E402
from stable_baselines3.common.env_checker import check_env  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv  # noqa: E402

from scopa_agents.arena import duel  # noqa: E402
from scopa_agents.arena_table import progress_bar  # noqa: E402
from scopa_agents.base import observe_batch  # noqa: E402
from scopa_agents.learned import load_model  # noqa: E402
from scopa_agents.network.features import NUM_FEATURES  # noqa: E402
from scopa_agents.network.network import MoveNetwork  # noqa: E402
from scopa_agents.network.policy import Policy  # noqa: E402
from scopa_agents.network.ranks import PAIR_SUMS, feature_size, rank_features  # noqa: E402
from scopa_agents.search.alphabeta import list_of_moves  # noqa: E402
from scopa_agents.solve import Solver  # noqa: E402
from scopa_env import AgentError, Game, Rules, ScopaEnv, make_agent  # noqa: E402
from scopa_env.cards import value_of  # noqa: E402
from scopa_env.engine.state import GAME  # noqa: E402
from scopa_env.packing import unpack  # noqa: E402
from scopa_train import bench_recipes, curve, dmc, exit, ppo  # noqa: E402
from scopa_train.checkpoint import CheckpointError, load_checkpoint, save_checkpoint  # noqa: E402
from scopa_train.cli import app  # noqa: E402
from scopa_train.curve import Curve, curves_command  # noqa: E402
from scopa_train.exploit import exploit  # noqa: E402
from scopa_train.labels import Labeller, Labels, Teacher, judge_moves  # noqa: E402
from scopa_train.move_net import Fit, Window, expand, make_module, no_denormals  # noqa: E402
from scopa_train.presets import NAMES, load_preset, preset_games  # noqa: E402
from scopa_train.run import Diverged, Run, without_place  # noqa: E402
from scopa_train.settings import RunSettings  # noqa: E402

EVALUATION: dict[str, Any] = {"evaluations": 2, "eval_deals": 10, "final_deals": 10, "threads": 1}
PPO: dict[str, Any] = {**EVALUATION, "steps": 1000, "num_envs": 4, "num_steps": 64, "batch_size": 64, "hidden": (16,)}
DMC: dict[str, Any] = {**EVALUATION, "steps": 3000, "update": 800, "batch": 128, "hidden": (8, 4)}
EXIT: dict[str, Any] = {
    **EVALUATION,
    "iterations": 4,
    "first_decisions": 400,
    "decisions": 200,
    "first_steps": 12,
    "steps": 6,
    "batch": 64,
    "first_worlds": 2,
    "worlds": 1,
    "window": 500,
    "hidden": (8, 4),
    "late_hidden": (6,),
    "late_decisions": 100,
    "late_steps": 5,
}


def run_of(recipe: str, out: Path, **more: Any) -> Any:
    """Train with a tiny budget; return the network and the closing results."""
    if recipe == "ppo":
        return ppo.train(ppo.PPOSettings(**{**PPO, "out": out, **more}))
    if recipe == "dmc":
        return dmc.train(dmc.DMCSettings(**{**DMC, "out": out, **more}))
    return exit.train(exit.ExitSettings(**{**EXIT, "out": out, **more}))


RECIPES = ("ppo", "dmc", "exit")


def weights(model: Policy | MoveNetwork) -> list[bytes]:
    late = model.late or [] if isinstance(model, MoveNetwork) else []
    return [array.tobytes() for layer in (*model.layers, *late) for array in layer]


@pytest.mark.parametrize("recipe", RECIPES)
def test_one_seed_on_one_thread_gives_the_same_weights(recipe: str, tmp_path: Path) -> None:
    runs = [run_of(recipe, tmp_path / str(k), seed=seed)[0] for k, seed in enumerate((1, 1, 2))]
    assert weights(runs[0]) == weights(runs[1])
    assert weights(runs[0]) != weights(runs[2])


@pytest.mark.parametrize("recipe", RECIPES)
def test_what_a_training_leaves_behind(recipe: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    rules = ("escoba",) if recipe == "exit" else "escoba"
    _, results = run_of(recipe, out, rules=rules)
    names = {path.name for path in out.iterdir()}
    files = "settings.json checkpoint.safetensors network.safetensors network.json curve.png curve.json result.json"
    assert {*files.split(), "tensorboard"} <= names
    assert any((out / "tensorboard").rglob("events*"))
    assert (out / "curve.png").read_bytes().startswith(b"\x89PNG")
    card = json.loads((out / "network.json").read_text())
    assert card["recipe"] == recipe
    assert card["rules"] == ["escoba"]
    assert card["features"] == load_model(str(out / "network.safetensors")).notes["features"]
    assert "torch" in card["versions"]
    assert [(row["against"], row["deals"], row["seed"]) for row in card["arena"]] == [
        ("greedy", 10, 2),
        ("expert", 10, 2),
    ]
    curve = json.loads((out / "curve.json").read_text())["curves"]
    assert set(curve) == {"greedy", "expert", "best so far"}
    assert len(curve["greedy"]) == len(curve["expert"]) >= 2
    again = duel(f"learned:{out / 'network.safetensors'}", "greedy", "escoba", 10, seed=2)
    assert again.margin == results[0].margin


def test_a_network_is_also_played_in_games_that_it_has_not_learnt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_of("exit", tmp_path, unseen=("german_4p",))  # a warning would be an error
    titles = [line for line in capsys.readouterr().out.splitlines() if "duplicate deals" in line]
    assert [title.partition(",")[0] for title in titles] == ["scopa", "german_4p"]
    card = json.loads((tmp_path / "network.json").read_text())
    assert card["rules"] == ["scopa"]
    assert {row["rules"] for row in card["arena"]} == {"scopa", "german_4p"}
    curve = json.loads((tmp_path / "curve.json").read_text())["curves"]
    assert set(curve) == {"greedy", "expert", "best so far"}
    with pytest.raises(ValueError, match="rules 'nope': allowed are"):
        exit.ExitSettings(unseen=("nope",))


@pytest.mark.parametrize("recipe", ["dmc", "exit"])
def test_a_training_that_begins_with_a_network(recipe: str, tmp_path: Path) -> None:
    late = {"late_hidden": (), "late_decisions": 0} if recipe == "exit" else {}
    first, _ = run_of(recipe, tmp_path / "first", **late)
    start = str(tmp_path / "first" / "network.safetensors")
    still = {**late, "learning_rate": 1e-9}
    same, _ = run_of(recipe, tmp_path / "same", start=start, **still)
    for learnt, (weight, bias) in zip(same.layers, MoveNetwork.load(start).layers, strict=True):
        assert np.allclose(learnt[0], weight, atol=1e-6)
        assert np.allclose(learnt[1], bias, atol=1e-6)
    rules = ("german",) if recipe == "exit" else "german"  # without a warning about other rules
    assert weights(run_of(recipe, tmp_path / "more", start=start, rules=rules, **late)[0]) != weights(first)
    curve = json.loads((tmp_path / "same" / "curve.json").read_text())["curves"]
    assert {point["margin"] for point in curve["best so far"]} == {0.0}  # from the first point on, against the start
    assert len(curve["best so far"]) == len(curve["greedy"]) - 1  # the start itself is the point at 0
    with pytest.raises(ValueError, match=r"hidden=\[8\]: allowed is \[8, 4\], what the network to start from has"):
        run_of(recipe, tmp_path / "other", start=start, hidden=(8,), **late)
    assert not (tmp_path / "other").exists()
    for name, message in (("nope", "there is no such file; shipped are"), (__file__, "cannot be read")):
        with pytest.raises(ValueError, match=message):
            run_of(recipe, tmp_path / "other", start=name, **late)
    with pytest.raises(ValueError, match="late"):
        run_of(recipe, tmp_path / "other", start="scopa", hidden=(512, 64, 32), **late)
    assert not (tmp_path / "other").exists()


def test_a_policy_is_no_network_to_start_from(tmp_path: Path) -> None:
    run_of("ppo", tmp_path / "ppo")
    with pytest.raises(ValueError, match="allowed is a network of exit or dmc; this is a policy"):
        run_of("exit", tmp_path / "other", start=str(tmp_path / "ppo" / "network.safetensors"))


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_run_goes_on_only_with_its_own_settings(recipe: str, tmp_path: Path) -> None:
    run_of(recipe, tmp_path)
    module = {"ppo": ppo, "dmc": dmc, "exit": exit}[recipe]
    kind = {"ppo": ppo.PPOSettings, "dmc": dmc.DMCSettings, "exit": exit.ExitSettings}[recipe]
    base = {"ppo": PPO, "dmc": DMC, "exit": EXIT}[recipe]
    with pytest.raises(CheckpointError, match=r"seed=7: the run in .* was begun with 0"):
        module.train(kind(**base, out=tmp_path, seed=7), resume=True)  # type: ignore[attr-defined]
    before = (tmp_path / "network.safetensors").read_bytes()
    module.train(kind(**base, out=tmp_path), resume=True)  # type: ignore[attr-defined]  # nothing is left to do
    assert (tmp_path / "network.safetensors").read_bytes() == before
    (tmp_path / "result.json").unlink()
    with pytest.raises(CheckpointError, match="holds an unfinished run; --resume goes on"):
        module.train(kind(**base, out=tmp_path))  # type: ignore[attr-defined]
    (tmp_path / "checkpoint.safetensors").write_bytes(b"garbage")
    with pytest.raises(CheckpointError, match="cannot be read"):
        module.train(kind(**base, out=tmp_path), resume=True)  # type: ignore[attr-defined]


def command(recipe: str, out: Path, *more: str) -> list[str]:
    """Return the command line of a tiny run."""
    options = {"ppo": PPO, "dmc": DMC, "exit": EXIT}[recipe]
    words = []
    for name, value in options.items():
        for one in value if isinstance(value, tuple) else (value,):
            words += [f"--{name.replace('_', '-')}", str(one)]
    return [sys.executable, "-m", "scopa_train.cli", "train", recipe, *words, "--out", str(out), *more]


def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    environment = {**os.environ, "SCOPA_ENV_QUIET": "1"}
    process = subprocess.Popen(
        command("dmc", tmp_path), env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "settings.json").exists() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    errors = process.communicate()[1].decode()
    assert process.returncode == 130
    assert errors.endswith("interrupted; the same command with --resume goes on from the last checkpoint\n")


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_killed_run_goes_on(recipe: str, tmp_path: Path) -> None:
    """SIGKILL after the first checkpoint: what is resumed ends with the weights of a run that nobody killed."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    environment = {**os.environ, "SCOPA_ENV_QUIET": "1"}
    done = subprocess.run(command(recipe, whole), env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "points a round" in done.stdout
    process = subprocess.Popen(command(recipe, killed), env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    wait_for = killed / "checkpoint.safetensors"
    deadline = time.monotonic() + 120
    while not wait_for.exists() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.kill()
    process.communicate()
    assert not (killed / "result.json").exists()
    resumed = subprocess.run(
        [sys.executable, "-m", "scopa_train.cli", "train", recipe, "--resume", "--out", str(killed)],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert resumed.returncode == 0, resumed.stderr
    mine, theirs = (load_model(str(folder / "network.safetensors")) for folder in (whole, killed))
    if recipe == "ppo":  # its games in progress begin anew
        assert json.loads((killed / "network.json").read_text())["decisions"] >= 1000
    else:
        assert weights(mine) == weights(theirs)
    curves = [json.loads((folder / "curve.json").read_text())["curves"]["greedy"] for folder in (whole, killed)]
    assert len(curves[0]) == len(curves[1])


# what runs are compared by


def test_the_curves_of_runs_in_one_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = json.dumps(
        {
            "title": "exit on scopa",
            "curves": {"greedy": [{"decisions": 10, "seconds": 60.0, "margin": 0.5, "low": 0.2, "high": 0.8}]},
        }
    )
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "curve.json").write_text(content)
    out = tmp_path / "both.png"
    curves_command((tmp_path / "a", tmp_path / "b"), out=out)
    assert out.read_bytes().startswith(b"\x89PNG")
    assert str(out) in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"against='expert': .*a' was evaluated against greedy"):
        curves_command((tmp_path / "a",), against="expert", out=out)
    with pytest.raises(ValueError, match=r"has no curve\.json"):
        curves_command((tmp_path,), out=out)
    with pytest.raises(ValueError, match=r"a'.*holds no run"):
        curves_command((tmp_path / "a",), out=out, mean=True)
    for wrong in ("{", "[]", '{"title": "x"}', content.replace('"seconds": 60.0, ', "")):
        (tmp_path / "a" / "curve.json").write_text(wrong)
        with pytest.raises(ValueError, match=r"curve\.json: not the curve"):
            curves_command((tmp_path / "a",), out=out)


def test_a_curve_of_several_games_has_a_panel_for_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = Curve("exit on 4 games", "decisions")
    for game in ("scopa", "escoba", "german", "scopone"):
        for opponent in ("greedy", "expert"):
            one.points[f"{opponent} in {game}"] = [
                {"decisions": 1000 * k, "seconds": 1.0, "margin": 0.5, "low": 0.2, "high": 0.8} for k in (1, 2)
            ]
    one.save(tmp_path)
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    drawn: list[Any] = []
    monkeypatch.setattr(curve, "draw_panels", lambda path, panels, *more: drawn.append(panels))
    one.save(tmp_path)
    curves_command((tmp_path,), against="expert", out=tmp_path / "expert.png")
    assert [list(panels) for panels in drawn] == [["scopa", "escoba", "german", "scopone"]] * 2
    assert [[name for name, *_ in panels["german"]] for panels in drawn] == [
        ["against greedy", "against expert"],
        ["exit on 4 games"],
    ]


def test_runs_that_differ_in_the_seed_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(name: str, margins: list[float], **settings: Any) -> Path:
        points = [
            {"decisions": 1000 * k, "seconds": 60.0 * k, "margin": margin, "low": margin - 1, "high": margin + 1}
            for k, margin in enumerate(margins, 1)
        ]
        (tmp_path / name).mkdir()
        content = {"title": "exit on scopa", "curves": {"greedy": points}}
        (tmp_path / name / "curve.json").write_text(json.dumps(content))
        (tmp_path / name / "settings.json").write_text(json.dumps({"recipe": "exit", "settings": settings}))
        return tmp_path / name

    runs = (
        write("a", [0.0, 0.5], seed=1, steps=5),
        write("b", [0.7, 0.7], seed=1, steps=6),
        write("c", [0.2, 0.9], seed=2, steps=5),
    )
    drawn: list[Any] = []
    monkeypatch.setattr(curve, "draw_panels", lambda path, panels, *more: drawn.extend(panels[""]))
    curves_command(runs, mean=True, out=tmp_path / "mean.png")
    (first, places, points), (second, _, other) = drawn
    assert (first, second) == ("exit on scopa, 2 runs", "exit on scopa, 1 run")
    assert places == [1.0, 2.0]
    assert [(p["low"], p["margin"], p["high"]) for p in points] == [(0.0, 0.1, 0.2), (0.5, 0.7, 0.9)]
    assert [p["margin"] for p in other] == [0.7, 0.7]
    write("d", [0.1], seed=3, steps=5)
    with pytest.raises(ValueError, match="have 2, 2, 1 points against greedy; allowed is the same number"):
        curves_command((*runs, tmp_path / "d"), mean=True, out=tmp_path / "mean.png")


def test_where_the_time_of_a_recipe_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = {"ppo": PPO, "dmc": DMC, "exit": {**EXIT, "decisions": 4000, "late_decisions": 2000}}
    monkeypatch.setattr(bench_recipes, "MEASURES", {name: bench_recipes.MEASURES[name] for name in tiny})
    monkeypatch.setattr(bench_recipes, "load_preset", lambda recipe, preset: tiny[recipe])
    file = tmp_path / "recipes.json"
    bench_recipes.bench_recipes("scopa/full", json_file=file)
    shares = {share["recipe"]: share for share in json.loads(file.read_text())["recipes"]}
    assert shares.keys() == tiny.keys()
    assert shares["ppo"]["frames"] == PPO["num_envs"] * PPO["num_steps"]
    assert shares["dmc"]["frames"] > DMC["update"] // 2
    assert shares["exit"]["frames"] >= 300
    assert all(share[part] > 0 for share in shares.values() for part in ("env", "inference", "learning"))


# checkpoints and presets


def test_a_checkpoint_is_what_was_saved(tmp_path: Path) -> None:
    tree = {
        "tensor": torch.arange(6).reshape(2, 3).float(),
        "list": [1, 2.5, "text", None, True, {"deep": np.arange(4, dtype=np.uint8)}],
        "state": np.random.default_rng(3).bit_generator.state,
        "keys": {0: "number", "1": "text"},
        "empty": torch.zeros(0),
    }
    file = tmp_path / "checkpoint.safetensors"
    save_checkpoint(file, tree)
    found = load_checkpoint(file)
    assert torch.equal(found["tensor"], tree["tensor"])
    assert found["list"][:5] == tree["list"][:5]
    assert found["list"][5]["deep"].tolist() == [0, 1, 2, 3]
    assert found["state"] == tree["state"]
    assert found["keys"] == tree["keys"]
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.safetensors"]
    for content in (b"", b"\x80\x04\x95", file.read_bytes()[:-4], file.read_bytes().replace(b'"tree"', b'"trea"')):
        file.write_bytes(content)
        with pytest.raises(CheckpointError, match="cannot be read"):
            load_checkpoint(file)


@pytest.mark.parametrize("recipe", RECIPES)
def test_presets_are_settings(recipe: str) -> None:
    kind = {"ppo": ppo.PPOSettings, "dmc": dmc.DMCSettings, "exit": exit.ExitSettings}[recipe]
    assert {"scopa", "escoba", "scopone_scientifico"} <= set(preset_games(recipe))
    for game in preset_games(recipe):
        for name in NAMES:
            settings = kind(**load_preset(recipe, f"{game}/{name}"))  # type: ignore[arg-type]
            assert isinstance(settings, RunSettings)
    with pytest.raises(ValueError, match=r"preset='scopa/slow': allowed are .*scopa/quick"):
        load_preset(recipe, "scopa/slow")


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_command_line_takes_every_setting_of_a_preset(recipe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = {"ppo": ppo, "dmc": dmc, "exit": exit}[recipe]
    found: list[Any] = []
    monkeypatch.setattr(module, "train", lambda settings, resume, overwrite: found.append(settings))
    kind = {"ppo": ppo.PPOSettings, "dmc": dmc.DMCSettings, "exit": exit.ExitSettings}[recipe]
    for game in preset_games(recipe):
        for name in NAMES:
            app(["train", recipe, f"{game}/{name}"])
            wanted = load_preset(recipe, f"{game}/{name}")
            settings = {**found[-1].plain(), "out": str(found[-1].out)}
            settings = json.loads(json.dumps(settings))
            assert {key: settings[key] for key in wanted} == wanted
            assert {key: value for key, value in settings.items() if key not in wanted} == {
                key: value for key, value in json.loads(json.dumps(kind().plain())).items() if key not in wanted
            }
            app(["train", recipe, f"{game}/{name}", "--seed", "7", "--rules", "german"])
            assert found[-1].seed == 7
            assert found[-1].rules in ("german", ("german",))
    assert isinstance(found[-1], kind)


def test_a_resumed_run_is_of_the_presets_game(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(json.dumps({"recipe": "ppo", "settings": {"rules": "mini_scopa"}}))
    with pytest.raises(ValueError, match=r"preset='scopa/quick': is of scopa; the run in '.*' is of mini_scopa"):
        app(["train", "ppo", "scopa/quick", "--resume", "--out", str(tmp_path)])


def test_a_card_names_the_command_without_the_place_of_the_results() -> None:
    words = ["train", "exit", "--out", "runs/x", "--steps", "3", "--out=y", "--overwrite", "scopa/quick", "--out"]
    assert without_place(words) == ["train", "exit", "--steps", "3", "scopa/quick"]


def test_a_resumed_run_remembers_how_it_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = exit.ExitSettings(**{**EXIT, "out": tmp_path})

    def at(command: str, commit: str) -> None:
        monkeypatch.setattr("scopa_train.run.command_line", lambda: command)
        monkeypatch.setattr("scopa_train.run.commit", lambda: commit)

    at("scopa train exit scopa/full", "aaa")
    Run(settings, "exit", ["scopa"], "decisions").close()
    at("scopa train exit --resume", "aaa")  # killed before the first checkpoint: begun anew
    run = Run(settings, "exit", ["scopa"], "decisions", resume=True)
    assert run.origin == {"command": "scopa train exit scopa/full", "commit": "aaa"}
    run.save({})
    run.close()
    run = Run(settings, "exit", ["scopa"], "decisions", resume=True)
    assert run.origin == {"command": "scopa train exit scopa/full", "commit": "aaa"}
    run.close()
    at("scopa train exit --resume", "bbb")
    run = Run(settings, "exit", ["scopa"], "decisions", resume=True)
    run.save({})
    assert run.origin == {"command": "scopa train exit scopa/full", "commit": "aaa", "resumed at": ["bbb"]}
    with pytest.raises(BlockingIOError, match="another run is writing"):
        Run(settings, "exit", ["scopa"], "decisions", resume=True)


def test_a_run_takes_the_place_of_another_only_when_told_to(tmp_path: Path) -> None:
    mine, other = exit.ExitSettings(out=tmp_path), dmc.DMCSettings(out=tmp_path)
    first = Run(mine, "exit", ["scopa"], "decisions")
    first.save({"a": 1})
    first.close()
    (tmp_path / "labels").mkdir()
    (tmp_path / "notes.txt").write_text("mine")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    messages = ("holds an unfinished run; --resume goes on with it, --overwrite", "holds a finished run; --overwrite")
    for finished, message in enumerate(messages):
        if finished:
            (tmp_path / "result.json").write_text("{}")
        with pytest.raises(CheckpointError, match=f"{message} begins anew"):
            Run(mine, "exit", ["scopa"], "decisions")
    with pytest.raises(ValueError, match="the run there is one of 'exit', not of 'dmc'"):
        Run(other, "dmc", ["scopa"], "decisions", resume=True)
    with pytest.raises(ValueError, match="holds no run"):
        Run(replace(mine, out=tmp_path / "none"), "exit", ["scopa"], "decisions", resume=True)
    with pytest.raises(ValueError, match="learning_rate=-1"):
        app(["train", "exit", "--learning-rate", "-1", "--overwrite", "--out", str(tmp_path)])
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    Run(other, "dmc", ["scopa"], "decisions", overwrite=True).close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "none", "notes.txt", "settings.json"]
    assert json.loads((tmp_path / "settings.json").read_text())["recipe"] == "dmc"


@pytest.mark.parametrize("overwrite", [False, True])
def test_files_of_something_else_stay(overwrite: bool, tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "mine.csv").write_text("x")
    (tmp_path / "settings.json").write_text("{}")
    settings = exit.ExitSettings(**{**EXIT, "out": tmp_path})
    with pytest.raises(CheckpointError, match=r"holds settings\.json, labels, but no settings\.json of a run"):
        Run(settings, "exit", ["scopa"], "decisions", overwrite=overwrite)
    assert (tmp_path / "labels" / "mine.csv").read_text() == "x"
    assert (tmp_path / "settings.json").read_text() == "{}"


def test_a_finished_run_without_its_checkpoint_is_not_begun_anew(tmp_path: Path) -> None:
    run_of("dmc", tmp_path)
    (tmp_path / "checkpoint.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"a run without checkpoint\.safetensors, which cannot go on"):
        dmc.train(dmc.DMCSettings(**{**DMC, "out": tmp_path}), resume=True)
    assert (tmp_path / "network.safetensors").exists()


def test_a_resumed_run_does_not_need_what_it_started_from(tmp_path: Path) -> None:
    run_of("dmc", tmp_path / "first")
    start = tmp_path / "first" / "network.safetensors"
    for before in ("", "learned:"):
        with pytest.raises(ValueError, match=r"start='.*': lies in out="):
            run_of("dmc", tmp_path / "first", start=f"{before}{start}")
    network, _ = run_of("dmc", tmp_path / "second", start=str(start))
    start.unlink()
    again, _ = dmc.train(dmc.DMCSettings(**{**DMC, "out": tmp_path / "second", "start": str(start)}), resume=True)
    assert weights(again) == weights(network)


def test_every_game_gets_the_same_share_of_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = []

    class Spy(Labeller):
        def label(self, decisions: int, seed: int, progress: Any) -> Labels:
            tasks.append(self.tasks)
            return super().label(decisions, seed, progress)

    monkeypatch.setattr(exit, "Labeller", Spy)
    with progress_bar("", 1, "") as bar:
        many = tuple(f"scopa:sweep_points={points}" for points in range(17))
        for games in (("scopa",), ("scopa", "escoba", "german"), many):
            learner = exit.Exit(exit.ExitSettings(**{**EXIT, "rules": games, "late_hidden": (), "late_decisions": 0}))
            learner.label(bar)
    assert tasks == [16, 18, 17]


def test_a_training_that_diverges_says_so(tmp_path: Path) -> None:
    with pytest.raises(Diverged, match=r"the training has diverged: after .* a smaller learning_rate may help"):
        run_of("dmc", tmp_path / "dmc", learning_rate=1e30)
    with pytest.raises(Diverged, match="diverged"):
        run_of("ppo", tmp_path / "ppo", learning_rate=1e30)
    assert not (tmp_path / "dmc" / "network.safetensors").exists()


def test_what_is_saved_at_the_end_is_the_best_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The evaluations say that the first network is better than all later ones."""
    kept: dict[str, list[Any]] = {}
    for recipe in RECIPES:
        nets: list[Any] = []

        def evaluate(run: Run, agent: Any, step: int, bar: Any, best: Any = None, nets: list[Any] = nets) -> bool:
            nets.append((step, agent))
            return best is None

        monkeypatch.setattr(Run, "evaluate", evaluate)
        network, _ = run_of(recipe, tmp_path / recipe)
        step, first = nets[0]
        assert len(nets) > 1
        assert weights(network) == weights(first.policy if recipe == "ppo" else first.network)
        assert json.loads((tmp_path / recipe / "network.json").read_text())["best after"] == step
        kept[recipe] = nets
    assert set(kept) == set(RECIPES)


def test_damaged_labels_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "labels").write_bytes(b"garbage")
    with pytest.raises(CheckpointError, match=r"labels .* cannot be read"):
        Labels.load(tmp_path / "labels")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rules": "scopa"}, "rules='scopa': allowed is several texts"),
        ({"hidden": 16}, "hidden=16: allowed is several whole numbers"),
        ({"iterations": 2.5}, r"iterations=2\.5: allowed is a whole number"),
        ({"iterations": True}, "iterations=True: allowed is a whole number"),
        ({"centred": float("nan")}, "centred=nan: allowed is a finite number"),
        ({"learning_rate": 0.0}, r"learning_rate=0\.0: allowed are numbers above 0"),
        ({"seed": -1}, "seed=-1: allowed are numbers from 0"),
        ({"out": 3}, "out=3: allowed is the path of a folder"),
        ({"against": ("learned",), "rules": ("scopa:players=3",)}, "no network|players"),
        ({"against": ("learned:nothing",)}, "learned:nothing|'nothing'"),
    ],
)
def test_settings_of_other_types(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        exit.ExitSettings(**changes)


def test_lists_and_texts_are_taken_as_settings() -> None:
    settings = exit.ExitSettings(rules=["scopa"], hidden=[4, 2], centred=1, out="runs/x")  # type: ignore[arg-type]
    assert (settings.rules, settings.hidden, settings.centred, settings.out) == (
        ("scopa",),
        (4, 2),
        1.0,
        Path("runs/x"),
    )


def test_several_values_after_one_option(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Any] = []
    monkeypatch.setattr(exit, "train", lambda settings, resume, overwrite: found.append(settings))
    app(["train", "exit", "scopa/quick", "--hidden", "64", "32", "--against", "greedy", "random", "--seed", "3"])
    assert (found[0].hidden, found[0].against, found[0].seed) == ((64, 32), ("greedy", "random"), 3)


# labels and regression


def test_labels_do_not_depend_on_the_number_of_threads() -> None:
    found = []
    for threads in (1, 2):
        labeller = Labeller([Rules.parse("scopa"), Rules.parse("escoba")], Teacher(2, 0.2, solve=6), 4, threads)
        labels = labeller.label(120, 5, lambda count: None)
        assert len(labels) >= 120
        assert (np.diff(labels.starts) >= 2).all()
        found.append(b"".join(array.tobytes() for array in (labels.words, labels.values, labels.starts)))
    assert found[0] == found[1]


def test_exact_labels_are_what_the_solver_says() -> None:
    rules = Rules.parse("escoba")
    solver = Solver()
    mind = Teacher(3, 0.0, solve=6).mind()
    checked = 0
    for seed in range(20):
        game = Game(rules, seed=seed)
        while rules.num_plays - len(game.plays) > 6:
            game.push(game.legal_moves[seed % len(game.legal_moves)])
        while not game.round_over:
            values = solver.solve(game).moves
            moves, totals = list_of_moves(list(values)), np.zeros(len(values))
            games = np.zeros(4, GAME)
            games[0] = game.records[0]
            games[1] = game.view(game.seat).records[0]
            judge_moves(rules.record, games, moves, totals, 3, mind)
            assert totals.tolist() == list(values.values())
            checked += 1
            game.push(max(values, key=lambda move: values[move]))
    assert checked == 120


def test_labels_of_the_last_deal_alone() -> None:
    exact = Teacher(1, 0.3, "expert", solve=6, only_exact=True)
    labels = Labeller([Rules.parse("scopa")], exact, 2, 1).label(60, 3, lambda count: None)
    early, late = labels.split()
    assert len(early) == 0
    assert len(late) == len(labels) >= 60
    assert (labels.values == np.round(labels.values)).all()
    early, late = Labeller([Rules.parse("scopa")], Teacher(1, 0.3), 2, 1).label(60, 3, lambda count: None).split()
    assert len(early) > len(late) > 0


def test_labels_are_written_and_read(tmp_path: Path) -> None:
    labels = Labeller([Rules.parse("scopa")], Teacher(1, 0.2), 2, 1).label(50, 5, lambda count: None)
    labels.save(tmp_path / "labels")
    again = Labels.load(tmp_path / "labels")
    assert all(np.array_equal(getattr(labels, name), getattr(again, name)) for name in ("words", "values", "starts"))


def test_a_batch_holds_whole_decisions() -> None:
    rng = np.random.default_rng(1)
    parts = []
    for start in (0, 10):
        sizes = rng.integers(2, 5, 10)
        number = np.repeat(np.arange(start, start + 10), sizes)
        words = np.repeat(number[:, None], 17, axis=1).astype(np.uint64)
        parts.append(Labels(words, number.astype(np.float32), np.append(0, np.cumsum(sizes))))
    joined = Labels.join(parts)
    assert len(joined) == 20
    assert joined.starts.tolist() == [*parts[0].starts, *(parts[1].starts[1:] + len(parts[0].values))]
    for window in (Window(parts), Window([joined])):
        words, values, sizes = window.batch(200, rng)
        assert np.array_equal(words[:, 0].astype(np.float32), values)
        of = np.split(values, np.cumsum(sizes)[:-1])
        assert all(len(set(one.tolist())) == 1 for one in of)
        assert {int(one[0]) for one in of} == set(range(20))
        for one in of:
            assert len(one) == int((joined.values == one[0]).sum())


def test_shuffled_labels_are_the_same_decisions_in_another_order() -> None:
    labels = Labeller([Rules.parse("scopa")], Teacher(1, 0.2), 2, 1).label(100, 5, lambda count: None)

    def decisions(of: Labels) -> list[tuple[bytes, bytes]]:
        spans = list(itertools.pairwise(of.starts.tolist()))
        return [(of.words[low:high].tobytes(), of.values[low:high].tobytes()) for low, high in spans]

    other, again = (labels.shuffled(np.random.default_rng(3)) for _ in range(2))
    assert decisions(other) == decisions(again)
    assert decisions(other) != decisions(labels)
    assert sorted(decisions(other)) == sorted(decisions(labels))
    window = Window([other])
    words, values, sizes = window.batch(250, np.random.default_rng(1))  # more than there are
    assert (len(sizes), sizes.sum()) == (250, len(words))
    assert len(values) == len(words)
    assert not subnormals_are_flushed()
    with no_denormals():
        assert subnormals_are_flushed()
    assert not subnormals_are_flushed()


def subnormals_are_flushed() -> bool:
    return float(torch.tensor(1e-39) * torch.tensor(1.0)) == 0.0


def test_a_module_learns_its_labels() -> None:
    torch.manual_seed(1)
    labels = Labeller([Rules.parse("scopa")], Teacher(2, 0.2), 2, 1).label(300, 5, lambda count: None)
    fit = Fit(make_module((32,)), 1e-3, 4.0, 0.9, "float32")
    window, rng = Window([labels]), np.random.default_rng(1)
    errors = [fit.step(*window.batch(64, rng), 1.0) for _ in range(150)]
    assert np.mean(errors[-20:], axis=0).tolist() < (0.5 * np.mean(errors[:5], axis=0)).tolist()
    features = expand(labels.words[:3], torch.device("cpu"))
    assert features.shape == (3, make_module((4,))[0].in_features)  # type: ignore[index]


# agents in a training


def test_a_responder_is_the_best_against_whom_it_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    margins = iter([0.3, 0.7, 0.5, 0.7, 0.6, 0.1])

    def play(a: Any, b: Any, *more: Any, **options: Any) -> Any:
        margin = next(margins) if b == "greedy" else -1.0
        return replace(real, margin=margin, low=margin - 1, high=margin + 1)

    real = duel("random", "random", "scopa", 2, seed=1)
    monkeypatch.setattr("scopa_train.run.duel", play)
    settings = {
        **EXIT,
        "late_hidden": (),
        "late_decisions": 0,
        "iterations": 5,
        "evaluations": 5,
        "against": ("greedy",),
    }
    found = exit.train(exit.ExitSettings(**{**settings, "opponent": "greedy", "out": tmp_path}))[0]
    card = json.loads((tmp_path / "network.json").read_text())
    points = json.loads((tmp_path / "curve.json").read_text())["curves"]["greedy"]
    assert [point["margin"] for point in points] == [0.3, 0.7, 0.5, 0.7, 0.6]
    assert card["best after"] == points[3]["labelled decisions"]  # as good as any before it
    assert found.notes["labelled"] == str(card["labelled decisions"])


def test_a_responder_that_begins_with_a_network(tmp_path: Path) -> None:
    run_of("exit", tmp_path / "first")
    start = str(tmp_path / "first" / "network.safetensors")
    found = exploit("greedy", decisions=300, deals=8, start=start, out=tmp_path / "second")
    curve = json.loads((tmp_path / "second" / "curve.json").read_text())["curves"]
    assert curve["greedy"][0]["labelled decisions"] == 0
    assert found.decisions >= 300
    settings = json.loads((tmp_path / "second" / "settings.json").read_text())["settings"]
    assert (settings["hidden"], settings["late_hidden"]) == ([8, 4], [6])
    with pytest.raises(ValueError, match="start='scopa': allowed is none with method='ppo'"):
        exploit("greedy", method="ppo", start="scopa", out=tmp_path / "third")


def test_who_may_be_answered(tmp_path: Path) -> None:
    network, _ = run_of("exit", tmp_path / "one", opponent="greedy", late_decisions=0)
    assert isinstance(network, MoveNetwork)
    other = f"learned:{tmp_path / 'one' / 'network.safetensors'}"
    run_of("exit", tmp_path / "two", opponent=other, late_decisions=0)
    for method in ("exit", "ppo"):
        found = exploit(other, "scopa", method, 600, deals=8, out=tmp_path / method)  # type: ignore[arg-type]
        assert (found.result.b, found.result.deals) == (other, 8)
    with pytest.raises(ValueError, match="late_decisions=5: exact values mean"):
        exit.ExitSettings(opponent="greedy", late_decisions=5, late_hidden=(4,))
    with pytest.raises(ValueError, match="late_decisions=5: allowed is 0 without late_hidden"):
        exit.ExitSettings(late_decisions=5)
    with pytest.raises(ValueError, match="opponent='pimc:5': allowed are"):
        exit.ExitSettings(opponent="pimc:5")
    with pytest.raises(AgentError, match="no such file"):
        exit.ExitSettings(opponent="learned:nowhere")


def test_hard_opponents_are_drawn_more_often() -> None:
    pool = ppo.Pool(ppo.PPOSettings(opponents=("random", "greedy", "expert"), slots=1000))
    pool.lost = [0.0, 0.5, 1.0]
    pool.seat(np.random.default_rng(1), None)  # type: ignore[arg-type]
    counts = np.bincount(pool.seated, minlength=3)
    assert counts[0] < counts[1] < counts[2]
    assert counts[0] > 0
    pool.lost = [0.5, 0.5, 0.5]
    index = int(pool.seated[0])
    after = 0.5
    for reward, lost in ((-3.0, 1.0), (2.0, 0.0), (0.0, 0.5)):
        pool.count(np.array([0]), np.array([reward]))
        after = 0.98 * after + 0.02 * lost
        assert pool.lost[index] == pytest.approx(after)
    assert sum(pool.lost) == pytest.approx(1.0 + after)


def test_the_exported_network_is_the_trained_one(tmp_path: Path) -> None:
    settings = ppo.PPOSettings(**{**PPO, "evaluations": 1}, rules="bga_scopa_4p", out=tmp_path)  # the last is the best
    policy, _ = ppo.train(settings)
    model = MaskablePPO.load(tmp_path / "model.zip")
    rules = Rules.parse(settings.rules)
    games = np.concatenate([Game(rules, seed=seed).records for seed in range(50)])
    observations, masks = observe_batch(rules, games)
    mine = np.where(masks == 1, policy.logits(observations), -np.inf).argmax(axis=1)
    theirs, _ = model.predict(observations, action_masks=masks, deterministic=True)
    assert np.array_equal(mine, theirs)
    distribution = model.policy.get_distribution(torch.from_numpy(observations).float())
    normalised = distribution.distribution.logits.detach().numpy()
    logits = policy.logits(observations)
    assert np.allclose(logits - logits[:, :1], normalised - normalised[:, :1], atol=1e-4)
    assert make_agent(f"learned:{tmp_path / 'network.safetensors'}").name.startswith("learned:")


class Hint(gymnasium.Env[Any, Any]):
    """One action of many is legal and right; the observation does not say which, the mask does."""

    observation_space = gymnasium.spaces.Box(0, 1, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(40)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.right = int(self.np_random.integers(40))
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return np.zeros(1, np.float32), float(action == self.right), True, False, {}

    def action_masks(self) -> np.ndarray:
        return np.arange(40) == self.right


def test_masks_matter() -> None:
    """Without the mask nothing can be learnt here; with it every episode is won."""
    from sb3_contrib.common.maskable.evaluation import evaluate_policy

    rewards = {}
    for masked in (True, False):
        env = Hint()
        model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=64, seed=1, device="cpu")
        model.learn(256, use_masking=masked)
        rewards[masked], _ = evaluate_policy(model, env, 100, use_masking=masked, warn=False)
    assert rewards[True] == 1
    assert rewards[False] < 0.2


class Copying(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Hands out copies of everything, and overwrites what it was given."""

    def reset(self, **arguments: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(**arguments)
        copied = observation.copy()
        observation[:] = 7
        info["action_mask"][:] = 1
        return copied, {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        copied = observation.copy()
        observation[:] = 7
        info["action_mask"][:] = 1
        return copied, reward, terminated, truncated, {}

    def action_masks(self) -> np.ndarray:
        masks = self.env.get_wrapper_attr("action_masks")()
        copied = masks.copy()
        masks[:] = True
        return copied


def test_training_on_copies_gives_the_same_weights() -> None:
    def learn(wrap: Any) -> list[bytes]:
        torch.set_num_threads(1)
        env = DummyVecEnv([lambda: wrap(ScopaEnv("scopa", opponent=["random", "greedy"]))] * 4)
        model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=64, n_epochs=2, seed=5, device="cpu")
        return [tensor.numpy().tobytes() for tensor in model.learn(1000).policy.state_dict().values()]

    assert learn(lambda env: env) == learn(Copying)


def test_stable_baselines3_checker() -> None:
    check_env(ScopaEnv("scopa", illegal="forfeit"))


@pytest.mark.parametrize("text", ["scopa", "escoba"])
def test_rank_features(text: str) -> None:
    """The features said once more, card by card; numpy and torch give the same."""
    rules = Rules.parse(text)
    fifteen = rules.capture == "fifteen"
    games = [Game(rules, seed=seed) for seed in range(40)]
    observations = np.stack([game.view(game.seat).observation() for game in games]).astype(np.float32)
    found = rank_features(observations, 2, fifteen, PAIR_SUMS, np.concatenate)
    assert found.shape == (40, feature_size(2))
    tensor = rank_features(torch.from_numpy(observations), 2, fifteen, torch.from_numpy(PAIR_SUMS), torch.cat)
    assert np.array_equal(found.astype(np.float32), tensor.numpy())
    for game, row in zip(games, found[:, observations.shape[1] :], strict=True):
        view = game.view(game.seat)
        table = view.table
        for part, cards in zip(row[:30].reshape(3, 10), (view.hand, table, view.unseen), strict=True):
            assert part.tolist() == [sum(value_of(card) == value for card in cards) for value in range(1, 11)]
        pairs = {value_of(a) + value_of(b) for a in table for b in table if value_of(a) < value_of(b)}
        wanted = [15 - value if fifteen else value for value in range(1, 11)]
        assert row[30:40].tolist() == [float(want in pairs) for want in wanted]
        for kind, cards in enumerate((table, [card for card in table if card < 10])):
            values = {value_of(card) for card in cards}
            expected = [float(card in view.hand and wanted[card % 10] in values) for card in range(40)]
            assert row[40 + 40 * kind : 80 + 40 * kind].tolist() == expected
        expected = [float(card in view.hand and wanted[card % 10] in pairs) for card in range(40)]
        assert row[120:160].tolist() == expected


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 0}, "steps=0"),
        ({"num_envs": -1}, "num_envs=-1"),
        ({"eval_deals": 1}, "eval_deals=1"),
        ({"against": ()}, "against=()"),
        ({"rules": "skopa"}, "did you mean"),
        ({"reward": "score"}, "reward='score'"),
        ({"opponents": ("nobody",)}, "agent 'nobody'"),
        ({"threads": 0}, "threads=0"),
        ({"against": ("gredy",)}, "did you mean 'greedy'"),
        ({"hidden": (0,)}, "hidden"),
        ({"opponents": (), "snapshots": 0}, "nobody to play against"),
        ({"opponents": ("ismcts:5",)}, "does not decide on arrays"),
    ],
)
def test_settings_that_are_not_allowed(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ppo.PPOSettings(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"rules": ("mini_scopa",), "late_hidden": (8,)},
            r"late_hidden=\(8,\): .* mini_scopa, .* 2 cards that are",
        ),
        ({"rules": ("scopa:deals=2",), "late_hidden": (8,)}, "has 12 plays and 24 cards that are never dealt"),
        ({"rules": ("scopone",), "late_hidden": (8,), "late_decisions": 5}, "late_decisions=5: .* scopone, not of two"),
        ({"rules": ("scopa", "escoba"), "opponent": "learned"}, "opponent='learned': .* several games is learned:NAME"),
        ({"opponent": "pimc:5"}, "opponent='pimc:5': allowed are"),
        (
            {"rules": ("scopa", "scopa:target=21")},
            "rules: scopa:target=21 is the same game as scopa; allowed",
        ),
        ({"unseen": ("scopa",)}, "rules: scopa is the same game as scopa"),
        ({"out": ""}, "out='.': allowed is a folder of its own"),
    ],
)
def test_settings_that_expert_iteration_refuses(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        exit.ExitSettings(**settings)


def test_features_that_were_never_on_weigh_nothing() -> None:
    """In other games they would add what the weights were before anything was learnt."""
    labels = Labeller([Rules.parse("scopa")], Teacher(1, 0.2), 1, 1).label(200, 1, lambda count: None)
    on = unpack(labels.words, NUM_FEATURES).any(axis=0)
    assert 0 < on.sum() < NUM_FEATURES
    torch.manual_seed(1)
    fit = Fit(make_module((8,)), 1e-3, 4.0, 0.9, "float32")
    before = fit.module.state_dict()["0.weight"].clone()
    window = Window([labels])
    for _ in range(40):
        fit.step(*window.batch(64, np.random.default_rng(1)), 1.0)
    seen = unpack(fit.seen[None], NUM_FEATURES)[0].astype(bool)
    first = fit.weights()["0.weight"].numpy()
    assert np.all(seen <= on)
    assert not np.any(first[:, ~seen])
    assert np.all(np.any(first[:, seen] != 0, axis=0))
    assert np.all(before.numpy()[:, ~seen].any(axis=0))
    other = Fit(make_module((8,)), 1e-3, 4.0, 0.9, "float32")
    other.load(fit.state())
    assert np.array_equal(other.seen, fit.seen)
    with pytest.raises(CheckpointError, match="features are 'moves 0'; allowed is 'moves"):
        other.load({**fit.state(), "features": "moves 0"})
