"""Language models as agents: prompts from a `View`, moves from answers."""

from __future__ import annotations

from scopa_agents.text.agent import AnswerFault, Ask, Message, TextAgent, text_agent
from scopa_agents.text.answer import AnswerError, parse_answer
from scopa_agents.text.exchanges import Counts, Exchange, counts, read_exchanges
from scopa_agents.text.rules import rules_text
from scopa_agents.text.words import move_words, moves_text, position_text, prompt, task_text, turn_text

__all__ = [
    "AnswerError",
    "AnswerFault",
    "Ask",
    "Counts",
    "Exchange",
    "Message",
    "TextAgent",
    "counts",
    "move_words",
    "moves_text",
    "parse_answer",
    "position_text",
    "prompt",
    "read_exchanges",
    "rules_text",
    "task_text",
    "text_agent",
    "turn_text",
]
