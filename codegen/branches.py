"""An oblivious tree as nested if-else: decided splits dropped, equal sides merged.

An oblivious tree asks the same question on every path of a level, also where an earlier answer on the path has decided
it (same feature, a threshold beyond). Such a branch could never be taken: it costs cycles and trips MISRA's rules on
conditions that are always true.
"""

from dataclasses import dataclass

from spec.ensemble import Tree


@dataclass(frozen=True)
class Leaf:
    value: int


@dataclass(frozen=True)
class Branch:
    """``feature > threshold`` goes to ``above``, else to ``below``."""

    feature: int
    threshold: int
    above: "Leaf | Branch"
    below: "Leaf | Branch"


def branches(tree: Tree, *, prune: bool = True) -> Leaf | Branch:
    """The tree's questions from the first split to the last."""
    return _grow(tree, 0, 0, {}, prune)


def depth(node: Leaf | Branch) -> int:
    return 0 if isinstance(node, Leaf) else 1 + max(depth(node.above), depth(node.below))


def _grow(tree: Tree, level: int, index: int, known: dict[int, tuple[int, int]], prune: bool) -> Leaf | Branch:
    if level == tree.depth:
        return Leaf(tree.leaves[index])
    split = tree.splits[level]
    # known[feature] = (a, b): on this path a < feature <= b.
    over, most = known.get(split.feature, (-(2**63), 2**63))
    if prune and split.threshold <= over:
        return _grow(tree, level + 1, index | 1 << level, known, prune)
    if prune and split.threshold >= most:
        return _grow(tree, level + 1, index, known, prune)
    above = _grow(tree, level + 1, index | 1 << level, known | {split.feature: (split.threshold, most)}, prune)
    below = _grow(tree, level + 1, index, known | {split.feature: (over, split.threshold)}, prune)
    if prune and above == below:
        return above
    return Branch(split.feature, split.threshold, above, below)
