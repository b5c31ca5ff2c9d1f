"""One episode of the environments: reset, actions, rewards and observations, without any framework.

The PettingZoo and Gymnasium environments are two faces of this.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from scopa_env import batch, observation, run
from scopa_env.actions import IllegalAction, as_word
from scopa_env.engine.play import NUM_ACTIONS
from scopa_env.engine.state import GAME, MAX_PLAYERS, NOBODY, Records, copy_of
from scopa_env.game import Game, View, illegal_action_text, records_of, seed_state
from scopa_env.notation import PositionError, parse_position
from scopa_env.rules import Rules, check_seat, near_miss

EpisodeKind = Literal["round", "match"]
Reward = Literal["points", "win", "decided"]
Illegal = Literal["raise", "forfeit"]

Array = np.ndarray[Any, np.dtype[np.int8]]


def check_choice(name: str, value: object, options: tuple[str, ...]) -> str:
    """Return `value` if it is one of `options`, else raise a ValueError that names the argument."""
    if value not in options:
        raise ValueError(f"{name}={value!r}: allowed are {', '.join(map(repr, options))}")
    return str(value)


OPTIONS = ("deck", "dealer", "position", "seat")
"""Keys of ``reset(options=...)``; `seat` is the learner's, of the Gymnasium environments."""


def check_options(options: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the options of a reset; unknown keys are ignored unless they look like a misspelt one.

    Raises:
        ValueError: a key that seems to be misspelt.
    """
    if not isinstance(options, Mapping | None):
        raise ValueError(f"options={options!r}: expected a mapping with any of {', '.join(OPTIONS)}")
    for name in options or {}:
        if near := near_miss(name, OPTIONS):
            raise ValueError(f"options: {name!r}: did you mean {near!r}? allowed are {', '.join(OPTIONS)}")
    known = dict(options or {})
    if isinstance(known.get("deck"), Iterator):  # to be read for every game
        known["deck"] = list(known["deck"])
    return known


def most_points(rules: Rules) -> int:
    """Return a bound of the points that a side can have over the others in one round."""
    return _category_points(rules) + rules.sweep_points * (
        rules.num_plays + max(rules.dealer_bonus.values(), default=0)
    )


def _category_points(rules: Rules) -> int:
    names = ["cards", "coins", "settebello", "primiera", "sevens", "re_bello"]
    points = sum(getattr(rules, f"{name}_points") for name in names) + rules.all_sevens_bonus
    return int(points + (rules.ranks if rules.napola else 0))


@dataclass(frozen=True)
class EpisodeSettings:
    """What an episode is and pays; checked.

    Attributes:
        rules: the rules.
        episode: ``"round"`` or ``"match"``.
        reward: ``"points"``: a side's points minus the mean of the others' at the end of each round; ``"win"``: +1 /
            0 / -1 at the end of the episode; ``"decided"``: the points as soon as they are certain, the same total.
        illegal: ``"raise"`` IllegalAction and change nothing, or ``"forfeit"``: the episode ends, the offender's
            side loses by `forfeit_margin`.
        forfeit_margin: what the offender's side gets less than the others; None: 1 with ``"win"``, else the points
            of all categories but sweeps.
    """

    rules: Rules
    episode: str = "round"
    reward: str = "points"
    illegal: str = "raise"
    forfeit_margin: float | None = None

    def __post_init__(self) -> None:
        check_choice("episode", self.episode, get_args(EpisodeKind))
        check_choice("reward", self.reward, get_args(Reward))
        check_choice("illegal", self.illegal, get_args(Illegal))
        most = 1 if self.reward == "win" else most_points(self.rules)
        margin = self.forfeit_margin
        if margin is None:
            margin = 1 if self.reward == "win" else max(_category_points(self.rules), 1)
        if isinstance(margin, bool) or not isinstance(margin, int | float) or not 0 < margin <= most:
            raise ValueError(f"forfeit_margin={margin!r}: allowed are numbers above 0, at most {most}")
        object.__setattr__(self, "forfeit_margin", float(margin))

    def text(self, kind: str) -> str:
        """Return what an environment of a `kind` plays, in words."""
        return f"{kind} {self.rules}, episode={self.episode!r}, reward={self.reward!r}"

    def record(self, *, restarts: bool = False) -> np.ndarray[Any, np.dtype[np.void]]:
        """Return these settings as an array of one SETTINGS record for kernels.

        Args:
            restarts: whether an episode that is over is followed by the next one in the same step.
        """
        array = np.zeros(1, run.SETTINGS)
        array["margin"] = self.forfeit_margin
        array["match"] = self.episode == "match"
        array["reward"] = get_args(Reward).index(self.reward)
        array["forfeits"] = self.illegal == "forfeit"
        array["restarts"] = restarts
        array["learner"] = NOBODY
        return array


def opening(rules: Rules, options: Mapping[str, Any], rng: int, dealer: int) -> Records:
    """Return the first position of an episode, GAME[1].

    Args:
        rules: the rules.
        options: may hold ``deck``, ``dealer`` or ``position`` (`check_options`).
        rng: state of the game's random generator.
        dealer: seat of the dealer if the options name none, NOBODY: drawn.

    Raises:
        ValueError: an option that is not allowed (CardError, VoidDeal, PositionError ...).
    """
    if options.get("dealer") is not None:
        dealer = check_seat("dealer", options["dealer"], rules)
    if options.get("position") is not None:
        return _from_position(rules, options, rng)
    records = np.zeros(1, GAME)
    records["rng"] = rng
    if options.get("deck") is None:
        batch.start(rules.record, records, dealer)
        return records
    batch.begin_match(rules.record, records, dealer)
    given = Game(rules, deck=options["deck"], dealer=int(records["dealer"][0]))
    given.records["rng"] = records["rng"]
    return given.records


def _from_position(rules: Rules, options: Mapping[str, Any], rng: int) -> Records:
    """Return the position given in `options`; unknown cards are drawn."""
    text = options["position"]
    if options.get("deck") is not None or options.get("dealer") is not None:
        raise PositionError("position: cannot be given together with deck or dealer; it has its own")
    position = parse_position(text)
    problems = position.status()
    if position.rules != rules:
        problems.append(f"its rules are {position.rules}, the environment's {rules}")
    if position.turn is None:
        problems.append("the round is over (turn is -)")
    if problems:
        raise PositionError(f"position {text!r}: {'; '.join(problems)}")
    records = records_of(position, rng)
    batch.fill(rules.record, records)
    return records


_STATE = ("records", "runs", "seat", "over", "_seeded", "_past")
"""The attributes of an `Episode` that make up its state."""


class Episode:
    """A running episode in which every seat is played from outside.

    Attributes:
        settings: what it is and pays.
        records: GAME[1].
        runs: RUN[1], see `scopa_env.run`.
        seat: seat to act.
        over: whether the episode has ended.
    """

    def __init__(self, settings: EpisodeSettings) -> None:
        self.settings = settings
        self.rules = settings.rules
        self._record = self.rules.record
        self._settings = settings.record()
        self.records = np.zeros(1, GAME)
        self.runs = np.zeros(1, run.RUN)
        self.seat = 0
        self.over = True
        self._seeded = False
        self._past: tuple[Records, ...] = ()  # of the finished rounds of this match
        size = observation.observation_size(self.rules.players)
        self._words = size // 8
        self._scratch = np.empty(observation.words_of(size), np.uint64)
        self._earned = np.empty(MAX_PLAYERS, np.float64)
        self._kept = np.empty(1, GAME)
        self._seen: np.ndarray[Any, np.dtype[np.uint64]] | None = None

    def reset(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        """Start a new episode.

        Args:
            seed: seed of everything that follows; None goes on with the random generator as it stands.
            options: may hold ``deck``, ``dealer`` or ``position``; unknown keys are ignored (`check_options`).

        Raises:
            ValueError: an option that is not allowed (CardError, VoidDeal, PositionError ...); nothing changes.
        """
        options = check_options(options)
        if seed is not None or not self._seeded:
            rng, dealer = seed_state(seed), NOBODY
        else:
            rng, dealer = int(self.records["rng"][0]), (int(self.records["dealer"][0]) + 1) % self.rules.players
        self.records = opening(self.rules, options, rng, dealer)
        run.begin_all(self._record, self.records, self.runs)
        self._past = ()
        self._seeded = True
        self._after(int(self.records["seat"][0]), over=False)

    def _after(self, seat: int, *, over: bool) -> None:
        self.seat = seat
        self.over = over
        self._seen = None

    @property
    def forfeited_by(self) -> int | None:
        """The seat whose illegal action ended the episode."""
        seat = int(self.runs["forfeited_by"][0])
        return None if seat == NOBODY else seat

    def act(self, action: int) -> list[float] | None:
        """Take an action of the seat to act.

        Args:
            action: an int of ``Discrete(81)``.

        Returns:
            The reward of each side, or None if all are zero.

        Raises:
            IllegalAction: the action is illegal and ``illegal="raise"``; nothing has changed.
        """
        rounds = self.records["rounds"][0]
        result, seen = self._step(as_word(action), NOBODY)
        if result < 0:
            raise IllegalAction(illegal_action_text(self.game(), action))
        self._after(result & 7, over=result & 16 != 0)
        self._seen = seen
        if not self.over and rounds != self.records["rounds"][0]:
            self._past = (*self._past, copy_of(self._kept))
        return self._earned.tolist()[: self.rules.sides] if result & 8 else None

    def observe(self, seat: int) -> tuple[Array, Array]:
        """Return fresh arrays: int8[D] and int8[81], the observation and action mask of `seat`."""
        seen, self._seen = self._seen, None  # handed out once, so that every array is the caller's own
        if seen is None or seat != self.seat:
            _, seen = self._step(run.NO_ACTION, seat)
        return seen[: self._words].view(np.int8), seen[self._words :].view(np.int8)[:NUM_ACTIONS]

    def _step(self, action: int, observer: int) -> tuple[int, np.ndarray[Any, np.dtype[np.uint64]]]:
        """Take an action and observe (`scopa_env.run.step_one`); return the result and a fresh array."""
        seen = np.empty(self._words + observation.MASK_ROW // 8, np.uint64)
        result = run.step_one(
            self._record,
            self._settings,
            self.records,
            self.runs,
            action,
            observer,
            self._earned,
            self._kept,
            self._scratch,
            seen,
        )
        return int(result), seen

    def history(self, seat: int) -> Array:
        """Return int8[40, 88]: the plays of the round as `seat` sees them (`observation.pack_history`)."""
        seen: Array = history(self.rules, self.records, np.array([seat]))[0]
        return seen

    def game(self) -> Game:
        """Return a copy of the game, hidden cards included."""
        self.check_running()
        return Game.from_records(self.rules, copy_of(self.records), self._past)

    def view(self, seat: int) -> View:
        """Return what `seat` knows."""
        return self.game().view(seat)

    def check_running(self) -> None:
        """Raise a RuntimeError if no episode has been started yet."""
        if not self._seeded:
            raise RuntimeError("call reset() first; no episode has been started")

    def get_state(self) -> dict[str, Any]:
        """Return everything that `set_state` needs to go on from here."""
        self.check_running()
        state = {name: getattr(self, name) for name in _STATE}
        return {**copy.deepcopy(state), "of": self.settings.text("PettingZoo")}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go back to a state that `get_state` returned.

        Raises:
            ValueError: it is no such state, or belongs to another kind of environment, other rules or settings.
        """
        known = check_state(state, self.settings.text("PettingZoo"), _STATE)
        for name in _STATE:
            setattr(self, name, copy.deepcopy(known[name]))
        self._seen = None


def check_state(state: object, text: str, names: Iterable[str]) -> dict[str, Any]:
    """Return a state if it belongs where it is to be set.

    Args:
        state: what `get_state` returned there or elsewhere.
        text: what the environment plays (`EpisodeSettings.text`); the state says what it is of.
        names: what it must hold.

    Raises:
        ValueError: it is no state, or one of another kind of environment, other rules or settings.
    """
    if not isinstance(state, Mapping) or "of" not in state:
        raise ValueError(f"state: {type(state).__name__}; expected what get_state returned")
    if state["of"] != text:
        raise ValueError(f"state: it belongs to {state['of']}, this is {text}")
    missing = [name for name in names if name not in state]
    if missing:
        raise ValueError(f"state: {', '.join(missing)} is missing")
    return dict(state)


def history(rules: Rules, records: Records, seats: np.ndarray[Any, np.dtype[np.int64]]) -> Array:
    """Return int8[N, 40, 88]: the plays of the round of each game as `seats` see them."""
    plays = observation.HISTORY_PLAYS
    out = np.empty((len(records), plays, observation.HISTORY_FEATURES // 8), np.uint64)
    batch.histories(rules.record, records, seats, np.empty((plays, 2), np.uint64), out)
    found: Array = out.view(np.int8)
    return found
