"""Which line of C an instruction comes from, through the functions that the compiler inlined.

Read from the DWARF line table and the inlined subroutines of a program compiled with ``compile_policy(.., lines=True)``
(DWARF 4, sections 2.17, 3.3.8 and 6.2).
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from elftools.dwarf.descriptions import describe_form_class
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from decision.artefact import temporary
from decision.artefact.errors import InputError
from emulator.build import Build
from emulator.compile import compile_sources, link_program
from emulator.elf import read_image
from emulator.firmware import ENTRY

SUBPROGRAM, INLINED = "DW_TAG_subprogram", "DW_TAG_inlined_subroutine"


@dataclass(frozen=True)
class Frame:
    """A place in the C: a function and a line of it (0 where the compiler names none)."""

    function: str
    line: int


@dataclass(frozen=True)
class _FunctionBody:
    """A function's instructions [low, high), inlined into another where ``depth`` > 0 (called from ``call_line``)."""

    low: int
    high: int
    depth: int
    function: str
    call_line: int


class SourceLines:
    """The lines of one linked program's C file; what has no line information (the runner, a library) has its symbol."""

    def __init__(self, elf_file: Path, source: str) -> None:
        """``source``: the name of the C file whose lines count; those of other files are 0."""
        with elf_file.open("rb") as file:
            elf = ELFFile(file)
            self._symbols = sorted((a, n) for a, n in _functions(elf).items())
            self._bodies: list[_FunctionBody] = []
            self._rows: list[tuple[int, int, int]] = []  # (address, line, whose line), each up to the next address
            if elf.has_dwarf_info():
                dwarf = elf.get_dwarf_info()
                for unit in dwarf.iter_CUs():
                    self._rows += _rows(dwarf, unit, source)
                    self._bodies += _bodies(dwarf, unit)
        self._rows.sort()

    @cached_property
    def _starts(self) -> list[int]:
        return [address for address, _, _ in self._rows]

    def frames(self, address: int) -> tuple[Frame, ...]:
        """Outermost function first: the lines of the calls that were inlined, then the instruction's own line."""
        around = self._around(address)
        if not around:
            return (Frame(self._symbol(address), 0),)
        line, owner = self._line(address)
        told = self._around(owner)
        if owner < address and told and told[0] == around[0]:  # with the line goes the function that it is of
            around = told
        lines = [*(b.call_line for b in around[1:]), line]
        return tuple(Frame(b.function, line) for b, line in zip(around, lines, strict=True))

    def _around(self, address: int) -> list[_FunctionBody]:
        return sorted((b for b in self._bodies if b.low <= address < b.high), key=lambda b: b.depth)

    def _line(self, address: int) -> tuple[int, int]:
        """The line, and the address of the instruction before whose it is, where this one has none; else this."""
        at = bisect_right(self._starts, address) - 1
        if at < 0:
            return 0, address
        start, line, owner = self._rows[at]
        return line, address if owner == start else owner

    def _symbol(self, address: int) -> str:
        at = bisect_right(self._symbols, (address, "\x7f")) - 1
        return self._symbols[at][1] if at >= 0 else "?"


def _rows(dwarf: Any, unit: Any, source: str) -> list[tuple[int, int, int]]:
    program = dwarf.line_program_for_CU(unit)
    if program is None:
        return []
    files = program["file_entry"]
    rows: dict[int, int] = {}
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        name = files[state.file - 1].name.decode() if 0 < state.file <= len(files) else ""
        ours = Path(name).name == source and not state.end_sequence
        # The last of several rows at one address that has a line counts: the earlier ones have no instruction.
        if ours and (state.line or state.address not in rows):
            rows[state.address] = state.line
        elif not ours:
            rows.setdefault(state.address, 0)
    # "Line 0" says that the compiler made the instruction from several lines: it is told with the line before it.
    told, line, owner = [], 0, 0
    for address in sorted(rows):
        if rows[address] or not line:
            line, owner = rows[address], address
        told.append((address, line, owner))
    return told


def _bodies(dwarf: Any, unit: Any) -> list[_FunctionBody]:
    bodies: list[_FunctionBody] = []

    def visit(die: Any, depth: int) -> None:
        inside = depth
        if die.tag in (SUBPROGRAM, INLINED):
            for low, high in _ranges(dwarf, unit, die):
                call = die.attributes.get("DW_AT_call_line")
                bodies.append(_FunctionBody(low, high, depth, _name(die), call.value if call else 0))
            inside = depth + 1
        for child in die.iter_children():
            visit(child, inside)

    visit(unit.get_top_DIE(), 0)
    return bodies


def _ranges(dwarf: Any, unit: Any, die: Any) -> list[tuple[int, int]]:
    attributes = die.attributes
    if "DW_AT_ranges" in attributes:
        top = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
        base, ranges = top.value if top else 0, []
        for entry in dwarf.range_lists().get_range_list_at_offset(attributes["DW_AT_ranges"].value, unit):
            if hasattr(entry, "base_address"):
                base = entry.base_address
            else:
                ranges.append((base + entry.begin_offset, base + entry.end_offset))
        return ranges
    if "DW_AT_low_pc" not in attributes:
        return []
    low, high = attributes["DW_AT_low_pc"].value, attributes["DW_AT_high_pc"]
    return [(low, high.value if describe_form_class(high.form) == "address" else low + high.value)]


def _name(die: Any) -> str:
    origin = die.get_DIE_from_attribute("DW_AT_abstract_origin") if "DW_AT_abstract_origin" in die.attributes else die
    name = origin.attributes.get("DW_AT_name")
    return str(name.value.decode()) if name else "?"


def _functions(elf: Any) -> dict[int, str]:
    tables = [s for s in elf.iter_sections() if isinstance(s, SymbolTableSection)]
    return {s["st_value"]: s.name for t in tables for s in t.iter_symbols() if s["st_info"]["type"] == "STT_FUNC"}


def source_lines(made: Build) -> SourceLines:
    """Returns which line of the C an instruction of the build is of. Raises InputError if the compiler makes other code
    with line information."""
    with temporary.folder() as folder:
        policy = compile_sources(made.firmware.sources, made.toolchain, folder=folder, lines=True)
        elf = link_program(policy, made.firmware.named(ENTRY), made.engine, folder)
        if read_image(elf).sections != made.image.sections:
            compiler = made.toolchain.compiler.name
            raise InputError(f"{compiler} makes other code with line information, so no line can be told")
        return SourceLines(elf, made.firmware.sources.main)
