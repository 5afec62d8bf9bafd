"""The linked program, read from its ELF file: what to load, and where its parts are."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section, SymbolTableSection

from decision.artefact.documents import MAX_DOCUMENT_BYTES, read_bytes
from decision.artefact.errors import InputError

MAX_SECTIONS = 4096
WRITABLE, ALLOCATED = 1, 2  # section flags (SHF_WRITE, SHF_ALLOC)


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


def undefined_and_static(policy_object: Path) -> tuple[list[str], list[str]]:
    """Returns what the policy's object calls but does not define, and the writable static data that it has."""
    with open_elf(policy_object) as elf:
        calls = [f"call of {s.name}" for s in symbols_of(elf) if s["st_shndx"] == "SHN_UNDEF" and s.name]
        writable = [
            f"writable static data: {s['sh_size']} bytes in {s.name}"
            for s in elf.iter_sections()
            if s["sh_flags"] & WRITABLE and s["sh_flags"] & ALLOCATED and s["sh_size"]
        ]
    return sorted(calls), writable


def read_image(elf_file: Path) -> Image:
    """Load a linked program."""
    with open_elf(elf_file) as elf:
        loaded = {s.name: s for s in elf.iter_sections() if s["sh_flags"] & ALLOCATED and s["sh_size"]}
        sections = tuple(
            LoadedSection(name, s["sh_addr"], s.data() if s["sh_type"] != "SHT_NOBITS" else bytes(s["sh_size"]))
            for name, s in loaded.items()
        )
        symbols = {s.name: s["st_value"] for s in symbols_of(elf) if s.name and s["st_shndx"] != "SHN_UNDEF"}
    data_end = max((s.address + len(s.data) for s in sections if s.name in (".rodata", ".data", ".bss")), default=0)
    return Image(sections, symbols, _span(loaded.get(".text")), _span(loaded.get(".rodata")), data_end)


@contextmanager
def open_elf(file: Path | bytes) -> Iterator[ELFFile]:
    """Opens an object or a program, a file or its bytes. Whatever is wrong with it is an InputError, also what is found
    while it is read."""
    name = file if isinstance(file, Path) else "the program"
    try:
        elf = ELFFile(BytesIO(read_bytes(file) if isinstance(file, Path) else file))
        if elf.num_sections() > MAX_SECTIONS:
            raise ELFError(f"{elf.num_sections()} sections")
        for section in elf.iter_sections():
            in_file = section["sh_type"] not in ("SHT_NOBITS", "SHT_NULL")
            if section["sh_size"] > MAX_DOCUMENT_BYTES or (in_file and section.compressed):
                raise ELFError(f"section {section.name!r} is compressed or of {section['sh_size']} bytes")
        yield elf
    except (ELFError, ConstructError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
        raise InputError(f"{name} is not a program that the compiler wrote ({error}); compile it again") from None


def symbols_of(elf: ELFFile) -> list[Any]:
    return [s for table in elf.iter_sections() if isinstance(table, SymbolTableSection) for s in table.iter_symbols()]


def _span(section: Section | None) -> tuple[int, int]:
    return (section["sh_addr"], section["sh_addr"] + section["sh_size"]) if section is not None else (0, 0)
