"""The stages of a run, each from artefacts to an artefact, with the figures of its line.

Imports of what a stage alone needs stand inside it: emit, emulate and gate must load neither torch nor CatBoost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened, of_kind, opened
from decision.artefact.output import check_place
from decision.policy.actions import Table
from decision.policy.deciders import Pupil, decider_kind, student_of
from decision.policy.neighbourhood import Around
from decision.policy.student import Student
from distill.options import DistillOptions, RolloutOptions
from emulator.build import Build
from emulator.firmware import TREES_ONLY
from emulator.report import EmulationReport
from netsim.deployment import Deployment
from netsim.result_store import Kept
from netsim.tolerance import DEFAULT, Tolerance
from rlcc.commands.console import Figures, Progress, counted
from rlcc.recipe import EmitOptions, GateOptions, Neighbourhood, Recipe
from rlcc.version_changes import other_versions, standing

if TYPE_CHECKING:
    from decision.ir.forest import Forest
    from emulator.firmware import Firmware
    from rlcc.gate.check_cache import Remembered
    from rlcc.simulator.protocol import Simulator
    from teachers.teacher import Teacher
    from verify.behaviour.decide import Behaviour
    from verify.prover.certify import Verification
    from verify.rv64.equality import Rv64Proof
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
    figures |= {
        "teacher": f"{teacher.policy.name} {teacher.hash[:12]}",
        "networks": str(len(runs)),
        "decisions": f"{rows:,}",
    }


def import_log(
    log: Path | Mapping[str, Any],
    policy: Path,
    out: Path,
    columns: Sequence[str],
    teacher: Path | None,
    labels: str | Callable[..., Any] | None,
    allow_gaps: bool,
    figures: Figures,
    progress: Progress,
) -> None:
    """Turn a log, a file or columns by name, into rollouts with labels. ``labels``: a function, or its name."""
    from decision.policy.policy_header import load_policy_header
    from distill.log.files import columns_log, open_log
    from distill.log.importing import import_log as write
    from distill.log.labels import FunctionLabels, Labels, TeacherLabels
    from distill.rollout import KIND

    check_place(out, KIND)
    name, header = load_policy_header(policy)
    by: Labels | None = None
    if isinstance(labels, str):
        by = FunctionLabels.named(labels, header)
    elif labels is not None:
        by = FunctionLabels.of(labels, header)
    elif teacher is not None:
        by = TeacherLabels.of(teacher, policy, header)
    rows = open_log(log) if isinstance(log, Path) else columns_log(log, "log")
    made = write(rows, name, header, by, out, columns=columns, allow_gaps=allow_gaps, progress=progress)
    figures |= {
        "policy": name,
        "log": f"{counted(made.rows, 'decision')} of {counted(made.agents, header.observation.agents.agent)}"
        + (f" in {counted(made.runs, 'run')}" if made.runs > 1 else ""),
        "labels": {"column": "the log's own", "teacher": "teacher", "function": "function"}[made.labels["from"]]
        + (f" {made.labels['name']}" if "name" in made.labels else ""),
    }
    if made.gaps:
        figures["gaps"] = f"{made.gaps:,}; no label behind one counts before its history is whole"
    if made.unread:
        figures["taken as 0"] = ", ".join(made.unread) + " (no feature looks at them)"


def distill_recorded(
    rollouts: Path | Opened,
    options: DistillOptions,
    seed: int,
    out: Path,
    figures: Figures,
    progress: Progress,
    *,
    teacher: Teacher | None = None,
    simulator: str | Simulator | None = None,
    scenarios: Sequence[str] = (),
    function: Callable[..., Any] | None = None,
) -> None:
    """Fit the student to recorded labels; write student.json and student.cbm. ``simulator``: a command, or an object in
    Python, that DAgger rounds run in; ``function``: what labels there, where a function labelled the record."""
    from distill import distil
    from distill.log.record import read_recorded
    from distill.recorded_labels import Driving, distil_recorded
    from distill.student_artefact import KIND
    from rlcc.simulator.command import command_simulator
    from rlcc.simulator.protocol import driving, labels_for

    check_place(out, KIND)
    record = read_recorded(rollouts)
    progress("fit")
    if simulator is None:
        fitted = distil_recorded(record, options, seed=seed)
    else:
        labels = labels_for(record, teacher, function)
        opening = command_simulator(simulator) if isinstance(simulator, str) else nullcontext(simulator)
        with opening as running:
            rounds = Driving(driving(running, record, labels), scenarios or ("default",))
            fitted = distil_recorded(record, options, seed=seed, driving=rounds, progress=progress)
    distil.save(fitted, record.hash, out, seed=seed)
    report = fitted.student.report
    chosen = report["rounds"][report["chosen"]]
    figures |= {
        "student": _shape(fitted.student.forest),
        "fit error": f"{chosen['fit_rmse']:.5f} RMS of {counted(chosen['decisions'], 'decision')}",
    }
    if "rmse" in chosen:
        figures["best round"] = f"{chosen['round']} of {counted(len(report['rounds']) - 1, 'DAgger round')}"
        figures["own states"] = f"{chosen['rmse']:.5f} RMS where the student itself drove"
    figures |= {
        "network": "none of rlcc's: judge the match on held-out rollouts with rlcc gate --rollouts",
        "integers": f"equal to CatBoost on {fitted.points:,} points",
    }


def _shape(forest: Forest) -> str:
    """Returns trees, depth and thresholds."""
    thresholds = sum(len(values) for values in forest.thresholds().values())
    return f"{counted(len(forest.trees), 'tree')} of depth <= {forest.depth}, {counted(thresholds, 'threshold')}"


def distill(
    teacher: Teacher,
    rollouts: Path | Opened,
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
    cached: bool = False,
) -> None:
    """Fit the student by DAgger; write student.json and student.cbm. ``cached``: take the student of an earlier run
    with the same inputs. The rounds stand next to ``out`` until then: a distillation that was stopped goes on at its
    last one."""
    from distill.rollout import KIND as ROLLOUTS
    from distill.rounds import Rounds
    from distill.student_artefact import KIND
    from rlcc.student_cache import distillation_key, store, taken

    check_place(out, KIND)
    before = standing(out, KIND)
    parent = of_kind(rollouts, ROLLOUTS)
    around = neighbourhood or Neighbourhood()
    deciding = {
        "teacher": teacher.hash,
        "rollouts": parent.hash,
        "options": options,
        "network": network,
        "seed": seed,
        "deployment": deployment or Deployment(),
        "tolerance": tolerance,
        "neighbourhood": around,
    }
    key = distillation_key(deciding)
    rounds = Rounds(out.parent / f"{out.name}.rounds", key)
    if cached and taken(key, out):
        figures["cached"] = "student"
        rounds.discard()
    else:
        from distill import distil
        from distill import rollout as rollouts_stage
        from rlcc.deviating_states import outside

        fitted = distil.distil(
            teacher,
            list(rollouts_stage.read(parent, teacher, deployment)),
            options,
            network,
            seed=seed,
            deployment=deployment,
            tolerance=tolerance,
            outside=lambda student: outside(student, teacher, around, options.max_deviation or 0.0),
            keep=keep,
            rounds=rounds,
            progress=progress,
        )
        distil.save(fitted, parent.hash, out, seed=seed)
        rounds.discard()
        if cached:
            store(key, out)
        if rounds.reused:
            figures["resumed"] = f"{counted(rounds.reused, 'round')} taken from {rounds.folder}"
        if rounds.refused:
            figures["not resumed"] = f"from round {rounds.reused}: {rounds.refused}"
    made = opened(out, KIND)
    student = student_of(made)
    report = student.report
    chosen = report["rounds"][report["chosen"]]
    figures |= {
        "student": _shape(student.forest),
        "best round": f"{chosen['round']} of {counted(len(report['rounds']) - 1, 'DAgger round')}",
        "action error": f"{chosen['rmse']:.5f} RMS",
        "vs teacher": _off(chosen["distance"], report["noise"], tolerance),
    }
    if "outside" in report:
        figures["deviation"] = deviation_figure(report["outside"], neighbourhood)
    if options.monotone_decreasing:
        figures["monotone"] = _cost(options.monotone_decreasing, chosen, report, tolerance)
    figures["integers"] = f"equal to CatBoost on {report['checked_points']:,} points"
    figures |= other_versions(before, made)


def distill_recipe(
    recipe: Recipe,
    teacher: Teacher,
    rollouts: Path,
    out: Path,
    figures: Figures,
    progress: Progress,
    deployment: Deployment,
    keep: Kept | None = None,
    cached: bool = False,
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
        cached,
    )


def deviation_figure(most: float, gate: Neighbourhood | None) -> str:
    """Returns the student's deviation; where the gate's limit leaves it no margin, the limit and what to lower too."""
    text = f"at most {most:.5f} from the teacher's action range"
    if gate is None:
        return text
    limit = gate.limit if gate.proved_limit is None else min(gate.limit, gate.proved_limit)
    return text if most < limit else f"{text}; gate.neighbourhood's limit is {limit:g}: lower distill.max_deviation"


def _cost(decreasing: list[str], chosen: dict[str, Any], report: dict[str, Any], tolerance: Tolerance) -> str:
    """Returns the cost of the monotone constraints: this fit and the fit without them."""
    free = report["free"]
    without = f"fit RMSE {free['fit_rmse']:.5f}, {_off(free['distance'], report['noise'], tolerance)}"
    return f"decreasing in {', '.join(decreasing)}: fit RMSE {chosen['fit_rmse']:.5f}; unconstrained: {without}"


WORDS = {
    "goodput": "goodput differs by at most {:.2%} of line rate",
    "latency": "mean latency differs by at most {:.2%}",
    "fairness": "Jain fairness is at most {:.4f} lower",
    "loss": "loss is at most {:.4%} higher",
}
"""Largest difference from the teacher, by the metrics that are judged by default."""


NOISELESS = {0: "no teacher noise", None: "teacher noise could not be measured"}


def _off(distance: dict[str, Any], noise: dict[str, Any], tolerance: Tolerance) -> str:
    """Returns the largest difference from the teacher, its network, and its ratio to the teacher's noise."""
    if distance["of_tolerance"] is None:
        return f"{distance['metric']} in {distance['scenario']} could not be measured"
    name, value = distance["metric"], distance["value"]
    most = f"{abs(value):.2%}" if tolerance[name].relative else f"{abs(value):.4g}"
    off = WORDS.get(name, f"{name} is at most {most} {'higher' if value > 0 else 'lower'}").format(abs(value))
    own = noise["of_tolerance"]
    ratio = f"{distance['of_tolerance'] / own:.1f} times the teacher's noise" if own else NOISELESS[own]
    return f"{off} ({distance['scenario']}, {ratio})"


def not_served(details: Mapping[str, Any]) -> Figures:
    """Returns the targets that the firmware does not serve, and those without a setting for a knob."""
    left_out = {f"no {name}": reason for name, reason in details["left_out"].items()}
    dropped = details.get("dropped", {}).items()
    return left_out | {name: f"no setting for {', '.join(knobs)}" for name, knobs in dropped}


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
        prefix=options.prefix,
    )
    emitted_figures(details, figures)


def emitted_figures(details: Mapping[str, Any], figures: Figures) -> None:
    """Add what a firmware folder of trees for a target came to; ``details``: of its manifest."""
    points, form = details["threshold_points"], details["form"]
    figures |= {
        "target": details["target"],
        "context": f"{details['context_bytes']} of {details['context_limit']} B",
        "trees": f"{form['form']}, {form['predicted']['tables']} B of tables" if form else "none",
        **not_served(details),
        "vectors": f"{details['vectors']:,}, {points['hit']} of {points['wanted']} threshold points covered",
    }


def emulate(build: Build, figures: Figures, progress: Progress) -> EmulationReport:
    """Run every vector on the core, and time the naive if-else of the trees alone beside the whole decision."""
    from emulator.run import run_vectors

    report = run_vectors(build, progress)
    if report.cycles is None:
        figures |= {"engine": report.profile, "did not run": report.fault or "; ".join(report.forbidden)}
        return report
    asked = build.program.forest.features  # none by constant trees, which are nothing to time
    alone = trees_only_cycles(build) if asked and TREES_ONLY in build.firmware.manifest.files else None
    figures |= {
        "engine": f"{report.profile}, {report.clock_mhz:g} MHz",
        "decision": f"{report.cycles.mean:.0f} cycles mean, {report.cycles.max} cycles max"
        f" = {report.cycles.max / report.clock_mhz:.3f} us",
        **({"trees alone": f"{alone[0]:.0f} cycles mean, {alone[1]} cycles max (naive if-else)"} if alone else {}),
        "vectors": f"{report.vectors - report.mismatches:,} of {report.vectors:,} equal",
        "memory": f"{report.code_bytes} B code, {report.table_bytes} B tables, {report.stack_bytes_measured} B stack",
    }
    return report


def trees_only_cycles(build: Build) -> tuple[float, int]:
    """Mean and maximum cycles of trees_only.c on the feature rows of the vectors."""
    from emulator.sources import read_sources
    from emulator.timing import time_function
    from emulator.tree_inputs import tree_inputs

    firmware = build.firmware
    # Past features of corrupted contexts may exceed int32; the trees' thresholds do not, so the order is kept.
    rows = np.minimum(tree_inputs(firmware), 2**31 - 1)
    sources = read_sources(firmware.manifest, TREES_ONLY)
    timing = time_function(sources, firmware.named("rlcc_trees_only"), rows, build.toolchain)
    return timing.cycles.mean, timing.cycles.max


def verify(build: Build, figures: Figures, progress: Progress) -> Verification:
    """Prove the machine code for all inputs; where it cannot be proved there is no certificate, which the gate then
    says."""
    from verify.prover.certify import certify

    verification = certify(build, progress=progress)
    figures |= proved(verification)
    return verification


def verify_rv64(build: Build, figures: Figures, progress: Progress) -> Rv64Proof:
    """Prove the machine code of an RV64 engine for all inputs: equality and safety, no cycles and no certificate."""
    from emulator.vectors import vectors_of
    from verify.rv64.equality import prove

    progress("proving the machine code")
    proof = prove(build, vectors_of(build.firmware))
    if proof.failure is not None:
        word = "refuted" if proof.failure.example else "not proved"
        figures[word] = f"{proof.failure.kind} at {proof.failure.address:#x}"
        return proof
    figures |= {
        "proved": f"equal to the program for all inputs on {build.engine.core.isa}, safe",
        "stack": f"{proof.stack_bytes} B",
        "cycles": "not proved: no cycle model of this core",
        "questions": f"{proof.questions:,} to bitwuzla, {counted(proof.cuts, 'cut')}",
    }
    return proof


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
    a distance with ``teacher``. Cuts that no path comes to are left out. Refused, and nothing written, where the
    certificate does not hold."""
    from rlcc.gate.certificate_check import held_with
    from verify.prover.output import certificate_text, write_certificate
    from verify.trusted.certificate import extended

    assert verification.certificate is not None
    certificate = extended(verification.certificate, **claims) if claims else verification.certificate
    beside = None if certificate.teacher is None else teacher

    certificate = held_with(
        certificate,
        verification.cuts,
        verification.build,
        content=lambda made: certificate_text(made).encode(),
        teacher=beside,
        progress=progress,
        remembered=remembered,
    )
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
        figures["no certificate"] = f"the checker refuses it: {error}"
        return
    figures |= {"certificate": certificate.hash[:12], **only_bounded(verification, certificate)}


def only_bounded(verification: Verification, certificate: Certificate) -> dict[str, str]:
    """Returns the figure that says so, where the certificate that was made claims an exact worst case, and the one that
    holds a bound."""
    from rlcc.gate.certificate_check import only_bounded as weaker

    made = verification.certificate
    if made is None or not weaker(made, certificate):
        return {}
    held, exact = certificate.claims.worst_case.said, made.claims.worst_case.exact
    return {"certified": f"{held}; the checker does not follow that {exact} are exact"}


FOUND = {
    "holds": ("holds", "hold"),
    "found": ("measured (no limit)", "measured (no limit)"),
    "fails": ("fails", "fail"),
    "undecided": ("undecided", "undecided"),
}
"""Verdict of a property in words, singular and plural."""


def findings(verdicts: Sequence[str]) -> str:
    """Returns "2 properties hold, 1 fails"; the noun stands once."""
    counts = [(verdicts.count(kind), words) for kind, words in FOUND.items() if kind in verdicts]
    numbers = [counted(count, "property") if place == 0 else str(count) for place, (count, _) in enumerate(counts)]
    said = [f"{number} {words[count != 1]}" for number, (count, words) in zip(numbers, counts, strict=True)]
    return ", ".join(said) or "no property"


def behaviour(firmware: Firmware, asked: Iterable[Property], figures: Figures, progress: Progress) -> Behaviour:
    """Decide what the policy does, by two programs."""
    from rlcc.gate.behaviour import decided_twice

    decided = decided_twice(firmware, asked, progress)
    verdicts = [finding.verdict for finding in decided.findings]
    figures["behaviour"] = findings(verdicts)
    return decided


def distance(
    firmware: Firmware, teacher: Teacher, around: Around, figures: Figures, progress: Progress
) -> TeacherClaim:
    """How far the student lies outside its teacher's actions around any state."""
    from rlcc.gate.emission_check import checked_program
    from verify.deviation.distance import distance

    decider, _ = checked_program(firmware.manifest)  # or another student is bounded than is proved
    if not isinstance(decider, Pupil):
        raise InputError(f"{firmware.folder} is of {decider_kind(decider)}, which has no teacher")
    if isinstance(decider, Student) and isinstance(decider.action, Table) and decider.forest.outputs > 1:
        raise InputError(f"{firmware.folder} scores the entries of a table; leave --teacher out")
    read = isinstance(decider, Student) and bool(decider.model)
    if not read and firmware.manifest.parents.get("teacher") != teacher.hash:
        named = f"{teacher.policy.name} {teacher.hash[:12]}"
        raise InputError(f"{firmware.folder} was made from another teacher than {named}; give that one")
    claim = distance(decider, teacher.policy, teacher.weights, teacher.hash, around, progress)
    figures["deviation"] = f"at most {claim.bound:.5f} from the teacher's action range, at least {claim.reached:.5f}"
    return claim


def proved(verification: Verification) -> Figures:
    """Returns the result of a proof, for the stage's lines."""
    certificate = verification.certificate
    if certificate is None:
        reasons = [f"{failure.kind} at {failure.address:#x}" for failure in verification.proof.failures]
        return {"refuted" if verification.refuted else "not proved": (reasons or [verification.problem])[0]}
    return {
        "proved": "equal to the program for all inputs, safe",
        "WCET": certificate.claims.worst_case.said,
    }
