"""A verdict of an earlier firmware, and how much worse than it a new one is.

Only figures of the same engine, compiler and level compare; a verdict of FAIL is no reference.
"""

from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from decision.artefact.documents import load_json, validate
from decision.artefact.errors import InputError
from emulator.firmware import SOURCE
from emulator.report import EmulationReport
from rlcc.gate.names import named
from rlcc.gate.verdict import Check, parsed
from rlcc.reports.folder import JSON

MAX_FIGURE = 2**40
REMEDY = "make the reference again, by the recipe that made it,"


class _ReferenceCycles(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)
    max: int = Field(ge=0, le=MAX_FIGURE)


class _Emulation(BaseModel):
    """Part of ``measured.emulation`` that a comparison needs."""

    model_config = ConfigDict(frozen=True, strict=True)
    profile: str
    profile_hash: str
    compiler: str
    compiler_version: str
    opt: str
    cycles: _ReferenceCycles
    code_bytes: int = Field(ge=0, le=MAX_FIGURE)
    table_bytes: int = Field(ge=0, le=MAX_FIGURE)
    stack_bytes: int = Field(ge=0, le=MAX_FIGURE)


class _ReferenceFigures(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)
    emulation: _Emulation
    worst_case_cycles: int | None = Field(default=None, ge=0, le=MAX_FIGURE)


@dataclass(frozen=True)
class Reference:
    """Cycles and sizes of an earlier firmware."""

    where: str
    firmware: str
    figures: _ReferenceFigures


def read_reference(path: Path) -> Reference:
    """Returns the figures of the verdict.json in ``path``, a file or the folder of a verdict. InputError if it is none,
    or no PASS."""
    file = path / JSON if path.is_dir() else path
    verdict = parsed(load_json(file), str(file))
    if not verdict.passed:
        raise InputError(f"{file} is a {verdict.outcome}, and a reference is a PASS; {REMEDY}")
    figures = validate(_ReferenceFigures, verdict.measured, f"{file}: measured")
    return Reference(str(file), verdict.firmware, figures)


def check_same_engine(reference: Reference, report: EmulationReport) -> None:
    """InputError where the figures do not compare."""
    was = reference.figures.emulation
    pairs = [
        ("engine profile", was.profile_hash, report.profile_hash, was.profile, report.profile),
        ("compiler", was.compiler, report.compiler, was.compiler, report.compiler),
        (
            "compiler version",
            was.compiler_version,
            report.compiler_version,
            was.compiler_version,
            report.compiler_version,
        ),
        ("optimisation level", was.opt, report.opt, was.opt, report.opt),
    ]
    for what, old, new, old_name, new_name in pairs:
        if old != new:
            shown = f"{old_name}, not {new_name}" if old_name != new_name else f"another {old_name}"
            raise InputError(f"{reference.where} is of another {what} ({shown}); {REMEDY} with the same one")


def regression(
    reference: Reference, report: EmulationReport, proved: int | None, most: float, line: int = 0
) -> list[Check]:
    """Cycles, code, tables, stack: at most ``most`` (relative) above the reference's. ``line``: the C's costliest."""
    was = reference.figures.emulation
    rows: list[tuple[str, int, int | None, int]] = []
    if reference.figures.worst_case_cycles is not None and proved is not None:
        rows.append(("wcet", reference.figures.worst_case_cycles, proved, line))
    rows += [
        ("slowest_vector", was.cycles.max, report.cycles.max if report.cycles else None, line),
        ("code", was.code_bytes, report.code_bytes, 0),
        ("table", was.table_bytes, report.table_bytes, 0),
        ("stack", was.stack_bytes, report.stack_bytes, 0),
    ]
    return [
        named(f"regression.{figure}")(
            value="not known" if new is None else f"{new} ({_more(new, old)})",
            limit=f"{old} + {most:.4g} of it",
            passed=new is not None and new <= old * (1 + most),
            detail=f"the reference is firmware {reference.firmware[:12]}",
            file=SOURCE,
            line=at,
        )
        for figure, old, new, at in rows
    ]


def _more(new: int, old: int) -> str:
    return f"{new / old - 1:+.1%}" if old else f"{new - old:+d}"
