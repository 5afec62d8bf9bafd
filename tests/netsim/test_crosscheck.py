"""Beside an independent simulator: the ns-3 port of HPCC's artefact, N to 1 at 100 Gb/s, lossless
(docs/reference/baselines.md).

Its figures are single runs, so the tolerances are wide: utilisation within 1.5 % and queues within 2 packets for HPCC,
whose rates settle; queues within 15 % for DCQCN, which never rests. DCQCN's utilisation is higher here (99 % against
97.2 and 94.6 %) for a reason that is not known, and is held to nothing.
"""

import numpy as np
import pytest

from netsim import Network, simulate
from netsim.baselines import by_name
from netsim.network import MS

# A NIC that caps what is in flight as little as the port's does.
LOSSLESS = Network(lossless=True, buffer_bytes=32 * 2**20, inflight_messages=40)
SEEDS = (1, 2, 3)


def measured(name: str, flows: int) -> tuple[float, float]:
    """Utilisation and mean queue in KB, mean over seeds."""
    runs = [
        simulate(
            f"many-to-one:{flows}",
            by_name(name),
            seed=seed,
            duration_ps=60 * MS,
            window_ps=(20 * MS, 60 * MS),
            network=LOSSLESS,
        ).metrics
        for seed in SEEDS
    ]
    queue_kb = [m["queue_mean_us"] * 12.5 for m in runs]
    return float(np.mean([m["utilisation"] for m in runs])), float(np.mean(queue_kb))


@pytest.mark.parametrize(("flows", "utilisation", "queue_kb"), [(2, 0.950, 0.33), (16, 0.946, 1.66), (64, 0.949, 3.20)])
def test_hpcc(flows: int, utilisation: float, queue_kb: float) -> None:
    found = measured("hpcc-artefact", flows)
    assert found[0] == pytest.approx(utilisation, abs=0.015)
    assert found[1] == pytest.approx(queue_kb, abs=2 * 1.106)


@pytest.mark.parametrize(("flows", "queue_kb"), [(2, 179.0), (16, 338.0)])
def test_dcqcn(flows: int, queue_kb: float) -> None:
    assert measured("dcqcn-hpcc", flows)[1] == pytest.approx(queue_kb, rel=0.15)
