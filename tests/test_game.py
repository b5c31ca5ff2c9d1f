"""Games and views: undo, copies, what a seat knows, bad input, and facts about the games themselves."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import random
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations

import numba
import numpy as np
import pytest

import reference
from helpers import ALL_PRESETS, SHORT_MATCHES, VARIANTS, contents, play_randomly, random_game, rule_fields
from scopa_env import Game, Move, Rules, View, batch
from scopa_env.actions import IllegalAction
from scopa_env.cards import CardError, cards_text, parse_card, parse_cards, value_of
from scopa_env.engine.state import GAME
from scopa_env.game import Play, VoidDeal, check_deck
from scopa_env.notation import AmbiguousMove, IllegalMove, NotationError, PositionError
from scopa_env.observation import PIECES
from scopa_env.rules import RulesError

pytestmark = pytest.mark.nojit

TEXTS = (*ALL_PRESETS, *VARIANTS, *SHORT_MATCHES)
every_rules = pytest.mark.parametrize("text", TEXTS)


def some_games(text: str, count: int = 8) -> list[Game]:
    rng = random.Random(f"{text} game")
    return [random_game(text, rng) for _ in range(count)]


# undo and copies


Everything = tuple[tuple[bytes, ...], ...]


def everything(game: Game) -> Everything:
    return tuple(map(contents, (game.records, *game.past)))


@every_rules
def test_pop_takes_back_exactly_what_was_done(text: str) -> None:
    """Moves, actions and deals, in any order, over rounds and sets."""
    rng = random.Random(text)
    game = Game(text, seed=rng.randrange(1000))
    trail: list[Everything] = []
    for _ in range(4 * game.rules.num_plays):
        if trail and rng.random() < 0.4:
            game.pop()
            assert everything(game) == trail.pop()
        elif not game.match_over:
            trail.append(everything(game))
            if game.round_over:
                game.next_round()
            elif rng.random() < 0.5:
                game.push(rng.choice(game.legal_moves))
            else:
                game.act(rng.choice(game.action_mask().nonzero()[0].tolist()))
    while trail:
        game.pop()
        assert everything(game) == trail.pop()
    with pytest.raises(IndexError, match="no move to take back"):
        game.pop()


def test_past_after_a_deal_was_taken_back() -> None:
    game = Game("mini_scopa", seed=1)
    for number in range(3):
        play_randomly(game, random.Random(number))
        game.next_round()
        game.pop()
        assert len(game.past) == number
        game.next_round()
        assert [int(records["rounds"][0]) for records in game.past] == list(range(1, number + 2))


@every_rules
def test_copies_are_independent(text: str) -> None:
    """Neither undoing nor playing in one game is seen in the other, whichever goes first."""
    rng = random.Random(text)
    for game in some_games(text, 3):
        before = everything(game)
        for make in (Game.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
            twin = make(game)
            assert twin == game
            for _ in range(rng.randrange(6)):
                if twin._stack:
                    twin.pop()
            play_randomly(twin, rng)
            if not twin.match_over:
                twin.next_round()
            assert everything(game) == before
        twin = game.copy()
        kept = everything(twin)
        while game._stack:
            game.pop()
        play_randomly(game, rng)
        assert everything(twin) == kept


def test_a_game_is_no_key_and_equals_no_other_thing() -> None:
    game = Game(seed=1)
    assert game != game.text()
    with pytest.raises(TypeError):
        hash(game)
    assert eval(repr(game), {"Game": Game.from_text}).text() == game.text()
    assert repr(game.view(0)).startswith("View('scopa ")


@every_rules
def test_the_same_seed_gives_the_same_match(text: str) -> None:
    def play(seed: int) -> list[str]:
        game = Game(text, seed=seed)
        texts = [game.text()]
        for _ in range(3):
            play_randomly(game, random.Random(1))
            if not game.match_over:
                game.next_round()
            texts.append(game.text())
        return texts

    assert play(5) == play(5)
    assert play(5) != play(6)


# views


@every_rules
def test_a_view_is_read_back_from_its_text(text: str) -> None:
    """All of the observation but the cards that each seat has played, which a position does not say."""
    for game in some_games(text):
        for seat in range(game.rules.players):
            view = game.view(seat)
            assert view.status() == []
            twin = View.from_text(view.text(), observer=seat)
            assert twin.text() == view.text()
            assert twin.hand == view.hand == game.hands[seat]
            assert twin.unseen == view.unseen
            assert twin.legal_moves == view.legal_moves
            assert twin.to_act == (not game.round_over and game.seat == seat)
            assert twin.action_mask(seat).tolist() == game.action_mask(seat).tolist()
            for piece in PIECES[game.rules.players].values():
                if piece.name != "played":
                    assert piece.of(twin.observation()).tolist() == piece.of(view.observation()).tolist(), piece.name


@every_rules
def test_the_first_view_of_a_round_is_read_back_whole(text: str) -> None:
    game = Game(text, seed=3)
    for seat in range(game.rules.players):
        view = game.view(seat)
        twin = View.from_text(view.text(), observer=seat)
        assert twin.observation().tolist() == view.observation().tolist()


@every_rules
def test_a_view_knows_its_own_hand_and_those_it_is_shown(text: str) -> None:
    for game in some_games(text):
        rules = game.rules
        for seat in range(rules.players):
            view = game.view(seat)
            for other in range(rules.players):
                mate = rules.teams and rules.partner_hand_visible and other % 2 == seat % 2
                card = game.card if other == game.seat else None
                shown = game.hands[other] if other == seat or mate else () if card is None else (card,)
                assert view.hands[other] == shown
            hidden = {card for other, hand in enumerate(game.hands) for card in hand if card not in view.hands[other]}
            assert set(view.unseen) == hidden | set(game.stock)
            assert view.hand_sizes == game.hand_sizes == tuple(map(len, game.hands))


@every_rules
def test_samples_agree_with_the_view(text: str) -> None:
    rng = np.random.default_rng(7)
    for game in some_games(text, 4):
        for seat in range(game.rules.players):
            view = game.view(seat)
            samples = [view.sample(rng) for _ in range(4)]
            for sample in samples:
                assert sample.status() == []
                assert contents(sample.view(seat).records) == contents(view.records)
                places = [*sample.hands, sample.stock, sample.table, *sample.piles]
                assert sorted(card for place in places for card in place) == list(game.rules.deck)
                check_earlier_plays(sample)
            assert view.sample(11) == view.sample(11)


@every_rules
def test_samples_vary(text: str) -> None:
    game = Game(text, seed=9)
    view = game.view(0)
    others = {view.sample(seed).hands[1] for seed in range(12)}
    assert len(others) > 1 or text.startswith("scopone_scientifico")
    assert len({view.sample(seed).text() for seed in range(12)}) > 1


def illegal_play(table: Game | View, hands: Sequence[Sequence[int]], since: int | None = None) -> Play | None:
    """Return one of the last `since` plays (None: since the deal) that was illegal if the seats now hold `hands`."""
    rules, fields = table.rules, rule_fields(table.rules)
    if since is None:
        since = rules.players * rules.hand_size - sum(table.hand_sizes)
    held = [set(hand) for hand in hands]
    cards = set(table.table)
    for play in table.plays[len(table.plays) - since :][::-1]:
        cards = (cards - {play.move.card}) | set(play.move.captured)
        held[play.seat].add(play.move.card)
        legal = reference.legal_plays(fields, frozenset(held[play.seat]), frozenset(cards))
        if (play.move.card, frozenset(play.move.captured)) not in legal:
            return play
    return None


def check_earlier_plays(game: Game) -> None:
    """Every play since the last deal was legal with the hand that the seat then held."""
    assert illegal_play(game, game.hands) is None, game.text()


@pytest.mark.parametrize(
    "text",
    ["german", "german_4p", "scopone:obligation=hand", "escoba_site:obligation=hand,players=6,teams=true"],
)
def test_samples_never_contradict_a_card_that_was_laid(text: str) -> None:
    """Under obligation="hand" a laid card tells what the hand did not hold."""
    rng = random.Random(text)
    for seed in range(10):
        game = Game(text, seed=seed)
        while not game.round_over:
            for observer in range(game.rules.players):
                check_earlier_plays(game.view(observer).sample(rng.randrange(1 << 30)))
            game.push(rng.choice(game.legal_moves))


def test_samples_where_hardly_any_hand_is_possible() -> None:
    """Seat 3 can only hold the ace of swords here; drawing the hands one after the other gets stuck."""
    rng = random.Random(79)
    game = Game("german_4p", seed=79)
    while len(game.plays) < 29:
        game.push(rng.choice(game.legal_moves))
    drawn = [game.view(1).sample(seed) for seed in range(300)]
    for sample in drawn:
        check_earlier_plays(sample)
    assert len({sample.hands for sample in drawn}) > 1


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="minutes of drawing")
def test_constrained_samples_are_even() -> None:
    """Two hands, one of them constrained so that rejection mostly fails: every possible deal equally often."""
    text = "scopone:obligation=hand"
    rng = random.Random(2)
    checked = 0
    for seed in range(40):
        game = Game(text, seed=seed)
        while len(game.plays) < 29:
            game.push(rng.choice(game.legal_moves))
        view = game.view(game.seat)
        every = possible_hands(view)
        if not 6 <= len(every) <= 40:
            continue
        draws = 100 * len(every)
        counts = Counter(view.sample(k).hands for k in range(draws))
        assert set(counts) <= every
        chi_square = sum((counts[hands] - 100) ** 2 / 100 for hands in every)
        freedom = len(every) - 1
        assert abs(chi_square - freedom) < 6 * (2 * freedom) ** 0.5
        checked += 1
    assert checked >= 5


def possible_hands(view: View) -> set[tuple[tuple[int, ...], ...]]:
    """Every deal of the hidden cards under which all earlier plays were legal, by brute force."""
    found = set()
    sizes = view.hand_sizes
    seats = [seat for seat in range(view.rules.players) if seat != view.observer and sizes[seat]]
    for order in itertools.permutations(view.unseen):
        hands = list(view.hands)
        at = 0
        for seat in seats:
            hands[seat] = tuple(sorted(order[at : at + sizes[seat]]))
            at += sizes[seat]
        found.add(tuple(hands))
    return {hands for hands in found if illegal_play(view, hands) is None}


@pytest.mark.parametrize("text", ["scopa", "german", "german_4p", "bga_scopa:players=3"])
def test_plays_after_a_position_belong_to_the_seats_that_made_them(text: str) -> None:
    """Also where the position's turn is not the first seat's; samples then agree with them."""
    rng = random.Random(text)
    for seed in range(12):
        game = Game(text, seed=seed)
        for _ in range(rng.randrange(1, 12)):
            game.push(rng.choice(game.legal_moves))
        again = Game.from_text(game.text())
        made = []
        while not again.round_over:
            made.append(again.seat)
            again.push(rng.choice(again.legal_moves))
            assert [play.seat for play in again.plays] == made
            view = again.view(rng.randrange(again.rules.players))
            tokens = np.empty((1, 40, 11), np.uint64)
            seats = np.array([view.observer])
            batch.histories(again.rules.record, view.records, seats, np.empty((40, 2), np.uint64), tokens)
            relative = [(seat - view.observer) % again.rules.players for seat in made]
            assert tokens.view(np.int8)[0, : len(made), 80:].argmax(axis=1).tolist() == relative
            check_plays_since(view.sample(rng.randrange(1 << 30)), len(made))


def check_plays_since(game: Game, count: int) -> None:
    """The last `count` plays, as far as they are of this deal, were legal with the hands that the seats then held."""
    since = min(game.rules.players * game.rules.hand_size - sum(game.hand_sizes), count)
    assert illegal_play(game, game.hands, since) is None, game.text()


# what is refused


VOID = "scopa:table_deal=before,redeal_kings=1,table_size=10"
OPEN = "scopa 7d3c5s/?3 2dFc4s6b ?30 -/- 0/0 0 - 1"


def finished() -> Game:
    game = Game("mini_scopa", seed=1)
    play_randomly(game, random.Random(1))
    return game


DECK = (
    "9c 8d 4s 7c 3s 2s 7d 1c 5s 7s 4b 6c 8b 9d 4c 1d 8s 7b 5b 2d 2b 8c 3d 5d 10d 5c 4d 6d 6s 10c 1s 1b 9b 2c 3c 3b 10b"
)
REST = " 10s 6b 9s"


@pytest.mark.parametrize(
    ("kind", "message", "make"),
    [
        (RulesError, "rules 'tressette': allowed are scopa", lambda: Game("tressette")),
        (RulesError, "players=7: allowed are", lambda: Game("scopa:players=7")),
        (ValueError, "dealer=2: allowed are seats 0 .. 1", lambda: Game(dealer=2)),
        (ValueError, "dealer=-1: allowed are seats 0 .. 1", lambda: Game(dealer=-1)),
        (ValueError, "dealer=True: allowed are seats 0 .. 1", lambda: Game(dealer=True)),
        (TypeError, "cannot be interpreted as an integer", lambda: Game(seed=1.5)),
        (CardError, "deck: missing 3: Cs Rs 6b", lambda: Game(deck=DECK)),
        (CardError, "deck: Cc named more than once", lambda: Game(deck=DECK + REST + " 9c")),
        (CardError, "no card at position 4 of '9c, x'", lambda: Game(deck="9c, x")),
        (CardError, "card 40: allowed are the ids 0 .. 39", lambda: Game(deck=[40])),
        (CardError, "card None: allowed are the ids", lambda: Game(deck=[None])),  # type: ignore[list-item]
        (CardError, "deck 7: expected text, or cards one by one", lambda: Game(deck=7)),  # type: ignore[arg-type]
        (CardError, "not in the deck of these rules", lambda: Game("scopa:ranks=7", deck=DECK + REST)),
        (VoidDeal, "deck: void under these rules (1 or more kings", lambda: Game(VOID, deck=range(40))),
        (ValueError, "seat=2: allowed are seats 0 .. 1", lambda: Game().view(2)),
        (ValueError, "seat=None: allowed are seats 0 .. 1", lambda: Game().view(None)),  # type: ignore[arg-type]
        (ValueError, "observer='a': allowed are seats 0 .. 1", lambda: View.from_text(OPEN, observer="a")),  # type: ignore[arg-type]
        (PositionError, "the observer, seat 1, does not know its own hand", lambda: View.from_text(OPEN, observer=1)),
        (PositionError, "cards are unknown; read it as a View", lambda: Game.from_text(OPEN)),
        (PositionError, "nobody is to act; give the observer's seat", lambda: View.from_text(finished().text())),
        (NotationError, "2 fields; expected rules hands table", lambda: Game.from_text("scopa 7d")),
    ],
)
def test_games_that_cannot_be(kind: type[Exception], message: str, make: Callable[[], object]) -> None:
    with pytest.raises(kind) as caught:
        make()
    assert message in str(caught.value)


LAYING = "scopa:obligation=none 7d3c5s/2c2sAb 3d4dFc6b ?30 -/- 0/0 0 - 1"


def at_start() -> Game:
    return View.from_text(LAYING).sample(1)


def naming() -> Game:
    game = at_start()
    game.act(parse_card("7d"))
    return game


@pytest.mark.parametrize(
    ("make", "kind", "message", "call"),
    [
        (at_start, IllegalMove, "move 7dx3d: legal with 7d are 7dx3d4d, 7d", lambda g: g.push(Move(6, (2,)))),
        (
            at_start,
            IllegalMove,
            "move 2c: seat 0 cannot play it; legal are 7dx3d4d, 7d, 3cx3d, 3c, 5s",
            lambda g: g.push(Move(11)),
        ),
        (at_start, TypeError, "push('7d'): expected a Move; push_text reads", lambda g: g.push("7d")),
        (at_start, TypeError, "push((6, ())): expected a Move", lambda g: g.push((6, ()))),
        (at_start, ValueError, "seat=9: allowed are seats 0 .. 1", lambda g: g.action_mask(9)),
        (at_start, IllegalMove, "move (99, ()): allowed are the card ids 0 .. 39", lambda g: g.push(Move(99))),
        (at_start, IllegalMove, "move (-1, ()): allowed are the card ids", lambda g: g.push(Move(-1))),
        (at_start, IllegalMove, "move (6, (70,)): allowed are the card ids", lambda g: g.push(Move(6, (70,)))),
        (at_start, NotationError, "move '7dd': expected a card", lambda g: g.push_text("7dd")),
        (at_start, IllegalAction, "action 11 (play 2c) of seat 0: legal are", lambda g: g.act(11)),
        (at_start, IllegalAction, "action 80 (lay the card) of seat 0: legal are", lambda g: g.act(80)),
        (at_start, IllegalAction, "action 42 (take 3d) of seat 0: legal are", lambda g: g.act(42)),
        (at_start, IllegalAction, "action 81 (no action (allowed are 0 .. 80))", lambda g: g.act(81)),
        (at_start, IllegalAction, "action -1 (no action", lambda g: g.act(-1)),
        (at_start, IllegalAction, f"action {10**30} (no action", lambda g: g.act(10**30)),
        (at_start, TypeError, "'float' object cannot be interpreted as an integer", lambda g: g.act(6.0)),
        (at_start, ValueError, "next_round: the round is not over", lambda g: g.next_round()),
        (naming, IllegalAction, "action 6 (play 7d) of seat 0: legal are 42 (take 3d), 80", lambda g: g.act(6)),
        (naming, IllegalAction, "action 43 (take 4d) of seat 0: legal are", lambda g: g.act(43)),
        (naming, IllegalMove, "move 3c: seat 0 cannot play it; legal are 7dx3d4d, 7d", lambda g: g.push(Move(12))),
        (at_start, IllegalAction, "move 7dx3d: not legal here", lambda g: g.actions_of(Move(6, (2,)))),
        (at_start, IllegalAction, "move (0, (70,)): allowed are the card ids", lambda g: g.actions_of(Move(0, (70,)))),
        (finished, IllegalAction, "action 0 (play Ad): the round is over", lambda g: g.act(0)),
        (finished, IllegalMove, "the round is over", lambda g: g.push(Move(0))),
        (finished, CardError, "deck: missing 7: ", lambda g: g.next_round("Ad")),
    ],
)
def test_a_refusal_changes_nothing(
    make: Callable[[], Game], kind: type[Exception], message: str, call: Callable[[Game], object]
) -> None:
    game = make()
    before, depth = everything(game), len(game._stack)
    with pytest.raises(kind) as caught:
        call(game)
    assert message in str(caught.value)
    assert everything(game) == before
    assert len(game._stack) == depth


def test_no_round_after_the_match_and_none_from_a_void_deck() -> None:
    game = Game("scopa:target=1,players=3", seed=1)
    while not game.match_over:
        if game.round_over:
            game.next_round()
        play_randomly(game, random.Random(2))
    with pytest.raises(ValueError, match="next_round: the match is over"):
        game.next_round()
    game = Game(VOID, seed=1)
    play_randomly(game, random.Random(3))
    before = everything(game)
    with pytest.raises(VoidDeal, match="1 or more kings"):
        game.next_round(range(40))
    assert everything(game) == before


@every_rules
def test_actions_of_a_move_are_named_from_the_start_of_the_play(text: str) -> None:
    for game in some_games(text):
        for move in game.legal_moves:
            actions = game.actions_of(move)
            twin = game.copy()
            while twin.card is not None:
                twin.pop()
            before = len(twin.plays)
            for action in actions:
                assert len(twin.plays) == before
                twin.act(action)
            assert twin.plays[-1].move == move if len(twin.plays) > before else twin.round_over


def test_ambiguous_moves_are_refused() -> None:
    game = View.from_text("scopa 7d3c5s/?3 3d4d3s4s ?30 -/- 0/0 0 - 1").sample(1)
    with pytest.raises(AmbiguousMove, match="move '7dx': could be 7dx3d4d, 7dx3d4s, 7dx4d3s, 7dx3s4s"):
        game.push_text("7dx")
    assert check_deck(game.rules, DECK + REST)[0] == 18


# facts about the games


def test_a_void_deal_has_probability_145_in_91390() -> None:
    """Every set of four table cards once, through the engine."""
    rules = Rules(table_deal="before")
    tables = np.array(list(combinations(range(40), 4)))
    assert len(tables) == math.comb(40, 4) == 91390
    left = np.ones((len(tables), 40), bool)
    left[np.arange(len(tables))[:, None], tables] = False
    games = np.zeros(len(tables), GAME)
    games["deck"][:, :4] = tables
    games["deck"][:, 4:] = np.nonzero(left)[1].reshape(-1, 36)
    void = sum(not batch.deal_decks(rules.record, games[i : i + 1]) for i in range(len(games)))
    assert void == 145


def plays_of(text: str, rounds: int) -> list[tuple[Game, Move]]:
    """Every position of some random rounds, with the move that was made in it."""
    rng = random.Random(f"{text} facts")
    found = []
    for seed in range(rounds):
        game = Game(text, seed=seed)
        while not game.round_over:
            move = rng.choice(game.legal_moves)
            found.append((Game.from_records(game.rules, game.records), move))
            game.push(move)
    return found


@pytest.mark.parametrize(
    "text", ["escoba", "stargames_escoba", "escoba_site", "stargames_escoba_4p", "escoba:players=3"]
)
def test_the_last_play_of_escoba_never_empties_the_table(text: str) -> None:
    """The deck sums to 10 modulo 15."""
    last = [(game, move) for game, move in plays_of(text, 40) if sum(game.hand_sizes) == 1 and not game.stock_size]
    assert len(last) == 40
    for game, move in last:
        assert not move.captured or set(move.captured) != set(game.table)


def test_no_two_equal_values_on_the_table_of_scientifico() -> None:
    for game, _ in plays_of("scopone_scientifico", 40):
        values = [value_of(card) for card in game.table]
        assert len(set(values)) == len(values)


@pytest.mark.parametrize(
    "text",
    [text for text in TEXTS if Rules.parse(text).capture == "match_or_sum" and Rules.parse(text).ace == "normal"],
)
def test_captures_of_scopa_take_an_even_sum(text: str) -> None:
    for game, move in plays_of(text, 4):
        assert not move.captured or sum(map(value_of, move.captured)) == value_of(move.card)
        assert all(sum(map(value_of, pile)) % 2 == 0 for pile in game.piles)


@pytest.mark.parametrize(("text", "most"), [("scopa", 20), ("scopone", 34), ("escoba", 98)])
def test_the_number_of_legal_moves(text: str, most: int) -> None:
    assert max(len(game.legal_moves) for game, _ in plays_of(text, 60)) <= most


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("rules", "table", "sweeps"),
    [
        ("scopa_dassi", "Ac", (1, 0)),  # a single ace that is the whole table: an ordinary sweep
        ("scopa_dassi:ace_facing_ace=all", "Ac", (1, 0)),
        ("scopa_dassi:ace_facing_ace=all", "Ac2s", (0, 0)),  # all by the rule of the ace
        ("scopa_dassi", "4c2s", (0, 0)),
        ("asso_piglia_tutto", "4c2s", (1, 0)),
        ("asso_piglia_tutto:ace_facing_ace=all", "Ac2s", (1, 0)),
    ],
)
def test_sweeps_by_an_ace(rules: str, table: str, sweeps: tuple[int, int]) -> None:
    """rules.md: `ace_scopa`; "taking a single ace that is the whole table always does"."""
    rules_of = Rules.parse(rules)
    placed = parse_cards(f"Ad7c3c4s{table}")
    others = [card for card in rules_of.deck if card not in placed]
    pile, stock = others[: 6 - len(table) // 2], others[6 - len(table) // 2 :]
    game = Game.from_text(f"{rules} Ad7c/3c4s {table} {cards_text(stock)} {cards_text(pile)}/- 0/0 0 0 1")
    game.push_text(f"Adx{table}")
    assert game.table == ()
    assert game.sweeps == sweeps


@pytest.mark.nojit
def test_no_round_follows_a_match_that_is_over() -> None:
    from scopa_env import batch

    game = Game("scopa:target=1", seed=3)
    play_randomly(game, random.Random(3))
    assert game.match_over
    before = contents(game.records)
    batch.next_rounds(game.rules.record, game.records)
    assert contents(game.records) == before


@pytest.mark.nojit
def test_the_engine_itself_refuses_numbers_that_are_no_actions() -> None:
    for game in (Game("escoba", seed=3), naming()):
        before = contents(game.records)
        for action in (-1, -41, -64, 81, 103, 104, 128, 1000):
            assert batch.act_one(game.rules.record, game.records, action) == -1
        assert contents(game.records) == before


@pytest.mark.nojit
@pytest.mark.parametrize("text", ["scopa", "german_4p", "scopone", "escoba:players=3"])
def test_a_play_on_a_view_is_that_of_the_game(text: str) -> None:
    """Hidden cards are counted: nobody's hand is empty only because it is not seen."""
    rng = random.Random(text)
    game = Game(text, seed=4)
    while not game.round_over:
        move = rng.choice(game.legal_moves)
        seen = game.view(game.seat).records.copy()
        deals_again = sum(game.hand_sizes) == 1
        game.push(move)
        if deals_again:
            continue
        assert batch.play_one(game.rules.record, seen, move.card, move.mask)
        for name in ("table", "piles", "sweeps", "seat", "last", "dealt", "deals", "stage"):
            assert np.array_equal(seen[name], game.records[name]), name
