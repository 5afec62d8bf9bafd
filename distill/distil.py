"""`rlcc distill`: a teacher and its rollouts become a student, by DAgger.

The first fit is to the teacher's own trajectories. Then the student drives - the very integer program that becomes
firmware, interpreted in the simulator - the teacher labels the states that the student ran into, and the fit is made
anew on all that was seen ([DAGGER]). Each round has networks of its own, in which the teacher is driven too;
the student that comes closest to it there is kept, and rounds end when they bring none that is closer. An LSTM teacher
keeps its hidden state along the student's trajectories.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from catboost import CatBoostRegressor

from decision.artefact.errors import InputError
from decision.artefact.manifest import writing
from decision.artefact.renamed import recorded
from decision.artefact.suggest import choices
from decision.policy.actions import Choice, scale_of
from decision.policy.policy import Observation
from decision.policy.student import Student
from decision.policy.tree_decision import seen_names
from decision.policy.trigger import Trigger
from decision.policy.visits import intervals
from distill import boost, quantise, rollout
from distill.bias_search import best_offset, shifted, shifted_model
from distill.closeness import Distance, Metrics, Place, Round, check_measurable, choose, distance, give_up_at, pays
from distill.coverage_rows import Far, Outside, covered
from distill.dataset import Dataset, join, label
from distill.driving import Networks, later_self, side_by_side
from distill.options import DistillOptions, RolloutOptions
from distill.racing import Standing
from distill.rollout import Rollout
from distill.source import Source
from distill.state_samples import state_samples
from distill.triggered import fit_both, loss_of_both
from netsim.deployment import Deployment
from netsim.kept import Kept
from netsim.policies import interpreted
from netsim.tolerance import DEFAULT, Tolerance
from teachers.teacher import Teacher

KIND = "student"
MODEL, TRIGGER_MODEL = "student.cbm", "trigger.cbm"
OF_ONE_SUM = (
    "uniform_state_samples",
    "frozen_signal_samples",
    "bias_search",
    "monotone_decreasing",
    "max_deviation",
)
"""Options of [distill] that need an action of one sum, a multiplier of the rate."""


@dataclass(frozen=True)
class Fitted:
    """A student with the CatBoost model that it came from; ``points``: on which both were found equal; ``trigger``: the
    model of its trigger, where it has one."""

    student: Student
    model: CatBoostRegressor
    points: int
    trigger: CatBoostRegressor | None = None


def distil(
    teacher: Teacher,
    runs: list[Rollout],
    options: DistillOptions,
    network: RolloutOptions,
    *,
    seed: int,
    deployment: Deployment | None = None,
    tolerance: Tolerance = DEFAULT,
    outside: Outside | None = None,
    keep: Kept | None = None,
    progress: Callable[[str], None] | None = None,
) -> Fitted:
    """Fit, then at most ``options.rounds`` rounds of DAgger in the networks of ``network``; the student of all that is
    closest to its teacher, in what ``tolerance`` allows. ``outside``: where a student is far from its teacher, for
    ``options.max_deviation``; ``keep``: networks that were run before."""
    observation = student_observation(teacher, options)
    for option in OF_ONE_SUM:
        if getattr(options, option):
            scale_of(teacher.policy.action, f"distill.{option}")
    if options.labels == "values" and not isinstance(teacher.policy.action, Choice):
        raise InputError(f"distill.labels: only a choice has values, and the action is a {teacher.policy.action.kind}")
    values = options.labels == "values"
    told = partial(label, teacher=teacher, observation=observation, rows=options.rows, values=values)
    check_columns(options, observation, teacher.policy.trigger)
    seen = told(runs, seed=seed)  # a dataset a run
    networks = Networks.of(options, network, deployment, keep, progress)
    original = rollout.teacher_policy(teacher)
    students: list[Fitted] = []
    fitted_to: list[Dataset] = []
    rounds: list[Round] = []
    visited: list[dict[str, Any]] = []
    furthest: list[float] = []
    own: list[dict[Place, Metrics]] = []
    theirs: dict[Place, Metrics] = {}
    noise: Distance | None = None
    last: Standing | None = None

    def fit(besides: Sequence[Dataset]) -> Fitted:
        return _fit(teacher, observation, join([*seen, *besides]), options, seed)

    for number in range(options.rounds + 1):
        if options.max_deviation is None:
            fitted = fit([])
        else:
            assert outside is not None, "a caller with max_deviation passes outside"
            if number == 0 and (options.uniform_state_samples > 0 or options.frozen_signal_samples > 0):
                seen = [*seen, *_state_samples(fit([]).student, teacher, options, seed)]
            near = covered(fit, partial(_outside, outside), options.max_deviation)
            fitted, seen = near.fitted, [*seen, *near.rows]
            furthest.append(near.distance)
        data, made = join(seen), fitted.student
        enforce(made, options)
        policy = interpreted(made)
        seeds = _seeds(network, number)
        here = networks.phase(f"round {number} of at most {options.rounds}")
        side = side_by_side(policy, original, here, seeds, tolerance, limit=give_up_at(rounds, noise), last=last)
        last = side.standing
        if noise is None:
            check_measurable(side.teacher)
            later = later_self(original, networks.phase("noise of the teacher"), networks.places(seeds))
            noise = distance(later, side.teacher, tolerance)
        new = told(side.student.runs, seed=seed + number + 1)
        met = join(new)  # the states that the student ran into itself
        own.append(side.student.metrics)
        theirs |= side.teacher
        students.append(fitted)
        fitted_to.append(data)
        visited.append(visits(fitted.student, met))
        rounds.append(
            Round(
                decisions=len(data),
                fit_rmse=loss_on(fitted.student, data),
                rmse=loss_on(fitted.student, met),
                distance=last.worst,
                networks=last.networks,
            )
        )
        seen = [*seen, *new]
        seen += _state_samples(fitted.student, teacher, options, seed + number)
        if progress is not None:
            lost = f", given up in {last.worst.scenario}" if last.given_up else ""
            progress(f"round {number} of at most {options.rounds}: rmse {rounds[-1].rmse:.5f}{lost}")
        if not pays(rounds, noise, options.patience):
            break
    assert noise is not None
    best = choose(rounds, noise)
    fitted = students[best]
    if options.bias_search:
        seeds = [seed for number in range(best, best + 2) for seed in _seeds(network, number)]
        offset = best_offset(
            fitted.student,
            options.bias_search,
            original,
            networks,
            networks.places(seeds),
            tolerance,
            measured={place: each for place, each in own[best].items() if networks.recorded_alike(place[0])},
            reference=theirs,
        )
        fitted = _shifted(fitted, offset, fitted_to[best], seed)
    report = {
        "options": recorded(options),
        "rounds": [{"round": number, **each.to_json()} for number, each in enumerate(rounds)],
        "noise": noise.to_json(),
        "chosen": best,
        "checked_points": fitted.points,
        "visits": visited[best],
    }
    if furthest:
        report["outside"] = round(furthest[best], 6)
    if options.monotone_decreasing:
        free = _fit(teacher, observation, fitted_to[best], options.model_copy(update={"monotone_decreasing": []}), seed)
        side = side_by_side(interpreted(free.student), original, networks, _seeds(network, best), tolerance)
        report["free"] = {
            "fit_rmse": loss_on(free.student, fitted_to[best]),
            "distance": side.standing.worst.to_json(),
        }
    if options.bias_search:
        report["moved"] = offset
    if tolerance != DEFAULT:
        report["tolerance"] = {name: one.text() for name, one in tolerance.items()}
    return replace(fitted, student=replace(fitted.student, report=report))


def first_fit(teacher: Teacher, runs: list[Rollout], options: DistillOptions, *, seed: int) -> tuple[Fitted, float]:
    """The fit to the teacher's own trajectories alone, before the student drives: ``distil``'s first. And its loss."""
    observation = student_observation(teacher, options)
    check_columns(options, observation, teacher.policy.trigger)
    values = options.labels == "values"
    seen = label(runs, teacher, observation, rows=options.rows, seed=seed, values=values)
    data = join(seen)
    fitted = _fit(teacher, observation, data, options, seed)
    return fitted, loss_on(fitted.student, data)


def visits(student: Student, data: Dataset) -> dict[str, Any]:
    """Where each feature was while the student drove: what the compiler needs to make the mean case short
    (codegen.walk.Histogram)."""
    return {name: one.to_json() for name, one in intervals(student.forest, data.x).items()}


def _outside(outside: Outside, fitted: Fitted) -> Far:
    return outside(fitted.student)


def _seeds(network: RolloutOptions, number: int) -> list[int]:
    """Seeds that neither the rollouts nor another round has."""
    return [seed + 1000 * (number + 1) for seed in network.seeds]


def save(fitted: Fitted, rollouts_hash: str, folder: Path, *, seed: int) -> None:
    """Write the student artefact: student.json beside the student.cbm it came from."""
    parents = {"teacher": fitted.student.teacher, "rollouts": rollouts_hash}
    with writing(folder, KIND, parents=parents, tools=("catboost", "numpy", "pyarrow"), seed=seed) as work:
        fitted.student.save(work)
        for model, name in ((fitted.model, MODEL), (fitted.trigger, TRIGGER_MODEL)):
            if model is not None:
                boost.scrub(model)
                model.save_model(str(work / name))


def student_observation(teacher: Teacher, options: DistillOptions) -> Observation:
    """The teacher's features over the student's window."""
    observation = teacher.policy.observation
    return observation if options.window is None else observation.with_window(options.window)


def _fit(teacher: Teacher, observation: Observation, data: Dataset, options: DistillOptions, seed: int) -> Fitted:
    return fit_source(Source.of(teacher), observation, data, options, seed)


def fit_source(source: Source, observation: Observation, data: Dataset, options: DistillOptions, seed: int) -> Fitted:
    """The student of a dataset."""
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


def _state_samples(student: Student, teacher: Teacher, options: DistillOptions, seed: int) -> list[Dataset]:
    """Of each kind that has a weight, the states that no network leads to."""
    kinds = ((options.uniform_state_samples, False), (options.frozen_signal_samples, True))
    return [state_samples(student, teacher, weight, seed, frozen=frozen) for weight, frozen in kinds if weight > 0]


def _shifted(fitted: Fitted, units: int, data: Dataset, seed: int) -> Fitted:
    """Student and model with another bias, which are each other's as before."""
    student = shifted(fitted.student, units)
    model = shifted_model(fitted.model, units, student.forest.leaf_bits)
    return Fitted(student, model, quantise.check_equal(model, student.forest, data.x, seed=seed))


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
    """Of the integers against the teacher's labels, as the action map has it: of a scale the root mean square error."""
    sums = student.forest.evaluate(data.x) / 2**student.forest.leaf_bits
    loss = student.action.loss if student.trigger is None else partial(loss_of_both, student.action)
    return round(loss(sums, data.y, data.weight), 8)


def enforce(student: Student, options: DistillOptions) -> None:
    trees, depth = len(student.forest.trees), student.forest.depth
    most, deepest = options.trees, options.depth
    if student.trigger is not None:
        most, deepest = most + options.trigger.trees, max(deepest, options.trigger.depth)
    if trees > most or depth > deepest:
        raise InputError(f"the student has {trees} trees of depth {depth}, over the limits {most} and {deepest}")
