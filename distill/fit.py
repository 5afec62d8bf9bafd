"""A dataset becomes a student: one fit, its check against CatBoost, its loss and its visits."""

from functools import partial
from typing import Any

from decision.artefact.errors import InputError
from decision.artefact.suggest import choices
from decision.policy.policy import Observation
from decision.policy.student import Student
from decision.policy.tree_decision import seen_names
from decision.policy.trigger import Trigger
from decision.policy.visits import intervals
from distill import boost, quantise
from distill.choice_and_trigger import fit_both, loss_of_both
from distill.dataset import Dataset
from distill.fitted_student import Fitted
from distill.options import DistillOptions
from distill.source import DecisionSource
from teachers.teacher import Teacher


def fit_source(
    source: DecisionSource, observation: Observation, data: Dataset, options: DistillOptions, seed: int
) -> Fitted:
    """Returns the student that is fitted to a dataset."""
    policy = source.header
    names = seen_names(observation, policy.trigger)
    excluded, decreasing = (
        [names.index(name) for name in some] for some in (options.exclude_features, options.monotone_decreasing)
    )
    header = policy.model_copy(update={"observation": observation})
    made = partial(Student, source.name, header, teacher=source.hash)
    if policy.trigger is None:
        bits = policy.action.leaf_bits
        model = boost.fit(
            data, options, policy.action.loss, seed=seed, bits=bits, excluded=excluded, decreasing=decreasing
        )
        forest = quantise.quantise(model, names, bits)
        return Fitted(made(forest=forest), model, quantise.check_equal(model, forest, data.x, seed=seed))
    both = fit_both(policy.action, data, options, names, seed=seed, excluded=excluded)
    return Fitted(made(forest=both.forest), both.choice, both.points, both.trigger)


def student_observation(teacher: Teacher, options: DistillOptions) -> Observation:
    """Returns the teacher's features over the student's window."""
    observation = teacher.policy.observation
    return observation if options.window is None else observation.with_window(options.window)


def check_columns(options: DistillOptions, observation: Observation, trigger: Trigger | None = None) -> None:
    """Raises InputError where an option names a feature that the student does not have, or leaves none."""
    names = seen_names(observation, trigger)
    for option in ("exclude_features", "monotone_decreasing"):
        given = getattr(options, option)
        if unknown := [name for name in given if name not in names]:
            raise InputError(
                f"distill.{option}: there is no feature {unknown[0]!r}; the student's are {choices(unknown[0], names)}"
            )
    if set(options.exclude_features) == set(names):
        raise InputError(f"distill.exclude_features: no feature is left; the student's are {', '.join(names)}")


def loss_on(student: Student, data: Dataset) -> float:
    """Returns the loss of the integers against the teacher's labels: the action map's, for a scale the RMSE."""
    sums = student.forest.evaluate(data.x) / 2**student.forest.leaf_bits
    loss = student.action.loss if student.trigger is None else partial(loss_of_both, student.action)
    return round(loss(sums, data.y, data.weight), 8)


def visits(student: Student, data: Dataset) -> dict[str, Any]:
    """Returns feature -> its visits in the data, as JSON.

    The compiler makes the mean case short with them (codegen.walk.Histogram).
    """
    return {name: one.to_json() for name, one in intervals(student.forest, data.x).items()}


def enforce(student: Student, options: DistillOptions) -> None:
    trees, depth = len(student.forest.trees), student.forest.depth
    most, deepest = options.trees, options.depth
    if student.trigger is not None:
        most, deepest = most + options.trigger.trees, max(deepest, options.trigger.depth)
    if trees > most or depth > deepest:
        raise InputError(f"the student has {trees} trees of depth {depth}, over the limits {most} and {deepest}")
