"""The symmetric models that are compared: each a CatBoost regressor over integer features, and the same trees in
integers. Models of other kinds: outside.py.

All are 10 trees of depth 4 over 4 features whose values are integers that float32 holds exactly, so that nobody loses
anything by converting a feature.
"""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from catboost import CatBoostRegressor
from numpy.typing import NDArray

from decision.artefact.manifest import opened
from decision.ir.forest import Forest
from decision.ir.formats import FEATURE_LIMIT
from decision.ir.program import Op
from decision.policy.student import load_student
from distill.quantise import check, quantise

TREES, DEPTH = 10, 4
LEAF_BITS = 16
"""Fraction bits of an action, so also of our leaves (docs/explanation/decision-program.md)."""

RANGES = ((-16384, 16383), (0, 32767), (-16384, 16383), (0, 32767))
"""Of the first two models' features: 15 bits, so that peers with int16_t features can take part."""


@dataclass(frozen=True)
class FloatTree:
    """A tree of CatBoost's: level i asks ``x[feature] > border``; the answer is bit i of the leaf's index."""

    splits: tuple[tuple[int, float], ...]
    leaves: tuple[float, ...]


@dataclass(frozen=True)
class ExportSubject:
    """One model. ``ranges`` are the features' least and greatest values."""

    name: str
    what: str
    model: CatBoostRegressor
    forest: Forest
    ranges: tuple[tuple[int, int], ...]

    library: ClassVar[Literal["symmetric"]] = "symmetric"
    outputs: ClassVar[int] = 1

    @property
    def features(self) -> int:
        return len(self.ranges)

    @property
    def leaf_bits(self) -> int:
        return self.forest.leaf_bits

    def thresholds(self) -> dict[int, list[int]]:
        return self.forest.thresholds()

    def evaluate(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The integer model's values [N] of integer rows [N, features]."""
        return self.forest.evaluate(rows)[:, 0]

    def parts(self) -> tuple[tuple[FloatTree, ...], float]:
        """The trees and the bias, as CatBoost's own JSON states them."""
        exported = _export(self.model)
        scale, (bias,) = exported["scale_and_bias"]
        trees = [
            FloatTree(
                tuple((int(s["float_feature_index"]), float(s["border"])) for s in tree["splits"]),
                tuple(float(scale) * float(leaf) for leaf in tree["leaf_values"]),
            )
            for tree in exported["oblivious_trees"]
        ]
        return tuple(trees), float(bias)

    def expected(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """CatBoost's own predictions [N] of integer rows [N, features]: what everybody is held to."""
        return np.asarray(self.model.predict(rows.astype(np.float32)), dtype=np.float64)


def subjects(seed: int, student: Path) -> list[ExportSubject]:
    """The symmetric models; the last one only where ``student`` (the folder of a distilled student) is there."""
    distilled_too = [distilled(student)] if (student / "student.json").is_file() else []
    return [trained(seed), drawn(seed), *distilled_too]


def trained(seed: int) -> ExportSubject:
    """Fitted to a smooth function of uniformly drawn features."""
    rng = np.random.default_rng(seed)
    x = uniform(RANGES, 4000, rng)
    a, b, c, d = (x / 16384).T
    y = np.sin(2.5 * a) + 0.4 * b**2 - c * d
    model = CatBoostRegressor(**catboost_options(seed))
    model.fit(x.astype(np.float32), y)
    return _subject("trained", "a CatBoost regressor, trained on a smooth function of 4 features", model, RANGES, seed)


def drawn(seed: int) -> ExportSubject:
    """Random features, borders and leaves: nothing for an optimiser to find but what chance left."""
    rng = np.random.default_rng([seed, 1])
    trees: list[dict[str, Any]] = []
    for _ in range(TREES):
        features = rng.integers(0, len(RANGES), size=DEPTH)
        borders = [int(rng.integers(RANGES[f][0], RANGES[f][1])) + float(rng.choice([0.0, 0.5])) for f in features]
        trees.append(
            {
                "splits": [
                    {"border": b, "float_feature_index": int(f), "split_type": "FloatFeature"}
                    for f, b in zip(features, borders, strict=True)
                ],
                "leaf_values": rng.uniform(-0.1, 0.1, size=1 << DEPTH).tolist(),
                "leaf_weights": [1] * (1 << DEPTH),
            }
        )
    return _subject("random", "random features, thresholds and leaves", _imported(trees, 0.25), RANGES, seed)


def distilled(folder: Path) -> ExportSubject:
    """The student of a run: its CatBoost model, and its forest as the firmware computes it."""
    student = load_student(folder / "student.json")
    program = student.program()
    node = next(n for n in program.nodes if n.op is Op.TREES)
    used = dict(zip(program.forest.features, (program.nodes[a] for a in node.args), strict=True))
    # A feature that no tree looks at is not in the program; its values do not matter.
    bounds = [(used[n].low, used[n].high) if n in used else (0, 1) for n in student.forest.features]
    ranges = tuple((max(low, -FEATURE_LIMIT), min(high, FEATURE_LIMIT - 1)) for low, high in bounds)
    model = CatBoostRegressor()
    model.load_model(str(folder / "student.cbm"))
    check(model, student.forest, uniform(ranges, 4000, np.random.default_rng(0)), seed=0)
    made = opened(folder, "student").hash[:12]
    what = f"the trees of {student.name}'s student {made}, features up to 24 bits, all that float32 holds exactly"
    return ExportSubject("student", what, model, student.forest, ranges)


def catboost_options(seed: int) -> dict[str, Any]:
    return {
        "iterations": TREES,
        "depth": DEPTH,
        "learning_rate": 0.5,
        "random_seed": seed,
        "thread_count": 1,
        "verbose": False,
        "allow_writing_files": False,
    }


def uniform(ranges: tuple[tuple[int, int], ...], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return np.column_stack([rng.integers(low, high + 1, size=count) for low, high in ranges])


def _subject(
    name: str, what: str, model: CatBoostRegressor, ranges: tuple[tuple[int, int], ...], seed: int
) -> ExportSubject:
    forest = quantise(model, tuple(f"f{i}" for i in range(len(ranges))), LEAF_BITS)
    check(model, forest, uniform(ranges, 4000, np.random.default_rng(seed)), seed=seed)
    return ExportSubject(name, what, model, forest, ranges)


def _imported(trees: list[dict[str, Any]], bias: float) -> CatBoostRegressor:
    """A CatBoost model with just these trees, by way of its JSON."""
    used = [
        sorted({s["border"] for t in trees for s in t["splits"] if s["float_feature_index"] == f}) for f in range(4)
    ]
    numbers = {(f, border): i for i, (f, border) in enumerate((f, b) for f in range(4) for b in used[f])}
    for tree in trees:
        for split in tree["splits"]:
            split["split_index"] = numbers[split["float_feature_index"], split["border"]]
    features = [
        {"borders": used[f], "feature_index": f, "flat_feature_index": f, "feature_id": ""}
        | {"has_nans": False, "nan_value_treatment": "AsIs"}
        for f in range(4)
    ]
    content = {"features_info": {"float_features": features}, "model_info": {}, "oblivious_trees": trees}
    model = CatBoostRegressor()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        path.write_text(json.dumps(content | {"scale_and_bias": [1, [bias]]}))
        model.load_model(str(path), format="json")
    return model


def _export(model: CatBoostRegressor) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        exported: dict[str, Any] = json.loads(path.read_text())
    return exported
