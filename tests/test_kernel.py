"""Compilation: what the cache depends on, cold starts, and that nothing is compiled twice."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import scopa_env
from scopa_env import kernel
from scopa_env.engine import bits

PACKAGE = Path(scopa_env.__file__).parent
COMPILING = "scopa_env: compiling what is used for the first time (later runs load it from a cache)\n"
ROUND = """
import sys
import numpy as np
import scopa_env
env = scopa_env.env()
env.reset(seed=1)
for agent in env.agent_iter():
    seen, reward, done, _, _ = env.last()
    env.step(None if done else int(np.flatnonzero(seen["action_mask"])[0]))
print(env.game().text())
"""
SEES = """
import scopa_env
from scopa_env.engine.hidden import sees_hand
rules = scopa_env.Rules.parse("german_4p:partner_hand_visible=true")
print(sees_hand(rules.record[0], 0, 1))
"""


def start(code: str, cache: Path | None, path: Path | None = None, **more: str) -> subprocess.Popen[str]:
    """Start a Python process with its own numba cache."""
    environment = {**os.environ, **more}
    environment.pop("SCOPA_ENV_QUIET", None)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=path or Path.cwd(),
    )


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out, err


def test_an_edit_of_another_module_expires_the_cache(tmp_path: Path) -> None:
    """`sees_hand` is in hidden.py; what it calls, in state.py, is edited in a copy of the package."""
    shutil.copytree(PACKAGE, tmp_path / "scopa_env", ignore=shutil.ignore_patterns("__pycache__"))
    cache = tmp_path / "cache"
    assert finish(start(SEES, cache, tmp_path))[0] == "False\n"
    assert "compiling" not in finish(start(SEES, cache, tmp_path))[1]
    file = tmp_path / "scopa_env" / "engine" / "state.py"
    text = file.read_text("utf-8")
    edited = text.replace('return signed(seat) & 1 if rules["teams"] else signed(seat)', "return 0")
    assert edited != text
    file.write_text(edited, "utf-8")
    out, err = finish(start(SEES, cache, tmp_path))
    assert out == "True\n"
    assert "compiling" in err


def test_every_module_with_kernels_is_in_the_stamp() -> None:
    sources = {path.name for path in kernel.kernel_sources()}
    holders = {
        path.name
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^@(kernel|inlined)", path.read_text("utf-8"), re.MULTILINE)
    }
    assert holders <= sources
    assert "cards.py" in sources


def test_two_processes_on_a_cold_cache_both_work_and_say_so_once(tmp_path: Path) -> None:
    both = [start(ROUND, tmp_path) for _ in range(2)]
    results = [finish(process) for process in both]
    assert results[0][0] == results[1][0]
    for _, err in results:
        lines = [line for line in err.splitlines() if line]
        assert len(lines) == 1
        assert "compiling" in lines[0]
    out, err = finish(start(ROUND, tmp_path))
    assert (out, err) == (results[0][0], "")


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_folder_that_cannot_be_written_costs_the_cache_only(tmp_path: Path) -> None:
    """No place for the cache (a file where the folder should be): compiled in the process, the same result."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    shutil.copytree(PACKAGE, tmp_path / "scopa_env", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "scopa_env" / "__pycache__").write_text("")
    (tmp_path / "scopa_env" / "engine" / "__pycache__").write_text("")
    out, err = finish(
        start(SEES, None, tmp_path, HOME=str(blocked), XDG_CACHE_HOME=str(blocked), PYTHONDONTWRITEBYTECODE="1")
    )
    assert out == "False\n"
    assert "Traceback" not in err


def test_nothing_is_compiled_for_two_signatures() -> None:
    """Every argument has one type wherever it comes from, pickled and copied environments included."""
    code = """
import copy, pickle
import gymnasium, numpy as np
import scopa_env
from scopa_env import batch
env = scopa_env.env("scopa", reward="decided", history=True)
env.reset(seed=1)
for target in (env, copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
    while target.agents:
        seen, reward, done, _, _ = target.last()
        target.step(None if done else int(np.flatnonzero(seen["action_mask"])[0]))
    target.state()
single = pickle.loads(pickle.dumps(scopa_env.ScopaEnv("escoba", opponent="greedy")))
_, info = single.reset(seed=1)
for _ in range(50):
    _, _, done, _, info = single.step(np.int64(np.flatnonzero(info["action_mask"])[0]))
    if done:
        _, info = single.reset()
game = scopa_env.Game("scopone", seed=2)
for _ in range(3):
    other = game.view(game.seat).sample(3)
    other.push(other.legal_moves[0])
    game.act(int(np.flatnonzero(game.action_mask())[0]))
from scopa_agents.arena import duel
duel("greedy", "random", "scopa", 4)
own = {name: f for name, f in vars(batch).items() if getattr(f, "__module__", "") == batch.__name__}
assert len(own) > 20
twice = {name: len(f.signatures) for name, f in own.items() if len(f.signatures) > 1}
print(twice)
"""
    assert finish(start(code, None))[0] == "{}\n"


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="compares the two")
def test_plain_and_compiled_primitives_agree() -> None:
    rng = np.random.default_rng(0)
    words = [0, 1, 2, (1 << 40) - 1, (1 << 64) - 1, *rng.integers(0, 1 << 64, 200, dtype=np.uint64).tolist()]

    @numba.njit
    def unary(x, count):  # type: ignore[no-untyped-def]
        return bits.popcount(x), bits.lowest(x), bits.highest(x), bits.bit(count), bits.below(count), bits.word(count)

    @numba.njit
    def binary(x, y):  # type: ignore[no-untyped-def]
        return bits.wrapping_add(x, y), bits.wrapping_mul(x, y)

    for k, value in enumerate(words):
        x, count = np.uint64(value), k % 64
        if value:
            plain = unary.py_func(x, count)
            assert tuple(map(int, unary(x, count))) == tuple(map(int, plain))
        y = np.uint64(words[k - 1])
        assert tuple(map(int, binary(x, y))) == tuple(map(int, binary.py_func(x, y)))


def test_the_generator_is_splitmix64() -> None:
    """First outputs for state 1234567, from the reference code of SplitMix64 (Vigna, public domain)."""
    from scopa_env.engine.rng import random_bits
    from scopa_env.engine.state import GAME

    @kernel.kernel
    def draw(games, out):  # type: ignore[no-untyped-def]
        for k in range(len(out)):
            out[k] = random_bits(games[0])

    games = np.zeros(1, GAME)
    games["rng"] = 1234567
    out = np.zeros(5, np.uint64)
    draw(games, out)
    assert out.tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


OUTSIDE = """
import scopa_env
from mypol.policy import act
print(act(1))
"""


def test_kernels_of_other_packages_expire_with_every_file_of_theirs(tmp_path: Path) -> None:
    package = tmp_path / "mypol"
    (package / "deep").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "deep" / "__init__.py").write_text("")
    (package / ".#open.py").symlink_to("nowhere")  # an editor's lock
    (package / "deep" / "weights.py").write_text("WEIGHT = 1\n")
    (package / "policy.py").write_text(
        "from scopa_env.kernel import kernel\nfrom mypol.deep.weights import WEIGHT\n\n\n"
        "@kernel\ndef act(x):\n    return x + WEIGHT\n"
    )
    path = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    assert finish(start(OUTSIDE, tmp_path / "cache", None, **path)) == ("2\n", COMPILING)
    assert finish(start(OUTSIDE, tmp_path / "cache", None, **path)) == ("2\n", "")
    (package / "deep" / "weights.py").write_text("WEIGHT = 1000\n")
    assert finish(start(OUTSIDE, tmp_path / "cache", None, **path)) == ("1001\n", COMPILING)
