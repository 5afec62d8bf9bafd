"""Policies in the same networks with the same seeds, which the gate compares."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from netsim.baselines import BaselineSpec
from netsim.deployment import Deployment
from netsim.policies import PolicySpec
from netsim.result_store import Kept
from netsim.samples import Samples, Sampling
from netsim.trials import Progress, Trial
from netsim.trials import run as run_trials


@dataclass(frozen=True)
class Entry:
    """A policy under a name, with the time that its decisions take. ``sampling``: its run with the first seed over
    time."""

    name: str
    policy: PolicySpec | BaselineSpec
    decision_latency_ps: int
    sampling: Sampling | None = None


@dataclass(frozen=True)
class PolicyMetrics:
    """One policy in one scenario: metrics a seed; ``samples`` of the first, where they were asked for."""

    policy: str
    scenario: str
    seeds: tuple[int, ...]
    metrics: tuple[dict[str, float], ...]
    samples: Samples | None = field(default=None, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Plain data; what could not be measured (NaN) is null."""
        return {
            "policy": self.policy,
            "scenario": self.scenario,
            "seeds": list(self.seeds),
            "metrics": [{k: v if isfinite(v) else None for k, v in m.items()} for m in self.metrics],
        }


@dataclass(frozen=True)
class GateNetworks:
    """The networks that policies are compared in: every scenario with every seed, at the deployment's agents."""

    scenarios: Sequence[str]
    seeds: Sequence[int]
    deployment: Deployment
    duration_ps: int
    window_ps: tuple[int, int]

    def trials(self, entries: Sequence[Entry]) -> list[Trial]:
        """Returns the trials of every entry; by scenario, then by entry, then by seed."""
        return [
            self.deployment.trial(
                entry.policy,
                name,
                seed=seed,
                duration_ps=self.duration_ps,
                window_ps=self.window_ps,
                decision_latency_ps=entry.decision_latency_ps,
                sampling=entry.sampling if number == 0 else None,
                name=entry.name,
            )
            for name in self.scenarios
            for entry in entries
            for number, seed in enumerate(self.seeds)
        ]


def run(
    entries: Sequence[Entry], networks: GateNetworks, keep: Kept | None = None, progress: Progress | None = None
) -> list[PolicyMetrics]:
    """Runs every entry in the networks; by scenario, then by entry."""
    outcomes, seeds = run_trials(networks.trials(entries), keep=keep, progress=progress), tuple(networks.seeds)
    places = [(entry.name, name) for name in networks.scenarios for entry in entries]
    of_place = [outcomes[at : at + len(seeds)] for at in range(0, len(outcomes), len(seeds))]
    return [
        PolicyMetrics(*place, seeds, tuple(each.metrics for each in runs), runs[0].samples)
        for place, runs in zip(places, of_place, strict=True)
    ]
