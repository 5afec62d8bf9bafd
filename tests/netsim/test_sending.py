"""Pacing, round robin, the in-flight cap, marking: against what theory says."""

import numpy as np
import pytest

from netsim import ArrayEnv, Network, Scenario, Simulation, simulate
from netsim.network import MS
from netsim.policies import native
from netsim.scenarios import Flow

PAYLOAD_SHARE = 1024 / 1106
SHORT_BUFFER = Network(buffer_bytes=200_000)


@pytest.mark.parametrize("rate", [0.5, 0.1, 0.01])
def test_a_paced_flow_sends_at_its_rate(constant, rate: float) -> None:
    scenario = Scenario("alone", 1, 1, (Flow(0, 0),))
    metrics = simulate(scenario, constant(f"{rate * 100} %"), seed=1).metrics
    assert metrics["goodput"] == pytest.approx(rate * PAYLOAD_SHARE, rel=2e-3)


def test_queue_pairs_that_wait_for_each_other_keep_their_rates() -> None:
    """Seven unlike queue pairs load an uplink to 95 %: what a burst waits for others is made up for."""
    rates = np.array([0.05, 0.07, 0.11, 0.13, 0.17, 0.19, 0.23])
    scenario = Scenario("host", 1, 1, tuple(Flow(0, 0) for _ in rates))
    env = ArrayEnv(scenario, 1, duration_ps=60 * MS)
    for until in (10 * MS, 60 * MS):
        env.reset_window()
        while (batch := env.recv(until)) is not None:
            env.send(rate_q30=rates[batch.flow] * 2**30)
    share = env.window()["delivered_packets"] * 88_480.0 / (50 * MS)
    np.testing.assert_allclose(share, rates, rtol=5e-3)


def test_a_full_uplink_is_shared_round_robin(constant) -> None:
    scenario = Scenario("host", 1, 1, tuple(Flow(0, 0) for _ in range(5)))
    run = Simulation(scenario, constant(), seed=1)
    run.run(MS)
    run.reset_window()
    run.run(11 * MS)
    sent = run.window()["sent_packets"]
    assert sent.max() - sent.min() <= 4
    assert run.metrics()["fairness_min_max"] > 0.998


def test_two_senders_at_line_rate_fill_the_pipe_up_to_their_caps(constant) -> None:
    """Little's law: 2 x 40 x 16 packets of 88.48 ns in flight give 113.3 us (104.9 us without headers); probes do not
    wait for the rest of a message to be acknowledged, so they see up to two messages less."""
    metrics = simulate("many-to-one:2", constant(), seed=1, network=Network(inflight_messages=40)).metrics
    cap_us = 2 * 40 * 16 * 0.08848
    assert metrics["utilisation"] == pytest.approx(1.0, abs=1e-4)
    assert cap_us - 2 * 16 * 0.08848 <= metrics["rtt_mean_us"] <= cap_us
    assert metrics["loss"] == 0


def test_the_cap_bounds_what_is_not_acknowledged(constant) -> None:
    """One sender with one message in flight: a message an RTT."""
    scenario = Scenario("alone", 1, 1, (Flow(0, 0),))
    network = Network(inflight_messages=1)
    metrics = simulate(scenario, constant(), seed=1, network=network).metrics
    cycle_us = 15 * 0.08848 + 4.0 + network.control_delay_ps * 1e-6
    assert metrics["goodput"] == pytest.approx(16 * 1024 * 80e-6 / cycle_us, rel=0.01)


def test_a_flow_that_speeds_up_does_not_wait_out_its_old_gap(make_policy) -> None:
    """From 1e-5 of line rate (35 ms between bursts) by a factor of almost 4 a decision: were the old gaps kept, the
    first three alone would take 46 ms."""
    policy = make_policy(
        architecture={"hidden": [], "bias": True},
        action={"kind": "table", "multipliers": [0.5, 3.9]},
        limits={"rate_initial": "10 ppm"},
    )
    weights = {"out.weight": np.zeros((2, 4), np.float32), "out.bias": np.array([0, 1], np.float32)}
    records = simulate(
        Scenario("alone", 1, 1, (Flow(0, 0),)), native(policy, weights), seed=1, duration_ps=40 * MS,
        window_ps=(MS, 40 * MS), record=True, network=Network(start_jitter_ps=0),
    ).records  # fmt: skip
    gap_ps = 4 * 88_480 / 1e-5
    expected = [gap_ps / 3.9, gap_ps / 3.9**2, gap_ps / 3.9**3]
    np.testing.assert_allclose(np.diff(records["t_ps"])[:3], expected, rtol=2e-3)


def test_a_decision_takes_effect_after_the_decision_latency(make_policy) -> None:
    """One flow at line rate is cut to a tenth: until the latency has passed it sends on at line rate."""
    policy = make_policy(
        architecture={"hidden": [], "bias": True},
        action={"kind": "table", "multipliers": [0.1, 1.5]},
        limits={"rate_min": "10 %"},
    )
    weights = {"out.weight": np.zeros((2, 4), np.float32), "out.bias": np.array([1, 0], np.float32)}
    teacher = native(policy, weights)
    scenario = Scenario("alone", 1, 1, (Flow(0, 0),))
    sent = {}
    for latency_ps in (0, 5_000_000, 20_000_000):
        run = Simulation(scenario, teacher, seed=1, decision_latency_ps=latency_ps, network=Network(start_jitter_ps=0))
        run.run(60_000_000)
        sent[latency_ps] = int(run.window()["sent_packets"][0])
    for latency_ps in (5_000_000, 20_000_000):
        assert sent[latency_ps] - sent[0] == pytest.approx(0.9 * latency_ps / 88_480, abs=5)


def test_ecn_marks_by_the_queue_and_cnps_keep_their_distance(constant) -> None:
    below = simulate("many-to-one:2", constant(), seed=1, network=Network(ecn_min_bytes=1_500_000)).metrics
    assert below["cnps"] == 0
    always = Simulation("many-to-one:2", constant(), seed=1, network=Network(ecn_min_bytes=0, ecn_max_bytes=0))
    always.run(50 * MS)
    always.reset_window()
    always.run(100 * MS)
    counts = always.window()["counts"]
    assert counts["marked"] == counts["data_arrived"]
    assert counts["cnps"] == pytest.approx(
        2 * 50 * MS / 4_000_000, rel=0.1
    )  # one a flow every 4 us, when a packet comes


def test_red_marks_the_right_share(constant) -> None:
    """The queue stands at some 1.31 MB; between 0.4 and 1.6 MB and Pmax 0.2 a share of 0.2 * (q - 0.4) / 1.2."""
    run = Simulation("many-to-one:2", constant(), seed=1, network=Network(inflight_messages=40))
    run.run(50 * MS)
    run.reset_window()
    run.run(150 * MS)
    counts = run.window()["counts"]
    queue_mb = counts["wait_ps"] / counts["data_arrived"] / 80 / 1e6
    assert counts["marked"] / counts["data_arrived"] == pytest.approx(0.2 * (queue_mb - 0.4) / 1.2, rel=0.02)


def probed(constant, **schedule: int) -> tuple[np.ndarray, np.ndarray]:
    """When one flow's probes left at a hundredth of line rate [ns from the first], and the payload told with each."""
    scenario = Scenario("alone", 1, 1, (Flow(0, 0),))
    network = Network(start_jitter_ps=0, **schedule)
    records = simulate(
        scenario, constant("1 %"), seed=1, duration_ps=2 * MS, window_ps=(0, MS), record=True, network=network
    ).records
    sent = records["request_sent_ns"].astype(np.int64)
    return sent - sent[0], records["sent_bytes"].astype(np.int64)


BURST_NS, BURST_BYTES = 4 * 8848, 4 * 1024
"""At a hundredth of line rate a burst of four begins every 35.4 us, long after the answer to its probe."""


def test_each_burst_of_a_slow_flow_carries_a_probe(constant) -> None:
    sent, told = probed(constant)
    np.testing.assert_allclose(np.diff(sent), BURST_NS, atol=1)
    assert set(told) == {BURST_BYTES}


@pytest.mark.parametrize(("after", "bursts"), [(4096, 1), (4097, 2), (16_384, 4), (16_385, 5)])
def test_a_probe_waits_for_the_bytes_that_it_is_to_follow(constant, after: int, bursts: int) -> None:
    """But for a new flow's first, which goes at once."""
    sent, told = probed(constant, probe_after_bytes=after)
    assert told[0] == BURST_BYTES
    np.testing.assert_allclose(np.diff(sent), bursts * BURST_NS, atol=1)
    assert set(told[1:]) == {bursts * BURST_BYTES}


def test_a_probe_goes_after_some_time_whatever_was_sent(constant) -> None:
    sent, _ = probed(constant, probe_after_bytes=10**6, probe_latest_ps=100_000_000)
    np.testing.assert_allclose(np.diff(sent), 3 * BURST_NS, atol=1)  # the first burst 100 us later
    sent, _ = probed(constant, probe_after_bytes=3 * 4096, probe_latest_ps=200_000_000)
    np.testing.assert_allclose(np.diff(sent), 3 * BURST_NS, atol=1)  # the bytes come first
    assert probed(constant, probe_after_bytes=10**6)[0].size == 1


def test_a_new_flows_first_probes_wait_for_nothing(constant) -> None:
    sent, told = probed(constant, probe_after_bytes=16_384, probe_first=5)
    np.testing.assert_allclose(np.diff(sent), np.where(np.arange(sent.size - 1) < 4, 1, 4) * BURST_NS, atol=1)
    assert told[:6].tolist() == [BURST_BYTES] * 5 + [4 * BURST_BYTES]


def test_rarer_probes_leave_their_room_to_data(constant) -> None:
    """64 queue pairs of one NIC in turn: a probe a burst leaves 4 x 1024 of 4 x 1106 + 84 bytes to them."""
    for after, bursts in ((0, 1), (16_384, 4)):
        network = Network(probe_after_bytes=after)
        goodput = simulate("many-to-one:1x64", constant(), seed=1, duration_ps=10 * MS, window_ps=(MS, 10 * MS),
                           network=network).metrics["goodput"]  # fmt: skip
        assert goodput == pytest.approx(bursts * 4096 / (bursts * 4 * 1106 + 84), rel=1e-3)


def test_the_probe_reports_the_queue_it_met(constant) -> None:
    records = simulate("many-to-one:2", constant(), seed=1, record=True).records
    rtt = (records["response_ns"] - records["request_sent_ns"]).astype(np.int64)
    own_packet = 1106 - 84  # in an empty network a probe still waits for the packet that it follows
    np.testing.assert_allclose(records["queue_bytes"] * 0.08 + 8192 - own_packet * 0.08, rtt, atol=1.1)


def test_ports_share_the_buffer(constant) -> None:
    """Two ports, each overloaded twice: they divide the buffer that one alone would fill."""
    queues = {}
    for ports in (1, 2):
        flows = tuple(Flow(h, h // 4) for h in range(4 * ports))
        run = Simulation(Scenario("ports", 4 * ports, ports, flows), constant(), seed=1, network=SHORT_BUFFER)
        run.run(20 * MS)
        counts = run.window()["counts"]
        queues[ports] = counts["wait_ps"] / counts["data_arrived"] / 80 / SHORT_BUFFER.buffer_bytes
    assert 0.85 < queues[1] < 1
    assert 0.4 < queues[2] < 0.7
