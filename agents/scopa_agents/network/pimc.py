"""`learned:NAME+pimc:W`: moves judged in W sampled worlds, in which a network moves for every seat by what it knows.

Each move is followed by the network's own play up to the mover's next turns, where it says what the position is worth
(a truncated rollout: Tesauro and Galperin, "On-line Policy Improvement using Monte-Carlo Search", NIPS 1996).  As the
network sees what a seat sees, not the world, the other seats do not play with open cards as they do in plain `pimc`.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np

from scopa_agents.network.forward import new_space
from scopa_agents.network.inference import INFERENCES, pool_of
from scopa_agents.network.network import MoveNetwork
from scopa_agents.network.worlds import ALIKE, BY_NETWORK, PLAYERS, judge_worlds_by_network
from scopa_agents.search.inference import NO_MODEL, Pool
from scopa_agents.search.pimc import Floats, WorldsAgent, WorldSettings, WorldSpace
from scopa_agents.search.rollouts import ROLLOUTS
from scopa_agents.search.settings import number, parse_settings, word
from scopa_env.engine.state import Records


@dataclass(frozen=True)
class NetworkPimcSettings(WorldSettings):
    """Settings of `NetworkPimcAgent`.

    Attributes:
        inference: model of the other seats by which worlds are weighted: the network too.
        horizon: turns of the mover's up to the value; 0: playouts go on to the end of the round.
        others: how the other sides move: by the network too, or by a policy (then the search looks for the best answer
            to that policy).
    """

    inference: str = word(NO_MODEL, INFERENCES)
    horizon: int = number(2, 0, 40)
    others: str = word("network", ("network", *ROLLOUTS))


class _Space(WorldSpace[NetworkPimcSettings]):
    """Working memory of one thread."""

    def __init__(self, settings: NetworkPimcSettings, stop: Event, network: MoveNetwork) -> None:
        self.network, self.space = network, new_space(network.widest)
        super().__init__(settings, stop)
        self.net = network.arrays
        others = ALIKE if settings.others == "network" else ROLLOUTS[settings.others].address
        self.players = np.array(
            [(settings.horizon, BY_NETWORK, 0.0, others, settings.solve if others == ALIKE else 0)], PLAYERS
        )

    def make_pool(self) -> Pool:
        """Return what worlds are drawn from."""
        return pool_of(self.settings, self.network, self.space)

    def add(self, moves: Records, totals: Floats, worlds: int) -> None:
        """Add the values of moves in so many worlds."""
        judge_worlds_by_network(
            self.rules.record,
            self.root,
            self.worlds,
            self.weights,
            moves,
            totals,
            self.work.arrays,
            worlds,
            self.near and self.settings.others == "network",  # perfect play is no answer to a policy
            self.players,
            self.net,
            self.space,
        )


class NetworkPimcAgent(WorldsAgent):
    """Search in sampled worlds with a network (see the module).

    Args:
        network: the network.
        name: what it is called.
        settings: ``"100"``, ``"20ms"``, ``"100,horizon=1"``: see `NetworkPimcSettings`.
        seed: seed of its random choices.
    """

    settings: NetworkPimcSettings

    def __init__(self, network: MoveNetwork, name: str, settings: str = "", *, seed: int | None = None) -> None:
        self.kind = f"{name}+pimc"
        self.network = network
        super().__init__(parse_settings(NetworkPimcSettings, self.kind, settings or "100", "worlds"), seed)

    def make_space(self, stop: Event) -> WorldSpace[Any]:
        """Return the working memory of one thread."""
        return _Space(self.settings, stop, self.network)
