"""Information-set Monte Carlo tree search with a network: the compiled iterations.

The tree is that of `scopa_agents.search.iterate`.  A node is expanded by all moves that are legal in the world at
hand, each with the value that the network gives it there.  The descent follows PUCT (Rosin, "Multi-armed bandits with
episode context", 2011, in the form of Silver et al., "Mastering the game of Go without human knowledge", Nature 2017):
the prior is the softmax of these values among the moves that the world allows, and a move without visits counts with
its value.  There is no playout: at the leaf the network says what the position is worth to the seat to act.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_agents.network.forward import best_move, move_value
from scopa_agents.search.inference import draw_world
from scopa_agents.search.iterate import pass_node
from scopa_agents.search.rollouts import margin
from scopa_agents.search.tree import add_moves, cards_to_play
from scopa_env.engine.bits import NONE, ONE, bit, lowest
from scopa_env.engine.play import play
from scopa_env.engine.state import PLAYING, side_of
from scopa_env.kernel import kernel


@kernel
def _expand(rules: Any, worlds: Any, nodes: Any, search: Any, parent: int, net: Any, space: Any) -> Any:
    """Add the moves of all cards that may be played in worlds[0] and have none yet; return the playable cards."""
    cards = cards_to_play(rules[0], worlds[0])
    left = cards & ~nodes[parent]["seen"]
    afresh = True
    while left != NONE:
        first = int(search["used"])
        used = add_moves(rules[0], worlds[0], nodes, first, parent, lowest(left))
        for at in range(first, used):
            node = nodes[at]
            node["prior"] = move_value(rules, worlds, 0, int(node["card"]), node["captured"], net, space, afresh)
            afresh = False
        search["used"] = used
        left &= left - ONE
    return cards


@kernel
def _choose(nodes: Any, parent: int, cards: Any, exploration: float, temperature: float) -> int:
    """Return the child with the largest PUCT score among the moves of `cards`; 0: there was no room for any."""
    top, total, visits = -np.inf, 0.0, 0
    child = int(nodes[parent]["child"])
    while child != 0:
        node = nodes[child]
        if bit(int(node["card"])) & cards != NONE:
            top = max(top, np.float64(node["prior"]))
            visits += int(node["visits"])
        child = int(node["sibling"])
    child = int(nodes[parent]["child"])
    while child != 0:
        node = nodes[child]
        if bit(int(node["card"])) & cards != NONE:
            total += np.exp((node["prior"] - top) / temperature)
        child = int(node["sibling"])
    best, bound = 0, -np.inf
    child = int(nodes[parent]["child"])
    while child != 0:
        node = nodes[child]
        if bit(int(node["card"])) & cards != NONE:
            share = np.exp((node["prior"] - top) / temperature) / total
            mean = node["total"] / node["visits"] if node["visits"] > 0 else np.float64(node["prior"])
            score = mean + exploration * share * np.sqrt(visits + 1.0) / (1.0 + node["visits"])
            if score > bound:
                best, bound = child, score
        child = int(node["sibling"])
    return best


@kernel
def _descend(rules: Any, worlds: Any, nodes: Any, search: Any, temperature: float, net: Any, space: Any) -> None:
    """Go down the tree until a node is visited first, making its moves in worlds[0]."""
    world = worlds[0]
    search["steps"] = 0
    pass_node(search, 0, 0, side_of(rules[0], int(world["seat"])))
    while world["stage"] == PLAYING:
        parent = int(search["at"][0])
        cards = _expand(rules, worlds, nodes, search, parent, net, space)
        child = _choose(nodes, parent, cards, search["exploration"], temperature)
        if child == 0:
            return
        node = nodes[child]
        pass_node(search, 0, child, side_of(rules[0], int(world["seat"])))
        play(rules[0], world, int(node["card"]), node["captured"])
        if node["visits"] == 0:
            return


@kernel
def _update(rules: Any, world: Any, nodes: Any, search: Any, side: int, value: float) -> None:
    """Add the value of the leaf to all nodes passed; `side` -1: the result of the round that is over."""
    for step in range(int(search["steps"])):
        node = nodes[search["path"][step]]
        mover = int(search["sides"][step])
        node["visits"] += 1
        if side < 0:
            node["total"] += margin(rules, world, mover)
        else:  # the margins of all sides add up to zero
            node["total"] += value if mover == side else -value / (int(rules["sides"]) - 1)


@kernel
def iterate_by_network(
    rules: Any,
    root: Any,
    pool: Any,
    weights: Any,
    world: Any,
    nodes: Any,
    search: Any,
    temperature: float,
    net: Any,
    space: Any,
    iterations: int,
) -> None:
    """Grow the tree.

    Args:
        rules: RULES[1].
        root: GAME[1], see `draw_world`; the observer is to act.
        pool: GAME[K], see `draw_world`.
        weights: float64[K], the same.
        world: GAME[1], working space.
        nodes: NODE[M]; node 0 is the root.
        search: SEARCH[1].
        temperature: of the prior, in points.
        net: `MoveNetwork.arrays`.
        space: `new_space`.
        iterations: how many.
    """
    for _ in range(iterations):
        draw_world(rules, root, pool, weights, world, 0)
        _descend(rules, world, nodes, search[0], temperature, net, space)
        side, value = -1, 0.0
        if world[0]["stage"] == PLAYING:
            side = side_of(rules[0], int(world[0]["seat"]))
            _, _, value = best_move(rules, world, 0, net, space, True)
        _update(rules[0], world[0], nodes, search[0], side, value)
