"""A tool that the system keeps from its work is no error of the C."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from emulator.compile import find_compiler, run_tool
from emulator.tool_errors import ended


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "rlcc"


def fails(code: str) -> list[str]:
    return [sys.executable, "-c", code]


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import sys; sys.exit('LLVM ERROR: IO failure on output stream: No space left on device')",
         "files .*/rlcc: .*space"),
        ("import os, signal; signal.signal(25, signal.SIG_DFL); os.kill(os.getpid(), 25)",
         "file's size"),
        ("import sys; sys.exit('a.c:1: error: expected ;')", r"^C: a\.c:1: error: expected ;$"),
        ("import os; os.kill(os.getpid(), 9)", r"^C: killed .*memory .*\?$"),
        ("import os; os.kill(os.getpid(), 11)", r"^C: ended by SIGSEGV$"),
    ],
)  # fmt: skip
def test_a_failed_tool_is_told_by_the_real_cause(cache: Path, code: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        run_tool(fails(code), "C")


def test_a_cache_in_a_files_place_is_named_before_any_compiler_is_reinstalled(cache: Path) -> None:
    cache.write_text("")
    with pytest.raises(InputError, match=r"folder .*/rlcc: .*XDG_CACHE_HOME"):
        find_compiler("clang", "rv32im")


def test_no_home_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", none)
    with pytest.raises(InputError, match=r"there is no home folder for the cache \(HOME is not set\); set XDG_CACHE"):
        find_compiler("clang", "rv32im")


def test_a_limit_of_a_files_size_is_told(cache: Path, tmp_path: Path) -> None:
    program = f"""
import sys
from emulator.compile import find_compiler, run_tool
from decision.artefact.errors import InputError
(source := __import__("pathlib").Path({str(tmp_path)!r}) / "a.c").write_text("int f(int a) {{ return a; }}")
try:
    run_tool([*find_compiler("clang", "rv32im").compile, "-c", str(source), "-o", str(source) + ".o"], "C")
except InputError as error:
    sys.exit(str(error))
"""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))  # noqa: E731
    done = subprocess.run(fails(program), capture_output=True, text=True, preexec_fn=limit, check=False)
    assert "file too large; " in done.stderr


def test_too_few_files_are_told(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (12, 12))
    with pytest.raises(InputError, match=r"12 files, .*: too many"):
        run_tool(fails("import sys; sys.exit('installation directory: FileNotFound')"), "C")


def test_how_a_program_ended() -> None:
    assert (ended(3), ended(-6)) == ("exit code 3", "ended by SIGABRT")
