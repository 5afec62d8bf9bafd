"""Interfaces other than a flow's, of one knob and of several: all vectors on the RTL, the fast path and the host."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from other_interfaces import PROGRAMS, emitted, printed

from emulator import emulate, fast, run_on_host
from emulator.compare import compare
from emulator.compile import compile_sources, link_program, toolchain
from emulator.firmware import ENTRY, Firmware, argument_blocks, read_firmware
from emulator.objects import read_image
from emulator.profile import load_profile
from emulator.rtl_run import run_on_core
from emulator.run import blocks
from emulator.vectors import outputs

SMALL = load_profile("ibex-small")
ARGUMENTS = {
    "queue": [("context", 4), ("event", 12), ("params", 4), ("action", 12)],
    "queue without memory": [("event", 12), ("params", 4), ("action", 12)],
    "grid": [("event", 16)],
}


@pytest.fixture(scope="module", params=PROGRAMS)
def firmware(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    return read_firmware(emitted(PROGRAMS[request.param], tmp_path_factory.mktemp("other") / "firmware"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_function_gets_the_structures_that_its_program_has(name: str, tmp_path: Path) -> None:
    read = read_firmware(emitted(PROGRAMS[name], tmp_path / "firmware"))
    found = argument_blocks(read.layouts)
    assert [(block.name, block.size) for block in found] == ARGUMENTS[name]
    assert [block.name for block in found if block.writable] == [
        n for n, _ in ARGUMENTS[name] if n in ("context", "action")
    ]
    assert read.context_bytes == dict(ARGUMENTS[name]).get("context", 0)


def test_all_vectors_agree_on_the_rtl_and_the_fast_path_cycle_by_cycle(firmware: Firmware, tmp_path: Path) -> None:
    policy = compile_sources(firmware.sources, toolchain(SMALL), folder=tmp_path)
    image = read_image(link_program(policy, ENTRY, SMALL, tmp_path))
    rtl = run_on_core(image, ENTRY, SMALL, blocks(firmware))
    ours = fast.run(image, ENTRY, SMALL, blocks(firmware))
    for run in (rtl, ours):
        assert run.fault is None
        assert len(run.cycles) == len(firmware.vectors) > 250
        assert compare(firmware.vectors, outputs(firmware.program, run.returned, run.written)).first is None
    assert (rtl.cycles == ours.cycles).all()


def test_emulate_and_the_host_pass(firmware: Firmware) -> None:
    report = emulate(firmware.folder, profile="ibex-small")
    assert report.passed, report
    assert report.context_bytes == firmware.context_bytes
    host = run_on_host(firmware.folder)
    assert host.passed, host
    assert host.vectors == report.vectors == len(firmware.vectors)


WRONG = {
    "not written": ("    action->kmax_bytes = ", "    (void)"),
    "off by one": ("    action->pmax_q16 = ", "    action->pmax_q16 = 1U + "),
    "in another's place": ("action->kmin_bytes", "action->pmax_q16"),
}


@pytest.mark.parametrize("why", WRONG)
def test_a_wrong_knob_is_a_mismatch_on_both(why: str, tmp_path: Path) -> None:
    program = PROGRAMS["queue"]
    right, wrong = WRONG[why]
    source = printed(program)[1]
    assert right in source
    folder = emitted(program, tmp_path / "firmware", source.replace(right, wrong))
    report, host = emulate(folder, profile="ibex-small"), run_on_host(folder)
    assert report.mismatches > 0
    assert host.mismatches > 0
    knob = {"not written": "kmax_bytes", "off by one": "pmax_q16", "in another's place": "kmin_bytes"}[why]
    assert f"{knob} = " in (report.first_mismatch or "")
    assert report.first_mismatch == host.first_mismatch


def test_what_nobody_wrote_is_no_value_that_could_pass(tmp_path: Path) -> None:
    read = read_firmware(emitted(PROGRAMS["queue"], tmp_path / "firmware"))
    assert set(read.vectors.records["action"].tobytes()) == {0xA5}
    assert {name for name in read.vectors.expected if "." not in name} == {"kmin_bytes", "kmax_bytes", "pmax_q16"}
    assert not np.any(read.vectors.expected["kmax_bytes"] == 0xA5A5A5A5)
