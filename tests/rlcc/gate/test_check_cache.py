"""What a remembered check depends on: all that decides in what it imports, and no word of it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from decision.artefact.sources import package_hash
from rlcc.gate import check_cache
from rlcc.gate.check_cache import DECIDE, ROOT, source_files

CHECKS = ROOT / "rlcc/gate/checks.py"
"""Where the names of checks stand."""


def test_every_module_that_a_check_imports_is_in_its_hash() -> None:
    """Those that come with ``DECIDE`` and, as what a check imports when it begins, its solvers and process."""
    names = (*DECIDE, "verify.check.boundary", "verify.check.recheck", "emulator.rtl_run", "emulator.calibration")
    names = tuple(name for name in names if (ROOT / f"{name.replace('.', '/')}.py").exists())
    script = (
        f"import importlib, json, sys; [importlib.import_module(name) for name in {names!r}]; "
        "print(json.dumps([m.__file__ for m in list(sys.modules.values()) if getattr(m, '__file__', None)]))"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    ours = [Path(file) for file in json.loads(said) if Path(file).parent.is_relative_to(ROOT)]
    ours = [path for path in ours if ".venv" not in path.parts]
    hashed = set(source_files())
    assert {path.relative_to(ROOT).parts[0] for path in ours} == {"decision", "emulator", "verify", "teachers", "rlcc"}
    assert [path for path in ours if path not in hashed] == []


def test_what_is_compiled_and_simulated_of_a_core_is_in_its_hash() -> None:
    names = {str(path.relative_to(ROOT)) for path in source_files() if ".venv" not in path.parts}
    assert names >= {"emulator/verilated/ibex/rlcc_ibex.sv", "emulator/profiles/ibex-small.toml"} | {
        str(path.relative_to(ROOT)) for path in (ROOT / "emulator").glob("*.S")
    }


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A copy of what is hashed, and of the names of checks."""
    for path in (*(ROOT / "rlcc/gate").glob("*.py"), *source_files()):
        if path.is_relative_to(ROOT) and ".venv" not in path.parts:
            place = tmp_path / path.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    monkeypatch.setattr(check_cache, "ROOT", tmp_path)
    return tmp_path


def test_what_was_found_twice_is_named_once() -> None:
    remembered = check_cache.Remembered(hits=["certificate", "emulation", "certificate"])
    assert remembered.told() == {"cached": "certificate, emulation"}
    assert check_cache.Remembered().told() == {}


def hashed() -> str:
    check_cache.checker_hash.cache_clear()
    package_hash.cache_clear()
    found = check_cache.checker_hash()
    check_cache.checker_hash.cache_clear()
    return found


@pytest.mark.parametrize(
    ("file", "old", "new", "same"),
    [
        ("decision/artefact/errors.py", "\nclass InputError", "\n# another word\nclass InputError", True),
        ("verify/check/recheck.py", '"""Results that the checker found by itself."""', '"""Results."""', True),
        ("rlcc/gate/names.py", "every file equals", "each file equals", True),
        ("verify/check/recheck.py", "open_steps: int = 0", "open_steps: int = 1", False),
        ("emulator/profile.py", "sets < 2", "sets < 1", False),
        ("teachers/load.py", "None and (path", "None or (path", False),
        ("emulator/verilated/ibex/rlcc_ibex.sv", "assign", "assign ", False),
    ],
)
def test_words_change_no_hash_and_code_does(house: Path, file: str, old: str, new: str, same: bool) -> None:
    before, text = hashed(), (house / file).read_text()
    assert old in text
    (house / file).write_text(text.replace(old, new, 1))
    assert (hashed() == before) == same
