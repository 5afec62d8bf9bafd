"""Checks on the object code, not on the C: what the compiler really made decides.

Forbidden: a float or division instruction, a call of something that nothing defines (libgcc, libc), writable static
data, a loop, recursion, an indirect jump, a stack that cannot be bounded. Measured: bytes of code, of constant tables
and of stack.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from decision.artefact.errors import InputError
from emulator.build import Build
from emulator.elf import open_elf, symbols_of
from emulator.firmware import ENTRY
from emulator.riscv import Instruction, Kind, decode

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
class CodeFacts:
    """Facts about the linked program. ``stack_bytes`` is None when it has no static bound."""

    code_bytes: int
    table_bytes: int
    stack_bytes: int | None
    forbidden: tuple[str, ...]


def check_code(file: Path | bytes, entry: str, *, loops_allowed: bool = False) -> CodeFacts:
    """Decode every function that the linked program kept and apply the rules. ``loops_allowed``: as a network has them;
    the cycle limit of a run ends one that does not."""
    with open_elf(file) as elf:
        text: Any = elf.get_section_by_name(".text")
        rodata: Any = elf.get_section_by_name(".rodata")
        base, code = text["sh_addr"], text.data()
        kept = {s["st_value"]: s for s in symbols_of(elf) if s["st_info"]["type"] == "STT_FUNC"}
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


def code_facts(build: Build) -> CodeFacts | None:
    """Returns the facts of a build's machine code; None if it was not linked."""
    if build.elf is None:
        return None
    return check_code(build.elf, build.firmware.named(ENTRY), loops_allowed=build.firmware.loops)


def runnable(build: Build) -> Build:
    """Returns the build; raises InputError if the engine would not run it: a call of a library, a float."""
    facts = code_facts(build)
    wrong = [*build.calls, *(facts.forbidden if facts else ())]
    if wrong:
        raise InputError(f"{build.firmware.source} cannot run on {build.engine.name}: {wrong[0]}; see `rlcc emulate`")
    return build


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
