"""Dominance: which points are the best, where several figures count, all of them the less the better."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan


def dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    """Nowhere worse, and somewhere better."""
    return all(a <= b for a, b in zip(one, other, strict=True)) and any(a < b for a, b in zip(one, other, strict=True))


def front(points: Mapping[int, Sequence[float]]) -> list[int]:
    """Those that no other dominates, by their figures in order; none whose figures are not all there (NaN)."""
    measured = {number: values for number, values in points.items() if not any(map(isnan, values))}
    best = [n for n, values in measured.items() if not any(dominates(other, values) for other in measured.values())]
    return sorted(best, key=lambda n: (*measured[n], n))


def layers(points: Mapping[int, Sequence[float]]) -> Iterator[list[int]]:
    """The front, the front of what is left, and so on."""
    left = dict(points)
    while best := front(left):
        yield best
        for number in best:
            del left[number]
