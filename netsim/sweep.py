"""Several runs side by side: over threads where a run is short (the simulator releases the GIL), over processes where
there are many long ones."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

from decision.errors import InputError
from decision.processors import usable_cores

Task = TypeVar("Task")
Found = TypeVar("Found")


def sweep(run: Callable[[Task], Found], tasks: Iterable[Task], threads: int | None = None) -> list[Found]:
    """``run`` of every task; in the order of the tasks, whichever finishes first.

    ``threads`` at a time: None for as many as there are processors. The result does not depend on it.
    """
    with ThreadPoolExecutor(threads or usable_cores()) as pool:
        return list(pool.map(run, tasks))


def over_processes(run: Callable[[Task], Found], tasks: Sequence[Task], jobs: int) -> Iterator[tuple[int, Found]]:
    """``run`` of every task in up to ``jobs`` processes: (index of the task, what it gave), as they finish.

    ``run``, tasks and what is found must be picklable. One job runs here, without another process. Where a run raises,
    the caller stops or is interrupted, the processes are ended at once.
    """
    if jobs < 1:
        raise InputError(f"{jobs} processes cannot run anything; give at least 1")
    if jobs == 1 or len(tasks) < 2:
        yield from ((i, run(task)) for i, task in enumerate(tasks))
        return
    # Spawned, not forked: the caller has threads, and a fork would copy their locks.
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=context, initializer=_begin_worker)
    futures: dict[Future[Found], int] = {}
    try:
        with _uninterrupted():
            futures.update({pool.submit(run, task): i for i, task in enumerate(tasks)})
        for future in as_completed(list(futures)):
            found = future.result()
            yield futures.pop(future), found
    except BrokenProcessPool:
        raise InputError("a simulation's process was ended from outside; is there memory for fewer --jobs?") from None
    finally:
        if futures:  # a run raised, or the caller was interrupted: nothing that is under way is wanted any more
            workers = set(multiprocessing.active_children()) - others
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.terminate()
            for worker in workers:
                while worker.is_alive():  # the pool's own thread joins as well, and only one of two is told
                    worker.join(0.05)
        else:
            pool.shutdown(wait=True)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits: a process that is being started, and loses its parent's word half-way, would print a traceback."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def _begin_worker() -> None:
    """Ctrl-C reaches a terminal's whole group: the parent answers for all. A worker does not outlive its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
