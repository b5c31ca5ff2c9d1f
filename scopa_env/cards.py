"""The forty cards: ids, text and their names, in English and in an Italian, a Spanish and a French deck.

A card is an int 0 .. 39: ``10 * suit + value - 1``.  Suits are coins, cups, swords, clubs; values are 1 .. 10.
Text is rank and suit letter: ``7d`` (the settebello), ``Fc``, ``Rb``; input also takes ``1 8 9 10`` as ranks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from operator import index
from typing import NamedTuple, SupportsIndex

NUM_CARDS = 40
NUM_SUITS = 4
NUM_RANKS = 10

SUITS = ("coins", "cups", "swords", "clubs")
SUIT_LETTERS = "dcsb"
RANK_LETTERS = "A234567FCR"

ENGLISH_RANKS = ("ace", "2", "3", "4", "5", "6", "7", "jack", "knight", "king")
ITALIAN_SUITS = ("denari", "coppe", "spade", "bastoni")
ITALIAN_RANKS = ("asso", "2", "3", "4", "5", "6", "7", "fante", "cavallo", "re")
SPANISH_SUITS = ("oros", "copas", "espadas", "bastos")
SPANISH_INDICES = (1, 2, 3, 4, 5, 6, 7, 10, 11, 12)
SPANISH_RANKS = ("as", "2", "3", "4", "5", "6", "7", "sota", "caballo", "rey")
FRENCH_SUITS = ("D", "H", "S", "C")
FRENCH_RANKS = ("A", "2", "3", "4", "5", "6", "7", "J", "Q", "K")

SETTEBELLO = 6
"""The seven of coins."""
RE_BELLO = 9
"""The king of coins."""

CARD_PATTERN = r"(?:10|[1-9AaFfCcRr])[dcsbDCSB]"
_CARD = re.compile(r"(10|[1-9AFCR])([DCSB])", re.IGNORECASE | re.ASCII)
_VALUES = {"1": 1, "A": 1, "8": 8, "F": 8, "9": 9, "C": 9, "10": 10, "R": 10} | {
    str(value): value for value in range(2, 8)
}


class CardError(ValueError):
    """Text that is no card, or cards that cannot be together."""


class CardNames(NamedTuple):
    """What a card is called and what is printed on it in the three decks."""

    value: int
    italian_rank: str
    italian_suit: str
    spanish_index: int
    spanish_rank: str
    spanish_suit: str
    french_rank: str
    french_suit: str


def make_card(suit: int, value: int) -> int:
    """Return the id of the card of `suit` 0 .. 3 and `value` 1 .. 10."""
    return NUM_RANKS * suit + value - 1


def suit_of(card: int) -> int:
    """Return the suit 0 .. 3 of a card id."""
    return card // NUM_RANKS


def value_of(card: int) -> int:
    """Return the value 1 .. 10 of a card id."""
    return card % NUM_RANKS + 1


def names(card: int) -> CardNames:
    """Return the names of a card id in the Italian, Spanish and French deck."""
    suit, rank = divmod(check_card(card), NUM_RANKS)
    return CardNames(
        rank + 1,
        ITALIAN_RANKS[rank],
        ITALIAN_SUITS[suit],
        SPANISH_INDICES[rank],
        SPANISH_RANKS[rank],
        SPANISH_SUITS[suit],
        FRENCH_RANKS[rank],
        FRENCH_SUITS[suit],
    )


def card_text(card: int) -> str:
    """Return the text of a card id, such as ``7d``."""
    suit, rank = divmod(card, NUM_RANKS)
    return RANK_LETTERS[rank] + SUIT_LETTERS[suit]


def cards_text(cards: Iterable[int], separator: str = "") -> str:
    """Return the texts of card ids, joined."""
    return separator.join(map(card_text, cards))


def card_words(card: int) -> str:
    """Return a card id in words, such as ``7 of coins``."""
    suit, rank = divmod(card, NUM_RANKS)
    return f"{ENGLISH_RANKS[rank]} of {SUITS[suit]}"


def check_card(card: object) -> int:
    """Return `card` as an int if it is a card id, else raise CardError."""
    if isinstance(card, bool) or not isinstance(card, SupportsIndex) or not 0 <= index(card) < NUM_CARDS:
        raise CardError(f"card {card!r}: allowed are the ids 0 .. {NUM_CARDS - 1}")
    return index(card)


def parse_card(text: object) -> int:
    """Read one card.

    Args:
        text: rank ``A 2 .. 7 F C R`` (or ``1 8 9 10``) and suit ``d c s b``, in either case.

    Raises:
        CardError: the text is no card; the message names it and what is allowed.
    """
    match = _CARD.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise CardError(f"card {text!r}: allowed is a rank (A 2 3 4 5 6 7 F C R, or 1 8 9 10) and a suit (d c s b)")
    return make_card(SUIT_LETTERS.index(match[2].lower()), _VALUES[match[1].upper()])


def parse_cards(text: str) -> list[int]:
    """Read cards written one after the other (``7d3c10b``), spaces and commas between them allowed.

    Raises:
        CardError: something in between is no card; the message says where.
    """
    if not isinstance(text, str):
        raise CardError(f"cards {text!r}: expected text")
    cards = []
    at = 0
    while at < len(text):
        if text[at] in " ,\t\n":
            at += 1
            continue
        match = _CARD.match(text, at)
        if match is None:
            raise CardError(f"no card at position {at} of {text!r}: {text[at : at + 3]!r}")
        cards.append(parse_card(match[0]))
        at = match.end()
    return cards


def as_card(card: object) -> int:
    """Return the id of a card given as an id or as text."""
    return parse_card(card) if isinstance(card, str) else check_card(card)


def to_mask(cards: Iterable[int]) -> int:
    """Return a set of card ids as the bits of an int."""
    mask = 0
    for card in cards:
        mask |= 1 << int(card)
    return mask


def from_mask(mask: int) -> tuple[int, ...]:
    """Return the card ids of a bit set in ascending order."""
    mask = int(mask)
    cards = []
    while mask:
        low = mask & -mask
        cards.append(low.bit_length() - 1)
        mask ^= low
    return tuple(cards)
