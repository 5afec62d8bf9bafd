"""tests/ mirrors the product: a folder of code has a folder of tests, or a file of tests of its name, at its place."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("decision", "netsim", "teachers", "distill", "codegen", "emulator", "verify", "rlcc", "bench")
FOLDERS = sorted(
    folder
    for package in PACKAGES
    for folder in [ROOT / package, *(path for path in (ROOT / package).rglob("*") if path.is_dir())]
    if len(list(folder.glob("*.py"))) > 1
)
"""Of Python; C++ (netsim/core, emulator/fast/core, emulator/bench) is tested through what drives it, one level up."""
TESTS_ONLY = {
    "fuzz": "of readers of files in every package",
    "plugins": "of pytest",
    "targets": "of firmware_templates, a file a target",
}


def mirrored(folder: Path) -> bool:
    place = ROOT / "tests" / folder.relative_to(ROOT)
    return any(place.glob("test_*.py")) or (place.parent / f"test_{place.name}.py").is_file()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_a_folder_of_code_has_its_tests(folder: Path) -> None:
    assert mirrored(folder), f"put tests into tests/{folder.relative_to(ROOT)}/"


def test_tests_stand_where_the_code_is() -> None:
    places = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}
    astray = {str(place) for place in places if not (ROOT / place).is_dir()}
    assert astray <= TESTS_ONLY.keys(), "tests of no folder that there is"
    assert all((ROOT / "tests" / name).is_dir() for name in TESTS_ONLY)


def test_a_folder_without_tests_is_seen() -> None:
    assert len(FOLDERS) > 20
    assert not mirrored(ROOT / "decision" / "include")
