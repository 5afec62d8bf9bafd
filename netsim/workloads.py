"""Open-loop traffic: flows arrive whatever the network does to those before them, with sizes as in data centres.

Points and their sources: netsim/workload_data. Arrivals are Poisson; source and destination are drawn uniformly and
differ. The load is the payload offered over the capacity of the hosts' links, as the generator of HPCC's evaluation and
ACC have it: at 1024 bytes of payload and 82 around them, 100 % cannot be carried (92.6 % can).
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.artefact.suggest import choices
from decision.ir import exact
from netsim.splitmix import uniform

DATA = Path(__file__).parent / "workload_data"
NAMES = {
    "websearch": "websearch",
    "datamining": "datamining-vl2",
    "datamining-vl2": "datamining-vl2",
    "datamining-abm": "datamining-abm",
    "hadoop": "hadoop",
    "storage": "storage",
    "messages": "messages",
}
"""By the name in a scenario. Two published versions of the data-mining workload disagree; VL2's is the default."""

ARRIVALS, SIZES, SOURCES, DESTINATIONS = range(1, 5)  # streams of the seed ..
STREAMS = 4  # .. and how many a phase has
PLANES = 1 << 20  # of the planes' streams, the first
CHUNK = 1 << 16


@dataclass(frozen=True)
class FlowSizes:
    """A distribution of flow sizes by points of its cumulative distribution, linear between them."""

    size_bytes: NDArray[np.float64]
    probability: NDArray[np.float64]

    @property
    def mean_bytes(self) -> float:
        middle = (self.size_bytes[1:] + self.size_bytes[:-1]) / 2
        return float(np.sum(middle * np.diff(self.probability)) + self.size_bytes[0] * self.probability[0])

    def quantile(self, u: NDArray[np.float64]) -> NDArray[np.int64]:
        """Whole bytes, at least 1, at each of the fractions."""
        return np.maximum(np.rint(exact.interpolated(u, self.probability, self.size_bytes)).astype(np.int64), 1)


@dataclass(frozen=True)
class Arrivals:
    """Flows in the order of their starts [flows]."""

    start_ps: NDArray[np.int64]
    host: NDArray[np.int64]
    receiver: NDArray[np.int64]
    size_bytes: NDArray[np.int64]


@cache
def sizes(name: str) -> FlowSizes:
    """Returns the distribution of a workload by one of NAMES."""
    if name not in NAMES:
        raise InputError(f"unknown workload {name!r}; write {choices(name, sorted(NAMES))}")
    points = np.loadtxt(DATA / f"{NAMES[name]}.txt", comments="#")
    return FlowSizes(points[:, 0], points[:, 1] / 100)


def gap_ps(name: str, load_percent: int, links: int, host_gbps: int) -> float:
    """Mean time between arrivals that load so many hosts' links, of all of them together."""
    return sizes(name).mean_bytes * 8000 / (load_percent / 100 * host_gbps * links)


def poisson(
    name: str,
    load_percent: int,
    *,
    hosts: int,
    host_gbps: int,
    seed: int,
    duration_ps: int,
    most: int,
    senders: int | None = None,
    phase: int = 0,
    sources: range | None = None,
    planes: int = 1,
) -> Arrivals:
    """Flows among ``hosts`` machines that start before ``duration_ps``; refused where ``most`` of them may not do.

    The flows of a shorter run are the first ones of a longer run of the same seed. ``senders``: so many machines send
    to machine 0 of the receivers alone, whose link is loaded. ``phase``: another draws other flows of the same seed.
    ``sources``: of the machines those that send, whose links are loaded. ``planes``: NICs of a machine; each flow takes
    one, drawn uniformly, and hosts and receivers are numbered by NIC.
    """
    what = f"{name}:{load_percent}%"
    if senders is None and hosts < 2:
        raise InputError(f"{what}: a single host has nobody to send to; take a fabric of more hosts")
    sending = range(hosts) if sources is None else sources
    gap = gap_ps(name, load_percent, len(sending) * planes if senders is None else 1, host_gbps)
    if duration_ps > gap * (most - 4 * most**0.5):  # four standard deviations from too many
        raise InputError(
            f"{what}: some {duration_ps / gap:,.0f} flows in {duration_ps / 1e9:g} ms; "
            f"{most:,} are possible: lower the load, the hosts or the duration"
        )
    stream = STREAMS * phase
    start = _starts(gap, duration_ps, seed, stream + ARRIVALS)
    if not start.size:
        raise InputError(f"{what}: no flow arrives within {duration_ps / 1e9:g} ms; run it for longer")
    flows = start.size
    host = sending.start + (uniform(flows, seed, stream + SOURCES) * (senders or len(sending))).astype(np.int64)
    size = sizes(name).quantile(uniform(flows, seed, stream + SIZES))
    if senders is not None:
        return Arrivals(start, host, np.zeros(flows, np.int64), size)
    further = 1 + (uniform(flows, seed, stream + DESTINATIONS) * (hosts - 1)).astype(np.int64)
    plane = (uniform(flows, seed, PLANES + phase) * planes).astype(np.int64) if planes > 1 else 0
    return Arrivals(start, host * planes + plane, (host + further) % hosts * planes + plane, size)


def _starts(gap_ps: float, duration_ps: int, seed: int, stream: int) -> NDArray[np.int64]:
    """Exponential gaps, each a whole number of ps, so that a sum of them is exact."""
    parts: list[NDArray[np.int64]] = []
    last = 0
    while last < duration_ps:
        gaps = -gap_ps * exact.log1p(-uniform(CHUNK, seed, stream, first=CHUNK * len(parts)))
        parts.append(last + np.cumsum(np.rint(gaps).astype(np.int64)))
        last = int(parts[-1][-1])
    starts = np.concatenate(parts)
    return starts[: np.searchsorted(starts, duration_ps)]
