"""One episode of the environments: reset, actions, rewards and observations, without any framework.

The PettingZoo and Gymnasium environments are two faces of this.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from scopa_env import batch, observation
from scopa_env.actions import IllegalAction, Move
from scopa_env.engine.play import NUM_ACTIONS
from scopa_env.engine.state import DRAWN, GAME, MATCH_OVER, MAX_PLAYERS, NOBODY, PLAYING
from scopa_env.game import Game, View, best_side, illegal_action_text, records_of, seed_state
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
    return options or {}


def most_points(rules: Rules) -> int:
    """Return a bound of the points that a side can have over the others in one round."""
    return _category_points(rules) + rules.sweep_points * (
        rules.num_plays + max(rules.dealer_bonus.values(), default=0)
    )


def _category_points(rules: Rules) -> int:
    names = ["cards", "coins", "settebello", "primiera", "sevens", "re_bello"]
    points = sum(getattr(rules, f"{name}_points") for name in names) + rules.all_sevens_bonus
    return int(points + (rules.ranks if rules.napola else 0))


def over_others(numbers: list[float]) -> list[float]:
    """Return each side's number minus the mean of the other sides': zero-sum."""
    total, others = sum(numbers), len(numbers) - 1
    return [own - (total - own) / others for own in numbers]


def win_rewards(winner: int | None, sides: int) -> list[float]:
    """Return +1 for the winning side and -1 shared by the others; all 0 without a winner."""
    if winner is None:
        return [0.0] * sides
    return [1.0 if side == winner else -1.0 / (sides - 1) for side in range(sides)]


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


class Episode:
    """A running episode.

    Attributes:
        settings: what it is and pays.
        records: GAME[1].
        seat: seat to act.
        over: whether the episode has ended.
        forfeited_by: the seat whose illegal action ended it; None.
    """

    def __init__(self, settings: EpisodeSettings) -> None:
        self.settings = settings
        self.rules = settings.rules
        self._record = self.rules.record
        self.records = np.zeros(1, GAME)
        self.seat = 0
        self.over = True
        self.forfeited_by: int | None = None
        self._past: tuple[np.ndarray[Any, Any], ...] = ()  # records of the finished rounds of this match
        self._seeded = False
        self._paid = [0.0] * self.rules.sides
        self._scratch = np.empty(observation.words_of(observation.observation_size(self.rules.players)), np.uint64)
        self._words = observation.observation_size(self.rules.players) // 8
        self._mask_words = observation.MASK_ROW // 8

    def reset(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        """Start a new episode.

        Args:
            seed: seed of everything that follows; None goes on with the random generator as it stands.
            options: may hold ``deck``, ``dealer`` or ``position``; unknown keys are ignored (`check_options`).

        Raises:
            ValueError: an option that is not allowed (CardError, VoidDeal, PositionError ...); nothing changes.
        """
        options = check_options(options)
        records = np.zeros(1, GAME)
        fresh = seed is not None or not self._seeded
        records["rng"] = seed_state(seed) if fresh else self.records["rng"]
        dealer = NOBODY if fresh else (int(self.records["dealer"][0]) + 1) % self.rules.players
        if options.get("dealer") is not None:
            dealer = check_seat("dealer", options["dealer"], self.rules)
        if options.get("position") is not None:
            records = self._from_position(options, int(records["rng"][0]))
        elif options.get("deck") is not None:
            batch.begin_match(self._record, records, dealer)
            given = Game(self.rules, deck=options["deck"], dealer=int(records["dealer"][0]))
            given.records["rng"] = records["rng"]
            records = given.records
        else:
            batch.start(self._record, records, dealer)
        self._begin(records)

    def _from_position(self, options: Mapping[str, Any], rng: int) -> np.ndarray[Any, Any]:
        """Return the position given in `options`; unknown cards are drawn."""
        text = options["position"]
        if options.get("deck") is not None or options.get("dealer") is not None:
            raise PositionError("position: cannot be given together with deck or dealer; it has its own")
        position = parse_position(text)
        problems = position.status()
        if position.rules != self.rules:
            problems.append(f"its rules are {position.rules}, the environment's {self.rules}")
        if position.turn is None:
            problems.append("the round is over (turn is -)")
        if problems:
            raise PositionError(f"position {text!r}: {'; '.join(problems)}")
        records = records_of(position, rng)
        batch.fill(self._record, records)
        return records

    def _begin(self, records: np.ndarray[Any, Any]) -> None:
        self.records = records
        self.seat = int(records["seat"][0])
        self.over = False
        self.forfeited_by = None
        self._past = ()
        self._seeded = True
        self._paid = [0.0] * self.rules.sides

    def act(self, action: int) -> list[float] | None:
        """Take an action of the seat to act.

        Args:
            action: an int of ``Discrete(81)``.

        Returns:
            The reward of each side, or None if all are zero.

        Raises:
            IllegalAction: the action is illegal and ``illegal="raise"``; nothing has changed.
        """
        if not 0 <= action < NUM_ACTIONS:
            return self._illegal(action)
        result = batch.act_one(self._record, self.records, action)
        if result < 0:
            return self._illegal(action)
        return self._after_play() if result else None

    def mark(self) -> tuple[Any, ...]:
        """Return what `go_back` needs; cheaper than `get_state`, and good for this episode only."""
        return self.records.copy(), self.seat, self.over, self.forfeited_by, self._paid, self._past

    def go_back(self, mark: tuple[Any, ...]) -> None:
        """Undo everything since `mark`."""
        self.records, self.seat, self.over, self.forfeited_by, self._paid, self._past = mark

    def play(self, move: Move) -> list[float] | None:
        """Make a whole move of the seat to act; returns as `act` does.

        Raises:
            IllegalAction: the move is not legal.
        """
        if not batch.play_one(self._record, self.records, int(move.card), move.mask):
            legal = ", ".join(map(str, self.game().legal_moves))
            raise IllegalAction(f"move {move} of seat {self.seat}: legal are {legal}")
        return self._after_play()

    def _illegal(self, action: int) -> list[float]:
        if self.settings.illegal == "raise":
            raise IllegalAction(illegal_action_text(self.game(), action))
        self.forfeited_by = self.seat
        self.over = True
        margin = self.settings.forfeit_margin or 0.0
        sides = self.rules.sides
        loser = self.rules.side_of(self.seat)
        rewards = [-margin if side == loser else margin / (sides - 1) for side in range(sides)]
        if self.settings.reward == "decided":
            rewards = [reward - paid for reward, paid in zip(rewards, over_others(self._paid), strict=True)]
        return rewards

    def _after_play(self) -> list[float] | None:
        """Pay what the play has earned; deal the next round of a match."""
        stage = int(self.records["stage"][0])
        if stage == PLAYING:
            self.seat = int(self.records["seat"][0])
            return self._pay_settled() if self.settings.reward == "decided" else None
        whole_match = self.settings.episode == "match"
        self.over = not whole_match or stage == MATCH_OVER
        rewards = self._round_rewards()
        if not self.over:
            self._past = (*self._past, self.records.copy())
            batch.next_rounds(self._record, self.records)
            self.seat = int(self.records["seat"][0])
            self._paid = [0.0] * self.rules.sides
        return rewards

    def _pay_settled(self) -> list[float] | None:
        out = np.empty((1, MAX_PLAYERS), np.int64)
        batch.settled(self._record, self.records, out)
        settled = [float(points) for points in out[0, : self.rules.sides].tolist()]
        if settled == self._paid:
            return None
        earned = [now - before for now, before in zip(settled, self._paid, strict=True)]
        self._paid = settled
        return over_others(earned)

    def _round_rewards(self) -> list[float] | None:
        if self.settings.reward == "decided":
            return self._pay_settled()
        points = self.records["points"][0].tolist()[: self.rules.sides]
        if self.settings.reward == "points":
            return over_others(points)
        if not self.over:
            return None
        winner = best_side(points)
        if self.settings.episode == "match":
            side = int(self.records["winner"][0])
            winner = None if side == DRAWN else side
        return win_rewards(winner, self.rules.sides)

    def observe(self, seat: int) -> tuple[Array, Array]:
        """Return fresh arrays: int8[D] and int8[81], the observation and action mask of `seat`."""
        out = np.empty(self._words, np.uint64)
        mask = np.empty(self._mask_words, np.uint64)
        batch.observe_one(self._record, self.records, seat, self._scratch, out, mask)
        if self.over:
            mask[:] = 0
        return out.view(np.int8), mask.view(np.int8)[:NUM_ACTIONS]

    def history(self, seat: int) -> Array:
        """Return int8[40, 88]: the plays of the round as `seat` sees them (`observation.pack_history`)."""
        plays = observation.HISTORY_PLAYS
        out = np.empty((1, plays, observation.HISTORY_FEATURES // 8), np.uint64)
        batch.histories(self._record, self.records, np.array([seat]), np.empty((plays, 2), np.uint64), out)
        seen: Array = out.view(np.int8)[0]
        return seen

    def game(self) -> Game:
        """Return a copy of the game, hidden cards included."""
        self.check_running()
        return Game.from_records(self.rules, self.records.copy(), self._past)

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
        state = {
            name: getattr(self, name)
            for name in ("records", "seat", "over", "forfeited_by", "_seeded", "_paid", "_past")
        }
        return {**copy.deepcopy(state), "rules": self.rules.text()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go back to a state that `get_state` returned.

        Raises:
            ValueError: the state belongs to other rules.
        """
        state = dict(state)
        of = state.pop("rules")
        if of != self.rules.text():
            raise ValueError(f"state: it belongs to the rules {of}, this environment plays {self.rules}")
        for name, value in copy.deepcopy(state).items():
            setattr(self, name, value)
