"""Case files: the handed cases, other files in the same format, and malformed ones."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import reference
from helpers import ALL_PRESETS, VARIANTS, refusal, rule_fields
from scopa_env import PRESETS, Rules
from scopa_env.cases import Case, CaseFileError, check_file, load_cases, run_case

pytestmark = pytest.mark.nojit

FILE = Path(__file__).parent / "cases" / "rules.yaml"
CASES = load_cases(FILE).cases
RAW: dict[str, Any] = yaml.load(FILE.read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def write(path: Path, cases: list[dict[str, Any]], **more: Any) -> Path:
    file = path / "cases.yaml"
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    file.write_text(yaml.dump({"cases": cases, **more}, Dumper=dumper, sort_keys=False), "utf-8")
    return file


def check(file: Path) -> tuple[tuple[int, int], list[str]]:
    lines: list[str] = []
    return check_file(file, lines.append), lines


# the handed file


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_case(case: Case) -> None:
    assert run_case(case) == []


def test_the_whole_file_passes() -> None:
    assert check(FILE) == ((150, 0), [])


def test_the_presets_of_the_file_are_ours() -> None:
    file = load_cases(FILE)
    assert file.presets == {name: Rules.preset(name) for name in PRESETS if name != "mini_scopa_12"}
    assert file.preset_problems() == []


# a wrong value fails its case, and only that


def wrong(value: Any) -> Any:
    """Return another value of the same kind."""
    if value is None or value == "draw":
        return 0
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return "10b" if value != "10b" else "1d"


def mutants(value: Any) -> Iterator[Any]:
    """Yield `value` with one thing in it changed, dropped or added."""
    if isinstance(value, dict):
        for name in value:
            for other in mutants(value[name]):
                yield {**value, name: other}
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield value[:at] + value[at + 1 :]
            for other in mutants(item):
                yield [*value[:at], other, *value[at + 1 :]]
        yield [*value, copy.deepcopy(value[-1]) if value else "10b"]
    else:
        yield wrong(value)


def mutants_of(case: dict[str, Any], part: str) -> list[dict[str, Any]]:
    return [{**case, part: other} for other in mutants(case.get(part, {})) if other]


def test_every_wrong_expectation_fails(tmp_path: Path) -> None:
    """Every value of every case, one at a time."""
    made = []
    for raw in RAW["cases"]:
        for part in ("expect", "text_says"):
            made += [{**case, "id": f"{raw['id']} {part}"} for case in mutants_of(raw, part)]
    cases = [{**case, "id": f"{number} {case['id']}"} for number, case in enumerate(made)]
    assert len(cases) > 2000
    passed = [case.id for case in load_cases(write(tmp_path, cases)).cases if not run_case(case)]
    assert passed == []


@pytest.mark.parametrize("kind", sorted({case.type for case in CASES}))
def test_exactly_the_changed_case_fails(kind: str, tmp_path: Path) -> None:
    rng = random.Random(kind)
    cases = copy.deepcopy(RAW["cases"])
    place = rng.choice([at for at, case in enumerate(cases) if case["type"] == kind])
    cases[place] = rng.choice(mutants_of(cases[place], "expect"))
    counts, lines = check(write(tmp_path, cases, presets=RAW["presets"]))
    assert counts == (149, 1)
    assert [line.split(": ")[0] for line in lines] == [f"{cases[place]['id']} ({kind})"]
    assert "expect." in lines[0]


def test_a_failure_says_what_was_expected_and_found(tmp_path: Path) -> None:
    cases = [
        {**LEGAL, "expect": {"moves": ["5s>2d+3b", "1c"]}, "text_says": {"moves": ["1c"]}},
        {**PLAY, "expect": {"sweeps": [0, 0], "last_capturer": None, "over": True, "score": {"cards": [1, 0]}}},
        {**PLAY, "id": "x", "given": {**PLAY["given"], "moves": ["5d>2c"]}},
        {**DEAL, "expect": {"void": False, "table": []}},
    ]
    assert check(write(tmp_path, cases))[1] == [
        "l (legal): text_says.moves: [Ac] in the file, found [Ac, 5sx2d3b]",
        "p (play): expect.sweeps: [0, 0] in the file, found [1, 0]; expect.last_capturer: null in the file, found 0; "
        "expect.over: true in the file, found false",
        "x (play): moves: number 1: move '5d>2c': legal with 5d are 5dx2c3s",
        "d (deal): expect.void: false in the file, found true; expect.table: [] in the file, found nothing",
    ]


# presets of a file


def test_a_differing_preset_is_a_failure(tmp_path: Path) -> None:
    presets = copy.deepcopy(RAW["presets"])
    presets["german"]["target"] = 21
    presets["escoba"]["dealer_bonus"] = {15: 1}
    del presets["scopa_dassi"]["napola"]
    counts, lines = check(write(tmp_path, RAW["cases"], presets=presets))
    assert counts == (150, 3)
    assert lines[0] == "preset german: target is 21 in the file, 31 here"
    assert lines[1].startswith("preset escoba: dealer_bonus is {15: 1} in the file, ")
    assert lines[2] == "preset scopa_dassi: napola is False in the file, True here"


def test_a_preset_that_only_the_file_knows(tmp_path: Path) -> None:
    presets = {"mine": {"players": 3, "target": 5}}
    case = {**MATCH, "rules": {"preset": "mine", "target": 6}, "given": {"rounds": [[5, 1, 0], [1, 0, 0]]}}
    case["expect"] = {"winner": 0, "next_dealer": 2, "rounds": [{"set_winner": None}, {"set_winner": 0}]}
    assert check(write(tmp_path, [case], presets=presets)) == ((1, 0), [])


# malformed files

LEGAL: dict[str, Any] = {
    "id": "l",
    "type": "legal",
    "rules": {"preset": "scopa"},
    "given": {"hand": ["1c", "5s"], "table": ["2d", "3b", "8c", "10s"]},
    "expect": {"moves": ["5s>2d+3b", "1c"]},
}
PLAY: dict[str, Any] = {
    "id": "p",
    "type": "play",
    "rules": {"preset": "scopa"},
    "given": {"hands": [["5d"], ["1s"]], "table": ["2c", "3s"], "moves": ["5d>2c+3s"]},
    "expect": {"sweeps": [1, 0]},
}
DEAL: dict[str, Any] = {
    "id": "d",
    "type": "deal",
    "rules": {"preset": "scopa", "table_deal": "before", "redeal_kings": 1, "table_size": 10},
    "given": {"deck": [f"{card % 10 + 1}{'dcsb'[card // 10]}" for card in range(40)]},
    "expect": {"void": True},
}
MATCH: dict[str, Any] = {
    "id": "m",
    "type": "match",
    "rules": {"preset": "scopa"},
    "given": {"rounds": [[11, 2]]},
    "expect": {"winner": 0},
}
SCORE: dict[str, Any] = {
    "id": "s",
    "type": "score",
    "rules": {"preset": "scopa"},
    "given": {"piles": [["7d"], ["1d"]], "sweeps": [1, 0]},
    "expect": {"total": [2, 0]},
}
NAMES: dict[str, Any] = {
    "id": "n",
    "type": "names",
    "rules": {"preset": "scopa"},
    "given": {"card": "7d"},
    "expect": {"value": 7, "french_rank": 7},
}
SEES: dict[str, Any] = {
    "id": "e",
    "type": "sees",
    "rules": {"preset": "scopa"},
    "given": {"seat": 1},
    "expect": {"visible": [1]},
}
ILLEGAL: dict[str, Any] = {
    **LEGAL,
    "id": "i",
    "type": "illegal",
    "given": {**LEGAL["given"], "move": "5s"},
    "expect": {"legal": False},
}
PRIMIERA: dict[str, Any] = {
    "id": "r",
    "type": "primiera",
    "rules": {"preset": "escoba"},
    "given": {"piles": [["7d", "7c", "7s", "7b"], []]},
    "expect": {"suits_and_sum": [[4, 84], [0, 0]], "winner": 0},
}
GOOD = [LEGAL, PLAY, DEAL, MATCH, SCORE, NAMES, SEES, ILLEGAL, PRIMIERA]


def test_the_good_cases_pass(tmp_path: Path) -> None:
    assert check(write(tmp_path, GOOD)) == ((len(GOOD), 0), [])


def with_field(case: dict[str, Any], part: str, **fields: Any) -> dict[str, Any]:
    return {**case, part: {**case[part], **fields}}


def without(case: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in case.items() if name not in names}


BAD_CASES: list[tuple[Any, str]] = [
    ("x", "case number 1: 'x': expected a mapping"),
    (None, "case number 1: None: expected a mapping"),
    ([], "case number 1: []: expected a mapping"),
    (without(LEGAL, "type"), "case l: type: None: expected one of legal, illegal, play"),
    ({**LEGAL, "type": "legl"}, "case l: type: 'legl': expected one of legal"),
    ({**LEGAL, "type": ["legal"]}, "case l: type: ['legal']: expected one of legal"),
    (without({**LEGAL, "type": "x"}, "id"), "case number 1: type: 'x'"),
    (without(LEGAL, "rules"), "case l: rules: missing"),
    ({**LEGAL, "rules": 5}, "case l: rules: 5: expected a mapping"),
    ({**LEGAL, "rules": {"preset": None}}, "case l: rules: None: expected a preset"),
    ({**LEGAL, "rules": {"preset": "scoppa"}}, "case l: rules: rules 'scoppa': did you mean 'scopa'?"),
    ({**LEGAL, "rules": {"preset": ["scopa"]}}, "case l: rules: ['scopa']: expected a preset"),
    (with_field(LEGAL, "rules", playrs=3), "case l: rules: rules field 'playrs': "),
    (with_field(LEGAL, "rules", players=5), "case l: rules: players=5: allowed are 2, 3, 4, 6"),
    (with_field(LEGAL, "rules", target=10**400), "case l: rules: target=1000"),
    (with_field(LEGAL, "rules", target=[[[1]]]), "case l: rules: target=[[[1]]]: not a value of a rule"),
    (with_field(LEGAL, "rules", dealer_bonus={15: [1]}), "case l: rules: dealer_bonus={15: [1]}: not a value"),
    ({**LEGAL, "rules": {"preset": "scopa", 3: 4}}, "case l: rules: rules field 3: "),
    (without(LEGAL, "given"), "case l: given: None: expected a mapping"),
    ({**LEGAL, "given": {}}, "case l: given: is empty"),
    ({**LEGAL, "given": {"table": ["2d"]}}, "case l: given: hand is missing"),
    ({**PLAY, "given": {"hands": [["5d"], ["1s"]]}}, "case p: given: moves is missing"),
    (with_field(LEGAL, "given", stock=[]), "case l: given: 'stock' is not understood here; known are hand, table"),
    (with_field(LEGAL, "given", hand="7d"), "case l: given: hand: '7d': expected a list"),
    (with_field(LEGAL, "given", hand=[["7d"]]), "case l: given: hand: ['7d']: expected text"),
    (with_field(LEGAL, "given", hand=[7]), "case l: given: hand: 7: expected text"),
    (with_field(LEGAL, "given", hand=["11d"]), "case l: given: hand: card '11d': allowed is a rank"),
    (with_field(LEGAL, "given", hand=["2d"]), "case l: given: 2d named more than once"),
    (with_field(LEGAL, "given", hand=["5s", "5s"]), "case l: given: 5s named more than once"),
    (with_field(with_field(LEGAL, "rules", ranks=7), "given", table=["8c"]), "case l: given: table: '8c' is not in"),
    (with_field(ILLEGAL, "given", move="5s>5"), "case i: given: move: move '5s>5': expected a card"),
    (with_field(PLAY, "given", hands=[["5d"]]), "case p: given: hands: [['5d']]: expected 2 items"),
    (with_field(PLAY, "given", moves="5d"), "case p: given: moves: '5d': expected a list"),
    (with_field(PLAY, "given", moves=["5d", "7"]), "case p: given: moves: move '7': expected a card"),
    (with_field(PLAY, "given", to_move=2), "case p: given: to_move: seat=2: allowed are seats 0 .. 1"),
    (with_field(PLAY, "given", dealer=True), "case p: given: dealer: True: expected a whole number"),
    (with_field(PLAY, "given", last_capturer="draw"), "case p: given: last_capturer: 'draw': expected a whole number"),
    (with_field(PLAY, "given", sweeps=[1, 10**20]), "case p: given: sweeps: 100000000000000000000: expected a whole"),
    (with_field(PLAY, "given", sweeps=[1, -1]), "case p: given: sweeps: -1: expected a whole number 0 .. 100"),
    (with_field(PLAY, "given", piles=[[], [], []]), "case p: given: piles: [[], [], []]: expected 2 items"),
    (with_field(DEAL, "given", deck=["7d"]), "case d: given: deck: deck: missing 39: "),
    (with_field(DEAL, "given", deck=[*DEAL["given"]["deck"], "7d"]), "case d: given: deck: deck: 7d named more than"),
    (with_field(MATCH, "given", rounds=[[1, 2, 3]]), "case m: given: rounds: [1, 2, 3]: expected 2 items"),
    (
        with_field(MATCH, "given", rounds=[[1, 10001]]),
        "case m: given: rounds: 10001: expected a whole number 0 .. 10000",
    ),
    (with_field(MATCH, "given", rounds=5), "case m: given: rounds: 5: expected a list"),
    (with_field(SCORE, "given", piles=[["7d"], ["7d"]]), "case s: given: 7d named more than once"),
    (with_field(SEES, "given", seat=None), "case e: given: seat: None: expected a whole number"),
    (with_field(NAMES, "given", card=["7d"]), "case n: given: card: ['7d']: expected text"),
    ({**LEGAL, "text_say": {"moves": []}}, "case l: text_say: did you mean text_says?"),
    ({**LEGAL, "Given": {}}, "case l: Given: did you mean given?"),
    (without(LEGAL, "expect"), "case l: expect: None: expected a mapping"),
    ({**LEGAL, "expect": {}}, "case l: expect: is empty"),
    ({**LEGAL, "expect": ["5s"]}, "case l: expect: ['5s']: expected a mapping"),
    (with_field(LEGAL, "expect", move="5s"), "case l: expect: 'move' is not understood here; known are moves"),
    ({**LEGAL, "expect": {3: 4}}, "case l: expect: 3 is not understood here"),
    ({**LEGAL, "expect": {"moves": ["5sx"]}}, "case l: expect: moves: '5sx': expected a move with every card"),
    ({**LEGAL, "expect": {"moves": [["5s"]]}}, "case l: expect: moves: ['5s']: expected text"),
    ({**LEGAL, "expect": {"moves": None}}, "case l: expect: moves: None: expected a list"),
    ({**LEGAL, "text_says": None}, "case l: text_says: None: expected a mapping"),
    ({**LEGAL, "text_says": {}}, "case l: text_says: is empty"),
    ({**LEGAL, "text_says": {"legal": True}}, "case l: text_says: 'legal' is not understood here"),
    ({**ILLEGAL, "expect": {"legal": 0}}, "case i: expect: legal: 0: expected true or false"),
    ({**PLAY, "expect": {"score": {}}}, "case p: expect: score: is empty"),
    ({**PLAY, "expect": {"score": {"card": [1, 0]}}}, "case p: expect: score: 'card' is not understood here"),
    ({**PLAY, "expect": {"score": [1, 0]}}, "case p: expect: score: [1, 0]: expected a mapping"),
    ({**PLAY, "expect": {"table": "7d"}}, "case p: expect: table: '7d': expected a list"),
    ({**PLAY, "expect": {"piles": ["7d"]}}, "case p: expect: piles: '7d': expected a list"),
    ({**PLAY, "expect": {"to_move": True}}, "case p: expect: to_move: True: expected a whole number"),
    ({**MATCH, "expect": {"winner": "drawn"}}, "case m: expect: winner: 'drawn': expected a side, null or draw"),
    ({**MATCH, "expect": {"rounds": [{}]}}, "case m: expect: rounds: is empty"),
    ({**MATCH, "expect": {"rounds": [{"totals": [1, 2]}]}}, "case m: expect: rounds: 'totals' is not understood"),
    ({**NAMES, "expect": {"french_rank": None}}, "case n: expect: french_rank: None: expected text"),
    ({**NAMES, "expect": {"value": "7"}}, "case n: expect: value: '7': expected a whole number"),
]


@pytest.mark.parametrize(("case", "message"), BAD_CASES, ids=[message for _, message in BAD_CASES])
def test_a_malformed_case_is_named(case: Any, message: str, tmp_path: Path) -> None:
    file = write(tmp_path, [case])
    with pytest.raises(CaseFileError) as caught:
        check_file(file)
    assert str(caught.value).startswith(f"{file}: {message}")
    assert "\n" not in str(caught.value)


BAD_FILES: list[tuple[str | bytes, str]] = [
    ("", "None: expected a mapping"),
    ("7d", "'7d': expected a mapping"),
    ("- 7d", "['7d']: expected a mapping"),
    ("{}", "no cases"),
    ("presets: {}", "no cases"),
    ("cases:", "None: expected a list"),
    ("cases: []", "no cases"),
    ("cases: {id: x}", "{'id': 'x'}: expected a list"),
    ("cases: [}", "not a YAML file: "),
    ("cases: [{id: x, type: legal", "not a YAML file: "),
    ("cases: 'x", "not a YAML file: "),
    ("cases: [*a]", "not a YAML file: "),
    ("cases: []\ncases: []", "not a YAML file: keys that stand twice: {'cases'}"),
    ("cases: [!!python/object:os.system {}]", "not a YAML file: "),
    ("cases: [!!int '']", "not a YAML file: "),
    ("cases: [!!timestamp x]", "not a YAML file: "),
    ("cases: [" + "9" * 5000 + "]", "not a YAML file: "),
    ("cases: " + "[" * 100_000, "not a YAML file: "),
    ("cases: &a [*a]", "case number 1: [["),
    ("a: &a [x, x]\nb: &b [*a, *a, *a]\ncases: [{id: x, type: *b}]", "case x: type: [["),
    (b"cases: \xff\xfe", "not a YAML file: "),
    (b"cases: \0", "not a YAML file: "),
    ("presets: []\ncases: [x]", "[]: expected a mapping"),
    ("presets: {x: 5}\ncases: [x]", "presets.x: 5: expected a mapping"),
    ("presets: {x: {target: 0}}\ncases: [x]", "presets.x: target=0: allowed are whole numbers"),
    ("presets: {x: {targt: 1}}\ncases: [x]", "presets.x: rules field 'targt': "),
]


@pytest.mark.parametrize(("content", "message"), BAD_FILES, ids=[message for _, message in BAD_FILES])
def test_a_malformed_file(content: str | bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(CaseFileError) as caught:
        check_file(file)
    assert str(caught.value).startswith(f"{file}: {message}")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(CaseFileError, match="cannot be read"):
            load_cases(path)


def test_an_id_that_stands_twice(tmp_path: Path) -> None:
    with pytest.raises(CaseFileError, match="case l: this id stands twice"):
        load_cases(write(tmp_path, [LEGAL, PLAY, LEGAL]))


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    file = write(tmp_path, GOOD)
    file.write_text("\ufeff" + file.read_text("utf-8"), "utf-8")
    assert check_file(file) == (len(GOOD), 0)


def test_a_truncated_file_never_passes_whole(tmp_path: Path) -> None:
    """Cut anywhere: an error, or fewer cases that are whole."""
    text = "\n".join(line for line in FILE.read_text("utf-8").splitlines() if not line.startswith("#"))
    file = tmp_path / "cut.yaml"
    rng = random.Random(3)
    for at in rng.sample(range(len(text)), 25):
        file.write_text(text[:at], "utf-8")
        message = refusal(CaseFileError, check_file, file, str)
        if message is None:
            passed, failed = check_file(file, str)
            assert passed + failed < 150


BASE = yaml.safe_dump({"cases": GOOD}, sort_keys=False)


@given(st.data())
def test_a_damaged_file_gives_one_error_or_a_count(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    text = BASE
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        cut = data.draw(st.integers(0, 12))
        text = text[:at] + data.draw(st.text(alphabet="d7-:[]{}&*!'\"# \n\t,x0>", max_size=3)) + text[at + cut :]
        text = text or " "
    file = tmp_path_factory.getbasetemp() / "damaged.yaml"
    file.write_text(text, "utf-8")
    message = refusal(CaseFileError, check_file, file, str)
    assert message is None or message.startswith(f"{file}: ")


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        (with_field(PLAY, "given", moves=["5d"]), "moves: number 1: move '5d': legal with 5d are 5dx2c3s"),
        (with_field(PLAY, "given", moves=["5d>2c+3s", "9b"]), "moves: number 2: move '9b': seat 1 cannot play it"),
        (with_field(PLAY, "given", moves=["5d>2c+3s", "1s", "1c"]), "moves: number 3: move '1c': the round is over"),
        (
            with_field(PLAY, "given", moves=["5d>2c+3s", "1s"], stock=["7d"]),
            "stock: it keeps 1, too few to deal to every seat",
        ),
        (with_field(MATCH, "given", rounds=[[11, 0], [1, 1]]), "rounds: number 2 comes after the end of the match"),
        ({**DEAL, "type": "round", "given": {**DEAL["given"], "moves": []}, "expect": {"over": False}}, "deck: void"),
        (
            {**ILLEGAL, "given": {"hand": ["5s"], "table": ["2d", "3d", "3c"], "move": "5sx"}},
            "move '5sx': could be 5sx2d3d, 5sx2d3c",
        ),
    ],
)
def test_what_cannot_be_played_fails_the_case(case: dict[str, Any], problem: str, tmp_path: Path) -> None:
    counts, lines = check(write(tmp_path, [case]))
    assert counts == (0, 1)
    assert lines[0].startswith(f"{case['id']} ({case['type']}): {problem}")


# files made from random games of the reference


def spelled(card: int, rng: random.Random) -> str:
    ranks = "A234567FCR" if rng.random() < 0.3 else ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10")
    return f"{ranks[card % 10]}{'dcsb'[card // 10]}"


class Maker:
    """Makes cases of every type from random play of the reference, in any spelling and order."""

    def __init__(self, text: str) -> None:
        self.rng = random.Random(f"{text} cases")
        self.rules = Rules.parse(text)
        self.fields = rule_fields(self.rules)
        self.preset = {"preset": text.partition(":")[0]}
        self.preset |= self.rules.changes_from(Rules.preset(self.preset["preset"]))
        self.cases: list[dict[str, Any]] = []

    def add(self, kind: str, given: dict[str, Any], expect: dict[str, Any]) -> None:
        case = {"id": f"{kind}{len(self.cases)}", "type": kind, "rules": self.preset, "given": given, "expect": expect}
        self.cases.append(case)

    def cards(self, cards: Any) -> list[str]:
        return [spelled(card, self.rng) for card in cards]

    def shuffled(self, cards: Any) -> list[str]:
        texts = self.cards(cards)
        self.rng.shuffle(texts)
        return texts

    def places(self, places: Any) -> list[list[str]]:
        return [self.shuffled(place) for place in places]

    def move(self, play: reference.Play) -> str:
        card, captured = play
        taken = self.shuffled(captured)
        if not taken:
            return spelled(card, self.rng)
        if self.rng.random() < 0.3:
            return f"{spelled(card, self.rng)}x{''.join(taken)}"
        return f"{spelled(card, self.rng)}>{'+'.join(taken)}"

    def state(self, twin: reference.ReferenceRound) -> dict[str, Any]:
        state: dict[str, Any] = {
            "table": self.shuffled(twin.table),
            "piles": self.places(twin.piles),
            "sweeps": list(twin.sweeps),
            "last_capturer": twin.last,
            "over": twin.over,
            "hands": self.places(twin.hands),
        }
        if twin.over:
            state["score"] = {name: points for name, points in twin.score().items() if any(points) or name == "total"}
        else:
            state["to_move"] = twin.seat
        return state

    def given(self, twin: reference.ReferenceRound) -> dict[str, Any]:
        state = self.state(twin)
        given = {name: state[name] for name in ("table", "piles", "sweeps", "last_capturer", "hands", "to_move")}
        return given | {"dealer": twin.dealer, "stock": self.cards(twin.stock)}

    def round(self) -> None:
        """Add cases of one random round."""
        rng = self.rng
        deck = rng.sample(list(self.rules.deck), len(self.rules.deck))
        dealer = rng.randrange(self.rules.players)
        dealt = {"deck": self.cards(deck), "dealer": dealer}
        twin = reference.ReferenceRound(self.fields, deck, dealer)
        if twin.void:
            self.add("deal", dealt, {"void": True})
            return
        hands, _, stock = reference.first_deal(self.fields, deck, dealer)
        expect = self.state(twin) | {"void": False, "stock_left": len(stock), "first_to_play": twin.seat}
        expect |= {"hands": [self.cards(hand) for hand in hands]}
        self.add("deal", dealt, expect)
        self.play_out(twin, dealt)

    def play_out(self, twin: reference.ReferenceRound, dealt: dict[str, Any]) -> None:
        rng = self.rng
        moves: list[str] = []
        start, began = rng.randrange(self.rules.num_plays), None
        while not twin.over:
            if len(moves) == start:
                began = self.given(twin)
                self.moves(twin)
            play = rng.choice(sorted(twin.legal(), key=str))
            moves.append(self.move(play))
            twin.play(*play)
            if began is not None and (twin.over or rng.random() < 0.05):
                self.add("play", began | {"moves": moves[start:]}, self.state(twin))
        self.add("round", dealt | {"moves": moves}, self.state(twin))
        self.add("score", {"piles": self.places(twin.piles), "sweeps": list(twin.sweeps)}, self.state(twin)["score"])
        results, winner = reference.primiera(self.fields, twin.piles)
        expect = {"suits_and_sum": list(map(list, results)), "winner": winner}
        self.add("primiera", {"piles": self.places(twin.piles)}, expect)

    def moves(self, twin: reference.ReferenceRound) -> None:
        """Add cases of the legal moves, and of one move that is not always legal."""
        rng, legal = self.rng, sorted(twin.legal(), key=str)
        given = {"hand": self.shuffled(twin.hands[twin.seat]), "table": self.shuffled(twin.table)}
        self.add("legal", given, {"moves": [self.move(play) for play in rng.sample(legal, len(legal))]})
        card, captured = rng.choice(legal)
        tried = (card, captured ^ frozenset(rng.sample(sorted(twin.table), min(len(twin.table), rng.randrange(3)))))
        self.add("illegal", given | {"move": self.move(tried)}, {"legal": tried in legal})

    def match(self) -> None:
        """Add a case of a match of random points, at times not played to its end."""
        rng = self.rng
        dealer = rng.randrange(self.rules.players)
        twin = reference.ReferenceMatch(self.fields, dealer)
        rounds: list[list[int]] = []
        expect: list[dict[str, Any]] = []
        for _ in range(rng.randrange(1, 12)):
            rounds.append([rng.randrange(8) for _ in range(self.rules.sides)])
            before = twin.dealer
            twin.add_round(rounds[-1])
            expect.append({"total": list(twin.totals), "dealer": before, "set_winner": twin.set_winner})
            if twin.winner is not None:
                break
        found = {"rounds": expect, "winner": twin.winner, "sets": list(twin.sets), "next_dealer": twin.dealer}
        self.add("match", {"rounds": rounds, "dealer": dealer}, found)


@pytest.mark.parametrize("text", [*ALL_PRESETS, *VARIANTS])
def test_cases_from_random_games_of_the_reference_pass(text: str, tmp_path: Path) -> None:
    maker = Maker(text)
    for _ in range(4):
        maker.round()
        maker.match()
    assert check(write(tmp_path, maker.cases)) == ((len(maker.cases), 0), [])


@pytest.mark.parametrize("rules", ["scopa", {}, {"preset": "scopa"}])
def test_rules_may_be_a_name_alone_or_the_default(rules: object, tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text(yaml.safe_dump({"cases": [{**LEGAL, "rules": rules}]}), "utf-8")
    assert load_cases(file).cases[0].rules == Rules.preset("scopa")
