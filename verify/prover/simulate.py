"""Execution of the code on all inputs at once: lanes walk the positions in order and meet where paths join.

An instruction does here what ``verify.trusted.execute`` does on words; only the words are expressions here.
Every step from one position to the next is checked against the program counter that the instruction computes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from decision.ir.arrays import Bools
from verify.code.failures import Failure, Refused
from verify.code.graph import KEPT, RA, SP, Graph
from verify.prover.expressions import FIRST, UNKNOWN, WORD
from verify.prover.forks import compare, compared, split_addresses
from verify.prover.lanes import Ints, Lanes, joined, words
from verify.prover.memory import from_constants, load, store
from verify.prover.spans import Spans, masked, products, united
from verify.prover.state import State
from verify.trusted.costs import CycleModel
from verify.trusted.machine import BRANCHES, LOADS, STORES, Instruction

PLAIN = ("add", "sub", "and", "or", "xor", "sll", "srl", "sra", "mul", "mulh", "mulhu", "mulhsu")
WITH_IMMEDIATE = {
    "addi": "add", "andi": "and", "ori": "or", "xori": "xor", "slli": "sll", "srli": "srl", "srai": "sra",
    "slti": "slt", "sltiu": "sltu",
}  # fmt: skip
CONDITIONS = {  # branch -> question, answer for which it is taken
    "beq": ("eq", True), "bne": ("eq", False), "blt": ("slt", True), "bge": ("slt", False),
    "bltu": ("sltu", True), "bgeu": ("sltu", False),
}  # fmt: skip

FEW_LANES, NEAR_INSTRUCTIONS = 64, 8
"""Lanes are also joined within this number of instructions after a comparison without a branch, if they are few."""


class Join(Protocol):
    """May merge the lanes at a position. ``due``: it should, although no paths meet there; ``counted``: even of one.
    ``look`` sees them wherever they are, and says which go on."""

    def __call__(self, number: int, lanes: Lanes) -> Lanes: ...

    def due(self, lanes: Lanes) -> bool: ...

    def look(self, number: int, lanes: Lanes) -> Lanes: ...

    def counted(self, lanes: Lanes) -> bool: ...


Return = Callable[[int, Lanes], None]


@dataclass
class Walk:
    """Results of an execution: the deepest stack, the most lanes at one position, and the lanes' number in all."""

    stack_bytes: int = 0
    most_lanes: int = 0
    returned: int = 0
    instructions: int = 0
    failures: list[Failure] = field(default_factory=list)


def walk(
    state: State, graph: Graph, model: CycleModel, join: Join, done: Return, *, stack_limit: int, most_lanes: int
) -> Walk:
    """Run all lanes to their returns. ``join`` may merge lanes where they meet; ``done`` gets those that returned."""
    result = Walk()
    waiting: dict[int, list[Lanes]] = {0: [state.start()]}
    unsettled: set[int] = set()  # positions shortly after a comparison without a branch
    for number, position in enumerate(graph.positions):
        groups = waiting.pop(number, None)
        if groups is None:
            continue
        for group in groups:
            state.widen(group)
        lanes = joined(groups)
        result.instructions += len(lanes)
        meet = position.arrivals > 1 or (number in unsettled if len(lanes) <= FEW_LANES else join.due(lanes))
        if (len(lanes) > 1 and meet) or join.counted(lanes):
            lanes = join(number, lanes)
            if not len(lanes):
                continue  # unreachable
        result.most_lanes = max(result.most_lanes, len(lanes))
        lanes = join.look(number, lanes)
        i = position.instruction
        if len(lanes) > most_lanes:
            text = f"more than {most_lanes} cells at {i.address:#x}; emit with --form branches, or distil fewer trees"
            raise Refused("too-large", i.address, text)
        before = len(lanes)
        try:
            lanes, taken, bytes_below = _step(state, lanes, i, position.following, graph, model, stack_limit)
        except Refused as error:
            raise Refused(error.failure.kind, error.failure.address or i.address, error.failure.text) from None
        result.stack_bytes = max(result.stack_bytes, bytes_below)
        if len(lanes) > before and i.name not in BRANCHES:
            unsettled.update(range(number + 1, number + NEAR_INSTRUCTIONS))
        _spend(lanes, i, taken, graph, model, number)
        if not position.following:
            result.returned += len(lanes)
            done(number, lanes)
        elif i.name in BRANCHES:
            for side, target in zip((False, True), position.following, strict=True):
                rows = taken == side
                if rows.any():
                    part = lanes if rows.all() else lanes.take(rows)
                    waiting.setdefault(target, []).append(part)
        else:
            waiting.setdefault(position.following[0], []).append(lanes)
    if not result.returned:
        raise Refused("not-proved", graph.positions[0].instruction.address, "no input was seen to reach a return")
    return result


def _step(
    state: State,
    lanes: Lanes,
    i: Instruction,
    following: list[int],
    graph: Graph,
    model: CycleModel,
    stack_limit: int,
) -> tuple[Lanes, Bools, int]:
    """Execute one instruction: the lanes after it (more where a comparison split some), branches taken, stack bytes."""
    taken = np.zeros(len(lanes), dtype=bool)
    below = 0
    value: Ints | None = None
    a, b = lanes.values[i.rs1], lanes.values[i.rs2]
    count = len(lanes)

    def constant(word: int) -> Ints:
        return np.full(count, word & WORD, dtype=np.int64)

    if i.name == "mulhu":
        value = products(Spans(state, lanes), a, b, 32)
    elif i.name in ("and", "andi"):
        value = masked(Spans(state, lanes), a, constant(i.imm) if i.name == "andi" else b)
    elif i.name in ("or", "ori"):
        value = united(Spans(state, lanes), a, constant(i.imm) if i.name == "ori" else b)
    elif i.name in PLAIN:
        value = words(state.pool, i.name, a, b)
    elif i.name in ("slt", "sltu", "slti", "sltiu"):
        op = WITH_IMMEDIATE.get(i.name, i.name)
        lanes, value = compared(state, lanes, op, a, constant(i.imm) if i.name in WITH_IMMEDIATE else b)
    elif i.name in WITH_IMMEDIATE:
        value = words(state.pool, WITH_IMMEDIATE[i.name], a, constant(i.imm))
    elif i.name == "lui":
        value = constant(i.imm)
    elif i.name == "auipc":
        value = constant(i.address + i.imm)
    elif i.name in LOADS:
        lanes, address = split_addresses(state, lanes, words(state.pool, "add", a, constant(i.imm)), LOADS[i.name])
        value = load(state, lanes, i, address)
        if model.table_wait:
            lanes.cycles = lanes.cycles + model.table_wait * from_constants(address)
    elif i.name in STORES:
        below = store(state, lanes, i, words(state.pool, "add", a, constant(i.imm)), b, stack_limit)
    elif i.name in BRANCHES:
        op, when = CONDITIONS[i.name]
        lanes, holds = compare(state, lanes, op, a, b)
        taken = holds == when
        _goes(i, i.address + 4, graph, following[0])
        _goes(i, i.target, graph, following[1])
    elif i.name == "jal":
        value = constant(i.address + 4)
        _goes(i, i.target, graph, following[0])
    elif i.name == "jalr":
        value = _jump(state, i, words(state.pool, "add", a, constant(i.imm)), following, graph)
    else:
        raise Refused("illegal-instruction", i.address, f"{i.name} at {i.address:#x}")
    if i.name not in BRANCHES and i.name not in ("jal", "jalr"):
        _goes(i, i.address + 4, graph, following[0])
    if value is not None and i.rd:
        lanes.values = lanes.values.copy() if lanes.values.base is not None else lanes.values
        lanes.values[i.rd] = value
    if len(taken) != len(lanes):
        taken = np.zeros(len(lanes), dtype=bool)
    return lanes, taken, below


def _jump(state: State, i: Instruction, target: Ints, following: list[int], graph: Graph) -> Ints:
    if following:
        at = graph.positions[following[0]].instruction.address
        if (target < 0).any() or (target >= FIRST).any() or ((target & ~1) != at).any():
            raise Refused("indirect-jump", i.address, f"the jump at {i.address:#x} does not always go to {at:#x}")
    elif (target != state.at_call(RA)).any():
        raise Refused("indirect-jump", i.address, f"the jump at {i.address:#x} is not a return to the caller")
    return np.full(len(target), i.address + 4, dtype=np.int64)


def _goes(i: Instruction, target: int, graph: Graph, following: int) -> None:
    if graph.positions[following].instruction.address != target & WORD:
        raise Refused("indirect-jump", i.address, f"the code at {i.address:#x} does not go where the walk does")


def _spend(lanes: Lanes, i: Instruction, taken: Bools, graph: Graph, model: CycleModel, number: int) -> None:
    """Count the cycles of an instruction; they may depend on the one before, in which lanes that met differ."""
    for before in np.unique(lanes.before):
        previous = graph.positions[before].instruction if before >= 0 else None
        rows = lanes.before == before
        for side in (False, True):
            at = rows & (taken == side)
            if at.any():
                lanes.cycles[at] += model.step(i, side, previous)
    lanes.before = np.full(len(lanes), number, dtype=np.int64)


def kept_registers(state: State, address: int, lanes: Lanes) -> None:
    """The calling convention at the return: sp and the callee-saved registers as at the call."""
    for r in KEPT:
        if r != RA and (lanes.values[r] != state.at_call(r)).any():
            kind, name = ("stack-pointer", "sp") if r == SP else ("callee-saved", f"x{r}")
            raise Refused(kind, address, f"{name} is not at the return at {address:#x} what it was at the call")


def unknown(column: Ints) -> bool:
    return bool((column == UNKNOWN).any())
