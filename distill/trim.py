"""One integer of a student, moved until its network is closest to its teacher's: the bias.

Flows settle where the mean action is nothing. A student whose action there is a hair above its teacher's, everywhere,
settles at another latency in every network: 15 units of 2^-16 are a per cent of PCC-RL's. No fit of actions sees
that; the network does. The move costs no cycle.
"""

from collections.abc import Sequence
from dataclasses import replace

from catboost import CatBoostRegressor

from decision.policy.student import Student
from distill.boost import read_back
from distill.closeness import distance
from distill.driving import Networks, compared
from netsim.policies import PolicySpec, interpreted
from netsim.tolerance import Tolerance


def moved(student: Student, units: int) -> Student:
    """The student with its bias (of a single sum) so many units of its leaves higher."""
    (bias,) = student.forest.bias
    return replace(student, forest=replace(student.forest, bias=(bias + units,)))


def moved_model(model: CatBoostRegressor, units: int, leaf_bits: int) -> CatBoostRegressor:
    """The same of the CatBoost model that it came from."""
    scale, bias = model.get_scale_and_bias()
    model.set_scale_and_bias(scale, bias + units / 2**leaf_bits)
    return read_back(model)


def best_move(
    student: Student,
    moves: Sequence[int],
    original: PolicySpec,
    networks: Networks,
    seeds: Sequence[int],
    tolerance: Tolerance,
) -> int:
    """Of the moves, and none, the one that brings the network closest to the teacher's; of equals the earliest."""
    tried = [0, *moves]
    students = [moved(student, units) for units in tried]
    policies = [interpreted(one) for one in students]
    beside, *each = compared([original, *policies], networks, seeds)
    apart = [distance(one.metrics, beside.metrics, tolerance).of_tolerance for one in each]
    return tried[apart.index(min(apart))]
