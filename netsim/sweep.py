"""Several runs side by side. The simulator releases the GIL, so threads are enough."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

WORKERS = 2
"""At a time. Results do not depend on it."""

Task = TypeVar("Task")
Found = TypeVar("Found")


def sweep(run: Callable[[Task], Found], tasks: Iterable[Task]) -> list[Found]:
    """``run`` of every task; in the order of the tasks, whichever finishes first."""
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(run, tasks))
