"""Writing files whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def check_folder(path: Path) -> None:
    """Raise an OSError if `path` cannot be a file: to be called before long work whose result goes there."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {str(path.parent)!r}")
    if path.is_dir():
        raise IsADirectoryError(f"{path}: is a folder, not a file")
    if path.exists() and not path.is_file():
        raise OSError(f"{path}: is no ordinary file, and would be replaced by one")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a path to write to; what is there takes the place of `path` when the block ends, unless by an error.

    A link stays: the file that it leads to is replaced.
    """
    path = path.resolve() if path.is_symlink() else path
    check_folder(path)
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
