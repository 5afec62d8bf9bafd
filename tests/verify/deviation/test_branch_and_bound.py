"""The bound against states that are looked at one by one, and searches that are broken on purpose."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from teacher_pairs import ACTION, CONGESTION, RATIO, START, driven, policy, student, weights

from decision.ir.arrays import Integers
from decision.ir.forest import oblivious
from decision.policy.cells import act
from decision.policy.neighbourhood import Around
from decision.policy.student import Student
from teachers.inference import decide_states
from teachers.teacher import Teacher, make_teacher
from verify.deviation.branch_and_bound import Furthest, FurthestSearch, StateBoxes
from verify.deviation.histories import histories
from verify.deviation.network import Network

AROUND = Around(0.2, 0.02)
TOLERANCE = 1e-3
GRID = np.linspace(0, 1, 4)
CASES: list[tuple[Any, ...]] = [
    ((ACTION, CONGESTION), 2, 2, None),
    ((ACTION, CONGESTION), 2, 2, START),
    ((ACTION, CONGESTION), 1, 2, None),
    ((ACTION, CONGESTION), 2, 1, START),
    ((CONGESTION, ACTION, RATIO), 1, 1, None),
]


def pair(case: int, seed: int = 0) -> tuple[Student, Teacher]:
    features, window, teacher_window, start = CASES[case]
    of = policy(features, teacher_window, start=start)
    teacher = make_teacher(of, weights(of, seed + case, gain=0.7), "the test")
    return student(of, seed + case, window=window), teacher


def searched(pupil: Student, teacher: Teacher, around: Around = AROUND, tolerance: float = TOLERANCE) -> Furthest:
    network = Network.of(teacher.policy, teacher.weights)
    window = max(pupil.observation.window, network.observation.window)
    return FurthestSearch(pupil, network, histories(pupil, window, 328), around).furthest(tolerance)


def outside(pupil: Student, teacher: Teacher, rows: Integers, around: Around = AROUND) -> NDArray[np.float64]:
    """How far outside the student is in states [N], the teacher as it is run on a grid of each neighbourhood."""
    observation = teacher.policy.observation
    actions = act(pupil, rows[:, : pupil.observation.size]) / 2**16
    low, high = around.box(observation, rows[:, : observation.size].astype(np.float64))
    grid = np.asarray(list(product(GRID, repeat=observation.size)))
    places = (low[:, None] + (high - low)[:, None] * grid).reshape(-1, observation.size)
    width = len(observation.features)
    seen = np.empty((len(places), observation.window, width))
    for f, feature in enumerate(observation.features):
        seen[:, :, f] = feature.float_of(places[:, f::width])
    told = decide_states(teacher, seen, 0)[:, 0].reshape(len(rows), -1) - 1.0
    return np.maximum(np.maximum(actions - told.max(axis=1), told.min(axis=1) - actions), 0.0)


@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("around", [AROUND, Around(0.0, 0.0), Around(0.5, 0.1)])
def test_no_state_of_any_network_is_further_out_and_the_one_that_is_told_nearly_is(case: int, around: Around) -> None:
    pupil, teacher = pair(case)
    bound = searched(pupil, teacher, around)
    window = max(pupil.observation.window, teacher.policy.observation.window)
    states = np.unique(driven(pupil, window, 3), axis=0)
    states = states[np.random.default_rng(1).permutation(len(states))[:1500]]
    # A grid misses some of a neighbourhood's range, which makes a distance greater.
    assert outside(pupil, teacher, states, around).max() <= bound.bound + 0.01
    (there,) = outside(pupil, teacher, bound.state.row[None], around)
    assert there >= bound.state.distance - 1e-4
    assert bound.state.distance <= bound.bound <= bound.state.distance + TOLERANCE
    assert bound.state.action == act(pupil, bound.state.row[None, : pupil.observation.size])[0]


def window_tree(pupil: Student, feature: str, at: int, width: int = 40, leaf: int = 24_000) -> Student:
    """One more tree, which fires in ``width`` values of a feature."""
    c = pupil.forest.features.index(feature)
    tree = oblivious(((c, at), (c, at + width)), (0, leaf, 0, 0))
    return replace(pupil, forest=replace(pupil.forest, trees=(*pupil.forest.trees, tree)))


@pytest.mark.parametrize("feature", ["congestion_q20", "congestion_q20_1"])
@pytest.mark.parametrize("at", [400_000, 2**24 - 60, 2**25])
def test_a_backdoor_of_forty_values_is_found_and_its_state_is_told(feature: str, at: int) -> None:
    """It does the opposite of what the teacher does there; without it the student does nothing anywhere."""
    _, teacher = pair(0)
    drawn = student(teacher.policy, 0)
    quiet = replace(drawn, forest=replace(drawn.forest, trees=(), bias=(0,)))
    honest = searched(quiet, teacher)
    column = quiet.forest.features.index(feature)
    steady = np.array([[[1.0, teacher.policy.observation.features[1].float_of(np.array(float(at)))]] * 2])
    leaf = -24_000 if decide_states(teacher, steady, 0)[0, 0] > 1.0 else 24_000
    found = searched(window_tree(quiet, feature, at, leaf=leaf), teacher)
    assert found.bound > honest.bound + 0.02
    assert at < found.state.row[column] <= at + 40


@pytest.mark.parametrize("seed", [7, 8])
def test_a_search_that_forgets_something_is_caught_by_a_state(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each break makes a bound that the state that is told is beyond."""
    pupil, teacher = pair(0, seed)
    right = searched(pupil, teacher)
    everything, least = FurthestSearch.all, Network.least

    def one_side(self: FurthestSearch) -> StateBoxes:
        boxes = everything(self)
        return boxes.only(boxes.above != right.state.above)

    def around_any(self: FurthestSearch, boxes: StateBoxes) -> Any:
        """All that is around one of a box's states, not around each."""
        ends = (part[:, : self.network.size].astype(np.float64) for part in (boxes.low, boxes.high))
        (low, _), (_, high) = (self.around.box(self.network.observation, end) for end in ends)
        return low, high

    def greatest(self: Network, low: Any, high: Any, sign: Any) -> Any:
        return -least(self, low, high, -sign)

    for of, name, instead in (
        (FurthestSearch, "all", one_side),
        (FurthestSearch, "_common", around_any),
        (Network, "least", greatest),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(of, name, instead)
            assert searched(pupil, teacher).bound < right.state.distance - 0.005, name
