"""Races between students: a candidate is given up in the first network that shows it cannot be the closest.

The worst network decides how close a student is. A candidate that is further off in one network than the best one is
in its worst has lost, whatever the other networks would show. A race therefore chooses the student that runs of all
networks would choose.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from decision.artefact.errors import InputError
from distill.closeness import Distance, Place

Distances = Mapping[Place, Sequence[Distance]]
"""The distance by each metric, place by place."""


@dataclass(frozen=True)
class Standing:
    """How far off a candidate is: ``worst``, in ``place``, of the first ``networks`` places of its race. A lower bound
    where the candidate was given up."""

    worst: Distance
    place: Place
    networks: int
    given_up: bool


def race(
    places: Sequence[Place], limit: float, width: int, compare: Callable[[Sequence[Place]], Distances]
) -> Standing:
    """Returns how far off a candidate is, judged place by place until it is further off than ``limit``.

    ``limit``: in parts of the tolerance; where it is infinite, all places are compared at once. ``width``: how many
    places ``compare`` is given else; the result does not depend on it. Raises InputError where no place has any metric
    by which candidates are judged.
    """
    worst: tuple[Distance, Place] | None = None
    size = width if isfinite(limit) else len(places)
    for first in range(0, len(places), size):
        part = places[first : first + size]
        apart = compare(part)
        for number, place in enumerate(part, first + 1):
            for one in apart[place]:
                if worst is None or one.of_tolerance > worst[0].of_tolerance:
                    worst = one, place
            if worst is not None and worst[0].of_tolerance > limit:
                return Standing(*worst, number, given_up=True)
    if worst is None:
        raise InputError("no network has any of the metrics by which students are chosen; judge others too")
    return Standing(*worst, len(places), given_up=False)


def worst_first(places: Sequence[Place], standing: Standing | None) -> list[Place]:
    """Returns the places, those of the last candidate's worst network first: the next one most likely loses there."""
    if standing is None:
        return list(places)
    place = standing.place
    return sorted(places, key=lambda one: (one != place, one[0] != place[0]))
