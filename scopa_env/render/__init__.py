"""Pictures of a table."""

from __future__ import annotations

RENDER_MODES = ("ansi",)


class RenderModeError(ValueError, TypeError):
    """A render mode that there is not.

    Also a TypeError: stable-baselines3 asks every environment for ``"rgb_array"`` and does without on a TypeError only.
    """


def check_render_mode(mode: str | None) -> str | None:
    """Return `mode` if it is None or one of RENDER_MODES, else raise a RenderModeError."""
    if mode is not None and mode not in RENDER_MODES:
        raise RenderModeError(f"render_mode={mode!r}: allowed are None, {', '.join(map(repr, RENDER_MODES))}")
    return mode
