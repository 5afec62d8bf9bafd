"""Drop what no input reaches: a threshold outside its feature's range, or already decided on the path; a branch whose
sides are equal.

An oblivious tree asks the same question on every path of a level, also where an earlier answer has decided it. The
branch could never be taken: it costs cycles and trips MISRA's rules on conditions that are always true.
"""

from dataclasses import replace

from codegen.walk import Walk
from decision.ir.forest import Branch, Leaf, Node

Known = dict[int, tuple[int, int]]
"""known[feature] = (a, b): on this path a <= feature <= b."""


def prune(walk: Walk) -> Walk:
    known = {number: (f.low, f.high) for number, f in enumerate(walk.features)}
    return replace(walk, trees=tuple(pruned(tree, known) for tree in walk.trees))


def pruned(node: Node, known: Known) -> Node:
    if isinstance(node, Leaf):
        return node
    low, high = known[node.feature]
    if node.threshold < low:
        return pruned(node.above, known)
    if node.threshold >= high:
        return pruned(node.below, known)
    above = pruned(node.above, known | {node.feature: (node.threshold + 1, high)})
    below = pruned(node.below, known | {node.feature: (low, node.threshold)})
    return above if above == below else Branch(node.feature, node.threshold, above, below)
