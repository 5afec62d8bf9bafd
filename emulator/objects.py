"""Checks on the object code, not on the C: what the compiler really made decides.

Forbidden: a float or division instruction, a call of something that nothing defines (libgcc, libc), writable static
data, a loop, recursion, an indirect jump, a stack that cannot be bounded. Measured: bytes of code, of constant tables
and of stack.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section, SymbolTableSection

from decision.artefact.documents import MAX_DOCUMENT_BYTES, read_bytes
from decision.artefact.errors import InputError
from emulator.riscv import Instruction, Kind, decode

MAX_SECTIONS = 4096
WRITABLE, ALLOCATED, EXECUTABLE = 1, 2, 4  # section flags (SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR)
REFUSED = {
    Kind.FLOAT: "float instruction",
    Kind.DIVIDE: "division instruction",
    Kind.SYSTEM: "system instruction",
    Kind.ILLEGAL: "illegal instruction",
    Kind.JUMP_REGISTER: "indirect jump",
    Kind.CALL_REGISTER: "indirect call",
    Kind.STACK_UNKNOWN: "stack of unknown size",
}


@dataclass(frozen=True)
class LoadedSection:
    """Bytes of the linked program and where they go."""

    name: str
    address: int
    data: bytes


@dataclass(frozen=True)
class Image:
    """The linked program: what to load, and where its parts are."""

    sections: tuple[LoadedSection, ...]
    symbols: dict[str, int]
    text: tuple[int, int]
    constants: tuple[int, int]
    data_end: int


@dataclass(frozen=True)
class CodeFacts:
    """Facts about the linked program. ``stack_bytes`` is None when it has no static bound."""

    code_bytes: int
    table_bytes: int
    stack_bytes: int | None
    forbidden: tuple[str, ...]


def undefined_and_static(policy_object: Path) -> tuple[list[str], list[str]]:
    """Returns what the policy's object calls but does not define, and the writable static data that it has."""
    with _elf(policy_object) as elf:
        calls = [f"call of {s.name}" for s in _symbols(elf) if s["st_shndx"] == "SHN_UNDEF" and s.name]
        writable = [
            f"writable static data: {s['sh_size']} bytes in {s.name}"
            for s in elf.iter_sections()
            if s["sh_flags"] & WRITABLE and s["sh_flags"] & ALLOCATED and s["sh_size"]
        ]
    return sorted(calls), writable


def read_image(elf_file: Path) -> Image:
    """Load a linked program."""
    with _elf(elf_file) as elf:
        loaded = {s.name: s for s in elf.iter_sections() if s["sh_flags"] & ALLOCATED and s["sh_size"]}
        sections = tuple(
            LoadedSection(name, s["sh_addr"], s.data() if s["sh_type"] != "SHT_NOBITS" else bytes(s["sh_size"]))
            for name, s in loaded.items()
        )
        symbols = {s.name: s["st_value"] for s in _symbols(elf) if s.name and s["st_shndx"] != "SHN_UNDEF"}
    data_end = max((s.address + len(s.data) for s in sections if s.name in (".rodata", ".data", ".bss")), default=0)
    return Image(sections, symbols, _span(loaded.get(".text")), _span(loaded.get(".rodata")), data_end)


def check_code(elf_file: Path, entry: str, *, loops_allowed: bool = False) -> CodeFacts:
    """Decode every function that the linked program kept and apply the rules. ``loops_allowed``: as a network has them;
    the cycle limit of a run ends one that does not."""
    with _elf(elf_file) as elf:
        text: Any = elf.get_section_by_name(".text")
        rodata: Any = elf.get_section_by_name(".rodata")
        base, code = text["sh_addr"], text.data()
        kept = {s["st_value"]: s for s in _symbols(elf) if s["st_info"]["type"] == "STT_FUNC"}
        names = {address: s.name for address, s in kept.items()}
        sizes = {address: s["st_size"] for address, s in kept.items() if base <= address < base + len(code)}
    functions = {
        start: resolve_far_calls(decode(code[start - base : start - base + size], start, elf.elfclass))
        for start, size in sizes.items()
    }
    forbidden = []
    for start, instructions in functions.items():
        for i in instructions:
            if i.kind in REFUSED:
                forbidden.append(f"{REFUSED[i.kind]} in {names[start]} at {i.address:#x}")
        if not loops_allowed:
            forbidden += [f"loop in {names[start]} at {address:#x}" for address in loops(instructions)]
    stack, recursive = stack_bound(functions, next(address for address, name in names.items() if name == entry))
    if recursive is not None:
        forbidden.append(f"recursion through {names[recursive]}")
    table_bytes = rodata["sh_size"] if rodata else 0
    return CodeFacts(len(code), table_bytes, stack, tuple(forbidden))


def resolve_far_calls(instructions: list[Instruction]) -> list[Instruction]:
    """Turn ``auipc r; jalr r`` (a call that the linker left in its long form) into a call or jump with a target."""
    result: list[Instruction] = []
    for i in instructions:
        before = result[-1] if result else None
        far = before is not None and before.kind is Kind.UPPER_PC and before.rd == i.rs1
        if before is not None and far and i.kind in (Kind.CALL_REGISTER, Kind.JUMP_REGISTER):
            kind = Kind.CALL if i.kind is Kind.CALL_REGISTER else Kind.JUMP
            target = (before.address + before.offset + i.offset) % 2**32
            i = Instruction(i.address, i.length, kind, target=target, rd=i.rd)
        result.append(i)
    return result


def loops(instructions: list[Instruction]) -> list[int]:
    """Addresses at which a cycle of the function's control flow closes (depth-first search)."""
    index = {i.address: n for n, i in enumerate(instructions)}
    state = [0] * len(instructions)  # 0 new, 1 on the path, 2 done
    closed = []

    def successors(n: int) -> list[int]:
        i = instructions[n]
        after = [i.address + i.length] if i.kind not in (Kind.JUMP, Kind.JUMP_REGISTER, Kind.RETURN) else []
        if i.kind in (Kind.BRANCH, Kind.JUMP):
            after.append(i.target)
        return [index[a] for a in after if a in index]

    path: list[tuple[int, list[int]]] = [(0, successors(0))] if instructions else []
    while path:
        n, rest = path[-1]
        state[n] = 1
        if not rest:
            state[n] = 2
            path.pop()
            continue
        following = rest.pop()
        if state[following] == 1:
            closed.append(instructions[n].address)
        elif state[following] == 0:
            path.append((following, successors(following)))
    return closed


def stack_bound(functions: dict[int, list[Instruction]], entry: int) -> tuple[int | None, int | None]:
    """Bytes of stack over the deepest chain of calls, and a function that recurses, if any (then there is no bound)."""
    active: set[int] = set()
    recursive: list[int] = []

    @cache
    def depth(start: int) -> int:
        if start in active:
            recursive.append(start)
            return 0
        active.add(start)
        instructions = functions.get(start, [])
        own = -sum(i.offset for i in instructions if i.kind is Kind.STACK and i.offset < 0)
        inside = {i.address for i in instructions}
        callees = {
            i.target
            for i in instructions
            if i.kind is Kind.CALL or (i.kind is Kind.JUMP and i.target not in inside and i.target in functions)
        }
        deepest = max((depth(callee) for callee in sorted(callees)), default=0)
        active.discard(start)
        return own + deepest

    bound = depth(entry)
    unknown = any(i.kind is Kind.STACK_UNKNOWN for instructions in functions.values() for i in instructions)
    return (None if recursive or unknown else bound), (recursive[0] if recursive else None)


@contextmanager
def _elf(path: Path) -> Iterator[ELFFile]:
    """An object or program, of which everything wrong is an InputError, also what is met while it is read."""
    try:
        elf = ELFFile(BytesIO(read_bytes(path)))
        if elf.num_sections() > MAX_SECTIONS:
            raise ELFError(f"{elf.num_sections()} sections")
        for section in elf.iter_sections():
            in_file = section["sh_type"] not in ("SHT_NOBITS", "SHT_NULL")
            if section["sh_size"] > MAX_DOCUMENT_BYTES or (in_file and section.compressed):
                raise ELFError(f"section {section.name!r} is compressed or of {section['sh_size']} bytes")
        yield elf
    except (ELFError, ConstructError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
        raise InputError(f"{path} is not a program that the compiler wrote ({error}); compile it again") from None


def _symbols(elf: ELFFile) -> list[Any]:
    return [s for table in elf.iter_sections() if isinstance(table, SymbolTableSection) for s in table.iter_symbols()]


def _span(section: Section | None) -> tuple[int, int]:
    return (section["sh_addr"], section["sh_addr"] + section["sh_size"]) if section is not None else (0, 0)
