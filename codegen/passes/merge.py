"""Add up what is asked for twice: trees that are a constant go into the bias, trees of the same questions become one.

a > 3 ? 5 : 2   +   a > 3 ? 1 : -1   =   a > 3 ? 6 : 1
"""

from dataclasses import replace

from codegen.forest import Branch, Forest, Leaf, Node, Sum


def merge(forest: Forest) -> Forest:
    return replace(forest, sums=tuple(_merged(total) for total in forest.sums))


def _merged(total: Sum) -> Sum:
    bias = total.bias
    kept: list[Node] = []
    for tree in total.trees:
        if isinstance(tree, Leaf):
            bias += tree.value
            continue
        twin = next((i for i, other in enumerate(kept) if _same_questions(tree, other)), None)
        if twin is None:
            kept.append(tree)
        else:
            kept[twin] = _added(kept[twin], tree)
    return replace(total, bias=bias, trees=tuple(kept))


def _same_questions(a: Node, b: Node) -> bool:
    if isinstance(a, Leaf) or isinstance(b, Leaf):
        return isinstance(a, Leaf) and isinstance(b, Leaf)
    same = (a.feature, a.threshold) == (b.feature, b.threshold)
    return same and _same_questions(a.above, b.above) and _same_questions(a.below, b.below)


def _added(a: Node, b: Node) -> Node:
    if isinstance(a, Leaf) and isinstance(b, Leaf):
        return Leaf(a.value + b.value)
    assert isinstance(a, Branch)
    assert isinstance(b, Branch)
    return Branch(a.feature, a.threshold, _added(a.above, b.above), _added(a.below, b.below))
