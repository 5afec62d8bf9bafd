"""The outer boundary of the checker: whatever a certificate or a folder does, it holds or it is refused.

The check runs in a process of its own, in limits of time and memory. An expression that nests too deep, a term that
grows without end, a solver that takes all memory or breaks down end that process, and the answer is "refused".
"""

import os
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened, of_kind
from decision.artefact.output import write_atomically
from emulator.core import buildable, core_executable
from emulator.vectors import vectors_of
from verify.check.behaviour import behaviour_again
from verify.check.effort import FULL, Effort
from verify.check.on_core import calibrated_again
from verify.check.proofs import Contradiction, Proofs
from verify.check.recheck import Progress, Recheck, rebuilt, recheck
from verify.check.refused import Refused
from verify.check.subject import student_of
from verify.check.teacher_distance import TeacherNetwork, distance_again
from verify.trusted.certificate import Certificate
from verify.trusted.machine import IllegalInstruction


@dataclass(frozen=True)
class CheckLimits:
    """Limits of one check: seconds by the clock, compiling and calibrating included; bytes of memory while it walks."""

    seconds: float = 1800
    memory_bytes: int = 8 * 2**30


DEFAULT = CheckLimits()


class NoCore(InputError):
    """No core can be built on this machine."""


def checked(
    certificate: Certificate,
    firmware: Path | Opened,
    *,
    solver: str = "bitwuzla",
    progress: Progress | None = None,
    limits: CheckLimits = DEFAULT,
    proofs: Path | None = None,
    teacher: TeacherNetwork | None = None,
    core: bool = True,
    effort: Effort = FULL,
    idle: bool = False,
) -> Recheck:
    """Compile the firmware, a folder or what was opened of one, check every claim, measure the cost model again.

    ``core`` False: nothing runs on the core, for a machine that cannot build it; ``Recheck.on_core`` says so.
    ``effort``, ``idle``: as in ``recheck``.

    ``proofs`` is the archive to write of what the solver found impossible; ``teacher``: of a distance, which is not
    checked without one. Refused where anything at all is wrong with the certificate; InputError where the folder cannot
    be read or compiled, and before anything else where no core can be built."""
    if core and (reason := buildable()) is not None:
        raise NoCore(str(reason))
    context = get_context("spawn")  # a fork would take the terminal's threads along
    ours, theirs = context.Pipe()
    artefact = of_kind(firmware, "firmware")  # read here, once: the process gets the bytes
    child = context.Process(target=_child, args=(theirs,), daemon=True)
    child.start()
    try:
        theirs.close()
        with suppress(BrokenPipeError, ConnectionResetError):  # it has ended, as its answer will say
            ours.send((certificate, artefact, solver, limits, proofs, teacher, core, effort, idle))
        return _answer(ours, child, progress, limits)
    finally:
        _end(child)
        ours.close()


def judged(
    certificate: Certificate,
    firmware: Path | Opened,
    solver: str,
    progress: Progress,
    limits: CheckLimits,
    proofs: Path | None = None,
    teacher: TeacherNetwork | None = None,
    core: bool = True,
    effort: Effort = FULL,
    idle: bool = False,
) -> Recheck:
    """The check itself, in this process: every failure but bad input is a Refused."""
    kept = None if proofs is None else Proofs()
    try:
        built = rebuilt(certificate, firmware)
        vectors_of(built.firmware)  # no claim rests on them, but a folder that contradicts itself is bad input
        with _memory(limits.memory_bytes):
            prove = kept.add if kept else None
            found = recheck(certificate, built, solver=solver, progress=progress, prove=prove, effort=effort, idle=idle)
            behaviour_again(certificate.behaviour, built.firmware)
            if certificate.teacher is not None and teacher is not None:
                distance_again(certificate.teacher, student_of(built.firmware), teacher, progress)
        if core:
            calibrated_again(certificate, built, core_executable(built.engine.core, progress), progress)
            found = replace(found, on_core=True)
        if proofs is not None and kept is not None:
            write_atomically(proofs, kept.archive())
            found = replace(found, proved=kept.count, open_steps=kept.open_steps)
        return found
    except (Refused, InputError):
        raise
    except (IllegalInstruction, Contradiction) as error:
        raise Refused(str(error)) from None
    except RecursionError:
        raise Refused(
            "an expression of the certificate, or a value of the code, nests deeper than can be followed"
        ) from None
    except MemoryError:
        raise Refused(f"the check needs more than {limits.memory_bytes >> 20} MiB") from None
    except Exception as error:  # a defect of the checker is no reason to believe
        raise Refused(f"the checker cannot judge it: {type(error).__name__}: {error}") from None


def _child(pipe: Connection) -> None:
    """Runs in the process: reads what to check from the pipe, writes progress into it, then one answer."""
    os.setpgrp()  # the compilers it starts end with it
    certificate, firmware, solver, limits, proofs, teacher, core, effort, idle = pipe.recv()
    answer: tuple[str, object]
    try:

        def progress(text: str) -> None:
            pipe.send(("progress", text))

        found = judged(certificate, firmware, solver, progress, limits, proofs, teacher, core, effort, idle)
        answer = "holds", found
    except Refused as error:
        answer = "refused", (str(error), error.unmet, error.unfinished, error.bound)
    except InputError as error:
        answer = "input", str(error)
    pipe.send(answer)


def _answer(pipe: Connection, child: BaseProcess, progress: Progress | None, limits: CheckLimits) -> Recheck:
    end = time.monotonic() + limits.seconds
    while pipe.poll(max(end - time.monotonic(), 0)):
        try:
            kind, content = pipe.recv()
        except (EOFError, ConnectionResetError):
            child.join(10)
            raise Refused(f"the checker ended without an answer (exit code {child.exitcode})") from None
        if kind == "holds" and isinstance(content, Recheck):
            return content
        if kind == "refused":
            raise Refused(*content)
        if kind == "input":
            raise InputError(content)
        if progress:
            progress(content)
    raise Refused(f"the check is not done after {limits.seconds:g} s")


def _end(child: BaseProcess) -> None:
    """End the process and whatever it has started."""
    assert child.pid, "it was started"  # a 0 would be our own group
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.join()


@contextmanager
def _memory(most: int) -> Iterator[None]:
    """A limit of the process' memory for as long as the block runs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = most if soft == resource.RLIM_INFINITY else min(most, soft)  # the soft one is never above the hard one
    with suppress(ValueError, OSError):  # a system without such a limit
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
