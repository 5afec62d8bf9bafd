"""The knob that a flow keeps in force, its rate, and what a multiplier makes of it."""

from decision.program import Op, Program, ProgramBuilder
from decision.signals import ACTION_BITS, CONTEXT_RATE_BITS, LINE_RATE_Q30, RATE_FRACTION_BITS


def rate_in_force(b: ProgramBuilder) -> int:
    """The rate before the decision, Q0.30, below line rate; a new flow's is the operator's."""
    stored = b.state_in("rate_q30", "uint32", "rate, fraction of line rate; 0 = new flow")
    is_new = b.add(Op.EQ, (stored, b.const(0)), name="is_new_flow")
    known = b.add(Op.SELECT, (is_new, b.param("rate_initial_q30"), stored), name="rate_known_q30")
    # Whatever the context holds: four times the rate then fits 32 bits, so a product with it is one high word.
    line_rate = b.const(LINE_RATE_Q30)
    return b.add(Op.MIN, (known, line_rate), name="rate_now_q30", note="rate in force")


def new_rate(b: ProgramBuilder, rate: int, decided: int) -> int:
    """From the action (multiplier - 1, Q16) to the new rate in force (Q0.30), clamped to the operator's limits."""
    one = b.const(1 << ACTION_BITS)
    multiplier = b.add(Op.ADD, (decided, one), name="multiplier_q16")
    scaled = b.add(Op.MUL_SHR, (rate, multiplier), ACTION_BITS, "rate_scaled_q30", "rate * multiplier")
    raised = b.add(Op.MAX, (scaled, b.param("rate_min_q30")), name="rate_raised_q30")
    new = b.add(Op.MIN, (raised, b.param("rate_max_q30")), name="rate_new_q30", note="clamped to the limits")
    b.state_out("rate_q30", new)
    return new


def multiplier_of(program: Program) -> int | None:
    """The node by which the program multiplies the rate in force: the factor of the product that, clamped, is written
    back. None where it sets its knobs otherwise."""
    waiting = [field.node for field in program.state if field.name == "rate_q30"]
    while waiting:
        node = program.nodes[waiting.pop()]
        if node.op is Op.MUL_SHR and node.imm == ACTION_BITS:
            return node.args[1]
        if node.op in (Op.MIN, Op.MAX):
            waiting += node.args
    return None


def knob(b: ProgramBuilder, rate: int) -> int:
    """The rate (Q0.30) as the device takes it: one step above the floor, so never 0, which would be a new flow, and
    line rate for the greatest rate there is."""
    floored = b.add(Op.SHR, (rate,), CONTEXT_RATE_BITS - RATE_FRACTION_BITS, "rate_floored_q20")
    return b.add(Op.ADD, (floored, b.const(1)), name="rate_q20", note="what the device takes, never 0")
