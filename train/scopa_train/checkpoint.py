"""Checkpoints: a tree of arrays, tensors and plain values in one safetensors file, written whole or not at all.

No pickle: a checkpoint can be loaded without running code that is in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from scopa_env.files import whole_file

_TENSOR, _ARRAY, _MAP = "__tensor__", "__array__", "__map__"


class CheckpointError(ValueError):
    """A checkpoint that cannot be read, or that does not fit; the message says why."""


def save_checkpoint(path: Path, tree: Any) -> None:
    """Write a tree of dicts, lists, torch tensors, numpy arrays of numbers and JSON values."""
    tensors: dict[str, torch.Tensor] = {}
    text = json.dumps(_pack(tree, tensors))
    with whole_file(path) as unfinished:
        unfinished.write_bytes(save(tensors, {"tree": text}))


def load_checkpoint(path: Path) -> Any:
    """Return what `save_checkpoint` has written; tensors are on the CPU.

    Raises:
        CheckpointError: there is no such file, or it is none of ours.
    """
    try:
        with safe_open(path, framework="pt") as file:
            text = (file.metadata() or {})["tree"]
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a mapping
        return _unpack(json.loads(text), tensors)
    except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"checkpoint {str(path)!r}: cannot be read ({error})") from None


def _pack(tree: Any, tensors: dict[str, torch.Tensor]) -> Any:
    name = str(len(tensors))
    if isinstance(tree, torch.Tensor):
        tensors[name] = tree.detach().cpu().clone().contiguous()
        return {_TENSOR: name}
    if isinstance(tree, np.ndarray):
        tensors[name] = torch.from_numpy(np.ascontiguousarray(tree))
        return {_ARRAY: name}
    if isinstance(tree, Mapping):
        return {_MAP: [[key, _pack(value, tensors)] for key, value in tree.items()]}
    if isinstance(tree, list | tuple):
        return [_pack(value, tensors) for value in tree]
    if isinstance(tree, np.generic):
        return tree.item()
    return tree


def _unpack(tree: Any, tensors: Mapping[str, torch.Tensor]) -> Any:
    if isinstance(tree, list):
        return [_unpack(value, tensors) for value in tree]
    if not isinstance(tree, dict):
        return tree
    if _MAP in tree:
        return {key: _unpack(value, tensors) for key, value in tree[_MAP]}
    if _TENSOR in tree:
        return tensors[tree[_TENSOR]]
    if _ARRAY in tree:
        return tensors[tree[_ARRAY]].numpy()
    raise ValueError(f"unknown node {sorted(tree)}")
