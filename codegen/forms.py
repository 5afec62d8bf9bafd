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

from codegen.engines import Engine
from codegen.forest import Forest, Leaf, Node, branches_of
from codegen.joint import Group, Placing, array_of, placings
from codegen.passes.reorder import mean, worst
from codegen.search import SearchNode, plan

INSTRUCTION_BYTES = 4
BRANCHES_A_NODE = 3  # constant (often two instructions) and branch
LEAF_INSTRUCTIONS = 2


@dataclass(frozen=True)
class Search:
    """A feature's placing and the search that finds it."""

    placing: Placing
    root: SearchNode
    cycles: float


@dataclass(frozen=True)
class Lowered:
    """A forest in its forms: ``branches`` and ``indexed`` name (sum, tree); the other trees are in ``groups``."""

    forest: Forest
    branches: tuple[tuple[int, int], ...]
    indexed: tuple[tuple[int, int], ...]
    groups: tuple[Group, ...]
    searches: tuple[Search, ...]
    cycles: float
    """Predicted, for what was optimised: worst case or mean."""
    code_bytes: int
    table_bytes: int

    @cached_property
    def array(self) -> tuple[int, ...]:
        return array_of(self.groups)

    def clamps(self, total: int) -> bool:
        """Whether the sum is still to be clamped: not where a table holds the clamped sums."""
        return not any(g.total == total and len(g.trees) == len(self.forest.sums[total].trees) for g in self.groups)

    def tree(self, place: tuple[int, int]) -> Node:
        return self.forest.sums[place[0]].trees[place[1]]

    @property
    def form(self) -> str:
        """What it is, in a word."""
        parts = ["branches"] if self.branches else []
        parts += ["index"] if self.indexed else []
        if self.groups:
            parts.append("rank and table" if all(len(g.trees) == 1 for g in self.groups) else "joint tables")
        return " + ".join(parts) if parts else "constant"


def entry_bytes(entries: Sequence[int]) -> int:
    """1, 2 or 4: the narrowest signed type of C that holds all entries."""
    low, high = min(entries, default=0), max(entries, default=0)
    return next(n for n in (1, 2, 4) if -(1 << (8 * n - 1)) <= low and high < 1 << (8 * n - 1))


def lowered(
    forest: Forest,
    branches: Sequence[tuple[int, int]],
    indexed: Sequence[tuple[int, int]],
    groups: tuple[Group, ...],
    engine: Engine,
    optimise: str,
) -> Lowered:
    """Put the parts together, with searches and the prediction."""
    searches = tuple(_search(forest, placing, engine, optimise) for placing in placings(groups))
    cycles = sum(s.cycles for s in searches) + (len(searches) - 1 if searches else 0) * engine.alu
    cycles += (engine.look_up() * len(groups) + 2 * engine.alu) if groups else 0
    alone = {g.total for g in groups if len(g.trees) == len(forest.sums[g.total].trees)}
    for number, total in enumerate(forest.sums):
        bounds = [b for b in (total.low, total.high) if -(2**31) < b < 2**31 - 1]
        cycles += 0 if number in alone else sum(engine.constant(b) + engine.taken for b in bounds)
    known = {number: (f.low, f.high) for number, f in enumerate(forest.features)}
    instructions = sum(BRANCHES_A_NODE * len(s.placing.thresholds) + 3 * len(s.placing.words) for s in searches)
    instructions += 6 * len(groups)
    for sum_number, number in branches:
        tree = forest.sums[sum_number].trees[number]
        cycles += mean(tree, forest, engine, known) if optimise == "mean" else worst(tree, engine)
        nodes = sum(1 for _ in branches_of(tree))
        instructions += BRANCHES_A_NODE * nodes + LEAF_INSTRUCTIONS * (nodes + 1) + 1
    tables = len(array_of(groups)) * entry_bytes(array_of(groups))
    for sum_number, number in indexed:
        questions = questions_of(forest.sums[sum_number].trees[number])
        cycles += sum(engine.constant(t + 1) + 3 * engine.alu for _, t in questions) + engine.look_up()
        instructions += 5 * len(questions) + 6
        tables += (1 << len(questions)) * 2
    code = instructions * INSTRUCTION_BYTES
    return Lowered(forest, tuple(branches), tuple(indexed), groups, searches, cycles, code, tables)


def questions_of(tree: Node) -> list[tuple[int, int]]:
    """The distinct splits of a tree."""
    return sorted({(b.feature, b.threshold) for b in branches_of(tree)})


def table_of(tree: Node, questions: Sequence[tuple[int, int]]) -> list[int]:
    """The leaves by the index whose bit i says that question i is answered with yes. A combination that no value can
    give (above a threshold, but not above a lower one) still gets an entry."""

    def reached(node: Node, index: int) -> int:
        if isinstance(node, Leaf):
            return node.value
        answered = index >> questions.index((node.feature, node.threshold)) & 1
        return reached(node.above if answered else node.below, index)

    return [reached(tree, index) for index in range(1 << len(questions))]


def _search(forest: Forest, placing: Placing, engine: Engine, optimise: str) -> Search:
    shares = None
    if optimise == "mean" and forest.visits:
        edges = [-(2**63), *placing.thresholds, 2**63]
        histogram = forest.visits[placing.feature]
        shares = [histogram.share(a, b) for a, b in pairwise(edges)]
        whole = sum(shares)
        shares = [s / whole for s in shares] if whole > 0 else None
    if optimise == "mean" and shares is None:
        shares = [1 / len(placing.words)] * len(placing.words)
    root, cycles = plan(placing.thresholds, placing.words, engine, shares)
    return Search(placing, root, cycles)
