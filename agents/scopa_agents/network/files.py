"""Model files: safetensors with the layers of a network and what it was trained on.  Nothing in them can run code.

Tensors are ``layers.0.weight`` ([out, in], float32 or float16), ``layers.0.bias`` and so on; the metadata name the kind
of network, the features that it reads, the rules and, as notes, the recipe.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from scopa_env.agents import AgentError
from scopa_env.files import whole_file
from scopa_env.rules import Rules

Array = np.ndarray[Any, np.dtype[np.float32]]
Layers = Sequence[tuple[Array, Array]]
"""Weight float32[out, in] and bias float32[out] of each layer."""
MOST_WIDTH = 1 << 14
"""Units of a layer, at most."""


class ModelError(AgentError):
    """A model file that cannot be used; the message names it and says why."""


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the tensors and the metadata of a model file.

    Raises:
        ModelError: there is no such file, or it is none.
    """
    if Path(path).is_dir():
        raise ModelError(f"model {str(path)!r}: is a folder; allowed is a file, such as network.safetensors of a run")
    try:
        with safe_open(path, framework="numpy") as file:
            notes = dict(file.metadata() or {})
            return {name: file.get_tensor(name) for name in file.keys()}, notes  # noqa: SIM118  # not a mapping
    except (OSError, SafetensorError, ValueError, TypeError) as error:
        raise ModelError(f"model {str(path)!r}: cannot be read ({error})") from None


def write_model(
    path: str | os.PathLike[str], parts: Mapping[str, Layers], notes: Mapping[str, str], half: bool = False
) -> None:
    """Write a model file, whole or not at all.

    Args:
        path: the file.
        parts: the layers of each part of the network, by what stands before the names of its tensors.
        notes: the metadata.
        half: with weights of 16 bits.
    """
    tensors = {}
    for part, layers in parts.items():
        for index, (weight, bias) in enumerate(layers):
            name = f"{part}layers.{index}"
            tensors[f"{name}.weight"] = np.ascontiguousarray(weight, np.float16 if half else np.float32)
            tensors[f"{name}.bias"] = np.ascontiguousarray(bias, np.float32)
    with whole_file(Path(path)) as unfinished:
        unfinished.write_bytes(_in_order(save(tensors, dict(notes))))


def _in_order(content: bytes) -> bytes:
    """Return a safetensors file with its header sorted: equal networks make equal files."""
    size = int.from_bytes(content[:8], "little")
    header = json.dumps(json.loads(content[8 : 8 + size]), sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + content[8 + size :]


def check_notes(path: object, notes: Mapping[str, str], required: Mapping[str, str]) -> None:
    """Raise a ModelError if the metadata are not as `required`."""
    for name, wanted in required.items():
        if notes.get(name) != wanted:
            raise ModelError(f"model {str(path)!r}: {name} is {notes.get(name)!r}; allowed is {wanted!r}")


def rules_of(path: object, notes: Mapping[str, str]) -> tuple[Rules, ...]:
    """Return the rules that a network was trained on."""
    try:
        return tuple(Rules.parse(text) for text in notes["rules"].split(RULES_BETWEEN))
    except (KeyError, ValueError) as error:
        raise ModelError(f"model {str(path)!r}: rules: {error}") from None


RULES_BETWEEN = " "
"""What stands between several rules in the metadata."""


def checked_layers(path: object, tensors: Mapping[str, Any], inputs: int, outputs: int, part: str = "") -> Layers:
    """Return the layers of a part of a network in order, as float32.

    Raises:
        ModelError: a tensor is missing, is no matrix of numbers, does not fit its neighbours, or is not understood.
    """
    layers: list[tuple[Array, Array]] = []
    left = dict(tensors)
    width = inputs
    while f"{part}layers.{len(layers)}.weight" in left:
        name = f"{part}layers.{len(layers)}"
        weight, bias = left.pop(f"{name}.weight"), left.pop(f"{name}.bias", None)
        fits = weight.ndim == 2 and weight.shape[1] == width and bias is not None and bias.shape == weight.shape[:1]
        if not fits or not _numbers(weight) or not _numbers(bias) or not 0 < len(bias) <= MOST_WIDTH:
            raise ModelError(
                f"model {str(path)!r}: {name} does not fit: finite float32 or float16 weight [n, {width}] and bias "
                f"[n], n up to {MOST_WIDTH}"
            )
        layers.append((weight.astype(np.float32), bias.astype(np.float32)))
        width = weight.shape[0]
    if not layers or width != outputs or left:
        extra = f"; not understood: {', '.join(sorted(left))}" if left else ""
        raise ModelError(f"model {str(path)!r}: {len(layers)} layers end in {width} outputs, not {outputs}{extra}")
    return layers


def _numbers(array: Any) -> bool:
    return array.dtype in (np.float32, np.float16) and bool(np.isfinite(array).all())
