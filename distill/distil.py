"""`rlcc distill`: a teacher and its rollouts become a student, by DAgger.

Round 0 fits the teacher's own trajectories. In each further round the student drives - the very integer program that
becomes firmware, interpreted in the simulator - the teacher labels the states that the student ran into, and the fit
is made anew on all that was seen (Ross et al., 2011). An LSTM teacher keeps its hidden state along those trajectories.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from catboost import CatBoostRegressor

from distill import boost, quantise, rollout
from distill.dataset import Dataset, join, label
from distill.options import DistillOptions, RolloutOptions
from distill.rollout import Run
from netsim.policies import program
from spec.decision import feature_names
from spec.errors import InputError
from spec.manifest import writing
from spec.policy import Observation
from spec.student import Student
from teachers.teacher import Teacher

KIND = "student"
MODEL = "student.cbm"


@dataclass(frozen=True)
class Fitted:
    """A student with the CatBoost model it came from and the figures of its fit."""

    student: Student
    model: CatBoostRegressor
    exactness: quantise.Exactness


def distil(
    teacher: Teacher,
    runs: list[Run],
    options: DistillOptions,
    network: RolloutOptions,
    *,
    seed: int,
    progress: Callable[[str], None] | None = None,
) -> Fitted:
    """Fit, then ``options.rounds`` rounds of DAgger in the networks of ``network``."""
    observation = student_observation(teacher, options)
    seen = label(runs, teacher, observation, rows=options.rows, seed=seed)  # a dataset a run
    rounds: list[dict[str, Any]] = []
    fitted = _fit(teacher, observation, join(seen), options, seed)
    rounds.append(_round_figures(0, fitted, join(seen)))
    for number in range(1, options.rounds + 1):
        if progress is not None:
            progress(f"round {number} of {options.rounds}: rmse {rounds[-1]['rmse']:.5f}")
        driven = network.model_copy(update={"seeds": [s + 1000 * number for s in network.seeds]})
        policy = program(fitted.student.program(), fitted.student.params())
        new = label(rollout.collect(policy, driven), teacher, observation, rows=options.rows, seed=seed + number)
        seen = [*seen, *new]
        fitted = _fit(teacher, observation, join(seen), options, seed)
        rounds.append(_round_figures(number, fitted, join(new)))
    _enforce(fitted.student, options)
    report = {
        "options": options.model_dump(mode="json"),
        "rounds": rounds,
        "decisions": sum(map(len, seen)),
        "checked_points": fitted.exactness.points,
        "declared_error": fitted.exactness.declared_error,
        "greatest_error": fitted.exactness.greatest_error,
    }
    return replace(fitted, student=replace(fitted.student, report=report))


def save(fitted: Fitted, rollouts_hash: str, folder: Path, *, seed: int) -> None:
    """Write the student artefact: student.json beside the student.cbm it came from."""
    parents = {"teacher": fitted.student.teacher, "rollouts": rollouts_hash}
    with writing(folder, KIND, parents=parents, tools=("catboost", "numpy"), seed=seed) as work:
        fitted.student.save(work)
        boost.scrub(fitted.model)
        fitted.model.save_model(str(work / MODEL))


def student_observation(teacher: Teacher, options: DistillOptions) -> Observation:
    """The teacher's features over the student's window."""
    observation = teacher.policy.observation
    return observation if options.window is None else observation.with_window(options.window)


def _fit(teacher: Teacher, observation: Observation, data: Dataset, options: DistillOptions, seed: int) -> Fitted:
    model = boost.fit(data, options, seed=seed)
    policy = teacher.policy
    ensemble = quantise.quantise(model, feature_names(observation), policy.action.leaf_bits)
    exactness = quantise.check(model, ensemble, data.x, seed=seed)
    student = Student(policy.name, observation, policy.action, policy.limits, ensemble, teacher.hash)
    return Fitted(student, model, exactness)


def _round_figures(number: int, fitted: Fitted, new: Dataset) -> dict[str, Any]:
    """RMSE of the integers on the decisions that this round brought (the student's own states from round 1 on)."""
    value = fitted.student.ensemble.evaluate(new.x) / 2**fitted.student.ensemble.leaf_bits
    error = np.average((value - new.y) ** 2, weights=new.weight)
    return {"round": number, "decisions": len(new), "rmse": round(float(np.sqrt(error)), 8)}


def _enforce(student: Student, options: DistillOptions) -> None:
    trees, depth = len(student.ensemble.trees), student.ensemble.depth
    if trees > options.trees or depth > options.depth:
        raise InputError(
            f"the student has {trees} trees of depth {depth}, over the limits {options.trees} and {options.depth}"
        )
