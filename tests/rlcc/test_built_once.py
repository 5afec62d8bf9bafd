"""A run compiles, links, reads and runs each thing once, and the gate repeats none of it.

Slow: a whole run, and the gate after it; the fast suite has a run without a proof.
"""

import shutil
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from bench.way import Places, entered, functions, watched
from rlcc import cli
from rlcc.gate.certified import PLACE as CERTIFICATE

WAY = 213
"""Functions of rlcc/ between `rlcc run --from emulate` and the verdict with its report, at most: 178, of which some 50
draw the report, when this was written (python -m bench.way: all of a recipe's); with rows that are always there and
a check before a certificate is written 191; with names of checks by id and figures as key and value 194; with
a command's options and its handler apart 195; with the
verdict's summary 198; with outcomes beside PASS and FAIL 199;
with prefixes, reasons of what is not judged and requirements 208; with devices and the decision in logic 209;
with the terms of a verdict's legend and a certificate without idle cuts 211; with other forms of the program 212;
with a core whose machine code has a proof of another kind 213."""
pytestmark = pytest.mark.usefixtures("calibrated_anew")
PLACES = {
    ("emulator/compile.py", "compile_policy"): "compiles",
    ("emulator/compile.py", "link_program"): "links",
    ("emulator/firmware.py", "firmware_of"): "reads",
    ("decision/artefact/manifest.py", "opened"): "manifests",
    ("emulator/profile.py", "load_profile"): "profiles",
    ("emulator/compile.py", "find_compiler"): "compilers",
    ("verify/prover/certify.py", "certify"): "proofs",
}


def counted(*arguments: object) -> tuple[int, Counter[str]]:
    """What a command of rlcc did in this process: the exit code, and how often it did each; vectors: runs of more than
    a thousand calls on the core; way: how many functions of rlcc/ it went through."""
    done: Counter[str] = Counter()
    codes: list[int] = []
    way: Places = {}

    def look(file: str, frame: FrameType) -> None:
        name = frame.f_code.co_name
        if name == "run_on_core" and len(frame.f_locals["blocks"][0][1]) > 1000:
            done["vectors"] += 1
        done[PLACES.get((file, name), "")] += 1
        entered(way, file, frame)

    import_module("rlcc.handlers.run")  # what an import runs is no way
    watched(lambda: codes.append(cli.main([str(argument) for argument in arguments])), look)
    del done[""]
    done["way"] = functions(way)["rlcc"]
    return codes[0], done


@pytest.fixture
def copied(pipeline: Any, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pipeline.root, tmp_path / "copy"))


@pytest.mark.slow
def test_a_run_makes_each_thing_once(copied: Path) -> None:
    """The decision, its trees alone, the stub of the calibration, the decision with lines: four programs. The checker
    makes two of them again, in a process of its own."""
    code, done = counted("run", copied / "tiny.toml", "--out", copied / "out", "--from", "emulate")
    assert code == 0
    assert (done["compiles"], done["links"], done["reads"], done["proofs"]) == (4, 4, 1, 1)
    assert done["vectors"] == 2  # the decision, and its trees alone
    assert done["way"] <= WAY, "a shorter way, or the figure and its reason"
    # The firmware's before, as it is read, and after all; the report's; the teacher's, which all stages share; those
    # of student and rollouts, which the firmware names as its parents.
    assert done["manifests"] == 7


@pytest.mark.slow
def test_the_gate_by_itself_takes_what_the_run_left(copied: Path) -> None:
    arguments = ["run", copied / "tiny.toml", "--out", copied / "out", "--from"]
    assert counted(*arguments, "emulate")[0] == 0
    code, done = counted(*arguments, "gate")
    assert code == 0
    assert (done["compiles"], done["links"], done["reads"], done["proofs"]) == (2, 2, 1, 0)
    assert done["vectors"] == 0


def test_without_a_proof_nothing_is_proved(copied: Path) -> None:
    recipe = copied / "tiny.toml"
    recipe.write_text(recipe.read_text().replace("[gate]\n", "[gate]\nproof = false\n", 1))
    code, done = counted("run", recipe, "--out", copied / "out", "--from", "emulate")
    assert code == 0
    assert done["proofs"] == 0
    assert not (copied / "out" / CERTIFICATE).exists()
