"""Reading a move from what a language model answers.

What is read, the first of these that there is:

1. the last line with ``MOVE: ...`` (or ``ANSWER: ...``, also as a key of JSON);
2. the last block between code fences;
3. the last line, if it says a move;
4. the only move in notation in all of the text.

A number of the list, notation and words are understood, alone or together as in the list; what is said twice must
agree.  Words name cards: one of the hand is played, those of the table are taken, in whatever order and grammar.  They
may name a part of what is taken if only one legal move takes that.  In 3 and 4 sentences with ``not``, ``would`` and
the like are left out: they speak of moves that are not made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from scopa_agents.text.words import HOW_TO_ANSWER
from scopa_env.actions import Move
from scopa_env.cards import (
    CARD_PATTERN,
    ENGLISH_RANKS,
    ITALIAN_RANKS,
    ITALIAN_SUITS,
    SETTEBELLO,
    SPANISH_RANKS,
    SPANISH_SUITS,
    SUITS,
    card_words,
    make_card,
    parse_card,
)
from scopa_env.game import View
from scopa_env.notation import IllegalMove

MOST_SHOWN = 120
"""Characters of an answer that a message repeats."""

MOST_READ = 20_000
"""Characters of an answer that are read, from its end."""


class AnswerError(ValueError):
    """An answer from which no legal move could be read.

    Its text says why, and then what is allowed: what a model is sent back.

    Attributes:
        problem: why.
        allowed: what is allowed.
    """

    def __init__(self, problem: str, allowed: str) -> None:
        super().__init__(problem, allowed)
        self.problem = problem
        self.allowed = allowed

    def __str__(self) -> str:
        return f"{self.problem}. {self.allowed}"


class _Nothing(ValueError):
    """A text that says no move at all."""


# words for cards

_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_MORE_RANKS = {"knave": 8, "horse": 9, "queen": 9, "cavalier": 9}
_MORE_SUITS = {"coin": 0, "cup": 1, "sword": 2, "club": 3, "diamonds": 0, "hearts": 1, "spades": 2, "batons": 3}
_RANKS = {
    **{str(value): value for value in range(1, 11)},
    **{name: value for names in (ENGLISH_RANKS, ITALIAN_RANKS, SPANISH_RANKS) for value, name in enumerate(names, 1)},
    **{name: value for value, name in enumerate(_NUMBERS, 1)},
    **_MORE_RANKS,
}
_SUITS = {
    name: suit for names in (SUITS, ITALIAN_SUITS, SPANISH_SUITS) for suit, name in enumerate(names)
} | _MORE_SUITS


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_CARD_WORDS = re.compile(
    rf"\b(?P<rank>{_any_of(_RANKS)})[ -](?:(?:of|di|de)[ ](?:the[ ])?)?(?P<suit>{_any_of(_SUITS)})\b"
    r"|\b(?P<settebello>settebello)\b",
    re.IGNORECASE,
)
# `as`, `ad`, `cs` are words: among others a card is a digit, or a capital that is no word's
_CARD_AMONG_WORDS = re.compile(r"(?<!\w)(?!As\b|Ad\b)(?:10|[1-9AFCR])[dcsb](?!\w)")
_CARD_AMONG_WORDS_MEANT = re.compile(r"(?<!\w)(?:10|[1-9AFCR])[dcsb](?!\w)")

_TAKES = r"[ ]?[x>][ ]?"
_RUN = rf"(?:{CARD_PATTERN})+(?!\w)(?!{_TAKES})"
_CAPTURE = re.compile(
    rf"(?<!\w){CARD_PATTERN}"
    rf"(?:{_TAKES}{_RUN}(?:(?:[ ]?[,+&][ ]?|[ ](?:and[ ])?){_RUN})*(?:[ ]?\+(?!\w))?|[x>]\+?(?!\w))"
)

_NONE_TAKEN = r"\b(?:takes?|taking|captur\w+) (?:nothing|none|no cards?)\b|\b(?:without|not) (?:taking|captur\w+)"
_TAKES_NONE = re.compile(_NONE_TAKEN, re.IGNORECASE)
_TAKE_WORDS = re.compile(r"\b(?:takes?|taking|captur\w+|sweeps?|sweeping|grabs?)\b", re.IGNORECASE)
_LAY_WORDS = re.compile(
    r"\b(?:lay|lays|laying|laid|places?|placing|put|puts|putting|discard\w*|drops?|dropping|goes)\b", re.IGNORECASE
)
_ACT_WORDS = re.compile(
    r"\b(?:play|plays|playing|choose|chose|choosing|pick|select|use|using|move|answer|option)\b", re.IGNORECASE
)
_NOT_SAID = re.compile(
    r"\b(?:not|never|avoid|keep|keeping|rather|instead|if|would|could|might|may|should|cannot|unless)\b|n't\b|\?",
    re.IGNORECASE,
)
_SAID = re.compile(r"\b(?:moves?|answer)\b[\"'*_` ]*[:=](?P<said>.*)$", re.IGNORECASE | re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*```[^\n`]*\n(?P<block>[^`]*)```|```(?P<inline>[^`\n]+)```", re.MULTILINE)
_NUMBER_ALONE = re.compile(
    r"(?:i |i'll |my )?(?:choose |pick |select |play |choice |answer )?(?:is )?(?:the )?"
    r"(?:move|option|number|no|choice)?[ .:#]*(?P<number>[0-9]{1,6})[.)]?",
    re.IGNORECASE,
)
_NUMBER_FIRST = re.compile(
    r"(?:(?:move|option|number|no)[ .:#]*|#)?(?P<number>[0-9]{1,6})(?:[.):,;]+[ ]*|[ ]*[-=(][ ]*|[ ]+)", re.IGNORECASE
)
_SECOND_NUMBER = re.compile(r"(?:(?:or|and|to|then) |/ ?)?(?P<number>[0-9]{1,6})(?!\w)", re.IGNORECASE)


def parse_answer(view: View, answer: str) -> Move:
    """Return the legal move that an answer says.

    Args:
        view: what the model was asked about; its observer is to act.
        answer: what it answered.

    Raises:
        AnswerError: it says none, one that is not legal, or more than one.
    """
    text = answer.rpartition("</think>")[2].partition("<think>")[0][
        -MOST_READ:
    ]  # a thought that never ends is no answer
    reader = _Reader(view)
    said = _directive(text)
    try:
        if said is not None:
            return reader.read(said, lenient=True)
        return _from_prose(reader, text)
    except _Nothing as nothing:
        problem = str(nothing)
    except ValueError as error:
        problem = str(error)
    raise AnswerError(problem, allowed_text(view))


def allowed_text(view: View) -> str:
    """Return what may be answered."""
    moves = view.legal_moves
    texts = ", ".join(f"{number}. {view.move_text(move)}" for number, move in enumerate(moves, 1))
    return f"The legal moves are {texts}. {HOW_TO_ANSWER}"


def _directive(text: str) -> str | None:
    """Return what stands in the line or block that is meant to be the move; None: there is none."""
    said = list(_SAID.finditer(text))
    if said:
        line = _clean(said[-1]["said"])
        if re.match(r"\s*[-\u2212][0-9]", said[-1]["said"]):
            line = f"-{line}"  # no number of the list
        rest = [] if line else [one for one in map(_clean, text[said[-1].end() :].splitlines()) if one]
        return rest[0] if rest else line
    blocks = [match["block"] or match["inline"] or "" for match in _FENCE.finditer(text)]
    lines = [one for one in map(_clean, blocks[-1].splitlines()) if one] if blocks else []
    return lines[-1] if lines else None


def _clean(text: str) -> str:
    """Return a line without marks around it, with one kind of sign and of gap inside."""
    for old, new in (("\u00d7", "x"), ("=>", ">"), ("->", ">"), ("\u2192", ">"), ("\u2019", "'")):
        text = text.replace(old, new)
    text = "".join(one if one.isprintable() else " " for one in text)
    text = re.sub(r"[*_`\"\\]+|<[^<>]{1,20}>", " ", text)
    text = " ".join(text.split())
    return text.strip("'{}[]().:;,!-=# ")


def _from_prose(reader: _Reader, text: str) -> Move:
    lines = [one for one in map(_clean, text.splitlines()) if one]
    if not lines:
        raise _Nothing("the answer is empty")
    try:
        return reader.read(lines[-1], lenient=False)
    except _Nothing as nothing:
        problem: ValueError = nothing
    except ValueError as error:
        problem = error
    whole = [token for line in lines for part in _sentences(line) for token in reader.captures(part)]
    legal = {move for move in map(_or_none(reader.notation), whole) if move is not None}
    if len(legal) > 1:
        raise ValueError(f"several moves are named: {', '.join(sorted(map(str, legal)))}")
    if not legal:
        raise problem
    return legal.pop()


def _sentences(line: str) -> list[str]:
    """Return the sentences of a line that say what is, not what could be."""
    return [part for part in re.split(r"(?<=[.!?;])[ ]", line) if not _NOT_SAID.search(part)]


def _or_none(function: Callable[[str], Move]) -> Callable[[str], Move | None]:
    def call(text: str) -> Move | None:
        try:
            return function(text)
        except ValueError:
            return None

    return call


def _shown(text: str) -> str:
    return ascii(text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 3] + "...")


class _Reader:
    """Reads lines as moves of one view."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._moves = view.legal_moves

    def read(self, line: str, *, lenient: bool) -> Move:
        """Return the move that a cleaned line says.

        Args:
            line: the line.
            lenient: it is meant to be a move, so bare cards are enough and no sentence is left out.

        Raises:
            _Nothing: it says none.
            ValueError: it says one that is not legal, or several.
        """
        number = _NUMBER_ALONE.fullmatch(line)
        if number:
            return self._numbered(line, number["number"])
        alone = re.fullmatch(rf"{CARD_PATTERN}", line)
        if alone:
            return self._card_alone(line)
        if not lenient:
            line = " ".join(_sentences(line))
        return self._combined(line, lenient)

    def _card_alone(self, text: str) -> Move:
        """Return the move that lays a card, or if it may not be laid its only one."""
        try:
            return self.notation(text)
        except IllegalMove:
            card = parse_card(text)
            if card not in self._view.hand:
                raise
            return self._only(text, card, set(), takes=False, lays=False)

    def _combined(self, line: str, lenient: bool) -> Move:
        """Return the move on which number, notation and words agree."""
        found: list[Move] = []
        first = _NUMBER_FIRST.match(line)
        if first and not any(match.start() < first.end("number") for match in self._card_spans(line, lenient)):
            found.append(self._numbered(line, first["number"]))
            line = line[first.end() :]
            second = _SECOND_NUMBER.match(line)
            if second and not any(match.start() < second.end() for match in self._card_spans(line, lenient)):
                raise ValueError(f"several numbers are named: {first['number']}, {second['number']}")
        captures = self.captures(line)
        found += [self.notation(token) for token in captures]
        rest = _CAPTURE.sub(" ", line)
        if found and _NOT_SAID.search(rest):  # a reason
            rest = ""
        if not captures and found:
            start = re.match(rf"{CARD_PATTERN}(?=[ ]-|$)", rest)  # a card that is laid, as in the list
            found += [self.notation(start[0])] if start else []
        try:
            found.append(self._worded(rest, lenient, bool(found)))
        except _Nothing:
            if not found:
                raise
        moves = list(dict.fromkeys(found))
        if len(moves) > 1:
            raise ValueError(f"{_shown(line)} names several moves: {', '.join(map(str, moves))}")
        return moves[0]

    def _numbered(self, line: str, number: str) -> Move:
        if not 1 <= int(number) <= len(self._moves):
            raise ValueError(f"{_shown(line)}: the legal moves have the numbers 1 .. {len(self._moves)}")
        return self._moves[int(number) - 1]

    def captures(self, line: str) -> list[str]:
        """Return every capture in notation that stands in a line."""
        return [match[0] for match in _CAPTURE.finditer(line)]

    def notation(self, text: str) -> Move:
        """Return the legal move of a text in notation."""
        return self._view.parse(re.sub(r"[ ,&]|\band\b", "", text))

    def _card_spans(self, line: str, lenient: bool) -> list[re.Match[str]]:
        short = _CARD_AMONG_WORDS if not lenient else _CARD_AMONG_WORDS_MEANT
        return sorted([*_CARD_WORDS.finditer(line), *short.finditer(line)], key=re.Match.start)

    def _cards(self, line: str, lenient: bool) -> list[int]:
        cards = dict.fromkeys(_card_of(match) for match in self._card_spans(line, lenient))
        return list(cards)

    def _worded(self, line: str, lenient: bool, more: bool) -> Move:
        """Return the move of a sentence.

        Args:
            line: the sentence.
            lenient: it is meant to be a move.
            more: the move has been said otherwise too.
        """
        view = self._view
        cards = self._cards(line, lenient)
        takes_none = bool(_TAKES_NONE.search(line))
        takes = bool(_TAKE_WORDS.search(line)) and not takes_none
        lays = takes_none or (bool(_LAY_WORDS.search(line)) and not takes)
        if not cards or not (lenient or takes or lays or _ACT_WORDS.search(line) or len(line) < 20):
            raise _Nothing(f"{_shown(line)} says no move" if line else "no move was said")
        strange = [card for card in cards if card not in (*view.hand, *view.table)]
        if strange:
            raise ValueError(f"the {card_words(strange[0])} is neither in your hand nor on the table")
        played = [card for card in cards if card in view.hand]
        taken = {card for card in cards if card in view.table}
        if not played and more:
            raise _Nothing("no card of the hand was named")
        if len(played) != 1:
            what = "no card of your hand" if not played else "several cards of your hand"
            raise ValueError(f"{_shown(line)} names {what}")
        return self._only(line, played[0], set() if lays else taken, takes, lays)

    def _only(self, line: str, card: int, taken: set[int], takes: bool, lays: bool) -> Move:
        moves = [move for move in self._moves if move.card == card]
        if not moves:
            raise ValueError(f"the {card_words(card)} cannot be played now")
        exact = [move for move in moves if taken and set(move.captured) == taken]
        fitting = exact or [
            move
            for move in moves
            if taken <= set(move.captured) and not (takes and not move.captured) and not (lays and move.captured)
        ]
        if len(fitting) == 1:
            return fitting[0]
        legal = ", ".join(map(self._view.move_text, moves))
        if not fitting:
            raise ValueError(f"{_shown(line)} is not legal; with the {card_words(card)} legal are {legal}")
        raise ValueError(f"{_shown(line)} could be {', '.join(map(self._view.move_text, fitting))}")


def _card_of(match: re.Match[str]) -> int:
    groups = match.groupdict()
    if groups.get("settebello"):
        return SETTEBELLO
    if groups.get("rank"):
        return make_card(_SUITS[match["suit"].lower()], _RANKS[match["rank"].lower()])
    return parse_card(match[0])
