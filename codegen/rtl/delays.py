"""Estimated delays of operators in an ECP5 of speed grade 8. The stages are chosen by them.

The estimates follow nextpnr-ecp5 0.11.1, measured between two registers without the register's own time. Each delay
includes one route to the operator. `python -m bench.rtl` measures whole modules.

- product of 18 x 18 bits: 4.7 ns
- difference of 32 bits: 2.3 ns
- sum of three words of 46 bits: 3.5 ns
- comparison of 32 bits with a constant: 2.9 ns; of two words: 3.3 ns
"""

from collections.abc import Sequence

CLOCK_MHZ = 78.0
"""Clock that stages are chosen for, unless the target says another."""
REGISTER_NS = 0.6
"""Clock to output of a register and setup of the next."""
CARRY_NS = 0.02
"""Delay of one bit of a carry chain."""
MULTIPLIER_BITS = 18
"""Width of each operand of a multiplier, in bits."""
TABLE_INPUTS = 4
"""Inputs of a table: bits of a digit in a comparison with a constant."""
FREE = ("const", "input", "slice", "shl", "join")


def delay_ns(gate: str, width: int, operands: Sequence[int], constant: bool) -> float:
    """Returns the estimated delay of a gate (codegen.rtl.wires.Gate) in ns.

    ``width``: bits of the result; ``operands``: bits of each operand; ``constant``: whether one is a constant."""
    if gate in FREE:
        return 0.0
    if gate in ("add", "sub"):
        return 0.9 + CARRY_NS * width
    if gate == "add3":
        return 1.7 + CARRY_NS * width
    if gate == "mul":
        return 5.4
    if gate == "gt" and constant and max(operands) <= TABLE_INPUTS:
        return 0.6
    if gate == "gt":
        return (1.1 if constant else 1.6) + CARRY_NS * max(operands)
    if gate == "eq":
        return 0.6 * _levels(max(operands) if constant else 2 * max(operands))
    if gate == "select":
        return 0.6
    return 0.6 * _levels(sum(operands)) + (0.6 if sum(operands) > 6 else 0.0)


def _levels(inputs: int) -> int:
    """Returns the levels of 4-input tables that this number of inputs needs."""
    levels, reached = 1, 4
    while reached < inputs:
        levels, reached = levels + 1, reached * 4
    return levels + (1 if inputs == reached and inputs > 4 else 0)
