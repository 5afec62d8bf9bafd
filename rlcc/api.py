"""rlcc from Python: run a recipe, and look at what it leaves (docs/reference/api.md).

    run = rlcc.run("recipes/rl-cc.toml")
    run.verdict.passed, run.firmware.worst_case_cycles, run.rollouts.table()

An artefact is a small frozen object: the folder where it lies, and readers that check it before they give anything.
Errors are decision.artefact.errors.InputError, one sentence each.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import current_process
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from decision.artefact.errors import InputError
from decision.artefact.extras import needed
from decision.artefact.manifest import Opened
from decision.artefact.manifest import opened as manifest_of
from decision.policy.deciders import student_of
from rlcc.gate.certified import PLACE as CERTIFICATE
from rlcc.shipped_recipes import recipes

if TYPE_CHECKING:
    import pyarrow as pa

    import decision.policy.student
    import rlcc.gate.verdict
    import teachers.teacher
    from rlcc.simulator.protocol import Simulator
    from verify.trusted.certificate import Certificate

MAIN_GUARD = 'if __name__ == "__main__":'
Stage = Literal["rollout", "distill", "emit", "emulate", "verify", "gate"]


@dataclass(frozen=True)
class Artefact:
    """A folder that rlcc wrote; ``path`` is the folder."""

    path: Path

    @property
    def manifest(self) -> Opened:
        """Returns files, parents, tools and seed. Raises InputError if a file differs from what was written."""
        return manifest_of(self.path, type(self).__name__.lower())

    @property
    def hash(self) -> str:
        """Returns the SHA-256 of all files, hexadecimal."""
        return self.manifest.hash


@dataclass(frozen=True)
class Teacher(Artefact):
    """The trained policy. It may be a weights file from elsewhere, which has no manifest."""

    def load(self) -> teachers.teacher.Teacher:
        """Returns policy and float32 weights; runs no code from the file."""
        from teachers.load import load

        return load(self.path)

    @property
    def hash(self) -> str:
        """Returns the SHA-256 of policy and weights, for every file format."""
        return self.load().hash


@dataclass(frozen=True)
class Rollouts(Artefact):
    """The teacher's decisions in simulated networks, one row per decision."""

    def table(self) -> pa.Table:
        """Returns all columns: raw integer signals, ``feature.<name>``, the teacher's action and the applied action
        (docs/reference/rollout.md)."""
        with needed():
            import pyarrow as pa
            import pyarrow.parquet as pq
        from distill.rollout import part_names

        artefact = self.manifest
        return pa.concat_tables([pq.read_table(io.BytesIO(artefact.content(name))) for name in part_names(artefact)])


@dataclass(frozen=True)
class Student(Artefact):
    """The distilled policy: integer trees."""

    def load(self) -> decision.policy.student.Student:
        """Returns forest (integer thresholds, leaves), observation, action map, and ``report`` of the distillation."""
        return student_of(self.manifest)


@dataclass(frozen=True)
class Firmware(Artefact):
    """The emitted C, and the certificate next to it."""

    @property
    def files(self) -> list[str]:
        """Returns the names of all files, sorted."""
        return sorted(self.manifest.files)

    def text(self, name: str | None = None) -> str:
        """Returns the text of a file, by default of the decision's C. Raises InputError if there is no such file."""
        from emulator.firmware import SOURCE, prefix_of, under

        artefact = self.manifest
        name = under(prefix_of(artefact), SOURCE) if name is None else name
        if name not in artefact.files:
            raise InputError(f"{self.path} has no file {name}; it has {', '.join(sorted(artefact.files))}")
        return artefact.text(name)

    @property
    def certificate(self) -> Certificate | None:
        """Returns the certificate, None if nothing was proved. It is read, not checked: the gate checks it."""
        from verify.trusted.certificate import read_certificate

        path = self.path.resolve().parent / CERTIFICATE
        return read_certificate(path) if path.is_file() else None

    @property
    def worst_case_cycles(self) -> int | None:
        """Returns the proved worst case over all inputs, in cycles; None if nothing was proved."""
        certificate = self.certificate
        return certificate.claims.worst_case.cycles if certificate else None


@dataclass(frozen=True)
class Verdict(Artefact):
    """The outcome of the gate, with every check."""

    def load(self) -> rlcc.gate.verdict.Verdict:
        """Returns all checks, each with its figure and limit, and as numbers in ``measured``."""
        from rlcc.gate.verdict import parsed
        from rlcc.reports.folder import JSON

        return parsed(self.manifest.json(JSON), str(self.path / JSON))

    @property
    def passed(self) -> bool:
        """Returns whether the outcome is PASS. QUICK PASS does not count."""
        return self.load().passed

    def _repr_markdown_(self) -> str:
        """Returns the table of summary.md, for Jupyter."""
        from rlcc.reports.folder import MARKDOWN

        return self.manifest.text(MARKDOWN)


@dataclass(frozen=True)
class Run:
    """The artefacts of a recipe; ``path`` is the folder that holds them."""

    path: Path
    teacher: Teacher

    @property
    def rollouts(self) -> Rollouts:
        """Returns the recorded decisions."""
        return Rollouts(self.path / "rollouts")

    @property
    def student(self) -> Student:
        """Returns the distilled policy."""
        return Student(self.path / "student")

    @property
    def firmware(self) -> Firmware:
        """Returns the emitted C."""
        return Firmware(self.path / "firmware")

    @property
    def verdict(self) -> Verdict:
        """Returns the outcome of the gate."""
        return Verdict(self.path / "verdict")


def run(recipe: str | Path, out: str | Path | None = None, *, start: Stage = "rollout") -> Run:
    """Runs a recipe as `rlcc run` does, from the stage ``start`` on, and returns its artefacts.

    ``recipe`` is a file, or the name of a recipe shipped with rlcc. Prints the figures of each stage and the gate's
    table. FAIL is a verdict, not an error. Raises InputError if a stage could not run.
    """
    from rlcc.commands.run import STAGES, command

    if getattr(current_process(), "_inheriting", False):  # as multiprocessing asks before it starts a process
        raise InputError(f"a process of rlcc.run reads this script again; put the call under `{MAIN_GUARD}`")
    if start not in STAGES:
        raise InputError(f"start={start!r} is no stage; give one of {', '.join(STAGES)}")
    made = opened(recipe, out)
    with needed():
        command.main(["--out", str(made.path), "--from", start, "--", str(_file(recipe))], standalone_mode=False)
    return made


def opened(recipe: str | Path, out: str | Path | None = None) -> Run:
    """Returns the artefacts of an earlier run of the recipe. Runs nothing."""
    from rlcc.commands.run import RUNS
    from rlcc.recipe import load_recipe, teacher_path

    loaded = load_recipe(file := _file(recipe))
    return Run(RUNS / loaded.name if out is None else Path(out), Teacher(teacher_path(loaded, file)))


def import_log(
    log: str | Path | Mapping[str, Any],
    policy: str | Path,
    out: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    teacher: str | Path | None = None,
    labels: Callable[..., Any] | str | None = None,
    allow_gaps: bool = False,
) -> Rollouts:
    """Turns a log into rollouts with labels as `rlcc import` does, and returns them (docs/reference/import.md).

    ``log`` is a file, or columns [rows] by name. ``columns`` maps rlcc's names to "COLUMN in UNIT". ``labels`` is a
    function ``decide(rows, state) -> outputs, state``, or "module:function". Prints the figures of the stage. Raises
    InputError, which names the wrong row and column.
    """
    from rlcc import stages
    from rlcc.commands.console import stage

    if teacher is not None and labels is not None:
        raise InputError("teacher and labels both label the log; give one of the two")
    asked = [f"{name}={column}" for name, column in (columns or {}).items()]
    file = Path(log) if isinstance(log, str | Path) else log
    weights = None if teacher is None else Path(teacher)
    with needed(), stage("import") as (figures, progress):
        stages.import_log(file, Path(policy), Path(out), asked, weights, labels, allow_gaps, figures, progress)
    return Rollouts(Path(out))


def distill(
    rollouts: str | Path | Rollouts,
    out: str | Path,
    *,
    simulator: Simulator | str | None = None,
    scenarios: Sequence[str] = (),
    teacher: str | Path | None = None,
    labels: Callable[..., Any] | None = None,
    seed: int = 1,
    **options: Any,
) -> Student:
    """Fits a student to imported rollouts as `rlcc distill` does, and returns it (docs/how-to/simulators.md).

    ``simulator`` runs the DAgger rounds: an object with ``run(student, scenario, seed) -> rows``, or a command.
    ``scenarios`` are names that the simulator knows. ``teacher`` or ``labels`` labelled the rollouts; give it if the
    labels were no column and, for a function, if its module cannot be imported by name. ``options`` are keys of
    [distill] in a recipe. Prints the figures of the stage. Raises InputError if the arguments do not fit together.
    """
    from decision.artefact.documents import validate
    from distill.options import DistillOptions
    from rlcc import stages
    from rlcc.commands.console import stage
    from teachers.load import load

    checked = validate(DistillOptions, options, "options of rlcc.distill")
    folder = rollouts.path if isinstance(rollouts, Rollouts) else Path(rollouts)
    with needed(), stage("distill") as (figures, progress):
        stages.distill_recorded(
            folder,
            checked,
            seed,
            Path(out),
            figures,
            progress,
            teacher=None if teacher is None else load(teacher),
            simulator=simulator,
            scenarios=scenarios,
            function=labels,
        )
    return Student(Path(out))


def _file(recipe: str | Path) -> Path:
    named = recipes().get(str(recipe))
    return Path(recipe) if named is None else named
