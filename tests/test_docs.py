"""The documents: examples that run, generated parts that are up to date, links that lead somewhere."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import os
import re
import subprocess
import sys
import tomllib
import zlib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import scopa_agents.arena
import scopa_env
from make_docs import ROOT, generated
from scopa_agents.text.stand_ins import most_cards
from scopa_env.cases import check_file

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
FRAMEWORKS = ROOT / "docs" / "frameworks"
"""Their pages need libraries that may be absent; each has a test of its own, beside those of its library."""
SCRIPTS = (ROOT / "docs" / "training.md", ROOT / "docs" / "text_agents.md")
"""Pages with a script, which a test below runs."""
MODULES = ("scopa_agents.solve", "scopa_env.game", "scopa_env.aec", "scopa_env.single")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of code of a page that are marked as `language`."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)


SESSIONS = [page for page in PAGES if page.parent != FRAMEWORKS and "\n>>> " in page.read_text("utf-8")]


@pytest.mark.parametrize("page", SESSIONS, ids=name_of)
def test_the_examples_of_the_pages(page: Path) -> None:
    found = doctest.testfile(str(page), module_relative=False)
    assert found.attempted > 1
    assert found.failed == 0


def test_every_block_of_python_runs() -> None:
    """A block is a session, which the test above runs, or a script that another test runs."""
    tests = "\n".join(path.read_text("utf-8") for path in (ROOT / "tests").glob("test_*.py"))
    for page in PAGES:
        scripts = [block for block in blocks(page, "python") if not block.startswith(">>> ")]
        if page.parent == FRAMEWORKS:
            assert f'"{page.name}"' in tests or f'run_example("{page.stem}")' in tests, f"{page.name}: no test runs it"
        else:
            assert len(scripts) == (page in SCRIPTS), f"{name_of(page)}: no test runs {scripts}"


def script_of(page: Path) -> str:
    (script,) = (block for block in blocks(page, "python") if not block.startswith(">>> "))
    return script


def test_the_script_about_language_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it stands, but for the client, whose model answers with the play that takes most."""

    def create(model: str, messages: list[dict[str, str]], temperature: float) -> SimpleNamespace:
        content = most_cards("\n".join(message["content"] for message in messages))
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=content))])

    client = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))
    monkeypatch.chdir(tmp_path)
    script, count = re.subn(r"^client = \.\.\..*$", "client = given", script_of(SCRIPTS[1]), flags=re.MULTILINE)
    assert count == 1
    defined: dict[str, Any] = {"given": client}
    exec(compile(script, "text_agents.md", "exec"), defined)
    agent = defined["some_model"]
    game = scopa_env.Game("scopa", seed=3, dealer=1)
    assert game.is_legal(agent.act(game.view(game.seat)))
    assert agent.name == "some-model"
    assert (tmp_path / "some-model.jsonl").exists()


def test_the_script_about_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it stands, but for a tiny budget."""
    recipe = pytest.importorskip("scopa_train.exit", exc_type=ImportError)
    tiny = {"first_decisions": 100, "decisions": 50, "first_steps": 2, "steps": 2, "batch": 16, "first_worlds": 1}
    tiny |= {"worlds": 1, "evaluations": 1, "eval_deals": 4, "final_deals": 4}
    whole: Callable[..., Any] = recipe.train
    asked = []

    def train(settings: Any, **more: Any) -> Any:
        asked.append((settings, more))
        return whole(dataclasses.replace(settings, **tiny, hidden=(8,)), **more)

    monkeypatch.setattr(recipe, "train", train)
    monkeypatch.chdir(tmp_path)
    defined: dict[str, Any] = {}
    exec(compile(script_of(SCRIPTS[0]), "training.md", "exec"), defined)
    assert [more for _, more in asked] == [{}, {"resume": True}]
    assert asked[0][0].rules == ("escoba",)
    assert [row.b for row in defined["results"]] == list(asked[0][0].against)
    assert (tmp_path / "runs" / "mine" / "network.safetensors").exists()


@pytest.mark.parametrize("page", [ROOT / "CONTRIBUTING.md", ROOT / "docs" / "cases.md"], ids=name_of)
def test_the_cases_of_the_pages_pass(page: Path, tmp_path: Path) -> None:
    (case,) = blocks(page, "yaml")
    file = tmp_path / "cases.yaml"
    file.write_text(case if case.startswith("cases:") else f"cases:\n{case}", "utf-8")
    assert check_file(file) == (1, 0)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_docstrings(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name), extraglobs={"Game": scopa_env.Game})
    assert found.attempted > 0
    assert found.failed == 0


def test_generated_parts_are_up_to_date() -> None:
    for path, text in generated().items():
        assert path.read_text("utf-8") == text, f"run python tools/make_docs.py: {path.name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text("utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_the_version_history_names_every_registered_version() -> None:
    """The version of an id is that of its page and of PettingZoo's name."""
    for env_id, preset in scopa_env.ENV_IDS.items():
        version = env_id.rsplit("-", 1)[1]
        page = (ROOT / "docs" / "games" / f"{preset}.md").read_text("utf-8")
        assert re.search(rf"^{version}:", page.split("## Version history")[1], re.MULTILINE)
        assert scopa_env.raw_env.metadata["name"].endswith(version)


def versions_of(page: str) -> str:
    """Return the end of a page: the table of versions."""
    return "\n".join((ROOT / "docs" / "frameworks" / f"{page}.md").read_text("utf-8").splitlines()[-12:])


def test_every_framework_of_the_makefile_has_what_its_rule_needs() -> None:
    names = re.search(r"^FRAMEWORKS := (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert names
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for name in names.group(1).split():
        assert name in extras
        assert (ROOT / "tests" / f"test_{name}.py").exists(), name
        own = ROOT / f"constraints-{name}.txt"
        pinned = (own if own.exists() else ROOT / "constraints.txt").read_text("utf-8")
        package = "ray" if name == "rllib" else name
        version = re.search(rf"^{package}==(.*)$", pinned, re.MULTILINE)
        assert version, package
        assert version.group(1) in versions_of(name), package


def test_the_pages_of_frameworks_name_the_versions_that_are_tested() -> None:
    pinned = dict(re.findall(r"^([\w.-]+)==(.*)$", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE))
    for page in ("pettingzoo", "stable_baselines3"):
        rows = re.findall(r"^\| ([\w-]+) \| ([\d., ]+) \|$", versions_of(page), re.MULTILINE)
        assert len(rows) >= 3
        for package, versions in rows:
            assert pinned[package] in versions.split(", "), package


def test_the_pages_of_games_have_the_same_headings() -> None:
    headings = ["Rules", "Specs", "Observation", "Action", "Reward", "Termination"]
    for preset in scopa_env.PRESETS:
        text = (ROOT / "docs" / "games" / f"{preset}.md").read_text("utf-8")
        assert re.findall(r"^## (.*)$", text, re.MULTILINE) == [*headings, "Version history"]


# the site


class Loaded(HTMLParser):
    """What a page loads, as against what it links to."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag in {"script", "img", "iframe", "source"}:
            self.addresses.append(found.get("src") or "")
        if tag == "link":
            self.addresses.append(found.get("href") or "")


def check_pages(site: Path) -> None:
    """Every page is there and in its own menu, the examples are sessions, and nothing is loaded from elsewhere."""
    pages = [page.relative_to(ROOT / "docs").with_suffix(".html") for page in (ROOT / "docs").rglob("*.md")]
    for page in (*pages, Path("contributing.html"), Path("changelog.html")):
        html = (site / page).read_text("utf-8")
        assert "<h1" in html
        assert re.search(r'class="md-nav__link md-nav__link--active"', html), f"{page} is not in the menu"
        loaded = Loaded()
        loaded.feed(html)
        assert not [address for address in loaded.addresses if re.match(r"(https?:)?//", address)], page
    start = (site / "index.html").read_text("utf-8")
    assert '<div class="highlight"><pre><span></span><code>pip install .' in start
    assert '<span class="gp">' in start
    assert "--8" not in start


def check_reference(inventory: Path) -> None:
    """Public names are in the reference.  Sphinx' inventory: four lines, then one line a name, compressed."""
    content = inventory.read_bytes().split(b"\n", 4)[4]
    names = {line.split(" ")[0] for line in zlib.decompress(content).decode().splitlines()}
    for package in (scopa_env, scopa_agents.arena):
        for name in package.__all__:
            found = getattr(package, name)
            home = getattr(found, "__module__", None)  # a constant has none
            assert (f"{home}.{name}" if home else f"{package.__name__}.{name}") in names, name


def test_the_site(tmp_path: Path) -> None:
    """As `make docs` builds it; a warning is an error."""
    pytest.importorskip("material")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    check_pages(tmp_path)
    check_reference(tmp_path / "objects.inv")


def test_links_that_leave_the_documents() -> None:
    pytest.importorskip("mkdocs")
    from site_hooks import as_sessions, links_of_site

    text = "[`a`](../scopa_env/a.py#x), [log](../CHANGELOG.md), [b](b.md#y), `[c](../c.md)` [d](https://d.org) [e](#e)"
    other = "[log](changelog.md), [b](b.md#y), `[c](../c.md)` [d](https://d.org) [e](#e)"
    assert links_of_site(text, "docs/page.md", "page.md", "") == f"`a`, {other}"
    assert links_of_site(text, "docs/page.md", "page.md", "https://host/us/it/") == (
        f"[`a`](https://host/us/it/blob/HEAD/scopa_env/a.py#x), {other}"
    )
    assert links_of_site("![p](docs/images/p.png)", "README.md", "games/x.md", "") == "![p](../images/p.png)"
    fence = "```text\n[a](../a.py)\n```"
    assert links_of_site(fence, "docs/page.md", "page.md", "") == fence
    assert as_sessions("```python\n>>> 1\n```\n```python\n1\n```") == "```pycon\n>>> 1\n```\n```python\n1\n```"
