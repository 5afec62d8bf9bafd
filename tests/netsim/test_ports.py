"""Switch ports: a FIFO that knows departures beforehand, one that picks packet by packet, and what classes add.

Slow: a port that picks beside a FIFO in three networks.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.errors import InputError
from netsim import Network, Scenario, Simulation, assembly, simulate
from netsim.baselines import by_name
from netsim.network import MS, US
from netsim.scenarios import Flow
from netsim.topology import fat_tree, leaf_spine

networks = st.builds(
    Network,
    payload_bytes=st.sampled_from([256, 1024]),
    buffer_bytes=st.sampled_from([20_000, 100_000, 5 * 2**20]),
    dynamic_threshold=st.sampled_from([0.0, 0.25, 1.0]),
    ecn_min_bytes=st.just(8_000),
    ecn_max_bytes=st.sampled_from([8_000, 60_000]),
    mark_at_dequeue=st.booleans(),
    burst_packets=st.integers(1, 6),
)
fabrics = st.sampled_from(
    [
        None,
        leaf_spine(2, 3, 2),
        leaf_spine(2, 3, 1, host_gbps=25),
        leaf_spine(3, 2, 2, links=2, link_delay_ps=50_000),
        fat_tree(4),
    ]
)


@st.composite
def scenarios(draw: st.DrawFn, classes: int = 1) -> Scenario:
    fabric = draw(fabrics)
    hosts = 6 if fabric is None else fabric.hosts
    flow = st.builds(
        Flow,
        host=st.integers(0, hosts - 1),
        receiver=st.integers(0, hosts - 1),
        packets=st.sampled_from([0, 0, 1, 15, 333]),
        start_ps=st.integers(0, MS // 4),
        klass=st.integers(0, classes - 1),
    )
    flows = sorted(draw(st.lists(flow, min_size=1, max_size=16)), key=lambda f: f.host)
    flows = [replace(f, last_bytes=draw(st.integers(1, 256))) if f.packets else f for f in flows]
    return Scenario("drawn", hosts, hosts, tuple(flows), topology=fabric)


def everything(run: Simulation) -> dict[str, Any]:
    window = run.window()
    window |= window.pop("counts")
    if run.network.mark_at_dequeue:
        del window["port_marked"]  # a FIFO counts its marks at the end of the link, so some are still under way
    return {name: np.asarray(value).tolist() for name, value in window.items()}


steerers = st.sampled_from(["steering", "dcqcn-hpcc", "hpcc", "dctcp", "swift"])


@pytest.mark.slow
@given(networks, scenarios(), st.integers(0, 2**32), steerers)
def test_a_port_that_picks_is_a_fifo_where_it_has_no_choice(steering, network, scenario, seed, who) -> None:
    """Marks and telemetry at dequeue, which a FIFO works out at the end of the link, are those of one that serves."""
    runs = []
    for scheduled in (False, True):
        policy = steering(0.5) if who == "steering" else by_name(who)
        here = replace(network, scheduled_ports=scheduled)
        run = Simulation(scenario, policy, seed=seed, network=here, record=True)
        run.run(MS)
        assert run.conservation()["holds"]
        runs.append(run)
    fifo, picked = (everything(run) for run in runs)
    assert fifo == picked
    a, b = (run.drain_records() for run in runs)
    assert all(np.array_equal(a[name], b[name], equal_nan=name == "output") for name in a)


@pytest.mark.parametrize("receivers", [1, 3])
@pytest.mark.parametrize("burst_packets", [1, 4, 6])
def test_a_full_switch_loses_what_one_loses_that_examines_every_packet(steering, receivers, burst_packets) -> None:
    """Four in five packets find no room. Last packets of flows are short, and like probes fit where others do not."""
    network = Network(buffer_bytes=150_000, burst_packets=burst_packets)
    flows = tuple(
        Flow(f, f % receivers, 40 + f % 7 if f % 2 else 0, last_bytes=9 * f if f % 2 else 0) for f in range(90)
    )
    scenario = Scenario("full", 90, receivers, flows)
    runs = []
    for scheduled in (False, True):
        run = Simulation(
            scenario, steering(1.0), seed=1, network=replace(network, scheduled_ports=scheduled), record=True
        )
        run.run(MS)
        runs.append(run)
    fifo, picked = (everything(run) for run in runs)
    assert fifo == picked
    assert fifo["data_dropped"] > 4 * fifo["data_arrived"] > 4000
    assert fifo["probes_dropped"] > 0


@pytest.mark.parametrize("scheduled", [False, True])
def test_hpcc_sees_the_last_of_five_hops(scheduled: bool) -> None:
    """Each port on the way stamps once: the queue of an incast across a fat tree is at the fifth."""
    fabric = fat_tree(4)
    assert fabric.hops == 5
    scenario = Scenario("far", 16, 16, tuple(Flow(host, 0) for host in range(4, 16)), topology=fabric)
    run = Simulation(scenario, by_name("hpcc"), seed=1, network=Network(scheduled_ports=scheduled))
    run.run(2 * MS)
    run.reset_window()
    run.run(4 * MS)
    metrics = run.metrics()
    assert metrics["queue_mean_us"] < 2
    assert metrics["loss"] == 0
    assert 0.85 < metrics["goodput"] < 0.926


@pytest.mark.parametrize(("weights", "share"), [((1, 1), 0.5), ((3, 1), 0.75), ((1, 9), 0.1)])
def test_deficit_round_robin_shares_by_weight(constant, weights: tuple[int, int], share: float) -> None:
    scenario = Scenario("classes", 2, 1, (Flow(0, 0, klass=0), Flow(1, 0, klass=1)))
    network = Network(class_weights=weights, inflight_messages=400, buffer_bytes=40 * 2**20)
    run = Simulation(scenario, constant(), seed=1, network=network)
    run.run(MS)
    run.reset_window()
    run.run(4 * MS)
    delivered = run.window()["delivered_packets"]
    assert delivered[0] / delivered.sum() == pytest.approx(share, abs=0.002)
    assert run.metrics()["utilisation"] == pytest.approx(1.0, abs=1e-3)


def test_short_packets_do_not_gain_from_deficit_round_robin(constant) -> None:
    """Shares are of bytes: one-packet flows of 100 bytes get their half, as those of full packets do."""
    flows = [Flow(0, 0, klass=0)]
    flows += [Flow(1 + h, 0, packets=1, last_bytes=100, period_ps=10 * US, klass=1) for h in range(800)]
    network = Network(class_weights=(1, 1), start_jitter_ps=10 * US)
    run = Simulation(Scenario("short", 801, 1, tuple(flows)), by_name("dctcp"), seed=1, network=network)
    run.run(2 * MS)
    run.reset_window()
    run.run(4 * MS)
    window = run.window()
    long = int(window["delivered_packets"][0]) * 1106
    assert run.metrics()["utilisation"] > 0.999
    assert long / int(window["port_received_bytes"][0]) == pytest.approx(0.5, abs=0.01)


def test_strict_priority_serves_the_lower_class_first(constant) -> None:
    scenario = Scenario("strict", 3, 1, (Flow(0, 0, klass=0), Flow(1, 0, klass=1), Flow(2, 0, klass=2)))
    network = Network(class_weights=(0, 0, 1), dynamic_threshold=1.0)
    run = Simulation(scenario, constant(), seed=1, network=network)
    run.run(MS)
    run.reset_window()
    run.run(4 * MS)
    delivered = run.window()["delivered_packets"]
    assert int(delivered[0]) * 1106 * 80 == pytest.approx(3 * MS, rel=0.02)  # its probes take the rest
    assert delivered[1:].sum() < 0.001 * delivered[0]


def test_a_dynamic_threshold_leaves_room_for_others(constant) -> None:
    """Choudhury and Hahne, ToN 1998: one busy queue holds alpha / (1 + alpha) of the buffer, two hold half as much."""
    network = Network(buffer_bytes=1_000_000, dynamic_threshold=1.0)
    for ports, most in ((1, 1 / 2), (2, 1 / 3)):
        flows = tuple(Flow(h, h % ports) for h in range(8))
        run = Simulation(Scenario("alpha", 8, ports, flows), constant(), seed=1, network=network)
        queues = []
        for i in range(100):
            run.run(MS + i * 10 * US)
            queues.append(run.ports()["backlog_bytes"])
        assert np.max(queues) <= 500_000 + 1106
        assert np.median(queues, axis=0) == pytest.approx(most * 1_000_000, abs=5 * 1106)


def test_thresholds_change_while_it_runs(constant) -> None:
    scenario = Scenario("marks", 2, 1, (Flow(0, 0), Flow(1, 0)))
    run = Simulation(scenario, constant(), seed=1, network=Network(ecn_min_bytes=0, ecn_max_bytes=0))
    run.run(MS)
    assert run.ports()["marked"][0] > 0.9 * run.delivered().sum()
    run.set_red(0, 10**9, 10**9, 0.0)
    before = run.ports()["marked"][0]
    run.run(2 * MS)
    assert run.ports()["marked"][0] == before
    with pytest.raises(InputError, match="no port 1"):
        run.set_red(1, 0, 0, 0.0)


lossless = st.builds(
    Network,
    payload_bytes=st.sampled_from([256, 1024, 4096]),
    lossless=st.just(True),
    burst_packets=st.sampled_from([1, 4, 16]),
    inflight_messages=st.just(400),
    class_weights=st.sampled_from([(1,), (1, 2), (0, 1, 1), (3, 0, 1)]),
    mark_at_dequeue=st.booleans(),
    start_jitter_ps=st.sampled_from([0, 10_000_000]),
)


@given(lossless, scenarios(classes=1), st.integers(0, 2**32), st.sampled_from([1000, 100_000]))
def test_priority_flow_control_never_drops(constant, network, scenario, seed, spare) -> None:
    """Whoever sends what to whom at line rate, all at once, into buffers hardly larger than the headroom."""
    classes = len(network.class_weights)
    flows = tuple(replace(f, klass=i % classes) for i, f in enumerate(scenario.flows))
    scenario = replace(scenario, flows=flows)
    fabric, _ = assembly.place(scenario, network)
    tight = replace(network, buffer_bytes=assembly.headroom_bytes(network, fabric) + spare)
    run = Simulation(scenario, constant(), seed=seed, network=tight)
    run.run(MS)
    counts = run.window()["counts"]
    assert counts["data_dropped"] == counts["probes_dropped"] == counts["nacks"] == counts["timeouts"] == 0
    assert run.conservation()["holds"]
    assert run.metrics()["queue_max_bytes"] <= tight.buffer_bytes
    assert 0 <= run.metrics()["pfc_paused_share"] <= 1


def test_frames_of_one_link_do_not_overtake_one_another(constant) -> None:
    """All links in step: a port that sends a packet resumes a link in the picosecond in which it pauses it again."""
    flows = tuple(Flow(h, (h + k) % 3) for h in range(6) for k in range(3))
    network = Network(lossless=True, start_jitter_ps=0, inflight_messages=400)
    fabric, _ = assembly.place(Scenario("step", 6, 3, flows), network)
    tight = replace(network, buffer_bytes=assembly.headroom_bytes(network, fabric) + 5000)
    run = Simulation(Scenario("step", 6, 3, flows), constant(), seed=1, network=tight)
    run.run(3 * MS)
    assert run.window()["counts"]["data_dropped"] == 0


def test_a_pause_counts_while_it_lasts(constant) -> None:
    """Class 1 waits for ever behind class 0: its links stay paused, in every window alike."""
    flows = (Flow(0, 0, klass=0), Flow(1, 0, klass=1))
    network = Network(lossless=True, class_weights=(0, 1), buffer_bytes=1_500_000, inflight_messages=4096)
    run = Simulation(Scenario("starved", 2, 1, flows), constant(), seed=1, network=network)
    run.run(2 * MS)
    for until in (3, 4):
        run.reset_window()
        run.run(until * MS)
        assert run.metrics()["pfc_paused_share"] == pytest.approx(1 / 4, abs=0.02)


@pytest.mark.parametrize("hops", [1, 3])
@pytest.mark.parametrize(("packets", "last"), [(1, 10), (2, 10), (2, 1024), (3, 500), (40, 1), (400, 1024)])
def test_a_flow_alone_takes_as_long_as_it_is_said_to(hops: int, packets: int, last: int) -> None:
    fabric = leaf_spine(2, 2, 1, host_gbps=25, spine_gbps=100)
    flow = Flow(1 if hops == 1 else 2, 0, packets=packets, last_bytes=last)
    run = Simulation(Scenario("alone", 4, 4, (flow,), topology=fabric), by_name("max-min"), seed=1)
    run.run(20 * MS)
    window = run.window()
    assert window["completed_finish_ps"] - window["completed_start_ps"] == window["completed_alone_ps"]


def test_marks_of_a_port_far_slower_than_the_nics(steering) -> None:
    """A queue may last longer than 2^32 ps; at dequeue a FIFO still knows who had come."""
    fabric = leaf_spine(2, 2, 1, host_gbps=100, spine_gbps=1)
    scenario = Scenario("slow", 4, 4, (Flow(2, 0), Flow(3, 1)), topology=fabric)
    marks = []
    for scheduled in (False, True):
        network = Network(mark_at_dequeue=True, scheduled_ports=scheduled, inflight_messages=400)
        run = Simulation(scenario, steering(0.5), seed=1, network=network)
        run.run(60 * MS)
        marks.append(run.window()["counts"]["marked"])
    assert marks[0] == marks[1] > 1000


@pytest.mark.parametrize(("spine_gbps", "from_bytes"), [(25, 100_000), (100, 400_000), (200, 800_000)])
def test_a_port_marks_from_a_queue_that_grows_with_its_rate(constant, spine_gbps: int, from_bytes: int) -> None:
    """Thresholds are those of ports at the NICs' rate: a port of a quarter of it marks from a quarter of them on."""
    fabric = leaf_spine(2, 4, 1, host_gbps=100, spine_gbps=spine_gbps)
    flows = tuple(Flow(4 + n, n) for n in range(4))
    network = Network(
        ecn_min_bytes=400_000, ecn_max_bytes=400_000, ecn_max_probability=1.0, inflight_messages=4096, burst_packets=1
    )
    run = Simulation(Scenario("far", 8, 8, flows, topology=fabric), constant(), seed=1, network=network)
    (uplink,) = [n for n, port in enumerate(fabric.ports) if port.switch == 1 and port.to == 2]
    longest_unmarked, marked = 0, 0
    while not marked:
        run.run(run.now_ps + US // 10)
        ports = run.ports()
        marked = int(ports["marked"][uplink])
        longest_unmarked = longest_unmarked if marked else int(ports["backlog_bytes"][uplink])
    assert longest_unmarked == pytest.approx(from_bytes, rel=0.15)


def test_pauses_reach_back_to_the_senders(constant) -> None:
    """Two to one behind a spine: the leaf stops the spine, the spine the other leaf, that leaf its hosts."""
    fabric = leaf_spine(2, 3, 1)
    scenario = Scenario("far", 6, 6, (Flow(3, 0), Flow(4, 0), Flow(5, 0)), topology=fabric)
    network = Network(lossless=True, buffer_bytes=600_000, inflight_messages=4096)
    run = Simulation(scenario, constant(), seed=1, network=network)
    run.run(2 * MS)
    run.reset_window()
    run.run(10 * MS)
    metrics, window = run.metrics(), run.window()
    assert metrics["pfc_pauses"] > 100
    assert 0 < metrics["pfc_paused_share"] < 1
    # A packet waits in three buffers at the most, and only while they drain at line rate.
    assert metrics["latency_p99_us"] < 3 * 600_000 * 80e-6 + 10
    assert window["counts"]["data_dropped"] == 0
    assert metrics["utilisation"] == pytest.approx(1.0, abs=0.002)
    # The hosts together send what one link carries; how they share it is up to the pauses, which are not fair.
    assert int(window["sent_packets"].sum()) * 1106 * 80 == pytest.approx(8 * MS, rel=0.01)
    assert window["delivered_packets"].min() > 0


def test_a_link_is_paused_at_an_eighth_of_what_is_free(constant) -> None:
    """HPCC artefact: each of two links may hold its reserve and x = (shared - 2 x) / 8, and then what is under way."""
    network = Network(lossless=True, buffer_bytes=4_000_000, inflight_messages=4096)
    scenario = Scenario("two", 2, 1, (Flow(0, 0), Flow(1, 0)))
    run = Simulation(scenario, constant(), seed=1, network=network)
    run.run(2 * MS)
    carried = network.uplink_delay_ps / 80  # by a link in its delay
    shared = 4_000_000 - 2 * (3 * carried + 4096)
    threshold = 2 * (4096 + shared / 10)
    assert threshold < run.metrics()["queue_max_bytes"] < threshold + 2 * (2 * carried + 6 * 1106)


def test_a_paused_class_does_not_hold_up_another(constant) -> None:
    """Class 0 is stopped by a busy receiver; class 1 of the same hosts goes elsewhere at the rate that is left."""
    flows = tuple(Flow(h, k, klass=k) for h in range(4) for k in (0, 1) if k == 0 or h == 0)
    scenario = Scenario("two", 4, 2, flows)
    network = Network(lossless=True, class_weights=(1, 1), buffer_bytes=2_000_000, inflight_messages=4096)
    run = Simulation(scenario, constant(), seed=1, network=network)
    run.run(2 * MS)
    run.reset_window()
    run.run(6 * MS)
    window = run.window()
    assert window["counts"]["data_dropped"] == 0
    assert run.metrics()["pfc_pauses"] > 10
    received = window["port_received_bytes"] * 80 / (4 * MS)
    assert received[0] == pytest.approx(1.0, abs=0.01)
    assert received[1] > 0.6


def test_a_lossless_network_needs_headroom(constant) -> None:
    scenario = Scenario("far", 64, 1, tuple(Flow(h, 0) for h in range(64)))
    with pytest.raises(InputError, match="bytes of headroom"):
        Simulation(scenario, constant(), seed=1, network=Network(lossless=True, buffer_bytes=600_000))


def test_a_class_needs_a_weight(constant) -> None:
    with pytest.raises(InputError, match="2 class_weights"):
        Simulation(Scenario("two", 1, 1, (Flow(0, 0, klass=1),)), constant(), seed=1)
    with pytest.raises(InputError, match="class_weights is"):
        Network(class_weights=())


def test_who_reads_queues_needs_telemetry(steering, make_policy) -> None:
    network = Network(telemetry=False)
    with pytest.raises(InputError, match=r"baseline hpcc reads queue lengths .* telemetry = true"):
        Simulation("many-to-one:2", by_name("hpcc"), seed=1, network=network)
    congestion = {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5, "signal": "queue"}
    queue = steering(observation={"features": [{"kind": "previous_action"}, congestion]})
    assert simulate("many-to-one:2", queue, seed=1, duration_ps=MS, window_ps=(0, MS)).metrics["decisions"] > 0
    with pytest.raises(InputError, match="reads queue lengths"):
        Simulation("many-to-one:2", queue, seed=1, network=network)
    records = simulate(
        "many-to-one:2", steering(), seed=1, duration_ps=MS, window_ps=(0, MS), record=True, network=network
    ).records
    assert not records["queue_bytes"].any()
