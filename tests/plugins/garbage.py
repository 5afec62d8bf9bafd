"""Garbage collection in a test process: none while tests are collected, and later none of what was there by then.

Modules and tests stay until the end. Each full collection would walk their half a million objects and free nothing.
Later collections are rarer than by default: proofs and Hypothesis make objects by the million, few of them in circles.
"""

import gc
from collections.abc import Generator

import pytest

from rlcc.cli import COLLECTION


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(*COLLECTION)
