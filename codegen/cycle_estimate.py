"""Cycles of a whole decision, predicted before anything is compiled: what a search over recipes looks at first.

The trees by their form's cost model (codegen/forms.py); what stands around them by the instructions that an operator of
the program takes, one side of a choice counted. RL-CC's students are within 10 cycles of the core (20 in the index
form); the flagship's come out 57 too dear, each alike: it is not known which of their rare cases exclude each other.
`rlcc verify` says what is true.
"""

from codegen.engines import engine_named
from codegen.lower import Options
from codegen.passes.program import LoweredProgram, counted_sums
from decision.ir.program import Op

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
    answered = counted_sums(program)  # by a search of the trees

    def operands(number: int) -> tuple[int, ...]:
        return (answered[number].x,) if number in answered else program.nodes[number].args

    def reached(without: tuple[int, int] | None = None) -> set[int]:
        """Nodes that the outputs need; ``without``: but for what one operand of a node needs alone."""
        todo, seen = list(program.outputs), set[int]()
        while todo:
            number = todo.pop()
            if number not in seen:
                seen.add(number)
                todo += [a for k, a in enumerate(operands(number)) if (number, k) != without]
        return seen

    def cost(numbers: set[int]) -> int:
        free = lowered.clamped | answered.keys()
        return sum(INSTRUCTIONS.get(program.nodes[n].op, 1) for n in numbers if n not in free)

    around = taken = reached()
    for number in sorted(around, reverse=True):
        if program.nodes[number].op is Op.SELECT and number in taken:  # one side of it is gone through
            idle: set[int] = min((around - reached((number, side)) for side in (1, 2)), key=cost)
            taken = taken - idle
    instructions = cost(taken) + STORE * len(program.state) + CALL
    return sum(forest.cycles for forest in lowered.forests) + engine.alu * instructions
