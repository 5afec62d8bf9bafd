"""Streams that are closed, full or without a reader: exit code 2 and the real cause, whatever click and rich do."""

import os
import subprocess
import sys

import pytest

RUN = f"{sys.executable} -m rlcc.cli"


def ended(line: str, *, unbuffered: bool) -> tuple[int, str]:
    """Exit code and standard error of `rlcc` in a shell line."""
    env = {**os.environ, "PYTHONUNBUFFERED": "1" if unbuffered else ""}
    shell = f"{line.replace('rlcc', RUN, 1)}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, env=env, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("rlcc --help >/dev/full", 2, "output: no space"),
        ("rlcc --help >&-", 2, "output is closed"),
        ("rlcc --help <&- 2>&-", 0, ""),
        ("rlcc nothing >&- 2>&-", 2, ""),
        ("rlcc nothing 2>/dev/full", 2, ""),
    ],
)
def test_what_cannot_be_printed(line: str, code: int, says: str, unbuffered: bool) -> None:
    ended_code, error = ended(line, unbuffered=unbuffered)
    assert ended_code == code
    assert says in error
    assert error.count("\n") == bool(says)


@pytest.mark.slow_except("check fixtures/teachers/rl-cc-mlp")
@pytest.mark.parametrize("command", ["doctor", "check fixtures/teachers/rl-cc-mlp"])
def test_a_reader_that_has_left_is_no_fail(command: str) -> None:
    """rich and click would end it with 1."""
    assert ended(f"rlcc {command} | true", unbuffered=True) == (2, "")
