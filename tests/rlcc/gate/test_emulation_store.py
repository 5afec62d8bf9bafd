"""A report that was made here is not made again; nobody else's is believed."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from decision.artefact.documents import dump_json
from decision.artefact.errors import InputError
from decision.artefact.output import writing
from emulator.build import Build
from emulator.firmware_folder import built
from emulator.report import EmulationReport, from_json
from emulator.run import run_vectors
from rlcc.gate.check_cache import Remembered
from rlcc.gate.emulation_store import FILE, KIND, keep, stored_report


@pytest.fixture(scope="module")
def build(good: Path) -> Build:
    return built(good / "firmware", profile="ibex-small")


@pytest.fixture(scope="module")
def report(build: Build) -> EmulationReport:
    return run_vectors(build)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_report_is_read_as_it_was_written(report: EmulationReport) -> None:
    assert from_json(json.loads(dump_json(report.to_json()))) == report
    silent = replace(report, cycles=None, slowest=None, states={}, fault="trap", forbidden=("a", "b"))
    assert from_json(json.loads(dump_json(silent.to_json()))) == silent
    with pytest.raises(InputError, match="is not readable"):
        from_json({"cycles": 1})


@pytest.mark.usefixtures("cache")
def test_what_was_made_here_is_taken(build: Build, report: EmulationReport, tmp_path: Path) -> None:
    remembered = Remembered()
    keep(report, build, tmp_path / KIND, remembered)
    assert stored_report(build, tmp_path / KIND, remembered) == report
    assert remembered.hits == [KIND]
    assert stored_report(build, tmp_path / KIND, Remembered(use=False)) is None
    other = replace(build, toolchain=replace(build.toolchain, opt="-O3"))
    assert stored_report(other, tmp_path / KIND, remembered) is None
    assert stored_report(build, tmp_path / "none", remembered) is None


@pytest.mark.usefixtures("cache")
def test_a_report_that_somebody_wrote_is_not(build: Build, report: EmulationReport, tmp_path: Path) -> None:
    keep(report, build, tmp_path / KIND, Remembered())
    forged = replace(report, mismatches=0, cycles=replace(report.cycles, max=1))  # type: ignore[type-var]
    shutil.rmtree(tmp_path / KIND)
    with writing(tmp_path / KIND, KIND, parents={"firmware": build.firmware.hash}) as work:
        (work / FILE).write_text(dump_json(forged.to_json()))
    assert stored_report(build, tmp_path / KIND, Remembered()) is None


@pytest.mark.usefixtures("cache")
def test_a_report_of_what_is_wrong_is_made_again(build: Build, report: EmulationReport, tmp_path: Path) -> None:
    keep(replace(report, mismatches=1), build, tmp_path / KIND, Remembered())
    assert stored_report(build, tmp_path / KIND, Remembered()) is None
