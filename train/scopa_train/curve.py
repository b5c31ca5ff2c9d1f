"""Learning curves: margins against fixed opponents over the course of a training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scopa_agents.arena import Pairing
from scopa_env.files import whole_file
from scopa_train.report import write_json


class Curve:
    """Points of a learning curve, by opponent."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.points: dict[str, list[dict[str, Any]]] = {}

    def add(self, opponent: str, decisions: int, result: Pairing) -> None:
        """Add the result after `decisions` decisions."""
        point = {"decisions": decisions, "margin": result.margin, "low": result.low, "high": result.high}
        self.points.setdefault(opponent, []).append(point)

    def save(self, folder: Path) -> None:
        """Write ``curve.json`` and ``curve.png`` into `folder`."""
        write_json(folder / "curve.json", {"title": self.title, "unit": "points a round", "curves": self.points})
        self._draw(folder / "curve.png")

    def _draw(self, path: Path) -> None:
        import matplotlib as mpl

        mpl.use("Agg")
        from matplotlib import pyplot as plt

        figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
        for (opponent, points), color in zip(self.points.items(), ("#0072b2", "#d55e00", "#009e73"), strict=False):
            decisions = [point["decisions"] / 1000 for point in points]
            axes.fill_between(
                decisions, [p["low"] for p in points], [p["high"] for p in points], color=color, alpha=0.2, lw=0
            )
            axes.plot(decisions, [p["margin"] for p in points], "o-", ms=3.5, color=color, label=f"against {opponent}")
        axes.axhline(0, color="0.4", lw=0.8)
        axes.set(
            title=self.title, xlabel="decisions of the learner (thousands)", ylabel="points a round over the opponent"
        )
        axes.legend(loc="best", title="mean and 95 % interval")
        axes.grid(alpha=0.3)
        with whole_file(path) as unfinished:
            figure.savefig(unfinished, dpi=150, format="png")
        plt.close(figure)
