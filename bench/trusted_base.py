"""The trusted base of each claim: the files that its checker imports. Updates a section of
docs/explanation/soundness.md.

python -m bench.trusted_base
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from decision.artefact.output import write_atomically
from decision.artefact.sources import ROOT, imported

PAGE = ROOT / "docs" / "explanation" / "soundness.md"
HEADING = "## The trusted base"
PROVER = ("verify.prover.certify",)
CLAIMS = {
    "equality, safety, stack, bound of the worst case": ("verify.check.judge",),
    "the same of this image, compiled from the folder; cycles of the core as the certificate says": (
        "verify.check.recheck",
    ),
    "a whole certificate: the core's cycles measured again, too, on a core that is built": (
        "verify.check.recheck",
        "verify.check.on_core",
    ),
    "the same, with the build of that core": ("verify.check.recheck", "verify.check.on_core", "emulator.core"),
    "equality and safety of RV64 machine code: no cycles, no certificate": ("verify.rv64.equality",),
    "an adapter around the decision, on RV64": ("verify.adapter.prove",),
    "a distance from the teacher": ("verify.check.teacher_distance",),
    "properties of the policy": ("verify.check.behaviour",),
    "all of them, as `rlcc verify --check` and the gate ask": ("verify.check.boundary",),
}
REASONS = {
    "emulator/profile.py": "parameters of an engine, which a certificate states; contradictions are refused",
    "decision/ir/forest.py": "trees of a program and their values for the witness",
    "decision/ir/interfaces/flow_rate.py": "signals and ranges of a flow, to which a program refers by name; plausible "
    "values for test vectors stand next to them and are not needed",
    "decision/artefact/documents.py": "bounded and strict reading of untrusted JSON and TOML",
    "decision/ir/program.py": "the specification; every range is derived again when a program is read",
    "verify/trusted/certificate.py": "the form and the hash of a certificate",
    "emulator/compile.py": "the compilers; the image is made again from the C",
    "verify/trusted/execute.py": "the simulator, which runs the witness and is compared with the core",
    "decision/ir/interface.py": "the form of an interface",
    "emulator/rtl_run.py": "calls of functions on the built core, and its faults",
    "decision/artefact/manifest.py": "reading of an untrusted folder: names, links, sizes, hashes",
    "verify/trusted/machine.py": "the decoder of RISC-V instructions",
}
"""Files of over ``LARGE`` lines in the check of a whole certificate that the prover imports too, and their reasons."""
LARGE = 150
ROOMS = {
    "the checker": "verify/check/",
    "decoder, costs, simulator, certificate": "verify/trusted/",
    "RV64": "verify/rv64/",
    "adapters": "verify/adapter/",
    "solver's terms": "verify/terms/",
    "the program: the specification": "decision/ir/",
    "policies and students": "decision/policy/",
    "build, image, core": "emulator/",
    "files": "decision/artefact/",
}


@dataclass(frozen=True)
class Base:
    """Counts of Python files and lines; ``shared``: those that the prover imports too."""

    files: int
    lines: int
    shared_files: int
    shared_lines: int
    rooms: dict[str, int]
    """Lines per entry of ``ROOMS``."""


def python(modules: Iterable[str]) -> frozenset[Path]:
    """Returns the Python files of modules and of all that they import."""
    return frozenset(path for path in imported(modules, ROOT) if path.suffix == ".py")


def lines(paths: Iterable[Path]) -> int:
    return sum(path.read_text().count("\n") for path in paths)


def base(modules: Iterable[str]) -> Base:
    """Returns the counts for the modules that check a claim."""
    found = python(modules)
    shared = found & python(PROVER)
    rooms = {
        folder: lines(path for path in found if str(path.relative_to(ROOT)).startswith(folder))
        for folder in ROOMS.values()
    }
    return Base(len(found), lines(found), len(shared), lines(shared), rooms)


def section() -> str:
    """Returns the section of the page: heading, text, one row per claim."""
    head = ["claim", "checked by", "files", "lines", "imported by the prover too", *ROOMS]
    rows = [head, ["---"] * 2 + ["--:"] * (len(head) - 2)]
    for claim, modules in CLAIMS.items():
        found = base(modules)
        rows.append(
            [
                claim,
                ", ".join(f"`{module}`" for module in modules),
                f"{found.files}",
                f"{found.lines:,}",
                f"{found.shared_lines:,} in {found.shared_files}",
                *(f"{count:,}" if count else "" for count in found.rooms.values()),
            ]
        )
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    prover = python(PROVER)
    reasons = "\n".join(f"- `{path}` ({lines([ROOT / path]):,} lines): {reason}." for path, reason in REASONS.items())
    return f"""{HEADING}
The table counts the Python files behind each claim: all files that its checker imports, in any function. Lines include
comments. A reader who relies on a claim relies on these files and on Python, NumPy, pydantic, the SMT solver, the
compiler named in the certificate, Verilator and the core's RTL. The prover has {len(prover)} files with
{lines(prover):,} lines. `tests/rlcc/test_imports.py` limits what each room may import, with a mutant per room: the
checker imports nothing of the prover. Both read the same specification, structures, image and cycle costs. `python -m
bench.trusted_base` updates the table.

The first row judges a program and an image in memory. The second also reads the folder, compiles it and runs the
witness in the simulator. It takes the cycles of the core from the certificate, as with `--no-core`. The third measures
them again on an executable that is handed in; the fourth counts the files that build it from the core's RTL, too.
Distance and properties are decided by programs of their own, so the last row is no measure of a
certificate's cycles or equality.

{table}

The largest files of a whole certificate that the prover imports too, and the reason for each:

{reasons}
"""


def main() -> None:
    before, _, rest = PAGE.read_text().partition(f"{HEADING}\n")
    after = rest[rest.index("\n## ") :]
    write_atomically(PAGE, f"{before}{section()}{after}")


if __name__ == "__main__":
    main()
