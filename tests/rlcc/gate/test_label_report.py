"""What a student's report says of its labels counts only where it is whole."""

from typing import Any

import pytest
from own_log import FOLDER

from decision.ir.forest import Forest
from decision.policy.policy_header import load_policy_header
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names
from rlcc.gate.labels import labels_of

WHOLE = {"from": "column", "rollouts": "ab" * 32}


@pytest.mark.parametrize(
    ("labels", "counts"), [(WHOLE, True), ({}, False), ({"from": "column"}, False), ([*WHOLE], False)]
)
def test_labels_need_their_source_and_their_rollouts(labels: Any, counts: bool) -> None:
    name, header = load_policy_header(FOLDER / "policy.toml")
    forest = Forest(feature_names(header.observation), (), (600,), header.action.leaf_bits)
    student = Student(name, header, forest, "0" * 64, report={"labels": labels})
    assert (labels_of(student) is not None) == counts
