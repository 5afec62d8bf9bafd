"""A pydantic that writes other files is refused before anything is read, in one sentence."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pydantic
import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from decision.artefact.errors import InputError
from decision.artefact.pydantic_version import MIN_VERSION, check

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("version", ["2.9.2", "2.10.6", "2.11.10", "2.12.0", "2.12.1", "1.10.22", "2.12"])
def test_one_that_writes_other_files_is_refused(version: str) -> None:
    with pytest.raises(InputError, match=f"pydantic {version}"):
        check(version)


@pytest.mark.parametrize("version", ["2.12.2", "2.12.10", "2.13.0b1", "2.14.3", "3.0", pydantic.VERSION])
def test_later_ones_are_taken(version: str) -> None:
    check(version)


def test_what_is_installed_by_pip_is_what_is_taken() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    (wanted,) = [each for each in map(Requirement, declared) if each.name == "pydantic"]
    assert [(each.operator, Version(each.version)) for each in wanted.specifier] == [
        (">=", Version(".".join(map(str, MIN_VERSION))))
    ]


@pytest.mark.parametrize("command", ["check x", "emit x --out y", "verify x", "gate x", "run x"])
def test_every_command_says_so_and_writes_nothing(command: str, tmp_path: Path) -> None:
    code = "import sys, pydantic; pydantic.VERSION = '2.11.9'; from rlcc.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, *command.split()], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: pydantic 2.11.9")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())
