"""Perfect-information Monte Carlo: worlds that agree with what a seat knows, each judged with open cards, compiled."""

from __future__ import annotations

from typing import Any

from scopa_agents.search.alphabeta import LIMIT, VISITED, WORST, value_of_position
from scopa_agents.search.inference import pick
from scopa_agents.search.rollouts import margin, random_unit, roll_out
from scopa_env.engine.bits import popcount, signed
from scopa_env.engine.hidden import fill, hand_count
from scopa_env.engine.play import play
from scopa_env.engine.rng import random_bits
from scopa_env.engine.state import side_of
from scopa_env.kernel import kernel

TIE_BREAK = 1 / 1024
"""Weight of a playout beside an exact value."""


@kernel
def plays_left(rules: Any, game: Any) -> int:
    """Return the number of plays up to the end of the round."""
    held = 0
    for seat in range(int(rules["players"])):
        held += hand_count(game, seat)
    each = int(rules["players"]) * int(rules["hand_size"])
    stock = popcount(rules["deck"]) - signed(game["dealt"])
    return held + each * min(stock // each, signed(rules["deals"]) - signed(game["deals"]))


@kernel
def solve_moves(rules: Any, games: Any, root_moves: Any, frames: Any, moves: Any, memory: Any, counts: Any) -> bool:
    """Write the value of each move of games[0] for the side to act, ``score``, with every card known.

    Args:
        rules: RULES[1].
        games: GAME[MOST_PLIES + 1], see `value_of_position`.
        root_moves: MOVE[..], the moves.
        frames: FRAME[MOST_PLIES + 1], working space.
        moves: MOVE[MOST_MOVES], working space.
        memory: ENTRY[a power of two].
        counts: int64[2].

    Returns:
        False if more positions than allowed would have to be visited; then the scores mean nothing.
    """
    sign = 1 if side_of(rules[0], int(games[0]["seat"])) == 0 else -1
    for k in range(len(root_moves)):
        move = root_moves[k]
        games[1] = games[0]
        play(rules[0], games[1], int(move["card"]), move["captured"])
        move["score"] = sign * value_of_position(rules, games, frames, moves, memory, counts, 1, -WORST, WORST)
        if counts[VISITED] > counts[LIMIT]:
            return False
    return True


@kernel
def _play_out_moves(
    rules: Any, games: Any, root_moves: Any, totals: Any, side: int, weight: float, policy: int, epsilon: float
) -> None:
    """Add to the total of each move of games[0] `weight` times the result of a playout after it."""
    for k in range(len(root_moves)):
        games[1] = games[0]
        play(rules[0], games[1], int(root_moves[k]["card"]), root_moves[k]["captured"])
        roll_out(rules, games, 1, policy, epsilon)
        totals[k] += weight * margin(rules[0], games[1], side)


@kernel
def judge_worlds(
    rules: Any,
    root: Any,
    pool: Any,
    weights: Any,
    games: Any,
    root_moves: Any,
    totals: Any,
    frames: Any,
    moves: Any,
    memory: Any,
    counts: Any,
    worlds: int,
    solve: int,
    policy: int,
    epsilon: float,
) -> int:
    """Add the value of each move for the side to act in worlds drawn from what the seat to act knows.

    In each world each move is followed by one playout, by the same random numbers for all moves.  If at most `solve`
    plays are left, and it visits at most counts[LIMIT] positions, the world is solved too: then the exact values count
    and the playouts only tell equal ones apart.

    Args:
        rules: RULES[1].
        root: GAME[1], stripped; its generator goes on from call to call.
        pool: GAME[K]: worlds to draw from by `weights`; empty: they are drawn from `root`.
        weights: float64[K], see `scopa_agents.search.inference.draw_pool`.
        games: GAME[MOST_PLIES + 1], working space.
        root_moves: MOVE[M], its moves.
        totals: float64[M], added to.
        frames: FRAME[MOST_PLIES + 1], working space.
        moves: MOVE[MOST_MOVES], working space.
        memory: ENTRY[a power of two], working space.
        counts: int64[2]: positions visited in the last world, and the most.
        worlds: how many.
        solve: plays left at most in worlds that are solved.
        policy: address of one of ROLLOUTS.
        epsilon: share of random moves in playouts.

    Returns:
        How many worlds were solved.
    """
    solved = 0
    near = plays_left(rules[0], root[0]) <= solve
    side = side_of(rules[0], int(root[0]["seat"]))
    for _ in range(worlds):
        rng = random_bits(root[0])
        if len(pool) > 0:
            games[0] = pool[pick(weights, random_unit(root[0]))]
            games[0]["rng"] = rng
        else:
            games[0] = root[0]
            games[0]["rng"] = rng
            fill(rules[0], games[0])
        weight = 1.0
        if near:
            counts[VISITED] = 0
            if solve_moves(rules, games, root_moves, frames, moves, memory, counts):
                solved += 1
                weight = TIE_BREAK
                for k in range(len(root_moves)):
                    totals[k] += root_moves[k]["score"]
        _play_out_moves(rules, games, root_moves, totals, side, weight, policy, epsilon)
    return solved
