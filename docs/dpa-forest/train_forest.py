"""A random forest for BlueField's DPA, trained elsewhere: six integer columns, the change of the rate out.

python train_forest.py     writes forest.tl; prints what an export with rounded thresholds makes of the same forest

The columns are those of a public DOCA PCC application: RTT above its running minimum and average RTT in ns, the rate in
force as Q0.20, whether CNPs and NACKs came since the decision before, and CNPs in a row. The rows are made up.
"""

import sys
from pathlib import Path

import numpy as np
import treelite
from sklearn.ensemble import RandomForestRegressor

ROWS, BASE_RTT_NS = 20_000, 8_192
COLUMNS = ("above_ns", "average_ns", "rate_q20", "cnp", "nack", "streak")


def made_up(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows [ROWS, 6] of integers, and the change of the rate [ROWS] that a flow should make there."""
    rng = np.random.default_rng(seed)
    above = np.exp(rng.uniform(0, np.log(200_000), ROWS)).astype(np.int64)
    average = (BASE_RTT_NS + above * rng.uniform(0.5, 1.5, ROWS)).astype(np.int64)
    rate = np.exp2(rng.uniform(4, 20, ROWS)).astype(np.int64)
    cnp, nack = rng.random(ROWS) < 0.3, rng.random(ROWS) < 0.02
    streak = np.where(cnp, rng.geometric(0.5, ROWS), 0)
    change = 0.06 - 0.02 * rate / 2**20 - above / 80_000 - (average - BASE_RTT_NS) / 400_000
    change -= 0.02 * cnp + 0.01 * np.minimum(streak, 8) + 0.3 * nack
    return np.stack([above, average, rate, cnp, nack, streak], axis=1), np.clip(change, -0.5, 0.06)


def rounded_export(forest: RandomForestRegressor, rows: np.ndarray) -> np.ndarray:
    """What a table of nodes gives [N] that asks `column < int(round(threshold))`, leaves in Q16, the mean towards 0."""
    total = np.zeros(len(rows), dtype=np.int64)
    for estimator in forest.estimators_:
        tree, node = estimator.tree_, np.zeros(len(rows), dtype=np.int64)
        for _ in range(tree.max_depth):
            threshold = np.array([round(t) for t in tree.threshold])[node]
            left = rows[np.arange(len(rows)), np.maximum(tree.feature[node], 0)] < threshold
            below = np.where(left, tree.children_left[node], tree.children_right[node])
            node = np.where(tree.feature[node] < 0, node, below)
        total += np.round(tree.value[node, 0, 0] * 2**16).astype(np.int64)
    return np.trunc(total / len(forest.estimators_)) / 2**16


def main(folder: Path) -> None:
    rows, change = made_up(seed=1)
    forest = RandomForestRegressor(n_estimators=8, max_depth=3, max_features=2, random_state=1).fit(rows, change)
    treelite.sklearn.import_model(forest).serialize(str(folder / "forest.tl"))
    own, rounded = forest.predict(rows), rounded_export(forest, rows)
    wrong, signs = np.abs(own - rounded) > 2**-15, np.sign(own) != np.sign(rounded)
    flags = sum(int(np.isin(tree.tree_.feature, (3, 4)).sum()) for tree in forest.estimators_)
    print(f"rounded thresholds: {wrong.sum():,} of {ROWS:,} rows wrong, {signs.sum():,} of another sign")
    print(f"questions about a flag: {flags}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
