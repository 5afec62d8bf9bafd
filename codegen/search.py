"""Where a feature lies among its thresholds: the cheapest search by comparisons.

Each interval between neighbouring thresholds ends in a word (a constant). An optimal alphabetic search tree is found by
dynamic programming, with the costs as they are: a constant takes one instruction or two, a branch that falls through
costs less than one that is taken, so a balanced tree is not the best one. A question need not be about a threshold: one
in the middle of an interval has the same word on both sides, and may have a constant that costs an instruction less.

    x > 811 ?  (x > 11535 ?  word 3 : word 2)  :  (x > 11 ? word 1 : word 0)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from codegen.engines import CostModel

MOST = 96
"""Above so many thresholds the search is balanced instead: the programming is cubic."""
LEAST = 6
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


def cheap_pivots(thresholds: Sequence[int]) -> tuple[int, ...]:
    """Values between the thresholds which to compare with takes one instruction for a constant, or none, also where a
    compiler prefers a shift: beside a power of two, at the sign, at the ends of an immediate."""
    powers = [2**k - 1 for k in range(12, 32)] + [-(2**k) - 1 for k in range(12, 31)]
    inside = {v for v in (*powers, -1, 2046, -2049) if thresholds[0] < v < thresholds[-1]} - set(thresholds)
    return tuple(sorted(inside)) if LEAST <= len(thresholds) <= MOST - len(inside) else ()


def plan(
    thresholds: Sequence[int],
    ends: Sequence[tuple[int, ...]],
    engine: CostModel,
    shares: Sequence[float] | None = None,
    asked: Sequence[float] | None = None,
) -> tuple[SearchNode, float]:
    """The search over ``len(thresholds) + 1`` intervals, each with the words that it ends in, and its cycles: in the
    worst case, or on average where the ``shares`` of the intervals are given. ``asked``: cycles until a threshold can
    be compared with, where it is no constant."""
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

    def split(first: int, last: int) -> tuple[float, int]:
        """Price of the intervals first..last and the border to ask for."""
        if last <= same[first]:
            return leaf[first] * (sum(shares[first : last + 1]) if shares else 1.0), -1
        if last - first > MOST:
            middle = (first + last) // 2
            return joined(first, middle, last), middle
        return min((joined(first, border, last), border) for border in range(first, last))

    @cache
    def price(first: int, last: int) -> float:
        return split(first, last)[0]

    def joined(first: int, border: int, last: int) -> float:
        below, above = price(first, border), price(border + 1, last)
        compare = asked[border]
        if shares is None:
            dear, cheap = max(below, above), min(below, above)
            return compare + max(engine.not_taken + dear, engine.taken + cheap)
        often, seldom = sorted((sum(shares[first : border + 1]), sum(shares[border + 1 : last + 1])), reverse=True)
        return compare * (often + seldom) + engine.not_taken * often + engine.taken * seldom + below + above

    def build(first: int, last: int) -> SearchNode:
        if last <= same[first]:
            return Found(first)
        border = split(first, last)[1]
        above, below = price(border + 1, last), price(first, border)
        if shares is not None:
            above, below = sum(shares[border + 1 : last + 1]), sum(shares[first : border + 1])
        return Ask(border, above >= below, build(border + 1, last), build(first, border))

    return build(0, len(asked)), price(0, len(asked))
