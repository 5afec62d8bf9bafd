"""A policy compared with its teacher: actions on rollouts and around all states, and both in the same networks.

The network drives the integer program, which the vectors and the proof hold the C to. A policy without a teacher runs
in the networks alone.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from decision.artefact.errors import InputError
from decision.ir.ranks import with_values
from decision.policy.deciders import Pupil
from decision.policy.network_policy import NetworkPolicy
from decision.policy.records import Trajectories
from decision.policy.student import Student
from distill.driving import LATER_PS
from emulator.shared_library import shared_library
from netsim.devices import chosen
from netsim.policies import Installed, PolicySpec, compiled, native
from netsim.policies import program as interpreted_program
from netsim.trials_ahead import run_ahead
from rlcc.commands.console import counted
from rlcc.gate import closed_loop, on_device
from rlcc.gate.certificate_check import network_of
from rlcc.gate.checks import all_states, neighbourhood, same_eyes, undefined_in_states, without_cells
from rlcc.gate.closed_loop import Entry, GateNetworks, PolicyMetrics
from rlcc.gate.fidelity import LATER, STUDENT, TEACHER
from rlcc.gate.job import Job, Pair
from rlcc.gate.judgement import StatesMet, sampling
from rlcc.gate.labels import check_unseen, labels_of
from rlcc.gate.neighbourhood import furthest
from rlcc.gate.network_cache import NetworkCache
from rlcc.gate.teacher_match import Errors, compare, driven_by, given_rollouts, own_rollouts
from rlcc.gate.triggers import Shares, share
from rlcc.gate.verdict import Check
from verify.check.refused import Refused
from verify.check.teacher_distance import distance_again
from verify.deviation.distance import distance
from verify.trusted.certificate import Certificate

NO_CELLS = "an int8 network has no thresholds, so no cells: states that no rollout holds are not looked into"
NO_DISTANCE = "these agents set knobs anew, not a multiplier of a rate; actions are compared on rollouts only"
SCORES = "its trees score the entries of a table; how far a score is from a teacher's action is not defined"
OTHER_EYES = "student and teacher do not observe or set the same"


def held_out(job: Job, pair: Pair) -> "HeldOut":
    """Returns the teacher's rollouts; they are read one after the other, unless they are needed again."""
    options, match, given = job.options, job.options.match, job.evidence.rollouts
    where, again = job.evidence.deployment, pair.pupil.trigger is not None
    job.say("actions beside the teacher's")
    if given is not None:
        if isinstance(pair.pupil, Student) and labels_of(pair.pupil) is not None:
            check_unseen(pair.pupil, given)
        read = given_rollouts(given, pair.teacher, where)
        return HeldOut(list(read) if again else read, f"rollouts {given.name}")
    made = own_rollouts(pair.teacher, match.scenarios or options.scenarios, match, where)
    return HeldOut(made, f"rollouts of seed {match.seed}")


@dataclass(frozen=True)
class HeldOut:
    """Trajectories of the teacher that no training saw, and their name."""

    runs: Iterable[Trajectories]
    named: str


def fired(job: Job, pair: Pair, held_out: HeldOut) -> Shares:
    """Returns how often triggers fire: the teacher's in its rollouts, the program's where it drives itself."""
    options, match = job.options, job.options.match
    names = match.scenarios or options.scenarios
    with _deciding(job, pair.pupil) as ours:
        driven = driven_by(ours, names, match, job.evidence.deployment)
    return Shares(share(driven), share(held_out.runs))


def compared(
    job: Job, pair: Pair, latency_ps: int, held_out: HeldOut, met: StatesMet
) -> tuple[Errors, list[PolicyMetrics]]:
    """Actions on held-out rollouts, then both in the same networks."""
    pupil = pair.pupil
    runs, named = met.watching(held_out.runs), held_out.named
    errors = compare(with_values(job.program), pupil.observation, pupil.params(), pair.teacher, runs, named)
    with _of_pair(job, pair, latency_ps) as entries:
        return errors, _in_networks(job, entries)


@contextmanager
def compared_ahead(job: Job, pair: Pair, latency_ps: int, networks: NetworkCache) -> Iterator[None]:
    """Simulates the networks of ``compared`` into ``networks`` as long as it lasts."""
    with _of_pair(job, pair, latency_ps) as entries, run_ahead(_networks(job).trials(entries), networks):
        yield


def alone(job: Job, policy: Pupil, latency_ps: int) -> list[PolicyMetrics]:
    """Returns the metrics of a policy without a teacher in the gate's networks."""
    with _deciding(job, policy) as ours:
        return _in_networks(job, [Entry(STUDENT, ours, latency_ps, sampling(len(job.options.scenarios)))])


def on_the_device(job: Job, policy: Pupil, device: str, latency_ps: int) -> tuple[list[Check], dict[str, Any]]:
    """Returns the checks on the device that the firmware is for, and the figures with their device model."""
    model, options = chosen(device), job.options
    job.say(f"on {model.name}")
    with _deciding(job, policy) as ours:
        found = on_device.run_on_device(
            ours,
            model,
            job.evidence.deployment,
            options.seeds,
            duration_ps=options.duration,
            window_ps=options.window,
            latency_ps=latency_ps,
            progress=job.say,
        )
    return on_device.checks(found, model), on_device.figures(found, model)


@contextmanager
def _of_pair(job: Job, pair: Pair, latency_ps: int) -> Iterator[list[Entry]]:
    """Yields student and teacher. Both decide as late as the student does on the core: their decisions are compared,
    not their speeds."""
    theirs = native(pair.teacher.policy, pair.teacher.weights)
    seen = sampling(len(job.options.scenarios))
    with _deciding(job, pair.pupil) as ours:
        yield [
            Entry(TEACHER, theirs, latency_ps, seen),
            Entry(STUDENT, ours, latency_ps, seen),
            Entry(LATER, theirs, latency_ps + LATER_PS),
        ]


def _in_networks(job: Job, entries: list[Entry]) -> list[PolicyMetrics]:
    """Returns the metrics of every entry in the gate's networks."""
    keep = job.evidence.networks or NetworkCache(stored=job.evidence.remembered.use)
    reused = keep.reused
    found = closed_loop.run(entries, _networks(job), keep, job.say)
    if keep.reused > reused:
        job.evidence.remembered.hits.append(counted(keep.reused - reused, "network run"))
    return found


def _networks(job: Job) -> GateNetworks:
    return job.options.networks(job.evidence.deployment)


@contextmanager
def _deciding(job: Job, pupil: Pupil) -> Iterator[PolicySpec]:
    """The integer program, interpreted; of a network, whose operator the simulator does not have, the C that is as rlcc
    emits it, compiled for this machine."""
    installed = Installed.of(pupil, job.program)
    if job.program.network is None:
        yield interpreted_program(job.program, installed)
        return
    with shared_library(job.build.firmware) as library:
        yield compiled(library, installed)


def around_the_states(job: Job, pair: Pair, certificate: Certificate | None) -> tuple[list[Check], dict[str, Any]]:
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
