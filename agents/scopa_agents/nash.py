"""Small games solved: equilibrium values and exact exploitability (extra ``open_spiel``).

The whole tree of `scopa_env.interop.open_spiel` is written into arrays once; CFR+ and best responses then run compiled
(`scopa_agents.cfr`) and agree with OpenSpiel's own, which are many times slower.  `SmallGame.open_spiel` hands the tree
to OpenSpiel's algorithms.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyspiel

from scopa_agents.cfr import CHANCE, END, NODE, CFRPlus, Tree
from scopa_env.actions import next_action
from scopa_env.agents import Agent, AgentSpec, make_agent
from scopa_env.game import View
from scopa_env.interop.open_spiel import ScopaGame, ScopaState, set_counts
from scopa_env.rules import Rules

MOST_NODES = 5_000_000
"""A tree with more nodes is given up."""


Policy = np.ndarray[Any, np.dtype[np.float64]]
"""Probabilities of the actions of all information states, float64[A]: `InformationState.first` says whose are where."""


class TooLarge(ValueError):
    """A game whose tree has too many nodes."""


@runtime_checkable
class MixingAgent(Agent, Protocol):
    """An agent that says how likely it is to play what."""

    def action_probabilities(self, view: View) -> Mapping[int, float]:
        """Return the probabilities of the next action of the observer of `view`, those that are 0 left out."""
        ...


@dataclass(frozen=True)
class InformationState:
    """What a seat can know when it is to act.

    Attributes:
        player: the seat.
        view: one of the positions, all the same to the seat.
        number: its number among those of the seat, from 1.
        first: place of the probability of the first action in a policy.
        actions: legal actions, whose probabilities stand one after the other.
    """

    player: int
    view: View
    number: int
    first: int
    actions: tuple[int, ...]


class SmallGame:
    """The tree of one round, in memory.

    Args:
        rules: the rules, of two sides that are two players.
        most_nodes: give up a tree with more.
        progress: called with the number of nodes written so far.

    Attributes:
        states: the information states, in the order in which a depth-first walk meets them.
        deals, nodes, ends: numbers of deals, of all nodes, of terminal nodes.
        tree: the nodes.

    Raises:
        ValueError: the rules are not for two players.
        TooLarge: there are more nodes.
    """

    def __init__(
        self,
        rules: Rules | str = "mini_scopa",
        most_nodes: int = MOST_NODES,
        progress: Callable[[int], None] = lambda nodes: None,
    ) -> None:
        self.rules = Rules.of(rules)
        if self.rules.players != 2:
            raise ValueError(f"rules {self.rules}: allowed are those for two players, not {self.rules.players}")
        self.states: list[InformationState] = []
        self.deals = 0
        self._most, self._progress = most_nodes, progress
        self._numbers: tuple[dict[bytes, int], ...] = ({}, {})
        self._rows: list[tuple[int, int, int, int, float, float]] = []
        root = ScopaGame({"rules": self.rules.text(), "dealer": 1, "deal": "auto"})
        if (deals := math.prod(set_counts(self.rules, root.deals[0]))) > most_nodes:
            raise TooLarge(
                f"rules {self.rules}: the tree has more than {most_nodes:,} nodes, as there are {deals:,} deals"
            )
        self._walk(root.new_initial_state(), -1, -1, 0, 1.0)
        nodes = np.array(self._rows, NODE)
        del self._rows, self._numbers
        first = np.array([*(state.first for state in self.states), self._actions])
        self.tree = Tree(nodes, first, np.array([state.player for state in self.states], np.int8))
        self.nodes, self.ends = len(nodes), int((nodes["player"] == END).sum())

    @property
    def _actions(self) -> int:
        """The number of actions of all information states so far."""
        return self.states[-1].first + len(self.states[-1].actions) if self.states else 0

    def _walk(self, state: ScopaState, parent: int, via: int, depth: int, chance: float) -> None:
        """Write a state and all that follow it."""
        place = len(self._rows)
        if place >= self._most:
            raise TooLarge(f"rules {self.rules}: the tree has more than {self._most:,} nodes")
        if place % 1000 == 0:
            self._progress(place)
        if state.is_terminal():
            self._rows.append((parent, via, END, depth, chance, state.returns()[0]))
        elif state.is_chance_node():
            self._rows.append((parent, via, CHANCE, depth, chance, 0.0))
            for action, share in state.chance_outcomes():
                self._walk(state.child(action), place, -1, depth + 1, share)
        else:
            self.deals += state.is_first_decision
            self._rows.append((parent, via, state.current_player(), depth, chance, 0.0))
            actions = state.legal_actions()
            first = self._first(state, actions)
            for k, action in enumerate(actions):
                self._walk(state.child(action), place, first + k, depth + 1, 1.0)

    def _first(self, state: ScopaState, actions: list[int]) -> int:
        """Return the place of the first action of an information state."""
        seat = state.current_player()
        view, numbers = state.view(seat), self._numbers[seat]
        known = view.records.tobytes()  # with all plays of the round; faster than OpenSpiel's string
        if known not in numbers:
            numbers[known] = len(self.states)
            self.states.append(InformationState(seat, view, len(numbers), self._actions, tuple(actions)))
        return self.states[numbers[known]].first

    def policy(self, play: Callable[[InformationState], Mapping[int, float]]) -> Policy:
        """Return the policy of a function.

        Args:
            play: gives the probabilities of actions; those that it leaves out have none.
        """
        found = np.empty(self._actions)
        for state in self.states:
            chances = play(state)
            for k, action in enumerate(state.actions, state.first):
                found[k] = chances.get(action, 0.0)
        return found

    def policy_of(self, spec: AgentSpec, seed: int = 0, samples: int = 1) -> Policy:
        """Return the policy of an agent: how often it answers what in each information state.

        An agent with a method ``action_probabilities(view)``, such as `random` and the policies of ``learned``, says it
        exactly.  Of others that draw random numbers the frequencies are estimates: their own exploitability is at most
        about what is found, and less the more they mix.

        Args:
            spec: the agent.
            seed: from which its random numbers come.
            samples: answers in each information state, every one from a seed of its own.
        """
        agent = make_agent(spec, seed, self.rules)
        if isinstance(agent, MixingAgent):
            return self.policy(lambda state: agent.action_probabilities(state.view))

        def frequencies(state: InformationState) -> Mapping[int, float]:
            answers = Counter(_answer(agent, state.view, seed * samples + k) for k in range(samples))
            return {action: count / samples for action, count in answers.items()}

        return self.policy(frequencies)

    def value(self, policy: Policy, other: Policy | None = None) -> float:
        """Return what seat 0, which plays first, wins with a policy against another one (None: the same), points."""
        if other is not None:
            of_first = np.repeat(self.tree.owner == 0, np.diff(self.tree.first))
            policy = np.where(of_first, policy, other)
        return self.tree.value(policy)

    def reach(self, policy: Policy) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return how likely each of `states` is to come up in a round if both play by a policy, float64[S]."""
        return np.asarray(self.tree.reach(policy))

    def exploitability(self, policy: Policy) -> float:
        """Return what a best responder wins against a policy, in points a round, the mean of both seats."""
        return self.tree.exploitability(policy)

    def equilibrium(
        self, iterations: int, close: float = 0.0, progress: Callable[[int], None] = lambda done: None
    ) -> Policy:
        """Return the average policy of CFR+.

        Args:
            iterations: at most so many.
            close: stop when the exploitability is smaller; looked at after 10, 20, 40 .. iterations.
            progress: called with the number of iterations done.
        """
        solver = CFRPlus(self.tree)
        look = 10
        for done in range(1, iterations + 1):
            solver.iterate()
            progress(done)
            if done == look:
                look *= 2
                if self.exploitability(solver.average()) < close:
                    break
        return solver.average()

    def open_spiel(self) -> pyspiel.Game:
        """Return the tree as OpenSpiel's ``efg_game``, for its algorithms; actions are named by their place."""
        nodes = self.tree.nodes
        followers: list[list[int]] = [[] for _ in nodes]
        for place, parent in enumerate(nodes["parent"].tolist()):
            if parent >= 0:
                followers[parent].append(place)
        lines, ends = ['EFG 2 R "" { "0" "1" }'], 0
        for place, player in enumerate(nodes["player"].tolist()):
            after = followers[place]
            if player == END:
                utility = float(nodes["utility"][place])
                ends += 1
                lines.append(f't "" {ends} "" {{ {utility!r} {-utility!r} }}')
            elif player == CHANCE:
                choices = " ".join(f'"{k}" {float(nodes["chance"][one])!r}' for k, one in enumerate(after))
                lines.append(f'c "" {place + 1} "" {{ {choices} }} 0')
            else:
                # By place: OpenSpiel mixes up names that do not first come in the order of the nodes that have them.
                choices = " ".join(f'"{k}"' for k in range(len(after)))
                lines.append(f'p "" {player + 1} {self._state_of(after[0]).number} "" {{ {choices} }} 0')
        return pyspiel.load_efg_game("\n".join(lines) + "\n")

    def _state_of(self, place: int) -> InformationState:
        """Return the information state before a node."""
        return self.states[int(np.searchsorted(self.tree.first, self.tree.nodes["via"][place], "right")) - 1]

    def tabular(self, policy: Policy) -> pyspiel.TabularPolicy:
        """Return a policy for the game of `open_spiel`."""
        return pyspiel.TabularPolicy(
            {
                f"{one.player}-{one.player}-{one.number}-": list(
                    enumerate(policy[one.first :][: len(one.actions)].tolist())
                )
                for one in self.states
            }
        )


def _answer(agent: Agent, view: View, seed: int) -> int:
    """Return the next action of an agent."""
    if hasattr(agent, "seed"):
        agent.seed(seed)
    return next_action(agent.act(view), view.card, view.chosen)
