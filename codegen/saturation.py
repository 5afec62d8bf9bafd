"""Clamps on both sides that one comparison decides: how far x lies above a floor, at most so much.

    const uint32_t excess_wrapped = inflation - 1536U;                               below the floor it wraps
    excess = (excess_wrapped > 65535U) ? ((inflation > 1536U) ? 65535U : 0U) : excess_wrapped;

A value that wraps is beyond every limit that leaves room for it, so only a value that is clamped asks which side it is
on.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from decision.ir.formats import U32_MAX
from decision.ir.program import Op, Program


@dataclass(frozen=True)
class Saturation:
    """min(max(x, floor) - floor, limit) of a node ``x`` of 32 bits; ``inner``: the nodes of the maximum and the
    difference, which nobody else asks for."""

    x: int
    floor: int
    limit: int
    inner: tuple[int, int]


def saturations(program: Program, uses: Mapping[int, int], needed: Iterable[int]) -> dict[int, Saturation]:
    """Returns the saturations by the node of the minimum. ``uses``: how often a node is an operand."""
    written = set(program.outputs)
    matched: dict[int, Saturation] = {}
    for number in needed:
        difference, limit = _with_constant(program, number, Op.MIN)
        raised, floor = _with_constant(program, difference, Op.SUB)
        x, same = _with_constant(program, raised, Op.MAX)
        if x < 0 or floor != same or floor <= 0 or program.nodes[x].low < 0:
            continue
        if any(uses[n] != 1 or n in written for n in (difference, raised)):
            continue
        if program.nodes[x].high <= U32_MAX and floor + limit <= U32_MAX:
            matched[number] = Saturation(x, floor, limit, (raised, difference))
    return matched


@dataclass(frozen=True)
class Excess:
    """How far ``x`` is above ``y``, 0 where it is not, of nodes of 32 bits; ``inner``: the nodes of the difference and
    of its limit, which nobody else asks for."""

    x: int
    y: int
    inner: tuple[int, int]


def excesses(program: Program, uses: Mapping[int, int], needed: Iterable[int]) -> dict[int, Excess]:
    """Returns the excesses by the node of the choice: (x > y) ? min(x - y, limit) : 0. The limit gives the difference a
    range where it wraps, and never holds where it is taken."""
    nodes, written, matched = program.nodes, set(program.outputs), {}
    for number in needed:
        if nodes[number].op is not Op.SELECT:
            continue
        condition, held, other = nodes[number].args
        difference, limit = _with_constant(program, held, Op.MIN)
        if difference < 0 or nodes[difference].op is not Op.WRAP_SUB or nodes[condition].op is not Op.GT:
            continue
        x, y = nodes[difference].args
        same = nodes[condition].args == (x, y) and (nodes[other].low, nodes[other].high) == (0, 0)
        if same and limit >= nodes[x].high and all(uses[n] == 1 and n not in written for n in (held, difference)):
            matched[number] = Excess(x, y, (held, difference))
    return matched


def _with_constant(program: Program, number: int, op: Op) -> tuple[int, int]:
    """The operand and the constant of a node of this operator; (-1, -1) of another."""
    node = program.nodes[number] if number >= 0 else None
    if node is None or node.op is not op:
        return -1, -1
    constant = program.nodes[node.args[1]]
    return (node.args[0], constant.imm) if constant.op is Op.CONST else (-1, -1)
