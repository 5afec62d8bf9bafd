"""``recheck``: a certificate against the firmware folder it is for. Refused, or every claim found true again by the
cost model; what is measured on the core is in ``verify.check.on_core``."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from decision.artefact.documents import validate
from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened
from decision.ir.interpret import evaluate
from emulator.build import Build, build
from emulator.compile import toolchain
from emulator.firmware import firmware_of
from emulator.layout import outputs
from emulator.profile import Profile, core_version
from verify.check.effort import FULL, Effort, Spent
from verify.check.judge import Cut, Judge
from verify.check.path_facts import Oracle
from verify.check.refused import Refused
from verify.trusted.certificate import ASSUMPTIONS, Certificate, subject_of, witness_bytes
from verify.trusted.costs import CycleModel, cycle_model
from verify.trusted.execute import Execution, ExecutionFault, Simulator

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Recheck:
    """Results that the checker found by itself."""

    bound: int
    exact: bool
    stack_bytes: int
    paths: int
    questions: int
    solved: int
    solver: str
    engine: str
    profile_hash: str
    proved: int = 0
    """Questions that were impossible and have a proof of cvc5's; 0 where none was asked for."""
    open_steps: int = 0
    """Steps of these proofs that give no reason."""
    on_core: bool = False
    """Whether cost model and witness were measured on the core again: what the cycles of the claim rest on."""
    unmet: tuple[int, ...] = ()
    """Numbers of the cuts that no path comes to: without them the same paths are walked, but for a solver's time."""


def recheck(
    certificate: Certificate,
    built: Build,
    *,
    solver: str = "bitwuzla",
    progress: Progress | None = None,
    prove: Callable[[str], None] | None = None,
    effort: Effort = FULL,
    idle: bool = False,
) -> Recheck:
    """Check every claim; ``Refused`` names the first that does not hold, or that cannot be seen to with this effort.
    ``prove`` gets each question that the solver finds impossible; a cut that no path comes to may be ``idle``."""
    engine = built.engine
    model = cycle_model(engine)
    _same_subject(certificate, built)
    _same_engine(certificate, engine, model)
    cuts = tuple(
        Cut(c.pc, c.holds, {name: (low, high) for name, (low, high) in c.bounds.items()}) for c in certificate.cuts
    )
    oracle = Oracle(solver, prove=prove, most=effort.questions)
    entry = built.image.symbols[certificate.subject.entry]
    layouts = built.firmware.layouts
    judge = Judge(built.image, entry, built.program, layouts, cuts, model, engine.limits.stack_bytes, oracle, effort)
    worst = certificate.claims.worst_case
    run = _witness(certificate, built, model)
    if worst.exact is not None and not (model.exact and run.cycles == worst.exact == worst.rtl_cycles <= worst.bound):
        raise Refused(f"the witness takes {run.cycles} cycles, the certificate says {worst.exact} are exact")
    if not worst.rtl_cycles <= run.cycles <= worst.bound or (model.exact and run.cycles != worst.rtl_cycles):
        raise Refused(f"the witness takes {run.cycles} cycles by the cost model, {worst.rtl_cycles} by the certificate")
    if progress:
        progress("walking all paths of the machine code")
    try:
        bound, unmet = _walked(judge, certificate, idle, progress)
    except Spent:
        raise Refused(f"the solver would be asked more than {effort.questions} questions", unfinished=True) from None
    return Recheck(
        bound,
        worst.exact is not None,
        judge.deepest,
        judge.walked,
        oracle.asked,
        oracle.solved,
        solver,
        engine.name,
        engine.hash(),
        unmet=unmet,
    )


def _walked(
    judge: Judge, certificate: Certificate, idle: bool, progress: Progress | None
) -> tuple[int, tuple[int, ...]]:
    """Returns the bound on all paths' cycles, and the cuts that none comes to. Refused where the paths do not bear out
    what the certificate claims of cycles and stack."""
    cuts, overhead = judge.cuts, judge.model.overhead
    bound = judge.bound() + overhead
    unmet = tuple(number for number in range(len(cuts)) if number not in judge.met)
    if unmet and not idle:
        first = cuts[unmet[0]].pc
        raise Refused(f"no path comes to the cut at {first:#x} with what the certificate says is there", unmet)
    if judge.deepest > certificate.claims.stack_bytes:
        raise Refused(f"{judge.deepest} bytes of stack are used, the certificate says {certificate.claims.stack_bytes}")
    limit = certificate.claims.worst_case.cycles
    if bound > limit:
        if progress:
            progress(f"paths together may take {bound} cycles: looking for one above {limit}")
        try:
            if next(judge.dearer_chains(limit - overhead), None) is not None:
                raise Refused(f"there may be an input that takes more than the certificate's {limit} cycles")
        except Refused as error:
            error.bound = bound
            raise
    return bound, unmet


def rebuilt(certificate: Certificate, firmware: Path | Opened) -> Build:
    """The firmware compiled as the certificate says."""
    # A certificate holds what a profile means, without its reasons.
    stated = {
        name: part | {"reason": "as the certificate says"} if isinstance(part, dict) else part
        for name, part in certificate.engine.profile.items()
    }
    engine = validate(Profile, stated, "the certificate's engine profile")
    subject = certificate.subject
    return build_folder(firmware, profile=engine, compiler=subject.compiler, opt=subject.flags[-1])


def build_folder(firmware: Path | Opened, *, profile: Profile, compiler: str, opt: str) -> Build:
    """Returns a firmware folder, compiled. Raises ``Refused`` if its program has a network."""
    return build(firmware_of(firmware, _no_network), toolchain(profile, compiler, opt))


def _no_network(_: object) -> NoReturn:
    raise Refused("the program has a network, whose meaning this checker does not know")


def _same_subject(certificate: Certificate, built: Build) -> None:
    """The certificate is about this folder, these tools' code and nothing else."""
    theirs, ours = certificate.subject.model_dump(), subject_of(built).model_dump()
    for key in ours:
        if theirs[key] != ours[key]:
            what = next((f for f in ours[key] if ours[key][f] != theirs[key].get(f)), "") if key == "files" else ""
            raise Refused(f"the certificate is for another {what or key}: {theirs[key]} there, {ours[key]} here")
    if tuple(certificate.assumptions) != ASSUMPTIONS:
        raise Refused("the certificate states other assumptions than this checker knows")


def _same_engine(certificate: Certificate, engine: Profile, model: CycleModel) -> None:
    """The engine is the one that was calibrated, and the calibration is good."""
    stated, calibration = certificate.engine, certificate.engine.calibration
    here = core_version(engine.core)
    if stated.core != here or calibration.get("core") != stated.core:
        raise Refused(f"the certificate is for the core {stated.core}, here is {here}")
    if calibration.get("profile_hash") != engine.hash() or stated.model != model.kind:
        raise Refused("the certificate's calibration is of another engine")
    good = calibration.get("above") == 0 and calibration.get("wrong") == 0
    if not good or (model.exact and calibration.get("below") != 0):
        raise Refused("the certificate's calibration found a difference between cost model and core")


def _witness(certificate: Certificate, built: Build, model: CycleModel) -> Execution:
    """The witness run by the simulator: it computes what the program says."""
    worst = certificate.claims.worst_case
    simulator = Simulator(built.image, certificate.subject.entry, built.engine, built.blocks, model)
    layouts = built.firmware.layouts
    fields = {f"{name}.{field}" for name in layouts if name != "action" for field in layouts[name].fields}
    if set(worst.witness) != fields:
        raise Refused("the witness does not have the fields of the program's structures")
    try:
        run = simulator.call(witness_bytes(built, worst.witness))
    except InputError as error:
        raise Refused(str(error)) from None
    except ExecutionFault as error:
        raise Refused(f"the witness does not return: {error}") from None
    knobs, state = evaluate(built.program, *columns(worst.witness))
    said = {knob.name: value.item() for knob, value in zip(built.program.interface.knobs, knobs, strict=True)}
    said |= {f"context.{name}": value.item() for name, value in state.items()}
    written = {name: np.frombuffer(data, dtype=layouts[name].dtype) for name, data in run.written.items()}
    left = outputs(built.program, np.array([run.returned], dtype=np.uint32), written)
    if not {name: int(value[0]) for name, value in left.items()} == said == worst.outputs:
        raise Refused("the witness does not compute what the decision program says")
    return run


def columns(witness: dict[str, int]) -> list[dict[str, int]]:
    """A witness as decision.ir.interpret takes it: event, params, state."""
    return [
        {name.partition(".")[2]: value for name, value in witness.items() if name.startswith(f"{struct}.")}
        for struct in ("event", "params", "context")
    ]
