"""A decision of nine instructions, written by hand, and a judge of it: for the tests of the checker."""

import struct

import numpy as np

from decision.ir.forest import Forest
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, Program, ProgramBuilder
from emulator.elf import Image, LoadedSection
from emulator.layout import Layout
from emulator.memory_map import CONSTANTS_BASE
from emulator.profile import load_profile
from verify.check.judge import Cut, Judge
from verify.check.path_facts import Oracle
from verify.trusted.calibrate_programs import encode
from verify.trusted.costs import cycle_model

BASE = 0x100
T0, T1, A0, A1, A2, SP, RA, S0 = 5, 6, 10, 11, 12, 2, 1, 8


def layout(name: str, *fields: str) -> Layout:
    return Layout(name, np.dtype([(f, "<u4") for f in fields]))


LAYOUTS = {
    "context": layout("context", "rate_q30"),
    "event": layout("event", *FLOW_RATE.event_names),
    "params": layout("params", *FLOW_RATE.param_names),
}
TYPES = {"uint32": "<u4", "int32": "<i4", "int16": "<i2"}
MOST = 4 * FLOW_RATE.param_names.index("rate_max_q30")


def program() -> Program:
    """least = min(response - sent, rate_max) is written back; its square's high word plus 1 is returned."""
    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE)
    b.state_in("rate_q30", "uint32")
    rtt = b.add(Op.WRAP_SUB, (b.event("response_ns"), b.event("request_sent_ns")))
    least = b.add(Op.MIN, (rtt, b.param("rate_max_q30")), name="least")
    half = b.add(Op.SHR, (least,), 1)
    high = b.add(Op.MUL_SHR, (half, half), 32)
    b.state_out("rate_q30", least)
    return b.finish(b.add(Op.ADD, (high, b.const(1))))


PROGRAM = program()
LEAST = next(n for n, node in enumerate(PROGRAM.nodes) if node.name == "least")
CODE = {
    "sent": encode("lw", T0, A1, imm=0),
    "response": encode("lw", T1, A1, imm=4),
    "rtt": encode("sub", T0, T1, T0),
    "most": encode("lw", T1, A2, imm=MOST),
    "less": encode("bltu", rs1=T0, rs2=T1, imm=8),
    "take": encode("addi", T0, T1),
    "write": encode("sw", rs1=A0, rs2=T0),
    "half": encode("srli", T0, T0, imm=1),
    "square": encode("mulhu", A0, T0, T0),
    "plus": encode("addi", A0, A0, imm=1),
    "return": encode("jalr", 0, RA),
}
AT = {name: BASE + 4 * n for n, name in enumerate(CODE)}
KEPT = {f"x{r}": f"register.{r}" for r in (1, 2, 3, 4, 8, 9, *range(18, 28))}
CUT = Cut(AT["write"], {**KEPT, "x10": "pointer.context", "x5": f"node.{LEAST}", "context+0:4": "context.rate_q30"}, {})
CYCLES = 3 * 2 + 1 + 3 + 2 + 1 + 4 + 1 + 2  # the branch taken: the longer way by one


def judge(
    code: dict[str, int] | None = None,
    *cuts: Cut,
    solver: str = "bitwuzla",
    profile: str = "ibex-small",
    constants: bytes | None = None,
    program: Program = PROGRAM,
    oracle: Oracle | None = None,
) -> Judge:
    words = list((code or CODE).values())
    data = struct.pack(f"<{len(words)}I", *words)
    text = (BASE, BASE + len(data))
    sections = [LoadedSection(".text", BASE, data)]
    if constants is not None:
        sections.append(LoadedSection(".rodata", CONSTANTS_BASE, constants))
    model = cycle_model(load_profile(profile))
    flow = np.dtype([(s.name, TYPES[s.storage]) for s in program.state])
    layouts = {**LAYOUTS, "context": Layout("context", flow)}
    image = Image(tuple(sections), {}, text, (0, 0), 0)
    return Judge(image, BASE, program, layouts, cuts, model, 64, oracle or Oracle(solver))


def with_code(**words: int) -> dict[str, int]:
    return {**CODE, **words}
