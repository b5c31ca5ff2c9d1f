"""Many games as an environment of TorchRL: a learner against agents, or every seat from outside.

>>> from scopa_env.interop.torchrl import BatchedScopaEnv
>>> env = BatchedScopaEnv(64, "scopa", opponent="greedy", seed=1)
>>> data = env.rollout(40, break_when_any_done=False)                # random legal actions
>>> data["observation"].shape, data["next", "reward"].shape
(torch.Size([64, 40, 592]), torch.Size([64, 40, 1]))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
import torch
from tensordict import TensorDict, TensorDictBase
from torchrl.data import Binary, Bounded, Categorical, Composite, OneHot, Unbounded
from torchrl.envs import EnvBase

from scopa_env.actions import NUM_ACTIONS
from scopa_env.batched import Array, BatchedScopa, check_count, seeds_of
from scopa_env.engine.state import copy_of
from scopa_env.episode import EpisodeSettings, history
from scopa_env.observation import HISTORY_FEATURES, HISTORY_PLAYS, observation_size
from scopa_env.rules import Rules
from scopa_env.seated import SeatedGames, Specs

DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.uint8)
"""What observations may be."""


class BatchedScopaEnv(EnvBase):
    """Many games at once, without a Python loop over them; ``batch_size`` is ``[num_envs]``.

    A game that is over is dealt anew by compiled code; `reset` with the key ``"_reset"``, as TorchRL calls it in
    rollouts and collectors, hands out the new episode.  Without it another `step` is refused.

    Args:
        num_envs: number of games, N.
        rules: a preset's name, text for `Rules.parse`, a mapping or Rules.
        opponent: who plays the other seats, see `scopa_env.ScopaEnv`; None: every seat is yours.
        partner: who plays the seats of the learner's team; None: as the opponents.
        seat: the learner's seat; None: drawn for each episode.
        episode: ``"round"`` or ``"match"``.
        reward: ``"points"``, ``"win"`` or ``"decided"``, see `EpisodeSettings`.
        history: add the key ``"history"``.
        illegal: ``"raise"`` or ``"forfeit"``.
        forfeit_margin: what a forfeit costs.
        seed: game `i` has ``seed + i``; or a seed for each game; None: drawn.
        threads: number of threads, more than 1 only without an opponent; results do not depend on it.
        categorical_actions: actions are int64[N], numbers 0 .. 80; False: one-hot, bool[N, 81].
        dtype: of observations, one of `DTYPES`; ``torch.int8`` takes a quarter of the memory of float32.
        device: where all tensors are; the games themselves are played on the CPU.

    Keys of `reset` and `step`:
        ``observation``: [N, D] of 0/1, what the seat to act observes, see `scopa_env.observation`.
        ``action_mask``: bool[N, 81]: its legal actions; all True where the episode is over.
        ``turn``: int64[N]: the seat to act: the learner's own if there are opponents.
        ``history``: int8[N, 40, 88]: the plays of the round as that seat sees them.
        ``reward``: float32[N, 1]: what the learner's side was paid; with ``opponent=None`` instead
        ``("agents", "reward")``: float32[N, players, 1], what each seat was paid.
        ``done``, ``terminated``: bool[N, 1].

    The last observation of an episode is the learner's; with ``opponent=None``, where nobody is to act, it is zero, and
    ``turn`` is the seat that acted.

    Attributes:
        rules: the rules.
        games: the `SeatedGames` or, with ``opponent=None``, the `BatchedScopa` inside.

    Raises:
        ValueError: an argument that is not allowed; the message names it.
    """

    def __init__(
        self,
        num_envs: int = 1,
        rules: Rules | str | Mapping[str, Any] = "scopa",
        opponent: Specs | None = "random",
        partner: Specs | None = None,
        *,
        seat: int | None = None,
        episode: str = "round",
        reward: str = "points",
        history: bool = False,
        illegal: str = "raise",
        forfeit_margin: float | None = None,
        seed: int | Sequence[int] | None = None,
        threads: int = 1,
        categorical_actions: bool = True,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | int | None = None,
    ) -> None:
        settings = EpisodeSettings(Rules.of(rules), episode, reward, illegal, forfeit_margin)
        count = check_count("num_envs", num_envs)
        if dtype not in DTYPES:
            raise ValueError(f"dtype={dtype!r}: allowed are {', '.join(map(str, DTYPES))}")
        source: _Source
        if opponent is None:
            if partner is not None or seat is not None:
                given = f"partner={partner!r}" if partner is not None else f"seat={seat!r}"
                raise ValueError(f"{given}: allowed with an opponent only")
            source = _EverySeat(settings, count, threads, bool(history))
        else:
            if check_count("threads", threads, 1 << 10) > 1:
                raise ValueError(f"threads={threads}: allowed with opponent=None only; otherwise 1")
            source = _OneSeat(settings, count, opponent, partner, seat, bool(history))
        super().__init__(device=device, batch_size=torch.Size([count]))
        self.rules = settings.rules
        self.games = source.games
        self._source = source
        self._dtype = dtype
        self._each_seat = opponent is None
        self._seeds = seeds_of(seed, count)
        self._unseeded = np.ones(count, np.bool_)  # games to be seeded at their next reset
        self._ahead = np.ones(count, np.bool_)  # games that are not begun: over, and not reset since
        self._dealt = np.zeros(count, np.bool_)  # of those, the ones whose next episode has been dealt already
        self._make_specs(bool(history), bool(categorical_actions))

    def _make_specs(self, history: bool, categorical_actions: bool) -> None:
        count, players, device = self.batch_size[0], self.rules.players, self.device
        of = Categorical if categorical_actions else OneHot
        shape = (count,) if categorical_actions else (count, NUM_ACTIONS)
        self.action_spec = of(
            NUM_ACTIONS, shape=shape, dtype=torch.int64 if categorical_actions else torch.bool, device=device
        )
        size = (count, observation_size(players))
        seen = {
            "observation": Bounded(0, 1, size, dtype=self._dtype, device=device),
            "action_mask": Binary(NUM_ACTIONS, (count, NUM_ACTIONS), dtype=torch.bool, device=device),
            "turn": Categorical(players, (count,), dtype=torch.int64, device=device),
        }
        if history:
            seen["history"] = Bounded(0, 1, (count, HISTORY_PLAYS, HISTORY_FEATURES), dtype=torch.int8, device=device)
        self.observation_spec = Composite(seen, shape=(count,), device=device)
        rewards = (
            {"agents": Composite({"reward": Unbounded((count, players, 1), device=device)}, shape=(count,))}
            if self._each_seat
            else {"reward": Unbounded((count, 1), device=device)}
        )
        self.reward_spec = Composite(rewards, shape=(count,), device=device)
        ends = {name: Binary(1, (count, 1), dtype=torch.bool, device=device) for name in ("done", "terminated")}
        self.done_spec = Composite(ends, shape=(count,), device=device)

    # what TorchRL asks for

    def _set_seed(self, seed: int | None) -> None:
        """Seed each game at its next reset: game `i` with ``seed + i``."""
        self._seeds = seeds_of(seed, len(self._seeds))
        self._unseeded[:] = True

    def _reset(
        self, tensordict: TensorDictBase | None = None, options: Mapping[str, Any] | None = None, **_: Any
    ) -> TensorDictBase:
        """Start a new episode in the games of ``"_reset"``, or in all.

        Args:
            tensordict: its ``"_reset"``, bool[N, 1] or bool[N], says which games.
            options: ``deck``, ``dealer``, ``seat``, ``position`` for these games, see `ScopaEnv`.
        """
        chosen = None if tensordict is None else tensordict.get("_reset", None)
        rows = np.ones(len(self._seeds), np.bool_) if chosen is None else _bools(chosen)
        seeded = rows & self._unseeded
        if seeded.any():
            self._source.reset(self._seeds.tolist(), options, seeded)
        others = rows & ~self._unseeded
        if options is None:
            others &= ~self._dealt
        if others.any():
            self._source.reset(None, options, others)
        for states in (self._unseeded, self._ahead, self._dealt):
            states[rows] = False
        return self._told(self._observed())

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        """Take one action in every game, or, with the key ``"_step"``, in those that it names.

        Raises:
            IllegalAction: an action is illegal (with ``illegal="raise"``); nothing has changed in any game.
            RuntimeError: a game is over, or was never begun, and has not been reset.
        """
        chosen = tensordict.get("_step", None)
        rows = np.ones(len(self._ahead), np.bool_) if chosen is None else _bools(chosen)
        waiting = np.flatnonzero(rows & self._ahead)
        if len(waiting):
            raise RuntimeError(f"step: game {waiting[0]} is over or was never begun; call reset() first")
        turn = self._source.turn()
        self._source.step(self._numbers(tensordict.get("action")), rows)
        ended = rows & self._source.terminations()
        self._ahead |= ended
        self._dealt |= ended
        seen = self._observed()
        if ended.any():
            which = torch.from_numpy(np.flatnonzero(ended)).to(seen["turn"].device)
            for name, last in self._source.last(ended, turn).items():
                seen[name][which] = torch.from_numpy(last).to(seen[name])
        if not rows.all():
            kept = torch.from_numpy(np.flatnonzero(~rows)).to(seen["turn"].device)
            for name, values in seen.items():
                values[kept] = tensordict.get(name)[kept]
        paid = torch.from_numpy(self._source.paid() * rows[:, None]).to(self.device, torch.float32)
        if self._each_seat:
            return self._told(seen).set(("agents", "reward"), paid[..., None])
        return self._told(seen).set("reward", paid)

    # in between

    def _observed(self) -> dict[str, torch.Tensor]:
        """Return what is observed, as tensors of their own."""
        dtypes = {"observation": self._dtype, "action_mask": torch.bool}
        tensors = {name: torch.from_numpy(array) for name, array in self._source.observe().items()}
        # First to the device, as bytes; then a copy, for the games write the same arrays again.
        return {
            name: tensor.to(self.device).to(dtypes.get(name, tensor.dtype), copy=True)
            for name, tensor in tensors.items()
        }

    def _told(self, seen: dict[str, torch.Tensor]) -> TensorDict:
        """Return a tensordict of what is observed and where the episode is over, the masks also told to the spec."""
        over = torch.from_numpy(self._ahead[:, None].copy()).to(self.device)
        seen["action_mask"] |= over
        self.full_action_spec["action"].update_mask(seen["action_mask"].clone())
        return TensorDict(
            {**seen, "done": over, "terminated": over.clone()}, batch_size=self.batch_size, device=self.device
        )

    def _numbers(self, actions: torch.Tensor) -> Array:
        """Return actions as whole numbers."""
        if actions.ndim == 2 and actions.shape[1] == NUM_ACTIONS:
            actions = actions.to(torch.int8).argmax(dim=1)
        elif actions.is_floating_point():
            raise ValueError(
                f"action: {actions.dtype}{list(actions.shape)}: allowed are whole numbers, or one-hot rows"
            )
        numbers: Array = actions.reshape(self.batch_size).cpu().numpy()
        return numbers

    def close(self, *, raise_if_closed: bool = True) -> None:
        """End the threads."""
        self._source.close()
        super().close(raise_if_closed=raise_if_closed)


def _bools(chosen: torch.Tensor) -> Array:
    """Return bool[N] of a key such as ``"_reset"``."""
    rows: Array = chosen.reshape(chosen.shape[0]).cpu().numpy().astype(np.bool_)
    return rows


class _Source(Protocol):
    """The games of an environment; ``rows`` are bool[N], other games stay as they are."""

    @property
    def games(self) -> BatchedScopa | SeatedGames:
        """The games."""

    def reset(self, seeds: Sequence[int] | None, options: Mapping[str, Any] | None, rows: Array) -> None:
        """Start new episodes."""

    def step(self, actions: Array, rows: Array) -> None:
        """Take one action in each game; what is over begins anew."""

    def observe(self) -> dict[str, Array]:
        """Return what is observed, by the names of the keys, N rows each."""

    def turn(self) -> Array:
        """Return int64[N], a copy: the seats to act."""

    def last(self, rows: Array, turn: Array) -> dict[str, Array]:
        """Return what was observed at the end of the episodes that have just ended, `turn` being who acted."""

    def terminations(self) -> Array:
        """Return bool[N]: which episodes have just ended."""

    def paid(self) -> Array:
        """Return [N, 1] or [N, players]: what was paid."""

    def close(self) -> None:
        """End what runs beside."""


class _EverySeat:
    """Every seat is played from outside."""

    def __init__(self, settings: EpisodeSettings, count: int, threads: int, history: bool) -> None:
        self.games = BatchedScopa(
            count,
            settings.rules,
            0,
            threads=threads,
            episode=settings.episode,
            reward=settings.reward,
            illegal=settings.illegal,
            forfeit_margin=settings.forfeit_margin,
        )
        self._history = history

    @contextmanager
    def _only(self, rows: Array) -> Iterator[None]:
        """Afterwards put the other games back as they were."""
        if rows.all():
            yield
            return
        before = self.games.get_state()
        yield
        after = self.games.get_state()
        for name in ("records", "runs", "rewards", "terminations"):
            after[name][~rows] = before[name][~rows]
        self.games.set_state(after)

    def reset(self, seeds: Sequence[int] | None, options: Mapping[str, Any] | None, rows: Array) -> None:
        with self._only(rows):
            self.games.reset(seeds, options)

    def step(self, actions: Array, rows: Array) -> None:
        with self._only(rows):
            self.games.step(actions if rows.all() else np.where(rows, actions, self.games.random_actions()))

    def observe(self) -> dict[str, Array]:
        games = self.games
        seen = {"observation": games.observations, "action_mask": games.action_masks, "turn": games.to_play}
        return seen | {"history": games.histories()} if self._history else seen

    def turn(self) -> Array:
        return self.games.to_play.copy()

    def last(self, rows: Array, turn: Array) -> dict[str, Array]:
        count = int(rows.sum())
        seen = {"observation": np.zeros((count, self.games.observations.shape[1]), np.int8), "turn": turn[rows]}
        return (
            seen | {"history": np.zeros((count, HISTORY_PLAYS, HISTORY_FEATURES), np.int8)} if self._history else seen
        )

    def terminations(self) -> Array:
        return self.games.terminations

    def paid(self) -> Array:
        return self.games.rewards

    def close(self) -> None:
        self.games.close()


class _OneSeat:
    """A learner in one seat of each game, agents in the others."""

    def __init__(
        self,
        settings: EpisodeSettings,
        count: int,
        opponent: Specs,
        partner: Specs | None,
        seat: int | None,
        history: bool,
    ) -> None:
        self.games = SeatedGames(settings, count, opponent, partner, seat, restarts=True, keep_rounds=history)
        self._history = history

    def reset(self, seeds: Sequence[int] | None, options: Mapping[str, Any] | None, rows: Array) -> None:
        self.games.reset(seeds, options, np.flatnonzero(rows))

    def step(self, actions: Array, rows: Array) -> None:
        games = self.games
        if rows.all():
            games.step(actions.astype(np.int64))
            return
        others = ~rows
        legal = games.observe()[1].argmax(axis=1)
        kept = {name: copy_of(getattr(games, name)) for name in ("records", "runs", "last_rounds")}
        games.step(np.where(rows, actions, legal))
        for name, before in kept.items():
            if len(before):
                getattr(games, name)[others] = before[others]

    def observe(self) -> dict[str, Array]:
        observations, masks = self.games.observe()
        turn = self.turn()
        seen = {"observation": observations, "action_mask": masks, "turn": turn}
        return seen | {"history": history(self.games.rules, self.games.records, turn)} if self._history else seen

    def turn(self) -> Array:
        seats: Array = self.games.runs["learner"].astype(np.int64)
        return seats

    def last(self, rows: Array, turn: Array) -> dict[str, Array]:
        seen = {"observation": self.games.finals[rows].view(np.int8), "turn": turn[rows]}
        if self._history:
            seen["history"] = history(self.games.rules, self.games.last_rounds[rows], turn[rows])
        return seen

    def terminations(self) -> Array:
        return self.games.terminations.astype(np.bool_)

    def paid(self) -> Array:
        return self.games.rewards[:, None]

    def close(self) -> None:
        """Nothing runs beside."""
