"""`rlcc distill`: a teacher and its rollouts become a student, by DAgger.

The first fit is to the teacher's own trajectories. Then the student drives - the very integer program that becomes
firmware, interpreted in the simulator - the teacher labels the states that the student ran into, and the fit is
repeated on all states so far ([DAGGER]). Each round has networks of its own, in which the teacher is driven too;
the student that comes closest to it there is kept, and rounds end when they bring none that is closer. An LSTM teacher
keeps its hidden state along the student's trajectories.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf
from pathlib import Path

from decision.artefact.errors import InputError
from decision.artefact.output import writing
from decision.artefact.renamed_keys import recorded
from decision.policy.actions import Choice, scale_of
from decision.policy.policy import Observation
from decision.policy.student import Student
from distill import quantise, rollout
from distill.bias_search import best_offset, shifted, shifted_model
from distill.closeness import Distance, Round, check_measurable, choose, distance, give_up_at, pays
from distill.coverage_rows import Covered, Far, Outside, covered
from distill.dataset import Dataset, join, label
from distill.driving import Networks, SideBySide, side_by_side
from distill.fit import check_columns, enforce, fit_source, loss_on, student_observation, visits
from distill.fitted_student import Fitted
from distill.options import DistillOptions, RolloutOptions
from distill.rollout import Rollout
from distill.rounds import RoundRecord, Rounds
from distill.source import DecisionSource
from distill.state_samples import state_samples
from distill.student_artefact import KIND, TOOLS
from netsim.deployment import Deployment
from netsim.policies import PolicySpec, interpreted
from netsim.result_store import Kept
from netsim.tolerance import DEFAULT, Tolerance
from teachers.teacher import Teacher

OF_ONE_SUM = (
    "uniform_state_samples",
    "frozen_signal_samples",
    "bias_search",
    "monotone_decreasing",
    "max_deviation",
)
"""Options of [distill] that need an action of one sum, a multiplier of the rate."""


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
    rounds: Rounds | None = None,
    progress: Callable[[str], None] | None = None,
) -> Fitted:
    """Fit, then at most ``options.rounds`` rounds of DAgger in the networks of ``network``; the student of all that is
    closest to its teacher, in what ``tolerance`` allows. ``outside``: where a student is far from its teacher, for
    ``options.max_deviation``; ``keep``: networks that were run before; ``rounds``: those of this distillation that were
    played before it was stopped, and the place for the others."""
    observation = student_observation(teacher, options)
    for option in OF_ONE_SUM:
        if getattr(options, option):
            scale_of(teacher.policy.action, f"distill.{option}")
    if options.labels == "values" and not isinstance(teacher.policy.action, Choice):
        raise InputError(f"distill.labels: only a choice has values, and the action is a {teacher.policy.action.kind}")
    check_columns(options, observation, teacher.policy.trigger)
    networks = Networks.of(options, network, deployment, keep, progress)
    dagger = _Dagger(teacher, runs, options, network, seed, observation, networks, tolerance, outside)
    records: list[RoundRecord] = []
    for number in range(options.rounds + 1):
        record = None if rounds is None else rounds.read(number)
        if record is None:
            record = dagger.round(records)
            if rounds is not None:
                rounds.write(number, record, seed=seed)
        records.append(record)
        noise = _noise(records)
        if progress is not None:
            standing, figures = record.standing, record.figures
            lost = f", given up in {standing.worst.scenario}" if standing.given_up else ""
            progress(f"round {number} of at most {options.rounds}: rmse {figures.rmse:.5f}{lost}")
        if not pays([each.figures for each in records], noise, options.patience):
            break
    best = choose([each.figures for each in records], noise)
    fitted, data = records[best].fitted, join(dagger.fitted_to(records[:best], records[best].rows))
    if options.bias_search:
        measured = {place: one for place, one in records[best].own.items() if networks.recorded_alike(place[0])}
        offset = best_offset(
            fitted.student,
            options.bias_search,
            dagger.original,
            networks,
            networks.places([seed for number in range(best, best + 2) for seed in _seeds(network, number)]),
            tolerance,
            measured=measured,
            reference={place: one for each in records for place, one in each.theirs.items()},
        )
        fitted = _shifted(fitted, offset, data, seed)
    report = {
        "options": recorded(options),
        "rounds": [{"round": number, **each.figures.to_json()} for number, each in enumerate(records)],
        "noise": noise.to_json(),
        "chosen": best,
        "checked_points": fitted.points,
        "visits": records[best].visits,
    }
    if (deviation := records[best].deviation) is not None:
        report["outside"] = round(deviation, 6)
    if options.monotone_decreasing:
        free = _fit(teacher, observation, data, options.model_copy(update={"monotone_decreasing": []}), seed)
        side = side_by_side(interpreted(free.student), dagger.original, networks, _seeds(network, best), tolerance)
        report["free"] = {"fit_rmse": loss_on(free.student, data), "distance": side.standing.worst.to_json()}
    if options.bias_search:
        report["moved"] = offset
    if tolerance != DEFAULT:
        report["tolerance"] = {name: one.text() for name, one in tolerance.items()}
    return replace(fitted, student=replace(fitted.student, report=report))


@dataclass(frozen=True)
class _Dagger:
    """The inputs of every round of a distillation: ``distil``'s own arguments, and values derived from them."""

    teacher: Teacher
    runs: list[Rollout]
    options: DistillOptions
    network: RolloutOptions
    seed: int
    observation: Observation
    networks: Networks
    tolerance: Tolerance
    outside: Outside | None

    @cached_property
    def original(self) -> PolicySpec:
        """Returns the teacher as the policy that drives."""
        return rollout.teacher_policy(self.teacher)

    @cached_property
    def _first(self) -> list[Dataset]:
        return self._labelled(self.runs, self.seed)  # a dataset a run

    def fitted_to(self, records: Sequence[RoundRecord], rows: Sequence[Dataset]) -> list[Dataset]:
        """Returns the datasets that the round after ``records`` is fitted to, its own ``rows`` last."""
        return [*self._first, *(data for each in records for data in (*each.rows, *each.new)), *rows]

    def round(self, records: Sequence[RoundRecord]) -> RoundRecord:
        """Plays the round after those of ``records``: fits, drives student and teacher, labels."""
        options, seed, number = self.options, self.seed, len(records)
        near = self._fitted(records)
        made, data = near.fitted.student, join(self.fitted_to(records, near.rows))
        enforce(made, options)
        seeds = _seeds(self.network, number)
        here = self.networks.phase(f"round {number} of at most {options.rounds}")
        figures, last = [each.figures for each in records], records[-1].standing if records else None
        limit = give_up_at(figures, _noise(records)) if records else inf
        side = side_by_side(
            interpreted(made), self.original, here, seeds, self.tolerance, limit=limit, last=last, later=not records
        )
        noise = None if records else self._measured_noise(side)
        new = self._labelled(side.student.runs, seed + number + 1)
        met = join(new)  # the states that the student ran into itself
        return RoundRecord(
            fitted=near.fitted,
            rows=near.rows,
            new=[*new, *_state_samples(made, self.teacher, options, seed + number)],
            figures=Round(
                decisions=len(data),
                fit_rmse=loss_on(made, data),
                rmse=loss_on(made, met),
                distance=side.standing.worst,
                networks=side.standing.networks,
            ),
            standing=side.standing,
            visits=visits(made, met),
            own=side.student.metrics,
            theirs=side.teacher,
            deviation=None if options.max_deviation is None else near.distance,
            noise=noise,
        )

    def _fitted(self, records: Sequence[RoundRecord]) -> Covered[Fitted]:
        """The fit on all that was seen, with the rows that ``options`` ask for besides."""
        options, samples = self.options, list[Dataset]()

        def fit(rows: Sequence[Dataset]) -> Fitted:
            seen = self.fitted_to(records, [*samples, *rows])
            return _fit(self.teacher, self.observation, join(seen), options, self.seed)

        if options.max_deviation is None:
            return Covered(fit([]), [], 0.0)
        assert self.outside is not None, "a caller with max_deviation passes outside"
        if not records and (options.uniform_state_samples > 0 or options.frozen_signal_samples > 0):
            samples += _state_samples(fit([]).student, self.teacher, options, self.seed)
        near = covered(fit, partial(_outside, self.outside), options.max_deviation)
        return replace(near, rows=[*samples, *near.rows])

    def _measured_noise(self, side: SideBySide) -> Distance:
        """Returns the distance of the teacher from the teacher that decides 10 ns later."""
        check_measurable(side.teacher)
        return distance(side.later, side.teacher, self.tolerance)

    def _labelled(self, runs: list[Rollout], seed: int) -> list[Dataset]:
        rows, values = self.options.rows, self.options.labels == "values"
        return label(runs, self.teacher, self.observation, rows=rows, seed=seed, values=values)


def _noise(records: Sequence[RoundRecord]) -> Distance:
    noise = records[0].noise
    assert noise is not None, "the first round measures it"
    return noise


def first_fit(teacher: Teacher, runs: list[Rollout], options: DistillOptions, *, seed: int) -> tuple[Fitted, float]:
    """The fit to the teacher's own trajectories alone, before the student drives: ``distil``'s first. And its loss."""
    observation = student_observation(teacher, options)
    check_columns(options, observation, teacher.policy.trigger)
    values = options.labels == "values"
    seen = label(runs, teacher, observation, rows=options.rows, seed=seed, values=values)
    data = join(seen)
    fitted = _fit(teacher, observation, data, options, seed)
    return fitted, loss_on(fitted.student, data)


def _outside(outside: Outside, fitted: Fitted) -> Far:
    return outside(fitted.student)


def _seeds(network: RolloutOptions, number: int) -> list[int]:
    """Seeds that neither the rollouts nor another round has."""
    return [seed + 1000 * (number + 1) for seed in network.seeds]


def save(fitted: Fitted, rollouts_hash: str, folder: Path, *, seed: int) -> None:
    """Writes the student artefact: student.json, and the student.cbm that it came from."""
    parents = {"teacher": fitted.student.teacher, "rollouts": rollouts_hash}
    with writing(folder, KIND, parents=parents, tools=TOOLS, seed=seed) as work:
        fitted.write(work)


def _fit(teacher: Teacher, observation: Observation, data: Dataset, options: DistillOptions, seed: int) -> Fitted:
    return fit_source(DecisionSource.of(teacher), observation, data, options, seed)


def _state_samples(student: Student, teacher: Teacher, options: DistillOptions, seed: int) -> list[Dataset]:
    """Returns the states that no network leads to, one dataset for each kind that has a weight."""
    kinds = ((options.uniform_state_samples, False), (options.frozen_signal_samples, True))
    return [state_samples(student, teacher, weight, seed, frozen=frozen) for weight, frozen in kinds if weight > 0]


def _shifted(fitted: Fitted, units: int, data: Dataset, seed: int) -> Fitted:
    """Student and model with another bias, which are each other's as before."""
    student = shifted(fitted.student, units)
    model = shifted_model(fitted.model, units, student.forest.leaf_bits)
    return Fitted(student, model, quantise.check_equal(model, student.forest, data.x, seed=seed))
