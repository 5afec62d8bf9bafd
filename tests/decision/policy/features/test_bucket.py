"""Doublings of a size: a threshold that no signal reaches is told in few words, whatever a file names."""

from typing import Any

import pytest

from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.policy.policy import Observation

FEATURE = {"kind": "bucket", "signal": "queue_bytes", "first": 5_000, "count": 12}


def observed() -> Any:
    table = {"interface": QUEUE_MARKING.name, "window": 1, "params": {"capacity_bytes": 625_000}, "features": [FEATURE]}
    (bucket,) = Observation.model_validate(table).features
    return bucket


def test_thresholds_are_told_in_bytes_as_far_as_there_are_doublings() -> None:
    bucket = observed()
    assert [bucket.physical(t) for t in (-1, 0, 11)] == [f"queue_bytes > {n}" for n in (5_000, 5_000, 5_000 << 11)]


@pytest.mark.parametrize("threshold", [12, 20_000, 2**31])
def test_no_threshold_makes_a_number_without_end(threshold: int) -> None:
    """It was 5000 << threshold: a traceback at 20,000, all memory at 2^31."""
    bucket = observed()
    assert bucket.physical(threshold) == f"{bucket.name} > {threshold}"
    assert len(bucket.value(threshold)) < 60
