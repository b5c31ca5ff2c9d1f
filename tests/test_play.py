"""`scopa play`: whole games by typed moves, undo, bad input, and what the person is shown."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest
from helpers import ALL_PRESETS, SHORT_MATCHES
from scopa_agents import play_text
from scopa_agents.play import Session

from scopa_env import Game, Move, Rules, make_agent

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


def everything(game: Game) -> tuple[bytes, list[bytes]]:
    return game.records.tobytes(), [records.tobytes() for records in game.past]


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
        assert [int(number) for number in re.findall(r" (\d+)\b", last.partition(":")[2])] == list(scores)


def test_a_single_round_of_a_match() -> None:
    person = Person("scopa", lambda person, prompt: "" if "Enter" in prompt else "1").run()
    assert not person.game.match_over
    assert person.prompts[-1] == "Enter ends the game: "
    assert "Round 2" not in person.text


# undo


@pytest.mark.parametrize("text", ["mini_scopa", "escoba", "scopa:players=3", "scopone", *SHORT_MATCHES])
def test_undo_restores_the_game_exactly(text: str) -> None:
    """At every place: in a round, over the boundary of rounds, and when all is over."""
    rng = random.Random(text)
    trail: list[tuple[bytes, list[bytes]]] = []
    expected: list[tuple[bytes, list[bytes]]] = []
    kinds: set[str] = set()

    def answer(person: Person, prompt: str) -> str:
        now = everything(person.game)
        if expected:
            assert now == expected.pop()
        if trail and len(person.prompts) < 60 and rng.random() < (0.7 if "Enter" in prompt else 0.3):
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
    before: list[tuple[bytes, int]] = []

    def answer(person: Person, prompt: str) -> str:
        now = person.game.records.tobytes()
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

    game = Game.from_text("scopa 2d3c4s/?3 7cFc ?32 -/- 0/0 0 - 1".replace("?32", "?31").replace("?3 ", "5d6d7d "))


def test_an_ambiguous_move_names_the_moves() -> None:
    game = Game.from_view("scopa")
