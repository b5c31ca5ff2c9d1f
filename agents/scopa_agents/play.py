"""`scopa play`: a person against agents in the terminal."""

from __future__ import annotations

import io
import secrets
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import numpy as np
from cyclopts import Parameter
from rich.console import Console

from scopa_agents import play_text as show
from scopa_env.actions import Move
from scopa_env.agents import Agent, AgentError, make_agent
from scopa_env.game import Game, View
from scopa_env.notation import IllegalMove
from scopa_env.record import SUFFIXES, GameRecord, write_records
from scopa_env.render.text import table_text
from scopa_env.rules import Rules, check_seat

Read = Callable[[str], str]
"""Shows a prompt and returns the line that is typed; raises EOFError at the end of the input."""
Write = Callable[[str], None]
"""Shows some lines of text."""


class Quit(Exception):
    """The person ends the game."""


class Session:
    """A person's game: asks for moves, lets the agents play, shows what the person's seat knows.

    Args:
        game: the game, at the beginning of a round.
        cast: who sits where.
        hint: the agent that gives hints.
        read: gets a line from the person.
        write: shows text to the person.
        whole_match: play rounds until the match is over; else one round.
        pause: wait for Enter at the end of a round.
    """

    def __init__(
        self,
        game: Game,
        cast: show.Cast,
        hint: Agent,
        read: Read,
        write: Write,
        *,
        whole_match: bool = True,
        pause: bool = True,
    ) -> None:
        self.game = game
        self._cast = cast
        self._hint = hint
        self._read = read
        self._write = write
        self._whole_match = whole_match
        self._pause = pause
        self._over = False
        self._decisions: list[Game] = []  # the game before each move of the person
        self._commands: dict[str, Callable[[], bool]] = {
            "help": self._show_help,
            "?": self._show_help,
            "moves": self._show_moves,
            "table": self._show_table,
            "hint": self._show_hint,
            "undo": self._undo,
            "quit": self._quit,
            "q": self._quit,
        }

    @property
    def _view(self) -> View:
        return self.game.view(self._cast.seat)

    @property
    def _number(self) -> int:
        """Number of the round, from 1."""
        return len(self.game.past) + 1

    def run(self) -> None:
        """Play to the end.

        Raises:
            Quit: the person ends the game early.
            EOFError: the input ends.
            IllegalMove: an agent's move is illegal; the message names it.
        """
        self._show_deal()
        while not self._over:
            if self.game.round_over:
                self._finish_round()
            elif self.game.seat == self._cast.seat:
                self._ask_for_move()
            else:
                self._let_agent_play()

    def _let_agent_play(self) -> None:
        agent = self._cast.agents[self.game.seat]
        assert agent is not None  # it is not the person's turn
        self._push(_decision(agent, self.game.view(self.game.seat)))

    def _push(self, move: Move) -> None:
        before = self._view
        self.game.push(move)
        self._write(show.play_text(before, self._view, move, self._cast))

    def _ask_for_move(self) -> None:
        """Ask until the person has made a legal move, or taken one back."""
        view = self._view
        self._write(show.turn_text(view, self._cast))
        while (line := self._ask("Your move: ")) is not None:
            try:
                move = show.move_of(view, line)
            except ValueError as error:
                self._write(str(error))
                continue
            self._decisions.append(self.game.copy())
            self._push(move)
            return

    def _ask(self, prompt: str) -> str | None:
        """Return the next line that is no command; None as soon as the game has gone back."""
        while True:
            line = self._read(prompt).strip()
            command = self._commands.get(line.lower())
            if command is None:
                return line
            if command():
                return None

    def _finish_round(self) -> None:
        """Show the score, and go on with the next round unless the game is over."""
        outcome = self.game.outcome()
        assert outcome is not None  # the round is over
        self._write(show.round_text(self._view, outcome, self._cast, self._number))
        if outcome.match_over:
            self._write(show.match_text(outcome, self._cast))
        last = outcome.match_over or not self._whole_match
        if self._pause and not self._is_confirmed("Enter ends the game: " if last else "Enter deals the next round: "):
            return
        if last:
            self._over = True
        else:
            self.game.next_round()
            self._show_deal()

    def _is_confirmed(self, prompt: str) -> bool:
        """Wait for Enter; False if the game has gone back instead."""
        while line := self._ask(prompt):
            self._write(f"{line!a}: the round is over; press Enter, or type undo, table, help or quit")
        return line is not None

    def _show_deal(self) -> None:
        self._write("\n" + show.deal_text(self._view, self._cast, self._number))

    # commands; each says whether the game has gone back

    def _show_help(self) -> bool:
        self._write(show.help_text(self._view))
        return False

    def _show_moves(self) -> bool:
        self._write("The round is over." if self.game.round_over else show.moves_text(self._view))
        return False

    def _show_table(self) -> bool:
        self._write(table_text(self._view, self._cast.names))
        return False

    def _show_hint(self) -> bool:
        if self.game.round_over:
            self._write("The round is over.")
            return False
        view = self._view
        try:
            self._write(show.hint_text(view, self._hint, _decision(self._hint, view)))
        except ValueError as error:  # such as a policy for another number of players
            self._write(f"No hint: {error}")
        return False

    def _undo(self) -> bool:
        if not self._decisions:
            self._write("There is no move of yours to take back.")
            return False
        self.game = self._decisions.pop()
        self._write(f"\nBack to your last decision, in round {self._number}.")
        return True

    def _quit(self) -> bool:
        raise Quit


def _decision(agent: Agent, view: View) -> Move:
    """Return the agent's move.

    Raises:
        IllegalMove: it is none, or not legal.
        AgentError: the agent fails.
    """
    try:
        decided = agent.act(view)
    except ValueError:
        raise
    except Exception as error:  # whatever goes wrong inside an agent
        raise AgentError(f"agent {agent.name!r} failed: {type(error).__name__}: {error}") from error
    try:
        move = Move(*decided)
        legal = view.is_legal(move)
    except TypeError as error:
        raise IllegalMove(f"agent {agent.name!r}: {decided!r} is no move ({error})") from None
    if not legal:
        raise IllegalMove(f"agent {agent.name!r}: {decided!r} is not legal")
    return move


# the command


def play_command(
    *,
    against: str = "greedy",
    partner: str | None = None,
    rules: str = "scopa",
    seat: int = 0,
    seed: int | None = None,
    match: Annotated[bool, Parameter(name="--match", negative="--round")] = True,
    hint: str = "greedy",
    record: Path | None = None,
) -> int:
    """Play in the terminal, a move at a time; type help in the game for its commands.

    Args:
        against: who plays the other seats: a name (greedy, expert, ismcts:20ms, learned:FILE) or
            module:attribute.
        partner: who plays the other seats of your team, in team games; default: as the opponents.
        rules: a preset, or preset:field=value,field=value.
        seat: your seat, 0 .. players - 1 in playing order.
        seed: seed of the deals and the agents; default: a new one, which is shown.
        match: play a whole match, or one round.
        hint: the agent that gives hints.
        record: write the game to this new file at the end: ``.toml``, or ``.jsonl``.

    Returns:
        Exit status: 0, also if you quit or the input ends; 130 after Ctrl-C.
    """
    of = Rules.parse(rules)
    check_seat("seat", seat, of)
    if partner is not None and not of.teams:
        raise ValueError(f"partner={partner!r}: allowed in team games, not with rules {of}")
    _check_new_file(record)
    seed = _checked_seed(seed)
    seeds = [int(one) for one in np.random.SeedSequence(seed).generate_state(of.players + 1)]
    agents = [make_agent(_spec(of, seat, other, against, partner), seeds[other], of) for other in range(of.players)]
    cast = show.Cast(of, seat, tuple(None if other == seat else agent for other, agent in enumerate(agents)))
    read, write, interactive = _terminal()
    session = Session(
        Game(of, seed=seed), cast, make_agent(hint, seeds[-1]), read, write, whole_match=match, pause=interactive
    )
    write(show.intro_text(cast, seed, match))
    try:
        return _run(session, write)
    finally:
        if record is not None:
            _save(record, session.game, cast)
            write(f"The game is in {record}.")


def _spec(rules: Rules, seat: int, other: int, against: str, partner: str | None) -> str:
    """Return which agent plays the seat `other`; `seat` is the person's."""
    same_side = rules.side_of(other) == rules.side_of(seat)
    return partner if partner is not None and same_side else against


def _checked_seed(seed: int | None) -> int:
    if seed is None:
        return secrets.randbits(32)
    if seed < 0:
        raise ValueError(f"seed={seed}: allowed are whole numbers from 0")
    return seed


def _check_new_file(path: Path | None) -> None:
    """Find out before the game whether its record can be written after it."""
    if path is None:
        return
    if path.suffix not in SUFFIXES:
        raise ValueError(f"record={str(path)!r}: record files end in {' or '.join(SUFFIXES)}")
    if path.exists():
        raise ValueError(f"record={str(path)!r}: exists already")
    if not path.parent.is_dir():
        raise ValueError(f"record={str(path)!r}: there is no folder {str(path.parent)!r}")


def _run(session: Session, write: Write) -> int:
    """Play; return the exit status."""
    try:
        session.run()
    except (Quit, EOFError):
        write("\nThe game ends here.")
    except KeyboardInterrupt:
        write("\nInterrupted; the game ends here.")
        return 130
    return 0


def _save(path: Path, game: Game, cast: show.Cast) -> None:
    players = ["person" if agent is None else agent.name for agent in cast.agents]
    write_records(path, [GameRecord.from_game(game, players)])


def _terminal() -> tuple[Read, Write, bool]:
    """Return how to read and write, and whether a person sits at a terminal."""
    console = Console(highlighter=show.CardHighlighter(), theme=show.THEME)
    interactive = sys.stdin.isatty()
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="backslashreplace")  # what is no text is no move either

    def read(prompt: str) -> str:
        line = input(prompt)
        if not interactive:
            print(ascii(line)[1:-1])  # a transcript shows what was typed
        return line

    def write(text: str) -> None:
        console.print(text, markup=False, emoji=False, soft_wrap=True)

    if interactive:
        _edit_lines()
    return read, write, interactive


def _edit_lines() -> None:
    """Let the arrow keys work at the prompt, where the system has readline."""
    with suppress(ImportError):
        import readline  # noqa: F401
