"""Ratios as threshold tests: where trees alone ask for a quotient, each threshold is a comparison of products.

    before   ratio = count / over, eight steps of a division;    trees ask ratio > 12, > 40
    after    scaled = (count << 8) + 1;                          trees ask scaled > 13 * over, > 41 * over

The trees' feature is then how many of these multiples the dividend is above; the search for its place among them
(codegen/search.py) never computes it. This is another program, equal for every input: ``decision/ir/quotients.py`` has
the proof, and reads it back. Another use of the quotient (a context that stores it) keeps the division.
"""

from collections.abc import Callable
from dataclasses import replace

from decision.ir.forest import Branch, Forest, mapped
from decision.ir.program import Op, Program, ProgramBuilder, StateField
from decision.ir.quotients import COUNTED, Division, division_of, held
from decision.ir.rewrite import needed


def ratios(program: Program) -> dict[int, Division]:
    """The features that are divisions which nobody but the trees asks for, each threshold of them inside (0, 1]."""
    used = [program.nodes[n] for n in needed(program)]
    trees = {node.args for node in used if node.op is Op.TREES}
    if len(trees) != 1:
        return {}
    (args,) = trees
    thresholds = program.forest.thresholds()
    found = {}
    for k, number in enumerate(args):
        elsewhere = number in program.outputs or any(number in n.args and n.op is not Op.TREES for n in used)
        division = None if elsewhere or args.count(number) > 1 else division_of(program, number)
        asked = thresholds.get(k, [])
        if division is not None and asked and min(asked) >= 0 and max(asked) < 1 << division.bits:
            found[k] = division
    return found


def with_multiples(program: Program, chosen: dict[int, Division]) -> Program:
    """The program whose trees count multiples in place of these ratios."""
    thresholds = program.forest.thresholds()
    asked = {k: tuple(sorted(set(thresholds[k]))) for k in chosen}
    b = ProgramBuilder(_counting(program.forest, asked), program.interface, network=program.network)
    b.tables = list(program.tables)
    b.state = [StateField(s.name, s.storage, -1, s.note) for s in program.state]
    args = next(node.args for node in program.nodes if node.op is Op.TREES)
    counted = {args[k]: k for k in chosen}

    def operands(number: int) -> tuple[int, ...]:
        division = chosen.get(counted.get(number, -1))
        return program.nodes[number].args if division is None else (division.count, division.over)

    new: dict[int, int] = {}
    for number in _reached(program, operands):
        node = program.nodes[number]
        moved = tuple(new[a] for a in operands(number))
        if number in counted:
            k = counted[number]
            count, over = moved
            new[number] = _count(b, replace(chosen[k], count=count, over=over), asked[k], node.name)
        else:
            new[number] = b.add(node.op, moved, node.imm, node.name, node.note)
    for s in program.state:
        b.state_out(s.name, new[s.node])
    return b.finish(*(new[result] for result in program.results))


def _count(b: ProgramBuilder, division: Division, thresholds: tuple[int, ...], name: str) -> int:
    """How many of the thresholds the ratio is above."""
    dividend = b.add(Op.SHL, (held(b, division, f"{name}_held"),), division.fraction_bits)
    note = "above a multiple: at least as many"
    dividend = b.add(Op.ADD, (dividend, b.const(1)), 0, f"{name}_dividend", note)
    above = [
        b.add(Op.GT, (dividend, b.add(Op.MUL, (division.over, b.const(threshold + 1))))) for threshold in thresholds
    ]
    total = above[0]
    for number, one in enumerate(above[1:], start=2):
        total = b.add(Op.ADD, (total, one), 0, name + COUNTED if number == len(above) else "")
    return total


def _counting(forest: Forest, asked: dict[int, tuple[int, ...]]) -> Forest:
    """The forest that asks for counts: a ratio is above threshold i where the count is above i."""

    def question(branch: Branch) -> tuple[int, int]:
        known = asked.get(branch.feature)
        return branch.feature, branch.threshold if known is None else known.index(branch.threshold)

    names = tuple(name + COUNTED if k in asked else name for k, name in enumerate(forest.features))
    return Forest(names, tuple(mapped(tree, question) for tree in forest.trees), forest.bias, forest.leaf_bits)


def _reached(program: Program, operands: Callable[[int], tuple[int, ...]]) -> list[int]:
    """The nodes that the outputs need, in order."""
    todo, seen = list(program.outputs), set[int]()
    while todo:
        number = todo.pop()
        if number not in seen:
            seen.add(number)
            todo += operands(number)
    return sorted(seen)
