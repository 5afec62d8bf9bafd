"""Judgements of small students with their teachers, for the tests of the report."""

from typing import Any

import numpy as np
from queue_actions import LEVEL
from triggered_students import OBSERVATION, ROWS, triggered_student

from decision.artefact.manifest import Manifest
from decision.ir.forest import Forest, oblivious
from decision.policy.policy import Header, Policy
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names, seen_names
from decision.policy.weights import shapes
from netsim.samples import Samples
from rlcc.gate.closed_loop import PolicyMetrics
from rlcc.gate.fidelity import STUDENT, TEACHER
from rlcc.gate.judgement import JudgedStates, Judgement, Sights
from rlcc.gate.names import named
from rlcc.gate.verdict import Check, Verdict
from teachers.teacher import Teacher, make_teacher

FLOW: dict[str, Any] = {
    "window": 2,
    "base_rtt": "8192 ns",
    "line_rate": "100 Gb/s",
    "rtt_max": "4 ms",
    "features": [
        {"kind": "previous_action"},
        {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5},
    ],
}
MANIFEST = Manifest("firmware", "f" * 64, {}, tools={"numpy": "2.0"}, seed=1)
LIMITS = {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"}


def scale() -> tuple[Student, Teacher, JudgedStates]:
    """A flow's: the rate times a multiplier."""
    return _pair({"observation": FLOW, "action": {"kind": "tanh_map", "step": 0.2}, "limits": LIMITS}, 1 << 16)


def level() -> tuple[Student, Teacher, JudgedStates]:
    """A queue's: three knobs, each a sum of its own."""
    return _pair({"observation": OBSERVATION, "action": LEVEL}, 1 << 16)


def choice() -> tuple[Student, Teacher, JudgedStates]:
    """A queue's: a row of a table, and a trigger that says when."""
    student = triggered_student(3)
    trigger = {"hidden": [4], "saved": 1}
    table = {"observation": OBSERVATION, "action": {"kind": "choice", "rows": ROWS}, "trigger": trigger}
    return student, _teacher(table), _states(student)


def _pair(table: dict[str, Any], unit: int) -> tuple[Student, Teacher, JudgedStates]:
    header, rng = Header.model_validate(table), np.random.default_rng(5)
    names = feature_names(header.observation)
    trees = []
    for _ in range(6):
        asked = [(int(f), _threshold(names[f], rng)) for f in rng.choice(len(names), 3, replace=False)]
        some = rng.integers(-unit // 12, unit // 6, (8, header.action.sums))
        trees.append(oblivious(asked, [tuple(map(int, leaf)) for leaf in some]))
    forest = Forest(names, tuple(trees), (unit // 20,) * header.action.sums, header.action.leaf_bits)
    student = Student("made", header, forest, "0123456789abcdef" * 4)
    return student, _teacher(table), _states(student)


def _threshold(name: str, rng: np.random.Generator) -> int:
    return int(rng.integers(-9_000, 9_000)) if name.startswith("action") else int(rng.integers(0, _most(name)))


def _most(name: str) -> int:
    return 12 if "bucket" in name else 3_000_000 if "congestion" in name else 250


def _teacher(table: dict[str, Any]) -> Teacher:
    architecture = {"kind": "mlp", "hidden": [6], "bias": True}
    policy = Policy.model_validate({"format": 1, "name": "made", "architecture": architecture, **table})
    rng = np.random.default_rng(11)
    weights = {name: rng.normal(0, 0.7, shape).astype(np.float32) for name, shape in shapes(policy).items()}
    return make_teacher(policy, weights, "the test")


def _states(student: Student) -> JudgedStates:
    rng = np.random.default_rng(9)
    names = seen_names(student.observation, student.trigger)
    columns = [
        rng.integers(-13_000, 13_000, 500) if name.startswith("action") else rng.integers(0, _most(name), 500)
        for name in names
    ]
    return JudgedStates(student.observation, np.stack(columns, axis=1).astype(np.int64))


def verdict(*checks: Check, **changes: Any) -> Verdict:
    fine = named("equality.core", profile="p", compiler="c")(value="0 of 9 differ", limit="0 differ", passed=True)
    texts = dict.fromkeys(("policy", "profile"), "p") | dict.fromkeys(("firmware", "student", "teacher"), "f" * 64)
    return Verdict(**{**texts, "checks": [fine, *checks], "measured": {}, **changes})


def judgement(student: Student, teacher: Teacher | None, states: JudgedStates | None, **changes: Any) -> Judgement:
    """With runs of two flows in two scenarios."""
    outcomes = [
        PolicyMetrics(who, f"many-to-one:{flows}", (3, 4), (metrics, metrics), _samples(n + flows))
        for flows, metrics in ((2, {"rtt_inflation_mean": 1.52}), (8, {"rtt_inflation_mean": 1.58}))
        for n, who in enumerate((TEACHER, STUDENT))
    ]
    sights = Sights(MANIFEST, student, teacher, states=states, outcomes=tuple(outcomes) if teacher else ())
    return Judgement(verdict(**changes), sights)


def _samples(seed: int) -> Samples:
    rng, points = np.random.default_rng(seed), 40
    t_us = np.linspace(100, 4_000, points).astype(np.float32)
    flows = rng.uniform(30, 60, (points, 2)).astype(np.float32)
    queue = rng.uniform(0, 90_000, points).astype(np.float32)
    none = np.zeros(0)
    return Samples(
        t_us, queue, flows, flows.mean(axis=1), np.zeros(points, np.int32), none.astype(np.int64), none.astype("f4")
    )
