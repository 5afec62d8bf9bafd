"""Coverage rows: states in which a student deviates too far from its teacher, added until none is left.

Trees are unconstrained where no rollout went. The caller finds the states with the worst deviation
(rlcc.deviating_states). The teacher labels them, they get a small weight, and the trees are fitted again. A fit that
mends one state may spoil another: rows accumulate, so that the rounds end.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from decision.policy.student import Student
from distill.dataset import Dataset

ROUNDS = 8
WEIGHT = 0.02
"""Total weight of the rows of one round, in runs."""
Far = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]
"""States [N, features] of integers, the teacher's labels [N, sums], how far outside the student's action is [N]."""
Outside = Callable[[Student], Far]
"""The states in which a student is far outside its teacher's actions, the furthest among them."""


T = TypeVar("T")


@dataclass(frozen=True)
class Covered(Generic[T]):
    """A fit, the rows besides that it was made on, and how far outside it is at most."""

    fitted: T
    rows: list[Dataset]
    distance: float


def covered(fit: Callable[[Sequence[Dataset]], T], outside: Callable[[T], Far], limit: float) -> Covered[T]:
    """Fits, with rows besides, until one is nowhere further outside than ``limit``, ``ROUNDS`` at most; then the one
    that is the least outside, of equals the first."""
    rows: list[Dataset] = []
    tried: list[Covered[T]] = []
    while len(tried) < ROUNDS:
        fitted = fit(rows)
        states, labels, far = outside(fitted)
        tried.append(Covered(fitted, list(rows), float(far.max(initial=0.0))))
        if tried[-1].distance <= limit:
            return tried[-1]
        rows.append(Dataset(states, labels, np.full(len(states), WEIGHT / len(states))))
    return min(tried, key=lambda one: one.distance)
