"""Counts in a program: sums of comparisons of which each asks about inputs of its own.

Taken apart comparison by comparison, lanes would double with each; and nobody asks which of the comparisons hold, only
how many do. They therefore stay words of 0 or 1 (``verify.prover.bits``), and a register that holds their sum goes on
as the program's. Comparisons that all ask about the same inputs, as whether a value is above each of some thresholds,
are no count in this sense: they hold one after the other, and are one lane more each.
"""

from dataclasses import dataclass

from decision.ir.program import Op, Program

COMPARISONS, TOGETHER, SUMS = (Op.GT, Op.EQ), (Op.MIN, Op.MAX), (Op.ADD, Op.SUB)
INPUTS = (Op.EVENT, Op.PARAM, Op.STATE)


@dataclass(frozen=True)
class Counts:
    """Nodes. ``bits``: comparisons that are only counted, alone or several by and and or. ``sums`` of these; of them
    ``whole`` are those that something else asks for."""

    bits: frozenset[int]
    sums: frozenset[int]
    whole: frozenset[int]


def counts(program: Program) -> Counts:
    """The counts of a program."""
    nodes = program.nodes
    asking: list[set[int]] = [set() for _ in nodes]
    for n, node in enumerate(nodes):
        for a in node.args:
            asking[a].add(n)
    bits, sums = _candidates(program)
    inputs = inputs_of(program)
    whole = {n for n in sums if n in program.outputs or not asking[n] <= sums}
    whole = {n for n in whole if len({inputs[bit] for bit in _added(program, n, sums)}) > 1}
    while True:
        parts = made_of(program, whole, bits | sums)
        if all(asking[n] <= parts and n not in program.outputs for n in parts - whole):
            return Counts(frozenset(parts & bits), frozenset(parts & sums), frozenset(whole))
        alone = {n for n in parts - whole if n in program.outputs or not asking[n] <= parts}
        whole = {n for n in whole if not made_of(program, {n}, bits | sums) & alone}


def inputs_of(program: Program) -> list[frozenset[int]]:
    """Returns for each node the inputs that it follows from."""
    behind: list[frozenset[int]] = []
    for n, node in enumerate(program.nodes):
        own = frozenset((n,)) if node.op in INPUTS else frozenset[int]()
        behind.append(own.union(*(behind[a] for a in node.args)))
    return behind


def _candidates(program: Program) -> tuple[set[int], set[int]]:
    """Nodes of 0 or 1 made of comparisons, and sums of nothing but these."""
    bits, sums = set[int](), set[int]()
    for n, node in enumerate(program.nodes):
        if node.op in COMPARISONS or (node.op in TOGETHER and bits.issuperset(node.args)):
            bits.add(n)
        elif node.op in SUMS and (bits | sums).issuperset(node.args):
            sums.add(n)
    return bits, sums


def _added(program: Program, n: int, sums: set[int]) -> set[int]:
    """Returns the terms that a sum adds and subtracts."""
    return set[int]().union(*(_added(program, a, sums) if a in sums else {a} for a in program.nodes[n].args))


def made_of(program: Program, whole: set[int], among: set[int]) -> set[int]:
    """Nodes and what they are made of, as far as that is ``among`` some."""
    todo, found = list(whole), set[int]()
    while todo:
        n = todo.pop()
        if n in among and n not in found:
            found.add(n)
            todo += program.nodes[n].args
    return found
