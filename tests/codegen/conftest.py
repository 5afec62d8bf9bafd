"""Emitted firmware folders, and the C compilers of this machine to build them with."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "decision"))  # drawing.py, shared by both folders

from codegen.emit import emit
from decision.manifest import writing
from decision.student import Student


@pytest.fixture(scope="session")
def emitted() -> Callable[..., Path]:
    """Saves a student as an artefact in a folder and emits it there."""

    def make(student: Student, folder: Path, *, target: str = "generic", seed: int = 0, **choices: Any) -> Path:
        with writing(folder / "student", "student") as work:
            student.save(work)
        emit(folder / "student", folder / "firmware", target=target, seed=seed, **choices)
        return folder / "firmware"

    return make


def found_compilers() -> dict[str, list[str]]:
    found = {name: [path] for name in ("gcc", "clang") if (path := shutil.which(name))}
    if not found and (path := shutil.which("cc")):
        found["cc"] = [path]
    if find_spec("ziglang"):
        found["zig"] = [sys.executable, "-m", "ziglang", "cc"]
    return found


@pytest.fixture(scope="session", params=found_compilers())
def compiler(request: pytest.FixtureRequest) -> list[str]:
    """Each compiler of this machine in turn."""
    return found_compilers()[request.param]


@pytest.fixture(scope="session")
def host_compiler() -> list[str]:
    """One compiler, for tests in which it does not matter."""
    return next(iter(found_compilers().values()))


@pytest.fixture(scope="session")
def run() -> Callable[..., subprocess.CompletedProcess[str]]:
    def call(*command: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, timeout=300)

    return call
