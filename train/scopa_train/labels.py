"""Labels for move networks: rounds of self-play in which search gives every legal move a value, compiled.

At each decision with a choice, worlds that agree with what the seat knows are drawn.  In each world every move is
followed by a playout: by a compiled policy up to the end of the round, or by a network, which moves for every seat by
what that seat knows, up to a later turn of the mover's, where it says what its best move is worth.  The mean over the
worlds is the label of the move.  All moves are judged in the same worlds, so that their differences have less noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from scopa_agents.network.features import LATE, NUM_FEATURES, NUM_WORDS, PIECES, pack_position
from scopa_agents.network.forward import best_move, new_space
from scopa_agents.network.network import MoveNetwork
from scopa_agents.network.worlds import ALIKE, BY_NETWORK, PLAYERS, is_solvable, name_by, play_to_value
from scopa_agents.search.alphabeta import MOVE, Work
from scopa_agents.search.rollouts import ROLLOUTS, random_unit
from scopa_env.engine.bits import NONE, signed
from scopa_env.engine.deal import start_round
from scopa_env.engine.hidden import fill, strip
from scopa_env.engine.moves import next_move
from scopa_env.engine.play import play, play_undealt
from scopa_env.engine.rng import random_below, random_bits
from scopa_env.engine.state import GAME, NOBODY, PLAYING, side_of
from scopa_env.files import whole_file
from scopa_env.kernel import kernel
from scopa_env.packing import unpack
from scopa_env.rules import Rules
from scopa_train.checkpoint import CheckpointError

SEARCH = np.dtype(
    [
        ("worlds", "i8"),  # worlds of a decision
        ("explore", "f8"),  # share of random moves in the games whose decisions are labelled
        ("only_exact", "i8"),  # label only decisions whose values are exact
    ],
    align=True,
)
"""How labels are made, beside who plays (`PLAYERS`)."""

_PIECE = next(piece for piece in PIECES if piece.name == "plays_left")
PLAYS_LEFT = slice(_PIECE.offset, _PIECE.offset + _PIECE.size)
"""The features that count the plays left."""
MOST_POSITIONS, MEMORY_BITS = 100_000, 14
"""Positions that an exact value may take; places of the transposition table, as a power of two."""
MOST_MOVES = 4096
"""Moves of a decision that are labelled, at most."""
ROWS = 1 << 17
"""Rows of one call of compiled code."""
ROWS_OF_ROUND = 1 << 14
"""Rows that a round may take: when fewer are left, no further round is begun."""


@kernel
def list_moves(rules: Any, game: Any, moves: Any) -> int:
    """Write the legal moves to MOVE[M]; return their number, at most M."""
    count = 0
    card, captured = next_move(rules, game, NOBODY, NONE)
    while card != NOBODY and count < len(moves):
        moves[count]["card"], moves[count]["captured"] = card, captured
        count += 1
        card, captured = next_move(rules, game, card, captured)
    return count


@kernel
def judge_moves(rules: Any, games: Any, moves: Any, totals: Any, worlds: int, mind: Any) -> None:
    """Write the mean values of moves in worlds drawn from what the seat to act in games[0] knows.

    Args:
        rules: RULES[1].
        games: GAME[4]: the game; the game as the seat knows it; written: a world; working space.
        moves: MOVE[M].
        totals: float64[M], written.
        worlds: how many.
        mind: PLAYERS[1] and the networks, see `play_to_value`.
    """
    players, net, space, other, other_space, work = mind
    seat = int(games[0]["seat"])
    for k in range(len(moves)):
        totals[k] = 0.0
    if is_solvable(rules, games, 0, int(players[0]["solve"])):
        worlds = 1  # the only one
    for _ in range(worlds):
        games[2] = games[1]
        games[2]["rng"] = random_bits(games[0])
        fill(rules[0], games[2])
        for k in range(len(moves)):
            games[3] = games[2]
            play(rules[0], games[3], int(moves[k]["card"]), moves[k]["captured"])
            totals[k] += play_to_value(rules, games, 3, seat, players, net, space, other, other_space, work)
    for k in range(len(moves)):
        totals[k] /= worlds


@kernel
def _write_rows(rules: Any, games: Any, moves: Any, totals: Any, out: Any, row: int) -> int:
    """Write features and value of each move of games[1]; return the row after the last.  None if the round ends."""
    words, values, _ = out
    for k in range(len(moves)):
        games[2] = games[1]
        play_undealt(rules[0], games[2], int(moves[k]["card"]), moves[k]["captured"])
        if games[2]["stage"] == PLAYING and row < len(values):
            pack_position(rules[0], games[2], int(games[0]["seat"]), words[row])
            values[row] = totals[k]
            row += 1
    return row


@kernel
def _move_on(
    rules: Any, games: Any, moves: Any, totals: Any, explore: float, mind: Any, mine: bool, labelled: bool
) -> None:
    """Make a move in games[0].

    A random one now and then; else of the own side the network's, or without one that of the largest label or the
    policy's; of the others what they play.
    """
    players, net, space, other, other_space, _ = mind
    best = 0
    if len(moves) > 1 and random_unit(games[0]) < explore:
        best = signed(random_below(games[0], len(moves)))
    elif not mine:
        name_by(rules, games, 1, int(players[0]["others"]), 0.0, other, other_space, False)
        play(rules[0], games[0], int(games[1]["card"]), games[1]["chosen"])
        return
    elif players[0]["policy"] == BY_NETWORK:
        card, captured, _ = best_move(rules, games, 1, net, space, False)
        play(rules[0], games[0], card, captured)
        return
    elif not labelled:
        name_by(rules, games, 1, int(players[0]["policy"]), players[0]["epsilon"], net, space, False)
        play(rules[0], games[0], int(games[1]["card"]), games[1]["chosen"])
        return
    else:
        for k in range(len(moves)):
            if totals[k] > totals[best]:
                best = k
    play(rules[0], games[0], int(moves[best]["card"]), moves[best]["captured"])


@kernel
def label_rounds(
    rules: Any, games: Any, moves: Any, totals: Any, search: Any, mind: Any, out: Any, decisions: int
) -> Any:
    """Play rounds and label all moves of their decisions with a choice, until there are enough or no room is left.

    Where the other sides have a policy of their own, only the decisions of one side, drawn for each round, are
    labelled, and the others' moves are theirs.

    Args:
        rules: RULES[1].
        games: GAME[4]; the generator of games[0] goes on from call to call.
        moves: MOVE[M], working space.
        totals: float64[M], working space.
        search: SEARCH[1].
        mind: PLAYERS[1] and the networks, see `play_to_value`.
        out: uint64[R, NUM_WORDS], float32[R], int64[R]: features and values of the moves, first row of each decision.
        decisions: after so many, no further round is begun.

    Returns:
        The numbers of rows and of decisions written.
    """
    row = count = 0
    alone = mind[0][0]["others"] != ALIKE
    while count < decisions and row + ROWS_OF_ROUND < len(out[1]):
        games[0]["dealer"] = random_below(games[0], int(rules[0]["players"]))
        own = signed(random_below(games[0], int(rules[0]["sides"])))
        start_round(rules[0], games[0])
        while games[0]["stage"] == PLAYING:
            seat = int(games[0]["seat"])
            mine = not alone or side_of(rules[0], seat) == own
            legal = list_moves(rules[0], games[0], moves)
            games[1] = games[0]
            strip(rules[0], games[1], seat)
            games[1]["rng"] = random_bits(games[0])
            labelled = legal > 1 and mine
            if search[0]["only_exact"] and labelled:
                labelled = is_solvable(rules, games, 0, int(mind[0][0]["solve"]))
            if labelled:
                judge_moves(rules, games, moves[:legal], totals, int(search[0]["worlds"]), mind)
                after = _write_rows(rules, games, moves[:legal], totals, out, row)
                if after > row:
                    out[2][count] = row
                    count += 1
                row = after
            _move_on(rules, games, moves[:legal], totals, search[0]["explore"], mind, mine, labelled)
    return row, count


@dataclass(frozen=True)
class Labels:
    """Moves with values, grouped by the decision that they belong to.

    Attributes:
        words: uint64[R, NUM_WORDS], the features of the position after each move (`scopa_env.packing.unpack`).
        values: float32[R], points for the side of the mover.
        starts: int64[D + 1], the first row of each decision, and the number of rows.
    """

    words: np.ndarray[Any, np.dtype[np.uint64]]
    values: np.ndarray[Any, np.dtype[np.float32]]
    starts: np.ndarray[Any, np.dtype[np.int64]]

    def __len__(self) -> int:
        """Return the number of decisions."""
        return len(self.starts) - 1

    def save(self, path: Path) -> None:
        """Write them to a file, whole or not at all."""
        with whole_file(path) as unfinished:
            save_file({"words": self.words, "values": self.values, "starts": self.starts}, unfinished)

    @classmethod
    def load(cls, path: Path) -> Labels:
        """Read them from a file.

        Raises:
            CheckpointError: it cannot be read.
        """
        try:
            return cls(**load_file(path))
        except (OSError, SafetensorError, TypeError) as error:
            raise CheckpointError(f"labels {str(path)!r}: cannot be read ({error})") from None

    def split(self) -> tuple[Labels, Labels]:
        """Return the decisions for the early and those for the late network."""
        left = unpack(self.words[self.starts[:-1]], NUM_FEATURES)[:, PLAYS_LEFT].sum(axis=1)
        return self.take(left > LATE), self.take(left <= LATE)

    def take(self, chosen: np.ndarray[Any, np.dtype[np.bool_]]) -> Labels:
        """Return some decisions, bool[D]."""
        sizes = np.diff(self.starts)
        rows = np.repeat(chosen, sizes)
        return Labels(self.words[rows], self.values[rows], np.append(0, np.cumsum(sizes[chosen])))

    def shuffled(self, rng: np.random.Generator) -> Labels:
        """Return the decisions in random order: what stands together then has no more in common than any other."""
        order, sizes = rng.permutation(len(self)), np.diff(self.starts)
        ends = np.cumsum(sizes[order])
        rows = np.repeat(self.starts[order] - ends + sizes[order], sizes[order]) + np.arange(len(self.values))
        return Labels(self.words[rows], self.values[rows], np.append(0, ends))

    @classmethod
    def join(cls, parts: Sequence[Labels]) -> Labels:
        """Return the decisions of all parts one after the other."""
        ends = np.cumsum([len(part.values) for part in parts])
        starts = [part.starts[1:] + end - len(part.values) for part, end in zip(parts, ends, strict=True)]
        return cls(
            np.concatenate([part.words for part in parts]),
            np.concatenate([part.values for part in parts]),
            np.concatenate([np.zeros(1, np.int64), *starts]),
        )


_NO_NETWORK = MoveNetwork.zeros(())


@dataclass(frozen=True)
class Opponent:
    """What the other sides play, if it is not what the own one plays.

    Attributes:
        policy: address of one of ROLLOUTS, or BY_NETWORK.
        network: the network.
    """

    policy: int
    network: MoveNetwork = _NO_NETWORK


@dataclass(frozen=True)
class Teacher:
    """How decisions are labelled.

    Attributes:
        worlds: worlds of a decision.
        explore: share of random moves in the games whose decisions are labelled.
        policy: of playouts, one of ROLLOUTS, where there is no network.
        epsilon: share of random moves of that policy.
        network: moves in the playouts.
        horizon: with a network, turns of the mover's up to the value; 0: playouts go on to the end of the round.
        opponent: what the other sides play; None: the same.
        solve: in self-play of two sides, values are exact where at most so many plays are left and no card is hidden.
        only_exact: label only such decisions.
    """

    worlds: int
    explore: float
    policy: str = "greedy"
    epsilon: float = 0.0
    network: MoveNetwork | None = None
    horizon: int = 0
    opponent: Opponent | None = None
    solve: int = 0
    only_exact: bool = False

    def search(self) -> Any:
        """Return SEARCH[1]."""
        return np.array([(self.worlds, self.explore, self.only_exact)], SEARCH)

    def mind(self) -> Any:
        """Return what kernels know of the players, with working space of its own."""
        net, other = self.network or _NO_NETWORK, self.opponent.network if self.opponent else _NO_NETWORK
        horizon, policy = (self.horizon, BY_NETWORK) if self.network else (0, ROLLOUTS[self.policy].address)
        others = self.opponent.policy if self.opponent else ALIKE
        solve = self.solve if others == ALIKE else 0
        players = np.array([(horizon, policy, self.epsilon, others, solve)], PLAYERS)
        work = Work(MOST_POSITIONS, MEMORY_BITS).arrays
        return players, net.arrays, new_space(net.widest), other.arrays, new_space(other.widest), work


@dataclass(frozen=True)
class Labeller:
    """Makes labels, on several threads.

    The work is split into `tasks` of equal size, each with a seed of its own, so the labels do not depend on the number
    of threads.

    Attributes:
        rules: the games; the tasks take turns.
        teacher: how decisions are labelled.
        tasks: number of tasks.
        threads: how many run side by side.
    """

    rules: Sequence[Rules]
    teacher: Teacher
    tasks: int
    threads: int

    def label(self, decisions: int, seed: int, progress: Callable[[int], None]) -> Labels:
        """Return at least `decisions` labelled decisions.

        Args:
            decisions: how many.
            seed: seed of everything random.
            progress: called with the number of decisions that a task has just added.
        """
        stop = Event()
        seeds = np.random.SeedSequence(seed).generate_state(self.tasks, np.uint64)
        each = -(-decisions // self.tasks)

        def run(task: int) -> list[Labels]:
            return list(self._run(self.rules[task % len(self.rules)], each, int(seeds[task]), progress, stop))

        with ThreadPoolExecutor(self.threads) as pool:
            try:
                found = list(pool.map(run, range(self.tasks)))
            except BaseException:
                stop.set()
                raise
        return Labels.join([part for parts in found for part in parts])

    def _run(
        self, rules: Rules, decisions: int, seed: int, progress: Callable[[int], None], stop: Event
    ) -> Iterator[Labels]:
        games = np.zeros(4, GAME)
        games["rng"] = seed
        moves, totals = np.zeros(MOST_MOVES, MOVE), np.zeros(MOST_MOVES)
        out = (np.empty((ROWS, NUM_WORDS), np.uint64), np.empty(ROWS, np.float32), np.empty(ROWS, np.int64))
        search, mind = self.teacher.search(), self.teacher.mind()
        done = 0
        while done < decisions and not stop.is_set():
            some = min(decisions - done, SLICE)
            rows, count = label_rounds(rules.record, games, moves, totals, search, mind, out, some)
            done += count
            progress(count)
            yield Labels(out[0][:rows].copy(), out[1][:rows].copy(), np.append(out[2][:count], rows))


SLICE = 1000
"""Decisions of one call of compiled code, so that progress is seen and an interrupt noticed."""
