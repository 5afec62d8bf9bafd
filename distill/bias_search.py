"""Bias search: the offset of a student's bias with which its network is closest to its teacher's.

Flows settle where the mean action is 0. A small bias in every action shifts the equilibrium latency: 15 units of 2^-16
are a per cent of PCC-RL's. A loss on actions does not detect it; the network does. The offset costs no cycle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf

from catboost import CatBoostRegressor

from decision.artefact.processors import usable_cores
from decision.policy.student import Student
from distill.boost import read_back
from distill.closeness import Metrics, Place, distances
from distill.driving import Networks, compared
from distill.racing import Distances, Standing, race, worst_first
from netsim.policies import PolicySpec, interpreted
from netsim.tolerance import Tolerance


def shifted(student: Student, units: int) -> Student:
    """The student with its bias (of a single sum) so many units of its leaves higher."""
    (bias,) = student.forest.bias
    return replace(student, forest=replace(student.forest, bias=(bias + units,)))


def shifted_model(model: CatBoostRegressor, units: int, leaf_bits: int) -> CatBoostRegressor:
    """The same of the CatBoost model that it came from."""
    scale, bias = model.get_scale_and_bias()
    model.set_scale_and_bias(scale, bias + units / 2**leaf_bits)
    return read_back(model)


def best_offset(
    student: Student,
    offsets: Sequence[int],
    original: PolicySpec,
    networks: Networks,
    places: Sequence[Place],
    tolerance: Tolerance,
    *,
    measured: Mapping[Place, Metrics] | None = None,
    reference: Mapping[Place, Metrics] | None = None,
) -> int:
    """Returns the offset, or 0, that brings the network closest to the teacher's; the earliest of equals.

    Offsets race (distill.racing). ``measured`` and ``reference``: metrics of the student and its teacher that are
    there already.
    """
    known = dict(reference or {})
    missing = [place for place in places if place not in known]
    known |= compared(original, networks.phase("bias search, teacher"), missing)

    def standing_of(units: int, limit: float, last: Standing | None) -> Standing:
        policy, here = interpreted(shifted(student, units)), networks.phase(f"bias search, offset {units}")
        there = dict(measured or {}) if units == 0 else {}

        def apart(part: Sequence[Place]) -> Distances:
            metrics = there | compared(policy, here, [place for place in part if place not in there])
            return distances(metrics, {place: known[place] for place in part}, tolerance)

        return race(worst_first(places, last), limit, usable_cores(), apart)

    best, closest, standing = 0, inf, None
    for units in (0, *offsets):
        standing = standing_of(units, closest, standing)
        if standing.worst.of_tolerance < closest:
            best, closest = units, standing.worst.of_tolerance
    return best
