"""Runs that policies learn from or are judged by: trajectories of the agents that learn, and the rewards in them."""

from collections.abc import Iterator, Sequence

import numpy as np

from decision.policy.records import Trajectories
from netsim.policies import NativePolicy, native
from netsim.trials import run
from teachers.round_options import RewardedConfig
from teachers.teacher import Weights
from teachers.transitions import transitions

Place = tuple[str, int]
"""A scenario and its seed."""


def trajectories(
    config: RewardedConfig, actors: Sequence[NativePolicy], places: Sequence[Place], duration_ps: int
) -> Iterator[Trajectories]:
    """Yields the decisions of each actor in its network, one after the other; the runs go in parallel."""
    deployment = config.deployment()
    trials = [
        deployment.trial(
            actor,
            name,
            seed=seed,
            duration_ps=duration_ps,
            record_ps=duration_ps,
            decision_latency_ps=config.training.decision_latency,
        )
        for actor, (name, seed) in zip(actors, places, strict=True)
    ]
    for (name, seed), outcome in zip(places, run(trials), strict=True):
        known = deployment.places(name, seed, duration_ps)
        yield Trajectories.of(outcome.records[deployment.cohort], config.policy.observation.agents, known)


def mean_reward(config: RewardedConfig, weights: Weights, duration_ps: int) -> float:
    """Returns the mean reward of a transition without exploring; each scenario of the validation counts alike."""
    t, actor = config.training, native(config.policy, weights)
    rewards = []
    for name in t.validation_scenarios:
        places = [(name, seed) for seed in t.validation_seeds]
        played = trajectories(config, [actor] * len(places), places, duration_ps)
        each = [transitions(its, config.policy, t.reward).reward for its in played]
        rewards.append(float(np.mean(np.concatenate(each), dtype=np.float64)))
    return float(np.mean(rewards))
