"""`rlcc gate`: is this firmware inside its budget, equal to the model, and as good as its teacher in the network?

Checks, in order: every file as rlcc emits it (before any compiler reads one), bit-equality on the core, object code
and sizes, the certificate of the proof, cycles against the budget and a reference, actions and closed loop against the
teacher. The closed loop drives the integer program, which the vectors and the proof hold the C to; the C itself runs in
the emulator only, unless it was asked for on this machine.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from codegen.differences import differences
from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened, opened, same_artefact
from decision.ir.program import Op
from decision.ir.ranks import with_values
from decision.policy.deciders import Decider, Pupil, decider_file, decider_kind
from decision.policy.student import Student
from emulator.build import build as build_firmware
from emulator.firmware import SOURCE, prefix_of, under
from emulator.firmware_folder import read_firmware
from emulator.host import HostReport, host_compilers, run_on_host
from emulator.report import EmulationReport
from emulator.run import run_vectors
from emulator.tree_inputs import tree_inputs
from rlcc.cycles.measure import PathCosts
from rlcc.evaluation import prediction
from rlcc.gate import on_device
from rlcc.gate.adapters import proved_adapters
from rlcc.gate.certified import PLACE, Certified, certified, not_demanded, not_provable
from rlcc.gate.checks import (
    US_PS,
    as_emitted,
    behaviour,
    budget,
    coverage,
    equality,
    not_judged,
    object_code,
    on_linux,
    sizes,
    without_thresholds,
)
from rlcc.gate.checks import teacher as teacher_checks
from rlcc.gate.comparison import alone, around_the_states, compared, fired, held_out, on_the_device
from rlcc.gate.emission_check import checked_program
from rlcc.gate.emulation_store import KIND as EMULATION
from rlcc.gate.emulation_store import stored_report
from rlcc.gate.fidelity import STUDENT, network
from rlcc.gate.fidelity import compare as compare_networks
from rlcc.gate.forms import forms_of
from rlcc.gate.hints import Request
from rlcc.gate.job import Evidence, Job, Pair, Progress
from rlcc.gate.judgement import Judgement, Sights, StatesMet
from rlcc.gate.labels import compare_labels, labels_of
from rlcc.gate.provenance import PARENTS, provenance
from rlcc.gate.reference import check_same_engine, regression
from rlcc.gate.requirements import measured as loop_figures
from rlcc.gate.requirements import required
from rlcc.gate.rv64 import proved_rv64, runs_rv64
from rlcc.gate.triggers import budget_by_trigger, mean_by_trigger, mean_not_judged
from rlcc.gate.verdict import Check, Group, Verdict, WorstPath
from rlcc.gate.worst_path import slowest_costs, worst_path
from rlcc.policies import kind_of
from rlcc.recipe import EmulateOptions, GateOptions
from teachers.load import load
from teachers.teacher import Teacher
from verify.behaviour.finding import Finding
from verify.prover.certify import unprovable
from verify.ranges.bound import Bound, bounded
from verify.trusted.certificate import Certificate

NOT_EMITTED = "C that is not as rlcc emits it is neither compiled nor run; emit the firmware again"
UNEQUAL = "a check of equality failed, so neither is compared with the teacher"
NO_HELD_OUT = "no --rollouts: import a log that the student was not fitted to, and give its rollouts"
NO_NETWORK = "decisions from a log, no teacher that could decide in a network"
NO_TEACHER = "a model made elsewhere, without a teacher to compare it with"
NO_POLICY = "a model without a policy, which decides for nobody in a network"
SIMULATED: tuple[Group, ...] = ("teacher", "network")
"""Groups of checks that run rollouts and networks; a quick verdict goes without them."""


def judge(
    firmware: Path,
    teacher: Path | None,
    engine: EmulateOptions,
    options: GateOptions,
    progress: Progress | None = None,
    *,
    evidence: Evidence | None = None,
    quick: bool = False,
) -> Judgement:
    """Run all checks; with the verdict comes what was seen on the way to it, which the report draws. ``quick``: without
    the groups ``SIMULATED``, which the verdict then names as not judged.

    A fault of the firmware is in the verdict; anything that keeps it from being judged is an InputError (edited folder,
    another teacher, missing compiler). A folder that is not as rlcc emits it is judged by that alone: its C is neither
    compiled nor run."""
    say = progress or (lambda _: None)
    asked = evidence or Evidence()
    if asked.build is not None and asked.build.firmware.folder != firmware:
        raise InputError(f"{firmware} is not the firmware that was built, {asked.build.firmware.folder}; build it anew")
    # Each file is read once, here or before; what was hashed is what is judged.
    manifest = asked.build.firmware.manifest if asked.build is not None else opened(firmware, "firmware")
    decider, program = checked_program(manifest)
    if options.device is not None:
        on_device.check_device(asked.deployment)
    carried = None if options.linux is None or quick else options.linux.grid(firmware)
    for contender in () if carried is None else carried.contenders:
        same_artefact(manifest, contender.hash)
    tools = engine.toolchain() if asked.build is None else asked.build.toolchain
    pair = _pair(decider, teacher, firmware, manifest.parents.get("teacher"), asked.teacher)
    policy = decider if isinstance(decider, Pupil) else None
    labelled = decider if pair is None and isinstance(decider, Student) and labels_of(decider) is not None else None
    reasons = {} if pair is not None or quick else _unjudgeable(policy, labelled is not None, asked)
    left_out = SIMULATED if quick else tuple(reasons)
    has_actions = pair is not None or labelled is not None
    if labelled is not None and options.require and not quick:
        raise InputError(
            "gate.require is of a network, in which a student of recorded labels is not judged; leave it out"
        )
    checks = as_emitted(differences(manifest, decider))
    checks.append(provenance(manifest, pair.teacher if pair and "teacher" in manifest.parents else None))
    measured: dict[str, Any] = {}
    path: WorstPath | None = None
    sights = Sights(manifest, decider, pair.teacher if pair else None)
    if checks[0].passed:
        build = asked.build or build_firmware(read_firmware(manifest), tools)
        job = Job(build, program, pair, engine, options, asked, say)
        core = _on_the_core(job, checks)
        checks, measured, path = core.checks, core.measured, core.path
        source = build.firmware.sources.text
        sights = replace(sights, certificate=core.certificate, costs=core.costs, source=source)
        for form in forms_of(manifest):
            found, measured[form.KEY] = form.judge(manifest, program, say, asked.remembered)
            checks += found
        if options.property:
            checks += _of_file(manifest, behaviour(_findings(job, core.certificate)))
        equal = all(check.passed for check in checks if check.group == "equality" and check.id != PARENTS)
        triggers = pair is not None and pair.pupil.trigger is not None and equal
        if triggers:
            checks += budget_by_trigger(core.report, options)
        if quick:
            checks += [mean_not_judged()] if triggers else []
        elif not equal:
            groups = _groups(options, has_actions, policy is not None)
            checks += not_judged([one for one in SIMULATED if one in groups and one not in left_out], UNEQUAL)
        elif labelled is not None:
            if asked.rollouts is not None:
                say("actions beside the labels")
                errors = compare_labels(with_values(program), labelled, asked.rollouts)
                checks += _of_file(manifest, teacher_checks(errors, options.match))
                measured["teacher"] = vars(errors)
        elif pair is None and policy is not None:
            outcomes = alone(job, policy, decision_latency_ps(core.report))
            sights = replace(sights, outcomes=tuple(outcomes))
            checks += _of_file(
                manifest, [*required(outcomes, options.require), *loop_figures(outcomes, options.require)]
            )
            measured["network"] = [outcome.to_json() for outcome in outcomes]
        elif pair is not None:
            runs = held_out(job, pair)
            met = StatesMet(pair.pupil, pair.teacher.policy)
            errors, outcomes = compared(job, pair, decision_latency_ps(core.report), runs, met)
            sights = replace(sights, states=met.rows(), outcomes=tuple(outcomes))
            if pair.pupil.trigger is not None:
                shares = fired(job, pair, runs)
                checks += mean_by_trigger(core.report, options, shares)
                measured["triggered"] = vars(shares)
            around, states = around_the_states(job, pair, core.certificate)
            comparisons = compare_networks(outcomes, options.tolerance)
            beside = [*teacher_checks(errors, options.match), *around]
            beside += network(outcomes, comparisons, options.tolerance)
            beside += required([one for one in outcomes if one.policy == STUDENT], options.require)
            checks += _of_file(manifest, beside)
            measured |= {"teacher": vars(errors), "network": [outcome.to_json() for outcome in outcomes]}
            measured["fidelity"] = [one.to_json() for one in comparisons]
            measured["closest_to_limit"] = (
                max(comparisons, key=lambda one: one.used).check().id if comparisons else None
            )
            measured |= states
        if options.device is not None and policy is not None and labelled is None and equal and not quick:
            rows, measured["device"] = on_the_device(job, policy, options.device, decision_latency_ps(core.report))
            checks += _of_file(manifest, rows)
        if carried is not None and equal:
            checks += _of_file(manifest, on_linux(prediction.hold(carried, say)))
        if opened(firmware, "firmware").hash != manifest.hash:
            raise InputError(f"{firmware} was changed while it was judged; judge it again")
    else:
        groups = _groups(options, has_actions, policy is not None)
        checks += not_judged([group for group in groups if group not in left_out], NOT_EMITTED)
    source = under(prefix_of(manifest), SOURCE)
    checks = [one.model_copy(update={"file": source}) if one.file == SOURCE else one for one in checks]
    verdict = Verdict(
        policy=decider.name,
        firmware=manifest.hash,
        student=manifest.parents.get("student", ""),
        teacher=pair.teacher.hash if pair is not None else manifest.parents.get("teacher", "") if policy else "",
        profile=tools.profile.label(),
        checks=checks,
        not_judged=list(left_out),
        reasons=reasons,
        worst_path=path,
        measured=measured,
    )
    return Judgement(verdict, sights)


def _groups(options: GateOptions, teaches: bool, steers: bool) -> list[Group]:
    """The groups of checks beyond that of the emitted files, of what has a teacher, and agents in a network."""
    groups: list[Group] = ["object code", "size", "proof", "budget"]
    groups += ["behaviour"] if options.property else []
    groups += ["teacher"] if teaches else []
    return groups + (["network"] if steers else [])


def _of_file(firmware: Opened, checks: Iterable[Check]) -> list[Check]:
    """They are about what decides, whatever C it became."""
    return [check.model_copy(update={"file": decider_file(firmware)}) for check in checks]


@dataclass(frozen=True)
class _OnTheCore:
    """Figures of the machine code."""

    report: EmulationReport
    checks: list[Check]
    certificate: Certificate | None
    """Where it holds."""
    measured: dict[str, Any]
    path: WorstPath | None
    costs: PathCosts | None


def _on_the_core(job: Job, emitted: list[Check]) -> _OnTheCore:
    """Everything that is about the machine code."""
    hosts: list[HostReport] = []
    if job.options.run_on_host:
        for name in host_compilers():
            job.say(f"vectors on the host, {name}")
            hosts.append(run_on_host(job.build.firmware, compiler=name))
    job.say("certificate")
    proof = _proof(job)  # first: a core that is missing is built next to it
    report = job.evidence.emulation
    if report is None:
        report = stored_report(
            job.build, job.build.firmware.folder.resolve().parent / EMULATION, job.evidence.remembered
        )
    if report is None:
        job.say("vectors on the core")
        report = run_vectors(job.build, job.say)
    reference = job.evidence.reference
    if reference is not None:
        check_same_engine(reference, report)
    certificate = proof.certificate
    proved = certificate.claims.worst_case.cycles if certificate else None
    job.say("lines of the worst path")
    ran = report.cycles is not None and not report.fault
    slowest = report.slowest.index if report.slowest else 0
    costs = slowest_costs(job.build, slowest, job.say, certificate=certificate) if ran else None
    path = worst_path(costs) if costs else None
    line = path.placed[0].line if path and path.placed else 0
    checks = [*equality(hosts, report), *emitted]
    if job.program.network is not None:
        checks += [without_thresholds("an int8 network")]
    elif all(node.op is not Op.TREES for node in job.program.nodes):
        checks += [without_thresholds("a hand-written algorithm")]
    else:
        checks += coverage(job.program, tree_inputs(job.build.firmware))
    checks += [*object_code(report), *sizes(report, job.build.engine.limits, job.options.sizes)]
    checks.append(proof.check)
    if runs_rv64(job.build.engine):
        checks.append(proved_rv64(job.build, job.options.proof, job.say))
    checks += proved_adapters(job.build.firmware, job.engine, job.options.proof, job.say)
    bound = None if job.options.proof and not unprovable(job.build) else _bound(job)
    checks += budget(report, job.options.budget, proved, bound=bound, margin=job.options.margin, line=line)
    if reference is not None:
        checks += regression(reference, report, proved, job.options.max_regression, line)
    measured: dict[str, Any] = {
        "emulation": report.to_json(),
        "certificate": certificate.hash if certificate else None,
        "worst_case_cycles": proved,
        "bound_cycles": bound,
    }
    return _OnTheCore(report, checks, certificate, measured, path, costs)


def _proof(job: Job) -> Certified:
    """The certificate, checked; a check that says so where none is demanded, one that fails where none can be."""
    path = job.evidence.certificate
    if not job.options.proof:
        return not_demanded()
    if path is None and (reason := unprovable(job.build)):
        return not_provable(reason)
    path = path or job.build.firmware.folder.resolve().parent / PLACE
    teacher, file = (job.pair.teacher, job.pair.file) if job.pair else (None, None)
    request = Request(job.evidence.recipe, file, job.options.neighbourhood.around)
    remembered = job.evidence.remembered
    return certified(job.build, path, job.engine, job.say, remembered, teacher=teacher, request=request)


def _bound(job: Job) -> int | None:
    """Cycles that no input takes more than; None where the engine's have no model, or the ranges are too wide."""
    try:
        found = bounded(job.build)
    except InputError:
        return None
    return found.cycles if isinstance(found, Bound) else None


def _findings(job: Job, certificate: Certificate | None) -> list[Finding]:
    """Returns the findings on the policy's behaviour: those of a certificate that holds, else decided here, each by two
    programs."""
    claimed = [] if certificate is None else certificate.behaviour
    asked = [(each, each.model_dump(mode="json")) for each in job.options.property]
    left = [each for each, table in asked if all(claim.asked != table for claim in claimed)]
    found = {
        each: [Finding(each.kind, **vars(told)) for told in claim.findings]
        for each, table in asked
        for claim in claimed
        if claim.asked == table
    }
    if left:
        from rlcc.gate.behaviour import decided_twice  # with the checker's solvers

        job.say("behaviour")
        found |= {each: list(findings) for each, findings in decided_twice(job.build.firmware, left, job.say).answers}
    nothing = [Finding("none", "a property without a finding", "undecided", "not decided")]
    return [finding for each, _ in asked for finding in found[each] or nothing]


def _unjudgeable(policy: Pupil | None, labelled: bool, evidence: Evidence) -> dict[Group, str]:
    """Returns the groups that cannot be judged without a teacher, and why.

    The reasons differ for a student of recorded labels (``labelled``), a model that is a policy, and any other model.
    """
    reasons: dict[Group, str] = {}
    if not labelled or evidence.rollouts is None:
        reasons["teacher"] = NO_HELD_OUT if labelled else NO_TEACHER
    if labelled or policy is None:
        reasons["network"] = NO_NETWORK if labelled else NO_POLICY
    return reasons


def _pair(
    decider: Decider, path: Path | None, firmware: Path, expected: str | None, loaded: Teacher | None
) -> Pair | None:
    """A student or a network with the teacher in ``path`` that it was made from, ``loaded`` before or read now; None
    for a model made elsewhere and a student of recorded labels, which have none. A model that is a policy may be set
    beside any teacher."""
    if not isinstance(decider, Pupil):
        if path is not None:
            raise InputError(f"{firmware} is of {decider_kind(decider)}, which has no teacher; judge it without one")
        return None
    read = isinstance(decider, Student) and bool(decider.model)
    if path is None:
        if read or labels_of(decider) is not None:
            return None
        raise InputError("rlcc gate needs --teacher or a --recipe that names one")
    if loaded is None and (kind := kind_of(path)) != "teacher":
        raise InputError(f"{path} is of kind {kind}, not the teacher that {firmware} is to be compared with")
    teacher = loaded or load(path)
    if not read and teacher.hash != expected:
        raise InputError(f"{firmware} was made from another teacher than {path}; give the one it came from")
    return Pair(decider, teacher, path)


def decision_latency_ps(report: EmulationReport) -> int:
    """Returns the mean time of a decision on the engine, in ps."""
    if report.cycles is None:
        raise InputError("the firmware did not run on the core, so its decision time is not known")
    return round(report.cycles.mean * US_PS / report.clock_mhz)
