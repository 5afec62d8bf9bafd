"""Operations by constants on the trees' sum go into the table that gives the sum: a table of multipliers, shifted as
the product wants them, in place of additions and shifts behind the look-up.

    sum = leaves[place];  multiplier = (sum + 65536) << 14        =        multiplier = leaves[place]

Only where one table holds the whole sum and nobody else asks for it. The entries are wider then: that is memory for
cycles, so it is done within the limit on tables, and not where size is what counts.
"""

from dataclasses import dataclass, replace

from codegen.choose import Limits
from codegen.engines import CostModel
from codegen.forms import Lowered, entry_bytes
from decision.ir.program import Op, Program

INT32 = range(-(2**31), 2**31)


@dataclass(frozen=True)
class Tail:
    """Nodes behind a sum, each the only one to ask for the one before, and what the last is of it:
    ``(sum + added) << shift``."""

    nodes: tuple[int, ...] = ()
    added: int = 0
    shift: int = 0


def tail_of(program: Program, number: int) -> Tail:
    """Returns the operations that follow a node by constants alone."""
    tail, at, written = Tail(), number, set(program.outputs)
    while at not in written:
        users = [n for n, node in enumerate(program.nodes) if at in node.args]
        node = program.nodes[users[0]] if len(users) == 1 else None
        if node is None or node.low < INT32.start or node.high >= INT32.stop:
            break
        if node.op is Op.ADD and not tail.shift and node.args[0] != node.args[1]:
            other = program.nodes[next(a for a in node.args if a != at)]
            if other.op is not Op.CONST:
                break
            tail = replace(tail, added=tail.added + other.imm)
        elif node.op is Op.SHL:
            tail = replace(tail, shift=tail.shift + node.imm)
        else:
            break
        at = users[0]
        tail = replace(tail, nodes=(*tail.nodes, at))
    return tail


def with_tail(lowered: Lowered, tail: Tail, engine: CostModel, limits: Limits) -> Lowered | None:
    """The one table's entries as the last node of the tail; None where it does not fit, or no one table is all."""
    if not tail.nodes or len(lowered.groups) != 1 or len(lowered.walk.sums) != 1 or lowered.clamps(0):
        return None
    group = lowered.groups[0]
    entries = tuple((entry + group.rest(0) + tail.added) << tail.shift for entry in group.entries)
    size = len(lowered.array) * entry_bytes(entries)
    if limits.table is not None and size > limits.table:
        return None
    rest = engine.alu + engine.constant(group.rest(0)) if group.rests else 0
    saved = rest + engine.alu * (bool(tail.shift) + bool(tail.added)) + engine.constant(tail.added << tail.shift)
    return replace(
        lowered,
        groups=(replace(group, entries=entries, rests=()),),
        cycles=lowered.cycles - saved,
        table_bytes=size,
    )
