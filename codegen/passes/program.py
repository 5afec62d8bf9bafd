"""The whole decision lowered: arithmetic passes over the program, the forms of its trees, and what of the clamps behind
the trees the trees themselves take over."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from codegen.choose import Choice
from codegen.engines import engine_named
from codegen.fork import fork_of
from codegen.forms import Lowered
from codegen.lower import Dump, Options, check, lower
from codegen.passes.entries import Tail, tail_of, with_tail
from codegen.passes.highword import high_words
from codegen.walk import Feature, Histogram, Walk, only_trees_of, walk_of
from decision.artefact.errors import InputError
from decision.ir.idle import without_idle_clamps
from decision.ir.multiples import Multiples, multiples
from decision.ir.program import Node, Op, Program
from decision.ir.ranks import RANK, Ranking, field_behind, ranked_features, rankings
from decision.ir.rewrite import needed


@dataclass(frozen=True)
class WalkedTrees:
    """Trees that are walked at one place. ``features``: the nodes that they look at; ``sums``: the node that each of
    their sums stands for, clamps behind it included; ``name``: before the names that their C declares."""

    choice: Choice
    features: tuple[int, ...]
    sums: tuple[int, ...]
    name: str = ""


@dataclass(frozen=True)
class LoweredProgram:
    """``walks``: one, or two where a choice needs some of the sums on one side only: those that it always needs first.
    ``clamped``: the nodes that sums take over."""

    program: Program
    walks: tuple[WalkedTrees, ...]
    clamped: frozenset[int]
    one_function: bool
    dumps: tuple[Dump, ...]

    @property
    def choice(self) -> Choice | None:
        """Returns the choice of the last walk."""
        return self.walks[-1].choice if self.walks else None

    @property
    def forests(self) -> tuple[Lowered, ...]:
        return tuple(walked.choice.lowered for walked in self.walks)

    @property
    def sums(self) -> tuple[int, ...]:
        return tuple(number for walked in self.walks for number in walked.sums)

    def walk_of(self, node: Node) -> WalkedTrees:
        """The walk that gives a node of the trees its value."""
        of = zip(self.walks, self.walked_together(), strict=True)
        return next(walked for walked, sums in of if any(self.program.nodes[n].imm == node.imm for n in sums))

    def walked_together(self) -> list[frozenset[int]]:
        """Returns for each walk the nodes of the trees, without the clamps behind them."""
        return [frozenset(self._trees(number) for number in walked.sums) for walked in self.walks]

    def _trees(self, number: int) -> int:
        nodes = self.program.nodes
        while nodes[number].op is not Op.TREES:
            number = next(a for a in nodes[number].args if nodes[a].op is not Op.CONST)
        return number


def lower_program(
    program: Program,
    options: Options,
    visits: Mapping[str, Histogram] | None = None,
) -> LoweredProgram:
    """Run every pass that the options leave in. ``visits``: measured frequencies by feature name."""
    check(options)
    dumps = [Dump("program", text_of(program))]
    if "idle" not in options.without:
        program = without_idle_clamps(program)
        dumps.append(Dump("idle", text_of(program)))
    if "high-word" not in options.without:
        program = high_words(program)
        dumps.append(Dump("high-word", text_of(program)))
    sums = [number for number in needed(program) if program.nodes[number].op is Op.TREES]
    if not sums:
        return LoweredProgram(program, (), frozenset(), options.one_function, tuple(dumps))
    args = program.nodes[sums[0]].args
    if any(program.nodes[number].args != args for number in sums):
        raise InputError("a decision program whose trees look at different values is not compiled; walk them once")
    for number in sums:
        least, most = program.nodes[number].low, program.nodes[number].high
        if least < -(2**31) or most >= 2**31:
            raise InputError(f"the trees can add up to {least}..{most}, which 32 bits cannot hold; use fewer leaf bits")
    known = _measured(program, visits or {})
    parts = _apart(program, sums)
    walks: list[WalkedTrees] = []
    clamped: set[int] = set()
    for place, part in enumerate(parts):
        walked, taken, more = _walked(program, part, options, known, first=place == 0, alone=len(parts) == 1)
        walks.append(walked)
        clamped |= taken
        dumps += more
    return LoweredProgram(program, tuple(walks), frozenset(clamped), options.one_function, tuple(dumps))


def _apart(program: Program, sums: Sequence[int]) -> list[list[int]]:
    """The sums by where they are asked for: those that a choice needs on one side only apart from the others."""
    fork = fork_of(program, needed(program), lambda node: node.args)
    if fork is None:
        return [list(sums)]
    always = [n for n in sums if n not in fork.first and n not in fork.second]
    parts = [always, *([n for n in sums if n in side] for side in (fork.first, fork.second))]
    return [part for part in parts if part]


def _walked(
    program: Program, sums: Sequence[int], options: Options, known: Sequence[Histogram], *, first: bool, alone: bool
) -> tuple[WalkedTrees, set[int], list[Dump]]:
    """Some of the sums lowered, the nodes that they take over, and the trees after each pass. A feature that is counted
    for others too is counted by the ``first``."""
    args = program.nodes[sums[0]].args
    chains = [_clamps(program, number) for number in sums]
    ranges = [(program.nodes[a].low, program.nodes[a].high) for a in args]
    outputs = [program.nodes[number].imm for number in sums]
    forest = program.forest if alone else only_trees_of(program.forest, outputs)
    counts = multiples(program)
    walk = walk_of(forest, ranges, [(low, high) for _, low, high in chains], known, outputs)
    asked = {r.x: r.thresholds for r in counted_sums(program).values()} if first else {}
    counted = tuple((k, asked[a]) for k, a in enumerate(args) if a in asked)
    cells = 0 if alone else program.forest.combinations
    places = frozenset(ranked_features(program))
    masked = frozenset(k for k in places if program.nodes[args[k]].op is not Op.MIN)
    walk = replace(walk, ranks=counted, places=places, masked=masked, cells=cells)
    walk, args = _with_pairs(program, walk, args, counts)
    choice, dumps = lower(walk, options)
    # Only what is its own place has to be cut to its range: every threshold lies inside.
    args = tuple(a if k == choice.lowered.direct else _uncut(program, a) for k, a in enumerate(args))
    nodes = [chain for chain, _, _ in chains]
    tail = tail_of(program, nodes[0][-1]) if alone and _wider(options) else Tail()
    wider = with_tail(choice.lowered, tail, engine_named(options.engine), options.limits)
    if wider is not None:
        choice, nodes = replace(choice, lowered=wider), [[*nodes[0], *tail.nodes]]
    name = "" if alone else "first_" if first else "then_"
    walked = WalkedTrees(choice, args, tuple(chain[-1] for chain in nodes), name)
    return walked, {number for chain in nodes for number in chain[:-1]}, dumps


def _with_pairs(
    program: Program, walk: Walk, args: tuple[int, ...], counts: Mapping[int, Multiples]
) -> tuple[Walk, tuple[int, ...]]:
    """Features that count multiples as what is compared: their dividends in their place, the divisors behind all."""
    features, operands = list(walk.features), list(args)
    names = Counter(program.nodes[counted.x].name for counted in counts.values())
    for k, counted in counts.items():
        divisor = program.nodes[counted.over]
        if counted.over not in operands[len(args) :]:
            operands.append(counted.over)
            own = divisor.name or f"v{counted.over}"
            own = f"{own}_{counted.over}" if own in {feature.name for feature in features} else own
            features.append(Feature(own, divisor.low, divisor.high))
        place = operands.index(counted.over, len(args))
        name = program.nodes[counted.x].name
        name = name if name and names[name] == 1 else f"{name or 'scaled'}_{k}"
        features[k] = replace(features[k], name=name, factors=counted.factors, over=place)
        operands[k] = counted.x
    return replace(walk, features=tuple(features)), tuple(operands)


def counted_sums(program: Program) -> dict[int, Ranking]:
    """Sums of comparisons of one value, which one search answers."""
    return {n: ranking for n, ranking in rankings(program).items() if program.nodes[n].op is Op.ADD}


def _uncut(program: Program, number: int) -> int:
    """The field behind a cut that only the trees ask for."""
    node = program.nodes[number]
    users = [n for n in program.nodes if number in n.args and n.op is not Op.TREES]
    thresholds = [t for k, t in _asked(program) if k == number]
    inside = node.op is Op.MIN and all(t < node.high for t in thresholds)
    return field_behind(program, number) if inside and not users else number


def _asked(program: Program) -> list[tuple[int, int]]:
    """The trees' questions: node and threshold."""
    args = next(node.args for node in program.nodes if node.op is Op.TREES)
    return [(args[k], t) for k, values in program.forest.thresholds().items() for t in values]


def _measured(program: Program, visits: Mapping[str, Histogram]) -> list[Histogram]:
    """How often each feature was seen where; of a rank as of what it ranks. Nothing where one was not measured."""
    ranked, counts = ranked_features(program), multiples(program)
    measured = []
    for k, name in enumerate(program.forest.features):
        seen = visits.get(name.removesuffix(RANK) if k in ranked or k in counts else name)
        if seen is None:
            return []
        if k in counts:
            ranked = ranked | {k: tuple(factor - 1 for factor in counts[k].factors)}
        if k in ranked:
            edges = [-(2**63), *ranked[k], 2**63]
            shares = tuple(seen.share(low, high) for low, high in pairwise(edges))
            seen = Histogram(tuple(range(len(ranked[k]))), shares)
        measured.append(seen)
    return measured


def _wider(options: Options) -> bool:
    """Whether tables may grow for the sake of cycles."""
    return "entries" not in options.without and options.optimise != "size" and options.limits.cycles is None


def _clamps(program: Program, trees: int) -> tuple[list[int], int, int]:
    """The trees and the clamps to constants behind them, as long as each has no other use; and what they amount to."""
    chain, low, high = [trees], -(2**31), 2**31 - 1
    written = set(program.outputs)
    while chain[-1] not in written:
        users = [n for n, node in enumerate(program.nodes) if chain[-1] in node.args]
        node = program.nodes[users[0]] if len(users) == 1 else None
        if node is None or node.op not in (Op.MIN, Op.MAX):
            break
        bound = program.nodes[next((a for a in node.args if a != chain[-1]), chain[-1])]
        if bound.op is not Op.CONST or not -(2**31) <= bound.imm < 2**31:
            break
        # A later clamp clamps the earlier one's bounds too.
        low, high = (
            (min(low, bound.imm), min(high, bound.imm))
            if node.op is Op.MIN
            else (max(low, bound.imm), max(high, bound.imm))
        )
        chain.append(users[0])
    return chain, low, high


def text_of(program: Program) -> str:
    """The program as one line a node."""
    lines = []
    for number, node in enumerate(program.nodes):
        operands = ", ".join([*(str(a) for a in node.args), *([f"#{node.imm}"] if node.imm else [])])
        text = f"{node.op.name.lower()}({operands})"
        lines.append(f"{number:3d} {node.name or '-':28s} {text:28s} [{node.low}, {node.high}]")
    lines += [f"context->{s.name} = {s.node}" for s in program.state]
    lines += [f"{knob.name} = {n}" for knob, n in zip(program.interface.knobs, program.results, strict=True)]
    return "\n".join(lines) + "\n"
