"""The forms that trees can take in C, and what each costs on an engine.

| form | worst case | code | tables |
|---|---|---|---|
| branches | a compare and a branch a level, a tree after the other | grows with the nodes | none |
| index | every split of an oblivious tree compared without a branch, one load a tree | small | 2^depth entries a tree |
| joint | each feature placed among its thresholds once, one load a group of trees | a search a feature | joint tables |

Trees may take different forms (mixed). Joint with one tree a group is "rank and table"; with several trees a group it
is a decision diagram over the features' ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from codegen.engines import CostModel
from codegen.joint import Group, Placing, array_of, placings, share
from codegen.passes.reorder import asked_for, mean, worst
from codegen.search import Ask, SearchNode, cheap_pivots, plan
from codegen.walk import Walk
from decision.ir.forest import Leaf, Node
from decision.ir.forest import branches as branches_of

INSTRUCTION_BYTES = 4
BRANCHES_A_NODE = 3  # constant (often two instructions) and branch
LEAF_INSTRUCTIONS = 2
MULTIPLY = 4  # cycles more than an addition, with the constant


@dataclass(frozen=True)
class Search:
    """A feature's placing, with the thresholds it may ask for besides, and the search that finds it."""

    placing: Placing
    root: SearchNode
    cycles: float


@dataclass(frozen=True)
class Lowered:
    """Trees in their forms: ``branches`` and ``indexed`` number them; the others are in ``groups``."""

    walk: Walk
    branches: tuple[int, ...]
    indexed: tuple[int, ...]
    groups: tuple[Group, ...]
    searches: tuple[Search, ...]
    counts: tuple[Search, ...]
    """Searches of features that none of those places: how many thresholds they are above."""
    direct: int | None
    """A feature that is its own place."""
    cycles: float
    """Predicted, for what was optimised: worst case or mean."""
    code_bytes: int
    table_bytes: int

    @property
    def share(self) -> int:
        """Returns what each step of the feature ``direct`` adds to the place."""
        return 0 if self.direct is None else share(self.groups, self.direct)

    @cached_property
    def array(self) -> tuple[int, ...]:
        return array_of(self.groups)

    def clamps(self, column: int) -> bool:
        """Whether the sum is still to be clamped: not where a table holds the clamped sums."""
        return not _alone(self.walk, self.groups, column)

    @property
    def form(self) -> str:
        """Returns the form in a word."""
        parts = ["branches"] if self.branches else []
        parts += ["index"] if self.indexed else []
        if self.groups:
            parts.append("rank and table" if all(len(g.trees) == 1 for g in self.groups) else "joint tables")
        return " + ".join(parts) if parts else "constant"


def entry_bytes(entries: Sequence[int]) -> int:
    """1, 2 or 4: the narrowest signed type of C that holds all entries."""
    low, high = min(entries, default=0), max(entries, default=0)
    return next(n for n in (1, 2, 4) if -(1 << (8 * n - 1)) <= low and high < 1 << (8 * n - 1))


def _alone(walk: Walk, groups: Sequence[Group], column: int) -> bool:
    """Whether one group has all trees that add to a sum."""
    return any(column in g.columns and walk.adding_to(column) <= set(g.trees) for g in groups)


def lowered(
    walk: Walk,
    branches: Sequence[int],
    indexed: Sequence[int],
    groups: tuple[Group, ...],
    engine: CostModel,
    optimise: str,
    direct: int | None = None,
) -> Lowered:
    """Put the parts together, with searches and the prediction."""
    counted, placed = dict(walk.ranks), placings(groups, direct)
    alone = [Placing(f, t, tuple(range(len(t) + 1))) for f, t in walk.ranks if f not in {p.feature for p in placed}]
    placed = tuple(p.counting(counted[p.feature]) if p.feature in counted else p for p in placed)
    searches, counts = (tuple(_search(walk, p, engine, optimise) for p in part) for part in (placed, alone))
    cycles = sum(s.cycles for s in (*searches, *counts)) + (len(searches) - 1 if searches else 0) * engine.alu
    if direct is not None:
        factor = share(groups, direct)
        cycles += _cut(walk, direct, engine)
        cycles += engine.alu * (1 if factor == 1 else 2 if factor & (factor - 1) == 0 else 2 + MULTIPLY)
    cycles += (sum(engine.look_up(len(g.columns)) for g in groups) + 2 * engine.alu) if groups else 0
    cycles += sum(engine.alu + engine.constant(rest) for group in groups for rest in group.rests if rest)
    for column, total in enumerate(walk.sums):
        bounds = [b for b in (total.low, total.high) if -(2**31) < b < 2**31 - 1]
        cycles += 0 if _alone(walk, groups, column) else sum(engine.constant(b) + engine.taken for b in bounds)
    known = {number: (f.low, f.high) for number, f in enumerate(walk.features)}
    instructions = sum((BRANCHES_A_NODE + 3) * _questions(s.root) + 3 for s in (*searches, *counts))
    instructions += sum(4 + 2 * len(g.columns) for g in groups)
    for number in branches:
        tree = walk.trees[number]
        cycles += mean(tree, walk, engine, known) if optimise == "mean" else worst(tree, walk, engine)
        nodes = sum(1 for _ in branches_of(tree))
        instructions += BRANCHES_A_NODE * nodes + LEAF_INSTRUCTIONS * len(walk.columns(tree)) * (nodes + 1) + 1
    tables = len(array_of(groups)) * entry_bytes(array_of(groups))
    for number in indexed:
        questions, columns = questions_of(walk.trees[number]), len(walk.columns(walk.trees[number]))
        cycles += sum(asked_for(f, t, walk.features, engine) + 3 * engine.alu for f, t in questions)
        cycles += engine.look_up(columns)
        instructions += 5 * len(questions) + 4 + 2 * columns
        tables += (1 << len(questions)) * 2 * columns
    code = instructions * INSTRUCTION_BYTES
    return Lowered(walk, tuple(branches), tuple(indexed), groups, searches, counts, direct, cycles, code, tables)


def questions_of(tree: Node) -> list[tuple[int, int]]:
    """The distinct splits of a tree."""
    return sorted({(b.feature, b.threshold) for b in branches_of(tree)})


def table_of(tree: Node, questions: Sequence[tuple[int, int]], column: int) -> list[int]:
    """Returns what the leaves add to a sum, by the index whose bit i says that question i is answered with yes. A
    combination that no value can give (above a threshold, but not above a lower one) still gets an entry."""

    def reached(node: Node, index: int) -> int:
        if isinstance(node, Leaf):
            return node.value[column]
        answered = index >> questions.index((node.feature, node.threshold)) & 1
        return reached(node.above if answered else node.below, index)

    return [reached(tree, index) for index in range(1 << len(questions))]


def _cut(walk: Walk, feature: int, engine: CostModel) -> int:
    """Cycles to cut a feature to its range."""
    if feature in walk.masked:
        return engine.alu
    return engine.constant(walk.features[feature].high) + engine.taken


def _questions(node: SearchNode) -> int:
    return 1 + _questions(node.above) + _questions(node.below) if isinstance(node, Ask) else 0


def _search(walk: Walk, placing: Placing, engine: CostModel, optimise: str) -> Search:
    factors = walk.features[placing.feature].factors
    if optimise != "size" and not factors:
        placing = placing.asking(cheap_pivots(placing.thresholds))
    shares = None
    if optimise == "mean" and walk.visits:
        edges = [-(2**63), *placing.thresholds, 2**63]
        histogram = walk.visits[placing.feature]
        shares = [histogram.share(a, b) for a, b in pairwise(edges)]
        total = sum(shares)
        shares = [s / total for s in shares] if total > 0 else None
    if optimise == "mean" and shares is None:
        shares = [1 / len(placing.words)] * len(placing.words)
    asked = [engine.multiple(factors[t]) for t in placing.thresholds] if factors else None
    root, cycles = plan(placing.thresholds, placing.ends, engine, shares, asked)
    return Search(placing, root, cycles)
