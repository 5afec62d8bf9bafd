"""Trials that run while the caller computes something else, on the processors that it leaves.

    with run_ahead(trials, keep):
        ...                                # one thread's work, which needs none of the outcomes
    outcomes = trials.run(those, keep=keep)

Outcomes are in ``keep``, under the trials' keys. Nothing else passes to the later run, which simulates what is missing.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import parent_process
from threading import Event, Thread

from decision.artefact.processors import usable_cores
from netsim.places import Place, Threads, current_place
from netsim.processes import Processes
from netsim.result_store import Kept
from netsim.trials import Trial, run

MOST = 8
"""Simulations next to the caller: each has a process of 130 MB and more."""


class _CallerLeft(Exception):
    """Ends the runs."""


@contextmanager
def run_ahead(trials: Sequence[Trial], keep: Kept) -> Iterator[None]:
    """Runs the trials as long as the block lasts; then the next outcome is waited for, and other trials that have begun
    are ended. They run in processes, as threads would slow the caller's Python. An error ends them and is not raised:
    the later run meets it again."""
    left, spare = Event(), _spare(current_place())

    def go_on(text: str) -> None:
        if left.is_set():
            raise _CallerLeft

    def runs() -> None:
        with suppress(Exception):
            run(trials, Processes(spare), keep, go_on)

    thread = Thread(target=runs, name="trials ahead")
    try:
        if spare:
            with suppress(RuntimeError):  # the system starts no thread
                thread.start()
        yield
    finally:
        left.set()
        if thread.is_alive():
            thread.join()


def _spare(place: Place) -> int:
    """Returns how many simulations may run next to the caller: none at a place that is not this machine, and none in a
    process that another one started, which may be a worker itself."""
    if parent_process() is not None or not isinstance(place, Threads | Processes):
        return 0
    return min(MOST, min(place.number or usable_cores(), usable_cores()) - 1)
