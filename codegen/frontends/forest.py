"""Model that every front end reads: trees of exact rationals, before any grid.

Libraries differ in how they ask (`x > b`, `x <= t`, `x < t`), in the float that they see an input as, and in where
they keep scale, mean and average. Here all that is undone: a question is ``x > border`` or ``x >= border``, a leaf is
what it adds to each output, and a number is the very number that the library computes with.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, isnan

from decision.artefact.errors import InputError
from decision.ir.forest import MAX_DEPTH
from decision.policy.model import Task

FLOAT32_BITS, FLOAT64_BITS = 24, 53
"""Integers up to 2^24 in size, over any power of two, are exact in float32; up to 2^53 in a double."""
MAX_OUTPUTS = 1024
"""A leaf holds a number for each: a file that says 2^31 is refused before memory is taken for them."""
INT32_BITS = 31
"""For libraries that see an input as a double: there the int32_t of the C is the limit."""


@dataclass(frozen=True)
class Value:
    """A leaf: what is added to each output."""

    values: tuple[Fraction, ...]


@dataclass(frozen=True)
class Ask:
    """``above`` where x > border (with ``or_equal``: x >= border), else ``below``."""

    feature: int
    border: Fraction
    or_equal: bool
    above: "Value | Ask"
    below: "Value | Ask"


@dataclass(frozen=True)
class Question:
    """An Ask whose ``above`` and ``below`` are places in a list of nodes, as libraries keep their trees."""

    feature: int
    border: float
    or_equal: bool
    above: int
    below: int


@dataclass(frozen=True)
class Forest:
    """A model as its library means it.

    ``input_bits``: how many bits of an integer the library's own input type keeps. ``sum_bits``: how many bits the
    floats have in which it adds up leaves. ``cut``: a binary model gives class 1 where its output is above it
    (``cut_or_equal``: or equal). ``doubt``: by how much the library's bias may differ from ours, where it is a
    logarithm that each computes for itself.
    """

    library: str
    names: tuple[str, ...]
    trees: tuple[Value | Ask, ...]
    bias: tuple[Fraction, ...]
    task: Task
    input_bits: int
    sum_bits: int
    classes: tuple[str, ...] = ()
    cut: Fraction = Fraction(0)
    cut_or_equal: bool = False
    doubt: Fraction = Fraction(0)


def ask(feature: int, border: float, or_equal: bool, above: Value | Ask, below: Value | Ask) -> Value | Ask:
    """A question; where the border is infinite there is none."""
    if isnan(border):
        raise InputError(f"a border of feature {feature} is not a number; train the model again")
    if not isfinite(border):
        return below if border == inf else above
    return Ask(feature, Fraction(border), or_equal, above, below)


def grow(nodes: Sequence[Value | Question], where: str) -> Value | Ask:
    """Nest a list of nodes whose root comes first; InputError where it is no tree, or too deep for C."""
    seen: set[int] = set()

    def node(place: int, depth: int) -> Value | Ask:
        if not 0 <= place < len(nodes) or place in seen:
            raise InputError(f"{where} is not a tree: node {place} is missing or met twice; export the model again")
        if depth > MAX_DEPTH:
            raise InputError(f"{where} is deeper than {MAX_DEPTH} questions; train with a lower max_depth")
        seen.add(place)
        here = nodes[place]
        if isinstance(here, Value):
            return here
        above, below = node(here.above, depth + 1), node(here.below, depth + 1)
        return ask(here.feature, here.border, here.or_equal, above, below)

    return node(0, 0)


def questions(tree: Value | Ask) -> Iterator[Ask]:
    """All questions of a tree."""
    if isinstance(tree, Ask):
        yield tree
        yield from questions(tree.above)
        yield from questions(tree.below)


def values(tree: Value | Ask) -> Iterator[Value]:
    """All leaves of a tree."""
    if isinstance(tree, Value):
        yield tree
    else:
        yield from values(tree.above)
        yield from values(tree.below)


def as_many(outputs: int) -> int:
    """The number of outputs that a file says; InputError where no model that is read has so many."""
    if not 1 <= outputs <= MAX_OUTPUTS:
        raise InputError(f"the model has {outputs} outputs; models of 1 to {MAX_OUTPUTS} are read")
    return outputs


def only(output: int, outputs: int, value: Fraction) -> Value:
    """The leaf of a tree that works for one output."""
    return Value(tuple(value if k == output else Fraction(0) for k in range(outputs)))
