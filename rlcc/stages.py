"""The stages of a run, each from artefacts to an artefact, with the figures of its line.

Imports of what a stage alone needs stand inside it: emit, emulate and gate must load neither torch nor CatBoost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from decision.artefact.errors import InputError
from decision.artefact.manifest import check_place, opened
from decision.policy.model import Model
from decision.policy.neighbourhood import Around
from distill.options import DistillOptions, RolloutOptions
from emulator.build import Build
from emulator.firmware import TREES_ONLY
from emulator.report import EmulationReport
from netsim.deployment import Deployment
from netsim.kept import Kept
from netsim.tolerance import DEFAULT, Tolerance
from rlcc.commands.console import Figures, Progress
from rlcc.recipe import EmitOptions, GateOptions, Neighbourhood, Recipe
from rlcc.replaced import other_versions, standing

if TYPE_CHECKING:
    from emulator.firmware import Firmware
    from rlcc.gate.remembered import Remembered
    from teachers.teacher import Teacher
    from verify.behaviour.decide import Behaviour
    from verify.prover.certify import Verification
    from verify.trusted.certificate import Certificate
    from verify.trusted.deviation import TeacherClaim
    from verify.trusted.properties import Property


def rollout(
    teacher: Teacher,
    options: RolloutOptions,
    out: Path,
    figures: Figures,
    progress: Progress,
    deployment: Deployment | None = None,
) -> None:
    """Watch the teacher decide; write the rollouts."""
    from distill import rollout as stage

    check_place(out, stage.KIND)
    runs = stage.collect(stage.teacher_policy(teacher), options, deployment, progress)
    rows = stage.write(runs, teacher, out, options, deployment)
    figures += [f"{rows:,} decisions of {teacher.policy.name} {teacher.hash[:12]} in {len(runs)} networks"]


def distill(
    teacher: Teacher,
    rollouts: Path,
    options: DistillOptions,
    network: RolloutOptions,
    seed: int,
    out: Path,
    figures: Figures,
    progress: Progress,
    deployment: Deployment | None = None,
    tolerance: Tolerance = DEFAULT,
    neighbourhood: Neighbourhood | None = None,
    keep: Kept | None = None,
) -> None:
    """Fit the student by DAgger; write student.json and student.cbm."""
    from distill import distil
    from distill import rollout as rollouts_stage
    from rlcc.outside import outside

    check_place(out, distil.KIND)
    before = standing(out, distil.KIND)
    parent = opened(rollouts, rollouts_stage.KIND)
    runs = list(rollouts_stage.read(parent, teacher, deployment))
    around = neighbourhood or Neighbourhood()
    fitted = distil.distil(
        teacher,
        runs,
        options,
        network,
        seed=seed,
        deployment=deployment,
        tolerance=tolerance,
        outside=lambda student: outside(student, teacher, around, options.max_deviation or 0.0),
        keep=keep,
        progress=progress,
    )
    distil.save(fitted, parent.hash, out, seed=seed)
    forest, report = fitted.student.forest, fitted.student.report
    thresholds = sum(len(values) for values in forest.thresholds().values())
    chosen = report["rounds"][report["chosen"]]
    figures += [
        f"{len(forest.trees)} trees of depth <= {forest.depth}, {thresholds} thresholds",
        f"best of {len(report['rounds']) - 1} DAgger rounds: {chosen['round']}",
        f"rmse {chosen['rmse']:.5f}",
        _off(chosen["distance"], report["noise"], tolerance),
        *([f"{report['outside']:.5f} outside its teacher's around a state at most"] if "outside" in report else []),
        *([_cost(options.monotone_decreasing, chosen, report, tolerance)] if options.monotone_decreasing else []),
        f"= CatBoost on {report['checked_points']:,} points",
        *other_versions(before, opened(out, distil.KIND)),
    ]


def distill_recipe(
    recipe: Recipe,
    teacher: Teacher,
    rollouts: Path,
    out: Path,
    figures: Figures,
    progress: Progress,
    deployment: Deployment,
    keep: Kept | None = None,
) -> None:
    """``distill`` with all that a recipe says of it: chosen by what its gate judges."""
    gate = recipe.gate
    distill(
        teacher,
        rollouts,
        recipe.distill,
        recipe.rollout,
        recipe.seed,
        out,
        figures,
        progress,
        deployment,
        gate.tolerance,
        gate.neighbourhood,
        keep,
    )


def _cost(decreasing: list[str], chosen: dict[str, Any], report: dict[str, Any], tolerance: Tolerance) -> str:
    """Returns the cost of the constraint, next to the same fit without it."""
    free = report["free"]
    without = f"rmse {free['fit_rmse']:.5f} of the fit, {_off(free['distance'], report['noise'], tolerance)}"
    return (
        f"monotone decreasing in {', '.join(decreasing)}: rmse {chosen['fit_rmse']:.5f} of the fit; without: {without}"
    )


WORDS = {
    "goodput": "goodput off the teacher's by {:.2%} of line rate",
    "latency": "mean latency off the teacher's by {:.2%}",
    "fairness": "Jain fairness below the teacher's by {:.4f}",
    "loss": "loss over the teacher's by {:.4%}",
}
"""For the metrics that are judged unless others are."""


NOISELESS = {0: "whose own noise is 0", None: "whose own noise could not be measured"}
"""Of a teacher."""


def _off(distance: dict[str, Any], noise: dict[str, Any], tolerance: Tolerance) -> str:
    """Where the student's network is furthest from its teacher's, and how that compares with the teacher's noise."""
    if distance["of_tolerance"] is None:
        return f"{distance['metric']} in {distance['scenario']} could not be measured"
    name, value = distance["metric"], distance["value"]
    most = f"{abs(value):.2%}" if tolerance[name].relative else f"{abs(value):.4g}"
    off = WORDS.get(name, f"{name} {'over' if value > 0 else 'below'} the teacher's by {most}").format(abs(value))
    own = noise["of_tolerance"]
    beside = f"{distance['of_tolerance'] / own:.1f} times the teacher's own noise" if own else NOISELESS[own]
    return f"{off} at most, in {distance['scenario']}, {beside}"


def not_served(details: dict[str, Any]) -> list[str]:
    """Which targets the firmware is without, and which drop a knob."""
    left_out = [f"without {name}: {reason}" for name, reason in details["left_out"].items()]
    dropped = details.get("dropped", {}).items()
    return left_out + [f"{name} has no setting for {', '.join(knobs)}" for name, knobs in dropped]


def emit(
    student: Path, options: EmitOptions, seed: int, out: Path, figures: Figures, dumps: Path | None = None
) -> None:
    """Write the firmware folder; into ``dumps`` the program and the trees after each pass."""
    from codegen.emit import emit as write_firmware

    details = write_firmware(
        student,
        out,
        dumps=dumps,
        target=options.target,
        seed=seed,
        options=options.compiler(),
        fix=tuple(options.constants),
    )
    points, form = details["threshold_points"], details["form"]
    figures += [
        f"{options.target}, context {details['context_bytes']} of {details['context_limit']} B",
        f"{form['form']}, {form['predicted']['tables']} B of tables" if form else "no trees",
        *not_served(details),
        f"{details['vectors']:,} vectors, {points['hit']} of {points['wanted']} threshold points hit",
    ]


def emulate(build: Build, figures: Figures, progress: Progress) -> EmulationReport:
    """Run every vector on the core, and time the naive if-else of the trees alone beside the whole decision."""
    from emulator.run import run_vectors

    report = run_vectors(build, progress)
    if report.cycles is None:
        figures.append(f"{report.profile}: did not run: {report.fault or '; '.join(report.forbidden)}")
        return report
    asked = build.program.forest.features  # none by constant trees, which are nothing to time
    alone = trees_only_cycles(build) if asked and TREES_ONLY in build.firmware.manifest.files else None
    figures += [
        f"{report.profile}: {report.cycles.mean:.0f} cycles mean, {report.cycles.max} max"
        f" = {report.cycles.max / report.clock_mhz:.3f} us at {report.clock_mhz:g} MHz",
        *([f"trees alone, naive, {alone[0]:.0f} mean, {alone[1]} max"] if alone else []),
        f"{report.vectors - report.mismatches:,} of {report.vectors:,} vectors equal",
        f"{report.code_bytes} B code, {report.table_bytes} B tables, {report.stack_bytes_measured} B stack",
    ]
    return report


def trees_only_cycles(build: Build) -> tuple[float, int]:
    """Mean and maximum cycles of trees_only.c on the feature rows of the vectors."""
    from emulator.firmware import tree_inputs
    from emulator.sources import read_sources
    from emulator.timing import time_function

    firmware = build.firmware
    # Past features of corrupted contexts may exceed int32; the trees' thresholds do not, so the order is kept.
    rows = np.minimum(tree_inputs(firmware), 2**31 - 1)
    sources = read_sources(firmware.manifest, TREES_ONLY)
    timing = time_function(sources, "rlcc_trees_only", rows, build.toolchain)
    return timing.cycles.mean, timing.cycles.max


def verify(build: Build, figures: Figures, progress: Progress) -> Verification:
    """Prove the machine code for all inputs; where it cannot be proved there is no certificate, which the gate then
    says."""
    from verify.prover.certify import certify

    verification = certify(build, progress=progress)
    figures += proved(verification)
    return verification


def keep_certificate(
    verification: Verification,
    out: Path,
    claims: Mapping[str, Any] = MappingProxyType({}),
    *,
    teacher: Teacher | None = None,
    remembered: Remembered | None = None,
    progress: Progress | None = None,
) -> Certificate:
    """Write the certificate of what was proved, with ``claims`` besides, once the checker has found it to hold, that of
    a distance with ``teacher``. Refused, and nothing written, where it does not."""
    from rlcc.gate.held import hold
    from verify.trusted.certificate import certificate_text, extended, write_certificate

    assert verification.certificate is not None
    certificate = extended(verification.certificate, **claims) if claims else verification.certificate
    content = certificate_text(certificate).encode()
    beside = None if certificate.teacher is None else teacher
    hold(certificate, content, verification.build, teacher=beside, progress=progress, remembered=remembered)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_certificate(certificate, out, [answer.question.text for answer in verification.proof.answers])
    return certificate


def certify(
    build: Build,
    teacher: Teacher,
    options: GateOptions,
    out: Path,
    figures: Figures,
    progress: Progress,
    remembered: Remembered | None = None,
) -> None:
    """Prove all that the gate asks for and can be proved, as one certificate: the machine code, what the policy does,
    how far it is from its teacher. One that the checker refuses is not written."""
    from verify.check.refused import Refused

    verification = verify(build, figures, progress)
    if verification.certificate is None:
        return
    claims = dict[str, Any]()
    if options.property:
        claims["behaviour"] = behaviour(build.firmware, options.property, figures, progress).claims()
    with suppress(InputError):  # of this teacher nothing is proved; the gate says why
        around = options.neighbourhood.around
        claims["teacher"] = distance(build.firmware, teacher, around, figures, progress)
    try:
        certificate = keep_certificate(
            verification, out, claims, teacher=teacher, remembered=remembered, progress=progress
        )
    except Refused as error:
        figures.append(f"no certificate: the checker refuses it: {error}")
        return
    figures.append(f"certificate {certificate.hash[:12]}")


def behaviour(firmware: Firmware, asked: Iterable[Property], figures: Figures, progress: Progress) -> Behaviour:
    """Decide what the policy does, by two programs."""
    from rlcc.gate.behaviour import decided_twice

    decided = decided_twice(firmware, asked, progress)
    verdicts = [finding.verdict for finding in decided.findings]
    counts = {verdict: verdicts.count(verdict) for verdict in ("holds", "found", "fails", "undecided")}
    figures += [f"{count} {verdict}" for verdict, count in counts.items() if count]
    return decided


def distance(
    firmware: Firmware, teacher: Teacher, around: Around, figures: Figures, progress: Progress
) -> TeacherClaim:
    """How far the student lies outside its teacher's actions around any state."""
    from rlcc.gate.emitted import checked_program
    from verify.deviation.distance import distance

    decider, _ = checked_program(firmware.manifest)  # or another student is bounded than is proved
    if isinstance(decider, Model):
        raise InputError(f"{firmware.folder} is of a model made elsewhere, which has no teacher")
    if firmware.manifest.parents.get("teacher") != teacher.hash:
        named = f"{teacher.policy.name} {teacher.hash[:12]}"
        raise InputError(f"{firmware.folder} was made from another teacher than {named}; give that one")
    claim = distance(decider, teacher.policy, teacher.weights, teacher.hash, around, progress)
    figures.append(f"{claim.bound:.5f} outside at most, {claim.reached:.5f} in one state")
    return claim


def proved(verification: Verification) -> list[str]:
    """What a proof came to, for the stage's line."""
    certificate = verification.certificate
    if certificate is None:
        reasons = [f"{failure.kind} at {failure.address:#x}" for failure in verification.proof.failures]
        return ["refuted" if verification.refuted else "not proved", *(reasons[:1] or [verification.problem])]
    worst = certificate.claims.worst_case
    return [
        "equal to the program for all inputs, safe",
        f"worst case {worst.said}",
        f"{verification.proof.seconds:.1f} s",
    ]
