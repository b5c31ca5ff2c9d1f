"""Language models as agents: what they are shown, what is read from their answers, faults and their counts."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import scopa_env
from helpers import ALL_PRESETS, VARIANTS, first_turn, random_game
from scopa_agents.arena import ArenaSettings, duel, tournament
from scopa_agents.text import (
    AnswerError,
    AnswerFault,
    Counts,
    Exchange,
    TextAgent,
    counts,
    move_words,
    moves_text,
    parse_answer,
    position_text,
    prompt,
    read_exchanges,
    rules_text,
    task_text,
    text_agent,
    turn_text,
)
from scopa_agents.text.stand_ins import Careless, hopeless, most_cards
from scopa_env import AgentError, Game, Move, Rules, View, agents, make_agent
from scopa_env.actions import next_action
from scopa_env.agents import AgentUnavailable
from scopa_env.rules import FIELD_NAMES

EVERY = [*ALL_PRESETS, *VARIANTS]


def view_of(rules: str, hands: str, table: str) -> View:
    return first_turn(rules, hands, table).view(0)


def playable_games(text: str, count: int) -> list[Game]:
    rng = random.Random(text)
    games = (random_game(text, rng) for _ in range(10 * count))
    return [game for game in games if not game.round_over][:count]


# the rules


def changes(rules: Rules) -> dict[str, list[Any]]:
    """Every other value that a field of `rules` may have, as far as it makes rules that can be played."""
    found: dict[str, list[Any]] = {}
    for name, item in Rules.__dataclass_fields__.items():
        if name not in FIELD_NAMES:
            continue
        low, high = item.metadata.get("range", (0, -1))
        values = [*item.metadata.get("options", ()), *range(low, min(high, low + 3) + 1)]
        for value in values or [{9: 3}]:
            if value == getattr(rules, name):
                continue
            try:
                rules.replace(**{name: value})
            except ValueError:
                continue
            found.setdefault(name, []).append(value)
    return found


MEANINGLESS: dict[str, Callable[[Rules], bool]] = {
    "table_deal": lambda rules: True,  # which card of a shuffled deck goes where
    "deals": lambda rules: False,
    "ace_facing_ace": lambda rules: rules.ace == "normal",
    "ace_scopa": lambda rules: rules.ace == "normal",
    "ace_on_empty": lambda rules: rules.ace == "normal",
    "partner_hand_visible": lambda rules: not rules.teams,
    "primiera_missing": lambda rules: not rules.primiera_points,
    "primiera_faces": lambda rules: not rules.primiera_points or rules.ranks < 8,
    "majority": lambda rules: not (rules.cards_points or rules.coins_points),
    "redeal_kings": lambda rules: rules.ranks < 10,
}
"""Fields that say nothing about a game under some rules."""


@pytest.mark.parametrize("text", ["scopa", "german_4p", "escoba:players=3", "scopa_dassi", "mini_scopa"])
def test_the_rules_in_words_tell_every_other_rule_apart(text: str) -> None:
    rules = Rules.parse(text)
    told = rules_text(rules)
    seen = set()
    for name, values in changes(rules).items():
        if MEANINGLESS.get(name, lambda rules: False)(rules):
            continue
        for value in values:
            other = rules.replace(**{name: value})
            if other.num_deals == rules.num_deals and name == "deals":
                continue
            assert rules_text(other) != told, (name, value)
            seen.add(name)
    assert len(seen) > 15


def test_the_rules_in_words() -> None:
    told = rules_text(Rules.parse("escoba"))
    assert "that sum to 15 together with it" in told
    assert (
        "If the first table cards sum to 30, the dealer's side takes them before the first play, as 2 sweeps." in told
    )
    assert "Taking is optional" in told
    assert "primiera" not in told
    told = rules_text(Rules.parse("mini_scopa"))
    assert "The deck has 8 cards" in told
    assert "settebello" not in told
    assert "jack" not in told
    told = rules_text(Rules.parse("german_4p:partner_hand_visible=true"))
    assert "seats 0 and 2 against seats 1 and 3" in told
    assert "Team-mates see each other's hands." in told
    assert "An ace takes all cards" in rules_text(Rules.parse("asso_piglia_tutto"))


# the position


@pytest.mark.parametrize("text", EVERY)
def test_a_redraw_of_hidden_cards_changes_nothing_in_the_prompt(text: str) -> None:
    changed = 0
    rng = random.Random(text)
    for game in playable_games(text, 4):
        for observer in range(game.rules.players):
            view = game.view(observer)
            other = view.sample(rng.randrange(1 << 32))
            changed += other.hands != game.hands or other.stock != game.stock
            again = other.view(observer)
            if view.to_act:
                assert prompt(again) == prompt(view)
            assert position_text(again) == position_text(view)
    assert changed


def test_the_position_in_words() -> None:
    game = Game("scopa", seed=3, dealer=1)
    game.push_text("FdxAc7s")
    lines = position_text(game.view(1)).splitlines()
    assert "You have seat 1. Dealer of this round: you (seat 1)" in lines
    assert "Your hand: 4 of coins (4d), 7 of cups (7c), 2 of clubs (2b)" in lines
    assert "Hand of opponent (seat 0): 2 hidden cards" in lines
    assert "Table: knight of coins (Cd), 3 of clubs (3b)" in lines
    assert "Stock: 30 cards; 35 plays left in this round" in lines
    pile = "3 cards: Fd Ac 7s; 0 sweeps this round; 0 points before this round"
    assert f"Pile of opponent (seat 0): {pile}" in lines
    assert "1. opponent (seat 0): Fd takes Ac 7s" in lines
    assert f"The position in notation: {game.view(1).text()}" in lines


def test_what_must_be_in_the_last_hidden_hand_is_said() -> None:
    game = Game("scopa", seed=1, dealer=1)
    while game.stock_size:
        assert "it must be these" not in position_text(game.view(0))
        game.push(game.legal_moves[0])
    view = game.view(0)
    line = next(line for line in position_text(view).splitlines() if line.startswith("Hand of opponent"))
    assert re.findall(r"\((\w\w)\)", line) == [scopa_env.cards.card_text(card) for card in game.hands[1]]
    assert "Cards that you have not seen: none" in position_text(view)


def test_cards_that_are_never_dealt_keep_the_last_hand_hidden() -> None:
    game = Game("mini_scopa", seed=1)
    while len(game.plays) < 3:
        assert "it must be these" not in position_text(game.view(game.seat))
        game.push(game.legal_moves[0])


def test_partners_and_their_open_hands() -> None:
    game = Game("german_4p:partner_hand_visible=true", seed=1)
    text = position_text(game.view(0))
    assert "Hand of partner (seat 2): 3 hidden cards" not in text
    assert scopa_env.cards.card_words(game.hands[2][0]) in text
    assert "Hand of opponent (seat 1): 3 hidden cards" in text
    assert "Pile of your team:" in text
    assert "Hand of partner (seat 2): 3 hidden cards" in position_text(Game("german_4p", seed=1).view(0))


def test_a_position_without_its_plays() -> None:
    view = View.from_text("scopa 4d7c2b/?2 Cd3b ?30 -/FdAc7s 0/0 0 1 0")
    assert "How this position came about is not known." in position_text(view)
    assert "No card has been played in this round." in position_text(Game("scopa", seed=3).view(0))


def test_a_play_in_progress() -> None:
    game = first_turn("scopa", "Rd2c3c/4c5c7c", "7d3s6d4s")
    game.act(9)
    text = position_text(game.view(0))
    assert "You are playing the king of coins; what else it takes is still to be said." in text
    assert len(game.legal_moves) == 2
    assert [parse_answer(game.view(0), f"MOVE: {number}") for number in (1, 2)] == game.legal_moves


# moves


@pytest.mark.parametrize("text", EVERY)
def test_number_notation_and_words_of_every_legal_move_are_read_back(text: str) -> None:
    for game in playable_games(text, 5):
        view = game.view(game.seat)
        lines = moves_text(view).splitlines()
        for number, (move, line) in enumerate(zip(view.legal_moves, lines, strict=True), 1):
            words = move_words(view, move)
            notation = view.move_text(move)
            assert line == f"{number}. {notation} - {words}"
            said = [str(number), notation, move.text(), notation.lower(), words, words.upper(), line]
            for one in said:
                assert parse_answer(view, f"MOVE: {one}") == move, one
                assert parse_answer(view, f"First I thought of 7d.\n\n**Move:** `{one}`.") == move, one
                assert parse_answer(view, f"Thinking, 7dx7c?\n```\n{one}\n```") == move, one
                assert parse_answer(view, f"Let me see. Not 7dx7c!\n{one}") == move, one


def test_a_sweep_is_called_one_if_it_counts() -> None:
    view = View.from_text("scopa 7d2c3c/?3 7s ?24 -/AcAs2d2s5c5s6c6s4c 0/0 0 1 1")
    sweep = Move(6, (26,))
    assert move_words(view, sweep) == "the 7 of coins takes the 7 of swords: the whole table, a sweep"
    view = view_of("scopa_dassi", "Ad2c3c/4c5c6c", "5s6s7sRs")
    assert move_words(view, view.legal_moves[0]).endswith("the whole table, but no sweep")
    view = view_of("asso_piglia_tutto", "Ad2c3c/4c5c6c", "5s6s7sRs")
    assert move_words(view, view.legal_moves[0]).endswith("the whole table, a sweep")
    game = Game("scopa", seed=1)
    while len(game.plays) < 35:
        game.push(game.legal_moves[0])
    if len(game.legal_moves[0].captured) == len(game.table):
        assert "but no sweep" in move_words(game.view(game.seat), game.legal_moves[0])


def test_an_ace_that_goes_to_the_pile() -> None:
    view = View.from_text("asso_piglia_tutto:ace_on_empty=bank Ad2c3c/?3 - ?24 -/AcAs2d2s5c5s6c6s4c4s 0/0 0 1 1")
    assert move_words(view, Move(0)) == "the ace of coins goes to your pile"
    assert parse_answer(view, "MOVE: " + move_words(view, Move(0))) == Move(0)


VIEW = ("scopa", "7d4c8s/4b5c6c", "7c7b3d1b")
"""Legal: 7dx7c, 7dx7b, 4cx3dAb, Fsx7cAb, FsxAb7b."""


@pytest.mark.parametrize(
    ("answer", "move"),
    [
        ("7dx7c", "7dx7c"),
        ("MOVE: 2", "7dx7b"),
        ("MOVE: 7d x 7c", "7dx7c"),
        ("Move: 7d>7c", "7dx7c"),
        ("move: 7d -> 7c", "7dx7c"),
        ("MOVE: 7D\u00d77C", "7dx7c"),
        ("MOVE:\n4cx3d1b", "4cx3dAb"),
        ("MOVE: 4c x 3d, Ab", "4cx3dAb"),
        ("MOVE: 4c x 3d and Ab", "4cx3dAb"),
        ("MOVE: 4cx3d+Ab", "4cx3dAb"),
        ("MOVE: 4c>3d+Ab", "4cx3dAb"),
        ("MOVE: 4cx", "4cx3dAb"),
        ("MOVE: 4c", "4cx3dAb"),
        ("MOVE: 8sx7c1b", "Fsx7cAb"),
        ("MOVE: 1. 7dx7c", "7dx7c"),
        ("MOVE: 1 (7dx7c)", "7dx7c"),
        ("MOVE: 1 because it takes a seven", "7dx7c"),
        ("MOVE: 1, as I would not give the 4 of cups away", "7dx7c"),
        ("MOVE: option 1", "7dx7c"),
        ("**MOVE: 1**", "7dx7c"),
        ('{"move": 1}', "7dx7c"),
        ('{"move": "7dx7c"}', "7dx7c"),
        ('{"reason": "a seven", "move": "7dx7c"}', "7dx7c"),
        ("Final answer: 1", "7dx7c"),
        ("MOVE: 2\nOn second thought:\nMOVE: 1", "7dx7c"),
        ("<think>MOVE: 2</think>\n1", "7dx7c"),
        ("```text\n7dx7c\n```", "7dx7c"),
        ("The best is\n\n1.", "7dx7c"),
        ("I choose option 1.", "7dx7c"),
        ("I play 1", "7dx7c"),
        ("The seven of coins takes the seven of cups.", "7dx7c"),
        ("7 of coins takes 7 of cups", "7dx7c"),
        ("Take the 7 of cups with the settebello.", "7dx7c"),
        ("I play the 7 of Coins and capture the 7 of Cups!", "7dx7c"),
        ("Play 7d, taking 7c", "7dx7c"),
        ("il 7 di denari takes il 7 di coppe", "7dx7c"),
        ("MOVE: 7 denari 7 coppe", "7dx7c"),
        ("MOVE: play the 4 of cups", "4cx3dAb"),
        ("MOVE: 4 of cups captures the ace of clubs", "4cx3dAb"),  # a part, and only one move takes it
        ("MOVE: the jack of swords takes the 7 of cups", "Fsx7cAb"),
        ("MOVE: the eight of swords takes the 7 of cups and the one of clubs", "Fsx7cAb"),
        ("I could take 7dx7b, but it would leave a coin. I should not.\nSo 7dx7c it is, I am sure of that.", "7dx7c"),
        ("The choice is 7dx7c.\nGood luck!", "7dx7c"),
        ("\x00MOVE: 1\x00", "7dx7c"),
    ],
)
def test_answers_that_say_a_move(answer: str, move: str) -> None:
    view = view_of(*VIEW)
    assert list(map(str, view.legal_moves)) == ["7dx7c", "7dx7b", "4cx3dAb", "Fsx7cAb", "FsxAb7b"]
    assert str(parse_answer(view, answer)) == move


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("", "the answer is empty"),
        ("   \n\n", "the answer is empty"),
        ("MOVE:", "no move was said"),
        ("MOVE: <move>", "no move was said"),
        ("It depends.", "'It depends' says no move"),
        ("MOVE: 0", "the legal moves have the numbers 1 .. 5"),
        ("MOVE: 6", "the legal moves have the numbers 1 .. 5"),
        ("MOVE: 999999", "numbers 1 .. 5"),
        ("MOVE: 7dx3d", "move '7dx3d': legal with 7d are"),
        ("MOVE: 7dx", "move '7dx': could be"),
        ("MOVE: 7d", "'7d' could be 7dx7c, 7dx7b"),
        ("MOVE: 5cx3d", "seat 0 cannot play it"),
        ("MOVE: 7dx7c+", "no sweep, the table keeps"),
        ("MOVE: the 7 of coins", "could be"),
        ("MOVE: lay the 7 of coins on the table", "is not legal; with the 7 of coins legal are"),
        ("MOVE: the 7 of coins takes nothing", "is not legal"),
        ("MOVE: the 7 of coins takes the 3 of coins", "is not legal"),
        ("MOVE: the 9 of cups", "the knight of cups is neither in your hand nor on the table"),
        ("MOVE: the 7 of cups", "names no card of your hand"),
        ("MOVE: the 7 of coins or the 4 of cups", "names several cards of your hand"),
        ("MOVE: 1 or 2", "several numbers are named: 1, 2"),
        ("MOVE: 1, 2", "several numbers are named: 1, 2"),
        ("MOVE: 3. 7dx7c", "names several moves"),
        ("7dx7c or 7dx7b", "several moves are named: 7dx7b, 7dx7c"),
        ("MOVE: 7dx7c or 7dx7b", "names several moves"),
        ("I like 7dx7c.\nI like 7dx7b.\nHard to say.", "several moves are named: 7dx7b, 7dx7c"),
        ("I would not play the 4 of cups.", "no move was said"),
        ("I keep the 4 of cups.", "no move was said"),
        ("Should I play 4cx3dAb?", "no move was said"),
        ("As the table is full, I have to think.", "says no move"),
        ("<think>MOVE: 1", "the answer is empty"),
        ("MOVE: -1", "-1"),
        ("MOVE: \u22121", "says no move"),
        ("MOVE: " + "7" * 300, ""),
    ],
)
def test_answers_that_say_no_legal_move(answer: str, problem: str) -> None:
    view = view_of(*VIEW)
    with pytest.raises(AnswerError) as error:
        parse_answer(view, answer)
    said = str(error.value)
    assert problem in said
    for move in view.legal_moves:
        assert view.move_text(move) in said
    assert len(said) < 600
    assert said.endswith("\nMOVE: <move>")


def test_number_one_is_not_read_from_a_card() -> None:
    view = view_of("escoba", "1d7c3s/4b5c6c", "5d2b6sFs")
    assert parse_answer(view, "MOVE: 1 of coins takes 6 of swords") == Move(0, (25, 27))
    assert parse_answer(view, "MOVE: 3 of swords") == Move(22)
    assert parse_answer(view, "MOVE: 1. 1 of coins takes 6 of swords") == Move(0, (25, 27))


def test_laying_a_card_that_could_capture() -> None:
    view = view_of("escoba", "7d4c2s/4b5c6c", "8c3d1b5s")
    assert parse_answer(view, "MOVE: lay the 7 of coins") == Move(6)
    assert parse_answer(view, "MOVE: 7d") == Move(6)
    assert parse_answer(view, "MOVE: play the 7 of coins without capturing") == Move(6)
    assert parse_answer(view, "MOVE: put the 7 of coins on the table next to the 8 of cups") == Move(6)
    assert parse_answer(view, "MOVE: the 7 of coins takes the 8 of cups") == Move(6, (17,))
    with pytest.raises(AnswerError, match="'the 7 of coins' could be"):
        parse_answer(view, "MOVE: the 7 of coins")


def test_any_text_is_read_or_refused_in_no_time() -> None:
    view = view_of(*VIEW)
    rng = random.Random(5)
    pieces = [
        "7d",
        "x",
        "7c",
        " ",
        "\n",
        "MOVE:",
        "```",
        "of",
        "coins",
        "seven",
        "2",
        "+",
        ">",
        ",",
        "take",
        "\u2192",
        "\ud800",
    ]
    for _ in range(300):
        text = "".join(rng.choice(pieces) for _ in range(rng.randrange(60)))
        with suppress(AnswerError):
            assert parse_answer(view, text) in view.legal_moves
    for text in (
        "7d x " * 20_000,
        "7d7d7d" * 20_000,
        "`" * 100_000,
        "MOVE: " * 20_000,
        "7 of " * 20_000,
        "a" * 100_000,
    ):
        with pytest.raises(AnswerError):
            parse_answer(view, text)


# the agent


def test_the_agent_plays_what_is_answered() -> None:
    view = view_of(*VIEW)
    prompts = []

    def second(text: str) -> str:
        prompts.append(text)
        return "MOVE: 2"

    agent = TextAgent(second)
    assert agent.name == "text:second"
    assert agent.act(view) == view.legal_moves[1]
    assert prompts == [prompt(view)] == [f"{task_text(view)}\n\n{turn_text(view)}"]
    assert (agent.asked, agent.faults) == (1, 0)
    only = agent.exchanges[0]
    assert (only.prompt, only.answer, only.problem, only.move) == (prompts[0], "MOVE: 2", "", str(view.legal_moves[1]))
    assert (only.position, only.seat, only.agent) == (view.text(), 0, "text:second")


def test_a_bad_answer_is_sent_back_with_what_was_wrong() -> None:
    view = view_of(*VIEW)
    answers = ["MOVE: 7dx3d", "", "MOVE: 7dx7c"]
    prompts = []

    def ask(text: str) -> str:
        prompts.append(text)
        return answers[len(prompts) - 1]

    agent = TextAgent(ask, count_tokens=lambda text: len(text.split()))
    assert str(agent.act(view)) == "7dx7c"
    assert prompts[1].startswith(prompts[0] + "\n\nYour answer was:\nMOVE: 7dx3d\n\nmove '7dx3d': legal with 7d are")
    assert prompts[2].startswith(prompts[1] + "\n\nYour answer was:\n(nothing)\n\nthe answer is empty")
    assert (agent.asked, agent.faults) == (3, 0)
    assert [one.attempt for one in agent.exchanges] == [0, 1, 2]
    assert [one.move for one in agent.exchanges] == ["", "", "7dx7c"]
    assert agent.counts.moves == 1
    assert agent.counts.prompt_characters == sum(map(len, prompts))
    assert agent.counts.answer_characters == sum(map(len, answers))
    assert agent.counts.prompt_tokens == sum(len(text.split()) for text in prompts)
    assert agent.counts.answer_tokens == 4


def test_the_messages_of_a_chat() -> None:
    view = view_of(*VIEW)
    seen: list[Any] = []

    def ask(messages: list[dict[str, str]]) -> str:
        seen.append(messages)
        return "MOVE: 9" if len(seen) == 1 else "MOVE: 1"

    agent = TextAgent(ask, chat=True)
    agent.act(view)
    assert [message["role"] for message in seen[0]] == ["system", "user"]
    assert [message["role"] for message in seen[1]] == ["system", "user", "assistant", "user"]
    assert seen[0][0]["content"] == task_text(view)
    assert seen[0][1]["content"] == turn_text(view)
    assert seen[1][2]["content"] == "MOVE: 9"


@pytest.mark.parametrize("fallback", ["greedy", "random", "pimc:5", lambda view: view.legal_moves[-1]])
def test_after_the_retries_the_fallback_moves(fallback: Any) -> None:
    view = view_of(*VIEW)
    agent = TextAgent(hopeless, fallback=fallback, retries=1, seed=4)
    move = agent.act(view)
    assert move == make_agent(fallback, 4).act(view)
    assert (agent.asked, agent.faults) == (2, 1)
    assert [one.fault for one in agent.exchanges] == [False, True]
    assert [one.move for one in agent.exchanges] == ["", view.move_text(move)]


def test_without_fallback_a_fault_is_an_error() -> None:
    agent = TextAgent(hopeless, fallback=None, retries=0, name="none")
    with pytest.raises(
        AnswerFault, match=r"agent 'none': no legal move in 1 answer, the last: 'It depends' says no move$"
    ):
        agent.act(view_of(*VIEW))
    assert agent.faults == 1


def test_a_single_legal_move_needs_no_question() -> None:
    agent = TextAgent(hopeless)
    game = Game("scopa", seed=1)
    while len(game.legal_moves) > 1:
        game.push(game.legal_moves[0])
    view = game.view(game.seat)
    assert agent.act(view) == view.legal_moves[0]
    assert agent.asked == 0


def test_errors_of_the_function_are_raised_and_name_the_agent() -> None:
    def ask(text: str) -> str:
        raise ConnectionError("no route")

    agent = TextAgent(ask, name="mine")
    with pytest.raises(AgentUnavailable, match="agent 'mine': ask failed: ConnectionError: no route") as error:
        agent.act(view_of(*VIEW))
    assert isinstance(error.value.__cause__, ConnectionError)
    assert (agent.asked, agent.faults) == (0, 0)
    nothing: Any = lambda text: None  # noqa: E731  # what some servers' clients return for an empty answer
    with pytest.raises(AgentUnavailable, match="returned NoneType; expected str"):
        TextAgent(nothing, name="mine").act(view_of(*VIEW))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"retries": -1}, "retries=-1: allowed are whole numbers 0 .. 100"),
        ({"retries": True}, "retries=True"),
        ({"retries": "2"}, "retries='2'"),
        ({"keep": -1}, "keep=-1: allowed are whole numbers 0 .. 1000000"),
        ({"fallback": "gredy"}, "did you mean 'greedy'"),
        ({"fallback": "mcts_cheating:5"}, "sees every card"),
        ({"ask": "gpt"}, "ask='gpt': allowed is a function from a text to a text"),
        ({"ask": Careless}, "allowed is a function"),
    ],
)
def test_arguments_that_are_not_allowed(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(AgentError, match=re.escape(message)):
        TextAgent(**{"ask": most_cards, **arguments})


def test_an_agent_is_asked_about_views_of_the_seat_to_act() -> None:
    game = Game("scopa", seed=1)
    with pytest.raises(TypeError, match="act takes a View, not Game"):
        TextAgent(most_cards).act(game)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="is to act"):
        TextAgent(most_cards).act(game.view(1 - game.seat))


def test_only_the_last_exchanges_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    agent = TextAgent(Careless(), keep=3, log=log, count_tokens=len)
    duel(agent, "greedy", deals=2)
    assert len(agent.exchanges) == 3
    found = read_exchanges(log)
    assert len(found) == agent.asked > 30
    assert found[-3:] == list(agent.exchanges)
    assert counts(found) == {agent.name: agent.counts}
    assert counts([]) == {}


def test_files_that_are_no_log(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        TextAgent(most_cards, log=tmp_path / "none" / "log.jsonl")
    path = tmp_path / "log.jsonl"
    line = Exchange("a", "p", 0, 0, "q", "a", "", "7d", False, 0.5).to_json()
    assert Exchange.from_json(line).to_json() == line
    content = json.loads(line)
    for other, message in (
        ({**content, "seat": "0"}, "line 2: seat: '0'; expected int"),
        ({"seat": 0}, "line 2: expected an object with the keys agent, position"),
        ([], "expected an object"),
    ):
        path.write_text(line + json.dumps(other) + "\n")
        with pytest.raises(ValueError, match=re.escape(message)):
            read_exchanges(path)


# where agents play


@pytest.mark.parametrize("text", EVERY)
def test_rounds_of_all_games(text: str) -> None:
    agent = TextAgent(Careless(), retries=0)
    duel(agent, "random", text, deals=6)
    assert agent.asked > 0
    assert agent.faults > 0 or agent.counts.asked < 50  # in small games the third question of a game is seldom reached
    assert [one.move != "" for one in agent.exchanges] == [True] * len(agent.exchanges)


def test_the_arena_gives_the_same_results_again() -> None:
    results = [duel(TextAgent(Careless(), retries=0), "greedy", deals=3, seed=1).margin for _ in range(2)]
    assert results[0] == results[1]
    agent = TextAgent(Careless(), retries=0)
    assert [duel(agent, "greedy", deals=3, seed=1).margin for _ in range(2)] == results


def test_in_the_arena_faults_without_fallback_are_forfeits() -> None:
    agent = TextAgent(hopeless, fallback=None, name="hopeless")
    result = tournament([agent, "greedy"], settings=ArenaSettings(deals=2))
    assert result.pairings[0].forfeits == 4
    assert "no legal move in 3 answers" in result.forfeits[0]["error"]
    agent = TextAgent(hopeless, name="hopeless")
    assert tournament([agent, "greedy"], settings=ArenaSettings(deals=2)).pairings[0].forfeits == 0
    assert agent.faults > 0


class Breaks:
    """Answers for a while, then its server is gone."""

    limit = 60

    def __init__(self) -> None:
        self.answers = 0

    def __call__(self, prompt: str) -> str:
        self.answers += 1
        if self.answers > self.limit:
            raise TimeoutError("no answer")
        return most_cards(prompt)


def test_a_server_that_is_gone_ends_the_run_which_goes_on_later(tmp_path: Path) -> None:
    settings = ArenaSettings(deals=4, out=tmp_path / "run.jsonl")
    with pytest.raises(AgentUnavailable, match="agent 'model': ask failed: TimeoutError: no answer"):
        tournament([TextAgent(Breaks(), name="model"), "greedy"], settings=settings)
    played = len((tmp_path / "run.jsonl").read_text().splitlines()) - 1
    assert 0 < played < 4
    result = tournament([TextAgent(most_cards, name="model"), "greedy"], settings=settings)
    whole = tournament([TextAgent(most_cards, name="model"), "greedy"], settings=ArenaSettings(deals=4))
    assert result.pairings[0].margin == whole.pairings[0].margin
    assert result.pairings[0].forfeits == 0


def gone(prompt: str) -> str:
    raise TimeoutError("no answer")


GONE = TextAgent(gone, name="gone")


def test_a_server_that_is_gone_ends_a_run_in_processes() -> None:
    with pytest.raises(AgentUnavailable, match="agent 'gone': ask failed: TimeoutError: no answer"):
        tournament(["test_text:GONE", "greedy"], settings=ArenaSettings(deals=2, jobs=1))


def test_in_the_pettingzoo_loop_a_move_is_asked_for_once() -> None:
    agent = TextAgent(most_cards)
    moves, actions = 0, 0
    for seed in range(6):
        env = scopa_env.env("scopa")
        env.reset(seed=seed)
        for name in env.agent_iter():
            if env.terminations[name]:
                env.step(None)
                continue
            view = env.view(name)
            move = agent.act(view)
            moves += view.card is None and len(view.legal_moves) > 1
            actions += 1
            env.step(next_action(move, view.card, view.chosen))
    assert agent.asked == moves
    assert actions > 6 * 36  # some moves took several


def test_a_move_that_another_game_has_begun_is_asked_for() -> None:
    first, second = (first_turn("scopa", f"Rd2c3c/{other}", "7d3s6d4s") for other in ("4c5c7c", "4c5c7c"))
    agent = TextAgent(lambda text: "MOVE: 1", name="first")
    for game in (first, second):
        game.act(9)
    other = first_turn("scopa", "Rd2c5s/4c5c7c", "7d3s6d4s")
    other.act(9)
    before = first_turn("scopa", "Rd2c3c/4c5c7c", "7d3s6d4s")
    move = agent.act(before.view(0))
    asked = agent.asked
    assert agent.act(other.view(0)) in other.legal_moves
    assert agent.asked == asked + 1
    assert move in before.legal_moves


def test_found_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    point = EntryPoint("text", "scopa_agents.text:text_agent", agents.GROUP)
    known = {**agents._registered(), "text": point}
    monkeypatch.setattr(agents, "_registered", lambda: known)
    spec = "text:scopa_agents.text.stand_ins:Careless"
    agent = make_agent(spec, 1)
    assert agent.name == spec
    log = tmp_path / "log.jsonl"
    agent = make_agent(f"{spec},retries=0,fallback=random,log={log}", 1)
    assert agent.name == f"{spec},retries=0,fallback=random"
    duel(agent, "greedy", deals=2)
    assert counts(read_exchanges(log))[agent.name].faults > 0
    agent = make_agent(f"{spec},retries=0,fallback=none", 1)
    assert tournament([agent, "greedy"], settings=ArenaSettings(deals=2)).pairings[0].forfeits == 4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("", "agent 'text:': expected text:module:attribute"),
        ("module", "expected text:module:attribute"),
        ("no_such:thing", "No module named 'no_such'"),
        ("scopa_agents.text.stand_ins:none", "has no attribute 'none'"),
        ("scopa_agents.text.stand_ins:hopeless,retry=1", "did you mean 'retries'? allowed are retries, fallback, log"),
        ("scopa_agents.text.stand_ins:hopeless,retries=x", "retries='x': allowed are whole numbers"),
        ("scopa_agents.text.stand_ins:hopeless,retries=1,retries=2", "given twice"),
        ("scopa_agents.text.stand_ins:hopeless,fallback=gredy", "did you mean 'greedy'"),
        ("scopa_agents.text:NOTATION_", "has no attribute"),
    ],
)
def test_names_that_are_not_allowed(settings: str, message: str) -> None:
    with pytest.raises(AgentError, match=re.escape(message)):
        text_agent(settings)


def test_counts_start_at_zero() -> None:
    assert TextAgent(most_cards).counts == Counts()
