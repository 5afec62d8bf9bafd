"""One student through emitter, compiler, prover and checker, or what is built already through the last two; these each
in a process of its own with so much CPU time and memory, since either may take for ever.
"""

import resource
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from bench.drawn.students import drawn, words
from bench.drawn.wide import drawn_wide, wide_words
from codegen.emit import emit
from codegen.lower import Options
from codegen.targets import BARE, TARGETS, unserved
from decision.artefact.errors import InputError
from decision.artefact.output import writing
from emulator.build import Build
from emulator.firmware_folder import built
from emulator.profile import load_profile
from rlcc.gate.certificate_check import only_bounded, that_holds
from verify.check.recheck import recheck
from verify.check.refused import Refused
from verify.prover.certify import certify
from verify.trusted.certificate import Certificate, CutClaim

Answer = TypeVar("Answer")
SPAWN = get_context("spawn")
"""A child that is forked has the memory that its parent has mapped, and the limit counts it."""
TARGETS_TRIED = (TARGETS["generic"], BARE)
"""The first that serves a student's agents is emitted for."""
MEMORY = 6 << 30
"""Bytes of a process."""


@dataclass(frozen=True)
class How:
    """How students are emitted and compiled, and how long (seconds of CPU) proof and check may take; 0: no check.
    ``wide``: those of ``wide.py``."""

    profile: str = "ibex-small"
    compiler: str = "clang"
    opt: str = "-O2"
    form: str = "auto"
    prover_seconds: int = 60
    checker_seconds: int = 120
    wide: bool = False


@dataclass(frozen=True)
class Proved:
    """``bound``, ``exact`` and what the ``slowest`` input takes that was found, in cycles; ``problem`` says why there
    is no certificate. CPU seconds and MiB. ``cuts``: the forms of its cuts that the checker tries, as is
    ``places`` of them."""

    bound: int = 0
    exact: int | None = None
    certificate: Certificate | None = None
    problem: str = ""
    seconds: float = 0.0
    mebibytes: int = 0
    slowest: int | None = None
    cuts: tuple[tuple[CutClaim, ...], ...] = ()
    places: bool = False


@dataclass(frozen=True)
class Checked:
    """``bound``: cycles that the certificate which holds claims at most, where the one made claims exact ones."""

    paths: int = 0
    questions: int = 0
    problem: str = ""
    seconds: float = 0.0
    mebibytes: int = 0
    bound: int | None = None


@dataclass(frozen=True)
class DrawnRow:
    seed: int
    student: str
    proved: Proved
    checked: Checked | None = None
    made_at: str = ""
    """The commit."""


def judged(seed: int, how: How) -> DrawnRow:
    """Returns the results of student number ``seed``."""
    student = drawn_wide(seed) if how.wide else drawn(seed)
    target = next(one.name for one in TARGETS_TRIED if unserved(one, student.observation.agents) is None)
    kind = wide_words(student) if how.wide else words(student)
    with TemporaryDirectory() as name:
        folder = Path(name)
        with writing(folder / "student", "student") as work:
            student.save(work)
        try:
            emit(folder / "student", folder / "firmware", target=target, options=Options(form=how.form))
            build = built(folder / "firmware", profile=load_profile(how.profile), compiler=how.compiler, opt=how.opt)
        except InputError as error:
            return DrawnRow(seed, kind, Proved(problem=f"not emitted: {error}"))
        return DrawnRow(seed, kind, *judged_build(build, how.prover_seconds, how.checker_seconds))


def judged_build(build: Build, prover_seconds: int, checker_seconds: int) -> tuple[Proved, Checked | None]:
    """Returns the prover's answer within the limit of CPU time, and the checker's answer to its certificate."""
    proved = _apart(_prove, (build,), prover_seconds)
    if isinstance(proved, str):
        return Proved(problem=proved, seconds=prover_seconds if proved == _over(prover_seconds) else 0.0), None
    if proved.certificate is None or not checker_seconds:
        return proved, None
    checked = _apart(_check, (proved, build), checker_seconds)
    return proved, Checked(problem=checked, seconds=checker_seconds) if isinstance(checked, str) else checked


def _prove(build: Build) -> Proved:
    begin = time.process_time()
    verification = certify(build)
    worst, problem = verification.proof.worst, verification.problem
    if verification.proof.failures:
        failure = verification.proof.failures[0]
        problem = f"{failure.kind}: {failure.text}"
    elif verification.certificate is None:
        problem = problem or "no worst case"
    bound, exact, slowest = (worst.bound, worst.exact, worst.witness_cycles) if worst else (0, None, None)
    spent = _spent(begin)
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    forms: list[tuple[CutClaim, ...]] = []
    if verification.certificate is not None and verification.cuts is not None:
        with suppress(MemoryError):  # the proof stands without them
            forms.extend(verification.cuts)
    places = verification.cuts is not None and verification.cuts.places
    return Proved(bound, exact, verification.certificate, problem, *spent, slowest, tuple(forms), places)


def _check(proved: Proved, build: Build) -> Checked:
    """All forms of the cuts take their time here, as in ``rlcc verify``."""
    begin = time.process_time()
    assert proved.certificate is not None
    try:
        kept, holds = that_holds(
            proved.certificate,
            proved.cuts,
            lambda made, effort: recheck(made, build, effort=effort, idle=True),
            quickly=proved.places,
        )
    except Refused as error:
        return Checked(0, 0, str(error), *_spent(begin))
    bound = kept.claims.worst_case.bound if only_bounded(proved.certificate, kept) else None
    return Checked(holds.paths, holds.questions, "", *_spent(begin), bound)


def _spent(begin: float) -> tuple[float, int]:
    return time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def _apart(work: Callable[..., Answer], arguments: tuple[object, ...], seconds: int) -> Answer | str:
    """Returns the result of ``work`` in a process of its own, or in a word why there is none. It ends with this process
    where that is told to (SIGTERM, Ctrl-C)."""
    ours, theirs = SPAWN.Pipe(duplex=False)
    child = SPAWN.Process(target=_child, args=(theirs, work, arguments, seconds), daemon=True)
    child.start()
    theirs.close()
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        answer: Answer | str = ours.recv()
    except EOFError:
        answer = _over(seconds)
    finally:
        child.kill()
        child.join()
        signal.signal(signal.SIGTERM, before)
    return answer


def _over(seconds: int) -> str:
    return f"over {seconds} s"


def _child(pipe: Connection, work: Callable[..., object], arguments: tuple[object, ...], seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, 10 * seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        pipe.send(work(*arguments))
    except MemoryError:
        pipe.send(f"over {MEMORY >> 30} GiB")
