"""`pimc:W`: perfect-information Monte Carlo.

W worlds that agree with what the seat knows are drawn, in each every move is judged with open cards, and the move with
the best mean is played (Ginsberg, "GIB: Imperfect Information in a Computationally Challenging Game", 2001; what that
cannot see: Long, Sturtevant, Buro and Furtak, "Understanding the Success of Perfect Information Monte Carlo Sampling
in Game Tree Search", 2010).  The worlds are spent in rounds of equal length, after each of which the better half of the
moves is kept (sequential halving: Karnin, Koren and Somekh, "Almost Optimal Exploration in Multi-Armed Bandits", 2013).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from scopa_agents.search.alphabeta import ENTRY, FRAME, MOST_MOVES, MOST_PLIES, MOVE
from scopa_agents.search.base import ViewSearchAgent, run_for
from scopa_agents.search.inference import MODELS, Pool
from scopa_agents.search.rollouts import ROLLOUTS
from scopa_agents.search.settings import MOST_THREADS, Budget, Settings, number, parse_settings, settings_text, word
from scopa_agents.search.worlds import judge_worlds
from scopa_env.actions import Move
from scopa_env.engine.state import GAME, Records
from scopa_env.rules import Rules

MEMORY = 1 << 18
"""Places of the transposition table of a thread, 24 bytes each."""

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class PimcSettings(Settings):
    """Settings of `PimcAgent`.

    Attributes:
        budget: worlds, or a time.
        solve: worlds are solved exactly where at most so many plays are left (of games with two sides).
        positions: a world in which more positions would have to be visited is judged by playouts.
        rollout: policy of the playouts.
        epsilon: share of random moves in playouts.
        inference: model of the other seats by which worlds are weighted.
        noise: how often it errs.
        pool: number of weighted worlds that are drawn for a search with inference.
        threads: how many work on worlds side by side.
    """

    solve: int = number(6, 0, 40)
    positions: int = number(1_000_000, 1, 1_000_000_000)
    rollout: str = word("expert", tuple(ROLLOUTS))
    epsilon: float = number(0.0, 0.0, 1.0)
    inference: str = word("none", MODELS)
    noise: float = number(0.2, 0.01, 1.0)
    pool: int = number(512, 1, 1_000_000)
    threads: int = number(1, 1, MOST_THREADS)


class _Space:
    """Working memory of one thread."""

    def __init__(self, settings: PimcSettings) -> None:
        self.settings = settings
        self.games = np.zeros(MOST_PLIES + 1, GAME)
        self.frames = np.zeros(MOST_PLIES + 1, FRAME)
        self.moves = np.zeros(MOST_MOVES, MOVE)
        self.memory = np.zeros(MEMORY, ENTRY)
        self.counts = np.array([0, settings.positions])
        self.pool = Pool(settings.inference, settings.noise, settings.pool)

    def begin(self, rules: Rules, root: Records, seed: int) -> None:
        """Get ready for a search from GAME[1]."""
        self.rules = rules
        self.root = root.copy()
        self.root["rng"] = seed
        self.worlds, self.weights = self.pool.draw(rules, self.root, seed)

    def judge(self, moves: Records, budget: Budget, begin: float) -> tuple[Floats, int]:
        """Return the summed values of moves, float64[M], and the number of worlds."""
        settings, rules = self.settings, self.rules
        listed, totals = moves.copy(), np.zeros(len(moves))

        def run(worlds: int) -> None:
            judge_worlds(
                rules.record,
                self.root,
                self.worlds,
                self.weights,
                self.games,
                listed,
                totals,
                self.frames,
                self.moves,
                self.memory,
                self.counts,
                worlds,
                settings.solve if rules.sides == 2 else 0,
                ROLLOUTS[settings.rollout].address,
                settings.epsilon,
            )

        return totals, run_for(budget, run, begin, settings.threads)


class PimcAgent(ViewSearchAgent[_Space]):
    """Perfect-information Monte Carlo (see the module).

    Args:
        settings: ``"100"``, ``"20ms"``, ``"100,solve=12"``: see `PimcSettings`.
        seed: seed of its random choices.

    Attributes:
        worlds: worlds in which the last search judged the move that it chose.
    """

    kind = "pimc"

    def __init__(self, settings: str = "", *, seed: int | None = None) -> None:
        self.settings = parse_settings(PimcSettings, self.kind, settings or "100", "worlds")
        self.worlds = 0
        super().__init__(f"{self.kind}:{settings_text(self.settings)}", self.settings.threads, seed)

    def make_space(self) -> _Space:
        """Return the working memory of one thread."""
        return _Space(self.settings)

    def search(self, rules: Rules, records: Records, moves: list[Move]) -> Move:
        """Return the move with the best mean of those that are left after all rounds but the last."""
        begin = time.perf_counter()
        self.workspaces.each(lambda space, seed: space.begin(rules, records, seed), self.draw_seeds())
        listed = np.zeros(len(moves), MOVE)
        listed["card"] = [move.card for move in moves]
        listed["captured"] = [move.mask for move in moves]
        self.worlds = 0
        return moves[self._best(listed, begin)]

    def _best(self, moves: Records, begin: float) -> int:
        """Return the place of the best move."""
        totals = np.zeros(len(moves))
        active = np.arange(len(moves))
        rounds = max(1, (len(moves) - 1).bit_length())
        for turn in range(rounds):
            budget = self.settings.budget.part(turn, rounds, len(moves) / len(active))
            values, worlds = self._judge(moves[active], budget, begin)
            totals[active] += values
            self.worlds += worlds
            active = active[np.argsort(-totals[active], kind="stable")]
            if turn < rounds - 1:
                active = np.sort(active[: -(-len(active) // 2)])
        return int(active[0])

    def _judge(self, moves: Records, budget: Budget, begin: float) -> tuple[Floats, int]:
        """Return the summed values of moves and the number of worlds, of all threads."""
        found = self.workspaces.each(lambda space, _: space.judge(moves, budget, begin), range(self.threads))
        return np.sum([values for values, _ in found], axis=0), sum(worlds for _, worlds in found)
