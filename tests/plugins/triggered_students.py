"""A student whose trigger says when its choice is made anew, by hand: the trigger's trees, then the choice's."""

from typing import Any

import numpy as np

from decision.ir.forest import Forest, Node, oblivious
from decision.policy.policy import Header, Observation
from decision.policy.student import Student
from decision.policy.tree_decision import seen_names
from decision.policy.trigger import SAVED

OBSERVATION: dict[str, Any] = {
    "interface": "queue_marking",
    "window": 2,
    "params": {"capacity_bytes": 625_000},
    "features": [
        {"kind": "bucket", "signal": "queue_bytes", "first": 5_000, "count": 12},
        {"kind": "ratio", "of": "sent_bytes", "over": "capacity_bytes"},
        {"kind": "previous_knob", "knob": "kmin_bytes", "unit": 4_096},
    ],
}
ROWS = [
    {"kmin_bytes": 5_000 << n, "kmax_bytes": 1_000_000, "pmax_q16": 655 * (k + 1)} for n in range(3) for k in range(2)
]


def triggered_student(seed: int, rows: int = 6, fires: int = 300, silent: int = 0) -> Student:
    """``fires``: of 4096, by how much the trigger's trees stay off the half on either side; ``silent``: so many of the
    first rows nobody votes for."""
    header = Header.model_validate(
        {
            "observation": OBSERVATION,
            "action": {"kind": "choice", "rows": ROWS[:rows]},
            "trigger": {"hidden": [4], "saved": 1},
        }
    )
    names = seen_names(header.observation, header.trigger)
    plain = [k for k, name in enumerate(names) if not name.startswith(SAVED)]
    rng = np.random.default_rng(seed)
    bits = header.action.leaf_bits

    def tree(features: list[int], leaf: Any) -> Node:
        asked = []
        for feature in rng.choice(features, 3, replace=False):
            most = 11 if "bucket" in names[feature] else 250
            asked.append((int(feature), int(rng.integers(0, most))))
        return oblivious(asked, [leaf() for _ in range(8)])

    def choice() -> tuple[int, ...]:
        return (*[0] * silent, *map(int, rng.integers(-9, (1 << bits) // 4, rows - silent)), 0)

    def trigger() -> tuple[int, ...]:
        return (*[0] * rows, int(rng.integers(-fires, fires)))

    every = list(range(len(names)))
    trees = [tree(every, trigger) for _ in range(3)] + [tree(plain, choice) for _ in range(4)]
    bias = (*[0] * silent, *[3] * (rows - silent), 1 << (bits - 1))
    forest = Forest(names, tuple(trees), bias, bits)
    return Student("triggered", header, forest, "0123456789abcdef" * 4)


def observation() -> Observation:
    return Observation.model_validate(OBSERVATION)
