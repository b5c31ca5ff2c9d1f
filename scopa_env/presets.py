"""The presets: what each source says, as changes to the default rules, and where each field comes from.

Explicit text overrides; silence takes the family default (the common game of Scopa or Escoba), except that a source
which names no void deal has none.  `source_of` tells for each field of a preset which of these it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Preset:
    """One game.

    Attributes:
        title: what the game is, in a few words.
        source: where its rules come from.
        family: the common game whose rules fill what the source leaves open: ``scopa`` or ``escoba``.
        fields: the fields in which it differs from the default rules, or that its source states.
        states: further fields whose default value the source states in its text.
        notes: source of single fields where it is not `source`.
    """

    title: str
    source: str
    family: str
    fields: Mapping[str, Any]
    states: tuple[str, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)


_TEAMS = {"players": 4, "teams": True}
_NO_VOID = {"redeal_kings": "the source names no void deal"}
_COMMON = (
    "players teams ranks suits hand_size table_size capture sweep_points cards_points coins_points settebello_points"
)
_SCOPA = (*_COMMON.split(), "priority", "obligation", "primiera_points")
_ESCOBA = (*_COMMON.split(), "priority", "obligation")
_ESCOBA_RULES = {"capture": "fifteen", "priority": "none", "obligation": "none", "redeal_kings": 0}

_STARGAMES = "StarGames help page (Polish)"
_GAMERULES = "GameRules.com (Czech)"
_ESCOBA_SITE = "an Escoba site (Portuguese)"
_BGA = "BoardGameArena help page"
_GERMAN = "a German worksheet"
_PRACTICE = "general practice"
_OPEN_PRIMIERA = {"primiera_faces": "the source is silent: the usual values"}
_LITERAL_SWEEP = {
    "last_sweep": "general practice; the source denies a point only for the leftovers: 'counts' is its literal text"
}

_stargames_scopa = {"obligation": "hand", "redeal_kings": 0, "target": 11, "primiera_missing": "more_suits"}
_stargames_escoba = {
    **_ESCOBA_RULES,
    "dealer_bonus": {15: 1, 20: 2},
    "target": 21,
    "primiera_missing": "more_suits",
}
_stargames_escoba_notes = {
    **_NO_VOID,
    **_OPEN_PRIMIERA,
    **_LITERAL_SWEEP,
    "obligation": "the source is silent: the family default of Escoba",
    "dealer_bonus": f"{_STARGAMES}, as printed there (general practice has 30, not 20)",
}
_german = {"obligation": "hand", "redeal_kings": 0, "primiera_missing": "zero"}
_bga_notes = {
    "target": "the source is silent: the family default",
    "obligation": "the source is silent: the family default",
    "table_deal": f"{_BGA}: before, interleaved or after are all allowed",
}
_MINI = {
    "suits": 2,
    "ranks": 4,
    "hand_size": 2,
    "table_size": 2,
    "deals": 1,
    "redeal_kings": 0,
    "settebello_points": 0,
    "primiera_points": 0,
}

PRESETS: Mapping[str, Preset] = {
    "scopa": Preset("the common game", f"{_PRACTICE} (pagat and Wikipedia agree)", "scopa", {}),
    "stargames_scopa": Preset(
        "a card is laid only if no hand card captures; more suits win the primiera",
        _STARGAMES,
        "scopa",
        _stargames_scopa,
        _SCOPA,
        {**_NO_VOID, **_OPEN_PRIMIERA, **_LITERAL_SWEEP},
    ),
    "stargames_scopa_4p": Preset(
        "the same for two teams of two",
        _STARGAMES,
        "scopa",
        {**_stargames_scopa, **_TEAMS},
        _SCOPA,
        {**_NO_VOID, **_OPEN_PRIMIERA, **_LITERAL_SWEEP},
    ),
    "stargames_escoba": Preset(
        "fifteen; dealer bonus 15:1 and 20:2 as printed; primiera",
        _STARGAMES,
        "escoba",
        _stargames_escoba,
        (*_ESCOBA, "primiera_points"),
        _stargames_escoba_notes,
    ),
    "stargames_escoba_4p": Preset(
        "the same for two teams of two",
        _STARGAMES,
        "escoba",
        {**_stargames_escoba, **_TEAMS},
        (*_ESCOBA, "primiera_points"),
        _stargames_escoba_notes,
    ),
    "gamerules_scopa": Preset(
        "three kings on the table void the deal",
        _GAMERULES,
        "scopa",
        {"redeal_kings": 3, "target": 11},
        _SCOPA,
        {**_OPEN_PRIMIERA, **_LITERAL_SWEEP},
    ),
    "gamerules_scopa_4p": Preset(
        "the same for two teams of two",
        _GAMERULES,
        "scopa",
        {"redeal_kings": 3, "target": 11, **_TEAMS},
        _SCOPA,
        {**_OPEN_PRIMIERA, **_LITERAL_SWEEP},
    ),
    "gamerules_scopa_short": Preset(
        "the same without the faces: 28 cards",
        _GAMERULES,
        "scopa",
        {"redeal_kings": 0, "target": 11, "ranks": 7},
        _SCOPA,
        {"redeal_kings": "no kings in the short deck", **_OPEN_PRIMIERA, **_LITERAL_SWEEP},
    ),
    "escoba_site": Preset(
        "fifteen, optional capture; sevens, and one more for all four",
        _ESCOBA_SITE,
        "escoba",
        {
            **_ESCOBA_RULES,
            "primiera_points": 0,
            "sevens_points": 1,
            "all_sevens_bonus": 1,
            "target": 21,
        },
        (*_ESCOBA, "last_sweep"),
        {
            **_NO_VOID,
            "dealer_bonus": "the source knows no dealer bonus",
            "target": "the source is silent: 21 is ours",
        },
    ),
    "bga_scopa": Preset(
        "three kings void the deal; no sweep on the last play",
        _BGA,
        "scopa",
        {"redeal_kings": 3, "target": 11},
        (*_SCOPA, "last_sweep"),
        _bga_notes,
    ),
    "bga_scopa_4p": Preset(
        "the same for two teams of two",
        _BGA,
        "scopa",
        {"redeal_kings": 3, "target": 11, **_TEAMS},
        (*_SCOPA, "last_sweep"),
        _bga_notes,
    ),
    "german": Preset(
        "a card is laid only if no hand card captures; a missing suit counts 0; to 31",
        _GERMAN,
        "scopa",
        {**_german, "target": 31},
        (*_SCOPA, "primiera_faces"),
        {**_NO_VOID, **_LITERAL_SWEEP},
    ),
    "german_4p": Preset(
        "the same for two teams of two; partner_hand_visible by agreement",
        _GERMAN,
        "scopa",
        {**_german, "target": 31, **_TEAMS},
        (*_SCOPA, "primiera_faces", "partner_hand_visible"),
        {**_NO_VOID, **_LITERAL_SWEEP},
    ),
    "german_best_of_3": Preset(
        "the same, best of three sets to 11",
        _GERMAN,
        "scopa",
        {**_german, "target": 11, "sets_to_win": 2},
        (*_SCOPA, "primiera_faces"),
        {**_NO_VOID, **_LITERAL_SWEEP},
    ),
    "escoba": Preset(
        "the common game: fifteen, optional capture, dealer bonus 15:1 and 30:2, sevens, to 15",
        _PRACTICE,
        "escoba",
        {
            **_ESCOBA_RULES,
            "dealer_bonus": {15: 1, 30: 2},
            "primiera_points": 0,
            "sevens_points": 1,
            "target": 15,
        },
    ),
    "scopone": Preset(
        "four players, nine cards each and four on the table, to 21",
        "FIGS rules",
        "scopa",
        {**_TEAMS, "hand_size": 9, "table_size": 4, "target": 21},
        (*_SCOPA, "redeal_kings"),
    ),
    "scopone_scientifico": Preset(
        "four players, ten cards each, empty table, to 21",
        "Italian practice",
        "scopa",
        {**_TEAMS, "hand_size": 10, "table_size": 0, "redeal_kings": 0, "target": 21},
        _SCOPA,
        {"redeal_kings": "no cards are dealt to the table"},
    ),
    "asso_piglia_tutto": Preset(
        "the ace takes all, a sweep point for it",
        "Italian practice",
        "scopa",
        {"ace": "takes_all", "ace_scopa": True, "ace_facing_ace": "ace_only"},
    ),
    "scopa_dassi": Preset(
        "the ace takes all, no sweep point for it; napola, to 31",
        "Italian practice",
        "scopa",
        {
            "ace": "takes_all",
            "ace_scopa": False,
            "ace_facing_ace": "ace_only",
            "napola": True,
            "target": 31,
        },
    ),
    "mini_scopa": Preset(
        "8 cards, 2 in hand, 2 on the table, one deal; small enough for exact equilibria",
        "ours",
        "scopa",
        _MINI,
    ),
    "mini_scopa_12": Preset(
        "the same with 12 cards in three suits",
        "ours",
        "scopa",
        {**_MINI, "suits": 3},
    ),
}
"""The presets by name."""


def source_of(name: str, field_name: str) -> str:
    """Return where the value of a field of the preset `name` comes from."""
    preset = PRESETS[name]
    if field_name in preset.notes:
        return preset.notes[field_name]
    if field_name in preset.fields or field_name in preset.states:
        return preset.source
    if preset.family == "escoba" and field_name in PRESETS["escoba"].fields:
        return "family default: the common game of Escoba"
    return "family default: the common game of Scopa"
