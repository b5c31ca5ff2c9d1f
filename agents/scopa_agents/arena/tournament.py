"""Running the arena: two agents (`duel`) or many (`tournament`)."""

from __future__ import annotations

import itertools
import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import scopa_env
from scopa_agents.arena.engines import Results, cores, play_here, play_in_processes, play_on_ray
from scopa_agents.arena.games import on_arrays
from scopa_agents.arena.log import DealResult, Header, LogWriter
from scopa_agents.arena.results import Pairing, Tally, Tournament, pairing
from scopa_agents.arena.unit import BLOCK, GameResult, Job, Spec, Unit
from scopa_env.agents import AnyAgent, make_any_agent, sees_everything
from scopa_env.episode import EpisodeSettings, check_choice
from scopa_env.game import check_seed, random_seed
from scopa_env.rules import Rules

MOST_DEALS = 100_000_000
"""Most deals of a pairing; more take days."""

MOST_JOBS = 4096

Engine = Literal["local", "ray"]
Progress = Callable[[int, int], None]
"""Called with the number of deals that are done, and of all of them."""


def check_deals(deals: object) -> None:
    """Raise a ValueError unless `deals` is a number of deals that gives an interval."""
    if isinstance(deals, bool) or not hasattr(deals, "__index__") or not 2 <= deals.__index__() <= MOST_DEALS:
        raise ValueError(f"deals={deals!r}: allowed are whole numbers 2 .. {MOST_DEALS}")


@dataclass(frozen=True)
class ArenaSettings:
    """How a tournament is played; checked."""

    rules: str = "scopa"
    "a preset, or preset:field=value,field=value."
    deals: int = 1000
    "deals of each pairing."
    seed: int = 0
    "seed of the deals and the agents."
    null: bool = False
    "let each agent also play itself, with other seeds: a check, as the interval of the margin should contain 0."
    jobs: int | None = None
    "processes to play in; default: one for each core, but none where all agents decide on arrays of games."
    engine: Engine = "local"
    "play on this machine, or spread over a Ray cluster."
    address: str | None = None
    "the Ray cluster, as for ray.init; default: that of RAY_ADDRESS, or a new one on this machine."
    out: Path | None = None
    "write each deal to this file (.jsonl) as it is played; go on from there if it exists."
    move_limit: float | None = None
    "seconds of a decision above which the game is forfeited, judged after it."
    hard_limit: float | None = None
    "seconds of a decision after which its process is killed and the game forfeited."
    forfeit_margin: float | None = None
    "points by which a forfeited game is lost; default: those of all categories but sweeps."

    def __post_init__(self) -> None:
        rules = Rules.parse(self.rules)
        check_deals(self.deals)
        if check_seed(self.seed) is None:
            raise ValueError("seed=None: allowed are whole numbers from 0")
        if self.jobs is not None and not 1 <= self.jobs <= MOST_JOBS:
            raise ValueError(f"jobs={self.jobs!r}: allowed are whole numbers 1 .. {MOST_JOBS}")
        check_choice("engine", self.engine, get_args(Engine))
        if self.address is not None and self.engine != "ray":
            raise ValueError(f"address={self.address!r}: allowed with engine='ray' only")
        for name in ("move_limit", "hard_limit"):
            limit = getattr(self, name)
            if limit is not None and not 0 < limit < float("inf"):
                raise ValueError(f"{name}={limit!r}: allowed are numbers of seconds above 0")
        margin = EpisodeSettings(rules, illegal="forfeit", forfeit_margin=self.forfeit_margin).forfeit_margin
        object.__setattr__(self, "forfeit_margin", margin)


def pairs(agents: Sequence[Spec]) -> Iterator[tuple[Spec, Spec]]:
    """Return every pair of agents, in order; an agent that is named twice also meets itself, once."""
    seen: list[tuple[Spec, Spec]] = []
    for pair in itertools.combinations(agents, 2):
        if pair not in seen and pair[::-1] not in seen:
            seen.append(pair)
            yield pair


def _pairings(agents: Sequence[Spec], against: Spec | None, null: bool) -> list[tuple[Spec, Spec]]:
    chosen = list(pairs(agents)) if against is None else [(agent, against) for agent in dict.fromkeys(agents)]
    if not chosen and not (null and agents):
        raise ValueError(f"agents: {len(agents)} given; expected two or more, or one and --against or --null")
    if null:
        everyone = dict.fromkeys([*agents, *([] if against is None else [against])])
        chosen += [(agent, agent) for agent in everyone if (agent, agent) not in chosen]
    return chosen


class _Cast:
    """The agents of a tournament and what they are called: by their names, or if two have the same by their specs."""

    def __init__(self, specs: Sequence[Spec], rules: Rules) -> None:
        agents = {spec: make_any_agent(spec, 0, rules) for spec in dict.fromkeys(specs)}
        names = {spec: _shown(agent) for spec, agent in agents.items()}
        often = Counter(names.values())
        for number, (spec, name) in enumerate(list(names.items()), 1):
            if often[name] > 1:
                names[spec] = spec if isinstance(spec, str) else f"{name}#{number}"
        self.names = names
        self.cheating = tuple(names[spec] for spec, agent in agents.items() if sees_everything(agent))
        self._on_arrays = {spec: on_arrays(agent) for spec, agent in agents.items()}

    def together(self, pair: tuple[Spec, Spec]) -> bool:
        """Say whether games of a pair are played at the same time."""
        return all(self._on_arrays[spec] for spec in pair)


def _shown(agent: AnyAgent) -> str:
    """Return the name of an agent; that of one that sees everything says so."""
    name = str(agent.name)
    cheats = sees_everything(agent) and not name.startswith(("cheating", "mcts_cheating"))
    return f"cheating:{name}" if cheats else name


def tournament(
    agents: Sequence[Spec],
    against: Spec | None = None,
    settings: ArenaSettings = ArenaSettings(),
    progress: Progress | None = None,
) -> Tournament:
    """Let agents play each other on duplicate deals, or all of them one opponent.

    The result, but for the times, depends on the agents, the rules, the deals and the seed alone: not on the engine,
    the number of processes, or how often the run was interrupted.  That holds for agents given by name, and for those
    handed in that have a method ``seed`` or no state.  A program that plays in processes needs the usual
    ``if __name__ == "__main__":``.

    Args:
        agents: the agents, see `scopa_env.make_agent`; also those that see everything.
        against: play everyone against this agent only, instead of all pairings.
        settings: the settings.
        progress: called with the number of deals that are done, those found in the file included, and of all of them.

    Raises:
        ValueError: an argument that is not allowed, such as a file of another run.
        OSError: the file cannot be written.
    """
    rules = Rules.parse(settings.rules)
    chosen = _pairings(agents, against, settings.null)
    cast = _Cast([spec for pair in chosen for spec in pair], rules)
    names = tuple((cast.names[a], cast.names[b]) for a, b in chosen)
    assert settings.forfeit_margin is not None  # set when it is checked
    job = Job(rules.text(), settings.seed, tuple(chosen), names, settings.forfeit_margin, settings.move_limit)
    header = _header(job, cast, settings)
    tallies = [Tally() for _ in chosen]
    with ExitStack() as stack:
        writer = stack.enter_context(LogWriter(settings.out, header)) if settings.out else None
        for deal in writer.deals if writer else ():
            tallies[deal.pairing].add(deal)
        if progress:
            progress(sum(map(len, tallies)), settings.deals * len(tallies))
        together = [cast.together(pair) for pair in chosen]
        units = list(_units(together, settings.deals, tallies))
        for unit, games in _play(job, units, settings) if units else ():
            deals = _by_deal(unit, games)
            if writer:
                writer.write(deals)
            for deal in deals:
                tallies[unit.pairing].add(deal)
            if progress:
                progress(sum(map(len, tallies)), settings.deals * len(tallies))
    return Tournament.of(header, tallies)


def _header(job: Job, cast: _Cast, settings: ArenaSettings) -> Header:
    return Header(
        rules=job.rules,
        seed=job.seed,
        deals=settings.deals,
        agents=tuple(dict.fromkeys(cast.names.values())),
        cheating=cast.cheating,
        pairings=job.names,
        forfeit_margin=job.forfeit_margin,
        move_limit=settings.move_limit,
        hard_limit=settings.hard_limit,
        version=scopa_env.__version__,
    )


def _units(together: Sequence[bool], deals: int, done: Sequence[Tally]) -> Iterator[Unit]:
    """Return what is left to be played: block by block of deals, so that all pairings get on at the same pace."""
    for first in range(0, deals, BLOCK):
        block = range(first, min(first + BLOCK, deals))
        for index, tally in enumerate(done):
            missing = tuple(deal for deal in block if deal not in tally)
            if together[index] and missing:
                yield Unit(index, first, missing, True)
        for deal in block:
            for index, tally in enumerate(done):
                if not together[index] and deal not in tally:
                    yield Unit(index, deal, (deal,), False)


def _by_deal(unit: Unit, games: Sequence[GameResult]) -> list[DealResult]:
    deals: dict[int, list[GameResult]] = {}
    for game in games:
        deals.setdefault(game.deal, []).append(game)
    return [DealResult.of(unit.pairing, found) for found in deals.values()]


def _play(job: Job, units: Sequence[Unit], settings: ArenaSettings) -> Results:
    if settings.engine == "ray":
        _check_portable(job)
        return play_on_ray(job, units, settings.jobs, settings.hard_limit, settings.address)
    jobs = settings.jobs
    if jobs is None and settings.hard_limit is None and (all(unit.together for unit in units) or not _by_name(job)):
        return play_here(job, units)
    _check_portable(job)
    return play_in_processes(job, units, min(jobs or cores(), len(units)), settings.hard_limit)


def _by_name(job: Job) -> bool:
    return all(isinstance(spec, str) for pair in job.pairings for spec in pair)


def _check_portable(job: Job) -> None:
    """Raise a ValueError for agents that cannot be sent to another process."""
    for spec in dict.fromkeys(itertools.chain.from_iterable(job.pairings)):
        try:
            pickle.dumps(spec)
        except Exception as error:  # pickle raises many kinds
            raise ValueError(f"agent {spec!r}: cannot be sent to another process ({error}); give it by name") from None


def duel(
    a: Spec,
    b: Spec,
    rules: Rules | str = "scopa",
    deals: int = 1000,
    seed: int | None = 0,
    progress: Progress | None = None,
) -> Pairing:
    """Play `a` against `b` on duplicate deals, in this process; whatever an agent does wrong is raised.

    Args:
        a: an agent, see `scopa_env.make_agent`.
        b: its opponent; in team play each agent has a whole team.
        rules: the rules.
        deals: number of deals, at least 2.
        seed: seed of the deals and of both agents; None draws one.
        progress: called with the number of deals that are done, and of all of them.

    Returns:
        The result; the same for the same arguments, but for the times.

    Raises:
        ValueError: an argument that is not allowed.
        IllegalAction: an agent decided on something illegal.
        AgentError: an agent failed.
    """
    rules = Rules.of(rules)
    check_deals(deals)
    checked = check_seed(seed)
    found = [make_any_agent(spec, 0, rules) for spec in (a, b)]
    names = (_shown(found[0]), _shown(found[1]))
    job = Job(rules.text(), random_seed() if checked is None else checked, ((a, b),), (names,), 1.0, strict=True)
    tally = Tally()
    for unit, games in play_here(job, _units([all(map(on_arrays, found))], int(deals), [tally])):
        for deal in _by_deal(unit, games):
            tally.add(deal)
        if progress:
            progress(len(tally), int(deals))
    return pairing(*names, job.rules, tally)
