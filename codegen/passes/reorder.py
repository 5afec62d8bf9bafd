"""Ask an oblivious tree's questions in the order, and with the sides the way round, that costs least.

Every path of an oblivious tree asks the same splits, so they may be asked in any order; pruning makes the orders
differ. Compilers let the first side of an if fall through and jump to the other: the dearer side comes first.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

from codegen.engines import CostModel
from codegen.passes.prune import Known, pruned
from codegen.walk import Feature, Walk
from decision.ir.forest import Branch, Leaf, Node, branches, depth

MAX_SPLITS = 5
"""Up to 120 orders are tried."""


def worst(node: Node, walk: Walk, engine: CostModel) -> int:
    """Cycles of the longest path: at each branch the dearer side falls through."""
    if isinstance(node, Leaf):
        return leaf_cycles(node, engine)
    a, b = sorted((worst(node.above, walk, engine), worst(node.below, walk, engine)), reverse=True)
    return asked_for(node.feature, node.threshold, walk.features, engine) + max(engine.not_taken + a, engine.taken + b)


def asked_for(feature: int, threshold: int, features: Sequence[Feature], engine: CostModel) -> int:
    """Cycles until a feature can be compared with a threshold of it."""
    factors = features[feature].factors
    return engine.multiple(factors[threshold]) if factors else engine.constant(threshold + 1)


def leaf_cycles(leaf: Leaf, engine: CostModel) -> int:
    """A constant for each sum that it adds to, an addition for each but the first (which stands behind the tree)."""
    added = [v for v in leaf.value if v]
    return sum(map(engine.constant, added)) + engine.alu * max(0, len(added) - 1) + engine.jump


def mean(node: Node, walk: Walk, engine: CostModel, known: Known) -> float:
    """Expected cycles; the features' measured frequencies taken as independent."""
    if isinstance(node, Leaf):
        return float(leaf_cycles(node, engine))
    share = share_above(node, walk, known)
    low, high = known[node.feature]
    a = mean(node.above, walk, engine, known | {node.feature: (node.threshold, high)})
    b = mean(node.below, walk, engine, known | {node.feature: (low, node.threshold)})
    through = max(share, 1 - share)
    jumps = engine.not_taken * through + engine.taken * (1 - through)
    return asked_for(node.feature, node.threshold, walk.features, engine) + jumps + share * a + (1 - share) * b


def share_above(node: Branch, walk: Walk, known: Known) -> float:
    """How often the branch is answered with yes; a half where nothing was measured."""
    if not walk.visits:
        return 0.5
    low, high = known[node.feature]
    histogram = walk.visits[node.feature]
    above, below = histogram.share(node.threshold, high), histogram.share(low, node.threshold)
    return above / (above + below) if above + below > 0 else 0.5


def reorder(walk: Walk, engine: CostModel, optimise: str) -> Walk:
    """``optimise``: the order of each oblivious tree that is best in the worst case, on average, or in size."""
    known = {number: (f.low, f.high) for number, f in enumerate(walk.features)}

    def price(tree: Node) -> tuple[float, float]:
        size, longest = float(sum(1 for _ in branches(tree))), float(worst(tree, walk, engine))
        if optimise == "size":
            return size, longest
        return (mean(tree, walk, engine, known) if optimise == "mean" else longest), size

    def best(tree: Node) -> Node:
        levels = _levels(tree)
        if levels is None or not 1 < len(levels) <= MAX_SPLITS:
            return tree
        orders = (pruned(_regrown(tree, order), known) for order in permutations(levels))
        return min(orders, key=price)

    return replace(walk, trees=tuple(best(tree) for tree in walk.trees))


def _levels(tree: Node) -> list[tuple[int, int]] | None:
    """The distinct questions of the tree; None where they are more than can be permuted."""
    questions: dict[tuple[int, int], None] = {}
    todo = [tree]
    while todo:
        node = todo.pop(0)
        if isinstance(node, Branch):
            questions[node.feature, node.threshold] = None
            todo += [node.above, node.below]
        if len(questions) > MAX_SPLITS:
            return None
    return list(questions)


def mixed(tree: Node) -> bool:
    """Whether a tree asks other questions on other paths: more than are permuted, and than any path asks. No symmetric
    tree of so few splits does, pruned or not."""
    questions = {(branch.feature, branch.threshold) for branch in branches(tree)}
    return len(questions) > max(MAX_SPLITS, depth(tree))


def _regrown(tree: Node, order: tuple[tuple[int, int], ...]) -> Node:
    """The tree with its questions asked in ``order``."""
    if not order:
        assert isinstance(tree, Leaf)
        return tree
    feature, threshold = order[0]
    above, below = _answered(tree, order[0], True), _answered(tree, order[0], False)
    return Branch(feature, threshold, _regrown(above, order[1:]), _regrown(below, order[1:]))


def _answered(tree: Node, question: tuple[int, int], answer: bool) -> Node:
    if isinstance(tree, Leaf):
        return tree
    if (tree.feature, tree.threshold) == question:
        return _answered(tree.above if answer else tree.below, question, answer)
    return Branch(
        tree.feature, tree.threshold, _answered(tree.above, question, answer), _answered(tree.below, question, answer)
    )
