"""The integer forest: trees over named integer features with one sum an output. It is the exact decision of a student
and of a model made elsewhere.

A tree is a nest of branches, so that the oblivious trees that CatBoost grows (one question a level) and the free-form
ones of other libraries are one thing. A leaf adds an integer to each output; an output is its bias plus one leaf a
tree, an integer with ``leaf_bits`` fraction bits. Nothing is rounded when it is evaluated.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.arrays import Integers

MAX_FEATURES, MAX_LEAVES = 256, 1 << 16
"""A window of 16 decisions of 16 features; 200 trees of depth 8, with room."""
MAX_DEPTH = 120
"""C99 promises 127 levels of nested blocks (5.2.4.1)."""

MAX_COMBINATIONS = 400_000
"""Combinations of cells that a proof follows one by one, and up to which emit takes forms other than branches."""

Question = tuple[int, int]
"""(feature, threshold): is ``feature > threshold``?"""


@dataclass(frozen=True)
class Leaf:
    """Numbers that are added to each output."""

    value: tuple[int, ...]


@dataclass(frozen=True)
class Branch:
    """``feature > threshold`` goes to ``above``, else to ``below``."""

    feature: int
    threshold: int
    above: "Leaf | Branch"
    below: "Leaf | Branch"


Node = Leaf | Branch


@dataclass(frozen=True)
class Forest:
    """Trees over the features of these names; ``bias`` of each output."""

    features: tuple[str, ...]
    trees: tuple[Node, ...]
    bias: tuple[int, ...]
    leaf_bits: int

    def __post_init__(self) -> None:
        ends_of = [list(leaves(tree)) for tree in self.trees]
        if len(self.features) > MAX_FEATURES or sum(map(len, ends_of)) > MAX_LEAVES:
            raise InputError(
                f"the forest has over {MAX_FEATURES} features or {MAX_LEAVES} leaves; distil a smaller student, or "
                "train a smaller model"
            )
        values = [*self.bias, *(v for tree in ends_of for leaf in tree for v in leaf.value)]
        if any(not -(2**31) <= value < 2**31 for value in values):
            raise InputError("a leaf or a bias of the forest does not fit 32 bits; use fewer leaf bits")
        for number, (tree, ends) in enumerate(zip(self.trees, ends_of, strict=True)):
            self._check(number, tree, ends)

    def _check(self, number: int, tree: Node, ends: list[Leaf]) -> None:
        if depth(tree) > MAX_DEPTH:
            raise InputError(f"tree {number} is deeper than {MAX_DEPTH} questions, which C compilers need not accept")
        for leaf in ends:
            if len(leaf.value) != self.outputs:
                raise InputError(f"tree {number} has a leaf of {len(leaf.value)} values for {self.outputs} outputs")
        for branch in branches(tree):
            if not -(2**31) <= branch.threshold < 2**32:
                raise InputError(f"tree {number} compares with {branch.threshold}, which no feature can reach")
            if not 0 <= branch.feature < len(self.features):
                raise InputError(f"tree {number} splits on feature {branch.feature} of {len(self.features)}")

    @property
    def outputs(self) -> int:
        return len(self.bias)

    @property
    def depth(self) -> int:
        return max(map(depth, self.trees), default=0)

    @cached_property
    def asked(self) -> tuple[tuple[int, ...], ...]:
        """The features that each tree asks about, by their numbers."""
        return tuple(tuple(sorted({branch.feature for branch in branches(tree)})) for tree in self.trees)

    @cached_property
    def oblivious(self) -> bool:
        """Whether every tree asks one question a level."""
        return all(unrolled(tree) is not None for tree in self.trees)

    def range(self, output: int) -> tuple[int, int]:
        """Bounds of an output: the sum of the least and of the greatest leaves. Sound, not always attained."""
        least, most = self._ends
        return self.bias[output] + int(least[:, output].sum()), self.bias[output] + int(most[:, output].sum())

    def reach(self, output: int) -> tuple[int, int]:
        """Bounds of every partial sum of an output that starts at the bias, in whatever order trees are added."""
        least, most = (ends[:, output] for ends in self._ends)
        return self.bias[output] + int(least.clip(max=0).sum()), self.bias[output] + int(most.clip(min=0).sum())

    @cached_property
    def _ends(self) -> tuple[Integers, Integers]:
        """Least and greatest leaf [trees, outputs] of each tree."""
        tables = [np.array([leaf.value for leaf in leaves(tree)], dtype=np.int64) for tree in self.trees]
        shape = (len(self.trees), self.outputs)
        least = np.array([table.min(axis=0) for table in tables], dtype=np.int64).reshape(shape)
        return least, np.array([table.max(axis=0) for table in tables], dtype=np.int64).reshape(shape)

    def evaluate(self, rows: Integers) -> Integers:
        """Outputs [N, outputs] of integer feature rows [N, features]."""
        total = np.tile(np.array(self.bias, dtype=np.int64), (len(rows), 1))
        rows = np.asfortranarray(rows)  # each question reads a column
        for tree in self.trees:
            reached, table = places(tree, rows), _table(tree)
            columns = np.flatnonzero(table.any(axis=0))  # of many outputs a tree may add to one
            if 2 * len(columns) < self.outputs:
                total[:, columns] += table[:, columns][reached]
            else:
                total += table[reached]
        return total

    def thresholds(self) -> dict[int, list[int]]:
        """The distinct thresholds of each feature, ascending: the edges that exactness is tested on."""
        return {feature: list(thresholds) for feature, thresholds in self._thresholds.items()}

    @property
    def combinations(self) -> int:
        """How many cells the thresholds cut the features' values into, one of each feature combined with all others."""
        return prod(len(thresholds) + 1 for thresholds in self._thresholds.values())

    @cached_property
    def _thresholds(self) -> dict[int, tuple[int, ...]]:
        asked: dict[int, set[int]] = {}
        for tree in self.trees:
            for branch in branches(tree):
                asked.setdefault(branch.feature, set()).add(branch.threshold)
        return {feature: tuple(sorted(thresholds)) for feature, thresholds in sorted(asked.items())}

    def only_used(self) -> "Forest":
        """The same over the features that some branch asks for."""
        kept = list(self.thresholds())
        place = {feature: index for index, feature in enumerate(kept)}
        trees = tuple(mapped(tree, lambda b: (place[b.feature], b.threshold)) for tree in self.trees)
        return Forest(tuple(self.features[feature] for feature in kept), trees, self.bias, self.leaf_bits)

    def to_json(self) -> dict[str, Any]:
        """Returns plain data: numbers for one output, lists for several. An oblivious tree as its questions and its
        leaves by index (bit i: question i answered with yes); another as nodes, those under a branch after it."""
        return {
            "features": list(self.features),
            "leaf_bits": self.leaf_bits,
            "bias": self._told(self.bias),
            "trees": [self._tree_to_json(tree) for tree in self.trees],
        }

    def _told(self, values: tuple[int, ...]) -> Any:
        return values[0] if self.outputs == 1 else list(values)

    def _tree_to_json(self, tree: Node) -> dict[str, Any]:
        symmetric = unrolled(tree)
        if symmetric is not None:
            questions, ends = symmetric
            return {"splits": [list(q) for q in questions], "leaves": [self._told(leaf.value) for leaf in ends]}
        return {"nodes": flat(tree)}

    @staticmethod
    def from_json(data: Any) -> "Forest":
        """Inverse of ``to_json``; InputError where a field is missing or is not an integer."""
        try:
            trees = tuple(_tree_of(tree) for tree in data["trees"])
            names = tuple(str(name) for name in data["features"])
            return Forest(names, trees, _values(data["bias"]), integer(data["leaf_bits"]))
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(f"the forest is not readable: {error!r}; make it again") from None


def integer(value: Any) -> int:
    """The JSON value if it is an integer (also not true, and not 1.0), else ValueError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{value!r} is not an integer")
    return value


def leaves(tree: Node) -> Iterator[Leaf]:
    """The leaves, ``above`` first."""
    if isinstance(tree, Leaf):
        yield tree
    else:
        yield from leaves(tree.above)
        yield from leaves(tree.below)


def branches(tree: Node) -> Iterator[Branch]:
    """The branches, each before those under it."""
    if isinstance(tree, Branch):
        yield tree
        yield from branches(tree.above)
        yield from branches(tree.below)


def depth(tree: Node) -> int:
    return 0 if isinstance(tree, Leaf) else 1 + max(depth(tree.above), depth(tree.below))


def oblivious(questions: Sequence[Question], values: Sequence[int | tuple[int, ...]]) -> Node:
    """The tree that asks the same question on every path of a level: ``values[index]`` where bit i of the index says
    that question i is answered with yes; plain integers for one output."""
    if len(values) != 1 << len(questions):
        raise InputError(f"a tree with {len(questions)} splits has {len(values)} leaves; it needs 2^splits")
    row: list[Node] = [Leaf((v,) if isinstance(v, int) else tuple(v)) for v in values]
    for feature, threshold in reversed(questions):
        half = len(row) // 2
        row = [Branch(feature, threshold, above, below) for below, above in zip(row[:half], row[half:], strict=True)]
    return row[0]


def unrolled(tree: Node) -> tuple[tuple[Question, ...], tuple[Leaf, ...]] | None:
    """Inverse of ``oblivious``: the questions and the leaves by index; None for a tree of another shape."""
    row, questions = [tree], []
    while any(isinstance(node, Branch) for node in row):
        asked = [node for node in row if isinstance(node, Branch)]
        question = asked[0].feature, asked[0].threshold
        if len(asked) < len(row) or any((node.feature, node.threshold) != question for node in asked):
            return None
        questions.append(question)
        row = [node.below for node in asked] + [node.above for node in asked]
    return tuple(questions), tuple(node for node in row if isinstance(node, Leaf))


def mapped(tree: Node, question: Callable[[Branch], Question]) -> Node:
    """The same tree with other questions."""
    if isinstance(tree, Leaf):
        return tree
    return Branch(*question(tree), mapped(tree.above, question), mapped(tree.below, question))


def value(tree: Node, rows: Integers) -> Integers:
    """Returns what a tree adds to each output [N, outputs] on feature rows [N, features]."""
    added: Integers = _table(tree)[places(tree, rows)]
    return added


def _table(tree: Node) -> Integers:
    """The leaves [leaves, outputs] of a tree in the order of ``places``."""
    symmetric = unrolled(tree)
    ends = symmetric[1] if symmetric is not None else tuple(leaves(tree))
    return np.array([leaf.value for leaf in ends], dtype=np.int64)


def places(tree: Node, rows: Integers) -> Integers:
    """Which leaf each row [N, features] reaches: of an oblivious tree by ``unrolled``'s index, else counted in the
    order of ``leaves``."""
    symmetric = unrolled(tree)
    if symmetric is None:
        return _counted(tree, rows)
    reached = np.zeros(len(rows), dtype=np.int64)
    for level, (feature, threshold) in enumerate(symmetric[0]):
        reached |= (rows[:, feature] > threshold).astype(np.int64) << level
    return reached


def _counted(tree: Node, rows: Integers) -> Integers:
    """Which leaf each row reaches, counted in the order of ``leaves``."""
    reached = np.zeros(len(rows), dtype=np.int64)
    todo: list[tuple[Node, NDArray[np.intp]]] = [(tree, np.arange(len(rows)))]
    number = 0
    while todo:
        node, here = todo.pop()
        if isinstance(node, Leaf):
            reached[here] = number
            number += 1
        else:
            above = rows[:, node.feature].take(here) > node.threshold
            sides = (node.below, ~above), (node.above, above)
            todo += [(side, here.take(np.flatnonzero(which))) for side, which in sides]
    return reached


def _values(data: Any) -> tuple[int, ...]:
    return tuple(map(integer, data)) if isinstance(data, list) else (integer(data),)


def _tree_of(data: Any) -> Node:
    if "nodes" in data:
        return nested(data["nodes"])
    questions = [(integer(f), integer(t)) for f, t in data["splits"]]
    return oblivious(questions, [_values(leaf) for leaf in data["leaves"]])


def flat(tree: Node) -> list[Any]:
    """Nodes in the order of ``branches``: [feature, threshold, place of above, place of below], or {"leaf": [...]}."""
    nodes: list[Any] = []

    def place(node: Node) -> int:
        here = len(nodes)
        if isinstance(node, Leaf):
            nodes.append({"leaf": list(node.value)})
        else:
            nodes.append([])
            nodes[here] = [node.feature, node.threshold, place(node.above), place(node.below)]
        return here

    place(tree)
    return nodes


def nested(nodes: Any) -> Node:
    """Inverse of ``flat``. Places grow along every path and each is used once, so that it ends."""
    built: dict[int, Node] = {}
    for here in reversed(range(len(nodes))):
        node = nodes[here]
        if isinstance(node, dict):
            built[here] = Leaf(tuple(integer(v) for v in node["leaf"]))
        else:
            feature, threshold, above, below = (integer(v) for v in node)
            built[here] = Branch(feature, threshold, built.pop(above), built.pop(below))
    if set(built) != {0}:
        raise ValueError("the nodes are not one tree")
    return built[0]
