"""`learned:PATH`: a policy network from a file, run with numpy alone.

The file is safetensors: ``layers.0.weight`` (float32[out, in]), ``layers.0.bias`` .. up to the 81 logits, tanh
between them,
and metadata that say what the network was trained on and which features it reads.  Nothing in it can run code.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from scopa_agents.base import Actions, ArrayAgent
from scopa_agents.features import FEATURES, PAIR_SUMS, feature_size, rank_features
from scopa_env import batch, observation
from scopa_env.actions import NUM_ACTIONS
from scopa_env.agents import AgentError
from scopa_env.engine.state import Records
from scopa_env.files import whole_file
from scopa_env.rules import Rules

Layers = list[tuple[np.ndarray[Any, np.dtype[np.float32]], np.ndarray[Any, np.dtype[np.float32]]]]
"""Weight float32[out, in] and bias float32[out] of each layer, from the features to the 81 logits."""


class ModelError(AgentError):
    """A model file that cannot be used; the message names it and says why."""


@dataclass(frozen=True)
class Policy:
    """A network from observations to the logits of the actions, tanh between its layers.

    Attributes:
        layers: its weights.
        rules: the rules it was trained on.
        notes: what else is known about it.
    """

    layers: Layers
    rules: Rules
    notes: Mapping[str, str] = field(default_factory=dict)

    def logits(self, observations: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return float32[N, 81] for observations [N, D]."""
        seen = observations.astype(np.float32)
        fifteen = self.rules.capture == "fifteen"
        hidden = rank_features(seen, self.rules.players, fifteen, PAIR_SUMS, np.concatenate).astype(np.float32)
        for weight, bias in self.layers[:-1]:
            hidden = np.tanh(hidden @ weight.T + bias)
        weight, bias = self.layers[-1]
        return np.asarray(hidden @ weight.T + bias)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy to a safetensors file, whole or not at all."""
        tensors = {}
        for index, (weight, bias) in enumerate(self.layers):
            tensors[f"layers.{index}.weight"] = np.ascontiguousarray(weight, np.float32)
            tensors[f"layers.{index}.bias"] = np.ascontiguousarray(bias, np.float32)
        metadata = {**self.notes, **_REQUIRED, "rules": self.rules.text()}
        with whole_file(Path(path)) as unfinished:
            unfinished.write_bytes(save(tensors, metadata))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """Read a policy.

        Raises:
            ModelError: there is no such file, or it is no policy for this version; the message says why.
        """
        try:
            with safe_open(path, framework="numpy") as file:
                notes = dict(file.metadata() or {})
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a mapping
            rules = Rules.parse(notes.get("rules", ""))
        except (OSError, SafetensorError, ValueError, TypeError) as error:
            raise ModelError(f"model {str(path)!r}: cannot be read ({error})") from None
        _check_metadata(path, notes)
        return cls(_checked_layers(path, tensors, rules.players), rules, notes)


_REQUIRED = {
    "format": "scopa-env policy 1",
    "observation_version": str(observation.VERSION),
    "features": FEATURES,
}


def _check_metadata(path: object, notes: Mapping[str, str]) -> None:
    for name, wanted in _REQUIRED.items():
        if notes.get(name) != wanted:
            raise ModelError(f"model {str(path)!r}: {name} is {notes.get(name)!r}; allowed is {wanted!r}")


def _checked_layers(path: object, tensors: dict[str, Any], players: int) -> Layers:
    """Return the layers in order; every tensor must be there and fit its neighbours."""
    layers: Layers = []
    width = feature_size(players)
    while f"layers.{len(layers)}.weight" in tensors:
        name = f"layers.{len(layers)}"
        weight, bias = tensors.pop(f"{name}.weight"), tensors.pop(f"{name}.bias", None)
        fits = weight.ndim == 2 and weight.shape[1] == width and bias is not None and bias.shape == weight.shape[:1]
        if not fits or weight.dtype != np.float32 or not np.isfinite(weight).all() or not np.isfinite(bias).all():
            raise ModelError(
                f"model {str(path)!r}: {name} does not fit: finite float32 weight [n, {width}] and bias [n]"
            )
        layers.append((weight, bias))
        width = weight.shape[0]
    if not layers or width != NUM_ACTIONS or tensors:
        extra = f"; not understood: {', '.join(sorted(tensors))}" if tensors else ""
        raise ModelError(f"model {str(path)!r}: {len(layers)} layers end in {width} outputs, not {NUM_ACTIONS}{extra}")
    return layers


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


class LearnedAgent(PolicyAgent):
    """A policy from a file.

    Args:
        settings: path of the file.
        seed: not used; the agent is deterministic.
    """

    def __init__(self, settings: str = "", *, seed: int | None = None) -> None:
        if not settings:
            raise ModelError("agent 'learned': give the path of a model file, learned:PATH")
        super().__init__(Policy.load(settings), f"learned:{settings}")


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
