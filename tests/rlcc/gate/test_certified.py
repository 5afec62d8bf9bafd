"""A claim of a distance that anyone may have written: it holds, or it is refused with a reason."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened, opened
from decision.policy.deciders import student_of
from decision.policy.neighbourhood import Around
from rlcc.gate.certificate_check import hold
from teachers.load import load
from teachers.teacher import Teacher
from verify.check.refused import Refused
from verify.check.teacher_distance import TeacherNetwork, distance_again
from verify.deviation.distance import distance
from verify.trusted.deviation import TeacherClaim


@pytest.fixture(scope="module")
def parts(good: Path) -> tuple[TeacherClaim, Opened, Teacher]:
    teacher, firmware = load(good / "teacher"), opened(good / "firmware", "firmware")
    around = Around(0.2, 0.02)
    return distance(student_of(firmware), teacher.policy, teacher.weights, teacher.hash, around), firmware, teacher


def again(claim: TeacherClaim, firmware: Opened, teacher: Teacher) -> int:
    network = TeacherNetwork(teacher.policy, teacher.weights, teacher.hash)
    return distance_again(claim, student_of(firmware), network)


def test_the_honest_claim_holds(parts: tuple[TeacherClaim, Opened, Teacher]) -> None:
    assert again(*parts) > 0


FORGED: dict[str, dict[str, Any]] = {
    "a witness of 2^63": {"witness": {"congestion_q20": 2**63}},
    "a witness of 2^64 - 1": {"witness": {"action_1": 2**64 - 1}},
    "a witness of -2^63": {"witness": {"congestion_q20_1": -(2**63)}},
    "a signal up to 2^63": {"signals": {"congestion_q20": [0, 2**63]}},
    "a signal without an end": {"signals": {"congestion_q20": []}},
    "a share of everything": {"share": 1e308},
    "a negative share": {"share": -0.5},
    "no signals": {"signals": {}},
    "no witness": {"witness": {}},
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_claim_is_refused_and_breaks_nothing(name: str, parts: tuple[TeacherClaim, Opened, Teacher]) -> None:
    claim, firmware, teacher = parts
    change = {
        key: {**getattr(claim, key), **value} if isinstance(value, dict) and value else value
        for key, value in FORGED[name].items()
    }
    with pytest.raises((Refused, InputError, ValidationError)):  # the last is what a reader of certificates says
        again(TeacherClaim.model_validate(claim.model_dump() | change), firmware, teacher)


def test_a_claim_of_a_teacher_that_is_not_known_is_refused(parts: tuple[TeacherClaim, Opened, Teacher]) -> None:
    claimed: Any = SimpleNamespace(teacher=parts[0])
    with pytest.raises(Refused, match="not known here"):
        hold(claimed, b"", SimpleNamespace())  # type: ignore[arg-type]  # nothing of the build is looked at
