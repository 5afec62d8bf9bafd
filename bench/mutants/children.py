"""A process a mutant: forked from one that has everything at hand, ended when it takes too long."""

import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from bench.mutants.draw import Mutant

State = Literal["killed", "timed out", "survived"]
Report = Callable[[str], None]
MORE_MEMORY = 4 << 30
SLOWER, MIN_CPU_S, WALL_S = 5, 2.0, 120.0
"""A mutant may take so many times the CPU time that the test took, and this much more; and never longer than that for
one test by the clock (for one that sleeps)."""


@dataclass(frozen=True)
class Fate:
    """Fate of a mutant. ``by``: the test that noticed it."""

    mutant: Mutant
    state: State
    by: str = ""


def allow(cpu_seconds: float) -> None:
    """Give the process this much CPU time from now on and end it after that. 0: no limit."""
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds and MIN_CPU_S + SLOWER * cpu_seconds)


def run_each(
    mutants: Iterable[Mutant], body: Callable[[Mutant, Report], bool], jobs: int, done: Callable[[Fate], None]
) -> None:
    """``body`` for each mutant in a forked child: True where no test fails. It reports each test before it starts."""
    running: dict[int, tuple[Mutant, int, float]] = {}
    waiting = iter(mutants)
    try:
        while True:
            while len(running) < jobs and (mutant := next(waiting, None)) is not None:
                child, reading = _fork(mutant, body)
                running[child] = mutant, reading, time.monotonic()
            if not running:
                return
            child, status = os.waitpid(-1, os.WNOHANG)
            if child in running:
                mutant, reading, _ = running.pop(child)
                done(_fate(mutant, status, _said(reading)))
            elif child == 0:
                time.sleep(0.005)
                for pid, (_, _, since) in running.items():
                    if time.monotonic() - since > WALL_S * 3:
                        os.killpg(pid, signal.SIGKILL)
    finally:
        for pid in running:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _fork(mutant: Mutant, body: Callable[[Mutant, Report], bool]) -> tuple[int, int]:
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        with suppress(PermissionError, ProcessLookupError):  # both sides do it: whoever comes first
            os.setpgid(child, child)
        return child, reading
    code = 3
    try:
        os.setpgid(0, 0)
        os.close(reading)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        _limit_memory()
        code = 0 if body(mutant, lambda text: _tell(writing, text)) else 1
    except BaseException:
        code = 1  # whatever gets as far as here was not meant by any test
    finally:
        os._exit(code)


def _limit_memory() -> None:
    with open("/proc/self/statm") as file:  # noqa: PTH123 - one number of the kernel's
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MORE_MEMORY, now + MORE_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _tell(writing: int, text: str) -> None:
    os.write(writing, text.encode()[:2000] + b"\n")


def _said(reading: int) -> str:
    """The last test that a child began."""
    os.set_blocking(reading, False)
    said = b""
    with suppress(BlockingIOError):  # something that the child started still holds the pipe
        while more := os.read(reading, 1 << 16):
            said += more
    os.close(reading)
    lines = said.decode(errors="replace").splitlines()
    return lines[-1] if lines else ""


def _fate(mutant: Mutant, status: int, by: str) -> Fate:
    if os.WIFSIGNALED(status):
        late = os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGKILL)
        return Fate(mutant, "timed out" if late else "killed", by)
    return Fate(mutant, "survived") if os.WEXITSTATUS(status) == 0 else Fate(mutant, "killed", by)
