"""What agents share that decide on arrays of games."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from scopa_env import batch, observation
from scopa_env.actions import LAY, NUM_ACTIONS, Move, move_of
from scopa_env.agents import AgentError, as_actions
from scopa_env.engine.state import Records, copy_of
from scopa_env.game import Game, View, view_to_act
from scopa_env.policy import Policy, decide
from scopa_env.rules import Rules

Actions = np.ndarray[Any, np.dtype[np.int64]]
Bits = np.ndarray[Any, np.dtype[np.int8]]


class ArrayAgent(ABC):
    """An agent that acts on arrays of games, and through them on a single view.

    Attributes:
        name: its name.
    """

    name: str

    @abstractmethod
    def act_batch(self, rules: Rules, views: Records) -> Actions:
        """Return the next action in each game, int64[N] (see `scopa_env.agents.BatchAgent`)."""

    def warm_up(self, rules: Rules) -> None:
        """Compile what `act_batch` runs, so that no compilation is counted as thinking."""
        game = Game(rules, seed=0)
        self.act_batch(rules, game.view(game.seat).records)

    def act(self, view: View) -> Move:
        """Return a legal move of the observer of `view`, which is to act.

        Raises:
            TypeError: it is no view.
            ValueError: its observer is not to act.
        """
        records = copy_of(view_to_act(self.name, view).records)
        record = view.rules.record
        while True:
            action = int(self.act_batch(view.rules, records)[0])
            done = batch.choose_one(record, records, action)
            if done < 0:
                raise ValueError(f"agent {self.name!r}: action {action} is illegal")
            if done:
                return move_of(int(records["card"][0]), 0 if action == LAY else int(records["chosen"][0]))


class CompiledAgent(ArrayAgent):
    """An agent whose decisions are a compiled `Policy`, with a random generator of its own.

    Environments with such an agent run it inside their compiled loop.

    Attributes:
        policy: the policy.
    """

    policy: Policy

    def __init__(self, settings: str = "", *, seed: int | None = None) -> None:
        if settings:
            raise AgentError(f"agent {self.name!r}: settings {settings!r}; it has none")
        self.seed(seed)

    def seed(self, seed: int | None) -> None:
        """Start the agent's random choices afresh."""
        self._rng = np.random.default_rng(seed)

    def act_batch(self, rules: Rules, views: Records) -> Actions:
        """Return the next action in each game, int64[N] (see `scopa_env.agents.BatchAgent`)."""
        views["rng"] = self._rng.integers(0, 1 << 64, len(views), dtype=np.uint64)
        out = np.empty(len(views), np.int64)
        decide(self.policy.address, rules.record, views, out)
        return out


class ObservationAgent(ArrayAgent):
    """A function of observations and masks as an agent: a model of another framework, for the arena or as an opponent.

    Args:
        decide: gets int8[N, D], the observations of environments without ``history``, and int8[N, 81], the legal
            actions; returns N legal actions.
        name: its name.
    """

    def __init__(self, decide: Callable[[Bits, Bits], Any], name: str = "model") -> None:
        self.decide = decide
        self.name = name

    def act_batch(self, rules: Rules, views: Records) -> Actions:
        """Return what the function decides in each game, int64[N].

        Raises:
            IllegalAction: it returned no N whole numbers.
        """
        return as_actions(self, self.decide(*observe_batch(rules, views)), len(views))


def observe_batch(rules: Rules, views: Records) -> tuple[Bits, Bits]:
    """Return int8[N, D] and int8[N, 81]: what the seat to act in each game observes, and its legal actions."""
    size = observation.observation_size(rules.players)
    seats = views["seat"].astype(np.int64)
    observations = np.empty((len(views), size // 8), np.uint64)
    masks = np.empty((len(views), observation.MASK_ROW // 8), np.uint64)
    scratch = np.empty(observation.words_of(size), np.uint64)
    batch.observe(rules.record, views, seats, scratch, observations)
    batch.masks(rules.record, views, seats, scratch, masks)
    return observations.view(np.int8), masks.view(np.int8)[:, :NUM_ACTIONS]
