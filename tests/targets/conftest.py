"""Firmware folders of a few students for every target, and the compilers and checkers of this machine."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
from target_firmware import edited, emitted_once

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def firmware(made_once: Callable[[str, Callable[[Path], None]], Path]) -> Callable[[str, str], Path]:
    """``emitted_once`` of a student and a target."""
    return partial(emitted_once, made_once)


@pytest.fixture(scope="session")
def run() -> Run:
    def call(*command: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        words = [str(word) for word in command]
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=600, cwd=cwd)

    return call


def found_compilers() -> dict[str, list[str]]:
    found = {name: [path] for name in ("gcc", "clang") if (path := shutil.which(name))}
    if find_spec("ziglang"):
        found["zig"] = [sys.executable, "-m", "ziglang", "cc"]
    return found or {"cc": ["cc"]}


@pytest.fixture(scope="session", params=found_compilers())
def compiler(request: pytest.FixtureRequest) -> list[str]:
    """Each C compiler of this machine in turn."""
    return found_compilers()[request.param]


@pytest.fixture(scope="session")
def host_compiler() -> list[str]:
    """One C compiler, for tests in which it does not matter."""
    return next(iter(found_compilers().values()))


@pytest.fixture(scope="session")
def library(host_compiler: list[str], run: Run, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Builds C sources and a folder's headers into a library for ctypes; ``edit`` breaks an adapter."""

    def build(folder: Path, *sources: Path | str, edit: tuple[str, str, str] | None = None) -> Path:
        work = tmp_path_factory.mktemp("library")
        for path in folder.iterdir():
            if path.suffix in (".c", ".h"):
                shutil.copy(path, work)
        if edit:
            name, old, new = edit
            (work / name).write_text(edited((work / name).read_text(), old, new))
        made = work / "adapter.so"
        built = run(*host_compiler, "-std=c99", "-O1", "-shared", "-fPIC", "-I", work, *sources, "-o", made, cwd=work)
        assert built.returncode == 0, built.stderr
        return made

    return build
