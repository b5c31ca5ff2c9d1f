"""Game records: written, read, replayed; and files that are damaged, foreign or untrue."""

from __future__ import annotations

import dataclasses
import json
import random
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from helpers import ALL_PRESETS, SHORT_MATCHES, VARIANTS, contents, play_randomly, random_game, refusal
from scopa_env import Game, Rules, View
from scopa_env.record import GameRecord, RecordError, Result, RoundRecord, read_records, write_records

pytestmark = pytest.mark.nojit

TEXTS = (*ALL_PRESETS, *VARIANTS, *SHORT_MATCHES)
NAMES = ("Ada", 'Bea "x"', "Cl\u00e9o \\", "Dan", "Eve", "7d")


def names_of(rules: Rules) -> tuple[str, ...]:
    return NAMES[: rules.players]


def whole_match(text: str, seed: int) -> Game:
    rng = random.Random(seed)
    game = Game(text, seed=seed)
    play_randomly(game, rng)
    while not game.match_over:
        game.next_round()
        play_randomly(game, rng)
    return game


# what is written is read


@pytest.mark.parametrize("text", TEXTS)
def test_records_of_random_games_round_trip(text: str) -> None:
    rng = random.Random(f"{text} record")
    for _ in range(6):
        game = random_game(text, rng)
        players = rng.choice([(), names_of(game.rules)])
        record = GameRecord.from_game(game, players)
        assert GameRecord.from_toml(record.to_toml()) == record
        assert GameRecord.from_json(record.to_json()) == record
        assert "\n" not in record.to_json()
        check_replay(record, game)


def check_replay(record: GameRecord, game: Game) -> None:
    """The replayed game is the recorded one, but for its generator and a play that was still being named."""
    twin = record.replay()
    while game.card is not None:
        game.pop()
    assert twin.text() == game.text()
    assert twin.plays == game.plays
    assert twin.outcome() == game.outcome()
    assert [known(records) for records in twin.past] == [known(records) for records in game.past]
    assert GameRecord.from_game(twin, record.players) == record


def known(records: Any) -> tuple[bytes, ...]:
    records = records.copy()
    records["rng"] = 0
    return contents(records)


@pytest.mark.parametrize("text", SHORT_MATCHES)
def test_whole_matches(text: str) -> None:
    for seed in range(4):
        game = whole_match(text, seed)
        record = GameRecord.from_toml(GameRecord.from_game(game).to_toml())
        outcome = game.outcome()
        assert outcome is not None
        assert record.result.sets == outcome.sets
        assert record.result.winner == ("draw" if outcome.match_winner is None else outcome.match_winner)
        assert [played.points is not None for played in record.rounds] == [True] * len(record.rounds)
        check_replay(record, game)


def test_a_drawn_match_is_recorded() -> None:
    winners = {
        GameRecord.from_game(whole_match("scopa:target=2,target_tie=draw", seed)).result.winner for seed in range(40)
    }
    assert "draw" in winners


def test_undo_over_the_end_of_a_round() -> None:
    game = Game("scopa:target=30", seed=4)
    rng = random.Random(4)
    play_randomly(game, rng)
    game.next_round()
    game.push(game.legal_moves[0])
    for _ in range(3):
        game.pop()
    again = game.copy()
    record = GameRecord.from_game(game)
    assert len(record.rounds) == 1
    assert record.rounds[0].points is None
    assert len(record.rounds[0].moves) == game.rules.num_plays - 1
    assert record.result == Result((0, 0), (0, 0))
    for one in (game, again):
        play_randomly(one, rng)
        one.next_round()
        play_randomly(one, rng)
        record = GameRecord.from_game(one)
        assert len(record.rounds) == 2
        check_replay(record, one)


def test_a_record_is_made_for_people() -> None:
    deck = (
        "Cc Fd 4s 7c 3s 2s 7d Ac 5s 7s 4b 6c Fb Cd 4c Ad Fs 7b 5b 2d 2b Fc 3d 5d Rd 5c 4d 6d 6s Rc"
        " As Ab Cb 2c 3c 3b Rb Rs 6b Cs"
    )
    game = Game("stargames_scopa", deck=deck, dealer=0)
    for move in ["9c", "8d>1c+7s", "4s", "7c>7d", "3s", "2s", "4b>4s", "9d>9c"]:
        game.push_text(move)
    assert (
        GameRecord.from_game(game, ["Ada", "Bea"]).to_toml()
        == f'''\
format = "scopa-env record 1"
rules = "stargames_scopa"
dealer = 0
players = [
    "Ada",
    "Bea",
]

[[rounds]]
deck = "{deck}"
moves = """
Cc FdxAc7s 4s 7cx7d 3s 2s
4bx4s CdxCc"""

[result]
totals = "0/0"
sets = "0/0"
'''
    )


def test_sweeps_are_marked() -> None:
    record = GameRecord.from_game(whole_match("scopone:target=30", 2))
    moves = [move for played in record.rounds for move in played.moves]
    assert any(move.endswith("+") for move in moves)
    assert not all(move.endswith("+") for move in moves)


def test_moves_may_be_spelled_as_in_case_files() -> None:
    record = a_record()
    spelled = tuple(move.replace("x", ">").replace("+", "") for move in record.rounds[0].moves)
    other = with_round(record, moves=spelled)
    assert other.replay() == record.replay()


# files


def test_many_games_in_one_file(tmp_path: Path) -> None:
    rng = random.Random(1)
    records = [GameRecord.from_game(random_game(text, rng)) for text in TEXTS]
    path = tmp_path / "games.jsonl"
    assert write_records(path, iter(records)) == len(records)
    assert list(read_records(path)) == records
    path.write_text("\n" + path.read_text("utf-8") + "\n\n", "utf-8")
    reading = read_records(str(path))
    assert next(reading) == records[0]
    assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]
    reading.close()  # type: ignore[attr-defined]


def test_one_game_in_a_file(tmp_path: Path) -> None:
    record = a_record()
    path = tmp_path / "game.toml"
    assert write_records(path, [record]) == 1
    assert list(read_records(path)) == [record]


def test_nothing_is_written_by_halves(tmp_path: Path) -> None:
    def breaks() -> Iterator[GameRecord]:
        yield a_record()
        raise KeyError("stop")

    path = tmp_path / "games.jsonl"
    with pytest.raises(KeyError):
        write_records(path, breaks())
    assert list(tmp_path.iterdir()) == []
    write_records(path, [a_record()])
    before = path.read_bytes()
    for refused in ([], [a_record(), a_record()]):
        with pytest.raises(RecordError, match="records to write"):
            write_records(tmp_path / "game.toml", refused)
    with pytest.raises(RecordError, match="0 records to write"):
        write_records(path, [])
    with pytest.raises(KeyError):
        write_records(path, breaks())
    assert path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]


def test_files_that_are_no_records(tmp_path: Path) -> None:
    good = a_record()
    for name in ("game.txt", "game", "game.json", "game.TOML"):
        for call in (lambda path: read_records(path), lambda path: write_records(path, [good])):
            with pytest.raises(RecordError, match=r"record files end in \.toml or \.jsonl"):
                call(tmp_path / name)
    for name in ("none.toml", "none.jsonl"):
        with pytest.raises(RecordError, match=f"{name}: No such file"):
            list(read_records(tmp_path / name))
    for content, message in (
        (b"", "holds no record"),
        (b"\n\n", "holds no record"),
        (b"\xff\n", "can't decode"),
        (b"{}\n", "line 1: record: format is missing"),
        (good.to_json().encode() + b"\n" + good.to_json().encode()[:-40], "line 2: not JSON: "),
        (good.to_toml().encode(), "line 1: not JSON: "),
    ):
        path = tmp_path / "games.jsonl"
        path.write_bytes(content)
        with pytest.raises(RecordError) as caught:
            list(read_records(path))
        assert str(caught.value).startswith(f"{path}: ")
        assert message in str(caught.value)
    for content, message in ((b"", "format is missing"), (b"\xff", "can't decode"), (b"[", "not TOML")):
        path = tmp_path / "game.toml"
        path.write_bytes(content)
        with pytest.raises(RecordError) as caught:
            list(read_records(path))
        assert str(caught.value).startswith(f"{path}: ")
        assert message in str(caught.value)


# what is no record


def a_record() -> GameRecord:
    """A best of three with two finished rounds and a third one begun."""
    rng = random.Random(8)
    game = Game("german_best_of_3:players=3", seed=8, dealer=2)
    for _ in range(2):
        play_randomly(game, rng)
        game.next_round()
    for _ in range(7):
        game.push(rng.choice(game.legal_moves))
    return GameRecord.from_game(game, ["Ada", "Bea", "Cleo"])


def with_round(record: GameRecord, number: int = 0, **fields: Any) -> GameRecord:
    rounds = list(record.rounds)
    rounds[number] = dataclasses.replace(rounds[number], **fields)
    return dataclasses.replace(record, rounds=tuple(rounds))


def swapped(cards: tuple[Any, ...], one: int, other: int) -> tuple[Any, ...]:
    items = list(cards)
    items[one], items[other] = items[other], items[one]
    return tuple(items)


GOOD = a_record()
FIRST = GOOD.rounds[0]
TOTALS = GOOD.result.totals
KINGS = (9, 19, 29, 39)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: with_round(r, deck=swapped(FIRST.deck, 0, 39)), "round 1, move "),
        (lambda r: with_round(r, deck=FIRST.deck[:-1]), "round 1: deck: missing 1: "),
        (lambda r: with_round(r, deck=(*FIRST.deck[:-1], FIRST.deck[0])), "named more than once"),
        (lambda r: with_round(r, deck=(*FIRST.deck[:-1], 40)), "round 1: card 40: allowed are the ids"),
        (lambda r: with_round(r, moves=FIRST.moves[:-1]), "round 1, points: "),
        (lambda r: with_round(r, moves=(*FIRST.moves, "7d")), "round 1, move 37: move '7d': the round is over"),
        (lambda r: with_round(r, moves=swapped(FIRST.moves, 0, 1)), "round 1, move 1: move "),
        (lambda r: with_round(r, moves=("7", *FIRST.moves[1:])), "round 1, move 1: move '7': expected a card"),
        (lambda r: with_round(r, moves=(f"{FIRST.moves[0][:2]}xAd2d", *FIRST.moves[1:])), "round 1, move 1: move "),
        (lambda r: with_round(r, points=(9, 9, 9)), "round 1, points: 9/9/9 in the record, "),
        (lambda r: with_round(r, points=(1, 1)), "round 1, points: 1/1 in the record, "),
        (lambda r: with_round(r, points=None), "round 1, points: nothing in the record, "),
        (lambda r: with_round(r, 2, points=(0, 0, 0)), "round 3, points: 0/0/0 in the record, nothing by the rules"),
        (lambda r: with_round(r, 1, moves=r.rounds[1].moves[:5], points=None), "round 3: next_round: the round is not"),
        (lambda r: dataclasses.replace(r, rounds=r.rounds[1:]), "round 1, points: "),
        (lambda r: dataclasses.replace(r, rounds=r.rounds[:1]), "result, totals: "),
        (lambda r: dataclasses.replace(r, rounds=()), "rounds: none; a record has at least one"),
        (lambda r: dataclasses.replace(r, dealer=1), "round 1, points: "),
        (lambda r: dataclasses.replace(r, dealer=3), "dealer: seat=3: allowed are seats 0 .. 2"),
        (lambda r: dataclasses.replace(r, dealer=True), "dealer: seat=True: allowed are seats"),
        (lambda r: dataclasses.replace(r, players=("Ada",)), "players: 1 names; allowed are 3, or none"),
        (lambda r: dataclasses.replace(r, players=("Ada", "", "Cleo")), "players: '': expected printable text"),
        (lambda r: dataclasses.replace(r, players=("A\nB", "B", "C")), "players: 'A\\nB': expected printable text"),
        (lambda r: dataclasses.replace(r, rules=Rules.preset("german")), "dealer: seat=2: allowed are seats 0 .. 1"),
        (
            lambda r: dataclasses.replace(r, rules=r.rules.replace(target=1, sets_to_win=1)),
            "round 2: next_round: the match",
        ),
        (lambda r: dataclasses.replace(r, rules=r.rules.replace(ranks=7, deals=1)), "round 1: deck: "),
        (
            lambda r: dataclasses.replace(r, result=Result((99, *TOTALS[1:]), r.result.sets)),
            "result, totals: 99/",
        ),
        (
            lambda r: dataclasses.replace(r, result=Result(TOTALS, (1, 0, 0))),
            "result, sets: 1/0/0 in the record",
        ),
        (
            lambda r: dataclasses.replace(r, result=Result(TOTALS, r.result.sets, 0)),
            "result, winner: 0 in the record, nothing by the rules",
        ),
    ],
)
def test_a_changed_record_is_found_out(change: Callable[[GameRecord], GameRecord], message: str) -> None:
    found = refusal(RecordError, lambda: change(GOOD).replay())
    assert found is not None
    assert message in found


def test_a_void_deck_and_a_round_after_the_match() -> None:
    rules = Rules.preset("scopa", table_deal="before")
    void = RoundRecord((*KINGS, *(card for card in range(40) if card not in KINGS)), (), None)
    with pytest.raises(RecordError, match=r"round 1: deck: void under these rules"):
        GameRecord(rules, 0, (void,), Result((0, 0), (0, 0))).replay()
    whole = GameRecord.from_game(whole_match("scopa:target=1", 3))
    more = dataclasses.replace(whole, rounds=(*whole.rounds, whole.rounds[0]))
    with pytest.raises(RecordError, match=r"round \d+: next_round: the match is over"):
        more.replay()


def test_a_sweep_that_is_none() -> None:
    """The + of a move is checked."""
    place, move = next((at, text) for at, text in enumerate(FIRST.moves) if "x" in text and not text.endswith("+"))
    moves = (*FIRST.moves[:place], f"{move}+", *FIRST.moves[place + 1 :])
    with pytest.raises(RecordError, match=rf"round 1, move {place + 1}: move '{move}\+': no sweep"):
        with_round(GOOD, moves=moves).replay()


CONTENT = json.loads(GOOD.to_json())


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in CONTENT.items() if name != key}


def of_round(**fields: Any) -> dict[str, Any]:
    return {**CONTENT, "rounds": [{**CONTENT["rounds"][0], **fields}, *CONTENT["rounds"][1:]]}


def of_result(**fields: Any) -> dict[str, Any]:
    return {**CONTENT, "result": {**CONTENT["result"], **fields}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        *[(without(key), f"record: {key} is missing") for key in CONTENT if key != "players"],
        ({**CONTENT, "format": "scopa-env record 2"}, "format: 'scopa-env record 2': expected 'scopa-env record 1'"),
        ({**CONTENT, "format": 1}, "format: 1: expected 'scopa-env record 1'"),
        ({**CONTENT, "note": "x"}, "record: 'note': not understood; keys are format, rules"),
        ({**CONTENT, "rules": "scoppa"}, "rules: rules 'scoppa': did you mean 'scopa'?"),
        ({**CONTENT, "rules": {"preset": "scopa"}}, "rules: {'preset': 'scopa'}: expected text"),
        ({**CONTENT, "dealer": "0"}, "dealer: seat='0': allowed are seats 0 .. 2"),
        ({**CONTENT, "dealer": 1.0}, "dealer: seat=1.0: allowed are seats 0 .. 2"),
        ({**CONTENT, "players": "Ada"}, "players: 'Ada': expected a list"),
        ({**CONTENT, "players": [1, 2, 3]}, "players: 1: expected text"),
        ({**CONTENT, "rounds": {}}, "rounds: {}: expected a list"),
        ({**CONTENT, "rounds": []}, "rounds: none; a record has at least one"),
        ({**CONTENT, "rounds": [7]}, "round 1: 7: expected deck, moves"),
        ({**CONTENT, "rounds": [{"deck": ""}]}, "round 1: moves is missing"),
        (of_round(note=1), "round 1: 'note': not understood; keys are deck, moves, points"),
        (of_round(deck=[1, 2]), "round 1, deck: [1, 2]: expected text"),
        (of_round(deck="7d 7x"), "round 1, deck: no card at position 3 of '7d 7x'"),
        (of_round(deck="7d"), "round 1: deck: missing 39: "),
        (of_round(deck=f"{CONTENT['rounds'][0]['deck']} 7d"), "round 1: deck: 7d named more than once"),
        (of_round(moves=["7d"]), "round 1, moves: ['7d']: expected text"),
        (of_round(moves="7d 7"), "round 1, move 2: move '7': expected a card"),
        (of_round(points=[1, 2, 3]), "round 1, points: [1, 2, 3]: expected text"),
        (of_round(points="1/2"), "round 1, points: '1/2': expected 3 numbers with / between them"),
        (of_round(points="1/2/x"), "round 1, points: '1/2/x': expected 3 numbers"),
        (of_round(points="1/2/" + "9" * 5000), "expected 3 numbers"),
        ({**CONTENT, "result": None}, "result: None: expected totals, sets"),
        ({**CONTENT, "result": {"totals": "0/0/0"}}, "result: sets is missing"),
        (of_result(totals=3), "result, totals: 3: expected text"),
        (of_result(sets="0/0/-1"), "result, sets: '0/0/-1': expected 3 numbers"),
        (of_result(winner="Ada"), "result, winner: 'Ada': expected a side or 'draw'"),
        (of_result(winner=True), "result, winner: True: expected a side or 'draw'"),
        (of_result(points=1), "result: 'points': not understood; keys are totals, sets, winner"),
        (7, "record: 7: expected format, rules"),
        ([CONTENT], "record: [{"),
    ],
)
def test_malformed_records(content: Any, message: str) -> None:
    found = refusal(RecordError, GameRecord.from_json, json.dumps(content))
    assert found is not None
    assert message in found
    if isinstance(content, dict) and content.get("result", 0) is not None:
        assert refusal(RecordError, GameRecord.from_toml, tomli_w.dumps(content)) == found


@pytest.mark.parametrize(
    "text",
    ["", "x", "{", "[" * 100_000, "9" * 5000, '{"format": 1, "format": 2}', '{"dealer": NaN}', "null", '"x"'],
)
def test_text_that_is_no_json_record(text: str) -> None:
    assert refusal(RecordError, GameRecord.from_json, text)


@pytest.mark.parametrize("text", ["", "x", "x = ", "x = " + "[" * 100_000, "x = " + "9" * 5000, "x = 1\nx = 2", "\0"])
def test_text_that_is_no_toml_record(text: str) -> None:
    assert refusal(RecordError, GameRecord.from_toml, text)


def test_a_truncated_record_is_refused() -> None:
    def read_toml(text: str) -> None:
        GameRecord.from_toml(text).replay()

    def read_json(text: str) -> None:
        GameRecord.from_json(text).replay()

    for whole, read in ((GOOD.to_toml(), read_toml), (GOOD.to_json(), read_json)):
        for at in range(0, len(whole) - 4, 23):
            assert refusal(RecordError, read, whole[:at])


def test_games_whose_beginning_is_not_known() -> None:
    game = Game("scopa:target=30", seed=1)
    assert GameRecord.from_game(game).rounds[0].moves == ()
    for other in (Game.from_text(game.text()), game.view(0).sample(1), View.from_text(game.view(0).text()).sample(2)):
        with pytest.raises(RecordError, match="round 1: its deal is not known"):
            GameRecord.from_game(other)
        play_randomly(other, random.Random(1))
        other.next_round()
        with pytest.raises(RecordError, match="round 1: its deal is not known"):
            GameRecord.from_game(other)
    play_randomly(game, random.Random(1))
    game.next_round()
    with pytest.raises(RecordError, match="only 0 of the rounds before this one are known"):
        GameRecord.from_game(Game.from_records(game.rules, game.records))
    with pytest.raises(RecordError, match="players: 1 names; allowed are 2, or none"):
        GameRecord.from_game(game, ["Ada"])


def damaged(text: str, data: st.DataObject) -> str:
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        cut = data.draw(st.integers(0, 10))
        new = data.draw(st.text(max_size=3) | st.sampled_from(list('"=[]{}\n,:/x+0')))
        text = (text[:at] + new + text[at + cut :]) or " "
    return text


SMALL = GameRecord.from_game(whole_match("mini_scopa:target=2", 1), ["Ada", "Bea"])


@given(st.data())
def test_a_damaged_record_is_refused_or_true(data: st.DataObject) -> None:
    text = damaged(SMALL.to_toml(), data)
    if refusal(ValueError, GameRecord.from_toml, text) is None:
        refusal(RecordError, GameRecord.from_toml(text).replay)
        assert tomllib.loads(text)
    line = damaged(SMALL.to_json(), data)
    if refusal(ValueError, GameRecord.from_json, line) is None:
        refusal(RecordError, GameRecord.from_json(line).replay)


@given(st.text() | st.text(alphabet='"=[]{}\n,:x 07'))
def test_any_text_is_refused(text: str) -> None:
    assert refusal(RecordError, GameRecord.from_toml, text)
    assert refusal(RecordError, GameRecord.from_json, text)
