"""Thresholds of priority queues that suit a workload: what [AUTO]'s quantised SJF and LAS are set to (section 6).

A link of capacity 1 whose classes have strict priority, M/G/1 with preemption, first come first served within a class
(Kleinrock 1976, section 4.7: multilevel queues). Let s(b) be the load of all that goes before or with the threshold b,
and R(b) half the arrival rate times the mean square of what a flow sends there. A flow then waits

    R(b) / ((1 - s(a)) (1 - s(b)))

for the class between the thresholds a and b. Under LAS a flow sends what lies between them there, and waits for each
class that it reaches; under SJF it sends and waits in the class of its size. (Were a class's flows served by equal
shares, the mean completion time would be the same for all thresholds: what each class loses the others gain.) The mean
wait is therefore a sum over neighbouring thresholds, and the best of them are a shortest path.
"""

from functools import cache
from typing import Literal

import numpy as np

from decision.artefact.errors import InputError
from decision.ir import exact
from netsim.network import MAX_CLASSES
from netsim.workloads import sizes

By = Literal["sent", "size"]
QUANTILES = 10_000
A_DECADE = 20
LN10 = float(exact.log(10.0))


@cache
def thresholds(workload: str, percent: int, levels: int = 4, by: By = "sent") -> tuple[int, ...]:
    """The best ``levels`` - 1 in whole bytes, ascending, among sizes that are twenty a decade. InputError where there
    is no such number of levels, or no such load."""
    if not 2 <= levels <= MAX_CLASSES:
        raise InputError(f"{levels} levels have no thresholds; 2 to {MAX_CLASSES} are possible")
    if not 1 <= percent <= 99:
        raise InputError(f"{workload}:{percent}%: thresholds are for a load of 1 to 99 %")
    size = sizes(workload).quantile((np.arange(QUANTILES) + 0.5) / QUANTILES).astype(np.float64)
    decades = float(exact.log(size.max() / 1000) / LN10)
    powers = LN10 * np.linspace(0, decades, round(decades * A_DECADE), endpoint=False)
    grid = np.unique(np.rint(1000 * exact.exp(powers)))
    ends = np.concatenate([[0.0], grid, [size.max()]])
    inside = (size <= ends[:, None]) if by == "size" else np.ones((1, 1))
    sent = np.minimum(size, ends[:, None]) * inside  # before each threshold [ends, flows]
    left = 1 - percent / 100 * sent.mean(axis=1) / size.mean()
    begun = np.mean(size > ends[:, None], axis=1)  # flows that go beyond it
    waits = begun[:, None] - (begun if by == "size" else 0.0)
    time = waits * np.mean(sent**2, axis=1) / (left[:, None] * left[None, :])
    time[np.tril_indices(ends.size)] = np.inf
    best, way = time[0], []
    for _ in range(levels - 1):
        total = best[:, None] + time
        way.append(total.argmin(axis=0))
        best = total.min(axis=0)
    at, chosen = ends.size - 1, []
    for back in reversed(way):
        at = int(back[at])
        chosen.append(int(ends[at]))
    return tuple(reversed(chosen))
