"""Confidence intervals over seeds."""

import math

import numpy as np
import pytest

from decision.artefact.errors import InputError
from netsim.splitmix import uniform
from netsim.statistics import confidence


@pytest.mark.parametrize(
    ("values", "level", "student"),
    [([1, 3], 0.95, 12.706), ([1, 2, 3], 0.99, 9.925), ([4, 1, 7, 2, 9], 0.99, 4.604), (range(31), 0.95, 2.0423)],
)
def test_students_table(values: list[float], level: float, student: float) -> None:
    """t x s / sqrt(n), with t from a printed table."""
    spread = math.sqrt(sum((v - sum(values) / len(values)) ** 2 for v in values) / (len(values) - 1))
    assert confidence(values, level) == pytest.approx(student * spread / math.sqrt(len(values)), rel=1e-4)


def test_the_mean_lies_within_as_often_as_promised() -> None:
    """Sums of 12 uniform numbers are near enough to normal; 4000 samples of 5, within five standard deviations."""
    samples = uniform(4000 * 5 * 12, 1, 1).reshape(4000, 5, 12).sum(axis=2) - 6
    within = sum(abs(sample.mean()) < confidence(sample, 0.9) for sample in samples)
    assert abs(within - 3600) < 5 * math.sqrt(4000 * 0.9 * 0.1)


def test_one_run_says_nothing_of_its_error() -> None:
    assert math.isnan(confidence([3.0]))
    assert math.isnan(confidence([]))
    assert confidence(np.full(4, 2.5)) == 0


@pytest.mark.parametrize("level", [0, 1, 99])
def test_levels_that_are_none(level: float) -> None:
    with pytest.raises(InputError, match=f"confidence level .*{level}"):
        confidence([1, 2], level)
