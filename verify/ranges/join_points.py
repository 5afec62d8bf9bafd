"""Places at which the two answers of a comparison are joined again.

A branch joins at its nearest post-dominator, which all paths from it to the return pass. A comparison into a register
joins when that register is overwritten, or when the control may go elsewhere. Nothing rests on these places but how
near the bound is.
"""

from collections.abc import Mapping

from verify.code.graph import RA
from verify.ranges.branches import question
from verify.trusted.machine import BRANCHES, STORES, Instruction

EXIT = -1


def meeting_points(code: Mapping[int, Instruction]) -> dict[int, int | None]:
    """Returns the meeting point of each instruction that asks; None: only the return of its function. A call counts as
    the step to what follows it."""
    following = {address: _following(i) for address, i in code.items()}
    order = _backwards(following)
    place = {node: n for n, node in enumerate(order)}
    nearest: dict[int, int] = {EXIT: EXIT}
    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            found = [to for to in following[node] if to in nearest]
            meet = found[0]
            for other in found[1:]:
                meet = _common(meet, other, nearest, place)
            if nearest.get(node) != meet:
                nearest[node], changed = meet, True
    branches = {address for address, i in code.items() if i.name in BRANCHES}
    points = {address: None if nearest.get(address, EXIT) == EXIT else nearest[address] for address in branches}
    asking = {address for address, i in code.items() if question(i) is not None} - branches
    return points | {address: _put_anew(code, address) for address in asking}


def _put_anew(code: Mapping[int, Instruction], address: int) -> int:
    register, at = code[address].rd, address + 4
    while at in code:
        i = code[at]
        if i.name in (*BRANCHES, "jal", "jalr"):
            break
        if i.rd == register and register not in (i.rs1, i.rs2) and i.name not in STORES:
            break
        at += 4
    return at


def _following(i: Instruction) -> list[int]:
    if i.name in BRANCHES:
        return [i.address + 4, i.target]
    if i.name == "jalr" and i.rd != RA:
        return [EXIT]
    return [i.target] if i.name == "jal" and i.rd != RA else [i.address + 4]


def _backwards(following: Mapping[int, list[int]]) -> list[int]:
    """Returns the nodes that reach the exit, each before those that reach it through it alone: reversed postorder from
    the exit."""
    comes: dict[int, list[int]] = {}
    for node, targets in following.items():
        for target in targets:
            comes.setdefault(target, []).append(node)
    order: list[int] = []
    seen, waiting = {EXIT}, [(EXIT, iter(comes.get(EXIT, ())))]
    while waiting:
        node, rest = waiting[-1]
        before = next((n for n in rest if n not in seen), None)
        if before is None:
            order.append(node)
            waiting.pop()
        else:
            seen.add(before)
            waiting.append((before, iter(comes.get(before, ()))))
    return order[::-1]


def _common(a: int, b: int, nearest: Mapping[int, int], place: Mapping[int, int]) -> int:
    while a != b:
        while place[a] > place[b]:
            a = nearest[a]
        while place[b] > place[a]:
            b = nearest[b]
    return a
