"""Drop clamps that never act, because the sums that trees can reach are known exactly.

Adding up the least and the greatest leaf of each tree says too much: no input may lead to all of them. The joint table
of all trees, where it is small enough to be made, tells which sums there are.
"""

from dataclasses import replace

from codegen.forest import Forest, Sum
from codegen.joint import join, size_of, thresholds_of

MOST_CELLS = 1 << 18


def limits(forest: Forest) -> Forest:
    return replace(forest, sums=tuple(_freed(forest, number) for number in range(len(forest.sums))))


def _freed(forest: Forest, number: int) -> Sum:
    total = forest.sums[number]
    if size_of(thresholds_of(total.trees)) > MOST_CELLS:
        return total
    entries = join(forest, number, range(len(total.trees))).entries
    low, high = total.bias + min(entries), total.bias + max(entries)
    return replace(
        total,
        low=total.low if low < total.low else -(2**31),
        high=total.high if high > total.high else 2**31 - 1,
    )
