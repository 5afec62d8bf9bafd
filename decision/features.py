"""Observation features: what each means to a teacher (float) and to the firmware (integer), side by side.

The integer meaning need only keep the float's ORDER: a tree compares a feature with thresholds and does nothing else.
So the congestion feature ``target - t * sqrt(rate)`` becomes the integer ``t^2 * rate``: same order (reversed), no root
and no rounding of one. ``physical`` translates a threshold back for the reader of the C.

Zero is every feature's integer value before the first decision, because a zeroed flow context is a new flow;
``initial`` is the float value with the same meaning.
"""

from dataclasses import dataclass
from math import ceil, log2, sqrt
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from decision.program import Op, ProgramBuilder
from decision.signals import ACTION_BITS, CONTEXT_RATE_BITS, FEATURE_LIMIT, INFLATION_BITS, RATE_FRACTION_BITS, RTT_BITS

Floats = NDArray[np.float64]
KIBIBYTE_BITS = 10


@dataclass(frozen=True)
class Decisions:
    """The float side's inputs, one entry a decision: signals in ns, bytes and counts, rate as a fraction of line rate
    (in force before the decision), and the multiplier of the decision before."""

    rtt_ns: Floats
    rate: Floats
    previous_multiplier: Floats
    cnp_count: Floats
    nack_count: Floats
    sent_bytes: Floats
    queue_bytes: Floats


@dataclass(frozen=True)
class Path:
    """What a policy assumes of the network: base RTT in ns, line rate in b/s, the largest RTT it tells apart."""

    base_rtt_ns: int
    line_rate_bps: int
    rtt_max_ns: int

    def rtt_inflation(self, d: Decisions) -> Floats:
        return np.asarray(np.minimum(d.rtt_ns, self.rtt_max_ns) / self.base_rtt_ns, dtype=np.float64)

    def queue_inflation(self, d: Decisions) -> Floats:
        """1 + queue / (base RTT * line rate), [RLCC] eq. 6."""
        queue_ns = np.minimum(d.queue_bytes * 8e9 / self.line_rate_bps, self.rtt_max_ns)
        return np.asarray(1.0 + queue_ns / self.base_rtt_ns, dtype=np.float64)


class Feature(BaseModel):
    """Base of all kinds. ``storage`` is the type that the flow context keeps a past value in."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    kind: str

    @property
    def name(self) -> str:
        """Name of the integer in the C, with its format."""
        return self.kind

    @property
    def storage(self) -> str:
        return "uint32"

    @property
    def initial(self) -> float:
        return 0.0

    def float_value(self, d: Decisions, path: Path) -> Floats:
        """What a teacher sees, [N]."""
        raise NotImplementedError

    def integer(self, b: ProgramBuilder, path: Path, rate: int) -> int:
        """Append the integer meaning to a program; ``rate`` is the node of the rate in force (Q0.30)."""
        raise NotImplementedError

    def float_of(self, integer: Floats) -> Floats:
        """What a teacher sees where the firmware computes this integer, [N]. The integer is a floor: anything up to
        ``float_of(integer + 1)`` is possible, and fractions are allowed."""
        raise NotImplementedError

    def value(self, integer: int) -> str:
        """The integer as a value in physical units."""
        raise NotImplementedError

    def meaning(self) -> str:
        """What the integer stands for, for the reader of the header."""
        raise NotImplementedError

    def physical(self, threshold: int) -> str:
        """``feature > threshold`` in physical units. The integers are floors: ``k > t`` is ``value >= t + 1`` units."""
        raise NotImplementedError


class PreviousAction(Feature):
    """The multiplier that the decision before applied ([RLCC] section 3: the state is (delta_t, a_{t-1}))."""

    kind: Literal["previous_action"]

    @property
    def name(self) -> str:
        return "action"

    @property
    def storage(self) -> str:
        return "int16"

    @property
    def initial(self) -> float:
        return 1.0

    def float_value(self, d: Decisions, path: Path) -> Floats:
        return d.previous_multiplier

    def float_of(self, integer: Floats) -> Floats:
        return np.asarray(1.0 + integer / 2**ACTION_BITS, dtype=np.float64)

    def value(self, integer: int) -> str:
        return f"previous action {1 + integer / 2**ACTION_BITS:.4f}"

    def meaning(self) -> str:
        return "action_k: the multiplier of the rate k decisions ago, minus 1, Q16"

    def physical(self, threshold: int) -> str:
        return f"previous action > {1 + threshold / 2**16:.5f}"


class _Inflation(Feature):
    @property
    def storage(self) -> str:
        return "int32"

    @property
    def initial(self) -> float:
        return 1.0

    def float_of(self, integer: Floats) -> Floats:
        return np.asarray(1.0 + integer / 2**INFLATION_BITS, dtype=np.float64)

    def value(self, integer: int) -> str:
        return f"{self.kind.replace('_', ' ')} {1 + integer / 2**INFLATION_BITS:.4f}"

    def meaning(self) -> str:
        return f"{self.name}: {self.kind.replace('_', ' ')} - 1, Q{INFLATION_BITS}"

    def physical(self, threshold: int) -> str:
        return f"{self.kind.replace('_', ' ')} >= {1 + (threshold + 1) / 2**INFLATION_BITS:.4f}"


class RttInflation(_Inflation):
    """rtt / base_rtt. Integer: inflation - 1 with 10 fraction bits."""

    kind: Literal["rtt_inflation"]

    @property
    def name(self) -> str:
        return "rtt_inflation_q10"

    def float_value(self, d: Decisions, path: Path) -> Floats:
        return path.rtt_inflation(d)

    def integer(self, b: ProgramBuilder, path: Path, rate: int) -> int:
        return _above_one(b, rtt_inflation_q10(b, path), self.name, "rtt / base RTT - 1")


class QueueInflation(_Inflation):
    """1 + queue / (base_rtt * line rate), [RLCC] eq. 6. Integer: inflation - 1 with 10 fraction bits."""

    kind: Literal["queue_inflation"]

    @property
    def name(self) -> str:
        return "queue_inflation_q10"

    def float_value(self, d: Decisions, path: Path) -> Floats:
        return path.queue_inflation(d)

    def integer(self, b: ProgramBuilder, path: Path, rate: int) -> int:
        return _above_one(b, queue_inflation_q10(b, path), self.name, "queue delay / base RTT")


class _Congestion(Feature):
    target: float = Field(gt=0, le=64)
    signal: Literal["rtt", "queue"] = "rtt"

    @property
    def tolerance(self) -> float:
        raise NotImplementedError

    @property
    def factor(self) -> float:
        raise NotImplementedError

    @property
    def fraction_bits(self) -> int:
        """Fraction bits of ``t^2 * rate``: as many as leave room for eight times the target, 20 at the most."""
        return min(20, 24 - ceil(log2((8 * self.target) ** 2)))

    @property
    def name(self) -> str:
        return f"congestion_q{self.fraction_bits}"

    @property
    def initial(self) -> float:
        return self.factor * self.target

    def float_value(self, d: Decisions, path: Path) -> Floats:
        inflation = path.rtt_inflation(d) if self.signal == "rtt" else path.queue_inflation(d)
        excess = np.minimum(np.maximum(inflation - self.tolerance, 0.0), 65535 / 2**INFLATION_BITS)
        return np.asarray(self.factor * (self.target - excess * np.sqrt(d.rate)), dtype=np.float64)

    def integer(self, b: ProgramBuilder, path: Path, rate: int) -> int:
        inflation = rtt_inflation_q10(b, path) if self.signal == "rtt" else queue_inflation_q10(b, path)
        tolerance = b.const(round(self.tolerance * 2**INFLATION_BITS))
        excess = inflation
        if self.tolerance > 0:
            above = b.add(Op.MAX, (inflation, tolerance), 0, "inflation_raised_q10")
            excess = b.add(Op.SUB, (above, tolerance), 0, "inflation_excess_q10")
        excess = b.add(Op.MIN, (excess, b.const(2**16 - 1)), name="excess_q10", note="inflation above the tolerance")
        square = b.add(Op.MUL, (excess, excess), name="excess_squared_q20")
        shift = 2 * INFLATION_BITS + CONTEXT_RATE_BITS - self.fraction_bits
        return b.add(Op.MUL_SHR, (square, rate), shift, self.name, "excess^2 * rate: orders flows as -delta does")

    def float_of(self, integer: Floats) -> Floats:
        excess = np.sqrt(np.maximum(integer, 0.0) / 2**self.fraction_bits)
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
    """scale * (target - max(inflation - beta, 0) * sqrt(rate)), [RLCC] eq. 4 (published code: scale -12.5)."""

    kind: Literal["rl_cc_congestion"]
    beta: float = Field(ge=0, le=16)
    scale: float

    @property
    def tolerance(self) -> float:
        return self.beta

    @property
    def factor(self) -> float:
        return self.scale


class PccRlCongestion(_Congestion):
    """scale * (target - inflation * sqrt(rate)), [PCCRL] section 6 (target 2, strict 1, loose 20)."""

    kind: Literal["pcc_rl_congestion"]
    scale: float = 1.0

    @property
    def tolerance(self) -> float:
        return 0.0

    @property
    def factor(self) -> float:
        return self.scale


class Rate(Feature):
    """The flow's rate, a fraction of line rate. Integer: Q0.20, as the device has it."""

    kind: Literal["rate"]

    @property
    def name(self) -> str:
        return "rate_q20"

    def float_value(self, d: Decisions, path: Path) -> Floats:
        return d.rate

    def integer(self, b: ProgramBuilder, path: Path, rate: int) -> int:
        shifted = b.add(Op.SHR, (rate,), CONTEXT_RATE_BITS - RATE_FRACTION_BITS)
        return b.add(Op.MIN, (shifted, b.const(FEATURE_LIMIT - 1)), name=self.name, note="fraction of line rate")

    def float_of(self, integer: Floats) -> Floats:
        return np.asarray(integer / 2**RATE_FRACTION_BITS, dtype=np.float64)

    def value(self, integer: int) -> str:
        return f"rate {integer / 2**RATE_FRACTION_BITS:.6f} of line rate"

    def meaning(self) -> str:
        return f"{self.name}: the rate in force, a fraction of line rate, Q{RATE_FRACTION_BITS}"

    def physical(self, threshold: int) -> str:
        return f"rate >= {(threshold + 1) / 2**RATE_FRACTION_BITS:.6f} of line rate"


class _Ratio(Feature):
    """Packets of a kind a KiB sent since the decision before (a KiB is one packet of the papers' networks), at most 1.

    Integer: 8 fraction bits, floored, by eight steps of restoring division: exact, without a divider.
    """

    @property
    def name(self) -> str:
        return f"{self.kind}_q8"

    @property
    def storage(self) -> str:
        return "uint16"

    @property
    def signal(self) -> str:
        raise NotImplementedError

    def float_value(self, d: Decisions, path: Path) -> Floats:
        sent = np.maximum(np.floor(d.sent_bytes / 2**KIBIBYTE_BITS), 1.0)
        return np.asarray(np.minimum(getattr(d, self.signal) / sent, 1.0), dtype=np.float64)

    def integer(self, b: ProgramBuilder, path: Path, rate: int) -> int:
        count = b.event(self.signal)
        sent = b.add(Op.SHR, (b.event("sent_bytes"),), KIBIBYTE_BITS)
        sent = b.add(Op.MAX, (sent, b.const(1)), name="sent_packets")
        below_one = b.add(Op.GT, (sent, count))
        held = b.add(
            Op.MIN, (count, b.const(2**22 - 1)), name=f"{self.signal}_held", note="at least as many: the ratio is 1"
        )
        remainder = b.add(Op.SHL, (held,), 8, "remainder")
        quotient = b.const(0)
        for bit in range(7, -1, -1):
            part = b.add(Op.SHL, (sent,), bit, "part") if bit else sent
            short = b.add(Op.GT, (part, remainder))
            # Taken only where it is not short, so that nothing wraps.
            less = b.add(Op.WRAP_SUB, (remainder, part), 0, "less")
            remainder = b.add(Op.SELECT, (short, remainder, less), 0, "remainder")
            more = b.add(Op.ADD, (quotient, b.const(1 << bit)), 0, "more")
            quotient = b.add(Op.SELECT, (short, quotient, more), 0, "quotient_q8")
        note = f"{self.kind.replace('_', ' ')} a KiB sent"
        return b.add(Op.SELECT, (below_one, quotient, b.const(256)), name=self.name, note=note)

    def float_of(self, integer: Floats) -> Floats:
        return np.asarray(integer / 256, dtype=np.float64)

    def value(self, integer: int) -> str:
        return f"{self.kind.replace('_', ' ')} {integer / 256:.4f}"

    def meaning(self) -> str:
        return f"{self.name}: {self.signal} a KiB sent since the decision before, at most 1, Q8"

    def physical(self, threshold: int) -> str:
        return f"{self.kind.replace('_', ' ')} >= {(threshold + 1) / 256:.4f}"


class CnpRatio(_Ratio):
    """CNPs a KiB sent ([PCCRL] section 6 observes CNP counts)."""

    kind: Literal["cnp_ratio"]

    @property
    def signal(self) -> str:
        return "cnp_count"


class NackRatio(_Ratio):
    """NACKs a KiB sent ([PCCRL] section 6 observes NACK counts)."""

    kind: Literal["nack_ratio"]

    @property
    def signal(self) -> str:
        return "nack_count"


AnyFeature = Annotated[
    PreviousAction | RlCcCongestion | PccRlCongestion | RttInflation | QueueInflation | Rate | CnpRatio | NackRatio,
    Field(discriminator="kind"),
]
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


def rtt_inflation_q10(b: ProgramBuilder, path: Path) -> int:
    """rtt / base_rtt with 10 fraction bits: timestamps subtracted in uint32, clamped, times the reciprocal."""
    rtt = b.add(Op.WRAP_SUB, (b.event("response_ns"), b.event("request_sent_ns")), 0, "rtt_ns", "wraps with both")
    clamped = b.add(Op.MIN, (rtt, b.const(path.rtt_max_ns)), name="rtt_clamped_ns")
    return _over_base_rtt(b, clamped, "rtt_inflation_raw_q10")


def queue_inflation_q10(b: ProgramBuilder, path: Path) -> int:
    """1 + (queue drain time) / base_rtt with 10 fraction bits."""
    ns_per_byte_q16 = b.const(round(8e9 / path.line_rate_bps * 2**16))
    queue_ns = b.add(Op.MUL_SHR, (b.event("queue_bytes"), ns_per_byte_q16), 16, "queue_ns", "drain time at line rate")
    clamped = b.add(Op.MIN, (queue_ns, b.const(path.rtt_max_ns)), name="queue_clamped_ns")
    ratio = _over_base_rtt(b, clamped, "queue_over_base_q10")
    return b.add(Op.ADD, (ratio, b.const(1 << INFLATION_BITS)), name="queue_inflation_raw_q10")


def _above_one(b: ProgramBuilder, inflation: int, name: str, note: str) -> int:
    """inflation - 1, saturated first so that the difference fits 32 bits."""
    one = 1 << INFLATION_BITS
    saturated = b.add(Op.MIN, (inflation, b.const(FEATURE_LIMIT - 1 + one)))
    return b.add(Op.SUB, (saturated, b.const(one)), name=name, note=note)


def _over_base_rtt(b: ProgramBuilder, time_ns: int, name: str) -> int:
    assert b.nodes[time_ns].high < 2**RTT_BITS
    scaled = b.add(Op.SHL, (time_ns,), INFLATION_BITS, "time_scaled_q10")
    return b.add(Op.MUL_SHR, (scaled, b.param("base_rtt_recip_q32")), 32, name)
