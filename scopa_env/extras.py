"""What is said where a package of an extra is missing."""

from __future__ import annotations


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra of this package.

    Args:
        extra: its name in ``pyproject.toml``.
    """
    return f"pip install 'scopa-env[{extra}]', in a checkout pip install '.[{extra}]'"
