"""Scopa, Scopone and Escoba: one compiled rules engine and the environments that stand on it."""

from __future__ import annotations

import gymnasium
import pettingzoo

from scopa_env.actions import IllegalAction, Move
from scopa_env.aec import env, raw_env
from scopa_env.agents import Agent, AgentError, BatchAgent, make_agent
from scopa_env.game import Game, Outcome, View, VoidDeal
from scopa_env.notation import AmbiguousMove, IllegalMove, NotationError, PositionError
from scopa_env.presets import PRESETS
from scopa_env.rules import Rules, RulesError
from scopa_env.single import ScopaEnv

__version__ = "0.1.0"

__all__ = [
    "PRESETS",
    "Agent",
    "AgentError",
    "AmbiguousMove",
    "BatchAgent",
    "Game",
    "IllegalAction",
    "IllegalMove",
    "Move",
    "NotationError",
    "Outcome",
    "PositionError",
    "Rules",
    "RulesError",
    "ScopaEnv",
    "View",
    "VoidDeal",
    "env",
    "make_agent",
    "raw_env",
]

ENV_IDS = {
    "Scopa-v0": "scopa",
    "Scopone-v0": "scopone",
    "ScoponeScientifico-v0": "scopone_scientifico",
    "Escoba-v0": "escoba",
}
"""Registered environments and their default rules."""


def _register() -> None:
    """Register the environments with Gymnasium, and with PettingZoo's registry where it has one."""
    for name, rules in ENV_IDS.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="scopa_env.single:ScopaEnv",
                vector_entry_point="scopa_env.vector:ScopaVectorEnv",
                kwargs={"rules": rules},
            )
        if name not in getattr(pettingzoo, "aec_registry", {name: None}):
            pettingzoo.register("aec", name, entry_point="scopa_env.aec:env", kwargs={"rules": rules})


_register()
