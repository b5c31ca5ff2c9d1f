"""Games in which a learner has one seat and agents have the others: what the Gymnasium environments share.

Compiled agents (those with a `Policy`) play inside the compiled loop; any other agent is asked once for all games in
which it is to act.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from scopa_env import batch, observation, run
from scopa_env.actions import NUM_ACTIONS, IllegalAction
from scopa_env.agents import Agent, AgentSpec, BatchAgent, as_actions, as_move, make_agent
from scopa_env.engine.state import GAME, MAX_PLAYERS, NOBODY, Records, copy_of
from scopa_env.episode import Array, EpisodeSettings, check_options, check_state, opening
from scopa_env.game import Game, View, check_index, illegal_action_text, seed_state
from scopa_env.notation import PositionError
from scopa_env.policy import Policy
from scopa_env.rules import check_seat

Specs = AgentSpec | Sequence[AgentSpec]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Words = np.ndarray[Any, np.dtype[np.uint64]]

_NO_ACTIONS: Ints = np.empty(0, np.int64)
_WHOLE_ACTIONS: Words = np.empty(0, np.uint64)


MOST_AGENTS = 200

_STATE = ("records", "runs", "rewards", "terminations", "finals", "past", "started", "agents")
"""The attributes that make up a state."""


def _pool(name: str, specs: Specs) -> list[AgentSpec]:
    """Return agents given as one or several as a list; raises a ValueError if there is none."""
    several = isinstance(specs, Sequence) and not isinstance(specs, str)
    pool: list[AgentSpec] = list(specs) if several else [specs]  # type: ignore[arg-type, list-item]
    if not pool:
        raise ValueError(f"{name}=[]: allowed is an agent, or a sequence of at least one")
    return pool


class SeatedGames:
    """Several games with a learner in one seat of each.

    Args:
        settings: what an episode is and pays.
        count: number of games.
        opponent: who plays the other seats: an agent, or a sequence of which one is drawn for each episode.
        partner: who plays the seats of the learner's team, in the same forms; None: as the opponents.
        seat: the learner's seat; None: drawn for each episode.
        kind: what the environment is called in states.
        restarts: whether an episode that is over is followed by the next one in the same step.
        keep_rounds: keep the rounds that are over.

    Attributes:
        records: GAME[N].
        runs: RUN[N], see `scopa_env.run`.
        rewards: float64[N]: what the learner's side has earned by the last step.
        terminations: uint8[N]: whether the episode ended in the last step.
        finals: uint64[N, D / 8]: what the learner observed at the end of an episode that ended in the last step.
        last_rounds: GAME[N] if rounds are kept: the last round of each game that was over before another was dealt.
        past: if rounds are kept, and episodes do not restart: the finished rounds of the running match of game 0.

    Raises:
        ValueError: an argument that is not allowed; the message names it.
    """

    def __init__(
        self,
        settings: EpisodeSettings,
        count: int,
        opponent: Specs,
        partner: Specs | None = None,
        seat: int | None = None,
        *,
        kind: str = "games",
        restarts: bool = False,
        keep_rounds: bool = False,
    ) -> None:
        self.settings = settings
        self.kind = kind
        self.rules = settings.rules
        self._specs = _pool("opponent", opponent)
        partners = [] if partner is None else _pool("partner", partner)
        if partners and not self.rules.teams:
            raise ValueError(f"partner={partner!r}: allowed in team games only, not with {self.rules}")
        self._record = self.rules.record
        self._settings = settings.record(restarts=restarts)
        self._settings["learner"] = NOBODY if seat is None else check_seat("seat", seat, self.rules)
        self._settings["opponents"] = len(self._specs)
        self._settings["partners"] = len(partners)
        self._specs += partners
        if len(self._specs) > MOST_AGENTS:
            raise ValueError(f"opponent and partner: {len(self._specs)} agents; allowed are {MOST_AGENTS} together")
        self.agents: list[Agent] = []
        self._make_agents(None)
        size = observation.observation_size(self.rules.players)
        self._words = size // 8
        self._scratch = np.empty(observation.words_of(size), np.uint64)
        self._earned = np.empty(MAX_PLAYERS, np.float64)
        self._view = np.empty(1, GAME)
        self._rows = np.arange(count)
        self._waiting = np.empty(count, np.int64)
        self.records = np.zeros(count, GAME)
        self.runs = np.zeros(count, run.RUN)
        self.rewards = np.zeros(count, np.float64)
        self.terminations = np.zeros(count, np.uint8)
        self.finals = np.zeros((count if restarts else 1, self._words), np.uint64)
        self.last_rounds = np.zeros(count if keep_rounds else 0, GAME)
        self.past: tuple[Records, ...] = ()
        self.started = False
        self._seeded = False

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_policies"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._find_policies()

    def __len__(self) -> int:
        return len(self.records)

    def _make_agents(self, rng: np.random.Generator | None) -> None:
        """Make the agents of both pools, with seeds from `rng`; those that are handed in are seeded if they can be."""
        agents = []
        for spec in self._specs:
            seed = None if rng is None else int(rng.integers(1 << 32))
            agent = make_agent(spec, seed, self.rules)
            reseed = getattr(agent, "seed", None)
            kept = not isinstance(spec, str) or any(agent is other for other in self.agents)
            if seed is not None and kept and callable(reseed):
                reseed(seed)
            agents.append(agent)
        self.agents = agents
        self._find_policies()

    def _find_policies(self) -> None:
        """Look up the addresses of the compiled agents, which differ from process to process."""
        policies = [getattr(agent, "policy", None) for agent in self.agents]
        self._policies = np.array(
            [policy.address if isinstance(policy, Policy) else 0 for policy in policies], np.int64
        )
        self._all_compiled = bool(self._policies.all())

    def reset(self, seeds: Sequence[int] | None, options: Mapping[str, Any] | None, rows: Ints | None = None) -> None:
        """Start a new episode in every game; the agents play up to the learner's first decision.

        Args:
            seeds: a seed for each game; None goes on with the random generators as they stand.
            options: ``deck``, ``dealer``, ``seat``, ``position``, the same for every game (`check_options`).
            rows: int64[M], the games; None: all.

        Raises:
            ValueError: an option that is not allowed; the running episodes stay as they are.
        """
        options = check_options(options)
        learner = NOBODY if options.get("seat") is None else check_seat("seat", options["seat"], self.rules)
        fresh = seeds is not None or not self._seeded
        if rows is None or not self.started:
            rows = self._rows
        records, runs = copy_of(self.records[rows]), copy_of(self.runs[rows])
        for index, game in enumerate(rows.tolist()):
            if fresh:
                seed = None if seeds is None else seeds[game]
                records[index : index + 1] = opening(self.rules, options, seed_state(seed), NOBODY)
                runs["rng"][index] = _agents_state(seed)
            else:
                dealer = (int(records["dealer"][index]) + 1) % self.rules.players
                rng = int(records["rng"][index])
                records[index : index + 1] = opening(self.rules, options, rng, dealer)
        run.begin_all(self._record, records, runs)
        run.seat_all(self._record, self._settings, runs, learner)
        if seeds is not None:
            self._make_agents(np.random.default_rng(seeds[0]))
        with self._undone_by_errors():
            self.records[rows], self.runs[rows], self.past = records, runs, ()
            self.started = self._seeded = True
            self._advance(rows, _NO_ACTIONS, begins=True)
            self._let_others_play()
            if self.terminations[rows].any():
                raise PositionError("position: the episode ends before the learner is to act")
            self.runs["owed"][rows] = self.rewards[rows]

    def step(self, actions: Ints) -> None:
        """Take the learner's action in every game; the agents play up to its next decision or the end.

        Args:
            actions: int64[N].

        Raises:
            IllegalAction: an action is illegal (with ``illegal="raise"``) and nothing has changed; or an agent's is,
                and the step was not made (after that of a compiled agent only `reset` helps).
        """
        if not self._settings["forfeits"][0]:
            wrong = run.first_illegal(self.runs, actions)
            if wrong >= 0:
                raise IllegalAction(self._where(wrong) + illegal_action_text(self.game(wrong), int(actions[wrong])))
        if self._all_compiled:
            self._step(actions)
            return
        with self._undone_by_errors():  # an agent failed, or a person interrupted it
            self._step(actions)

    def _where(self, index: int) -> str:
        return f"game {index}: " if len(self) > 1 else ""

    def _step(self, actions: Ints) -> None:
        rounds = int(self.records["rounds"][0])
        self._advance(self._rows, actions, begins=True)
        self._let_others_play()
        if (
            len(self.last_rounds)
            and not self.runs["over"][0]
            and not self._settings["restarts"][0]
            and rounds != self.records["rounds"][0]
        ):
            self.past = (*self.past, copy_of(self.last_rounds[:1]))

    @contextmanager
    def _undone_by_errors(self) -> Iterator[None]:
        arrays = {name: copy_of(getattr(self, name)) for name in ("records", "runs", "rewards", "terminations")}
        kept = arrays | {"started": self.started, "past": self.past}
        try:
            yield
        except BaseException:
            for name, value in kept.items():
                setattr(self, name, value)
            raise

    def _advance(self, rows: Ints, actions: Ints, captured: Words = _WHOLE_ACTIONS, *, begins: bool = False) -> None:
        wrong = run.advance(
            self._record,
            self._settings,
            self.records,
            self.runs,
            self._policies,
            rows,
            begins,
            actions,
            captured,
            self.rewards,
            self.terminations,
            False,
            self._earned,
            self._scratch,
            self._view,
            self.last_rounds,
            self.finals,
        )
        if wrong >= 0:
            self.started = False  # some games have gone on: nothing to step in
            raise IllegalAction(
                f"{self._where(int(rows[wrong]))}a compiled agent decided on an illegal action; reset()"
            )

    def _let_others_play(self) -> None:
        """Ask the agents that are not compiled, until every learner is to act or its episode over."""
        if self._all_compiled:
            return
        while run.waiting(self._record, self.records, self.runs, NOBODY, self._waiting):
            for index in np.flatnonzero(self._policies == 0).tolist():
                count = run.waiting(self._record, self.records, self.runs, index, self._waiting)
                if count:
                    self._ask(self.agents[index], self._waiting[:count].copy())

    def _ask(self, agent: Agent, rows: Ints) -> None:
        """Let an agent decide in the games `rows`."""
        views = np.empty(len(rows), GAME)
        run.views_of(self._record, self.records, rows, views)
        if isinstance(agent, BatchAgent):
            actions = as_actions(agent, agent.act_batch(self.rules, views), len(rows))
            wrong = run.first_illegal(self.runs[rows], actions)
            if wrong >= 0:
                why = illegal_action_text(self.game(int(rows[wrong])), int(actions[wrong]))
                raise IllegalAction(f"agent {agent.name!r}: {why}")
            self._advance(rows, actions)
            return
        cards = np.empty(len(rows), np.int64)
        captured = np.empty(len(rows), np.uint64)
        for k, row in enumerate(rows.tolist()):
            move = as_move(agent, agent.act(View(self.rules, views[k : k + 1], int(views["seat"][k]))))
            game = self.records[row : row + 1]
            if not batch.move_is_legal(self._record, game, int(move.card), move.mask):
                legal = ", ".join(map(str, self.game(row).legal_moves))
                seat = int(game["seat"][0])
                raise IllegalAction(f"agent {agent.name!r}: move {move} of seat {seat}: legal are {legal}")
            cards[k], captured[k] = move.card, move.mask
        self._advance(rows, cards, captured)

    def observe(self) -> tuple[Array, Array]:
        """Return fresh arrays: int8[N, D] and int8[N, 81], what the learners observe and may do."""
        count = len(self)
        seen = np.empty((count, self._words), np.uint64)
        masks = np.empty((count, observation.MASK_ROW // 8), np.uint64)
        run.observe_learners(self._record, self.records, self.runs, False, self._scratch, seen, masks)
        return seen.view(np.int8), masks.view(np.int8)[:, :NUM_ACTIONS]

    def game(self, index: int) -> Game:
        """Return a copy of a game, hidden cards included."""
        index = check_index(index, len(self))
        return Game.from_records(self.rules, copy_of(self.records[index : index + 1]), self.past if index == 0 else ())

    def seat(self, index: int) -> int:
        """Return the learner's seat in a game."""
        return int(self.runs["learner"][check_index(index, len(self))])

    def forfeited_by(self, index: int) -> int | None:
        """Return the seat whose illegal action ended the episode; None."""
        seat = int(self.runs["forfeited_by"][index])
        return None if seat == NOBODY else seat

    def get_state(self) -> dict[str, Any]:
        """Return everything that `set_state` needs to go on from here; the agents as far as they can be copied."""
        state = copy.deepcopy({name: getattr(self, name) for name in _STATE})
        return {**state, "of": self._text()}

    def _text(self) -> str:
        opponents, partners = int(self._settings["opponents"][0]), int(self._settings["partners"][0])
        return f"{self.settings.text(self.kind)}, {opponents} opponents and {partners} partners to draw from"

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go back to a state that `get_state` returned.

        Raises:
            ValueError: it is no such state, or belongs to another kind of environment, other rules or settings, or
                another number of games.
        """
        known = check_state(state, self._text(), _STATE)
        if len(known["records"]) != len(self):
            raise ValueError(f"state: it has {len(known['records'])} games, this has {len(self)}")
        for name in _STATE:
            setattr(self, name, copy.deepcopy(known[name]))
        self._find_policies()


def _agents_state(seed: int | None) -> int:
    """Return the state of the generator of agents and seats: from it nobody can tell that of the deals."""
    if seed is None:
        return seed_state(None)
    whole = (seed & (1 << 64) - 1).to_bytes(8, "little")
    return int.from_bytes(hashlib.blake2b(whole, digest_size=8, person=b"scopa agents").digest(), "little")
