"""The gate's inputs: a firmware folder, its teacher, the options, and optional evidence."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from decision.ir.program import Program
from decision.policy.deciders import Pupil
from emulator.build import Build
from emulator.report import EmulationReport
from netsim.deployment import Deployment
from rlcc.gate.check_cache import Remembered
from rlcc.gate.network_cache import NetworkCache
from rlcc.gate.reference import Reference
from rlcc.recipe import EmulateOptions, GateOptions
from teachers.teacher import Teacher

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Evidence:
    """Optional evidence about a firmware folder.

    - ``certificate``: of its proof, by default the one in the same parent folder
    - ``rollouts``: held-out ones of the teacher, by default made here
    - ``reference``: the verdict of an earlier firmware
    - ``deployment``: the network, and the policies of its other agents
    - ``build`` and ``emulation``: of this very firmware on this engine, made by the same process
    - ``teacher``: as this process read it
    - ``networks``: the simulations of this process and of earlier ones, where they are not kept for this gate alone
    - ``recipe``: the file that holds these settings, if there is one
    """

    certificate: Path | None = None
    rollouts: Path | None = None
    reference: Reference | None = None
    remembered: Remembered = field(default_factory=Remembered)
    deployment: Deployment = field(default_factory=Deployment)
    build: Build | None = None
    emulation: EmulationReport | None = None
    teacher: Teacher | None = None
    networks: NetworkCache | None = None
    recipe: Path | None = None


@dataclass(frozen=True)
class Pair:
    """A student or a quantised network, and the teacher that it was made from."""

    pupil: Pupil
    teacher: Teacher
    file: Path


@dataclass(frozen=True)
class Job:
    """A firmware folder that is as rlcc emits it, and what it is judged by."""

    build: Build
    program: Program
    pair: Pair | None
    engine: EmulateOptions
    options: GateOptions
    evidence: Evidence
    say: Progress
