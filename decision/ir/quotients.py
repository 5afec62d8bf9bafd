"""Ratios that trees compare with thresholds: the division bit by bit, and the comparisons that say the same without it.

    quotient    q = floor(held * 2^f / over), or 2^(f+w) where count >= 2^w over    held = min(count, 2^w greatest over)
    multiples   q > t    if and only if    held * 2^f + 1 > (t + 1) * over          0 <= t < 2^(f+w), over >= 1

Proof. For count < 2^w over, q > t is held * 2^f / over >= t + 1, as t + 1 is whole; times over >= 1 that is the right
side. For count >= 2^w over, q is 2^(f+w) > t, and held >= 2^w over, so that held * 2^f >= 2^(f+w) over >= (t + 1) over.
A divisor of 0 counts as 1 before either. Neither side leaves 32 bits: both are at most 2^(f+w) * greatest over + 1.

``with_quotients`` reads a program with such comparisons back: what it gives decides the same, node by node.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from decision.ir.forest import Branch, Forest, mapped
from decision.ir.formats import U32_MAX
from decision.ir.multiples import Multiples, multiples
from decision.ir.program import Op, Program, ProgramBuilder, StateField

COUNTED = "_rank"
"""What the name of a feature ends in that counts the thresholds which its ratio is above."""


@dataclass(frozen=True)
class Division:
    """min(count / over, 2^whole_bits) with ``fraction_bits``; ``most``: the greatest that ``over``, at least 1, can
    be."""

    count: int
    over: int
    most: int
    fraction_bits: int
    whole_bits: int = 0

    @property
    def bits(self) -> int:
        """Its greatest quotient is 2 to this power."""
        return self.fraction_bits + self.whole_bits


def held(b: ProgramBuilder, division: Division, name: str = "") -> int:
    cap = division.whole_bits
    note = f"at least {1 << cap} times as many: the ratio is {1 << cap}" if cap else "at least as many: the ratio is 1"
    return b.add(Op.MIN, (division.count, b.const(division.most << cap)), name=name, note=note)


def divided(b: ProgramBuilder, division: Division, held_name: str = "", name: str = "", note: str = "") -> int:
    """The quotient: a step of restoring division a bit, exact and without a divider."""
    bits, over = division.fraction_bits, division.over
    end = b.add(Op.SHL, (over,), division.whole_bits) if division.whole_bits else over
    below_end = b.add(Op.GT, (end, division.count))
    remainder = b.add(Op.SHL, (held(b, division, held_name),), bits, "remainder")
    quotient = b.const(0)
    for bit in range(division.bits - 1, -1, -1):
        part = b.add(Op.SHL, (over,), bit, "part") if bit else over
        short = b.add(Op.GT, (part, remainder))
        # Taken only where it is not short, so that nothing wraps.
        less = b.add(Op.WRAP_SUB, (remainder, part), 0, "less")
        remainder = b.add(Op.SELECT, (short, remainder, less), 0, "remainder")
        more = b.add(Op.ADD, (quotient, b.const(1 << bit)), 0, "more")
        quotient = b.add(Op.SELECT, (short, quotient, more), 0, f"quotient_q{bits}")
    return b.add(Op.SELECT, (below_end, quotient, b.const(1 << division.bits)), name=name, note=note)


def division_of(program: Program, number: int) -> Division | None:
    """The division that a node is, to the last of its nodes; None where it is another value, or its identity with the
    comparisons is not sure: a divisor that may be 0, or words that 32 bits do not hold."""
    nodes = program.nodes
    node = nodes[number]
    if node.op is not Op.SELECT or nodes[node.args[0]].op is not Op.GT or nodes[node.args[2]].op is not Op.CONST:
        return None
    end, count = nodes[node.args[0]].args
    greatest = nodes[node.args[2]].imm
    bits = greatest.bit_length() - 1
    if bits < 1 or greatest != 1 << bits:
        return None
    divisors = [(end, 0)]
    if nodes[end].op is Op.SHL and nodes[end].imm <= bits:
        divisors.append((nodes[end].args[0], nodes[end].imm))
    for over, whole in divisors:
        division = Division(count, over, nodes[over].high, bits - whole, whole)
        if nodes[over].low < 1 or nodes[count].low < 0 or not _narrow(division):
            continue
        b = ProgramBuilder(program.forest, program.interface, network=program.network)
        b.tables, b.state = list(program.tables), list(program.state)
        for made in nodes:
            b.add(made.op, made.args, made.imm, made.name, made.note)
        if divided(b, division) == number:
            return division
    return None


def _narrow(division: Division) -> bool:
    return (division.most << division.bits) + 1 <= U32_MAX


def with_quotients(program: Program) -> Program:
    """The program with divisions in place of comparisons with multiples, and the trees asking for ratios."""
    counted = multiples(program)
    divisions = {k: division for k, m in counted.items() if (division := _behind(program, m)) is not None}
    if not divisions:
        return program
    args = next(node.args for node in program.nodes if node.op is Op.TREES)
    factors = {k: counted[k].factors for k in divisions}
    b = ProgramBuilder(_of_ratios(program.forest, factors), program.interface, network=program.network)
    b.tables = list(program.tables)
    b.state = [StateField(s.name, s.storage, -1, s.note) for s in program.state]
    new: dict[int, int] = {}
    for number, node in enumerate(program.nodes):
        if node.op is Op.TREES:
            of = tuple(divided(b, _moved(divisions[k], new)) if k in divisions else new[a] for k, a in enumerate(args))
            new[number] = b.add(node.op, of, node.imm, node.name, node.note)
        else:
            new[number] = b.add(node.op, tuple(new[a] for a in node.args), node.imm, node.name, node.note)
    for s in program.state:
        b.state_out(s.name, new[s.node])
    return b.finish(*(new[result] for result in program.results))


def _moved(division: Division, new: Mapping[int, int]) -> Division:
    return replace(division, count=new[division.count], over=new[division.over])


def _behind(program: Program, counted: Multiples) -> Division | None:
    """The division whose dividend x is, with 1 more; None where it is something else."""
    nodes = program.nodes
    raised = nodes[counted.x]
    if raised.op is not Op.ADD or nodes[raised.args[1]].op is not Op.CONST or nodes[raised.args[1]].imm != 1:
        return None
    scaled = nodes[raised.args[0]]
    least = nodes[scaled.args[0]] if scaled.op is Op.SHL else scaled
    if least.op is not Op.MIN or nodes[least.args[1]].op is not Op.CONST:
        return None
    over, most = nodes[counted.over], nodes[least.args[1]].imm
    whole = (most // over.high).bit_length() - 1 if over.high else -1
    if whole < 0 or most != over.high << whole:
        return None
    division = Division(least.args[0], counted.over, over.high, scaled.imm, whole)
    sure = over.low >= 1 and nodes[division.count].low >= 0 and _narrow(division)
    return division if sure and counted.factors[-1] <= 1 << division.bits else None


def _of_ratios(forest: Forest, factors: Mapping[int, tuple[int, ...]]) -> Forest:
    """The forest that asks for ratios: a count is above i where the ratio is above factor i less 1. A question beyond
    the factors stays one that every ratio answers alike."""

    def asked(branch: Branch) -> tuple[int, int]:
        known, place = factors.get(branch.feature), branch.threshold
        if known is None:
            return branch.feature, place
        return branch.feature, -1 if place < 0 else known[place] - 1 if place < len(known) else U32_MAX

    names = tuple(name.removesuffix(COUNTED) if k in factors else name for k, name in enumerate(forest.features))
    return Forest(names, tuple(mapped(tree, asked) for tree in forest.trees), forest.bias, forest.leaf_bits)
