"""The rules in use as sentences: what a language model is told before it plays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scopa_env.cards import ENGLISH_RANKS, RANK_LETTERS, SUIT_LETTERS, SUITS
from scopa_env.render.text import counted
from scopa_env.rules import PRIMIERA_VALUES, Rules

NOTATION = (
    "In notation a card is its rank and the first letter of its suit's Italian name, such as 7d (7 of coins); a laid "
    "card is written alone (4c), a capture as the card played, x, and the cards taken (5sx2d3b)."
)


def rules_text(rules: Rules) -> str:
    """Return all rules that matter in the game, a line each; deterministic."""
    parts = {
        "Cards": _cards(rules),
        "Deal": _deal(rules),
        "Play": _play(rules),
        "Sweeps": _sweeps(rules),
        "Score of a round": _score(rules),
        "Match": _match(rules),
    }
    return "\n".join(f"{title}:\n" + "\n".join(f"- {line}" for line in lines) for title, lines in parts.items())


def listed(words: Iterable[str], last: str = "and") -> str:
    """Return ``a``, ``a and b``, ``a, b and c``."""
    *head, tail = words
    return f"{', '.join(head)} {last} {tail}" if head else tail


def _cards(rules: Rules) -> Iterator[str]:
    ranks, suits = rules.ranks, rules.suits
    letters = (f"{name} {letter}" for name, letter in zip(SUITS[:suits], SUIT_LETTERS, strict=False))
    yield f"The deck has {len(rules.deck)} cards, one of each rank and suit. Suits: {', '.join(letters)}."
    named = (
        f"{ENGLISH_RANKS[rank]} {RANK_LETTERS[rank]} (value {rank + 1})"
        if not ENGLISH_RANKS[rank].isdigit()
        else RANK_LETTERS[rank]
        for rank in range(ranks)
    )
    yield f"Ranks: {', '.join(named)}; the others are worth their number."
    yield NOTATION


def _deal(rules: Rules) -> Iterator[str]:
    players = rules.players
    if rules.teams:
        teams = [listed(str(seat) for seat in range(side, players, 2)) for side in range(2)]
        yield f"{players} players in two teams: seats {teams[0]} against seats {teams[1]}; a team shares its pile."
    else:
        yield f"{players} players, seats 0 to {players - 1}, everyone for himself."
    table = f"{counted(rules.table_size, 'card')} on the table, face up" if rules.table_size else "none on the table"
    yield f"A round begins with {counted(rules.hand_size, 'card')} in each hand and {table}."
    if rules.num_deals > 1:
        yield (
            f"When all hands are empty, {rules.hand_size} more are dealt to each player, none to the table; "
            f"hands are dealt {rules.num_deals} times in a round."
        )
    if rules.never_dealt:
        yield f"Cards of the deck that are never dealt, and score nothing: {rules.never_dealt}."
    yield "The seat after the dealer plays first; seats play in ascending order, after the last one seat 0."
    if rules.partner_hand_visible and rules.teams:
        yield "Team-mates see each other's hands."
    if rules.redeal_kings and rules.ranks == len(ENGLISH_RANKS):
        yield f"A deal with {rules.redeal_kings} or more kings on the table is void and dealt again."
    for total, sweeps in rules.dealer_bonus.items():
        yield (
            f"If the first table cards sum to {total}, the dealer's side takes them before the first play, "
            f"as {counted(sweeps, 'sweep')}."
        )


def _play(rules: Rules) -> Iterator[str]:
    yield (
        "In a turn one hand card is played. It takes cards from the table and goes with them to its side's pile, or "
        "takes none and is laid on the table. Piles are open."
    )
    if rules.capture == "fifteen":
        yield "A card takes one or more table cards that sum to 15 together with it; exactly one such set."
    else:
        yield (
            "A card takes one table card of its value, or several that sum to its value; exactly one such set."
            + {
                "single": " If a table card has its value, only one such card may be taken, no sum.",
                "fewest": " Of the possible sets only those with the fewest cards may be taken.",
                "none": "",
            }[rules.priority]
        )
    if rules.ace == "takes_all":
        yield from _ace(rules)
    yield {
        "card": "A card that can take something must; but any hand card may be played.",
        "hand": "As long as any hand card can take something, only a card that takes may be played.",
        "none": "Taking is optional: any card may be laid although it could take something.",
    }[rules.obligation]
    yield "At the end of a round the cards left on the table go to the side that took cards last; this is no sweep."


def _ace(rules: Rules) -> Iterator[str]:
    if rules.ace_facing_ace == "all":
        yield "An ace takes all cards of the table at once, whatever they sum to, and nothing less."
    else:
        yield (
            "An ace takes all cards of the table at once, whatever they sum to, and nothing less; but if an ace lies "
            "there, it takes just one ace."
        )
    if rules.ace_on_empty == "bank":
        yield "An ace played on an empty table goes to its side's pile; this counts as taking last, but as no sweep."


def _sweeps(rules: Rules) -> Iterator[str]:
    points = f"scores {counted(rules.sweep_points, 'point')}" if rules.sweep_points else "scores nothing"
    yield f"To take the whole table is a sweep and {points}."
    if rules.ace == "takes_all" and not rules.ace_scopa:
        yield "An ace that takes all cards makes no sweep by that, unless a single ace was the whole table."
    yield {
        "not_last_play": "The very last play of a round is never a sweep.",
        "not_last_hand": "No play after the last deal of a round is a sweep.",
        "counts": "The last play of a round can be a sweep too.",
    }[rules.last_sweep]


def _score(rules: Rules) -> Iterator[str]:
    """Return a line for each category that scores; 'most' means alone, a tie scores nothing."""
    half = ", if they are more than half of the deck's" if rules.majority == "absolute" else ""
    if rules.cards_points:
        yield _points(rules.cards_points, f"for the most cards{half}")
    if rules.coins_points:
        yield _points(rules.coins_points, f"for the most coins{half}")
    if rules.settebello_points:
        yield _points(rules.settebello_points, "for the 7 of coins (settebello)")
    if rules.primiera_points:
        yield _points(rules.primiera_points, f"for the best primiera: {_primiera(rules)}")
    if rules.sevens_points:
        yield _points(rules.sevens_points, "for the most sevens")
    if rules.all_sevens_bonus:
        yield _points(rules.all_sevens_bonus, "for all sevens of the deck, in addition")
    if rules.napola:
        yield (
            "Napola: the ace, 2 and 3 of coins in one pile are 3 points, and each further coin in unbroken order 1 more"
        )
    if rules.re_bello_points:
        yield _points(rules.re_bello_points, "for the king of coins (re bello)")
    if rules.sweep_points:
        yield _points(rules.sweep_points, "for each sweep")
    yield "Most and best mean alone: a tie scores for nobody"


def _points(number: int, what: str) -> str:
    return f"{counted(number, 'point')} {what}"


def _primiera(rules: Rules) -> str:
    order = sorted(range(min(rules.ranks, len(PRIMIERA_VALUES))), key=lambda rank: -PRIMIERA_VALUES[rank])
    values = [f"{ENGLISH_RANKS[rank]} = {PRIMIERA_VALUES[rank]}" for rank in order]
    if rules.ranks > len(PRIMIERA_VALUES):
        values.append(f"jack, knight and king = {rules.primiera_faces}")
    missing = {
        "disqualify": "a side that lacks a suit is out",
        "more_suits": "a side with cards of more suits is ahead, whatever the sums",
        "zero": "a suit without cards counts 0",
    }[rules.primiera_missing]
    return f"the sum over the suits of a side's best card ({', '.join(values)}); {missing}"


def _match(rules: Rules) -> Iterator[str]:
    what = "a set" if rules.sets_to_win > 1 else "the match"
    yield (
        f"Rounds are played until one side has won {what}: at the end of a round it has at least "
        f"{counted(rules.target, 'point')}, and more than every other side."
    )
    yield {
        "play_on": "If the best sides are level, more rounds are played.",
        "draw": f"If the best sides are level with {rules.target} points or more, the match is drawn.",
    }[rules.target_tie]
    if rules.sets_to_win > 1:
        yield f"{counted(rules.sets_to_win, 'set')} win the match; every set begins at 0."
