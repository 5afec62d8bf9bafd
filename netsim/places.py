"""Places where tasks are done: here, on threads (the simulator releases the GIL), in processes (netsim.processes), on
the machines of a Ray cluster (netsim.ray_cluster).

    with at_place(named("ray", jobs=8)):
        outcomes = trials.run(...)

A place does not decide what becomes of a lost task: it says so, and whoever asked gives it the task again
(netsim.trials). Another place needs the one method of ``Place``.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from decision.artefact.errors import InputError
from decision.artefact.processors import usable_cores
from netsim.answers import Answer, Lost, Task

NAMES = ("here", "threads", "processes", "ray", "ray://HOST:PORT")


class Place(Protocol):
    def answers(self, work: Callable[[Task], Answer], tasks: Sequence[Task]) -> Iterator[tuple[int, Answer | Lost]]:
        """``work`` of every task, each once, as they are done: (index of the task, its answer). An error of ``work`` is
        raised; then, and if the caller stops, nothing goes on."""


class InThisThread:
    """One after another, in this thread."""

    def answers(self, work: Callable[[Task], Answer], tasks: Sequence[Task]) -> Iterator[tuple[int, Answer]]:
        yield from ((at, work(task)) for at, task in enumerate(tasks))


@dataclass(frozen=True)
class Threads:
    """``number`` at a time; None: as many as there are processors."""

    number: int | None = None

    def answers(self, work: Callable[[Task], Answer], tasks: Sequence[Task]) -> Iterator[tuple[int, Answer]]:
        from concurrent.futures import ThreadPoolExecutor, as_completed

        with ThreadPoolExecutor(self.number or usable_cores()) as pool:
            futures = {pool.submit(work, task): at for at, task in enumerate(tasks)}
            try:
                for future in as_completed(list(futures)):
                    yield futures.pop(future), future.result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)


def named(name: str, jobs: int | None = None) -> Place:
    """``jobs``: tasks at a time; None: as many as there are processors. InputError where there is no such place, or
    where a cluster cannot be had."""
    if jobs is not None and jobs < 1:
        raise InputError(f"{jobs} tasks at a time are none; give at least 1")
    if name == "here":
        if jobs not in (None, 1):
            raise InputError(f"here is one task at a time, not {jobs}; say threads, processes or ray")
        return InThisThread()
    if name == "threads":
        return Threads(jobs)
    if name == "processes":
        from netsim.processes import Processes

        number = jobs or usable_cores()
        return InThisThread() if number == 1 else Processes(number)  # one task at a time needs no other process
    if name == "ray" or name.startswith("ray://"):
        from netsim.ray_cluster import cluster

        return cluster("" if name == "ray" else name, jobs)
    raise InputError(f"{name!r} is no place to run trials in; it is one of {', '.join(NAMES)}")


_current: ContextVar[Place | None] = ContextVar("place", default=None)


def current_place() -> Place:
    """Returns the place of trials that are given none: that of the innermost ``at_place``, else threads."""
    return _current.get() or Threads()


@contextmanager
def at_place(place: Place) -> Iterator[None]:
    """As long as it lasts, trials run there. Their results do not depend on it."""
    token = _current.set(place)
    try:
        yield
    finally:
        _current.reset(token)
