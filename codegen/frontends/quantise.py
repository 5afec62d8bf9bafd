"""From a forest of rationals and a grid to the integer model, with the exact bound of what was rounded.

Questions lose nothing: on the grid they are integer comparisons. Those that the range or an earlier answer decides are
dropped, equal sides are merged, trees that ask nothing become part of the bias. Leaves and biases are rounded once, to
the nearest multiple of 2^-leaf_bits; the greatest rounding of each tree is known, and so is the bound of their sum.
"""

from fractions import Fraction
from math import inf, nextafter

from codegen.frontends.forest import Ask, Forest, Value, questions, values
from codegen.frontends.grid import Border, Grid, grid_feature, threshold
from decision.artefact.errors import InputError
from decision.ir.forest import Branch, Leaf
from decision.policy.model import INT32, GridFeature, Model

MAX_LEAF_BITS = 30
SECOND_HAND = ("treelite",)
"""Libraries whose files hold models that another one trained."""

Bounds = dict[int, tuple[int, int]]
Column = list[list[Fraction]]
"""What one output gets: of each tree the leaves, those of 0 left out (a tree of 20 classes works for one)."""


def quantise(forest: Forest, grid: Grid) -> Model:
    """The integer model of ``forest`` on ``grid``.

    InputError where the grid misses a feature that some tree asks for, or names one that the model has not; where the
    library would not see the grid's values exactly; where 32 bits do not hold the outputs.
    """
    features = _features(forest, grid)
    places = {forest.names.index(feature.name): place for place, feature in enumerate(features)}
    ranges: Bounds = {place: (f.low, f.high) for place, f in enumerate(features)}
    columns = _columns(forest)
    bits = _leaf_bits(forest, columns, grid.leaf_bits)
    roots = [_node(tree, features, places, ranges, bits) for tree in forest.trees]
    constants = [root.value for root in roots if isinstance(root, Leaf)]
    bias = tuple(rounded(b, bits) + sum(c[k] for c in constants) for k, b in enumerate(forest.bias))
    error = _errors(forest, columns, bits)
    return Model(
        features=features,
        trees=tuple(root for root in roots if isinstance(root, Branch)),
        bias=bias,
        leaf_bits=bits,
        task=forest.task,
        cut=_cut(forest, bits),
        classes=forest.classes,
        error=tuple(map(upwards, error)),
        margin=_margin(forest, error),
        library=forest.library if forest.library in SECOND_HAND else "",
    )


def library_error(forest: Forest, bits: int) -> list[Fraction]:
    """Returns upper bounds of how much each output with ``bits`` fraction bits can differ from the library's."""
    return _errors(forest, _columns(forest), bits)


def _errors(forest: Forest, columns: list[Column], bits: int) -> list[Fraction]:
    return [_rounding(forest.bias[k], column, bits) + _stray(forest, k, column) for k, column in enumerate(columns)]


def rounded(value: Fraction, bits: int) -> int:
    """To the nearest integer multiple of 2^-bits, halves up."""
    return ((value.numerator << bits + 1) + value.denominator) // (value.denominator << 1)


def _features(forest: Forest, grid: Grid) -> tuple[GridFeature, ...]:
    borders: dict[int, set[Border]] = {}
    for tree in forest.trees:
        for asked in questions(tree):
            borders.setdefault(asked.feature, set()).add((asked.border, asked.or_equal))
    for index in sorted(borders):
        if forest.names[index] not in grid.features:
            raise InputError(
                f"the model asks for feature {forest.names[index]!r}, which the grid does not declare; add "
                f"[features.{_key(forest.names[index])}] with its low and high"
            )
    for name in grid.features:
        if name not in forest.names:
            known = ", ".join(map(repr, forest.names[:20]))
            raise InputError(f"the grid declares {name!r}, which the model does not know; its features are {known}")
    return tuple(
        grid_feature(name, declared, borders.get(forest.names.index(name), ()), forest.input_bits)
        for name, declared in grid.features.items()
    )


def _key(name: str) -> str:
    bare = name.replace("-", "").replace("_", "")
    return name if bare.isascii() and bare.isalnum() else '"' + name.replace('"', '\\"') + '"'


def _node(
    node: Value | Ask, features: tuple[GridFeature, ...], places: dict[int, int], known: Bounds, bits: int
) -> Leaf | Branch:
    """``known[feature] = (low, high)`` on this path."""
    if isinstance(node, Value):
        return Leaf(tuple(rounded(v, bits) if v else 0 for v in node.values))
    place = places[node.feature]
    low, high = known[place]
    t = threshold((node.border, node.or_equal), features[place].fraction_bits)
    if t < low:
        return _node(node.above, features, places, known, bits)
    if t >= high:
        return _node(node.below, features, places, known, bits)
    above = _node(node.above, features, places, known | {place: (t + 1, high)}, bits)
    below = _node(node.below, features, places, known | {place: (low, t)}, bits)
    return above if above == below else Branch(place, t, above, below)


def _columns(forest: Forest) -> list[Column]:
    columns: list[Column] = [[] for _ in forest.bias]
    for tree in forest.trees:
        rows = [leaf.values for leaf in values(tree)]
        for column, leaves in zip(columns, zip(*rows, strict=True), strict=True):
            column.append([value for value in leaves if value])
    return columns


def _leaf_bits(forest: Forest, columns: list[Column], declared: int | None) -> int:
    """As declared, if 32 bits hold the sums; else the fewest that round nothing; else the most that 32 bits hold."""
    reach = [[(min(leaves), max(leaves)) for leaves in column if leaves] for column in columns]
    outputs = list(zip(forest.bias, reach, strict=True))
    fit = next((bits for bits in range(MAX_LEAF_BITS, -1, -1) if all(_fits(*o, bits) for o in outputs)), None)
    if fit is None:
        raise InputError("the model's outputs go beyond 32 bits even as whole numbers; scale its target down")
    if declared is not None:
        if declared > fit:
            raise InputError(f"32 bits do not hold the outputs with leaf_bits = {declared}; declare at most {fit}")
        return declared
    return min(fit, max(_digits(bias, column) for bias, column in zip(forest.bias, columns, strict=True)))


def _fits(bias: Fraction, reach: list[tuple[Fraction, Fraction]], bits: int) -> bool:
    """Whether 32 bits hold every leaf and every partial sum of an output."""
    ends = [(rounded(least, bits), rounded(most, bits)) for least, most in reach]
    low = rounded(bias, bits) + sum(min(0, least) for least, _ in ends)
    high = rounded(bias, bits) + sum(max(0, most) for _, most in ends)
    low, high = min([low, *(least for least, _ in ends)]), max([high, *(most for _, most in ends)])
    return INT32[0] <= low <= high <= INT32[1]


def _digits(bias: Fraction, column: Column) -> int:
    """How many binary digits follow the point; more than any leaf has where they never end."""
    greatest = max((value.denominator for leaves in [[bias], *column] for value in leaves), default=1)
    if any(value.denominator & value.denominator - 1 for leaves in [[bias], *column] for value in leaves):
        return MAX_LEAF_BITS + 1
    return greatest.bit_length() - 1


def _rounding(bias: Fraction, column: Column, bits: int) -> Fraction:
    """The rounding of the bias and the greatest one of each tree, added up."""

    def off(value: Fraction) -> Fraction:
        return abs(Fraction(rounded(value, bits), 1 << bits) - value)

    return off(bias) + sum(max(map(off, leaves), default=Fraction(0)) for leaves in column)


def _stray(forest: Forest, output: int, column: Column) -> Fraction:
    """Returns by how much the library's float sum can miss the exact one, in whatever order it adds. There is one
    rounding per tree, and a few for scale, mean and bias. Each is half a unit in the last place of at most all leaves
    together. Nothing where every sum is a float."""
    bias = forest.bias[output]
    reach = abs(bias) + sum(max(map(abs, leaves), default=Fraction(0)) for leaves in column)
    digits = _digits(bias, column)
    if digits <= MAX_LEAF_BITS and reach * (len(forest.trees) + 1) * (1 << digits) <= 1 << forest.sum_bits:
        return forest.doubt
    return forest.doubt + reach * (len(forest.trees) + 8) / (1 << forest.sum_bits)


def _cut(forest: Forest, bits: int) -> int:
    """A binary model's ``output > cut`` as integers, within 32 bits: beyond them the answer is always the same."""
    if forest.task != "binary":
        return 0
    return min(max(threshold((forest.cut, forest.cut_or_equal), bits), INT32[0]), INT32[1])


def _margin(forest: Forest, error: list[Fraction]) -> float:
    """Two outputs can approach each other by the sum of their errors, one output its cut by its own."""
    if forest.task == "regression":
        return 0.0
    return upwards(sum(sorted(error)[-2:], Fraction(0)))


def upwards(value: Fraction) -> float:
    """The value as a float that is not below it."""
    near = float(value)
    return near if Fraction(near) >= value else nextafter(near, inf)
