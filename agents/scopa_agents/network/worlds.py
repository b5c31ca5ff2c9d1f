"""Moves judged in sampled worlds by a network that moves for every seat, compiled."""

from __future__ import annotations

from typing import Any

from scopa_agents.network.forward import best_move
from scopa_agents.search.rollouts import margin
from scopa_agents.search.worlds import TIE_BREAK, draw_and_solve
from scopa_env.engine.play import play
from scopa_env.engine.state import PLAYING, side_of
from scopa_env.kernel import kernel


@kernel
def play_to_value(rules: Any, games: Any, at: int, seat: int, horizon: int, net: Any, space: Any) -> float:
    """Let a network move for all seats of games[at], each by what it knows, until `seat` has its `horizon`-th turn.

    Args:
        rules: RULES[1].
        games: GAME[N].
        at: the game, with every card; written to.
        seat: the seat.
        horizon: a number of turns; 0: up to the end of the round.
        net: `MoveNetwork.arrays`.
        space: `new_space`.

    Returns:
        The value of the best move of that turn for the side of `seat`, or its result if the round ends before.
    """
    turns = 0
    while games[at]["stage"] == PLAYING:
        if int(games[at]["seat"]) == seat:
            turns += 1
        valued = turns == horizon and turns > 0
        card, captured, value = best_move(rules, games, at, net, space, valued)
        if valued:
            return value
        play(rules[0], games[at], card, captured)
    return margin(rules[0], games[at], side_of(rules[0], seat))


@kernel
def judge_worlds_by_network(
    rules: Any,
    root: Any,
    pool: Any,
    weights: Any,
    root_moves: Any,
    totals: Any,
    work: Any,
    worlds: int,
    near: bool,
    horizon: int,
    net: Any,
    space: Any,
) -> None:
    """Add the value of each move for the side of the seat to act, as `judge_worlds` does, by a network.

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
        horizon: see `play_to_value`.
        net: `MoveNetwork.arrays`.
        space: `new_space`.
    """
    games = work[0]
    seat = int(root[0]["seat"])
    for _ in range(worlds):
        weight = TIE_BREAK if draw_and_solve(rules, root, pool, weights, root_moves, totals, work, near) else 1.0
        for k in range(len(root_moves)):
            games[1] = games[0]
            play(rules[0], games[1], int(root_moves[k]["card"]), root_moves[k]["captured"])
            totals[k] += weight * play_to_value(rules, games, 1, seat, horizon, net, space)
