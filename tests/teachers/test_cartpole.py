"""Our DDQN and our PPO on CartPole-v1, a task whose results are public.

With the same hyper-parameters the DQN of Stable-Baselines3, without the double target, reaches 500, the most there is,
within 50,000 steps, and its PPO within 100,000 (its RL Zoo); the task counts as solved from 475 on. As in our training
the best validated counts.
"""

from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from decision.policy.policy import Policy
from teachers.ddqn import Learner
from teachers.ddqn_options import Ddqn
from teachers.determinism import same_sums
from teachers.ppo import ENDED, OPEN, PpoLearner, PpoRollout
from teachers.ppo_options import Ppo
from teachers.transitions import Transitions

STEPS, LEARN_FROM, EVERY, UPDATES = 50_000, 1_000, 256, 128
ROWS = [{"kmin_bytes": n, "kmax_bytes": n, "pmax_q16": 0} for n in (1, 2)]  # left, right
POLICY: dict[str, Any] = {
    "format": 1,
    "name": "cartpole",
    "architecture": {"kind": "mlp", "hidden": [256, 256], "bias": True},
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
    "validation_scenarios": ["incast:4"],
    "reward": [{"weight": 1, "feature": {"kind": "level", "signal": "queue_bytes"}}],
    "batch": 64,
    "memory": 100_000,
    "gamma": 0.99,
    "learning_rate": 2.3e-3,
    "target_every": UPDATES,
}


PPO_POLICY: dict[str, Any] = POLICY | {
    "architecture": {"kind": "mlp", "hidden": [64, 64], "bias": True, "activation": "tanh"},
    "observation": {
        "window": 4,
        "base_rtt": "8192 ns",
        "line_rate": "100 Gb/s",
        "rtt_max": "4 ms",
        "features": [{"kind": "rate"}],
    },
    "action": {"kind": "table", "multipliers": [0.9, 1.1]},  # left, right
    "limits": {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"},
}
PPO_STEPS, PPO_ENVS, PPO_ROLLOUT = 100_000, 8, 32
PPO_OPTIONS: dict[str, Any] = {
    "scenarios": ["many-to-one:2"],
    "validation_scenarios": ["many-to-one:2"],
    "reward": [{"weight": 1, "feature": {"kind": "rate"}}],
    "batch": 256,
    "epochs": 20,
    "gamma": 0.98,
    "gae_lambda": 0.8,
    "learning_rate": 1e-3,
    "scaled": False,
}


@pytest.fixture(autouse=True)
def one() -> Iterator[None]:
    with same_sums():
        yield


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
def test_cartpole_is_solved(seed: int) -> None:
    learner = Learner(Policy.model_validate(POLICY), Ddqn.model_validate(OPTIONS | {"seed": seed}))
    env, random = gymnasium.make("CartPole-v1"), np.random.default_rng(seed)
    state, _ = env.reset(seed=seed)
    played: list[tuple[Any, ...]] = []
    for step in range(1, STEPS + 1):
        exploring = max(0.04, 1.0 - 0.96 * step / (0.16 * STEPS))
        action = int(random.integers(2)) if random.random() < exploring else greedy(learner, state)
        after, reward, terminated, truncated, _ = env.step(action)
        played.append((state, action, reward, after, not terminated))
        state = env.reset()[0] if terminated or truncated else after
        if step % EVERY:
            continue
        before, actions, rewards, then, goes_on = map(np.array, zip(*played, strict=True))
        floats = [part.astype(np.float32) for part in (before, rewards, then, goes_on)]
        learner.memory.add(Transitions(floats[0], actions, floats[1], floats[2], floats[3]))
        played.clear()
        if step >= LEARN_FROM:
            learner.learn(UPDATES, step // EVERY * UPDATES, random)
        if step % (16 * EVERY) == 0 and (reached := mean_return(learner, 10)) == 500.0:
            print(f"seed {seed}: {step} steps, mean return {reached:.0f}", flush=True)
            break
    assert mean_return(learner, 100) >= 475


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
def test_ppo_solves_it_too(seed: int) -> None:
    learner = PpoLearner(Policy.model_validate(PPO_POLICY), Ppo.model_validate(PPO_OPTIONS | {"seed": seed}))
    envs, random = [gymnasium.make("CartPole-v1") for _ in range(PPO_ENVS)], np.random.default_rng(seed)
    states = np.stack([env.reset(seed=seed + 1000 * k)[0] for k, env in enumerate(envs)]).astype(np.float32)
    for done in range(0, PPO_STEPS, PPO_ENVS * PPO_ROLLOUT):
        columns: list[list[Any]] = [[], [], [], [], [], []]
        for step in range(PPO_ROLLOUT):
            drawn, log_pi, value = learner.draw(states, random)
            number = step * PPO_ENVS + np.arange(PPO_ENVS)
            reward, after = np.ones(PPO_ENVS, np.float32), number + PPO_ENVS
            before = states.copy()
            for k, env in enumerate(envs):
                states[k], _, terminated, truncated, _ = env.step(int(drawn[k]))
                if terminated or truncated:
                    states[k], after[k] = env.reset()[0], ENDED
            after[after >= PPO_ENVS * PPO_ROLLOUT] = OPEN
            for column, new in zip(columns, (before, drawn, log_pi, value, reward, after), strict=True):
                column.append(new)
        learner.learn(PpoRollout(*map(np.concatenate, columns)), done / PPO_STEPS, random)
        if done // (PPO_ENVS * PPO_ROLLOUT) % 20 == 19 and (reached := mean_return(learner, 10)) == 500.0:
            print(f"seed {seed}: {done} steps, mean return {reached:.0f}", flush=True)
            break
    assert mean_return(learner, 100) >= 475


def greedy(learner: Learner | PpoLearner, state: Any) -> int:
    with torch.no_grad():
        return int(learner.network.logits(torch.from_numpy(np.float32(state)[None])).argmax())


def mean_return(learner: Learner | PpoLearner, episodes: int) -> float:
    env = gymnasium.make("CartPole-v1")
    total = 0.0
    for episode in range(episodes):
        state, over = env.reset(seed=10_000 + episode)[0], False
        while not over:
            state, reward, terminated, truncated, _ = env.step(greedy(learner, state))
            total += float(reward)
            over = terminated or truncated
    return total / episodes
