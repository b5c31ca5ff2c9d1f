"""The arena: agents against each other on duplicate deals.

Every deal (deck and dealer) is played once per seating, so that both agents hold the same cards.  The unit of the
statistics is the deal, not the game: the margins of one deal's games are averaged, and the interval comes from the
spread of these means.
"""

from __future__ import annotations

from scopa_agents.arena.games import deal_games, margins, play_games, seatings
from scopa_agents.arena.results import Pairing, Tournament, read_tournament
from scopa_agents.arena.statistics import interval
from scopa_agents.arena.tournament import ArenaSettings, check_deals, duel, pairs, tournament

__all__ = [
    "ArenaSettings",
    "Pairing",
    "Tournament",
    "check_deals",
    "deal_games",
    "duel",
    "interval",
    "margins",
    "pairs",
    "play_games",
    "read_tournament",
    "seatings",
    "tournament",
]
