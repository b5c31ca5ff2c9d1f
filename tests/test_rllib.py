"""RLlib's multi-agent environment: the game of the PettingZoo environment, in RLlib's form."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("ray.rllib.env.multi_agent_env", reason="needs the extra rllib")

import scopa_env
from scopa_env.interop.rllib import ScopaMultiAgentEnv


@pytest.mark.parametrize("rules", ["scopa", "escoba", "scopone", "scopa:players=3"])
def test_it_is_the_game_of_the_pettingzoo_environment(rules: str) -> None:
    ours, theirs = scopa_env.env(rules, reward="decided"), ScopaMultiAgentEnv({"rules": rules, "reward": "decided"})
    rng = np.random.default_rng(1)
    for seed in range(5):
        ours.reset(seed=seed)
        seen, infos = theirs.reset(seed=seed)
        earned = dict.fromkeys(theirs.possible_agents, 0.0)
        over = False
        while not over:
            ((agent, found),) = seen.items()
            assert agent == ours.agent_selection
            assert theirs.observation_spaces[agent].contains(found)
            expected = ours.observe(agent)
            assert np.array_equal(found["observations"], expected["observation"])
            assert np.array_equal(found["action_mask"], expected["action_mask"])
            action = int(rng.choice(np.flatnonzero(found["action_mask"])))
            ours.step(action)
            seen, rewards, terminated, truncated, infos = theirs.step({agent: action})
            for name, reward in rewards.items():
                earned[name] += reward
            over = terminated["__all__"]
            assert truncated == {"__all__": False}
            assert infos == {}
        assert set(seen) == set(theirs.possible_agents)
        outcome = ours.game().outcome()
        assert outcome is not None
        for seat, agent in enumerate(theirs.possible_agents):
            others = [p for side, p in enumerate(outcome.points) if side != ours.rules.side_of(seat)]
            own = outcome.points[ours.rules.side_of(seat)]
            assert earned[agent] == pytest.approx(own - sum(others) / len(others))


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match="history=True"):
        ScopaMultiAgentEnv({"history": True})
    with pytest.raises(ValueError, match="did you mean"):
        ScopaMultiAgentEnv({"rules": "skopa"})
    env = ScopaMultiAgentEnv({"reward_scale": 0.5})
    seen, _ = env.reset(seed=1)
    (agent,) = seen
    other = next(name for name in env.possible_agents if name != agent)
    with pytest.raises(ValueError, match=f"actions of {other}: allowed is one of {agent}"):
        env.step({other: 0})
    with pytest.raises(scopa_env.IllegalAction):
        env.step({agent: int(np.flatnonzero(seen[agent]["action_mask"] == 0)[0])})
