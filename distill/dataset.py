"""The dataset a student is fitted to: integer features as the firmware computes them, labelled by the teacher.

Every run weighs the same, whatever its number of decisions, so that many flows do not drown few; so does every run
of a later DAgger round. A tenth of the decisions is held out.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.policy.actions import Action, Choice
from decision.policy.policy import Observation
from distill.rollout import Rollout
from teachers.inference import network_outputs, triggers
from teachers.teacher import Teacher

HELD_OUT = 0.1


@dataclass(frozen=True)
class Dataset:
    """``x`` [N, features] integers, ``y`` [N, sums] labels (decision.policy.actions; where there is a trigger, last
    whether it fires), ``weight`` [N]: its sum is 1 a run."""

    x: NDArray[np.int64]
    y: NDArray[np.float64]
    weight: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.y)

    def split(self, seed: int) -> tuple["Dataset", "Dataset"]:
        """Training and held-out part."""
        held = np.random.default_rng(seed).random(len(self)) < HELD_OUT
        return self._take(~held), self._take(held)

    @staticmethod
    def of_run(x: NDArray[np.int64], y: NDArray[np.float64]) -> "Dataset":
        """The rows of one run, all of the same weight."""
        return Dataset(x, y, np.full(len(y), 1.0 / max(1, len(y))))

    def _take(self, rows: NDArray[np.bool_]) -> "Dataset":
        return Dataset(self.x[rows], self.y[rows], self.weight[rows])


def label(
    runs: list[Rollout], teacher: Teacher, observation: Observation, *, rows: int, seed: int, values: bool = False
) -> list[Dataset]:
    """At most ``rows`` decisions of each run, labelled with what the teacher would have decided there (``values``: with
    what each choice was worth to it); one a run."""
    parts = [_label_run(run, teacher, observation, rows, seed + i, values) for i, run in enumerate(runs)]
    parts = [part for part in parts if len(part)]
    if not parts:
        raise InputError("the rollouts hold no decision with its whole history; record from the start of the flows")
    return parts


def sample_rows(usable: NDArray[np.int64], rows: int, seed: int) -> NDArray[np.int64]:
    """Returns at most ``rows`` of the row numbers, in their order."""
    if usable.size <= rows:
        return usable
    return np.sort(np.random.default_rng(seed).choice(usable, size=rows, replace=False))


def join(parts: list[Dataset]) -> Dataset:
    """Datasets of runs as one, with mean weight 1."""
    weight = np.concatenate([p.weight for p in parts])
    return Dataset(
        np.concatenate([p.x for p in parts]), np.concatenate([p.y for p in parts]), weight / float(weight.mean())
    )


def _label_run(run: Rollout, teacher: Teacher, observation: Observation, rows: int, seed: int, values: bool) -> Dataset:
    states, trigger = run.trajectories, teacher.policy.trigger
    outputs, known = network_outputs(teacher, states)
    x, has_history = states.integer_rows(observation, teacher.policy.params())
    fires = None
    if trigger is not None:
        fires, saved_known = triggers(teacher, states)
        known = known & saved_known & ~states.new()  # in the first decision it is not asked
        x, has_history = states.with_saved(x, has_history, trigger.saved * len(observation.features))
    usable = sample_rows(np.flatnonzero(known & has_history & run.trajectories.of_policy()), rows, seed)
    action, told = teacher.policy.action, outputs[usable].astype(np.float64)
    y = worths(action, told) if values else action.label(action.decided(told))
    if fires is not None:
        y = np.concatenate([y, fires[usable, None]], axis=1)
    return Dataset.of_run(x[usable], y)


def worths(action: Action, told: NDArray[np.float64]) -> NDArray[np.float64]:
    """The worth of the choices of each group [N, K]."""
    assert isinstance(action, Choice)
    return np.concatenate([worth(part) for part in action.split(told)], axis=1)


def worth(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the value of each choice [N, K] above the mean of its decision, in units of the mean range of a
    decision's values: the same choice is the greatest, and no decision counts for more than its choice matters."""
    span = float(np.mean(np.ptp(values, axis=1))) if len(values) else 0.0
    above: NDArray[np.float64] = (values - values.mean(axis=1, keepdims=True)) / (span or 1.0)
    return above
