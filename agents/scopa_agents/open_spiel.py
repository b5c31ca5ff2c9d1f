"""OpenSpiel's bots as our agents, and our agents as OpenSpiel's bots (extra ``open_spiel``).

So the arena ranks bots, and OpenSpiel's tournaments agents:

>>> import numpy as np
>>> import pyspiel
>>> from open_spiel.python.algorithms import evaluate_bots
>>> from scopa_agents.open_spiel import ScopaBot
>>> game = pyspiel.load_game("python_scopa(rules=escoba)")
>>> bots = [ScopaBot(game, seat, name) for seat, name in enumerate(["greedy", "random"])]
>>> returns = evaluate_bots.evaluate_bots(game.new_initial_state(), bots, np.random.RandomState(1))
>>> sum(returns)
0.0

``open_spiel:ismcts:100``, ``open_spiel:random`` name two of OpenSpiel's own for the arena.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms.ismcts import ISMCTSBot
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator
from open_spiel.python.bots.uniform_random import UniformRandomBot

from scopa_env.actions import Move, next_action
from scopa_env.agents import AgentError, AgentSpec, as_move, make_agent
from scopa_env.game import View, view_to_act
from scopa_env.interop.open_spiel import NAME, ScopaGame, ScopaState, state_of
from scopa_env.rules import Rules, check_seat

MakeBot = Callable[[ScopaGame, int, int], Any]
"""What makes a bot of a game, a seat and a seed."""


class ScopaBot(pyspiel.Bot):
    """An agent as a bot.  It is shown the `View` of its seat, not the state.

    Args:
        game: the game.
        player_id: the seat.
        agent: the agent, or its name.
        seed: of its random choices.
    """

    def __init__(self, game: ScopaGame, player_id: int, agent: AgentSpec, seed: int | None = None) -> None:
        super().__init__()
        if not isinstance(game, ScopaGame):
            raise TypeError(f"game {game}: allowed is {NAME}")
        self._player = check_seat("player_id", player_id, game.rules)
        self.agent = make_agent(agent, seed, game.rules)
        self._move: Move | None = None

    def player_id(self) -> int:
        """Return the seat."""
        return self._player

    def restart(self) -> None:
        """Forget the move that was being said."""
        self._move = None

    def restart_at(self, state: ScopaState) -> None:
        """Forget the move that was being said."""
        self._move = None

    def step(self, state: ScopaState) -> int:
        """Return the next action; a move of several actions is decided on once."""
        view = state.view(self._player)
        if self._move is None or view.card is None or self._move not in view.legal_moves:
            self._move = as_move(self.agent, self.agent.act(view))
        return next_action(self._move, view.card, view.chosen)


def _restart(bot: Any, state: ScopaState) -> None:
    """Tell a bot where it is; if it cannot be told, that it begins anew."""
    if type(bot).restart_at is pyspiel.Bot.restart_at:  # a bot in Python without the method: OpenSpiel would complain
        bot.restart()
        return
    try:
        bot.restart_at(state)
    except pyspiel.SpielError:  # OpenSpiel's way to say that a bot in C++ cannot
        bot.restart()


class OpenSpielAgent:
    """A bot as an agent.

    It is shown a state in which the hidden cards are drawn at random, as the real one would tell it where they are.  So
    a bot for games of imperfect information plays as it does in OpenSpiel, and one that looks at the state has nothing
    from it.  It is told where it is (``restart_at``) before each action, not what was done before.

    Args:
        make_bot: makes a bot of a game, a seat and a seed; called once for each rules and seat.
        name: what it is called.
        seed: of the bots and of the cards that are drawn.
        parameters: of the game, beside the rules (see `scopa_env.interop.open_spiel`).
    """

    def __init__(
        self,
        make_bot: MakeBot,
        name: str = "open_spiel",
        *,
        seed: int | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self._make_bot = make_bot
        self._parameters = dict(parameters or {})
        self.seed(seed)

    def seed(self, seed: int | None) -> None:
        """Start all random choices afresh."""
        self._rng = np.random.default_rng(seed)
        self._bots: dict[tuple[Rules, int], tuple[ScopaGame, Any]] = {}

    def act(self, view: View) -> Move:
        """Return a legal move of the observer of `view`, which is to act.

        Raises:
            TypeError: it is no view.
            ValueError: its observer is not to act.
        """
        table = view_to_act(self.name, view).sample(self._rng)
        game, bot = self._bot(view)
        state, before = state_of(game, table), len(table.plays)
        while len(table.plays) == before:
            _restart(bot, state)
            action = int(bot.step(state))
            table.act(action)
            state.apply_action(action)
        return table.plays[-1].move

    def _bot(self, view: View) -> tuple[ScopaGame, Any]:
        key = view.rules, view.seat
        if key not in self._bots:
            game = pyspiel.load_game(NAME, {**self._parameters, "rules": view.rules.text()})
            self._bots[key] = game, self._make_bot(game, view.seat, int(self._rng.integers(1 << 31)))
        return self._bots[key]


def _random_bot(game: ScopaGame, seat: int, seed: int) -> Any:
    return UniformRandomBot(seat, np.random.RandomState(seed))


def ismcts_bot(game: ScopaGame, seed: int, simulations: int, exploration: float = 4.0) -> Any:
    """Return OpenSpiel's information-set Monte Carlo tree search in Python, with random playouts.

    Args:
        game: the game.
        seed: seed of its random choices.
        simulations: for each action.
        exploration: its ``uct_c``, in points; as in our `ismcts`.
    """
    rng = np.random.RandomState(seed)
    bot = ISMCTSBot(game, RandomRolloutEvaluator(1, rng), exploration, simulations, random_state=rng)
    bot.set_resampler(lambda state, player: state.resample_from_infostate(player, rng.random_sample))  # its own: time
    return bot


def open_spiel_agent(settings: str = "", *, seed: int | None = None) -> OpenSpielAgent:
    """Return one of OpenSpiel's own bots as an agent.

    Args:
        settings: ``random``, or ``ismcts:N`` with N simulations for each action.
        seed: of its random choices.

    Raises:
        AgentError: other settings.
    """
    kind, _, count = settings.partition(":")
    if settings == "random":
        return OpenSpielAgent(_random_bot, "open_spiel:random", seed=seed)
    if kind != "ismcts" or not count.isascii() or not count.isdigit() or int(count) < 1:
        raise AgentError(
            f"agent 'open_spiel:{settings}': allowed are open_spiel:random and open_spiel:ismcts:N, N from 1"
        )
    simulations = int(count)
    return OpenSpielAgent(
        lambda game, seat, bot_seed: ismcts_bot(game, bot_seed, simulations), f"open_spiel:ismcts:{count}", seed=seed
    )
