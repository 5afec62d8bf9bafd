"""Agents at a place that rlcc does not have yet are two new files, an interface and a site, and no change elsewhere."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from decision.ir.interfaces import INTERFACES
from netsim import _core
from netsim.sites import SITES

ROOT = Path(__file__).parents[2]
TOY = Path(__file__).parent / "new_site"
IN_THE_COPY = """
import runpy, sys
sys.meta_path = [finder for finder in sys.meta_path if "Scikit" not in type(finder).__name__]
runpy.run_path(sys.argv[1])
"""
SOURCES = ("decision", "netsim", "codegen", "emulator", "verify", "teachers", "distill", "rlcc")


def test_a_place_that_is_there_is_named_by_its_own_files_only() -> None:
    """Nothing else knows of switch queues, so that another place is such files too."""
    own = {"decision/ir/interfaces/queue_marking.py", "netsim/core/queue_site.hpp", "netsim/core/queue_site.cpp"}
    assert all((ROOT / name).is_file() for name in own)
    comments = re.compile(r"//[^\n]*|\"\"\".*?\"\"\"", re.DOTALL)
    named = {
        str(path.relative_to(ROOT))
        for package in SOURCES
        for path in (ROOT / package).rglob("*")
        if path.suffix in (".py", ".hpp", ".cpp", ".txt")
        and re.search(r"(?i)queue_?(site|marking)", comments.sub("", path.read_text()))
    }
    assert not named - own


def test_every_site_is_one_of_an_interface_that_is_known() -> None:
    assert {INTERFACES[name].site_name for name in SITES} == set(_core.sites())


@pytest.mark.slow  # it compiles the simulator
def test_agents_at_hosts(tmp_path: Path) -> None:
    for package in (*SOURCES, "firmware_templates"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    shutil.copy(TOY / "host_share.py", tmp_path / "decision/interfaces")
    shutil.copy(TOY / "host_site.cpp", tmp_path / "netsim/core")
    tools = Path(sys.executable).parent
    build = tmp_path / "build"
    configure = [
        tools / "cmake",
        "-S",
        tmp_path / "netsim/core",
        "-B",
        build,
        "-G",
        "Ninja",
        "-DCMAKE_BUILD_TYPE=Debug",
    ]
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(tmp_path)}
    for command in (
        [*configure, f"-DPython_EXECUTABLE={sys.executable}"],
        [tools / "cmake", "--build", build, "--target", "_core"],
    ):
        subprocess.run(command, check=True, capture_output=True, env=environment)
    shutil.copy(next(build.glob("_core*.so")), tmp_path / "netsim")
    ran = subprocess.run(
        [sys.executable, "-c", IN_THE_COPY, TOY / "decide.py"],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
