"""Runs shared out among processes, cycles by address, and the core behind the seam of deciders."""

import ctypes
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

import emulator.rtl_run as rtl_run_module
from decision.artefact.errors import InputError
from emulator.compile import compile_policy, link_program, toolchain
from emulator.core_run import run_on_core
from emulator.decider import rtl_decider
from emulator.elf import Image, read_image
from emulator.firmware import ENTRY
from emulator.firmware_folder import read_firmware
from emulator.job import PORTION
from emulator.profile import Profile, load_profile
from emulator.run import blocks
from emulator.vectors import vectors_of

Maker = Callable[..., Path]
CONTEXT_BYTES = 8


class Decider(ctypes.Structure):
    """decision/include/rlcc_decider.h."""

    _fields_ = (
        ("version", ctypes.c_uint32),
        ("context_bytes", ctypes.c_uint32),
        ("self", ctypes.c_void_p),
        ("decide", ctypes.CFUNCTYPE(ctypes.c_uint64, *[ctypes.c_void_p] * 4, ctypes.POINTER(ctypes.c_uint32))),
        ("fault", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
    )


def linked(folder: Path, profile: Profile) -> Image:
    policy = compile_policy(folder / "rlcc_policy.c", toolchain(profile), folder=folder.parent)
    return read_image(link_program(policy, ENTRY, profile, folder.parent))


@pytest.mark.parametrize("name", ["ibex-small", "vexriscv"])
def test_the_number_of_processes_changes_nothing(firmware_folder: Maker, name: str) -> None:
    folder, profile = firmware_folder(), load_profile(name)
    picked = np.arange(2 * PORTION + 100) * 7 % 6
    records = [(block, data[picked]) for block, data in blocks(read_firmware(folder))]
    image = linked(folder, profile)
    one, three = (
        run_on_core(image, ENTRY, profile, records, by_address=True, processes=processes) for processes in (1, 3)
    )
    assert len(one.cycles) == len(picked)
    for key, value in asdict(one).items():
        other = asdict(three)[key]
        if isinstance(value, np.ndarray):
            assert value.tobytes() == other.tobytes(), key
        else:
            assert str(value) == str(other), key


def test_the_first_fault_of_all_processes_ends_the_run(firmware_folder: Maker, policy_source: str) -> None:
    faulty = policy_source.replace(
        "return flow", "if (flow->seen == 8U) { ((volatile uint32_t *)flow)[2] = 1U; }\n  return flow"
    )
    folder, profile = firmware_folder(policy=faulty), load_profile("ibex-small")
    picked = np.zeros(3 * PORTION, dtype=np.int64)
    picked[[PORTION + 5, 2 * PORTION + 1]] = 3  # the vector that goes wrong
    records = [(block, data[picked]) for block, data in blocks(read_firmware(folder))]
    run = run_on_core(linked(folder, profile), ENTRY, profile, records, processes=3)
    assert run.fault is not None
    assert run.fault.index == PORTION + 5 == len(run.cycles)


@pytest.mark.parametrize("name", ["ibex-small", "ibex-maxperf", "picorv32", "vexriscv", "cv32e40p"])
def test_cycles_by_address_add_up(firmware_folder: Maker, name: str) -> None:
    folder, profile = firmware_folder(), load_profile(name)
    image = linked(folder, profile)
    run = run_on_core(image, ENTRY, profile, blocks(read_firmware(folder)), by_address=True)
    assert run.by_address is not None
    assert sum(run.by_address.values()) == int(run.cycles.sum())
    assert all(image.text[0] <= address < image.text[1] for address in run.by_address)
    assert run.by_address[image.symbols[ENTRY]] >= len(run.cycles)


def test_a_dear_instruction_is_charged_its_own_cycles(assembled: Callable[[str], Path]) -> None:
    profile = load_profile("ibex-small")
    folder = assembled("nop; mulhu a1, a0, a0; lw a1, 0(a0); j 1f; nop; 1: nop").parent
    policy = compile_policy(folder / "snippet.c", toolchain(profile), folder=folder)
    image = read_image(link_program(policy, "f", profile, folder))
    row = np.zeros(3, dtype=[("words", "<u4", (4,))])
    run = run_on_core(image, "f", profile, [(rtl_run_module.Block("row", 16, False), row)], by_address=True)
    at = image.symbols["f"]
    costs = {0: 1, 4: 4, 8: 2, 12: 2, 20: 1, 24: 2}
    assert run.by_address == {at + offset: 3 * cycles for offset, cycles in costs.items()}


@pytest.mark.parametrize("name", ["ibex-small", "vexriscv"])
def test_the_core_in_the_loop_does_what_the_streamed_core_does(firmware_folder: Maker, name: str) -> None:
    folder, profile = firmware_folder(), load_profile(name)
    vectors = vectors_of(read_firmware(folder))
    streamed = run_on_core(linked(folder, profile), ENTRY, profile, blocks(read_firmware(folder)))
    with rtl_decider(folder, name) as decider, rtl_decider(folder, name) as another:
        assert decider.context_bytes == CONTEXT_BYTES
        assert decider.clock_mhz == profile.clock.mhz
        for face in (Decider.from_address(decider.address), Decider.from_address(another.address)):
            assert (face.version, face.context_bytes) == (1, CONTEXT_BYTES)
            for warm in (True, False) if name == "vexriscv" else (False,):
                for i in range(1 if warm else len(vectors)):
                    context = vectors.records["context"][i : i + 1].copy()
                    rate = ctypes.c_uint32()
                    event, params = (vectors.records[n][i : i + 1] for n in ("event", "params"))
                    where = (context.ctypes.data, event.ctypes.data, params.ctypes.data)
                    cycles = face.decide(face.self, *where, ctypes.byref(rate))
                    if not warm:
                        assert cycles == streamed.cycles[i]
                    assert rate.value == vectors.expected["rate_q20"][i]
                    assert {f: vectors.expected[f"context.{f}"][i] for f in context.dtype.names} == {
                        f: context[f][0] for f in context.dtype.names
                    }
    decider.close()  # twice is as good as once


def test_a_fault_in_the_loop_is_a_sentence_and_the_core_goes_on(firmware_folder: Maker, policy_source: str) -> None:
    faulty = policy_source.replace(
        "return flow", "if (flow->seen == 8U) { ((volatile uint32_t *)flow)[2] = 1U; }\n  return flow"
    )
    folder = firmware_folder(policy=faulty)
    vectors = vectors_of(read_firmware(folder))
    with rtl_decider(folder, "ibex-small") as decider:
        face, rate = Decider.from_address(decider.address), ctypes.c_uint32()
        for i, fails in ((1, False), (3, True), (1, False)):
            context = vectors.records["context"][i : i + 1].copy()
            event, params = (vectors.records[n][i : i + 1] for n in ("event", "params"))
            where = (context.ctypes.data, event.ctypes.data, params.ctypes.data)
            assert (face.decide(face.self, *where, ctypes.byref(rate)) == 0) == fails
        assert face.fault(face.self).decode().startswith("store out of")


def test_code_that_would_not_pass_is_not_put_into_the_loop(firmware_folder: Maker, policy_source: str) -> None:
    dividing = policy_source.replace("rtt_ns = event", "rtt_ns = event->response_ns / (flow->seen | 1U) + event")
    with pytest.raises(InputError, match="division instruction"):
        rtl_decider(firmware_folder(policy=dividing), "ibex-small")
