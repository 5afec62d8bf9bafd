"""The student's actions beside the range of its teacher's around a state: a backdoor that no network meets is found.

Slow: the honest student; the fast suite has the backdoors.
"""

import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decision.ir.forest import oblivious
from decision.policy.cells import states
from decision.policy.features import Rate
from decision.policy.student import NAME, Student, load_student
from distill import distil, rollout
from rlcc.gate import checks
from rlcc.gate.neighbourhood import extreme, furthest, teacher_actions
from rlcc.recipe import Neighbourhood, load_recipe, teacher_path
from teachers.load import load
from teachers.teacher import Teacher

ROOT = Path(__file__).resolve().parents[3]
RECIPES = ("rl-cc", "rl-cc-lstm", "pcc-rl-lstm")
DEFAULT = Neighbourhood()
UP = 24_000
"""What a tree adds, Q16: enough to turn the greatest cut of a rate into the greatest raise."""


@pytest.fixture(scope="module")
def teacher(good: Path) -> Teacher:
    return load(good / "teacher")


@pytest.fixture(scope="module")
def student(good: Path) -> Student:
    return load_student(good / "student" / NAME)


def with_tree(student: Student, *splits: tuple[str, int], leaf: int = UP) -> Student:
    """One more tree, which adds ``leaf`` where all features are above the thresholds, the last split below its own."""
    e = student.forest
    made = tuple((e.features.index(name), threshold) for name, threshold in splits)
    leaves = [0] * (1 << len(made))
    leaves[(1 << (len(made) - 1)) - 1] = leaf
    return replace(student, forest=replace(e, trees=(*e.trees, oblivious(made, tuple(leaves)))))


def window(name: str, at: int, width: int = 40) -> tuple[tuple[str, int], tuple[str, int]]:
    return (name, at), (name, at + width)


CONGESTION = "congestion_q20"
BACKDOORS = {
    "an interval of the congestion": window(CONGESTION, 9_000_000),
    "one value of the congestion": window(CONGESTION, 9_000_000, 1),
    "an interval above what rollouts can hold": window(CONGESTION, 2**30),
    "an interval of the congestion a decision ago, which is high now": (
        (CONGESTION, 9_000_000),
        *window(CONGESTION + "_1", 3_000_000),
    ),
    "intervals of the congestion now and a decision ago": (
        *window(CONGESTION, 9_000_000),
        *window(CONGESTION + "_1", 7_000_000),
    ),
    "a past action, when the congestion is high": ((CONGESTION, 9_000_000), *window("action_2", -5_100, 300)),
}


@pytest.mark.slow
def test_the_honest_student_stays_inside_the_limit(student: Student, teacher: Teacher) -> None:
    found = furthest(student, teacher, DEFAULT)
    assert checks.neighbourhood(found, DEFAULT).passed
    assert 0 < found.distance < found.direct
    assert found.visited == found.cells == 6
    assert found.closed


@pytest.mark.parametrize("name", BACKDOORS)
def test_a_backdoor_is_found_however_narrow(student: Student, teacher: Teacher, name: str) -> None:
    found = furthest(with_tree(student, *BACKDOORS[name]), teacher, DEFAULT)
    check = checks.neighbourhood(found, DEFAULT)
    assert not check.passed
    for feature, threshold in BACKDOORS[name][:1]:
        value = int(re.search(rf"\b{feature} = (-?\d+) ", check.detail)[1])  # type: ignore[index]
        assert value > threshold, "the state that is named is one where the tree fires"


def test_what_never_happens_is_no_finding(student: Student, teacher: Teacher) -> None:
    """Past actions are the student's own: a tree that waits for one that it never takes changes nothing."""
    e = student.forest
    least, most = e.range(0)
    for name in ("action_1", "action_2"):
        for at in (least - 50, most + 10):
            never = with_tree(student, *window(name, at))
            assert furthest(never, teacher, DEFAULT).distance == pytest.approx(
                furthest(student, teacher, DEFAULT).distance, abs=1e-3
            )


def test_a_backdoor_of_less_than_the_limit_is_not_found(student: Student, teacher: Teacher) -> None:
    """What the page says of PASS: what stays inside the limit passes."""
    small = with_tree(student, *window(CONGESTION, 9_000_000), leaf=6_000)
    assert checks.neighbourhood(furthest(small, teacher, DEFAULT), DEFAULT).passed


def test_the_greatest_distance_is_that_of_all_states_one_by_one(student: Student, teacher: Teacher) -> None:
    for made in (student, with_tree(student, *BACKDOORS["an interval of the congestion"])):
        every = states(made, DEFAULT.seed)
        rows, observation = every.rows.astype(float), made.observation
        ends = [extreme(teacher, observation, rows, np.full(len(rows), s), DEFAULT) for s in (-1, 1)]
        distance = np.maximum(np.maximum(ends[0] - every.actions, every.actions - ends[1]), 0)
        assert furthest(made, teacher, DEFAULT).distance == pytest.approx(distance.max())


def test_no_states_have_no_extremes(student: Student, teacher: Teacher) -> None:
    """A student may have no cell near its limit."""
    rows = np.zeros((0, teacher.policy.observation.size))
    assert extreme(teacher, teacher.policy.observation, rows, np.zeros(0, dtype=np.int64), DEFAULT).shape == (0,)


@pytest.mark.slow_except("rl-cc-mlp")
@pytest.mark.parametrize("name", ["rl-cc-mlp", "rl-cc-lstm-small", "pcc-rl-lstm"])
def test_a_finer_grid_finds_no_other_range(student: Student, name: str) -> None:
    """All of 7^4 places of each neighbourhood against the coordinate search, of states of every kind."""
    teacher = load(ROOT / "fixtures/teachers" / name)
    observation = teacher.policy.observation.with_window(2)
    assert observation.features == student.observation.features
    rows = states(student, 1).rows.astype(float)
    rows = rows[np.random.default_rng(2).choice(len(rows), 40, replace=False)]
    low, high = DEFAULT.around.box(observation, rows)
    grid = np.asarray(list(product(np.linspace(0, 1, 7), repeat=4)))
    every = (low[:, None] + (high - low)[:, None] * grid).reshape(-1, 4)
    fine = teacher_actions(teacher, observation, every, DEFAULT.warm_up).reshape(len(rows), -1)
    least, most = (extreme(teacher, observation, rows, np.full(40, s), DEFAULT) for s in (-1, 1))
    assert np.abs(least - fine.min(axis=1)).max() < 0.002
    assert np.abs(most - fine.max(axis=1)).max() < 0.002


def test_exactly_the_limit_passes_and_what_is_no_number_does_not(student: Student, teacher: Teacher) -> None:
    found = furthest(student, teacher, DEFAULT)
    for limit, passed in ((found.distance, True), (np.nextafter(found.distance, 0), False)):
        assert checks.neighbourhood(found, DEFAULT.model_copy(update={"limit": limit})).passed is passed
    assert not checks.neighbourhood(replace(found, distance=float("nan")), DEFAULT).passed


def test_a_wider_neighbourhood_is_further_inside(student: Student, teacher: Teacher) -> None:
    def distance(**changes: float) -> float:
        return furthest(student, teacher, DEFAULT.model_copy(update=changes)).distance

    assert distance(share=0.0, action=0.0) > distance() > distance(share=0.4)


@pytest.mark.parametrize("where", [-np.inf, 1e6])
def test_a_teacher_that_says_nothing_there_passes_nobody(
    where: float, student: Student, teacher: Teacher, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(*given: Any) -> Any:
        return np.where(given[2][:, 1] > where, np.nan, teacher_actions(*given))

    monkeypatch.setattr("rlcc.gate.neighbourhood.teacher_actions", silent)
    assert not checks.neighbourhood(furthest(student, teacher, DEFAULT), DEFAULT).passed


def test_a_student_that_looks_at_more_than_its_teacher_is_refused(student: Student, teacher: Teacher) -> None:
    """A tree on the rate would be no deviation in any state that the teacher can tell apart."""
    policy = teacher.policy
    assert checks.same_eyes(student, policy).passed
    longer = student.with_parts(observation=student.observation.with_window(4))
    assert checks.same_eyes(longer, policy).passed
    rate = {"features": [*student.observation.features, Rate(kind="rate")]}
    beta = {
        "features": [
            f.model_copy(update={"beta": 1.0} if hasattr(f, "beta") else {}) for f in policy.observation.features
        ]
    }
    others = {
        "observation": [
            student.with_parts(observation=student.observation.model_copy(update=change))
            for change in (rate, beta, {"base_rtt": 4096})
        ],
        "limits": [student.with_parts(limits=student.limits.model_copy(update={"rate_min": 2000}))],
        "action map": [student.with_parts(action=policy.action.model_copy(update={"step": 0.3}))],
    }
    for name, students in others.items():
        for other in students:
            check = checks.same_eyes(other, policy)
            assert not check.passed
            assert check.value.startswith(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_the_recipes_students_are_inside_and_outside_with_a_backdoor(name: str) -> None:
    path = ROOT / f"recipes/{name}.toml"
    recipe = load_recipe(path)
    teacher = load(teacher_path(recipe, path))
    runs = rollout.collect(rollout.teacher_policy(teacher), recipe.rollout)
    student = distil.distil(teacher, runs, recipe.distill, recipe.rollout, seed=recipe.seed).student
    options = recipe.gate.neighbourhood
    assert checks.neighbourhood(furthest(student, teacher, options), options).passed
    for at in (3_000_000, 12_000_000):
        backdoor = with_tree(student, *window(CONGESTION, at))
        assert not checks.neighbourhood(furthest(backdoor, teacher, options), options).passed
