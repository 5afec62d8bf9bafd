"""Our DDQN on CartPole-v1, a task whose results are public.

CleanRL's `dqn.py` (the same losses of the same size, but for the double target) ends at a mean return of 488 +- 16
after 500,000 steps (its documentation, three seeds); the task counts as solved from 475 on, of 500.
"""

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from decision.policy import Policy
from teachers.ddqn import Learner
from teachers.ddqn_options import Ddqn
from teachers.transitions import Transitions

STEPS, LEARN_FROM, EVERY = 60_000, 1_000, 2
ROWS = [{"kmin_bytes": n, "kmax_bytes": n, "pmax_q16": 0} for n in (1, 2)]  # left, right
POLICY: dict[str, Any] = {
    "format": 1,
    "name": "cartpole",
    "architecture": {"kind": "mlp", "hidden": [120, 84], "bias": True},
    "observation": {
        "interface": "queue_marking",
        "window": 4,
        "params": {"capacity_bytes": 1},
        "features": [{"kind": "level", "signal": "queue_bytes"}],
    },
    "action": {"kind": "choice", "rows": ROWS},
}
OPTIONS: dict[str, Any] = {
    "senders": "dcqcn",
    "period": "1 ms",
    "scenarios": ["incast:4"],
    "validate_in": ["incast:4"],
    "reward": [{"weight": 1, "feature": {"kind": "level", "signal": "queue_bytes"}}],
    "batch": 128,
    "memory": 10_000,
    "gamma": 0.99,
    "learning_rate": 1e-3,
    "target_every": 250,
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_cartpole_is_solved(seed: int) -> None:
    learner = Learner(Policy.model_validate(POLICY), Ddqn.model_validate(OPTIONS | {"seed": seed}))
    env, random = gymnasium.make("CartPole-v1"), np.random.default_rng(seed)
    best, (state, _) = 0.0, env.reset(seed=seed)
    for step in range(STEPS):
        exploring = max(0.05, 1.0 - step / (STEPS / 4))
        action = int(random.integers(2)) if random.random() < exploring else greedy(learner, state)
        after, reward, terminated, truncated, _ = env.step(action)
        ends = np.float32([not terminated])
        learner.memory.add(
            Transitions(np.float32([state]), np.array([action]), np.float32([reward]), np.float32([after]), ends)
        )
        state = env.reset()[0] if terminated or truncated else after
        if step >= LEARN_FROM and step % EVERY == 0:
            learner.rate(step / STEPS)
            learner.learn(1, step // EVERY, random)
        if step % 5_000 == 4_999:
            best = max(best, mean_return(learner, 10))
            if best == 500.0:
                break
    print(f"seed {seed}: {step + 1} steps, mean return {mean_return(learner, 100):.0f}")
    assert mean_return(learner, 100) >= 475


def greedy(learner: Learner, state: Any) -> int:
    with torch.no_grad():
        return int(learner.network.logits(torch.from_numpy(np.float32(state)[None])).argmax())


def mean_return(learner: Learner, episodes: int) -> float:
    env = gymnasium.make("CartPole-v1")
    total = 0.0
    for episode in range(episodes):
        state, over = env.reset(seed=10_000 + episode)[0], False
        while not over:
            state, reward, terminated, truncated, _ = env.step(greedy(learner, state))
            total += float(reward)
            over = terminated or truncated
    return total / episodes
