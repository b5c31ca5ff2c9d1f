"""Agents: what one is, and how it is found by name.

An agent acts on a `View`.  Names are entry points of the group ``scopa_env.agents``, so other packages can add theirs:

    [project.entry-points."scopa_env.agents"]
    mine = "my_package:MyAgent"

Such an entry point is called as ``factory(settings, seed=seed)``: ``"mine:400"`` gives the settings ``"400"``,
``"mine"`` an empty string.  ``"module:attribute"`` names an agent, an agent class or a function on a `View` that is
not registered.
"""

from __future__ import annotations

import importlib
import inspect
import operator
from collections.abc import Callable
from difflib import get_close_matches
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol, runtime_checkable

import numpy as np

from scopa_env.actions import IllegalAction, Move
from scopa_env.engine.state import Records
from scopa_env.extras import how_to_install
from scopa_env.game import Game, View
from scopa_env.rules import Rules

GROUP = "scopa_env.agents"


class AgentError(ValueError):
    """An agent that does not exist or cannot be made; the message names it and what is allowed."""


class AgentUnavailable(AgentError):
    """What an agent needs does not answer, such as a server: it says nothing about how the agent plays.

    The arena lets no game be forfeited for it: the run ends, and with a file goes on when it is started again.
    """


@runtime_checkable
class Agent(Protocol):
    """Anything that plays.

    Attributes:
        name: what it is called in tables, its settings included.
    """

    name: str

    def act(self, view: View) -> Move:
        """Return a legal move of the observer of `view`, which is to act."""
        ...


@runtime_checkable
class BatchAgent(Agent, Protocol):
    """An agent that also acts on arrays: one action in each of many games."""

    def act_batch(self, rules: Rules, views: Records) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the next action in each game.

        Args:
            rules: the rules of all games.
            views: GAME[N], each without what its seat to act cannot see; may be written to.

        Returns:
            int64[N]: legal actions of ``Discrete(81)``.
        """
        ...


@runtime_checkable
class CheatingAgent(Protocol):
    """An agent that sees every card: a yardstick for the others.  Only the arena plays with it.

    Attributes:
        name: what it is called in tables; it begins with ``mcts_cheating`` or ``cheating``.
        sees_everything: True.
    """

    name: str
    sees_everything: bool

    def act_game(self, game: Game) -> Move:
        """Return a legal move of the seat to act.

        Args:
            game: a copy of the whole game, the agent's own: the hidden cards and the order of the stock are in it.
        """
        ...


AgentSpec = str | Agent | Callable[[View], Move]
"""An agent by name, an agent, or a function from a `View` to a `Move`."""

AnyAgent = Agent | CheatingAgent
"""What the arena plays with."""


def sees_everything(agent: object) -> bool:
    """Say whether an agent is a `CheatingAgent`."""
    return bool(getattr(agent, "sees_everything", False))


def as_move(agent: AnyAgent, answer: object) -> Move:
    """Return what an agent answered as a move of existing cards, legal or not.

    Raises:
        IllegalAction: it is none; the message names the agent.
    """
    try:
        said: Any = answer
        card, captured = said
        move = Move(operator.index(card), tuple(sorted(map(operator.index, captured))))
    except Exception:  # whatever a foreign object does when it is looked at
        move = Move(-1)
    if not move.exists or len(set(move.captured)) < len(move.captured):
        raise IllegalAction(f"agent {agent.name!r}: {_shown(answer)} is no move (a card id and the ids it takes)")
    return move


def _shown(answer: object) -> str:
    try:
        return repr(answer)
    except Exception:
        return f"<{type(answer).__name__}>"


def as_actions(agent: AnyAgent, answer: object, count: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return what a `BatchAgent` answered for `count` games as int64[count], legal or not.

    Raises:
        IllegalAction: it is something else; the message names the agent.
    """
    try:
        actions = np.asarray(answer)
    except Exception as error:  # such as lists of unequal length
        said = f"{type(answer).__name__}, {type(error).__name__}: {error}"
        raise IllegalAction(f"agent {agent.name!r}: act_batch returned no int64[{count}] ({said})") from None
    if actions.shape != (count,) or actions.dtype.kind not in "iu":
        found = f"{actions.dtype}{actions.shape}"
        raise IllegalAction(f"agent {agent.name!r}: act_batch returned {found}, not int64[{count}]")
    return actions.astype(np.int64)


class FunctionAgent:
    """A function on a `View` as an agent."""

    def __init__(self, function: Callable[[View], Move], name: str | None = None) -> None:
        self.function = function
        self.name = name or str(getattr(function, "__name__", type(function).__name__))

    def act(self, view: View) -> Move:
        """Return what the function returns."""
        return self.function(view)


def failure(agent: AnyAgent, error: BaseException, method: str = "") -> AgentError:
    """Return an error that names an agent and says how it (in this method) failed."""
    where = f": {method}" if method else ""
    try:
        what = f"{type(error).__name__}: {error}"
    except Exception:  # an error that cannot be printed
        what = type(error).__name__
    return AgentError(f"agent {agent.name!r}{where} failed: {what}")


@lru_cache(maxsize=1)
def _registered() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def agent_names() -> list[str]:
    """Return the names of the agents that are installed."""
    return sorted(_registered())


def make_agent(spec: AgentSpec, seed: int | None = None, rules: Rules | str | None = None) -> Agent:
    """Return the agent that `spec` stands for.

    Args:
        spec: ``"greedy"``, ``"ismcts:4000"``, ``"module:attribute"``, an agent, or a function on a `View`.
        seed: seed of its random choices; None draws one.  An agent that is handed in keeps its own.
        rules: what it is to play, as `Rules.of` takes it; an agent with a method ``check_rules(rules)`` may refuse
            them by an AgentError.

    Raises:
        AgentError: there is no such agent, its settings are not allowed, it cannot play these rules, or it sees
            everything.
    """
    agent = make_any_agent(spec, seed, rules)
    if not isinstance(agent, Agent) or sees_everything(agent):
        raise AgentError(f"agent {agent.name!r}: sees every card; only the arena plays with such an agent")
    return agent


def make_any_agent(
    spec: AgentSpec | CheatingAgent, seed: int | None = None, rules: Rules | str | None = None
) -> AnyAgent:
    """Return the agent that `spec` stands for as `make_agent` does, also one that sees everything."""
    agent = _agent_of(spec, seed)
    check = getattr(agent, "check_rules", None)
    of = None if rules is None else Rules.of(rules)
    if of is not None and callable(check):
        try:
            check(of)
        except AgentError:
            raise
        except Exception as error:
            raise failure(agent, error, "check_rules") from error
    return agent


def _agent_of(spec: AgentSpec | CheatingAgent, seed: int | None) -> AnyAgent:
    agent = _by_name(spec, seed) if isinstance(spec, str) else _from_object(spec)
    name: object = agent.name
    if not isinstance(name, str) or not name.isprintable() or not name.strip():
        raise AgentError(f"agent {_shown(spec)}: name={_shown(name)}: allowed is printable text of one line")
    return agent


def _from_object(spec: Agent | CheatingAgent | Callable[[View], Move]) -> AnyAgent:
    if inspect.isclass(spec):
        raise AgentError(f"agent {spec!r}: a class; hand in an agent, such as {spec.__name__}(seed=0)")
    if sees_everything(spec) and not isinstance(spec, CheatingAgent):
        raise AgentError(f"agent {spec!r}: sees everything, and then needs name and act_game(game)")
    if isinstance(spec, Agent | CheatingAgent):
        return spec
    if callable(spec):
        return FunctionAgent(spec)
    if hasattr(spec, "act") or hasattr(spec, "act_game"):
        raise AgentError(f"agent {spec!r}: has no name; an agent needs the attribute name, a text")
    raise AgentError(f"agent {spec!r}: allowed are a name, an agent with name and act(view), or a function on a View")


def _by_name(spec: str, seed: int | None) -> AnyAgent:
    name, _, settings = spec.partition(":")
    if name in _registered():
        try:
            factory = _registered()[name].load()
        except ModuleNotFoundError as error:
            raise AgentError(f"agent {spec!r}: needs {error.name!r}, which is not installed{_extra(name)}") from None
        agent: AnyAgent = factory(settings, seed=seed)
        return agent
    base, plus, search = spec.partition("+")
    if plus and base in _registered():
        raise AgentError(f"agent {spec!r}: +{search} needs a name before it: {base}:NAME+{search}")
    if settings and name.replace(".", "").isidentifier():
        return _from_module(spec, name, settings, seed)
    raise AgentError(f"agent {spec!r}: {_hint(name)}allowed are {', '.join(agent_names())}, and module:attribute")


def _extra(name: str) -> str:
    """Return how what a registered agent needs is installed, if its package has an extra of that name."""
    package = _registered()[name].dist
    extras = (package.metadata.get_all("Provides-Extra") if package else None) or ()
    known = package and name.replace("_", "-") in {extra.replace("_", "-") for extra in extras}
    if not package or not known:
        return ""
    ours = package.name.replace("_", "-") == "scopa-env"
    return f": {how_to_install(name)}" if ours else f": pip install '{package.name}[{name}]'"


def _hint(name: str) -> str:
    """Return a question for the registered name that one resembles; nothing if it resembles none."""
    near = get_close_matches(name.lower(), agent_names(), n=1)
    return f"did you mean {near[0]!r}? " if near else ""


def _from_module(spec: str, module: str, attribute: str, seed: int | None) -> AnyAgent:
    try:
        found = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        if inspect.isclass(found):
            takes_seed = "seed" in inspect.signature(found).parameters
            name = found.__name__
            found = found(seed=seed) if takes_seed else found()
            if not hasattr(found, "name") and (hasattr(found, "act") or hasattr(found, "act_game")):
                found.name = name
    except (Exception, SystemExit) as error:  # whatever a foreign module does when it is imported or called
        missing = isinstance(error, ModuleNotFoundError) and error.name == module
        hint, names = _hint(module) if missing else "", ", ".join(agent_names())
        said = f"{type(error).__name__}: {error}"
        raise AgentError(f"agent {spec!r}: {hint}{said}; registered names are {names}") from error
    return _agent_of(found, seed)
