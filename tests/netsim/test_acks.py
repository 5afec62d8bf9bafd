"""Flows that are told what was acknowledged: nothing is counted twice or lost, marks are the network's, and a run with
decisions from outside tells the same."""

import numpy as np
import pytest

from decision.policy.policy import Policy
from decision.policy.records import Trajectories
from netsim import Network, Simulation
from netsim.network import MS
from netsim.policies import native

ACKS = ("acked_bytes", "marked_bytes")
NO_MARKS = Network(ecn_min_bytes=10**9, ecn_max_bytes=2 * 10**9)


def with_acks(spec):
    """The same policy, told what was acknowledged."""
    document = spec.policy.model_dump(mode="json", exclude_none=True)
    document["observation"]["acks"] = True
    return native(Policy.model_validate(document), spec.weights)


def recorded(spec, scenario="many-to-one:4", until_ps=12 * MS, **options):
    simulation = Simulation(scenario, spec, seed=3, record=True, **options)
    simulation.run(until_ps)
    return Trajectories.of(simulation.drain_records(), simulation.interfaces[0])


def sums(t, flow):
    rows = t.columns["flow"] == flow
    return {name: np.cumsum(t.columns[name][rows].astype(np.int64)) for name in ("sent_bytes", *ACKS)}


@pytest.mark.parametrize("told", [False, True], ids=["alone", "beside the rate in force"])
def test_what_is_acknowledged_was_sent_an_rtt_before(steering, told):
    spec = with_acks(steering(observation={"device_rate": told}))
    t = recorded(spec)
    assert t.interface.event_names[-2:] == ACKS
    for flow in range(4):
        total = sums(t, flow)
        in_flight = total["sent_bytes"] - total["acked_bytes"]
        assert total["acked_bytes"][-1] > 10**6
        # No loss: what is not acknowledged is on its way or in the queue.
        assert (in_flight >= 0).all()
        assert in_flight[5:].max() < 4 * 10**6
        assert in_flight[-1] < total["sent_bytes"][-1] / 4
        assert (total["marked_bytes"] <= total["acked_bytes"]).all()


def test_marks_are_of_a_network_that_marks(steering):
    spec = with_acks(steering(gain=0.02))
    marked, unmarked = (recorded(spec, network=network) for network in (None, NO_MARKS))
    assert marked.columns["marked_bytes"].sum() > 10**5
    assert unmarked.columns["marked_bytes"].sum() == 0
    share = marked.columns["marked_bytes"].sum() / marked.columns["acked_bytes"].sum()
    assert 0 < share < 1


def test_a_policy_that_is_not_told_has_no_such_columns(steering):
    assert not set(ACKS) & set(recorded(steering()).columns)


def test_losses_are_acknowledged_once(steering):
    """A buffer of a few packets: what is sent again is not acknowledged twice."""
    spec = with_acks(steering(gain=0.005))
    simulation = Simulation("many-to-one:8", spec, seed=3, record=True, network=Network(buffer_bytes=60_000))
    simulation.run(8 * MS)
    t = Trajectories.of(simulation.drain_records(), simulation.interfaces[0])
    assert t.columns["nack_count"].sum() > 0
    arrived = simulation.delivered()[:8].astype(np.int64) * 1024
    acked = np.array([sums(t, flow)["acked_bytes"][-1] for flow in range(8)])
    assert (acked <= arrived).all()
    assert (arrived - acked < arrived / 4).all()
    assert (acked < [sums(t, flow)["sent_bytes"][-1] for flow in range(8)]).all()


def test_flows_of_one_context_are_counted_together(steering):
    spec = with_acks(steering(once_per_rtt=True))
    network = Network(context_flows=4)
    t = recorded(spec, "many-to-one:1x4", network=network)
    assert set(np.unique(t.columns["flow"])) == {0}
    total = sums(t, 0)
    in_flight = total["sent_bytes"] - total["acked_bytes"]
    assert (in_flight >= 0).all()
    assert in_flight[-1] < total["sent_bytes"][-1] / 4


@pytest.mark.parametrize("told", [False, True])
def test_decisions_from_outside_leave_the_same_records(steering, from_outside, told):
    spec = with_acks(steering(observation={"device_rate": told}))
    for scenario in ("many-to-one:4", "long-short:5"):
        simulation = Simulation(scenario, spec, seed=3, record=True)
        simulation.run(12 * MS)
        inside = simulation.drain_records()
        outside = from_outside(spec, inside, scenario, seed=3, duration_ps=12 * MS)
        assert set(inside) == set(outside)
        assert set(ACKS) < set(inside)
        for name in set(inside) - {"output"}:
            np.testing.assert_array_equal(inside[name], outside[name], err_msg=name)
