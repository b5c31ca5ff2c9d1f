"""Moves judged in sampled worlds by a network that moves for the seats, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_agents.network.forward import best_move
from scopa_agents.search.alphabeta import LIMIT, VISITED, value_of_position
from scopa_agents.search.rollouts import margin, name_move
from scopa_agents.search.worlds import TIE_BREAK, draw_and_solve
from scopa_env.engine.hidden import knows_all
from scopa_env.engine.past import plays_left
from scopa_env.engine.play import finish_play, play
from scopa_env.engine.state import PLAYING, side_of
from scopa_env.kernel import kernel

ALIKE, BY_NETWORK = -1, -2
"""Values of ``others``: the other sides move as the own one does; they move by a network of their own."""

FREE_PLACE = 2
"""Place of the work's games from which on they are free; before it may be a world and what is played in it."""

PLAYERS = np.dtype(
    [
        ("horizon", "i8"),  # turns of the seat's up to the value; 0: up to the end of the round
        ("policy", "i8"),  # by which the own side moves: address of one of ROLLOUTS, or BY_NETWORK
        ("epsilon", "f8"),  # share of random moves of that policy
        ("others", "i8"),  # how the other sides move: such an address, ALIKE, BY_NETWORK
        ("solve", "i8"),  # where at most so many plays are left and the mover knows every card, the value is exact
    ],
    align=True,
)
"""Who moves in a playout, and how far it goes."""


@kernel
def name_by(rules: Any, games: Any, at: int, policy: int, epsilon: float, net: Any, space: Any, valued: bool) -> float:
    """Name the move of a policy or a network in games[at]; return its value (0 of a policy, or if not `valued`)."""
    if policy == BY_NETWORK:
        card, captured, value = best_move(rules, games, at, net, space, valued)
        games[at]["card"], games[at]["chosen"] = card, captured
        return float(value)
    name_move(rules, games, at, policy, epsilon)
    return 0.0


@kernel
def is_solvable(rules: Any, games: Any, at: int, plays: int) -> bool:
    """Say whether at most `plays` plays are left in games[at], of two sides, and the seat to act knows every card."""
    if plays == 0 or rules[0]["sides"] != 2 or plays_left(rules[0], games[at]) > plays:
        return False
    return bool(knows_all(rules[0], games[at], int(games[at]["seat"])))


@kernel
def play_to_value(
    rules: Any,
    games: Any,
    at: int,
    seat: int,
    players: Any,
    net: Any,
    space: Any,
    other: Any,
    other_space: Any,
    work: Any,
) -> float:
    """Play games[at], every seat by what it knows, until `seat` has had as many turns as the horizon says.

    Args:
        rules: RULES[1].
        games: GAME[N].
        at: the game, with every card; written to.
        seat: the seat.
        players: PLAYERS[1]; a horizon needs a network.
        net: `MoveNetwork.arrays`, of the own side.
        space: `new_space`.
        other: the same, of the other sides.
        other_space: the same.
        work: `Work.arrays`.

    Returns:
        The value of the best move of that turn for the side of `seat`, or its result if the round ends before.
    """
    side = side_of(rules[0], seat)
    horizon, policy, others = players[0]["horizon"], players[0]["policy"], players[0]["others"]
    turns = 0
    while games[at]["stage"] == PLAYING:
        if is_solvable(rules, games, at, int(players[0]["solve"])):
            solved, counts = work[0], work[4]
            solved[FREE_PLACE] = games[at]
            counts[VISITED] = 0
            exact = value_of_position(rules, work, FREE_PLACE)
            if counts[VISITED] <= counts[LIMIT]:
                return float(exact if side == 0 else -exact)
        mover = int(games[at]["seat"])
        if others == ALIKE or side_of(rules[0], mover) == side:
            turns += 1 if mover == seat else 0
            valued = horizon > 0 and turns == horizon
            value = name_by(rules, games, at, policy, players[0]["epsilon"], net, space, valued)
            if valued:
                return value
        else:
            name_by(rules, games, at, others, 0.0, other, other_space, False)
        finish_play(rules[0], games[at])
    return margin(rules[0], games[at], side)


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
    players: Any,
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
        players: PLAYERS[1], see `play_to_value`.
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
            totals[k] += weight * play_to_value(rules, games, 1, seat, players, net, space, net, space, work)
