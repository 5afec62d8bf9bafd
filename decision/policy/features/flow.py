"""Observations of flows' policies, by the names in their papers (RL-CC, PCC-RL)."""

from math import frexp, inf, sqrt
from typing import Any, Literal

import numpy as np
from pydantic import Field

from decision.ir.arrays import Floats
from decision.ir.expression import (
    Above,
    AtLeastIf,
    AtMost,
    Coded,
    Decided,
    Elapsed,
    Expression,
    OverKnown,
    OverRatio,
    PlusOne,
    Proportion,
    Quotient,
    Short,
    Signal,
    TimesRoot,
    Whole,
)
from decision.ir.formats import ACTION_BITS, FEATURE_LIMIT
from decision.ir.interface import Interface
from decision.ir.interfaces.completion import LOSSES, RTT
from decision.ir.interfaces.flow_rate import (
    CONGESTION_GAIN,
    CONTEXT_RATE_BITS,
    GAIN_BITS,
    INFLATION_BITS,
    RATE_FRACTION_BITS,
    RTT_SLACK,
    TARGET_RATIO,
)
from decision.policy.features.feature import Feature, Place

KIBIBYTE_BITS = 10
MAX_FRACTION_BITS = 20
"""Of a congestion feature: its square and the rate's fraction as Q0.32 are one high word."""


def _doublings(number: float) -> int:
    """The least n with 2^n at or above it."""
    part, power = frexp(number)
    return power - 1 if part == 0.5 else power


class PreviousAction(Feature):
    """The multiplier that the decision before applied (RL-CC section 3: the state is (delta_t, a_{t-1}))."""

    kind: Literal["previous_action"]

    @property
    def name(self) -> str:
        return "action"

    @property
    def storage(self) -> str:
        return "int32"

    @property
    def decided(self) -> str:
        return "action"

    @property
    def format(self) -> tuple[float, float]:
        return 1.0, 2.0**-ACTION_BITS

    def expression(self, place: Place) -> Expression:
        return Decided("action", ACTION_BITS, 1.0)

    def meaning(self) -> str:
        return "action_k: the multiplier of the rate k decisions ago, minus 1, Q16"

    def physical(self, threshold: int) -> str:
        return f"previous action > {1 + threshold / 2**16:.5f}"


class _Inflation(Feature):
    @property
    def name(self) -> str:
        return f"{self.kind}_q{INFLATION_BITS}"

    @property
    def storage(self) -> str:
        return "int32"

    @property
    def format(self) -> tuple[float, float]:
        return 1.0, 2.0**-INFLATION_BITS

    def meaning(self) -> str:
        return f"{self.name}: {self.words} - 1, Q{INFLATION_BITS}"


class RttInflation(_Inflation):
    """rtt / base_rtt. Integer: inflation - 1 with 10 fraction bits."""

    kind: Literal["rtt_inflation"]

    def expression(self, place: Place) -> Expression:
        return Coded(rtt_inflation(place), INFLATION_BITS, 1.0, self.name, "rtt / base RTT - 1")


class QueueInflation(_Inflation):
    """1 + queue / (base_rtt * line rate), RL-CC eq. 6. Integer: inflation - 1 with 10 fraction bits."""

    kind: Literal["queue_inflation"]

    def expression(self, place: Place) -> Expression:
        return Coded(queue_inflation(place), INFLATION_BITS, 1.0, self.name, "queue delay / base RTT")


class _Congestion(Feature):
    """Its integer is ``excess^2 * rate``: the order of ``target - excess * sqrt(rate)`` turned round, no root and no
    rounding of one."""

    target: float = Field(gt=0, le=64)
    """Target of the congestion."""
    signal: Literal["rtt", "queue"] = "rtt"
    """Source of the inflation: the RTT, or the queue of the telemetry."""
    saturates: bool = Field(default=False, exclude_if=lambda saturates: not saturates)
    """The teacher sees no more of a flood than trees can: excess * sqrt(rate) ends where its integer does."""

    @property
    def tolerance(self) -> float:
        raise NotImplementedError

    @property
    def factor(self) -> float:
        raise NotImplementedError

    @property
    def fraction_bits(self) -> int:
        """Fraction bits of ``excess^2 * rate``: as many as leave room for eight times the target, 20 at the most."""
        return min(MAX_FRACTION_BITS, 24 - _doublings((8 * self.target) ** 2))

    @property
    def name(self) -> str:
        return f"congestion_q{self.fraction_bits}"

    def expression(self, place: Place) -> Expression:
        # Saturated below all the same: the RTT need not be, which takes an instruction or five.
        inflation = rtt_over_base(place) if self.signal == "rtt" else queue_inflation(place)
        most = (2**16 - 1) / 2**INFLATION_BITS
        above = Above(inflation, self.tolerance, "inflation")
        excess = AtMost(above, most, "excess_q10", "inflation above the tolerance")
        names, note = ("excess_squared_q20", self.name), "excess^2 * rate: orders flows as -delta does"
        rate = place.in_force(CONTEXT_RATE_BITS)
        if CONGESTION_GAIN not in place.interface.param_names:
            return self._short(TimesRoot(excess, rate, self.fraction_bits, names, note))
        full = TimesRoot(excess, rate, MAX_FRACTION_BITS, (names[0], "congestion_raw_q20"), note)
        gain = CONGESTION_GAIN, GAIN_BITS
        names, note = ("congestion_held_q20", self.name), "at the operator's target"
        return self._short(OverRatio(full, TARGET_RATIO, *gain, self.fraction_bits, names, note))

    @property
    def _end(self) -> float:
        """The least excess * sqrt(rate) whose integer is above every threshold; infinite where the teacher sees all."""
        return sqrt(FEATURE_LIMIT / 2**self.fraction_bits) if self.saturates else inf

    def _short(self, congestion: Expression) -> Expression:
        return Short(congestion, self.target, self.factor, self._end)

    def float_of(self, integer: Floats) -> Floats:
        excess = np.minimum(np.sqrt(np.maximum(integer, 0.0) / 2**self.fraction_bits), self._end)
        return np.asarray(self.factor * (self.target - excess), dtype=np.float64)

    def value(self, integer: int) -> str:
        return f"delta {round(self.target - sqrt(max(integer, 0) / 2**self.fraction_bits), 4) + 0.0:.4f}"

    def meaning(self) -> str:
        inflation = "rtt / base RTT" if self.signal == "rtt" else "(1 + queue delay / base RTT)"
        excess = f"max({inflation} - {self.tolerance:g}, 0)" if self.tolerance > 0 else inflation
        square = f"{self.name}: ({self.target:g} - delta)^2, Q{self.fraction_bits}"
        return f"{square}, where delta = {self.target:g} - {excess} * sqrt(rate)"

    def physical(self, threshold: int) -> str:
        delta = self.target - sqrt(max(threshold + 1, 0) / 2**self.fraction_bits)
        return f"delta <= {round(delta, 4) + 0.0:.4f}"  # + 0.0: no "-0.0000"


class RlCcCongestion(_Congestion):
    """scale * (target - max(inflation - beta, 0) * sqrt(rate)), inflation = RTT / base RTT or, if signal = queue, 1 +
    queue delay / base RTT. This is RL-CC eq. 4; its code has scale = -12.5."""

    kind: Literal["rl_cc_congestion"]
    beta: float = Field(ge=0, le=16)
    """Inflation below which there is no congestion."""
    scale: float
    """Factor of the whole feature."""

    @property
    def tolerance(self) -> float:
        return self.beta

    @property
    def factor(self) -> float:
        return self.scale


class PccRlCongestion(_Congestion):
    """scale * (target - inflation * sqrt(rate)), PCC-RL section 6 (target 2, strict 1, loose 20)."""

    kind: Literal["pcc_rl_congestion"]
    scale: float = 1.0
    """Factor of the whole feature."""

    @property
    def tolerance(self) -> float:
        return 0.0

    @property
    def factor(self) -> float:
        return self.scale


class Rate(Feature):
    """The flow's rate, a fraction of line rate. Integer: Q0.20, as the device has it."""

    kind: Literal["rate"]

    def unit_in(self, interface: Interface) -> str:
        return "line rate"

    @property
    def name(self) -> str:
        return f"rate_q{RATE_FRACTION_BITS}"

    @property
    def format(self) -> tuple[float, float]:
        return 0.0, 2.0**-RATE_FRACTION_BITS

    def expression(self, place: Place) -> Expression:
        return Coded(place.in_force(CONTEXT_RATE_BITS), RATE_FRACTION_BITS, 0.0, self.name, "fraction of line rate")

    def value(self, integer: int) -> str:
        return f"rate {integer / 2**RATE_FRACTION_BITS:.6f} of line rate"

    def meaning(self) -> str:
        return f"{self.name}: the rate in force, a fraction of line rate, Q{RATE_FRACTION_BITS}"

    def physical(self, threshold: int) -> str:
        return f"rate >= {(threshold + 1) / 2**RATE_FRACTION_BITS:.6f} of line rate"


class _CountRatio(Feature):
    """Packets of a kind a KiB sent since the decision before (a KiB is one packet of the papers' networks), at most 1.
    Integer: 8 fraction bits, floored."""

    def unit_in(self, interface: Interface) -> str:
        return "packets a KiB"

    @property
    def name(self) -> str:
        return f"{self.kind}_q8"

    @property
    def storage(self) -> str:
        return "uint16"

    @property
    def count(self) -> str:
        """The signal that counts them."""
        raise NotImplementedError

    @property
    def format(self) -> tuple[float, float]:
        return 0.0, 2.0**-8

    def expression(self, place: Place) -> Expression:
        sent = Whole(place.source("sent_bytes"), KIBIBYTE_BITS)
        names = ("sent_packets", f"{self.count}_held", self.name)
        return Quotient(place.source(self.count), sent, 8, names, f"{self.words} a KiB sent")

    def meaning(self) -> str:
        return f"{self.name}: {self.count} a KiB sent since the decision before, at most 1, Q8"


class CnpRatio(_CountRatio):
    """CNPs a KiB sent (PCC-RL section 6 observes CNP counts)."""

    kind: Literal["cnp_ratio"]

    @property
    def count(self) -> str:
        return "cnp_count"


class NackRatio(_CountRatio):
    """NACKs a KiB sent (PCC-RL section 6 observes NACK counts)."""

    kind: Literal["nack_ratio"]

    @property
    def count(self) -> str:
        return "nack_count"


FEATURE_KINDS: dict[str, Any] = {
    "previous_action": PreviousAction,
    "rl_cc_congestion": RlCcCongestion,
    "pcc_rl_congestion": PccRlCongestion,
    "rtt_inflation": RttInflation,
    "queue_inflation": QueueInflation,
    "rate": Rate,
    "cnp_ratio": CnpRatio,
    "nack_ratio": NackRatio,
}


def rtt_inflation(place: Place) -> Expression:
    """rtt / base_rtt with 10 fraction bits, of an RTT of at most rtt_max."""
    rtt = AtMost(_rtt(place), place.path.rtt_max_ns, "rtt_clamped_ns")
    return _inflation(rtt, place)


def rtt_over_base(place: Place) -> Expression:
    """rtt / base_rtt with 10 fraction bits: timestamps subtracted in uint32, times the reciprocal."""
    return _inflation(_rtt(place), place)


def _rtt(place: Place) -> Expression:
    if RTT in place.interface.event_names:
        return Signal(RTT)
    slack = RTT_SLACK if RTT_SLACK in place.interface.param_names else ""
    return Elapsed("response_ns", "request_sent_ns", "rtt_ns", slack)


def _inflation(rtt: Expression, place: Place) -> Expression:
    """rtt / base_rtt; of an event that tells losses at least that of rtt_max, where there is one or no RTT."""
    inflation = _over_base_rtt(rtt, "rtt_inflation_raw_q10")
    if RTT not in place.interface.event_names:
        return inflation
    longest = place.path.rtt_max_ns / place.path.base_rtt_ns
    lost = tuple(map(Signal, LOSSES))
    return AtLeastIf(inflation, longest, Signal(RTT), lost, "rtt_or_loss_q10", "lost, or not timed: at least so much")


def queue_inflation(place: Place) -> Expression:
    """1 + (queue drain time) / base_rtt with 10 fraction bits."""
    queue = Proportion(Signal("queue_bytes"), 8e9, place.path.line_rate_bps, "queue_ns", "drain time at line rate")
    held = AtMost(queue, place.path.rtt_max_ns, "queue_clamped_ns")
    return PlusOne(_over_base_rtt(held, "queue_over_base_q10"), "queue_inflation_raw_q10")


def _over_base_rtt(time_ns: Expression, name: str) -> Expression:
    return OverKnown(time_ns, "base_rtt_ns", "base_rtt_recip_q42", INFLATION_BITS, name)
