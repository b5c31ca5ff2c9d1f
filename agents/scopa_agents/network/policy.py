"""`Policy`: a network from what a seat observes to the 81 actions, as policy-gradient methods train them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scopa_agents.base import Actions, ArrayAgent
from scopa_agents.network.files import (
    Layers,
    ModelError,
    check_notes,
    checked_layers,
    read_model,
    rules_of,
    write_model,
)
from scopa_agents.network.ranks import FEATURES, feature_size, observed_features
from scopa_env import batch, observation
from scopa_env.actions import NUM_ACTIONS
from scopa_env.engine.state import Records
from scopa_env.rules import Rules

FORMAT = "scopa-env policy 1"
_REQUIRED = {"format": FORMAT, "observation_version": str(observation.VERSION), "features": FEATURES}


@dataclass(frozen=True)
class Policy:
    """A network from observations to the logits of the actions, tanh between its layers.

    Attributes:
        layers: its weights, from the features to the 81 logits.
        rules: the rules it was trained on.
        notes: what else is known about it.
    """

    layers: Layers
    rules: Rules
    notes: Mapping[str, str] = field(default_factory=dict)

    def logits(self, observations: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return float32[N, 81] for observations [N, D]."""
        hidden = observed_features(self.rules, observations)
        for weight, bias in self.layers[:-1]:
            hidden = np.tanh(hidden @ weight.T + bias)
        weight, bias = self.layers[-1]
        return np.asarray(hidden @ weight.T + bias)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy to a safetensors file, whole or not at all."""
        write_model(path, {"": self.layers}, {**self.notes, **_REQUIRED, "rules": self.rules.text()})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """Read a policy.

        Raises:
            ModelError: there is no such file, or it is no policy for this version; the message says why.
        """
        return cls.of(path, *read_model(path))

    @classmethod
    def of(cls, path: object, tensors: Mapping[str, Any], notes: Mapping[str, str]) -> Policy:
        """Return the policy that the content of a file stands for (errors as for `load`)."""
        check_notes(path, notes, _REQUIRED)
        rules = rules_of(path, notes)[0]
        return cls(checked_layers(path, tensors, feature_size(rules.players), NUM_ACTIONS), rules, notes)


class PolicyAgent(ArrayAgent):
    """Plays the legal action with the largest logit of a policy."""

    def __init__(self, policy: Policy, name: str = "policy") -> None:
        self.policy = policy
        self.name = name

    def check_rules(self, rules: Rules) -> None:
        """Warn if the policy was trained on other rules.

        Raises:
            ModelError: it was trained for another number of players.
        """
        trained = self.policy.rules
        if rules.players != trained.players:
            raise ModelError(f"agent {self.name!r}: trained for {trained.players} players, not {rules.players}")
        if rules != trained:
            warnings.warn(f"agent {self.name!r} was trained on {trained} and plays {rules}", stacklevel=2)

    def seed(self, seed: int | None) -> None:
        """Do nothing: the agent is deterministic, and need not be made again to be seeded."""

    def act_batch(self, rules: Rules, views: Records) -> Actions:
        """Return the legal action with the largest logit in each game, int64[N].

        Raises:
            ModelError: the policy was trained for another number of players.
        """
        if rules.players != self.policy.rules.players:
            self.check_rules(rules)
        observations, masks = observe_batch(rules, views)
        logits = np.where(masks == 1, self.policy.logits(observations), -np.inf)
        best: Actions = np.argmax(logits, axis=1).astype(np.int64)
        return best


def observe_batch(rules: Rules, views: Records) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return int8[N, D] and int8[N, 81]: what the seat to act in each game observes, and its legal actions."""
    size = observation.observation_size(rules.players)
    seats = views["seat"].astype(np.int64)
    observations = np.empty((len(views), size // 8), np.uint64)
    masks = np.empty((len(views), observation.MASK_ROW // 8), np.uint64)
    scratch = np.empty(observation.words_of(size), np.uint64)
    batch.observe(rules.record, views, seats, scratch, observations)
    batch.masks(rules.record, views, seats, scratch, masks)
    return observations.view(np.int8), masks.view(np.int8)[:, :NUM_ACTIONS]
