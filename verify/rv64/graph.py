"""The order in which RV64 code is walked: every instruction once for each chain of calls that leads to it.

Nothing here is trusted. That control really goes where the order says is checked in the walk, which knows the values of
the registers.
"""

from collections.abc import Iterator, Mapping

from verify.code.failures import Refused
from verify.rv64.decoder import BRANCHES, RA, Rv64Instruction

Place = tuple[int, tuple[int, ...]]
"""An address, and the return addresses of the calls that led there, the outermost first."""
MAX_PLACES = 50_000
MAX_CALLS = 16


def ordered(code: Mapping[int, Rv64Instruction], entry: int) -> list[Place]:
    """Returns the reachable places in topological order. Refused: a loop, a recursion, a jump to an unknown place."""
    first: Place = entry, ()
    open_places, done = {first}, dict[Place, None]()
    path: list[tuple[Place, Iterator[Place]]] = [(first, iter(following(code, first)))]
    while path:
        place, rest = path[-1]
        after = next(rest, None)
        if after is None:
            open_places.discard(place)
            done[place] = None
            path.pop()
        elif after in open_places:
            raise Refused("loop", place[0], f"a loop closes at {place[0]:#x}, back to {after[0]:#x}")
        elif after not in done:
            if len(done) + len(path) > MAX_PLACES:
                raise Refused("too-large", place[0], f"more than {MAX_PLACES} instructions over all chains of calls")
            open_places.add(after)
            path.append((after, iter(following(code, after))))
    return list(done)[::-1]


def following(code: Mapping[int, Rv64Instruction], place: Place) -> list[Place]:
    """Returns where control goes behind a place: for a branch not taken, taken. The last return has none."""
    address, calls = place
    i = code[address]
    if i.name in BRANCHES:
        places = [(i.after, calls), (i.target, calls)]
    elif i.name == "jalr" and i.rd == 0 and i.rs1 == RA and i.imm == 0:
        places = [(calls[-1], calls[:-1])] if calls else []
    elif i.name in ("jal", "jalr"):
        target = i.target if i.name == "jal" else _far_target(code, i)
        if i.rd not in (0, RA) or len(calls) > MAX_CALLS:
            raise Refused("indirect-jump", address, f"a call at {address:#x} with x{i.rd}, or of too many functions")
        places = [(target, (*calls, i.after) if i.rd else calls)]
    else:
        places = [(i.after, calls)]
    if gone := next((to for to, _ in places if to not in code), None):
        raise Refused("indirect-jump", address, f"the code at {address:#x} goes on to {gone:#x}, where there is none")
    return places


def _far_target(code: Mapping[int, Rv64Instruction], i: Rv64Instruction) -> int:
    """auipc r; jalr r: the linker's far call."""
    before = code.get(i.address - 4)
    if before is None or before.name != "auipc" or before.rd != i.rs1 or i.rs1 == 0:
        raise Refused("indirect-jump", i.address, f"an indirect jump at {i.address:#x}")
    return before.address + before.imm + i.imm & ~1
