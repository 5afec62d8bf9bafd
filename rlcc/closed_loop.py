"""Two policies in the same networks with the same seeds, which the gate compares."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from netsim import scenarios, simulate
from netsim.baselines import BaselineSpec
from netsim.policies import PolicySpec
from netsim.sweep import sweep

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Entry:
    """A policy under a name, with the time that its decisions take."""

    name: str
    policy: PolicySpec | BaselineSpec
    decision_latency_ps: int


@dataclass(frozen=True)
class Outcome:
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

    def mean(self, name: str) -> float:
        return float(np.mean([m[name] for m in self.metrics]))


def run(
    entries: list[Entry],
    names: list[str],
    seeds: list[int],
    *,
    duration_ps: int,
    window_ps: tuple[int, int],
    progress: Progress | None = None,
) -> list[Outcome]:
    """Every entry in every scenario with every seed; outcomes by scenario, then by entry."""
    for name in names:
        scenarios.parse(name)
    tasks = [(name, entry, seed) for name in names for entry in entries for seed in seeds]

    def one(task: tuple[str, Entry, int]) -> dict[str, float]:
        name, entry, seed = task
        latency = entry.decision_latency_ps
        result = simulate(
            name, entry.policy, seed=seed, duration_ps=duration_ps, window_ps=window_ps, decision_latency_ps=latency
        )
        if progress is not None:
            progress(f"{entry.name} {name}")
        return result.metrics

    found = sweep(one, tasks)
    outcomes = []
    for i in range(0, len(tasks), len(seeds)):
        name, entry, _ = tasks[i]
        outcomes.append(Outcome(entry.name, name, tuple(seeds), tuple(found[i : i + len(seeds)])))
    return outcomes
