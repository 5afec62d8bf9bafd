"""Points proposed by Optuna, asked and told one at a time, in one journal file that any interruption leaves whole.

A proposal depends only on the search's seed, the number of the point and the results before it. A search that was
killed and goes on proposes what it would have proposed. A point that was begun and not told is given up and proposed
again under the same number.
"""

import fcntl
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState

from decision.artefact.errors import InputError
from rlcc.search.full_run import WholeEvaluation
from rlcc.search.options import SearchOptions, SearchRange, Value
from rlcc.search.quick_judge import Quick
from rlcc.search.space import Point, SearchSpace

JOURNAL = "journal.log"
STUDY = "rlcc search"
OF = "of"
"""What a journal is of: figures that were measured otherwise stand in no front together."""


Judging = Callable[[int, Point, Mapping[int, Quick]], Quick]
"""Of a point's number and values, beside those that were judged before."""


@dataclass(frozen=True)
class ReportedPoint:
    """A point that was judged: its ``quick`` figures, or the ``reason`` why it has none; ``whole``, where made."""

    number: int
    point: Point
    quick: Quick | None
    reason: str = ""
    whole: WholeEvaluation | None = None

    @property
    def allowed(self) -> bool:
        """Within all limits, and driven."""
        return self.quick is not None and self.quick.error is not None and not self.quick.broken

    @property
    def predicted(self) -> tuple[float, float]:
        """The quick figures that are minimised: cycles and error."""
        assert self.quick is not None
        assert self.quick.error is not None
        return self.quick.price.cycles, self.quick.error


class Study:
    """A search's journal. ``reported()``: what it holds."""

    def __init__(self, storage: JournalStorage, space: SearchSpace, options: SearchOptions) -> None:
        self.space, self.options = space, options
        if STUDY not in optuna.get_all_study_names(storage):
            optuna.create_study(storage=storage, study_name=STUDY, directions=["minimize", "minimize"])
        self._study = optuna.load_study(storage=storage, study_name=STUDY)

    def reported(self) -> list[ReportedPoint]:
        """Numbered as they were judged; what an interruption left unjudged has no number."""
        return [self._reported(number, trial) for number, trial in enumerate(self._judged())]

    def explore(self, judge: Judging, more: Callable[[int], bool]) -> None:
        """Propose and judge points as long as ``more`` of them are wanted, by how many there are. An InputError of
        ``judge`` is the reason why a point is none."""
        for trial in self._study.get_trials(deepcopy=False, states=[TrialState.RUNNING]):
            self._study.tell(trial.number, state=TrialState.FAIL)
        while more(number := len(self._judged())):
            if number == 0 and not self._study.get_trials(deepcopy=False, states=[TrialState.WAITING]):
                self._study.enqueue_trial(dict(self.space.own))
            self._study.sampler = _sampler(self.options, number)
            self._judge(number, self._study.ask(), judge)

    def keep(self, number: int, whole: WholeEvaluation) -> None:
        self._study.set_user_attr(f"whole.{number}", whole.to_json())

    def _judged(self) -> list[FrozenTrial]:
        trials = self._study.get_trials(
            deepcopy=False, states=[TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL]
        )
        return [trial for trial in trials if trial.state != TrialState.FAIL or "reason" in trial.user_attrs]

    def _judge(self, number: int, trial: optuna.Trial, judge: Judging) -> None:
        point = {name: _suggested(trial, name, knob) for name, knob in self.space.knobs.items()}
        before = self.reported()
        same = next((one for one in before if one.point == point), None)
        try:
            if same is not None and same.quick is None:
                raise InputError(same.reason)
            others = {one.number: one.quick for one in before if one.quick is not None}
            quick = judge(number, point, others) if same is None or same.quick is None else same.quick
        except InputError as error:
            trial.set_user_attr("reason", str(error))
            self._study.tell(trial, state=TrialState.FAIL)
            return
        trial.set_user_attr("quick", quick.to_json())
        if quick.outdone is not None:
            self._study.tell(trial, state=TrialState.PRUNED)
            return
        for name in ("context", "table", "fairness"):
            trial.set_constraint(name, quick.broken.get(name, 0.0))
        # A point that breaks a limit is never compared by what it is told as, only by how much it breaks it.
        self._study.tell(trial, [quick.price.cycles, inf if quick.error is None else quick.error])

    def _reported(self, number: int, trial: FrozenTrial) -> ReportedPoint:
        quick, whole = trial.user_attrs.get("quick"), self._study.user_attrs.get(f"whole.{number}")
        return ReportedPoint(
            number,
            dict(trial.params),
            None if quick is None else Quick.from_json(quick),
            trial.user_attrs.get("reason", ""),
            None if whole is None else WholeEvaluation(**whole),
        )


@contextmanager
def opened(folder: Path, space: SearchSpace, options: SearchOptions, of: str) -> Iterator[Study]:
    """The study in ``folder``, begun or gone on with. InputError where another process is at work on it, where its
    journal is damaged, or where it is of something else than ``of``."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"another rlcc search is at work in {folder}; wait for it, or give another --out"
            ) from None
        path = folder / JOURNAL
        _mend(path)
        try:
            study = Study(JournalStorage(JournalFileBackend(str(path))), space, options)
            begun = study._study.user_attrs.get(OF)
            if begun is None:
                study._study.set_user_attr(OF, of)
            study.reported()
        except (KeyError, TypeError, ValueError, AttributeError, AssertionError) as error:
            raise InputError(f"{path} is no journal of a search ({error!r}); remove {folder} to start anew") from None
        if begun not in (None, of):
            raise InputError(
                f"{path} is of another recipe, teacher, simulator or compiler of rlcc; give another --out, or remove "
                f"{folder} to start anew"
            )
        yield study


def _mend(path: Path) -> None:
    """Cut off a last line that a kill left half-written, and let go of its lock. InputError where a line is damaged."""
    for left in path.parent.glob(f"{path.name}.*"):
        left.unlink()
    if not path.exists():
        return
    content = path.read_bytes()
    complete = content[: content.rfind(b"\n") + 1]
    for number, line in enumerate(complete.splitlines(), 1):
        try:
            json.loads(line)
        except (ValueError, RecursionError):
            raise InputError(f"{path}: line {number} is damaged; remove {path.parent} to start anew") from None
    if len(complete) < len(content):
        with path.open("r+b") as file:
            file.truncate(len(complete))


class _Nsga2(optuna.samplers.NSGAIISampler):
    """Its parents in one order, whether they are chosen now or were before an interruption."""

    def select_parent(self, study: optuna.Study, generation: int) -> list[FrozenTrial]:
        return sorted(super().select_parent(study, generation), key=lambda trial: trial.number)


def _sampler(options: SearchOptions, number: int) -> optuna.samplers.BaseSampler:
    """Returns a sampler with a state of its own for each point, so that none has to be stored."""
    seed = (options.seed * 1_000_003 + number) % 2**32
    if options.sampler == "nsga2":
        return _Nsga2(population_size=options.population, seed=seed)
    return optuna.samplers.TPESampler(
        n_startup_trials=options.population, multivariate=True, constant_liar=False, seed=seed
    )


def _suggested(trial: optuna.Trial, name: str, knob: SearchRange | tuple[Value, ...]) -> Value:
    if isinstance(knob, SearchRange):
        return trial.suggest_int(name, knob.low, knob.high)
    value = trial.suggest_categorical(name, knob)
    assert value is not None
    return value
