"""Clamps that never act, by the ranges of their operands: in their place the operand."""

from decision.ir.program import Node, Op, Program, ProgramBuilder
from decision.ir.rewrite import rewritten


def without_idle_clamps(program: Program) -> Program:
    return rewritten(program, idle_clamp)


def idle_clamp(b: ProgramBuilder, node: Node, args: tuple[int, ...]) -> int | None:
    """The operand that a MIN or MAX always gives; None where it depends."""
    if node.op in (Op.MIN, Op.MAX):
        first, second = (b.nodes[a] for a in args)
        if first.high <= second.low:
            return args[0] if node.op is Op.MIN else args[1]
        if second.high <= first.low:
            return args[1] if node.op is Op.MIN else args[0]
    return None
