"""Checks that a command refuses a bad input: exit code 2, one sentence that names the place, no file added."""

from pathlib import Path

import pytest

from rlcc import cli


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() if path.is_file() else b"" for path in sorted(folder.rglob("*"))}


def refused(arguments: list[str], names: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Assert that a command is refused in one sentence with these names and leaves the folder as it was."""
    before = contents(folder)
    capsys.readouterr()
    assert cli.main(arguments) == 2
    error = capsys.readouterr().err
    assert "defect" not in error
    assert "Traceback" not in error
    *others, sentence = [line for line in error.splitlines() if not line.startswith(f"{arguments[0]}: ")]
    assert sentence.startswith("Error: ") or (sentence.startswith("error: ") and not others), error
    assert all(name in sentence for name in names), sentence
    assert contents(folder) == before
