"""A policer in front of a receiver: what passes, to the byte, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.artefact.errors import InputError
from netsim import Network, Simulation, baselines
from netsim.network import MS
from netsim.network_file import from_table

FRAME, DATA = 1086, 1024


def run(gbps, burst, name="dcqcn", scenario="many-to-one:4", until_ps=2 * MS, **network):
    net = Network(policer_gbps=gbps, policer_burst_bytes=burst, **network)
    simulation = Simulation(scenario, baselines.by_name(name), seed=1, network=net)
    simulation.run(until_ps)
    return simulation


@given(
    gbps=st.sampled_from([10, 25, 50]),
    burst=st.integers(1106, 100_000),
    name=st.sampled_from(["dcqcn", "swift", "cubic"]),
    transport=st.sampled_from(["go-back-n", "selective-repeat"]),
)
@settings(max_examples=examples(20), deadline=None)
def test_no_more_passes_than_the_rate_and_the_bucket_allow(gbps, burst, name, transport):
    simulation = run(gbps, burst, name, transport=transport)
    counts = simulation.window()["counts"]
    tokens = burst + simulation.now_ps * gbps // 8000
    assert counts["data_arrived"] * FRAME <= tokens
    assert simulation.conservation()["holds"]
    assert simulation.metrics()["dropped_packets"] > 0


def test_what_is_offered_above_the_rate_passes_at_the_rate():
    """Each flow at line rate for ever (no CNPs, no marks): the policer is never idle."""
    simulation = run(50, 30_000, "timely", "many-to-one:2", ecn_min_bytes=2**30, ecn_max_bytes=2**30)
    counts = simulation.window()["counts"]
    assert counts["data_arrived"] * FRAME >= 0.5 * simulation.now_ps * 50 / 8000


def test_a_policer_of_the_line_rate_changes_nothing():
    policed, free = run(100, 30_000), run(None, 65_536)
    np.testing.assert_array_equal(policed.delivered(), free.delivered())


def test_a_policer_queues_nothing():
    """Every packet takes the path's own time: 4 us, whatever is dropped."""
    simulation = run(10, 5_000, "swift", "many-to-one:1")
    assert simulation.metrics()["dropped_packets"] > 0
    assert simulation.metrics()["latency_p999_us"] == pytest.approx(4.0, rel=0.01)


@pytest.mark.parametrize(
    "table",
    [
        {"policer": "0 Gb/s"},
        {"policer": "33 Gb/s"},
        {"policer": "1.5 Gb/s"},
        {"policer": "50 Gb/s", "policer_burst": "1 KB"},
        {"policer": 50},
    ],
)
def test_a_policer_that_cannot_be_is_refused(table):
    with pytest.raises(InputError) as told:
        from_table(table, "network.toml")
    assert "\n" not in str(told.value)


def test_a_file_names_rate_and_burst():
    network = from_table({"policer": "50 Gb/s", "policer_burst": "32 KiB"}, "network")
    assert (network.policer_gbps, network.policer_burst_bytes) == (50, 32 * 1024)
