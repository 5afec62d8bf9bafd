"""History as ranks: what a context keeps of a past value is not the value, but how many of the trees' thresholds it is
above. The next decision then has its column of a table without a search, and one search serves both decisions.

    before   trees ask congestion_1 > 811, > 11535;     context.congestion_1 = congestion
    after    trees ask rank_1 > 0, > 1;                 context.rank_1 = (congestion > 811) + (congestion > 11535)

The thresholds are those of all ages of the value that the trees look at, so that a rank that grows older is copied.
A rank that a corrupted context holds is cut: to the greatest that there is, or to as many of its low bits as that has,
which is one instruction, and takes tables as long as a power of two. The rank in a new agent's zeroed context is 0, as
the value was: 0 lies above no threshold that is not negative.

This is another program: its context holds something else. For every context that can come about it decides the same:
``decision.ir.ranks.with_values`` reads it back.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codegen.fork import fork_of
from decision.ir.forest import Forest, mapped
from decision.ir.interface import STORAGE_RANGE
from decision.ir.program import Op, Program, ProgramBuilder, StateField
from decision.ir.ranks import RANK, choices_between, linked
from decision.ir.rewrite import needed

MAX_RANK = 255
"""Thresholds that a byte counts."""


@dataclass(frozen=True)
class Chain:
    """The fields that hold a value at its ages; ``selects`` choose between it and what they held, where a decision may
    leave them as they are. ``thresholds``: of all ages, ascending."""

    fields: tuple[str, ...]
    thresholds: tuple[int, ...]
    selects: frozenset[int]


def chains(program: Program) -> tuple[Chain, ...]:
    """The values that ranks can stand for: the trees look at them as they are computed, and at what is kept of them;
    nothing else does."""
    trees = {node.args for node in program.nodes if node.op is Op.TREES}
    sides = _sides(program)
    if len(trees) != 1 or sides is None:
        return ()
    (args,) = trees
    held = _held(program)
    uses = Counter(a for n in needed(program) for a in program.nodes[n].args)
    ends = {*args, *(n for n, count in uses.items() if count > 1)}
    kept = {s.name: choices_between(program, s.node, ends) for s in program.state}
    written = Counter(n for _, values in kept.values() for n in values)
    names = {number: name for name, number in held.items()}
    places = {s.name: place for place, s in enumerate(program.state)}
    reads = {places[name]: [places[names[n]] for n in values if n in names] for name, (_, values) in kept.items()}
    thresholds = program.forest.thresholds()
    chosen = []
    for part in linked(reads):
        fields = tuple(program.state[place].name for place in part)
        selects = [n for name in fields for n in kept[name][0]]
        values = [n for name in fields for n in kept[name][1] if n not in names]
        if len(values) != 1 or values[0] not in args or written[values[0]] > 1 or len(set(selects)) < len(selects):
            continue
        if sides and not any(
            (program.nodes[n].args[0], values[0]) == (sides[0], program.nodes[n].args[sides[1]]) for n in selects
        ):
            continue  # it would be counted where the trees are not walked
        past = {held.get(name) for name in fields}
        asked = sorted({t for k, a in enumerate(args) if a in past for t in thresholds.get(k, ())})
        if not asked or asked[0] < 0 or len(asked) > MAX_RANK or None in past:
            continue
        if asked[-1] >= min(STORAGE_RANGE[program.state[place].storage][1] for place in part):
            continue  # a rank that no value of the field has, and a corrupted context could
        if _only_kept(program, {*selects, *(held[name] for name in fields)}, selects):
            chosen.append(Chain(fields, tuple(asked), frozenset(selects)))
    return tuple(chosen)


def _sides(program: Program) -> tuple[int, int] | tuple[()] | None:
    """The condition of the fork that has the trees on one side, and which operand of a select is that side's; nothing
    where they are always walked. None where they are walked in parts."""
    used = needed(program)
    fork = fork_of(program, used, lambda node: node.args)
    if fork is None:
        return ()
    sums = {number for number in used if program.nodes[number].op is Op.TREES}
    sides = (set(fork.first), set(fork.second))
    return next(((fork.condition, arm) for arm, side in enumerate(sides, start=1) if sums <= side), None)


def with_ranks(program: Program, chosen: Sequence[Chain], *, masked: bool = False) -> Program:
    """The program with ranks in place of the fields of these chains. ``masked``: they are cut to their low bits."""
    held = _held(program)
    kept_as = {held[name]: chain for chain in chosen for name in chain.fields}
    trees = next(node for node in program.nodes if node.op is Op.TREES)
    ranked = {k: kept_as[n].thresholds for k, n in enumerate(trees.args) if n in kept_as}
    b = ProgramBuilder(_ranked(program.forest, ranked), program.interface, network=program.network)
    b.tables = list(program.tables)
    names = {name: chain for chain in chosen for name in chain.fields}
    b.state = [
        StateField(s.name + RANK, "uint8", -1, _note(s, len(names[s.name].thresholds))) if s.name in names
        else StateField(s.name, s.storage, -1, s.note)
        for s in program.state
    ]  # fmt: skip
    new: dict[int, int] = {}
    stored: dict[int, int] = {}
    selects = frozenset[int]().union(*(chain.selects for chain in chosen))
    for number in needed(program):
        node = program.nodes[number]
        if number in selects:
            continue
        if number in kept_as:
            stored[number] = b.add(Op.STATE, (), node.imm, node.name + RANK)
            new[number] = _cut(b, stored[number], len(kept_as[number].thresholds), f"{node.name}_place", masked=masked)
        else:
            new[number] = b.add(node.op, tuple(new[a] for a in node.args), node.imm, node.name, node.note)
    for s, kept in zip(program.state, b.state, strict=True):
        chain = names.get(s.name)
        b.state_out(kept.name, new[s.node] if chain is None else _rank(b, program, s.node, chain, new | stored))
    return b.finish(*(new[result] for result in program.results))


def _cut(b: ProgramBuilder, rank: int, most: int, name: str, *, masked: bool) -> int:
    """A stored rank as one that there is, or one of as many bits."""
    note, bits = "whatever the context holds", most.bit_length()
    if not masked:
        return b.add(Op.MIN, (rank, b.const(most)), 0, name, note)
    return b.add(Op.MASK, (rank,), bits, name, note) if 1 << bits <= MAX_RANK else rank


def _held(program: Program) -> dict[str, int]:
    """The node that reads each field of the context, where one does."""
    used = [(n, program.nodes[n]) for n in needed(program)]
    return {program.state[node.imm].name: n for n, node in used if node.op is Op.STATE}


def _only_kept(program: Program, numbers: set[int], selects: Sequence[int]) -> bool:
    """Whether nothing but the trees and these selects asks for the nodes, and no knob is one of them; no select asks
    which way to go."""
    for n in needed(program):
        node = program.nodes[n]
        if numbers & {*(node.args[:1] if n in selects else node.args)} and node.op is not Op.TREES:
            return False
    return not numbers & set(program.results)


def _ranked(forest: Forest, thresholds: dict[int, tuple[int, ...]]) -> Forest:
    """The forest that asks for ranks: a value is above threshold i of its chain where its rank is above i."""

    def asked(feature: int, threshold: int) -> tuple[int, int]:
        return feature, thresholds[feature].index(threshold) if feature in thresholds else threshold

    trees = tuple(mapped(tree, lambda branch: asked(branch.feature, branch.threshold)) for tree in forest.trees)
    names = tuple(name + RANK if k in thresholds else name for k, name in enumerate(forest.features))
    return Forest(names, trees, forest.bias, forest.leaf_bits)


def _rank(b: ProgramBuilder, program: Program, number: int, chain: Chain, new: Mapping[int, int]) -> int:
    """How many of the thresholds a node is above: for a choice the choice between ranks, for a field what it holds."""
    node = program.nodes[number]
    if node.op is Op.STATE:
        return new[number]
    if number in chain.selects:
        first, second = (_rank(b, program, a, chain, new) for a in node.args[1:])
        return b.add(Op.SELECT, (new[node.args[0]], first, second))
    above = [b.add(Op.GT, (new[number], b.const(t))) for t in chain.thresholds]
    total = above[0]
    for place, one in enumerate(above[1:], start=2):
        last = place == len(above)
        total = b.add(Op.ADD, (total, one), 0, *((node.name + RANK, "") if last else ("", "")))
    return total


def _note(field: StateField, thresholds: int) -> str:
    return f"how many of {thresholds} thresholds it was above: {field.note}"
