"""Contexts that keep ranks: of a past value not the value, but how many of the trees' thresholds it is above.

    values   trees ask x_1 > 811, > 11535                     context.x_1 = x
    ranks    trees ask x_1_rank mod 4 > 0, > 1                context.x_1_rank = (x > 811) + (x > 11535)

``with_values`` reads a program with ranks back, and what stands in the place of ratios (decision/ir/quotients.py) with
it. The result decides the same, by induction over a flow's decisions:
let r be the rank of v for each pair of fields (as 0 is of 0, for a new flow). Then v > threshold i exactly if r > i, so
that the trees say the same and all else is the same; and what is written back is the rank of what is written back. A
field that is used in another way, or written with something else, is no rank, and stays what it is. A choice between
ranks of the same thresholds is the rank of the choice between their values. Nothing is claimed for a corrupted context:
the program itself defines what a rank means that no value has.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass

from decision.ir.forest import Branch, Forest, mapped
from decision.ir.formats import U32_MAX
from decision.ir.interface import STORAGE_RANGE
from decision.ir.program import Op, Program, ProgramBuilder, StateField
from decision.ir.quotients import with_quotients

RANK = "_rank"
"""What the name of a field ends in that holds ranks."""


@dataclass(frozen=True)
class Ranking:
    """How many of the ``thresholds`` (ascending) node ``x`` is above, as a sum of comparisons; ``inner``: the nodes of
    it that nobody else asks for."""

    x: int
    thresholds: tuple[int, ...]
    inner: frozenset[int]


@dataclass(frozen=True)
class Counted:
    """Ranks of the same thresholds, in fields that are copied to each other or chosen between: the ``sums`` that are
    written, by their nodes, and the ``selects`` that choose."""

    sums: Mapping[int, Ranking]
    selects: frozenset[int]
    thresholds: tuple[int, ...]


def rankings(program: Program) -> dict[int, Ranking]:
    """Returns the rankings by the node of the sum, for sums that only the context takes."""
    return {n: ranking for own in _counted(program).values() for n, ranking in own.sums.items()}


def choices_between(program: Program, number: int, ends: Container[int] = ()) -> tuple[list[int], list[int]]:
    """Selects that give a node its value, and the values that they choose from, ``ends`` among them."""
    selects: list[int] = []
    values: list[int] = []
    todo = [number]
    while todo:
        at = todo.pop()
        inner = program.nodes[at].op is Op.SELECT and at not in ends
        (selects if inner else values).append(at)
        todo += program.nodes[at].args[1:] if inner else ()
    return selects, values


def linked(places: Mapping[int, Iterable[int]]) -> list[list[int]]:
    """Fields in parts, by their places: with each all those that it names, or that name it."""
    part = {place: {place} for place in places}
    for place, named in places.items():
        for other in named:
            joined = part[place] | part.get(other, {other})
            part |= dict.fromkeys(joined, joined)
    return [sorted(p) for p in {id(p): p for p in part.values()}.values()]


def _counted(program: Program) -> dict[int, Counted]:
    """The ranks that fields hold, by their places, where only the context takes them."""
    uses = Counter(a for node in program.nodes for a in node.args)
    written: dict[int, tuple[list[int], dict[int, Ranking]]] = {}
    reads: dict[int, list[int]] = {}
    shared = {n for n, count in uses.items() if count > 1}
    for place, s in enumerate(program.state):
        selects, values = choices_between(program, s.node, shared)
        fields = [n for n in values if program.nodes[n].op is Op.STATE]
        rest = [n for n in values if n not in fields]
        sums = {n: ranking for n in rest if (ranking := _ranking(program, n, uses)) is not None}
        within = {*selects, *rest} - {s.node}
        alone = all(uses[n] == (n != s.node) for n in (*selects, *rest)) and within.isdisjoint(program.outputs)
        reads[place] = [program.nodes[n].imm for n in fields]
        if len(sums) == len(rest) and alone and s.node not in program.results:
            written[place] = selects, sums
    matched: dict[int, Counted] = {}
    for part in linked(reads):
        if not set(part) <= written.keys():
            continue
        sums = {n: ranking for place in part for n, ranking in written[place][1].items()}
        thresholds = {ranking.thresholds for ranking in sums.values()}
        if len(thresholds) == 1:
            own = Counted(sums, frozenset(n for place in part for n in written[place][0]), *thresholds)
            matched |= dict.fromkeys(part, own)
    return matched


def _ranking(program: Program, number: int, uses: Counter[int]) -> Ranking | None:
    """The sum of comparisons that a node is; None where it is none."""
    terms = _terms(program, number, uses)
    if terms is None:
        return None
    asked = [program.nodes[n].args for n in terms[0]]
    thresholds = tuple(sorted(program.nodes[constant].imm for _, constant in asked))
    if len({x for x, _ in asked}) > 1 or len(set(thresholds)) < len(thresholds) or thresholds[0] < 0:
        return None
    return Ranking(asked[0][0], thresholds, frozenset(terms[0] + terms[1]) - {number})


def ranked_features(program: Program) -> dict[int, tuple[int, ...]]:
    """The trees' features that are ranks from the context, with the thresholds that they count."""
    fields = _rank_fields(program)
    return {k: fields[place].thresholds for k, place in _asked_fields(program, fields).items()}


def field_behind(program: Program, number: int) -> int:
    """The node of the field that a node cuts to a greatest value, or to its low bits; the node itself where it is none
    such."""
    node = program.nodes[number]
    if node.op is Op.MASK or (node.op is Op.MIN and program.nodes[node.args[1]].op is Op.CONST):
        return node.args[0] if program.nodes[node.args[0]].op is Op.STATE else number
    return number


def with_values(program: Program, storage: Mapping[str, str] | None = None) -> Program:
    """The program with values in the place of ranks in its context. ``storage``: of the fields by their names; where it
    does not say, the first of uint32 and int32 that holds them."""
    program = with_quotients(program)
    fields = _rank_fields(program)
    if not fields:
        return program
    ranked = ranked_features(program)
    if not _reachable(program, fields, ranked, storage or {}):
        return program
    least = {k: _least(program, fields[place]) for k, place in _asked_fields(program, fields).items()}
    b = ProgramBuilder(_of_values(program.forest, ranked, least), program.interface, network=program.network)
    b.tables = list(program.tables)
    for place, s in enumerate(program.state):
        if place in fields:
            name = s.name.removesuffix(RANK)
            kind = (storage or {}).get(name) or _wide(_least(program, fields[place]))
            b.state.append(StateField(name, kind, -1, s.note.partition(": ")[2]))
        else:
            b.state.append(StateField(s.name, s.storage, -1, s.note))
    new: dict[int, int] = {}
    written = {place: _written(program, place, fields) for place in range(len(program.state))}
    for number in _reached([*written.values(), *program.results], lambda n: _value_args(program, n, fields)):
        node = program.nodes[number]
        name = node.name.removesuffix(RANK) if node.op is Op.STATE and node.imm in fields else node.name
        args = tuple(new[a] for a in _value_args(program, number, fields))
        new[number] = b.add(node.op, args, node.imm, name, node.note)
    for place, kept in enumerate(list(b.state)):
        b.state_out(kept.name, new[written[place]])
    return b.finish(*(new[result] for result in program.results))


def _reachable(
    program: Program,
    fields: Mapping[int, Counted],
    ranked: Mapping[int, tuple[int, ...]],
    storage: Mapping[str, str],
) -> bool:
    """Whether every rank that the trees tell apart is one of a value that its field could hold: else a corrupted rank
    decides what no value does."""
    asked = program.forest.thresholds()
    if any(place >= len(thresholds) for k, thresholds in ranked.items() for place in asked.get(k, [])):
        return False
    kinds = {
        place: storage.get(program.state[place].name.removesuffix(RANK)) or _wide(_least(program, own))
        for place, own in fields.items()
    }
    return all(own.thresholds[-1] < STORAGE_RANGE[kinds[place]][1] for place, own in fields.items())


def same_decision(a: Program, b: Program) -> bool:
    """Whether two programs compute the same in the same way, in whatever order; names and notes aside."""
    if (a.interface, a.network, a.forest) != (b.interface, b.network, b.forest):
        return False
    if [(s.name, s.storage) for s in a.state] != [(s.name, s.storage) for s in b.state]:
        return False
    terms: dict[object, int] = {}

    def outputs(program: Program) -> list[int]:
        known: list[int] = []
        for node in program.nodes:
            imm: object = program.tables[node.imm] if node.op is Op.TABLE else node.imm
            known.append(terms.setdefault((node.op, imm, tuple(known[n] for n in node.args)), len(terms)))
        return [known[n] for n in program.outputs]

    return outputs(a) == outputs(b)


def _rank_fields(program: Program) -> dict[int, Counted]:
    """The fields that hold ranks, by their place: each written with rankings of the same thresholds, or with fields
    that hold those; read only by the trees, cut to no less than the greatest rank or not, and by such fields. None
    where trees are asked about different values: of which they would be the ranks nothing says."""
    if not _features(program):
        return {}
    fields = _counted(program)
    reads = {node.imm: n for n, node in enumerate(program.nodes) if node.op is Op.STATE}
    wrong = [own for place, own in fields.items() if not _is_rank(program, place, reads.get(place), own)]
    return {place: own for place, own in fields.items() if own not in wrong}


def _asked_fields(program: Program, fields: Mapping[int, Counted]) -> dict[int, int]:
    """The trees' features that are such fields, by their places."""
    asked = {}
    for feature, number in enumerate(_features(program)):
        place = _read_by(program, field_behind(program, number))
        if place in fields:
            asked[feature] = place
    return asked


def _least(program: Program, own: Counted) -> int:
    """The least value that is held: a new agent's is 0."""
    return min(0, *(program.nodes[ranking.x].low for ranking in own.sums.values()))


def _written(program: Program, place: int, fields: Mapping[int, Counted]) -> int:
    """The node of what a field holds afterwards, of a rank the value."""
    number = program.state[place].node
    return fields[place].sums[number].x if place in fields and number in fields[place].sums else number


def _read_by(program: Program, number: int) -> int:
    node = program.nodes[number]
    return node.imm if node.op is Op.STATE else -1


def _is_rank(program: Program, place: int, read: int | None, own: Counted) -> bool:
    field = program.state[place]
    if not field.name.endswith(RANK) or STORAGE_RANGE[field.storage][0] != 0:
        return False
    if read is None or read in program.results:
        return False
    for number, node in enumerate(program.nodes):
        if read not in node.args or node.op is Op.TREES or (number in own.selects and node.args[0] != read):
            continue
        most = (1 << node.imm) - 1 if node.op is Op.MASK else program.nodes[node.args[-1]].imm
        if field_behind(program, number) != read or most < len(own.thresholds):
            return False
        if number in program.outputs or any(number in n.args and n.op is not Op.TREES for n in program.nodes):
            return False
    return True


def _features(program: Program) -> tuple[int, ...]:
    """Returns the trees' features; nothing if the trees are evaluated more than once, on different values."""
    asked = {node.args for node in program.nodes if node.op is Op.TREES}
    return next(iter(asked)) if len(asked) == 1 else ()


def _value_args(program: Program, number: int, fields: Mapping[int, Counted]) -> tuple[int, ...]:
    """The operands; of trees the field itself where it is cut, of a choice between ranks their values."""
    node = program.nodes[number]
    if node.op is Op.SELECT:
        values = {n: ranking.x for own in fields.values() for n, ranking in own.sums.items()}
        return tuple(values.get(a, a) for a in node.args)
    if node.op is not Op.TREES:
        return node.args
    behind = [field_behind(program, a) for a in node.args]
    return tuple(f if _read_by(program, f) in fields else a for a, f in zip(node.args, behind, strict=True))


def _reached(roots: list[int], operands: Callable[[int], tuple[int, ...]]) -> list[int]:
    """The nodes that these depend on, and they themselves, in their order."""
    todo = list(roots)
    seen: set[int] = set()
    while todo:
        number = todo.pop()
        if number not in seen:
            seen.add(number)
            todo += operands(number)
    return sorted(seen)


def _of_values(forest: Forest, ranked: Mapping[int, tuple[int, ...]], least: Mapping[int, int]) -> Forest:
    """The forest that asks for values, none below ``least``: a rank is above i where the value is above threshold i."""

    def asked(branch: Branch) -> tuple[int, int]:
        thresholds = ranked.get(branch.feature)
        if thresholds is None:
            return branch.feature, branch.threshold
        if branch.threshold < 0:
            return branch.feature, least[branch.feature] - 1  # every rank is, and every value
        return branch.feature, thresholds[branch.threshold] if branch.threshold < len(thresholds) else U32_MAX

    names = tuple(name.removesuffix(RANK) if k in ranked else name for k, name in enumerate(forest.features))
    return Forest(names, tuple(mapped(tree, asked) for tree in forest.trees), forest.bias, forest.leaf_bits)


def _wide(low: int) -> str:
    return "uint32" if low >= 0 else "int32"


def _terms(program: Program, number: int, uses: Counter[int]) -> tuple[list[int], list[int]] | None:
    """The comparisons with a constant that a sum is made of, and the sums; None where something else is in it."""
    node = program.nodes[number]
    if node.op is Op.GT and program.nodes[node.args[1]].op is Op.CONST:
        return [number], []
    if node.op is not Op.ADD or node.args[0] == node.args[1]:
        return None
    comparisons: list[int] = []
    sums = [number]
    for operand in node.args:
        inner = _terms(program, operand, uses) if uses[operand] == 1 else None
        if inner is None:
            return None
        comparisons, sums = comparisons + inner[0], sums + inner[1]
    return comparisons, sums
