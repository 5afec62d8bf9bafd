"""The gate's checks of a decision in logic: its vectors in Verilator, and a new proof that it equals the program."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from decision.artefact.extras import needed
from decision.artefact.manifest import Opened, sha256
from decision.ir.program import Program
from emulator.firmware import prefix_of, under
from rlcc.gate.names import named
from rlcc.gate.verdict import Check

Progress = Callable[[str], None]


def in_logic(firmware: Opened, program: Program, say: Progress) -> tuple[list[Check], dict[str, Any]]:
    """Returns the checks of a firmware's Verilog, and what they are about. InputError where a tool is missing."""
    with needed():
        from verify.rtl.equality import LogicUndecided, prove
        from verify.rtl.netlist import Refuted, read
        from verify.rtl.simulate import FOLDER, MODULE, simulate

    name = under(prefix_of(firmware), MODULE)
    file = f"{FOLDER}/{name}"
    say("vectors in logic")
    run = simulate(firmware, seed=1)
    vectors = named("equality.logic_vectors")(
        value=f"{run.differing} of {run.vectors} differ", limit="0 differ", passed=run.differing == 0, file=file
    )
    say("proving the logic")
    claim: dict[str, Any] = {"file": file, "sha256": sha256(firmware.content(file))} | firmware.details["rtl"]
    check = named("equality.logic")
    try:
        proved = prove(read(firmware.content(file), name.removesuffix(".v")), program)
    except (Refuted, LogicUndecided) as error:
        wrong = "not equal" if isinstance(error, Refuted) else "not decided"
        failed = check(value=wrong, limit="equal", passed=False, detail=str(error), file=file)
        return [vectors, failed], claim | {"proved": None}
    value = f"equal, {proved.stages} clocks, {proved.questions} questions proved"
    holds = proved.stages == firmware.details["rtl"]["stages"]
    detail = "" if holds else "the manifest says another number of clocks; emit the firmware again"
    return [vectors, check(value=value, limit="equal", passed=holds, detail=detail, file=file)], claim | {
        "proved": asdict(proved)
    }
