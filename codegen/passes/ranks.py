"""History as ranks: what a context keeps of a past value is not the value, but how many of the trees' thresholds it is
above. The next decision then has its column of a table without a search, and one search serves both decisions.

    before   trees ask congestion_1 > 811, > 11535;     context.congestion_1 = congestion
    after    trees ask rank_1 > 0, > 1;                 context.rank_1 = (congestion > 811) + (congestion > 11535)

The thresholds are those of all ages of the value that the trees look at, so that a rank that grows older is copied.
A rank that a corrupted context holds is cut to the greatest that there is. The rank in a new agent's zeroed context is
0, as the value was: 0 lies above no threshold that is not negative.

This is another program: its context holds something else. For every context that can come about it decides the same:
``decision.ir.ranks.with_values`` reads it back.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.fork import fork_of
from decision.ir.forest import Forest, mapped
from decision.ir.interface import STORAGE_RANGE
from decision.ir.program import Node, Op, Program, ProgramBuilder, StateField
from decision.ir.ranks import RANK
from decision.ir.rewrite import needed

MAX_RANK = 255
"""Thresholds that a byte counts."""


@dataclass(frozen=True)
class Chain:
    """A value and the fields that hold it, the newest first. ``thresholds``: of all its ages, ascending."""

    value: int
    fields: tuple[str, ...]
    thresholds: tuple[int, ...]


def chains(program: Program) -> tuple[Chain, ...]:
    """The values that ranks can stand for: the trees look at them as they are computed, and at what is kept of them;
    nothing else does."""
    trees = {node.args for node in program.nodes if node.op is Op.TREES}
    if len(trees) != 1 or fork_of(program, needed(program), lambda node: node.args) is not None:
        return ()
    (args,) = trees
    held = _held(program)
    writers = {s.node: [t.name for t in program.state if t.node == s.node] for s in program.state}
    thresholds = program.forest.thresholds()
    storage = {field.name: field.storage for field in program.state}
    chosen = []
    for value in sorted(set(args) & set(writers)):
        if value in held.values() or len(writers[value]) != 1:
            continue
        fields = [writers[value][0]]
        while (node := held.get(fields[-1])) is not None and len(writers.get(node, ())) == 1:
            fields.append(writers[node][0])
        asked = sorted({t for name in fields for k in _places(args, held.get(name)) for t in thresholds[k]})
        if not asked or asked[0] < 0 or len(asked) > MAX_RANK or None in map(held.get, fields):
            continue
        if asked[-1] >= min(STORAGE_RANGE[storage[name]][1] for name in fields):
            continue  # a rank that no value of the field has, and a corrupted context could
        if all(_only_kept(program, held[name]) for name in fields):
            chosen.append(Chain(value, tuple(fields), tuple(asked)))
    return tuple(chosen)


def with_ranks(program: Program, chosen: Sequence[Chain]) -> Program:
    """The program with ranks in place of the fields of these chains."""
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
    for number in needed(program):
        node = program.nodes[number]
        if number in kept_as:
            stored[number] = b.add(Op.STATE, (), node.imm, node.name + RANK)
            limit = b.const(len(kept_as[number].thresholds))
            new[number] = b.add(Op.MIN, (stored[number], limit), 0, f"{node.name}_place", "whatever the context holds")
        else:
            new[number] = b.add(node.op, tuple(new[a] for a in node.args), node.imm, node.name, node.note)
    ranks = {chain.value: _rank(b, new[chain.value], chain, program.nodes[chain.value]) for chain in chosen}
    for s, kept in zip(program.state, b.state, strict=True):
        if s.name in names:
            b.state_out(kept.name, ranks[s.node] if s.node in ranks else stored[s.node])
        else:
            b.state_out(kept.name, new[s.node])
    return b.finish(*(new[result] for result in program.results))


def _held(program: Program) -> dict[str, int]:
    """The node that reads each field of the context, where one does."""
    used = [(n, program.nodes[n]) for n in needed(program)]
    return {program.state[node.imm].name: n for n, node in used if node.op is Op.STATE}


def _places(args: Sequence[int], node: int | None) -> list[int]:
    return [k for k, a in enumerate(args) if a == node]


def _only_kept(program: Program, number: int) -> bool:
    """Whether nobody but the trees asks for a node, besides fields that take it over, and no knob is it."""
    users = {node.op for n in needed(program) if number in (node := program.nodes[n]).args}
    return users <= {Op.TREES} and number not in program.results


def _ranked(forest: Forest, thresholds: dict[int, tuple[int, ...]]) -> Forest:
    """The forest that asks for ranks: a value is above threshold i of its chain where its rank is above i."""

    def asked(feature: int, threshold: int) -> tuple[int, int]:
        return feature, thresholds[feature].index(threshold) if feature in thresholds else threshold

    trees = tuple(mapped(tree, lambda branch: asked(branch.feature, branch.threshold)) for tree in forest.trees)
    names = tuple(name + RANK if k in thresholds else name for k, name in enumerate(forest.features))
    return Forest(names, trees, forest.bias, forest.leaf_bits)


def _rank(b: ProgramBuilder, value: int, chain: Chain, node: Node) -> int:
    """How many of the chain's thresholds a value is above."""
    above = [b.add(Op.GT, (value, b.const(t))) for t in chain.thresholds]
    total = above[0]
    for number, one in enumerate(above[1:], start=2):
        last = number == len(above)
        total = b.add(Op.ADD, (total, one), 0, *((node.name + RANK, "") if last else ("", "")))
    return total


def _note(field: StateField, thresholds: int) -> str:
    return f"how many of {thresholds} thresholds it was above: {field.note}"
