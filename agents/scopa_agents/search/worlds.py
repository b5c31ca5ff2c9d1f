"""Perfect-information Monte Carlo: worlds that agree with what a seat knows, each judged with open cards, compiled."""

from __future__ import annotations

from typing import Any

from scopa_agents.search.alphabeta import LIMIT, VISITED, value_of_position
from scopa_agents.search.inference import draw_world
from scopa_agents.search.rollouts import margin, roll_out
from scopa_env.engine.play import play
from scopa_env.engine.state import side_of
from scopa_env.kernel import kernel

TIE_BREAK = 1 / 1024
"""Weight of a playout beside an exact value."""


@kernel
def solve_moves(rules: Any, root_moves: Any, work: Any) -> bool:
    """Write the value of each move of the first position for the side to act, ``score``, with every card known.

    Args:
        rules: RULES[1].
        root_moves: MOVE[..], the moves.
        work: `Work.arrays`, with the position in games[0].

    Returns:
        False if more positions than allowed would have to be visited; then the scores mean nothing.
    """
    games, counts = work[0], work[4]
    sign = 1 if side_of(rules[0], int(games[0]["seat"])) == 0 else -1
    for k in range(len(root_moves)):
        move = root_moves[k]
        games[1] = games[0]
        play(rules[0], games[1], int(move["card"]), move["captured"])
        move["score"] = sign * value_of_position(rules, work, 1)
        if counts[VISITED] > counts[LIMIT]:
            return False
    return True


@kernel
def play_out_moves(
    rules: Any, games: Any, root_moves: Any, totals: Any, side: int, weight: float, policy: int, epsilon: float
) -> None:
    """Add to the total of each move of games[0] `weight` times the result of a playout after it."""
    for k in range(len(root_moves)):
        games[1] = games[0]
        play(rules[0], games[1], int(root_moves[k]["card"]), root_moves[k]["captured"])
        roll_out(rules, games, 1, policy, epsilon)
        totals[k] += weight * margin(rules[0], games[1], side)


@kernel
def draw_and_solve(
    rules: Any, root: Any, pool: Any, weights: Any, root_moves: Any, totals: Any, work: Any, near: bool
) -> bool:
    """Draw a world to games[0] of the work; if `near`, solve it, and if that succeeds add the exact values."""
    games, counts = work[0], work[4]
    draw_world(rules, root, pool, weights, games, 0)
    if not near:
        return False
    counts[VISITED] = 0
    if not solve_moves(rules, root_moves, work):
        return False
    for k in range(len(root_moves)):
        totals[k] += root_moves[k]["score"]
    return True


@kernel
def judge_worlds(
    rules: Any,
    root: Any,
    pool: Any,
    weights: Any,
    root_moves: Any,
    totals: Any,
    work: Any,
    worlds: int,
    near: bool,
    policy: int,
    epsilon: float,
) -> int:
    """Add the value of each move for the side to act in worlds drawn from what the seat to act knows.

    In each world each move is followed by one playout, by the same random numbers for all moves.  If the end is near,
    and it visits at most counts[LIMIT] positions, the world is solved too: then the exact values count and the
    playouts only tell equal ones apart.

    Args:
        rules: RULES[1].
        root: GAME[1], see `draw_world`.
        pool: GAME[K], the same.
        weights: float64[K], the same.
        root_moves: MOVE[M], its moves.
        totals: float64[M], added to.
        work: `Work.arrays`.
        worlds: how many.
        near: whether to solve them.
        policy: address of one of ROLLOUTS.
        epsilon: share of random moves in playouts.

    Returns:
        How many worlds were solved.
    """
    solved = 0
    games = work[0]
    side = side_of(rules[0], int(root[0]["seat"]))
    for _ in range(worlds):
        weight = 1.0
        if draw_and_solve(rules, root, pool, weights, root_moves, totals, work, near):
            solved += 1
            weight = TIE_BREAK
        play_out_moves(rules, games, root_moves, totals, side, weight, policy, epsilon)
    return solved
