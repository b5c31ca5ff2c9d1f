"""Functions from a text to a text in place of a language model: to try things out without a network, and for tests."""

from __future__ import annotations

import re

_LISTED = re.compile(r"^(?P<number>[0-9]+)\. (?P<move>\S+) - ", re.MULTILINE)


def most_cards(prompt: str) -> str:
    """Read the legal moves from a prompt and answer with the one that takes most cards, the first of several."""
    turn = prompt.rpartition("Your legal moves:")[2]
    moves = [match.groupdict() for match in _LISTED.finditer(turn)]
    best = max(moves, key=lambda one: (one["move"].endswith("+"), len(one["move"])))
    return f"I take as much as I can.\n\nMOVE: {best['number']}"


class Careless:
    """`most_cards`, but every third answer says no legal move."""

    def __init__(self) -> None:
        self._answers = 0

    def seed(self, seed: int | None) -> None:
        """Begin anew."""
        self._answers = 0

    def __call__(self, prompt: str) -> str:
        """Answer a prompt."""
        self._answers += 1
        return most_cards(prompt) if self._answers % 3 else "MOVE: 99, the best card of all"


def hopeless(prompt: str) -> str:
    """Answer without a move."""
    return "It depends."
