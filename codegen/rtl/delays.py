"""What an operator takes in an ECP5 of speed grade 8: an estimate, by which stages are chosen.

From nextpnr-ecp5 0.11.1 between two registers, the register's own time taken off (`python -m bench.rtl` measures whole
modules): a product of 18 x 18 bits 4.7 ns, a difference of 32 bits 2.3 ns, a sum of three words of 46 bits 3.5 ns, a
comparison of 32 bits with a constant 2.9 ns, of two words 3.3 ns. One route to the operator is in each.
"""

from collections.abc import Sequence

REGISTER_NS = 0.6
"""Clock to output of a register and setup of the next."""
CARRY_NS = 0.02
"""A bit of a carry chain."""
MULTIPLIER_BITS = 18
"""Of each operand of a multiplier."""
FREE = ("const", "input", "slice", "shl", "join")


def delay_ns(gate: str, width: int, operands: Sequence[int], constant: bool) -> float:
    """The estimate for a gate (codegen.rtl.wires.Gate) of ``width`` bits over operands of these widths; ``constant``:
    whether one is a constant."""
    if gate in FREE:
        return 0.0
    if gate in ("add", "sub"):
        return 0.9 + CARRY_NS * width
    if gate == "add3":
        return 1.7 + CARRY_NS * width
    if gate == "mul":
        return 5.4
    if gate == "gt":
        return (1.1 if constant else 1.6) + CARRY_NS * max(operands)
    if gate == "eq":
        return 0.6 * _levels(max(operands) if constant else 2 * max(operands))
    if gate == "select":
        return 0.6
    return 0.6 * _levels(sum(operands)) + (0.6 if sum(operands) > 6 else 0.0)


def _levels(inputs: int) -> int:
    """Levels of 4-input tables that so many inputs need."""
    levels = 1
    while 4**levels < inputs:
        levels += 1
    return levels + (1 if inputs == 4**levels and inputs > 4 else 0)
