"""Learning curves: margins against fixed opponents over the course of a training."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from scopa_agents.arena import Pairing
from scopa_agents.plots import COLORS, picture
from scopa_train.report import write_json


class Curve:
    """Points of a learning curve, by opponent."""

    def __init__(self, title: str, unit: str = "decisions") -> None:
        self.title = title
        self.unit = unit
        self.points: dict[str, list[dict[str, Any]]] = {}

    def add(self, opponent: str, step: int, result: Pairing, seconds: float = 0.0) -> None:
        """Add the result after `step` units, and so many seconds of training."""
        point = {
            self.unit: step,
            "seconds": round(seconds, 1),
            "margin": result.margin,
            "low": result.low,
            "high": result.high,
        }
        self.points.setdefault(opponent, []).append(point)

    def save(self, folder: Path) -> None:
        """Write ``curve.json`` and ``curve.png`` into `folder`."""
        write_json(folder / "curve.json", {"title": self.title, "unit": "points a round", "curves": self.points})
        self._draw(folder / "curve.png")

    def _draw(self, path: Path) -> None:
        most = max((point[self.unit] for points in self.points.values() for point in points), default=0)
        size, word = (1_000_000, "millions") if most >= 5_000_000 else (1000, "thousands")
        with picture(path, 7, 4.2) as (_, axes):
            for (opponent, points), color in zip(self.points.items(), itertools.cycle(COLORS), strict=False):
                steps = [point[self.unit] / size for point in points]
                axes.fill_between(
                    steps, [p["low"] for p in points], [p["high"] for p in points], color=color, alpha=0.2, lw=0
                )
                axes.plot(steps, [p["margin"] for p in points], "o-", ms=3.5, color=color, label=f"against {opponent}")
            axes.axhline(0, color="0.4", lw=0.8)
            axes.set(
                title=self.title,
                xlabel=f"{self.unit} ({word})",
                ylabel="points a round over the opponent",
            )
            axes.legend(loc="best", title="mean and 95 % interval")
            axes.grid(alpha=0.3)
