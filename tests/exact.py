"""Exact values on a small game by brute force over all deals; only the rules of the game are shared with agents."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from scopa_env import Game, Move, View
from scopa_env.cards import cards_text

SMALL = "mini_scopa"


def deals(dealer: int) -> Iterable[Game]:
    """Return every deal of `mini_scopa`, all equally likely: 2,520."""
    deck = [10 * suit + rank for suit in range(2) for rank in range(4)]
    start = Game(SMALL, seed=1, dealer=dealer)
    parts = start.text().split()
    hands, table, stock = parts[1].split("/"), parts[2], parts[3]
    sizes = [len(cards_of(text)) for text in (*hands, table, stock)]
    assert (sizes, sum(sizes)) == ([2, 2, 2, 2], len(deck))
    for first in itertools.combinations(deck, 2):
        for second in itertools.combinations(sorted({*deck} - {*first}), 2):
            for third in itertools.combinations(sorted({*deck} - {*first, *second}), 2):
                rest = sorted({*deck} - {*first, *second, *third})
                texts = [cards_text(cards) for cards in (first, second, third, rest)]
                yield Game.from_text(" ".join([SMALL, f"{texts[0]}/{texts[1]}", texts[2], texts[3], *parts[4:]]))


def cards_of(text: str) -> list[str]:
    return [text[k : k + 2] for k in range(0, len(text), 2)]


def margin(game: Game, seat: int) -> float:
    outcome = game.outcome()
    assert outcome is not None
    return float(outcome.points[seat] - outcome.points[1 - seat])


def best_response_value(seat: int, dealer: int) -> float:
    """Return what the best answer to an opponent that plays uniformly at random wins, in points a round."""
    start = [(game, 1.0) for game in deals(dealer)]
    return _best(start, seat) / len(start)


def _best(nodes: list[tuple[Game, float]], seat: int) -> float:
    """Return the sum over nodes that only differ in what the seat cannot see, weighted by chance and the opponent."""
    total = 0.0
    known: dict[str, list[tuple[Game, float]]] = {}
    while nodes:
        after: list[tuple[Game, float]] = []
        for game, weight in nodes:
            if game.round_over:
                total += weight * margin(game, seat)
            elif game.seat == seat:
                known.setdefault(information(game, seat), []).append((game, weight))
            else:
                moves = game.legal_moves
                after += [(played(game, move), weight / len(moves)) for move in moves]
        nodes = after
    for together in known.values():
        moves = together[0][0].legal_moves
        total += max(_best([(played(game, move), weight) for game, weight in together], seat) for move in moves)
    return total


def information(game: Game, seat: int) -> str:
    """Return all that a seat has seen: what it sees now, and the plays."""
    return " ".join([game.view(seat).text(), *(f"{play.seat}:{play.move}" for play in game.plays)])


def played(game: Game, move: Move) -> Game:
    after = game.copy()
    after.push(move)
    return after


def value_against_random(act: Callable[[View], Move], seat: int, dealer: int) -> float:
    """Return what a deterministic agent wins against an opponent that plays uniformly at random."""
    answers: dict[str, Move] = {}

    def value(game: Game) -> float:
        if game.round_over:
            return margin(game, seat)
        if game.seat == seat:
            known = information(game, seat)
            if known not in answers:
                answers[known] = act(game.view(seat))
            return value(played(game, answers[known]))
        return sum(value(played(game, move)) for move in game.legal_moves) / len(game.legal_moves)

    values = [value(game) for game in deals(dealer)]
    return sum(values) / len(values)
