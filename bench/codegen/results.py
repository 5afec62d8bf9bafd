"""A contender on a model, a core and a compiler: measured, judged, and kept in a file named by all that it rests on."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.codegen import core
from bench.codegen.contender import ExporterRun, ExportSource, Takes
from bench.codegen.foreign_models import AnySubject
from bench.codegen.rows import Rows, cells
from decision.artefact.documents import dump_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import sha256
from decision.artefact.output import write_atomically
from emulator.compile import Compiler
from emulator.core import built_core
from emulator.profile import Profile

FORMAT = 2
"""Of a kept file."""

FLOAT_TOLERANCE = 2.0**-17
"""Half a unit of an action's last place. Sums in float32 and leaves printed with six decimals stay 10 times below it;
a wrong side of a threshold that changes the value by less changes nothing."""


@dataclass(frozen=True)
class ExportResult:
    """Cycles over the rows, ``all_worst`` over all cells of the input space; bytes; rows (and cells) whose value is
    wrong; the greatest distance of the right values from the library's own."""

    takes: Takes
    worst: int
    mean: float
    all_worst: int | None
    code_bytes: int
    library_bytes: int
    table_bytes: int
    wrong_edges: int
    wrong_others: int
    error: float

    @property
    def right(self) -> bool:
        return not self.wrong_edges and not self.wrong_others


@dataclass(frozen=True)
class CompiledPlace:
    """Place in which code runs."""

    profile: Profile
    compiler: Compiler

    @property
    def label(self) -> str:
        return f"{self.profile.name}, {self.compiler.name}"


@dataclass(frozen=True)
class ExportCase:
    """Inputs of all contenders for a model: rows, all cells, and its library's own predictions of the rows, [N] or
    [N, outputs]."""

    subject: AnySubject
    rows: Rows
    cells: NDArray[np.int64] | None
    expected: NDArray[np.float64]


def result(
    case: ExportCase, contender: ExporterRun, source: ExportSource, place: CompiledPlace, keep: Path
) -> ExportResult:
    """Measured, or read from ``keep``. InputError where the code does not compile, link or return."""
    path = keep / f"{_key(case, contender, source, place)}.json"
    try:
        return ExportResult(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        measured = measure(case, contender, source, place)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, dump_json(asdict(measured)).encode())
    return measured


def measure(case: ExportCase, contender: ExporterRun, source: ExportSource, place: CompiledPlace) -> ExportResult:
    every = None
    if _by_cells(case, contender):
        every = cells(case.subject, source.cuts) if source.cuts else case.cells
    tables = [case.rows.table] if every is None else [case.rows.table, every]
    built, calls = core.run_fresh(source, place.compiler, place.profile, tables)
    wrong, error = judge(case, source, calls[0].values)
    elsewhere = int(wrong[case.rows.edges :].sum())
    if every is not None:
        if calls[0].cycles.max() > calls[1].cycles.max():
            raise InputError("a row takes longer than every cell, so the code does more than compare with thresholds")
        elsewhere += int((calls[1].values != case.subject.evaluate(every)).sum())
    return ExportResult(
        takes=source.takes,
        worst=int(calls[0].cycles.max()),
        mean=round(float(calls[0].cycles.mean()), 1),
        all_worst=int(calls[1].cycles.max()) if len(calls) > 1 else None,
        code_bytes=built.code_bytes,
        library_bytes=built.library_bytes,
        table_bytes=built.table_bytes,
        wrong_edges=int(wrong[: case.rows.edges].sum()),
        wrong_others=elsewhere,
        error=error,
    )


def judge(case: ExportCase, source: ExportSource, values: NDArray[np.generic]) -> tuple[NDArray[np.bool_], float]:
    """Which rows are wrong in some output, and the greatest error of the others.

    Integers must equal the integer model's, bit for bit: the library's with leaves rounded once (distill.quantise,
    codegen.frontends). Floats must be within FLOAT_TOLERANCE of what the library itself predicts.
    """
    if source.gives == "int32":
        integers = values.astype(np.int64)
        wrong = integers != case.subject.evaluate(case.rows.table)
        error = np.abs(integers / (1 << case.subject.leaf_bits) - case.expected)
    else:
        error = np.abs(values.astype(np.float64) - case.expected)
        wrong = ~(error <= FLOAT_TOLERANCE)  # NaN is wrong
    if case.subject.outputs > 1:
        wrong, error = wrong.any(axis=1), error.max(axis=1)
    return wrong, float(error[~wrong].max(initial=0.0))


def _by_cells(case: ExportCase, contender: ExporterRun) -> bool:
    """Ours and the floors, which give integers, compare features with the model's own thresholds, and ours with cuts
    that it tells: a cell is a path."""
    return contender.kind != "peer" and case.cells is not None


def _key(case: ExportCase, contender: ExporterRun, source: ExportSource, place: CompiledPlace) -> str:
    """A hash of all that a result rests on."""
    own = [core.TRAMPOLINE, *sorted(core.SHIM.iterdir()), Path(core.__file__), Path(__file__)]
    parts = {
        "format": FORMAT,
        "by_cells": _by_cells(case, contender),
        "source": asdict(source),
        "compiler": place.compiler.version,
        "profile": place.profile.hash(),
        "core": built_core(place.profile.core).parent.name,
        "rows": sha256(case.rows.table.tobytes()),
        "expected": sha256(case.expected.tobytes()),
        "bench": [sha256(path.read_bytes()) for path in own],
    }
    return sha256(dump_json(parts).encode())
