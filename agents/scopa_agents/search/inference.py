"""Inference about hidden cards: worlds weighted by how likely the plays that were seen are in them.

The model of the other seats is a policy of ROLLOUTS that errs with probability `noise`: then every legal move is
equally likely.  Plays since hands were last dealt count; earlier ones say nothing about the hands of now.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_agents.search.rollouts import ROLLOUTS
from scopa_env.engine.bits import NONE, bit, signed
from scopa_env.engine.hidden import fill, hand_count
from scopa_env.engine.moves import count_moves
from scopa_env.engine.state import GAME, NOBODY, PLAYING, Records, first_player, side_of
from scopa_env.kernel import kernel
from scopa_env.policy import call_policy
from scopa_env.rules import Rules

MODELS = ("none", *ROLLOUTS)
"""Models of the other seats: none, or that they play by a policy of ROLLOUTS."""

KEPT = 0.25
"""Share of a pool's worlds that its weights must be worth at least."""

Floats = np.ndarray[Any, np.dtype[np.float64]]


@kernel
def last_side(rules: Any, game: Any) -> int:
    """Return the side that took cards last in the plays that a record holds; NOBODY if none did."""
    players = int(rules["players"])
    owned = NONE
    for side in range(int(rules["sides"])):
        owned |= game["piles"][side]
    for k in range(signed(game["plays"]) - 1, -1, -1):
        if game["captured"][k] != NONE or owned & bit(int(game["cards"][k])) != NONE:
            return side_of(rules, (first_player(rules, game) + k) % players)
    return side_of(rules, int(game["dealer"])) if owned != NONE else NOBODY  # the dealer's bonus


@kernel
def take_back(rules: Any, game: Any) -> None:
    """Take back the last play of a record, made since hands were last dealt; the sweeps stay as they are."""
    k = signed(game["plays"]) - 1
    players = int(rules["players"])
    seat = (first_player(rules, game) + k) % players
    side = side_of(rules, seat)
    card, captured = bit(int(game["cards"][k])), game["captured"][k]
    game["piles"][side] &= ~(captured | card)  # a laid card is in no pile
    game["table"] = game["table"] & ~card | captured
    game["hands"][seat] |= card
    game["played"][seat] &= ~card
    game["plays"] = k
    game["seat"] = seat
    game["card"] = NOBODY
    game["chosen"] = NONE
    game["stage"] = PLAYING
    game["last"] = last_side(rules, game)


@kernel
def plays_since_deal(rules: Any, game: Any) -> int:
    """Return the number of plays since hands were last dealt, of those that the record holds."""
    held = 0
    for seat in range(int(rules["players"])):
        held += hand_count(game, seat)
    return min(signed(rules["players"]) * signed(rules["hand_size"]) - held, signed(game["plays"]))


@kernel
def likelihood(rules: Any, worlds: Any, at: int, past: Any, observer: int, model: int, noise: float) -> float:
    """Return how likely the plays of the other seats since the last deal are, if they held what worlds[at] says.

    Args:
        rules: RULES[1].
        worlds: GAME[N], with every card.
        at: the world.
        past: GAME[1], working space: the plays are taken back in it.
        observer: the seat whose own plays say nothing.
        model: address of the policy that the other seats follow.
        noise: probability that a seat errs.
    """
    past[0] = worlds[at]
    game = past[0]
    result = 1.0
    for _ in range(plays_since_deal(rules[0], worlds[at])):
        take_back(rules[0], game)
        if int(game["seat"]) == observer:
            continue
        k = int(game["plays"])
        errs = noise / count_moves(rules[0], game)
        call_policy(model, rules, past, 0)
        meant = int(game["card"]) == int(game["cards"][k]) and game["chosen"] == game["captured"][k]
        result *= errs + (1.0 - noise if meant else 0.0)
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
def draw_pool(rules: Any, root: Any, pool: Any, past: Any, weights: Any, model: int, noise: float) -> None:
    """Fill a pool of worlds, and the sums of their weights up to each of them.

    Args:
        rules: RULES[1].
        root: GAME[1], stripped of what the seat to act cannot see; its generator goes on.
        pool: GAME[K], written.
        past: GAME[1], working space.
        weights: float64[K], written: ascending, the last the sum of all.
        model: address of the policy that the other seats follow.
        noise: probability that a seat errs, above 0.
    """
    observer = int(root[0]["seat"])
    for k in range(len(pool)):
        pool[k] = root[0]
        fill(rules[0], pool[k])
        root[0]["rng"] = pool[k]["rng"]
        weights[k] = np.log(likelihood(rules, pool, k, past, observer, model, noise))
    accumulate(weights)


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
        size: number of worlds.
    """

    def __init__(self, model: str, noise: float, size: int) -> None:
        self.model = model
        self.noise = 1.0 if model == "random" else noise  # who plays at random errs always
        size = 0 if model == "none" else size
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
            model = ROLLOUTS[self.model].address
            draw_pool(rules.record, begin, self.worlds, self._past, self.weights, model, self.noise)
        return self.worlds, self.weights
