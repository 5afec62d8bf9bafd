"""The lowest index of the greatest of some nodes, as nodes."""

from collections.abc import Sequence

from decision.ir.program import Op, ProgramBuilder


def argmax(b: ProgramBuilder, sums: Sequence[int], name: str) -> int:
    """K - 1 comparisons. ``name``: what an index stands for; the nodes are called after it."""
    best, index = sums[0], b.const(0)
    for number, votes in enumerate(sums[1:], 1):
        more = b.add(Op.GT, (votes, best), name=f"more_{number}", note=f"{name} {number} has more than all before it")
        index = b.add(Op.SELECT, (more, b.const(number), index), name=f"{name}_{number}")
        if number + 1 < len(sums):
            best = b.add(Op.SELECT, (more, votes, best), name=f"most_{number}")
    return index
