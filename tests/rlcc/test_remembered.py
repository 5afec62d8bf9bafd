"""What a remembered check depends on: all of rlcc's source, so also whatever came to decide since."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rlcc import remembered
from rlcc.remembered import PACKAGES, ROOT, source_files

DECIDE = (
    "rlcc.certified",
    "verify.check.boundary",
    "verify.check.beside",
    "teachers.load",
    "rlcc.emulated",
    "emulator.run",
)


def test_every_module_that_a_check_imports_is_in_its_hash() -> None:
    script = (
        f"import importlib, json, sys; [importlib.import_module(name) for name in {DECIDE!r}]; "
        "print(json.dumps([m.__file__ for m in list(sys.modules.values()) if getattr(m, '__file__', None)]))"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    ours = [Path(file) for file in json.loads(said) if Path(file).parent.is_relative_to(ROOT)]
    ours = [path for path in ours if path.relative_to(ROOT).parts[0] in {*PACKAGES, "bench", "tests"}]
    hashed = set(source_files())
    assert {path.relative_to(ROOT).parts[0] for path in ours} >= {"decision", "emulator", "verify", "teachers", "rlcc"}
    assert [path for path in ours if path not in hashed] == []


def test_another_teachers_source_is_another_hash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for package in ("verify", "teachers"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "a.py").write_text("1")
    monkeypatch.setattr(remembered, "ROOT", tmp_path)
    hashes = []
    for content in ("1", "2"):
        (tmp_path / "teachers/a.py").write_text(content)
        remembered.checker_hash.cache_clear()
        hashes.append(remembered.checker_hash())
    remembered.checker_hash.cache_clear()
    assert hashes[0] != hashes[1]
