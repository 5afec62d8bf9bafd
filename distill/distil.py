"""`rlcc distill`: a teacher and its rollouts become a student, by DAgger.

The first fit is to the teacher's own trajectories. Then the student drives - the very integer program that becomes
firmware, interpreted in the simulator - the teacher labels the states that the student ran into, and the fit is made
anew on all that was seen; the student that comes closest to its teacher in the network is kept (Ross et al., 2011). An
LSTM teacher keeps its hidden state along those trajectories.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from catboost import CatBoostRegressor
from numpy.typing import NDArray

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
    """Fit, then ``options.rounds`` rounds of DAgger in the networks of ``network``; the best of all students."""
    observation = student_observation(teacher, options)
    seen = label(runs, teacher, observation, rows=options.rows, seed=seed)  # a dataset a run
    students: list[Fitted] = []
    rounds: list[dict[str, Any]] = []
    visited: list[dict[str, Any]] = []
    for number in range(options.rounds + 1):
        data = join(seen)
        fitted = _fit(teacher, observation, data, options, seed)
        _enforce(fitted.student, options)
        driven = _drive(fitted.student, network, number)
        new = label(driven, teacher, observation, rows=options.rows, seed=seed + number + 1)
        met = join(new)  # the states that the student ran into itself
        students.append(fitted)
        visited.append(visits(fitted.student, met))
        rounds.append(
            {
                "round": number,
                "decisions": len(data),
                "fit_rmse": _rmse(fitted.student, data),
                "rmse": _rmse(fitted.student, met),
                "mismatch": mismatch(driven, runs),
            }
        )
        seen = [*seen, *new]
        if progress is not None:
            progress(f"round {number} of {options.rounds}: rmse {rounds[-1]['rmse']:.5f}")
    best = min(range(len(students)), key=lambda number: float(rounds[number]["mismatch"]))
    fitted = students[best]
    report = {
        "options": options.model_dump(mode="json"),
        "rounds": rounds,
        "chosen": best,
        "checked_points": fitted.exactness.points,
        "declared_error": fitted.exactness.declared_error,
        "greatest_error": fitted.exactness.greatest_error,
        "visits": visited[best],
    }
    return replace(fitted, student=replace(fitted.student, report=report))


def visits(student: Student, data: Dataset) -> dict[str, Any]:
    """How often each feature lay between its neighbouring thresholds while the student drove: what the compiler needs
    to make the mean case short (codegen.forest.Histogram)."""
    found = {}
    for feature, borders in student.ensemble.thresholds().items():
        places = np.searchsorted(np.asarray(borders), data.x[:, feature], side="left")
        counts = np.bincount(places, minlength=len(borders) + 1).tolist()
        found[student.ensemble.features[feature]] = {"borders": borders, "counts": counts}
    return found


def mismatch(driven: list[Run], teacher: list[Run]) -> float:
    """How far a student's closed loop is from its teacher's: the greatest relative difference, over the networks, of
    the mean RTT and of the bytes sent, in the last quarter of the runs."""
    ours, theirs = _closed_loop(driven), _closed_loop(teacher)
    differences = [np.abs(ours[name] / theirs[name] - 1.0).max() for name in theirs]
    return round(float(max(differences)), 6)


def _closed_loop(runs: list[Run]) -> dict[str, NDArray[np.float64]]:
    """Mean RTT in ns and bytes sent in each network, over the last quarters of its runs."""
    found: dict[str, list[tuple[float, float]]] = {}
    for run in runs:
        columns = run.trajectories.columns
        late = columns["t_ps"].astype(np.int64) * 4 >= 3 * int(columns["t_ps"].max(initial=0))
        rtt = (columns["response_ns"].astype(np.int64) - columns["request_sent_ns"].astype(np.int64)) & 0xFFFFFFFF
        sent = float(columns["sent_bytes"][late].astype(np.float64).sum())
        found.setdefault(run.scenario, []).append((float(rtt[late].mean()), max(sent, 1.0)))
    return {name: np.mean(np.asarray(values), axis=0) for name, values in found.items()}


def _drive(student: Student, network: RolloutOptions, number: int) -> list[Run]:
    """The student in the networks, with seeds that no other round has."""
    seeds = [seed + 1000 * (number + 1) for seed in network.seeds]
    policy = program(student.program(), student.params())
    return rollout.collect(policy, network.model_copy(update={"seeds": seeds}))


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


def _rmse(student: Student, data: Dataset) -> float:
    """Root mean square error of the integers against the teacher's labels."""
    value = student.ensemble.evaluate(data.x) / 2**student.ensemble.leaf_bits
    return round(float(np.sqrt(np.average((value - data.y) ** 2, weights=data.weight))), 8)


def _enforce(student: Student, options: DistillOptions) -> None:
    trees, depth = len(student.ensemble.trees), student.ensemble.depth
    if trees > options.trees or depth > options.depth:
        raise InputError(
            f"the student has {trees} trees of depth {depth}, over the limits {options.trees} and {options.depth}"
        )
