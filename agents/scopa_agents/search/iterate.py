"""Information-set Monte Carlo tree search, one observer: the compiled iterations.

Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search", IEEE Transactions on Computational
Intelligence and AI in Games 4(2), 2012: a fresh world each iteration, one tree over what the observer can tell apart.
"""

from __future__ import annotations

from typing import Any

from scopa_agents.search.rollouts import margin, roll_out
from scopa_agents.search.tree import add_moves, cards_to_play, choose_child, random_card
from scopa_env.engine.bits import NONE
from scopa_env.engine.hidden import fill
from scopa_env.engine.play import play
from scopa_env.engine.state import PLAYING, side_of
from scopa_env.kernel import kernel

DEPTH = 41
"""Longest path through a tree: every play of a round, and the root."""


@kernel
def _descend(rules: Any, world: Any, nodes: Any, used: int, path: Any, sides: Any, exploration: float) -> Any:
    """Go down from the root until a node is visited first, making its moves in `world`; return (depth, used)."""
    at, depth = 0, 0
    while world["stage"] == PLAYING:
        cards = cards_to_play(rules, world)
        unseen = cards & ~nodes[at]["seen"]
        if unseen != NONE:
            card = random_card(world, unseen)
            more = add_moves(rules, world, nodes, used, at, card)
            if more == used:
                break
            used = more
        at = choose_child(nodes, at, cards, exploration, world)
        depth += 1
        path[depth] = at
        sides[depth] = side_of(rules, int(world["seat"]))
        node = nodes[at]
        play(rules, world, int(node["card"]), node["captured"])
        if int(node["visits"]) == 0:
            break
    return depth, used


@kernel
def iterate(
    rules: Any,
    root: Any,
    world: Any,
    nodes: Any,
    used: int,
    path: Any,
    sides: Any,
    iterations: int,
    exploration: float,
    policy: int,
    epsilon: float,
) -> int:
    """Grow a tree.

    Args:
        rules: RULES[1].
        root: GAME[1], stripped of what the observer, who is to act, cannot see (or with every card: cheating).
        world: GAME[1], working space; its generator goes on from call to call.
        nodes: NODE[M], the tree; written.
        used: nodes in use, at least 1.
        path: int32[DEPTH], working space.
        sides: int32[DEPTH], working space.
        iterations: how many.
        exploration: factor of the confidence term, in points.
        policy: index in ROLLOUTS.
        epsilon: share of random moves in playouts.

    Returns:
        The nodes in use then.
    """
    for _ in range(iterations):
        rng = world[0]["rng"]
        world[0] = root[0]
        world[0]["rng"] = rng
        fill(rules[0], world[0])
        depth, used = _descend(rules[0], world[0], nodes, used, path, sides, exploration)
        roll_out(rules[0], world[0], policy, epsilon)
        nodes[0]["visits"] += 1
        for k in range(1, depth + 1):
            node = nodes[path[k]]
            node["visits"] += 1
            node["total"] += margin(rules[0], world[0], int(sides[k]))
    return used
