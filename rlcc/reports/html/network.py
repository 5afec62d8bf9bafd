"""The gate's networks as a page draws them: runs over time, and where flows rest beside the theory of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any

import numpy as np

from decision.policy.features import PccRlCongestion, RlCcCongestion
from decision.policy.policy import Policy
from netsim.samples import Samples
from rlcc.gate.closed_loop import PolicyMetrics
from rlcc.gate.fidelity import STUDENT, TEACHER

MANY_TO_ONE = re.compile(r"many-to-one:(\d+)")
SHOWN = 8
"""Flows of a run."""


@dataclass(frozen=True)
class OtherMetrics:
    """N flows to one receiver: the mean RTT inflation that each seed ended at, and target * sqrt(N) + beta."""

    flows: int
    target: float
    beta: float
    teacher: tuple[float, ...]
    student: tuple[float, ...]

    @property
    def theory(self) -> float:
        return self.target * sqrt(self.flows) + self.beta


def series(outcomes: Sequence[PolicyMetrics], window_ps: tuple[int, int]) -> list[dict[str, Any]]:
    """Returns the series of each scenario, as the page draws it: time in ms, goodput in Gb/s, the longest queue in
    KB."""
    drawn: dict[str, dict[str, Any]] = {}
    for outcome in outcomes:
        if outcome.samples is not None and len(outcome.samples.t_us):
            told = drawn.setdefault(outcome.scenario, {"scenario": outcome.scenario, "seed": outcome.seeds[0]})
            told["window"] = [edge / 1e9 for edge in window_ps]
            told[outcome.policy] = _told(outcome.samples)
    return [told for told in drawn.values() if TEACHER in told and STUDENT in told]


def _told(samples: Samples) -> dict[str, Any]:
    """Rounded to what can be seen. At the window's edges intervals may be too short to tell a rate: they are left
    out."""
    took = np.diff(samples.t_us.astype(np.float64), prepend=0.0)
    told = took >= np.median(took) / 2
    return {
        "t": _rounded(samples.t_us[told] / 1e3),
        "queue": _rounded(samples.queue_bytes[told] / 1e3),
        "mean": _rounded(samples.mean_gbps[told]),
        "flows": [_rounded(flow) for flow in samples.flow_gbps[told].T[:SHOWN]],
    }


def _rounded(values: Any) -> list[float | int]:
    """Four significant digits."""
    figures = [float(f"{value:.4g}") for value in np.asarray(values, dtype=np.float64).tolist()]
    return [int(figure) if figure.is_integer() else figure for figure in figures]


def rests(policy: Policy, outcomes: Sequence[PolicyMetrics]) -> list[OtherMetrics]:
    """Returns the metrics of the scenarios of many flows to one, if the policy sees a congestion that has this theory
    [RLCC, section 4]; else none."""
    kinds = RlCcCongestion | PccRlCongestion
    seen = next((feature for feature in policy.observation.features if isinstance(feature, kinds)), None)
    if seen is None:
        return []
    of: dict[tuple[str, str], PolicyMetrics] = {(one.policy, one.scenario): one for one in outcomes}
    found = []
    for scenario in dict.fromkeys(one.scenario for one in outcomes):
        named = MANY_TO_ONE.fullmatch(scenario)
        if named is None or (TEACHER, scenario) not in of or (STUDENT, scenario) not in of:
            continue
        flows = int(named[1])
        both = (_inflations(of[who, scenario]) for who in (TEACHER, STUDENT))
        found.append(OtherMetrics(flows, seen.target, seen.tolerance, *both))
    return sorted((rest for rest in found if rest.teacher and rest.student), key=lambda rest: rest.flows)


def _inflations(outcome: PolicyMetrics) -> tuple[float, ...]:
    each = (metrics.get("rtt_inflation_mean", float("nan")) for metrics in outcome.metrics)
    return tuple(value for value in each if isfinite(value))
