"""The tree of information-set search: nodes in an array, children as linked lists.

A node is reached by public plays only, so what lies on the table there is the same in every world; worlds differ in
which cards the seat to act holds.  The children of a node are therefore complete for a card (all its captures, and
laying it where that is allowed) as soon as any world has shown the card, and a child is available in a world if the
seat to act may play its card there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_env.engine.bits import NONE, ONE, bit, lowest, popcount
from scopa_env.engine.captures import next_capture, starts_with
from scopa_env.engine.play import may_lay, playable_cards
from scopa_env.engine.rng import random_below
from scopa_env.engine.state import NOBODY
from scopa_env.kernel import kernel

NODE = np.dtype(
    [
        ("seen", "u8"),  # cards whose moves are children of this node
        ("captured", "u8"),  # the move that leads here: what it takes
        ("total", "f8"),  # sum of the rewards of its iterations, of the side that made the move
        ("visits", "i4"),  # iterations through this node
        ("available", "i4"),  # iterations through its parent in which its move was legal
        ("child", "i4"),  # first child, 0: none
        ("sibling", "i4"),  # next child of the same parent, 0: none
        ("prior", "f4"),  # search with a network: what it says of the move, in points
        ("card", "i1"),  # the move that leads here: the hand card
    ],
    align=True,
)
"""A node of a search tree; node 0 is the root."""


@kernel
def cards_to_play(rules: Any, game: Any) -> Any:
    """Return the cards with which the seat to act may move: the one being played, or any playable one."""
    if int(game["card"]) != NOBODY:
        return bit(int(game["card"]))
    return playable_cards(rules, game)


@kernel
def clear_node(nodes: Any, at: int, card: int, captured: Any) -> None:
    """Make nodes[at] a new leaf."""
    node = nodes[at]
    node["seen"] = NONE
    node["captured"] = captured
    node["total"] = 0.0
    node["visits"] = 0
    node["available"] = 0
    node["child"] = 0
    node["sibling"] = 0
    node["card"] = card


@kernel
def clear_root(nodes: Any) -> None:
    """Make nodes[0] the root of a new tree."""
    clear_node(nodes, 0, NOBODY, NONE)


@kernel
def add_moves(rules: Any, game: Any, nodes: Any, used: int, parent: int, card: int) -> int:
    """Add all moves of `card` as children of a node; return the nodes used then, `used` if they do not fit.

    Args:
        rules: RULES record.
        game: GAME record, the position of the node in any world that has the card.
        nodes: NODE[M].
        used: nodes in use.
        parent: the node.
        card: a card that the seat to act may play.
    """
    table, chosen = game["table"], game["chosen"]
    first = used
    captured = next_capture(rules, card, table, NONE)
    lays = captured == NONE or may_lay(rules, game)
    while captured != NONE:
        if starts_with(captured, chosen):
            if used >= len(nodes):
                return first
            used += 1
            clear_node(nodes, used - 1, card, captured)
        captured = next_capture(rules, card, table, captured)
    if lays:
        if used >= len(nodes):
            return first
        used += 1
        clear_node(nodes, used - 1, card, NONE)
    for at in range(first, used):
        nodes[at]["sibling"] = nodes[parent]["child"]
        nodes[parent]["child"] = at
    nodes[parent]["seen"] |= bit(card)
    return used


@kernel
def random_card(game: Any, cards: Any) -> int:
    """Draw one of `cards` by the generator of `game`."""
    for _ in range(random_below(game, popcount(cards))):
        cards &= cards - ONE
    return lowest(cards)


@kernel
def choose_child(nodes: Any, parent: int, cards: Any, exploration: float, game: Any) -> int:
    """Return the child to descend to in a world where the seat to act may play `cards`; count who was available.

    An unvisited one if there is any, each equally likely; else the largest upper confidence bound (UCB1 with the
    number of iterations in which the child was available, Cowling, Powley and Whitehouse 2012, section V).

    Args:
        nodes: NODE[M].
        parent: a node with at least one available child.
        cards: mask.
        exploration: factor of the confidence term, in points.
        game: GAME record, for its generator.
    """
    best, bound, unvisited = 0, 0.0, 0
    child = int(nodes[parent]["child"])
    while child != 0:
        node = nodes[child]
        if bit(int(node["card"])) & cards != NONE:
            node["available"] += 1
            visits = int(node["visits"])
            if visits == 0:
                unvisited += 1
                if random_below(game, unvisited) == 0:
                    best = child
            elif unvisited == 0:
                value = node["total"] / visits + exploration * np.sqrt(np.log(np.float64(node["available"])) / visits)
                if best == 0 or value > bound:
                    best, bound = child, value
        child = int(node["sibling"])
    return best


@kernel
def find_child(nodes: Any, parent: int, card: int, captured: Any) -> int:
    """Return the child of a move, 0 if there is none."""
    child = int(nodes[parent]["child"])
    while child != 0 and (int(nodes[child]["card"]) != card or nodes[child]["captured"] != captured):
        child = int(nodes[child]["sibling"])
    return child
