"""What the tests of all front ends share: three features on a grid, points that find every edge, random trees."""

import numpy as np
from hypothesis import strategies as st

from codegen.frontends import Grid
from decision.policy.model import Model

RANGES = ((-4, 4, 10), (-3, 20, 6), (-50, 50, 0))
"""Low, high and fraction bits of the features."""
STEPS = np.array([1 << q for _, _, q in RANGES], dtype=np.float64)


def grid(*names: str, leaf_bits: int | None = None) -> Grid:
    return Grid.of(dict(zip(names, RANGES, strict=True)), leaf_bits)


def training(seed: int = 0, count: int = 500):
    """Rows of floats on the grid, a target, classes 0..2."""
    rng = np.random.default_rng(seed)
    k = np.stack([rng.integers(low << q, (high << q) + 1, count) for low, high, q in RANGES], axis=1)
    x = k / STEPS
    y = np.sin(x[:, 0]) * x[:, 1] + x[:, 2] / 10 + rng.normal(size=count)
    return x, y, np.digitize(y, [-3, 2])


def points(model: Model, seed: int = 1):
    """Rows for the model: random ones, every threshold with its neighbours, corners; and the floats they stand for."""
    rng = np.random.default_rng(seed)
    low, high = (np.array([getattr(f, end) for f in model.features]) for end in ("low", "high"))
    rows = rng.integers(low, high + 1, size=(300, len(low)))
    edges = [rows]
    for feature, thresholds in model.forest.thresholds().items():
        for t in thresholds:
            part = rng.integers(low, high + 1, size=(12, len(low)))
            part[:, feature] = np.clip(np.tile([t - 1, t, t + 1, t + 2], 3), low[feature], high[feature])
            edges.append(part)
    both = np.concatenate(edges)
    for feature, thresholds in model.forest.thresholds().items():
        some = rng.random(len(both)) < 0.3
        both[some, feature] = np.clip(
            rng.choice(thresholds, some.sum()) + rng.integers(0, 2, some.sum()), low[feature], high[feature]
        )
    rows = np.concatenate([*edges, both, [low], [high]]).astype(np.int64)
    return rows, rows / np.array([2.0**f.fraction_bits for f in model.features])


def assert_to_the_bit(model: Model, raw, classes=None) -> None:
    """The model states no error and gives the library's raw values, every bit of them, and its classes."""
    rows, x = points(model)
    theirs = np.asarray(raw(x), dtype=np.float64).reshape(len(rows), model.outputs)
    assert max(model.error, default=0.0) == 0.0
    np.testing.assert_array_equal(model.forest.evaluate(rows), theirs * 2.0**model.leaf_bits)
    if classes is not None:
        assert model.margin == 0.0
        np.testing.assert_array_equal(model.predict(rows), np.ravel(classes(x)).astype(np.int64))


def assert_within_its_error(model: Model, raw, classes=None) -> None:
    """The library's raw values lie within the stated error; classes are the same where the margin says so."""
    rows, x = points(model)
    theirs = np.asarray(raw(x), dtype=np.float64).reshape(len(rows), model.outputs)
    off = np.abs(model.forest.evaluate(rows) / 2.0**model.leaf_bits - theirs)
    assert np.all(off <= np.array(model.error))
    assert off.any()
    if classes is not None:
        greatest = np.sort(theirs, axis=1)
        decided = greatest[:, -1] - greatest[:, -2] if model.outputs > 1 else np.abs(theirs[:, 0])
        sure = decided > model.margin
        assert sure.mean() > 0.9
        np.testing.assert_array_equal(model.predict(rows)[sure], np.ravel(classes(x)).astype(np.int64)[sure])


@st.composite
def borders(draw, feature: int) -> float:
    """A float32 border: on a grid point, half a step beside it, or the next float on either side."""
    low, high, q = RANGES[feature]
    k = draw(st.integers(low << q, high << q))
    border = np.float32((k + draw(st.sampled_from([0, 0, 0.5, -0.25]))) / (1 << q))
    towards = draw(st.sampled_from([None, None, -np.inf, np.inf]))
    return float(border if towards is None else np.nextafter(border, np.float32(towards)))


@st.composite
def splits(draw) -> tuple[int, float]:
    feature = draw(st.integers(0, len(RANGES) - 1))
    return feature, draw(borders(feature))


def leaf(outputs: int):
    """Multiples of 1/64: sums of them are exact in any float."""
    return st.lists(st.integers(-640, 640).map(lambda v: v / 64), min_size=outputs, max_size=outputs)


def tree(outputs: int = 1):
    """(feature, border, where x is greater, where it is not), nested, or a leaf."""
    return st.recursive(leaf(outputs), lambda inner: st.tuples(splits(), inner, inner), max_leaves=10).map(_flatten)


def _flatten(node):
    if isinstance(node, list):
        return node
    (feature, border), above, below = node
    return feature, border, _flatten(above), _flatten(below)
