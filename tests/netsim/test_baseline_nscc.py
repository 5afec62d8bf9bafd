"""NSCC against a reference written down from its simulator in bytes and us, against numbers by hand, and in a loop."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from bench.nscc.exact import ExactFlow, Numbers, WindowEvent, decide
from decision.policy.nscc import NsccPath, NsccSteps, nscc_params
from netsim import Network, Simulation, _core, baselines
from netsim.network import MS

US = 10**6
RTT = 8_192_000
TARGET = RTT
PACKET = 1106
BDP = RTT / (80 * PACKET)  # packets
SCALE = (RTT / 80) / 150_000  # of the steps


def configured(**values: Any) -> Any:
    """One flow with some parameters changed, started at 0."""
    config = _core.NsccConfig()
    for name, value in values.items():
        setattr(config, name, value)
    machine = _core.Nscc(config, 1)
    assert machine.start(0, 0, RTT) == (1.0, config.window_max * BDP)
    return machine


@dataclass
class Driven:
    """A flow whose ACKs come one by one; ``window`` after the last."""

    machine: Any
    now: int = 100 * US
    psn: int = 0
    window: float = 1.5 * BDP

    def ack(
        self, delay: int, packets: int = 1, *, marked: bool = False, after: int = 100_000, flight: int = 0
    ) -> float:
        self.now += after
        self.psn += packets
        rate, self.window = self.machine.on_ack(
            0, self.now, RTT + delay, self.psn, self.psn + flight, packets=packets, marked=marked
        )
        assert rate == 1.0
        return self.window

    def loss(self, after: int = 0) -> float:
        self.now += after
        self.window = self.machine.on_loss(0, self.now)[1]
        return self.window


def ten() -> Driven:
    """A flow that quick adapt has just cut to ten packets, of which none is under way."""
    flow = Driven(configured())
    flow.ack(2 * US)  # the first look: from here on arrivals count
    flow.ack(2 * US, packets=10)
    assert flow.loss(after=RTT + TARGET) == 10
    return flow


def test_below_the_target_and_unmarked_it_grows_with_the_room_left() -> None:
    flow = ten()
    assert flow.ack(TARGET // 2, 8) == 10 + 0.15 * SCALE + 4 * SCALE * (TARGET / 2) / 12e6 * 8 / 10  # an RTT is over
    before = flow.window
    assert flow.ack(TARGET // 4, 8) == before  # increases are put together for more than eight packets
    expected = before + 4 * SCALE * (TARGET * 3 / 4) / 12e6 * 9 / before
    assert flow.ack(TARGET // 4, 1) == pytest.approx(expected, rel=1e-12)
    an_rtt = 4 * SCALE * TARGET / 12e6  # packets, in an empty network
    assert an_rtt == pytest.approx(1.864, abs=1e-3)


def test_beyond_the_target_and_unmarked_it_grows_fairly() -> None:
    flow = ten()
    before = flow.ack(TARGET // 2, 9)
    assert flow.ack(TARGET, 9) == pytest.approx(before + 5 * SCALE * 9 / before, rel=1e-12)


def test_below_the_target_and_marked_it_does_nothing() -> None:
    flow = ten()
    before = flow.ack(TARGET // 2, 9)
    assert flow.ack(TARGET - 1, 9, marked=True) == before
    assert flow.ack(0, 9, marked=True) == before
    assert flow.ack(0, 9, marked=True, after=RTT) == pytest.approx(before + 0.15 * SCALE)  # but for eta


def test_beyond_the_target_and_marked_it_is_cut_by_the_mean_delay_once_an_rtt() -> None:
    flow = Driven(configured())
    while flow.machine.mean_delay_ps(0) * 80 / 79 + 3 * TARGET / 80 < TARGET:  # until the next sample passes the target
        assert flow.ack(3 * TARGET, marked=True) == 1.5 * BDP
    while flow.machine.mean_delay_ps(0) <= TARGET:
        before = flow.window
        flow.ack(3 * TARGET, marked=True)
    mean = flow.machine.mean_delay_ps(0)
    assert flow.window == pytest.approx(before * (1 - 0.8 * (mean - TARGET) / mean), rel=1e-12)
    cut = flow.window
    assert flow.ack(3 * TARGET, marked=True) == cut
    assert flow.ack(3 * TARGET, marked=True, after=RTT) < cut


def test_it_loses_half_at_most() -> None:
    flow = Driven(configured(delay_gain=1.0, steady_step=1e-9))
    assert flow.ack(4 * TARGET, marked=True) == pytest.approx(1.5 * BDP / 2)  # 1 - 0.8 x 3/4 = 0.4


def test_the_mean_takes_an_unmarked_late_packet_for_a_drained_queue() -> None:
    flow = Driven(configured(delay_gain=0.5))
    flow.ack(TARGET, marked=False)
    assert flow.machine.mean_delay_ps(0) == TARGET / 2
    flow.ack(2 * TARGET, marked=False)
    assert flow.machine.mean_delay_ps(0) == TARGET / 4 + RTT / 8
    flow.ack(2 * TARGET, marked=True)
    assert flow.machine.mean_delay_ps(0) == TARGET / 8 + RTT / 16 + TARGET


def test_where_all_is_empty_it_grows_by_a_share_of_what_comes_back() -> None:
    flow = ten()
    before = flow.ack(0, 9)
    assert flow.ack(999_999, 3) == pytest.approx(before + 0.25 * SCALE * 3)  # twelve: more than the window of 11.8
    before = flow.window
    assert flow.ack(0, 4) == pytest.approx(before + 0.25 * SCALE * 4)
    before = flow.window
    slower = before + 4 * SCALE * (TARGET - US) / 12e6 * 4 / before
    assert flow.ack(US, 4) == pytest.approx(slower, rel=1e-12)  # a us of delay ends it
    before = flow.window
    assert flow.ack(0, 4) == before  # and it counts anew


def test_quick_adapt_takes_what_arrived() -> None:
    late = 4 * TARGET + 1
    for delay, packets, expected in ((late, 8, 9.0), (late - 1, 8, None), (late, 18, None)):
        flow = Driven(configured())
        flow.ack(2 * US)
        flow.ack(2 * US, packets)
        before = flow.window
        adapted = flow.ack(delay, after=RTT + TARGET)  # with this one: a packet more
        assert adapted == (before if expected is None else expected)  # 17.4 packets are an eighth of the largest window
    assert Driven(configured()).ack(late) == 1.5 * BDP  # there is nothing to look back on


def test_after_quick_adapt_marks_of_what_was_under_way_say_nothing() -> None:
    flow = Driven(configured(delay_gain=1.0))
    flow.ack(2 * US)
    flow.ack(2 * US, 10, flight=20)
    assert flow.loss(after=RTT + TARGET) == 10
    for _ in range(9):
        assert flow.ack(2 * TARGET, 2, marked=True) == 10
    assert flow.ack(2 * TARGET, 2, marked=True) < 10  # the twentieth


def test_a_loss_before_quick_adapt_may_look_again_takes_a_packet() -> None:
    flow = ten()
    assert flow.loss() == 9
    for _ in range(20):
        flow.loss()
    assert flow.window == 1


def test_it_starts_new_and_hears_no_cnp() -> None:
    flow = ten()
    assert flow.machine.on_cnp(0, flow.now) == (1.0, 10)
    assert flow.machine.start(0, flow.now, RTT) == (1.0, 1.5 * BDP)
    assert flow.machine.mean_delay_ps(0) == 0


class Reference:
    """uec.cpp read line by line, with its names; bytes and us."""

    def __init__(self, **changed: float) -> None:
        self.mss = PACKET
        self.base_rtt = RTT / US
        self.bdp = self.base_rtt * 12_500
        self.maxwnd = changed.get("maxwnd", 1.5) * self.bdp
        self.target = changed.get("target", 1.0) * self.base_rtt
        a, b = self.bdp / 150_000, self.target / 12
        self.alpha = changed.get("alpha", 4.0) * self.mss * a * b / self.target
        self.fi = changed.get("fi", 5.0) * self.mss * a
        self.eta = changed.get("eta", 0.15) * self.mss * a
        self.fi_scale = changed.get("fi_scale", 0.25) * a
        self.fast_delay = changed.get("fast_delay", 1.0)
        self.gamma = changed.get("gamma", 0.8)
        self.max_md_jump = changed.get("max_md_jump", 0.5)
        self.delay_alpha = changed.get("delay_alpha", 0.0125)
        self.drained = changed.get("drained", 0.25)
        self.adjust_bytes = changed.get("adjust", 8) * self.mss
        self.qa_threshold = changed.get("qa", 4.0) * self.target
        self.qa_gate = changed.get("gate", 0.125)
        self.min_cwnd = changed.get("min", 1.0) * self.mss
        self.cwnd = self.maxwnd
        self.avg_delay = self.inc_bytes = 0.0
        self.qa_endtime = self.last_adjust = self.last_dec = 0.0
        self.achieved = self.received = self.fi_count = self.in_flight = self.bytes_ignored = self.bytes_to_ignore = 0
        self.increase = self.trigger_qa = False

    def ack(self, now: float, rtt: float, newly: int, in_flight: int, skip: bool) -> float:
        self.achieved += newly
        self.received += newly
        self.bytes_ignored += newly
        self.in_flight = in_flight
        delay = rtt - self.base_rtt
        self.update_delay(delay, skip)
        if not self.quick_adapt(now, False, skip, delay):
            if not skip and delay >= self.target:
                self.inc_bytes += self.fi * newly
            elif not skip:
                self.fast_increase(newly, delay)
                if not self.increase:
                    self.inc_bytes += self.alpha * newly * (self.target - delay)
            elif delay >= self.target:
                self.increase, self.fi_count = False, 0
                if self.avg_delay > self.target and now - self.last_dec > self.base_rtt:
                    cut = 1 - self.gamma * (self.avg_delay - self.target) / self.avg_delay
                    self.cwnd *= max(cut, self.max_md_jump)
                    self.last_dec = now
            self.set_bounds()
            if self.received > self.adjust_bytes or now - self.last_adjust > self.base_rtt:
                self.cwnd += self.inc_bytes / self.cwnd
                if now - self.last_adjust >= self.base_rtt:
                    self.cwnd += self.eta
                    self.last_adjust = now
                self.inc_bytes = self.received = 0
            self.set_bounds()
        return self.cwnd / self.mss

    def nack(self, now: float) -> float:
        self.bytes_ignored += self.mss
        self.update_delay(self.base_rtt, True)
        self.trigger_qa = True
        if not self.quick_adapt(now, True, True, 0):
            self.cwnd -= self.mss
            self.set_bounds()
        return self.cwnd / self.mss

    def quick_adapt(self, now: float, is_loss: bool, skip: bool, delay: float) -> bool:
        done = self.bytes_ignored < self.bytes_to_ignore and skip
        if not done and now > self.qa_endtime:
            hard = self.trigger_qa or is_loss or delay > self.qa_threshold
            if self.qa_endtime != 0 and hard and self.achieved < self.maxwnd * self.qa_gate:
                self.cwnd = max(self.achieved, self.min_cwnd)
                self.bytes_to_ignore, self.bytes_ignored = self.in_flight, 0
                self.trigger_qa = False
                done = True
            self.achieved = 0
            self.qa_endtime = now + self.base_rtt + self.target
        if done:
            self.inc_bytes = self.received = 0
        return done

    def fast_increase(self, newly: int, delay: float) -> None:
        if delay < self.fast_delay:
            self.fi_count += newly
            if self.fi_count > self.cwnd or self.increase:
                self.cwnd += newly * self.fi_scale
                self.increase = True
                return
        else:
            self.fi_count = 0
        self.increase = False

    def update_delay(self, delay: float, skip: bool) -> None:
        sample = self.base_rtt * self.drained if not skip and delay > self.target else delay
        self.avg_delay = self.delay_alpha * sample + (1 - self.delay_alpha) * self.avg_delay

    def set_bounds(self) -> None:
        self.cwnd = min(max(self.cwnd, self.min_cwnd), self.maxwnd)


def feedback(seed: int, count: int = 3000) -> Iterator[tuple[str, int, int, int, int, bool]]:
    """ACKs and losses of a flow in spells of an empty, a filling and a full network."""
    random = Random(seed)
    now, wait, spell = 10 * US, 0.0, 0
    for _ in range(count):
        now += random.randint(50_000, random.choice([200_000, 3_000_000])) * (10 if spell > 50 * US else 1)
        if random.random() < 0.01:
            spell = random.choice([0, 0, 6, 15, 60, 300]) * US
        wait = 0.9 * wait + 0.1 * spell
        delay = int(max(0.0, wait + random.gauss(0, 0.2) * wait)) // 10**3 * 10**3
        if random.random() < 0.01:
            yield "loss", now, 0, 0, 0, True
        else:
            marked = random.random() < (0.7 if delay > 6 * US else 0.05)
            yield "ack", now, RTT + delay, random.choice([1, 1, 1, 2, 8]), random.randint(0, 60), marked


def follow(machine: Any, reference: Reference, seed: int) -> list[float]:
    psn, windows = 0, []
    for kind, now, rtt, packets, flight, marked in feedback(seed):
        if kind == "loss":
            window = machine.on_loss(0, now)[1]
            expected = reference.nack(now / US)
        else:
            psn += packets
            window = machine.on_ack(0, now, rtt, psn, psn + flight, packets=packets, marked=marked)[1]
            expected = reference.ack(now / US, rtt / US, packets * PACKET, flight * PACKET, marked)
        assert window == pytest.approx(expected, rel=1e-8)
        windows.append(window)
    return windows


def follow_all(**changed: float) -> list[float]:
    return [window for seed in range(5) for window in follow(configured(), Reference(**changed), seed)]


def test_it_is_its_simulators() -> None:
    windows = follow_all()
    assert min(windows) == 1
    assert max(windows) == pytest.approx(1.5 * BDP)


@pytest.mark.parametrize(
    "changed",
    [{"target": 1.1}, {"alpha": 4.1}, {"fi": 5.1}, {"eta": 0.16}, {"fi_scale": 0.26}, {"fast_delay": 1.1},
     {"gamma": 0.7}, {"max_md_jump": 0.9}, {"delay_alpha": 0.013}, {"drained": 0.3}, {"adjust": 9}, {"qa": 5.0},
     {"gate": 0.15}, {"min": 1.1}, {"maxwnd": 1.6}],
)  # fmt: skip
def test_the_reference_would_notice(changed: dict[str, float]) -> None:
    with pytest.raises(AssertionError):
        follow_all(**changed)


def test_the_preset_is_the_default_of_the_core() -> None:
    spec = baselines.by_name("nscc").at(baselines.NetworkFacts(100, RTT, 5 * 2**20))
    built = spec.build(1, 100)
    plain = configured()
    built.start(0, 0, RTT)
    for kind, now, rtt, packets, flight, marked in feedback(9, 500):
        if kind == "loss":
            assert built.on_loss(0, now) == plain.on_loss(0, now)
        else:
            assert built.on_ack(0, now, rtt, 0, flight, packets=packets, marked=marked) == plain.on_ack(
                0, now, rtt, 0, flight, packets=packets, marked=marked
            )
    assert spec.ecn is not None
    bdp = RTT // 80  # bytes, of the default network
    assert (spec.ecn.kmin, spec.ecn.kmax) == (bdp // 5, bdp * 4 // 5)


@pytest.mark.parametrize("flows", [2, 16, 64])
def test_flows_share_a_port_with_a_queue_about_the_target(flows: int) -> None:
    run = Simulation(f"many-to-one:{flows}", baselines.by_name("nscc"), seed=1, network=Network())
    run.run(20 * MS)
    run.reset_window()
    run.run(40 * MS)
    metrics = run.metrics()
    assert metrics["loss"] == 0
    assert metrics["goodput"] > 0.99 * 1024 / 1106
    assert metrics["jain"] > 0.95
    assert 0.25 * TARGET / US < metrics["queue_mean_us"] < 1.5 * TARGET / US
    assert math.isfinite(metrics["rtt_mean_us"])


PATH = NsccPath(PACKET, 10**11, RTT // 1000)


def differences(params: dict[str, int], seed: int, **values: Any) -> list[float]:
    """Differences of the window of the exact reference (bench/nscc/exact.py) from the core's, as shares of the core's,
    in ascending order.

    The clock of the reference starts 10 ms later: its timers, which start at 0, have expired as the core's have.
    """
    machine, numbers, flow, psn, held, found = configured(**values), Numbers.of(params), ExactFlow(), 0, 0, []
    for kind, now, rtt, packets, flight, marked in feedback(seed, 1500):
        now_ns = 10**7 + now // 1000
        if kind == "loss":
            window = machine.on_loss(0, now)[1] * PACKET
            event = WindowEvent(now_ns, lost=(PACKET,), in_flight=held)
        else:
            psn, held, size = psn + packets, flight * PACKET, packets * PACKET
            window = machine.on_ack(0, now, rtt, psn, psn + flight, packets=packets, marked=marked)[1] * PACKET
            event = WindowEvent(now_ns, rtt // 1000, size, size if marked else 0, in_flight=held)
        flow = decide(flow, event, numbers)
        found.append(abs(float(flow.window) - window) / window)
    return sorted(found)


def near(found: list[float]) -> bool:
    """Median within 1 %, nine in ten within 2 %, 99 % within 4 %, every one within 12 %."""
    return all(
        found[int(share * (len(found) - 1))] < bound
        for share, bound in ((0.5, 0.01), (0.9, 0.02), (0.99, 0.04), (1.0, 0.12))
    )


@pytest.mark.parametrize(("seed", "target"), [(0, 1.0), (3, 1.0), (1, 2.0), (2, 0.5)])
def test_the_exact_reference_of_the_firmware_is_near_the_core(seed: int, target: float) -> None:
    assert near(differences(nscc_params(PATH, NsccSteps(target=target)), seed, target=target))


@pytest.mark.parametrize(
    "changed",
    [{"target": 1.1}, {"fair_step": 6.0}, {"proportional_step": 5.0}, {"steady_step": 0.3}, {"window_max": 1.6},
     {"quick_delay": 3.0}, {"fast_share": 0.3}],
)  # fmt: skip
def test_a_reference_with_another_setting_is_not_near_the_core(changed: dict[str, float]) -> None:
    assert not near(differences(nscc_params(PATH, NsccSteps(**changed)), 3))
