"""The switches run behind the senders, and NICs take their turns in no order: nobody who looks can tell.

A look brings everything up to its instant. A run that is looked at every few hundred nanoseconds does no more than that
at once, one that is never looked at as much as it may."""

from typing import Any

import numpy as np
import pytest

from netsim import Network, Simulation
from netsim.baselines import by_name
from netsim.network import US

LOSSLESS = Network(lossless=True, buffer_bytes=32 * 2**20)
CASES = (
    ("many-to-one:40", "hpcc", None, 400 * US, 317_000),
    ("many-to-one:40", "policy", None, 600 * US, 317_000),
    ("many-to-one:4x16", "policy", Network(buffer_bytes=200_000), 600 * US, 317_000),
    ("all-to-all:8", "dcqcn-hpcc", LOSSLESS, 400 * US, 613_000),
    ("websearch:60%@fat-tree:4", "dctcp", LOSSLESS, 600 * US, 613_000),
    ("websearch:10%", "policy", None, 3000 * US, 1_713_000),  # now and then there is nobody
    (
        "long-short:16",
        "swift",
        None,
        14_000 * US,
        5_113_000,
    ),  # .. and a flow comes back, and one that waits for its ACKs
)


def ran(scenario: str, who: str, network: Network | None, until_ps: int, step_ps: int, policy: Any) -> dict[str, Any]:
    sender = policy if who == "policy" else by_name(who)
    simulation = Simulation(scenario, sender, seed=5, duration_ps=until_ps, network=network, record=True)
    for at in range(step_ps, until_ps, step_ps):
        simulation.run(at)
        assert simulation.conservation()["holds"]
    simulation.run(until_ps)
    read = {"window": simulation.window(), "ports": simulation.ports(), "rates": simulation.rates()}
    return read | {"records": simulation.drain_records()}


@pytest.mark.parametrize(("scenario", "who", "network", "until_ps", "step_ps"), CASES)
def test_a_run_that_is_looked_at_all_the_time_is_the_same(
    scenario: str, who: str, network: Network | None, until_ps: int, step_ps: int, steering
) -> None:
    policy = steering()
    alone = ran(scenario, who, network, until_ps, until_ps, policy)
    np.testing.assert_equal(ran(scenario, who, network, until_ps, step_ps, policy), alone)
    assert alone["window"]["counts"]["data_arrived"] > 1000
