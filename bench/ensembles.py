"""How far proofs reach beyond small students: many trees over many features, and models of other libraries.

    python -m bench.ensembles [--only TEXT --out FILE]

Each is emitted by the defaults of `rlcc emit` but for what its row says, compiled, proved and its certificate checked.
Models are those of `bench.codegen`; `make setup-test` brings their libraries. About 20 minutes of one core.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.codegen.foreign_models import OutsideExporter, outside_subjects
from bench.drawn.judged import Checked, Proved, judged_build
from bench.drawn.students import of_many_trees
from codegen.emit import Emission, emit_body
from codegen.lower import Options
from codegen.model_body import emit_model
from codegen.tree_body import StudentBody
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.policy.student import Student
from emulator.firmware_folder import built
from rlcc.commands.streams import tell
from rlcc.origin import made_by
from rlcc.reports.pages import table

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "results" / "ensembles.md"
PROFILE, SECONDS = "ibex-small", 300
"""Seconds of CPU that a proof may take, and a check."""
SEED = 7
"""Of the models; that of the page of exports."""
MANY = ((20, 5), (50, 6))
"""Trees, and their depth."""
COMPILED = (("clang", "-O2"), ("clang", "-Os"), ("gcc", "-O2"), ("gcc", "-Os"))

Emit = Callable[[Path, Options], dict[str, Any]]


@dataclass(frozen=True)
class EnsembleCase:
    """``emit`` writes the firmware folder; ``form`` is what is asked for."""

    name: str
    emit: Emit
    compiler: str
    opt: str
    form: str = "auto"

    def __str__(self) -> str:
        asked = "" if self.form == "auto" else f", --form {self.form}"
        return f"{self.name}{asked}, {self.compiler} {self.opt}"


@dataclass(frozen=True)
class EnsembleRow:
    """``form``: what the trees took. ``proved`` is None where nothing was emitted, for which ``problem`` is why."""

    case: EnsembleCase
    form: str = ""
    proved: Proved | None = None
    checked: Checked | None = None
    problem: str = ""


def cases() -> Iterator[EnsembleCase]:
    """All of the page."""
    for trees, levels in MANY:
        emit = partial(_student, of_many_trees(trees, levels))
        name = f"{trees} trees of depth {levels}, 12 features"
        for compiler, opt in COMPILED:
            yield EnsembleCase(name, emit, compiler, opt)
        yield EnsembleCase(name, emit, "clang", "-O2", "index")
    models, absent = outside_subjects(SEED)
    if absent:
        raise InputError(f"{', '.join(absent)} could not be made: {next(iter(absent.values()))}; run `make setup-test`")
    for model in models:
        for compiler in ("clang", "gcc"):
            yield EnsembleCase(model.name, partial(_model, model), compiler, "-O2")


def _student(student: Student, folder: Path, options: Options) -> dict[str, Any]:
    return emit_body(StudentBody(student, "0" * 64), folder, Emission("generic", options=options))


def _model(model: OutsideExporter, folder: Path, options: Options) -> dict[str, Any]:
    return emit_model(model.integers, folder, parents={}, options=options)


def row(case: EnsembleCase) -> EnsembleRow:
    """Returns the results of the ensemble."""
    with TemporaryDirectory() as name:
        folder = Path(name) / "firmware"
        try:
            details = case.emit(folder, Options(form=case.form))
            build = built(folder, profile=PROFILE, compiler=case.compiler, opt=case.opt)
        except InputError as error:
            return EnsembleRow(case, problem=str(error))
        return EnsembleRow(case, details["form"]["form"], *judged_build(build, SECONDS, SECONDS))


def page(rows: Sequence[EnsembleRow], command: str) -> str:
    """As Markdown: the counts, then a row a case."""
    proved = [r for r in rows if r.proved and not r.proved.problem]
    held = [r for r in proved if r.checked and not r.checked.problem]
    titles = ["ensemble", "form", "compiler", "worst case", "slowest input", "prover, CPU", "certificate", "check, CPU"]
    return f"""# Many trees, and models of other libraries, proved
{made_by(command)}

On `{PROFILE}`, by the defaults of [`rlcc emit`](../reference/emit.md) where no form is named. A proof and a check of
its certificate may take {SECONDS} s of CPU each; a proof has the calibration of the cost model in it, and up to 60 s
of a search for a slow input. *Slowest input*: it ran on the Verilated core; where the worst case is a bound (`at
most`), the truth lies between the two. Random trees ask about what the agent did and saw in three decisions
(`bench/drawn/students.py`); the models are those of [exports of the same trees](codegen-bench.md), seed {SEED}.

{len(proved)} of {len(rows)} are proved, of {len(held)} the certificate holds.

{table(titles, [cells(r) for r in rows])}"""


def cells(row: EnsembleRow) -> list[str]:
    """One row of the table."""
    asked = [row.case.name, row.form, f"{row.case.compiler} {row.case.opt}"]
    p, c = row.proved, row.checked
    if p is None or p.problem:
        why = row.problem or (p.problem if p else "")
        return [*asked, why.replace("|", "/"), "", f"{p.seconds:.0f} s" if p and p.seconds else "", "", ""]
    worst = f"at most {p.bound:,}" if p.exact is None else f"{p.exact:,}"
    checked = ["", ""] if c is None else [c.problem or f"holds, {c.paths:,} paths", f"{c.seconds:.0f} s"]
    return [*asked, worst, "" if p.slowest is None else f"{p.slowest:,}", f"{p.seconds:.0f} s", *checked]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.ensembles", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="rows whose name has this in it; needs --out")
    parser.add_argument("--out", type=Path, help=f"the page; {PAGE.relative_to(ROOT)}")
    options = parser.parse_args(arguments)
    try:
        if options.only and options.out is None:
            raise InputError("some rows are not the page; say with --out where they go")
        rows = []
        for case in (case for case in cases() if options.only in str(case)):
            rows.append(row(case))
            tell("ensembles: " + " | ".join(cells(rows[-1])))
        if not rows:
            raise InputError(f"no row has {options.only!r} in its name; leave --only out")
        command = "python -m bench.ensembles" + (f" --only '{options.only}'" if options.only else "")
        write_atomically(options.out or PAGE, page(rows, command).encode())
    except InputError as error:
        print(f"ensembles: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
