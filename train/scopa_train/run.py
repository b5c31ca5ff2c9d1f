"""What every recipe does beside learning: evaluate, draw the curve, log, save, go on after a kill, report."""

from __future__ import annotations

import dataclasses
import json
import math
import platform
import shlex
import shutil
import subprocess
import sys
import time
import warnings
import weakref
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scopa_agents.arena import Pairing, duel
from scopa_agents.arena_table import Bar, pairing_table
from scopa_env.files import open_alone
from scopa_train.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from scopa_train.curve import Curve
from scopa_train.presets import SETTINGS, saved_run
from scopa_train.report import write_json
from scopa_train.settings import RunSettings

CHECKPOINT = "checkpoint.safetensors"
NETWORK = "network.safetensors"
CARD = "network.json"
RESULT = "result.json"
LOCK = ".lock"
GAME_SEEDS = 1 << 40
"""From the seed of the evaluations in a game to that in the next one."""
LEFT_BEHIND = (CHECKPOINT, NETWORK, CARD, RESULT, SETTINGS, "curve.json", "curve.png", "model.zip")
"""Files of a run in its folder."""
FOLDERS = ("labels", "tensorboard")
"""Folders in it."""


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

    In the folder are ``settings.json``, ``checkpoint.safetensors``, ``curve.json``, ``curve.png``, the logs of
    TensorBoard and at the end the network, its card and ``result.json``.

    Args:
        settings: the settings.
        recipe: its name.
        rules: the games that the agent is evaluated on.
        unit: what the horizontal axis of the curve counts.
        resume: go on from the last checkpoint in the folder, if there is one.
        overwrite: take the place of a run that is there.
        target: one of ``settings.against`` that is to be beaten: then the best network is the one with the largest
            margin against it, not the latest that its predecessors do not beat.

    Attributes:
        state: what the last checkpoint holds of the recipe; None in a new run.
        origin: the command and the commit that began the run, and other commits at which it was resumed.

    Raises:
        CheckpointError: the run in the folder cannot be read, has other settings, or is neither resumed nor
            overwritten.
        BlockingIOError: another process writes into the folder.
    """

    def __init__(
        self,
        settings: RunSettings,
        recipe: str,
        rules: Sequence[str],
        unit: str,
        resume: bool = False,
        overwrite: bool = False,
        target: str = "",
    ) -> None:
        self.settings = settings
        self.target = target
        self.recipe = recipe
        self.rules = rules
        self.out = settings.out
        if resume and overwrite:
            raise CheckpointError("resume, overwrite: allowed is one of them")
        if self.out.exists() and not self.out.is_dir():
            raise CheckpointError(f"out={str(self.out)!r}: is a file; allowed is a folder")
        self.out.mkdir(parents=True, exist_ok=True)
        self.curve = Curve(f"{recipe} on {rules[0] if len(rules) == 1 else f'{len(rules)} games'}", unit)
        self.state: Any = None
        self._seconds = 0.0
        self._began = time.monotonic()
        self._logger: Any = None
        self.origin: dict[str, Any] = {"command": command_line(), "commit": commit()}
        self._lock = open_alone(self.out / LOCK)
        weakref.finalize(self, self._lock.close)
        if resume and (self.out / CHECKPOINT).exists():
            self._take_up()
        else:
            self._check_place(resume, overwrite)
            if resume:  # killed before the first checkpoint
                self.origin["command"] = self._check_settings(saved_run(self.out, recipe)).get("command")
            self._clear()
            write_json(self.out / SETTINGS, {"recipe": recipe, "settings": settings.plain(), **self.origin})

    def _check_place(self, resume: bool, overwrite: bool) -> None:
        """Raise a CheckpointError if the folder holds what must not be lost: a run, or files of something else."""
        there = [name for name in (*LEFT_BEHIND, *FOLDERS) if (self.out / name).exists()]
        where = f"out={str(self.out)!r}"
        try:
            if there:
                saved_run(self.out)
        except ValueError:
            raise CheckpointError(
                f"{where}: holds {', '.join(there)}, but no {SETTINGS} of a run; allowed is a folder without these"
            ) from None
        if overwrite or not {CHECKPOINT, NETWORK, RESULT} & set(there):
            return
        if resume:
            raise CheckpointError(f"{where}: holds a run without {CHECKPOINT}, which cannot go on")
        if RESULT in there:
            raise CheckpointError(
                f"{where}: holds a finished run; --overwrite begins anew in its place, another folder leaves it alone "
                "(there exit and dmc can --start from its network)"
            )
        raise CheckpointError(
            f"{where}: holds an unfinished run; --resume goes on with it, --overwrite begins anew in its place, "
            "another folder leaves it alone"
        )

    def _clear(self) -> None:
        """Remove what a run leaves."""
        for name in LEFT_BEHIND:
            (self.out / name).unlink(missing_ok=True)
        for name in FOLDERS:
            shutil.rmtree(self.out / name, ignore_errors=True)

    def _check_settings(self, content: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what was saved of a run if it has the settings of this one.

        Raises:
            CheckpointError: it has others.
        """
        mine = json.loads(json.dumps(self.settings.plain()))
        for name, value in content["settings"].items():
            if mine.get(name) != value:
                command = content.get("command") or content.get("origin", {}).get("command")
                by = f", by: {command}" if command else ""
                raise CheckpointError(
                    f"{name}={mine.get(name)!r}: the run in {str(self.out)!r} was begun with {value!r}{by}"
                )
        return content

    def close(self) -> None:
        """Let others write into the folder."""
        self._lock.close()

    def _take_up(self) -> None:
        saved_run(self.out, self.recipe)
        content = self._check_settings(load_checkpoint(self.out / CHECKPOINT))
        self.curve.points = content["curve"]
        self._seconds = content["seconds"]
        now, self.origin = self.origin["commit"], content.get("origin", self.origin)
        if now != self.origin["commit"]:
            self.origin = {**self.origin, "resumed at": [*self.origin.get("resumed at", ()), now]}
        self.state = content["state"]

    def save(self, state: Mapping[str, Any]) -> None:
        """Write a checkpoint, whole or not at all.

        Args:
            state: everything that the recipe goes on from, as `save_checkpoint` takes it.
        """
        content = {
            "settings": self.settings.plain(),
            "curve": self.curve.points,
            "seconds": self.seconds(),
            "origin": self.origin,
            "state": state,
        }
        save_checkpoint(self.out / CHECKPOINT, content)

    def seconds(self) -> float:
        """Return the seconds of training so far, those before a kill included."""
        return self._seconds + time.monotonic() - self._began

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Write values for TensorBoard."""
        if self._logger is None:
            from torch.utils.tensorboard import SummaryWriter

            self._logger = SummaryWriter(str(self.out / "tensorboard"), purge_step=step)
        for name, value in values.items():
            self._logger.add_scalar(name, value, step)
        self._logger.flush()

    def evaluate(self, agent: Any, step: int, bar: Bar, best: Any = None) -> bool:
        """Add a point to the learning curve, on the same deals each time; print and log it.

        Args:
            agent: the agent.
            step: where on the curve.
            bar: prints.
            best: the best agent so far, if there is one.

        Returns:
            Whether the agent is to be kept: it is not clearly worse than the best one, by the 95 % interval of the
            mean margin of all games.  With a target: the margin against it has never been larger.
        """
        margins, errors = [], []
        before = self._margins()
        for k, rules in enumerate(self.rules):
            seed = self.settings.seed + 1 + GAME_SEEDS * k  # the same shuffles would move all games the same way
            text = f"{step:11,} {self.curve.unit}:" + (f" {rules}:" if len(self.rules) > 1 else "")
            for opponent in (*self.settings.against, *([best] if best is not None else [])):
                result = duel(agent, opponent, rules, self.settings.eval_deals, seed=seed)
                name = opponent if isinstance(opponent, str) else "best so far"
                if opponent is best:
                    margins.append(result.margin)
                    errors.append(result.high - result.margin)
                label = f"{name} in {rules}" if len(self.rules) > 1 else name
                self.curve.add(label, step, result, self.seconds())
                self.log(step, {f"arena/{label.replace(' ', '_')}": result.margin})
                text += f"  {name} {result.margin:+.2f} ({result.low:+.2f} .. {result.high:+.2f})"
            bar.say(text)
        self.curve.save(self.out)
        if self.target:
            return self._margins()[-1] >= max(before, default=-math.inf)
        return sum(margins) + math.hypot(*errors) >= 0

    def _margins(self) -> list[float]:
        """Return the margins against the target so far, each the mean of all games."""
        names = [f"{self.target} in {rules}" if len(self.rules) > 1 else self.target for rules in self.rules]
        rows = zip(*(self.curve.points.get(name, ()) for name in names), strict=True)
        return [sum(point["margin"] for point in row) / len(row) for row in rows]

    def finish(self, agent: Any, more: Mapping[str, Any], unseen: Sequence[str] = ()) -> list[Pairing]:
        """Play and print the closing table, on deals of its own, and write ``network.json`` and ``result.json``.

        Args:
            agent: the agent.
            more: what else the card is to say of it.
            unseen: further games that it is to play, on which it was not trained.
        """
        seconds = self.seconds()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".* was trained on ", category=UserWarning)
            results = [
                duel(agent, opponent, rules, self.settings.final_deals, seed=self.settings.seed + 2)
                for rules in (*self.rules, *unseen)
                for opponent in self.settings.against
            ]
        self.curve.save(self.out)
        card = {
            "recipe": self.recipe,
            "rules": list(self.rules),
            **more,
            **self.origin,
            "machine": f"{machine()}, {self.settings.threads} threads",
            "seconds": round(seconds, 1),
            "settings": self.settings.plain(),
            "arena": [row_of(result, self.settings.seed + 2) for result in results],
        }
        write_json(self.out / CARD, card)
        write_json(self.out / RESULT, {**card, "pairings": [dataclasses.asdict(result) for result in results]})
        for k in range(0, len(results), len(self.settings.against)):
            pairing_table(results[k : k + len(self.settings.against)])
        self.close()
        if "best after" in more:
            print(f"the network is that after {more['best after']:,} {self.curve.unit}")
        print(f"saved in {self.out}: {NETWORK}, {CARD}, curve.png, result.json")
        return results


def has_checkpoint(settings: RunSettings, resume: bool) -> bool:
    """Say whether a run is taken up from a checkpoint."""
    return resume and (settings.out / CHECKPOINT).exists()


class Diverged(ValueError):
    """A training whose numbers are not finite any more."""


def check_finite(values: Iterable[Any], step: int) -> None:
    """Raise Diverged if a number of these arrays or tensors is not finite.

    Args:
        values: arrays, tensors or numbers.
        step: how far the training is.
    """
    if not all(np.isfinite(value).all() for value in values):
        raise Diverged(
            f"the training has diverged: after {step:,} steps its weights or losses are not finite; a smaller "
            "learning_rate may help"
        )


def is_due(before: int, now: int, whole: int, times: int) -> bool:
    """Say whether one of `times` equal parts of `whole` steps has ended since `before`."""
    return now * times // whole > before * times // whole


def row_of(result: Pairing, seed: int) -> dict[str, Any]:
    """Return what a card says of a result."""
    return {
        "rules": result.rules,
        "against": result.b,
        "deals": result.deals,
        "seed": seed,
        "margin": round(result.margin, 4),
        "interval": [round(result.low, 4), round(result.high, 4)],
    }


def command_line() -> str | None:
    """Return the command that runs, without the place of its results; None if it is not `scopa`."""
    if Path(sys.argv[0]).name != "scopa":
        return None
    return shlex.join(["scopa", *without_place(sys.argv[1:])])


def without_place(words: Sequence[str]) -> list[str]:
    """Return the words of a command line without --out, its value and --overwrite."""
    kept: list[str] = []
    for k, word in enumerate(words):
        of_place = word in ("--out", "--overwrite") or word.startswith("--out=")
        if not of_place and (k == 0 or words[k - 1] != "--out"):
            kept.append(word)
    return kept


def machine() -> str:
    """Return the processor in words."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()
