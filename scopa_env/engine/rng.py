"""The random generator of one game: SplitMix64, one 64-bit state inside the record.

Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_env.engine.bits import wrapping_add, wrapping_mul
from scopa_env.kernel import kernel

GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_LOW_32 = np.uint64(0xFFFFFFFF)


@kernel
def mix(state: Any) -> Any:
    """Turn a generator state into 64 output bits."""
    z = wrapping_mul(state ^ (state >> _S30), _MIX_1)
    z = wrapping_mul(z ^ (z >> _S27), _MIX_2)
    return z ^ (z >> _S31)


@kernel
def split(seed: Any, index: Any) -> Any:
    """Return the seed of stream `index` (``uint64``) of `seed`: independent streams for the games of a batch."""
    return mix(wrapping_add(mix(wrapping_add(seed, GAMMA)), wrapping_mul(wrapping_add(index, np.uint64(1)), GAMMA)))


@kernel
def random_bits(game: Any) -> Any:
    """Draw 64 random bits from the generator of `game`."""
    game["rng"] = wrapping_add(game["rng"], GAMMA)
    return mix(game["rng"])


@kernel
def random_below(game: Any, count: int) -> int:
    """Draw an int uniformly from 0 .. `count` - 1 (`count` below 2**31), exactly (Lemire's method)."""
    n = np.uint64(count)
    product = (random_bits(game) >> _S32) * n
    if product & _LOW_32 < n:
        threshold = (_LOW_32 - n + np.uint64(1)) % n
        while product & _LOW_32 < threshold:
            product = (random_bits(game) >> _S32) * n
    return int(product >> _S32)
