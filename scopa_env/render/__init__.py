"""Pictures of a table."""

from __future__ import annotations

RENDER_MODES = ("ansi",)


def check_render_mode(mode: str | None) -> str | None:
    """Return `mode` if it is None or one of RENDER_MODES, else raise a ValueError."""
    if mode is not None and mode not in RENDER_MODES:
        raise ValueError(f"render_mode={mode!r}: allowed are None, {', '.join(map(repr, RENDER_MODES))}")
    return mode
