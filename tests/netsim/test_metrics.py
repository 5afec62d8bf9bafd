"""Definitions of the metrics on a window made by hand, and the accuracy of latency quantiles."""

import math

import numpy as np
import pytest

from netsim import Network, Scenario, Simulation, topology
from netsim.metrics import metrics
from netsim.network import MS
from netsim.scenarios import Flow, Flows

US = 1_000_000
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
        "pfc_pauses": 0,
        "pfc_paused_ps": 0,
        "latency_quantiles_ps": [5e6, 6e6, 7e6],
        "completed_flow": np.array([0, 2], dtype=np.uint32),
        "completed_start_ps": np.array([9 * MS, 10 * MS]),
        "completed_finish_ps": np.array([11 * MS, 16 * MS]),
        "completed_alone_ps": np.array([2 * MS, 2 * MS]),
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


def test_a_run_without_flows_that_end_has_no_completion_times() -> None:
    endless = Scenario("endless", 2, 2, SCENARIO.flows)
    assert not [name for name in metrics(window(), endless, Network()) if "fct" in name or "slowdown" in name]


def test_short_last_packets_count_for_what_they_carry() -> None:
    """Two rounds of 3 packets with 1000 bytes in the last, and two packets of the third round."""
    flows = Flows(host=[0], packets=[3], last_bytes=[1000], period_ps=MS)
    counted = window(
        delivered_packets=np.array([8], np.uint32), sent_packets=np.array([8], np.uint64),
        port_received_bytes=np.array([1]), completed_flow=np.array([0, 0], np.uint32),
        completed_start_ps=np.array([0, MS]), completed_finish_ps=np.array([US, MS + US]),
        completed_alone_ps=np.array([US, US]),
    )  # fmt: skip
    m = metrics(counted, Scenario("short", 1, 1, flows), Network())
    assert m["goodput"] == pytest.approx((6 * 1024 + 2 * 1000) / (100e9 / 8 * 4e-3))


def test_rates_are_compared_by_their_spread() -> None:
    rates = np.array([1000, 2000, 3000, 4000])
    assert metrics(window(), SCENARIO, Network())["rate_variation"] == pytest.approx(rates.std() / rates.mean())


def test_pauses_are_a_share_of_the_time_of_what_can_be_paused() -> None:
    """Two NICs on the star; in the fabric 4 NICs and the 8 ports between its 4 switches."""
    paused = {"pfc_pauses": 7, "pfc_paused_ps": MS}
    m = metrics(window(**paused), SCENARIO, Network())
    assert (m["pfc_pauses"], m["pfc_paused_share"]) == (7, pytest.approx(1 / (4 * 2)))
    fabric = topology.by_name("leaf-spine:2x2x2")
    inside = Scenario("four", 4, 4, SCENARIO.flows, topology=fabric)
    ports = {name: np.zeros(len(fabric.ports), np.int64) for name in ("port_received_bytes", "port_queue_max_bytes")}
    m = metrics(window(**paused, **ports), inside, Network())
    assert m["pfc_paused_share"] == pytest.approx(1 / (4 * 12))


def test_of_a_fabric_those_count_that_take_part() -> None:
    """Two senders, one receiver, at 25 Gb/s, among 288 machines."""
    fabric = topology.acc_fabric()
    scenario = Scenario("pair", 288, 288, (Flow(3, 9), Flow(40, 9)), topology=fabric)
    received = np.zeros(len(fabric.ports), np.int64)
    received[9], received[300] = 6_000_000, 5_000_000
    counted = window(
        delivered_packets=np.array([2000, 3000], np.uint32), sent_packets=np.array([2000, 4000], np.uint64),
        port_received_bytes=received, port_queue_max_bytes=np.zeros(len(fabric.ports), np.int64),
        completed_flow=np.zeros(0, np.uint32),
    )  # fmt: skip
    m = metrics(counted, scenario, Network())
    line = 25e9 / 8 * 4e-3
    assert m["goodput"] == pytest.approx(5000 * 1024 / line)
    assert m["utilisation"] == pytest.approx(6e6 / line)
    assert m["unfairness"] == pytest.approx(1000 / 3000)
    assert m["rtt_inflation_mean"] == pytest.approx(16_384_000 / fabric.base_rtt_ps)


def completed(sizes: list[int], took_us: list[float], alone_us: list[float]) -> dict[str, float]:
    """Metrics of flows of these sizes, all of which finished in the window."""
    size = np.array(sizes)
    flows = Flows(host=np.zeros(size.size, int), packets=-(-size // 1024), last_bytes=size % 1024)
    start = 11 * MS + np.arange(size.size)
    finished = window(
        delivered_packets=np.ones(size.size, np.uint32),
        sent_packets=np.ones(size.size, np.uint64),
        port_received_bytes=np.array([1]),
        completed_flow=np.arange(size.size, dtype=np.uint32),
        completed_start_ps=start,
        completed_finish_ps=start + np.rint(np.array(took_us) * US).astype(np.int64),
        completed_alone_ps=np.rint(np.array(alone_us) * US).astype(np.int64),
    )
    return metrics(finished, Scenario("finite", 1, 1, flows), Network())


def test_completion_times_and_slowdown_by_size() -> None:
    m = completed([1, 100_000, 100_001, 9_999_999, 10_000_000], [10, 30, 40, 900, 3000], [5, 10, 10, 450, 1000])
    assert m["completions"] == 5
    assert (m["mice_completions"], m["medium_completions"], m["elephants_completions"]) == (2, 2, 1)
    assert m["fct_mean_us"] == pytest.approx(796)
    assert m["slowdown_mean"] == pytest.approx((2 + 3 + 4 + 2 + 3) / 5)
    assert (m["mice_fct_mean_us"], m["mice_slowdown_mean"]) == pytest.approx((20, 2.5))
    assert (m["medium_fct_mean_us"], m["medium_slowdown_mean"]) == pytest.approx((470, 3))
    assert (m["elephants_fct_p99_us"], m["elephants_slowdown_p50"]) == pytest.approx((3000, 3))


def test_quantiles_of_completion() -> None:
    count = 1001
    m = completed([2000] * count, list(range(1000, 1000 + count)), [100.0] * count)
    assert [m[f"fct_{q}_us"] for q in ("p50", "p95", "p99")] == pytest.approx([1500, 1950, 1990])
    assert [m[f"slowdown_{q}"] for q in ("p50", "p95", "p99")] == pytest.approx([15, 19.5, 19.9])
    assert m["mice_slowdown_p99"] == m["slowdown_p99"]
    assert m["elephants_completions"] == 0
    assert math.isnan(m["elephants_slowdown_p99"])


def test_a_flow_that_came_back_counts_each_time() -> None:
    """The same flow twice in a window."""
    again = window(
        delivered_packets=np.ones(1, np.uint32), sent_packets=np.ones(1, np.uint64), port_received_bytes=np.array([1]),
        completed_flow=np.array([0, 0], np.uint32), completed_start_ps=np.array([0, 10 * US]),
        completed_finish_ps=np.array([2 * US, 14 * US]), completed_alone_ps=np.array([2 * US, 2 * US]),
    )  # fmt: skip
    m = metrics(again, Scenario("again", 1, 1, (Flow(0, 0, 1, 0, 10 * US),)), Network())
    assert (m["completions"], m["slowdown_mean"], m["fct_mean_us"]) == (2, 1.5, 3)


def test_nothing_measured_is_nan_not_an_error() -> None:
    run = Simulation(SCENARIO, _Silent(), seed=1)
    found = run.metrics()
    for name in ("goodput", "latency_mean_us", "latency_p99_us", "rtt_mean_us", "loss", "recovery_us"):
        assert math.isnan(found[name]), name


class _Silent:
    """A policy specification without decisions: nothing runs."""

    needs_int = False

    def build(self, flows: int, site: object = None) -> object:
        from netsim import _core

        network = _core.NetworkWeights()
        layer = _core.Layer.make(np.zeros((1, 1), np.float32), np.zeros(1, np.float32))
        network.output = layer
        one = _core.TapeConfig([0.0], [], [0], [])
        config = _core.NativeConfig(6, 1, [one], [0.0], 1, [], _core.TapeConfig([0.0], [], [0, 0], []), 1, one, 1)
        return _core.NativeDecider(config, network, flows)


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
