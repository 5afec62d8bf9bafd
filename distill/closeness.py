"""How close a student's network is to its teacher's, by what the gate judges, and which round's student to keep.

Teacher and student run in the same networks with the same seeds (distill.driving). Even the teacher, deciding 10 ns
later, is off its own network: queues are chaotic. That is the noise; no round is added for less. Agents that decide
seldom decide the same 10 ns later, and that noise is 0, while one other decision of a student makes another network. A
floor covers a noise of 0: students that differ by less than FLOOR of the tolerance are as close.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan
from typing import Any

from decision.artefact.errors import InputError
from netsim.tolerance import DEFAULT, Tolerance

FLOOR = 0.5
"""Of what the gate allows; where the teacher's noise is 0."""

Metrics = Mapping[str, float]
Place = tuple[str, int]
"""A scenario and a seed."""


@dataclass(frozen=True)
class Distance:
    """The metric, in the network, in which a policy is furthest off: by ``value`` (netsim.tolerance), ``of_tolerance``
    times what the gate allows."""

    scenario: str
    metric: str
    value: float
    of_tolerance: float

    def to_json(self) -> dict[str, Any]:
        """Plain data; what could not be measured is null."""
        numbers = {"value": round(self.value, 6), "of_tolerance": round(self.of_tolerance, 4)}
        return vars(self) | {name: number if isfinite(number) else None for name, number in numbers.items()}


@dataclass(frozen=True)
class Round:
    """One fit: on how many decisions, how far the student's actions are off there and in the states that it then ran
    into itself (by the action map's loss: of a scale the root mean square), and how far its network is off.
    ``networks``: of how many; fewer than all where the round was given up (distill.racing)."""

    decisions: int
    fit_rmse: float
    rmse: float
    distance: Distance
    networks: int

    def to_json(self) -> dict[str, Any]:
        return vars(self) | {"distance": self.distance.to_json()}


def distance(
    metrics: Mapping[Place, Metrics], reference: Mapping[Place, Metrics], allowed: Tolerance = DEFAULT
) -> Distance:
    """Over all networks, each by itself: a mean would hide the one that is off. InputError where the reference has none
    of the metrics anywhere."""
    each = [one for some in distances(metrics, reference, allowed).values() for one in some]
    if not each:
        raise InputError(f"no network has any of {', '.join(allowed)}, by which students are chosen; judge others too")
    return max(each, key=lambda one: one.of_tolerance)


def distances(
    metrics: Mapping[Place, Metrics], reference: Mapping[Place, Metrics], allowed: Tolerance
) -> dict[Place, list[Distance]]:
    """Returns one distance for each metric that the reference has, network by network."""
    return {place: _distances(place[0], metrics[place], theirs, allowed) for place, theirs in reference.items()}


def _distances(scenario: str, metrics: Metrics, reference: Metrics, allowed: Tolerance) -> list[Distance]:
    """Returns the difference of each metric. A metric that cannot be measured of the reference is left out; one that
    cannot then be measured of the other is endlessly far off."""
    apart = {
        name: one.difference(metrics, reference)
        for name, one in allowed.items()
        if not isnan(one.difference(reference, reference))
    }
    times = {name: inf if isnan(value) else allowed[name].times(value, reference) for name, value in apart.items()}
    return [Distance(scenario, name, value, times[name]) for name, value in apart.items()]


def check_measurable(reference: Mapping[Place, Metrics]) -> None:
    """InputError where nothing arrives in the window of any network: every student would be as close as any other."""
    if all(isnan(metrics["latency_mean_us"]) for metrics in reference.values()):
        raise InputError(
            "no packet arrives in distill.comparison_window, so no student can be chosen by it; make it longer"
        )


def choose(rounds: Sequence[Round], noise: Distance) -> int:
    """The round to keep: the one that is closest; of equals the one with the least action error, then the earliest.
    Without noise those within the floor of the closest are its equals."""
    if noise.of_tolerance == 0:
        least = min(each.distance.of_tolerance for each in rounds)
        near = [n for n, each in enumerate(rounds) if each.distance.of_tolerance <= least + FLOOR]
        return min(near, key=lambda n: rounds[n].rmse)
    return min(range(len(rounds)), key=lambda n: (rounds[n].distance.of_tolerance, rounds[n].rmse))


def give_up_at(rounds: Sequence[Round], noise: Distance | None) -> float:
    """Returns the distance, in parts of the tolerance, beyond which ``choose`` will not take another round."""
    if noise is None:
        return inf
    closest = min(each.distance.of_tolerance for each in rounds)
    return closest + FLOOR if noise.of_tolerance == 0 else closest


def pays(rounds: Sequence[Round], noise: Distance, patience: int) -> bool:
    """Whether the last ``patience`` rounds brought a student closer than all before them, beyond the noise."""
    if len(rounds) <= patience:
        return True
    before, late = ([each.distance.of_tolerance for each in part] for part in (rounds[:-patience], rounds[-patience:]))
    return min(late) < min(before) - _floor(noise)


def _floor(noise: Distance) -> float:
    """Returns the difference below which students count as equal. If the teacher cannot be measured against itself,
    that says nothing of students."""
    if noise.of_tolerance == 0:
        return FLOOR
    return noise.of_tolerance if isfinite(noise.of_tolerance) else 0.0
