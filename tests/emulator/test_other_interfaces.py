"""Interfaces other than a flow's, of one knob and of several: all vectors on the RTL, the fast path and the host."""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from other_interfaces import PROGRAMS, emitted, printed

from decision.ir.interface import GROUPS
from emulator import fast
from emulator.compare import compare
from emulator.compile import compile_sources, link_program, toolchain
from emulator.core_run import run_on_core
from emulator.decider import rtl_decider
from emulator.elf import read_image
from emulator.firmware import ENTRY, Firmware, argument_blocks
from emulator.firmware_folder import read_firmware
from emulator.host import run_on_host
from emulator.layout import outputs
from emulator.profile import load_profile
from emulator.run import blocks, emulate
from emulator.shared_library import shared_library
from emulator.vectors import vectors_of

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
        assert len(run.cycles) == len(vectors_of(firmware)) > 250
        assert compare(vectors_of(firmware), outputs(firmware.program, run.returned, run.written)).first is None
    assert (rtl.cycles == ours.cycles).all()


def test_emulate_and_the_host_pass(firmware: Firmware) -> None:
    report = emulate(firmware.folder, profile="ibex-small")
    assert report.passed, report
    assert report.context_bytes == firmware.context_bytes
    host = run_on_host(firmware.folder)
    assert host.passed, host
    assert host.vectors == report.vectors == len(vectors_of(firmware))


class Seam(ctypes.Structure):
    """rlcc_decider of decision/include/rlcc_decider.h."""

    _fields_ = (
        ("version", ctypes.c_uint32),
        ("context_bytes", ctypes.c_uint32),
        ("self", ctypes.c_void_p),
        ("decide", ctypes.CFUNCTYPE(ctypes.c_uint64, *[ctypes.c_void_p] * 4, ctypes.POINTER(ctypes.c_uint32))),
    )


Decide = Callable[[Any, Any, Any, Any], Any]


def decided(firmware: Firmware, decide: Decide, index: int) -> dict[str, int]:
    """The outputs of one vector, called as the simulator calls: every structure, all knobs as words."""
    records = {name: records[index : index + 1].copy() for name, records in vectors_of(firmware).records.items()}
    knobs = (ctypes.c_uint32 * 3)(*[0xA5A5A5A5] * 3)
    decide(*(records[name].ctypes.data if name in records else None for name in GROUPS[:3]), knobs)
    if "action" in records:
        records["action"] = np.frombuffer(bytes(knobs), firmware.layouts["action"].dtype)
    found = outputs(firmware.program, np.array(knobs[:1], dtype=np.uint32), records)
    return {name: int(column[0]) for name, column in found.items()}


def expected(firmware: Firmware, index: int) -> dict[str, int]:
    return {name: int(column[index]) for name, column in vectors_of(firmware).expected.items()}


def test_deciders_for_the_network_give_every_knob(firmware: Firmware) -> None:
    """The fast path and the Verilated core, one decision at a time, with the same cycles."""
    with fast.decider(firmware.folder, "ibex-small") as ours, rtl_decider(firmware.folder, "ibex-small") as theirs:
        seams = [Seam.from_address(engine.address) for engine in (ours, theirs)]
        assert [seam.context_bytes for seam in seams] == [firmware.context_bytes] * 2
        for index in range(0, len(vectors_of(firmware)), 9):
            cycles: list[int] = []
            for seam in seams:

                def decide(*given: Any, seam: Seam = seam, cycles: list[int] = cycles) -> None:
                    cycles.append(seam.decide(seam.self, *given))

                assert decided(firmware, decide, index) == expected(firmware, index)
            assert cycles[0] == cycles[1] > 10


def test_the_library_for_the_network_takes_every_structure(firmware: Firmware) -> None:
    several = "action" in firmware.layouts
    with shared_library(firmware) as path:
        library = ctypes.CDLL(str(path))
        size = ctypes.c_uint32.in_dll(library, f"rlcc_{firmware.program.interface.agent}_bytes")
        assert size.value == firmware.context_bytes
        function = library.rlcc_decide
        function.argtypes = [ctypes.c_void_p] * (4 if several else 3)
        function.restype = None if several else ctypes.c_uint32

        def decide(context: Any, event: Any, params: Any, knobs: Any) -> None:
            returned = function(context, event, params, *([knobs] if several else []))
            knobs[0] = knobs[0] if several else returned

        for index in range(len(vectors_of(firmware))):
            assert decided(firmware, decide, index) == expected(firmware, index)


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
    assert set(vectors_of(read).records["action"].tobytes()) == {0xA5}
    assert {name for name in vectors_of(read).expected if "." not in name} == {"kmin_bytes", "kmax_bytes", "pmax_q16"}
    assert not np.any(vectors_of(read).expected["kmax_bytes"] == 0xA5A5A5A5)
