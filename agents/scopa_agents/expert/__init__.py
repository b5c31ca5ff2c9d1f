"""`expert`: one-ply play by counting cards; its rules and their sources are listed in `scopa_agents.expert.move`."""

from __future__ import annotations

from scopa_agents.expert.move import ExpertAgent, doubted, expert_action, expert_move, survey_expert

__all__ = ["ExpertAgent", "doubted", "expert_action", "expert_move", "survey_expert"]
