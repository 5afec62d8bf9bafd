"""From a forest of rationals and a grid to the integer model, with the exact bound of what was rounded.

Questions lose nothing: on the grid they are integer comparisons. Those that the range or an earlier answer decides are
dropped, equal sides are merged, trees that ask nothing become part of the bias. Leaves and biases are rounded once, to
the nearest multiple of 2^-leaf_bits; the greatest rounding of each tree is known, and so is the bound of their sum.
"""

from fractions import Fraction
from math import floor, inf, nextafter

from codegen.frontends.forest import Ask, Forest, Value, questions, values
from codegen.frontends.grid import Border, Grid, grid_feature, threshold
from spec.errors import InputError
from spec.model import INT32, Branch, GridFeature, Leaf, Model

MOST_LEAF_BITS = 30

Bounds = dict[int, tuple[int, int]]


def quantise(forest: Forest, grid: Grid) -> Model:
    """The integer model of ``forest`` on ``grid``.

    InputError where the grid misses a feature that some tree asks for, or names one that the model has not; where the
    library would not see the grid's values exactly; where 32 bits do not hold the outputs.
    """
    features = _features(forest, grid)
    places = {forest.names.index(feature.name): place for place, feature in enumerate(features)}
    ranges: Bounds = {place: (f.low, f.high) for place, f in enumerate(features)}
    bits = _leaf_bits(forest, grid.leaf_bits)
    roots = [_node(tree, features, places, ranges, bits) for tree in forest.trees]
    constants = [root.value for root in roots if isinstance(root, Leaf)]
    bias = tuple(rounded(b, bits) + sum(c[k] for c in constants) for k, b in enumerate(forest.bias))
    error = _error(forest, bits)
    return Model(
        features=features,
        trees=tuple(root for root in roots if isinstance(root, Branch)),
        bias=bias,
        leaf_bits=bits,
        task=forest.task,
        cut=_cut(forest, bits),
        classes=forest.classes,
        error=tuple(map(_up, error)),
        margin=_margin(forest, error),
    )


def rounded(value: Fraction, bits: int) -> int:
    """To the nearest integer multiple of 2^-bits, halves up."""
    return floor(value * (1 << bits) + Fraction(1, 2))


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
        return Leaf(tuple(rounded(v, bits) for v in node.values))
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


def _leaf_bits(forest: Forest, declared: int | None) -> int:
    """As declared, if 32 bits hold the sums; else the fewest that round nothing; else the most that 32 bits hold."""
    fit = next((bits for bits in range(MOST_LEAF_BITS, -1, -1) if _fits(forest, bits)), None)
    if fit is None:
        raise InputError("the model's outputs go beyond 32 bits even as whole numbers; scale its target down")
    if declared is not None:
        if declared > fit:
            raise InputError(f"32 bits do not hold the outputs with leaf_bits = {declared}; declare at most {fit}")
        return declared
    needed = max(map(_fraction_bits, _numbers(forest)), default=0)
    return min(needed, fit)


def _numbers(forest: Forest) -> set[Fraction]:
    return {*forest.bias, *(v for tree in forest.trees for leaf in values(tree) for v in leaf.values)}


def _fraction_bits(value: Fraction) -> int:
    """How many binary digits follow the point; more than any leaf has where they never end."""
    power = value.denominator.bit_length() - 1
    return power if value.denominator == 1 << power else MOST_LEAF_BITS + 1


def _fits(forest: Forest, bits: int) -> bool:
    """Whether every partial sum of every output stays within 32 bits."""
    for k, bias in enumerate(forest.bias):
        low = high = rounded(bias, bits)
        for tree in forest.trees:
            found = [rounded(leaf.values[k], bits) for leaf in values(tree)]
            low, high = low + min(0, *found), high + max(0, *found)
        if not INT32[0] <= low <= high <= INT32[1]:
            return False
    return True


def _error(forest: Forest, bits: int) -> list[Fraction]:
    """For each output the greatest roundings of the bias and of each tree, added up, and the library's own."""
    unit = Fraction(1, 1 << bits)

    def off(value: Fraction) -> Fraction:
        return abs(rounded(value, bits) * unit - value)

    return [
        off(bias) + sum(max(off(leaf.values[k]) for leaf in values(tree)) for tree in forest.trees) + _stray(forest, k)
        for k, bias in enumerate(forest.bias)
    ]


def _stray(forest: Forest, k: int) -> Fraction:
    """By how much the library's float sum can miss the exact one, in whatever order it adds: one rounding a tree, a
    few for scale, mean and bias, each half a unit in the last place of at most all leaves together. Nothing where
    every sum is a float."""
    numbers = [forest.bias[k], *(v.values[k] for tree in forest.trees for v in values(tree))]
    reach = abs(forest.bias[k]) + sum(max(abs(leaf.values[k]) for leaf in values(tree)) for tree in forest.trees)
    digits = max(map(_fraction_bits, numbers))
    if digits <= MOST_LEAF_BITS and reach * (len(forest.trees) + 1) * (1 << digits) <= 1 << forest.sum_bits:
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
    return _up(sum(sorted(error)[-2:], Fraction(0)))


def _up(value: Fraction) -> float:
    """The value as a float that is not below it."""
    near = float(value)
    return near if Fraction(near) >= value else nextafter(near, inf)
