"""A NIC's time a message: completion by hand at depth 1, spacing at more, and nothing where it is 0."""

import numpy as np
import pytest

from decision.artefact.errors import InputError
from netsim import Network, Scenario, Simulation, baselines
from netsim.network import MS, US
from netsim.scenarios import Flow

PACKET = 1106 * 80
THERE, BACK = 4_000_000, 8_192_000 - (4_000_000 - PACKET + 84 * 80)
COST = 3 * US


def run(packets, until_ps=2 * MS, **network):
    values = {"start_jitter_ps": 0, "message_packets": 4, "burst_packets": 4, **network}
    simulation = Simulation(
        Scenario("one flow", 1, 1, (Flow(0, 0, packets),)),
        baselines.by_name("dcqcn"),
        seed=1,
        network=Network(**values),
    )
    simulation.run(until_ps)
    return simulation


@pytest.mark.parametrize("messages", [1, 2, 5])
def test_one_message_after_another(messages):
    """Depth 1: each costs its time, its packets, the way there and the ACK's way back."""
    simulation = run(4 * messages, inflight_messages=1, message_cost_ps=COST)
    took = COST + 3 * PACKET + THERE + BACK
    assert simulation.window()["completed_finish_ps"].tolist() == [messages * took]


def test_messages_of_a_queue_pair_begin_no_closer_together_than_the_cost():
    """Depth 40: eight messages begin 3 us apart, the first after 3 us."""
    simulation = run(32, inflight_messages=40, message_cost_ps=COST)
    assert simulation.window()["completed_finish_ps"].tolist() == [8 * COST + 3 * PACKET + THERE + BACK]


def test_a_cost_below_a_message_on_the_wire_delays_only_the_first():
    cheap = 4 * PACKET - 1
    free, paid = (run(32, inflight_messages=40, message_cost_ps=cost) for cost in (0, cheap))
    finish = [int(each.window()["completed_finish_ps"][0]) for each in (free, paid)]
    assert finish[1] - finish[0] == cheap


@pytest.mark.parametrize("name", ["dcqcn", "swift"])
def test_a_cost_of_nothing_changes_nothing(name):
    found = []
    for network in (Network(), Network(message_cost_ps=0)):
        simulation = Simulation("many-to-one:64", baselines.by_name(name), seed=1, network=network)
        simulation.run(MS)
        found.append(simulation.delivered())
    np.testing.assert_array_equal(*found)


def test_a_cost_of_hours_is_refused():
    with pytest.raises(InputError):
        Network(message_cost_ps=10**15)
