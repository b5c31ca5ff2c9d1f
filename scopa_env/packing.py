"""Vectors of bits: named pieces of one, packing them into 64-bit words and spreading them to bytes.

Compiled code writes bits through a writer; each word is spread to 64 int8 of 0 or 1, or unpacked with numpy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scopa_env.engine.bits import NONE, below, spread_byte, store_spread_word, word
from scopa_env.kernel import inlined


class Piece(NamedTuple):
    """A named part of a vector of bits.

    Attributes:
        name: its name.
        offset: index of its first feature.
        shape: its shape; features are in C order.
        meaning: what its features say.
    """

    name: str
    offset: int
    shape: tuple[int, ...]
    meaning: str

    @property
    def size(self) -> int:
        """Number of features."""
        return int(np.prod(self.shape))

    def of(self, vector: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return this part of `vector` (``[..., D]``) in its shape."""
        part = vector[..., self.offset : self.offset + self.size]
        return part.reshape(*vector.shape[:-1], *self.shape)


def lay_out(parts: list[tuple[str, tuple[int, ...], str]]) -> tuple[Piece, ...]:
    """Return pieces one after the other, of name, shape and meaning."""
    pieces: list[Piece] = []
    offset = 0
    for name, shape, meaning in parts:
        pieces.append(Piece(name, offset, shape, meaning))
        offset += pieces[-1].size
    return tuple(pieces)


def words_of(size: int) -> int:
    """Return the number of 64-bit words that hold `size` features."""
    return -(-size // 64)


@inlined
def spread(words: Any, out: Any) -> None:
    """Write one int8 of 0 or 1 for each bit.

    Args:
        words: uint64[W], the bits.
        out: uint64[B], C-contiguous: the memory of int8[8 * B], with 8 * B <= 64 * W; written.
    """
    whole = len(out) >> 3
    for k in range(whole):
        store_spread_word(out, 8 * k, words[k])
    for k in range(8 * whole, len(out)):
        out[k] = spread_byte(words[whole] >> word((k & 7) * 8))


# A writer of bits is a pair: how many are written, and those of the word that is not full yet.


@inlined
def put(words: Any, writer: Any, value: Any, length: int) -> Any:
    """Write the `length` (at most 64) low bits of `value`, which has no others; return the writer after it."""
    at, unfinished = writer
    shift = at & 63
    unfinished |= value << word(shift)
    at += length
    if shift + length >= 64:
        words[(at >> 6) - 1] = unfinished
        left = at & 63
        unfinished = value >> word(length - left) if left > 0 else NONE
    return at, unfinished


@inlined
def put_number(words: Any, writer: Any, number: int, length: int) -> Any:
    """Write a thermometer code."""
    return put(words, writer, below(min(max(int(number), 0), length)), length)


@inlined
def finish(words: Any, writer: Any) -> int:
    """Write the last word, filled up with zeros; return the number of bits written."""
    at, unfinished = writer
    if at & 63:
        words[at >> 6] = unfinished
    return int(at)


def unpack(words: np.ndarray[Any, np.dtype[np.uint64]], size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return packed bits as one uint8 of 0 or 1 each.

    With torch, on any device, from ``words.view(numpy.int64)``: ``shifts = torch.arange(64)``, then
    ``(words[..., None] >> shifts & 1).flatten(-2)[..., :size]``.

    Args:
        words: uint64[..., W], bit `k` of word `w` is feature ``64 * w + k``.
        size: number of features: `observation_size`, or 81 for masks.

    Returns:
        uint8[..., size].

    Raises:
        ValueError: other words, or more features than they hold.
    """
    if words.dtype != np.uint64 or not 0 < size <= 64 * words.shape[-1]:
        raise ValueError(f"words {words.dtype}{words.shape}, size={size}: expected uint64[..., W] and 1 .. 64 * W")
    words = np.ascontiguousarray(words, "<u8")
    return np.unpackbits(words.view(np.uint8), axis=-1, count=size, bitorder="little")


def piece_table(pieces: tuple[Piece, ...]) -> str:
    """Return pieces as a Markdown table."""
    rows = ["| features | piece | shape | meaning |", "|---|---|---|---|"]
    for piece in pieces:
        shape = " x ".join(map(str, piece.shape))
        span = f"{piece.offset} .. {piece.offset + piece.size - 1}"
        rows.append(f"| {span} | `{piece.name}` | {shape} | {piece.meaning} |")
    return "\n".join(rows)
