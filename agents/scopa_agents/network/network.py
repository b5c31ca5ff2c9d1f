"""`MoveNetwork`: the weights of a network that says what a position after a move is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from scopa_agents.network.features import NUM_FEATURES

Array = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class MoveNetwork:
    """A network from the features of a position (`scopa_agents.network.features`) to its value in points.

    Rectified linear units between the layers; the last layer has one.

    Attributes:
        layers: weight float32[out, in] and bias float32[out] of each layer.
        notes: what else is known about it.
    """

    layers: Sequence[tuple[Array, Array]]
    notes: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def zeros(cls, hidden: Sequence[int]) -> MoveNetwork:
        """Return a network whose every weight is zero."""
        widths = [NUM_FEATURES, *hidden, 1]
        return cls([(np.zeros((b, a), np.float32), np.zeros(b, np.float32)) for a, b in zip(widths, widths[1:])])

    @property
    def widest(self) -> int:
        """Units of the widest layer."""
        return max(len(bias) for _, bias in self.layers)

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """What kernels take: float32[in, out] of the first layer; float32[..], its bias, then weights (in, out) and
        bias of each later one; int64[L], the units of the layers.
        """
        rest = [self.layers[0][1]]
        for weight, bias in self.layers[1:]:
            rest += [weight.T.ravel(), bias]
        return (
            np.ascontiguousarray(self.layers[0][0].T, np.float32),
            np.concatenate(rest).astype(np.float32),
            np.array([len(bias) for _, bias in self.layers], np.int64),
        )
