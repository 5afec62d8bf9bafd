"""The gate's check of RV64 machine code, which has no certificate: a new proof of equality and safety, no cycles."""

from collections.abc import Callable

from emulator.build import Build
from emulator.firmware import SOURCE
from rlcc.gate.certified import Certified
from rlcc.gate.names import named


def runs_rv64(build: Build) -> bool:
    """Returns whether a build is for a core of 64 bits."""
    return build.engine.core.isa.startswith("rv64")


def proved_rv64(build: Build, progress: Callable[[str], None]) -> Certified:
    """Returns the check of a new proof. It passes only if the proof is finished."""
    from verify.rv64.equality import prove

    progress("proving the RV64 machine code")
    failure = prove(build).failure
    return Certified(
        named("proof.rv64")(
            value="equal, safe; no cycles proved" if failure is None else f"not proved: {failure.kind}",
            limit="equal to the program for all inputs, safe",
            passed=failure is None,
            detail="" if failure is None else f"{failure.text} {failure.shown}".strip(),
            file=SOURCE,
        ),
        None,
    )
