"""How far traffic has left what a student was made on, by the cells of its forest (decision.policy.visits).

A student is made on several networks; traffic like one of them alone is nothing new, though its shares differ from
those of all together. There are therefore two figures, for the cells and for each feature's intervals:

apart    half the sum of the differences of the shares (total variation): 0 the same, 1 nothing in common
beyond   the part of the decisions that none of the networks it was made on explains, whichever the traffic is like:
         what exceeds ``PARTS`` times the share there. 0 for any mix of networks of which each was 1 / ``PARTS`` of all
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from decision.artefact.errors import InputError
from decision.policy.student import Student
from decision.policy.visits import Intervals, Visits, counted, joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from distill.rollout import Rollout
    from teachers.teacher import Teacher

PARTS = 8
MIN_DECISIONS = 1000
"""Decisions that a figure is made of."""


@dataclass(frozen=True)
class FeatureDrift:
    """``new``: the interval where most of ``beyond`` lies: above the first, at most the second; None: without end."""

    name: str
    apart: float
    beyond: float
    new: tuple[int | None, int | None] | None


@dataclass(frozen=True)
class Drift:
    """Drift of the cells. ``unseen``: the part of the decisions in cells that were never met. ``features``: those that
    both count, the furthest beyond first."""

    decisions: int
    apart: float
    beyond: float
    unseen: float
    features: tuple[FeatureDrift, ...]


def seen_in(hash: str, student: Student, runs: Iterable[Rollout]) -> Visits:
    """Returns the states in which the student of this hash decided, of decisions whose whole history is on record."""
    each = []
    for run in runs:
        rows, complete = run.trajectories.integer_rows(student.observation, student.params())
        if student.trigger is not None:
            saved = student.trigger.saved * len(student.observation.features)
            rows, complete = run.trajectories.with_saved(rows, complete, saved)
        each.append(counted(hash, student.forest, rows[complete & run.trajectories.of_policy()]))
    return joined(each)


def error_in(runs: list[Rollout], student: Student, teacher: Teacher, seed: int) -> float:
    """Returns how far the student's actions are from its teacher's in the states of these runs: of a choice the share
    of decisions that differ, else the root mean square of the action. ``seed`` draws 100,000 rows where there are more.
    """
    from distill.dataset import join, label

    rows = join(label(runs, teacher, student.observation, rows=100_000, seed=seed))
    sums = student.forest.evaluate(rows.x) / 2**student.forest.leaf_bits
    return student.action.loss(sums, rows.y, rows.weight)


def drift(now: Visits, made_on: Visits) -> Drift:
    """InputError where they are of two students, or one has too few decisions to tell anything."""
    if now.student != made_on.student:
        raise InputError(
            f"visits of student {now.student[:12]} beside what {made_on.student[:12]} was made on; count both of one"
        )
    for visits in (now, made_on):
        if visits.decisions < MIN_DECISIONS:
            raise InputError(f"visits of {visits.decisions} decisions say nothing; count {MIN_DECISIONS} at least")
    names = sorted(now.cells.keys() | made_on.cells.keys())
    q, p = (np.array([v.cells.get(name, 0) for name in names]) / v.decisions for v in (now, made_on))
    features = [
        _feature(name, now.features[name], before)
        for name, before in made_on.features.items()
        if name in now.features and now.features[name].borders == before.borders
    ]
    features.sort(key=lambda one: (-one.beyond, -one.apart))
    return Drift(now.decisions, _apart(q, p), float(_beyond(q, p).sum()), float(q[p == 0].sum()), tuple(features))


def _apart(q: NDArray[np.float64], p: NDArray[np.float64]) -> float:
    return float(np.abs(p - q).sum()) / 2


def _beyond(q: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(q - PARTS * p, 0.0)


def _feature(name: str, now: Intervals, made_on: Intervals) -> FeatureDrift:
    q, p = now.shares(), made_on.shares()
    beyond = _beyond(q, p)
    ends: list[int | None] = [None, *now.borders, None]
    most = int(beyond.argmax())
    return FeatureDrift(
        name, _apart(q, p), float(beyond.sum()), (ends[most], ends[most + 1]) if beyond[most] > 0 else None
    )


def interval(new: tuple[int | None, int | None]) -> str:
    """In words: ``above 811``, ``812 to 3000``, ``3000 at most``."""
    low, high = new
    if low is None:
        return f"{high} at most"
    return f"above {low}" if high is None else f"{low + 1} to {high}"
