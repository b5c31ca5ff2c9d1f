"""Information-set Monte Carlo tree search: the compiled iterations.

Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search", IEEE Transactions on Computational
Intelligence and AI in Games 4(2), 2012.  Each iteration draws a fresh world that agrees with what the observer knows
(determinisation), goes down one tree over what the observer can tell apart, and plays the rest out.  With many
observers (MO-ISMCTS there) every seat has a tree of its own, whose root tells apart the hands that the seat may hold,
and all trees are descended together: what a seat does may then depend on its cards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_agents.search.inference import pick
from scopa_agents.search.rollouts import margin, name_move, random_unit, roll_out
from scopa_agents.search.tree import add_moves, cards_to_play, choose_child, clear_node, find_child, random_card
from scopa_env.engine.bits import NONE, bit, word
from scopa_env.engine.hidden import fill
from scopa_env.engine.play import play
from scopa_env.engine.rng import mix, random_bits
from scopa_env.engine.state import MAX_PLAYERS, NOBODY, PLAYING, side_of
from scopa_env.kernel import kernel

MOST_STEPS = 41 * MAX_PLAYERS
TREE = -1
"""Value of ``others``: the other seats, too, move as the tree says."""
NOWHERE = -1
"""Value of ``at`` of a tree that has been left."""

SEARCH = np.dtype(
    [
        ("exploration", "f8"),  # factor of the confidence term, in points
        ("epsilon", "f8"),  # share of random moves in playouts
        ("policy", "i8"),  # of playouts: address of one of ROLLOUTS
        ("others", "i8"),  # address of the policy by which the other seats move inside the tree, or TREE
        ("trees", "i8"),  # 1, or one for each seat
        ("used", "i8"),  # nodes in use
        ("steps", "i8"),  # nodes passed in this iteration
        ("at", "i8", MAX_PLAYERS),  # by tree: the node, or NOWHERE
        ("path", "i4", MOST_STEPS),  # by step: the node
        ("sides", "i4", MOST_STEPS),  # by step: the side that moved there
    ],
    align=True,
)
"""What a search is to do, and its working space."""

ROOT = np.dtype([("key", "u8"), ("node", "i8")], align=True)
"""Many observers: the root of a seat's tree for one of its hands; key 0: empty."""
_TAG = np.uint64(1 << 62)


@kernel
def root_of(roots: Any, nodes: Any, search: Any, seat: int, hand: Any) -> int:
    """Return the root of the tree of `seat` when it holds `hand`, NOWHERE if there is no room for another one."""
    key = hand | word(seat) << word(40) | _TAG
    place = mix(key) & word(len(roots) - 1)
    for _ in range(len(roots)):
        entry = roots[place]
        if entry["key"] == key:
            return int(entry["node"])
        if entry["key"] == NONE:
            if search["used"] == len(nodes):
                return NOWHERE
            clear_node(nodes, int(search["used"]), NOBODY, NONE)
            entry["key"] = key
            entry["node"] = search["used"]
            search["used"] += 1
            return int(entry["node"])
        place = (place + word(1)) & word(len(roots) - 1)
    return NOWHERE


@kernel
def _enter_trees(world: Any, nodes: Any, roots: Any, search: Any) -> None:
    """Go to the root of every tree."""
    search["steps"] = 0
    observer = int(world["seat"])
    for tree in range(int(search["trees"])):
        of_observer = search["trees"] == 1 or tree == observer
        search["at"][tree] = 0 if of_observer else root_of(roots, nodes, search, tree, world["hands"][tree])


@kernel
def _expand(rules: Any, world: Any, nodes: Any, search: Any, tree: int, card: int) -> bool:
    """Add the moves of `card` where a tree stands; False if there is no room."""
    used = int(search["used"])
    search["used"] = add_moves(rules, world, nodes, used, int(search["at"][tree]), card)
    return int(search["used"]) > used


@kernel
def _child_of_policy(rules: Any, worlds: Any, nodes: Any, search: Any, tree: int) -> int:
    """Return the child for the move of a seat whose policy is known; 0: no room."""
    world = worlds[0]
    name_move(rules, worlds, 0, int(search["others"]), search["epsilon"])
    card, captured = int(world["card"]), world["chosen"]
    world["card"], world["chosen"] = NOBODY, NONE
    parent = int(search["at"][tree])
    if nodes[parent]["seen"] & bit(card) == NONE and not _expand(rules[0], world, nodes, search, tree, card):
        return 0
    return find_child(nodes, parent, card, captured)


@kernel
def _child_of_tree(rules: Any, world: Any, nodes: Any, search: Any, tree: int) -> int:
    """Return the child to descend to by the counts of the tree; 0: no room."""
    cards = cards_to_play(rules, world)
    parent = int(search["at"][tree])
    unseen = cards & ~nodes[parent]["seen"]
    if unseen != NONE and not _expand(rules, world, nodes, search, tree, random_card(world, unseen)):
        return 0
    return choose_child(nodes, parent, cards, search["exploration"], world)


@kernel
def _pass(search: Any, tree: int, node: int, side: int) -> None:
    """Note that a tree goes to `node`."""
    step = int(search["steps"])
    search["path"][step] = node
    search["sides"][step] = side
    search["steps"] = step + 1
    search["at"][tree] = node


@kernel
def _follow(rules: Any, world: Any, nodes: Any, search: Any, tree: int, move: Any, side: int) -> None:
    """Let a tree whose seat does not act go the way of `move`."""
    parent = int(search["at"][tree])
    if parent == NOWHERE:
        return
    card = int(move["card"])
    fits = nodes[parent]["seen"] & bit(card) != NONE or _expand(rules, world, nodes, search, tree, card)
    child = find_child(nodes, parent, card, move["captured"]) if fits else 0
    if child == 0:
        search["at"][tree] = NOWHERE
        return
    _pass(search, tree, child, side)


@kernel
def descend(rules: Any, worlds: Any, nodes: Any, roots: Any, search: Any) -> None:
    """Go down until a node is visited first, making its moves in worlds[0]."""
    world = worlds[0]
    observer = int(world["seat"])
    _enter_trees(world, nodes, roots, search)
    while world["stage"] == PLAYING:
        seat = int(world["seat"])
        tree = seat if search["trees"] > 1 else 0
        if search["at"][tree] == NOWHERE:
            return
        if search["others"] != TREE and seat != observer:
            child = _child_of_policy(rules, worlds, nodes, search, tree)
        else:
            child = _child_of_tree(rules[0], world, nodes, search, tree)
        if child == 0:
            return
        side = side_of(rules[0], seat)
        node = nodes[child]
        first_visit = node["visits"] == 0
        _pass(search, tree, child, side)
        for other in range(int(search["trees"])):
            if other != tree:
                _follow(rules[0], world, nodes, search, other, node, side)
        play(rules[0], world, int(node["card"]), node["captured"])
        if first_visit:
            return


@kernel
def update(rules: Any, world: Any, nodes: Any, search: Any) -> None:
    """Add the result of the finished round to all nodes passed."""
    nodes[0]["visits"] += 1
    for step in range(int(search["steps"])):
        node = nodes[search["path"][step]]
        node["visits"] += 1
        node["total"] += margin(rules, world, int(search["sides"][step]))


@kernel
def iterate(
    rules: Any,
    root: Any,
    pool: Any,
    weights: Any,
    world: Any,
    nodes: Any,
    roots: Any,
    search: Any,
    iterations: int,
) -> None:
    """Grow the trees.

    Args:
        rules: RULES[1].
        root: GAME[1], stripped of what the observer, who is to act, cannot see (or with every card: cheating).
        pool: GAME[K]: worlds to draw from by `weights`; empty: worlds are drawn from `root`.
        weights: float64[K], see `draw_pool`.
        world: GAME[1], working space; its generator goes on from call to call.
        nodes: NODE[M]; node 0 is the root of the observer's tree.
        roots: ROOT[a power of two], the roots of the other trees.
        search: SEARCH[1].
        iterations: how many.
    """
    for _ in range(iterations):
        rng = random_bits(world[0])
        if len(pool) > 0:
            world[0] = pool[pick(weights, random_unit(world[0]))]
            world[0]["rng"] = rng
        else:
            world[0] = root[0]
            world[0]["rng"] = rng
            fill(rules[0], world[0])
        descend(rules, world, nodes, roots, search[0])
        roll_out(rules, world, 0, int(search[0]["policy"]), search[0]["epsilon"])
        update(rules[0], world[0], nodes, search[0])
