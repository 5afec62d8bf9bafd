"""The cycle model of Ibex, proved from its RTL.

    python -m bench.core_timing [PROFILE ..] [--out FILE]

For each engine: the states of the pipeline in which an instruction can begin, and that each instruction takes the
model's cycles from all of them. The claim and what it rests on: verify/core_timing/proof.py.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from emulator.profile import IbexCore, load_profile
from rlcc.origin import made_by
from rlcc.reports.pages import table
from verify.core_timing import ibex
from verify.core_timing.proof import InstructionCycles, differences, timing
from verify.rtl.netlist import Refuted
from verify.terms.bits import LogicUndecided
from verify.trusted.costs import cycle_model

PAGE = Path(__file__).resolve().parents[1] / "docs" / "results" / "core-timing.md"
PROFILES = ("ibex-small",)


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0 if every model is proved, 1 if one is refuted or undecided, 2 if a profile is no Ibex."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.core_timing", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("profile", nargs="*", default=PROFILES, help="an engine with an Ibex core")
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args(arguments)
    rows: list[list[str]] = []
    reasons: list[str] = []
    timings: dict[str, InstructionCycles] = {}
    try:
        for name in options.profile:
            print(f"{name}: reading the RTL", file=sys.stderr)
            begun = process_time()
            profile = load_profile(name)
            if not isinstance(profile.core, IbexCore):
                raise InputError(f"profile {name} is a {profile.core.kind}; this proof reads an Ibex")
            model = cycle_model(profile)
            differences(InstructionCycles(), model)
            netlist = ibex.netlist(profile.core)
            try:
                found = timing(
                    netlist, ibex.VIEW, progress=lambda text: print(f"  {text}", file=sys.stderr, flush=True)
                )
                sentences = differences(found, model)
            except (Refuted, LogicUndecided) as error:
                found, sentences = InstructionCycles(), [str(error)]
            timings[name] = found
            reasons += [f"- {name}: {sentence}" for sentence in sentences]
            counts = map(str, (found.states, found.questions, len(found.cycles)))
            rows.append([name, "not proved" if sentences else "proved", *counts, f"{process_time() - begun:.0f}"])
    except InputError as error:
        print(f"core_timing: {error}", file=sys.stderr)
        return 2
    write_atomically(options.out, page(rows, reasons, timings).encode())
    return 1 if reasons else 0


def page(rows: Sequence[Sequence[str]], reasons: Sequence[str], timings: dict[str, InstructionCycles]) -> str:
    """Returns the page as Markdown."""
    parts = [
        f"""# The cycle model, proved from the core's RTL
{made_by("python -m bench.core_timing")}

*Proved*: every instruction that a decision may be made of takes the cycles of the
[cost model](../explanation/soundness.md#the-cost-model), from every state of the pipeline in which it can begin. The
states are found from reset on; the values in registers and memories are arbitrary, and so are the words that are
fetched. The proof assumes that all instructions since the reset are of this kind, 32 bits wide at multiples of 4, that
accesses are aligned, memories without wait states, and no interrupt, fault or debugger. It believes Yosys' reader of
SystemVerilog, the emulator's three stubs of library cells, and Bitwuzla.

{table(["engine", "result", "states", "questions", "instructions", "CPU, s"], rows)}"""
    ]
    if reasons:
        parts.append("Reasons:\n\n" + "\n".join(reasons) + "\n")
    for name, found in timings.items():
        by_cycles: dict[str, list[str]] = {}
        for instruction, cycles in found.cycles.items():
            by_cycles.setdefault(" or ".join(map(str, sorted(cycles))), []).append(str(instruction))
        body = [[cycles, "; ".join(names)] for cycles, names in sorted(by_cycles.items())]
        parts.append(f"## {name}\n{table(['cycles', 'instructions'], body)}")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(main())
