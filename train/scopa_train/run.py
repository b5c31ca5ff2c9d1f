"""What every recipe does beside learning: evaluate, draw the curve, log, save, go on after a kill, report."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scopa_agents.arena import Pairing, duel
from scopa_agents.arena_table import Bar, pairing_table
from scopa_env.rules import Rules
from scopa_train.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from scopa_train.curve import Curve
from scopa_train.report import write_json

CHECKPOINT = "checkpoint.safetensors"
SETTINGS = "settings.json"


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Settings that every recipe has."""

    seed: int = 0
    "Seed of everything random."
    threads: int = 1
    "Threads. The same seed and number of threads give the same weights on the same machine."
    against: tuple[str, ...] = ("greedy", "expert")
    "Agents that it is evaluated against."
    evaluations: int = 8
    "Points of the learning curve."
    eval_deals: int = 500
    "Duplicate deals of an evaluation against each agent."
    final_deals: int = 2000
    "Duplicate deals of the closing table."
    out: Path = Path("runs/run")
    "Folder of the results."

    def check_run(self) -> None:
        """Raise a ValueError for a setting that is not allowed."""
        self.at_least(1, "threads", "evaluations")
        self.at_least(2, "eval_deals", "final_deals")

    def at_least(self, least: float, *names: str) -> None:
        """Raise a ValueError if one of these settings is smaller."""
        for name in names:
            if getattr(self, name) < least:
                raise ValueError(f"{name}={getattr(self, name)}: allowed are numbers from {least}")

    def plain(self) -> dict[str, Any]:
        """Return the settings as JSON values, without the place of the results."""
        return {key: value for key, value in dataclasses.asdict(self).items() if key != "out"}


def commit() -> str | None:
    """Return the commit of the checkout that this code runs from, with a + if files differ from it; None: in none."""
    folder = Path(__file__).parent

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()

    try:
        if git("ls-files", "--error-unmatch", Path(__file__).name) == "":
            return None
        return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return None


class Run:
    """A training run: its folder, its curve, its checkpoint.

    Args:
        settings: the settings.
        title: of the curve.
        rules: the games that the agent is evaluated on.
        unit: what the horizontal axis of the curve counts.
    """

    def __init__(self, settings: RunSettings, title: str, rules: Sequence[str], unit: str) -> None:
        self.settings = settings
        self.rules = rules
        self.out = settings.out
        self.out.mkdir(parents=True, exist_ok=True)
        self.curve = Curve(title, unit)
        self.seconds = 0.0
        self._began = time.monotonic()
        self._logger: Any = None

    def resume(self) -> Any:
        """Return the state of the last checkpoint, and go on from there.

        Raises:
            CheckpointError: there is none, or it is of other settings.
        """
        content = load_checkpoint(self.out / CHECKPOINT)
        mine = json.loads(json.dumps(self.settings.plain()))
        for name, value in content["settings"].items():
            if mine.get(name) != value:
                raise CheckpointError(
                    f"{name}={mine.get(name)!r}: the checkpoint in {str(self.out)!r} was made with {value!r}"
                )
        self.curve.points = content["curve"]
        self.seconds = content["seconds"]
        self._began = time.monotonic()
        return content["state"]

    def save(self, state: Mapping[str, Any]) -> None:
        """Write a checkpoint."""
        content = {
            "settings": self.settings.plain(),
            "curve": self.curve.points,
            "seconds": self.total_seconds(),
            "state": state,
        }
        save_checkpoint(self.out / CHECKPOINT, content)

    def total_seconds(self) -> float:
        """Return the seconds of training so far, those before a kill included."""
        return self.seconds + time.monotonic() - self._began

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Write values for TensorBoard."""
        if self._logger is None:
            from torch.utils.tensorboard import SummaryWriter

            self._logger = SummaryWriter(str(self.out / "tensorboard"), purge_step=step)  # type: ignore[no-untyped-call]
        for name, value in values.items():
            self._logger.add_scalar(name, value, step)
        self._logger.flush()

    def evaluate(self, agent: Any, step: int, best: Any, bar: Bar) -> None:
        """Add a point to the learning curve, on the same deals each time; print and log it."""
        for rules in self.rules:
            text = f"{step:11,} {self.curve.unit}:" + (f" {rules}:" if len(self.rules) > 1 else "")
            for opponent in (*self.settings.against, *([best] if best is not None else [])):
                result = duel(agent, opponent, rules, self.settings.eval_deals, seed=self.settings.seed + 1)
                name = opponent if isinstance(opponent, str) else "best so far"
                label = f"{name} in {rules}" if len(self.rules) > 1 else name
                self.curve.add(label, step, result, self.total_seconds())
                self.log(step, {f"arena/{label.replace(' ', '_')}": result.margin})
                text += f"  {name} {result.margin:+.2f} ({result.low:+.2f} .. {result.high:+.2f})"
            bar.say(text)
        self.curve.save(self.out)

    def finish(self, agent: Any, more: Mapping[str, Any]) -> list[Pairing]:
        """Play and print the closing table, on deals of its own, and write ``result.json``."""
        seconds = self.total_seconds()
        results = [
            duel(agent, opponent, rules, self.settings.final_deals, seed=self.settings.seed + 2)
            for rules in self.rules
            for opponent in self.settings.against
        ]
        self.curve.save(self.out)
        report = {
            "settings": self.settings.plain(),
            "commit": commit(),
            "seconds": seconds,
            **more,
            "pairings": [dataclasses.asdict(result) for result in results],
        }
        write_json(self.out / "result.json", report)
        pairing_table(results)
        return results


def parse_all(rules: Sequence[str]) -> list[Rules]:
    """Return the rules that are named; at least one."""
    if not rules:
        raise ValueError("rules=(): name at least one")
    return [Rules.parse(text) for text in rules]
