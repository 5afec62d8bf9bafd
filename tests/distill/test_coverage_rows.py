"""States in which a student is too far from its teacher become rows, until a fit has none or the rounds are over."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from distill import distil
from distill.coverage_rows import ROUNDS, WEIGHT, Far, covered
from distill.dataset import Dataset
from distill.options import DistillOptions
from rlcc.deviating_states import outside
from rlcc.gate.neighbourhood import furthest
from rlcc.recipe import Neighbourhood
from verify.deviation.distance import distance

AROUND = Neighbourhood()


def far(*distances: float) -> Far:
    count = len(distances)
    return np.arange(count, dtype=np.int64)[:, None], np.full((count, 1), 0.5), np.asarray(distances, dtype=np.float64)


def fitted_in_turn(distances: Sequence[float]) -> tuple[Any, list[int]]:
    """Fits that are numbered; the n-th is so far outside in three states, one of them the furthest."""
    asked: list[int] = []

    def outside_of(fit: int) -> Far:
        asked.append(fit)
        return far(0.9 * distances[fit], distances[fit], 0.95 * distances[fit])

    rows_of: list[int] = []

    def fit(rows: Sequence[Dataset]) -> int:
        rows_of.append(len(rows))
        return len(rows_of) - 1

    one = covered(fit, outside_of, 0.15)
    assert rows_of == list(range(len(rows_of)))
    return one, asked


def test_the_first_fit_that_holds_the_limit_is_kept_with_the_rows_it_was_made_on() -> None:
    one, asked = fitted_in_turn([0.4, 0.2, 0.15, 0.1])
    assert (one.fitted, one.distance) == (2, 0.15)
    assert asked == [0, 1, 2]
    assert [len(rows) for rows in one.rows] == [3, 3]
    for rows in one.rows:
        assert rows.weight.sum() == pytest.approx(WEIGHT)
        assert (rows.y == 0.5).all()


def test_where_none_holds_it_the_one_that_is_least_outside_is_kept() -> None:
    one, asked = fitted_in_turn([0.4, 0.2, 0.3, 0.2, *[0.35] * 10])
    assert (one.fitted, one.distance, len(one.rows), len(asked)) == (1, 0.2, 1, ROUNDS)


def test_a_fit_that_is_nowhere_outside_needs_no_rows() -> None:
    one = covered(lambda rows: len(rows), lambda fit: far(), 0.15)
    assert (one.fitted, one.distance, one.rows) == (0, 0.0, [])


def test_a_student_that_is_to_stay_within_a_limit_does(
    fitted: Any, teacher: Any, runs: Any, small: DistillOptions, network: Any
) -> None:
    """The first round's fit, rows added until it holds; without the option it is further outside."""
    limit = 0.8 * furthest(fitted.student, teacher, AROUND).distance
    asked = small.model_copy(update={"rounds": 0, "max_deviation": limit, "uniform_state_samples": 0.1})
    made = distil.distil(
        teacher, runs, asked, network, seed=1, outside=lambda student: outside(student, teacher, AROUND, limit)
    )
    claim = distance(made.student, teacher.policy, teacher.weights, teacher.hash, AROUND.around)
    assert made.student.report["outside"] == claim.bound <= limit
    assert made.student.report["options"]["within"] == limit
