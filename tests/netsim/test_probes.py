"""Flows that ask for their RTT when their policy wants it: the network's own schedule is for those that say nothing."""

import numpy as np
import pytest

from decision.policy.policy import Policy
from netsim import Network, Simulation, baselines
from netsim.network import MS

WISH = {"after": "16 KiB", "latest": "150 us", "first": 3}
SAME = Network(probe_after_bytes=16_384, probe_latest_ps=150_000_000, probe_first=3)
SCENARIOS = ["many-to-one:8", "many-to-one:16", "long-short:9@fat-tree:4:25"]


def recorded(spec, scenario, network=None):
    run = Simulation(scenario, spec, seed=3, record=True, network=network, duration_ps=5 * MS)
    run.run(5 * MS)
    return run.drain_records() | {"sent": run.window()["sent_packets"]}


def assert_same(some, others):
    assert set(some) == set(others)
    for name in some:
        np.testing.assert_array_equal(some[name], others[name], name)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_policys_wish_is_what_the_network_would_be_told(steering, scenario):
    wished = recorded(steering(probes=WISH), scenario)
    assert_same(wished, recorded(steering(), scenario, SAME))
    assert len(wished["t_ps"]) != len(recorded(steering(), scenario)["t_ps"])


def test_the_wish_stands_above_the_networks(steering):
    other = Network(probe_after_bytes=65_536, probe_first=9)
    assert_same(recorded(steering(probes=WISH), "many-to-one:8", other), recorded(steering(), "many-to-one:8", SAME))


def test_without_a_latest_there_is_none(steering):
    wished = recorded(steering(probes={"after": "16 KiB"}), "incast:32", Network(probe_latest_ps=1))
    assert_same(wished, recorded(steering(), "incast:32", Network(probe_after_bytes=16_384)))


@pytest.mark.parametrize("scenario", ["many-to-one:4", "many-to-one:4@fat-tree:4:25"])
def test_decisions_from_outside_come_when_those_inside_do(steering, from_outside, scenario):
    teacher = steering(probes=WISH)
    rows = recorded(teacher, scenario)
    outside = from_outside(teacher, rows, scenario, seed=3, duration_ps=5 * MS)
    for name in ("t_ps", "flow", "rate_q30", "action_q16"):
        np.testing.assert_array_equal(outside[name], rows[name], name)


def test_baselines_send_no_probes_whatever_the_network_says():
    runs = [Simulation("many-to-one:8", baselines.by_name("swift"), seed=1, network=n) for n in (None, SAME)]
    for run in runs:
        run.run(1 * MS)
    assert runs[0].metrics() == runs[1].metrics()


def test_agents_that_are_no_flows_ask_for_no_rtt(make_policy):
    document = make_policy().model_dump(mode="json") | {
        "observation": {
            "interface": "queue_marking",
            "window": 1,
            "params": {"capacity_bytes": 1_250_000},
            "features": [{"kind": "level", "signal": "queue_bytes", "unit": 1024}],
        },
        "action": {
            "kind": "choice",
            "rows": [{"kmin_bytes": k, "kmax_bytes": 400_000, "pmax_q16": 655} for k in (5000, 9000)],
        },
        "probes": WISH,
    }
    del document["limits"]
    with pytest.raises(ValueError, match=r"probes .*of flows, .*queue_marking"):
        Policy.model_validate(document)
