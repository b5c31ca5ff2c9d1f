"""The one decorator for compiled functions, and the cache they share.

numba's own cache notices an edit of the file that holds a function, not of another file whose functions were
compiled into it.  ``kernel`` therefore stamps the cache with a hash of every source that can end up in a kernel.
With ``NUMBA_DISABLE_JIT=1`` kernels are plain Python functions.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache, NullCache

F = TypeVar("F", bound=Callable[..., Any])
PACKAGE = Path(__file__).resolve().parent
_announced = False


def kernel_sources(package: Path = PACKAGE) -> list[Path]:
    """Every file of `package` whose text can become part of a compiled function."""
    mentions = re.compile(r"^@(kernel|inlined)$|Policy\(", re.MULTILINE)
    top = [path for path in package.glob("*.py") if mentions.search(path.read_text("utf-8"))]
    return sorted({*top, *(package / name for name in ("cards.py", "kernel.py")), *(package / "engine").glob("*.py")})


@lru_cache
def source_stamp(package: Path = PACKAGE) -> str:
    """Hash of all kernel sources of `package`, those of this package and the numba version.

    It is what a cached kernel of `package` depends on.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for path in kernel_sources(PACKAGE) + (kernel_sources(package) if package != PACKAGE else []):
        if path.exists():
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _stamp_of(function: Callable[..., Any]) -> str:
    """Return the stamp of the package that `function` belongs to."""
    top = sys.modules.get(function.__module__.partition(".")[0])
    folders = list(getattr(top, "__path__", []))
    return source_stamp(Path(folders[0]).resolve()) if len(folders) == 1 else source_stamp()


def _announce() -> None:
    """Say once a process, on stderr, why the first step takes a while."""
    global _announced
    if not _announced and not os.environ.get("SCOPA_ENV_QUIET"):
        print("scopa_env: compiling what is used for the first time (later runs load it from a cache)", file=sys.stderr)
    _announced = True


class _StampedCache(FunctionCache):
    """numba's file cache whose entries also expire when any kernel source changes."""

    def __init__(self, py_func: Callable[..., Any]) -> None:
        super().__init__(py_func)
        stamp = _stamp_of(py_func)
        file = self._cache_file
        file._source_stamp = (file._source_stamp, stamp)
        # own data files per stamp: numba writes the index first, and a name used before could still hold old code
        file._data_name_pattern = file._data_name_pattern.replace(".{number", f".{stamp[:12]}.{{number")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        loaded = super().load_overload(sig, target_context)
        if loaded is None:
            _announce()
        return loaded

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:  # a full or read-only disk costs time, never the result
            warnings.warn(f"scopa_env: compiled code is not cached: {error}", stacklevel=2)


class _NoCache(NullCache):
    """Where nothing can be written every process compiles for itself, and says so."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        _announce()
        return super().load_overload(sig, target_context)


def kernel(function: F) -> F:
    """Compile `function` on first call (nogil, cached on disk where a folder can be written).

    Kernels cannot allocate: counting the references of the arrays that they pass to each other costs more than the
    rules, so numba's runtime for it is off.
    """
    return _compiled(function)


def inlined(function: F) -> F:
    """Compile as `kernel` does, into every function that calls this one: its constant arguments become constants."""
    return _compiled(function, forceinline=True)


def _compiled(function: F, **options: bool) -> F:
    njit: Any = numba.njit  # `_nrt` is not in its stubs
    dispatcher = njit(nogil=True, _nrt=False, **options)(function)
    if dispatcher is not function:  # the JIT is not disabled
        dispatcher._cache = _cache_of(function)
    return cast(F, dispatcher)


def _cache_of(function: Callable[..., Any]) -> Any:
    try:
        return _StampedCache(function)
    except RuntimeError:  # numba: "no locator available": nowhere to write
        return _NoCache()
