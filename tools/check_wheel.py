"""Check that a wheel holds the three packages with their type markers and nothing else.

Usage: python tools/check_wheel.py scopa_env-*.whl
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import PurePosixPath

PACKAGES = frozenset({"scopa_env", "scopa_agents", "scopa_train"})


def top_level_names(files: list[str]) -> set[str]:
    """Return what `files` of a wheel put at the top of site-packages, its own metadata aside."""
    names = {PurePosixPath(file).parts[0] for file in files}
    return {name for name in names if not name.endswith(".dist-info")}


def problems(files: list[str]) -> list[str]:
    """Return what is wrong with a wheel of these files, one line each."""
    found = []
    names = top_level_names(files)
    if extra := sorted(names - PACKAGES):
        found.append(f"top-level names that do not belong there: {', '.join(extra)}")
    if missing := sorted(PACKAGES - names):
        found.append(f"packages that are missing: {', '.join(missing)}")
    found.extend(
        f"{package}/py.typed is missing: type checkers would ignore the package"
        for package in sorted(PACKAGES & names)
        if f"{package}/py.typed" not in files
    )
    return found


def main(arguments: list[str]) -> int:
    """Check each wheel named on the command line; return the exit status."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    status = 0
    for path in arguments:
        try:
            with zipfile.ZipFile(path) as wheel:
                found = problems(wheel.namelist())
        except (OSError, zipfile.BadZipFile) as error:
            print(f"{path}: not a readable wheel: {error}", file=sys.stderr)
            return 2
        for problem in found:
            print(f"{path}: {problem}", file=sys.stderr)
        if found:
            status = 1
        else:
            print(f"{path}: holds {', '.join(sorted(PACKAGES))} and nothing else")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
