"""Student number ``seed``, drawn wider than those of ``students.py``: up to six features over up to eight decisions.

Trees are free or ask one question a level, up to depth five. Agents are flows with any of ``OPTIONS`` as they are by
default, or queues. These choose a row, with or without a trigger, a row in each of two groups, or levels.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.drawn.students import ACTIONS, BASE_RTTS, FEATURES, LIMITS, RANGES
from decision.ir.forest import Branch, Forest, Leaf, Node, depth
from decision.ir.program import Op
from decision.policy.actions import Choice
from decision.policy.policy import Header
from decision.policy.student import Student
from decision.policy.tree_decision import build, seen_names

ACKS: tuple[dict[str, Any], ...] = (
    {"kind": "ratio", "of": "acked_bytes", "over": "sent_bytes", "of_unit": 256, "over_unit": 256, "fraction_bits": 8},
    {"kind": "level", "signal": "acked_bytes", "unit": 4096},
)
OF_QUEUES: tuple[dict[str, Any], ...] = (
    {"kind": "bucket", "signal": "queue_bytes", "first": 5000, "count": 12},
    {"kind": "level", "signal": "queue_bytes", "unit": 1024},
    {"kind": "difference", "signal": "queue_bytes", "unit": 1024},
    {"kind": "previous_knob", "knob": "kmin_bytes", "unit": 1 << 20, "fraction_bits": 8},
    *(
        {"kind": "ratio", "of": f"{what}_bytes", "over": "capacity_bytes", "of_unit": 256, "over_unit": 256}
        for what in ("sent", "marked")
    ),
)
LEVELS = {
    "kind": "level",
    "knobs": {
        "kmin_bytes": {"low": 20_000, "high": 400_000},
        "kmax_bytes": {"low": 50_000, "high": 4_000_000, "not_below": "kmin_bytes"},
        "pmax_q16": {"low": 655, "high": 65_536},
    },
}
OPTIONS = ("start", "in_flight", "device_rate", "target_ratio", "acks", "rtt_slack", "once_per_rtt")
SHARE_OF_QUEUES, SHARE_OF_OPTIONS = 0.3, 0.2
MOST_TREES = 10


def drawn_wide(seed: int) -> Student:
    """The same student wherever it is drawn."""
    rng = np.random.default_rng([15, seed])
    window = int(rng.integers(1, 9))
    header = _queue(rng, window) if rng.random() < SHARE_OF_QUEUES else _flow(rng, window)
    return Student(f"wide-{seed}", header, _forest(rng, header), "0" * 12)


def _flow(rng: np.random.Generator, window: int) -> Header:
    options = {name for name in OPTIONS if rng.random() < SHARE_OF_OPTIONS}
    features = _some(rng, (*FEATURES, *(ACKS if "acks" in options else ())))
    if not any("target" in feature for feature in features):
        options.discard("target_ratio")
    told: dict[str, Any] = {name: True for name in ("device_rate", "acks", "rtt_slack") if name in options}
    told |= {"target_ratio": 1.5} if "target_ratio" in options else {}
    path = {"base_rtt": str(rng.choice(BASE_RTTS)), "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
    return Header.model_validate(
        {
            "observation": {"window": window, "features": features, **path, **told},
            "action": ACTIONS[int(rng.integers(len(ACTIONS)))],
            "limits": LIMITS,
            **{name: {} for name in ("start", "in_flight") if name in options},
            **({"once_per_rtt": True} if "once_per_rtt" in options else {}),
        }
    )


def _queue(rng: np.random.Generator, window: int) -> Header:
    kind = ("level", "rows", "groups", "trigger")[int(rng.integers(4))]
    return Header.model_validate(
        {
            "observation": {
                "interface": "queue_marking",
                "window": window,
                "params": {"capacity_bytes": 156_250},
                "features": _some(rng, OF_QUEUES),
            },
            "action": LEVELS if kind == "level" else _choice(rng, groups=kind == "groups"),
            **({"trigger": {"hidden": [], "saved": int(rng.integers(1, window + 1))}} if kind == "trigger" else {}),
        }
    )


def _choice(rng: np.random.Generator, *, groups: bool) -> dict[str, Any]:
    """Up to eight rows, or two groups of up to four."""
    count = int(rng.integers(2, 5 if groups else 9))
    ends = [{"kmin_bytes": 20_000 << n % 4, "kmax_bytes": 1_000_000 << n // 4} for n in range(count)]
    chances = (655, 6554, 32_768, 65_536)
    if groups:
        return {"kind": "choice", "groups": [ends, [{"pmax_q16": chance} for chance in chances]]}
    return {"kind": "choice", "rows": [end | {"pmax_q16": int(rng.choice(chances))} for end in ends]}


def _some(rng: np.random.Generator, features: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One to six of these, in any order."""
    return [features[int(k)] for k in rng.permutation(len(features))[: int(rng.integers(1, 7))]]


def _forest(rng: np.random.Generator, header: Header) -> Forest:
    """Trees whose sums cross the ends of what the action makes of them."""
    names, action = seen_names(header.observation, header.trigger), header.action
    outputs = action.sums + (header.trigger is not None)
    count, levels = int(rng.integers(1, MOST_TREES + 1)), int(rng.integers(1, 6))
    reach = (2 << action.leaf_bits) // count
    low = -reach // (4 if isinstance(action, Choice) else 1)
    ends = _ends(header, names, outputs)

    def leaf() -> Leaf:
        return Leaf(tuple(int(value) for value in rng.integers(low, reach + 1, outputs)))

    def question() -> tuple[int, int]:
        feature = int(rng.integers(len(names)))
        first, last = ends[feature]
        return feature, int(rng.integers(first, last + 1))

    def free(left: int) -> Node:
        if left == 0 or (left < levels and rng.random() < 0.25):
            return leaf()
        return Branch(*question(), above=free(left - 1), below=free(left - 1))

    def oblivious() -> Node:
        asked = [question() for _ in range(int(rng.integers(1, levels + 1)))]

        def below(level: int) -> Node:
            return leaf() if level == len(asked) else Branch(*asked[level], below(level + 1), below(level + 1))

        return below(0)

    one = oblivious if rng.random() < 0.5 else lambda: free(levels)
    trees = tuple(one() for _ in range(count))
    bias = tuple(int(value) for value in rng.integers(low, reach + 1, outputs))
    return Forest(names, trees, bias, action.leaf_bits)


def _ends(header: Header, names: Sequence[str], outputs: int) -> list[tuple[int, int]]:
    """Least and greatest threshold of each feature: what rollouts show of it, else all that it can be."""
    asked = tuple(Branch(n, 0, Leaf((1,) * outputs), Leaf((0,) * outputs)) for n in range(len(names)))
    forest = Forest(tuple(names), asked, (0,) * outputs, header.action.leaf_bits)
    program = build(header.observation, header.action, forest, header.start, header.trigger, header.once_per_rtt)
    features = next(node.args for node in program.nodes if node.op is Op.TREES)
    spans = [(program.nodes[n].low, program.nodes[n].high - 1) for n in features]
    return [
        next((near for known, (near, _) in RANGES.items() if name.startswith(known)), (low, max(low, high)))
        for name, (low, high) in zip(names, spans, strict=True)
    ]


def wide_words(student: Student) -> str:
    """Returns the kind of the student, in a line."""
    seen, trees = student.observation, student.forest.trees
    told = [name for name in ("device_rate", "target_ratio", "acks", "rtt_slack") if getattr(seen, name)]
    told += [name for name in ("start", "in_flight", "once_per_rtt", "trigger") if getattr(student, name)]
    kinds = ", ".join(feature.kind for feature in seen.features)
    shape = "oblivious" if student.forest.oblivious else "free"
    depths = "".join(str(depth(tree)) for tree in trees)
    groups = " of groups" if isinstance(student.action, Choice) and student.action.groups is not None else ""
    return "; ".join(
        [
            f"{kinds}, window {seen.window}",
            ", ".join([student.action.kind + groups, *told]),
            f"{student.forest.outputs} outputs, {shape} trees of {depths}",
        ]
    )
