"""How a flow starts, brakes once and recovers, before and beside what its policy decides: `[start]` in policy.toml.

    STARTING     the rate grows by slow start's factor a decision        first rate: limits.rate_initial
    ARMED        the policy decides, and the brake is still to come
    RECOVERING   the rate has been cut to the brake's and grows again
    SETTLED      the policy decides, for good

    from                what is seen                            step                       to
    STARTING, ARMED     a NACK, or RTT > brake                  at most the brake's rate   RECOVERING
    STARTING            RTT < slow start's end, below rate_max  rate * factor              STARTING
    STARTING            else                                    the policy's               ARMED
    RECOVERING          RTT < recovery's end, below rate_max    rate * factor              RECOVERING
    RECOVERING          else, at most at the brake's rate       the policy's               RECOVERING
    RECOVERING          else                                    the policy's               SETTLED
    ARMED, SETTLED      else                                    the policy's               the same

RTTs are measured in base RTTs (inflation, Q10); NACKs are those counted since the decision before. Until a flow has
grown out of the brake's rate a long RTT is the flood that it braked for, still draining: it does not end the recovery.

A step that the phase makes is no action: the policy's history shows a multiplier of 1 for it, as for a new flow.
Whatever a context holds is one of the four phases with a rate below line rate: a corrupted one is a flow in that phase.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from decision.expression import Nodes
from decision.features import Place
from decision.features.flow import rtt_inflation
from decision.forest import Forest
from decision.interface import PHASE_SHIFT
from decision.interfaces.flow_rate import FLOW_START, INFLATIONS, Phase
from decision.program import Op, Program, ProgramBuilder
from decision.quantity import LineFractionQ30
from decision.signals import INFLATION_BITS, LINE_RATE_Q30


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


InflationQ10 = Annotated[int, BeforeValidator(_inflation), PlainSerializer(lambda v: v / 2**INFLATION_BITS)]
Factor = Annotated[int, BeforeValidator(_factor)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class Growth(_Strict):
    """The rate times ``factor`` a decision, while the RTT is below ``until`` base RTTs and the rate below rate_max."""

    factor: Factor = 2
    until: InflationQ10


class Brake(_Strict):
    """Once a flow, where the RTT is above so many base RTTs or a NACK has come: at most this rate."""

    above: InflationQ10 = Field(default=8)
    to: LineFractionQ30 = Field(default="0.001953125 line")  # type: ignore[assignment]  # 2^-9, validated


class Start(_Strict):
    """The table; what is left out is as RL-CC was swept best."""

    slow_start: Growth = Growth(until=4)
    brake: Brake = Brake()
    recovery: Growth = Growth(until=1.5)  # type: ignore[arg-type]

    def params(self) -> dict[str, int]:
        """The operator's parameters with these values."""
        return {
            "slow_start_until_q10": self.slow_start.until,
            "brake_above_q10": self.brake.above,
            "brake_rate_q30": min(self.brake.to, LINE_RATE_Q30),
            "recover_until_q10": self.recovery.until,
        }


@dataclass(frozen=True)
class Step:
    """Nodes. ``phase`` and ``rate`` (Q0.30, below line rate) are in force before the decision. ``made``: 1 where the
    phase makes the step; then ``rate_made`` is the rate after it. ``phase_after``, whoever makes it."""

    phase: int
    rate: int
    made: int
    rate_made: int
    phase_after: int


def step(b: ProgramBuilder, start: Start, place: Place) -> Step:
    """What the phase makes of an event."""
    stored = b.state_in("rate_q30", "uint32", FLOW_START.context[0].meaning)
    line_rate, none, one = b.const(LINE_RATE_Q30), b.const(0), b.const(1)
    is_new = b.add(Op.EQ, (stored, none), name="is_new_flow")
    held_phase = b.add(Op.SHR, (stored,), PHASE_SHIFT, "phase_held")
    phase = b.add(Op.SELECT, (is_new, b.const(Phase.STARTING), held_phase), name="phase", note="of the flow's start")
    bare = b.add(Op.WRAP_SUB, (stored, b.add(Op.SHL, (held_phase,), PHASE_SHIFT)), name="rate_held_q30")
    known = b.add(Op.SELECT, (is_new, b.param("rate_initial_q30"), bare), name="rate_known_q30")
    rate = b.add(Op.MIN, (known, line_rate), name="rate_now_q30", note="rate in force")

    inflation = rtt_inflation(place).integers(Nodes(b))
    grows = b.add(Op.GT, (phase, one), name="grows")
    starts = b.add(Op.EQ, (phase, b.const(Phase.STARTING)))
    armed = b.add(Op.MAX, (starts, b.add(Op.EQ, (phase, one))), name="armed", note="the brake is still to come")
    lost = b.add(Op.GT, (b.event("nack_count"), none))
    late = b.add(Op.GT, (inflation, b.param("brake_above_q10")))
    brakes = b.add(Op.MIN, (armed, b.add(Op.MAX, (lost, late))), name="brakes")
    until = b.add(Op.SELECT, (armed, b.param("slow_start_until_q10"), b.param("recover_until_q10")), name="until_q10")
    below = b.add(Op.MIN, (b.add(Op.GT, (until, inflation)), b.add(Op.GT, (b.param("rate_max_q30"), rate))))
    goes_on = b.add(Op.MIN, (grows, below), name="goes_on")
    made = b.add(Op.MAX, (brakes, goes_on), name="made", note="by the phase, not by the policy")

    def grown(growth: Growth) -> int:
        return b.add(Op.SHL, (rate,), growth.factor.bit_length() - 1, "rate_grown_q30")

    more = b.add(Op.SELECT, (armed, grown(start.slow_start), grown(start.recovery)))
    less = b.add(Op.MIN, (rate, b.param("brake_rate_q30")))
    wanted = b.add(Op.SELECT, (brakes, less, more))
    raised = b.add(Op.MAX, (wanted, b.param("rate_min_q30")))
    rate_made = b.add(Op.MIN, (b.add(Op.MIN, (raised, b.param("rate_max_q30"))), line_rate), name="rate_made_q30")
    grown_phase = b.add(Op.SELECT, (brakes, b.const(Phase.RECOVERING), phase))
    drains = b.add(Op.MIN, (b.add(Op.EQ, (phase, b.const(Phase.RECOVERING))), b.add(Op.EQ, (less, rate))))
    policy_phase = b.add(Op.SELECT, (drains, b.const(Phase.RECOVERING), armed))
    phase_after = b.add(Op.SELECT, (made, grown_phase, policy_phase), name="phase_after")
    return Step(phase, rate, made, rate_made, phase_after)


def start_program(start: Start, place: Place) -> tuple[Program, Step]:
    """The start alone: what evaluators of another body (a teacher's network in floats) ask it of each event."""
    b = ProgramBuilder(Forest((), (), (0,), 0), FLOW_START)
    nodes = step(b, start, place)
    b.state_out("rate_q30", nodes.rate_made)
    return b.finish(nodes.rate_made), nodes


def implied(data: Any) -> Any:
    """A document with a table `start`, its observation's interface said."""
    if not isinstance(data, dict) or data.get("start") is None or not isinstance(data.get("observation"), dict):
        return data
    return data | {"observation": {"interface": FLOW_START.name} | data["observation"]}


def check_start(interface: str, start: Start | None) -> None:
    """ValueError where agents of the interface have no start, or need one."""
    if start is not None and interface != FLOW_START.name:
        raise ValueError(f"start is of flows that set their rate, and agents of {interface} are none")
    if start is None and interface == FLOW_START.name:
        raise ValueError(f"the interface {FLOW_START.name} is what a table start makes of flows; leave it out")
