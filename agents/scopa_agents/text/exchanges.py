"""What was asked and answered: kept by a `TextAgent`, and written as lines of a file."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints


@dataclass(frozen=True)
class Exchange:
    """One question and its answer.

    Attributes:
        agent: name of the agent.
        position: the position in notation, as the seat to act knows it.
        seat: the seat to act.
        attempt: 0 for the first question about a move, 1 for its first repetition ..
        prompt: what was asked.
        answer: what came back.
        problem: what was wrong with it; empty if a legal move could be read.
        move: what was played next, in notation; empty if the question was repeated, or nothing was played.
        fault: whether this was the last answer about a move, and no legal move could be read.
        seconds: how long the answer took.
        prompt_tokens: tokens of the prompt; 0 if they are not counted.
        answer_tokens: tokens of the answer.
    """

    agent: str
    position: str
    seat: int
    attempt: int
    prompt: str
    answer: str
    problem: str
    move: str
    fault: bool
    seconds: float
    prompt_tokens: int = 0
    answer_tokens: int = 0

    def to_json(self) -> str:
        """Return it as a line."""
        return json.dumps(dataclasses.asdict(self)) + "\n"

    @classmethod
    def from_json(cls, line: str) -> Exchange:
        """Read a line of `to_json`.

        Raises:
            ValueError: it is none; the message names what is wrong.
        """
        content: Any = json.loads(line)
        kinds = get_type_hints(cls)
        if not isinstance(content, dict) or set(content) != set(kinds):
            raise ValueError(f"expected an object with the keys {', '.join(kinds)}")
        for name, kind in kinds.items():
            if type(content[name]) is not kind:
                raise ValueError(f"{name}: {content[name]!r}; expected {kind.__name__}")
        return cls(**content)


@dataclass
class Counts:
    """Sums over exchanges.

    Attributes:
        moves: moves about which was asked; single legal moves are played without a question.
        asked: questions, the repeated ones included.
        faults: moves of which no answer could be read as a legal one.
        prompt_characters: characters of all prompts.
        answer_characters: characters of all answers.
        prompt_tokens: tokens of all prompts, where they are counted.
        answer_tokens: tokens of all answers.
        seconds: time of all answers.
    """

    moves: int = 0
    asked: int = 0
    faults: int = 0
    prompt_characters: int = 0
    answer_characters: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    seconds: float = 0.0

    def add(self, exchange: Exchange) -> None:
        """Add an exchange."""
        self.moves += exchange.attempt == 0
        self.asked += 1
        self.faults += exchange.fault
        self.prompt_characters += len(exchange.prompt)
        self.answer_characters += len(exchange.answer)
        self.prompt_tokens += exchange.prompt_tokens
        self.answer_tokens += exchange.answer_tokens
        self.seconds += exchange.seconds


def counts(exchanges: Iterable[Exchange]) -> dict[str, Counts]:
    """Return the sums of exchanges by the name of the agent."""
    found: dict[str, Counts] = {}
    for exchange in exchanges:
        found.setdefault(exchange.agent, Counts()).add(exchange)
    return found


def append_exchange(path: Path, exchange: Exchange) -> None:
    """Add a line to a file, which several processes may do at the same time.

    Raises:
        OSError: it cannot be written.
    """
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        os.write(file, exchange.to_json().encode())  # in one call, so that lines of several processes do not mix
    finally:
        os.close(file)


def read_exchanges(path: Path | str) -> list[Exchange]:
    """Read the file of a `TextAgent` with ``log=``.

    Raises:
        ValueError: a line is none of its; the message names file and line.
        OSError: it cannot be read.
    """
    found = []
    with Path(path).open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                found.append(Exchange.from_json(line))
            except ValueError as error:
                raise ValueError(f"{path}: line {number}: {error}") from None
    return found
