"""Parameters that an operator gives up: constants from now on, which the compiler folds.

This changes the meaning (another value of the parameter is no longer obeyed), so it is never done unasked; the result
is a program of its own, which the firmware is then proved equal to.
"""

from collections.abc import Mapping

from decision.artefact.errors import InputError
from decision.ir.idle import idle_clamp
from decision.ir.program import Node, Op, Program, ProgramBuilder
from decision.ir.rewrite import rewritten


def fixed(program: Program, parameters: Mapping[str, int]) -> Program:
    """The program with constants in place of ``parameters``."""
    names = program.interface.param_names
    unknown = [name for name in parameters if name not in names]
    if unknown:
        raise InputError(f"there is no parameter {unknown[0]!r} to fix; choose among {', '.join(names)}")

    def rewrite(b: ProgramBuilder, node: Node, args: tuple[int, ...]) -> int | None:
        if node.op is Op.PARAM and names[node.imm] in parameters:
            return b.const(parameters[names[node.imm]])
        return idle_clamp(b, node, args)  # what ranges decide now

    return rewritten(program, rewrite)
