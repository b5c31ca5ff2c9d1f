"""A round as an OpenSpiel game, `python_scopa`: every card that is dealt is a chance node.

>>> import pyspiel
>>> import scopa_env.interop.open_spiel                     # registers the game
>>> game = pyspiel.load_game("python_scopa(rules=escoba)")
>>> state = game.new_initial_state()
>>> while state.is_chance_node():
...     state.apply_action(state.legal_actions()[0])
>>> state.action_to_string(state.legal_actions()[0])
'play Ad'

Parameters, all optional:

``rules``: a preset, or text for `Rules.parse`; in OpenSpiel's own texts, which give ``=`` and ``,`` a meaning,
``scopa:players:3;teams:false``.
``dealer``: seat of the dealer; -1: a chance node draws it, as our environments do.
``reward``: ``points`` or ``win``, see `scopa_env.episode.EpisodeSettings`.
``deal``: ``cards``: a chance node deals one card, in the order of the deck (its id is the action); ``hands``: a chance
node deals all cards of a seat, or those of the table, as a set (the action is the place of the set among those of the
remaining cards, in lexicographic order), 10,000 outcomes at most; ``auto``: hands if no node has more than 1,000.

Players act as in the other environments: the 81 actions of `scopa_env.actions`, one or more a play.  Deals that the
rules void are dealt again by new chance nodes.  Information states are what a seat has seen since the round began;
observations what it sees now (`scopa_env.observation`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, combinations
from typing import Any

import numpy as np
import pyspiel

from scopa_env import batch, observation, run
from scopa_env.actions import NUM_ACTIONS, TAKE, action_text
from scopa_env.cards import NUM_CARDS, cards_text
from scopa_env.engine.state import GAME, MAX_PLAYERS, NOBODY, UNKNOWN, Records
from scopa_env.episode import EpisodeSettings, check_choice, most_points
from scopa_env.game import Game, View
from scopa_env.rules import Rules, check_seat

NAME = "python_scopa"
PARAMETERS: dict[str, Any] = {"rules": "scopa", "dealer": -1, "reward": "points", "deal": "auto"}
"""The parameters and what they are if they are not given."""
DEALS = ("auto", "cards", "hands")
MOST_SETS = 1000
"""Outcomes of a chance node up to which ``deal=auto`` deals sets of cards."""
MOST_OUTCOMES = 10_000
"""The same of ``deal=hands``."""

_GAME_TYPE = pyspiel.GameType(
    short_name=NAME,
    long_name="Scopa, Scopone and Escoba",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=MAX_PLAYERS,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    provides_factored_observation_string=True,
    parameter_specification=PARAMETERS,
)
DEALER, DEAL, PLAY, OVER = "dealer", "deal", "play", "over"
"""What comes next: a chance node for the dealer, or for cards, a player, nothing."""


class ScopaGame(pyspiel.Game):
    """The game of some rules.

    Args:
        params: see `PARAMETERS`.

    Attributes:
        rules: the rules.
        by_sets: whether chance nodes deal sets of cards.

    Raises:
        ValueError: a parameter that is not allowed.
    """

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        given = {**PARAMETERS, **(params or {})}
        self.rules = _rules_of(given["rules"])
        given["rules"] = str(self.rules).replace("=", ":").replace(",", ";")
        self.dealer = NOBODY if given["dealer"] == -1 else check_seat("dealer", given["dealer"], self.rules)
        self.settings = EpisodeSettings(self.rules, reward=check_choice("reward", given["reward"], ("points", "win")))
        self.deals = dealt_places(self.rules)
        sets = max(max(set_counts(self.rules, deal)) for deal in self.deals)
        deal = check_choice("deal", given["deal"], DEALS)
        if deal == "hands" and sets > MOST_OUTCOMES:
            raise ValueError(
                f"deal='hands': a node of {self.rules} has {sets:,} outcomes; allowed are {MOST_OUTCOMES:,}"
            )
        self.by_sets = deal == "hands" or (deal == "auto" and sets <= MOST_SETS)
        start = np.zeros(1, GAME)
        batch.begin_match(self.rules.record, start, max(self.dealer, 0))
        batch.begin_round(self.rules.record, start, max(self.dealer, 0))
        start["deck"] = UNKNOWN
        self.start = start.tobytes()
        most = 1.0 if self.settings.reward == "win" else float(most_points(self.rules))
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=max(sets if self.by_sets else NUM_CARDS, self.rules.players),
            num_players=self.rules.players,
            min_utility=-most,
            max_utility=most,
            utility_sum=0.0,
            max_game_length=2 * self.rules.num_plays + len(self.rules.deck),
        )
        super().__init__(_GAME_TYPE, info, given)

    def new_initial_state(self, *_: Any) -> ScopaState:
        """Return the state before anything is dealt."""
        return ScopaState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> ScopaObserver:
        """Return what fills tensors and strings for a kind of observation."""
        return ScopaObserver(self, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params)

    def max_chance_nodes_in_history(self) -> int:
        """Return the number of chance nodes of a round without a void deal."""
        nodes = sum(len(deal) if self.by_sets else sum(map(len, deal)) for deal in self._all_deals())
        return nodes + (self.dealer == NOBODY)

    def _all_deals(self) -> list[Deal]:
        first, later = self.deals
        return [first, *[later] * (self.rules.num_deals - 1)]


def _rules_of(text: str) -> Rules:
    """Return the rules of a parameter."""
    name, colon, changes = text.partition(":")
    if colon and "=" not in changes:
        changes = ",".join("=".join(change.split(":", 1)) for change in changes.split(";"))
    return Rules.parse(name + colon + changes)


Deal = tuple[tuple[int, ...], ...]
"""Places of the deck, from the first that this deal takes: those of each seat in playing order, then of the table."""


@lru_cache(maxsize=64)
def dealt_places(rules: Rules) -> tuple[Deal, Deal]:
    """Return which cards of the deck the first deal gives to whom, and which any later one does."""
    games = np.zeros(1, GAME)
    batch.begin_match(rules.record, games, rules.players - 1)  # seat 0 plays first
    plain = rules.replace(redeal_kings=0, dealer_bonus={})
    games["deck"][0][: len(rules.deck)] = rules.deck
    batch.deal_decks(plain.record, games)
    places = {card: place for place, card in enumerate(rules.deck)}
    owned = [*games["hands"][0][: rules.players].tolist(), int(games["table"][0])]
    first = tuple(tuple(places[card] for card in rules.deck if mask >> card & 1) for mask in owned)
    later = tuple(tuple(range(k, rules.players * rules.hand_size, rules.players)) for k in range(rules.players))
    return first, later


def set_counts(rules: Rules, deal: Deal) -> list[int]:
    """Return in how many ways each set of a deal can be drawn, if it is the first one."""
    left, counts = len(rules.deck), []
    for places in deal:
        counts.append(math.comb(left, len(places)))
        left -= len(places)
    return counts


class ScopaState(pyspiel.State):
    """A state: what has happened so far; see the module for who acts how.

    Its attributes never change but are replaced: a clone shares them.

    Args:
        game: the game.
    """

    def __init__(self, game: ScopaGame) -> None:
        super().__init__(game)
        self._record = game.start
        self._drawn: tuple[tuple[int, ...], ...] = ()
        self._next = DEALER if game.dealer == NOBODY else DEAL

    # what OpenSpiel asks for

    def current_player(self) -> int:
        """Return who acts: a seat, chance, or nobody any more."""
        if self._next == OVER:
            return int(pyspiel.PlayerId.TERMINAL)
        return int(self.records["seat"][0]) if self._next == PLAY else int(pyspiel.PlayerId.CHANCE)

    def is_terminal(self) -> bool:
        """Say whether the round is over."""
        return self._next == OVER

    def _legal_actions(self, player: int) -> list[int]:
        """Return the legal actions of the seat to act, ascending."""
        return [int(action) for action in np.flatnonzero(self.table().action_mask(player))]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return what may be dealt; all of it is equally likely."""
        if self._next == DEALER:
            outcomes: Sequence[int] = range(self.rules.players)
        elif self._game.by_sets:
            outcomes = range(math.comb(len(self._left()), self._size()))
        else:
            outcomes = self._left()
        return [(outcome, 1 / len(outcomes)) for outcome in outcomes]

    def _apply_action(self, action: int) -> None:
        """Deal, or act for the seat to act."""
        if self._next == DEALER:
            if action not in range(self.rules.players):
                raise ValueError(f"chance outcome {action}: allowed are seats 0 .. {self.rules.players - 1}")
            records = np.frombuffer(bytearray(self._record), GAME)
            batch.begin_round(self.rules.record, records, action)
            self._record, self._next = records.tobytes(), DEAL
        elif self._next == DEAL:
            self._draw(self._set(action))
        else:
            self._act(action)

    def _action_to_string(self, player: int, action: int) -> str:
        """Return an action in words."""
        if player != pyspiel.PlayerId.CHANCE:
            return action_text(action)
        if self._next == DEALER:
            return f"player {action} deals"
        cards = self._set(action)
        return f"deal {cards_text(cards) or 'nothing'} to {self._receiver()}"

    def returns(self) -> list[float]:
        """Return what each player has got: nothing before the round is over."""
        if self._next != OVER:
            return [0.0] * self.rules.players
        earned = np.zeros(MAX_PLAYERS)
        game = self._game
        batch_of_one = np.zeros(1, run.RUN)
        run.pay_of_round(game.rules.record, game.settings.record(), self.records, batch_of_one, earned)
        return [float(earned[game.rules.side_of(seat)]) for seat in range(game.rules.players)]

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> ScopaState:
        """Return a state in which the player knows what it knows here, every deal of the other cards equally likely.

        Args:
            player: a seat.
            sampler: a source of random numbers in [0, 1).

        Raises:
            ValueError: a chance node is next.
        """
        if self._next == DEALER or self._next == DEAL:
            raise ValueError("resample_from_infostate: allowed is a state in which a player acts, or a terminal one")
        seed = int(sampler() * (1 << 53))
        drawn = self.view(player).sample(np.random.default_rng(seed))
        return replayed(self._game, drawn.records, self._decisions())

    def __str__(self) -> str:
        if self._next == DEALER:
            return "before the deal"
        text = self.table().text()
        if self._next == DEAL:
            text += f" dealing {' '.join(map(cards_text, self._drawn))}".rstrip()
        return text

    # what it is made of

    @property
    def records(self) -> Records:
        """The game as the engine's record, GAME[1], read-only; stock that has not been dealt yet is unknown."""
        return np.frombuffer(self._record, GAME)

    @property
    def _game(self) -> ScopaGame:
        game: ScopaGame = self.get_game()
        return game

    @property
    def rules(self) -> Rules:
        """The rules."""
        return self._game.rules

    @property
    def dealer_is_due(self) -> bool:
        """Whether the next chance node draws the dealer."""
        return self._next == DEALER

    @property
    def is_first_decision(self) -> bool:
        """Whether a player acts, and none has before."""
        records = self.records
        return self._next == PLAY and int(records["plays"][0]) == 0 and int(records["card"][0]) == NOBODY

    def table(self) -> Game:
        """Return the game with all its cards, as far as they have been dealt."""
        return Game.from_records(self.rules, self.records)

    def view(self, player: int) -> View:
        """Return what a seat knows, for our agents."""
        return self.table().view(player)

    def public(self) -> Game:
        """Return the game without any hidden card: what all see."""
        records = self.view(0).records.copy()
        for seat, size in enumerate(self.table().hand_sizes):
            shown = int(records["card"][0]) != NOBODY and seat == int(records["seat"][0])
            records["hands"][0][seat] = 1 << int(records["card"][0]) if shown else 0
            records["hidden"][0][seat] = size - shown
        return Game.from_records(self.rules, records)

    def _decisions(self) -> list[int]:
        """Return what the players have done, in order."""
        return [item.action for item in self.full_history() if item.player >= 0]

    # dealing

    def _deal(self) -> Deal:
        """Return who gets what in the deal that is going on."""
        first, later = self._game.deals
        return later if int(self.records["deals"][0]) else first

    def _left(self) -> list[int]:
        """Return the cards that may be dealt now, ascending."""
        records = self.records
        gone = {card for some in self._drawn for card in some}
        gone.update(records["deck"][0][: int(records["dealt"][0])].tolist())
        return [card for card in self.rules.deck if card not in gone]

    def _size(self) -> int:
        """Return the number of cards that the next chance node deals."""
        return len(self._deal()[len(self._drawn)]) if self._game.by_sets else 1

    def _set(self, outcome: int) -> tuple[int, ...]:
        """Return the cards of an outcome."""
        left = self._left()
        sets = _sets(tuple(left), self._size()) if self._game.by_sets else None
        if outcome not in (left if sets is None else range(len(sets))):
            raise ValueError(f"chance outcome {outcome}: not possible in {self}")
        return (outcome,) if sets is None else sets[outcome]

    def _receiver(self) -> str:
        """Return who gets the next card or set, in words."""
        place = len(self._drawn)
        owner = next(k for k, places in enumerate(self._deal()) if place in places)
        if self._game.by_sets:
            owner = place
        if owner == self.rules.players:
            return "the table"
        return f"player {(int(self.records['seat'][0]) + owner) % self.rules.players}"

    def _draw(self, cards: tuple[int, ...]) -> None:
        """Take what a chance node has dealt; when a deal is whole, hand it out."""
        self._drawn = (*self._drawn, cards)
        deal = self._deal()
        if len(self._drawn) < (len(deal) if self._game.by_sets else sum(map(len, deal))):
            return
        records = np.frombuffer(bytearray(self._record), GAME)
        dealt = int(records["dealt"][0])
        if self._game.by_sets:
            for places, some in zip(deal, self._drawn, strict=True):
                records["deck"][0][[dealt + place for place in places]] = some
        else:
            records["deck"][0][dealt : dealt + len(self._drawn)] = [card for (card,) in self._drawn]
        self._drawn = ()
        if dealt == 0 and not batch.deal_decks(self.rules.record, records):
            return  # void
        if dealt > 0:
            batch.deal_hands(self.rules.record, records)
        self._record = records.tobytes()
        self._next = PLAY

    def _act(self, action: int) -> None:
        """Take an action of the seat to act."""
        records = np.frombuffer(bytearray(self._record), GAME)
        if batch.act_undealt(self.rules.record, records, action) < 0:
            raise ValueError(f"action {action} ({action_text(action)}) is not legal in {self}")
        self._record = records.tobytes()
        if self.table().round_over:
            self._next = OVER
        elif not records["hands"].any():
            self._next = DEAL


@lru_cache(maxsize=512)
def _sets(cards: tuple[int, ...], size: int) -> tuple[tuple[int, ...], ...]:
    """Return the sets of so many of these cards, in lexicographic order."""
    return tuple(combinations(cards, size))


def chance_actions(game: ScopaGame, records: Records) -> list[int]:
    """Return actions of chance nodes that deal what was dealt in a round, without void deals.

    In which order a seat got the cards of a hand the record does not say; any order will do.

    Args:
        game: the game.
        records: GAME[1], every hand known.
    """
    rules, record = game.rules, records[0]
    plays = [int(card) for card in record["cards"][: int(record["plays"])]]
    taken = sum(int(mask) for mask in record["piles"][: rules.sides])  # disjoint
    table = int(record["table"]) | taken
    for card in plays:
        table &= ~(1 << card)
    hand = rules.hand_size
    first = batch.first_player(rules.record, records)
    actions = [int(record["dealer"])] if game.dealer == NOBODY else []
    left = list(rules.deck)
    for number in range(int(record["deals"])):
        begin = number * rules.players * hand
        these = plays[begin : begin + rules.players * hand]
        owned: list[list[int]] = []
        for k in range(rules.players):
            cards = these[k :: rules.players]
            if number == int(record["deals"]) - 1:
                held = int(record["hands"][(first + k) % rules.players])
                cards = cards + [card for card in rules.deck if held >> card & 1 and card not in cards]
            owned.append(cards)
        deal = game.deals[min(number, 1)]
        if number == 0:
            owned.append([card for card in rules.deck if table >> card & 1])
        if game.by_sets:
            for some in owned:
                actions.append(_sets(tuple(left), len(some)).index(tuple(sorted(some))))
                left = [card for card in left if card not in some]
        else:
            pairs = zip(chain.from_iterable(deal), chain.from_iterable(owned), strict=True)
            actions += [card for _, card in sorted(pairs)]
    return actions


def replayed(game: ScopaGame, records: Records, decisions: Sequence[int]) -> ScopaState:
    """Return the state of a round, from what was dealt in it (`chance_actions`) and what the players did."""
    state = game.new_initial_state()
    dealing, acting = chance_actions(game, records), iter(decisions)
    for action in dealing:
        state.apply_action(action)
        while not state.is_chance_node() and not state.is_terminal():
            following = next(acting, None)
            if following is None:
                return state
            state.apply_action(following)
    return state


def state_of(game: ScopaGame, table: Game) -> ScopaState:
    """Return the state of a round of ours that is going on.

    Points of earlier rounds are left out, as an OpenSpiel game is one round.

    Args:
        game: the game, of the same rules.
        table: the round, every hand known (a `Game`, or what `View.sample` returns).

    Raises:
        ValueError: the rules or the dealer are others, or the table was set up and not reached by plays of the round.
    """
    if table.rules != game.rules:
        raise ValueError(f"rules {table.rules}: allowed are those of the game, {game.rules}")
    if game.dealer not in (NOBODY, table.dealer):
        raise ValueError(f"dealer {table.dealer}: allowed is that of the game, {game.dealer}")
    made = table.rules.num_plays - batch.plays_left(table.rules.record, table.records)
    if made != len(table.plays):
        raise ValueError(f"table {table}: {made} plays were made in the round, of which it knows {len(table.plays)}")
    state = game.new_initial_state()
    dealing, moves = chance_actions(game, table.records), iter(table.plays)
    for action in dealing:
        state.apply_action(action)
        while not state.is_chance_node() and not state.is_terminal():
            play = next(moves, None)
            if play is None:
                if table.card is not None:
                    state.apply_action(table.card)
                for card in table.chosen:
                    if card not in state.table().chosen:  # one may follow from another
                        state.apply_action(TAKE + card)
                return state
            for action in state.table().actions_of(play.move):
                state.apply_action(action)
    return state


class ScopaObserver:
    """Fills tensors and writes strings; see OpenSpiel's ``observation.py``.

    Args:
        game: the game.
        iig_obs_type: which information is wanted.
        params: none are supported.

    Attributes:
        tensor: float32[N], written by `set_from`.
        dict: the same by name of the piece.
    """

    def __init__(self, game: ScopaGame, iig_obs_type: Any, params: Any) -> None:
        if params:
            raise ValueError(f"observation parameters {params!r}: none are supported")
        self._kind = iig_obs_type
        private, players = iig_obs_type.private_info, game.rules.players
        own = {"hand", "unseen", "mates"}
        self._pieces = [
            piece
            for piece in observation.pieces(players)
            if (private == pyspiel.PrivateInfoType.SINGLE_PLAYER if piece.name in own else iig_obs_type.public_info)
        ]
        shapes = {piece.name: piece.shape for piece in self._pieces}
        self._all_hands = private == pyspiel.PrivateInfoType.ALL_PLAYERS
        if self._all_hands:
            shapes["hands"] = (players, NUM_CARDS)
        self._plays = iig_obs_type.public_info and iig_obs_type.perfect_recall
        if self._plays:
            shapes["plays"] = (game.rules.num_plays, observation.HISTORY_FEATURES)
        self.tensor = np.zeros(sum(math.prod(shape) for shape in shapes.values()), np.float32)
        self.dict: dict[str, Any] = {}
        offset = 0
        for name, shape in shapes.items():
            size = math.prod(shape)
            self.dict[name] = self.tensor[offset : offset + size].reshape(shape)
            offset += size

    def set_from(self, state: ScopaState, player: int) -> None:
        """Write what a player sees of a state into `tensor`; what all see is seen from seat 0."""
        single = self._kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        rules, records, seat = state.rules, state.records, np.array([player if single else 0])
        bits = state.view(int(seat[0])).observation()
        for piece in self._pieces:
            self.dict[piece.name][...] = bits[piece.offset : piece.offset + piece.size].reshape(piece.shape)
        if state.dealer_is_due:
            for name in ("dealer", "seat"):
                if name in self.dict:
                    self.dict[name][...] = 0
        if self._all_hands:
            hands = records["hands"][0][: rules.players, None] >> np.arange(NUM_CARDS, dtype=np.uint64)
            self.dict["hands"][...] = hands & np.uint64(1)
        if self._plays:
            plays = np.empty((1, observation.HISTORY_PLAYS, observation.HISTORY_FEATURES // 8), np.uint64)
            batch.histories(rules.record, records, seat, np.empty((observation.HISTORY_PLAYS, 2), np.uint64), plays)
            self.dict["plays"][...] = plays.view(np.int8)[0][: rules.num_plays]

    def string_from(self, state: ScopaState, player: int) -> str:
        """Return what a player sees of a state as text: the position, and with perfect recall the plays."""
        private, table = self._kind.private_info, state.table()
        parts = []
        if private == pyspiel.PrivateInfoType.SINGLE_PLAYER:
            view = table.view(player)
            parts += [f"player {player}", view.text() if self._kind.public_info else cards_text(view.hand)]
        elif private == pyspiel.PrivateInfoType.ALL_PLAYERS:
            parts.append(table.text() if self._kind.public_info else "/".join(map(cards_text, table.hands)))
        elif self._kind.public_info:
            parts.append(state.public().text())
        if self._plays:
            parts.append(" ".join(play.move.text() for play in table.plays))
        return " | ".join(parts)


pyspiel.register_game(_GAME_TYPE, ScopaGame)
