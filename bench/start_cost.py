"""Proved cycles that a start (slow start, brake, recovery) and a cap on bytes in flight add to a decision's worst case.

    python -m bench.start_cost [--runs FOLDER] [--out FILE]

The students of RL-CC's MLP and of the flagship, as `rlcc run` left them: the trees stay, the header has or has not the
flagship's `[start]` and `[in_flight]`. Each is emitted as its recipe emits it, compiled, proved and its certificate
checked.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import BaseModel

from bench.shipped import CUT, start_with_cut
from codegen.emit import Emission, emission_of, emit_body
from codegen.tree_body import StudentBody
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.artefact.output import write_atomically
from decision.policy.policy import Header
from decision.policy.student import NAME, Student, load_student
from emulator.firmware_folder import built
from emulator.profile import load_profile
from emulator.run import run_vectors
from rlcc.commands.streams import tell
from rlcc.origin import made_by
from rlcc.reports.pages import table
from verify.check.recheck import recheck
from verify.check.refused import Refused
from verify.prover.certify import certify

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "results" / "start-cost.md"
STUDENTS = ("rl-cc", "robust-in-flight")
FLAGSHIP = "robust-in-flight"


@dataclass(frozen=True)
class StartCost:
    """``student``: the hash of the artefact with the trees. ``worst``: cycles that no input exceeds; ``exact``: one
    takes them. ``certificate``: its hash where it holds, else what its check says. Bytes."""

    student: str
    worst: int
    exact: bool
    certificate: str
    context: int
    code: int
    tables: int


def variants(student: Student, flagship: Student) -> Mapping[str, Student]:
    """Returns the variants by the tables of the flagship that they have, its start also with a cut by losses."""
    start: dict[str, BaseModel | None] = {"start": flagship.start}
    cut: dict[str, BaseModel | None] = {"start": flagship.start and start_with_cut(flagship.start)}
    cap: dict[str, BaseModel | None] = {"in_flight": flagship.in_flight}
    return {
        "trees alone": _with(student, {}),
        "start": _with(student, start),
        "start, loss cut": _with(student, cut),
        "cap": _with(student, cap),
        "start and cap": _with(student, start | cap),
        "start, loss cut and cap": _with(student, cut | cap),
    }


def _with(student: Student, tables: Mapping[str, BaseModel | None]) -> Student:
    """Returns the student with these tables of a flow and no others; its interface follows from them."""
    said = student.header.model_dump(mode="json", exclude={"start": True, "in_flight": True})
    said["observation"].pop("interface", None)
    said |= {name: its.model_dump(mode="json") for name, its in tables.items() if its is not None}
    return replace(student, header=Header.model_validate(said))


def cost(student: Student, artefact: str, emission: Emission) -> StartCost:
    """Returns the cost of the student, emitted in this way. InputError where it does not run or is not proved."""
    with TemporaryDirectory() as name:
        folder = Path(name) / "firmware"
        emit_body(StudentBody(student, artefact), folder, emission)
        build = built(folder, profile=load_profile("ibex-small"))
        ran = run_vectors(build)
        verification = certify(build)
        worst, certificate = verification.proof.worst, verification.certificate
        if ran.fault or worst is None or certificate is None:
            raise InputError(f"{student.name} is not proved: {ran.fault or verification.problem}")
        try:
            recheck(certificate, build)
            holds = certificate.hash[:12]
        except Refused as error:
            holds = f"refused: {error}"
    return StartCost(
        artefact,
        certificate.claims.worst_case.cycles,
        certificate.claims.worst_case.exact is not None,
        holds,
        ran.context_bytes or 0,
        ran.code_bytes or 0,
        ran.table_bytes or 0,
    )


def costs(runs: Path) -> dict[tuple[str, str], StartCost]:
    """Returns the costs by student and variant. InputError where a run is not there."""
    folders = {name: runs / name for name in STUDENTS}
    for name, folder in folders.items():
        if not (folder / "student").is_dir():
            raise InputError(f"{folder} has no student; run `rlcc run recipes/{name}.toml` first")
    students = {name: load_student(folder / "student" / NAME) for name, folder in folders.items()}
    found = {}
    for name, student in students.items():
        artefact = opened(folders[name] / "student", "student").hash
        emission = emission_of(opened(folders[name] / "firmware", "firmware"))
        for text, variant in variants(student, students[FLAGSHIP]).items():
            tell(f"start_cost: proving {name}, {text}")
            found[name, text] = cost(variant, artefact, emission)
    return found


def page(found: Mapping[tuple[str, str], StartCost], command: str) -> str:
    """The page as Markdown."""
    rows = [
        [
            f"[{name}](../../recipes/{name}.toml) {its.student[:12]}",
            text,
            str(its.worst) if its.exact else f"{its.worst}, a bound",
            f"{its.worst - found[name, 'trees alone'].worst:+d}",
            str(its.context),
            str(its.code),
            str(its.tables),
            its.certificate,
        ]
        for (name, text), its in found.items()
    ]
    head = ["student", "with", "cycles", "more", "context B", "code B", "tables B", "certificate"]
    return f"""# What a start and a cap cost
{made_by(command)}

This page shows the proved worst case of a whole decision on `ibex-small` (clang -O2), with and without two rules of
`robust-in-flight`: its [`[start]`](../reference/policy-toml.md#start) (slow start, brake, recovery) and its
[`[in_flight]`](../reference/policy-toml.md#in_flight), a cap on bytes in flight. A
[cut by losses](../reference/policy-toml.md#a-cut-by-losses) of {CUT:g} is another row of the start, which the shipped
policy leaves out. The trees of a row are those of its student.

No input takes more than *cycles*. An input that takes as many ran on the Verilated core, except in a row that says "a
bound". *More* is the difference from the trees alone. *Certificate* is the beginning of its hash; `verify/check`
checked each.

{table(head, rows)}"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.start_cost", description="What a start and a cap cost.")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs", help="finished runs; runs")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    try:
        write_atomically(options.out, page(costs(options.runs), "python -m bench.start_cost"))
    except InputError as error:
        print(f"start_cost: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
