"""From a forest of rationals to a student: the model is the body of a policy, over the policy's integer features.

    the library asks  float32((value - offset) * scale) > border     of a feature's value
    the student asks  k > t                                          of its integer k, which stands for value(k)

``t`` is found by bisection on the library's own question, in the library's own float: value(k) is monotone in k, and so
is every step after it. Nothing is lost at a threshold, whatever the feature's scale; where value(k) falls with k the
two sides of the question change places. Leaves become steps of the action, affinely, and are rounded once.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from codegen.frontends.forest import FLOAT32_BITS, Ask, Forest, Value, questions
from codegen.frontends.grid import Border, threshold
from codegen.frontends.quantise import library_error, rounded, upwards
from decision.artefact.errors import InputError
from decision.ir.arrays import Floats, Integers
from decision.ir.forest import Branch, Leaf
from decision.ir.forest import Forest as IntegerForest
from decision.ir.formats import FEATURE_LIMIT
from decision.policy.actions import Level, Multiplier, Scale, Table
from decision.policy.features import AnyFeature, PreviousAction
from decision.policy.input_layout import spread
from decision.policy.model_policy import ModelPolicy
from decision.policy.student import Student
from decision.policy.tree_decision import build_observer, feature_names

VOTE_BITS = 16
"""Fraction bits of the scores of a table's entries, of which only the order counts."""

Affine = tuple[Fraction, Fraction]
"""(factor, offset): the student's sum is factor * output + offset."""


@dataclass(frozen=True)
class Column:
    """A column of the model. ``feature``: its place in the student's row, None for a constant; ``low..high``: the
    integers of it; ``values`` gives what the model is handed for integers [N]."""

    feature: int | None
    low: int
    high: int
    values: Callable[[Integers], Floats]

    @cached_property
    def falls(self) -> bool:
        """Whether the model's value falls where the integer grows."""
        first, last = self.values(np.array([self.low, self.high], dtype=np.int64))
        return bool(last < first)

    def threshold(self, border: Border) -> int:
        """t such that the library's answer is the same for all k <= t, and the other for all k > t."""
        low, high = self.low - 1, self.high  # the answer of k <= low is the first one, of k > high the other
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (low, middle - 1) if self._above(border, middle) != self.falls else (middle, high)
        return low

    def _above(self, border: Border, k: int) -> bool:
        value, (at, or_equal) = float(self.values(np.array([k], dtype=np.int64))[0]), border
        return value >= at if or_equal else value > at


@dataclass(frozen=True)
class PolicyForest:
    """A model that was read for a policy. ``affine``: of each output; ``errors``: by how much a sum of the student, in
    its own unit, can differ from the library's, an upper bound each."""

    policy: ModelPolicy
    forest: Forest
    columns: tuple[Column, ...]
    affine: tuple[Affine, ...]
    leaf_bits: int

    @cached_property
    def integers(self) -> IntegerForest:
        """The student's forest."""
        names = feature_names(self.policy.observation)
        known = {c.feature: (c.low, c.high) for c in self.columns if c.feature is not None}
        trees = [self._node(tree, known) for tree in self.forest.trees]
        bias = tuple(self._sum(k, value, first=True) for k, value in enumerate(self.forest.bias))
        constants = [tree.value for tree in trees if isinstance(tree, Leaf)]
        bias = tuple(b + sum(c[k] for c in constants) for k, b in enumerate(bias))
        grown = tuple(tree for tree in trees if isinstance(tree, Branch))
        return self._voting(IntegerForest(names, grown, bias, self.leaf_bits))

    @cached_property
    def errors(self) -> tuple[float, ...]:
        scaled = _scaled(self.forest, self.affine)
        return tuple(map(upwards, library_error(scaled, self.leaf_bits)))

    def rows(self, integers: Integers) -> Floats:
        """Returns the model's inputs [N, columns] if the student's features are ``integers`` [N, features]."""
        zeros = np.zeros(len(integers), dtype=np.int64)
        values = [c.values(zeros if c.feature is None else integers[:, c.feature]) for c in self.columns]
        return np.stack(values, axis=1)

    def _sum(self, output: int, value: Fraction, first: bool = False) -> int:
        factor, offset = self.affine[output]
        return rounded(factor * value + (offset if first else 0), self.leaf_bits)

    def _node(self, node: Value | Ask, known: dict[int, tuple[int, int]]) -> Leaf | Branch:
        """``known[feature] = (low, high)`` on this path."""
        if isinstance(node, Value):
            return Leaf(tuple(self._sum(k, value) for k, value in enumerate(node.values)))
        column, border = self.columns[node.feature], (node.border, node.or_equal)
        t = column.threshold(border)
        more, less = (node.below, node.above) if column.falls else (node.above, node.below)
        place = column.feature
        low, high = (column.low, column.high) if place is None else known[place]
        if t < low:
            return self._node(more, known)
        if t >= high:
            return self._node(less, known)
        assert place is not None
        above = self._node(more, known | {place: (t + 1, high)})
        below = self._node(less, known | {place: (low, t)})
        return above if above == below else Branch(place, t, above, below)

    def _voting(self, forest: IntegerForest) -> IntegerForest:
        """Returns a forest of two outputs for a model with one output and a cut: the cut, and the output. The first of
        equals is class 0."""
        if self.forest.task != "binary":
            return forest
        cut = threshold((self.forest.cut, self.forest.cut_or_equal), self.leaf_bits)

        def widened(node: Leaf | Branch) -> Leaf | Branch:
            if isinstance(node, Leaf):
                return Leaf((0, *node.value))
            return Branch(node.feature, node.threshold, widened(node.above), widened(node.below))

        trees = tuple(widened(tree) for tree in forest.trees)
        return IntegerForest(forest.features, trees, (cut, *forest.bias), self.leaf_bits)


def policy_forest(forest: Forest, policy: ModelPolicy) -> PolicyForest:
    """The model as it is read for the policy.

    InputError where its columns or outputs are not the policy's, where it asks for more than a feature's integer
    holds, or where 32 bits do not hold its sums."""
    _check_columns(forest, policy)
    _check_outputs(forest, policy)
    columns = columns_of(policy, np.float32 if forest.input_bits == FLOAT32_BITS else np.float64)
    _check_reach(forest, policy, columns)
    bits = VOTE_BITS if isinstance(policy.action, Table) else policy.action.leaf_bits
    return PolicyForest(policy, forest, columns, _affine(policy, len(forest.bias)), bits)


def student_of_model(read: PolicyForest, model: str) -> Student:
    """The policy as a student. ``model``: the hash of the model's file."""
    report = {"library": read.forest.library, "output": read.policy.model.output, "error": list(read.errors)}
    return Student(read.policy.name, read.policy.header, read.integers, "", {"model": report}, model)


def columns_of(policy: ModelPolicy, seen_as: type[np.floating[Any]]) -> tuple[Column, ...]:
    """The model's columns, in its own order. ``seen_as``: the float in which the library takes a value."""
    observation, layout = policy.observation, policy.input
    labels, told = observation.labels, policy.input.columns_of(observation.labels)
    observer, nodes, *_ = build_observer(observation)
    oldest_first = layout.order == "oldest_first"
    offsets, scales = (spread(values, len(told), observation.window) for values in (layout.offset, layout.scale))
    columns = []
    for place in range(policy.columns):
        step, number = divmod(place, len(told))
        lag = observation.window - 1 - step if oldest_first else step
        name, offset, scale = told[number], offsets[place], scales[place]
        if not isinstance(name, str):
            columns.append(Column(None, 0, 0, _Constant(_seen(np.array([(name - offset) * scale]), seen_as))))
            continue
        place_of = labels.index(name)
        feature = observation.features[place_of]
        low, high = _ends(feature, observer.nodes[nodes[place_of]], policy)
        values = _Scaled(feature, offset, scale, seen_as)
        columns.append(Column(lag * len(labels) + place_of, low, high, values))
    return tuple(columns)


@dataclass(frozen=True)
class _Constant:
    """A column that is the same in every row."""

    value: Floats

    def __call__(self, k: Integers) -> Floats:
        return np.repeat(self.value, len(k))


@dataclass(frozen=True)
class _Scaled:
    """A column that shows a feature, as its library takes it."""

    feature: AnyFeature
    offset: float
    scale: float
    seen_as: type[np.floating[Any]]

    def __call__(self, k: Integers) -> Floats:
        return _seen((self.feature.float_of(k.astype(np.float64)) - self.offset) * self.scale, self.seen_as)


def _seen(values: Floats, seen_as: type[np.floating[Any]]) -> Floats:
    return values.astype(seen_as).astype(np.float64)


def _ends(feature: AnyFeature, node: Any, policy: ModelPolicy) -> tuple[int, int]:
    if isinstance(feature, PreviousAction) and isinstance(policy.action, Scale):
        return policy.action.limits_q16()
    return node.low, min(node.high, FEATURE_LIMIT - 1)


def _affine(policy: ModelPolicy, outputs: int) -> tuple[Affine, ...]:
    action, kind = policy.action, policy.model.output
    if isinstance(action, Level):
        spans = [(ends.low, ends.high - ends.low) for ends in action.knobs.values()]
        # Half a step more: the shift that makes a knob of a sum rounds down.
        if kind == "knobs":
            return tuple((Fraction(1, span), Fraction(1 - 2 * low, 2 * span)) for low, span in spans)
        return tuple((Fraction(1, 2), Fraction(1, 2) + Fraction(1, 2 * span)) for _, span in spans)
    if kind == "action":
        assert isinstance(action, Multiplier)
        low, high = Fraction(action.low), Fraction(action.high)
        return (((high - low) / 2, (high + low) / 2 - 1),)
    return ((Fraction(1), Fraction(-1 if kind == "multiplier" else 0)),) * outputs


def _scaled(forest: Forest, affine: tuple[Affine, ...]) -> Forest:
    """The same model with the student's sums for its outputs."""

    def scaled(node: Value | Ask) -> Value | Ask:
        if isinstance(node, Value):
            return Value(tuple(factor * value for (factor, _), value in zip(affine, node.values, strict=True)))
        return Ask(node.feature, node.border, node.or_equal, scaled(node.above), scaled(node.below))

    bias = tuple(factor * value + offset for (factor, offset), value in zip(affine, forest.bias, strict=True))
    doubt = forest.doubt * max(abs(factor) for factor, _ in affine)
    return replace(forest, trees=tuple(map(scaled, forest.trees)), bias=bias, doubt=doubt)


def _check_columns(forest: Forest, policy: ModelPolicy) -> None:
    told = policy.input.columns_of(policy.observation.labels)
    if len(forest.names) != policy.columns:
        raise InputError(
            f"the model has {len(forest.names)} columns, and the policy gives it {policy.columns} ({len(told)} a "
            f"decision, {policy.observation.window} in the window); name all of them in [observation] and [input]"
        )
    observation = policy.observation
    named = dict(zip((feature.name for feature in observation.features), observation.labels, strict=True))
    named |= {label: label for label in observation.labels}
    for place, name in enumerate(forest.names):
        there = told[place % len(told)]
        if name in named and named[name] != there:
            raise InputError(
                f"column {place} of the model is called {name}, and the policy gives it {there}; write the features in "
                "the model's order into [input] columns"
            )


def _check_outputs(forest: Forest, policy: ModelPolicy) -> None:
    if policy.model.output == "row":
        rows = policy.action.outputs
        found = 2 if forest.task == "binary" else len(forest.bias)
        if found != rows:
            raise InputError(f"the model chooses among {found}, and [action] has {rows} rows; give a row a class")
        return
    if forest.task != "regression":
        raise InputError(
            f"the model is a classifier, and model.output is {policy.model.output!r}; give a regression, or an action "
            'map with rows and model.output = "row"'
        )
    if len(forest.bias) != policy.action.sums:
        raise InputError(f"the model has {len(forest.bias)} outputs, and the action map takes {policy.action.sums}")


def _check_reach(forest: Forest, policy: ModelPolicy, columns: tuple[Column, ...]) -> None:
    """InputError where a border lies beyond a feature whose integer saturates there: the model would see more."""
    width = len(policy.observation.features)
    for tree in forest.trees:
        for asked in questions(tree):
            column = columns[asked.feature]
            if column.feature is None or column.high < FEATURE_LIMIT - 1:
                continue
            end = float(column.values(np.array([column.high], dtype=np.int64))[0])
            if (asked.border < end) if column.falls else (asked.border > end):
                feature = policy.observation.features[column.feature % width]
                raise InputError(
                    f"the model asks {feature.name} for {float(asked.border):.9g}, and its integer ends at {end:.9g}; "
                    "give the feature a larger unit or fewer fraction_bits, or clip the column before training"
                )
