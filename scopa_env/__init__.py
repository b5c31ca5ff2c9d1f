"""Scopa, Scopone and Escoba: one compiled rules engine and the environments that stand on it."""

from __future__ import annotations

__version__ = "0.1.0"

from scopa_env.game import Game, View
from scopa_env.actions import Move
from scopa_env.rules import PRESETS, Rules

__all__ = ["PRESETS", "Game", "Move", "Rules", "View"]
