"""The gate's check of RV64 machine code: a new proof of equality and safety, which says nothing of cycles."""

from collections.abc import Callable
from typing import Any

from emulator.build import Build
from emulator.firmware import SOURCE
from emulator.profile import Profile
from rlcc.gate.names import named
from rlcc.gate.verdict import Check


def runs_rv64(engine: Profile) -> bool:
    """Returns whether an engine's core has 64 bits."""
    return engine.core.isa.startswith("rv64")


def outcome(value: str, *, proved: bool, refuted: bool, demanded: bool) -> dict[str, Any]:
    """Returns figure and outcome of a check that repeats a proof. If a proof is demanded, only a finished one passes.
    Otherwise only an input that shows a fault fails."""
    return {
        "value": value if demanded or proved else f"{value}, not demanded",
        "passed": proved or not (demanded or refuted),
    }


def proved_rv64(build: Build, demanded: bool, progress: Callable[[str], None]) -> Check:
    """Returns the check of a new proof of the decision."""
    from emulator.vectors import vectors_of
    from verify.rv64.equality import prove

    progress("proving the RV64 machine code")
    failure = prove(build, vectors_of(build.firmware)).failure
    value = "equal, safe; no cycles proved" if failure is None else f"not proved: {failure.kind}"
    return named("proof.rv64")(
        **outcome(value, proved=failure is None, refuted=bool(failure and failure.example), demanded=demanded),
        limit="equal to the program for all inputs, safe",
        detail="" if failure is None else f"{failure.text} {failure.shown}".strip(),
        file=SOURCE,
    )
