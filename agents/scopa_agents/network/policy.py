"""`Policy`: a network from what a seat observes to the 81 actions, as policy-gradient methods train them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scopa_agents.base import Actions, ArrayAgent, observe_batch
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
from scopa_env import observation
from scopa_env.actions import NUM_ACTIONS
from scopa_env.engine.state import Records, copy_of
from scopa_env.game import View, view_to_act
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

    def probabilities(
        self, observations: np.ndarray[Any, Any], masks: np.ndarray[Any, Any], temperature: float = 1.0
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the probabilities of actions, float64[N, 81], 0 for those that are illegal.

        Args:
            observations: [N, D].
            masks: [N, 81], 1 for legal actions, of which each row has one at least.
            temperature: of the softmax; 0: the action with the largest logit alone.
        """
        logits = np.where(masks == 1, self.logits(observations).astype(np.float64), -np.inf)
        if temperature == 0:
            return np.asarray(np.eye(NUM_ACTIONS)[np.argmax(logits, axis=1)])
        shares = np.exp((logits - logits.max(axis=1, keepdims=True)) / temperature)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

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
    """Plays by a policy: the legal action with the largest logit, or one drawn by its probabilities.

    Args:
        policy: the policy.
        name: name of the agent.
        temperature: of the softmax by which actions are drawn, 1 as in training; 0: the most probable one is played.
        seed: seed of the draws.
    """

    def __init__(
        self, policy: Policy, name: str = "policy", *, temperature: float = 0.0, seed: int | None = None
    ) -> None:
        if not 0 <= temperature < float("inf"):
            raise ModelError(f"agent {name!r}: temperature={temperature}: allowed are numbers from 0")
        self.policy = policy
        self.name = name
        self.temperature = temperature
        self.seed(seed)

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
        """Start the draws afresh."""
        self._rng = np.random.default_rng(seed)

    def probabilities(self, rules: Rules, views: Records) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the probabilities with which each game's next action is played, float64[N, 81].

        Raises:
            ModelError: the policy was trained for another number of players.
        """
        if rules.players != self.policy.rules.players:
            self.check_rules(rules)
        return self.policy.probabilities(*observe_batch(rules, views), self.temperature)

    def action_probabilities(self, view: View) -> dict[int, float]:
        """Return the probabilities of the next action of the observer of `view`, which is to act."""
        shares = self.probabilities(view.rules, copy_of(view_to_act(self.name, view).records))[0]
        return {int(action): float(shares[action]) for action in np.flatnonzero(shares)}

    def act_batch(self, rules: Rules, views: Records) -> Actions:
        """Return the next action in each game, int64[N].

        Raises:
            ModelError: the policy was trained for another number of players.
        """
        shares = self.probabilities(rules, views)
        if self.temperature == 0:
            return np.asarray(np.argmax(shares, axis=1), np.int64)
        sums = shares.cumsum(axis=1)  # an illegal action adds nothing, so it is never the first above
        return np.asarray((sums <= self._rng.random((len(sums), 1)) * sums[:, -1:]).sum(axis=1), np.int64)
