"""The notes of `expert` on one decision: a record on the stack, because kernels cannot allocate."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # numba's own dependency
from numba import from_dtype
from numba.core import config
from numba.extending import intrinsic

from scopa_env.cards import NUM_CARDS

VALUES = 11
"""Card values 1 .. 10 as places of an array; place 0 is not used."""

NOTES = np.dtype(
    [
        # what the seat to act knows, the same for every move
        ("unseen", "u8"),  # cards that may be in another hand or in the stock
        ("count", "i8"),  # their number
        ("number", "i8", VALUES),  # of them by value
        ("worth", "f8", NUM_CARDS),  # by card, of those the move is about: half the points between owning and losing it
        # values, as bits, of the unseen cards, of the own hand and of the helper's if it is known
        ("held_values", "u8"),
        ("taken", "u8"),  # cards in all piles
        ("seven", "f8"),  # what an unseen seven gains by capturing
        ("each", "f8"),  # what any card is worth at least
        ("left", "i8"),  # plays of the round after this one
        ("next_held", "i8"),  # cards that the next seat holds at its turn
        ("next_doubt", "i8"),  # values, as bits, that it probably lacks
        ("next_sweep", "f8"),  # what a sweep of its is worth, in points
        ("helper_held", "i8"),  # cards that the helper, the next seat of the own side, holds at its turn
        ("helper_doubt", "i8"),  # values, as bits, that it probably lacks
        ("helper_known", "i8"),  # whether its hand is known
        ("helper_sweep", "f8"),  # what a sweep of its is worth, in points
        ("trust", "f8"),  # how likely a doubted value is held, compared with the others
        ("odd_pays", "f8"),  # points for each value of which an odd number has been taken
        # of one move
        ("hand", "u8"),  # own cards after it
        ("helper_hand", "u8"),  # the helper's cards if they are known
        ("total", "i8"),  # sum of the table that it leaves
        ("sums", "f8", 16),  # worth of the best set of table cards by its sum
        ("match", "f8", VALUES),  # worth of the best table card by value
        ("plain", "f8", VALUES),  # by value played: worth of the best capture, below 0 if there is none
        ("gain", "f8", VALUES),  # the same with a sweep and with what that leaves
    ],
    align=True,
)


def _plain_notes() -> Any:
    return np.zeros(1, NOTES)[0]


def _notes(typingctx: Any) -> Any:
    record = from_dtype(NOTES)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        with builder.goto_entry_block():
            memory = builder.alloca(ir.ArrayType(ir.IntType(8), NOTES.itemsize))
        memory.align = 64
        return memory

    return record(), codegen


new_notes: Any = _plain_notes if getattr(config, "DISABLE_JIT", 0) else intrinsic(_notes)
"""Return a NOTES record of any content, which lives until the kernel that asks for it returns."""
