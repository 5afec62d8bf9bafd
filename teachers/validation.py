"""How good a policy is in the network: closed-loop runs of many-to-one, one cost.

At the reward's fixed point the link is full, nothing is lost and the mean RTT inflation is target * sqrt(N) + beta
([RLCC] eq. 2). The cost is what is missing from that, and how far the latency swings about it.
"""

from dataclasses import dataclass

import numpy as np

from decision.features import PccRlCongestion, RlCcCongestion
from decision.policy import Policy
from netsim import simulate
from netsim.network import US, Network
from netsim.policies import native
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
    def cost(self) -> float:
        """0 is perfect. A swing of latency by its mean costs as much as a mean inflation off by half."""
        missing = max(FULL - self.utilisation, 0.0)
        off = abs(self.inflation / self.ideal_inflation - 1.0)
        swing = self.latency_p99_us / self.latency_us - 1.0
        return 20.0 * missing + 20.0 * self.loss + off + 0.5 * swing + 0.5 * (1.0 - self.jain)


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
    end = settle_ps + measure_ps
    found = simulate(
        f"many-to-one:{flows}",
        native(policy, weights),
        seed=seed,
        duration_ps=end,
        window_ps=(settle_ps, end),
    ).metrics
    return Measured(
        flows=flows,
        goodput=found["goodput"],
        utilisation=found["utilisation"],
        loss=found["loss"],
        latency_us=found["latency_mean_us"],
        latency_p99_us=found["latency_p99_us"],
        inflation=found["rtt_inflation_mean"],
        ideal_inflation=ideal_inflation(policy, flows),
        jain=found["jain"],
    )
