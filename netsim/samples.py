"""A run over time, small enough to keep: even samples of the network, and the flows that finished in the window."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netsim.network import Network
from netsim.scenarios import Scenario
from netsim.series import Series, joined


@dataclass(frozen=True)
class Sampling:
    """How much is kept: points in time, and flows, evenly spaced; of all the others only the mean. ``to_end``: also
    what comes after the measurement window."""

    points: int = 400
    flows: int = 16
    to_end: bool = True

    def every_ps(self, duration_ps: int) -> int:
        return max(duration_ps // self.points, 1)

    def shown(self, flows: int) -> list[int]:
        """Which of the scenario's flows."""
        return list(map(int, np.unique(np.linspace(0, flows - 1, min(self.flows, flows)).astype(int))))


@dataclass(frozen=True)
class Samples:
    """Arrays over time have a row a sample; ``t_us`` is the end of its interval."""

    t_us: NDArray[np.float32]
    queue_bytes: NDArray[np.float32]
    """[samples]; of the switch port with the longest queue."""
    flow_gbps: NDArray[np.float32]
    """[samples, shown flows]; payload delivered in order."""
    mean_gbps: NDArray[np.float32]
    """[samples]; the same, mean over all flows."""
    dropped: NDArray[np.int32]
    """[samples]; packets."""
    completed_bytes: NDArray[np.int64]
    """[completions in the window]; the size of each flow that finished."""
    completed_slowdown: NDArray[np.float32]
    """[completions in the window]; time to finish / the same in an empty network."""


def samples(parts: Sequence[Series], scenario: Scenario, network: Network, window: dict[str, Any]) -> Samples:
    """Returns the samples of a run recorded in parts, and the counts of its measurement window."""
    series = joined(parts)
    flow = np.asarray(window["completed_flow"], dtype=np.int64)
    took = (window["completed_finish_ps"] - window["completed_start_ps"]).astype(np.float64)
    return Samples(
        t_us=(series.t_ps * 1e-6).astype(np.float32),
        queue_bytes=series.queue_bytes.max(axis=1).astype(np.float32),
        flow_gbps=series.flow_gbps.astype(np.float32),
        mean_gbps=series.mean_gbps.astype(np.float32),
        dropped=series.dropped.astype(np.int32),
        completed_bytes=scenario.size_bytes(network.payload_bytes)[flow],
        completed_slowdown=(took / window["completed_alone_ps"]).astype(np.float32),
    )
