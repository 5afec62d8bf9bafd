"""The knob that a flow keeps in force, its rate, and what a multiplier makes of it."""

from dataclasses import dataclass

from decision.ir.formats import ACTION_BITS
from decision.ir.interfaces.flow_rate import CONTEXT_RATE_BITS, LINE_RATE_Q30, RATE_FRACTION_BITS
from decision.ir.program import Op, Program, ProgramBuilder
from decision.policy.device_rate import held_to_device


def rate_in_force(b: ProgramBuilder) -> tuple[int, int]:
    """The rate before the decision, Q0.30 and as Q0.32; a new flow's is the operator's."""
    stored = b.state_in("rate_q30", "uint32", "rate, fraction of line rate; 0 = new flow")
    is_new = b.add(Op.EQ, (stored, b.const(0)), name="is_new_flow")
    known = b.add(Op.SELECT, (is_new, b.param("rate_initial_q30"), stored), name="rate_known_q30")
    wide = widened(
        b, held_to_device(b, known), "rate_now", "rate in force; whatever the context holds, below line rate"
    )
    return b.add(Op.SHR, (wide,), 32 - CONTEXT_RATE_BITS, "rate_now_q30"), wide


def recorded_rate(b: ProgramBuilder) -> tuple[int, int]:
    """The rate in the context's place as records have it, line rate as 2^30: Q0.30, below line rate, and as Q0.32."""
    rate = b.add(Op.MIN, (b.state_in("rate_q30", "uint32"), b.const(LINE_RATE_Q30)))
    return rate, b.add(Op.SHL, (rate,), 32 - CONTEXT_RATE_BITS)


def widened(b: ProgramBuilder, word: int, name: str, note: str) -> int:
    """A rate (Q0.30) as Q0.32, so that a product with it is one high word: twice, and twice again, mod 2^32. Bits above
    the rate fall out at the top."""
    none = b.const(0)
    twice = b.add(Op.WRAP_SUB, (word, b.add(Op.WRAP_SUB, (none, word))), name=f"{name}_q31")
    return b.add(Op.WRAP_SUB, (twice, b.add(Op.WRAP_SUB, (none, twice))), name=f"{name}_q32", note=note)


def scaled_rate(b: ProgramBuilder, rate_q32: int, decided: int) -> int:
    """Returns the rate that an action (multiplier - 1, Q16) makes of the rate in force (Q0.32): Q0.30, before the
    limits."""
    multiplier = b.add(Op.ADD, (decided, b.const(1 << ACTION_BITS)), name="multiplier_q16")
    shift = ACTION_BITS + 32 - CONTEXT_RATE_BITS
    return b.add(Op.MUL_SHR, (rate_q32, multiplier), shift, "rate_scaled_q30", "rate * multiplier")


def within_limits(b: ProgramBuilder, rate: int) -> int:
    """A rate (Q0.30) clamped to the operator's limits."""
    raised = b.add(Op.MAX, (rate, b.param("rate_min_q30")), name="rate_raised_q30")
    return b.add(Op.MIN, (raised, b.param("rate_max_q30")), name="rate_new_q30", note="clamped to the limits")


@dataclass(frozen=True)
class Multiplied:
    """Nodes of a program that multiplies the rate in force: the multiplier (Q16), and what is 1 where the rate is set
    otherwise (None: it never is)."""

    multiplier: int
    otherwise: int | None


def multiplied(program: Program) -> Multiplied | None:
    """The factor of the product that, clamped, is written back. None where a program sets its knobs otherwise."""
    waiting: list[tuple[int, int | None]] = [(s.node, None) for s in program.state if s.name == "rate_q30"]
    while waiting:
        number, otherwise = waiting.pop()
        node = program.nodes[number]
        if node.op is Op.MUL_SHR:
            return Multiplied(node.args[1], otherwise)
        if node.op is Op.SELECT:
            waiting.append((node.args[2], node.args[0]))
        elif node.op in (Op.MIN, Op.MAX, Op.WRAP_SUB):
            waiting += [(a, otherwise) for a in node.args]
    return None


def knob(b: ProgramBuilder, rate: int) -> int:
    """The rate (Q0.30) as the device takes it: one step above the floor, so never 0, which would be a new flow, and
    line rate for the greatest rate there is."""
    floored = b.add(Op.SHR, (rate,), CONTEXT_RATE_BITS - RATE_FRACTION_BITS, "rate_floored_q20")
    return b.add(Op.ADD, (floored, b.const(1)), name="rate_q20", note="what the device takes, never 0")
