"""One build before the prover and before the checker, without a certificate between them."""

from decision.ir.program import Program
from emulator.build import Build
from emulator.layout import Layout
from emulator.profile import load_profile
from verify.check.judge import Judge
from verify.check.path_facts import Oracle
from verify.code.failures import Failure
from verify.prover.prove import ENTRY, Attempt, Limits, Proof, prove
from verify.trusted.costs import cycle_model

ENGINE = load_profile("ibex-small")
LIMITS = Limits(worst_seconds=1)


def proof_of(built: Build, program: Program | None = None, layouts: dict[str, Layout] | None = None) -> Proof:
    return prove(
        built.image,
        program or built.program,
        built.firmware.layouts if layouts is None else layouts,
        ENGINE,
        limits=LIMITS,
    )


def walked(built: Build) -> list[Failure]:
    """What the walk over all paths refuses, without the search for an input that goes before it in a proof."""
    model = cycle_model(ENGINE)
    return Attempt(built.image, built.program, built.firmware.layouts, ENGINE, model, LIMITS, care=1).execute()


def judged(built: Build, program: Program | None = None, layouts: dict[str, Layout] | None = None) -> int:
    """The checker's bound, without a certificate's cuts; Refused where a claim does not hold."""
    model, image = cycle_model(ENGINE), built.image
    structures = built.firmware.layouts if layouts is None else layouts
    stack = ENGINE.limits.stack_bytes
    return Judge(image, image.symbols[ENTRY], program or built.program, structures, (), model, stack, Oracle()).bound()
