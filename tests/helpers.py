"""What several tests share."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scopa_env import PRESETS, Game, Rules
from scopa_env.cards import cards_text, parse_cards
from scopa_env.engine.state import GAME
from scopa_env.notation import Records
from scopa_env.rules import FIELD_NAMES

ROOT = Path(__file__).resolve().parent.parent
ALL_PRESETS = tuple(PRESETS)
VARIANTS = (
    "bga_scopa:players=3",
    "bga_scopa:table_deal=before",
    "bga_scopa:table_deal=interleaved",
    "scopone:table_deal=interleaved",
    "scopa:players=6",
    "scopa:players=6,teams=true,partner_hand_visible=true",
    "german_4p:partner_hand_visible=true",
    "scopa:priority=fewest",
    "scopa:priority=fewest,obligation=none",
    "scopa:priority=none,obligation=hand,last_sweep=counts",
    "scopa:obligation=none,last_sweep=not_last_hand",
    "scopa:players=3,majority=absolute,napola=true,re_bello_points=1",
    "scopa:players=4,primiera_faces=0,primiera_missing=zero",
    "asso_piglia_tutto:obligation=none,ace_facing_ace=all,ace_on_empty=bank",
    "scopa_dassi:obligation=hand,ace_on_empty=bank,players=3",
    "scopa_dassi:ace_facing_ace=all",
    "escoba:players=3,all_sevens_bonus=1",
    "escoba_site:obligation=hand,players=6,teams=true",
    "escoba:obligation=card,dealer_bonus=10:3+15:1+20:2",
    "scopa:deals=2,table_size=6,hand_size=5,redeal_kings=2",
    "mini_scopa:ranks=6,deals=2,sevens_points=2",
    "scopa:ranks=8,players=4,hand_size=1,table_size=0",
)
"""Rules that reach what no preset does: 3 and 6 players, other priorities, orders, obligations and aces."""


def rule_fields(rules: Rules) -> dict[str, object]:
    """Return every field of `rules` as plain values."""
    fields = {name: getattr(rules, name) for name in FIELD_NAMES}
    return fields | {"dealer_bonus": dict(rules.dealer_bonus)}


def play_randomly(game: Game, rng: random.Random) -> None:
    """Play the round to its end with random moves."""
    while not game.round_over:
        game.push(rng.choice(game.legal_moves))


SHORT_MATCHES = (
    "scopa:target=2",
    "scopa:target=3,sets_to_win=3",
    "scopa:target=2,target_tie=draw",
    "german_best_of_3:players=3,target=4",
    "scopone:target=4,sets_to_win=2",
)
"""Rules under which a set or a match is over after a round or two."""


def random_game(text: str, rng: random.Random) -> Game:
    """Return a game after some random moves, over several rounds, at times in the middle of a play."""
    game = Game(text, seed=rng.randrange(1 << 32))
    for _ in range(rng.randrange(1, 3 * game.rules.num_plays)):
        if game.match_over:
            break
        if game.round_over:
            game.next_round()
        else:
            game.push(rng.choice(game.legal_moves))
    while not game.round_over and rng.random() < 0.4:
        game.act(rng.choice(game.action_mask().nonzero()[0].tolist()))
    return game


def refusal(kind: type[Exception], function: Callable[..., object], *args: object) -> str | None:
    """Return the message with which a call is refused, None if it is not; any other exception is a failure."""
    try:
        function(*args)
    except kind as error:
        return str(error)
    return None


def contents(records: Records) -> tuple[bytes, ...]:
    """Return every field of a record; the bytes between the fields mean nothing."""
    return tuple(records[name].tobytes() for name in GAME.names or ())


def first_turn(rules: str, hands: str, table: str) -> Game:
    """Return a game at its first turn (seat 0 leads) with these hands (``a/b``) and table; the rest is the stock."""
    used = parse_cards((hands + table).replace("/", ""))
    stock = cards_text([card for card in Rules.parse(rules).deck if card not in used])
    players = Rules.parse(rules).players
    sides = Rules.parse(rules).sides
    nothing = ("/".join("-" * sides), "/".join("0" * sides))
    return Game.from_text(f"{rules} {hands} {table} {stock} {nothing[0]} {nothing[1]} 0 - {players - 1}")


def run_example(page: str) -> dict[str, Any]:
    """Run the complete example of a page, at most 40 lines, and return what it defined.

    Args:
        page: name in docs/frameworks, without .md; the example is its first block of python.
    """
    text = (ROOT / "docs" / "frameworks" / f"{page}.md").read_text("utf-8")
    code = text.split("```python\n", 1)[1].split("```", 1)[0]
    assert len(code.strip().splitlines()) <= 40
    defined: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(code, f"{page}.md", "exec"), defined)
    return defined


def run_fragments(page: str, defined: dict[str, Any]) -> int:
    """Run the blocks of python after the example of a page, each after the one before it; return how many there are.

    Args:
        page: as for `run_example`.
        defined: what `run_example` has returned.
    """
    text = (ROOT / "docs" / "frameworks" / f"{page}.md").read_text("utf-8")
    fragments = [part.split("```", 1)[0] for part in text.split("```python\n")[2:]]
    for number, code in enumerate(fragments, 2):
        exec(compile(code, f"{page}.md, block {number}", "exec"), defined)
    return len(fragments)
