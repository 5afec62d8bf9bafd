"""An instruction-set simulator: one call of the linked function on concrete inputs, with cycles by the cost model.

It stands beside the symbolic execution of the prover: a counterexample is run here, the worst case's witness is run
here, and it is held to the RTL word by word and cycle by cycle. Memory is laid out as on the emulated engine, and the
same accesses are refused; a misaligned access, which the core would split in two, is refused as well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from emulator import memory_map
from emulator.elf import Image
from emulator.memory_map import Block
from emulator.profile import Profile
from verify.trusted.costs import CycleModel, cycle_model
from verify.trusted.machine import BRANCHES, LOADS, STORES, Instruction, decode_image

STEP_LIMIT = 1_000_000
WORD = 0xFFFF_FFFF
RA, SP, A0 = 1, 2, 10
SAVED = (2, 3, 4, 8, 9, *range(18, 28))  # sp, gp, tp, s0..s11: as found when the function returns


class ExecutionFault(Exception):
    """Fault: something that the function may not do. The message says what and where."""


@dataclass(frozen=True)
class Execution:
    """One call that returned. ``written`` holds the writable blocks' bytes after it, ``clobbered`` the registers that
    the calling convention keeps and the function did not."""

    returned: int
    cycles: int
    instructions: int
    stack_bytes: int
    written: dict[str, bytes]
    clobbered: tuple[int, ...]


@dataclass(frozen=True)
class _Region:
    low: int
    high: int
    writable: bool


class Simulator:
    """The linked program on an engine, ready to be called."""

    def __init__(
        self, image: Image, entry: str, profile: Profile, blocks: Sequence[Block], model: CycleModel | None = None
    ) -> None:
        self.model = model or cycle_model(profile)
        self.code = decode_image(image)
        self.entry, self.back = image.symbols[entry], image.symbols["rlcc_back"]
        self.blocks = tuple(blocks)
        self.top = memory_map.stack_top(profile.data_memory.bytes)
        low = self.top - profile.limits.stack_bytes
        self.addresses = memory_map.place_blocks(blocks, max(image.data_end, memory_map.CONSTANTS_BASE), low)
        self._regions = [
            *(_Region(a, a + b.size, b.writable) for a, b in zip(self.addresses, blocks, strict=True)),
            _Region(low, self.top, True),
            _Region(*image.constants, False),
        ]
        self._data = bytearray(profile.data_memory.bytes)
        for section in image.sections:
            at = section.address - memory_map.DATA_BASE
            if 0 <= at < len(self._data):
                self._data[at : at + len(section.data)] = section.data

    def call(self, inputs: Sequence[bytes], follow: Callable[[Instruction], None] | None = None) -> Execution:
        """Call the function on the blocks' bytes; ExecutionFault where it does what it may not.

        ``follow`` sees every instruction before it is executed.
        """
        data, registers = bytearray(self._data), self._start()
        for address, block, content in zip(self.addresses, self.blocks, inputs, strict=True):
            at = address - memory_map.DATA_BASE
            data[at : at + block.size] = content
        first, pc, cycles, before = list(registers), self.entry, self.model.overhead, None
        lowest = self.top
        for count in range(STEP_LIMIT):
            if pc == self.back:
                return self._result(first, registers, cycles, count, lowest, data)
            instruction = self.code.get(pc)
            if instruction is None:
                raise ExecutionFault(f"jump out of the code to {pc:#x}")
            if follow is not None:
                follow(instruction)
            a, b = registers[instruction.rs1], registers[instruction.rs2]
            name, following, taken, value = instruction.name, pc + 4, False, 0
            if name in COMPUTED:
                value = COMPUTED[name](a, b, instruction.imm & WORD)
            elif name in LOADS:
                value = self._load(data, instruction, (a + instruction.imm) & WORD)
            elif name in STORES:
                address = (a + instruction.imm) & WORD
                self._store(data, instruction, address, b)
                lowest = min(lowest, address) if address >= self._regions[-2].low else lowest
            elif name in BRANCHES:
                taken = CONDITIONS[name](a, b)
                following = instruction.target if taken else following
            elif name == "auipc":
                value = pc + instruction.imm & WORD
            else:  # jal, jalr
                value = following
                following = instruction.target if name == "jal" else a + instruction.imm & WORD & ~1
            if instruction.rd:
                registers[instruction.rd] = value
            cycles += self.model.step(instruction, taken, before)
            if name in LOADS and self._constant(a + instruction.imm & WORD):
                cycles += self.model.table_wait
            before, pc = instruction, following
        raise ExecutionFault(f"no return within {STEP_LIMIT} instructions, last at {pc:#x}")

    def _start(self) -> list[int]:
        """Registers at the call; what the convention leaves open holds a pattern that no code can count on."""
        registers = [0] + [0xA5A5_0000 | n << 8 | n for n in range(1, 32)]
        registers[RA], registers[SP] = self.back, self.top
        registers[A0 : A0 + len(self.addresses)] = self.addresses
        return registers

    def _result(
        self, first: list[int], registers: list[int], cycles: int, count: int, lowest: int, data: bytearray
    ) -> Execution:
        base = memory_map.DATA_BASE
        placed = zip(self.blocks, self.addresses, strict=True)
        return Execution(
            returned=registers[A0],
            cycles=cycles,
            instructions=count,
            stack_bytes=self.top - lowest,
            written={b.name: bytes(data[a - base : a - base + b.size]) for b, a in placed if b.writable},
            clobbered=tuple(n for n in SAVED if registers[n] != first[n]),
        )

    def _load(self, data: bytearray, instruction: Instruction, address: int) -> int:
        size = LOADS[instruction.name]
        self._check(instruction, address, size, store=False)
        at = address - memory_map.DATA_BASE
        signed = instruction.name in ("lb", "lh")
        return int.from_bytes(data[at : at + size], "little", signed=signed) & WORD

    def _constant(self, address: int) -> bool:
        return self._regions[-1].low <= address < self._regions[-1].high

    def _store(self, data: bytearray, instruction: Instruction, address: int, value: int) -> None:
        size = STORES[instruction.name]
        self._check(instruction, address, size, store=True)
        at = address - memory_map.DATA_BASE
        data[at : at + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")

    def _check(self, instruction: Instruction, address: int, size: int, store: bool) -> None:
        what, where = "store" if store else "load", f"address {address:#x}, at {instruction.address:#x}"
        if address % size:
            raise ExecutionFault(f"misaligned {what}, {where}")
        region = next((r for r in self._regions if r.low <= address and address + size <= r.high), None)
        if region is None:
            raise ExecutionFault(f"{what} out of bounds, {where}")
        if store and not region.writable:
            raise ExecutionFault(f"store into a const structure, {where}")


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


Operation = Callable[[int, int, int], int]

# Words in, a word out: the registers' values and the immediate.
COMPUTED: dict[str, Operation] = {
    "lui": lambda a, b, i: i,
    "add": lambda a, b, i: a + b & WORD,
    "addi": lambda a, b, i: a + i & WORD,
    "sub": lambda a, b, i: a - b & WORD,
    "xor": lambda a, b, i: a ^ b,
    "xori": lambda a, b, i: a ^ i,
    "or": lambda a, b, i: a | b,
    "ori": lambda a, b, i: a | i,
    "and": lambda a, b, i: a & b,
    "andi": lambda a, b, i: a & i,
    "slt": lambda a, b, i: int(_signed(a) < _signed(b)),
    "slti": lambda a, b, i: int(_signed(a) < _signed(i)),
    "sltu": lambda a, b, i: int(a < b),
    "sltiu": lambda a, b, i: int(a < i),
    "sll": lambda a, b, i: a << (b & 31) & WORD,
    "slli": lambda a, b, i: a << i & WORD,
    "srl": lambda a, b, i: a >> (b & 31),
    "srli": lambda a, b, i: a >> i,
    "sra": lambda a, b, i: _signed(a) >> (b & 31) & WORD,
    "srai": lambda a, b, i: _signed(a) >> i & WORD,
    "mul": lambda a, b, i: a * b & WORD,
    "mulh": lambda a, b, i: _signed(a) * _signed(b) >> 32 & WORD,
    "mulhsu": lambda a, b, i: _signed(a) * b >> 32 & WORD,
    "mulhu": lambda a, b, i: a * b >> 32,
}
CONDITIONS: dict[str, Callable[[int, int], bool]] = {
    "beq": lambda a, b: a == b,
    "bne": lambda a, b: a != b,
    "blt": lambda a, b: _signed(a) < _signed(b),
    "bge": lambda a, b: _signed(a) >= _signed(b),
    "bltu": lambda a, b: a < b,
    "bgeu": lambda a, b: a >= b,
}
