"""Every path through the linked code at once: loops iteration by iteration, branches that inputs decide both ways
until they meet again.

A joined value is one of both, and the cycles are those of the slower way. A loop whose end an input decides never
comes to one and is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from emulator.elf import Image
from verify.code.failures import Refused
from verify.code.graph import KEPT, RA, SP
from verify.ranges import words as ranges
from verify.ranges.branches import RangeQuestion, outcome, question
from verify.ranges.join_points import meeting_points
from verify.ranges.memory import Layout, Memory
from verify.ranges.values import Address, AtCall, Value, apart, joined, moved
from verify.ranges.words import MODULUS, Words
from verify.trusted.costs import CycleModel
from verify.trusted.execute import COMPUTED as EXACTLY
from verify.trusted.machine import BRANCHES, LOADS, STORES, Instruction, decode_image

END = -1
"""Where the decision returns to."""
MAX_STEPS = 1_000_000
MAX_BRANCHES = 400
"""Within each other: a loop that nothing but its inputs ends is noticed by this."""
REGISTERS = 32
FIRST_ARGUMENT = 10
IMMEDIATE = {
    name: name.replace("i", "", 1) if name != "sltiu" else "sltu" for name in EXACTLY if "i" in name and name != "lui"
}
"""With an immediate: the same of two registers."""


@dataclass
class WalkState:
    """Before the instruction at ``pc``: ``before`` are those that may have been the last, ``cycles`` the most that it
    took to come here, ``returns`` where the calls go back to that are not over. ``made``: registers that hold what this
    instruction made of another register's present value; made anew where more comes to be known of that."""

    pc: int
    registers: list[Value]
    memory: Memory
    cycles: int
    before: frozenset[Instruction] = frozenset()
    returns: tuple[int, ...] = ()
    made: dict[int, Instruction] = field(default_factory=dict)

    def copy(self) -> "WalkState":
        return replace(self, registers=list(self.registers), memory=self.memory.copy(), made=dict(self.made))

    def joined(self, other: "WalkState") -> "WalkState":
        """Returns the join of two states at the same place; raises Refused if they came to it by other calls."""
        if self.returns != other.returns:
            raise Refused("indirect-jump", self.pc, f"{self.pc:#x} is reached in more than one function")
        registers = [joined(a, b) for a, b in zip(self.registers, other.registers, strict=True)]
        memory, cycles = self.memory.joined(other.memory), max(self.cycles, other.cycles)
        made = {register: i for register, i in self.made.items() if other.made.get(register) == i}
        return WalkState(self.pc, registers, memory, cycles, self.before | other.before, self.returns, made)

    def put(self, register: int, value: Value, by: Instruction) -> None:
        self.registers[register] = value
        self.made = {r: i for r, i in self.made.items() if register not in (r, i.rs1)}
        if by.name in IMMEDIATE and by.rs1 not in (0, register):
            self.made[register] = by

    def learn(self, register: int, value: Value) -> None:
        """That a register's value is one of these."""
        self.registers[register] = value
        for other, i in self.made.items():
            if i.rs1 == register:
                self.registers[other] = _computed(IMMEDIATE[i.name], value, Words(i.imm % MODULUS))


@dataclass(frozen=True)
class Walked:
    """``cycles``: no input takes more. ``steps``: instructions that were looked at."""

    cycles: int
    stack_bytes: int
    steps: int


def walk(image: Image, entry: str, layout: Layout, model: CycleModel) -> Walked:
    """Safety and the bound of one function. Refused where an access, a jump or a loop is not shown to be in order;
    IllegalInstruction where the code holds what no decision may be made of."""
    walker = _Walker(decode_image(image), image.symbols[entry], layout, model)
    end = walker.until(walker.start(), END)
    if end is None:
        raise Refused("loop", walker.entry, "no path comes to an end")
    for n in KEPT:
        if end.registers[n] != (Address("frame", Words(0)) if n == SP else AtCall(n)) and n != RA:
            kind = "stack-pointer" if n == SP else "callee-saved"
            raise Refused(kind, walker.entry, f"x{n} is not shown to be what it was at the call")
    return Walked(end.cycles, end.memory.stack_bytes, walker.steps)


class _Walker:
    def __init__(self, code: Mapping[int, Instruction], entry: int, layout: Layout, model: CycleModel) -> None:
        self.code, self.entry, self.layout, self.model = code, entry, layout, model
        self.meets = meeting_points(code)
        self.steps = 0

    def start(self) -> WalkState:
        registers: list[Value] = [AtCall(n) for n in range(REGISTERS)]
        registers[0], registers[SP] = Words(0), Address("frame", Words(0))
        for n, structure in enumerate(self.layout.structures):
            registers[FIRST_ARGUMENT + n] = Address(structure.name, Words(0))
        return WalkState(self.entry, registers, Memory.at_call(self.layout), self.model.overhead)

    def until(self, state: WalkState, stop: int, branches: int = 0, masked: bool = False) -> WalkState | None:
        """On to the instruction ``stop``; None where no input comes there. ``masked``: behind one of the answers of a
        comparison into a register; another one is not followed apart as well, they would multiply."""
        if branches > MAX_BRANCHES:
            raise Refused("loop", state.pc, f"no end of the loop at {state.pc:#x} is shown")
        while state.pc != stop:
            instruction = self._fetched(state)
            asked = question(instruction)
            branch = instruction.name in BRANCHES
            if asked is None or (masked and not branch):
                self._step(state, instruction)
                continue
            ways = [way for yes in (False, True) if (way := self._way(state, instruction, asked, yes)) is not None]
            if len(ways) == 2:
                meet = self.meets[state.pc] or (state.returns[-1] if state.returns else END)
                if not branch and state.pc < stop < meet:
                    meet = stop
                ways = [end for way in ways if (end := self.until(way, meet, branches + 1, not branch)) is not None]
            if not ways:
                return None
            state = ways[0] if len(ways) == 1 else ways[0].joined(ways[1])
        return state

    def _fetched(self, state: WalkState) -> Instruction:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise Refused("too-large", state.pc, f"more than {MAX_STEPS} instructions one after the other")
        if state.pc not in self.code:
            raise Refused("indirect-jump", max(state.pc, 0), f"a jump out of the code to {state.pc:#x}")
        return self.code[state.pc]

    def _way(self, state: WalkState, i: Instruction, asked: RangeQuestion, yes: bool) -> WalkState | None:
        """The state behind an instruction that asks, where the answer is this; None where it cannot be."""
        other = state.registers[i.rs2] if asked.right is None else asked.right
        found = outcome(asked.name, state.registers[i.rs1], other, yes, self.layout.inside)
        if found is None:
            return None
        way = state.copy()
        for register, value in ((i.rs1, found.left), (0 if asked.right is not None else i.rs2, found.right)):
            if register:
                way.learn(register, value)
        if i.name not in BRANCHES:
            self._step(way, i)
            return way
        self._spend(way, i, yes)
        way.pc = i.target if yes else state.pc + 4
        return way

    def _step(self, state: WalkState, i: Instruction) -> None:
        following, registers = state.pc + 4, state.registers
        a, b = registers[i.rs1], registers[i.rs2]
        self._spend(state, i, False)
        value: Value = None
        if i.name in STORES:
            state.memory.store(i, moved(a, Words(i.imm % MODULUS)) if i.imm else a, b)
        elif i.name in LOADS:
            address = _computed("add", a, Words(i.imm % MODULUS))
            state.cycles += self.model.table_wait if isinstance(address, Words) else 0
            value = state.memory.load(i, address)
        elif i.name in ("jal", "jalr"):
            value = Words(following)
            following = self._target(state, i)
        elif i.name in ("lui", "auipc"):
            value = Words((i.imm + (state.pc if i.name == "auipc" else 0)) % MODULUS)
        elif i.name in IMMEDIATE:
            value = _computed(IMMEDIATE[i.name], a, Words(i.imm % MODULUS))
        else:
            value = _computed(i.name, a, b)
        if i.rd:
            state.put(i.rd, value, i)
        state.pc = following

    def _target(self, state: WalkState, i: Instruction) -> int:
        """Returns the target of a jump; notes a call or a return."""
        base = state.registers[i.rs1]
        if i.name == "jal":
            target = i.target
        elif base == AtCall(RA) and i.imm == 0 and not state.returns:
            target = END
        elif isinstance(base, Words) and base.exact:
            target = (base.low + i.imm) % MODULUS & ~1
        else:
            raise Refused("indirect-jump", i.address, f"the jump at {i.address:#x} goes where it is told")
        if i.rd == RA:
            if state.pc + 4 in state.returns:
                raise Refused("loop", i.address, f"the call at {i.address:#x} is within itself")
            state.returns = (*state.returns, state.pc + 4)
        elif state.returns and target == state.returns[-1]:
            state.returns = state.returns[:-1]
        return target

    def _spend(self, state: WalkState, i: Instruction, taken: bool) -> None:
        """The cycles of an instruction, behind whichever of those that may stand before it."""
        state.cycles += max(self.model.step(i, taken, before) for before in state.before or (None,))
        state.before = frozenset([i])


def _computed(name: str, a: Value, b: Value) -> Value:
    """Returns what an instruction makes of two registers; for addresses sums and differences only."""
    if isinstance(a, Words) and isinstance(b, Words):
        if a.exact and b.exact:
            return Words(EXACTLY[name](a.low, b.low, 0))
        return ranges.COMPUTED[name](a, b)
    if name in ("add", "sub", "or", "xor") and b == Words(0):
        return a
    if name == "add":
        return b if a == Words(0) else moved(a, b)
    return apart(a, b) if name == "sub" else None
