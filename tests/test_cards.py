"""Cards: ids, text, names, bit sets."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helpers import refusal
from scopa_env.cards import (
    CARD_PATTERN,
    NUM_CARDS,
    RE_BELLO,
    SETTEBELLO,
    CardError,
    as_card,
    card_text,
    cards_text,
    check_card,
    from_mask,
    make_card,
    names,
    parse_card,
    parse_cards,
    suit_of,
    to_mask,
    value_of,
)

pytestmark = pytest.mark.nojit

CARDS = st.integers(0, NUM_CARDS - 1)
NUMBER_RANKS = {"A": "1", "F": "8", "C": "9", "R": "10"}


def test_ids_are_suit_and_value() -> None:
    assert [make_card(suit_of(card), value_of(card)) for card in range(NUM_CARDS)] == list(range(NUM_CARDS))
    assert card_text(SETTEBELLO) == "7d"
    assert card_text(RE_BELLO) == "Rd"
    assert cards_text([6, 21, 39], " ") == "7d 2s Rb"


@pytest.mark.parametrize("card", range(NUM_CARDS))
def test_every_spelling_of_a_card_is_read(card: int) -> None:
    text = card_text(card)
    numbers = NUMBER_RANKS.get(text[0], text[0]) + text[1]
    for spelling in (text, text.lower(), text.upper(), numbers, numbers.upper()):
        assert parse_card(spelling) == card
        assert parse_cards(spelling) == [card]
        assert as_card(spelling) == card
        assert re.fullmatch(CARD_PATTERN, spelling)
    assert as_card(card) == check_card(card) == card


def test_names_in_three_decks() -> None:
    assert names(SETTEBELLO)[1:] == ("7", "denari", 7, "7", "oros", "7", "D")
    assert names(17)[1:] == ("fante", "coppe", 10, "sota", "copas", "J", "H")
    assert names(28)[1:] == ("cavallo", "spade", 11, "caballo", "espadas", "Q", "S")
    assert names(39)[1:] == ("re", "bastoni", 12, "rey", "bastos", "K", "C")
    assert len({names(card) for card in range(NUM_CARDS)}) == NUM_CARDS


@given(st.lists(CARDS), st.sampled_from(["", " ", ", ", "\n"]))
def test_lists_of_cards_round_trip(cards: list[int], separator: str) -> None:
    assert parse_cards(cards_text(cards, separator)) == cards


@given(st.sets(CARDS))
def test_masks_round_trip(cards: set[int]) -> None:
    assert from_mask(to_mask(cards)) == tuple(sorted(cards))


NO_CARDS = ["", "7", "d", "7dd", "11d", "0d", "7x", " 7d", "7d ", "7\u017f", "\u0667d", "7d\n", None, 6, ["7d"]]


@pytest.mark.parametrize("text", NO_CARDS)
def test_no_card(text: Any) -> None:
    with pytest.raises(CardError, match=r"card .*: allowed is a rank"):
        parse_card(text)


@pytest.mark.parametrize("card", [-1, 40, 6.0, True, None, "7d", 1 << 70])
def test_no_card_id(card: Any) -> None:
    with pytest.raises(CardError, match=r"allowed are the ids 0 \.\. 39"):
        check_card(card)


def test_an_error_in_a_list_says_where() -> None:
    with pytest.raises(CardError, match=r"no card at position 5 of '7d 3c\?4s': '\?4s'"):
        parse_cards("7d 3c?4s")
    with pytest.raises(CardError, match="expected text"):
        parse_cards(None)  # type: ignore[arg-type]


@given(st.text(alphabet="1789AaFfCcRrdcsbDCSB0\u017f ,x\u0667", max_size=6) | st.text())
@example("7\u017f")
def test_any_text_is_read_or_refused(text: str) -> None:
    for parse in (parse_card, parse_cards):
        message = refusal(CardError, parse, text)
        assert message is None or repr(text) in message
