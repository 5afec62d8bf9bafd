"""Definitions of the metrics on a window made by hand, and the accuracy of latency quantiles."""

import math

import numpy as np
import pytest

from netsim import Network, Scenario, Simulation
from netsim.metrics import metrics
from netsim.network import MS
from netsim.scenarios import Flow

SCENARIO = Scenario("four", 2, 2, (Flow(0, 0), Flow(0, 1), Flow(1, 0), Flow(1, 1)), long_flow=1)
NAMES = ("data_sent", "data_arrived", "data_in_order", "data_dropped", "decisions")
SUMS = ("wait_ps", "rtt_ns", "cnps", "nacks", "timeouts")


def window(**changes: object) -> dict[str, object]:
    counts = dict.fromkeys(NAMES + SUMS, 0) | {
        "data_sent": 40_000, "data_arrived": 30_000, "data_dropped": 10_000, "decisions": 10,
        "wait_ps": 30_000 * 2_000_000, "rtts": 10, "rtt_ns": 10 * 16_384, "cnps": 3, "nacks": 4, "timeouts": 5,
    }  # fmt: skip
    return {
        "begin_ps": 10 * MS,
        "end_ps": 14 * MS,
        "counts": counts,
        "delivered_packets": np.array([1000, 2000, 3000, 4000], dtype=np.uint32),
        "sent_packets": np.array([1000, 2000, 4000, 5000], dtype=np.uint64),
        "port_received_bytes": np.array([10_000_000, 30_000_000], dtype=np.uint64),
        "port_queue_max_bytes": np.array([5, 7], dtype=np.int64),
        "latency_base_ps": 4_000_000,
        "latency_quantiles_ps": [5e6, 6e6, 7e6],
        "completion_normalised": np.array([1.0, 3.0]),
        "recovery_us": np.array([100.0, 300.0]),
    } | changes


def test_definitions() -> None:
    m = metrics(window(), SCENARIO, Network())
    line = 100e9 / 8 * 4e-3  # bytes of a port in 4 ms: 50 MB
    assert m["goodput"] == pytest.approx(10_000 * 1024 / (2 * line))
    assert m["utilisation"] == pytest.approx(40e6 / (2 * line))
    assert m["latency_mean_us"] == pytest.approx(6.0)
    assert (m["latency_p50_us"], m["latency_p99_us"], m["latency_p999_us"]) == pytest.approx((5, 6, 7))
    assert m["queue_mean_us"] == pytest.approx(2.0)
    assert m["queue_max_bytes"] == 7
    assert m["rtt_mean_us"] == pytest.approx(16.384)
    assert m["rtt_inflation_mean"] == pytest.approx(2.0)
    assert m["unfairness"] == pytest.approx(3000 / 6000)  # hosts sent 3000 and 9000
    assert m["fairness_min_max"] == 0.25
    assert m["jain"] == pytest.approx(10_000**2 / (4 * 30e6))
    assert m["loss"] == 0.25
    assert m["drop_gbps"] == pytest.approx(10_000 * 1106 * 8 / 4e-3 / 1e9)
    assert m["decisions_per_flow_s"] == pytest.approx(10 / 4 / 4e-3)
    assert m["long_bandwidth"] == pytest.approx(2000 * 1024 / line)
    assert (m["recovery_us"], m["recoveries"]) == (200, 2)
    assert m["completion_normalised_mean"] == 2.0


def test_nothing_measured_is_nan_not_an_error() -> None:
    run = Simulation(SCENARIO, _Silent(), seed=1)
    found = run.metrics()
    for name in ("goodput", "latency_mean_us", "latency_p99_us", "rtt_mean_us", "loss", "recovery_us"):
        assert math.isnan(found[name]), name


class _Silent:
    """A policy specification without decisions: nothing runs."""

    def build(self, flows: int, site: object = None) -> object:
        from netsim import _core

        network = _core.NetworkWeights()
        layer = _core.Layer.make(np.zeros((1, 1), np.float32), np.zeros(1, np.float32))
        network.output = layer
        config = _core.NativeConfig()
        config.features = [_core.FeatureConfig(_core.FeatureKind.rate, False, 0.0, 0.0, 1.0, 0.0)]
        return _core.NativePolicy(config, network, flows)


@pytest.mark.parametrize("senders", [2, 3, 7])
def test_latency_quantiles_of_a_known_distribution(constant, senders: int) -> None:
    """Single packets of all hosts arrive together: the k-th waits for k - 1 others."""
    scenario = Scenario("volley", senders, 1, tuple(Flow(h, 0, 1) for h in range(senders)))
    run = Simulation(scenario, constant(), seed=1, network=Network(start_jitter_ps=0))
    run.run(MS)
    m = run.metrics()
    packet_us = 0.08848
    assert m["latency_mean_us"] == pytest.approx(4.0 + packet_us * (senders - 1) / 2)
    assert m["latency_p50_us"] == pytest.approx(4.0 + packet_us * ((senders - 1) // 2), rel=0.008)
    # The last rank that a quantile below 1 reaches is the one before the last of so few packets.
    assert m["latency_p999_us"] == pytest.approx(4.0 + packet_us * max(senders - 2, 0), rel=0.008)
