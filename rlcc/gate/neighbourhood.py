"""How far a student's actions lie outside its teacher's, over all states that it can run into.

Rollouts hold the states of some networks; a student can do anything in those that they do not hold. Here it is asked in
every cell of its forest (decision.policy.cells), so that an interval of thresholds is looked at however narrow it is.
Compared is not with the teacher's action in the very state: where that is steep, a step of a tree is far off it beside
the step and yet right a little further on. The distance is to the range of the teacher's actions over a neighbourhood
of the state.

    distance(state) = max(0, student(state) - max teacher, min teacher - student(state))   over the neighbourhood

The greatest distance is found exactly, without the range of every state: in the state itself the distance is as great
or greater, so states are taken in the order of that one, until none is left that could be further out than what was
found. The range is found by coordinate search; what it misses of the range makes a distance greater, never smaller.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decision.ir.arrays import Floats
from decision.policy.cells import States, states
from decision.policy.policy import Observation
from decision.policy.student import Student
from decision.policy.tree_decision import feature_name
from rlcc.recipe import Neighbourhood
from teachers.inference import decide_states
from teachers.teacher import Teacher

BATCH = 256
STEPS = np.linspace(0.0, 1.0, 5)
"""Places that are tried along each feature, of its neighbourhood."""
SWEEPS = 3
"""Over all features; a further one changes nothing that can be seen (tests/rlcc/gate/test_neighbourhood.py)."""
STARTS = (0.0, 0.5, 1.0)
"""Where all features begin: together at the low end, in the middle, at the high end."""


@dataclass(frozen=True)
class Outside:
    """State in which the student is furthest outside. ``distance``, ``action``, ``teacher`` (least, greatest) are
    multipliers of the rate - 1; ``state`` says the features in physical units; ``direct`` is the greatest difference of
    both in one and the same state. Counts as in decision.policy.cells.States; ``compared`` states whose ranges were
    needed."""

    distance: float
    action: float
    teacher: tuple[float, float]
    state: str
    direct: float
    states: int
    compared: int
    cells: int
    visited: int
    missed: int
    closed: bool


def furthest(student: Student, teacher: Teacher, options: Neighbourhood) -> Outside:
    """The state of all cells where the student is furthest outside its teacher's neighbourhood. Both have the same
    features, over windows of their own."""
    cells = states(student, options.seed)
    observation = student.observation
    actions, rows = cells.actions, cells.rows.astype(np.float64)
    direct = actions - teacher_actions(teacher, observation, rows, options.warm_up)
    order = np.argsort(-np.abs(direct), kind="stable")
    distance, at, compared = -1.0, int(order[0]), 0
    unknown = np.flatnonzero(~np.isfinite(direct))
    if len(unknown):  # a teacher that says nothing there is no reason to pass
        return _told(cells, observation, teacher, options, int(unknown[0]), float("nan"), float("nan"), compared)
    for i in range(0, len(order), BATCH):
        batch = order[i : i + BATCH]
        batch = batch[np.abs(direct[batch]) > distance]
        if not len(batch):
            break
        compared += len(batch)
        above = direct[batch] > 0
        end = extreme(teacher, observation, rows[batch], np.where(above, 1, -1), options)
        off = np.maximum(np.where(above, actions[batch] - end, end - actions[batch]), 0.0)
        if not np.isfinite(off).all():
            worst = int(batch[np.flatnonzero(~np.isfinite(off))[0]])
            return _told(cells, observation, teacher, options, worst, float("nan"), float("nan"), compared)
        if off.max() > distance:
            distance, at = float(off.max()), int(batch[off.argmax()])
    return _told(cells, observation, teacher, options, at, distance, float(np.abs(direct).max()), compared)


def teacher_actions(teacher: Teacher, observation: Observation, rows: Floats, warm_up: int) -> Floats:
    """The teacher's actions (multiplier - 1) [N] in states [N, window * features] of integers, or of what lies between
    them."""
    width = len(observation.features)
    seen = np.empty((len(rows), observation.window, width))
    for f, feature in enumerate(observation.features):
        seen[:, :, f] = feature.float_of(rows[:, f::width])
    return decide_states(teacher, seen, warm_up)[:, 0] - 1.0


def extreme(
    teacher: Teacher, observation: Observation, rows: Floats, sign: NDArray[np.int64], options: Neighbourhood
) -> Floats:
    """The teacher's greatest action (``sign`` 1) or least (-1) over the neighbourhoods of states [N, columns]."""
    low, high = options.around.box(observation, rows)
    best = np.full(len(rows), -np.inf)
    for start in STARTS:
        place = np.full_like(rows, start)
        reached = np.full(len(rows), -np.inf)
        for _ in range(SWEEPS):
            for column in range(rows.shape[1]):
                tried = np.repeat(place[:, None, :], len(STEPS), axis=1)
                tried[:, :, column] = STEPS
                at = low[:, None, :] + (high - low)[:, None, :] * tried
                flat = at.reshape(-1, rows.shape[1])
                value = teacher_actions(teacher, observation, flat, options.warm_up).reshape(len(rows), len(STEPS))
                value *= sign[:, None]
                which = value.argmax(axis=1)
                place[:, column] = STEPS[which]
                reached = np.maximum(reached, value.max(axis=1))
        best = np.maximum(best, reached)
    return best * sign


def _told(
    cells: States,
    observation: Observation,
    teacher: Teacher,
    options: Neighbourhood,
    at: int,
    distance: float,
    direct: float,
    compared: int,
) -> Outside:
    row = cells.rows[at : at + 1].astype(np.float64)
    both = extreme(teacher, observation, np.repeat(row, 2, axis=0), np.array([-1, 1]), options)
    width = len(observation.features)
    said = []
    for column, integer in enumerate(cells.rows[at].tolist()):
        feature, lag = observation.features[column % width], column // width
        said.append(f"{feature_name(feature, lag)} = {integer} ({feature.value(integer)})")
    return Outside(
        distance=distance,
        action=float(cells.actions[at]),
        teacher=(float(both[0]), float(both[1])),
        state=", ".join(said),
        direct=direct,
        states=len(cells.rows),
        compared=compared,
        cells=cells.cells,
        visited=cells.visited,
        missed=cells.missed,
        closed=cells.closed,
    )
