"""Processes of this machine, each of which may be lost."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.resource_tracker import ensure_running
from typing import Any

from decision.artefact.errors import InputError
from netsim.answers import Answer, Lost, Raised, Task


@dataclass(frozen=True)
class Processes:
    """``number`` at a time. Work, tasks and answers must be picklable."""

    number: int

    def __post_init__(self) -> None:
        if self.number < 1:
            raise InputError(f"{self.number} processes cannot run anything; give at least 1")

    def answers(self, work: Callable[[Task], Answer], tasks: Sequence[Task]) -> Iterator[tuple[int, Answer | Lost]]:
        waiting = list(enumerate(tasks))[::-1]
        idle: list[_Worker] = []
        busy: dict[Connection, tuple[_Worker, int]] = {}
        living: set[_Worker] = set()
        try:
            while waiting or busy:
                while waiting and len(busy) < self.number:
                    worker = idle.pop() if idle else _Worker.started(work)
                    living.add(worker)
                    at, task = waiting.pop()
                    busy[worker.connection] = worker, at
                    worker.give(task)
                for connection in wait(list(busy)):
                    assert isinstance(connection, Connection)
                    worker, at = busy.pop(connection)
                    answer = worker.answer()
                    if isinstance(answer, Raised):
                        raise answer.error
                    if isinstance(answer, Lost):
                        living.remove(worker)
                        worker.end()
                    else:
                        idle.append(worker)
                    yield at, answer
        finally:
            for worker in living:
                worker.end()


@dataclass(frozen=True, eq=False)
class _Worker:
    """A process that does one task at a time."""

    process: BaseProcess
    connection: Connection

    @staticmethod
    def started(work: Callable[[Any], Any]) -> "_Worker":
        # Spawned, not forked: the caller has threads, and a fork would copy their locks.
        context = multiprocessing.get_context("spawn")
        ours, its = context.Pipe()
        process = context.Process(target=_serve, args=(work, its), daemon=True)
        ensure_running()  # multiprocessing's tracker, whose start would take the mask away
        with _uninterrupted():
            process.start()
        its.close()
        return _Worker(process, ours)

    def give(self, task: object) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # it has ended, which its answer will say
            self.connection.send(task)

    def answer(self) -> Any:
        try:
            return self.connection.recv()
        except (EOFError, ConnectionResetError):
            self.process.join()
            return Lost(_ending(self.process.exitcode))

    def end(self) -> None:
        self.process.terminate()
        self.process.join()
        self.connection.close()


def _serve(work: Callable[[Any], Any], connection: Connection) -> None:
    """Ctrl-C reaches a terminal's whole group: the parent answers for all. A worker does not outlive its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
    while True:
        task = connection.recv()
        try:
            answer = work(task)
        except Exception as error:
            answer = Raised(error)
        connection.send(answer)


def _ending(code: int | None) -> str:
    return f"ended by {signal.Signals(-code).name}" if code is not None and code < 0 else f"ended with code {code}"


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits: a process that is being started, and loses its parent's word half-way, would print a traceback."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
