"""The cases that a test names are fast, all others are slow; a name of no case ends the run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CASES = """
import pytest

@pytest.mark.slow_except({named})
@pytest.mark.parametrize("letter", ["a", "b", "c [d]"])
def test_letters(letter):
    pass

def test_other():
    pass
"""
INI = "[pytest]\naddopts = --strict-markers\nmarkers =\n  slow: long\n  slow_except(*ids): all but these are slow\n"


def run(folder: Path, named: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_cases.py").write_text(CASES.format(named=named))
    (folder / "pytest.ini").write_text(INI)
    command = [sys.executable, "-m", "pytest", "-p", "slow_cases", "-v", "--rootdir", str(folder), *options]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "PYTEST_ADDOPTS": ""}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)


@pytest.mark.parametrize(("named", "fast"), [('"a"', ["a"]), ('"b", "c [d]"', ["b", "c [d]"]), ('"c [*"', ["c [d]"])])
def test_named_cases_are_fast_and_all_others_slow(tmp_path: Path, named: str, fast: list[str]) -> None:
    done = run(tmp_path, named, "-m", "not slow")
    passed = {line.partition(" PASSED")[0] for line in done.stdout.splitlines() if " PASSED" in line}
    assert passed == {*(f"test_cases.py::test_letters[{case}]" for case in fast), "test_cases.py::test_other"}


@pytest.mark.parametrize("named", ['"d"', '"a", "d"', ""])
def test_a_name_of_no_case_ends_the_run(tmp_path: Path, named: str) -> None:
    assert run(tmp_path, named).returncode == 4


def test_one_case_by_its_id_runs_by_itself(tmp_path: Path) -> None:
    assert run(tmp_path, '"a"', "-m", "slow", "test_cases.py::test_letters[b]").returncode == 0
