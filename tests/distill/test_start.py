"""A teacher with a start: what its phases decide is no lesson for a student."""

from pathlib import Path

from distill.dataset import label
from distill.options import RolloutOptions
from distill.rollout import collect, teacher_policy
from teachers.load import load

ROBUST = Path(__file__).resolve().parents[2] / "fixtures/teachers/robust"


def test_a_student_is_fitted_to_the_steps_that_the_policy_made() -> None:
    teacher = load(ROBUST)
    options = RolloutOptions.model_validate({"scenarios": ["many-to-one:8"], "seeds": [1], "duration": "2 ms"})
    runs = collect(teacher_policy(teacher), options)
    own = runs[0].trajectories.of_policy()
    assert 0 < own.sum() < len(own)
    (part,) = label(runs, teacher, teacher.policy.observation, rows=10**6, seed=1)
    assert len(part) == own.sum()
