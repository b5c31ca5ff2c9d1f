"""Text of moves and positions: what is read, what is written, and what a position's status says."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import ALL_PRESETS, SHORT_MATCHES, VARIANTS, random_game, refusal
from scopa_env import Game, Move, Rules, View
from scopa_env.cards import parse_card, parse_cards
from scopa_env.notation import (
    AmbiguousMove,
    Cards,
    IllegalMove,
    NotationError,
    PositionError,
    parse_move,
    parse_position,
)

pytestmark = pytest.mark.nojit

TEXTS = (*ALL_PRESETS, *VARIANTS, *SHORT_MATCHES)
GAMES = 12


def some_games(text: str, count: int = GAMES) -> list[Game]:
    rng = random.Random(text)
    return [random_game(text, rng) for _ in range(count)]


# moves


@pytest.mark.parametrize(
    ("text", "card", "captured", "sweep"),
    [
        ("7dx7c", "7d", "7c", False),
        ("Fc", "Fc", "", False),
        ("8c", "Fc", "", False),
        ("5sx2d3b+", "5s", "2d3b", True),
        ("5s>2d+3b", "5s", "2d3b", False),
        ("5s>3b+2d+", "5s", "2d3b", True),
        (" 10bx1d9C ", "Rb", "AdCc", False),
        ("7dx", "7d", None, False),
        ("7d>", "7d", None, False),
        ("7dx+", "7d", None, True),
    ],
)
def test_moves_that_are_read(text: str, card: str, captured: str | None, sweep: bool) -> None:
    cards = None if captured is None else tuple(sorted(parse_cards(captured)))
    assert parse_move(text) == (parse_card(card), cards, sweep)


NO_MOVES = ["", "x", "7", "7d7c", "7d x7c", "7dxx7c", "7dx7c++", "7dx+7c+x", "7d+", "7dx7e", "11d", "x7d", None, 7]


@pytest.mark.parametrize("text", NO_MOVES)
def test_no_move(text: Any) -> None:
    message = refusal(NotationError, parse_move, text)
    assert message is not None
    assert message.startswith(f"move {text!r}: ")


def test_a_card_named_twice() -> None:
    with pytest.raises(NotationError, match="a card is named twice"):
        parse_move("5sx2d2d")


@given(st.text(alphabet="17dcx>+ FA\u017f", max_size=9) | st.text())
def test_any_text_is_a_move_or_refused(text: str) -> None:
    message = refusal(NotationError, parse_move, text)
    assert message is None or repr(text) in message


@pytest.mark.parametrize("text", TEXTS)
def test_text_of_every_legal_move_is_read_back(text: str) -> None:
    for game in some_games(text):
        moves = game.legal_moves
        for move in moves:
            spelled = game.move_text(move)
            assert game.parse(spelled) == move
            assert game.parse(spelled.replace("x", ">")) == move
            assert spelled.endswith("+") == (bool(move.captured) and set(move.captured) == set(game.table))
            captures = [other for other in moves if other.card == move.card and other.captured]
            if move.captured and len(captures) == 1:
                assert game.parse(f"{spelled[:2]}x") == move


MOVE_POSITION = "scopa:priority=none 5s6d7b/2s3sRc 2d3d2c3c ?30 -/- 0/0 0 - 1"


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("5sx", AmbiguousMove, "move '5sx': could be 5sx2d3d, 5sx2d3c, 5sx3d2c, 5sx2c3c"),
        ("7bx", AmbiguousMove, "move '7bx': could be 7bx2d3d2c, 7bx2d2c3c"),
        ("5s", IllegalMove, "move '5s': legal with 5s are 5sx2d3d, 5sx2d3c, 5sx3d2c, 5sx2c3c"),
        ("5sx2d3d+", IllegalMove, "move '5sx2d3d+': no sweep, the table keeps 2c 3c"),
        ("2s", IllegalMove, "move '2s': seat 0 cannot play it; legal are 6dx3d3c"),
        ("2sx", IllegalMove, "move '2sx': 2s captures nothing here"),
        ("6dx", IllegalMove, None),
        ("5sx5s", IllegalMove, "move '5sx5s': legal with 5s are"),
        ("5sx2d3d2c", IllegalMove, "move '5sx2d3d2c': legal with 5s are"),
        ("5sx2", NotationError, "move '5sx2': expected a card"),
    ],
)
def test_moves_that_cannot_be_made(text: str, kind: type[Exception], message: str | None) -> None:
    game = View.from_text(MOVE_POSITION).sample(1)
    before = game.records.tobytes()
    if message is None:
        assert game.parse(text) == Move(5, (2, 12))
        return
    with pytest.raises(kind) as caught:
        game.push_text(text)
    assert message in str(caught.value)
    assert game.records.tobytes() == before


def test_moves_after_the_end_of_the_round() -> None:
    game = Game("mini_scopa", seed=1)
    while not game.round_over:
        game.push(game.legal_moves[0])
    for text in ("2d", "2dx2c"):
        with pytest.raises(IllegalMove, match="the round is over"):
            game.push_text(text)
    assert game.legal_moves == []


# positions


@pytest.mark.parametrize("text", TEXTS)
def test_positions_of_real_games_round_trip(text: str) -> None:
    for game in some_games(text):
        assert game.status() == []
        position = parse_position(game.text())
        assert position == game.position()
        twin = Game.from_text(game.text())
        assert twin.text() == game.text()
        assert twin.legal_moves == game.legal_moves
        assert twin.action_mask().tolist() == game.action_mask().tolist()
        assert twin.outcome() == game.outcome()
        assert twin.score() == game.score()


@pytest.mark.parametrize("text", SHORT_MATCHES)
def test_positions_over_whole_matches_round_trip(text: str) -> None:
    """Round over, set over, match over and the first position of every round."""
    rng = random.Random(text)
    for seed in range(6):
        game = Game(text, seed=seed)
        while not game.match_over:
            while not game.round_over:
                game.push(rng.choice(game.legal_moves))
            assert game.status() == []
            twin = Game.from_text(game.text(), seed=seed)
            assert twin.outcome() == game.outcome()
            if not game.match_over:
                game.next_round()
                twin.next_round(game.deck)
                assert twin.text() == game.text()
                assert game.status() == []


def test_the_game_goes_on_alike_from_its_text() -> None:
    """The rest of the round, deals included, does not depend on what the text leaves out."""
    rng = random.Random(2)
    for text in ("scopa", "escoba:players=3", "scopone", "scopa:deals=2,table_size=6,hand_size=5,redeal_kings=2"):
        game = Game(text, seed=rng.randrange(100))
        for _ in range(7):
            game.push(rng.choice(game.legal_moves))
        twin = Game.from_text(game.text())
        while not game.round_over:
            move = rng.choice(game.legal_moves)
            game.push(move)
            twin.push(move)
            assert twin.text() == game.text()
        assert twin.outcome() == game.outcome()


def test_a_position_with_unknown_cards() -> None:
    text = "scopa 7d3c5s/?3 2dFc4s6b ?30 -/- 0/0 0 - 1"
    position = parse_position(text)
    assert position.hands == (Cards((6, 12, 24)), Cards((), 3))
    assert position.hands[1].count == 3
    assert position.hides_cards
    assert position.status() == []
    assert position.text() == text
    assert parse_position("  ".join(text.split())) == position
    with pytest.raises(PositionError, match="cards are unknown"):
        Game.from_text(text)


VALID = {
    "rules": "scopa",
    "hands": "7d3c5s/?3",
    "table": "2dFc4s6b",
    "stock": "?30",
    "piles": "-/-",
    "sweeps": "0/0",
    "turn": "0",
    "last": "-",
    "dealer": "1",
    "totals": "0/0",
    "sets": "0/0",
}


def changed(**fields: str) -> str:
    return " ".join({**VALID, **fields}.values())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "0 fields; expected rules hands table"),
        ("scopa -", "2 fields"),
        (changed(sets="0/0 1"), "12 fields"),
        (None, "0 fields"),
        (changed(rules="scoppa"), "rules 'scoppa': did you mean 'scopa'?"),
        (changed(rules="scopa:players=5"), "players=5: allowed are"),
        (changed(hands="7d3c5s"), "hands '7d3c5s': 1 parts, 2 expected"),
        (changed(hands="7d3c5s/x"), "hands 'x': expected cards, ?n for n unknown ones, or -"),
        (changed(hands="7d3c5s/"), "hands '': expected cards"),
        (changed(hands="7d3c5s/?333"), "hands '?333': expected cards"),
        (changed(hands="7d3c5s/?\u0663"), "expected cards, ?n"),
        (changed(table="2dFc4s6e"), "table '2dFc4s6e': expected cards"),
        (changed(table="2dFc?2"), "table '2dFc?2': cards there cannot be unknown"),
        (changed(piles="?2/-"), "piles '?2': cards there cannot be unknown"),
        (changed(stock="?"), "stock '?': expected cards"),
        (changed(sweeps="0"), "sweeps '0': 1 parts, 2 expected"),
        (changed(sweeps="0/-1"), "sweeps '0/-1': '-1' is no number 0 .. 40"),
        (changed(sweeps="0/41"), "sweeps '0/41': '41' is no number 0 .. 40"),
        (changed(turn="2"), "turn '2': allowed are 0 .. 1 and -"),
        (changed(turn="0:"), "move '': expected a card"),
        (changed(turn="0:7dx"), "turn: play in progress '7dx': expected SEAT:CARD or SEAT:CARDxCARDS"),
        (changed(turn="-:7d"), "turn: play in progress '7d'"),
        (changed(last="x"), "last 'x': allowed are 0 .. 1 and -"),
        (changed(dealer="-"), "dealer '-': allowed are seats 0 .. 1"),
        (changed(dealer="10"), "dealer '10': allowed are 0 .. 1 and -"),
        (changed(totals="1/99999"), "totals '1/99999': '99999' is no number 0 .. 30000"),
        (changed(sets="1/x"), "sets '1/x': 'x' is no number 0 .. 100"),
    ],
)
def test_malformed_positions(text: Any, message: str) -> None:
    for read in (parse_position, Game.from_text, View.from_text):
        refused = refusal(NotationError, read, text)
        assert refused is not None
        assert message in refused


def shared_out(first: str, rules: str = "scopa") -> str:
    """Piles of a round that is over: side 0 has `first`, side 1 the rest of the deck."""
    mine = parse_cards(first)
    rest = "".join(Move(card).text() for card in Rules.parse(rules).deck if card not in mine)
    return f"{first}/{rest}"


FOUR = {"rules": "scopone:hand_size=3", "hands": "7d3c5s/?3/?3/?3", "stock": "?24", "dealer": "3"}
SHORT = {"rules": "scopa:ranks=7", "stock": "?18"}
ESCOBA = {"rules": "escoba", "hands": "7d3c/?2", "last": "0"}
FIRST_ESCOBA = {"rules": "escoba"}
NAMING = {"table": "3d4d3s4s"}
HALF = shared_out("Ad2d3d4d5d6d7dFdCdRdAc2c3c4c5c6c7cFcCcRc")
OVER = {"hands": "-/-", "stock": "-", "turn": "-", "table": "-", "piles": HALF, "last": "0"}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"hands": "7d3c5s/2c2sAb"},
        FOUR,
        {**SHORT, "table": "2d4s6b3d"},
        {**ESCOBA, "piles": "Fs7s/-"},
        {**FIRST_ESCOBA, "table": "-", "piles": "-/2d4s6b3s", "last": "1", "sweeps": "0/1"},
        {**NAMING, "turn": "0:7d"},
        {**NAMING, "turn": "0:7dx3d"},
        {"totals": "10/10"},
        {"totals": "11/11"},
        {"rules": "german_best_of_3", "sets": "1/1"},
        {**OVER, "totals": "2/0"},
        {**OVER, "totals": "12/5", "sets": "1/0"},
        {**OVER, "totals": "10/10"},
    ],
)
def test_possible_positions(fields: dict[str, str]) -> None:
    position = parse_position(changed(**fields))
    assert position.status() == []
    assert View.from_text(position.text(), observer=0).sample(1).status() == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"table": "2dFc4s6b7d"}, "cards named more than once: 7d"),
        ({**SHORT, "table": "2d4s6b3dRc"}, "cards that are not in this deck: Rc"),
        ({**SHORT, "table": "2d4s6b"}, "cards that are nowhere: 1 of "),
        ({"table": "2dFc4s6b3d"}, "unknown cards: 33, but of the deck only 32 are not placed"),
        ({"hands": "-/?3"}, "seat 0 is to act with 0 cards; allowed are 1 .. 3"),
        ({"hands": "7d3c5sAb/?4"}, "seat 0 is to act with 4 cards; allowed are 1 .. 3"),
        ({"hands": "7d3c5s/?2"}, "seat 1 holds 2 cards; 3 would fit turn 0 and dealer 1"),
        ({"turn": "1"}, "seat 0 holds 3 cards; 2 would fit turn 1 and dealer 1"),
        ({**FOUR, "hands": "7d3c5s/?3/?2/?3"}, "seat 2 holds 2 cards; 3 would fit turn 0 and dealer 3"),
        ({"stock": "?29"}, "the stock holds 29 cards; allowed are 30, 24, 18, 12, 6, 0"),
        ({**OVER, "hands": "7d/-"}, "the round is over (turn is -), but hands hold 1/0 cards"),
        ({**OVER, "stock": "?6"}, "the stock holds 6 cards; allowed are 0"),
        ({"piles": "Ad/-"}, "piles hold cards, but nobody captured last (last is -)"),
        (
            {"table": "2dRcRsRb", "rules": "bga_scopa"},
            "no card has been played, and the table 2d Rc Rs Rb voids the deal",
        ),
        (
            {"table": "2d4s6b3s", **FIRST_ESCOBA},
            "no card has been played, and the table 2d 4s 6b 3s goes to the dealer",
        ),
        (
            {"table": "-", "piles": "2d4s6b3s/-", "last": "0", "sweeps": "1/0", **FIRST_ESCOBA},
            "no card has been played, and the table 2d 4s 6b 3s goes to the dealer's side, 1, for sweeps 0/1",
        ),
        ({"piles": "2d4s/-", "table": "Fc6b", "last": "0"}, "no card has been played, but sides have cards or sweeps"),
        ({"last": "1"}, "side 1 captured last, but its pile is empty"),
        ({"piles": "Ac3d/-", "last": "0", "sweeps": "2/0"}, "side 0 has 2 sweeps with 2 cards in its pile"),
        ({"piles": "Ac2c/-", "last": "0"}, "the pile of side 0 sums to 3; captures take an even sum"),
        ({**ESCOBA, "piles": "Fs6s/-"}, "the pile of side 0 sums to 14; captures take 15"),
        ({"turn": "0:2s"}, "2s is being played, but is not in the hand of seat 0"),
        ({"turn": "0:7dx5d"}, "cards being taken are not on the table: 5d"),
        ({"turn": "0:7d"}, "7d cannot be a play in progress"),
        ({**NAMING, "turn": "0:7dx3d4d"}, "7dx3d4d cannot be a play in progress"),
        ({**NAMING, "turn": "0:7dx4d"}, "7dx4d cannot be a play in progress"),
        ({**NAMING, "turn": "0:7dx4s"}, "7dx4s cannot be a play in progress"),
        ({"totals": "12/11"}, "totals before this round were 12/11: the set was over (target 11)"),
        (
            {"rules": "scopa:target_tie=draw", "totals": "11/11"},
            "totals before this round were 11/11: the set was over (target 11)",
        ),
        ({"sets": "1/0"}, "side 0 has won 1 sets; allowed are 0 .. 0"),
        ({"rules": "german_best_of_3", "sets": "0/2"}, "side 1 has won 2 sets; allowed are 0 .. 1"),
        ({**OVER, "totals": "1/5"}, "totals 1/5 are less than the points of this round, 2/0"),
        ({**OVER, "totals": "12/5"}, "side 0 has won 0 sets; allowed are 1 .. 1"),
        ({**OVER, "totals": "12/5", "sets": "1/1"}, "side 1 has won 1 sets; allowed are 0 .. 0"),
        (
            {**OVER, "totals": "14/5", "sets": "1/0"},
            "totals before this round were 12/5: the set was over (target 11)",
        ),
    ],
)
def test_status_names_what_is_impossible(fields: dict[str, str], message: str) -> None:
    position = parse_position(changed(**fields))
    assert [problem.startswith(message) for problem in position.status()].count(True) == 1
    for read in (Game.from_text, View.from_text):
        refused = refusal(PositionError, read, position.text())
        assert refused is not None
        assert message in refused


def test_several_faults_are_all_named() -> None:
    position = parse_position("scopa 7d7d/?3 2d ?30 Ad/- 0/0 1 1 0")
    assert len(position.status()) >= 5


@given(st.text(max_size=60) | st.text(alphabet="scopa 7d3c/?-0123456789:x", max_size=80))
def test_any_text_is_a_position_or_refused(text: str) -> None:
    message = refusal(NotationError, parse_position, text)
    assert message is not None or parse_position(text).status() is not None


SOME_TEXTS = tuple(game.text() for text in TEXTS for game in some_games(text, 2))


@settings(max_examples=400)
@given(st.sampled_from(SOME_TEXTS), st.data())
def test_a_damaged_position_is_read_or_refused(text: str, data: st.DataObject) -> None:
    """Characters changed, dropped or doubled: a ValueError with a message, or a position that can be played."""
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        new = data.draw(st.sampled_from(["", text[at] * 2, *"0123456789dcsbARF/?-: x"]))
        text = text[:at] + new + text[at + 1 :] or " "
    message = refusal(ValueError, Game.from_text, text)
    if message is not None:
        assert message
        return
    game = Game.from_text(text)
    assert Game.from_text(game.text()).text() == game.text()
    while not game.round_over:
        game.act(int(game.action_mask().nonzero()[0][0]))
