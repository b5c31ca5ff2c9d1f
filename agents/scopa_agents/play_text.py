"""What `scopa play` shows: text made from what the person's seat knows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.highlighter import RegexHighlighter
from rich.theme import Theme

from scopa_env import batch
from scopa_env.actions import Move
from scopa_env.agents import Agent
from scopa_env.cards import RANK_LETTERS, SUIT_LETTERS, SUITS, card_text, cards_text, value_of
from scopa_env.game import Outcome, View
from scopa_env.notation import NotationError
from scopa_env.render.text import WIDTH, Names, counted, scoresheet_text, table_text
from scopa_env.rules import Rules

LONGEST_NAME = 12


# a card stands alone, or within a move: 5sx2d3b+
_START = f"(?:(?<![a-zA-Z0-9])|(?<=x)|(?<=[{SUIT_LETTERS}]))"
_END = f"(?=[{RANK_LETTERS}x+]|\\W|$)"


class CardHighlighter(RegexHighlighter):
    """Colours cards by suit, and what matters most; without colours the text is the same."""

    base_style = "scopa."
    highlights = (
        *(
            rf"{_START}(?P<{suit}>[{RANK_LETTERS}]{letter}){_END}"
            for suit, letter in zip(SUITS, SUIT_LETTERS, strict=True)
        ),
        r"(?P<sweep>SWEEP)",
        r"(?P<heading>^Round .*)",
    )


THEME = Theme(
    {
        "scopa.coins": "yellow",
        "scopa.cups": "red",
        "scopa.swords": "cyan",
        "scopa.clubs": "green",
        "scopa.sweep": "bold",
        "scopa.heading": "bold",
    }
)


@dataclass(frozen=True)
class Cast:
    """Who sits where.

    Attributes:
        rules: the rules.
        seat: the person's seat.
        agents: who has each seat; None is the person.
    """

    rules: Rules
    seat: int
    agents: tuple[Agent | None, ...]

    @property
    def side(self) -> int:
        """The person's side."""
        return self.rules.side_of(self.seat)

    @property
    def names(self) -> Names:
        """What seats and sides are called: ``you``, ``partner``, ``greedy 1``."""
        seats = tuple(self._seat_name(seat) for seat in range(self.rules.players))
        if not self.rules.teams:
            return Names(seats, seats)
        return Names(seats, tuple("your team" if side == self.side else "opponents" for side in range(2)))

    def _seat_name(self, seat: int) -> str:
        agent = self.agents[seat]
        if agent is None:
            return "you"
        if self.rules.players == 2:
            return _short(agent.name)
        if self.rules.side_of(seat) == self.side:
            return "partner" if self.rules.players == 4 else f"partner {seat}"
        return f"{_short(agent.name)} {seat}"

    def wins(self, side: int) -> str:
        """Return ``You win``, ``Your team wins``, ``greedy wins``."""
        if side == self.side:
            return "Your team wins" if self.rules.teams else "You win"
        return "Your opponents win" if self.rules.teams else f"{self.names.sides[side]} wins"


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name.partition(":")[0][:LONGEST_NAME]


def intro_text(cast: Cast, seed: int, whole_match: bool) -> str:
    """Return the first lines: what is played, by whom, and how to get help."""
    rules = cast.rules
    sets = f", {rules.sets_to_win} sets win" if rules.sets_to_win > 1 else ""
    length = f"a match to {rules.target}{sets}" if whole_match else "one round"
    others = [
        f"seat {seat} {name}" + ("" if agent.name in name else f" ({agent.name})")
        for seat, (name, agent) in enumerate(zip(cast.names.seats, cast.agents, strict=True))
        if agent is not None
    ]
    return (
        f"{rules}: {length}, seed {seed}\n"
        f"You have seat {cast.seat}; the others: {', '.join(others)}.\n"
        "Suits: d coins, c cups, s swords, b clubs.  Ranks: A 2 3 4 5 6 7 F C R.\n"
        "Type a move or its number. help explains, quit ends."
    )


def deal_text(view: View, cast: Cast, number: int) -> str:
    """Return how round `number` begins; `view` is of before its first play."""
    rules, names = view.rules, cast.names
    lines = [f"Round {number}: {_deals(names.seats[view.dealer])} {counted(rules.hand_size, 'card')} to each hand"]
    won = view.last
    shown = view.table if won is None else view.piles[won]
    lines[0] += f", on the table {cards_text(shown, ' ')}." if shown else ", none to the table."
    if won is not None:
        total, sweeps = sum(map(value_of, shown)), counted(view.sweeps[won], "sweep")
        lines.append(f"They sum to {total}: the dealer's side, {names.sides[won]}, takes them as {sweeps}.")
    return "\n".join(lines)


def _deals(name: str) -> str:
    return "you deal" if name == "you" else f"{name} deals"


def play_text(before: View, after: View, move: Move, cast: Cast) -> str:
    """Return what a play did: the card, what it took, and what followed from it.

    Args:
        before: what the person knew before the play.
        after: what the person knows after it.
        move: the play, of the seat that was to act.
        cast: who sits where.
    """
    width = max(map(len, cast.names.seats))
    line = f"  {cast.names.seats[before.seat]:<{width}}  {_what_happened(before, after, move)}"
    return "\n".join([line, *_what_followed(before, after, move, cast)])


def _what_happened(before: View, after: View, move: Move) -> str:
    card = card_text(move.card)
    side = before.rules.side_of(before.seat)
    if move.captured:
        takes = f"{card} takes {cards_text(move.captured, ' ')}"
        if after.sweeps[side] > before.sweeps[side]:
            return f"{takes}   SWEEP!"
        return f"{takes}   (all of the table, but no sweep)" if set(move.captured) == set(before.table) else takes
    return f"{card} goes to the pile" if _is_banked(before, move) else f"{card} on the table"


def _is_banked(before: View, move: Move) -> bool:
    """Say whether a card that takes nothing goes to its player's pile."""
    return bool(batch.is_banked(before.rules.record, before.records, move.card))


def _what_followed(before: View, after: View, move: Move, cast: Cast) -> Iterator[str]:
    """Return new hands, or what became of the cards left when the round is over."""
    rules = before.rules
    if after.round_over:
        yield from _leftovers_text(before, after, move, cast)
    elif after.stock_size < before.stock_size:
        left = after.stock_size - rules.never_dealt
        more = f"{left} left to deal" if left else "the last ones"
        yield f"New hands: {counted(rules.hand_size, 'card')} each, {more}."


def _leftovers_text(before: View, after: View, move: Move, cast: Cast) -> Iterator[str]:
    left = set(before.table) - set(move.captured)
    if not move.captured and not _is_banked(before, move):
        left.add(move.card)
    if not left:
        return
    cards = cards_text(sorted(left), " ")
    if after.last is None:
        yield f"Left on the table: {cards}. Nobody has captured, so nobody gets them."
    else:
        yield f"Left on the table: {cards}. They go to {cast.names.sides[after.last]}, last to capture."


def turn_text(view: View, cast: Cast) -> str:
    """Return what the person needs for a decision: the table and the legal moves."""
    return f"\n{table_text(view, cast.names, piles=False)}\n\n{moves_text(view)}"


def moves_text(view: View) -> str:
    """Return the legal moves with their numbers, in columns."""
    moves = [view.move_text(move) for move in view.legal_moves]
    digits = len(str(len(moves)))
    cells = [f"{number:>{digits}} {text}" for number, text in enumerate(moves, 1)]
    width = max(map(len, cells)) + 3
    columns = max(WIDTH // width, 1)
    rows = [cells[at : at + columns] for at in range(0, len(cells), columns)]
    return "\n".join("".join(f"{cell:<{width}}" for cell in row).rstrip() for row in rows)


def move_of(view: View, line: str) -> Move:
    """Return the move that the person typed.

    Raises:
        ValueError: it is none, or not a legal one; the message is one line.
    """
    moves = view.legal_moves
    if re.fullmatch("[0-9]{1,9}", line):
        number = int(line)
        if not 1 <= number <= len(moves):
            raise ValueError(f"{number}: the moves have the numbers 1 .. {len(moves)}")
        return moves[number - 1]
    try:
        return view.parse(line)
    except NotationError:
        said = f"{line if len(line) <= 30 else line[:27] + '...'!a} is no move, number or command; " if line else ""
        raise ValueError(f"{said}type for example {view.move_text(moves[0])} or 1, or help") from None


def help_text(view: View) -> str:
    """Return how to play; the examples are legal moves of the person, so that no other card is named."""
    moves = view.legal_moves if view.to_act else []
    examples = [
        f"  {view.move_text(move):<10} {_meaning(move)}"
        for move in [
            *[move for move in moves if move.captured][:1],
            *[move for move in moves if not move.captured][:1],
        ]
    ]
    return "\n".join(["A move is its number in the list, or its text:", *examples, *_HELP])


def _meaning(move: Move) -> str:
    card = card_text(move.card)
    if not move.captured:
        return f"play {card}; it takes nothing"
    return f"play {card} and take {cards_text(move.captured, ' ')}; {card}x is enough if it can take nothing else"


_HELP = (
    "  + behind a move says that it takes the whole table",
    "Commands:",
    "  moves      the legal moves",
    "  table      the table with the cards of every pile",
    "  hint       what an agent would play",
    "  undo       back to your last decision, also of the round before",
    "  help or ?  this text",
    "  quit       end the game",
)


def hint_text(view: View, agent: Agent, move: Move) -> str:
    """Return what an agent would play."""
    moves = view.legal_moves
    number = f" (number {moves.index(move) + 1})" if move in moves else ""
    return f"{agent.name} would play {view.move_text(move)}{number}."


def round_text(view: View, outcome: Outcome, cast: Cast, number: int) -> str:
    """Return the scoresheet of a round and what it decided."""
    lines = ["", f"Round {number} is over.", "", scoresheet_text(view, cast.names), ""]
    return "\n".join([*lines, *_decisions(view, outcome, cast)])


def _decisions(view: View, outcome: Outcome, cast: Cast) -> Iterator[str]:
    rules = view.rules
    if outcome.round_winner is None:
        yield "The round is level."
    else:
        yield f"{cast.wins(outcome.round_winner)} the round."
    set_winner = int(view.records["set_winner"][0])
    if rules.sets_to_win > 1 and set_winner >= 0:
        yield f"{cast.wins(set_winner)} the set, {_slashed(outcome.totals)}; sets {_slashed(outcome.sets)}."
    elif set_winner < 0 and not outcome.match_over and max(outcome.totals) >= rules.target:
        yield f"Level at the top with {rules.target} reached: the match goes on."


def match_text(outcome: Outcome, cast: Cast) -> str:
    """Return the result of a match that is over."""
    names = cast.names.sides
    scores = outcome.sets if cast.rules.sets_to_win > 1 else outcome.totals
    unit = "sets" if cast.rules.sets_to_win > 1 else "points"
    result = "The match is drawn" if outcome.match_winner is None else f"{cast.wins(outcome.match_winner)} the match"
    return f"{result}: {', '.join(f'{name} {score}' for name, score in zip(names, scores, strict=True))} {unit}."


def _slashed(numbers: Sequence[int]) -> str:
    return "/".join(map(str, numbers))
