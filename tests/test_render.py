"""The table and the scoresheet as text."""

from __future__ import annotations

import random
import re

import pytest

from helpers import ALL_PRESETS, SHORT_MATCHES, VARIANTS, play_randomly
from scopa_env import Game, Rules
from scopa_env.cards import parse_cards
from scopa_env.render.text import Names, scoresheet_text, table_text

pytestmark = pytest.mark.nojit

# the table


def dealt(rules: str, first: str) -> Game:
    """Return a game of which seat 1 deals a deck that begins with `first`."""
    begin = parse_cards(first)
    of = Rules.parse(rules)
    return Game(of, dealer=1, deck=[*begin, *(card for card in of.deck if card not in begin)])


def test_the_table_of_a_game() -> None:
    game = dealt("scopa:napola=true,re_bello_points=1", "7d 5d 3c 6c Rs Fs 4c 3b 7s Rd")
    game.push_text("7dx7s")
    assert table_text(game).splitlines() == [
        "scopa:napola=true,re_bello_points=1 to 11",
        "seat 0  3c Rs",
        "seat 1  5d 6c Fs  dealer, to play",
        "table   Rd 4c 3b",
        "stock   30 cards",
        "",
        "        points  cards  coins  sevens  sweeps",
        "seat 0       0      2      1       2       0   settebello, captured last",
        "seat 1       0      0      0       0       0",
        "piles",
        "  seat 0  7d 7s",
        "  seat 1  -",
    ]


def test_the_observer_of_a_view_stands_next_to_the_table() -> None:
    game = Game("scopa:players=3", seed=1, dealer=0)
    lines = table_text(game.view(1), piles=False).splitlines()
    assert [line.split()[1] for line in lines[1:4]] == ["2", "0", "1"]
    assert [line.count("??") for line in lines[1:4]] == [3, 3, 0]


def test_sides_of_teams_are_named() -> None:
    lines = table_text(Game("scopone", seed=2, dealer=3)).splitlines()
    assert [line[-7:] for line in lines[1:5]] == ["to play", " side 1", " side 0", " dealer"]
    assert [line[:6] for line in lines[-2:]] == ["  side", "  side"]


def test_a_capture_that_is_being_named_is_shown() -> None:
    game = dealt("scopa", "7d 5d 3c 6c Rs Fs Ac 2c 4c 6s")
    game.act(6)
    assert table_text(game).splitlines()[3] == "table   Ac 2c 4c 6s  playing 7d for Ac"
    game.act(65)
    assert table_text(game).splitlines()[3] == "table   2c 4c"


def test_long_piles_are_wrapped() -> None:
    game = Game("scopone_scientifico", seed=1)
    play_randomly(game, random.Random(1))
    text = table_text(game, Names(("a", "b", "c", "d"), ("a and c", "b and d")))
    assert max(map(len, text.splitlines())) <= 80
    assert sorted(parse_cards(" ".join(re.findall(r"[A2-7FCR][dcsb]\b", text)))) == list(range(40))


# the scoresheet


SHEETS = {
    "scopa -/- - - Ad2d3d4d5d6d7dFdCdAc2c3c4c5c6c7cFcCc2s/"
    "RdRcAs3s4s5s6s7sFsCsRsAb2b3b4b5b6b7bFbCbRb 1/2 - 0 1 10/7": """\
            seat 0  seat 1
cards       19      21  +1
coins        9  +1   1
settebello  7d  +1   -
primiera    54      62  +1
sweeps       1  +1   2  +2
this round      +3      +4
total           10       7   to 11
best of each suit
  seat 0  7d 7c 2s     54   1 suit missing: out of the contest
  seat 1  Rd Rc 7s 7b  62""",
    "scopa_dassi:re_bello_points=1,majority=absolute,sets_to_win=2 -/- - - Ad2d3d5d4dAc2c3c4c5cFdCdRd3s3b/"
    "6d7d6c7cFcCcRcAs2s4s5s6s7sFsCsRsAb2b4b5b6b7bFbCbRb 1/12 - 0 1 31/30 2/1": """\
               seat 0  seat 1
cards          15      25  +1
coins           8  +1   2
settebello      -      7d  +1
primiera       58      84  +1
sweeps          1  +1  12 +12
napola      Ad-5d  +5   -
re bello       Rd  +1   -
this round         +8     +15
total              31      30   to 31
sets won            2       1   2 win the match
best of each suit
  seat 0  Ad Ac 3s 3b  58
  seat 1  7d 7c 7s 7b  84""",
}


@pytest.mark.parametrize("position", SHEETS)
def test_scoresheets_of_known_rounds(position: str) -> None:
    game = Game.from_text(position)
    assert scoresheet_text(game) == SHEETS[position]
    assert scoresheet_text(game.view(1)) == SHEETS[position]


@pytest.mark.parametrize("text", [*ALL_PRESETS, *VARIANTS, *SHORT_MATCHES])
def test_the_scoresheet_adds_up(text: str) -> None:
    """The points of the categories sum to the points of the round, by side."""
    rng = random.Random(text)
    for seed in range(2):
        game = Game(text, seed=seed)
        play_randomly(game, rng)
        outcome = game.outcome()
        assert outcome is not None
        sides = game.rules.sides
        names = Names((), tuple(f"a long name {side}" for side in range(sides)))
        lines = scoresheet_text(game, names).partition("best of")[0].splitlines()
        # columns begin two spaces behind the one before and are as wide as the names or wider
        ends = [lines[0].index(name) + len(name) for name in names.sides]
        found = [
            [int(plus or 0) for plus in [line[end - 3 : end].strip() for end in ends]]
            for line in lines[1 : -2 - (game.rules.sets_to_win > 1)]
        ]
        assert tuple(map(sum, zip(*found, strict=True))) == outcome.points
        row = {line.split()[0]: [int(number) for number in re.findall(r"[+ ](\d+)", line)] for line in lines[1:]}
        assert row["this"] == list(outcome.points)
        assert row["total"][:sides] == list(outcome.totals)


def test_the_scoresheet_before_the_end() -> None:
    game = dealt("mini_scopa", "4d Ad 2d 2c 3c Ac")
    game.push_text("4dx")
    assert scoresheet_text(game).splitlines() == [
        "              seat 0  seat 1",
        "cards          3  +1   0",
        "coins          1  +1   0",
        "sweeps         1  +1   0",
        "so far            +3      +0",
        "total before       0       0   to 11",
    ]


def test_remarks_on_categories_that_nobody_wins() -> None:
    three = Game.from_text(
        "scopa:players=3,majority=absolute -/-/- - - 7dAdRdCdRc4s4c5c/2d3d5d6d4d2c6c3c7c/"
        "FdAcFcCcAs2s3s5s6s7sFsCsRsAb2b3b4b5b6b7bFbCbRb 0/0/1 - 2 1 3/2/4"
    )
    assert scoresheet_text(three).splitlines()[2] == "coins        4       5       1       nobody has more than half"
    two = Game.from_text(
        "scopa -/- - - Ad2d3d4d5d6d7dFdCdRd2c3c4c5c6cFcCcRc/Ac7cAs2s3s4s5s6s7sFsCsRsAb2b3b4b5b6b7bFbCbRb 0/0 - 0 1 2/1"
    )
    assert scoresheet_text(two).splitlines()[4] == "primiera    39      63       nobody"


def test_a_short_run_of_coins() -> None:
    game = Game.from_text("mini_scopa:napola=true -/- - 4d4c Ad2d3d2c/Ac3c 0/0 - 0 1 5/0")
    assert "napola      Ad-3d  +3   -" in scoresheet_text(game).splitlines()
