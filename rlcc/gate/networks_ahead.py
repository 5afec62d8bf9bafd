"""The gate's networks, simulated while the proof runs: the proof has one thread, and simulations take the other
processors.

    with simulated_ahead(evidence, teacher_file, recipe) as evidence:
        ...  # the proof
        judge(..., evidence=evidence)

What a simulation gives depends neither on the proof nor on where and when it runs.
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from decision.artefact.processors import usable_cores
from decision.policy.deciders import Pupil
from netsim.places import Threads, at_place, current_place
from rlcc.gate.closed_loop import PolicyMetrics
from rlcc.gate.comparison import in_networks
from rlcc.gate.emission_check import checked_program
from rlcc.gate.gate import decision_latency_ps
from rlcc.gate.job import Evidence, Job, Pair, Progress
from rlcc.recipe import Recipe


class Stopped(Exception):
    """The block has ended; nobody waits for the rest."""


class NetworksAhead:
    """Simulations of a job on a thread of their own. ``wait`` returns their metrics, or raises their error."""

    def __init__(self, job: Job, pair: Pair, latency_ps: int, place: Threads) -> None:
        self._text, self._stopped = "networks", False
        self._listeners: list[Progress] = []
        pool = ThreadPoolExecutor(1)
        self._found: Future[list[PolicyMetrics]] = pool.submit(self._simulate, job, pair, latency_ps, place)
        pool.shutdown(wait=False)

    def _simulate(self, job: Job, pair: Pair, latency_ps: int, place: Threads) -> list[PolicyMetrics]:
        with at_place(place):
            return in_networks(replace(job, say=self._said), pair, latency_ps)

    def _said(self, text: str) -> None:
        if self._stopped:
            raise Stopped
        self._text = text
        for listener in self._listeners:
            listener(text)

    def wait(self, progress: Progress) -> list[PolicyMetrics]:
        self._listeners.append(progress)
        progress(self._text)
        return self._found.result()

    def stop(self) -> None:
        """Let the simulations that run end, and begin no other."""
        self._stopped = True


@contextmanager
def simulated_ahead(evidence: Evidence, teacher: Path, recipe: Recipe) -> Iterator[Evidence]:
    """Yields the evidence with the networks of its firmware, which simulations fill in meanwhile; ``teacher``: its
    file. The evidence stays as it is where the gate will not simulate, where there is one processor, and where
    simulations run elsewhere than on threads."""
    begun = _begun(evidence, teacher, recipe)
    if begun is None:
        yield evidence
        return
    try:
        yield replace(evidence, networks=begun.wait)
    finally:
        begun.stop()


def _begun(evidence: Evidence, file: Path, recipe: Recipe) -> NetworksAhead | None:
    place, build, report, teacher = current_place(), evidence.build, evidence.emulation, evidence.teacher
    if not isinstance(place, Threads) or build is None or report is None or teacher is None:
        return None
    others = (place.number or usable_cores()) - 1
    if not others or report.cycles is None or report.fault or report.mismatches:
        return None
    decider, program = checked_program(build.firmware.manifest)
    if not isinstance(decider, Pupil) or program.network is not None:  # the C of a network is compiled first
        return None
    pair = Pair(decider, teacher, file)
    job = Job(build, program, pair, recipe.emulate, recipe.gate, evidence, lambda text: None)
    return NetworksAhead(job, pair, decision_latency_ps(report), Threads(others))
