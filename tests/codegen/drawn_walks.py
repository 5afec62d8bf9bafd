"""Walks for the tests of forms and passes: small forests of any shape, and every row of feature values that tells them
apart."""

from itertools import product

import numpy as np
from hypothesis import strategies as st

from codegen.walk import Feature, Sum, Walk
from decision.ir.arrays import Integers
from decision.ir.forest import Branch, Leaf, Node, oblivious

LOW, HIGH = -3, 4
"""The range of every feature: few enough values that all rows can be tried."""
WIDEST = (-(2**31), 2**31 - 1)


def walk(*trees: Node, bias: tuple[int, ...] = (0,), clamps: tuple[tuple[int, int], ...] = ()) -> Walk:
    """Over as many features as the trees look at."""
    sums = tuple(Sum(b, *(clamps[k] if clamps else WIDEST)) for k, b in enumerate(bias))
    return Walk(tuple(Feature(name, LOW, HIGH) for name in ("a", "b", "c")), trees, sums)


def all_rows(made: Walk) -> Integers:
    """Every row [N, features] that the features' ranges allow."""
    return np.array(list(product(*(range(f.low, f.high + 1) for f in made.features))), dtype=np.int64)


def leaf(*values: int) -> Leaf:
    return Leaf(values)


def ask(feature: int, threshold: int, above: Node | int, below: Node | int) -> Branch:
    """``feature > threshold``; an integer is the leaf of one sum."""
    sides = (Leaf((side,)) if isinstance(side, int) else side for side in (above, below))
    return Branch(feature, threshold, *sides)


@st.composite
def walks(draw: st.DrawFn, *, sums: int = 2, trees: int = 4) -> Walk:
    """Trees of any shape, oblivious or not, with thresholds also at and beyond the ends of the features' range, and
    clamps that act, never act, or are not there."""
    count = draw(st.integers(1, sums))
    values = st.tuples(*[st.integers(-4, 4)] * count)
    questions = st.tuples(st.integers(0, 2), st.integers(LOW - 2, HIGH + 1))
    free = st.recursive(
        values.map(Leaf), lambda node: st.builds(lambda q, a, b: Branch(*q, a, b), questions, node, node), max_leaves=6
    )

    def grown(asked: list[tuple[int, int]]) -> st.SearchStrategy[Node]:
        size = 1 << len(asked)
        return st.lists(values, min_size=size, max_size=size).map(lambda ends: oblivious(asked, ends))

    symmetric = st.lists(questions, max_size=3).flatmap(grown)
    bias = draw(values)
    ends = st.sampled_from([WIDEST, (-5, 5), (-2, 1), (0, 2**31 - 1), (-(2**31), 0)])
    clamps = tuple(draw(ends) for _ in range(count))
    return walk(*draw(st.lists(free | symmetric, max_size=trees)), bias=bias, clamps=clamps)
