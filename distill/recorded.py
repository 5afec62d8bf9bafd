"""`rlcc distill ROLLOUTS`: labels that were recorded (`rlcc import`) become a student, without a network of rlcc's.

The fit is that to a teacher's decisions (distill.distil). No network says which student comes closest, so a round is
judged by its action error alone.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from decision.artefact.errors import InputError
from decision.artefact.renamed import recorded
from decision.policy.policy import Header, Observation
from distill.dataset import Dataset, join
from distill.distil import Fitted, check_columns, enforce, fit_source, loss_on, visits
from distill.log.record import LabelledRun, Recorded, decided_in
from distill.options import DistillOptions

NETWORK_ONLY = (
    "uniform_state_samples",
    "frozen_signal_samples",
    "bias_search",
    "max_deviation",
    "comparison_scenarios",
)
"""Options of [distill] that ask a teacher's network, or rlcc's simulator."""


def distil_recorded(record: Recorded, options: DistillOptions, *, seed: int) -> Fitted:
    """The student of recorded decisions. InputError where an option needs a network."""
    if options.labels == "values":
        raise InputError("distill.labels: recorded decisions have no values; leave it out")
    for option in NETWORK_ONLY:
        if getattr(options, option):
            raise InputError(
                f"distill.{option} asks a teacher's network, and imported rollouts have none; leave it out"
            )
    header = record.source.header
    observation = header.observation if options.window is None else header.observation.with_window(options.window)
    check_columns(options, observation)
    parts = labelled_rows(record.runs, header, observation, rows=options.rows, seed=seed)
    data = join(parts)
    fitted = fit_source(record.source, observation, data, options, seed)
    enforce(fitted.student, options)
    report = {
        "options": recorded(options),
        "rounds": [{"round": 0, "decisions": len(data), "fit_rmse": loss_on(fitted.student, data)}],
        "chosen": 0,
        "checked_points": fitted.points,
        "visits": visits(fitted.student, data),
        "labels": record.labels | {"rollouts": record.hash},
    }
    return replace(fitted, student=replace(fitted.student, report=report))


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
    usable = np.flatnonzero(run.known & has_history & run.trajectories.of_policy())
    if usable.size > rows:
        usable = np.sort(np.random.default_rng(seed).choice(usable, size=rows, replace=False))
    y = header.action.label(decided_in(run, header)[usable])
    return Dataset(x[usable], y, np.full(usable.size, 1.0 / max(1, usable.size)))
