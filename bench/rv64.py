"""Which firmwares are proved equal to their programs on RV64: a table of proofs, by both compilers.

python -m bench.rv64 FIRMWARE .. [--compiler clang --compiler gcc --results FILE --out FILE]
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from emulator.compile import COMPILERS
from emulator.firmware_folder import built
from emulator.vectors import vectors_of
from rlcc.origin import made_by
from rlcc.reports.pages import table
from verify.rv64.equality import TOTAL_SECONDS, prove

PAGE = Path(__file__).parents[1] / "docs" / "results" / "rv64.md"
PROFILE = "bluefield3-proxy"
HEADING = ["student", "compiler", "result", "instructions", "cuts", "questions", "CPU, s"]


@dataclass(frozen=True)
class Rv64Row:
    """One proof. ``reason``: of what is not proved; ``seconds``: CPU time, without the compiler's."""

    name: str
    compiler: str
    proved: bool
    reason: str
    instructions: int
    cuts: int
    questions: int
    seconds: float


def row(name: str, firmware: Path, compiler: str) -> Rv64Row:
    """Returns the result of one proof. InputError where it could not run."""
    build = built(firmware, profile=PROFILE, compiler=compiler)
    start = time.process_time()
    proof = prove(build, vectors_of(build.firmware))
    seconds = time.process_time() - start
    reason = "" if proof.failure is None else f"{proof.failure.kind}: {proof.failure.text}"
    return Rv64Row(
        name, compiler, proof.proved, reason, proof.instructions, proof.cuts, proof.questions, round(seconds, 1)
    )


def page(rows: Sequence[Rv64Row], command: str) -> str:
    """Returns the page."""
    proved = sum(one.proved for one in rows)
    cells = [
        [one.name, one.compiler, "proved" if one.proved else "not proved"]
        + [f"{count:,}" for count in (one.instructions, one.cuts, one.questions)]
        + [f"{one.seconds:.1f}"]
        for one in rows
    ]
    reasons = "".join(f"- {one.name}, {one.compiler}: {one.reason}\n" for one in rows if one.reason)
    return f"""# Which students are proved on RV64
{made_by(command)}

`rlcc verify --profile {PROFILE}` for each student, -O2: the machine code (rv64imac_zbb_zbs) equals the decision
program for all inputs, and is safe ([the claim](../reference/verify.md#rv64)). No cycles are proved. All questions of
a proof may take {TOTAL_SECONDS:g} s of CPU together. A cut is a term that was shown to be a node of the program.

- proved: {proved} of {len(rows)}

{table(HEADING, cells)}{f"{chr(10)}Reasons:{chr(10)}{chr(10)}{reasons}" if reasons else ""}"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.rv64", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("firmware", type=Path, nargs="+", help="RUN/firmware; its row has the name of RUN")
    parser.add_argument("--compiler", choices=COMPILERS, action="append", help="both")
    parser.add_argument("--results", type=Path, metavar="FILE", help="rows as JSON: those in it are not proved again")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    rows: list[Rv64Row] = []
    try:
        known = json.loads(options.results.read_text()) if options.results and options.results.exists() else []
        rows = [Rv64Row(**one) for one in known]
        for firmware in options.firmware:
            for compiler in options.compiler or COMPILERS:
                name = firmware.resolve().parent.name
                if any((one.name, one.compiler) == (name, compiler) for one in rows):
                    continue
                rows.append(row(name, firmware, compiler))
                print(rows[-1], flush=True)
                if options.results:
                    write_atomically(options.results, json.dumps([asdict(one) for one in rows], indent=1))
        rows.sort(key=lambda one: (one.name, one.compiler))
        write_atomically(options.out, page(rows, "python -m bench.rv64 RUN/firmware .."))
    except InputError as error:
        print(f"rv64: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
