"""Whole runs against what queueing theory and the algorithms' own papers predict.

Slow: two further loads of the queue of theory.
"""

from math import sqrt

import numpy as np
import pytest

from netsim import Network, Scenario, Simulation, simulate
from netsim.baselines import by_name
from netsim.network import MS, US
from netsim.scenarios import Flow
from netsim.splitmix import uniform
from netsim.topology import leaf_spine

PACKET_US = 1106 * 80e-6
BASE_RTT_US = 4.0 + 4.185  # of a data packet and its ACK; the probe's base RTT is 8.192 us


@pytest.mark.slow_except("0.6")
@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_poisson_arrivals_wait_as_in_an_md1_queue(load: float) -> None:
    """One-packet flows from a thousand hosts to one port: mean wait load S / (2 (1 - load)) (Pollaczek-Khinchine)."""
    flows, hosts = 150_000, 1000
    start = np.cumsum(-np.log1p(-uniform(flows, 7, 1)) * 1106 * 80 / load).astype(np.int64)
    host = (uniform(flows, 7, 2) * hosts).astype(int)
    order = np.lexsort((start, host))
    rows = tuple(Flow(int(host[i]), 0, packets=1, start_ps=int(start[i])) for i in order)
    run = Simulation(Scenario("poisson", hosts, 1, rows), by_name("dctcp"), seed=1, network=Network(start_jitter_ps=0))
    run.run(int(start[-1]) + MS)
    assert run.metrics()["data_packets"] == flows
    assert run.metrics()["queue_mean_us"] == pytest.approx(load * PACKET_US / (2 * (1 - load)), rel=0.03)


@pytest.mark.parametrize("flows", [2, 4])
def test_dctcp_saws_as_its_paper_says(flows: int) -> None:
    """SIGCOMM'10, section 3.3: the queue swings between K + N - A and K + N packets, A = sqrt(2 N (C RTT + K)) / 2."""
    run = Simulation(f"many-to-one:{flows}", by_name("dctcp-hpcc-marking"), seed=1)
    run.run(20 * MS)
    queue = []
    for i in range(10_000):
        run.run(20 * MS + i * US)
        queue.append(run.ports()["backlog_bytes"][0] / 1106)
    threshold = 300_000 / 1106
    swing = sqrt(2 * flows * (BASE_RTT_US / PACKET_US + threshold)) / 2
    assert max(queue) == pytest.approx(threshold + flows, abs=2)
    assert np.quantile(queue, 0.01) == pytest.approx(threshold + flows - swing, rel=0.02)


@pytest.mark.parametrize("flows", [2, 8, 32, 128])
def test_swift_holds_the_delay_at_its_target(flows: int) -> None:
    """SIGCOMM'20, section 3.5: the target grows with 1 / sqrt(cwnd), and cwnd is a flow's share of the pipe."""
    low, high = 1 / sqrt(100), 1 / sqrt(0.1)
    slope = 100.0 / (high - low)
    target = 25.0
    for _ in range(50):
        window = target / PACKET_US / flows
        target = 20.0 + 20.0 / 6.55 + min(max(slope * (1 / sqrt(window) - low), 0.0), 100.0)
    found = simulate(
        f"many-to-one:{flows}", by_name("swift-htsim"), seed=1, duration_ps=60 * MS, window_ps=(20 * MS, 60 * MS)
    )
    assert found.metrics["rtt_mean_us"] == pytest.approx(target, rel=0.08)
    assert found.metrics["utilisation"] > 0.999


@pytest.mark.parametrize(
    ("name", "eta", "within", "packets"), [("hpcc-max-stage-5", 0.95, 0.01, 4), ("hpcc", 0.99, 0.025, 8)]
)
def test_hpcc_leaves_the_share_that_it_is_told_to(name: str, eta: float, within: float, packets: int) -> None:
    """SIGCOMM'19, section 3.2: the link runs at eta and the queue is almost empty."""
    for flows in (2, 16, 64):
        found = simulate(
            f"many-to-one:{flows}", by_name(name), seed=1, duration_ps=40 * MS, window_ps=(10 * MS, 40 * MS)
        )
        assert found.metrics["utilisation"] == pytest.approx(eta, abs=within)
        assert found.metrics["queue_mean_us"] < packets * PACKET_US


def test_the_ideal_has_every_port_full_and_no_queue() -> None:
    for name in ("many-to-one:64", "many-to-one:1024", "all-to-all:4"):
        found = simulate(name, by_name("max-min"), seed=1, duration_ps=10 * MS, window_ps=(2 * MS, 10 * MS)).metrics
        assert found["goodput"] == pytest.approx(1024 / 1106, abs=1e-3)
        assert found["jain"] > 0.9999
        assert found["queue_mean_us"] < 1.0


def test_the_ideal_is_max_min_fair_in_a_fabric() -> None:
    """Two leaves, one spine: flows over the busy leaf link share it, the others take what their receiver has."""
    fabric = leaf_spine(2, 4, 1)
    flows = (Flow(0, 4), Flow(1, 5), Flow(2, 6), Flow(3, 2), Flow(4, 2))
    run = Simulation(Scenario("shares", 8, 8, flows, topology=fabric), by_name("max-min"), seed=1)
    run.run(2 * MS)
    run.reset_window()
    run.run(12 * MS)
    share = run.window()["delivered_packets"] * 1106.0 * 80 / (10 * MS)
    # Leaf 0 to the spine: hosts 0, 1, 2 get a third each. Receiver 2: host 3 of its leaf and host 4 get a half each.
    assert share == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1 / 2, 1 / 2], abs=0.002)


@pytest.mark.parametrize(("source", "hops"), [(1, 1), (4, 3)])
def test_a_packet_alone_takes_its_links_and_nothing_else(source: int, hops: int) -> None:
    fabric = leaf_spine(2, 4, 2, host_gbps=25, spine_gbps=100, link_delay_ps=500_000)
    scenario = Scenario("alone", 8, 8, (Flow(source, 0, packets=1, last_bytes=10),), topology=fabric)
    run = Simulation(scenario, by_name("dctcp"), seed=1)
    run.run(MS)
    found, window = run.metrics(), run.window()
    wire = 10 + 82
    links = 2 * wire * 320 + (hops - 1) * wire * 80 + (hops + 1) * 500_000
    back = 2 * 84 * 320 + (hops - 1) * 84 * 80 + (hops + 1) * 500_000
    assert found["latency_mean_us"] == links * 1e-6
    assert window["completed_finish_ps"][0] - window["completed_start_ps"][0] == links + back
    assert window["completed_alone_ps"][0] == links + back
    assert found["queue_mean_us"] == 0.0


def test_telemetry_of_the_busiest_hop_steers_hpcc() -> None:
    """The bottleneck is between a leaf and the spine: it runs at 95 %, and every packet was stamped there."""
    fabric = leaf_spine(2, 4, 1)
    flows = tuple(Flow(h, 4 + h) for h in range(4))
    run = Simulation(Scenario("middle", 8, 8, flows, topology=fabric), by_name("hpcc-max-stage-5"), seed=1)
    run.run(5 * MS)
    before = run.ports()["sent_bytes"]
    run.run(15 * MS)
    busy = (run.ports()["sent_bytes"] - before)[8:] * 80 / (10 * MS)
    assert busy.max() == pytest.approx(0.95, abs=0.015)
    assert run.conservation()["dropped"] == 0
