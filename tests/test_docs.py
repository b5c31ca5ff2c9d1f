"""The documents: examples that run, generated parts that are up to date, links that lead somewhere."""

from __future__ import annotations

import doctest
import importlib
import re
import tomllib
from pathlib import Path

import pytest

import scopa_env
from make_docs import ROOT, generated

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
MODULES = ("scopa_agents.solve", "scopa_env.game", "scopa_env.aec", "scopa_env.single")


@pytest.mark.parametrize(
    "page", ["README.md", *(f"docs/{name}.md" for name in ("agents", "arena", "environments", "notation", "training"))]
)
def test_the_examples_of_the_pages(page: str) -> None:
    found = doctest.testfile(str(ROOT / page), module_relative=False)
    assert found.attempted > 4
    assert found.failed == 0


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
