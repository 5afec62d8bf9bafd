"""An end to a job whose input was made to have none."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from decision.artefact.errors import InputError


@contextmanager
def time_limit(seconds: int, what: str) -> Iterator[None]:
    """InputError where the block is not done after ``seconds``. Compilers that run in it are ended."""

    def stop(*_: object) -> None:
        raise InputError(f"{what} is not done after {seconds} s; a smaller one, or a longer --time-limit, is needed")

    if threading.current_thread() is not threading.main_thread():  # only there a signal can be met
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
