"""What wheel and sdist hold, that both come out the same twice, and that a folder of the user's stands in for nothing.

Without compiled modules, whose build takes a minute, but for the slow test.

Slow: two builds of the wheel.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import NamedTuple

import pytest

import emulator._fast
import netsim._core
import teachers._mkl
from rlcc.shipped_recipes import FOLDER, recipes

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("decision", "netsim", "teachers", "distill", "codegen", "emulator", "verify", "rlcc")
BUILD = """
import sys
from scikit_build_core.build import build_sdist, build_wheel
place, settings = sys.argv[1], {"wheel.cmake": "false", "wheel.py-api": "py3", "build-dir": sys.argv[1] + "/build"}
print(build_sdist(place, settings), build_wheel(place, settings))
"""


class Built(NamedTuple):
    sdist: Path
    wheel: Path


def built(place: Path, epoch: int) -> Built:
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch)}
    command = [sys.executable, "-c", BUILD, str(place)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    sdist, wheel = done.stdout.split()[-2:]
    return Built(place / sdist, place / wheel)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return built(tmp_path_factory.mktemp("first"), 1_700_000_000)


@pytest.fixture(scope="module")
def installed(first: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(first.wheel) as wheel:
        wheel.extractall(folder)
    for module in (netsim._core, emulator._fast, teachers._mkl):
        compiled = Path(module.__file__)
        shutil.copy(compiled, folder / module.__name__.partition(".")[0] / compiled.name)
    return folder


@pytest.mark.slow
def test_two_builds_are_the_same_bytes_and_the_time_is_given(first: Built, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    (tmp_path / "later").mkdir()
    again, later = built(tmp_path / "again", 1_700_000_000), built(tmp_path / "later", 1_800_000_000)
    for one, same, other in zip(first, again, later, strict=True):
        assert one.read_bytes() == same.read_bytes()
        assert one.read_bytes() != other.read_bytes()


def test_the_wheel_holds_each_package_its_data_and_nothing_else(first: Built) -> None:
    with zipfile.ZipFile(first.wheel) as wheel:
        names = wheel.namelist()
        sizes = sum(entry.file_size for entry in wheel.infolist())
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)
    for package in PACKAGES:
        assert f"{package}/py.typed" in names
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    for line in tracked.stdout.split():
        top, _, rest = line.partition("/")
        if top in ("recipes", "fixtures"):
            assert f"rlcc/shipped/{line}" in names
        elif top in PACKAGES and not rest.startswith("core/") and not line.startswith("emulator/fast/core/"):
            assert line in names
    assert not [name for name in names if name.endswith((".pyc", ".lock", ".orig")) or "__pycache__" in name]
    assert sizes < 6_000_000


def test_the_sdist_holds_what_it_takes_to_build_and_to_test(first: Built) -> None:
    with tarfile.open(first.sdist) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    for name in (
        "pyproject.toml",
        "PKG-INFO",
        "LICENSE",
        "Makefile",
        "netsim/core/CMakeLists.txt",
        "tests/conftest.py",
    ):
        assert name in names
    assert not [name for name in names if name.startswith(("runs/", "build/", ".venv/", "papers"))]
    assert first.sdist.stat().st_size < 5_000_000


def test_the_metadata_names_no_place_that_is_not_there(first: Built) -> None:
    """rlcc has no home on the network yet: an address would be made up (docs/how-to/install.md)."""
    with zipfile.ZipFile(first.wheel) as wheel:
        text = wheel.read(next(name for name in wheel.namelist() if name.endswith("/METADATA"))).decode()
    metadata = Parser().parsestr(text)
    assert metadata["Name"] == "rlcc"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata.get_all("Project-URL") is None
    assert metadata["Home-page"] is None
    assert "example" not in text.partition("\n\n")[0]


def test_the_stable_abi_is_asked_for_where_nanobind_has_it() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    assert build["scikit-build"]["wheel"]["py-api"] == "cp312"
    for machine in ("x86_64", "aarch64"):
        assert build["cibuildwheel"]["linux"][f"manylinux-{machine}-image"] == "manylinux_2_28"
        built = [name.partition("-")[0] for name in build["cibuildwheel"]["build"] if name.endswith(f"_{machine}")]
        assert built == ["cp311", "cp312", "cp313", "cp314"]
    modules = (ROOT / "netsim/core/CMakeLists.txt").read_text()
    assert "${SKBUILD_SABI_COMPONENT}" in modules
    assert modules.count("nanobind_add_module(") == modules.count("STABLE_ABI NB_STATIC") == 3


def test_recipes_and_their_teachers_are_found(installed: Path) -> None:
    assert recipes()["rl-cc"] == ROOT / "recipes/rl-cc.toml"
    for name, file in recipes().items():
        teachers = re.findall(r'"(\.\./fixtures/[^"]+)"', file.read_text())
        assert teachers, name
        for folder in (file.parent, installed / "rlcc/shipped/recipes"):
            assert all((folder / teacher).is_dir() for teacher in teachers), name
    assert FOLDER == ROOT


@pytest.fixture
def shadows(tmp_path: Path) -> Path:
    """A user's folder whose packages and modules are named like rlcc's own."""
    for package in set(PACKAGES) - {"rlcc"}:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(f"raise SystemExit('the user has a {package} too')\n")
    return tmp_path


def test_a_folder_of_the_user_does_not_stand_in_for_ours(shadows: Path, installed: Path) -> None:
    """As installed, without the checkout's finder: from the wheel's own files."""
    rest = os.pathsep.join([str(installed), sysconfig.get_paths()["purelib"], sysconfig.get_paths()["platlib"]])
    environment = os.environ | {"PYTHONPATH": rest}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-S", *arguments]
        return subprocess.run(command, cwd=shadows, env=environment, capture_output=True, text=True, check=False)

    assert "has a decision" in run("-m", "rlcc.cli", "--version").stderr  # how it would go wrong
    for command in ("verify", "demo", "emit"):
        done = run("-m", "rlcc", command, "--help")
        assert (done.returncode, done.stderr) == (0, "")
    demo = run("-c", "import sys; sys.path.pop(0); from rlcc.shipped_recipes import recipes; print(recipes()['rl-cc'])")
    assert Path(demo.stdout.strip()) == installed / "rlcc/shipped/recipes/rl-cc.toml"


def test_the_installed_command_looks_in_its_own_folder_first_not_in_the_users(shadows: Path) -> None:
    command = Path(sysconfig.get_path("scripts")) / "rlcc"
    done = subprocess.run([command, "verify", "--help"], cwd=shadows, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_the_wheel_alone_runs_the_demo_in_an_empty_folder(tmp_path: Path, shadows: Path) -> None:
    """Compiled, from the sdist; packages of the extras come from the index."""
    uv = Path(sysconfig.get_path("scripts")) / "uv"
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}

    def run(*command: object, cwd: Path = tmp_path) -> str:
        done = subprocess.run(
            [str(word) for word in command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(uv, "build", "--quiet", "--python", sys.executable, "--out-dir", tmp_path / "dist", ROOT)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as held:
        assert {"netsim/_core.pyi", "emulator/_fast.pyi", "teachers/_mkl.pyi"} < set(held.namelist())
    run(uv, "venv", "--quiet", "--python", sys.executable, tmp_path / "venv")
    run(uv, "pip", "install", "--quiet", "--python", tmp_path / "venv/bin/python", f"{wheel}[distill,verify]")
    out = run(tmp_path / "venv/bin/rlcc", "demo", cwd=shadows)
    assert "PASS" in out
    assert (shadows / "runs/rl-cc/verdict/verdict.json").is_file()
