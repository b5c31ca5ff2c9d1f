"""`learned`: a trained network as an agent, alone or inside search; run with numpy and numba, without torch.

``learned:scopa`` is a network that is shipped, ``learned:PATH`` any other, ``learned`` the shipped one for the rules
that are played.  With ``+pimc:W`` or ``+ismcts:N`` behind it, search uses the network.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from scopa_agents.base import Actions, ArrayAgent
from scopa_agents.network.agent import Judged, NetworkAgent
from scopa_agents.network.files import ModelError, read_model
from scopa_agents.network.ismcts import NetworkIsmctsAgent
from scopa_agents.network.network import FORMAT as MOVES
from scopa_agents.network.network import MoveNetwork
from scopa_agents.network.pimc import NetworkPimcAgent
from scopa_agents.network.policy import FORMAT as POLICY
from scopa_agents.network.policy import Policy, PolicyAgent
from scopa_env.engine.state import Records
from scopa_env.game import View
from scopa_env.rules import Rules, same_rounds

GENERALIST = "generalist"
"""The shipped network for rules that have none of their own."""
_KINDS: dict[str, Any] = {POLICY: Policy, MOVES: MoveNetwork}
_SEARCH = {"pimc": NetworkPimcAgent, "ismcts": NetworkIsmctsAgent}
SAMPLE = "sample"
"""Behind a policy: its moves are drawn."""
_FOLDER = resources.files("scopa_agents") / "models"


def shipped_models() -> dict[str, Path]:
    """Return the files of the shipped networks by name."""
    if not _FOLDER.is_dir():
        return {}
    files = sorted(Path(str(one)) for one in _FOLDER.iterdir() if one.name.endswith(".safetensors"))
    return {file.stem: file for file in files}


def load_model(name: str) -> Policy | MoveNetwork:
    """Return the network of a name or a path.

    Args:
        name: one of `shipped_models`, else the path of a file.

    Raises:
        ModelError: there is no such file, or it is no network for this version; the message says why.
    """
    path = shipped_models().get(name)
    if path is None and not Path(name).exists():
        shipped = ", ".join(shipped_models()) or "none"
        search = f"; search with a network is {' or '.join(f'+{kind}' for kind in _SEARCH)}" if "+" in name else ""
        raise ModelError(f"model {name!r}: there is no such file; shipped are {shipped}{search}")
    return _load(str(path or name), (path or Path(name)).stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _load(path: str, changed: int) -> Policy | MoveNetwork:
    tensors, notes = read_model(path)
    kind = _KINDS.get(notes.get("format", ""))
    if kind is None:
        allowed = " or ".join(map(repr, _KINDS))
        raise ModelError(f"model {path!r}: format is {notes.get('format')!r}; allowed is {allowed}")
    model: Policy | MoveNetwork = kind.of(path, tensors, notes)
    return model


def model_for(rules: Rules) -> str:
    """Return the name of the shipped network for these rules: one trained on their rounds alone, or the generalist.

    Raises:
        ModelError: there is none.
    """
    shipped = shipped_models()
    for name in shipped:
        trained = load_model(name).rules
        if isinstance(trained, tuple) and len(trained) == 1 and same_rounds(trained[0], rules):
            return name
    if GENERALIST not in shipped:
        raise ModelError(f"agent 'learned': no network for {rules}; shipped are {', '.join(shipped) or 'none'}")
    return GENERALIST


class ShippedAgent(ArrayAgent):
    """Plays by the shipped network for the rules of the game in hand (`model_for`)."""

    name = "learned"

    def __init__(self) -> None:
        self._agents: dict[Rules, NetworkAgent] = {}

    def agent_for(self, rules: Rules) -> NetworkAgent:
        """Return the agent of the network for these rules.

        Raises:
            ModelError: there is none.
        """
        if rules not in self._agents:
            model = load_model(model_for(rules))
            assert isinstance(model, MoveNetwork)
            self._agents[rules] = NetworkAgent(model, self.name)
        return self._agents[rules]

    def check_rules(self, rules: Rules) -> None:
        """Warn if the network was not trained on these rules."""
        self.agent_for(rules).check_rules(rules)

    def seed(self, seed: int | None) -> None:
        """Do nothing: the agent is deterministic, and need not be made again to be seeded."""

    def judge(self, view: View) -> list[Judged]:
        """Return what the network says of each legal move (see `NetworkAgent.judge`)."""
        return self.agent_for(view.rules).judge(view)

    def act_batch(self, rules: Rules, views: Records) -> Actions:
        """Return the next action of the best move in each game, int64[N]."""
        return self.agent_for(rules).act_batch(rules, views)


def learned_agent(settings: str = "", *, seed: int | None = None) -> Any:
    """Return the agent of a network.

    Args:
        settings: ``scopa``, ``PATH``, ``scopa+pimc:100``, ``PATH+ismcts:20ms``; empty: the shipped network for
            the rules of the game.  ``PATH+sample`` draws the moves of a policy, ``PATH+sample:0.5`` with that
            temperature.
        seed: seed of a search or of draws; else a network is deterministic.

    Raises:
        ModelError: there is no such network, or it cannot be used so.
        AgentError: settings of the search that are not allowed.
    """
    found = re.fullmatch(rf"(.*?)(?:\+({'|'.join((*_SEARCH, SAMPLE))})(?::(.*))?)?", settings, re.DOTALL)
    assert found is not None
    name, search, of_search = found[1], found[2], found[3]
    if not settings:
        return ShippedAgent()
    if not name:
        raise ModelError(
            f"agent 'learned:{settings}': give a network, learned:NAME+{search}; shipped are "
            + (", ".join(shipped_models()) or "none")
        )
    model = load_model(name)
    title = f"learned:{name}"
    if isinstance(model, Policy):
        if search in _SEARCH:
            raise ModelError(f"agent 'learned:{settings}': search needs a network that values moves, this is a policy")
        if search == SAMPLE:
            title = f"{title}+{SAMPLE}" + (f":{of_search}" if of_search else "")
            return PolicyAgent(model, title, temperature=_temperature(settings, of_search or "1"), seed=seed)
        return PolicyAgent(model, title)
    if search == SAMPLE:
        raise ModelError(f"agent 'learned:{settings}': +{SAMPLE} needs a policy, this network values moves")
    if search:
        return _SEARCH[search](model, title, of_search or "", seed=seed)
    return NetworkAgent(model, title)


def _temperature(settings: str, text: str) -> float:
    """Return the temperature of draws.

    Raises:
        ModelError: it is no number above 0.
    """
    try:
        temperature = float(text)
    except ValueError:
        temperature = math.nan
    if not 0 < temperature < math.inf:
        raise ModelError(f"agent 'learned:{settings}': temperature {text!r}: allowed are numbers above 0")
    return temperature
