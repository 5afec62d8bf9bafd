"""A point made whole, as `rlcc run` of its recipe makes it: student, firmware, proof; and the gate's networks.

Decisions there are as late as in the rollouts, whatever the point's own cycles are, so that all points are compared
with the same runs of their teacher.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from decision.artefact.manifest import opened
from decision.policy.deciders import student_of
from distill.driving import LATER_PS
from distill.rollout import teacher_policy
from emulator.build import build
from emulator.firmware_folder import read_firmware
from emulator.run import run_vectors
from netsim.deployment import Deployment
from netsim.policies import interpreted
from netsim.result_store import Kept
from rlcc import stages
from rlcc.gate import closed_loop
from rlcc.gate.closed_loop import Entry
from rlcc.gate.fidelity import LATER, STUDENT, TEACHER, compare
from rlcc.recipe import Recipe
from teachers.teacher import Teacher
from verify.prover.certify import unprovable


@dataclass(frozen=True)
class WholeEvaluation:
    """``cycles``: the worst case, ``proved`` for all inputs; where the recipe or the engine has no proof, of the
    slowest vector; None where something is refuted. ``error`` and ``noise``: of the network and metric that is furthest
    off in the means over the gate's seeds (``worst``), in units of what is allowed there; the noise is the teacher's
    own. ``problem``: why a figure is not there."""

    firmware: str
    cycles: int | None
    proved: bool
    context: int | None
    table: int | None
    code: int | None
    error: float | None
    noise: float | None
    worst: str
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        return dict(vars(self))


def made(
    recipe: Recipe,
    teacher: Teacher,
    rollouts: Path,
    folder: Path,
    deployment: Deployment,
    keep: Kept,
    progress: Callable[[str], None],
) -> WholeEvaluation:
    """Make a point in ``folder``. InputError where a stage cannot."""
    student, firmware, gate = folder / "student", folder / "firmware", recipe.gate
    stages.distill_recipe(recipe, teacher, rollouts, student, {}, progress, deployment, keep)
    stages.emit(student, recipe.emit, recipe.seed, firmware, {})
    manifest = opened(firmware, "firmware")
    image = build(read_firmware(manifest), recipe.emulate.toolchain())
    report = run_vectors(image, progress)
    cycles, problem = None if report.cycles is None else report.cycles.max, unprovable(image)
    proved = gate.proof and not problem
    if proved:
        verification = stages.verify(image, {}, progress)
        cycles = verification.certificate.claims.worst_case.cycles if verification.certificate else None
        problem = (
            ""
            if cycles is not None
            else "; ".join(f"{key}: {value}" for key, value in stages.proved(verification).items())
        )
    progress("in the gate's networks")
    latency = recipe.rollout.decision_latency
    theirs, ours = teacher_policy(teacher), interpreted(student_of(opened(student, "student")))
    outcomes = closed_loop.run(
        [Entry(TEACHER, theirs, latency), Entry(STUDENT, ours, latency), Entry(LATER, theirs, latency + LATER_PS)],
        gate.networks(deployment),
        keep,
        progress,
    )
    off = [(c.metric.off(c.difference) / c.allowed, c) for c in compare(outcomes, gate.tolerance) if c.allowed > 0]
    told = [(times, c) for times, c in off if isfinite(times)]
    if len(told) < len(off) or not told:
        problem = problem or "a metric could not be measured"
    times, worst = max(told, key=lambda one: one[0]) if told and len(told) == len(off) else (None, None)
    return WholeEvaluation(
        firmware=manifest.hash,
        cycles=cycles,
        proved=proved,
        context=manifest.details["context_bytes"],
        table=report.table_bytes,
        code=report.code_bytes,
        error=None if times is None else round(times, 6),
        noise=None if worst is None else round(worst.noise / worst.allowed, 6),
        worst="" if worst is None else f"{worst.metric.metric} {worst.difference:+.4f} in {worst.scenario}",
        problem=problem,
    )
