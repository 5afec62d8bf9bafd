"""Emitted firmware folders, and the C compilers of this machine to build them with."""

import ctypes
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.emit import emit
from codegen.lower import Options
from codegen.model_body import ModelBody
from codegen.render import Source, render
from codegen.targets import BARE
from decision.artefact.output import writing
from decision.policy.model import Model
from decision.policy.student import Student


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


@pytest.fixture
def in_c(
    tmp_path: Path, host_compiler: list[str], run: Callable[..., subprocess.CompletedProcess[str]]
) -> Callable[..., NDArray[np.int64]]:
    """The knobs [N, knobs] that a model's emitted C sets for integer rows [N, features]."""
    numbers = count()

    def call(
        model: Model, rows: NDArray[np.int64], options: Options | None = None, source: str | None = None
    ) -> NDArray[np.int64]:
        folder = tmp_path / f"model{next(numbers)}"
        render_model(model, folder, options)
        if source is not None:
            (folder / "rlcc_policy.c").write_text(source)
        library = folder / "policy.so"
        flags = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-shared", "-fPIC")
        made = run(*host_compiler, *flags, "-o", library, folder / "rlcc_policy.c")
        assert made.returncode == 0, made.stderr
        decide = ctypes.CDLL(str(library)).rlcc_decide
        knobs = model.interface.knobs
        decide.restype = ctypes.c_int32  # a class is far below where that matters
        action, event = (ctypes.c_int32 * len(knobs))(), ctypes.c_int32 * len(model.features)
        set_to = []
        for row in rows.tolist():
            returned = decide(event(*row), *([action] if len(knobs) > 1 else []))
            set_to.append([returned] if len(knobs) == 1 else list(action))
        return np.array(set_to, dtype=np.int64)

    return call


def render_model(model: Model, folder: Path, options: Options | None = None) -> dict[str, str]:
    """The text of a model's firmware, without vectors."""
    body, program = ModelBody(model), model.program()
    folder.mkdir(parents=True, exist_ok=True)
    model.save(folder)
    source = Source(body, body.hash(folder), program, body.lower(program, options or Options()))
    render(source, (BARE,), BARE.name, 0, folder)
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.fixture
def rendered(tmp_path: Path) -> Callable[..., dict[str, str]]:
    numbers = count()
    return lambda model, options=None: render_model(model, tmp_path / f"rendered{next(numbers)}", options)
