"""Students that observe a queue by generic features and set several knobs: their C is their program, on the host."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from queue_actions import FOUR as CHOICE
from queue_actions import GROUPS, LEVEL

from codegen.emit import emit
from codegen.lower import Options
from decision.artefact.output import writing
from decision.ir.forest import Forest, oblivious
from decision.policy.policy import Header, Observation
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names
from emulator.host import run_on_host

OBSERVATION: dict[str, Any] = {
    "interface": "queue_marking",
    "window": 2,
    "params": {"capacity_bytes": 625_000},
    "features": [
        {"kind": "level", "signal": "queue_bytes", "unit": 1024, "fraction_bits": 2},
        {"kind": "level", "signal": "capacity_bytes", "unit": 1000},
        {"kind": "ratio", "of": "sent_bytes", "over": "capacity_bytes"},
        {"kind": "difference", "signal": "queue_bytes", "unit": 256, "back": 2},
        {"kind": "bucket", "signal": "queue_bytes", "first": 20_000, "count": 10},
        {"kind": "previous_knob", "knob": "kmin_bytes", "unit": 1000},
        {"kind": "previous_knob", "knob": "pmax_q16", "unit": 65_536, "fraction_bits": 12},
    ],
}


def student_of(action: dict[str, Any], seed: int) -> Student:
    """Seven trees that ask about every feature."""
    header = Header.model_validate({"observation": OBSERVATION, "action": action})
    names = feature_names(Observation.model_validate(OBSERVATION))
    rng = np.random.default_rng(seed)
    sums, bits = header.action.sums, header.action.leaf_bits
    places = iter(rng.permutation(3 * 7).tolist())
    trees = [
        oblivious(
            [(next(places) % len(names), int(2 ** rng.uniform(0, 9))) for _ in range(3)],
            [tuple(int(v) for v in rng.integers(-9, (1 << bits) // 4, sums)) for _ in range(8)],
        )
        for _ in range(7)
    ]
    forest = Forest(names, tuple(trees), (3,) * sums, bits)
    return Student("queues", header, forest, "0123456789abcdef" * 4)


@pytest.mark.slow_except("choice-joint", "groups-branches")
@pytest.mark.parametrize("form", ["branches", "joint"])
@pytest.mark.parametrize("action", [CHOICE, GROUPS, LEVEL], ids=["choice", "groups", "level"])
def test_the_c_of_generic_features_and_several_knobs_is_their_program(
    action: dict[str, Any], form: str, tmp_path: Path
) -> None:
    student = student_of(action, 4)
    with writing(tmp_path / "student", "student", parents={}, tools=(), seed=1) as work:
        student.save(work)
    emit(tmp_path / "student", tmp_path / "firmware", target="bare", options=Options(form=form))
    report = run_on_host(tmp_path / "firmware")
    assert report.vectors > 500
    header = (tmp_path / "firmware/rlcc_policy.h").read_text()
    for feature in student.observation.features:
        assert feature.meaning() in header
