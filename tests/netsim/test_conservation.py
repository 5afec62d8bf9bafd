"""Whatever the network: no packet is lost sight of, no link carries more than its rate, no queue exceeds the buffer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netsim import Network, Scenario, Simulation
from netsim.network import MS
from netsim.scenarios import Flow

networks = st.builds(
    Network,
    payload_bytes=st.sampled_from([256, 1024, 4096]),
    buffer_bytes=st.sampled_from([20_000, 100_000, 5 * 2**20]),
    ecn_min_bytes=st.just(8_000),
    ecn_max_bytes=st.sampled_from([8_000, 60_000]),
    burst_packets=st.integers(1, 6),
    message_packets=st.integers(6, 20),
    inflight_messages=st.integers(1, 40),
    probe_gap_ps=st.sampled_from([0, 4_000_000]),
    probe_after_bytes=st.sampled_from([0, 5000, 100_000]),
    probe_latest_ps=st.sampled_from([None, 0, 20_000_000]),
    probe_first=st.sampled_from([1, 3]),
    start_jitter_ps=st.sampled_from([0, 10_000_000]),
)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    hosts, receivers = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    flow = st.builds(
        Flow,
        host=st.integers(0, hosts - 1),
        receiver=st.integers(0, receivers - 1),
        packets=st.sampled_from([0, 1, 15, 333]),
        start_ps=st.integers(0, MS // 2),
    )
    flows = draw(st.lists(flow, min_size=1, max_size=12))
    return Scenario("drawn", hosts, receivers, tuple(sorted(flows, key=lambda f: f.host)))


@given(networks, scenarios(), st.integers(0, 2**32), st.sampled_from([0, 900_000, 50_000_000]))
def test_every_packet_is_somewhere(steering, network, scenario, seed, latency) -> None:
    run = Simulation(scenario, steering(0.5), seed=seed, decision_latency_ps=latency, network=network)
    for until in (3_000_000, MS // 2, MS // 2 + 1, 2 * MS):
        run.reset_window()
        begin = run.now_ps
        run.run(until)
        where = run.conservation()
        assert where["holds"], where
        metrics, window = run.metrics(), run.window()
        whole = (until - begin) / network.ps_per_byte
        longest = max(network.data_wire_bytes, network.probe_wire_bytes)
        assert (window["port_received_bytes"] <= whole + longest).all()
        assert metrics["queue_max_bytes"] <= network.buffer_bytes
        delivered = np.bincount(scenario.column("receiver"), window["delivered_packets"], scenario.receivers)
        assert (delivered * network.data_wire_bytes <= window["port_received_bytes"]).all()


@given(networks, st.integers(1, 400), st.integers(2, 12), st.integers(0, 2**32))
def test_finite_flows_are_delivered_whole(steering, network, packets, flows, seed) -> None:
    scenario = Scenario("finite", flows, 1, tuple(Flow(h, 0, packets) for h in range(flows)))
    run = Simulation(scenario, steering(0.5), seed=seed, network=network)
    run.run(100 * MS)
    window = run.window()
    assert window["delivered_packets"].tolist() == [packets] * flows
    assert window["completed_flow"].size == flows
    assert (window["completed_finish_ps"] - window["completed_start_ps"] >= window["completed_alone_ps"]).all()
    where = run.conservation()
    assert where["holds"]
    assert where["on_uplinks"] == where["at_ports"] == 0
    assert where["dropped"] == where["sent"] - where["arrived"]


def test_heavy_loss_is_recovered_from(constant) -> None:
    """Eight senders at line rate into a buffer of twenty packets, for ever at full speed."""
    scenario = Scenario("incast", 8, 1, tuple(Flow(h, 0, 500) for h in range(8)))
    run = Simulation(scenario, constant(), seed=1, network=Network(buffer_bytes=22_120))
    run.run(100 * MS)
    window = run.window()
    assert window["counts"]["data_dropped"] > 4000
    assert window["counts"]["nacks"] > 50
    assert window["delivered_packets"].tolist() == [500] * 8


def test_a_lost_tail_is_sent_again_after_the_timeout(constant) -> None:
    """Two single packets meet at a buffer for one of them and a half: only a timeout can tell that one is lost."""
    network = Network(buffer_bytes=2 * 1106, start_jitter_ps=0)
    scenario = Scenario("tail", 8, 1, tuple(Flow(h, 0, 1) for h in range(8)))
    run = Simulation(scenario, constant(), seed=1, network=network)
    run.run(5 * MS)
    window = run.window()
    assert window["counts"]["timeouts"] > 0
    assert window["counts"]["nacks"] == 0
    assert window["delivered_packets"].tolist() == [1] * 8


@pytest.mark.slow
def test_long_runs_conserve_packets(steering) -> None:
    for name in ("many-to-one:8192", "all-to-all:16", "long-short:512"):
        run = Simulation(name, steering(0.2), seed=3)
        for ms in (10, 50, 200):
            run.run(ms * MS)
            assert run.conservation()["holds"], name


def test_a_packet_lost_again_is_reported_again(constant) -> None:
    """Four senders at 30 % overload a short buffer for ever, with a timeout of 20 ms: were a retransmission's loss left
    to it, hardly anything would arrive."""
    network = Network(buffer_bytes=30_000, retransmit_timeout_ps=20 * MS)
    run = Simulation("many-to-one:4", constant("30 %"), seed=1, network=network)
    run.run(200 * MS)
    counts = run.window()["counts"]
    assert counts["nacks"] > 10_000
    assert counts["timeouts"] < 5
    assert run.metrics()["goodput"] > 0.2
