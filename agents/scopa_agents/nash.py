"""Small games solved: equilibrium values and exact exploitability, by OpenSpiel (extra ``open_spiel``).

The whole tree of `scopa_env.interop.open_spiel` is written once as an extensive-form game, which OpenSpiel's compiled
code holds in memory: CFR+ (Tammelin 2014, arXiv:1407.5042) and best responses then take no Python.  `mini_scopa` has
15,900 information states; a tree of millions of nodes still fits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import pyspiel

from scopa_env.actions import next_action
from scopa_env.agents import Agent, AgentSpec, make_agent
from scopa_env.game import View
from scopa_env.interop.open_spiel import ScopaGame, ScopaState, set_counts
from scopa_env.rules import Rules

MOST_NODES = 5_000_000
"""A tree with more nodes is given up."""


Policy = dict[str, list[tuple[int, float]]]
"""Probabilities by `InformationState.key`, of the places of the actions in `InformationState.actions`."""


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
        text: OpenSpiel's information state string.
        number: its number among those of the seat, from 1.
        actions: legal actions.
    """

    player: int
    view: View
    text: str
    number: int
    actions: tuple[int, ...]

    @property
    def key(self) -> str:
        """The name of the state in OpenSpiel's ``efg_game``."""
        return f"{self.player}-{self.player}-{self.number}-"


class SmallGame:
    """The tree of one round, in memory.

    Args:
        rules: the rules, of two sides that are two players.
        most_nodes: give up a tree with more.
        progress: called with the number of nodes written so far.

    Attributes:
        states: the information states, in the order in which a depth-first walk meets them.
        deals, nodes, ends: numbers of deals, of all nodes, of terminal nodes.
        game: the tree as OpenSpiel's ``efg_game``.

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
        self.deals = self.nodes = self.ends = 0
        self._most, self._progress = most_nodes, progress
        self._numbers: tuple[dict[str, int], ...] = ({}, {})
        self._lines = ['EFG 2 R "" { "0" "1" }']
        root = ScopaGame({"rules": self.rules.text(), "dealer": 1, "deal": "auto"})
        if (deals := math.prod(set_counts(self.rules, root.deals[0]))) > most_nodes:
            raise TooLarge(
                f"rules {self.rules}: the tree has more than {most_nodes:,} nodes, as there are {deals:,} deals"
            )
        self._walk(root.new_initial_state())
        self.game = pyspiel.load_efg_game("\n".join(self._lines) + "\n")
        del self._lines

    def _walk(self, state: ScopaState) -> None:
        """Write a state and all that follow it."""
        self.nodes += 1
        if self.nodes > self._most:
            raise TooLarge(f"rules {self.rules}: the tree has more than {self._most:,} nodes")
        if self.nodes % 1000 == 0:
            self._progress(self.nodes)
        if state.is_terminal():
            self.ends += 1
            own, other = state.returns()
            self._lines.append(f't "" {self.ends} "" {{ {own} {other} }}')
            return
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            choices = " ".join(f'"c{action}" {chance!r}' for action, chance in outcomes)
            self._lines.append(f'c "" {self.nodes} "" {{ {choices} }} 0')
            following = [action for action, _ in outcomes]
        else:
            self.deals += state.is_first_decision
            following = state.legal_actions()
            # Named by place: OpenSpiel mixes up names that do not first come in the order of the nodes that have them.
            choices = " ".join(f'"{place}"' for place in range(len(following)))
            number = self._number(state, following)
            self._lines.append(f'p "" {state.current_player() + 1} {number} "" {{ {choices} }} 0')
        for action in following:
            self._walk(state.child(action))

    def _number(self, state: ScopaState, actions: list[int]) -> int:
        """Return the number of an information state, from 1."""
        text, seat = state.information_state_string(), state.current_player()
        numbers = self._numbers[seat]
        if text not in numbers:
            numbers[text] = len(numbers) + 1
            self.states.append(InformationState(seat, state.view(seat), text, numbers[text], tuple(actions)))
        return numbers[text]

    def policy(self, play: Callable[[InformationState], Mapping[int, float]]) -> Policy:
        """Return the policy of a function.

        Args:
            play: gives the probabilities of actions; those that it leaves out have none.
        """
        found: Policy = {}
        for state in self.states:
            chances = play(state)
            found[state.key] = [(k, float(chances.get(action, 0.0))) for k, action in enumerate(state.actions)]
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
        both = {state.key: (other if other and state.player else policy)[state.key] for state in self.states}
        root = self.game.new_initial_state()
        return float(pyspiel.expected_returns(root, pyspiel.TabularPolicy(both), -1, True)[0])

    def exploitability(self, policy: Policy) -> float:
        """Return what a best responder wins against a policy, in points a round, the mean of both seats."""
        return float(pyspiel.exploitability(self.game, pyspiel.TabularPolicy(policy)))

    def equilibrium(
        self, iterations: int, close: float = 0.0, progress: Callable[[int], None] = lambda done: None
    ) -> Policy:
        """Return the average policy of CFR+.

        Args:
            iterations: at most so many.
            close: stop when the exploitability is smaller; looked at after 10, 20, 40 .. iterations.
            progress: called with the number of iterations done.
        """
        solver = pyspiel.CFRPlusSolver(self.game)
        look = 10
        for done in range(1, iterations + 1):
            solver.evaluate_and_update_policy()
            progress(done)
            if done == look:
                look *= 2
                if pyspiel.exploitability(self.game, solver.average_policy()) < close:
                    break
        average = solver.average_policy()
        return {state.key: list(average.action_probabilities(state.key).items()) for state in self.states}


def _answer(agent: Agent, view: View, seed: int) -> int:
    """Return the next action of an agent."""
    if hasattr(agent, "seed"):
        agent.seed(seed)
    return next_action(agent.act(view), view.card, view.chosen)
