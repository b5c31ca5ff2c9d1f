"""`MoveNetwork`: the weights of a network that says what a position after a move is worth."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from scopa_agents.network.features import FEATURES, NUM_FEATURES
from scopa_agents.network.files import (
    RULES_BETWEEN,
    Layers,
    check_notes,
    checked_layers,
    read_model,
    rules_of,
    write_model,
)
from scopa_env.rules import Rules

FORMAT = "scopa-env moves 1"
LATE_PART = "late."
"""Before the names of the tensors of the late network."""
_REQUIRED = {"format": FORMAT, "features": FEATURES}


@dataclass(frozen=True)
class MoveNetwork:
    """A network from the features of a position (`scopa_agents.network.features`) to its value in points.

    Rectified linear units between the layers; the last layer has one.

    Attributes:
        layers: its weights, from the features to one number.
        late: weights of a network of its own for positions with at most `LATE` plays left: in the last deal of two
            players both know all cards, and the value turns on majorities; None: it is the same.
        rules: the rules it was trained on.
        notes: what else is known about it.
    """

    layers: Layers
    rules: tuple[Rules, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    late: Layers | None = None

    @classmethod
    def zeros(cls, hidden: Sequence[int]) -> MoveNetwork:
        """Return a network whose every weight is zero."""
        widths = [NUM_FEATURES, *hidden, 1]
        return cls([(np.zeros((b, a), np.float32), np.zeros(b, np.float32)) for a, b in pairwise(widths)])

    def save(self, path: str | os.PathLike[str], half: bool = False) -> None:
        """Write the network to a safetensors file, whole or not at all; `half`: with weights of 16 bits."""
        rules = RULES_BETWEEN.join(one.text() for one in self.rules)
        parts = {"": self.layers} if self.late is None else {"": self.layers, LATE_PART: self.late}
        write_model(path, parts, {**self.notes, **_REQUIRED, "rules": rules}, half)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MoveNetwork:
        """Read a network.

        Raises:
            ModelError: there is no such file, or it is no move network for this version; the message says why.
        """
        return cls.of(path, *read_model(path))

    @classmethod
    def of(cls, path: object, tensors: Mapping[str, Any], notes: Mapping[str, str]) -> MoveNetwork:
        """Return the network that the content of a file stands for (errors as for `load`)."""
        check_notes(path, notes, _REQUIRED)
        early = {name: tensor for name, tensor in tensors.items() if not name.startswith(LATE_PART)}
        late = {name: tensor for name, tensor in tensors.items() if name.startswith(LATE_PART)}
        return cls(
            checked_layers(path, early, NUM_FEATURES, 1),
            rules_of(path, notes),
            notes,
            checked_layers(path, late, NUM_FEATURES, 1, LATE_PART) if late else None,
        )

    @property
    def widest(self) -> int:
        """Units of the widest layer."""
        return max(len(bias) for _, bias in (*self.layers, *(self.late or ())))

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """What kernels take, of the early and of the late network.

        float32[in, out], the weights of the first layer; float32[..], its bias, then weights (in, out) and bias of each
        later one; int64[L], the units of the layers.
        """
        early = _flat(self.layers)
        return early, early if self.late is None else _flat(self.late)


def _flat(layers: Layers) -> tuple[Any, ...]:
    rest = [layers[0][1]]
    for weight, bias in layers[1:]:
        rest += [weight.T.ravel(), bias]
    return (
        np.ascontiguousarray(layers[0][0].T, np.float32),
        np.concatenate(rest).astype(np.float32),
        np.array([len(bias) for _, bias in layers], np.int64),
    )
