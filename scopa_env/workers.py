"""Threads that step slices of a batch side by side.

A step of a few thousand games takes some hundred microseconds, and to wake a sleeping thread, or to get hold of the
interpreter's lock, may take as long.  So a thread stays in compiled code, without that lock, looks for orders there,
and sleeps only when none has come for a while.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from queue import SimpleQueue
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from scopa_env.engine.bits import twin
from scopa_env.kernel import inlined, kernel
from scopa_env.run import random_actions, step

END, STEP, DRAW = 0, 1, 2
"""What a thread is to do: to end, to take the actions of its slice, to draw random ones."""

SPINS = 2_000_000
"""How often a thread looks for orders before it sleeps: about a millisecond or less."""
_LINE = 8
"""Words between two cells that different threads write: a cache line."""


def load_now(cells: Any, at: int) -> int:
    """Return a word of int64[N] as it is in memory; another thread may write to it."""
    return int(cells[at])


def store_now(cells: Any, at: int, value: int) -> None:
    """Write a word of int64[N], after everything that was written before."""
    cells[at] = value


def _load_now(typingctx: Any, cells: Any, at: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, value=args[0])
        return builder.load_atomic(builder.gep(array.data, [args[1]]), "acquire", 8)

    return types.int64(cells, types.intp), codegen


def _store_now(typingctx: Any, cells: Any, at: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, value=args[0])
        builder.store_atomic(args[2], builder.gep(array.data, [args[1]]), "release", 8)
        return context.get_dummy_value()

    return types.void(cells, types.intp, types.int64), codegen


def give_way() -> None:
    """Let another thread run on this core, if one waits for it."""
    time.sleep(0)


_sched_yield = types.ExternalFunction("sched_yield", types.int32())  # of the C library
_compiled_load_now: Any = intrinsic(_load_now)
_compiled_store_now: Any = intrinsic(_store_now)
twin(load_now, lambda cells, at: _compiled_load_now(cells, at))
twin(give_way, (lambda: _sched_yield()) if os.name == "posix" else (lambda: None))
twin(store_now, lambda cells, at, value: _compiled_store_now(cells, at, np.int64(value)))


@kernel
def appears(cells: Any, at: int, value: int, spins: int) -> bool:
    """Say whether cells[at] becomes `value` while one looks `spins` times."""
    looked = 0
    while load_now(cells, at) != value:
        looked += 1
        if looked >= spins:
            return False
        if looked % 1024 == 0:
            give_way()
    return True


@inlined
def _obey(what: int, part: Any, drawn: Any) -> None:
    """Do what is ordered for a slice: `part` are the arguments of `step`, the fourth the runs."""
    if what == STEP:
        step(*part)
    if what == DRAW:
        random_actions(part[3], drawn)


@kernel
def serve(
    orders: Any,
    done: Any,
    cell: int,
    current: int,
    spins: int,
    part: Any,
    drawn: Any,
) -> int:
    """Do what is ordered for a slice of a batch, until no order has come for a while.

    Args:
        orders: int64[..], written by the ordering thread: in `cell` the number of the order, behind it what to do.
        done: int64[..], written: in `cell` the number of the last order that was done.
        cell: the place of this thread in both.
        current: number of the next order.
        spins: how often to look for it.
        part: the arguments of `scopa_env.run.step` for the slice.
        drawn: int64[N], written by DRAW.

    Returns:
        The number of the next order; 0 after END.
    """
    while appears(orders, cell, current, spins):
        what = load_now(orders, cell + 1)
        if what == END:
            return 0
        _obey(what, part, drawn)
        store_now(done, cell, current)
        current += 1
    return current


@kernel
def lead(
    orders: Any,
    done: Any,
    what: int,
    spins: int,
    part: Any,
    drawn: Any,
) -> bool:
    """Order something for all slices, do it for the first one, and wait a while for the others (see `serve`).

    In one piece, so that no exception, such as a person's Ctrl-C, comes between the parts.
    """
    orders[0] += 1
    for cell in range(_LINE, len(orders), _LINE):
        orders[cell + 1] = what
        store_now(orders, cell, orders[0])
    _obey(what, part, drawn)
    return all_done(orders, done, spins)


@kernel
def all_done(orders: Any, done: Any, spins: int) -> bool:
    """Say whether all slices are done with the last order while one looks `spins` times for each."""
    for cell in range(_LINE, len(orders), _LINE):
        if not appears(done, cell, orders[0], spins):
            return False
    return True


class Workers:
    """Threads for all slices of a batch but the first, which the calling thread does itself.

    Args:
        parts: for each slice the arguments of `scopa_env.run.step`, and int64[N] for the actions that DRAW draws.

    Attributes:
        process: id of the process that the threads belong to; a forked one has none of them.
    """

    def __init__(self, parts: Sequence[tuple[Any, ...]]) -> None:
        self.process = os.getpid()
        self._parts = list(parts)
        self._orders = np.zeros(len(parts) * _LINE, np.int64)
        self._done = np.zeros(len(parts) * _LINE, np.int64)
        self._asleep = [False] * len(parts)
        self._beds: list[SimpleQueue[None]] = [SimpleQueue() for _ in parts]
        serve(self._orders, self._done, 0, 1, 0, *self._parts[0])  # compiled before the threads need it
        for place in range(1, len(parts)):
            threading.Thread(target=self._work, args=(place,), daemon=True, name="scopa_env").start()

    def step(self) -> None:
        """Take the actions in all slices."""
        self._run(STEP)

    def draw(self) -> None:
        """Draw random actions in all slices."""
        self._run(DRAW)

    def close(self) -> None:
        """End the threads."""
        if self.process == os.getpid():
            self._wake()
            lead(self._orders, self._done, END, 0, *self._parts[0])
            self._wake()

    def _run(self, what: int) -> None:
        self._wake()
        try:
            lead(self._orders, self._done, what, SPINS, *self._parts[0])
        finally:
            self._wait()

    def _wait(self) -> None:
        """Wait until all slices are done, also if a person interrupts: then no slice may be behind another."""
        interrupt: BaseException | None = None
        while True:
            try:
                if all_done(self._orders, self._done, SPINS):
                    break
                self._wake()
                time.sleep(0)  # the threads may need the interpreter to wake up
            except BaseException as error:  # Ctrl-C, or whatever a signal's handler raises
                interrupt = error
        if interrupt is not None:
            raise interrupt

    def _wake(self) -> None:
        for place in range(1, len(self._parts)):
            if self._asleep[place]:
                self._beds[place].put(None)

    def _work(self, place: int) -> None:
        orders, part = self._orders, self._parts[place]
        current = 1
        while current := serve(orders, self._done, place * _LINE, current, SPINS, *part):
            self._asleep[place] = True
            if orders[place * _LINE] != current:  # not ordered meanwhile
                self._beds[place].get()
            self._asleep[place] = False
