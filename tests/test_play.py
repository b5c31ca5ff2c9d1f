"""`scopa play`: whole games by typed moves, undo, bad input, and what the person is shown."""

from __future__ import annotations

import io
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from rich.console import Console

from helpers import ALL_PRESETS, SHORT_MATCHES
from scopa_agents import play_text
from scopa_agents.play import Quit, Session, play_command
from scopa_env import Game, IllegalMove, Move, Rules, View, make_agent
from scopa_env.cards import card_text, parse_card, parse_cards
from scopa_env.record import read_records
from scopa_env.render.text import Names, table_text

OTHERS = (
    "scopa:players=3",
    "scopa:players=6",
    "scopa:players=6,teams=true,partner_hand_visible=true",
    "german_4p:partner_hand_visible=true",
    "escoba:obligation=card,dealer_bonus=10:3+15:1+20:2",
    "scopa_dassi:obligation=hand,ace_on_empty=bank,players=3",
    "scopa:deals=2,table_size=6,hand_size=5,redeal_kings=2",
)
TEXTS = (*ALL_PRESETS, *OTHERS)
CARD = re.compile(r"(?<![A-Za-z0-9])(?:\+?x?[A2-7FCR][dcsb])+(?![a-z0-9])|[A2-7FCR][dcsb]x")


class Person:
    """Someone at the terminal: types what `answer` says and keeps what is shown.

    `answer` gets the person and the prompt; an exception of it, such as EOFError, comes out of `read`.
    """

    def __init__(
        self,
        rules: str,
        answer: Callable[[Person, str], str],
        *,
        seat: int = 0,
        seed: int = 1,
        against: str = "greedy",
        game: Game | None = None,
        whole_match: bool = False,
        pause: bool = True,
    ) -> None:
        of = Rules.parse(rules)
        agents = tuple(None if other == seat else make_agent(against, seed + other) for other in range(of.players))
        self.seat = seat
        self.answer = answer
        self.prompts: list[str] = []
        self.shown: list[str] = []
        self.cast = play_text.Cast(of, seat, agents)
        self.session = Session(
            game or Game(of, seed=seed),
            self.cast,
            make_agent("greedy", seed),
            self.read,
            self.write,
            whole_match=whole_match,
            pause=pause,
        )

    @property
    def game(self) -> Game:
        return self.session.game

    @property
    def text(self) -> str:
        return "\n".join(self.shown)

    def read(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return self.answer(self, prompt)

    def write(self, text: str) -> None:
        self.shown.append(text)

    def run(self) -> Person:
        self.session.run()
        return self


def typed(*lines: str) -> Callable[[Person, str], str]:
    """Answer with these lines, then the input ends."""
    left = iter(lines)

    def answer(person: Person, prompt: str) -> str:
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    return answer


Everything = tuple[object, list[object]]


def everything(game: Game) -> Everything:
    """Return every field of the record, and of those of the rounds before."""
    now, *past = ({name: one[name].tolist() for name in one.dtype.names} for one in (game.records, *game.past))
    return now, past


def game_of(rules: str, first: str) -> Game:
    """Return a game of which seat 1 deals a deck that begins with `first`."""
    of = Rules.parse(rules)
    begin = parse_cards(first)
    deck = [*begin, *(card for card in of.deck if card not in begin)]
    return Game(of, seed=1, dealer=1, deck=deck)


def cast_of(rules: Rules, against: str = "greedy") -> play_text.Cast:
    """Return a cast with the person in seat 0."""
    agent = make_agent("greedy", 1)
    agent.name = against
    return play_text.Cast(rules, 0, (None, *[agent] * (rules.players - 1)))


def run_until_end_of_input(person: Person) -> Person:
    with pytest.raises(EOFError):
        person.run()
    return person


# whole games


@pytest.mark.parametrize("text", TEXTS)
def test_a_round_by_number_and_by_text(text: str) -> None:
    """What is typed is what is played, from every seat; moves as text in each of their forms."""
    rng = random.Random(text)
    meant: list[Move] = []

    def answer(person: Person, prompt: str) -> str:
        if person.game.round_over:
            return ""
        moves = person.game.legal_moves
        number = rng.randrange(len(moves))
        meant.append(moves[number])
        same_card = [move for move in moves if move.card == moves[number].card and move.captured]
        forms = [str(number + 1), f" {moves[number]} ", str(moves[number]).upper().replace("X", "x")]
        if same_card == [moves[number]]:
            forms.append(f"{str(moves[number])[:2]}x")
        return rng.choice([*forms, person.game.move_text(moves[number])])

    for seat in range(Rules.parse(text).players):
        meant.clear()
        person = Person(text, answer, seat=seat, seed=rng.randrange(1 << 32), against="random").run()
        assert [play.move for play in person.game.plays if play.seat == seat] == meant
        assert person.game.round_over


@pytest.mark.parametrize("text", SHORT_MATCHES)
@pytest.mark.parametrize("pause", [True, False])
def test_whole_matches(text: str, pause: bool) -> None:
    """Every round has its scoresheet; the result of the match is that of the game."""
    for seed in range(6):
        person = Person(
            text, lambda person, prompt: "" if "Enter" in prompt else "1", seed=seed, whole_match=True, pause=pause
        )
        game = person.run().game
        outcome = game.outcome()
        assert outcome is not None
        assert outcome.match_over
        rounds = len(game.past) + 1
        assert person.text.count("is over.") == rounds
        assert person.text.count("this round") == rounds
        assert sum("Enter" in prompt for prompt in person.prompts) == (rounds if pause else 0)
        last = person.shown[-1]
        winner = outcome.match_winner
        assert last.startswith("The match is drawn" if winner is None else f"{person.cast.wins(winner)} the match: ")
        scores = outcome.sets if game.rules.sets_to_win > 1 else outcome.totals
        assert [int(number) for number in re.findall(r"(\d+)(?=,| sets| points)", last)] == list(scores)


def test_a_single_round_of_a_match() -> None:
    person = Person("scopa", lambda person, prompt: "" if "Enter" in prompt else "1").run()
    assert not person.game.match_over
    assert person.prompts[-1] == "Enter ends the game: "
    assert "Round 2" not in person.text


# undo


@pytest.mark.parametrize("text", ["mini_scopa", "escoba", "scopa:players=3", "scopone:target=4,sets_to_win=2"])
def test_undo_restores_the_game_exactly(text: str) -> None:
    """At every place: in a round, over the boundary of rounds, and when all is over."""
    rng = random.Random(text)
    trail: list[Everything] = []
    expected: list[Everything] = []
    kinds: set[str] = set()

    def answer(person: Person, prompt: str) -> str:
        now = everything(person.game)
        if expected:
            assert now == expected.pop()
        if trail and rng.random() < (0.5 if "Enter" in prompt else 0.25):
            expected.append(trail.pop())
            kinds.add(
                prompt if "Enter" in prompt else "round before" if len(expected[0][1]) < len(now[1]) else "in a round"
            )
            return "undo"
        if "Enter" in prompt:
            return ""
        trail.append(now)
        return "1"

    for seed in range(12):
        trail.clear()
        Person(text, answer, seed=seed, whole_match=True).run()
    assert {"in a round", "round before", "Enter ends the game: "} <= kinds


def test_nothing_to_undo() -> None:
    person = run_until_end_of_input(Person("scopa", typed("undo", "1", "undo", "undo")))
    assert person.shown.count("There is no move of yours to take back.") == 2
    assert sum(play.seat == 0 for play in person.game.plays) == 0


# bad input


BAD_LINES = (
    "0",
    "99",
    "9" * 5000,
    "-1",
    "1.0",
    "",
    "²",
    "x",
    "7d>",
    "7d7c",
    "7dx7",
    "7dx7d7d",
    "5d+",
    "undo 3",
    "\x00\x1b[31m",
    "\udcff",
    "a" * 5000,
    "{markup} [bold]",
    "7dx7c7s7b",
    "10d",
    "Rdx",
)


def test_bad_input_gives_one_line_and_changes_nothing() -> None:
    before: list[tuple[Everything, int]] = []

    def answer(person: Person, prompt: str) -> str:
        now = everything(person.game)
        if before:
            records, shown = before[-1]
            assert now == records
            (message,) = person.shown[shown:]
            assert "\n" not in message
            assert message.isascii()
            assert message.isprintable()
            assert len(message) < 200
        before.append((now, len(person.shown)))
        if len(before) > len(BAD_LINES):
            raise EOFError
        return BAD_LINES[len(before) - 1]

    person = Person("scopa", answer, game=game_of("scopa", "7d 2d 3c 2c Rc 2s 7c 7s Fc Fs"), pause=False)
    run_until_end_of_input(person)
    assert len(before) == len(BAD_LINES) + 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("7dx", "move '7dx': could be 7dx7c, 7dx7s"),
        ("7d", "move '7d': legal with 7d are 7dx7c, 7dx7s"),
        ("Rc+", "'Rc+' is no move, number or command; type for example 3c or 1, or help"),
        ("7dx7c+", "move '7dx7c+': no sweep, the table keeps Fc 7s Fs"),
        ("5d", "move '5d': seat 0 cannot play it; legal are 7dx7c, 7dx7s, 3c, Rc"),
        ("5", "5: the moves have the numbers 1 .. 4"),
        ("", "type for example 7dx7c or 1, or help"),
        ("hilfe", "'hilfe' is no move, number or command; type for example 7dx7c or 1, or help"),
    ],
)
def test_what_is_wrong_is_said(line: str, message: str) -> None:
    game = game_of("scopa", "7d 2d 3c 2c Rc 2s 7c 7s Fc Fs")
    person = run_until_end_of_input(Person("scopa", typed(line), game=game))
    assert person.shown[-1] == message.replace("example 3c", "example 7dx7c")


def test_at_the_end_of_a_round_only_enter_goes_on() -> None:
    lines = ["1", "1", "7d", "3", "moves", "hint", "table", "help", "?", "HELP ", "quit"]
    person = Person("mini_scopa", typed(*lines))
    with pytest.raises(Quit):
        person.run()
    assert person.text.count("the round is over; press Enter, or type undo, table, help or quit") == 2
    assert person.shown.count("The round is over.") == 2
    assert person.text.count("Commands:") == 3


@pytest.mark.parametrize("lines", [(), ("1",), ("1", "1"), ("hint", "1")])
def test_the_input_may_end_anywhere(lines: Sequence[str]) -> None:
    run_until_end_of_input(Person("mini_scopa", typed(*lines)))


def test_an_agent_that_cheats_is_named() -> None:
    for decided, message in [
        (Move(39), r"Move\(card=39, captured=\(\)\) is not legal"),
        (Move(99), "is not legal"),
        (None, "None is no move"),
        ((1, 2, 3), r"\(1, 2, 3\) is no move"),
    ]:
        agents = (None, make_agent(lambda view, decided=decided: decided))  # type: ignore[misc]
        rules = Rules.preset("scopa")
        game = game_of("scopa", "7d 2d 3c 2c Rc 2s 7c 7s Fc Fs")
        session = Session(
            game, play_text.Cast(rules, 0, agents), make_agent("greedy"), lambda prompt: "1", lambda text: None
        )
        with pytest.raises(IllegalMove, match=f"'<lambda>'.*{message}"):
            session.run()


# hints


def test_a_hint_is_what_the_agent_plays() -> None:
    game = game_of("scopa", "7d 2d 3c 2c Rc 2s 7c 7s Fc Fs")
    person = run_until_end_of_input(Person("scopa", typed("hint", "HINT"), game=game))
    move = make_agent("greedy", 1).act(game.view(0))
    assert person.shown[-1] in (f"greedy would play {move} (number 1).", f"greedy would play {move} (number 2).")


def test_an_agent_that_cannot_hint_is_no_end() -> None:
    def fail(view: View) -> Move:
        raise ValueError("trained for other rules")

    person = Person("scopa", typed("hint", "1"))
    person.session._hint = make_agent(fail)
    run_until_end_of_input(person)
    assert "No hint: trained for other rules" in person.shown
    assert any(play.seat == 0 for play in person.game.plays)


# what is shown


def cards_in(text: str) -> set[int]:
    return {parse_card(card) for word in CARD.findall(text) for card in re.findall("[A2-7FCR][dcsb]", word)}


@pytest.mark.parametrize("text", TEXTS)
def test_only_what_the_seat_knows_is_shown(text: str) -> None:
    """Each card that is shown lies open, or is in a hand that the person's view holds, at that moment."""
    rng = random.Random(text)
    left = 3 * Rules.parse(text).num_plays

    class Watched(Person):
        def write(self, text: str) -> None:
            super().write(text)
            view = self.game.view(self.seat)
            known = {card for cards in (*view.hands, *view.piles, view.table) for card in cards}
            assert cards_in(text) <= known, text

    def answer(person: Person, prompt: str) -> str:
        nonlocal left
        left -= 1
        if left < 0:
            raise EOFError
        if rng.random() < 0.4:
            return rng.choice(["help", "?", "hint", "moves", "table", "undo", "", "nonsense"])
        return "" if "Enter" in prompt else "1"

    person = Watched(text, answer, seat=rng.randrange(2), whole_match=True, against="random")
    with suppress(EOFError):
        person.run()
    assert cards_in(person.text)


def test_the_scan_for_cards_finds_them() -> None:
    found = cards_in("1 5sx2d3b+   2 Fc  'Rd' Ac, 7dx is; Suits: d coins; Ranks: A 2 3 4 5 6 7 F C R; Cs.")
    assert found == {parse_card(card) for card in ("5s", "2d", "3b", "Fc", "Rd", "Ac", "7d", "Cs")}


def test_agents_get_views_of_their_own_seat() -> None:
    seen: list[View] = []

    def act(view: View) -> Move:
        seen.append(view)
        return view.legal_moves[0]

    rules = Rules.parse("scopone")
    agents = (make_agent(act), None, make_agent(act), make_agent(act))
    session = Session(
        Game(rules, seed=1),
        play_text.Cast(rules, 1, agents),
        make_agent("greedy"),
        lambda prompt: "1",
        lambda text: None,
    )
    session._whole_match = session._pause = False
    session.run()
    assert {view.observer for view in seen} == {0, 2, 3}
    for view in seen:
        assert type(view) is View
        assert view.observer == view.seat
        assert all(not hand for seat, hand in enumerate(view.hands) if seat != view.observer)


def told(game: Game, *moves: str) -> str:
    """Return what is shown of the last of these moves."""
    for text in moves[:-1]:
        game.push_text(text)
    move = game.parse(moves[-1])
    before = game.view(0)
    game.push(move)
    return play_text.play_text(before, game.view(0), move, cast_of(game.rules))


SMALL = "mini_scopa:hand_size=1,table_size=1"


@pytest.mark.parametrize(
    ("rules", "deck", "moves", "text"),
    [
        ("mini_scopa", "4d Ad 2d 2c 3c Ac", ["4dx"], "  you     4d takes Ac 3c   SWEEP!"),
        ("mini_scopa", "4d 3d 2d 2c 3c Ac", ["2d", "3dx"], "  greedy  3d takes 3c"),
        ("mini_scopa", "4d Ad 2d 2c 3c Ac", ["4dx", "2c"], "  greedy  2c on the table"),
        (
            "mini_scopa",
            "4d Ad 2d 2c 3c Ac",
            ["4dx", "Ad", "2d", "2cx"],
            "  greedy  2c takes 2d\nLeft on the table: Ad. They go to greedy, last to capture.",
        ),
        (SMALL, "2d 3c Ac", ["2d", "3cxAc2d"], "  greedy  3c takes 2d Ac   (all of the table, but no sweep)"),
        (f"{SMALL},last_sweep=counts", "2d 3c Ac", ["2d", "3cxAc2d"], "  greedy  3c takes 2d Ac   SWEEP!"),
        (
            SMALL,
            "2d Ac 4c",
            ["2d", "Ac"],
            "  greedy  Ac on the table\nLeft on the table: 2d Ac 4c. Nobody has captured, so nobody gets them.",
        ),
        (
            f"{SMALL},deals=2",
            "2d Ac 4c",
            ["2d", "Ac"],
            "  greedy  Ac on the table\nNew hands: 1 card each, the last ones.",
        ),
        (
            f"{SMALL},deals=3",
            "2d Ac 4c",
            ["2d", "Ac"],
            "  greedy  Ac on the table\nNew hands: 1 card each, 2 left to deal.",
        ),
        (
            "mini_scopa:hand_size=1,table_size=0,ace=takes_all,ace_on_empty=bank",
            "Ad 4c",
            ["Ad"],
            "  you     Ad goes to the pile",
        ),
        (
            "mini_scopa:hand_size=1,table_size=0,ace=takes_all,ace_on_empty=bank",
            "Ad 4c",
            ["Ad", "4c"],
            "  greedy  4c on the table\nLeft on the table: 4c. They go to you, last to capture.",
        ),
        ("mini_scopa:hand_size=1,table_size=0,ace=takes_all", "Ad 4c", ["Ad"], "  you     Ad on the table"),
    ],
)
def test_what_happens_is_told(rules: str, deck: str, moves: list[str], text: str) -> None:
    assert told(game_of(rules, deck), *moves) == text


@pytest.mark.parametrize(
    ("rules", "deck", "text"),
    [
        ("mini_scopa", "4d Ad 2d 2c 3c Ac", "Round 3: greedy deals 2 cards to each hand, on the table Ac 3c."),
        ("scopone_scientifico", "", "Round 3: opponents deal"),
        (
            "escoba",
            "2d 3d 4d 2c 3c 4c Ad Ac 6d 7d",
            "Round 3: greedy deals 3 cards to each hand, on the table Ad 6d 7d Ac.\n"
            "They sum to 15: the dealer's side, greedy, takes them as 1 sweep.",
        ),
        (
            "escoba",
            "2d 3d 4d 2c 3c 4c Rd Rc Cd Ad",
            "Round 3: greedy deals 3 cards to each hand, on the table Ad Cd Rd Rc.\n"
            "They sum to 30: the dealer's side, greedy, takes them as 2 sweeps.",
        ),
    ],
)
def test_the_deal_is_told(rules: str, deck: str, text: str) -> None:
    game = game_of(rules, deck)
    if game.rules.teams:
        text = "Round 3: greedy 1 deals 10 cards to each hand, none to the table."
    assert play_text.deal_text(game.view(0), cast_of(game.rules), 3) == text


def test_everything_between_two_decisions_is_told() -> None:
    rules = "scopa:players=4,teams=true,hand_size=1,table_size=0,redeal_kings=0"
    person = run_until_end_of_input(Person(rules, typed("2d"), game=game_of(rules, "7d 7c 2d 2c Rd Rc")))
    assert [text for text in person.shown if text.startswith("  ")] == [
        "  partner   7d on the table",
        "  greedy 3  7c takes 7d   SWEEP!",
        "  you       2d on the table",
        "  greedy 1  2c takes 2d   SWEEP!\nNew hands: 1 card each, 32 left to deal.",
        "  partner   Rd on the table",
        "  greedy 3  Rc takes Rd   SWEEP!",
    ]


def test_the_table_of_a_decision() -> None:
    game = game_of("german_best_of_3", "4d 5d 2d 5s 3c 5b Ad Fc Ac Fs")
    cast = cast_of(game.rules)
    assert play_text.turn_text(game.view(0), cast).splitlines() == [
        "",
        "german_best_of_3 to 11",
        "greedy  ?? ?? ??     dealer",
        "you     2d 4d 3c     to play",
        "table   Ad Ac Fc Fs",
        "stock   30 cards",
        "",
        "        sets  points  cards  coins  sevens  sweeps",
        "you        0       0      0      0       0       0",
        "greedy     0       0      0      0       0       0",
        "",
        "1 2dxAdAc",
    ]


def test_hands_of_team_mates_are_shown_where_the_rules_show_them() -> None:
    for visible in (False, True):
        game = Game(f"german_4p:partner_hand_visible={str(visible).lower()}", seed=4)
        view = game.view(0)
        mate = " ".join(card_text(card) for card in game.hands[2])
        text = table_text(view, cast_of(game.rules).names)
        assert (f"partner   {mate}" in text) == visible
        assert text.count("??") == (6 if visible else 9)


def test_names() -> None:
    assert cast_of(Rules.preset("scopa"), "learned:a/long/path/to/a.file").names.seats == ("you", "learned")
    assert cast_of(Rules.parse("scopa:players=3")).names == Names(
        ("you", "greedy 1", "greedy 2"), ("you", "greedy 1", "greedy 2")
    )
    assert cast_of(Rules.preset("scopone")).names == Names(
        ("you", "greedy 1", "partner", "greedy 3"), ("your team", "opponents")
    )
    six = cast_of(Rules.parse("scopa:players=6,teams=true"))
    assert six.names.seats == ("you", "greedy 1", "partner 2", "greedy 3", "partner 4", "greedy 5")
    assert six.wins(0) == "Your team wins"
    assert six.wins(1) == "Your opponents win"


@pytest.mark.parametrize(
    ("no_color", "term", "coloured"), [(None, "xterm-256color", True), ("1", "xterm", False), (None, "dumb", False)]
)
def test_colours_change_no_character(
    monkeypatch: pytest.MonkeyPatch, no_color: str | None, term: str, coloured: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", term)
    if no_color:
        monkeypatch.setenv("NO_COLOR", no_color)
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, highlighter=play_text.CardHighlighter(), theme=play_text.THEME)
    text = "Round 1\n1 5sx2d3b+   [2] Fc :smile:  [bold]  SWEEP!"
    console.print(text, markup=False, emoji=False, soft_wrap=True)
    assert re.sub("\x1b\\[[0-9;]*m", "", out.getvalue()) == text + "\n"
    assert ("\x1b[33m2d" in out.getvalue()) == coloured
    assert ("\x1b[32m3b" in out.getvalue()) == coloured


# the command


def play(monkeypatch: pytest.MonkeyPatch, lines: Sequence[str], **options: object) -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    return play_command(**{"seed": 5, **options})  # type: ignore[arg-type]


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "game.toml"
    status = play(
        monkeypatch, ["1"] * 40, against="random", partner="greedy", rules="scopone", match=False, record=file
    )
    out = capsys.readouterr().out
    assert status == 0
    assert out.startswith(
        "scopone: one round, seed 5\n"
        "You have seat 0; the others: seat 1 random 1, seat 2 partner (greedy), seat 3 random 3.\n"
    )
    assert out.count("Your move: 1\n") == 9
    assert "Enter" not in out
    assert out.endswith(f"The game is in {file}.\n")
    (record,) = read_records(file)
    assert record.players == ("person", "random", "greedy", "random")
    assert record.replay().round_over
    assert "\x1b" not in out


@pytest.mark.parametrize("lines", [["quit"], ["1", "QUIT"], [], ["1", "1"]])
def test_quit_and_the_end_of_the_input_are_polite(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, lines: list[str]
) -> None:
    file = tmp_path / "games.jsonl"
    assert play(monkeypatch, lines, record=file) == 0
    assert "The game ends here." in capsys.readouterr().out
    (record,) = read_records(file)
    assert not record.replay().round_over


def test_an_interrupt_is_polite(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(prompt: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupt)
    assert play_command(seed=1) == 130
    assert capsys.readouterr().out.endswith("Interrupted; the game ends here.\n")


def test_the_same_seed_gives_the_same_game(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    outs = []
    for seed in (7, 7, 8):
        play(monkeypatch, ["1"] * 18, seed=seed, against="random")
        outs.append(capsys.readouterr().out)
    assert outs[0] == outs[1] != outs[2]


def test_a_seed_is_drawn_and_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    play(monkeypatch, [], seed=None)
    assert re.match(r"scopa: a match to 11, seed \d+\n", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": "skopa"}, "did you mean 'scopa'"),
        ({"against": "greed"}, "did you mean 'greedy'"),
        ({"hint": "nobody"}, "agent 'nobody'"),
        ({"seat": 2}, r"seat=2: allowed are seats 0 \.\. 1"),
        ({"partner": "greedy"}, "partner='greedy': allowed in team games, not with rules scopa"),
        ({"seed": -1}, "seed=-1: allowed are whole numbers from 0"),
        ({"record": Path("game.txt")}, r"record='game.txt': record files end in \.toml or \.jsonl"),
        ({"record": Path("nowhere/game.toml")}, "there is no folder 'nowhere'"),
    ],
)
def test_bad_options_are_refused_before_anything_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        play(monkeypatch, ["1"], **options)
    assert capsys.readouterr().out == ""


def test_a_record_that_exists_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "game.toml"
    file.write_text("mine")
    with pytest.raises(ValueError, match="exists already"):
        play(monkeypatch, ["1"], record=file)
    assert file.read_text() == "mine"


def test_the_command_in_a_pipe() -> None:
    """The real command: bytes that are no text, a transcript without colours, exit status 0 at the end of the input."""
    done = subprocess.run(
        [sys.executable, "-m", "scopa_train.cli", "play", "--round", "--rules", "mini_scopa", "--seed", "3"],
        input=b"\xff\xfe\n7\n?\n1\n",
        capture_output=True,
        env={**os.environ, "TERM": "xterm-256color"},
        timeout=120,
        check=False,
    )
    out = done.stdout.decode()
    assert done.returncode == 0, done.stderr.decode()
    assert "is no move, number or command" in out
    assert "7: the moves have the numbers 1 .. 2" in out
    assert out.endswith("The game ends here.\n")
    assert "\x1b" not in out
