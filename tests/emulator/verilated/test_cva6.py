"""CVA6 with caches of its own: equality, what misses cost in each state, refused accesses, the edits of its RTL."""

import ctypes
import re
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from decision.artefact.errors import InputError
from emulator.compile import compile_policy, find_gcc, link_program, toolchain
from emulator.core_run import run_on_core
from emulator.decider import rtl_decider
from emulator.elf import read_image
from emulator.job import State
from emulator.memory_map import Block
from emulator.objects import check_code
from emulator.profile import Cva6Core, OwnCache, Profile, load_profile
from emulator.rtl_run import RtlRun
from emulator.run import emulate
from emulator.verilated.cva6 import NO_TRACE, _constants, _edited

Maker = Callable[..., Path]
PROXY = Path(__file__).parents[3] / "emulator" / "profiles" / "bluefield3-proxy.toml"
LINE = 64  # bytes, of the proxy's caches
NOPS = 16  # of four bytes in a line


def edited_profile(folder: Path, *edits: tuple[str, str]) -> Profile:
    """The proxy with other values."""
    text = PROXY.read_text()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    path = folder / "edited.toml"
    path.write_text(text)
    return load_profile(path)


def run(
    body: str,
    state: State,
    count: int = 6,
    profile: Profile | None = None,
    writable: bool = False,
    by_address: bool = False,
) -> RtlRun:
    """``count`` calls of a function that is this assembly and a return; a0 points at 16 bytes: 1, 2, 3, 4."""
    engine = profile or load_profile("bluefield3-proxy")
    records = np.tile(np.array([1, 2, 3, 4], "<u4"), (count, 1)).view([("word", "<u4", (4,))]).reshape(-1)
    lines = ("option norvc", "text", "globl f", "balign 64", "type f,@function")
    text = "\\n".join([*(f".{line}" for line in lines), "f:", *body.split("; "), "ret", ".size f,.-f"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "f.c").write_text(f'__asm__("{text}");\n')
        policy = compile_policy(folder / "f.c", toolchain(engine), folder=folder)
        image = read_image(link_program(policy, "f", engine, folder))
        blocks = [(Block("words", 16, writable), records)]
        return run_on_core(image, "f", engine, blocks, state=state, by_address=by_address)


def settled(done: RtlRun) -> int:
    """Cycles of the last call, by when the branch predictor has seen the function."""
    assert done.fault is None, done.fault
    return int(done.cycles[-1])


def test_correct_firmware_passes_in_every_state(firmware_folder: Maker) -> None:
    report = emulate(firmware_folder(), profile="bluefield3-proxy")
    assert report.passed, report
    assert set(report.states) == {"hot", "cold", "other-flow", "back-to-back"}
    means = {name: cost.cycles.mean for name, cost in report.states.items()}
    assert means["hot"] < means["other-flow"] < means["cold"]
    assert means["cold"] > 837 * 4  # code, context, event and parameters, each from DRAM
    assert report.runner_cycles is not None
    assert 5 < report.runner_cycles < 60
    assert means["back-to-back"] > means["hot"]


@pytest.mark.skipif(find_gcc() is None, reason="no RISC-V GCC")
def test_the_other_compiler_agrees(firmware_folder: Maker) -> None:
    assert emulate(firmware_folder(), profile="bluefield3-proxy", compiler="gcc").passed


def test_a_wrong_threshold_is_seen(firmware_folder: Maker, policy_source: str) -> None:
    report = emulate(firmware_folder(policy=policy_source.replace("> 3U", "> 4U")), profile="bluefield3-proxy")
    assert report.mismatches == 2


def test_every_state_computes_the_same() -> None:
    body = "lw a1, 0(a0); lw a2, 8(a0); add a1, a1, a2; sw a1, 4(a0); add a0, a1, a2"
    for state in ("hot", "cold", "other-flow", "back-to-back"):
        done = run(body, state, writable=True)
        assert done.fault is None
        assert set(done.returned.tolist()) == {1 + 3 + 3}
        assert {tuple(words) for words in done.written["words"]["word"].tolist()} == {(1, 4, 3, 4)}


SETTLED = {"nop": 1, "sw a1, 0(a0)": 1, "addi a1, a1, 1": 2, "mul a1, a1, a0": 3, "lw a1, 0(a0)": 4}
"""Cycles of each, one after another: one is issued a cycle, but a register is not written again before its last value
has retired (CVA6 renames nothing)."""


@pytest.mark.parametrize("instruction", SETTLED)
def test_an_instruction_costs_its_place_in_the_pipeline(instruction: str) -> None:
    few, many = (settled(run("; ".join([instruction] * n), "hot", writable=True)) for n in (10, 30))
    assert many - few == 20 * SETTLED[instruction]


def test_a_miss_costs_what_the_memory_says(tmp_path: Path) -> None:
    """Straight code from one line after another: each is a miss of its own, and nothing overlaps."""

    def cold(lines: int, profile: Profile | None = None) -> RtlRun:
        return run("; ".join(["nop"] * (NOPS * lines - 1)), "cold", 2, profile)

    short, long = cold(4), cold(12)
    assert short.instruction_misses.tolist() == [4, 4]
    assert long.instruction_misses.tolist() == [12, 12]
    each, rest = divmod(settled(long) - settled(short), 8)
    assert rest == 0
    assert 837 < each < 837 + 40  # the access, eight beats, the core's own way there and back, the line's instructions
    nearer = edited_profile(tmp_path, ("first_wait_states = 837", "first_wait_states = 90"))
    # The first line is on its way before the call retires. And 90 cycles are never slept through, 837 are.
    assert settled(long) - settled(cold(12, nearer)) in range(12 * (837 - 90) - 8, 12 * (837 - 90) + 1)
    assert settled(cold(12)) - settled(cold(4)) == settled(long) - settled(short)


def test_code_beyond_the_cache_misses_in_every_call() -> None:
    fits = run("; ".join(["nop"] * (NOPS * 12 - 1)), "hot")
    assert fits.instruction_misses.tolist()[1:] == [0] * 5
    larger = run("; ".join(["nop"] * (NOPS * 32 - 1)), "hot")
    assert min(larger.instruction_misses.tolist()) > 12
    assert settled(larger) > settled(fits) + 12 * 40


def test_another_flows_context_is_not_in_the_cache() -> None:
    body = "lw a1, 0(a0); add a0, a1, a1"
    hot, other = run(body, "hot", writable=True), run(body, "other-flow", writable=True)
    assert hot.data_misses.tolist()[1:] == [0] * 5
    assert other.data_misses.tolist() == [1] * 6
    assert 40 < settled(other) - settled(hot) < 40 + 30
    constant = run(body, "other-flow")  # only what may be written is the flow's
    assert constant.data_misses.tolist()[1:] == [0] * 5


def test_cycles_by_address_add_up() -> None:
    done = run("lw a1, 0(a0); mul a1, a1, a1; sw a1, 4(a0)", "cold", writable=True, by_address=True)
    assert done.by_address is not None
    assert sum(done.by_address.values()) == int(done.cycles.sum())
    assert max(done.by_address.items(), key=lambda item: item[1])[0] in (0x1000, 0x1004)  # its line, or what it loads


REFUSED = {
    "sw a1, 0(a0)": r"const structure, .*0x[0-9a-f]+, at f\+0x0",
    "nop; sw a1, 16(a0)": r"store out .* at f\+0x4",
    "ld a1, 12(a0)": "load out|misaligned",
    "lw a1, -4(a0)": "load out",
    "ebreak": r"f\+0x0: .*breakpoint",
    "li a1, -1; lw a1, 0(a1)": r"load",
    "jr a0": "jump out|illegal",
    ".word 0x0200000b": r"an illegal instruction",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_leaves_its_bounds_is_named(body: str) -> None:
    done = run(body, "hot")
    assert done.fault is not None
    assert done.fault.index == 0
    assert re.search(REFUSED[body], done.fault.text), done.fault.text


def test_stack_is_measured() -> None:
    assert run("addi sp, sp, -32; sd a0, 8(sp); addi sp, sp, 32", "hot").stack_bytes == 24


class Face(ctypes.Structure):
    """rlcc_decider of decision/include/rlcc_decider.h."""

    _fields_ = [
        ("version", ctypes.c_uint32),
        ("context_bytes", ctypes.c_uint32),
        ("self", ctypes.c_void_p),
        ("decide", ctypes.CFUNCTYPE(ctypes.c_uint64, *[ctypes.c_void_p] * 4, ctypes.POINTER(ctypes.c_uint32))),
    ]


def test_flows_take_turns_in_the_loop(firmware_folder: Maker, good_vectors: list[Any]) -> None:
    """Two flows, each with its own context: what they decide is the policy's, and a change of flows costs a miss."""
    _, sent, response, recip, rate, action, seen, *expected = good_vectors[1]
    event, params = struct.pack("<II", sent, response), struct.pack("<I", recip)
    with rtl_decider(firmware_folder(), "bluefield3-proxy") as decider:
        face = Face.from_address(decider.address)
        flows = [ctypes.create_string_buffer(struct.pack("<IhH", rate, action, seen), 8) for _ in range(2)]
        cycles = []
        for turn, flow in enumerate([0, 0, 0, 0, 1, 0, 1, 1]):
            result = ctypes.c_uint32()
            if turn in (0, 4):
                flows[flow].raw = struct.pack("<IhH", rate, action, seen)
            cycles.append(face.decide(face.self, flows[flow], event, params, ctypes.byref(result)))
            if turn in (0, 4):
                assert [result.value, *struct.unpack("<IhH", flows[flow].raw)] == expected
    same, changed = cycles[3], cycles[5]
    assert 40 < changed - same < 40 + 30
    assert cycles[7] == same


CONTRADICTIONS = [
    (('isa = "rv64imac_zbb_zbs"', 'isa = "rv32imc"'), "isa"),
    (("first_wait_states = 837\n", ""), "first_wait_states .*core"),
    (("data_cache = { bytes = 1024", "data_cache = { bytes = 1536"), "power of two"),
    (("bytes = 1024, line_bytes = 64, ways = 4", "bytes = 1024, line_bytes = 64, ways = 3"), "ways"),
    (
        (
            "wait_states = 40\nfirst_",
            "cache = { bytes = 1024, line_bytes = 64, ways = 4, miss_cycles = 9 }\nwait_states = 0\nfirst_",
        ),
        "has caches of",
    ),
    (('proxy_for = "BlueField-3 DPA"', ""), "-proxy"),
]


@pytest.mark.parametrize(("edit", "words"), CONTRADICTIONS)
def test_a_contradictory_profile_is_one_sentence(tmp_path: Path, edit: tuple[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        edited_profile(tmp_path, edit)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("size", "line", "ways", "sets"),
    [(512, 64, 8, 1), (512, 64, 4, 2), (512, 32, 8, 2), (1024, 64, 8, 2), (1536, 64, 8, 3), (4096, 16, 4, 64)],
)
def test_an_own_cache_has_a_power_of_two_of_sets_and_more_than_one(size: int, line: int, ways: int, sets: int) -> None:
    """With one set the RTL has an index of no bits."""
    cache = {"bytes": size, "line_bytes": line, "ways": ways}
    if sets in (1, 3):
        with pytest.raises(ValidationError, match="power of two"):
            OwnCache.model_validate(cache)
    else:
        assert OwnCache.model_validate(cache).bytes == sets * line * ways


def test_a_core_without_caches_takes_no_first_wait(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    small = PROXY.with_name("ibex-small.toml").read_text()
    path.write_text(small.replace("wait_states = 0", "wait_states = 0\nfirst_wait_states = 9"))
    with pytest.raises(InputError, match="core with caches"):
        load_profile(path)


def test_an_unknown_version_of_the_rtl_is_refused(tmp_path: Path) -> None:
    core = load_profile("bluefield3-proxy").core
    assert isinstance(core, Cva6Core)
    package = tmp_path / "ariane_pkg.sv"
    package.write_text("package ariane_pkg;\n  localparam bit BITMANIP = 1'b0;\nendpackage\n")
    with pytest.raises(InputError, match=r"ariane_pkg.sv .*pythondata-cpu-cva6 .*version"):
        _edited({package: _constants(core)}, "pythondata-cpu-cva6")
    with pytest.raises(InputError, match="not the version"):
        _edited({package: (NO_TRACE,)}, "pythondata-cpu-cva6")


def test_a_division_is_still_forbidden(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(
        "int f(const int *x) { return (int)((long)x[0] / ((long)x[1] | 1)) + x[2] / (x[3] | 1); }\n"
    )
    engine = load_profile("bluefield3-proxy")
    policy = compile_policy(tmp_path / "f.c", toolchain(engine), folder=tmp_path)
    facts = check_code(link_program(policy, "f", engine, tmp_path), "f")
    assert len([text for text in facts.forbidden if text.startswith("division")]) == 2
