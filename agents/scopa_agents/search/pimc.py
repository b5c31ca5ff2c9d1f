"""`pimc:W`: perfect-information Monte Carlo, worlds judged with open cards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scopa_agents.search.alphabeta import ENTRY, FRAME, LIMIT, MOST_MOVES, MOST_PLIES, MOVE
from scopa_agents.search.base import SearchAgent, Workspaces, run_for
from scopa_agents.search.rollouts import ROLLOUTS
from scopa_agents.search.settings import MOST_THREADS, Budget, number, parse_settings, settings_text, word
from scopa_agents.search.worlds import judge_worlds
from scopa_env import batch
from scopa_env.actions import Move, move_of
from scopa_env.engine.state import GAME, Records
from scopa_env.rules import Rules


@dataclass(frozen=True)
class PimcSettings:
    """Settings of `PimcAgent`.

    Attributes:
        budget: worlds, or a time.
        solve: a world is solved exactly if at most so many plays are left, 0: never.
        rollout: policy of the playouts in other worlds.
        epsilon: share of random moves in playouts.
        positions: a world in which more positions would have to be visited gets playouts too.
        threads: how many work on worlds side by side.
    """

    budget: Budget
    solve: int = number(36, 0, 40)
    rollout: str = word("greedy", "random")
    epsilon: float = number(0.3, 0.0, 1.0)
    positions: int = number(1_000_000, 1, 1_000_000_000)
    threads: int = number(1, 1, MOST_THREADS)


class _Space:
    def __init__(self) -> None:
        self.games = np.zeros(MOST_PLIES + 1, GAME)
        self.frames = np.zeros(MOST_PLIES + 1, FRAME)
        self.moves = np.zeros(MOST_MOVES, MOVE)
        self.memory = np.zeros(1 << 18, ENTRY)
        self.counts = np.zeros(2, np.int64)
        self.solved = 0

    def judge(self, rules: Rules, root: Records, moves: np.ndarray, settings: PimcSettings, seed: int):
        root = root.copy()
        root["rng"] = seed
        moves = moves.copy()
        totals = np.zeros(len(moves))
        self.counts[LIMIT] = settings.positions
        self.solved = 0
        policy = ROLLOUTS.index(settings.rollout)

        def run(worlds: int) -> None:
            self.solved += judge_worlds(
                rules.record,
                root,
                self.games,
                moves,
                totals,
                self.frames,
                self.moves,
                self.memory,
                self.counts,
                worlds,
                settings.solve if rules.sides == 2 else 0,
                policy,
                settings.epsilon,
            )

        return totals, run_for(settings.budget, run, settings.threads)


class PimcAgent(SearchAgent):
    """Perfect-information Monte Carlo."""

    kind = "pimc"

    def __init__(self, settings: str = "100", *, seed: int | None = None) -> None:
        self.settings = parse_settings(PimcSettings, self.kind, settings or "100", "worlds")
        self._spaces: Workspaces[_Space] | None = None
        super().__init__(f"{self.kind}:{settings_text(self.settings)}", seed)

    def search(self, rules: Rules, records: Records) -> Move:
        """Return the move with the best mean."""
        if self._spaces is None:
            self._spaces = Workspaces(_Space, self.settings.threads)
        cards, captured = np.empty(512, np.int64), np.empty(512, np.uint64)
        count = batch.list_moves(rules.record, records, cards, captured)
        moves = np.zeros(count, MOVE)
        moves["card"], moves["captured"] = cards[:count], captured[:count]
        seed = int(self._rng.integers(0, 1 << 63))
        (totals, worlds), = self._spaces.each(lambda space, seed: space.judge(rules, records, moves, self.settings, seed), [seed])
        best = int(np.argmax(totals))
        return move_of(int(moves["card"][best]), int(moves["captured"][best]))
