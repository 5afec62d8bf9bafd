"""DCQCN in closed form against an eager reference that lives through every timer event."""

import copy
from dataclasses import dataclass, fields, replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from netsim import _core, baselines

NEVER = 1 << 62


@dataclass(frozen=True)
class Parameters:
    gain: float = 1 / 16
    initial_alpha: float = 1.0
    alpha_divisor: float = 2.0
    cut_floor: float = 0.0
    rate_min: float = 1e-3
    additive_step: float = 0.01
    hyper_step: float = 0.03
    alpha_period_ps: int = 7
    increase_period_ps: int = 20
    monitor_period_ps: int = 5
    byte_reset: int = 1000
    recovery_stages: int = 2
    clamp_target: bool = False

    def core(self) -> "_core.Dcqcn":
        config = _core.DcqcnConfig()
        for f in fields(self):
            setattr(config, f.name, getattr(self, f.name))
        return _core.Dcqcn(config, 1)


@dataclass
class Eager:
    """One flow, one timer event after the other: alpha's first, then the increase timer's, then the look for CNPs."""

    p: Parameters
    rate: float = 1.0
    target: float = 1.0
    alpha: float = 0.0
    alpha_at: int = NEVER
    increase_at: int = NEVER
    look_at: int = NEVER
    heard_for_alpha: bool = False
    heard_for_cut: bool = False
    by_time: int = 0
    by_bytes: int = 0
    bytes_left: int = 0

    def next_event(self) -> int:
        return min(self.alpha_at, self.increase_at, self.look_at)

    def event(self) -> None:
        now = self.next_event()
        g = self.p.gain
        if self.alpha_at == now:
            self.alpha = (1 - g) * self.alpha + (g if self.heard_for_alpha else 0)
            self.heard_for_alpha = False
            self.alpha_at += self.p.alpha_period_ps
        elif self.increase_at == now:
            self.increase()
            self.by_time += 1
            self.increase_at += self.p.increase_period_ps
        else:
            if self.heard_for_cut:
                self.cut(now)
            self.heard_for_cut = False
            self.look_at += self.p.monitor_period_ps

    def run(self, now: int) -> None:
        while self.next_event() <= now:
            self.event()

    def increase(self) -> None:
        stages = (self.by_time, self.by_bytes) if self.p.byte_reset else (self.by_time,)
        if max(stages) >= self.p.recovery_stages:
            step = self.p.hyper_step if min(stages) > self.p.recovery_stages else self.p.additive_step
            self.target = min(1.0, self.target + step)
        self.rate = (self.rate + self.target) / 2

    def cut(self, now: int) -> None:
        if self.p.clamp_target or self.by_time or self.by_bytes:
            self.target = self.rate
        factor = max(1 - self.alpha / self.p.alpha_divisor, self.p.cut_floor)
        self.rate = max(self.rate * factor, self.p.rate_min)
        self.by_time = self.by_bytes = 0
        self.bytes_left = self.p.byte_reset
        self.increase_at = now + self.p.increase_period_ps

    def cnp(self, now: int) -> None:
        self.run(now)
        first = self.alpha_at == NEVER
        if first:
            self.alpha = self.p.initial_alpha
            self.alpha_at = now + self.p.alpha_period_ps
            self.bytes_left = self.p.byte_reset
        if self.p.monitor_period_ps:
            self.heard_for_cut = True
            self.heard_for_alpha = not first
            if first:
                self.look_at = now + self.p.monitor_period_ps
        else:
            self.cut(now)
            self.alpha = (1 - self.p.gain) * self.alpha + self.p.gain
            self.alpha_at = now + self.p.alpha_period_ps

    def sent(self, now: int, size: int) -> None:
        self.run(now)
        if self.p.byte_reset and self.alpha_at != NEVER:
            self.bytes_left -= size
            while self.bytes_left <= 0:
                self.increase()
                self.by_bytes += 1
                self.bytes_left += self.p.byte_reset

    def next_send(self, begin: int, burst: int) -> int | None:
        """The NIC moves the burst at each change of rate; None where rounding decides whether a change comes first."""
        ahead = copy.copy(self)
        at = begin + burst / ahead.rate
        while ahead.next_event() <= at + 1:
            if abs(ahead.next_event() - at) <= 1 and ahead.next_event() != ahead.alpha_at:
                return None
            now = ahead.next_event()
            ahead.event()
            at = max(now, begin + burst / ahead.rate)
        return int(at)


Step = tuple[int, str, int]  # time since the last one, what, bytes


def started(parameters: Parameters) -> "_core.Dcqcn":
    lazy = parameters.core()
    assert lazy.start(0, 0, 8_192_000) == (1.0, float("inf"))
    return lazy


def trajectory(lazy: "_core.Dcqcn", steps: list[Step]) -> list[float]:
    now = 0
    rates = []
    for gap, what, size in steps:
        now += gap
        if what == "cnp":
            rates.append(lazy.on_cnp(0, now)[0])
        elif what == "sent":
            lazy.on_sent(0, now, size)
        rates.append(lazy.rate_at(0, now))
    return rates


def check(parameters: Parameters, steps: list[Step]) -> None:
    lazy, eager = started(parameters), Eager(parameters)
    now = 0
    for gap, what, size in steps:
        now += gap
        if what == "cnp":
            eager.cnp(now)
            assert lazy.on_cnp(0, now)[0] == pytest.approx(eager.rate, rel=1e-9)
        elif what == "sent":
            eager.sent(now, size)
            lazy.on_sent(0, now, size)
            expected = eager.next_send(now, size)
            if expected is not None:
                assert abs(lazy.next_send(0, now, size) - expected) <= 1
        elif what == "ack":
            eager.run(now)
            assert lazy.on_ack(0, now, rtt=1, acked_psn=1, next_psn=1)[0] == pytest.approx(eager.rate, rel=1e-9)
        else:
            eager.run(now)
        assert lazy.rate_at(0, now) == pytest.approx(eager.rate, rel=1e-9)


WHAT = ["cnp", "sent", "sent", "ack", "look"]


def drawn(random: Random) -> tuple[Parameters, list[Step]]:
    """Periods of a few ps, so that events meet at one instant, or of many, so that rates are caught on their way."""
    period = random.choice([20, 300])
    parameters = Parameters(
        gain=random.uniform(0.01, 1),
        initial_alpha=random.uniform(0.01, 1),
        alpha_divisor=random.uniform(1, 4),
        cut_floor=random.choice([0, random.random()]),
        rate_min=10 ** random.uniform(-5, -1),
        additive_step=10 ** random.uniform(-4, -0.3),
        hyper_step=10 ** random.uniform(-4, -0.3),
        alpha_period_ps=random.randint(1, period),
        increase_period_ps=random.randint(1, period),
        monitor_period_ps=random.choice([0, random.randint(1, period)]),
        byte_reset=random.choice([0, 100, 1000]),
        recovery_stages=random.randint(0, 6),
        clamp_target=random.random() < 0.5,
    )
    longest = random.choice([2, 20, 200])
    run = [(random.randint(0, longest), random.choice(WHAT), random.randint(1, 300)) for _ in range(30)]
    jump = random.randrange(30)
    run[jump] = (random.randint(0, 3000), random.choice(WHAT), random.randint(1, 20_000))
    return parameters, [(random.randint(0, 50), "cnp", 0), *run]


@pytest.mark.slow_except("1", "2", "3")
@pytest.mark.parametrize("seed", range(8))
def test_closed_form_is_the_timers(seed: int) -> None:
    random = Random(seed)
    for _ in range(50):
        check(*drawn(random))


def preset(name: str) -> Parameters:
    """The preset at 100 Gb/s, read from its file by hand."""
    spec = baselines.by_name(name)
    assert isinstance(spec, baselines.DcqcnSpec)
    rates = {key: getattr(spec, key).at(100) for key in ("rate_min", "additive_step", "hyper_step")}
    periods = {f"{key}_ps": getattr(spec, key) for key in ("alpha_period", "increase_period", "monitor_period")}
    same = {f.name: getattr(spec, f.name) for f in fields(Parameters) if hasattr(spec, f.name)}
    return Parameters(**(same | rates | periods))


@pytest.mark.parametrize("name", ["dcqcn", "dcqcn-hpcc", "dcqcn-original"])
@settings(max_examples=examples(15), deadline=None)
@given(data=st.data())
def test_presets(name: str, data: Any) -> None:
    us = 1_000_000
    gaps = st.one_of(st.integers(0, 400 * us), st.sampled_from([us, 4 * us, 55 * us, 60 * us, 300 * us, 4000 * us]))
    run = data.draw(st.lists(st.tuples(gaps, st.sampled_from(["cnp", "sent", "look"]), st.integers(1, 200_000))))
    check(preset(name), run)


def test_the_built_preset_is_its_file() -> None:
    run: list[Step] = [
        (5_000_000, "cnp", 0),
        (90_000_000, "sent", 70_000),
        (700_000_000, "cnp", 0),
        (9_000_000, "x", 0),
    ]
    for name in ("dcqcn", "dcqcn-hpcc", "dcqcn-original"):
        built = baselines.by_name(name).build(1, 100)
        built.start(0, 0, 8_192_000)
        assert trajectory(built, run) == trajectory(started(preset(name)), run)


def test_by_hand() -> None:
    """SIGCOMM'15, equations 1 and 2, with numbers that can be followed on paper."""
    p = Parameters(gain=0.5, monitor_period_ps=0, alpha_period_ps=10, increase_period_ps=100, byte_reset=0)
    lazy = started(p)
    assert lazy.on_cnp(0, 1000)[0] == 0.5  # alpha is 1 and stays 1
    assert lazy.on_cnp(0, 1010)[0] == 0.5 * (1 - 0.5 / 2)  # one period without a CNP: alpha 0.5
    assert lazy.rate_at(0, 1109) == 0.375
    assert lazy.rate_at(0, 1110) == (0.375 + 1.0) / 2  # recovery: halfway to the target, which two CNPs in a row left
    assert lazy.rate_at(0, 1210) == (0.6875 + 1.0) / 2
    clamped = started(replace(p, clamp_target=True))
    clamped.on_cnp(0, 1000)
    clamped.on_cnp(0, 1010)
    assert clamped.rate_at(0, 1110) == (0.375 + 0.5) / 2
    assert clamped.rate_at(0, 1210) == (0.4375 + 0.5) / 2
    assert clamped.rate_at(0, 1310) == pytest.approx((0.46875 + 0.51) / 2)  # the third rises by the additive step
    assert clamped.rate_at(0, 1410) == pytest.approx((0.489375 + 0.54) / 2)  # and the fourth by the hyper step


def test_a_cnp_at_an_expiry_finds_the_timer_fired() -> None:
    p = Parameters(monitor_period_ps=0, alpha_period_ps=1 << 40, increase_period_ps=100, byte_reset=0)
    lazy = started(p)
    lazy.on_cnp(0, 0)
    assert lazy.on_cnp(0, 100)[0] == pytest.approx((0.5 + 1.0) / 2 / 2)


def test_pacing_looks_ahead() -> None:
    """At rate 1/2 the burst would leave at 200; the timer at 150 takes the rate to 3/4, and it leaves at 150."""
    p = Parameters(monitor_period_ps=0, increase_period_ps=150, byte_reset=0)
    lazy = started(p)
    lazy.on_cnp(0, 0)
    assert lazy.next_send(0, 0, 100) == 150
    assert lazy.next_send(0, 0, 74) == 148
    assert lazy.next_send(0, 100, 100) == 233  # 100 + 100 / (3/4)
    assert lazy.rate_at(0, 149) == 0.5  # looking ahead changes nothing
    monitored = started(replace(p, monitor_period_ps=50))
    monitored.on_cnp(0, 0)
    assert monitored.next_send(0, 0, 49) == 49
    assert monitored.next_send(0, 0, 50) == 50 / (1 - (15 / 16) ** 7 / 2) // 1  # the cut at that instant comes first
    assert monitored.next_send(0, 0, 40) == 40
    assert monitored.next_send(0, 0, 60) == 60 / (1 - (15 / 16) ** 7 / 2) // 1  # cut at 50, after seven alpha periods


def test_idle_for_a_minute_costs_nothing_and_is_exact() -> None:
    lazy = started(preset("dcqcn"))
    lazy.on_cnp(0, 0)
    assert lazy.rate_at(0, 60 * 10**12) == 1.0
    assert 0.5 < lazy.on_cnp(0, 60 * 10**12)[0] <= 1.0
    assert lazy.rate_at(0, 60 * 10**12 + 4_000_000) > 0.99  # alpha has decayed to nothing


RUN: list[Step] = [
    (3, "cnp", 0), (4, "cnp", 0), (30, "cnp", 0), (2, "sent", 4000), (110, "look", 0), (9, "cnp", 0), (1, "cnp", 0),
    (8, "cnp", 0), (6, "cnp", 0), (77, "sent", 2500), (200, "cnp", 0), (90, "sent", 9000), (300, "sent", 900),
    *[(5, "cnp", 0)] * 60,
]  # fmt: skip
OTHER: dict[str, Any] = {
    "gain": 1 / 15, "initial_alpha": 0.99, "alpha_divisor": 2.1, "cut_floor": 0.9, "rate_min": 1e-2,
    "additive_step": 0.011, "hyper_step": 0.031, "alpha_period_ps": 8, "increase_period_ps": 21,
    "monitor_period_ps": 6, "byte_reset": 1100, "recovery_stages": 3, "clamp_target": True,
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER)
def test_the_reference_would_notice(name: str) -> None:
    """Each constant counts: a reference with one of them changed disagrees."""
    check(Parameters(), RUN)
    eager, lazy = Eager(replace(Parameters(), **{name: OTHER[name]})), started(Parameters())
    now, apart = 0, 0.0
    for gap, what, size in RUN:
        now += gap
        if what == "cnp":
            eager.cnp(now)
            lazy.on_cnp(0, now)
        elif what == "sent":
            eager.sent(now, size)
            lazy.on_sent(0, now, size)
        eager.run(now)
        apart = max(apart, abs(lazy.rate_at(0, now) / eager.rate - 1))
    assert apart > 1e-4
