"""Conditions that another thread or process brings about."""

import time
from collections.abc import Callable


def until(condition: Callable[[], bool]) -> bool:
    """Waits a minute at most; returns whether the condition holds."""
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()
