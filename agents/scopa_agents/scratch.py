"""Working memory of a kernel: a short array on the stack, because kernels cannot allocate."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir  # numba's own dependency
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

SIZE = 96


def _plain_scratch() -> Any:
    return np.empty(SIZE)


def _scratch(typingctx: Any) -> Any:
    array = types.Array(types.float64, 1, "C")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        made = context.make_array(array)(context, builder)
        memory = cgutils.alloca_once(builder, ir.DoubleType(), size=SIZE)
        size = context.get_constant(types.intp, SIZE)
        step = context.get_constant(types.intp, 8)
        context.populate_array(made, data=memory, shape=[size], strides=[step], itemsize=step, meminfo=None)
        return made._getvalue()

    return array(), codegen


scratch: Any = _plain_scratch if numba.config.DISABLE_JIT else intrinsic(_scratch)
"""Return float64[SIZE] of any content, which lives until the kernel that asks for it returns."""
