"""All paths of the machine code from one cut to the next, on terms.

Every comparison is decided or both sides are walked. A place that nothing has written has no value, and using it is
refused; so is an access outside the structures, the constants and the own frame, a jump to anything but code, an
endless path.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from decision.ir.interface import GROUPS
from verify.check.meaning import signs
from verify.check.path_facts import Known, Oracle
from verify.check.refused import Refused
from verify.check.terms import FALSE, TRUE, Term, concat, const, extend, extract, ite, make, negate, part, var
from verify.trusted.costs import CycleModel
from verify.trusted.machine import BRANCHES, LOADS, STORES, Instruction

RA, SP, A0 = 1, 2, 10
MAX_STEPS, MAX_ENTRIES = 100_000, 4096
Bytes = dict[int, Term]


@dataclass(frozen=True)
class Code:
    """Code that is walked. ``structures``: bytes of what the function is handed to read, as terms; ``fields``: bytes
    that it may write, of the context and of the action."""

    instructions: dict[int, Instruction]
    constants: tuple[int, bytes]
    structures: dict[str, Bytes]
    fields: dict[str, frozenset[int]]
    stack_bytes: int
    model: CycleModel
    oracle: Oracle
    counted: frozenset[frozenset[Term]] = frozenset()


@dataclass(frozen=True)
class Lane:
    """A path so far; never changed. ``cycles`` and ``conditions`` since the cut it began at; ``written``: bytes of the
    context. The action holds nothing but what was written to it. ``fixed``: words that nodes are said to be."""

    pc: int
    registers: tuple[Term | None, ...]
    frame: Bytes
    context: Bytes
    known: Known
    before: Instruction | None = None
    cycles: int = 0
    steps: int = 0
    deepest: int = 0
    conditions: tuple[Term, ...] = ()
    written: frozenset[int] = field(default_factory=frozenset)
    action: Bytes = field(default_factory=dict)
    fixed: Mapping[int, Term] = field(default_factory=dict)


def at_call(register: int) -> Term:
    """A register as the caller left it."""
    return var(f"register.{register}")


def pointer(name: str) -> Term:
    return var(f"pointer.{name}")


PLAIN = {
    "add": "bvadd", "addi": "bvadd", "sub": "bvsub", "and": "bvand", "andi": "bvand", "or": "bvor", "ori": "bvor",
    "xor": "bvxor", "xori": "bvxor", "sll": "bvshl", "slli": "bvshl", "srl": "bvlshr", "srli": "bvlshr",
    "sra": "bvashr", "srai": "bvashr",
}  # fmt: skip
LESS = {"slt": "bvslt", "slti": "bvslt", "sltu": "bvult", "sltiu": "bvult"}
QUESTIONS = {  # branch -> operation, and whether it is taken where that holds
    "beq": ("=", True), "bne": ("=", False), "blt": ("bvslt", True), "bge": ("bvslt", False),
    "bltu": ("bvult", True), "bgeu": ("bvult", False),
}  # fmt: skip


def step(code: Code, lane: Lane) -> Iterator[Lane]:
    """Execute one instruction: one lane, or one for each side of a comparison that is open."""
    i = code.instructions.get(lane.pc)
    if i is None:
        raise Refused(f"a path leaves the code at {lane.pc:#x}")
    if lane.steps > MAX_STEPS:
        raise Refused(f"a path of more than {MAX_STEPS} instructions at {lane.pc:#x}: a loop")
    if i.name in BRANCHES:
        op, when = QUESTIONS[i.name]
        for side, after in fork(code, lane, make(op, _read(lane, i.rs1), _read(lane, i.rs2))):
            taken = side is (TRUE if when else FALSE)
            yield _after(code, after, i, None, i.target if taken else lane.pc + 4, taken)
    elif i.name in LESS:
        other = const(i.imm) if i.name in ("slti", "sltiu") else _read(lane, i.rs2)
        condition = make(LESS[i.name], _read(lane, i.rs1), other)
        asked = ((condition, lane),) if condition.leaves in code.counted else fork(code, lane, condition)
        for side, after in asked:
            yield _after(code, after, i, ite(side, const(1), const(0)), lane.pc + 4)
    elif i.name in LOADS:
        for after, region, offset in _places(code, lane, i):
            wait = code.model.table_wait if region == "constants" else 0
            loaded = replace(after, cycles=after.cycles + wait)
            yield _after(code, loaded, i, _load(code, after, i, region, offset), lane.pc + 4)
    elif i.name in STORES:
        yield _after(code, _store(code, lane, i), i, None, lane.pc + 4)
    elif i.name == "jal":
        yield _after(code, lane, i, const(lane.pc + 4), i.target)
    elif i.name == "jalr":
        target = make("bvadd", _read(lane, i.rs1), const(i.imm))
        if target is at_call(RA) and i.rd == 0:
            yield _after(code, lane, i, None, -1)
        elif target.op == "const":
            yield _after(code, lane, i, const(lane.pc + 4), target.value & ~1)
        else:
            raise Refused(f"the jump at {lane.pc:#x} does not go to one place")
    else:
        yield _after(code, lane, i, _value(lane, i), lane.pc + 4)


def fork(code: Code, lane: Lane, condition: Term) -> Iterator[tuple[Term, Lane]]:
    """The lane with a condition decided: (TRUE or FALSE, what it then knows)."""
    decided = lane.known.decide(condition, code.oracle)
    if decided.op == "const":
        yield decided, lane
        return
    for side, c in ((TRUE, condition), (FALSE, negate(condition))):
        yield side, replace(lane, known=lane.known.assume(c), conditions=(*lane.conditions, c))


def _after(code: Code, lane: Lane, i: Instruction, value: Term | None, pc: int, taken: bool = False) -> Lane:
    registers = lane.registers
    if i.rd:
        registers = (*registers[: i.rd], value, *registers[i.rd + 1 :])
    cycles = lane.cycles + code.model.step(i, taken, lane.before)
    return replace(lane, pc=pc, registers=registers, before=i, cycles=cycles, steps=lane.steps + 1)


def _read(lane: Lane, register: int) -> Term:
    value = lane.registers[register]
    if value is None:
        raise Refused(f"the instruction at {lane.pc:#x} uses register x{register}, of which nothing is known there")
    return value


def _value(lane: Lane, i: Instruction) -> Term | None:
    """Returns what an instruction without memory or comparison computes; None if an operand is None."""
    if i.name == "lui":
        return const(i.imm)
    if i.name == "auipc":
        return const(i.address + i.imm)
    a, b = lane.registers[i.rs1], lane.registers[i.rs2]
    if a is None or b is None:
        return None
    if i.name in PLAIN:
        if i.name in ("sll", "srl", "sra"):
            b = make("bvand", b, const(31))
        return make(PLAIN[i.name], a, const(i.imm) if i.name.endswith("i") else b)
    product = lane.known.product(a, b)
    if i.name == "mul":
        return extract(product, 31, 0)
    high = extract(product, 63, 32)
    if i.name == "mulhu":
        return high
    minus = make("bvslt", a, const(0))
    too_much = signs(a, b) if i.name == "mulh" else ite(minus, b, const(0))
    return make("bvsub", high, too_much)


def _places(code: Code, lane: Lane, i: Instruction) -> Iterator[tuple[Lane, str, int]]:
    """Region and offset of a load; for a table's entry at an address that is open, a lane for each there may be."""
    address = make("bvadd", _read(lane, i.rs1), const(i.imm))
    place = _place(address)
    if place is not None:
        yield lane, *place
        return
    if _chosen(address):
        for after, entry in _each(code, lane, address):
            yield after, "constants", entry
        return
    low, high = lane.known.span(address)
    size = LOADS[i.name]
    if (high - low) // size >= MAX_ENTRIES:
        raise Refused(f"the load at {lane.pc:#x} is from an address that is not known")
    aligned = make("=", make("bvand", address, const(size - 1)), const(0))  # asked once, not of each that is not
    every = size if lane.known.decide(aligned, code.oracle) is TRUE else 1
    for entry in range(low + -low % every, high + 1, every):
        condition = make("=", address, const(entry))
        if lane.known.decide(condition, code.oracle) is not FALSE:
            after = replace(lane, known=lane.known.assume(condition), conditions=(*lane.conditions, condition))
            yield after, "constants", entry


def _chosen(word: Term) -> bool:
    """Whether a word is a choice among numbers: nothing is open in it but conditions."""
    return word.op != "var" and all(map(_chosen, word.args[word.op == "ite" :]))


def _each(code: Code, lane: Lane, word: Term) -> Iterator[tuple[Lane, int]]:
    """A lane for each number that such a word may be: one condition after the other decided, as at a branch."""
    condition = _asked(word)
    if condition is None:
        yield lane, word.value
        return
    for side, after in fork(code, lane, condition):
        yield from _each(code, after, _where(word, condition, side))


def _asked(word: Term) -> Term | None:
    """A condition that a word asks."""
    return word.args[0] if word.op == "ite" else next(filter(None, map(_asked, word.args)), None)


def _where(word: Term, condition: Term, side: Term) -> Term:
    """A word where a condition is TRUE, or FALSE."""
    if word is condition:
        return side
    args = [_where(a, condition, side) for a in word.args]
    match word.op:
        case "const" | "var":
            return word
        case "ite":
            return ite(*args)
        case "extract":
            return extract(args[0], *word.value)
        case "zero" | "sign":
            return extend(args[0], word.width, word.op == "sign")
        case "concat":
            return concat(*args)
    return make(word.op, *args)


def _place(address: Term) -> tuple[str, int] | None:
    """The region an address points into, and how far."""
    if address.op == "const":
        return "constants", address.value
    base, offset = address, 0
    if address.op == "bvadd" and address.args[1].op == "const":
        base, offset = address.args[0], address.args[1].value
    regions = {at_call(SP): "frame", **{pointer(name): name for name in GROUPS}}
    return (regions[base], offset - (offset >> 31 << 32)) if base in regions else None


def _load(code: Code, lane: Lane, i: Instruction, region: str, offset: int) -> Term:
    size, sign = LOADS[i.name], i.name in ("lb", "lh")
    if offset % size:
        raise Refused(f"the load at {lane.pc:#x} is misaligned: offset {offset} of {region}")
    if region == "constants":
        low, data = code.constants
        if not low <= offset <= low + len(data) - size:
            raise Refused(f"the load at {lane.pc:#x} is outside the constants: {offset:#x}")
        return const(int.from_bytes(data[offset - low : offset - low + size], "little", signed=sign))
    memory = {"frame": lane.frame, "context": lane.context, "action": lane.action, **code.structures}[region]
    try:
        value = memory[offset]
        for k in range(1, size):
            value = concat(memory[offset + k], value)
    except KeyError:
        raise Refused(f"the load at {lane.pc:#x} is from offset {offset} of {region}, where nothing is") from None
    return extend(value, 32, sign)


def _store(code: Code, lane: Lane, i: Instruction) -> Lane:
    size = STORES[i.name]
    address = make("bvadd", _read(lane, i.rs1), const(i.imm))
    region, offset = _place(address) or ("", 0)
    value = _read(lane, i.rs2)
    written = {offset + k: part(value, 8 * k + 7, 8 * k) for k in range(size)}
    if offset % size:
        raise Refused(f"the store at {lane.pc:#x} is misaligned: offset {offset} of {region}")
    if region == "frame" and -code.stack_bytes <= offset <= -size:
        return replace(lane, frame={**lane.frame, **written}, deepest=max(lane.deepest, -offset))
    if code.fields.get(region, frozenset()).issuperset(written):
        if region == "action":
            return replace(lane, action={**lane.action, **written})
        return replace(lane, context={**lane.context, **written}, written=lane.written | written.keys())
    raise Refused(f"the store at {lane.pc:#x} goes outside the frame and the fields that the function may write")
