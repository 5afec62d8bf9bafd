"""`rlcc verify FIRMWARE`: prove the compiled decision for all inputs, or check a certificate of it again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.markup import escape
from rich.table import Table

from decision.artefact.documents import validate
from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened
from decision.policy.neighbourhood import Around
from rlcc.commands.console import Figures, console, counted, stage
from rlcc.commands.model_options import given
from rlcc.commands.options import given_flags, not_within
from rlcc.gate.emission_check import emitted
from rlcc.gate.rv64 import runs_rv64
from rlcc.handlers import verify_adapter
from rlcc.recipe import EmulateOptions, load_recipe, teacher_path

if TYPE_CHECKING:
    from emulator.build import Build
    from emulator.compile import Toolchain
    from emulator.firmware import Firmware
    from rlcc.gate.forms import Form
    from teachers.teacher import Teacher
    from verify.behaviour.decide import Behaviour
    from verify.check.recheck import Recheck
    from verify.code.failures import Failure
    from verify.prover.certify import Verification
    from verify.trusted.certificate import Certificate
    from verify.trusted.deviation import TeacherClaim
    from verify.trusted.properties import Property


def handle(
    firmware: Path,
    profile: str | None,
    compiler: str | None,
    optimise: str | None,
    bound: bool,
    adapter: bool,
    out: Path | None,
    certificate: Path | None,
    solver: str,
    proofs: Path | None,
    no_core: bool,
    recipe_file: Path | None,
    properties: str | None,
    teacher: Path | None,
    around: float,
    around_action: float,
    max_outside: float | None,
    picture: Path | None,
    foreign: bool,
    time_limit: int,
) -> int:
    context = click.get_current_context()
    chosen = {"profile": profile, "compiler": compiler, "optimise": optimise}
    flags = given_flags(*context.params)
    said = flags.keys()
    if adapter:
        if others := said - {"firmware", "adapter", "profile", "compiler", "optimise", "foreign"}:
            raise InputError(f"--adapter proves the adapter alone; leave out {flags[min(others)]}")
        return verify_adapter.prove(emitted(firmware, foreign=foreign), chosen)
    if recipe_file is not None and (certificate is not None or bound):
        raise InputError("--recipe says what is to be proved; leave it out with --check and --bound")
    if certificate is not None:
        if out is not None:
            raise InputError("--check writes nothing; leave out --out")
        if bound:
            raise InputError("--check proves nothing; leave out --bound, or --check")
        if properties is not None:
            raise InputError("--check proves nothing; leave out --properties, or prove with it")
        if said & {"around", "around_action", "max_outside", "picture"}:
            raise InputError("--check takes the neighbourhood from the certificate; leave out --around and the like")
        read = emitted(firmware, foreign=foreign)
        _writable(proofs, firmware, "proofs.zip")
        return _check(certificate, read, chosen, solver, time_limit, teacher, proofs, core=not no_core)
    if no_core:
        raise InputError("--no-core is for --check; a proof calibrates its cost model on the core")
    if proofs is not None:
        raise InputError("--proofs is for --check; prove first, then check the certificate with it")
    if said & {"solver", "time_limit"}:
        raise InputError("--solver and --time-limit are for --check; the proof asks bitwuzla and z3")
    if teacher is None and recipe_file is None and said & {"around", "around_action", "max_outside", "picture"}:
        raise InputError("--around, --around-action, --max-outside and --picture are of a distance from --teacher")
    if picture is not None:
        from rlcc.reports.distance_picture import check_name

        not_within(firmware, picture)
        check_name(picture)
    _writable(out, firmware, "certificate.json")
    read = emitted(firmware, foreign=foreign)
    recipe = None if recipe_file is None else load_recipe(recipe_file)
    base = {} if recipe is None else recipe.emulate.model_dump()
    options = validate(EmulateOptions, base | given(chosen), "options of rlcc verify")
    if bound:
        if out is not None or properties is not None or teacher is not None:
            raise InputError("--bound says nothing of what is computed; leave out --out, --properties and --teacher")
        return _bound(read, options)
    wanted = _wanted(properties)
    near, required = Around(around, around_action), True
    if recipe is not None and recipe_file is not None:
        gate = recipe.gate.neighbourhood
        wanted = [*recipe.gate.property, *(wanted or [])] or None
        near = Around(
            around if "around" in said else gate.share, around_action if "around_action" in said else gate.action
        )
        required = teacher is not None or picture is not None or gate.proved_limit is not None
        teacher = teacher or teacher_path(recipe, recipe_file)
    beside = None
    if teacher is not None:
        from teachers.load import load

        beside = _Beside(load(teacher), near, max_outside, picture, required)
    return _prove(read, options, out, wanted, properties == "all" and recipe is None, beside)


def _holds(form: Form, firmware: Opened) -> bool:
    """Prints what holds of another form of the firmware's program, and returns whether all does."""
    from rlcc.gate.check_cache import Remembered
    from rlcc.gate.emission_check import checked_program

    with stage(form.KEY) as (figures, progress):
        checks, claims = form.judge(firmware, checked_program(firmware)[1], progress, Remembered())
        figures |= form.figures(checks, claims)
    for check in checks:
        if not check.passed:
            click.echo(f"{check.file}: {check.detail or check.value}")
    return all(check.passed for check in checks)


def _wanted(properties: str | None) -> list[Property] | None:
    from verify.trusted.properties import ALL, load_properties

    if properties is None:
        return None
    return (ALL if properties == "all" else load_properties(Path(properties))).property


@dataclass(frozen=True)
class _Beside:
    """The teacher that the student is set beside, what is around a state, and how far outside it may be. ``required``:
    it is an error where nothing can be proved of it."""

    teacher: Teacher
    around: Around
    limit: float | None
    picture: Path | None
    required: bool = True


def _writable(out: Path | None, firmware: Path, example: str) -> None:
    """A file goes neither into the firmware's folder, whose manifest would fail it, nor over a folder."""
    if out is None:
        return
    not_within(firmware, out)
    if out.is_dir():
        raise InputError(f"{out} is a folder; give the name of a file, for example {out / example}")


def _core_needed() -> None:
    """InputError where no core can be built, before minutes of work that end at the core."""
    from emulator.core import buildable

    if (reason := buildable()) is not None:
        raise reason


def _bound(firmware: Opened, options: EmulateOptions) -> int:
    from emulator.core import core_executable
    from verify.code.failures import Failure
    from verify.ranges.bound import bounded
    from verify.trusted.calibrate import calibrate

    _core_needed()
    with stage("verify") as (figures, progress):
        made = _compiled(firmware, options.toolchain(), options, figures)
        found = bounded(made)
        if isinstance(found, Failure):
            figures["no bound"] = f"{found.kind}: {found.text}"
            return 1
        progress("calibrating the cost model")
        calibration = calibrate(made.engine, core_executable(made.engine.core, progress), progress=progress)
        figures |= {
            "proved": "safe (equality with the program is not proved)",
            "WCET bound": f"{found.cycles} cycles = {made.engine.microseconds(found.cycles):.3f} us",
            "stack": f"{found.stack_bytes} B",
            "cost model": f"+{calibration.above}/-{calibration.below} cycles on {calibration.calls} random calls",
        }
    return 0 if calibration.holds else 1


def _prove(
    firmware: Opened,
    options: EmulateOptions,
    out: Path | None,
    asked: list[Property] | None,
    told: bool,
    beside: _Beside | None,
) -> int:
    """``told``: a property that does not hold is said, and no failure."""
    tools = options.toolchain()
    if runs_rv64(tools.profile):
        if out is not None:
            raise InputError(f"{tools.profile.name} runs RV64, of which there is no certificate; leave out --out")
        made = _prove_rv64(firmware, tools, options)
        return 1 if made is None or _others(firmware, made, asked, told, beside)[0] else 0
    verification = _prove_with_cycles(firmware, tools, options)
    if verification is None:
        return 1
    failed, claims = _others(firmware, verification.build, asked, told, beside)
    if out is not None:
        failed |= not _kept(verification, out, None if beside is None else beside.teacher, claims)
    return 1 if failed else 0


def _prove_with_cycles(firmware: Opened, tools: Toolchain, options: EmulateOptions) -> Verification | None:
    """Prints what is proved of the machine code; None where there is no certificate."""
    from rlcc import stages

    _core_needed()
    with stage("verify") as (figures, progress):
        verification = stages.verify(_compiled(firmware, tools, options, figures), figures, progress)
    for failure in verification.proof.failures:
        _failure(failure)
    for failure, run in verification.refuted:
        click.echo(f"input: {_outcome(failure.example)}")
        click.echo(f"  core: {run.fault or _outcome(run.outputs)}")
        click.echo(f"  program: {_outcome(run.expected)}")
    if verification.problem:
        click.echo(verification.problem)
    if verification.certificate is None:
        return None
    _table(verification)
    return verification


def _prove_rv64(firmware: Opened, tools: Toolchain, options: EmulateOptions) -> Build | None:
    """Prints what is proved of an RV64 engine's machine code; None where it is not equal, or not shown to be."""
    from rlcc import stages

    with stage("verify") as (figures, progress):
        made = _compiled(firmware, tools, options, figures)
        proof = stages.verify_rv64(made, figures, progress)
    if (failure := proof.failure) is None:
        return made
    _failure(failure)
    if failure.example:
        click.echo(f"input: {_outcome(failure.example)}")
        click.echo(f"  {failure.shown}")
    return None


def _compiled(firmware: Opened, tools: Toolchain, options: EmulateOptions, figures: Figures) -> Build:
    """Returns the build that is proved, its engine and compiler among the figures."""
    from emulator.build import build
    from emulator.firmware_folder import read_firmware

    made = build(read_firmware(firmware), tools)
    figures |= {"engine": made.engine.label(), "compiler": f"{options.compiler} {options.optimise}"}
    return made


def _failure(failure: Failure) -> None:
    click.echo(f"{failure.kind} at {failure.address:#x}: {failure.text}")


def _others(
    firmware: Opened, made: Build, asked: list[Property] | None, told: bool, beside: _Beside | None
) -> tuple[bool, dict[str, Any]]:
    """Prints what else is claimed: other forms of the program, its properties, its distance from the teacher. Returns
    whether something fails, and the claims for a certificate."""
    from rlcc import stages
    from rlcc.gate.forms import forms_of

    held = [_holds(form, firmware) for form in forms_of(firmware)]
    failed, claims = not all(held), dict[str, Any]()
    if asked is not None:
        with stage("behaviour") as (figures, progress):
            behaviour = stages.behaviour(made.firmware, asked, figures, progress)
        _findings(behaviour)
        failed, claims["behaviour"] = failed or (behaviour.failed and not told), behaviour.claims()
    if beside is not None and (claim := _distance(made.firmware, beside)) is not None:
        _furthest(claim, beside.limit)
        failed |= beside.limit is not None and claim.bound > beside.limit
        claims["teacher"] = claim
        if beside.picture is not None:
            _draw(firmware, beside.teacher, claim, beside.picture)
    return failed, claims


def _kept(verification: Verification, out: Path, teacher: Teacher | None, claims: dict[str, Any]) -> bool:
    """Whether the certificate was written: not where its own checker refuses it."""
    from rlcc import stages
    from rlcc.gate.check_cache import Remembered
    from verify.check.refused import Refused

    with stage("check") as (figures, progress):
        try:
            certificate = stages.keep_certificate(
                verification, out, claims, teacher=teacher, remembered=Remembered(), progress=progress
            )
        except Refused as error:
            figures["not written"] = f"the checker refuses the certificate: {error}"
            return False
        figures |= {"certificate": f"{certificate.hash[:12]} holds", "file": str(out)}
        figures |= stages.only_bounded(verification, certificate)
    return True


def _distance(firmware: Firmware, beside: _Beside) -> TeacherClaim | None:
    """None where nothing can be proved, and need not be. InputError where it must, or it is another's teacher."""
    from rlcc import stages

    with stage("teacher") as (figures, progress):
        try:
            return stages.distance(firmware, beside.teacher, beside.around, figures, progress)
        except InputError as error:
            if beside.required or firmware.manifest.parents.get("teacher") != beside.teacher.hash:
                raise
            figures["deviation"] = f"not proved: {error}"
            return None


def _draw(firmware: Opened, teacher: Teacher, claim: TeacherClaim, picture: Path) -> None:
    from decision.policy.deciders import student_of
    from rlcc.reports.distance_picture import draw

    draw(student_of(firmware), teacher, claim, picture)
    click.echo(f"picture   {picture}")


def _furthest(claim: TeacherClaim, limit: float | None) -> None:
    """The bound, and the state that nearly attains it."""
    (low, high), state = claim.around, " ".join(f"{name}={value}" for name, value in claim.witness.items())
    rows = [
        ("all states to 2^24", f"at most {claim.bound:.5f} outside", "" if limit is None else f"limit {limit:g}"),
        ("one state", f"at least {claim.reached:.5f} outside", state),
        ("there", f"student {claim.student:+.5f}", f"teacher {low:+.5f} to {high:+.5f} around it"),
    ]
    table = Table(box=None, pad_edge=False, show_header=False)
    for row in rows:
        table.add_row(*map(escape, row))
    console().print(table)


def _findings(behaviour: Behaviour) -> None:
    """Each property, and for each that fails an input that shows it."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for column in ("verdict", "property", "value"):
        table.add_column(column, overflow="fold")
    for finding in behaviour.findings:
        table.add_row(*map(escape, (finding.verdict, finding.says, finding.value)))
        if finding.shown:
            table.add_row("", "", escape(finding.shown))
    console().print(table)


def _table(verification: Verification) -> None:
    """Prints what was proved, how, and by which tools."""
    assert verification.certificate is not None
    assert verification.calibration is not None
    certificate, proof, calibration = verification.certificate, verification.proof, verification.calibration
    claims, worst = certificate.claims, certificate.claims.worst_case
    solvers = ", ".join(sorted({name for query in certificate.queries for name in query.solvers})) or "none needed"
    rows = [
        ("equality", "knobs and context are the program's", f"{certificate.cells} cells"),
        ("safety", "no load, store or jump out of bounds, no loop", "on every path"),
        ("stack", f"{claims.stack_bytes} B", "on every path"),
        ("worst case", worst.said, f"witness: {worst.rtl_cycles} cycles on the core"),
        (
            "",
            f"{verification.build.engine.microseconds(worst.cycles):.3f} us",
            f"at {verification.build.engine.clock.mhz:g} MHz",
        ),
        ("cost model", calibration.model, ""),
        ("solvers", f"{len(certificate.queries)} questions", f"{solvers}, {proof.seconds:.1f} s in all"),
        ("calibration", f"+{calibration.above}/-{calibration.below} cycles", f"{calibration.calls} random calls"),
    ]
    table = Table(box=None, pad_edge=False, show_header=False)
    for row in rows:
        table.add_row(*map(escape, row))
    console().print(table)


def _outcome(outputs: dict[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in outputs.items())


def _check(
    path: Path,
    firmware: Opened,
    asked: dict[str, str | None],
    solver: str,
    seconds: int,
    teacher: Path | None,
    proofs: Path | None,
    *,
    core: bool,
) -> int:
    """Check a certificate again, and say what it is of."""
    from emulator.profile import load_profile
    from rlcc.gate.certificate_check import network_of
    from rlcc.gate.certified import of_another
    from teachers.load import load
    from verify.check.boundary import CheckLimits, NoCore, checked
    from verify.check.refused import Refused
    from verify.trusted.certificate import read_certificate

    certificate = read_certificate(path)
    if teacher is not None and certificate.teacher is None:
        raise InputError(f"{path} says nothing of a teacher; leave out --teacher, or prove with it")
    beside = None if teacher is None else load(teacher)
    profile = None if asked["profile"] is None else load_profile(asked["profile"])
    with stage("verify") as (figures, progress):
        try:
            if wrong := of_another(certificate, profile, asked["compiler"], asked["optimise"]):
                raise Refused(wrong)
            limits = CheckLimits(seconds)
            recheck = checked(
                certificate,
                firmware,
                solver=solver,
                progress=progress,
                limits=limits,
                proofs=proofs,
                teacher=None if beside is None else network_of(beside),
                core=core,
            )
        except NoCore as error:
            raise InputError(f"{error}; with --no-core everything but the cycles on the core is checked") from None
        except Refused as error:
            figures["certificate"] = f"{certificate.hash[:12]} refused: {error}"
            return 1
        figures |= _held(certificate, recheck)
        figures |= {
            "paths": f"{recheck.paths:,}",
            "queries": f"{recheck.questions:,}, {recheck.solved:,} of them to {solver}",
        }
        if proofs is not None:
            figures["proofs"] = f"{recheck.proved} by cvc5 in {proofs}, {counted(recheck.open_steps, 'step')} left open"
        figures |= _besides(certificate, beside is not None)
    _print_subject(certificate, recheck)
    return 0


def _held(certificate: Certificate, recheck: Recheck) -> Figures:
    """Returns the claims on the machine code that hold; without the core no cycles are called measured."""
    worst = certificate.claims.worst_case.said
    figures = {
        "certificate": f"{certificate.hash[:12]} holds{'' if recheck.on_core else ', except on the core'}",
        "proved": "equal to the program for all inputs, safe",
        "stack": f"{recheck.stack_bytes} B",
        "WCET": worst if recheck.on_core else f"{worst} by a cost model that was not compared with the core",
    }
    return figures if recheck.on_core else figures | {"not run": "calibration and witness on the core"}


def _besides(certificate: Certificate, beside: bool) -> Figures:
    """Returns the certificate's other claims, and whether they were checked."""
    figures, claim = Figures(), certificate.teacher
    if certificate.behaviour:
        figures["behaviour"] = f"{counted(len(certificate.behaviour), 'property')} decided again"
    if claim is not None:
        how = "decided again" if beside else "not checked: give --teacher"
        figures["deviation"] = f"at most {claim.bound:.5f} from teacher {claim.teacher[:12]}, {how}"
    return figures


def _print_subject(certificate: Certificate, recheck: Recheck) -> None:
    """Prints the certificate's subject: engine, compiler, level, image; all of it was compared with what is here."""
    subject = certificate.subject
    click.echo(f"engine    {recheck.engine}, profile {recheck.profile_hash}, {certificate.engine.core}")
    click.echo(f"compiler  {subject.compiler} {subject.flags[-1]}, {subject.compiler_version}")
    click.echo(f"image     {subject.image}")
    click.echo(f"firmware  {subject.firmware}")
