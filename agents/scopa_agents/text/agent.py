"""`TextAgent`: anything that answers text with text, such as a language model, as an agent."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scopa_agents.text.answer import MOST_READ, AnswerError, parse_answer
from scopa_agents.text.exchanges import Counts, Exchange, append_exchange
from scopa_agents.text.words import task_text, turn_text
from scopa_env.actions import Move
from scopa_env.agents import AgentError, AgentSpec, AgentUnavailable, as_move, make_agent
from scopa_env.files import check_folder
from scopa_env.game import View, view_to_act
from scopa_env.render.text import counted
from scopa_env.rules import Rules, allowed_names

Message = dict[str, str]
"""A message of a chat: its ``role`` (system, user or assistant) and its ``content``."""

Ask = Callable[[str], str] | Callable[[list[Message]], str]
"""What answers: a text with a text, or with ``chat=True`` a list of messages with a text."""

MOST_RETRIES = 100


class AnswerFault(AgentError):
    """No legal move could be read from the last answer, and there is no fallback."""


class TextAgent:
    """Plays what `ask` answers.  It is shown the rules and what its seat knows, in words and in notation.

    An answer from which no legal move can be read is sent back with what was wrong.  After `retries` of that the
    fallback moves, which is counted as a fault.  A single legal move is played without a question, and a move of
    several actions is asked for once.

    Args:
        ask: any function from a text to a text.  What it raises ends the game, and a run of the arena too (see
            `AgentUnavailable`): that a server does not answer is no fault of the model, and is not scored as one.
            If it has a method ``seed(number)``, the agent's calls that.
        retries: how often a question is repeated, 0 .. 100.
        fallback: agent that moves after the last bad answer; None: raise an `AnswerFault`, for which the arena lets the
            agent forfeit the game.
        name: what it is called; by default ``text:`` and the name of `ask`.
        seed: of the fallback, and of `ask` if it takes one.
        chat: call `ask` with a list of messages instead, ``{"role": ..., "content": ...}``: the task and the rules
            (system), the turn (user), and after a bad answer that (assistant) and what is wrong with it (user).
        count_tokens: returns the number of tokens of a text, for `counts`.
        keep: how many of the last exchanges are kept.
        log: file to which every exchange is added as a line, see `read_exchanges`.

    Attributes:
        name: its name.
        counts: sums over all exchanges.
        exchanges: the last ones, oldest first.

    Raises:
        AgentError: an argument that is not allowed.
        OSError: `log` cannot be a file.
    """

    def __init__(
        self,
        ask: Ask,
        *,
        retries: int = 2,
        fallback: AgentSpec | None = "greedy",
        name: str | None = None,
        seed: int | None = None,
        chat: bool = False,
        count_tokens: Callable[[str], int] | None = None,
        keep: int = 100,
        log: Path | str | None = None,
    ) -> None:
        self.name = name or f"text:{getattr(ask, '__name__', type(ask).__name__)}"
        if not callable(ask) or inspect.isclass(ask):
            raise AgentError(f"agent {self.name!r}: ask={ask!r}: allowed is a function from a text to a text")
        self._check("retries", retries, MOST_RETRIES)
        self._check("keep", keep, 1_000_000)
        self._ask: Callable[[Any], Any] = ask
        self._retries = retries
        self._fallback_spec = fallback
        self._fallback = None if fallback is None else make_agent(fallback, seed)
        self._chat = chat
        self._count_tokens = count_tokens
        self._log = None if log is None else Path(log)
        if self._log is not None:
            check_folder(self._log)
        self.counts = Counts()
        self.exchanges: deque[Exchange] = deque(maxlen=keep)
        self._begun: tuple[str, int, Move] | None = None
        if seed is not None:
            self.seed(seed)

    def _check(self, name: str, value: object, most: int) -> None:
        if type(value) is not int or not 0 <= value <= most:
            raise AgentError(f"agent {self.name!r}: {name}={value!r}: allowed are whole numbers 0 .. {most}")

    @property
    def asked(self) -> int:
        """Number of questions so far."""
        return self.counts.asked

    @property
    def faults(self) -> int:
        """Number of moves so far of which no answer could be read as a legal one."""
        return self.counts.faults

    def seed(self, seed: int | None) -> None:
        """Start the random choices of the fallback, and of `ask` if it takes a seed, afresh; the counts go on."""
        self._begun = None
        reseed = getattr(self._fallback, "seed", None)
        if callable(reseed):
            reseed(seed)
        elif self._fallback_spec is not None:
            self._fallback = make_agent(self._fallback_spec, seed)
        reseed = getattr(self._ask, "seed", None)
        if callable(reseed):
            reseed(seed)

    def warm_up(self, rules: Rules) -> None:
        """Compile what the fallback runs."""
        warm_up = getattr(self._fallback, "warm_up", None)
        if callable(warm_up):
            warm_up(rules)

    def check_rules(self, rules: Rules) -> None:
        """Refuse rules that the fallback cannot play, by an AgentError."""
        if self._fallback is not None:
            make_agent(self._fallback, rules=rules)

    def act(self, view: View) -> Move:
        """Return a legal move of the observer of `view`, which is to act.

        Raises:
            TypeError: it is no view.
            ValueError: its observer is not to act.
            AgentUnavailable: `ask` raised an error, or returned no text.
            AnswerFault: no legal move was answered, and there is no fallback.
        """
        moves = view_to_act(self.name, view).legal_moves
        if len(moves) == 1:
            return moves[0]
        before = dataclasses.replace(view.position(), card=None, chosen=()).text()
        if view.card is not None and self._begun is not None:
            *where, move = self._begun
            if where == [before, view.observer] and move in moves:
                return move
        move = self._decide(view)
        self._begun = before, view.observer, move
        return move

    def _decide(self, view: View) -> Move:
        messages = [
            {"role": "system", "content": task_text(view)},
            {"role": "user", "content": turn_text(view)},
        ]
        for attempt in range(self._retries + 1):
            begin = time.perf_counter()
            asked = messages if self._chat else as_text(messages)
            answer = self._answer(asked)
            exchange = self._exchange(view, as_text(messages), answer, attempt, time.perf_counter() - begin)
            try:
                move = parse_answer(view, answer)
            except AnswerError as error:
                exchange = dataclasses.replace(exchange, problem=error.problem)
                said = answer[-MOST_READ:].strip() or "(nothing)"  # servers refuse empty messages
                messages += [{"role": "assistant", "content": said}, {"role": "user", "content": str(error)}]
            else:
                self._note(dataclasses.replace(exchange, move=view.move_text(move)))
                return move
            if attempt < self._retries:
                self._note(exchange)
        return self._fall_back(view, dataclasses.replace(exchange, fault=True))

    def _answer(self, asked: str | list[Message]) -> str:
        try:
            answer = self._ask(asked if isinstance(asked, str) else [dict(message) for message in asked])
        except Exception as error:
            raise AgentUnavailable(f"agent {self.name!r}: ask failed: {type(error).__name__}: {error}") from error
        if not isinstance(answer, str):
            raise AgentUnavailable(f"agent {self.name!r}: ask returned {type(answer).__name__}; expected str")
        return answer

    def _fall_back(self, view: View, exchange: Exchange) -> Move:
        if self._fallback is None:
            self._note(exchange)
            tries = counted(self._retries + 1, "answer")
            raise AnswerFault(f"agent {self.name!r}: no legal move in {tries}, the last: {exchange.problem}")
        move = as_move(self._fallback, self._fallback.act(view))
        self._note(dataclasses.replace(exchange, move=view.move_text(move)))
        return move

    def _exchange(self, view: View, prompt: str, answer: str, attempt: int, seconds: float) -> Exchange:
        count = self._count_tokens or (lambda text: 0)
        return Exchange(
            agent=self.name,
            position=view.text(),
            seat=view.observer,
            attempt=attempt,
            prompt=prompt,
            answer=answer,
            problem="",
            move="",
            fault=False,
            seconds=seconds,
            prompt_tokens=count(prompt),
            answer_tokens=count(answer),
        )

    def _note(self, exchange: Exchange) -> None:
        self.counts.add(exchange)
        self.exchanges.append(exchange)
        if self._log is not None:
            append_exchange(self._log, exchange)


def as_text(messages: list[Message]) -> str:
    """Return the messages of a chat as one text."""
    heads = {"system": "", "user": "", "assistant": "Your answer was:\n"}
    return "\n\n".join(heads[message["role"]] + message["content"] for message in messages)


_OPTIONS = ("retries", "fallback", "log")


def text_agent(settings: str = "", *, seed: int | None = None) -> TextAgent:
    """Return the agent of a function that is found by its name.

    Args:
        settings: ``module:attribute``, then options after commas: ``retries=N``, ``fallback=AGENT`` (or ``none``),
            ``log=FILE``.  The attribute is a function, or a class that is called without arguments and gives one.
        seed: of the fallback.

    Raises:
        AgentError: no such function, or an option that is not allowed; the message names it.
    """
    where, *options = settings.split(",")
    spec = f"text:{settings}"
    values: dict[str, Any] = {}
    for option in options:
        name, _, value = option.strip().partition("=")
        if name not in _OPTIONS or name in values:
            why = "given twice" if name in values else allowed_names(name, _OPTIONS)
            raise AgentError(f"agent {spec!r}: option {name!r}: {why}")
        values[name] = value
    if "retries" in values:
        retries = values["retries"]
        values["retries"] = int(retries) if retries.isascii() and retries.isdigit() else retries
    if values.get("fallback") == "none":
        values["fallback"] = None
    # not where the log is: two runs with other files are the same agent
    name = ",".join([f"text:{where}", *(option.strip() for option in options if not option.strip().startswith("log="))])
    return TextAgent(_found(spec, where), name=name, seed=seed, **values)


def _found(spec: str, where: str) -> Any:
    module, _, attribute = where.partition(":")
    if not module or not attribute:
        raise AgentError(f"agent {spec!r}: expected text:module:attribute, the function that answers")
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        return found() if inspect.isclass(found) else found
    except Exception as error:  # whatever a foreign module does when it is imported
        raise AgentError(f"agent {spec!r}: {type(error).__name__}: {error}") from error
