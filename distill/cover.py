"""States in which a student is too far from its teacher become rows, until there are none or it gains no more.

Rollouts hold the states of some networks; what trees do elsewhere nobody has told them. Whoever calls knows how to find
the states of a student that are furthest outside its teacher's actions (rlcc.outside); they are labelled by the
teacher, weigh little, and the trees are fitted anew. A fit that mends one state may spoil another: rows are kept, so
that rounds come to an end.
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
"""Of the states of one round together, in runs."""
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
