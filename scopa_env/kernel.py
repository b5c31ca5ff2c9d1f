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
    """Every file of this package whose text can become part of a compiled function; of another one every file."""
    if package != PACKAGE:
        return sorted(path for path in package.rglob("*.py") if path.is_file())
    mentions = re.compile(rb"^@(kernel|inlined)\b", re.MULTILINE)
    top = [path for path in package.glob("*.py") if path.is_file() and mentions.search(path.read_bytes())]
    engine = [path for path in (package / "engine").glob("*.py") if path.is_file()]
    return sorted({*top, *engine, package / "cards.py", package / "kernel.py"})


@lru_cache
def source_stamp(package: Path = PACKAGE) -> str:
    """Hash of all kernel sources of `package`, those of this package and the numba version.

    It is what a cached kernel of `package` depends on.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for path in kernel_sources() + (kernel_sources(package) if package != PACKAGE else []):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


@lru_cache
def _package_of(module: str) -> Path | None:
    """Return the folder of the package that `module` belongs to; None if it is in none."""
    name, _, inside = module.partition(".")
    folders = list(getattr(sys.modules.get(name), "__path__", []))
    return Path(folders[0]).resolve() if inside and len(folders) == 1 else None


def _stamp_of(function: Callable[..., Any]) -> str | None:
    """Return the hash of what a compiled `function` depends on; None if that cannot be told.

    That is its own package, this one, and the packages of the kernels that its module names.
    """
    called = [getattr(value, "py_func", None) for value in function.__globals__.values()]
    modules = {function.__module__, *(inner.__module__ for inner in called if inner is not None)}
    packages = {_package_of(module) for module in modules}
    if None in packages:
        return None
    return hashlib.sha256(" ".join(sorted(source_stamp(folder) for folder in packages if folder)).encode()).hexdigest()


def _announce() -> None:
    """Say once a process, on stderr, why the first step takes a while."""
    global _announced
    if not _announced and not os.environ.get("SCOPA_ENV_QUIET"):
        print("scopa_env: compiling what is used for the first time (later runs load it from a cache)", file=sys.stderr)
    _announced = True


class _StampedCache(FunctionCache):
    """numba's file cache whose entries also expire when any kernel source changes."""

    def __init__(self, py_func: Callable[..., Any], stamp: str) -> None:
        super().__init__(py_func)
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
    """Where nothing can be written, or outside packages, every process compiles for itself, and says so."""

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
    stamp = _stamp_of(function)
    if stamp is None:  # a script or a notebook: its own text is not all that it depends on
        return _NoCache()
    try:
        return _StampedCache(function, stamp)
    except RuntimeError:  # numba: "no locator available": nowhere to write
        return _NoCache()
