"""Information-set Monte Carlo tree search: the compiled iterations.

Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search", IEEE Transactions on Computational
Intelligence and AI in Games 4(2), 2012.  Each iteration draws a fresh world that agrees with what the observer knows
(determinisation), goes down one tree over what the observer can tell apart, and plays the rest out.

The paper's search with many observers (MO-ISMCTS) gives every seat a tree over the moves as that seat sees them.  Here
everyone sees every move, so those trees would all be the same as the one.  "Many trees" are therefore a variant of
ours: the trees of the other seats also tell apart the cards that the seat holds at the root, so that what it does there
may depend on them.  Until the tree of a hand has been there before, its seat moves by the policy of the playouts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_agents.search.inference import draw_world
from scopa_agents.search.rollouts import margin, name_move, roll_out
from scopa_agents.search.tree import add_moves, cards_to_play, choose_child, clear_node, find_child, random_card
from scopa_env.engine.bits import NONE, bit, word
from scopa_env.engine.hidden import known_cards
from scopa_env.engine.play import play
from scopa_env.engine.rng import mix
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
PROBES = 16
"""Places of the roots that are looked at for one."""


@kernel
def root_of(rules: Any, world: Any, nodes: Any, roots: Any, search: Any, seat: int) -> int:
    """Return the root of the tree of `seat` for the cards that it knows in a world, NOWHERE if there is no room."""
    key = known_cards(rules, world, seat) | word(seat) << word(40) | _TAG
    place = mix(key) & word(len(roots) - 1)
    for _ in range(PROBES):
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
def pass_node(search: Any, tree: int, node: int, side: int) -> None:
    """Note that a tree goes to `node`."""
    step = int(search["steps"])
    search["path"][step] = node
    search["sides"][step] = side
    search["steps"] = step + 1
    search["at"][tree] = node


@kernel
def _enter_trees(rules: Any, world: Any, nodes: Any, roots: Any, search: Any) -> None:
    """Go to the root of every tree."""
    search["steps"] = 0
    observer = int(world["seat"])
    for tree in range(int(search["trees"])):
        node = 0
        if search["trees"] > 1 and tree != observer:
            node = root_of(rules, world, nodes, roots, search, tree)
        search["at"][tree] = node
        if node != NOWHERE:
            pass_node(search, tree, node, side_of(rules, tree))


@kernel
def _expand(rules: Any, world: Any, nodes: Any, search: Any, tree: int, card: int) -> bool:
    """Add the moves of `card` where a tree stands; False if there is no room."""
    used = int(search["used"])
    search["used"] = add_moves(rules, world, nodes, used, int(search["at"][tree]), card)
    return int(search["used"]) > used


@kernel
def _child_of_policy(rules: Any, worlds: Any, nodes: Any, search: Any, tree: int, policy: int) -> int:
    """Return the child for the move of a seat that moves by a policy; 0: no room."""
    world = worlds[0]
    name_move(rules, worlds, 0, policy, search["epsilon"])
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
def _follow(rules: Any, world: Any, nodes: Any, search: Any, tree: int, card: int, captured: Any, side: int) -> None:
    """Let the tree of a seat that does not act go the way of a move; it grows by one node at most."""
    parent = int(search["at"][tree])
    if parent == NOWHERE:
        return
    knows = nodes[parent]["seen"] & bit(card) != NONE
    if nodes[parent]["visits"] == 0 or not (knows or _expand(rules, world, nodes, search, tree, card)):
        search["at"][tree] = NOWHERE
        return
    pass_node(search, tree, find_child(nodes, parent, card, captured), side)


@kernel
def _next_child(rules: Any, worlds: Any, nodes: Any, search: Any, tree: int, modelled: bool) -> int:
    """Return the child of a tree that is descended to; 0: no room."""
    if modelled:
        return _child_of_policy(rules, worlds, nodes, search, tree, int(search["others"]))
    return _child_of_tree(rules[0], worlds[0], nodes, search, tree)


@kernel
def _descend_one(rules: Any, worlds: Any, nodes: Any, search: Any, observer: int) -> None:
    """Go down the one tree until a node is visited first, making its moves in worlds[0]."""
    world = worlds[0]
    while world["stage"] == PLAYING:
        seat = int(world["seat"])
        child = _next_child(rules, worlds, nodes, search, 0, search["others"] != TREE and seat != observer)
        if child == 0:
            return
        node = nodes[child]
        pass_node(search, 0, child, side_of(rules[0], seat))
        play(rules[0], world, int(node["card"]), node["captured"])
        if node["visits"] == 0:
            return


@kernel
def _descend_many(rules: Any, worlds: Any, nodes: Any, search: Any, observer: int) -> None:
    """Go down all trees until a node of the observer's is visited first, making its moves in worlds[0]."""
    world = worlds[0]
    while world["stage"] == PLAYING:
        seat = int(world["seat"])
        side = side_of(rules[0], seat)
        here = int(search["at"][seat])
        if seat != observer and (here == NOWHERE or nodes[here]["visits"] == 0):
            child = _child_of_policy(rules, worlds, nodes, search, observer, int(search["policy"]))
            mover = observer  # the observer's tree has the move; the seat's own follows like the others
        else:
            child = _next_child(rules, worlds, nodes, search, seat, search["others"] != TREE and seat != observer)
            mover = seat
        if child == 0:
            return
        card, captured = int(nodes[child]["card"]), nodes[child]["captured"]
        pass_node(search, mover, child, side)
        for tree in range(int(search["trees"])):
            if tree != mover:
                _follow(rules[0], world, nodes, search, tree, card, captured, side)
        play(rules[0], world, card, captured)
        if search["at"][observer] == NOWHERE or nodes[int(search["at"][observer])]["visits"] == 0:
            return


@kernel
def descend(rules: Any, worlds: Any, nodes: Any, roots: Any, search: Any) -> None:
    """Go down the tree, or all trees, from the position of worlds[0]."""
    observer = int(worlds[0]["seat"])
    _enter_trees(rules[0], worlds[0], nodes, roots, search)
    if search["trees"] > 1:
        _descend_many(rules, worlds, nodes, search, observer)
    else:
        _descend_one(rules, worlds, nodes, search, observer)


@kernel
def update(rules: Any, world: Any, nodes: Any, search: Any) -> None:
    """Add the result of the finished round to all nodes passed."""
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
        root: GAME[1], see `draw_world`; the observer is to act (with every card in it: cheating).
        pool: GAME[K], see `draw_world`.
        weights: float64[K], the same.
        world: GAME[1], working space.
        nodes: NODE[M]; node 0 is the root of the observer's tree.
        roots: ROOT[a power of two], the roots of the other trees.
        search: SEARCH[1].
        iterations: how many.
    """
    for _ in range(iterations):
        draw_world(rules, root, pool, weights, world, 0)
        descend(rules, world, nodes, roots, search[0])
        roll_out(rules, world, 0, int(search[0]["policy"]), search[0]["epsilon"])
        update(rules[0], world[0], nodes, search[0])
