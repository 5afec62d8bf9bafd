"""Limit of a flow's bytes in flight, by its rate: `[in_flight]` in policy.toml, a second knob next to the rate.

    in_flight_bytes = max(in_flight_min_bytes, rate_q30 * in_flight_line_q2 >> 32)

of the rate that the decision sets, and of a new flow's first one before its first decision. A flow whose responses are
late then stops by itself: a decision comes once an RTT, and a queue that fills stretches that RTT.
"""

from fractions import Fraction
from math import ceil
from typing import Annotated

from pydantic import ConfigDict, Field

from decision.artefact.quantity_fields import SizeBytes
from decision.artefact.strict import Strict
from decision.ir.forest import Forest
from decision.ir.interface import Interface
from decision.ir.interfaces.completion import PATH_RTT
from decision.ir.interfaces.flow_rate import LINE_RATE_Q30
from decision.ir.interfaces.flow_window import FLOW_WINDOW
from decision.ir.program import Op, Program, ProgramBuilder

LINE_BITS = 2
"""Fraction bits of the bytes in flight at line rate: with a rate's 30 the product's high word is whole bytes."""

MAX_BYTES = 1 << 30
"""Most bytes in flight that the knob takes."""

MAX_Q2 = (1 << 32) - (1 << LINE_BITS)
"""Of whole bytes that 32 bits hold."""

NS_BITS = 8 * 10**9
"""A rate in b/s times a time in ns is so many times the bytes that it carries."""


def _bytes(bdps: float, base_rtt_ns: int, line_rate_bps: float) -> int:
    return ceil(Fraction(str(bdps)) * base_rtt_ns * Fraction(line_rate_bps) / NS_BITS)


class InFlight(Strict):
    """The table. ``bdp``: at line rate, in line rate x base RTT; in proportion below. ``least``: at any rate; less than
    a message would wait for an acknowledgement that nothing has asked for. ``first``: before a new flow's first
    decision. It is a wish to the NIC, which no decision reads."""

    model_config = ConfigDict(validate_default=True)

    bdp: float = Field(default=1.2, ge=0.0625, le=64)
    """Limit at line rate, in line rate x base RTT; proportional to the rate below."""
    least: SizeBytes = Field(default="16 KiB", gt=0, le=2**30)  # type: ignore[assignment]  # 16 packets, validated
    """Lowest limit, at any rate."""
    first: float | None = Field(default=None, ge=0.0625, le=64, exclude_if=lambda first: first is None)
    """Limit of a new flow before its first decision, in line rate x base RTT; none: what the first rate gives."""
    window: Annotated[bool, Field(strict=True)] = Field(default=False, exclude_if=lambda window: not window)
    """The limit is the flow's window: it decides on acknowledgements and losses, and asks for no RTT."""

    def first_bytes(self, base_rtt_ns: int, line_rate_bps: float) -> int | None:
        """Returns what a new flow may have in flight at most before its first decision; None: what its rate gives."""
        if self.first is None:
            return None
        return min(max(_bytes(self.first, base_rtt_ns, line_rate_bps), self.least), MAX_BYTES)

    def params(self, base_rtt_ns: int, line_rate_bps: float) -> dict[str, int]:
        """The operator's parameters with these values, where flows have this base RTT and line rate."""
        line_bytes = _bytes(self.bdp, base_rtt_ns, line_rate_bps)
        # A byte more: the greatest rate is 2^-30 below line rate, and the rest of a byte is dropped.
        return {
            "in_flight_line_q2": min((line_bytes + 1) << LINE_BITS, MAX_Q2),
            "in_flight_min_bytes": self.least,
            **({PATH_RTT: base_rtt_ns} if self.window else {}),
        }


def in_flight(b: ProgramBuilder, rate: int) -> int:
    """The knob of a rate (Q0.30)."""
    share = b.add(Op.MUL_SHR, (rate, b.param("in_flight_line_q2")), 32, "in_flight_share_bytes", "by the rate")
    return b.add(Op.MAX, (share, b.param("in_flight_min_bytes")), name="in_flight_bytes", note="never below the least")


def in_flight_program(interface: Interface) -> Program:
    """The knob alone, of the rate in the context's place: what evaluators of another body ask of each rate, and
    everybody of a new flow's. Its other knob is that rate as it is."""
    b = ProgramBuilder(Forest((), (), (0,), 0), interface)
    rate = b.add(Op.MIN, (b.state_in("rate_q30", "uint32"), b.const(LINE_RATE_Q30)))
    b.state_out("rate_q30", rate)
    return b.finish(rate, in_flight(b, rate))


def before_the_first_decision(interface: Interface) -> Program | None:
    """Returns the program that gives a new agent its knobs besides the one that it starts with; None if it has no
    others. A window that no rate belongs to is the largest."""
    if interface.site_name == FLOW_WINDOW.name and interface.initial is None:
        b = ProgramBuilder(Forest((), (), (0,), 0), interface)
        return b.finish(b.param("window_max_bytes"))
    return in_flight_program(interface) if interface.initial is not None and len(interface.knobs) > 1 else None
