"""Inference about hidden cards: worlds weighted by how likely the plays that were seen are in them.

The model of the other seats is a policy of ROLLOUTS that errs with probability `noise`: then every legal move is
equally likely.  Plays since hands were last dealt count; earlier ones say nothing about the hands of now.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_agents.greedy import move_score
from scopa_env.engine.bits import NONE, bit, signed
from scopa_env.engine.hidden import fill, hand_count
from scopa_env.engine.moves import next_move
from scopa_env.engine.state import GAME, NOBODY, Records, first_player
from scopa_env.kernel import kernel
from scopa_env.rules import Rules

MODELS = ("none", "greedy")
"""Models of the other seats: none, or that they play `greedy`."""
POOL = 1024
"""Worlds from which a search with inference draws."""

Floats = np.ndarray[Any, np.dtype[np.float64]]


@kernel
def likelihood_of_move(rules: Any, game: Any, card: int, captured: Any, noise: float) -> float:
    """Return how likely `greedy`, erring with probability `noise`, makes a move in `game`."""
    best, ties, moves, score = 0, 0, 0, 0
    found, taken = next_move(rules, game, NOBODY, NONE)
    while found != NOBODY:
        moves += 1
        value = move_score(game, found, taken)
        if ties == 0 or value > best:
            best, ties = value, 0
        if value == best:
            ties += 1
        if found == card and taken == captured:
            score = value
        found, taken = next_move(rules, game, found, taken)
    if moves == 0:  # it holds no legal card: cannot be
        return 0.0
    return noise / moves + ((1.0 - noise) / ties if score == best else 0.0)


@kernel
def likelihood(rules: Any, world: Any, past: Any, observer: int, noise: float) -> float:
    """Return how likely the plays of the other seats since the last deal are, if they held what `world` says.

    Args:
        rules: RULES record.
        world: GAME record that holds every card, no play in progress.
        past: GAME record, working space: the plays are taken back in it.
        observer: the seat whose own plays say nothing.
        noise: probability that a seat errs.
    """
    players = int(rules["players"])
    held = 0
    for seat in range(players):
        held += hand_count(world, seat)
        past["hands"][seat] = world["hands"][seat]
    past["table"] = world["table"]
    past["chosen"] = NONE
    past["card"] = NOBODY
    past["stage"] = world["stage"]
    plays = signed(world["plays"])
    since = min(players * signed(rules["hand_size"]) - held, plays)
    result = 1.0
    for k in range(plays - 1, plays - since - 1, -1):
        card, captured = int(world["cards"][k]), world["captured"][k]
        seat = (first_player(rules, world) + k) % players
        past["table"] = past["table"] & ~bit(card) | captured
        past["hands"][seat] |= bit(card)
        past["seat"] = seat
        if seat != observer:
            result *= likelihood_of_move(rules, past, card, captured, noise)
    return result


@kernel
def draw_pool(rules: Any, root: Any, pool: Any, past: Any, weights: Any, noise: float) -> None:
    """Fill a pool of worlds, and the sums of their weights up to each of them.

    Args:
        rules: RULES[1].
        root: GAME[1], stripped of what the seat to act cannot see; its generator goes on.
        pool: GAME[K], written.
        past: GAME[1], working space.
        weights: float64[K], written: ascending, the last the sum of all.
        noise: probability that a seat errs.
    """
    observer = int(root[0]["seat"])
    total = 0.0
    for k in range(len(pool)):
        pool[k] = root[0]
        fill(rules[0], pool[k])
        root[0]["rng"] = pool[k]["rng"]
        total += likelihood(rules[0], pool[k], past[0], observer, noise)
        weights[k] = total


@kernel
def pick(weights: Any, share: float) -> int:
    """Return the place in ascending sums of weights that a share 0 .. 1 of the whole falls to."""
    low, high = 0, len(weights) - 1
    wanted = share * weights[high]
    while low < high:
        middle = (low + high) // 2
        if weights[middle] > wanted:
            high = middle
        else:
            low = middle + 1
    return low


class Pool:
    """Weighted worlds for one search after the other.

    Args:
        model: one of MODELS; without a model the pool is empty.
        noise: probability that a seat errs.
    """

    def __init__(self, model: str, noise: float) -> None:
        size = 0 if model == "none" else POOL
        self.noise = noise
        self.worlds = np.zeros(size, GAME)
        self.weights = np.zeros(size)
        self._past = np.zeros(1, GAME)

    def draw(self, rules: Rules, root: Records, seed: int) -> tuple[Records, Floats]:
        """Return worlds (GAME[K]) and the ascending sums of their weights (float64[K]); K is 0 without a model.

        Args:
            rules: the rules.
            root: GAME[1], stripped of what the seat to act cannot see.
            seed: seed of the worlds.
        """
        if len(self.worlds):
            begin = root.copy()
            begin["rng"] = seed
            draw_pool(rules.record, begin, self.worlds, self._past, self.weights, self.noise)
            if self.weights[-1] <= 0:  # the model says that what was seen cannot be: every world is as good
                self.weights[:] = np.arange(1, len(self.weights) + 1)
        return self.worlds, self.weights
