"""Inference about hidden cards: worlds weighted by how likely the plays that were seen are in them.

The model of the other seats plays one of the moves that a policy thinks best, or errs with probability `noise`: then
every legal move is equally likely.  Plays since hands were last dealt count; earlier ones say nothing about the hands
of now.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from scopa_agents.expert import survey_expert
from scopa_agents.greedy import survey_greedy
from scopa_agents.search.budget import Budget, run_for
from scopa_agents.search.rollouts import random_unit
from scopa_env.engine.bits import NONE
from scopa_env.engine.hidden import fill, plays_since_deal
from scopa_env.engine.moves import count_moves
from scopa_env.engine.past import take_back
from scopa_env.engine.rng import random_bits
from scopa_env.engine.state import GAME, NOBODY, Records, copy_of
from scopa_env.kernel import kernel
from scopa_env.policy import Policy, call_policy
from scopa_env.rules import Rules


@kernel
def ties_of_random(rules: Any, game: Any) -> int:
    """Return 0: who plays at random means nothing."""
    game["card"], game["chosen"] = NOBODY, NONE
    return 0


@kernel
def ties_of_greedy(rules: Any, game: Any) -> int:
    """Return how many moves `greedy` thinks best, 0 if the one that the record names is none of them."""
    card, captured = int(game["card"]), game["chosen"]
    game["card"], game["chosen"] = NOBODY, NONE
    return int(survey_greedy(rules, game, card, captured)[2])


@kernel
def ties_of_expert(rules: Any, game: Any) -> int:
    """Return how many moves `expert` thinks best, 0 if the one that the record names is none of them."""
    card, captured = int(game["card"]), game["chosen"]
    game["card"], game["chosen"] = NOBODY, NONE
    return int(survey_expert(rules, game, card, captured)[2])


MODELS = {
    "random": Policy(ties_of_random),
    "greedy": Policy(ties_of_greedy),
    "expert": Policy(ties_of_expert),
}
"""Models of the other seats: for a move named in a record, which is taken back, how many are as good, or 0 if there is
a better one."""

NO_MODEL = "none"
KEPT = 0.25
"""Share of a pool's worlds that its weights must be worth at least."""

Floats = np.ndarray[Any, np.dtype[np.float64]]


@kernel
def go_back(rules: Any, game: Any, observer: int, plays: int) -> int:
    """Take plays back up to the last one of a seat that is not the observer.

    Args:
        rules: RULES.
        game: GAME; written to: then that seat is to act, and has named the card and what it took.
        observer: the seat whose own plays say nothing.
        plays: how many may be taken back.

    Returns:
        How many may still be taken back; -1: there was none of another seat.
    """
    while plays > 0:
        take_back(rules, game)
        plays -= 1
        if int(game["seat"]) != observer:
            k = int(game["plays"])
            game["card"], game["chosen"] = game["cards"][k], game["captured"][k]
            return plays
    return -1


@kernel
def likelihood(rules: Any, worlds: Any, at: int, past: Any, observer: int, model: int, noise: float) -> float:
    """Return how likely the plays of the other seats since the last deal are, if they held what worlds[at] says.

    Args:
        rules: RULES[1].
        worlds: GAME[N], with every card.
        at: the world.
        past: GAME[1], working space: the plays are taken back in it.
        observer: the seat whose own plays say nothing.
        model: address of one of MODELS.
        noise: probability that a seat errs.
    """
    past[0] = worlds[at]
    game = past[0]
    result = 1.0
    left = go_back(rules[0], game, observer, plays_since_deal(rules[0], worlds[at]))
    while left >= 0:
        ties = call_policy(model, rules, past, 0)
        result *= noise / count_moves(rules[0], game) + ((1.0 - noise) / ties if ties > 0 else 0.0)
        left = go_back(rules[0], game, observer, left)
    return result


@kernel
def effective_size(weights: Any, power: float) -> float:
    """Return how many equal weights would be worth as much (Kish): (sum w)^2 / sum w^2, of weights to a power.

    Args:
        weights: float64[K], logarithms.
        power: their exponent.
    """
    top = weights[0]
    for k in range(len(weights)):
        top = max(top, weights[k])
    total, squares = 0.0, 0.0
    for k in range(len(weights)):
        weight = np.exp(power * (weights[k] - top))
        total += weight
        squares += weight * weight
    return total * total / squares


@kernel
def accumulate(weights: Any) -> None:
    """Turn logarithms of weights into ascending sums, float64[K], in place.

    The weights are flattened, by exponents 1, 1/2, 1/4 .., until they are worth KEPT of the worlds: long histories
    would leave hardly more than one.
    """
    power = 1.0
    while effective_size(weights, power) < KEPT * len(weights):
        power /= 2.0
    top = weights[0]
    for k in range(len(weights)):
        top = max(top, weights[k])
    total = 0.0
    for k in range(len(weights)):
        total += np.exp(power * (weights[k] - top))
        weights[k] = total


@kernel
def draw_afresh(rules: Any, root: Any, pool: Any, k: int) -> None:
    """Write a world of GAME `root` to pool[k]; its generator goes on."""
    root["rng"] = random_bits(root)
    pool[k] = root
    fill(rules, pool[k])


@kernel
def draw_pool(rules: Any, root: Any, pool: Any, past: Any, weights: Any, model: int, noise: float) -> None:
    """Draw worlds, with the logarithms of their weights.

    Args:
        rules: RULES[1].
        root: GAME[1], stripped of what the seat to act cannot see; its generator goes on.
        pool: GAME[K]; written.
        past: GAME[1], working space.
        weights: float64[K]; written.
        model: address of one of MODELS.
        noise: probability that a seat errs, above 0.
    """
    observer = int(root[0]["seat"])
    for k in range(len(pool)):
        draw_afresh(rules[0], root[0], pool, k)
        weights[k] = np.log(likelihood(rules, pool, k, past, observer, model, noise))


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


@kernel
def draw_world(rules: Any, root: Any, pool: Any, weights: Any, worlds: Any, at: int) -> None:
    """Write a world to worlds[at], with a generator of its own.

    Args:
        rules: RULES[1].
        root: GAME[1], stripped of what the seat to act cannot see; its generator goes on from call to call.
        pool: GAME[K]: worlds to draw from by `weights`; empty: a fresh one is drawn.
        weights: float64[K], ascending sums.
        worlds: GAME[N].
        at: the place to write to.
    """
    rng = random_bits(root[0])
    if len(pool) > 0:
        worlds[at] = pool[pick(weights, random_unit(root[0]))]
        worlds[at]["rng"] = rng
    else:
        worlds[at] = root[0]
        worlds[at]["rng"] = rng
        fill(rules[0], worlds[at])


class Pool:
    """Weighted worlds for one search after the other.

    Args:
        model: one of MODELS; ``"none"``: the pool stays empty.
        noise: probability that a seat errs.
        size: number of worlds.
    """

    def __init__(self, model: str, noise: float, size: int) -> None:
        self.model = model
        self.noise = 1.0 if model == "random" else noise  # who plays at random errs always
        size = 0 if model == NO_MODEL else size
        self._worlds = np.zeros(size, GAME)
        self._weights = np.zeros(size)
        self._past = np.zeros(1, GAME)

    def draw(self, rules: Rules, root: Records, seed: int, budget: Budget | None = None) -> tuple[Records, Floats]:
        """Return worlds (GAME[K]) and the ascending sums of their weights (float64[K]); K is 0 without a model.

        Args:
            rules: the rules.
            root: GAME[1], stripped of what the seat to act cannot see.
            seed: seed of the worlds.
            budget: of the search; of a time, worlds are drawn in a part of it only, but one at least.
        """
        size = len(self._worlds)
        if size == 0:
            return self._worlds, self._weights
        begin = copy_of(root)
        begin["rng"] = seed
        drawn = 0

        def run(count: int) -> None:
            nonlocal drawn
            end = min(drawn + count, size)
            self._fill(rules, begin, slice(drawn, end))
            drawn = end

        run_for((budget or Budget(size)).for_pool(size), run, time.perf_counter(), most=size)
        weights = self._weights[:drawn].copy()
        accumulate(weights)
        return self._worlds[:drawn], weights

    def _fill(self, rules: Rules, root: Records, places: slice) -> None:
        """Draw worlds with the logarithms of their weights; the generator of `root` goes on."""
        worlds, weights = self._worlds[places], self._weights[places]
        draw_pool(rules.record, root, worlds, self._past, weights, MODELS[self.model].address, self.noise)
