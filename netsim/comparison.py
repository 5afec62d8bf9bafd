"""How far one policy's network is from another's, in what counts: goodput, latency, fairness and loss.

Both ran the same scenario with the same seed: who talks to whom, and where every flow begins, is drawn from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan


@dataclass(frozen=True)
class Difference:
    """Of one window's metrics (netsim.metrics) from a reference's; NaN where one of the two could not be measured."""

    goodput: float
    """Fraction of the line rate."""
    latency: float
    """Of the mean packet latency, relative to the reference's."""
    fairness: float
    """Of Jain's index."""
    loss: float
    """Fraction of the packets sent."""


def difference(metrics: Mapping[str, float], reference: Mapping[str, float]) -> Difference:
    """Positive: more than the reference has."""
    more = {name: metrics[name] - reference[name] for name in ("goodput", "latency_mean_us", "jain", "loss")}
    base = reference["latency_mean_us"]
    return Difference(
        goodput=more["goodput"],
        latency=more["latency_mean_us"] / base if base > 0 else nan,
        fairness=more["jain"],
        loss=more["loss"],
    )
