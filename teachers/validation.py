"""How good a policy is in the network: closed-loop runs of many-to-one, one cost; if asked, of changing traffic too.

At the reward's fixed point the link is full, nothing is lost and the mean RTT inflation is target * sqrt(N) + beta
([RLCC] eq. 2). The cost is what is missing from that, and how far the latency swings about it. Flows that come and go
have no fixed point: the cost is what goodput and completion times lack of the ideal max-min allocation's with the same
flows, and the loss.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from decision.ir import exact
from decision.policy.features import PccRlCongestion, RlCcCongestion
from decision.policy.policy import Policy
from netsim import baselines
from netsim.network import US, Network
from netsim.policies import native
from netsim.trials import Trial, run
from teachers.teacher import Weights

FULL = 0.995
"""Utilisation of the port from which on nothing is missing."""


@dataclass(frozen=True)
class Measured:
    """One run. ``ideal_inflation`` is [RLCC] eq. 2 for its number of flows."""

    flows: int
    goodput: float
    utilisation: float
    loss: float
    latency_us: float
    latency_p99_us: float
    inflation: float
    ideal_inflation: float
    jain: float

    @property
    def scenario(self) -> str:
        return f"many-to-one:{self.flows}"

    @property
    def cost(self) -> float:
        """0 is perfect. A swing of latency by its mean costs as much as a mean inflation off by half."""
        missing = max(FULL - self.utilisation, 0.0)
        off = abs(self.inflation / self.ideal_inflation - 1.0)
        swing = self.latency_p99_us / self.latency_us - 1.0
        return 20.0 * missing + 20.0 * self.loss + off + 0.5 * swing + 0.5 * (1.0 - self.jain)

    def __str__(self) -> str:
        inflation = f"inflation {self.inflation:.3f} (ideal {self.ideal_inflation:.3f})"
        return f"{self.flows:>5} flows: goodput {self.goodput:.4f}, {inflation}, loss {self.loss:.6f}"


@dataclass(frozen=True)
class Changing:
    """One run of flows that come and go, from its start; ``ideal_``: the same under the max-min allocation."""

    scenario: str
    goodput: float
    loss: float
    slowdown: float
    ideal_goodput: float
    ideal_slowdown: float

    @property
    def cost(self) -> float:
        """0 is perfect. Flows that take e times as long cost as much as a loss of 5 %, or 20 % of goodput missing.
        If no flow ends, none has ended a thousand times too late."""
        missing = max(1.0 - self.goodput / self.ideal_goodput, 0.0)
        slower = exact.log(self.slowdown / self.ideal_slowdown if self.slowdown > 0 else 1000.0)
        return 20.0 * self.loss + 5.0 * missing + max(float(slower), 0.0)

    def __str__(self) -> str:
        goodput = f"goodput {self.goodput:.4f} (ideal {self.ideal_goodput:.4f})"
        slowdown = f"slowdown {self.slowdown:.2f} (ideal {self.ideal_slowdown:.2f})"
        return f"{self.scenario}: {goodput}, {slowdown}, loss {self.loss:.6f}"


@dataclass(frozen=True)
class Steady:
    """Scenario of a number of flows at one receiver, measured once they have settled."""

    flows: int
    settle_ps: int
    measure_ps: int

    @property
    def end_ps(self) -> int:
        return self.settle_ps + self.measure_ps


def interval_ps(flows: int, network: Network) -> int:
    """Roughly the time between two decisions of a flow: an RTT and the gap, or a flow's turn at the bottleneck."""
    turn = network.burst_packets * network.data_wire_bytes * network.ps_per_byte * flows
    return max(2 * network.base_rtt_ps + network.probe_gap_ps + US, turn)


def ideal_inflation(policy: Policy, flows: int) -> float:
    """[RLCC] eq. 2, for the policy's congestion feature."""
    for feature in policy.observation.features:
        if isinstance(feature, RlCcCongestion | PccRlCongestion):
            return float(feature.target * np.sqrt(flows) + feature.tolerance)
    return float("nan")


def measure(policy: Policy, weights: Weights, flows: int, *, settle_ps: int, measure_ps: int, seed: int) -> Measured:
    """Run many-to-one from an empty network and measure once it has settled."""
    (measured,) = measure_all(policy, weights, [Steady(flows, settle_ps, measure_ps)], [], changing_ps=0, seed=seed)
    assert isinstance(measured, Measured)
    return measured


def measure_changing(policy: Policy, weights: Weights, scenario: str, *, time_ps: int, seed: int) -> Changing:
    """Run flows that come and go, and measure from the start on."""
    (measured,) = measure_all(policy, weights, [], [scenario], changing_ps=time_ps, seed=seed)
    assert isinstance(measured, Changing)
    return measured


def measure_all(
    policy: Policy, weights: Weights, flows: Sequence[Steady], changing: Sequence[str], *, changing_ps: int, seed: int
) -> tuple[Measured | Changing, ...]:
    """Both side by side, many-to-one first."""
    who = native(policy, weights)
    steady = [
        Trial(f"many-to-one:{each.flows}", who, seed, each.end_ps, (each.settle_ps, each.end_ps)) for each in flows
    ]
    come_and_go = [Trial(name, who, seed, changing_ps, (0, changing_ps)) for name in changing]
    metrics = [outcome.metrics for outcome in run([*steady, *come_and_go])]
    return (
        *(_measured(policy, each.flows, its) for each, its in zip(flows, metrics, strict=False)),
        *(
            Changing(name, its["goodput"], its["loss"], its["slowdown_mean"], *_ideal(name, changing_ps, seed))
            for name, its in zip(changing, metrics[len(steady) :], strict=True)
        ),
    )


def _measured(policy: Policy, flows: int, metrics: Mapping[str, float]) -> Measured:
    return Measured(
        flows=flows,
        goodput=metrics["goodput"],
        utilisation=metrics["utilisation"],
        loss=metrics["loss"],
        latency_us=metrics["latency_mean_us"],
        latency_p99_us=metrics["latency_p99_us"],
        inflation=metrics["rtt_inflation_mean"],
        ideal_inflation=ideal_inflation(policy, flows),
        jain=metrics["jain"],
    )


@cache
def _ideal(scenario: str, time_ps: int, seed: int) -> tuple[float, float]:
    """Goodput and mean slowdown of the max-min allocation."""
    (outcome,) = run([Trial(scenario, baselines.by_name("max-min"), seed, time_ps, (0, time_ps))])
    return outcome.metrics["goodput"], outcome.metrics["slowdown_mean"]
