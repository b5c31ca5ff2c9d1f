"""`learned:NAME+ismcts:N`: information-set Monte Carlo tree search with a network (see `network.iterate`)."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event
from typing import Any

from scopa_agents.network.forward import new_space
from scopa_agents.network.inference import INFERENCES, pool_of
from scopa_agents.network.iterate import iterate_by_network
from scopa_agents.network.network import MoveNetwork
from scopa_agents.search.base import ViewSearchAgent
from scopa_agents.search.inference import NO_MODEL, Pool
from scopa_agents.search.ismcts import Floats, TreeAgent, TreeSettings, TreeSpace
from scopa_agents.search.settings import number, parse_settings, word
from scopa_env.engine.state import Records
from scopa_env.rules import Rules


@dataclass(frozen=True)
class NetworkIsmctsSettings(TreeSettings):
    """Settings of `NetworkIsmctsAgent`.

    Attributes:
        inference: model of the other seats by which worlds are weighted: the network too.
        exploration: factor of the prior's term, in points.
        temperature: of the prior, in points.
    """

    inference: str = word(NO_MODEL, INFERENCES)
    exploration: float = number(1.0, 0.0, 1000.0)
    temperature: float = number(0.3, 0.001, 1000.0)


class _Space(TreeSpace[NetworkIsmctsSettings]):
    """Working memory of one thread."""

    def __init__(self, settings: NetworkIsmctsSettings, stop: Event, network: MoveNetwork) -> None:
        self.network, self.space = network, new_space(network.widest)
        super().__init__(settings, stop)
        self.net = network.arrays

    def make_pool(self) -> Pool:
        """Return what worlds are drawn from."""
        return pool_of(self.settings, self.network, self.space)

    def iterate(self, rules: Rules, root: Records, pool: Records, weights: Floats, iterations: int) -> None:
        """Grow the tree by so many iterations."""
        iterate_by_network(
            rules.record,
            root,
            pool,
            weights,
            self.world,
            self.nodes,
            self.search,
            self.settings.temperature,
            self.net,
            self.space,
            iterations,
        )


class NetworkIsmctsAgent(TreeAgent, ViewSearchAgent[TreeSpace[Any]]):
    """Tree search with a network.

    Args:
        network: the network.
        name: what it is called.
        settings: ``"1000"``, ``"20ms"``, ``"1000,exploration=2"``: see `NetworkIsmctsSettings`.
        seed: seed of its random choices.
    """

    settings: NetworkIsmctsSettings

    def __init__(self, network: MoveNetwork, name: str, settings: str = "", *, seed: int | None = None) -> None:
        self.kind = f"{name}+ismcts"
        self.network = network
        super().__init__(parse_settings(NetworkIsmctsSettings, self.kind, settings or "1000", "iterations"), seed)

    def make_space(self, stop: Event) -> TreeSpace[Any]:
        """Return the working memory of one thread."""
        return _Space(self.settings, stop, self.network)
