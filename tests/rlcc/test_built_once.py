"""A run compiles, links, reads and runs each thing once, and the gate repeats none of it."""

import shutil
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from rlcc import cli

ROOT = Path(__file__).resolve().parents[2]
PLACES = {
    ("emulator/compile.py", "compile_policy"): "compiles",
    ("emulator/compile.py", "link_program"): "links",
    ("emulator/firmware.py", "read_firmware"): "reads",
    ("decision/manifest.py", "opened"): "manifests",
    ("emulator/profile.py", "load_profile"): "profiles",
    ("emulator/compile.py", "find_compiler"): "compilers",
    ("verify/certify.py", "certify"): "proofs",
}


def counted(*arguments: object) -> tuple[int, Counter[str]]:
    """What a command of rlcc did in this process: the exit code, and how often it did each; vectors: runs of more than
    a thousand calls on the core."""
    done: Counter[str] = Counter()

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        if code.co_name == "run_on_core" and len(frame.f_locals["blocks"][0][1]) > 1000:
            done["vectors"] += 1
        if (path := Path(code.co_filename)).is_relative_to(ROOT):
            done[PLACES.get((str(path.relative_to(ROOT)), code.co_name), "")] += 1

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        code = cli.main([str(argument) for argument in arguments])
    finally:
        sys.setprofile(before)
    del done[""]
    return code, done


@pytest.fixture
def copied(pipeline: Any, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pipeline.root, tmp_path / "copy"))


def test_a_run_makes_each_thing_once(copied: Path) -> None:
    """The decision, its trees alone, the stub of the calibration, the decision with lines: four programs. The checker
    makes two of them again, in a process of its own."""
    code, done = counted("run", copied / "tiny.toml", "--out", copied / "out", "--from", "emulate")
    assert code == 0
    assert (done["compiles"], done["links"], done["reads"], done["proofs"]) == (4, 4, 1, 1)
    assert done["vectors"] == 2  # the decision, and its trees alone
    assert done["manifests"] == 5  # the firmware's before, as it is read, and after all; the report's; the teacher's


def test_the_gate_by_itself_takes_what_the_run_left(copied: Path) -> None:
    arguments = ["run", copied / "tiny.toml", "--out", copied / "out", "--from"]
    assert counted(*arguments, "emulate")[0] == 0
    code, done = counted(*arguments, "gate")
    assert code == 0
    assert (done["compiles"], done["links"], done["reads"], done["proofs"]) == (2, 2, 1, 0)
    assert done["vectors"] == 0
