"""Policies in the same networks with the same seeds, which the gate compares."""

from dataclasses import dataclass
from math import isfinite
from typing import Any

from netsim.baselines import BaselineSpec
from netsim.deployment import Deployment
from netsim.policies import PolicySpec
from netsim.trials import Progress
from netsim.trials import run as run_trials


@dataclass(frozen=True)
class Entry:
    """A policy under a name, with the time that its decisions take."""

    name: str
    policy: PolicySpec | BaselineSpec
    decision_latency_ps: int


@dataclass(frozen=True)
class PolicyMetrics:
    """One policy in one scenario: metrics a seed."""

    policy: str
    scenario: str
    seeds: tuple[int, ...]
    metrics: tuple[dict[str, float], ...]

    def to_json(self) -> dict[str, Any]:
        """Plain data; what could not be measured (NaN) is null."""
        return {
            "policy": self.policy,
            "scenario": self.scenario,
            "seeds": list(self.seeds),
            "metrics": [{k: v if isfinite(v) else None for k, v in m.items()} for m in self.metrics],
        }


def run(
    entries: list[Entry],
    names: list[str],
    seeds: list[int],
    *,
    deployment: Deployment,
    duration_ps: int,
    window_ps: tuple[int, int],
    progress: Progress | None = None,
) -> list[PolicyMetrics]:
    """Every entry at the deployment's agents in every scenario with every seed; by scenario, then by entry."""
    trials = [
        deployment.trial(
            entry.policy,
            name,
            seed=seed,
            duration_ps=duration_ps,
            window_ps=window_ps,
            decision_latency_ps=entry.decision_latency_ps,
            name=entry.name,
        )
        for name in names
        for entry in entries
        for seed in seeds
    ]
    metrics = [outcome.metrics for outcome in run_trials(trials, progress=progress)]
    places = [(entry.name, name) for name in names for entry in entries]
    of_place = [tuple(metrics[at : at + len(seeds)]) for at in range(0, len(metrics), len(seeds))]
    return [PolicyMetrics(*place, tuple(seeds), each) for place, each in zip(places, of_place, strict=True)]
