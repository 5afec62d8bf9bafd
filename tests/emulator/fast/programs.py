"""Programs in assembly for both machines, the RTL and the fast path: drawn ones and written ones, and their inputs.

A drawn function is safe whatever its inputs: it loads and stores inside its two blocks and its frame, jumps forward,
loops a few times, calls a leaf. Registers are few, so that neighbours meet in them.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from emulator import fast
from emulator.compile import compile_policy, link_program, toolchain
from emulator.core_run import run_on_core
from emulator.elf import Image, read_image
from emulator.job import State
from emulator.memory_map import Block
from emulator.profile import Profile, load_profile
from emulator.rtl_run import RtlRun

WORDS = 16  # of each block
FRAME = 32  # bytes of stack: seven words of the body's, and ra
FREE = ("t0", "t1", "t2", "a2", "a3")
LOADS = {"lb": 1, "lbu": 1, "lh": 2, "lhu": 2, "lw": 4}
STORES = {"sb": 1, "sh": 2, "sw": 4}
BRANCHES = ("beq", "bne", "blt", "bge", "bltu", "bgeu")
THREE = ("add", "sub", "sll", "slt", "sltu", "xor", "srl", "sra", "or", "and")
PRODUCTS = ("mul", "mulh", "mulhsu", "mulhu")
IMMEDIATE = ("addi", "slti", "sltiu", "xori", "ori", "andi")
SHIFTS = ("slli", "srli", "srai")
BITS_THREE = (
    *("sh1add", "sh2add", "sh3add", "andn", "orn", "xnor", "min", "minu", "max", "maxu"),
    *("rol", "ror", "bset", "bclr", "binv", "bext"),
)
BITS_TWO = ("clz", "ctz", "cpop", "sext.b", "sext.h", "zext.h", "orc.b", "rev8")
BITS_SHIFTS = ("rori", "bseti", "bclri", "binvi", "bexti")

Records = list[tuple[Block, NDArray[np.void]]]


# --- drawn --------------------------------------------------------------------------------------------------------


@st.composite
def _compute(draw: st.DrawFn, isa: str) -> str:
    bits = "zbb" in isa
    three = THREE + PRODUCTS * ("m" in isa) + BITS_THREE * bits
    rd, a, b = (draw(st.sampled_from(FREE)) for _ in range(3))
    name = draw(st.sampled_from([*three, *IMMEDIATE, *SHIFTS, "lui", "auipc", *(BITS_TWO + BITS_SHIFTS) * bits]))
    if name in three:
        return f"{name} {rd}, {a}, {b}"
    if name in BITS_TWO:
        return f"{name} {rd}, {a}"
    if name in IMMEDIATE:
        return f"{name} {rd}, {a}, {draw(st.one_of(st.integers(-32, 31), st.integers(-2048, 2047)))}"
    if name in SHIFTS + BITS_SHIFTS:
        return f"{name} {rd}, {a}, {draw(st.integers(0, 31))}"
    return f"{name} {rd}, {draw(st.integers(0, 2**20 - 1))}"


@st.composite
def _access(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from([*LOADS, *LOADS, *STORES]))
    base = draw(st.sampled_from(["a0", "sp", "a1"] if name in LOADS else ["a0", "sp"]))
    size = LOADS.get(name) or STORES[name]
    offset = size * draw(st.integers(0, (FRAME - 4 if base == "sp" else 4 * WORDS) // size - 1))
    return f"{name} {draw(st.sampled_from([*FREE, *FREE, 'zero']))}, {offset}({base})"


@st.composite
def _unit(draw: st.DrawFn, isa: str, here: int, count: int) -> list[str]:
    """Instructions that stay together; a jump goes to a later unit, which starts with the label .L<number>."""
    kind = draw(st.sampled_from(["compute"] * 8 + ["access"] * 7 + ["branch"] * 5 + ["jump", "call", "far", "loop"]))
    a, b = (draw(st.sampled_from([*FREE, "zero"])) for _ in range(2))
    to = f".L{min(here + draw(st.integers(1, 6)), count)}"
    plain = st.one_of(_compute(isa), _access())
    match kind:
        case "compute":
            return [draw(_compute(isa))]
        case "access":
            return [draw(_access())]
        case "branch":
            return [f"{draw(st.sampled_from(BRANCHES))} {a}, {b}, {to}"]
        case "jump":
            return [f"jal {draw(st.sampled_from(['zero', 't1']))}, {to}"]
        case "call":
            return ["jal ra, leaf"]
        case "far":
            load = ["lw a4, 0(sp)"] * draw(st.booleans())  # the jump then waits for an access
            return [f"lla a5, {to}", *load, f"jalr {draw(st.sampled_from(['zero', 't0']))}, 0(a5)"]
        case _:
            body = draw(st.lists(plain, max_size=4))
            turns = draw(st.integers(1, 5))
            return [f"li a4, {turns}", f".Lloop{here}:", *body, "addi a4, a4, -1", f"bnez a4, .Lloop{here}"]


@st.composite
def drawn_function(draw: st.DrawFn, isa: str = "rv32im", most: int = 90) -> str:
    """The assembly of a function of two blocks, the first writable, and of the leaf that it calls."""
    count = most - draw(st.integers(0, most - 1))  # long ones come first
    lines = [f"addi sp, sp, -{FRAME}", f"sw ra, {FRAME - 4}(sp)"]
    lines += [f"sw zero, {at}(sp)" for at in range(0, FRAME - 4, 4)]
    lines += [f"lw {register}, {4 * n}(a1)" for n, register in enumerate(FREE)]
    for n in range(count):
        lines += [f".L{n}:", *draw(_unit(isa, n, count))]
    lines += [f".L{count}:", "add a0, t0, t1", f"addi sp, sp, {FRAME}", "lw ra, -4(sp)", "ret"]
    leaf = draw(st.lists(st.one_of(_compute(isa), _access()), max_size=8))
    return "\n".join([*lines, "leaf:", *leaf, "ret"])


# --- run ----------------------------------------------------------------------------------------------------------


def linked(assembly: str, profile: Profile) -> Image:
    """A function ``f`` with the runner around it."""
    text = assembly.replace("\n", "\\n")
    source = f'__asm__(".text\\n.globl f\\n.type f,@function\\nf:\\n{text}\\n.size f,.-f");\n'
    with tempfile.TemporaryDirectory(prefix="rlcc-") as name:
        path = Path(name) / "function.c"
        path.write_text(source)
        policy = compile_policy(path, toolchain(profile), folder=path.parent)
        return read_image(link_program(policy, "f", profile, path.parent))


def inputs(seed: int, calls: int) -> Records:
    """Any word, small words, equal words: branches go both ways."""
    rng = np.random.default_rng(seed)

    def records() -> NDArray[np.void]:
        words = rng.integers(0, 1 << 32, size=(calls, WORDS), dtype=np.uint32)
        words >>= rng.choice(np.array([0, 0, 16, 29, 31], dtype=np.uint32), size=words.shape)
        return words.astype("<u4").view([("words", "<u4", (WORDS,))]).reshape(-1)

    size = 4 * WORDS
    return [(Block("out", size, writable=True), records()), (Block("in", size, writable=False), records())]


@dataclass(frozen=True)
class Pair:
    """The same calls on both machines."""

    rtl: RtlRun
    ours: RtlRun

    def differences(self) -> list[str]:
        """What is not the same: empty where the fast path is right."""
        a, b = self.rtl, self.ours
        found = [] if a.fault == b.fault else [f"{a.fault} and {b.fault}"]
        for what, x, y in (
            ("cycles", a.cycles, b.cycles),
            ("returned", a.returned, b.returned),
            *((name, a.written[name], b.written[name]) for name in a.written),
        ):
            if len(x) != len(y):
                found.append(f"{what}: {len(x)} and {len(y)} calls")
            elif (wrong := np.flatnonzero(x != y)).size:
                found.append(f"{what} of call {wrong[0]}: {x[wrong[0]]} and {y[wrong[0]]}, {wrong.size} in all")
        return found + ([] if a.stack_bytes == b.stack_bytes else [f"stack: {a.stack_bytes} and {b.stack_bytes}"])


def both(image: Image, profile: Profile, records: Records, entry: str = "f", state: State = "hot") -> Pair:
    return Pair(
        run_on_core(image, entry, profile, records, state=state),
        fast.run(image, entry, profile, records, state=state, threads=2),
    )


Shape = tuple[int, int, int, int]  # bytes, bytes of a line, ways, cycles of a miss


def engine(
    name: str,
    fetch: int | Shape = 0,
    data: int | Shape = 0,
    **core: str | bool,
) -> Profile:
    """A shipped profile with wait states or caches before its memories, or with another core."""
    changed = load_profile(name).model_dump()
    changed["core"] |= core
    for memory, waits in (("instruction_memory", fetch), ("data_memory", data)):
        if isinstance(waits, int):
            changed[memory]["wait_states"] = waits
        else:
            changed[memory]["cache"] = dict(zip(("bytes", "line_bytes", "ways", "miss_cycles"), waits, strict=True))
    return Profile.model_validate(changed)


# --- that end before they return ------------------------------------------------------------------------------------

FAULTS = {
    "sw a0, 4(a1); nop; ret": "a const structure",
    "sb zero, 64(a0); nop; ret": "store out of",
    "lw a2, 64(a1); nop; ret": "load out of",
    "lhu a2, -2(a1); nop; ret": "load out of",
    "lw a2, 0(zero); nop; ret": "load out of",
    "sw a2, 0(sp); nop; ret": "store out of",  # above the stack
    "lui a2, 0x10000; lw a3, 0(a2); nop; ret": "load out of",  # the runner's words
    "lui a2, 0x8; jr a2; nop; ret": "code to 0x8000",
    "j .-64": "jump out of",
    ".word 0": "an illegal instruction",
    ".word 0xffffffff": "an illegal instruction",
    "ebreak": "a breakpoint",
    "ecall": "an environment call",
    "nop": "jump out of",  # past the end
    "lw a2, 0(a1); bgez a2, 1f; sw a2, 0(a1); 1: ret": "a const structure",  # some calls return
}
"""Functions that do what they may not, and a part of what is said of them."""
WAYS = (engine("ibex-small"), engine("ibex-small", fetch=1))  # cycles counted beforehand, and cycle by cycle
LOOPS = ("j .", "1: addi a2, a2, 1; bnez sp, 1b; ret", "lla a2, .; jr a2")


def function(body: str) -> str:
    return body.replace("; ", "\n")
