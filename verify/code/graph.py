"""The order in which the code is walked: every instruction once for each chain of calls that leads to it.

Code without loops and recursion is an acyclic graph of *positions* (instruction, return addresses). Walked in a
topological order, all paths to a position have arrived before it is executed, so that they can be joined there.

Nothing here is trusted. The order only says which position to look at next: that control really goes there is checked
in the execution, which knows the values of the registers. Liveness only says what may be forgotten at a join, and
what is forgotten has no value any more: using it fails.
"""

from dataclasses import dataclass, field

from verify.code.failures import Refused
from verify.trusted.machine import BRANCHES, LOADS, STORES, Instruction

RA, SP = 1, 2
KEPT = (1, 2, 3, 4, 8, 9, *range(18, 28))
RETURNED = (10, *KEPT)
MAX_POSITIONS = 300_000

Slot = tuple[int, int]
"""Offset from the stack pointer at the call, and bytes."""


@dataclass
class Position:
    """``following``: the next position; for a branch not taken, taken. The last return has none.

    ``live``: registers and stack slots that something after this may still read, before the instruction: bit r for
    register r, bit 32 + n for ``Graph.slots[n]``.
    """

    instruction: Instruction
    following: list[int] = field(default_factory=list)
    arrivals: int = 0
    live: int = 0


@dataclass
class Graph:
    positions: list[Position]
    slots: dict[Slot, int]

    def live_slots(self, live: int) -> set[Slot]:
        return {slot for slot, n in self.slots.items() if live >> (32 + n) & 1}


def build_graph(code: dict[int, Instruction], entry: int) -> Graph:
    """All positions in topological order; ``Refused`` for a loop, a recursion, a jump to an unknown place."""
    positions: list[Position] = []
    _expand(code, entry, None, positions, ())
    for position in positions:
        for n in position.following:
            positions[n].arrivals += 1
    graph = Graph(positions, {})
    _liveness(graph, _slots(graph))
    return graph


def _expand(
    code: dict[int, Instruction], entry: int, back: int | None, positions: list[Position], active: tuple[int, ...]
) -> list[int]:
    """Append a function's positions (callees in between); returns its returns, whose ``following`` is still open."""
    if entry in active:
        raise Refused("loop", entry, f"the function at {entry:#x} calls itself")
    order = _order(code, entry)
    place: dict[int, int] = {}
    waiting: list[tuple[int, list[int]]] = []
    returns: list[int] = []
    for address in order:
        if len(positions) > MAX_POSITIONS:
            raise Refused("too-large", address, f"more than {MAX_POSITIONS} instructions over all chains of calls")
        place[address] = here = len(positions)
        instruction = code[address]
        positions.append(Position(instruction))
        callee = _callee(code, instruction)
        if callee is not None:
            positions[here].following = [here + 1]
            inner = _expand(code, callee, address + 4, positions, (*active, entry))
            waiting += [(n, [address + 4]) for n in inner]
        elif _is_return(instruction):
            returns.append(here)
        else:
            waiting.append((here, _successors(code, instruction)))
    for n, targets in waiting:
        positions[n].following = [place[target] for target in targets]
    return returns


def _order(code: dict[int, Instruction], entry: int) -> list[int]:
    """A function's instructions in topological order (reversed postorder of a depth-first search)."""
    state: dict[int, int] = {}
    done: list[int] = []
    path = [(entry, iter(_inside(code, entry, entry)))]
    state[entry] = 1
    while path:
        address, rest = path[-1]
        target = next(rest, None)
        if target is None:
            state[address] = 2
            done.append(address)
            path.pop()
        elif state.get(target) == 1:
            raise Refused("loop", address, f"a loop closes at {address:#x}, back to {target:#x}")
        elif target not in state:
            state[target] = 1
            path.append((target, iter(_inside(code, target, address))))
    return done[::-1]


def _inside(code: dict[int, Instruction], address: int, origin: int) -> list[int]:
    if address not in code:
        raise Refused("indirect-jump", origin, f"the code at {origin:#x} runs on to {address:#x}, where there is none")
    instruction = code[address]
    if _is_return(instruction):
        return []
    if _callee(code, instruction) is not None:
        return [address + 4]
    return _successors(code, instruction)


def _successors(code: dict[int, Instruction], i: Instruction) -> list[int]:
    if i.name in BRANCHES:
        return [i.address + 4, i.target]
    if i.name == "jal":
        return [i.target]
    if i.name == "jalr":
        return [_far_target(code, i)]
    return [i.address + 4]


def _is_return(i: Instruction) -> bool:
    return i.name == "jalr" and i.rd == 0 and i.rs1 == RA and i.imm == 0


def _callee(code: dict[int, Instruction], i: Instruction) -> int | None:
    """Returns the target of a call; None for anything else."""
    if i.rd == 0 or i.name not in ("jal", "jalr"):
        return None
    return i.target if i.name == "jal" else _far_target(code, i)


def _far_target(code: dict[int, Instruction], i: Instruction) -> int:
    """auipc r; jalr r: the linker's far call."""
    before = code.get(i.address - 4)
    if before is None or before.name != "auipc" or before.rd != i.rs1 or i.rs1 == 0:
        raise Refused("indirect-jump", i.address, f"an indirect jump at {i.address:#x}")
    return (before.address + before.imm + i.imm) & 0xFFFF_FFFE


def _slots(graph: Graph) -> list[Slot | None]:
    """The stack slot that each load or store reaches, where that is plain to see (constants added to sp, copies)."""
    start: dict[object, int] = {SP: 0}  # register or slot -> offset from sp at the call
    states: list[dict[object, int] | None] = [None] * len(graph.positions)
    states[0] = start
    slots: list[Slot | None] = []
    for n, position in enumerate(graph.positions):
        i, known = position.instruction, states[n]
        slot: Slot | None = None
        after = known
        if known is not None:
            value: int | None = None
            if i.name == "addi" and i.rs1 in known:
                value = known[i.rs1] + i.imm
            elif i.name == "add" and (i.rs1 in known) != (i.rs2 in known) and 0 in (i.rs1, i.rs2):
                value = known[i.rs1 if i.rs1 in known else i.rs2]
            elif (i.name in LOADS or i.name in STORES) and i.rs1 in known:
                slot = (known[i.rs1] + i.imm, LOADS.get(i.name) or STORES[i.name])
                value = known.get(slot) if i.name == "lw" else None
            if i.name in STORES:
                if slot is not None and known.get(slot) != known.get(i.rs2):
                    after = {k: v for k, v in known.items() if k != slot}
                    if i.rs2 in known and i.name == "sw":
                        after[slot] = known[i.rs2]
            elif i.rd and known.get(i.rd) != value:
                after = {k: v for k, v in known.items() if k != i.rd}
                if value is not None:
                    after[i.rd] = value
            assert after is not None
            for target in position.following:
                other = states[target]
                if other is None:
                    states[target] = after
                elif other is not after:
                    states[target] = {k: v for k, v in other.items() if after.get(k) == v}
        states[n] = None
        slots.append(slot)
        if slot is not None:
            graph.slots.setdefault(slot, len(graph.slots))
    return slots


def _liveness(graph: Graph, slots: list[Slot | None]) -> None:
    for n in range(len(graph.positions) - 1, -1, -1):
        position, i, slot = graph.positions[n], graph.positions[n].instruction, slots[n]
        live = 0
        for target in position.following:
            live |= graph.positions[target].live
        if not position.following:
            live = sum(1 << r for r in RETURNED)
        if i.rd:
            live &= ~(1 << i.rd)
        if slot is not None:
            bit = 1 << (32 + graph.slots[slot])
            live = live | bit if i.name in LOADS else live & ~bit
            if i.name in LOADS:  # a wider or narrower slot may be what was written
                live |= sum(1 << (32 + k) for (o, s), k in graph.slots.items() if o < sum(slot) and slot[0] < o + s)
        position.live = live | 1 << i.rs1 | 1 << i.rs2
