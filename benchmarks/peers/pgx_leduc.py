"""pgx's leduc_holdem, 4096 games: a compiled loop, and one call a step.  Prints figures as JSON."""

from __future__ import annotations

import json
import os
import sys
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"

import jax
import jax.numpy as jnp
import pgx
from pgx.experimental.wrappers import auto_reset

GAMES = 4096
INNER = 200


def main(seconds: float) -> None:
    """Measure everything for about `seconds` each."""
    env = pgx.make("leduc_holdem")
    step = auto_reset(env.step, env.init)

    def one(state, key):
        logits = jnp.log(state.legal_action_mask.astype(jnp.float32))
        keys = jax.random.split(key, 2 * GAMES)
        actions = jax.vmap(lambda k, row: jax.random.categorical(k, row))(keys[:GAMES], logits)
        legal = jnp.take_along_axis(state.legal_action_mask, actions[:, None], axis=1).all()
        state = jax.vmap(step)(state, actions, keys[GAMES:])
        return state, (state.observation.sum(), legal)

    @jax.jit
    def loop(state, key):
        return jax.lax.scan(one, state, jax.random.split(key, INNER))

    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), GAMES))
    figures = {}
    state, (_, legal) = jax.block_until_ready(loop(state, jax.random.PRNGKey(1)))
    assert bool(legal.all())
    begin, count = time.process_time(), 0
    while time.process_time() - begin < seconds:
        state, (_, legal) = jax.block_until_ready(loop(state, jax.random.PRNGKey(count)))
        count += INNER * GAMES
    figures["pgx leduc_holdem, compiled loop"] = count / (time.process_time() - begin)
    single = jax.jit(one)
    state, _ = jax.block_until_ready(single(state, jax.random.PRNGKey(1)))
    begin, count = time.process_time(), 0
    while time.process_time() - begin < seconds:
        state, (_, legal) = jax.block_until_ready(single(state, jax.random.PRNGKey(count)))
        count += GAMES
    figures["pgx leduc_holdem, one call a step"] = count / (time.process_time() - begin)
    print(json.dumps(figures))


if __name__ == "__main__":
    main(float(sys.argv[1]))
