"""Add up what is asked for twice: trees that are a constant go into the biases, trees of the same questions become one.

a > 3 ? 5 : 2   +   a > 3 ? 1 : -1   =   a > 3 ? 6 : 1
"""

from dataclasses import replace

from codegen.walk import Walk
from decision.ir.forest import Branch, Leaf, Node


def merge(walk: Walk) -> Walk:
    bias = Leaf(tuple(total.bias for total in walk.sums))
    kept: list[Node] = []
    for tree in walk.trees:
        if isinstance(tree, Leaf):
            bias = _sum(bias, tree)
            continue
        twin = next((i for i, other in enumerate(kept) if _same_questions(tree, other)), None)
        if twin is None:
            kept.append(tree)
        else:
            kept[twin] = _added(kept[twin], tree)
    sums = tuple(replace(total, bias=b) for total, b in zip(walk.sums, bias.value, strict=True))
    return replace(walk, trees=tuple(kept), sums=sums)


def _same_questions(a: Node, b: Node) -> bool:
    if isinstance(a, Leaf) or isinstance(b, Leaf):
        return isinstance(a, Leaf) and isinstance(b, Leaf)
    same = (a.feature, a.threshold) == (b.feature, b.threshold)
    return same and _same_questions(a.above, b.above) and _same_questions(a.below, b.below)


def _added(a: Node, b: Node) -> Node:
    if isinstance(a, Leaf) and isinstance(b, Leaf):
        return _sum(a, b)
    assert isinstance(a, Branch)
    assert isinstance(b, Branch)
    return Branch(a.feature, a.threshold, _added(a.above, b.above), _added(a.below, b.below))


def _sum(a: Leaf, b: Leaf) -> Leaf:
    return Leaf(tuple(x + y for x, y in zip(a.value, b.value, strict=True)))
