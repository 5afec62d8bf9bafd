"""The gate's networks, simulated while the firmware is proved: neither needs the other.

The gate takes an outcome for its own if policy, network and seed are the same (netsim.trials.Trial.key), and simulates
whatever is missing. What runs ahead decides nothing else.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from decision.policy.deciders import Pupil
from rlcc.gate.comparison import compared_ahead
from rlcc.gate.emission_check import checked_program
from rlcc.gate.gate import decision_latency_ps
from rlcc.gate.job import Evidence, Job, Pair
from rlcc.recipe import EmulateOptions, GateOptions


@contextmanager
def networks_ahead(teacher: Path, engine: EmulateOptions, options: GateOptions, evidence: Evidence) -> Iterator[None]:
    """Simulates the networks of ``gate.judge`` into ``evidence.networks`` as long as it lasts; none for a firmware that
    was not emulated in this process, or does not pass there."""
    build, report = evidence.build, evidence.emulation
    if build is None or report is None or report.cycles is None or report.mismatches:
        yield
        return
    pupil, program = checked_program(build.firmware.manifest)
    assert isinstance(pupil, Pupil), "a run has emulated what it distilled"
    assert evidence.teacher is not None
    assert evidence.networks is not None
    pair = Pair(pupil, evidence.teacher, teacher)
    job = Job(build, program, pair, engine, options, evidence, say=lambda text: None)
    with compared_ahead(job, pair, decision_latency_ps(report), evidence.networks):
        yield
