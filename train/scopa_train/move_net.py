"""The torch side of move networks: the module, its training on labels, and the way to `MoveNetwork`."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

from scopa_agents.learned import load_model
from scopa_agents.network.features import FEATURES, NUM_FEATURES, NUM_WORDS
from scopa_agents.network.files import Layers
from scopa_agents.network.network import MoveNetwork
from scopa_env.packing import unpack
from scopa_env.rules import Rules
from scopa_train.checkpoint import CheckpointError
from scopa_train.labels import Labels
from scopa_train.run import check_finite

LEARNED = "learned:"
"""May stand before the name of a network to start from, as before that of an agent."""
ACTIVE = 150
"""About how many features are on, for the size of the first weights."""
PRECISIONS = ("auto", "float32", "bfloat16")


def make_module(hidden: Sequence[int]) -> torch.nn.Sequential:
    """Return an untrained module: features to `hidden` units to the value, rectified linear between."""
    widths = [NUM_FEATURES, *hidden, 1]
    layers: list[torch.nn.Module] = []
    for before, after in pairwise(widths):
        linear = torch.nn.Linear(before, after)
        torch.nn.init.kaiming_normal_(linear.weight, nonlinearity="relu")
        torch.nn.init.zeros_(linear.bias)
        layers += [linear, torch.nn.ReLU()]
    with torch.no_grad():
        layers[0].weight.mul_((NUM_FEATURES / ACTIVE) ** 0.5)  # type: ignore[operator]
        layers[-2].weight.mul_(0.1)  # type: ignore[operator]
    return torch.nn.Sequential(*layers[:-1])


def network_of(state: Mapping[str, torch.Tensor], rules: Sequence[Rules], notes: Mapping[str, str]) -> MoveNetwork:
    """Return the weights of a module's state as a `MoveNetwork`."""
    names = [name.removesuffix(".weight") for name in state if name.endswith(".weight")]
    layers = [
        tuple(state[f"{name}.{part}"].detach().float().cpu().numpy().copy() for part in ("weight", "bias"))
        for name in names
    ]
    return MoveNetwork(layers, tuple(rules), notes)  # type: ignore[arg-type]


def network_to_start_from(name: str) -> MoveNetwork:
    """Return the move network that a training is to begin with.

    Args:
        name: of a shipped network, or of a file.

    Raises:
        ValueError: there is none of that name, or it is of another kind.
    """
    network = load_model(name.removeprefix(LEARNED))
    if not isinstance(network, MoveNetwork):
        raise ValueError(f"start={name!r}: allowed is a network of exit or dmc; this is a policy")
    return network


def check_start(start: str, out: Path) -> None:
    """Raise a ValueError if the file that a training starts from lies where its results go."""
    file = Path(start.removeprefix(LEARNED))
    if start and file.exists() and file.resolve().is_relative_to(out.resolve()):
        raise ValueError(f"start={start!r}: lies in out={str(out)!r}; allowed is another folder for one of them")


def device_of_choice() -> torch.device:
    """Return the GPU if torch sees one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def has_fast_bfloat16(device: torch.device) -> bool:
    """Say whether products of bfloat16 are faster than of float32 there: GPUs, and CPUs with tiles for them (AMX)."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return bool(torch.cpu._is_amx_tile_supported())  # no public name for it yet


def expand(words: np.ndarray[Any, np.dtype[np.uint64]], device: torch.device) -> torch.Tensor:
    """Return packed features, uint64[N, W], as uint8[N, NUM_FEATURES] on a device."""
    if device.type == "cpu":
        return torch.from_numpy(unpack(words, NUM_FEATURES))
    packed = torch.from_numpy(words.view(np.int64)).to(device)
    shifts = torch.arange(64, device=device)
    return (packed[..., None] >> shifts & 1).flatten(-2)[..., :NUM_FEATURES].to(torch.uint8)


@contextmanager
def no_denormals() -> Iterator[None]:
    """Take numbers that are too small for full precision as 0.

    Adam's averages for features that are seldom on become so small, and arithmetic with them is slow.
    """
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


class Fit:
    """Regression of a module on labels, with a moving average of its weights.

    The loss of a move is its squared error, plus `centred` times that after the mean error of its decision is taken
    off: what counts for play is the difference between moves, and that has less noise, as they share their worlds.

    Args:
        module: the module.
        learning_rate: of Adam at the start.
        centred: weight of the second part.
        decay: of the moving average, for each step.
        precision: float32, bfloat16 (products only) or auto: bfloat16 where it is faster.
    """

    def __init__(
        self, module: torch.nn.Module, learning_rate: float, centred: float, decay: float, precision: str
    ) -> None:
        self.device = device_of_choice()
        self.module = module.to(self.device)
        self.optimizer = torch.optim.Adam(module.parameters(), lr=learning_rate, fused=True)
        self.learning_rate, self.centred, self.decay = learning_rate, centred, decay
        if precision == "auto":
            precision = "bfloat16" if has_fast_bfloat16(self.device) else "float32"
        self.precision = precision
        self.average = copy.deepcopy(module.state_dict())
        self.seen = np.zeros(NUM_WORDS, np.uint64)
        self.steps = 0

    def begin_with(self, layers: Layers, name: str) -> None:
        """Take the weights of a network in the place of the first ones.

        Args:
            layers: the weights.
            name: of the setting that says how wide the layers are.

        Raises:
            ValueError: the network has other layers.
        """
        tensors = [torch.from_numpy(array) for layer in layers for array in layer]
        mine = self.module.state_dict()
        if [tensor.shape for tensor in tensors] != [tensor.shape for tensor in mine.values()]:
            here, there = ([len(bias) for bias in some[1:-1:2]] for some in (list(mine.values()), tensors))
            raise ValueError(f"{name}={here}: allowed is {there}, what the network to start from has")
        self.module.load_state_dict(dict(zip(mine, tensors, strict=True)))
        self.average = copy.deepcopy(self.module.state_dict())
        on = np.zeros(64 * NUM_WORDS, bool)
        on[:NUM_FEATURES] = layers[0][0].any(axis=0)
        self.seen = np.packbits(on, bitorder="little").view(np.uint64)

    def step(self, words: np.ndarray[Any, Any], values: Any, sizes: Any, rate: float) -> tuple[float, float]:
        """Learn from a batch; return the mean squared errors, plain and centred.

        Args:
            words: uint64[N, W], the moves.
            values: float32[N].
            sizes: int64[D], moves of each decision, in order.
            rate: factor of the learning rate.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate * rate
        self.seen |= np.bitwise_or.reduce(words, axis=0)
        plain, centred = self._errors(words, values, sizes)
        loss = plain + self.centred * centred
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        with no_denormals():
            self.optimizer.step()
        self.steps += 1
        keep = min(self.decay, self.steps / (self.steps + 10))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.values()), list(self.module.parameters()), 1 - keep)
        errors = plain.item(), centred.item()
        check_finite(errors, self.steps)
        return errors

    def _errors(self, words: Any, values: Any, sizes: Any) -> tuple[torch.Tensor, torch.Tensor]:
        features = expand(words, self.device)
        counts = torch.from_numpy(sizes).to(self.device)
        kind = torch.bfloat16 if self.precision == "bfloat16" else torch.float32
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bfloat16"):
            found = self.module(features.to(kind))
        errors = found.float()[:, 0] - torch.from_numpy(values).to(self.device)
        decisions = torch.repeat_interleave(torch.arange(len(counts), device=self.device), counts)
        means = torch.zeros(len(counts), device=self.device).index_add_(0, decisions, errors) / counts
        return (errors**2).mean(), ((errors - means[decisions]) ** 2).mean()

    def weights(self) -> dict[str, torch.Tensor]:
        """Return the average, with zeros for features that were never on: they were learnt nothing about."""
        name, first = next(iter(self.average.items()))
        on = torch.from_numpy(unpack(self.seen[None], NUM_FEATURES)[0]).to(first)
        return {**self.average, name: first * on}

    def state(self) -> dict[str, Any]:
        """Return everything that training goes on from."""
        return {
            "features": FEATURES,
            "seen": self.seen.view(np.int64),
            "module": self.module.state_dict(),
            "average": self.average,
            "optimizer": self.optimizer.state_dict(),
            "steps": self.steps,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` returned.

        Raises:
            CheckpointError: the features are others.
        """
        if state.get("features") != FEATURES:
            raise CheckpointError(f"checkpoint: its features are {state.get('features')!r}; allowed is {FEATURES!r}")
        self.seen = np.array(state["seen"]).view(np.uint64)
        self.module.load_state_dict(state["module"])
        self.average = {name: tensor.to(self.device) for name, tensor in state["average"].items()}
        self.optimizer.load_state_dict(state["optimizer"])
        self.steps = state["steps"]


class Window:
    """The labels to learn from: the latest parts.

    A batch is a run of neighbouring decisions from a random place of each part, as these lie together in memory; so the
    parts must have been shuffled.

    Args:
        parts: labels in random order.
    """

    def __init__(self, parts: Sequence[Labels]) -> None:
        self.parts = [part for part in parts if len(part)]
        sizes = np.array([len(part) for part in self.parts])
        self._shares = sizes / sizes.sum()

    def batch(self, decisions: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
        """Return words, values and sizes of random decisions, as `Fit.step` takes them."""
        words, values, sizes = [], [], []
        for part, count in zip(self.parts, rng.multinomial(decisions, self._shares).tolist(), strict=True):
            first = int(rng.integers(len(part)))
            while count > 0:
                last = min(first + count, len(part))
                rows = slice(int(part.starts[first]), int(part.starts[last]))
                words.append(part.words[rows])
                values.append(part.values[rows])
                sizes.append(np.diff(part.starts[first : last + 1]))
                count -= last - first
                first = 0
        return np.concatenate(words), np.concatenate(values), np.concatenate(sizes)
