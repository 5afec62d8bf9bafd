"""A choice with the trees on one side only: a branch in the C, so that who goes the other way walks none.

    if (made) {            first: what only the one side needs
        ..
    } else {               second: what only the other needs, the trees among it
        ..
    }

All selects by one condition are one branch; what both sides need stands before it, what neither needs behind it: a
value that waits for its use across the branch takes a register that the trees could have.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from decision.ir.program import Node, Op, Program

Operands = Callable[[Node], Iterable[int]]


@dataclass(frozen=True)
class Fork:
    """Nodes in the order of evaluation, by where they are printed.

    ``selects``: what the sides give; those that a side itself needs stand among its nodes too, and are given there."""

    condition: int
    selects: tuple[int, ...]
    before: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]
    after: tuple[int, ...]


def fork_of(
    program: Program, used: Iterable[int], operands: Operands, walks: Sequence[frozenset[int]] | None = None
) -> Fork | None:
    """The branch of a program whose trees are walked on one side of a choice; None where they always are. ``walks``:
    the sums that one walk gives; what asks for some of them on one side only spares no walk. None: each its own."""
    nodes, used = program.nodes, tuple(used)
    together = [frozenset([n]) for n in used if nodes[n].op is Op.TREES] if walks is None else walks
    asked = [sums for walk in together if (sums := walk & set(used))]
    for condition in {nodes[n].args[0]: None for n in used if nodes[n].op is Op.SELECT}:
        selects = tuple(n for n in used if nodes[n].op is Op.SELECT and nodes[n].args[0] == condition)
        outside = dict.fromkeys(selects, (condition,))
        always = _reached(program, program.outputs, operands, outside) - set(selects)
        sides = [
            _reached(
                program, [nodes[n].args[arm] for n in selects], operands, {n: (nodes[n].args[arm],) for n in selects}
            )
            - always
            for arm in (1, 2)
        ]
        if not any(sums <= (sides[0] ^ sides[1]) for sums in asked):
            continue
        always |= (sides[0] & sides[1]) - set(selects)
        # A side cannot need a later node: no node is its own operand.
        sooner = _reached(program, [condition, *(a for n in selects for a in nodes[n].args)], operands, {})
        before = tuple(n for n in used if n in always and n in sooner)
        if any(_reached(program, [n], operands, outside) & set(selects) for n in before):
            continue  # it would stand before the branch, and needs what the branch gives
        after = tuple(n for n in used if n in always and n not in sooner and n not in selects)
        first, second = (tuple(n for n in used if n in side and n not in always) for side in sides)
        return Fork(condition, selects, before, first, second, after)
    return None


def _reached(
    program: Program, roots: Iterable[int], operands: Operands, selects: Mapping[int, Iterable[int]]
) -> set[int]:
    """Returns the nodes that the roots need. ``selects``: the nodes that each of these needs."""
    seen: set[int] = set()
    todo = list(roots)
    while todo:
        number = todo.pop()
        if number not in seen:
            seen.add(number)
            todo += selects.get(number, ()) if number in selects else operands(program.nodes[number])
    return seen
