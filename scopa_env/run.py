"""Running episodes, compiled: what a step of every environment does, on many games or on one.

An episode is a GAME record and a RUN record beside it: what is legal, what was paid, who plays.  All environments are
faces of `step` (every seat is played from outside) and `advance` (a learner has one seat, agents have the others).

As everywhere, `rules` and `settings` are arrays of one record, `games` and `runs` arrays of N.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scopa_env.engine import play, scoring
from scopa_env.engine.bits import NONE, ONE, lowest, popcount, signed, word
from scopa_env.engine.deal import start_match, start_round
from scopa_env.engine.hidden import strip
from scopa_env.engine.play import NUM_ACTIONS
from scopa_env.engine.rng import random_below, split
from scopa_env.engine.state import DRAWN, MATCH_OVER, MAX_PLAYERS, NOBODY, PLAYING, next_seat, side_of
from scopa_env.kernel import inlined, kernel
from scopa_env.observation import MASK_ROW, pack_mask, pack_observation, spread
from scopa_env.policy import call_policy

RUN = np.dtype(
    [
        ("legal", "u8", 2),  # bit `a`: action `a` is legal for the seat to act; none once the episode is over
        ("rng", "u8"),  # state of the generator of what is not the game: random actions, who plays, agents' choices
        ("owed", "f8"),  # what the learner's side has earned since its last step
        ("paid", "i4", MAX_PLAYERS),  # by side: points of this round that ``reward="decided"`` has paid
        ("over", "u1"),  # whether the episode is over
        ("forfeited_by", "i1"),  # seat whose illegal action ended it, or the one before that, or NOBODY
        ("learner", "u1"),  # the learner's seat
        ("opponent", "u1"),  # index of the agent that plays against the learner
        ("partner", "u1"),  # index of the agent that plays beside it
    ],
    align=True,
)
"""What an episode knows beside its game."""

SETTINGS = np.dtype(
    [
        ("margin", "f8"),  # what a forfeit costs
        ("match", "i8"),  # an episode is a match, not a round
        ("reward", "i8"),  # POINTS, WIN, DECIDED
        ("forfeits", "i8"),  # an illegal action forfeits the episode instead of being refused
        ("restarts", "i8"),  # an episode that is over is followed by the next one in the same step
        ("learner", "i8"),  # seat of the learner, NOBODY: drawn for each episode
        ("opponents", "i8"),  # agents of which the opponent is drawn
        ("partners", "i8"),  # agents behind them of which the partner is drawn; 0: it is the opponent's agent
    ],
    align=True,
)
"""What an episode is and pays."""

POINTS, WIN, DECIDED = 0, 1, 2  # SETTINGS reward

NO_ACTION = -2
"""Instead of an action: take none."""

DONE = -1
"""Result of a kernel when no game has had an illegal action."""


# one episode


@kernel
def begin(rules: Any, game: Any, run: Any) -> None:
    """Start the episode of a game that has just been dealt."""
    run["over"] = 0
    run["owed"] = 0.0
    _forget_paid(run)
    pack_mask(rules, game, int(game["seat"]), run["legal"])


@kernel
def _forget_paid(run: Any) -> None:
    for side in range(MAX_PLAYERS):
        run["paid"][side] = 0


@kernel
def deal_again(rules: Any, game: Any, run: Any) -> None:
    """Start the next episode, dealt by the next seat."""
    start_match(rules, game, next_seat(rules, int(game["dealer"])))
    start_round(rules, game)
    begin(rules, game, run)


@inlined
def may(run: Any, action: int) -> bool:
    """Say whether an action is legal for the seat to act."""
    if action < 0 or action >= NUM_ACTIONS:
        return False
    return bool((run["legal"][action >> 6] >> word(action & 63)) & ONE != NONE)


@inlined
def take(rules: Any, settings: Any, games: Any, runs: Any, i: int, action: int, earned: Any, kept: Any) -> bool:
    """Take an action of the seat to act; an illegal one forfeits the episode.

    Args:
        rules: a RULES record.
        settings: a SETTINGS record.
        games: GAME[N].
        runs: RUN[N].
        i: the game.
        action: the action.
        earned: float64[6], written if something is paid: the reward of each side.
        kept: GAME[0]; or GAME[N], written where a round is over and another follows: the one that is over.

    Returns:
        Whether something is paid.
    """
    game, run = games[i], runs[i]
    if not may(run, action):
        return _forfeit(rules, settings, game, run, earned)
    if not play.choose(rules, game, action):
        pack_mask(rules, game, int(game["seat"]), run["legal"])
        return False
    play.finish_play(rules, game)
    return after_play(rules, settings, games, runs, i, earned, kept)


@inlined
def after_play(rules: Any, settings: Any, games: Any, runs: Any, i: int, earned: Any, kept: Any) -> bool:
    """Pay what a play has earned; deal the next round of a match (arguments and result as of `take`)."""
    game, run = games[i], runs[i]
    if game["stage"] == PLAYING:
        pack_mask(rules, game, int(game["seat"]), run["legal"])
        return bool(settings["reward"] == DECIDED) and _pay_settled(rules, game, run, earned)
    over = not settings["match"] or game["stage"] == MATCH_OVER
    paid = _pay_round(rules, settings, game, run, over, earned)
    if over:
        run["forfeited_by"] = NOBODY
        _end(run)
    else:
        if len(kept) > 0:
            kept[i] = game
        play.next_round(rules, game)
        _forget_paid(run)
        pack_mask(rules, game, int(game["seat"]), run["legal"])
    return paid


@kernel
def _end(run: Any) -> None:
    run["over"] = 1
    run["legal"][0] = NONE
    run["legal"][1] = NONE


@kernel
def _pay_settled(rules: Any, game: Any, run: Any, earned: Any) -> bool:
    """Pay the points that have become certain."""
    any_paid = False
    for side in range(int(rules["sides"])):
        settled = scoring.settled_points(rules, game, side)
        earned[side] = float(settled - int(run["paid"][side]))
        any_paid = any_paid or settled != int(run["paid"][side])
        run["paid"][side] = settled
    if any_paid:
        _over_others(rules, earned)
    return any_paid


@kernel
def _pay_round(rules: Any, settings: Any, game: Any, run: Any, over: bool, earned: Any) -> bool:
    """Pay for a round that is over, and for the episode if it is."""
    if settings["reward"] == DECIDED:
        return _pay_settled(rules, game, run, earned)
    if settings["reward"] == POINTS:
        for side in range(int(rules["sides"])):
            earned[side] = float(game["points"][side])
        _over_others(rules, earned)
        return True
    if over:
        _pay_winner(rules, _match_winner(game) if settings["match"] else scoring.leader(rules, game["points"]), earned)
    return bool(over)


@kernel
def pay_of_round(rules: Any, settings: Any, games: Any, runs: Any, earned: Any) -> None:
    """Write what each side gets for the round of games[0], which is over, if it is an episode (float64[6])."""
    _pay_round(rules[0], settings[0], games[0], runs[0], True, earned)


@kernel
def _match_winner(game: Any) -> int:
    winner = int(game["winner"])
    return NOBODY if winner == DRAWN else winner


@kernel
def _pay_winner(rules: Any, winner: int, earned: Any) -> None:
    """Pay +1 to the winning side and -1 shared by the others; 0 to all without a winner."""
    sides = int(rules["sides"])
    for side in range(sides):
        earned[side] = 0.0
        if winner != NOBODY:
            earned[side] = 1.0 if side == winner else -1.0 / (sides - 1)


@kernel
def _over_others(rules: Any, earned: Any) -> None:
    """Turn each side's number into what it has over the mean of the other sides': zero-sum."""
    sides = int(rules["sides"])
    total = 0.0
    for side in range(sides):
        total += earned[side]
    for side in range(sides):
        earned[side] = earned[side] - (total - earned[side]) / (sides - 1)


@kernel
def _forfeit(rules: Any, settings: Any, game: Any, run: Any, earned: Any) -> bool:
    """End the episode at the cost of the side that is to act."""
    seat = int(game["seat"])
    sides = int(rules["sides"])
    if settings["reward"] == DECIDED:  # what was paid is taken off
        for side in range(sides):
            earned[side] = float(run["paid"][side])
        _over_others(rules, earned)
    else:
        for side in range(sides):
            earned[side] = 0.0
    margin = float(settings["margin"])
    for side in range(sides):
        due = -margin if side == side_of(rules, seat) else margin / (sides - 1)
        earned[side] = due - earned[side]
    run["forfeited_by"] = seat
    _end(run)
    return True


@inlined
def random_action(run: Any) -> int:
    """Draw one of the legal actions, each equally likely, by the generator of the run; 0 if there is none."""
    low, high = run["legal"][0], run["legal"][1]
    first = popcount(low)
    count = first + popcount(high)
    if count == 0:
        return 0
    skip = random_below(run, count)
    if skip < first:
        for _ in range(skip):
            low &= low - ONE
        return lowest(low)
    for _ in range(skip - first):
        high &= high - ONE
    return 64 + lowest(high)


@inlined
def write_observation(
    rules: Any, game: Any, seat: int, legal: Any, packed: bool, scratch: Any, observation: Any, mask: Any
) -> None:
    """Write what a seat observes, and its legal actions.

    Args:
        rules: a RULES record.
        game: a GAME record.
        seat: the observer.
        legal: uint64[2], what to write as its mask.
        packed: write bits, else one int8 for each.
        scratch: uint64[W], working space; not used with `packed`.
        observation: uint64[W] with `packed`, else uint64[D / 8], the memory of int8[D]; written unless its length is 0.
        mask: uint64[2] with `packed`, else uint64[11], the memory of int8[88]; written unless its length is 0.
    """
    if packed:
        if len(observation) > 0:
            pack_observation(rules, game, seat, observation)
        if len(mask) > 0:
            mask[0] = legal[0]
            mask[1] = legal[1]
        return
    if len(observation) > 0:
        pack_observation(rules, game, seat, scratch)
        spread(scratch, observation)
    if len(mask) > 0:
        spread(legal, mask)


# many episodes, every seat played from outside


@kernel
def begin_all(rules: Any, games: Any, runs: Any) -> None:
    """Start the episodes of games that have just been dealt."""
    for i in range(len(games)):
        runs[i]["forfeited_by"] = NOBODY
        begin(rules[0], games[i], runs[i])


@kernel
def seed_all(games: Any, runs: Any, seeds: Any) -> None:
    """Seed the generators of every game and its run by uint64[N]."""
    for i in range(len(games)):
        games[i]["rng"] = split(seeds[i], word(0))
        runs[i]["rng"] = split(seeds[i], word(1))


@kernel
def deal_all(rules: Any, games: Any, runs: Any) -> None:
    """Start the next episode in every game (`deal_again`)."""
    for i in range(len(games)):
        deal_again(rules[0], games[i], runs[i])


@kernel
def first_illegal(runs: Any, actions: Any) -> int:
    """Return the first game in which its action (int64[N]) is illegal, DONE if there is none."""
    for i in range(len(runs)):
        if not may(runs[i], int(actions[i])):
            return i
    return DONE


@kernel
def random_actions(runs: Any, out: Any) -> None:
    """Write for each episode (int64[N]) one of its legal actions, each equally likely; 0 where there is none."""
    for i in range(len(runs)):
        out[i] = random_action(runs[i])


@kernel
def step(
    rules: Any,
    settings: Any,
    games: Any,
    runs: Any,
    actions: Any,
    rewards: Any,
    terminations: Any,
    to_play: Any,
    packed: bool,
    earned: Any,
    scratch: Any,
    observations: Any,
    masks: Any,
) -> None:
    """Take one action in every episode, and write what the seat observes that is to act then.

    Args:
        rules: RULES[1].
        settings: SETTINGS[1].
        games: GAME[N].
        runs: RUN[N].
        actions: int64[N]; an illegal one forfeits.
        rewards: float32[N, players], written.
        terminations: uint8[N], written: whether the episode ended.
        to_play: int64[N], written: the seat to act.
        packed: see `write_observation`.
        earned: float64[6], working space.
        scratch: uint64[W], working space.
        observations: uint64[N, W] with `packed`, else uint64[N, D / 8]; written.
        masks: uint64[N, 2] with `packed`, else uint64[N, 11]; written.
    """
    players = int(rules[0]["players"])
    for i in range(len(games)):
        game, run = games[i], runs[i]
        paid = take(rules[0], settings[0], games, runs, i, int(actions[i]), earned, games[:0])
        for seat in range(players):
            rewards[i, seat] = earned[side_of(rules[0], seat)] if paid else 0.0
        terminations[i] = run["over"]
        if run["over"] and settings[0]["restarts"]:
            deal_again(rules[0], game, run)
        seat = int(game["seat"])
        to_play[i] = seat
        write_observation(rules[0], game, seat, run["legal"], packed, scratch, observations[i], masks[i])


@kernel
def step_one(
    rules: Any,
    settings: Any,
    games: Any,
    runs: Any,
    action: int,
    observer: int,
    earned: Any,
    kept: Any,
    scratch: Any,
    out: Any,
) -> int:
    """Take one action in games[0], and write what a seat observes then.

    Args:
        rules: RULES[1].
        settings: SETTINGS[1].
        games: GAME[1].
        runs: RUN[1].
        action: the action; NO_ACTION only observes.
        observer: the seat; NOBODY: the one that is to act then.
        earned: float64[6], written if something is paid: the reward of each side.
        kept: GAME[1], see `take`.
        scratch: uint64[W], working space.
        out: uint64[D / 8 + 11], written: the observation and the mask.

    Returns:
        -1 (and nothing has changed) if the action is illegal and does not forfeit; else the seat to act, + 8 if
        something is paid, + 16 if the episode is over.
    """
    game, run = games[0], runs[0]
    paid = False
    if action != NO_ACTION:
        if not settings[0]["forfeits"] and not may(run, action):
            return -1
        paid = take(rules[0], settings[0], games, runs, 0, action, earned, kept)
    size = len(out) - MASK_ROW // 8
    seat = signed(game["seat"])
    if observer == NOBODY:
        observer = seat
    write_observation(rules[0], game, observer, run["legal"], False, scratch, out[:size], out[size:])
    if observer != seat:
        for k in range(size, len(out)):
            out[k] = NONE
    return seat + (8 if paid else 0) + (16 if run["over"] else 0)


@kernel
def observe(rules: Any, games: Any, runs: Any, packed: bool, scratch: Any, observations: Any, masks: Any) -> None:
    """Write what the seat to act observes in every episode (arguments as of `step`)."""
    for i in range(len(games)):
        seat = int(games[i]["seat"])
        write_observation(rules[0], games[i], seat, runs[i]["legal"], packed, scratch, observations[i], masks[i])


# many episodes with a learner in one seat


@kernel
def seat_agents(rules: Any, settings: Any, run: Any, learner: int) -> None:
    """Draw who plays where in the episode that begins; `learner` is its seat, NOBODY: as the settings say."""
    if learner == NOBODY:
        learner = int(settings["learner"])
    run["learner"] = random_below(run, int(rules["players"])) if learner == NOBODY else learner
    opponents, partners = int(settings["opponents"]), int(settings["partners"])
    run["opponent"] = random_below(run, opponents) if opponents > 1 else 0
    run["partner"] = run["opponent"]
    if partners > 0:
        run["partner"] = opponents + (random_below(run, partners) if partners > 1 else 0)


@kernel
def seat_all(rules: Any, settings: Any, runs: Any, learner: int) -> None:
    """Draw who plays where in every episode (`seat_agents`)."""
    for i in range(len(runs)):
        seat_agents(rules[0], settings[0], runs[i], learner)


@kernel
def agent_to_act(rules: Any, game: Any, run: Any) -> int:
    """Return the index of the agent to act, NOBODY: it is the learner's turn, or the episode is over."""
    seat, learner = int(game["seat"]), int(run["learner"])
    if seat == learner or run["over"]:
        return NOBODY
    same_side = side_of(rules, seat) == side_of(rules, learner)
    return int(run["partner"]) if same_side else int(run["opponent"])


@kernel
def _decide(policy: int, rules: Any, games: Any, runs: Any, i: int, views: Any) -> int:
    """Return the next action in games[i] by a compiled policy, which gets what its seat can see, in views[0]."""
    views[0] = games[i]
    strip(rules[0], views[0], int(games[i]["seat"]))
    views[0]["rng"] = runs[i]["rng"]
    action = call_policy(policy, rules, views, 0)
    runs[i]["rng"] = views[0]["rng"]
    return action


@kernel
def advance(
    rules: Any,
    settings: Any,
    games: Any,
    runs: Any,
    policies: Any,
    rows: Any,
    begins: bool,
    actions: Any,
    captured: Any,
    rewards: Any,
    terminations: Any,
    packed: bool,
    earned: Any,
    scratch: Any,
    views: Any,
    kept: Any,
    finals: Any,
) -> int:
    """Take one action in some games, then let compiled agents play up to the next decision of anyone else.

    Args:
        rules: RULES[1].
        settings: SETTINGS[1].
        games: GAME[N].
        runs: RUN[N].
        policies: int64[A]: address of each agent's policy, 0: it is not compiled.
        rows: int64[M]: the games.
        begins: a step of the learners begins: they are paid what they are owed, and no episode has ended.
        actions: int64[M], or int64[0]: take none first; an illegal one forfeits.
        captured: uint64[0]; or uint64[M]: what is taken in whole plays, legal ones, whose hand cards `actions` are.
        rewards: float64[N]: what the learner's side earns up to the end of its episode is added.
        terminations: uint8[N]: set to 1 if the episode ends.
        packed: see `write_observation`.
        earned: float64[6], working space.
        scratch: uint64[W], working space.
        views: GAME[1], working space.
        kept: see `take`.
        finals: uint64[N, D / 8 or W], written where an episode ends: what the learner observes then.

    Returns:
        DONE, or the number in `rows` of a game in which a compiled policy decided on something illegal.
    """
    for k in range(len(rows)):
        i = int(rows[k])
        if begins:
            rewards[i] = runs[i]["owed"]
            runs[i]["owed"] = 0.0
            terminations[i] = 0
        if len(actions) > 0:
            if len(captured) > 0:
                play.play(rules[0], games[i], int(actions[k]), captured[k])
                paid = after_play(rules[0], settings[0], games, runs, i, earned, kept)
            else:
                paid = take(rules[0], settings[0], games, runs, i, int(actions[k]), earned, kept)
            _credit(rules, settings, games, runs, i, paid, rewards, terminations, packed, earned, kept, scratch, finals)
        agent = agent_to_act(rules[0], games[i], runs[i])
        while agent != NOBODY and policies[agent] != 0:
            action = _decide(int(policies[agent]), rules, games, runs, i, views)
            if not may(runs[i], action):
                return k
            paid = take(rules[0], settings[0], games, runs, i, action, earned, kept)
            _credit(rules, settings, games, runs, i, paid, rewards, terminations, packed, earned, kept, scratch, finals)
            agent = agent_to_act(rules[0], games[i], runs[i])
    return DONE


@inlined
def _credit(
    rules: Any,
    settings: Any,
    games: Any,
    runs: Any,
    i: int,
    paid: bool,
    rewards: Any,
    terminations: Any,
    packed: bool,
    earned: Any,
    kept: Any,
    scratch: Any,
    finals: Any,
) -> None:
    """Pay the learner of games[i]; if its episode is over, keep what it observes and start the next one."""
    run = runs[i]
    if paid:
        amount = earned[side_of(rules[0], int(run["learner"]))]
        if terminations[i]:  # the next episode has begun
            run["owed"] += amount
        else:
            rewards[i] += amount
    if run["over"]:
        terminations[i] = 1
        if settings[0]["restarts"]:
            if len(kept) > 0:
                kept[i] = games[i]
            learner = int(run["learner"])
            write_observation(rules[0], games[i], learner, run["legal"], packed, scratch, finals[i], finals[i][:0])
            deal_again(rules[0], games[i], run)
            seat_agents(rules[0], settings[0], run, NOBODY)


@kernel
def waiting(rules: Any, games: Any, runs: Any, agent: int, rows: Any) -> int:
    """Write the games in which `agent` is to act into int64[N] (NOBODY: any agent is); return how many there are."""
    count = 0
    for i in range(len(games)):
        found = agent_to_act(rules[0], games[i], runs[i])
        if found != NOBODY and agent in (NOBODY, found):
            rows[count] = i
            count += 1
    return count


@kernel
def views_of(rules: Any, games: Any, rows: Any, out: Any) -> None:
    """Copy the games `rows` (int64[M]) into GAME[M] without what the seat to act cannot see."""
    for k in range(len(rows)):
        out[k] = games[int(rows[k])]
        strip(rules[0], out[k], int(out[k]["seat"]))


@kernel
def observe_learners(
    rules: Any, games: Any, runs: Any, packed: bool, scratch: Any, observations: Any, masks: Any
) -> None:
    """Write what the learner observes in every game, and its legal actions: none where it is not to act."""
    for i in range(len(games)):
        learner = int(runs[i]["learner"])
        write_observation(rules[0], games[i], learner, runs[i]["legal"], packed, scratch, observations[i], masks[i])
        if int(games[i]["seat"]) != learner:
            masks[i][:] = NONE
