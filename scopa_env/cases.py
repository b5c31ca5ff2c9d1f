"""Case files: rule cases in YAML, run through the public face of the engine.

A file has a list ``cases`` and, if it likes, a mapping ``presets`` whose values must be those of this package (a preset
that is unknown here is used as the file defines it).  A case has an ``id``, a ``type``, ``rules`` (a preset's name and
fields that differ), what is ``given``, what to ``expect``, and perhaps what its source states (``text_says``, also
compared).  Only the keys that are present are compared.  Moves are written ``7d>3c+4s`` or ``7dx3c4s``.

`load_cases` reads a whole file and refuses it if anything in it is malformed; `run_case` then only compares.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

import yaml

from scopa_env.case_types import (
    TYPES,
    CannotPlay,
    Case,
    as_list,
    as_mapping,
    check_cards,
    fields_of,
    read_field,
    refuse,
)
from scopa_env.presets import PRESETS
from scopa_env.rules import FIELD_NAMES, Rules, RulesError, near_miss, preset_rules

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # a PyYAML without libyaml
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

__all__ = ["Case", "CaseFile", "CaseFileError", "check_file", "load_cases", "run_case"]


class CaseFileError(ValueError):
    """A case file that cannot be read; the message names the file, the case and the field."""


@dataclass(frozen=True)
class CaseFile:
    """A case file: read and well formed.

    Attributes:
        path: where it lies.
        presets: the presets it defines.
        cases: its cases.
    """

    path: Path
    presets: Mapping[str, Rules]
    cases: tuple[Case, ...]

    def preset_problems(self) -> list[str]:
        """Say for each preset that differs from the one of this package in which fields it does."""
        problems = []
        for name, rules in self.presets.items():
            if name in PRESETS and (theirs := rules.changes_from(preset_rules(name))):
                ours = {key: getattr(preset_rules(name), key) for key in theirs}
                fields = (f"{key} is {theirs[key]!r} in the file, {ours[key]!r} here" for key in theirs)
                problems.append(f"preset {name}: {', '.join(fields)}")
        return problems


class _Loader(_SafeLoader):
    """A safe loader that refuses a key that stands twice in one mapping."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        twice = {key for key in keys if keys.count(key) > 1}
        if twice:
            raise yaml.constructor.ConstructorError(None, None, f"keys that stand twice: {twice}", node.start_mark)
        return super().construct_mapping(node, deep)


def load_cases(path: str | os.PathLike[str]) -> CaseFile:
    """Read a case file.

    Raises:
        CaseFileError: it cannot be read, or something in it is malformed.
    """
    path = Path(path)
    try:
        return _read_file(path)
    except ValueError as error:
        raise CaseFileError(f"{path}: {error}") from None


def _read_file(path: Path) -> CaseFile:
    content = as_mapping(_load_yaml(path))
    if "cases" not in content:
        raise ValueError("no cases")
    presets = {}
    for name, fields in as_mapping(content.get("presets", {})).items():
        presets[str(name)] = _read_rules(f"presets.{name}", Rules(), fields)
    if not (items := as_list(content["cases"])):
        raise ValueError("no cases")
    cases = tuple(_read_case(number, item, presets) for number, item in enumerate(items, 1))
    seen: set[str] = set()
    for case in cases:
        if case.id in seen:
            raise ValueError(f"case {case.id}: this id stands twice")
        seen.add(case.id)
    return CaseFile(path, presets, cases)


def _load_yaml(path: Path) -> Any:
    try:
        return yaml.load(path.read_text("utf-8-sig"), _Loader)
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    except Exception as error:  # PyYAML lets through whatever the making of a value raises
        raise ValueError(f"not a YAML file: {' '.join(str(error).split())}") from None


def _read_rules(where: str, base: Rules, fields: Any) -> Rules:
    """Return `base` with some fields changed."""
    try:
        for name, value in as_mapping(fields).items():
            _check_rule(name, value)
        return base.replace(**fields)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _check_rule(name: Any, value: Any) -> None:
    """Refuse what `Rules` could not even name in a message."""
    if name not in FIELD_NAMES:
        raise RulesError(f"rules field {shortened(name)}: allowed are {', '.join(FIELD_NAMES)}")
    inner = value.items() if name == "dealer_bonus" and isinstance(value, dict) else [(name, value)]
    for part in (part for pair in inner for part in pair):
        if not isinstance(part, str | int | float | None):
            raise RulesError(f"{name}={shortened(value)}: not a value of a rule")


def _read_case(number: int, item: Any, presets: Mapping[str, Rules]) -> Case:
    ident = item.get("id") if isinstance(item, dict) else None
    where = f"case {ident}" if isinstance(ident, str | int) else f"case number {number}"
    try:
        return read_fields(str(ident or f"number {number}"), as_mapping(item), presets)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


KEYS = ("id", "type", "title", "source", "tier", "rules", "given", "expect", "text_says")
"""What a case may have; other keys are remarks, unless they look like a misspelt one."""


def read_fields(ident: str, item: dict[Any, Any], presets: Mapping[str, Rules]) -> Case:
    for key in item:
        if near := near_miss(key, KEYS):
            raise ValueError(f"{key}: did you mean {near}?")
    kind = item.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        raise ValueError(f"type: {shortened(kind)}: expected one of {', '.join(TYPES)}")
    rules = _rules_of_case(item.get("rules"), presets)
    spec = TYPES[kind]
    parts = {"given": fields_of({**spec.needs, **spec.may_have}), "expect": fields_of(spec.finds)}
    if "text_says" in item:
        parts["text_says"] = parts["expect"]
    read = {name: read_field(name, parts, item.get(name), rules) for name in parts}
    missing = [name for name in spec.needs if name not in read["given"]]
    if missing:
        raise ValueError(f"given: {', '.join(missing)} is missing")
    check_cards(read["given"])
    return Case(id=ident, type=kind, rules=rules, title=str(item.get("title", "")), **read)


def _rules_of_case(fields: Any, presets: Mapping[str, Rules]) -> Rules:
    if fields is None:
        raise ValueError("rules: missing")
    try:
        changes = {"preset": fields} if isinstance(fields, str) else dict(as_mapping(fields))
        name = changes.pop("preset", "scopa")
        if not isinstance(name, str):
            raise refuse(name, "a preset")
        base = preset_rules(name) if name in PRESETS or name not in presets else presets[name]
    except ValueError as error:
        raise ValueError(f"rules: {error}") from None
    return _read_rules("rules", base, changes)


def run_case(case: Case) -> list[str]:
    """Return what is wrong with a case, field by field; nothing if it passes."""
    try:
        found = TYPES[case.type].run(case)
    except CannotPlay as error:
        return [str(error)]
    return [*_differences("expect", case.expect, found), *_differences("text_says", case.text_says, found)]


def _differences(where: str, wanted: Any, found: Any) -> list[str]:
    """Compare what is wanted, and no more, with what was found."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return [
            problem
            for name, value in wanted.items()
            for problem in _differences(f"{where}.{name}", value, found.get(name, "nothing"))
        ]
    pairs = list(zip(wanted, found, strict=False)) if isinstance(wanted, tuple) and isinstance(found, tuple) else []
    if any(isinstance(one, dict) for one, _ in pairs) and len(wanted) == len(found):
        return [
            problem
            for number, (one, other) in enumerate(pairs, 1)
            for problem in _differences(f"{where}.{number}", one, other)
        ]
    return [] if wanted == found else [f"{where}: {_shown(wanted)} in the file, found {_shown(found)}"]


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {_shown(part)}' for name, part in value.items())}}}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def check_file(path: str | os.PathLike[str], report: Callable[[str], object] = print) -> tuple[int, int]:
    """Run every case of a file.

    Args:
        path: the file.
        report: called with one line for each preset that differs and each case that fails.

    Returns:
        How many cases passed, and how many cases failed or presets differ.

    Raises:
        CaseFileError: the file cannot be read, or something in it is malformed.
    """
    file = load_cases(path)
    problems = file.preset_problems()
    differing = len(problems)
    for case in file.cases:
        if found := run_case(case):
            problems.append(f"{case.id} ({case.type}): {'; '.join(found)}")
    for problem in problems:
        report(problem)
    failed = len(problems)
    return len(file.cases) - (failed - differing), failed
