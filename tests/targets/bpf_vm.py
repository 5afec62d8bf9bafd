"""Runs BPF object files: an interpreter of the instruction set (RFC 9669) in user space, for tests.

What it knows: 64- and 32-bit arithmetic, memory of 1 to 8 bytes, all jumps, calls within the object; no helpers, no
atomics. It is stricter than a CPU: every access must lie within one region that it was given, registers are undefined
until written, a frame has 512 bytes, a program may not run forever.
"""

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

MASK32, MASK64 = 2**32 - 1, 2**64 - 1
FRAME_BYTES, MAX_FRAMES, MAX_STEPS = 512, 8, 1_000_000
R_64_64, R_64_32 = 1, 10  # relocations: an address in a 16-byte load, a function in a call
LD, LDX, ST, STX, ALU32, JMP, JMP32, ALU64 = range(8)
Read = Callable[[int], int]
WIDTH = {0x00: 4, 0x08: 2, 0x10: 1, 0x18: 8}


class Fault(Exception):
    """What a verifier would have refused, or what this interpreter does not know."""


@dataclass(frozen=True)
class Instruction:
    code: int
    dst: int
    src: int
    offset: int
    imm: int


class Machine:
    """The sections of an object file in memory, and memory that a caller adds."""

    def __init__(self, path: Path) -> None:
        self.regions: dict[int, bytearray] = {}
        self.code: dict[int, Instruction] = {}
        self.functions: dict[str, int] = {}
        self.symbols: dict[str, int] = {}
        self._next = 1 << 32
        self._load(path)

    def map(self, data: bytes) -> int:
        """Give the program memory with this content; returns its address."""
        address = self._next
        self.regions[address] = bytearray(data)
        self._next += (len(data) // 4096 + 2) * 4096
        return address

    def call(self, function: str, *arguments: int) -> int | None:
        """Run a function; its return value (r0), None where it set none."""
        registers: list[int | None] = [None] * 11
        registers[1 : 1 + len(arguments)] = arguments
        with self._frame() as frame:
            registers[10] = frame + FRAME_BYTES
            return self._run(self.functions[function], registers, [MAX_STEPS], 1)

    def _load(self, path: Path) -> None:
        with path.open("rb") as file:
            elf = ELFFile(file)
            addresses = {}
            for index, section in enumerate(elf.iter_sections()):
                if section["sh_flags"] & 2 and section["sh_size"]:  # allocated
                    data = bytes(section["sh_size"]) if section["sh_type"] == "SHT_NOBITS" else section.data()
                    addresses[index] = self.map(data)
            places = {}
            for number, symbol in enumerate(elf.get_section_by_name(".symtab").iter_symbols()):
                if symbol["st_shndx"] in addresses:
                    places[number] = addresses[symbol["st_shndx"]] + symbol["st_value"]
                    self.symbols[symbol.name] = places[number]
                    if symbol["st_info"]["type"] == "STT_FUNC":
                        self.functions[symbol.name] = places[number]
            for section in elf.iter_sections():
                if isinstance(section, RelocationSection) and section["sh_info"] in addresses:
                    for r in section.iter_relocations():
                        place = places[r["r_info_sym"]]
                        self._relocate(addresses[section["sh_info"]], r["r_offset"], r["r_info_type"], place)
            for index, address in addresses.items():
                if elf.get_section(index)["sh_flags"] & 4:  # executable
                    self._decode(address)

    def _relocate(self, base: int, offset: int, kind: int, place: int) -> None:
        """The addend stands in the instruction: of an address in the immediate, of a call in units of instructions."""
        data = self.regions[base]
        (addend,) = struct.unpack_from("<i", data, offset + 4)
        if kind == R_64_64:
            struct.pack_into("<I", data, offset + 4, (place + addend) & MASK32)
            struct.pack_into("<I", data, offset + 12, (place + addend) >> 32)
        elif kind == R_64_32:
            distance = (place - base - offset) // 8 + addend
            struct.pack_into("<i", data, offset + 4, distance)
        else:
            struct.pack_into("<Q", data, offset, place)  # a pointer in data

    def _decode(self, base: int) -> None:
        for offset in range(0, len(self.regions[base]), 8):
            code, registers, jump, imm = struct.unpack_from("<BBhi", self.regions[base], offset)
            self.code[base + offset] = Instruction(code, registers & 15, registers >> 4, jump, imm)

    @contextmanager
    def _frame(self) -> Iterator[int]:
        address = self.map(bytes(FRAME_BYTES))
        yield address
        del self.regions[address]
        self._next = address

    def _place(self, address: int, width: int) -> tuple[bytearray, int]:
        for base, data in self.regions.items():
            if base <= address and address + width <= base + len(data):
                return data, address - base
        raise Fault(f"{width} bytes at {address:#x} lie in no memory of the program")

    def read(self, address: int, width: int) -> int:
        data, offset = self._place(address, width)
        return int.from_bytes(data[offset : offset + width], "little")

    def write(self, address: int, width: int, value: int) -> None:
        data, offset = self._place(address, width)
        data[offset : offset + width] = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")

    def _run(self, pc: int, registers: list[int | None], steps: list[int], frames: int) -> int | None:
        def value(number: int) -> int:
            known = registers[number]
            if known is None:
                raise Fault(f"r{number} is read before it is written, at {pc:#x}")
            return known

        while True:
            steps[0] -= 1
            if steps[0] < 0:
                raise Fault("the program does not end")
            i = self.code.get(pc)
            if i is None:
                raise Fault(f"the program runs to {pc:#x}, where no instruction is")
            pc += 8
            kind = i.code & 7
            if kind in (ALU32, ALU64):
                registers[i.dst] = _arithmetic(i, value, 64 if kind == ALU64 else 32)
            elif i.code == 0x18:
                registers[i.dst] = (i.imm & MASK32) | (self.code[pc].imm & MASK32) << 32
                pc += 8
            elif kind == LDX and i.code & 0xE0 in (0x60, 0x80):  # as it is, and sign-extended
                width = WIDTH[i.code & 0x18]
                got = self.read((value(i.src) + i.offset) & MASK64, width)
                registers[i.dst] = got if i.code & 0xE0 == 0x60 else _signed(got, 8 * width) & MASK64
            elif kind in (ST, STX) and i.code & 0xE0 == 0x60:
                stored = i.imm if kind == ST else value(i.src)
                self.write((value(i.dst) + i.offset) & MASK64, WIDTH[i.code & 0x18], stored)
            elif i.code == 0x95:
                return registers[0]
            elif i.code == 0x85 and i.src == 1:
                if frames == MAX_FRAMES:
                    raise Fault("calls are nested too deeply")
                with self._frame() as frame:
                    inner = [None, *registers[1:6], None, None, None, None, frame + FRAME_BYTES]
                    registers[0] = self._run(pc + 8 * i.imm, inner, steps, frames + 1)
                registers[1:6] = [None] * 5
            elif kind in (JMP, JMP32) and i.code & 0xF0 not in (0x80, 0x90):
                if i.code & 0xF0 == 0x00:
                    pc += 8 * (i.imm if kind == JMP32 else i.offset)
                elif _condition(i, value, 64 if kind == JMP else 32):
                    pc += 8 * i.offset
            else:
                raise Fault(f"the instruction {i} is not known here")


def _operands(i: Instruction, value: Read, bits: int) -> tuple[int, int]:
    mask = (1 << bits) - 1
    second = value(i.src) if i.code & 8 else i.imm
    return value(i.dst) & mask, second & mask


def _arithmetic(i: Instruction, value: Read, bits: int) -> int:
    mask = (1 << bits) - 1
    operation = i.code & 0xF0
    if operation == 0xB0:  # mov needs no old value
        new = value(i.src) if i.code & 8 else i.imm
        return (_signed(new, i.offset) if i.offset else new) & mask
    if operation == 0xD0:  # byte order; of 64 bits: swap in any case
        width = i.imm
        swapped = int.from_bytes((value(i.dst) & ((1 << width) - 1)).to_bytes(width // 8, "little"), "big")
        return swapped if i.code & 8 or bits == 64 else value(i.dst) & ((1 << width) - 1)
    a, b = _operands(i if operation != 0x80 else Instruction(i.code & ~8, i.dst, 0, 0, 0), value, bits)
    if operation in (0x30, 0x90) and i.offset == 1:
        a, b = _signed(a, bits), _signed(b, bits)
        quotient = 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return (quotient if operation == 0x30 else a - quotient * b if b else a) & mask
    shift = b & (bits - 1)
    results = {
        0x00: lambda: a + b,
        0x10: lambda: a - b,
        0x20: lambda: a * b,
        0x30: lambda: a // b if b else 0,
        0x40: lambda: a | b,
        0x50: lambda: a & b,
        0x60: lambda: a << shift,
        0x70: lambda: a >> shift,
        0x80: lambda: -a,
        0x90: lambda: a % b if b else a,
        0xA0: lambda: a ^ b,
        0xC0: lambda: _signed(a, bits) >> shift,
    }
    if operation not in results:
        raise Fault(f"the instruction {i} is not known here")
    return results[operation]() & mask


def _condition(i: Instruction, value: Read, bits: int) -> bool:
    a, b = _operands(i, value, bits)
    signed_a, signed_b = _signed(a, bits), _signed(b, bits)
    return {
        0x10: a == b,
        0x20: a > b,
        0x30: a >= b,
        0x40: a & b != 0,
        0x50: a != b,
        0x60: signed_a > signed_b,
        0x70: signed_a >= signed_b,
        0xA0: a < b,
        0xB0: a <= b,
        0xC0: signed_a < signed_b,
        0xD0: signed_a <= signed_b,
    }[i.code & 0xF0]


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value
