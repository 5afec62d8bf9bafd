"""A decision of a tree and a product in RV64 assembly, its program, and a proof of both: for mutants of either."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from elftools.elf.elffile import ELFFile

from decision.ir.forest import Forest, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, Program, ProgramBuilder
from emulator.compile import find_compiler, run_tool
from emulator.elf import Image, LoadedSection
from emulator.firmware import ENTRY
from emulator.layout import Layout, packed
from emulator.memory_map import CONSTANTS_BASE
from emulator.vectors import Vectors
from verify.rv64.equality import Rv64Proof, prove

BASE = 0x1000
COMPILER = find_compiler("clang", "rv64imac_zbb_zbs")
THRESHOLD, LEAVES = 1000, (-5, 6)
MOST = 4 * FLOW_RATE.param_names.index("rate_max_q30")
CODE = f"""
    addi sp, sp, -16
    sd s0, 8(sp)
    lwu t0, 0(a1)
    lwu t1, 4(a1)
    subw t0, t1, t0
    slli t0, t0, 32
    srli t0, t0, 32
    lwu t1, {MOST}(a2)
    bltu t0, t1, 1f
    mv t0, t1
1:  sw t0, 0(a0)
    li s0, {THRESHOLD + 1}
    sltu s0, t0, s0
    xori s0, s0, 1
    slli s0, s0, 1
    lui t1, {CONSTANTS_BASE >> 12}
    addi t1, t1, {CONSTANTS_BASE & 0xFFF}
    add t1, t1, s0
    lh t1, 0(t1)
    sh t1, 4(a0)
    addiw t1, t1, 16
    mul t1, t0, t1
    srli a0, t1, 5
    sext.w a0, a0
    ld s0, 8(sp)
    addi sp, sp, 16
    ret
"""


def program(threshold: int = THRESHOLD, leaves: tuple[int, int] = LEAVES) -> Program:
    """least = min(response - sent, rate_max) and the tree's leaf are written back; least (leaf + 16) / 32 is
    returned."""
    b = ProgramBuilder(Forest(("least",), (oblivious(((0, threshold),), leaves),), (0,), 16), FLOW_RATE)
    b.state_in("rate_q30", "uint32")
    b.state_in("action_1", "int16")
    rtt = b.add(Op.WRAP_SUB, (b.event("response_ns"), b.event("request_sent_ns")))
    least = b.add(Op.MIN, (rtt, b.param("rate_max_q30")))
    leaf = b.add(Op.TREES, (least,))
    b.state_out("rate_q30", least)
    b.state_out("action_1", leaf)
    return b.finish(b.add(Op.MUL_SHR, (least, b.add(Op.ADD, (leaf, b.const(16)))), 5))


def layout(name: str, **fields: str) -> Layout:
    return Layout(name, np.dtype(list(fields.items()), align=True))


LAYOUTS = {
    "context": layout("context", rate_q30="<u4", action_1="<i2"),
    "event": layout("event", **dict.fromkeys(FLOW_RATE.event_names, "<u4")),
    "params": layout("params", **dict.fromkeys(FLOW_RATE.param_names, "<u4")),
}


def vectors() -> Vectors:
    """Inputs drawn at random, so that none lies at a threshold."""
    rng, count = np.random.default_rng(1), 200
    columns = {
        f"{group}.{name}": rng.integers(0, 1 << int(rng.integers(12, 32)), count)
        for group, one in LAYOUTS.items()
        for name in one.fields
        if group != "context"
    }
    columns |= {"context.rate_q30": rng.integers(0, 1 << 32, count), "context.action_1": rng.integers(-9, 9, count)}
    columns["event.response_ns"] = columns["event.request_sent_ns"] + rng.integers(0, 3000, count)
    return Vectors(("drawn",) * count, packed(LAYOUTS, columns, count), {})


def assembled(text: str, folder: Path) -> bytes:
    source, target = folder / "code.S", folder / "code.o"
    source.write_text(text + "\n")
    run_tool([*COMPILER.compile, "-mno-relax", "-c", str(source), "-o", str(target)], "assembly")
    with target.open("rb") as file:
        code: bytes = ELFFile(file).get_section_by_name(".text").data()
    return code


def image_of(code: bytes, leaves: tuple[int, ...] = LEAVES) -> Image:
    constants = b"".join(leaf.to_bytes(2, "little", signed=True) for leaf in leaves)
    sections = LoadedSection(".text", BASE, code), LoadedSection(".rodata", CONSTANTS_BASE, constants)
    ends = CONSTANTS_BASE, CONSTANTS_BASE + len(constants)
    return Image(sections, {ENTRY: BASE}, (BASE, BASE + len(code)), ends, ends[1])


def proved(image: Image, of: Program) -> Rv64Proof:
    firmware = SimpleNamespace(layouts=LAYOUTS)
    engine = SimpleNamespace(limits=SimpleNamespace(stack_bytes=64))
    build: Any = SimpleNamespace(image=image, program=of, firmware=firmware, engine=engine)
    return prove(build, vectors())
