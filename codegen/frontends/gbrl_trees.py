"""Meaning of GBRL's files: which sum of trees they are.

GBRL sees an input as float32 and asks ``x > border``. A tree steps its outputs against its leaf, in float32:
``output -= rate(tree) * leaf``. That is a sum of trees for SGD. Adam carries moments from tree to tree, so a leaf
counts differently after other leaves: that model is no sum of trees and is refused. A critic's outputs, which stand
behind the actor's, are left out. Source of the facts: GBRL 1.1.9 (MIT), predictor.cpp, optimizer.cpp, scheduler.h.
"""

import struct
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from codegen.frontends.forest import FLOAT32_BITS, Ask, Forest, Value, ask
from codegen.frontends.gbrl_binary import ADAM, OBLIVIOUS, GbrlFile, Optimizer, parse
from decision.artefact.errors import InputError

Float32 = np.float32
RATE_ROUNDINGS = 4
"""Roundings of float32 in a rate that falls linearly: quotient, difference, product, sum."""

Rates = list[Fraction]
"""Learning rates, one a tree."""


def read_gbrl(content: bytes, where: str) -> Forest:
    """Returns the forest of a GBRL file. Raises InputError where it is not whole, or is no sum of numerical trees."""
    try:
        parsed = parse(content, where)
        rates, doubt = _rates_of_outputs(parsed)
        trees = tuple(_tree(parsed, tree, rates) for tree in range(parsed.sizes.trees))
    except (ValueError, struct.error) as error:
        raise InputError(f"{where} is not a whole GBRL model ({error}); save it again") from None
    return Forest(
        library="GBRL",
        names=tuple(f"f{place}" for place in range(parsed.sizes.inputs)),
        trees=trees,
        bias=tuple(Fraction(float(b)) for b in parsed.bias[: parsed.sizes.policy_outputs]),
        task="regression",
        input_bits=FLOAT32_BITS,
        sum_bits=FLOAT32_BITS,
        doubt=doubt,
    )


def _rates_of_outputs(parsed: GbrlFile) -> tuple[list[Rates], Fraction]:
    """Returns the rates of each of the actor's outputs, and the most that GBRL's rounding of them changes an output."""
    sizes = parsed.sizes
    actors = sorted((o for o in parsed.optimizers if o.first < sizes.policy_outputs), key=lambda o: o.first)
    covered = [place for o in actors for place in range(o.first, min(o.end, sizes.policy_outputs))]
    if covered != list(range(sizes.policy_outputs)):
        raise InputError(f"the optimizers cover the outputs {covered} of {sizes.policy_outputs}; give each output one")
    for optimizer in actors:
        if optimizer.algorithm == ADAM:
            raise InputError(
                f"output {optimizer.first} of the model was trained with Adam, whose moments tie a leaf to the trees "
                "before it, so it is no sum of trees; train with SGD, or distil its answers: "
                "`rlcc import LOG --policy policy.toml --labels MODULE:FUNCTION`"
            )
    largest = np.maximum.reduceat(np.abs(parsed.leaves), parsed.first_leaves, axis=0).astype(np.float64)  # of each tree
    rates, doubt = [], Fraction(0)
    for optimizer in actors:
        values, off = _rates(optimizer, sizes.trees)
        for output in range(optimizer.first, min(optimizer.end, sizes.policy_outputs)):
            rates.append(values)
            doubt = max(doubt, off * sum(map(Fraction, largest[:, output].tolist())))
    return rates, doubt


def _rates(optimizer: Optimizer, trees: int) -> tuple[Rates, Fraction]:
    """Returns the rate of each tree, and the most that GBRL's own differs from it."""
    start, stop = Float32(optimizer.start), Float32(optimizer.stop)
    if optimizer.steps <= 0 or start == stop:
        return [Fraction(float(stop))] * trees, Fraction(0)
    shares = [min(Float32(tree) / Float32(optimizer.steps), Float32(1)) for tree in range(trees)]
    values = [Fraction(float(start + share * (stop - start))) for share in shares]
    return values, RATE_ROUNDINGS * Fraction(float(max(abs(start), abs(stop)))) / (1 << FLOAT32_BITS - 1)


def _tree(parsed: GbrlFile, tree: int, rates: list[Rates]) -> Value | Ask:
    first_leaves = [*parsed.first_leaves.tolist(), parsed.sizes.leaves]
    first, end = first_leaves[tree : tree + 2]
    rows = parsed.leaves[first:end, : len(rates)].tolist()
    leaves = [
        Value(tuple(-rate[tree] * Fraction(value) for rate, value in zip(rates, row, strict=True))) for row in rows
    ]
    if parsed.sizes.growth == OBLIVIOUS:
        return _oblivious(parsed, tree, leaves)
    return _greedy(parsed, tree, first, leaves)


def _oblivious(parsed: GbrlFile, tree: int, leaves: Sequence[Value]) -> Value | Ask:
    """Returns the tree of leaves whose number has a bit for each condition, that of the root in front."""
    depth = int(parsed.depths[tree])
    if len(leaves) != 1 << depth:
        raise ValueError(f"tree {tree} has {len(leaves)} leaves at depth {depth}")

    def node(level: int, below: Sequence[Value]) -> Value | Ask:
        if level == depth:
            return below[0]
        half = len(below) // 2
        feature, border = int(parsed.features[tree, level]), float(parsed.borders[tree, level])
        return ask(feature, border, False, node(level + 1, below[half:]), node(level + 1, below[:half]))

    return node(0, leaves)


def _greedy(parsed: GbrlFile, tree: int, first: int, leaves: Sequence[Value]) -> Value | Ask:
    """Returns the tree of leaves that list their own conditions. GBRL never enters a leaf that has none."""

    def node(level: int, rows: list[int]) -> Value | Ask:
        if len(rows) == 1 and parsed.depths[rows[0]] == level > 0:
            return leaves[rows[0] - first]
        asking = [row for row in rows if parsed.depths[row] > level]
        conditions = {(int(parsed.features[row, level]), float(parsed.borders[row, level])) for row in asking}
        above, below = ([row for row in asking if parsed.directions[row, level] == side] for side in (1, 0))
        if len(conditions) != 1 or len(above) + len(below) != len(rows) or not (above and below):
            raise ValueError(f"the leaves of tree {tree} do not form a tree")
        ((feature, border),) = conditions
        return ask(feature, border, False, node(level + 1, above), node(level + 1, below))

    return node(0, list(range(first, first + len(leaves))))
