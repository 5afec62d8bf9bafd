"""Drop clamps that never act, because the sums that trees can reach are known exactly.

Adding up the least and the greatest leaf of each tree says too much: no input may lead to all of them. The joint table
of all trees, where it is small enough to be made, tells which sums there are.
"""

from dataclasses import replace

from codegen.joint import join, size_of, thresholds_of
from codegen.walk import Sum, Walk

MAX_CELLS = 1 << 18


def limits(walk: Walk) -> Walk:
    return replace(walk, sums=tuple(_freed(walk, column) for column in range(len(walk.sums))))


def _freed(walk: Walk, column: int) -> Sum:
    total, trees = walk.sums[column], sorted(walk.adding_to(column))
    if total.low <= -(2**31) and total.high >= 2**31 - 1:
        return total  # it has none
    if size_of(thresholds_of([walk.trees[n] for n in trees])) > MAX_CELLS:
        return total
    entries = join(walk, trees, (column,)).entries
    low, high = total.bias + min(entries), total.bias + max(entries)
    return replace(
        total,
        low=total.low if low < total.low else -(2**31),
        high=total.high if high > total.high else 2**31 - 1,
    )
