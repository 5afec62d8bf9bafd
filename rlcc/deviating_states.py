"""States in which a student is outside its teacher's action range, for distillation (distill.coverage_rows).

First the states of the cells of its forest (rlcc.gate.neighbourhood): many at once. If none of them is too far, the
proof over all states decides, which misses none: its state, with its neighbourhood. If nothing can be proved for a
teacher, only the cells are searched.
"""

from itertools import product

import numpy as np

from decision.artefact.errors import InputError
from decision.ir.formats import FEATURE_LIMIT
from decision.policy.cells import states
from decision.policy.features import PreviousAction
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names
from distill.coverage_rows import Far
from rlcc.gate.neighbourhood import extreme, teacher_actions
from rlcc.recipe import Neighbourhood
from teachers.teacher import Teacher
from verify.deviation.distance import distance

FROM = 2 / 3
"""Of the limit: states of cells that are further outside are told, so that no fit ends just beyond it."""


def outside(student: Student, teacher: Teacher, options: Neighbourhood, limit: float) -> Far:
    """The states that are far outside, the furthest among them, with the teacher's labels there."""
    cells = _in_cells(student, teacher, options, FROM * limit)
    return cells if cells[2].max(initial=0.0) > limit else _in_all_states(student, teacher, options, cells)


def _in_cells(student: Student, teacher: Teacher, options: Neighbourhood, least: float) -> Far:
    cells, observation = states(student, options.seed), student.observation
    rows = cells.rows.astype(np.float64)
    theirs = teacher_actions(teacher, observation, rows, options.warm_up)
    direct = cells.actions - theirs
    near = np.flatnonzero(np.abs(direct) > least)  # in the state itself the distance is as great or greater
    sign = np.where(direct[near] > 0, 1, -1)
    far = sign * (cells.actions[near] - extreme(teacher, observation, rows[near], sign, options))
    kept = far > least
    return cells.rows[near[kept]], theirs[near[kept], None], far[kept]


def _in_all_states(student: Student, teacher: Teacher, options: Neighbourhood, cells: Far) -> Far:
    try:
        claim = distance(student, teacher.policy, teacher.weights, teacher.hash, options.around)
    except InputError:
        return cells
    observation = student.observation
    row = np.asarray([[claim.witness[name] for name in feature_names(observation)]])
    low, high = options.around.box(observation, row.astype(np.float64))
    width = len(observation.features)
    axes = [
        [x] if isinstance(observation.features[c % width], PreviousAction) else [x, int(low[0, c]), int(high[0, c])]
        for c, x in enumerate(row[0].tolist())
    ]
    rows = np.clip(np.asarray(list(product(*axes)), dtype=np.int64), 1 - FEATURE_LIMIT, FEATURE_LIMIT - 1)
    labels = teacher_actions(teacher, observation, rows.astype(np.float64), options.warm_up)
    return rows, labels[:, None], np.full(len(rows), claim.bound)
