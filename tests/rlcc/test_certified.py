"""A claim of a distance that anyone may have written: it holds, or it is refused with a reason."""

from pathlib import Path
from typing import Any

import pytest

from decision.deciders import student_of
from decision.errors import InputError
from decision.manifest import Opened, opened
from decision.neighbourhood import Around
from rlcc.certified import distance_checked
from teachers.load import load
from teachers.teacher import Teacher
from verify.check.refused import Refused
from verify.teacher.claim import TeacherClaim
from verify.teacher.distance import distance


@pytest.fixture(scope="module")
def parts(good: Path) -> tuple[TeacherClaim, Opened, Teacher]:
    teacher, firmware = load(good / "teacher"), opened(good / "firmware", "firmware")
    around = Around(0.2, 0.02)
    return distance(student_of(firmware), teacher.policy, teacher.weights, teacher.hash, around), firmware, teacher


def test_the_honest_claim_holds(parts: tuple[TeacherClaim, Opened, Teacher]) -> None:
    assert distance_checked(*parts, None) > 0


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
    with pytest.raises((Refused, InputError)) as caught:
        distance_checked(claim.model_copy(update=change), firmware, teacher, None)
    assert str(caught.value)


def test_a_defect_of_the_checker_is_no_reason_to_believe(
    parts: tuple[TeacherClaim, Opened, Teacher], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> int:
        raise OverflowError("of the test")

    monkeypatch.setattr("rlcc.certified.distance_again", broken)
    with pytest.raises(Refused, match="OverflowError"):
        distance_checked(*parts, None)
    with pytest.raises(Refused, match="not known here"):
        distance_checked(parts[0], parts[1], None, None)
