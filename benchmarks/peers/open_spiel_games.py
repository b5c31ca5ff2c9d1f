"""OpenSpiel's card games: through Python with tensor and legal actions, and whole games in C++.  Prints JSON."""

from __future__ import annotations

import json
import random
import sys
import time

import pyspiel

THROUGH_PYTHON = ("leduc_poker", "spades", "skat")
ENGINE_ONLY = ("leduc_poker", "skat", "tarok", "connect_four")


def play(game, rng: random.Random, *, observe: bool) -> int:
    """Play a random game; return its decisions."""
    state = game.new_initial_state()
    decisions = 0
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            actions, weights = zip(*outcomes, strict=True)
            state.apply_action(rng.choices(actions, weights)[0])
            continue
        legal = state.legal_actions()
        if observe:
            state.information_state_tensor() if HAS_TENSOR[game.get_type().short_name] else state.observation_tensor()
        state.apply_action(legal[int(rng.random() * len(legal))])
        decisions += 1
    return decisions


HAS_TENSOR: dict[str, bool] = {}


def main(seconds: float) -> None:
    """Measure everything for about `seconds` each."""
    figures = {}
    rng = random.Random(0)
    for name in THROUGH_PYTHON:
        game = pyspiel.load_game(name)
        HAS_TENSOR[name] = game.get_type().provides_information_state_tensor
        play(game, rng, observe=True)
        begin, count = time.process_time(), 0
        while time.process_time() - begin < seconds:
            count += play(game, rng, observe=True)
        figures[f"OpenSpiel {name}, through Python"] = count / (time.process_time() - begin)
    for name in ENGINE_ONLY:
        game = pyspiel.load_game(name)
        begin, count = time.process_time(), 0
        while time.process_time() - begin < seconds:
            count += play(game, rng, observe=False)
        figures[f"OpenSpiel {name}, legal and apply through Python"] = count / (time.process_time() - begin)
        length = sum(play(game, rng, observe=False) for _ in range(200)) / 200
        bots = [pyspiel.make_uniform_random_bot(player, player) for player in range(game.num_players())]
        begin, games = time.process_time(), 0
        while time.process_time() - begin < seconds:
            pyspiel.evaluate_bots(game.new_initial_state(), bots, games)
            games += 1
        figures[f"OpenSpiel {name}, whole games in C++"] = games * length / (time.process_time() - begin)
    print(json.dumps(figures))


if __name__ == "__main__":
    main(float(sys.argv[1]))
