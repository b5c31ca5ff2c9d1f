"""CFR+ and exact best responses on a tree that is held in arrays, compiled.

Zinkevich et al., "Regret minimization in games with incomplete information", NeurIPS 2007; CFR+: Tammelin, "Solving
large imperfect information games using CFR+", arXiv:1407.5042: regrets never fall below 0, players are updated in turn,
iterate t counts t times in the average.  Two players, one wins what the other loses, and nobody forgets anything.

A policy is float64[A]: for each of the A actions of all information states its probability.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_env.kernel import kernel

CHANCE, END = -1, -2
"""`player` of nodes at which nobody acts."""

NODE = np.dtype(
    [
        ("parent", np.int32),  # place of the node before it, which is smaller; -1 for the root
        ("via", np.int32),  # the action that leads to it, counted over all information states; -1 after chance
        ("player", np.int8),  # 0, 1, CHANCE or END
        ("depth", np.int32),  # how many nodes are before it
        ("chance", np.float64),  # probability of the outcome that leads to it; 1 after an action
        ("utility", np.float64),  # what player 0 wins at an end
    ]
)
"""A node; a node stands after those that lead to it."""

Array = np.ndarray[Any, Any]


@kernel
def reach_of(nodes: Any, policy: Any, player: int, own: Any, others: Any) -> None:
    """Write how likely it is to get to each node.

    Args:
        nodes: NODE[N].
        policy: float64[A].
        player: 0 or 1.
        own: float64[N], written: the product of the probabilities of the player's actions.
        others: float64[N], written: of the opponent's and of chance.
    """
    own[0] = others[0] = 1.0
    for n in range(1, len(nodes)):
        before, via = nodes[n]["parent"], nodes[n]["via"]
        own[n], others[n] = own[before], others[before]
        if via < 0:
            others[n] *= nodes[n]["chance"]
        elif nodes[before]["player"] == player:
            own[n] *= policy[via]
        else:
            others[n] *= policy[via]


@kernel
def values_of(nodes: Any, policy: Any, values: Any) -> None:
    """Write what player 0 is to win from each node on to float64[N]."""
    values[:] = 0.0
    for n in range(len(nodes) - 1, -1, -1):
        if nodes[n]["player"] == END:
            values[n] = nodes[n]["utility"]
        if n > 0:
            via = nodes[n]["via"]
            chance = nodes[n]["chance"] if via < 0 else policy[via]
            values[nodes[n]["parent"]] += chance * values[n]


@kernel
def iterate(nodes: Any, first: Any, owner: Any, regrets: Any, average: Any, policy: Any, t: int, work: Any) -> None:
    """Do an iteration of CFR+.

    Args:
        nodes: NODE[N].
        first: int64[S + 1]: the first action of each information state, and the number of all actions.
        owner: int8[S]: whose information state it is.
        regrets: float64[A], changed.
        average: float64[A], changed: what each action counts in the average policy.
        policy: float64[A], changed.
        t: the iteration, from 1.
        work: float64[3, N], written.
    """
    own, others, values = work[0], work[1], work[2]
    for player in range(2):
        sign = 1.0 if player == 0 else -1.0
        reach_of(nodes, policy, player, own, others)
        values_of(nodes, policy, values)
        for n in range(1, len(nodes)):
            before, via = nodes[n]["parent"], nodes[n]["via"]
            if via >= 0 and nodes[before]["player"] == player:
                regrets[via] += sign * others[before] * (values[n] - values[before])
                average[via] += t * own[n]
        for s in range(len(owner)):
            if owner[s] == player:
                match_regrets(regrets, policy, first[s], first[s + 1])


@kernel
def match_regrets(regrets: Any, policy: Any, begin: int, end: int) -> None:
    """Make the policy of actions begin .. end proportional to their regrets, which become 0 at least."""
    total = 0.0
    for a in range(begin, end):
        regrets[a] = max(regrets[a], 0.0)
        total += regrets[a]
    for a in range(begin, end):
        policy[a] = regrets[a] / total if total > 0 else 1.0 / (end - begin)


@kernel
def best_response(nodes: Any, by_depth: Any, states: Any, policy: Any, player: int, best: Any, work: Any) -> float:
    """Return what the best answer of a player to the other's policy wins.

    Args:
        nodes: NODE[N].
        by_depth: int64[N]: the places of the nodes, those of smaller depth first.
        states: int64[A]: the information state of each action.
        policy: float64[A].
        player: who answers, 0 or 1.
        best: int64[S], written: the best action of each of the player's information states; -1 for the others.
        work: float64[3, N], written.
    """
    own, others, values = work[0], work[1], work[2]
    reach_of(nodes, policy, player, own, others)
    worth = own  # of actions, with the opponent's and chance's reach; not needed any more
    worth[: len(states)] = 0.0
    best[:] = -1
    values[:] = 0.0
    end = len(by_depth)
    while end > 0:
        depth = nodes[by_depth[end - 1]]["depth"]
        begin = end
        while begin > 0 and nodes[by_depth[begin - 1]]["depth"] == depth:
            begin -= 1
        for k in range(begin, end):
            n = by_depth[k]
            if nodes[n]["player"] == END:
                values[n] = nodes[n]["utility"] if player == 0 else -nodes[n]["utility"]
            before, via = nodes[n]["parent"], nodes[n]["via"]
            if via >= 0 and nodes[before]["player"] == player:
                worth[via] += others[before] * values[n]
            elif before >= 0:
                values[before] += values[n] * (nodes[n]["chance"] if via < 0 else policy[via])
        for k in range(begin, end):
            n = by_depth[k]
            via = nodes[n]["via"]
            if via >= 0 and nodes[nodes[n]["parent"]]["player"] == player:
                state = states[via]
                if best[state] < 0 or worth[via] > worth[best[state]]:
                    best[state] = via
        for k in range(begin, end):
            n = by_depth[k]
            via = nodes[n]["via"]
            if via >= 0 and nodes[nodes[n]["parent"]]["player"] == player and best[states[via]] == via:
                values[nodes[n]["parent"]] = values[n]
        end = begin
    return float(values[0])


class Tree:
    """A game in arrays.

    Args:
        nodes: NODE[N].
        first: int64[S + 1]: the first action of each information state, and the number of all actions.
        owner: int8[S]: whose information state it is.

    All nodes of an information state must have the same depth, and its player must remember everything.
    """

    def __init__(self, nodes: Array, first: Array, owner: Array) -> None:
        self.nodes, self.first, self.owner = nodes, first, owner
        self._states = np.repeat(np.arange(len(owner)), np.diff(first))
        self._by_depth = np.argsort(nodes["depth"], kind="stable")
        self._work = np.empty((3, max(len(nodes), len(self._states))))

    def uniform(self) -> Array:
        """Return the policy in which all actions of an information state are equally likely, float64[A]."""
        counts = np.diff(self.first)
        return np.asarray(1.0 / np.repeat(counts, counts))

    def value(self, policy: Array) -> float:
        """Return what player 0 wins if both play by a policy, float64[A]."""
        values_of(self.nodes, policy, self._work[0, : len(self.nodes)])
        return float(self._work[0, 0])

    def reach(self, policy: Array) -> Array:
        """Return how likely each information state is to come up if both play by a policy, float64[S]."""
        nodes, work = self.nodes, self._work
        reach_of(nodes, policy, 0, work[0], work[1])
        after = np.flatnonzero(nodes["via"] >= 0)
        states = self._states[nodes["via"][after]]
        one_each = nodes["via"][after] == self.first[states]
        before = nodes["parent"][after[one_each]]
        return np.bincount(states[one_each], work[0, before] * work[1, before], len(self.owner))

    def best_value(self, policy: Array, player: int) -> float:
        """Return what the best answer of a player to the other's part of a policy wins."""
        best = np.empty(len(self.owner), np.int64)
        return best_response(self.nodes, self._by_depth, self._states, policy, player, best, self._work)

    def exploitability(self, policy: Array) -> float:
        """Return what a best answer wins against a policy, the mean of both seats."""
        return (self.best_value(policy, 0) + self.best_value(policy, 1)) / 2


class CFRPlus:
    """The solver.

    Args:
        tree: the game.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.iterations = 0
        self._policy = tree.uniform()
        self._regrets, self._average = np.zeros_like(self._policy), np.zeros_like(self._policy)

    def iterate(self) -> None:
        """Do one iteration: both players are updated."""
        self.iterations += 1
        tree, t = self.tree, self.iterations
        iterate(tree.nodes, tree.first, tree.owner, self._regrets, self._average, self._policy, t, self.tree._work)

    def average(self) -> Array:
        """Return the average policy, float64[A], which comes near to an equilibrium."""
        counts = np.diff(self.tree.first)
        totals = np.repeat(np.add.reduceat(self._average, self.tree.first[:-1]), counts)
        return np.where(totals > 0, self._average / np.where(totals > 0, totals, 1.0), self.tree.uniform())
