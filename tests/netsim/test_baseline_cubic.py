"""TCP CUBIC against window growth calculated by hand from RFC 9438, and beside RDMA in one queue."""

from typing import Any

import pytest

from netsim import Mix, Network, Part, Simulation, _core, baselines
from netsim.network import MS

S = 10**12
RTT = 10 * MS


def configured(**values: Any) -> Any:
    config = _core.CubicConfig()
    for name, value in values.items():
        setattr(config, name, value)
    machine = _core.Cubic(config, 1)
    assert machine.start(0, 0, RTT) == (1.0, config.initial_window)
    return machine


def ack(machine: Any, now: int, psn: int, packets: int = 1, rtt: int = RTT) -> float:
    return float(machine.on_ack(0, now, rtt, psn, psn + 100, packets=packets)[1])


def cut_at(window: float) -> tuple[Any, int]:
    """A flow that lost a packet at that window in slow start, just after its recovery; the PSN of the next ACK."""
    machine = configured(initial_window=window)
    ack(machine, 0, 0, packets=0)
    assert machine.on_loss(0, 0)[1] == pytest.approx(0.7 * window)
    return machine, 101


def test_slow_start_adds_a_packet_for_each_that_came():
    machine = configured()
    assert ack(machine, 0, 4, 4) == 14
    assert ack(machine, 0, 10, 6) == 20


def test_a_loss_cuts_to_seven_tenths_once_a_flight():
    machine = configured(initial_window=100)
    ack(machine, 0, 0, packets=0)
    assert machine.on_loss(0, 0)[1] == pytest.approx(70)
    assert machine.on_loss(0, 0)[1] == pytest.approx(70)
    assert ack(machine, 0, 100) == pytest.approx(70)
    assert ack(machine, 0, 101) > 70
    assert machine.on_loss(0, 0)[1] < 50


def test_the_window_is_where_it_was_cut_after_k_seconds():
    """W_max 1000, cut to 700: K = cbrt(300 / 0.4) = 9.0856 s. A window's ACKs an RTT before K reach W_max."""
    machine, psn = cut_at(1000)
    assert ack(machine, 0, psn, packets=0) == pytest.approx(700)
    k = (300 / 0.4) ** (1 / 3)
    assert k == pytest.approx(9.0856, abs=1e-4)
    assert ack(machine, round(k * S) - RTT, psn + 700, packets=700) == pytest.approx(1000, abs=1e-6)


def test_growth_of_one_ack_is_that_of_the_formula():
    """1 s after the epoch began: target = 0.4 (1 + 0.01 - K)^3 + 1000, and one ACK adds (target - 700) / 700."""
    machine, psn = cut_at(1000)
    first = ack(machine, 0, psn)
    k = ((1000 - 700) / 0.4) ** (1 / 3)
    target = 0.4 * (1.01 - k) ** 3 + 1000
    assert ack(machine, S, psn + 1) == pytest.approx(first + (target - first) / first, rel=1e-9)


def test_a_short_rtt_grows_like_reno():
    """Window 10, cut to 7: K = 1.96 s. In 20 ms of 0.1 ms RTTs Reno's estimate grows by 3 * 0.3 / 1.7 each RTT."""
    machine, psn = cut_at(10)
    window, now, reno = ack(machine, 0, psn, 0), 0, 7.0
    for step in range(1, 6):
        now += MS // 10
        reno += 3 * 0.3 / 1.7 * 7 / window
        window = ack(machine, now, psn + step, packets=7, rtt=MS // 10)
        assert window == pytest.approx(reno)
    assert window > 9


def test_a_second_loss_below_the_first_gives_way():
    """Fast convergence: W_max becomes 700 * 1.7 / 2 = 595, where without it is 700."""
    for fast, most in ((True, 595.0), (False, 700.0)):
        machine = configured(initial_window=1000, fast_convergence=fast)
        ack(machine, 0, 0, packets=0)
        machine.on_loss(0, 0)
        first = ack(machine, 0, 101, packets=0)
        machine.on_loss(0, 0)
        window = ack(machine, 0, 300, packets=0)
        k = ((most - window) / 0.4) ** (1 / 3)
        target = 0.4 * (1.01 - k) ** 3 + most
        assert first == pytest.approx(700)
        assert window == pytest.approx(490)
        assert ack(machine, S, 301) == pytest.approx(490 + (target - 490) / 490, abs=1e-6)


def test_a_timeout_starts_slowly_from_one_packet():
    machine = configured(initial_window=100)
    ack(machine, 0, 0, packets=0)
    assert machine.on_timeout(0, 0)[1] == 1
    assert ack(machine, 0, 1) == 2
    assert ack(machine, 0, 80, packets=67) == 69
    assert ack(machine, 0, 81, packets=1) == 70
    assert ack(machine, 0, 82) < 70.3


def test_a_queue_without_marks_for_it_is_filled_to_the_top():
    """One flow alone: slow start fills the buffer, whose length the queue then has at its cuts."""
    network = Network(buffer_bytes=2**20)
    simulation = Simulation("many-to-one:1", baselines.by_name("cubic"), seed=1, network=network)
    simulation.run(60 * MS)
    metrics = simulation.metrics()
    assert metrics["goodput"] > 0.85
    two = Simulation("many-to-one:2", baselines.by_name("cubic"), seed=1, network=network)
    two.run(60 * MS)
    assert two.metrics()["queue_max_bytes"] > 0.99 * 2**20
    assert two.metrics()["dropped_packets"] > 0


def test_it_takes_what_swift_leaves():
    mix = Mix((Part(baselines.by_name("swift"), 50), Part(baselines.by_name("cubic"), 50)))
    simulation = Simulation("many-to-one:8", mix, seed=1, network=Network())
    simulation.run(20 * MS)
    simulation.reset_window()
    simulation.run(40 * MS)
    metrics = simulation.metrics()
    assert metrics["a_goodput"] < 0.1 < metrics["b_goodput"]
