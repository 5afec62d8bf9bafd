"""Exact extremes over the cells of a forest: branch and bound, the most promising boxes first."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from decision.ir.arrays import Integers
from verify.behaviour.cells import Boxes, Cells

AT_ONCE = 256
MAX_BOXES = 400_000
"""Boxes looked into before an extreme is given up as a bound."""


@dataclass(frozen=True)
class Extreme:
    """``value`` is attained in ``cell`` [columns] (None: nowhere above the floor), and nothing is above ``bound``."""

    value: int
    bound: int
    cell: Integers | None

    @property
    def exact(self) -> bool:
        return self.value == self.bound


def greatest(cells: Cells, box: Boxes, upper: Callable[[Boxes], Integers], floor: int) -> Extreme:
    """The greatest of a function of cells in ``box`` that is above ``floor``. ``upper`` [N] bounds it over each box,
    and in a box of one cell it is its value there; the function of a box's own corner is a value that is attained."""
    best, cell, waiting = floor, None, box
    bound, looked = upper(box), 0
    while len(waiting) and looked < MAX_BOXES:
        order = np.argsort(-bound, kind="stable")
        now, later = order[:AT_ONCE], order[AT_ONCE:]
        front, waiting, bound = waiting.only(now), waiting.only(later), bound[later]
        looked += len(front)
        corners = upper(Boxes(front.low, front.low))
        if (value := int(corners.max())) > best:
            best, cell = value, front.low[int(corners.argmax())]
        halves = cells.halves(front)
        waiting, bound = Boxes.joined(waiting, halves), np.concatenate([bound, upper(halves)])
        kept = bound > best
        waiting, bound = waiting.only(kept), bound[kept]
    return Extreme(best, max([best, *bound.tolist()]), cell)
