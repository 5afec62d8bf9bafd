"""How a flow starts, brakes once and recovers, before and beside what its policy decides: `[start]` in policy.toml.

    STARTING     the rate grows by slow start's factor a decision        first rate: limits.rate_initial
    ARMED        the policy decides, and the brake is still to come
    RECOVERING   the rate has been cut to the brake's and grows again
    SETTLED      the policy decides, for good

    from             what is seen                            step                       to
    STARTING, ARMED  a NACK, or RTT > brake                  at most the brake's rate   RECOVERING
    STARTING         else RTT < slow start's end             rate * factor              STARTING, at rate_max ARMED
    STARTING         else                                    none                       ARMED
    RECOVERING       RTT < recovery's end                    rate * factor              RECOVERING, at rate_max SETTLED
    RECOVERING       else the first since the brake          none                       RECOVERING
    RECOVERING       else                                    none                       SETTLED
    SETTLED (*)      a NACK                                  rate - rate * cut          the same
    ARMED, SETTLED   no NACK, and RTT < clear path's below   rate * factor              the same
    ARMED, SETTLED   else                                    the policy's               the same

The row of clear paths is there where ``clear_path`` is given: a policy that was taught in crowds takes tens of round
trips to get an empty path back. The row with a star is there where ``loss`` is given: at a policer nothing queues, and
no RTT tells of it.

RTTs are measured in base RTTs (inflation, Q10). A threshold is a number of them, or a queueing delay. A buffer holds a
time: three base RTTs of 100 us are most of one that holds 420 us. NACKs are those counted since the decision before.
The first response after the brake has met the flood that the flow braked for, still draining: it does not end the
recovery. Bit 0 of the rate (2^-30 of line rate) tells that response: a phase leaves it 1 where it has just braked,
else 0.

While a flow starts or recovers its phase makes every step and no tree is walked, so its decisions are the short ones. A
step of the phase is no action: the policy's history shows a multiplier of 1 for it, as for a new flow. Whatever a
context holds is one of the four phases with a rate below line rate: a corrupted one is a flow in that phase.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
from pydantic import BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema

from decision.artefact.errors import InputError
from decision.artefact.quantity import parse_duration_ns
from decision.artefact.quantity_fields import LineFractionQ30
from decision.artefact.strict import Strict
from decision.ir.expression import Nodes
from decision.ir.forest import Forest
from decision.ir.interface import PHASE_SHIFT
from decision.ir.interfaces.flow_rate import (
    DEVICE_RATE,
    INFLATION_BITS,
    INFLATIONS,
    LINE_RATE_Q30,
    PHASED_RATE,
    RTT_SLACK,
    Phase,
    flow_interface,
)
from decision.ir.program import Op, Program, ProgramBuilder
from decision.policy.device_rate import held_to_device
from decision.policy.features import Place
from decision.policy.features.flow import rtt_over_base
from decision.policy.once_per_rtt import late_answer
from decision.policy.rate import widened, within_limits


def _inflation(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is not a number of base RTTs")
    least, most = (end / 2**INFLATION_BITS for end in INFLATIONS)
    if not least <= value <= most:
        raise ValueError(f"{value} base RTTs is not within {least:g} and {most:g}")
    return int(np.rint(value * 2**INFLATION_BITS))


def _factor(value: object) -> int:
    if value not in (2, 4) or isinstance(value, bool):
        raise ValueError(f"a factor is 2 or 4, which firmware shifts by; {value!r} is neither")
    return int(str(value))


def _cut(value: object) -> float:
    if isinstance(value, bool) or value not in CUTS:
        raise ValueError(f"a cut is 0.5, 0.25, 0.125 or 0.0625, which firmware shifts by; {value!r} is none of them")
    return float(str(value))


CUTS = (0.5, 0.25, 0.125, 0.0625)
Cut = Annotated[float, BeforeValidator(_cut)]
InflationQ10 = Annotated[
    int, BeforeValidator(_inflation), PlainSerializer(lambda v: v / 2**INFLATION_BITS, return_type=float)
]


@dataclass(frozen=True)
class QueueingDelay:
    """Time that an RTT is above the base RTT, in ns."""

    ns: int


Threshold = int | QueueingDelay
"""An RTT: an inflation in base RTTs, Q10, or a queueing delay."""


def _threshold(value: object) -> Threshold:
    if isinstance(value, QueueingDelay):
        return value
    if not isinstance(value, str):
        return _inflation(value)
    try:
        return QueueingDelay(parse_duration_ns(value))
    except InputError as error:
        raise ValueError(f"{error}; or write a number of base RTTs") from None


def _text(threshold: Threshold) -> float | str:
    return f"{threshold.ns} ns" if isinstance(threshold, QueueingDelay) else threshold / 2**INFLATION_BITS


RttThreshold = Annotated[
    Threshold, BeforeValidator(_threshold), PlainSerializer(_text), WithJsonSchema({"type": ["number", "string"]})
]


def inflation_q10(threshold: Threshold, base_rtt_ns: int) -> int:
    """Returns the inflation (Q10) that a threshold is in a network of this base RTT; the greatest that is told."""
    if not isinstance(threshold, QueueingDelay):
        return threshold
    return min((1 << INFLATION_BITS) + round(Fraction(threshold.ns << INFLATION_BITS, base_rtt_ns)), INFLATIONS[1])


Factor = Annotated[int, BeforeValidator(_factor)]


class _StartTable(Strict):
    model_config = ConfigDict(validate_default=True)


class Growth(_StartTable):
    """The rate times ``factor`` a decision, while the RTT is below ``until`` base RTTs and the rate below rate_max."""

    factor: Factor = 2
    """Multiplier of the rate per decision."""
    until: RttThreshold
    """RTT at which the growth ends: base RTTs, or a queueing delay ("16 us")."""


class Brake(_StartTable):
    """Once a flow, where the RTT is above so many base RTTs or a NACK has come: at most this rate."""

    above: RttThreshold = Field(default=8)
    """RTT above which a flow brakes: base RTTs, or a queueing delay ("16 us")."""
    to: LineFractionQ30 = Field(default="0.001953125 line")  # type: ignore[assignment]  # 2^-9, validated
    """Highest rate after the brake."""


class ClearPath(_StartTable):
    """The rate times ``factor`` a decision, where the RTT is below ``below`` base RTTs and no NACK has come."""

    below: InflationQ10 = Field(default=1.1)  # type: ignore[assignment]  # validated
    """Inflation below which a path is clear, in base RTTs."""
    factor: Factor = 2
    """Multiplier of the rate per decision."""


class LossCut(_StartTable):
    """The rate of a settled flow less ``cut`` of it a decision, where a NACK has come."""

    cut: Cut = 0.25
    """Share of the rate that a decision with a NACK takes: 0.5, 0.25, 0.125 or 0.0625."""

    @property
    def shift(self) -> int:
        """Returns the binary places by which the rate is shifted for what it loses."""
        return CUTS.index(self.cut) + 1


class Start(_StartTable):
    """The table; what is left out is as RL-CC was swept best."""

    slow_start: Growth = Growth(until=4)
    brake: Brake = Brake()
    recovery: Growth = Growth(until=1.5)  # type: ignore[arg-type]
    clear_path: ClearPath | None = Field(default=None, exclude_if=lambda rule: rule is None)
    loss: LossCut | None = Field(default=None, exclude_if=lambda rule: rule is None)

    def params(self, base_rtt_ns: int) -> dict[str, int]:
        """Returns the operator's parameters with these values, where flows have this base RTT."""
        return {
            "slow_start_until_q10": inflation_q10(self.slow_start.until, base_rtt_ns),
            "brake_above_q10": inflation_q10(self.brake.above, base_rtt_ns),
            "brake_rate_q30": min(self.brake.to, LINE_RATE_Q30),
            "recover_until_q10": inflation_q10(self.recovery.until, base_rtt_ns),
        }

    def delays(self, base_rtt_ns: int) -> dict[str, int]:
        """Returns those parameters that another base RTT changes: thresholds that are queueing delays."""
        delays = {
            "slow_start_until_q10": self.slow_start.until,
            "brake_above_q10": self.brake.above,
            "recover_until_q10": self.recovery.until,
        }
        values = self.params(base_rtt_ns)
        return {name: values[name] for name, one in delays.items() if isinstance(one, QueueingDelay)}


@dataclass(frozen=True)
class Step:
    """Nodes of a step.

    - ``rate``: rate in force before the decision, Q0.30
    - ``held``, ``held_q32``: rate in the context, Q0.30 and Q0.32; it differs from ``rate`` for a new flow only
    - ``made``: 1 where the phase makes the step, as for a new flow, or where the answer is late
    - ``rate_made``: rate after the step where ``made`` is 1
    - ``phase_bits``: phase after the step, at its place in the context's word
    - ``late``: 1 where nothing is decided; None where every answer is decided on
    """

    rate: int
    held: int
    held_q32: int
    made: int
    rate_made: int
    phase_bits: int
    late: int | None = None


def step(b: ProgramBuilder, start: Start, place: Place, once_per_rtt: bool = False) -> Step:
    """Returns the step that the phase takes on an event."""
    stored = b.state_in("rate_q30", "uint32", PHASED_RATE)
    too_late = late_answer(b) if once_per_rtt else None
    line_rate, none, settled = b.const(LINE_RATE_Q30), b.const(0), b.const(Phase.SETTLED)
    is_new = b.add(Op.EQ, (stored, none), name="is_new_flow")
    phase = b.add(Op.SHR, (stored,), PHASE_SHIFT, "phase", "of the flow's start")
    held_q32 = widened(b, stored, "rate_held", "no phase")
    kept = held = b.add(Op.SHR, (held_q32,), 32 - PHASE_SHIFT, "rate_held_q30", "rate in force; 0 = new flow")
    first_rate = b.add(Op.MIN, (b.param("rate_initial_q30"), line_rate), name="rate_first_q30")
    asked = b.add(Op.SELECT, (is_new, first_rate, held), name="rate_now_q30", note="rate in force")
    rate = held_to_device(b, asked)
    if rate != asked:
        held = held_to_device(b, held)
        held_q32 = b.add(Op.SHL, (held,), 32 - PHASE_SHIFT)

    inflation = rtt_over_base(place).integers(Nodes(b))
    starts = b.add(Op.MAX, (is_new, b.add(Op.EQ, (phase, b.const(Phase.STARTING)))), name="starts")
    grows = b.add(Op.MAX, (is_new, b.add(Op.GT, (phase, b.const(Phase.ARMED)))))
    not_settled = b.add(Op.GT, (stored, line_rate))
    armed = b.add(Op.EQ, (phase, b.const(Phase.ARMED)))
    lost = b.add(Op.GT, (b.event("nack_count"), none))
    late = b.add(Op.GT, (inflation, b.param("brake_above_q10")))
    alarm = b.add(Op.MAX, (lost, late), name="alarm")
    asks = not_settled if start.loss is None else b.add(Op.MAX, (not_settled, lost))
    answers = b.add(Op.MIN, (asks, alarm))
    made = b.add(Op.MAX, (grows, answers), name="made", note="by the phase, not by the policy")
    clear = None
    if start.clear_path is not None:
        low = b.add(Op.GT, (b.const(start.clear_path.below), inflation))
        clear = b.add(Op.MIN, (low, b.add(Op.EQ, (lost, none))), name="is_clear", note="a short RTT and no NACK")
        made = b.add(Op.MAX, (clear, made), name="made", note="by the phase or on a clear path, not by the policy")
    cuts = None
    if start.loss is not None:
        others = b.add(Op.MAX, (is_new, not_settled))
        cuts = b.add(Op.MIN, (lost, b.add(Op.EQ, (others, none))), name="cuts", note="a NACK, and the flow has settled")
    if too_late is not None:
        made = b.add(
            Op.MAX, (too_late, made), name="unasked", note="the policy: the phase makes the step, or none is made"
        )

    # From here on the phase makes the step.
    may_brake = b.add(Op.MAX, (starts, armed), name="may_brake")
    brakes = b.add(Op.MIN, (may_brake, alarm), name="brakes", note="it may, and a NACK or the RTT is an alarm")
    until = b.add(Op.SELECT, (starts, b.param("slow_start_until_q10"), b.param("recover_until_q10")), name="until_q10")
    below = b.add(Op.GT, (until, inflation))

    def grown(growth: Growth | ClearPath) -> int:
        return b.add(Op.SHL, (rate,), growth.factor.bit_length() - 1, "rate_grown_q30")

    more = grown(start.slow_start)
    if start.recovery.factor != start.slow_start.factor:
        more = b.add(Op.SELECT, (starts, more, grown(start.recovery)))
    if start.clear_path is not None and clear is not None:
        if start.clear_path.factor != start.recovery.factor:
            more = b.add(Op.SELECT, (grows, more, grown(start.clear_path)))
        below = b.add(Op.SELECT, (grows, below, clear))
    cut = b.add(Op.MIN, (rate, b.param("brake_rate_q30")), name="rate_cut_q30")
    unbraked = b.add(Op.SELECT, (below, more, rate), name="rate_unbraked_q30")
    wanted = b.add(Op.SELECT, (brakes, cut, unbraked), name="rate_wanted_q30")
    if start.loss is not None and cuts is not None:
        less = b.add(Op.WRAP_SUB, (rate, b.add(Op.SHR, (rate,), start.loss.shift)), name="rate_less_q30")
        wanted = b.add(Op.SELECT, (cuts, less, wanted), name="rate_after_loss_q30")
    halved = b.add(Op.SHR, (within_limits(b, wanted),), 1, "rate_half_q30")
    even = b.add(Op.SHL, (halved,), 1, "rate_even_q30", "bit 0 is 0")
    rate_made = b.add(Op.ADD, (even, brakes), name="rate_made_q30", note="odd where it has just braked")
    if too_late is not None:
        rate_made = b.add(Op.SELECT, (too_late, kept, rate_made), name="rate_unasked_q30")

    half = b.add(Op.SHR, (asked,), 1, "rate_now_half_q30")
    odd = b.add(Op.GT, (asked, b.add(Op.SHL, (half,), 1, "rate_now_even_q30", "less than rate_now_q30 if bit 0 is 1")))
    first = b.add(Op.MIN, (b.add(Op.EQ, (starts, none)), odd), name="is_first", note="response since the brake")
    room = b.add(Op.GT, (b.param("rate_max_q30"), more))
    goes_on = b.add(Op.SELECT, (below, room, first), name="goes_on", note="1: the phase stays")
    going = b.add(Op.SELECT, (starts, b.const(Phase.STARTING), b.const(Phase.RECOVERING)), name="phase_kept")
    ended = b.add(Op.SELECT, (starts, b.const(Phase.ARMED), settled), name="phase_ended")
    after = b.add(Op.SELECT, (goes_on, going, ended), name="phase_next")
    if clear is not None:
        after = b.add(Op.SELECT, (grows, after, phase), name="phase_grown")
    if cuts is not None:
        after = b.add(Op.SELECT, (cuts, settled, after), name="phase_after_loss")
    phase_made = b.add(Op.SELECT, (brakes, b.const(Phase.RECOVERING), after), name="phase_made")
    made_bits = b.add(Op.SHL, (phase_made,), PHASE_SHIFT, "made_bits", "phase_made, where the context has it")
    held_bits = b.add(Op.SHL, (phase,), PHASE_SHIFT, "held_bits", "phase, where the context has it")
    if too_late is not None:
        made_bits = b.add(Op.SELECT, (too_late, held_bits, made_bits), name="unasked_bits")
    phase_bits = b.add(
        Op.SELECT,
        (made, made_bits, held_bits),
        name="after_bits",
        note="phase after it, where the context has it",
    )
    return Step(rate, held, held_q32, made, rate_made, phase_bits, too_late)


def finish_start(b: ProgramBuilder, nodes: Step, rate: int) -> int:
    """The rate after the decision (Q0.30), which is ``rate`` where the policy makes the step; written with its phase.

    2^30, line rate as an operator may have it, is kept as 2^30 - 1. Limits beyond run into the phase: a context is safe
    whatever it holds.
    """
    after = b.add(Op.SELECT, (nodes.made, nodes.rate_made, rate), name="rate_after_q30")
    full = b.add(Op.SHR, (after,), PHASE_SHIFT, "line_rate_reached", "1 for 2^30, which is kept as 2^30 - 1")
    kept = b.add(Op.WRAP_SUB, (after, full), name="rate_kept_q30")
    minus = b.add(Op.WRAP_SUB, (b.const(0), nodes.phase_bits))
    word = b.add(Op.WRAP_SUB, (kept, minus), name="rate_and_phase", note="phase in the two highest bits")
    b.state_out("rate_q30", word)
    return after


def start_program(start: Start, place: Place) -> tuple[Program, Step]:
    """The start alone: what evaluators of another body (a teacher's network in floats) ask of each event."""
    whole = place.interface
    told = {"device_rate": DEVICE_RATE in whole.event_names, "rtt_slack": RTT_SLACK in whole.param_names}
    options = ["start", *(option for option, there in told.items() if there)]
    b = ProgramBuilder(Forest((), (), (0,), 0), flow_interface(options))
    nodes = step(b, start, place)
    return b.finish(finish_start(b, nodes, within_limits(b, nodes.held))), nodes
