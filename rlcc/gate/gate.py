"""`rlcc gate`: is this firmware inside its budget, equal to the model, and as good as its teacher in the network?

Checks, in order: every file as rlcc emits it (before any compiler reads one), bit-equality on the core, object code
and sizes, the certificate of the proof, cycles against the budget and a reference, actions and closed loop against the
teacher. The closed loop drives the integer program, which the vectors and the proof hold the C to; the C itself runs in
the emulator only, unless it was asked for on this machine.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from codegen.differences import differences
from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened, opened, same_artefact
from decision.ir.program import Program
from decision.ir.ranks import with_values
from decision.policy.deciders import Decider, Pupil, decider_file
from decision.policy.model import Model
from decision.policy.network_policy import NetworkPolicy
from decision.policy.records import Trajectories
from decision.policy.student import Student
from distill.driving import LATER_PS
from emulator.build import Build
from emulator.build import build as build_firmware
from emulator.firmware import SOURCE, prefix_of, read_firmware, tree_inputs, under
from emulator.host import HostReport, host_compilers, run_on_host
from emulator.report import EmulationReport
from emulator.run import run_vectors
from emulator.shared import shared_library
from netsim.deployment import Deployment
from netsim.policies import Installed, PolicySpec, compiled, native
from netsim.policies import program as interpreted_program
from rlcc.cycles.measure import PathCosts
from rlcc.evaluation import prediction
from rlcc.gate import closed_loop
from rlcc.gate.certified import PLACE, Certified, certified, not_demanded, not_provable
from rlcc.gate.checks import (
    US_PS,
    all_states,
    as_emitted,
    behaviour,
    budget,
    coverage,
    equality,
    neighbourhood,
    not_judged,
    object_code,
    on_linux,
    same_eyes,
    sizes,
    undefined_in_states,
    without_cells,
    without_teacher,
    without_thresholds,
)
from rlcc.gate.checks import teacher as teacher_checks
from rlcc.gate.closed_loop import Entry, PolicyMetrics
from rlcc.gate.emitted import checked_program
from rlcc.gate.emulated import KIND as EMULATION
from rlcc.gate.emulated import kept
from rlcc.gate.fidelity import LATER, STUDENT, TEACHER, network
from rlcc.gate.fidelity import compare as compare_networks
from rlcc.gate.held import network_of
from rlcc.gate.hints import Request
from rlcc.gate.judgement import Judgement, Sights, StatesMet, sampling
from rlcc.gate.labels import compare_labels, labels_of
from rlcc.gate.neighbourhood import furthest
from rlcc.gate.provenance import PARENTS, provenance
from rlcc.gate.reference import Reference, check_same_engine, regression
from rlcc.gate.remembered import Remembered
from rlcc.gate.requirements import measured as loop_figures
from rlcc.gate.requirements import required
from rlcc.gate.teacher_match import Errors, compare, driven_by, given_rollouts, own_rollouts
from rlcc.gate.triggers import Shares, budget_by_trigger, mean_by_trigger, mean_not_judged, share
from rlcc.gate.verdict import Check, Group, Verdict, WorstPath
from rlcc.gate.worst_path import slowest_costs, worst_path
from rlcc.policies import kind_of
from rlcc.recipe import EmulateOptions, GateOptions
from teachers.load import load
from teachers.teacher import Teacher
from verify.behaviour.finding import Finding
from verify.check.beside import distance_again
from verify.check.refused import Refused
from verify.deviation.distance import distance
from verify.prover.certify import unprovable
from verify.ranges.bound import Bound, bounded
from verify.trusted.certificate import Certificate

Progress = Callable[[str], None]
NOT_EMITTED = "C that is not as rlcc emits it is neither compiled nor run; emit the firmware again"
UNEQUAL = "the machine code is not equal to its program, so neither is compared with the teacher"
NO_CELLS = "an int8 network has no thresholds, so no cells: states that no rollout holds are not looked into"
NO_DISTANCE = "these agents set knobs anew, not a multiplier of a rate; actions are compared on rollouts only"
NO_HELD_OUT = "no --rollouts: import a log that the student was not fitted to, and give its rollouts"
NO_NETWORK = "decisions from a log, no teacher that could decide in a network"
SCORES = "its trees score the entries of a table; how far a score is from a teacher's action is not defined"
OTHER_EYES = "student and teacher do not observe or set the same"
SIMULATED: tuple[Group, ...] = ("teacher", "network")
"""Groups of checks that run rollouts and networks; a quick verdict goes without them."""


@dataclass(frozen=True)
class Evidence:
    """What may come with a firmware folder. ``certificate``: of its proof, by default the one beside it; ``rollouts``:
    held-out ones of the teacher, by default made here; ``reference``: the verdict of an earlier firmware;
    ``deployment``: the network, and who decides there beside the student's agents; ``build`` and ``emulation``: of this
    very firmware on this engine, made by the same process; ``teacher``: as this process read it; ``recipe``: the file
    that says all this, where there is one."""

    certificate: Path | None = None
    rollouts: Path | None = None
    reference: Reference | None = None
    remembered: Remembered = field(default_factory=Remembered)
    deployment: Deployment = field(default_factory=Deployment)
    build: Build | None = None
    emulation: EmulationReport | None = None
    teacher: Teacher | None = None
    recipe: Path | None = None


@dataclass(frozen=True)
class _Pair:
    """A student or a quantised network, and the teacher that it was made from."""

    pupil: Pupil
    teacher: Teacher
    file: Path


@dataclass(frozen=True)
class _Job:
    """A firmware folder that is as rlcc emits it, and what it is judged by."""

    build: Build
    program: Program
    pair: _Pair | None
    engine: EmulateOptions
    options: GateOptions
    evidence: Evidence
    say: Progress


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

    What is wrong with the firmware is in the verdict; what keeps it from being judged is an InputError (edited folder,
    another teacher, missing compiler). A folder that is not as rlcc emits it is judged by that alone: its C is neither
    compiled nor run."""
    say = progress or (lambda _: None)
    asked = evidence or Evidence()
    if asked.build is not None and asked.build.firmware.folder != firmware:
        raise InputError(f"{firmware} is not the firmware that was built, {asked.build.firmware.folder}; build it anew")
    # Each file is read once, here or before; what was hashed is what is judged.
    manifest = asked.build.firmware.manifest if asked.build is not None else opened(firmware, "firmware")
    decider, program = checked_program(manifest)
    carried = None if options.linux is None or quick else options.linux.grid(firmware)
    for contender in () if carried is None else carried.contenders:
        same_artefact(manifest, contender.hash)
    tools = engine.toolchain() if asked.build is None else asked.build.toolchain
    pair = _pair(decider, teacher, firmware, manifest.parents.get("teacher"), asked.teacher)
    policy = None if isinstance(decider, Model) else decider
    labelled = decider if pair is None and isinstance(decider, Student) and labels_of(decider) is not None else None
    reasons = {} if labelled is None or quick else _unjudgeable(asked)
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
        job = _Job(build, program, pair, engine, options, asked, say)
        core = _on_the_core(job, checks)
        checks, measured, path = core.checks, core.measured, core.path
        source = build.firmware.sources.text
        sights = replace(sights, certificate=core.certificate, costs=core.costs, source=source)
        if options.property:
            checks += _of_file(manifest, behaviour(_findings(job, core.certificate)))
        equal = all(check.passed for check in checks if check.group == "equality" and check.id != PARENTS)
        triggers = pair is not None and pair.pupil.trigger is not None and equal
        if triggers:
            checks += budget_by_trigger(core.report, options)
        if quick:
            checks += [mean_not_judged()] if triggers else []
        elif policy is None:
            checks += without_teacher("teacher.actions", "network.closed_loop")
        elif not equal:
            groups = _groups(options, has_actions, policy is not None)
            checks += not_judged([one for one in SIMULATED if one in groups and one not in left_out], UNEQUAL)
        elif labelled is not None:
            if asked.rollouts is not None:
                say("actions beside the labels")
                errors = compare_labels(with_values(program), labelled, asked.rollouts)
                checks += _of_file(manifest, teacher_checks(errors, options.match))
                measured["teacher"] = vars(errors)
        elif pair is None:
            outcomes = _alone(job, policy, decision_latency_ps(core.report))
            sights = replace(sights, outcomes=tuple(outcomes))
            checks += without_teacher("teacher.actions")
            checks += _of_file(
                manifest, [*required(outcomes, options.require), *loop_figures(outcomes, options.require)]
            )
            measured["network"] = [outcome.to_json() for outcome in outcomes]
        else:
            runs = _held_out(job, pair)
            met = StatesMet(pair.pupil, pair.teacher.policy)
            errors, outcomes = _beside_the_teacher(job, pair, decision_latency_ps(core.report), runs, met)
            sights = replace(sights, states=met.rows(), outcomes=tuple(outcomes))
            if pair.pupil.trigger is not None:
                shares = _fired(job, pair, runs)
                checks += mean_by_trigger(core.report, options, shares)
                measured["triggered"] = vars(shares)
            around, states = _around_the_states(job, pair, core.certificate)
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
    """What the machine code came to."""

    report: EmulationReport
    checks: list[Check]
    certificate: Certificate | None
    """Where it holds."""
    measured: dict[str, Any]
    path: WorstPath | None
    costs: PathCosts | None


def _on_the_core(job: _Job, emitted: list[Check]) -> _OnTheCore:
    """Everything that is about the machine code."""
    hosts: list[HostReport] = []
    if job.options.run_on_host:
        for name in host_compilers():
            job.say(f"vectors on the host, {name}")
            hosts.append(run_on_host(job.build.firmware, compiler=name))
    report = job.evidence.emulation
    if report is None:
        report = kept(job.build, job.build.firmware.folder.resolve().parent / EMULATION, job.evidence.remembered)
    if report is None:
        job.say("vectors on the core")
        report = run_vectors(job.build, job.say)
    reference = job.evidence.reference
    if reference is not None:
        check_same_engine(reference, report)
    job.say("certificate")
    proof = _proof(job)
    certificate = proof.certificate
    proved = certificate.claims.worst_case.cycles if certificate else None
    job.say("lines of the worst path")
    ran = report.cycles is not None and not report.fault
    slowest = report.slowest.index if report.slowest else 0
    costs = slowest_costs(job.build, slowest, job.say, certificate=certificate) if ran else None
    path = worst_path(costs) if costs else None
    line = path.placed[0].line if path and path.placed else 0
    checks = [*equality(hosts, report), *emitted]
    if job.program.network is None:
        checks += coverage(job.program, tree_inputs(job.build.firmware))
    else:
        checks += [without_thresholds("an int8 network")]
    checks += [*object_code(report), *sizes(report, job.build.engine.limits, job.options.sizes)]
    checks += [proof.check]
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


def _proof(job: _Job) -> Certified:
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


def _bound(job: _Job) -> int | None:
    """Cycles that no input takes more than; None where the engine's have no model, or the ranges are too wide."""
    try:
        found = bounded(job.build)
    except InputError:
        return None
    return found.cycles if isinstance(found, Bound) else None


def _held_out(job: _Job, pair: _Pair) -> "_HeldOut":
    """The teacher's rollouts; read one after the other, unless they are needed again."""
    options, match, given = job.options, job.options.match, job.evidence.rollouts
    where, again = job.evidence.deployment, pair.pupil.trigger is not None
    job.say("actions beside the teacher's")
    if given is not None:
        read = given_rollouts(given, pair.teacher, where)
        return _HeldOut(list(read) if again else read, f"rollouts {given.name}")
    made = own_rollouts(pair.teacher, match.scenarios or options.scenarios, match, where)
    return _HeldOut(made, f"rollouts of seed {match.seed}")


@dataclass(frozen=True)
class _HeldOut:
    """Trajectories of the teacher that no training saw, and their name."""

    runs: Iterable[Trajectories]
    named: str


def _fired(job: _Job, pair: _Pair, held_out: _HeldOut) -> Shares:
    """How often triggers fire: the teacher's in its rollouts, the program's where it drives itself."""
    options, match = job.options, job.options.match
    names = match.scenarios or options.scenarios
    with _deciding(job, pair.pupil) as ours:
        driven = driven_by(ours, names, match, job.evidence.deployment)
    return Shares(share(driven), share(held_out.runs))


def _beside_the_teacher(
    job: _Job, pair: _Pair, latency_ps: int, held_out: _HeldOut, met: StatesMet
) -> tuple[Errors, list[PolicyMetrics]]:
    """Actions on held-out rollouts, then both in the same networks."""
    pupil = pair.pupil
    runs, named = met.watching(held_out.runs), held_out.named
    errors = compare(with_values(job.program), pupil.observation, pupil.params(), pair.teacher, runs, named)
    # Both decide as late as the student does on the core: their decisions are compared, not their speeds.
    theirs = native(pair.teacher.policy, pair.teacher.weights)
    seen = sampling(len(job.options.scenarios))
    with _deciding(job, pupil) as ours:
        entries = [
            Entry(TEACHER, theirs, latency_ps, seen),
            Entry(STUDENT, ours, latency_ps, seen),
            Entry(LATER, theirs, latency_ps + LATER_PS),
        ]
        return errors, _in_networks(job, entries)


def _alone(job: _Job, policy: Pupil, latency_ps: int) -> list[PolicyMetrics]:
    """A policy without a teacher in the gate's networks."""
    with _deciding(job, policy) as ours:
        return _in_networks(job, [Entry(STUDENT, ours, latency_ps, sampling(len(job.options.scenarios)))])


def _in_networks(job: _Job, entries: list[Entry]) -> list[PolicyMetrics]:
    """Returns the metrics of every entry in the gate's networks."""
    options = job.options
    return closed_loop.run(
        entries,
        options.scenarios,
        options.seeds,
        deployment=job.evidence.deployment,
        duration_ps=options.duration,
        window_ps=options.window,
        progress=job.say,
    )


@contextmanager
def _deciding(job: _Job, pupil: Pupil) -> Iterator[PolicySpec]:
    """The integer program, interpreted; of a network, whose operator the simulator does not have, the C that is as rlcc
    emits it, compiled for this machine."""
    installed = Installed.of(pupil, job.program)
    if job.program.network is None:
        yield interpreted_program(job.program, installed)
        return
    with shared_library(job.build.firmware) as library:
        yield compiled(library, installed)


def _findings(job: _Job, certificate: Certificate | None) -> list[Finding]:
    """What the policy does: as a certificate that holds has it, else decided here, each time by two programs."""
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


def _around_the_states(job: _Job, pair: _Pair, certificate: Certificate | None) -> tuple[list[Check], dict[str, Any]]:
    """Actions in every cell of the forest, also in states that no network here has met; and in all states, as the
    certificate has it, else where that can be proved. Three rows for every decider."""
    eyes, asked, teacher = same_eyes(pair.pupil, pair.teacher.policy), job.options.neighbourhood, pair.teacher
    nothing: dict[str, Any] = {"neighbourhood": None, "distance": None}
    if not pair.pupil.observation.agents.context:
        return [eyes, without_cells(NO_DISTANCE, passed=True), undefined_in_states(NO_DISTANCE)], nothing
    if not eyes.passed:
        return [eyes, without_cells(OTHER_EYES, passed=False), all_states(OTHER_EYES, asked)], nothing
    if isinstance(pair.pupil, NetworkPolicy):
        return [eyes, without_cells(NO_CELLS, passed=not asked.proof), all_states(NO_CELLS, asked)], nothing
    if pair.pupil.forest.outputs > 1:
        return [eyes, without_cells(SCORES, passed=not asked.proof), all_states(SCORES, asked)], nothing
    job.say("actions in the cells of the forest")
    outside = furthest(pair.pupil, teacher, asked)
    checks, measured = [eyes, neighbourhood(outside, asked)], {"neighbourhood": vars(outside)}
    claim = None if certificate is None else certificate.teacher
    if claim is None or (claim.share, claim.action) != (asked.share, asked.action):
        job.say("actions in all states")
        try:
            claim = distance(pair.pupil, teacher.policy, teacher.weights, teacher.hash, asked.around, job.say)
            distance_again(claim, pair.pupil, network_of(teacher), job.say)
        except (InputError, Refused) as error:
            return [*checks, all_states(str(error), asked)], measured | {"distance": {"refused": str(error)}}
    return [*checks, all_states(claim, asked)], measured | {"distance": claim.model_dump(mode="json")}


def _unjudgeable(evidence: Evidence) -> dict[Group, str]:
    """Returns the groups that cannot be judged of a student of recorded labels, and why."""
    reasons: dict[Group, str] = {} if evidence.rollouts is not None else {"teacher": NO_HELD_OUT}
    return reasons | {"network": NO_NETWORK}


def _pair(
    decider: Decider, path: Path | None, firmware: Path, expected: str | None, loaded: Teacher | None
) -> _Pair | None:
    """A student or a network with the teacher in ``path`` that it was made from, ``loaded`` before or read now; None
    for a model made elsewhere and a student of recorded labels, which have none. A model that is a policy may be set
    beside any teacher."""
    if isinstance(decider, Model):
        if path is not None:
            raise InputError(f"{firmware} is of a model made elsewhere, which has no teacher; judge it without one")
        return None
    read = isinstance(decider, Student) and bool(decider.model)
    if path is None:
        if read or labels_of(decider) is not None:
            return None
        raise InputError("rlcc gate needs --teacher or a --recipe that names one")
    if loaded is None and (kind := kind_of(path)) != "teacher":
        raise InputError(f"{path} is a {kind}, not the teacher that {firmware} is to be compared with")
    teacher = loaded or load(path)
    if not read and teacher.hash != expected:
        raise InputError(f"{firmware} was made from another teacher than {path}; give the one it came from")
    return _Pair(decider, teacher, path)


def decision_latency_ps(report: EmulationReport) -> int:
    """What a decision takes on the engine on average, in ps."""
    if report.cycles is None:
        raise InputError("the firmware did not run on the core, so its decision time is not known")
    return round(report.cycles.mean * US_PS / report.clock_mhz)
