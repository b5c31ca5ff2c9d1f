"""Writing files whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


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
        os.chmod(unfinished, 0o666 & ~_umask())  # some writers make files that only their owner can read
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def open_alone(path: Path) -> BinaryIO:
    """Open a file to add to it, and keep a second process from doing the same where the system can.

    Raises:
        BlockingIOError: another one has it open.
    """
    file = path.open("ab")
    with suppress(ImportError):
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise BlockingIOError(f"{path}: another run is writing this file") from None
    return file
