"""The distance of a student from its teacher over all states, as a claim: a bound, and a state that nearly attains it.

The bound is sound (verify.deviation.branch_and_bound over all of verify.deviation.histories). The state's own distance
is found by branch and bound over its neighbourhood, so that both ends are sure: what lies between them is the gap.
"""

from collections.abc import Callable, Mapping
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.arrays import Floats
from decision.policy.deciders import Pupil
from decision.policy.neighbourhood import Around
from decision.policy.policy import Policy
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names
from verify.deviation.branch_and_bound import ONE, FurthestSearch
from verify.deviation.histories import histories
from verify.deviation.network import Network
from verify.trusted.deviation import TeacherClaim

TOLERANCE = 2e-4
"""Of the bound above the furthest state that is met."""
STEP = 0.005
"""To which past actions are told apart in histories."""
SLACK = 1e-4
"""At least what is claimed less than was found, so that a checker finds it with coarser means."""
ROUNDINGS = 2
"""And at least so many times what float32 can make of the teacher's action, of which two programs know two bounds."""
PLACES = 1e6
"""What is told is rounded outwards to so many parts."""
MAX_PIECES = 200_000
"""Of a neighbourhood; then its ends are bounds that are not as close."""


def distance(
    pupil: Pupil,
    policy: Policy,
    weights: Mapping[str, NDArray[np.float32]],
    teacher: str,
    around: Around,
    progress: Callable[[str], None] | None = None,
) -> TeacherClaim:
    """The claim about a student and the teacher of this policy, weights and hash. InputError where there is none to be
    made: another teacher's student, a decider that is no forest, a network that is not followed."""
    student, network = _comparable(pupil, policy), Network.of(policy, weights)
    window = max(student.observation.window, network.observation.window)
    behind = histories(student, window, round(STEP * ONE), progress)
    search = FurthestSearch(student, network, behind, around)
    furthest = search.furthest(TOLERANCE, progress)
    row, action = furthest.state.row, furthest.state.action / ONE
    low, high = around.box(network.observation, row[None, : network.size].astype(np.float64))
    slack = max(SLACK, ROUNDINGS * rounding(network, low, high))
    least, most = actions_within(network, low, high)
    least, most = floor((least - slack) * PLACES) / PLACES, ceil((most + slack) * PLACES) / PLACES
    names, columns = feature_names(search.observation), behind.columns
    return TeacherClaim(
        teacher=teacher,
        share=around.share,
        action=around.action,
        signals={names[c]: [int(columns.low[c]), int(columns.high[c])] for c in columns.newest},
        step=behind.step,
        bound=ceil((furthest.bound + slack) * PLACES) / PLACES,
        reached=max(action - most, least - action, 0.0),
        witness=dict(zip(names, row.tolist(), strict=True)),
        student=action,
        around=[least, most],
    )


def rounding(network: Network, low: Floats, high: Floats) -> float:
    """Returns a bound of float32's rounding error of the teacher's action, at the corners of a box of integers [1,
    size]."""
    _, error = network.outputs(network.features(np.concatenate([low, high])))
    least, most = network.actions(np.array([-1.0, 1.0]) * float(error.max()))
    return float(most.max() - least.min())


def actions_within(network: Network, low: Floats, high: Floats) -> tuple[float, float]:
    """Not above the least and not below the greatest action over a box of integers [1, size] and what lies between
    them, by ``TOLERANCE`` / 8 at most."""
    ends = network.features(low), network.features(high)
    low, high = np.minimum(*ends), np.maximum(*ends)
    return -_greatest(network, low, high, -1.0), _greatest(network, low, high, 1.0)


def _greatest(network: Network, low: Floats, high: Floats, sign: float) -> float:
    """Returns the greatest of ``sign`` times the action over a box of features [1, size]."""

    def bound(least: Floats, most: Floats) -> Floats:
        return network.signed(-network.least(least, most, np.full(len(least), -sign)), sign)[1]

    waiting, reached = (low, high), -np.inf
    bounds, pieces, ended = bound(*waiting), 0, -np.inf
    while len(bounds):
        output, error = network.outputs((waiting[0] + waiting[1]) / 2)
        reached = max(reached, float(network.signed(sign * output - error, sign)[0].max()))
        pieces += len(bounds)
        ends = bounds <= reached + (TOLERANCE / 8 if pieces < MAX_PIECES else np.inf)
        ended = max([ended, *bounds[ends].tolist()])
        least, most = waiting[0][~ends], waiting[1][~ends]
        column = ((most - least) * network.rise).argmax(axis=1, keepdims=True)
        middle = np.take_along_axis((least + most) / 2, column, axis=1)
        below, above = most.copy(), least.copy()
        np.put_along_axis(below, column, middle, axis=1)
        np.put_along_axis(above, column, middle, axis=1)
        waiting = np.concatenate([least, above]), np.concatenate([below, most])
        bounds = bound(*waiting)
    return ended


def _comparable(pupil: Pupil, policy: Policy) -> Student:
    """InputError where the teacher sees or sets anything else than the student does."""
    if not isinstance(pupil, Student):
        raise InputError(f"{pupil.name} is a quantised network; the deviation is proved for students of trees")
    for part in ("observation", "action", "limits", "start"):
        ours, theirs = getattr(pupil, part), getattr(policy, part)
        if part == "observation":
            theirs = theirs.with_window(ours.window)
        if ours != theirs:
            raise InputError(f"the student's {part} is not the teacher's; distil it from this teacher again")
    return pupil
