"""Cycles of a whole decision, predicted before anything is compiled: what a search over recipes looks at first.

The trees by their form's cost model (codegen/forms.py); what stands around them by the instructions that an operator of
the program takes. Held to the core over ten students of RL-CC it is within 10 cycles; `rlcc verify` says what is true.
"""

from codegen.engines import engine_named
from codegen.lower import Options
from codegen.passes.program import LoweredProgram
from codegen.passes.rewrite import needed
from decision.program import Op

CALL = 4
STORE = 2
INSTRUCTIONS = {
    Op.CONST: 0,  # stands in the instruction that uses it, or is counted there
    Op.TREES: 0,
    Op.EVENT: 2,
    Op.PARAM: 2,
    Op.STATE: 2,
    Op.MIN: 2,
    Op.MAX: 2,
    Op.SELECT: 2,
    Op.MUL: 2,
    Op.MUL_SHR: 5,
}
"""Of operators that are more, or less, than one instruction; a load as two."""


def decision_cycles(lowered: LoweredProgram, options: Options) -> float:
    """From the raw event to the new context, in cycles of the engine of the cost model."""
    program, engine = lowered.program, engine_named(options.engine)
    nodes = (program.nodes[number] for number in needed(program) if number not in lowered.clamped)
    around = sum(INSTRUCTIONS.get(node.op, 1) for node in nodes) + STORE * len(program.state) + CALL
    return sum(forest.cycles for forest in lowered.forests) + engine.alu * around
