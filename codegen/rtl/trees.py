"""A forest in logic. Each question is one comparator with a constant, shared by all trees.

Few features with few thresholds make few cells, and a cell has one sum: the forest is a table. The feature that arrives
last chooses among words that were looked up before it came, by its comparators alone:

    place = how many thresholds the early feature is above
    sum   = x > t8 ? (x > t12 ? .. : ..) : (x > t4 ? rom_5[place] : rom_4[place])

Any other forest is a table of leaves a tree, and their sum.
"""

import heapq
from collections.abc import Callable, Sequence
from itertools import product
from math import prod

import numpy as np

from codegen.rtl.wires import LogicWire, Wires
from decision.ir.forest import Forest, Leaf, Node, Question, branches

MAX_CELLS, MAX_EARLY = 1024, 64
"""Cells of a forest that is a table, and of them all features but the last to arrive."""
MAX_QUESTIONS = 6
"""Questions of a tree or a subtree that is one table of leaves."""
Map = Callable[[int], int]


def is_joint(forest: Forest) -> bool:
    """Returns whether the forest is a table, whichever feature comes last."""
    cells = [len(thresholds) + 1 for thresholds in forest.thresholds().values()]
    return prod(cells) <= MAX_CELLS and all(prod(cells) // late <= MAX_EARLY for late in cells)


def joint(wires: Wires, forest: Forest, output: int, operands: Sequence[int], of: Map = lambda value: value) -> int:
    """Returns the wire of ``of(output)`` for a forest that is a table. ``operands``: the wires of the features."""
    asked = forest.thresholds()
    features = sorted(asked, key=lambda feature: wires.arrival[operands[feature]])
    if not features:
        return wires.const(of(int(forest.evaluate(np.zeros((1, len(forest.features)), dtype=np.int64))[0, output])))
    *early, late = features
    # An index is the places side by side; a narrow feature is its own place. An unused place stands for the last one.
    places = [_places(wires[operands[feature]], asked[feature]) for feature in early]
    index = [
        x if len(place) == wires[x].high + 1 else _place(wires, x, asked[feature])
        for feature, place, x in zip(early, places, (operands[f] for f in early), strict=True)
    ]
    sizes = [1 << wires[place].width for place in index]
    cells = [tuple(reversed(cell)) for cell in product(*(range(size) for size in reversed(sizes)))]
    words = []
    for place in range(len(asked[late]) + 1):
        rows = np.zeros((len(cells), len(forest.features)), dtype=np.int64)
        for row, cell in zip(rows, cells, strict=True):
            for feature, at, values in zip(early, cell, places, strict=True):
                row[feature] = values[min(at, len(values) - 1)]
            row[late] = _values(asked[late])[place]
        table = [of(value) for value in forest.evaluate(rows)[:, output].tolist()]
        words.append(wires.rom(index, table) if early else wires.const(table[0]))
    return _searched(wires, operands[late], asked[late], words)


def _searched(wires: Wires, x: int, thresholds: Sequence[int], words: Sequence[int]) -> int:
    """``words[k]`` where x is above k of the thresholds."""
    if not thresholds:
        return words[0]
    half = len(thresholds) // 2
    below = _searched(wires, x, thresholds[:half], words[: half + 1])
    above = _searched(wires, x, thresholds[half + 1 :], words[half + 1 :])
    return wires.select(wires.gt(x, wires.const(thresholds[half])), above, below)


def summed(wires: Wires, forest: Forest, node: int, output: int, operands: Sequence[int]) -> int:
    """Returns the wire of an output as the sum of its trees' leaves. The earliest leaves are added first.

    Wires are named after the trees whose leaves they add: t24_0_3 is trees 0 and 3 of node 24."""
    constant = forest.bias[output]
    terms: list[tuple[float, tuple[int, ...], int]] = []
    for number, tree in enumerate(forest.trees):
        made = _leaf(wires, tree, output, operands)
        value = wires.constant(made)
        if value is None:
            wires.label(made, f"t{node}_{number}")
            terms.append((wires.arrival[made], (number,), made))
        else:
            constant += value
    if not terms:
        return wires.const(constant)
    heapq.heapify(terms)
    while len(terms) > 1:
        (_, some, a), (_, others, b) = heapq.heappop(terms), heapq.heappop(terms)
        both, made = tuple(sorted(some + others)), wires.add(a, b)
        if terms:
            wires.label(made, f"t{node}_" + "_".join(map(str, both)))
        heapq.heappush(terms, (wires.arrival[made], both, made))
    return wires.add(terms[0][2], wires.const(constant))


def _values(thresholds: Sequence[int]) -> list[int]:
    """A value of a feature for each number of thresholds that it is above."""
    return [thresholds[0], *(t + 1 for t in thresholds)]


def _places(feature: LogicWire, thresholds: Sequence[int]) -> list[int]:
    """The values that a feature's place stands for: all of a narrow feature, else one between two thresholds."""
    values = _values(thresholds)
    return list(range(feature.high + 1)) if feature.low == 0 and feature.high < 2 * len(values) else values


def _place(wires: Wires, x: int, thresholds: Sequence[int]) -> int:
    """How many thresholds a feature is above."""
    return wires.total([wires.gt(x, wires.const(t)) for t in thresholds])


def _leaf(wires: Wires, tree: Node, output: int, operands: Sequence[int]) -> int:
    """The leaf that a tree reaches: a table over its questions, or over those of its subtrees."""
    if isinstance(tree, Leaf):
        return wires.const(tree.value[output])
    questions = sorted({(b.feature, b.threshold) for b in branches(tree)})
    if len(questions) > MAX_QUESTIONS:
        above, below = (_leaf(wires, side, output, operands) for side in (tree.above, tree.below))
        return wires.select(_answer(wires, (tree.feature, tree.threshold), operands), above, below)
    table = []
    for answers in product((False, True), repeat=len(questions)):
        said = dict(zip(reversed(questions), answers, strict=True))
        node: Node = tree
        while not isinstance(node, Leaf):
            node = node.above if said[node.feature, node.threshold] else node.below
        table.append(node.value[output])
    return wires.rom([_answer(wires, question, operands) for question in questions], table)


def _answer(wires: Wires, question: Question, operands: Sequence[int]) -> int:
    return wires.gt(operands[question[0]], wires.const(question[1]))
