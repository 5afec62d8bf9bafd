"""Folders that both workers of a run share: the first that needs one makes it, the other waits and reads it."""

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], None]], Path]:
    """The folder of a name, filled by ``make`` in one worker. What fails to be made is tried by the next that asks."""
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "made-once"
    root.mkdir(exist_ok=True)

    def folder(name: str, make: Callable[[Path], None]) -> Path:
        place = root / name
        with (root / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = place / ".made"
            if not done.exists():
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir()
                make(place)
                done.touch()
        return place

    return folder
