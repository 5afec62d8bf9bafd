"""Behaviour of a network over time: queues, flows' goodput and drops, sampled at even steps of a running simulation.

series = record(Simulation("many-to-one:8", policy, seed=1), until_ps=10 * MS, every_ps=MS // 20)
series.t_ps, series.queue_bytes.max(axis=1), series.flow_gbps
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from netsim.simulation import Simulation


@dataclass(frozen=True)
class Series:
    """Samples of one simulation. Each row tells of the interval that ends at ``t_ps`` (time since the start)."""

    t_ps: NDArray[np.int64]
    """[samples]"""
    queue_bytes: NDArray[np.int64]
    """[samples, ports]; waiting at each port of each switch at that moment, the receivers' ports first."""
    flow_gbps: NDArray[np.float64]
    """[samples, flows]; payload delivered in order in the interval, of the flows asked for."""
    mean_gbps: NDArray[np.float64]
    """[samples]; the same, mean over all flows."""
    dropped: NDArray[np.int64]
    """[samples]; packets that the switches dropped in the interval."""


def record(simulation: Simulation, until_ps: int, every_ps: int, flows: Sequence[int] | None = None) -> Series:
    """Run on to ``until_ps`` and look at the network every ``every_ps``; the last interval may be shorter.

    ``flows``: whose goodput is kept, by default all. Looking changes nothing: the run is the same as without.
    InputError where the step is not positive or a flow does not exist.
    """
    if every_ps < 1:
        raise InputError(f"a sample every {every_ps} ps is not possible; give at least 1 ps")
    number = len(simulation.scenario.column("host"))
    chosen = np.arange(number) if flows is None else np.asarray(flows, dtype=np.int64)
    if chosen.size and not 0 <= chosen.min() <= chosen.max() < number:
        raise InputError(f"there is no flow {int(chosen.max())} to sample; this scenario has {number}, from 0 on")
    rows: list[tuple[int, NDArray[np.int64], NDArray[np.float64], float, int]] = []
    bits = simulation.network.payload_bytes * 8
    delivered, ports = simulation.delivered(), simulation.ports()
    while (begin := simulation.now_ps) < until_ps:
        simulation.run(min(begin + every_ps, until_ps))
        before, had_dropped = delivered, ports["dropped"].sum()
        delivered, ports = simulation.delivered(), simulation.ports()
        gbps = (delivered - before).astype(np.float64) * (bits * 1e3 / (simulation.now_ps - begin))
        lost = int(ports["dropped"].sum() - had_dropped)
        queue = ports["backlog_bytes"].astype(np.int64)
        rows.append((simulation.now_ps, queue, gbps[chosen], float(gbps.mean()), lost))
    t, queue_rows, flow_rows, mean, drops = zip(*rows, strict=True) if rows else ((), (), (), (), ())
    return Series(
        np.array(t, dtype=np.int64),
        np.array(queue_rows, dtype=np.int64).reshape(len(rows), len(ports["backlog_bytes"])),
        np.array(flow_rows, dtype=np.float64).reshape(len(rows), chosen.size),
        np.array(mean, dtype=np.float64),
        np.array(drops, dtype=np.int64),
    )


def joined(parts: Sequence[Series]) -> Series:
    """Series of one simulation recorded in parts, as one."""
    return Series(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Series)))
