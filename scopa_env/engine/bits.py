"""Sets of cards as bits of a ``uint64``; each primitive is plain Python with a compiled twin.

The twins exist because numpy scalars and machine words differ where Python has no fixed width: the plain versions
run with ``NUMBA_DISABLE_JIT=1`` and define what the compiled ones must do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # numba's own dependency
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

Mask = np.uint64
"""A set of cards: bit `i` is card `i`."""

NONE = np.uint64(0)
ONE = np.uint64(1)
_WORD = (1 << 64) - 1


def popcount(mask: Any) -> int:
    """Return the number of cards in `mask`."""
    return int(mask).bit_count()


def lowest(mask: Any) -> int:
    """Return the smallest card id in `mask`, which must not be empty."""
    value = int(mask)
    return (value & -value).bit_length() - 1


def highest(mask: Any) -> int:
    """Return the largest card id in `mask`, which must not be empty."""
    return int(mask).bit_length() - 1


def bit(index: int) -> Any:
    """Return the set that holds card `index` alone."""
    return np.uint64(1 << int(index))


def below(count: int) -> Any:
    """Return the set of the cards 0 .. `count` - 1 (`count` at most 63)."""
    return np.uint64((1 << int(count)) - 1)


def word(value: int) -> Any:
    """Turn a small non-negative int into a ``uint64``."""
    return np.uint64(int(value))


def signed(value: Any) -> int:
    """Return an integer with a sign: compiled, ``int`` of an unsigned field has none, and a difference wraps around."""
    return int(value)


def wrapping_add(a: Any, b: Any) -> Any:
    """Add modulo 2**64."""
    return np.uint64((int(a) + int(b)) & _WORD)


def wrapping_mul(a: Any, b: Any) -> Any:
    """Multiply modulo 2**64."""
    return np.uint64((int(a) * int(b)) & _WORD)


def spread_byte(value: Any) -> Any:
    """Return eight bytes, each 0 or 1, in memory in the order of the low eight bits of `value`, as one word."""
    bits = [int(value) >> place & 1 for place in range(8)]
    return np.uint64(int.from_bytes(bytes(bits), sys.byteorder))


def store_spread_word(out: Any, at: int, value: Any) -> None:
    """Write 64 bytes, each 0 or 1, in the order of the bits of `value`, to the words `at` .. `at` + 7 of `out`."""
    for place in range(8):
        out[at + place] = spread_byte(int(value) >> 8 * place)


def _spread(builder: Any, value: Any, count: int) -> Any:
    """Turn an integer of `count` bits into a vector of `count` bytes (the first is that of the lowest bit)."""
    bits = builder.bitcast(value, ir.VectorType(ir.IntType(1), count))
    return builder.zext(bits, ir.VectorType(ir.IntType(8), count))


def _spread_byte(typingctx: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = _spread(builder, builder.trunc(args[0], ir.IntType(8)), 8)
        return builder.bitcast(found, ir.IntType(64))

    return types.uint64(types.uint64), codegen


def _store_spread_word(typingctx: Any, out: Any, at: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, value=args[0])
        place = builder.gep(array.data, [args[1]])
        found = _spread(builder, args[2], 64)
        builder.store(found, builder.bitcast(place, found.type.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(out, types.intp, types.uint64), codegen


_compiled_spread_byte: Any = intrinsic(_spread_byte)
_compiled_store_spread_word: Any = intrinsic(_store_spread_word)


def _unary(build: Callable[[Any, Any], Any]) -> Any:
    @intrinsic
    def function(typingctx: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return build(builder, args[0])

        return types.int64(types.uint64), codegen

    return function


_ctpop = _unary(lambda builder, x: builder.ctpop(x))
_cttz = _unary(lambda builder, x: builder.cttz(x, cgutils.true_bit))
_ctlz = _unary(lambda builder, x: builder.ctlz(x, cgutils.true_bit))


def twin(plain: Callable[..., Any], compiled: Callable[..., Any]) -> None:
    """Let kernels call `compiled` where they say `plain`; both must name their arguments alike."""
    arguments = ", ".join(compiled.__code__.co_varnames[: compiled.__code__.co_argcount])
    template = eval(f"lambda {arguments}: compiled", {"compiled": compiled})
    overload(plain, inline="always")(template)


twin(popcount, lambda mask: _ctpop(np.uint64(mask)))
twin(lowest, lambda mask: _cttz(np.uint64(mask)))
twin(highest, lambda mask: 63 - _ctlz(np.uint64(mask)))
twin(bit, lambda index: np.uint64(1) << np.uint64(index))
twin(below, lambda count: (np.uint64(1) << np.uint64(count)) - np.uint64(1))
twin(word, lambda value: np.uint64(value))
twin(signed, lambda value: np.int64(value))
twin(wrapping_add, lambda a, b: np.uint64(a) + np.uint64(b))
twin(wrapping_mul, lambda a, b: np.uint64(a) * np.uint64(b))
twin(spread_byte, lambda value: _compiled_spread_byte(np.uint64(value)))
twin(store_spread_word, lambda out, at, value: _compiled_store_spread_word(out, at, np.uint64(value)))
