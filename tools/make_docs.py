"""Write the generated pages of docs/: run ``python tools/make_docs.py`` after a change of the observation."""

from __future__ import annotations

from pathlib import Path

from scopa_env.observation import RULE_BITS, VERSION, observation_size, observation_table

DOCS = Path(__file__).resolve().parent.parent / "docs"


def observation_page() -> str:
    """Return the page that describes observations, generated from `scopa_env.observation`."""
    parts = [
        "# Observations",
        f"Layout version {VERSION}. Generated from `scopa_env.observation` by `python tools/make_docs.py`.",
        "Every feature is 0 or 1 (int8). Seats and sides are relative to the observer: 0 is the observer, or its side; "
        "1 the next in playing order. Cards are in the order of their ids (`10 * suit + value - 1`, suits coins, cups, "
        "swords, clubs). Numbers are thermometer codes (n ones, then zeros) that saturate. The layout depends on the "
        "number of players only. `observation.PIECES[players][name].of(vector)` cuts a piece out.",
    ]
    for players in (2, 3, 4, 6):
        parts.append(f"## {players} players: {observation_size(players)} features")
        parts.append(observation_table(players))
    parts.append("## The piece `rules`")
    parts.append("\n".join(f"{index}. `{text}`" for index, text in enumerate(RULE_BITS)))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    (DOCS / "observation.md").write_text(observation_page(), encoding="utf-8")
