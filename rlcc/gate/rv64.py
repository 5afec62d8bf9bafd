"""The gate's check of RV64 machine code: a new proof of equality and safety, which says nothing of cycles."""

from collections.abc import Callable

from emulator.build import Build
from emulator.firmware import SOURCE
from emulator.profile import Profile
from rlcc.gate.names import named
from rlcc.gate.verdict import Check


def runs_rv64(engine: Profile) -> bool:
    """Returns whether an engine's core has 64 bits."""
    return engine.core.isa.startswith("rv64")


def proved_rv64(build: Build, demanded: bool, progress: Callable[[str], None]) -> Check:
    """Returns the check of a new proof.

    If a proof is demanded, it passes only if the proof is finished. Otherwise it fails only on an input for which
    code and program differ."""
    from emulator.vectors import vectors_of
    from verify.rv64.equality import prove

    progress("proving the RV64 machine code")
    failure = prove(build, vectors_of(build.firmware)).failure
    value = "equal, safe; no cycles proved" if failure is None else f"not proved: {failure.kind}"
    return named("proof.rv64")(
        value=value if demanded or failure is None else f"{value}, not demanded",
        limit="equal to the program for all inputs, safe",
        passed=failure is None or not (demanded or failure.example),
        detail="" if failure is None else f"{failure.text} {failure.shown}".strip(),
        file=SOURCE,
    )
