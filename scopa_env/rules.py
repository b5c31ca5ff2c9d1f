"""The rules as parameters: one frozen dataclass, a preset for every source, and the record that kernels read."""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from scopa_env.cards import to_mask
from scopa_env.engine.state import MAX_SUM, RULES
from scopa_env.presets import PRESETS

PRIMIERA_VALUES = (16, 12, 13, 14, 15, 18, 21)
"""Primiera values of ace, 2 .. 7; faces are worth `primiera_faces`."""


class RulesError(ValueError):
    """Rules that do not exist or cannot be played; names the field, its value and what is allowed."""


def _choice(*options: Any, doc: str) -> dict[str, Any]:
    return {"options": options, "doc": doc}


def _range(low: int, high: int, doc: str) -> dict[str, Any]:
    return {"range": (low, high), "doc": doc}


def _setting(default: Any, check: dict[str, Any]) -> Any:
    return field(default=default, metadata=check)


@dataclass(frozen=True)
class Rules:
    """Every rule that differs between two of the games, as a field.

    A preset by name: ``Rules.preset("escoba")``; changed: ``Rules.preset("scopa", players=3)`` or
    ``rules.replace(target=21)``; from text: ``Rules.parse("scopa:players=3,obligation=hand")``.

    Raises:
        RulesError: a field has a value that is not allowed, or the fields together cannot be dealt.
    """

    players: int = _setting(2, _choice(2, 3, 4, 6, doc="number of seats"))
    teams: bool = _setting(False, _choice(False, True, doc="seats 0, 2, 4 play against 1, 3, 5"))
    ranks: int = _setting(10, _range(1, 10, "cards of a suit: values 1 to this"))
    suits: int = _setting(4, _range(1, 4, "suits: coins, cups, swords, clubs, the first so many"))
    hand_size: int = _setting(3, _range(1, 20, "cards dealt to each hand at a time"))
    table_size: int = _setting(4, _range(0, 38, "cards dealt to the table at the start of a round"))
    deals: int = _setting(0, _range(0, 20, "deals of a round; 0: until the stock is used up"))
    table_deal: str = _setting(
        "after",
        _choice("after", "before", "interleaved", doc="when the table cards are dealt"),
    )
    redeal_kings: int = _setting(3, _range(0, 4, "so many kings on the table make a deal void; 0: never"))
    dealer_bonus: Mapping[int, int] = field(
        default_factory=lambda: MappingProxyType({}),
        metadata={"doc": "sum of the first table cards: sweeps that the dealer's side gets for it"},
        hash=False,
    )
    capture: str = _setting(
        "match_or_sum",
        _choice("match_or_sum", "fifteen", doc="a card takes its value, or what makes 15 with it"),
    )
    priority: str = _setting(
        "single",
        _choice(
            "single",
            "fewest",
            "none",
            doc="single: a matching card comes before sums; fewest: only the smallest sets; none: any",
        ),
    )
    obligation: str = _setting(
        "card",
        _choice(
            "card",
            "hand",
            "none",
            doc="card: a card that can capture must; hand: while a hand card captures, only captures; none: free",
        ),
    )
    ace: str = _setting("normal", _choice("normal", "takes_all", doc="takes_all: an ace takes the table"))
    ace_facing_ace: str = _setting(
        "ace_only",
        _choice("ace_only", "all", doc="what an ace that takes all takes from a table with an ace"),
    )
    ace_scopa: bool = _setting(True, _choice(False, True, doc="whether taking all by the ace rule counts as a sweep"))
    ace_on_empty: str = _setting(
        "place", _choice("place", "bank", doc="an ace on an empty table is laid, or goes to the pile")
    )
    last_sweep: str = _setting(
        "not_last_play",
        _choice(
            "not_last_play",
            "not_last_hand",
            "counts",
            doc="whether the last play, or any of the last deal, can be a sweep",
        ),
    )
    sweep_points: int = _setting(1, _range(0, 20, "points for a sweep"))
    cards_points: int = _setting(1, _range(0, 20, "points for most cards"))
    coins_points: int = _setting(1, _range(0, 20, "points for most coins"))
    settebello_points: int = _setting(1, _range(0, 20, "points for the seven of coins"))
    primiera_points: int = _setting(1, _range(0, 20, "points for the best primiera"))
    sevens_points: int = _setting(0, _range(0, 20, "points for most sevens"))
    all_sevens_bonus: int = _setting(0, _range(0, 20, "points for all sevens of the deck"))
    napola: bool = _setting(False, _choice(False, True, doc="ace, two, three of coins and on: a point for each"))
    re_bello_points: int = _setting(0, _range(0, 20, "points for the king of coins"))
    majority: str = _setting(
        "plurality",
        _choice("plurality", "absolute", doc="absolute: cards and coins need more than half"),
    )
    primiera_missing: str = _setting(
        "disqualify",
        _choice(
            "disqualify",
            "more_suits",
            "zero",
            doc="a pile without a suit: out, behind piles with more suits, or 0 for that suit",
        ),
    )
    primiera_faces: int = _setting(10, _choice(0, 10, doc="primiera value of a face card"))
    partner_hand_visible: bool = _setting(False, _choice(False, True, doc="team-mates see each other's hands"))
    target: int = _setting(11, _range(1, 10_000, "points that win a set"))
    target_tie: str = _setting("play_on", _choice("play_on", "draw", doc="level at the top with the target reached"))
    sets_to_win: int = _setting(1, _range(1, 100, "sets that win the match"))
    # the preset that `text` names, if it is as near as any
    label: str = field(default="scopa", compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dealer_bonus", _checked_bonus(self.dealer_bonus))
        for item in dataclasses.fields(self):
            object.__setattr__(self, item.name, _checked(item, getattr(self, item.name)))
        _check_together(self)
        if self.label not in PRESETS:
            raise RulesError(f"label={self.label!r}: {allowed_names(self.label, PRESETS)}")

    def __reduce__(self) -> tuple[Any, ...]:  # a mapping proxy cannot be pickled
        return type(self).from_fields, (self.changes_from(Rules()), self.label)

    @classmethod
    def preset(cls, name: str, /, **changes: Any) -> Self:
        """Return the preset `name` with some fields changed.

        Raises:
            RulesError: no such preset or field, or a value that is not allowed.
        """
        if not isinstance(name, str) or name not in PRESETS:
            raise RulesError(f"rules {name!r}: {allowed_names(name, PRESETS)}")
        return cls.from_fields({**PRESETS[name].fields, **changes}, name)

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any], label: str = "scopa") -> Self:
        """Return the default rules with `fields` changed; unknown names are refused.

        `label` is the preset that `text` names where several have the same fields.
        """
        for name in fields:
            if name not in FIELD_NAMES:
                raise RulesError(f"rules field {name!r}: {allowed_names(name, FIELD_NAMES)}")
        return cls(**fields, label=label)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``preset`` or ``preset:field=value,field=value``; a bonus is ``dealer_bonus=15:1+30:2``.

        Raises:
            RulesError: what is wrong, and what is allowed.
        """
        if not isinstance(text, str):
            raise RulesError(f"rules {text!r}: expected text, such as 'scopa:players=3'")
        name, _, rest = text.strip().partition(":")
        changes: dict[str, Any] = {}
        for part in rest.split(",") if rest else ():
            key, equals, value = (piece.strip() for piece in part.partition("="))
            if key in FIELD_NAMES and not equals:
                raise RulesError(f"rules field {key!r} in {text!r}: no value; expected {key}=value")
            if key not in FIELD_NAMES:
                raise RulesError(f"rules field {key!r} in {text!r}: {allowed_names(key, FIELD_NAMES)}")
            if key in changes:
                raise RulesError(f"rules field {key!r} in {text!r}: named twice")
            changes[key] = _parse_value(key, value)
        return cls.preset(name.strip(), **changes)

    @classmethod
    def of(cls, rules: Rules | str | Mapping[str, Any]) -> Rules:
        """Return `rules` given as a Rules, as text for `parse`, or as fields with an optional ``preset``."""
        if isinstance(rules, Rules):
            return rules
        if isinstance(rules, str):
            return cls.parse(rules)
        if isinstance(rules, Mapping):
            changes = {str(key): value for key, value in rules.items() if key != "preset"}
            return cls.preset(str(rules.get("preset", "scopa")), **changes)
        raise RulesError(f"rules {rules!r}: allowed are a preset's name, text, a mapping or Rules")

    def replace(self, /, **changes: Any) -> Rules:
        """Return these rules with some fields changed."""
        return self.from_fields({**self.changes_from(Rules()), **changes}, self.label)

    def changes_from(self, other: Rules) -> dict[str, Any]:
        """Return the fields in which these rules differ from `other`, as plain values."""
        return {
            name: dict(value) if name == "dealer_bonus" else value
            for name in FIELD_NAMES
            if (value := getattr(self, name)) != getattr(other, name)
        }

    def text(self) -> str:
        """Return text that `parse` turns into these rules: a preset and what differs from it."""
        return _rules_text(self, self.label)

    @property
    def sides(self) -> int:
        """Number of sides: two teams, or every player for himself."""
        return 2 if self.teams else self.players

    def side_of(self, seat: int) -> int:
        """Return the side of a seat: its team, or itself."""
        return seat % self.sides

    @property
    def deck(self) -> tuple[int, ...]:
        """The ids of the cards in play, ascending."""
        return tuple(10 * suit + rank for suit in range(self.suits) for rank in range(self.ranks))

    @property
    def num_deals(self) -> int:
        """Number of times that hands are dealt in a round."""
        return self.deals or (len(self.deck) - self.table_size) // (self.players * self.hand_size)

    @property
    def never_dealt(self) -> int:
        """Number of cards that are still in the stock when a round is over."""
        return len(self.deck) - self.table_size - self.num_plays

    @property
    def num_plays(self) -> int:
        """Number of plays of a round."""
        return self.num_deals * self.players * self.hand_size

    @property
    def record(self) -> np.ndarray[Any, np.dtype[np.void]]:
        """These rules as an array of one RULES record for kernels; shared, not to be written."""
        return _record(self)

    def __str__(self) -> str:
        return self.text()


FIELD_NAMES: tuple[str, ...] = tuple(item.name for item in dataclasses.fields(Rules) if item.compare)
"""The fields that are rules."""


MATCH_FIELDS = ("target", "target_tie", "sets_to_win")
"""The fields that decide when a match is over, and change nothing in a round."""


def same_rounds(a: Rules, b: Rules) -> bool:
    """Say whether a round is the same under both: whether they differ in `MATCH_FIELDS` at most."""
    return all(getattr(a, name) == getattr(b, name) for name in FIELD_NAMES if name not in MATCH_FIELDS)


def check_seat(name: str, seat: object, rules: Rules) -> int:
    """Return `seat` as an int, or raise a ValueError that names it."""
    if isinstance(seat, bool) or not hasattr(seat, "__index__") or not 0 <= operator.index(seat) < rules.players:
        raise ValueError(f"{name}={seat!r}: allowed are seats 0 .. {rules.players - 1}")
    return operator.index(seat)


def field_doc(name: str) -> str:
    """Return what a field means, in a few words."""
    return str(Rules.__dataclass_fields__[name].metadata["doc"])


def near_miss(name: object, known: Iterable[str]) -> str | None:
    """Return the one of `known` that `name` seems to misspell; None if it is known, or like none of them."""
    names = list(known)
    near = get_close_matches(str(name).lower(), names, n=1, cutoff=0.75)
    return near[0] if near and name not in names else None


def allowed_names(name: object, known: Iterable[str]) -> str:
    """Say what is allowed instead of `name`, the nearest first."""
    names = list(known)
    near = get_close_matches(str(name), names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{hint}allowed are {', '.join(names)}"


def _refuse(name: str, value: object, allowed: str) -> RulesError:
    return RulesError(f"{name}={value!r}: {allowed}")


def _checked_bonus(value: object) -> Mapping[int, int]:
    """Return a dealer bonus as a read-only mapping of ints, sums ascending."""
    allowed = f"allowed is a mapping of sums 1 .. {MAX_SUM} to sweeps 1 .. 20"
    if not isinstance(value, Mapping):
        raise _refuse("dealer_bonus", value, allowed)
    for key, sweeps in value.items():
        if type(key) is not int or type(sweeps) is not int:
            raise _refuse("dealer_bonus", dict(value), allowed)
        if not (1 <= key <= MAX_SUM and 1 <= sweeps <= 20):
            raise _refuse("dealer_bonus", dict(value), allowed)
    return MappingProxyType(dict(sorted(value.items())))


def _checked(item: dataclasses.Field[Any], value: Any) -> Any:
    """Return `value` if the field allows it, a bool for yes-or-no fields, an int for numbers."""
    options = item.metadata.get("options")
    if options is not None:
        for option in options:
            if value == option and isinstance(value, bool) == isinstance(option, bool):
                return option
        raise _refuse(item.name, value, f"allowed are {', '.join(map(repr, options))}")
    if "range" in item.metadata:
        low, high = item.metadata["range"]
        is_int = hasattr(value, "__index__") and not isinstance(value, bool)
        if not is_int or not low <= value <= high:
            raise _refuse(item.name, value, f"allowed are whole numbers {low} .. {high}")
        return int(value)
    return value


def _check_together(rules: Rules) -> None:
    """Refuse fields that do not go together.

    Raises:
        RulesError: naming the field, its value and what is allowed.
    """
    if rules.teams and rules.players not in (4, 6):
        raise _refuse("teams", True, f"allowed with 4 or 6 players, not with players={rules.players}")
    if rules.capture == "fifteen":
        if rules.priority != "none":
            raise _refuse("priority", rules.priority, "allowed with capture='fifteen' is 'none'")
        if rules.ace != "normal":
            raise _refuse("ace", rules.ace, "allowed with capture='fifteen' is 'normal'")
    if rules.target_tie == "draw" and rules.sets_to_win > 1:
        raise _refuse("target_tie", "draw", f"allowed with sets_to_win=1, not {rules.sets_to_win}")
    scores = [getattr(rules, name) for name in FIELD_NAMES if name.endswith(("_points", "_bonus")) or name == "napola"]
    if not any(value for value in scores if not isinstance(value, Mapping)):
        raise _refuse("sweep_points", rules.sweep_points, "no category scores; allowed is at least one above 0")
    _check_deal(rules)


def _check_deal(rules: Rules) -> None:
    """Refuse sizes that the deck cannot serve, and rules under which every deal is void."""
    cards = rules.suits * rules.ranks
    each = rules.players * rules.hand_size
    needed = rules.table_size + each * max(rules.deals, 1)
    if cards < needed:
        field_name = "deals" if rules.deals > 1 else "hand_size"
        raise _refuse(
            field_name,
            getattr(rules, field_name),
            f"needs {needed} cards (table_size + players * hand_size * deals), the deck has {cards}",
        )
    if not rules.deals and (cards - rules.table_size) % each:
        raise _refuse(
            "hand_size",
            rules.hand_size,
            f"allowed is a divisor: {cards} cards less table_size={rules.table_size} must be a multiple of "
            f"players * hand_size = {each}, unless deals is given",
        )
    kings = rules.suits if rules.ranks == 10 else 0
    least = max(0, rules.table_size - (cards - kings))
    if 0 < rules.redeal_kings <= least:
        raise _refuse(
            "redeal_kings", rules.redeal_kings, f"every deal would be void; allowed is 0 or more than {least}"
        )


def _parse_value(name: str, text: str) -> Any:
    """Read the value of a field from text."""
    if name == "dealer_bonus":
        pairs = re.findall("([0-9]{1,3}):([0-9]{1,3})", text)
        twice = len({int(a) for a, _ in pairs}) < len(pairs)
        if twice or "+".join(f"{a}:{b}" for a, b in pairs) != text:
            raise _refuse(name, text, "allowed is SUM:SWEEPS+SUM:SWEEPS, or nothing")
        return {int(a): int(b) for a, b in pairs}
    words = {"true": True, "yes": True, "false": False, "no": False}
    default = getattr(_DEFAULT, name)
    if isinstance(default, bool) and text.lower() in words:
        return words[text.lower()]
    if isinstance(default, int) and not isinstance(default, bool) and re.fullmatch("-?[0-9]{1,9}", text):
        return int(text)
    return text


def value_text(value: Any) -> str:
    """Return the text of a field's value, as `Rules.parse` reads it."""
    if isinstance(value, Mapping):
        return "+".join(f"{key}:{sweeps}" for key, sweeps in value.items())
    return str(value).lower() if isinstance(value, bool) else str(value)


@lru_cache(maxsize=256)
def _rules_text(rules: Rules, label: str) -> str:
    """Name the preset that the rules are, else `label` and the differences from it."""
    for name in (label, *PRESETS):
        if rules == preset_rules(name):
            return name
    changes = rules.changes_from(preset_rules(label))
    return f"{label}:{','.join(f'{key}={value_text(value)}' for key, value in changes.items())}"


@lru_cache(maxsize=64)
def preset_rules(name: str) -> Rules:
    """Return the preset `name` (the same object each time)."""
    return Rules.preset(name)


RULE_BITS: Mapping[str, Callable[[Rules], bool]] = MappingProxyType(
    {
        "capture=fifteen": lambda rules: rules.capture == "fifteen",
        "priority=single": lambda rules: rules.priority == "single",
        "priority=fewest": lambda rules: rules.priority == "fewest",
        "priority=none": lambda rules: rules.priority == "none",
        "obligation=card": lambda rules: rules.obligation == "card",
        "obligation=hand": lambda rules: rules.obligation == "hand",
        "obligation=none": lambda rules: rules.obligation == "none",
        "ace=takes_all": lambda rules: rules.ace == "takes_all",
        "ace_facing_ace=all": lambda rules: rules.ace_facing_ace == "all",
        "ace_scopa": lambda rules: rules.ace_scopa,
        "ace_on_empty=bank": lambda rules: rules.ace == "takes_all" and rules.ace_on_empty == "bank",
        "last_sweep=not_last_play": lambda rules: rules.last_sweep == "not_last_play",
        "last_sweep=not_last_hand": lambda rules: rules.last_sweep == "not_last_hand",
        "last_sweep=counts": lambda rules: rules.last_sweep == "counts",
        "majority=absolute": lambda rules: rules.majority == "absolute",
        "primiera_missing=disqualify": lambda rules: rules.primiera_missing == "disqualify",
        "primiera_missing=more_suits": lambda rules: rules.primiera_missing == "more_suits",
        "primiera_missing=zero": lambda rules: rules.primiera_missing == "zero",
        "primiera_faces > 0": lambda rules: rules.primiera_faces > 0,
        "sweep_points > 0": lambda rules: rules.sweep_points > 0,
        "cards_points > 0": lambda rules: rules.cards_points > 0,
        "coins_points > 0": lambda rules: rules.coins_points > 0,
        "settebello_points > 0": lambda rules: rules.settebello_points > 0,
        "primiera_points > 0": lambda rules: rules.primiera_points > 0,
        "sevens_points > 0": lambda rules: rules.sevens_points > 0,
        "all_sevens_bonus > 0": lambda rules: rules.all_sevens_bonus > 0,
        "napola": lambda rules: rules.napola,
        "re_bello_points > 0": lambda rules: rules.re_bello_points > 0,
        "teams": lambda rules: rules.teams,
        "partner_hand_visible": lambda rules: rules.partner_hand_visible,
        "ranks >= 8": lambda rules: rules.ranks >= 8,
        "target_tie=draw": lambda rules: rules.target_tie == "draw",
        "sets_to_win > 1": lambda rules: rules.sets_to_win > 1,
    }
)
"""The bits by which encodings tell rules apart, in order: what each says, and whether it is on."""


@lru_cache(maxsize=256)
def _record(rules: Rules) -> np.ndarray[Any, np.dtype[np.void]]:
    """Translate rules to one RULES record; a word becomes its place among the allowed ones."""
    array = np.zeros(1, RULES)
    record = array[0]
    plain = set(RULES.names or ()) & set(FIELD_NAMES) - {"dealer_bonus"}
    options = {item.name: item.metadata.get("options", ()) for item in dataclasses.fields(rules)}
    for name in plain:
        value = getattr(rules, name)
        record[name] = options[name].index(value) if isinstance(value, str) else value
    record["deck"] = to_mask(rules.deck)
    record["sides"] = rules.sides
    record["deals"] = rules.num_deals
    record["fifteen"] = rules.capture == "fifteen"
    record["ace_takes_all"] = rules.ace == "takes_all"
    record["ace_faces_all"] = rules.ace_facing_ace == "all"
    record["ace_banks"] = rules.ace == "takes_all" and rules.ace_on_empty == "bank"
    record["primiera_values"] = (*PRIMIERA_VALUES, *[rules.primiera_faces] * 3)
    record["features"] = sum(1 << place for place, is_on in enumerate(RULE_BITS.values()) if is_on(rules))
    for total, sweeps in rules.dealer_bonus.items():
        record["dealer_bonus"][total] = sweeps
    return array


_DEFAULT = Rules()
