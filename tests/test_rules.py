"""Rules: presets, text, equality, and what is refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import ALL_PRESETS, SHORT_MATCHES, VARIANTS, refusal
from scopa_env import PRESETS, Game, Rules
from scopa_env.presets import source_of
from scopa_env.rules import FIELD_NAMES, RulesError, preset_rules

pytestmark = pytest.mark.nojit

TEXTS = (*ALL_PRESETS, *VARIANTS, *SHORT_MATCHES)
every_rules = pytest.mark.parametrize("text", TEXTS)


@every_rules
def test_rules_round_trip(text: str) -> None:
    rules = Rules.parse(text)
    assert Rules.parse(rules.text()) == rules
    assert Rules.of(rules) is rules
    assert Rules.of(text) == rules
    assert Rules.of({"preset": "scopa", **rules.changes_from(preset_rules("scopa"))}) == rules
    for twin in (pickle.loads(pickle.dumps(rules)), copy.copy(rules), copy.deepcopy(rules), rules.replace()):
        assert twin == rules
        assert hash(twin) == hash(rules)
        assert twin.text() == rules.text()
        assert twin.record.tobytes() == rules.record.tobytes()


def test_presets_keep_their_name_in_text() -> None:
    assert [Rules.preset(name).text() for name in PRESETS] == list(PRESETS)
    assert Rules.parse("bga_scopa:players=3").text() == "bga_scopa:players=3"


def test_different_rules_differ() -> None:
    distinct = {Rules.parse(text) for text in TEXTS}
    assert len({rules.text() for rules in distinct}) == len(distinct)
    assert Rules.preset("scopa") == Rules.preset("bga_scopa")
    assert Rules.preset("escoba") != Rules.preset("escoba", dealer_bonus={15: 1})
    assert Rules.preset("scopa") != "scopa"


def test_bonus_cannot_be_changed_from_outside() -> None:
    bonus = {15: 1}
    rules = Rules.preset("escoba", dealer_bonus=bonus)
    bonus[20] = 2
    assert rules.dealer_bonus == {15: 1}
    with pytest.raises(TypeError):
        rules.dealer_bonus[20] = 2  # type: ignore[index]
    with pytest.raises(AttributeError):
        rules.target = 5  # type: ignore[misc]


def test_numpy_numbers_and_spellings_become_plain_values() -> None:
    rules = Rules.parse("scopa:players=4,teams=YES,napola=true,target=0021")
    assert rules == Rules.preset("scopa", players=4, teams=True, napola=True, target=21)
    assert type(Rules(target=np.int64(5)).target) is int  # type: ignore[arg-type]
    assert Rules.parse(" scopa : target = 5 ").target == 5
    assert Rules.parse("escoba:dealer_bonus=").dealer_bonus == {}
    assert Rules.parse("scopa:") == Rules()


@every_rules
def test_sizes(text: str) -> None:
    rules = Rules.parse(text)
    assert rules.sides == (2 if rules.teams else rules.players)
    assert len(rules.deck) == rules.suits * rules.ranks
    dealt = rules.table_size + rules.num_plays
    assert dealt <= len(rules.deck)
    assert rules.deals or dealt == len(rules.deck)


def test_every_field_of_every_preset_has_a_source() -> None:
    for name in PRESETS:
        for field in FIELD_NAMES:
            assert source_of(name, field)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"players": 5}, "players=5: allowed are 2, 3, 4, 6"),
    ({"players": True}, "players=True: allowed are 2, 3, 4, 6"),
    ({"players": "2"}, "players='2': allowed are 2, 3, 4, 6"),
    ({"teams": True}, "teams=True: allowed with 4 or 6 players, not with players=2"),
    ({"teams": True, "players": 3}, "teams=True: allowed with 4 or 6 players, not with players=3"),
    ({"teams": 1, "players": 4}, "teams=1: allowed are False, True"),
    ({"ranks": 0}, "ranks=0: allowed are whole numbers 1 .. 10"),
    ({"suits": 5}, "suits=5: allowed are whole numbers 1 .. 4"),
    ({"hand_size": 2.0}, "hand_size=2.0: allowed are whole numbers 1 .. 20"),
    ({"hand_size": 5}, "hand_size=5: allowed is a divisor: 40 cards less table_size=4"),
    ({"hand_size": 20}, "hand_size=20: needs 44 cards"),
    ({"table_size": -1}, "table_size=-1: allowed are whole numbers 0 .. 38"),
    ({"table_size": 5}, "hand_size=3: allowed is a divisor: 40 cards less table_size=5"),
    ({"deals": 7}, "deals=7: needs 46 cards"),
    ({"deals": None}, "deals=None: allowed are whole numbers 0 .. 20"),
    ({"table_deal": "first"}, "table_deal='first': allowed are 'after', 'before', 'interleaved'"),
    ({"redeal_kings": 5}, "redeal_kings=5: allowed are whole numbers 0 .. 4"),
    (
        {"redeal_kings": 2, "table_size": 38, "hand_size": 1},
        "redeal_kings=2: every deal would be void; allowed is 0 or more than 2",
    ),
    ({"dealer_bonus": 15}, "dealer_bonus=15: allowed is a mapping of sums 1 .. 220 to sweeps 1 .. 20"),
    ({"dealer_bonus": {0: 1}}, "dealer_bonus={0: 1}: allowed is a mapping"),
    ({"dealer_bonus": {15: 0}}, "dealer_bonus={15: 0}: allowed is a mapping"),
    ({"dealer_bonus": {"15": 1}}, "dealer_bonus={'15': 1}: allowed is a mapping"),
    ({"dealer_bonus": {15: True}}, "dealer_bonus={15: True}: allowed is a mapping"),
    ({"capture": "sum"}, "capture='sum': allowed are 'match_or_sum', 'fifteen'"),
    ({"capture": "fifteen"}, "priority='single': allowed with capture='fifteen' is 'none'"),
    (
        {"capture": "fifteen", "priority": "none", "ace": "takes_all"},
        "ace='takes_all': allowed with capture='fifteen' is 'normal'",
    ),
    ({"priority": None}, "priority=None: allowed are 'single', 'fewest', 'none'"),
    ({"obligation": "must"}, "obligation='must': allowed are 'card', 'hand', 'none'"),
    ({"ace": "all"}, "ace='all': allowed are 'normal', 'takes_all'"),
    ({"ace_facing_ace": "one"}, "ace_facing_ace='one': allowed are 'ace_only', 'all'"),
    ({"ace_scopa": 0}, "ace_scopa=0: allowed are False, True"),
    ({"ace_on_empty": "lay"}, "ace_on_empty='lay': allowed are 'place', 'bank'"),
    ({"last_sweep": True}, "last_sweep=True: allowed are 'not_last_play', 'not_last_hand', 'counts'"),
    *[
        ({name: 21}, f"{name}=21: allowed are whole numbers 0 .. 20")
        for name in FIELD_NAMES
        if name.endswith("_points") or name == "all_sevens_bonus"
    ],
    ({"napola": "yes"}, "napola='yes': allowed are False, True"),
    ({"majority": "most"}, "majority='most': allowed are 'plurality', 'absolute'"),
    ({"primiera_missing": 0}, "primiera_missing=0: allowed are 'disqualify', 'more_suits', 'zero'"),
    ({"primiera_faces": 5}, "primiera_faces=5: allowed are 0, 10"),
    ({"partner_hand_visible": None}, "partner_hand_visible=None: allowed are False, True"),
    ({"target": 0}, "target=0: allowed are whole numbers 1 .. 10000"),
    ({"target": 10**30}, f"target={10**30}: allowed are whole numbers 1 .. 10000"),
    ({"target_tie": "level"}, "target_tie='level': allowed are 'play_on', 'draw'"),
    ({"target_tie": "draw", "sets_to_win": 2}, "target_tie='draw': allowed with sets_to_win=1, not 2"),
    ({"sets_to_win": 0}, "sets_to_win=0: allowed are whole numbers 1 .. 100"),
]


@pytest.mark.parametrize(("fields", "message"), REFUSED, ids=[str(fields) for fields, _ in REFUSED])
def test_a_refusal_names_field_value_and_what_is_allowed(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(RulesError) as caught:
        Rules(**fields)
    assert message in str(caught.value)


def test_every_field_is_refused_once() -> None:
    assert {name for fields, _ in REFUSED for name in fields} == set(FIELD_NAMES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "rules '': allowed are scopa, "),
        ("scoppa", "rules 'scoppa': did you mean 'scopa'?"),
        ("scopa:playrs=2", "rules field 'playrs' in 'scopa:playrs=2': did you mean 'players'?"),
        ("scopa:players", "rules field 'players' in 'scopa:players'"),
        ("scopa:,", "rules field ''"),
        ("scopa:label=escoba", "rules field 'label'"),
        ("scopa:target=5,target=6", "rules field 'target' in 'scopa:target=5,target=6': named twice"),
        ("scopa:target=five", "target='five': allowed are whole numbers"),
        ("scopa:target=\u0663", "target='\u0663': allowed are whole numbers"),
        ("scopa:target=" + "9" * 5000, "target='9999"),
        ("scopa:teams=maybe", "teams='maybe': allowed are False, True"),
        ("escoba:dealer_bonus=15", "dealer_bonus='15': allowed is SUM:SWEEPS+SUM:SWEEPS"),
        ("escoba:dealer_bonus=15:1+15:2", "dealer_bonus='15:1+15:2': allowed is"),
        ("escoba:dealer_bonus=" + "9" * 5000 + ":1", "dealer_bonus='9999"),
        (None, "rules None: expected text"),
    ],
)
def test_text_is_refused(text: Any, message: str) -> None:
    with pytest.raises(RulesError) as caught:
        Rules.parse(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [5, None, ["scopa"], {"preset": "no"}, {"field": 1}, {3: 3}, {"name": "scopa"}, {"label": 1}],
)
def test_other_forms_are_refused(value: Any) -> None:
    with pytest.raises(RulesError, match="allowed are"):
        Rules.of(value)
    with pytest.raises(RulesError, match="allowed are"):
        Game(value)


def test_unknown_names_are_refused() -> None:
    for refused in (
        lambda: Rules.preset("nothing"),
        lambda: Rules.preset(["scopa"]),  # type: ignore[arg-type]
        lambda: Rules.preset("scopa", plyers=2),
        lambda: Rules.from_fields({"x": 1}),
        lambda: Rules().replace(x=1),
        lambda: Rules(label="x"),
    ):
        with pytest.raises(RulesError, match="allowed are"):
            refused()


@given(
    st.text()
    | st.builds(
        lambda name, parts: f"{name}:{','.join(f'{key}={value}' for key, value in parts)}",
        st.sampled_from(["scopa", "escoba", "mini_scopa", "x", ""]),
        st.lists(st.tuples(st.sampled_from(FIELD_NAMES), st.text(max_size=4) | st.integers(-1, 50) | st.booleans())),
    )
)
def test_any_text_is_read_or_refused(text: str) -> None:
    message = refusal(RulesError, Rules.parse, text)
    if message is None:
        rules = Rules.parse(text)
        assert Rules.parse(rules.text()) == rules
    else:
        assert "allowed" in message or "twice" in message or "needs" in message


ANYTHING = st.none() | st.booleans() | st.integers() | st.text()


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(FIELD_NAMES, ANYTHING)))
def test_any_value_is_taken_or_refused(fields: dict[str, Any]) -> None:
    message = refusal(RulesError, lambda: Rules(**fields))
    if message is None:
        rules = Rules(**fields)
        assert all(getattr(rules, name) == value for name, value in fields.items())
    else:
        assert any(f"{name}=" in message for name in FIELD_NAMES)
