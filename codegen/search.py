"""Place of a feature among its thresholds: the cheapest search by comparisons.

Each interval between neighbouring thresholds ends in a word (a constant). Dynamic programming finds an
optimal alphabetic search tree with the real costs. A constant takes one instruction or two, and a branch that falls
through costs less than one that is taken, so a balanced tree is not the best one. A question need not be about a
threshold: one in the middle of an interval has the same word on both sides, and may have a constant that costs an
instruction less.

    x > 811 ?  (x > 11535 ?  word 3 : word 2)  :  (x > 11 ? word 1 : word 0)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from codegen.engines import CostModel

MAX_OPTIMAL = 96
"""Above so many thresholds the search is balanced instead: the programming is cubic."""
MIN_THRESHOLDS = 6
"""Below so many thresholds a pivot saves nothing: compilers answer a short search without branches."""


@dataclass(frozen=True)
class Found:
    """The feature lies in interval ``place``, counted from below."""

    place: int


@dataclass(frozen=True)
class Ask:
    """``feature > thresholds[border]``; the side ``first`` (true: above) is printed first, so it falls through."""

    border: int
    first: bool
    above: "Found | Ask"
    below: "Found | Ask"


SearchNode = Found | Ask
Prices = NDArray[np.float64]


def cheap_pivots(thresholds: Sequence[int]) -> tuple[int, ...]:
    """Values between the thresholds which to compare with takes one instruction for a constant, or none, also where a
    compiler prefers a shift: beside a power of two, at the sign, at the ends of an immediate."""
    powers = [2**k - 1 for k in range(12, 32)] + [-(2**k) - 1 for k in range(12, 31)]
    inside = {v for v in (*powers, -1, 2046, -2049) if thresholds[0] < v < thresholds[-1]} - set(thresholds)
    return tuple(sorted(inside)) if MIN_THRESHOLDS <= len(thresholds) <= MAX_OPTIMAL - len(inside) else ()


def plan(
    thresholds: Sequence[int],
    ends: Sequence[tuple[int, ...]],
    engine: CostModel,
    shares: Sequence[float] | None = None,
    asked: Sequence[float] | None = None,
) -> tuple[SearchNode, float]:
    """Returns the search over ``len(thresholds) + 1`` intervals, each with its words, and the cycles of the search.

    Cycles are those of the worst case, or the mean if the ``shares`` of the intervals are given. ``asked``: cycles
    until a threshold can be compared with, if it is no constant."""
    leaf = tuple(float(sum(map(engine.constant, words)) + engine.jump) for words in ends)
    same = list(range(len(ends)))  # the last interval that an interval shares its words with
    for place in reversed(range(len(ends) - 1)):
        same[place] = same[place + 1] if ends[place] == ends[place + 1] else place
    prices = tuple(engine.constant(t + 1) for t in thresholds) if asked is None else tuple(asked)
    return _planned(prices, leaf, tuple(same), engine, None if shares is None else tuple(shares))


@lru_cache(maxsize=4096)
def _planned(
    asked: tuple[float, ...],
    leaf: tuple[float, ...],
    same: tuple[int, ...],
    engine: CostModel,
    shares: tuple[float, ...] | None,
) -> tuple[SearchNode, float]:
    """The same by all that it depends on: the prices of the thresholds and of the intervals' words, and which intervals
    share theirs. Groups of the same trees differ in the words alone, so that one of many is new."""
    count, alike = len(leaf), np.array(same)
    prices, words = np.array(asked, dtype=np.float64), np.array(leaf)
    price, often = (np.zeros((min(count, MAX_OPTIMAL + 1), count)) for _ in range(2))
    border = np.zeros(price.shape, dtype=np.int64)
    """[last - first, first]: of the intervals first..last the cycles, how often they are met, and what to ask for."""

    def share(first: int, last: int) -> float:
        return sum(shares[first : last + 1]) if shares else 1.0

    def joined(ask: Prices, below: Prices, above: Prices, under: Prices, over: Prices) -> Prices:
        """Cycles of a question and its sides; ``under``, ``over``: how often each is taken."""
        if shares is None:
            dear, cheap = np.maximum(below, above), np.minimum(below, above)
            return np.asarray(ask + np.maximum(engine.not_taken + dear, engine.taken + cheap))
        more, less = np.maximum(under, over), np.minimum(under, over)
        return np.asarray(ask * (more + less) + engine.not_taken * more + engine.taken * less + below + above)

    for length in range(len(price)):
        first = np.arange(count - length)
        often[length, first] = [share(start, start + length) for start in first.tolist()]
        price[length, first] = words[first] * often[length, first]
        first = first[first + length > alike[first]]
        if first.size:  # of all stretches of so many intervals at once, and all borders inside
            inside = np.arange(length)[:, None]
            under, over = (inside, first), (length - 1 - inside, first + inside + 1)
            costs = joined(prices[first + inside], price[under], price[over], often[under], often[over])
            border[length, first] = first + costs.argmin(axis=0)
            price[length, first] = costs.min(axis=0)

    def cost(first: int, last: int) -> Prices:
        if last - first <= MAX_OPTIMAL:
            return np.asarray(price[last - first, first])
        if last <= same[first]:
            return np.asarray(leaf[first] * share(first, last))
        middle = (first + last) // 2
        sides = [(first, middle), (middle + 1, last)]
        met = (np.asarray(share(*side)) for side in sides)
        return joined(prices[middle], *(cost(*side) for side in sides), *met)

    def build(first: int, last: int) -> SearchNode:
        if last <= same[first]:
            return Found(first)
        middle = int(border[last - first, first]) if last - first <= MAX_OPTIMAL else (first + last) // 2
        sides = [(middle + 1, last), (first, middle)]
        above, below = (share(*side) if shares else float(cost(*side)) for side in sides)
        return Ask(middle, above >= below, build(*sides[0]), build(*sides[1]))

    return build(0, count - 1), float(cost(0, count - 1))
