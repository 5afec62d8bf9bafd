"""`rlcc distill ROLLOUTS`: labels that were recorded (`rlcc import`) become a student, without a network of rlcc's.

The fit is that to a teacher's decisions (distill.distil). A simulator of the user's may drive the student between fits
(DAgger); no network of rlcc's says which student comes closest, so a round is judged by its action error alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from decision.artefact.errors import InputError
from decision.artefact.renamed_keys import recorded
from decision.policy.policy import Header, Observation
from decision.policy.student import Student
from distill.dataset import Dataset, join, sample_rows
from distill.fit import check_columns, enforce, fit_source, loss_on, visits
from distill.fitted_student import Fitted
from distill.log.importing import record_hash
from distill.log.record import LabelledRun, Recorded, decided_in, rows_hash
from distill.options import DistillOptions

Progress = Callable[[str], None]


def quiet(text: str) -> None:
    """Reports no progress."""


NETWORK_ONLY = (
    "uniform_state_samples",
    "frozen_signal_samples",
    "bias_search",
    "max_deviation",
    "comparison_scenarios",
)
"""Options of [distill] that ask a teacher's network, or rlcc's simulator."""


Drive = Callable[[Student, str, int], Sequence[LabelledRun]]
"""Runs a student in a simulator: scenario and seed to what it met there, labelled."""


@dataclass(frozen=True)
class Driving:
    """A simulator that is not rlcc's, and the scenarios in which students are driven there."""

    drive: Drive
    scenarios: Sequence[str]


def distil_recorded(
    record: Recorded, options: DistillOptions, *, seed: int, driving: Driving | None = None, progress: Progress = quiet
) -> Fitted:
    """The student of recorded decisions. If ``driving`` is given, at most ``options.rounds`` rounds of DAgger follow.
    In each the student decides, its states are labelled, and all is fitted again. The round whose student errs least on
    its own states is retained. InputError where an option needs a network."""
    _check_options(options)
    header = record.source.header
    observation = header.observation if options.window is None else header.observation.with_window(options.window)
    check_columns(options, observation)
    seen = labelled_rows(record.runs, header, observation, rows=options.rows, seed=seed)
    students: list[Fitted] = []
    rounds: list[dict[str, Any]] = []
    visited: list[dict[str, Any]] = []
    errors: list[float] = []
    for number in range(options.rounds + 1 if driving is not None else 1):
        data = join(seen)
        fitted = fit_source(record.source, observation, data, options, seed)
        enforce(fitted.student, options)
        students.append(fitted)
        rounds.append({"round": number, "decisions": len(data), "fit_rmse": loss_on(fitted.student, data)})
        if driving is None:
            visited.append(visits(fitted.student, data))
            break
        progress(f"round {number} of at most {options.rounds}")
        runs = [
            run
            for scenario in driving.scenarios
            for run in driving.drive(fitted.student, scenario, seed + 1000 * (number + 1))
        ]
        new = labelled_rows(runs, header, observation, rows=options.rows, seed=seed + number + 1)
        met = join(new)
        errors.append(loss_on(fitted.student, met))
        visited.append(visits(fitted.student, met))
        rounds[-1] |= {"rmse": errors[-1], "rows": record_hash(record.source.name, header, runs)}
        progress(f"round {number} of at most {options.rounds}: rmse {errors[-1]:.5f}")
        seen = [*seen, *new]
        if len(errors) > options.patience and min(errors[-options.patience :]) >= min(errors[: -options.patience]):
            break
    best = errors.index(min(errors)) if errors else 0
    fitted = students[best]
    report = {
        "options": recorded(options),
        "rounds": rounds,
        "chosen": best,
        "checked_points": fitted.points,
        "visits": visited[best],
        "labels": record.labels | {"rollouts": record.hash, "rows": rows_hash(record.runs)},
    }
    return replace(fitted, student=replace(fitted.student, report=report))


def _check_options(options: DistillOptions) -> None:
    """InputError where one asks a teacher's network, or rlcc's simulator."""
    if options.labels == "values":
        raise InputError("distill.labels: recorded decisions have no values; leave it out")
    for option in NETWORK_ONLY:
        if getattr(options, option):
            raise InputError(
                f"distill.{option} asks a teacher's network, and imported rollouts have none; leave it out"
            )


def labelled_rows(
    runs: Sequence[LabelledRun], header: Header, observation: Observation, *, rows: int, seed: int
) -> list[Dataset]:
    """At most ``rows`` labelled decisions of each run; those that count and have their whole history."""
    parts = [_rows_of(run, header, observation, rows, seed + i) for i, run in enumerate(runs)]
    parts = [part for part in parts if len(part)]
    if not parts:
        raise InputError("the rollouts hold no decision with its whole history; record from the start of the agents")
    return parts


def _rows_of(run: LabelledRun, header: Header, observation: Observation, rows: int, seed: int) -> Dataset:
    x, has_history = run.trajectories.integer_rows(observation, header.params())
    usable = sample_rows(np.flatnonzero(run.known & has_history & run.trajectories.of_policy()), rows, seed)
    return Dataset.of_run(x[usable], header.action.label(decided_in(run, header)[usable]))
