"""Compiled policies: a kernel that decides, called from the compiled loops of environments by its address.

One loop serves every policy that way and is compiled and cached once; handed in as a function, a policy would cost a
compilation of the loop in every process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numba
from llvmlite import ir  # numba's own dependency
from numba import types
from numba.extending import intrinsic

from scopa_env.engine.bits import twin
from scopa_env.engine.state import GAME, PLAYING, RULES
from scopa_env.kernel import kernel

_RULES = numba.from_dtype(RULES)
_GAME = numba.from_dtype(GAME)

_plain: dict[int, Callable[[Any, Any], int]] = {}
"""Address -> policy where the JIT is off: numbers of our own instead of addresses."""


class Policy:
    """A policy for compiled loops.

    Args:
        action: a kernel; ``action(rules, game)`` gets a RULES and a GAME record, stripped of what the seat to act
            cannot see, and returns its next action, an int of ``Discrete(81)``.  Random choices come from
            ``game["rng"]``, the policy's own generator.  The record may be written to.
    """

    def __init__(self, action: Callable[[Any, Any], int]) -> None:
        self.action = action

    def __getstate__(self) -> dict[str, Any]:
        return {"action": self.action}  # an address means nothing in another process

    @cached_property
    def address(self) -> int:
        """What `call_policy` needs; compiled, or loaded from the cache, when it is asked for first."""
        if not hasattr(self.action, "overloads"):  # the JIT is off
            _plain[len(_plain) + 1] = self.action
            return len(_plain)
        action: Any = self.action
        action.compile((_RULES, _GAME))
        compiled = action.overloads[(_RULES, _GAME)]
        if types.unliteral(compiled.signature.return_type) != types.int64:  # type: ignore[no-untyped-call]
            raise TypeError(f"policy {action.__name__}: returns {compiled.signature.return_type}, not int64")
        return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name))


def call_policy(address: int, rules: Any, games: Any, index: int) -> int:
    """Return the next action in ``games[index]`` by the policy at `address` (see `Policy`).

    Args:
        address: `Policy.address`.
        rules: RULES[1].
        games: GAME[N].
        index: the game.
    """
    return int(_plain[int(address)](rules[0], games[index]))


def _call(typingctx: Any, address: Any, rules: Any, games: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        arrays = [context.make_array(signature.args[k])(context, builder, value=args[k]) for k in (1, 2)]
        record = builder.bitcast(arrays[0].data, context.get_value_type(_RULES))
        game = builder.bitcast(builder.gep(arrays[1].data, [args[3]]), context.get_value_type(_GAME))
        kind = ir.FunctionType(context.get_value_type(types.int64), [record.type, game.type])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), [record, game])

    return types.int64(types.int64, rules, games, types.intp), codegen


_compiled_call: Any = intrinsic(_call)
twin(call_policy, lambda address, rules, games, index: _compiled_call(address, rules, games, index))


@kernel
def decide(address: int, rules: Any, views: Any, out: Any) -> None:
    """Write the next action of a policy in each game.

    Args:
        address: `Policy.address`.
        rules: RULES[1].
        views: GAME[N], stripped; may be written to.
        out: int64[N], written; 0 where the round is over.
    """
    for i in range(len(views)):
        out[i] = 0
        if views[i]["stage"] == PLAYING:
            out[i] = call_policy(address, rules, views, i)
