"""HPCC, PowerTCP, Swift, TIMELY and DCTCP against references from the papers, and against numbers by hand."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from netsim import _core, baselines

RTT = 8_192_000
FACTS = baselines.NetworkFacts(link_gbps=100, base_rtt_ps=RTT, buffer_bytes=5 * 2**20)
BDP = RTT / (80 * 1106)  # packets


def configured(kind: str, **values: Any) -> Any:
    """One flow of a core class with some parameters of its configuration changed, started at 0."""
    config = getattr(_core, f"{kind}Config")()
    for name, value in values.items():
        setattr(config, name, value)
    machine = getattr(_core, kind)(config, 1)
    machine.start(0, 0, RTT, hops=2)
    return machine


@dataclass
class Ack:
    now: int
    rtt: int
    acked_psn: int
    next_psn: int
    packets: int = 1
    marked: bool = False
    hops: list[tuple[int, int, int, int]] = field(default_factory=list)


def acks(seed: int, count: int = 300) -> list[Ack]:
    """A flow's ACKs with RTTs that wander from 8 us to 1 ms, marks, and INT of two hops at 100 and 25 Gb/s."""
    random = Random(seed)
    now, acked, wait = 10**8, 0, 0.0
    sent = [0, 0]
    found = []
    for _ in range(count):
        step = random.randint(80_000, random.choice([3_000_000, 60_000_000]))
        now += step
        packets = random.choice([1, 1, 1, 2, 16])
        acked += packets
        wait = max(0.0, wait + random.gauss(0, 20_000_000))
        sent = [sent[0] + random.randint(0, step // 80), sent[1] + random.randint(0, step // 320)]
        hops = [
            (now - 3, sent[0], random.choice([0, 5000, 90_000]), 80),
            (now - 2, sent[1], random.choice([0, 9]), 320),
        ]
        rtt = RTT + int(min(wait, 10**9))
        found.append(Ack(now, rtt, acked, acked + random.randint(0, 40), packets, random.random() < 0.2, hops))
    return found


def follow(machine: Any, reference: Callable[[Ack], tuple[float, float]], trace: list[Ack]) -> None:
    for ack in trace:
        rate, window = machine.on_ack(0, **vars(ack))
        expected = reference(ack)
        assert rate == pytest.approx(expected[0], rel=1e-9)
        assert window == pytest.approx(expected[1], rel=1e-9)


def follow_all(kind: str, reference: Callable[[], Callable[[Ack], tuple[float, float]]], **values: Any) -> None:
    for seed in range(10):
        follow(configured(kind, **values), reference(), acks(seed))


@dataclass
class HpccReference:
    """Algorithm 1 with the paper's names; windows in packets."""

    eta: float = 0.95
    max_stage: int = 5
    additive: float = 0.0004
    rate_min: float = 1e-5
    U: float = 1.0
    Wc: float = BDP
    inc_stage: int = 0
    last_update: int | None = None
    L: list[tuple[int, int, int, int]] = field(default_factory=list)

    def __call__(self, ack: Ack) -> tuple[float, float]:
        if self.last_update is None:
            self.last_update, self.L = ack.next_psn, ack.hops
            return 1.0, math.ceil(BDP)
        u, tau = 0.0, 0
        for (ts, tx, q, ps), (ts0, tx0, q0, _) in zip(ack.hops, self.L, strict=True):
            bandwidth = 1 / ps
            found = min(q, q0) / (bandwidth * RTT) + (tx - tx0) / (ts - ts0) / bandwidth
            if found > u:
                u, tau = found, ts - ts0
        tau = min(tau, RTT)
        self.U = (1 - tau / RTT) * self.U + tau / RTT * u
        self.L = ack.hops
        if self.eta <= self.U or self.inc_stage >= self.max_stage:
            window, stage = self.Wc / (self.U / self.eta) + self.additive * BDP, 0
        else:
            window, stage = self.Wc + self.additive * BDP, self.inc_stage + 1
        window = min(max(window, self.rate_min * BDP), BDP)
        if ack.acked_psn > self.last_update:
            self.Wc, self.inc_stage, self.last_update = window, stage, ack.next_psn
        return window / BDP, math.ceil(window)  # a packet leaves while less than W is in flight


@pytest.mark.parametrize("max_stage", [0, 5])
def test_hpcc_is_algorithm_1(max_stage: int) -> None:
    follow_all("Hpcc", lambda: HpccReference(max_stage=max_stage), max_stage=max_stage)


@pytest.mark.parametrize("changed", [{"eta": 0.94}, {"max_stage": 4}, {"additive": 0.0005}, {"rate_min": 0.9}])
def test_hpcc_reference_would_notice(changed: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        follow_all("Hpcc", lambda: HpccReference(**changed), additive_step=0.0004)


def test_hpcc_by_hand() -> None:
    """A hop that sends at line rate with half a BDP queued: U goes to 1.5, and W to W^c / (1.5 / 0.95) + W_ai."""
    machine = configured("Hpcc", additive_step=0.001)
    queue = RTT // 80 // 2
    assert machine.on_ack(0, 0, RTT, 0, 100, hops=[(1000, 5000, queue, 80)]) == (1.0, math.ceil(BDP))
    full = [(1000 + RTT, 5000 + RTT // 80, queue + 7, 80)]
    rate, window = machine.on_ack(0, RTT, RTT, 101, 150, hops=full)
    assert rate == pytest.approx(0.95 / 1.5 + 0.001)
    assert window == math.ceil(rate * BDP)
    half = [
        (1000 + 3 * RTT // 2, 5000 + RTT // 80 * 5 // 4, 0, 80)
    ]  # half an RTT at half the rate: U = (1.5 + 0.5) / 2
    rate, _ = machine.on_ack(0, 2 * RTT, RTT, 102, 160, hops=half)
    assert rate == pytest.approx((0.95 / 1.5 + 0.001) * 0.95 + 0.001)
    later = [(1000 + 5 * RTT // 2, 5000 + RTT // 80 * 7 // 4, 0, 80)]  # an RTT at half the rate: U = 0.5, below eta
    rate, _ = machine.on_ack(0, 3 * RTT, RTT, 103, 170, hops=later)  # 103 left before the update at 150: W^c stays
    assert rate == pytest.approx(0.95 / 1.5 + 0.002)
    assert machine.on_loss(0, 3 * RTT) == (rate, math.ceil(rate * BDP))
    assert machine.on_cnp(0, 3 * RTT)[0] == rate


@dataclass
class PowerTcpReference:
    """Algorithm 1 with the paper's names: power in bits^2 / s over b^2 tau; windows in packets."""

    gamma: float = 0.9
    target: float = 0.95
    floor: float = 0.5
    beta: float = 0.006
    rate_min: float = 0.004
    smooth: float = 1.0
    cwnd_old: float = BDP
    last_update: int | None = None
    prev: list[tuple[int, int, int, int]] = field(default_factory=list)

    def __call__(self, ack: Ack) -> tuple[float, float]:
        if self.last_update is None:
            self.last_update, self.prev = ack.next_psn, ack.hops
            return 1.0, math.ceil(BDP)
        tau, norm, dt = RTT * 1e-12, 0.0, 0.0
        for (ts, tx, q, ps), (ts0, tx0, q0, _) in zip(ack.hops, self.prev, strict=True):
            b = 8e12 / ps
            elapsed = (ts - ts0) * 1e-12
            current = max(8 * (tx - tx0) / elapsed + 8 * (q - q0) / elapsed, self.floor * b)
            power = current * (8 * q + b * tau)
            if power / (b * b * tau) > norm:
                norm, dt = power / (b * b * tau), min(elapsed, tau)
        self.smooth = (self.smooth * (tau - dt) + norm * dt) / tau
        self.prev = ack.hops
        cwnd = self.gamma * (self.cwnd_old * self.target / self.smooth + self.beta * BDP)
        cwnd = min(max(cwnd + (1 - self.gamma) * self.cwnd_old, self.rate_min * BDP), BDP)
        if ack.acked_psn > self.last_update:
            self.cwnd_old, self.last_update = cwnd, ack.next_psn
        return cwnd / BDP, math.ceil(cwnd)


def test_powertcp_is_algorithm_1() -> None:
    follow_all("PowerTcp", PowerTcpReference)


@pytest.mark.parametrize(
    "changed", [{"gamma": 0.8}, {"target": 1.0}, {"floor": 0.0}, {"beta": 0.005}, {"rate_min": 0.9}]
)
def test_powertcp_reference_would_notice(changed: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        follow_all("PowerTcp", lambda: PowerTcpReference(**changed))


def test_powertcp_by_hand() -> None:
    """A full hop with half a BDP in its queue, which stays: power 1.5. The queue then drains within an RTT: power .5"""
    machine = configured("PowerTcp", gain=1.0, target=1.0, additive_step=0.001)
    queue = RTT // 80 // 2
    machine.on_ack(0, 0, RTT, 0, 100, hops=[(1000, 5000, queue, 80)])
    rate, window = machine.on_ack(0, RTT, RTT, 101, 150, hops=[(1000 + RTT, 5000 + RTT // 80, queue, 80)])
    assert rate == pytest.approx(1 / 1.5 + 0.001)
    assert window == math.ceil(rate * BDP)
    drained = [(1000 + 2 * RTT, 5000 + 2 * (RTT // 80), 0, 80)]
    assert machine.on_ack(0, 2 * RTT, RTT, 151, 170, hops=drained)[0] == 1.0  # 2/3 over 1/2 is more than line rate
    assert machine.on_loss(0, 2 * RTT)[0] == machine.on_cnp(0, 2 * RTT)[0] == 1.0


@dataclass
class SwiftReference:
    """Algorithm 1 and section 3.5 with the paper's names; delays in us."""

    base: float = 20.0
    hop: float = 3.053435
    fs_range: float = 100.0
    fs_min: float = 0.1
    fs_max: float = 100.0
    ai: float = 1.0
    beta: float = 0.8
    max_mdf: float = 0.5
    min_cwnd: float = 0.001
    max_cwnd: float = 1000.0
    cwnd: float = BDP
    last_decrease: float = -math.inf
    rtt: float = RTT / 1e6

    def target(self) -> float:
        alpha = self.fs_range / (1 / math.sqrt(self.fs_min) - 1 / math.sqrt(self.fs_max))
        scaling = alpha / math.sqrt(self.cwnd) - alpha / math.sqrt(self.fs_max)
        return self.base + 2 * self.hop + max(0.0, min(scaling, self.fs_range))

    def __call__(self, ack: Ack) -> tuple[float, float]:
        now, delay, target, before = ack.now / 1e6, ack.rtt / 1e6, self.target(), self.cwnd
        can_decrease = now - self.last_decrease >= self.rtt
        self.rtt = delay
        if delay < target:
            self.cwnd += self.ai * ack.packets / max(self.cwnd, 1.0) if self.cwnd >= 1 else self.ai * ack.packets
        elif can_decrease:
            self.cwnd *= max(1 - self.beta * (delay - target) / delay, 1 - self.max_mdf)
        self.cwnd = min(max(self.cwnd, self.min_cwnd), self.max_cwnd)
        if self.cwnd < before:
            self.last_decrease = now
        if self.cwnd >= 1:
            return 1.0, self.cwnd
        return self.cwnd * 80 * 1106 / ack.rtt, 1.0


def test_swift_is_algorithm_1() -> None:
    follow_all("Swift", SwiftReference)


@pytest.mark.parametrize(
    "changed",
    [{"base": 21}, {"hop": 3.1}, {"fs_range": 90}, {"fs_min": 0.2}, {"fs_max": 90}, {"ai": 1.1}, {"beta": 0.7},
     {"max_mdf": 0.4}, {"min_cwnd": 0.5}, {"max_cwnd": 50}],
)  # fmt: skip
def test_swift_reference_would_notice(changed: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        follow_all("Swift", lambda: SwiftReference(**changed))


@pytest.mark.parametrize("window", [0.3, 2.0, 20.0])
def test_swift_settles_where_the_delay_is_the_target(window: float) -> None:
    """Its fixed point: delay = target(w), so w = (alpha / (delay - path - beta))^2."""
    slope = 100e6 / (1 / math.sqrt(0.1) - 1 / math.sqrt(100))
    delay = 20e6 + 2 * 3_053_435 + slope / math.sqrt(window) - slope / 10
    machine = configured("Swift", additive_step=0.01)
    now, limits = 0, (1.0, BDP)
    for psn in range(200_000):
        now += int(delay / 20)
        limits = machine.on_ack(0, now, int(delay), psn, psn + 20)
    rate, held = limits
    assert (held if window > 1 else rate * delay / (80 * 1106)) == pytest.approx(window, rel=0.05)


def test_swift_halves_on_loss_once_an_rtt() -> None:
    machine = configured("Swift")
    assert machine.on_loss(0, 10**8) == (1.0, BDP / 2)
    assert machine.on_loss(0, 10**8 + RTT - 1) == (1.0, BDP / 2)
    assert machine.on_loss(0, 10**8 + RTT) == (1.0, BDP / 4)
    assert machine.on_cnp(0, 10**9) == (1.0, BDP / 4)


@dataclass
class TimelyReference:
    """Algorithm 1 with the paper's names; times in us."""

    alpha: float = 0.875
    beta: float = 0.8
    t_low: float = 50.0
    t_high: float = 500.0
    min_rtt: float = 20.0
    delta: float = 0.001
    hai: float = 0.005
    n: int = 5
    rate_min: float = 0.01
    rate: float = 1.0
    rtt_diff: float = 0.0
    prev_rtt: float | None = None
    last_update: int = 0
    increases: int = 0

    def __call__(self, ack: Ack) -> tuple[float, float]:
        rtt = ack.rtt / 1e6
        if self.prev_rtt is None or ack.acked_psn > self.last_update:
            if self.prev_rtt is not None:
                self.update(rtt, rtt - self.prev_rtt)
            self.prev_rtt, self.last_update = rtt, ack.next_psn
        return self.rate, math.inf

    def update(self, rtt: float, newest: float) -> None:
        self.rtt_diff = (1 - self.alpha) * self.rtt_diff + self.alpha * newest
        gradient = self.rtt_diff / self.min_rtt
        factor = None
        if rtt > self.t_high:
            factor = 1 - self.beta * (1 - self.t_high / rtt)
        elif rtt >= self.t_low and gradient > 0:
            factor = max(0.0, 1 - self.beta * gradient)
        if factor is None:
            self.rate = min(1.0, self.rate + (self.hai if self.increases >= self.n else self.delta))
            self.increases += 1
        else:
            self.rate, self.increases = max(self.rate * factor, self.rate_min), 0


def test_timely_is_algorithm_1() -> None:
    follow_all("Timely", TimelyReference, rate_min=0.01)


@pytest.mark.parametrize(
    "changed",
    [{"alpha": 0.8}, {"beta": 0.7}, {"t_low": 60}, {"t_high": 450}, {"min_rtt": 21}, {"delta": 0.0011},
     {"hai": 0.006}, {"n": 4}, {"rate_min": 0.02}],
)  # fmt: skip
def test_timely_reference_would_notice(changed: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        follow_all("Timely", lambda: TimelyReference(**changed), rate_min=0.01)


def test_timely_by_hand() -> None:
    us = 1_000_000
    machine = configured("Timely")
    machine.on_ack(0, 0, 100 * us, 1, 10)  # the first RTT
    assert machine.on_ack(0, 0, 140 * us, 10, 20)[0] == 1.0  # asked for before the update at 10
    assert machine.on_ack(0, 0, 110 * us, 11, 20)[0] == pytest.approx(1 - 0.8 * 0.875 * 10 / 20)
    assert machine.on_ack(0, 0, 1000 * us, 21, 30)[0] == pytest.approx(0.65 * (1 - 0.8 * 0.5))
    assert machine.on_ack(0, 0, 49 * us, 31, 40)[0] == pytest.approx(0.39 + 0.001)
    assert machine.on_loss(0, 0)[0] == machine.on_cnp(0, 0)[0] == pytest.approx(0.391)


@dataclass
class DctcpReference:
    """Section 3.1 and RFC 8257, sections 3.3 to 3.5."""

    g: float = 1 / 16
    additive: float = 1.0
    alpha: float = 1.0
    window_min: float = 1.0
    window_max: float = 640.0
    cwnd: float = BDP
    observed: list[tuple[int, bool]] = field(default_factory=list)
    window_end: int | None = None
    cut_end: int | None = None

    def __call__(self, ack: Ack) -> tuple[float, float]:
        self.observed.append((ack.packets, ack.marked))
        if self.window_end is None:
            self.window_end = ack.next_psn
        elif ack.acked_psn > self.window_end:
            share = sum(n for n, marked in self.observed if marked) / sum(n for n, _ in self.observed)
            self.alpha += self.g * (share - self.alpha)
            self.window_end = ack.next_psn
            self.observed = []
        if self.cut_end is not None and ack.acked_psn > self.cut_end:
            self.cut_end = None
        if self.cut_end is None and ack.marked:
            self.cwnd = max(self.cwnd * (1 - self.alpha / 2), self.window_min)
            self.cut_end = ack.next_psn
        elif self.cut_end is None:
            self.cwnd = min(self.cwnd + self.additive * ack.packets / self.cwnd, self.window_max)
        return 1.0, self.cwnd


def test_dctcp_is_the_paper() -> None:
    for seed in range(10):
        reference, machine = DctcpReference(), configured("Dctcp")
        follow(machine, reference, acks(seed))
        assert machine.alpha(0) == pytest.approx(reference.alpha)


@pytest.mark.parametrize(
    "changed", [{"g": 1 / 15}, {"additive": 1.1}, {"alpha": 0.9}, {"window_min": 10}, {"window_max": 60}]
)
def test_dctcp_reference_would_notice(changed: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        follow_all("Dctcp", lambda: DctcpReference(**changed))


def test_dctcp_alpha_goes_to_the_share_of_marks() -> None:
    machine = configured("Dctcp")
    windows = []
    for psn in range(1, 40_001):
        windows.append(machine.on_ack(0, psn, RTT, psn, psn + 40, marked=psn % 10 == 0)[1])
    assert machine.alpha(0) == pytest.approx(0.1, abs=0.02)
    cuts = [after / before for before, after in pairwise(windows) if after < before]
    assert cuts[-1] == pytest.approx(1 - machine.alpha(0) / 2, abs=0.005)


def test_dctcp_halves_on_loss_once_a_window() -> None:
    machine = configured("Dctcp", initial_window=100)
    machine.on_ack(0, 0, RTT, 1, 50)
    assert machine.on_loss(0, 1)[1] == pytest.approx(100.01 / 2)
    assert machine.on_loss(0, 2)[1] == pytest.approx(100.01 / 2)
    assert machine.on_ack(0, 3, RTT, 50, 60)[1] == pytest.approx(100.01 / 2)  # what was under way at the cut
    machine.on_ack(0, 4, RTT, 51, 70)
    assert machine.on_loss(0, 5)[1] == pytest.approx((100.01 / 2 + 2 / 100.01) / 2)


@pytest.mark.parametrize("name", ["hpcc", "powertcp", "swift", "timely", "dctcp", "nscc"])
def test_a_flow_that_comes_back_is_new(name: str) -> None:
    built = baselines.by_name(name).at(FACTS).build(2, 100)
    traces = []
    for _ in range(2):
        first = built.start(1, 0, RTT)
        traces.append([first, *(built.on_ack(1, **vars(ack)) for ack in acks(3, 50))])
    assert traces[0] == traces[1]
    assert len(set(traces[0])) > 2


def test_sequence_numbers_wrap() -> None:
    """What counts is the order of sequence numbers, and they wrap at 2^32."""
    for name in ("hpcc", "powertcp", "timely", "dctcp", "nscc"):
        runs = []
        for shift in (0, (1 << 32) - 300):
            built = baselines.by_name(name).at(FACTS).build(1, 100)
            built.start(0, 0, RTT)
            moved = [
                vars(a) | {k: (getattr(a, k) + shift) % (1 << 32) for k in ("acked_psn", "next_psn")} for a in acks(5)
            ]
            runs.append([built.on_ack(0, **ack) for ack in moved])
        assert runs[0] == runs[1], name


def test_no_such_flow() -> None:
    with pytest.raises(IndexError):
        configured("Hpcc").on_cnp(1, 0)
