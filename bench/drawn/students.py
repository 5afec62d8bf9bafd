"""Student number ``seed``: any features, up to four, over one to four decisions; one to ten trees of depth one to four;
any action map; with or without a start and a cap. Thresholds lie where rollouts show the feature, now and then
anywhere.
"""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import Field, TypeAdapter

from decision.ir.forest import Forest, Node, depth, oblivious
from decision.ir.interfaces.flow_rate import flow_interface
from decision.policy.actions import Multiplier, Table, TanhMap
from decision.policy.in_flight import InFlight
from decision.policy.policy import Header, Limits, Observation
from decision.policy.start import Start
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names

FEATURES: tuple[dict[str, Any], ...] = (
    {"kind": "previous_action"},
    {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5},
    {"kind": "pcc_rl_congestion", "target": 2.0},
    {"kind": "rtt_inflation"},
    {"kind": "queue_inflation"},
    {"kind": "rate"},
    {"kind": "cnp_ratio"},
    {"kind": "nack_ratio"},
    {"kind": "level", "signal": "queue_bytes", "unit": 1024},
    {"kind": "ratio", "of": "nack_count", "over": "cnp_count", "of_unit": 1, "over_unit": 256},
    {"kind": "difference", "signal": "queue_bytes", "unit": 1024},
    {"kind": "bucket", "signal": "queue_bytes", "first": 1024, "count": 10},
)
RANGES = {  # of thresholds: what rollouts show of each feature, and all that the feature can be
    "action": ((-9000, 12_000), (-65_536, 65_536)),
    "congestion_q20": ((0, 20_000), (0, 2**24 - 2)),
    "congestion_q16": ((0, 500_000), (0, 2**24 - 2)),
    "rtt_inflation_q10": ((-1024, 4000), (-1024, 200_000)),
    "queue_inflation_q10": ((0, 4000), (0, 40_000)),
    "rate_q20": ((0, 2**20 - 1), (0, 2**20 - 1)),
    "cnp_ratio_q8": ((0, 255), (0, 255)),
    "nack_ratio_q8": ((0, 255), (0, 255)),
    "queue_bytes_level": ((0, 600), (0, 2**22 - 1)),
    "nack_count_over_cnp_count_q8": ((0, 255), (0, 255)),
    "queue_bytes_difference_over_1": ((-300, 300), (-(2**22), 2**22)),
    "queue_bytes_bucket": ((0, 9), (0, 9)),
}
ACTIONS: tuple[dict[str, Any], ...] = (
    {"kind": "tanh_map", "step": 0.2},
    {"kind": "multiplier", "low": 0.75, "high": 1.25},
    {"kind": "multiplier", "low": 0.5, "high": 3.0},
    {"kind": "table", "multipliers": [0.7, 0.9, 0.99, 1.0, 1.01, 1.1, 1.5]},
)
SCALES: TypeAdapter[TanhMap | Multiplier | Table] = TypeAdapter(
    Annotated[TanhMap | Multiplier | Table, Field(discriminator="kind")]
)
BASE_RTTS = ("8192 ns", "13 us", "2000 ns")
LIMITS = Limits.model_validate({"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "25 %"})


def drawn(seed: int) -> Student:
    """The same student wherever it is drawn."""
    rng = np.random.default_rng([14, seed])
    features = [FEATURES[int(k)] for k in rng.permutation(len(FEATURES))[: int(rng.integers(1, 5))]]
    action: TanhMap | Multiplier | Table = SCALES.validate_python(ACTIONS[int(rng.integers(len(ACTIONS)))])
    options = [name for name in ("start", "in_flight") if rng.random() < 0.25]
    base_rtt, window = str(rng.choice(BASE_RTTS)), int(rng.integers(1, 5))
    observation = _observation(features, window, base_rtt, options)
    names, count = feature_names(observation), int(rng.integers(1, 11))
    if isinstance(action, Table):
        spread = (len(action.multipliers) << action.leaf_bits) // count
        low, high = -spread // 4, spread
    else:
        low, high = (2 * limit // count for limit in action.limits_q16())
    trees = tuple(tree(rng, names, int(rng.integers(1, 5)), low, high) for _ in range(count))
    forest = Forest(names, trees, (int(rng.integers(low, high + 1)),), action.leaf_bits)
    start = Start() if "start" in options else None
    in_flight = InFlight() if "in_flight" in options else None
    header = Header(observation=observation, action=action, limits=LIMITS, start=start, in_flight=in_flight)
    return Student(f"drawn-{seed}", header, forest, "0" * 12)


def of_many_trees(trees: int, levels: int) -> Student:
    """One with 12 features, four over three decisions; the same wherever it is drawn."""
    rng = np.random.default_rng([14, trees, levels])
    kinds = ("previous_action", "rl_cc_congestion", "rate", "queue_inflation")
    features = [feature for feature in FEATURES if feature["kind"] in kinds]
    observation = _observation(features, 3, BASE_RTTS[0], ())
    action, names = SCALES.validate_python(ACTIONS[0]), feature_names(observation)
    low, high = (2 * limit // trees for limit in action.limits_q16())
    grown = tuple(tree(rng, names, levels, low, high) for _ in range(trees))
    forest = Forest(names, grown, (int(rng.integers(low, high + 1)),), action.leaf_bits)
    header = Header(observation=observation, action=action, limits=LIMITS)
    return Student(f"drawn-{trees}x{levels}", header, forest, "0" * 12)


def _observation(features: Sequence[dict[str, Any]], window: int, base_rtt: str, options: Sequence[str]) -> Observation:
    path = {"base_rtt": base_rtt, "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
    seen = {"interface": flow_interface(options).name, "window": window, "features": features}
    return Observation.model_validate(seen | path)


def tree(rng: np.random.Generator, names: tuple[str, ...], levels: int, low: int, high: int) -> Node:
    """One question a level, about any of the features; leaves from ``low`` to ``high``."""
    splits = []
    for _ in range(levels):
        feature = int(rng.integers(len(names)))
        near, far = RANGES[_newest(names[feature])]
        first, last = near if rng.random() < 0.75 else far
        splits.append((feature, int(rng.integers(first, last + 1))))
    return oblivious(tuple(splits), tuple(int(leaf) for leaf in rng.integers(low, high + 1, 1 << levels)))


def _newest(name: str) -> str:
    """The feature's name without how many decisions ago."""
    return name if name in RANGES else name.rpartition("_")[0]


def words(student: Student) -> str:
    """Returns the kind of the student, in a line."""
    kinds = ", ".join(f.kind for f in student.observation.features)
    depths = "".join(str(depth(t)) for t in student.forest.trees)
    options = "".join(f", {name}" for name in ("start", "in_flight") if getattr(student, name) is not None)
    return f"{kinds}; window {student.observation.window}; {student.action.kind}{options}; depths {depths}"
