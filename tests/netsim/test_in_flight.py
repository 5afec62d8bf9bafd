"""Flows that may have in flight only what their rate stands for: the cap of each decision, and what it does."""

import numpy as np
import pytest

from decision.artefact.errors import InputError
from decision.ir.interfaces.flow_rate import LINE_RATE_Q30, flow_interface
from decision.policy.in_flight import InFlight, in_flight_program
from decision.policy.records import Trajectories
from netsim import Network, Simulation, assembly, policies, simulate
from netsim.network import MS, US
from netsim.simulation import at_random

START = {"slow_start": {"until": 4}, "brake": {"above": 8, "to": "0.5 %"}}
LIMITS = {"rate_min": "1 ppm", "rate_max": "90 %", "rate_initial": "10 %"}
CAP = {"bdp": 1.2, "least": "4090 B"}


def recorded(spec, scenario, network=None, duration_ps=5 * MS):
    simulation = Simulation(scenario, spec, seed=3, record=True, network=network)
    simulation.run(duration_ps)
    return Trajectories.of(simulation.drain_records(), simulation.interfaces[0])


def caps(rate_q30, line_q2, least):
    """As the interface says it, in Python's integers."""
    each = zip(rate_q30.tolist(), np.broadcast_to(line_q2, rate_q30.shape).tolist(), strict=True)
    return [max(least, rate * line >> 32) for rate, line in each]


@pytest.mark.parametrize("start", [None, START])
@pytest.mark.parametrize("scenario", ["incast:32", "long-short:9@fat-tree:4:25"])
def test_the_cap_is_that_of_the_rate(steering, scenario, start):
    teacher = steering(limits=LIMITS, in_flight=CAP, **({} if start is None else {"start": start}))
    t = recorded(teacher, scenario)
    assert t.interface == flow_interface(("in_flight",) if start is None else ("start", "in_flight"))
    line_q2 = np.int64(teacher.policy.params()["in_flight_line_q2"])
    if "@" in scenario:
        scene = at_random(scenario, 3, 8 * MS, Network())
        where = assembly.paths(scene, *assembly.place(scene, Network()))
        line_q2 = where.params(teacher.interface, teacher.policy.in_flight)["in_flight_line_q2"].astype(np.int64)[
            t.columns["flow"]
        ]
        line_q2 = line_q2[:-1]
    same = t.position[1:] > 0
    rate = t.columns["rate_q30"][1:].astype(np.int64)
    cap = np.array(caps(rate, line_q2, 4090))
    np.testing.assert_array_equal(t.columns["in_flight_bytes"][:-1][same], cap[same])
    assert {4090} < set(cap.tolist())


def test_at_line_rate_it_is_the_factor_times_the_bdp():
    params = InFlight(bdp=1.2).params(8192, 10**11)
    assert caps(np.array([LINE_RATE_Q30]), params["in_flight_line_q2"], 1) == [122_880]
    assert InFlight(bdp=64).params(4_000_000, 10**14)["in_flight_line_q2"] == 2**32 - 4


def outstanding(spec, scenario, network, until_ps):
    run = Simulation(scenario, spec, seed=1, network=network)
    run.run(until_ps)
    return run.conservation()["sent"]


def test_a_new_flow_has_its_first_rates_cap_before_any_decision(steering):
    """Packets that 2 flows have sent when the first ACK cannot have come yet."""
    network = Network(start_jitter_ps=0)
    free = steering(limits={"rate_initial": "100 %"})
    capped = steering(limits={"rate_initial": "100 %"}, in_flight={"bdp": 0.4})
    assert outstanding(free, "many-to-one:2", network, 8 * US) > 180
    assert outstanding(capped, "many-to-one:2", network, 8 * US) == 2 * 40


def test_no_cap_is_below_a_message(steering):
    """It would wait for an ACK that nothing has asked for."""
    teacher = steering(limits={"rate_initial": "1 %", "rate_max": "1 %"}, in_flight={"bdp": 0.1, "least": "1 B"})
    metrics = simulate("many-to-one:2", teacher, seed=1, duration_ps=5 * MS, window_ps=(0, 5 * MS)).metrics
    assert metrics["goodput"] > 0.015


def test_a_crowd_with_a_cap_loses_less(steering):
    """What it is for: 64 flows at line rate, before the first decisions can have helped."""
    first = {"duration_ps": 2 * MS, "window_ps": (0, 2 * MS), "network": Network(buffer_bytes=2 * 2**20)}
    free = simulate("many-to-one:64", steering(), seed=1, **first).metrics
    capped = simulate("many-to-one:64", steering(in_flight=CAP), seed=1, **first).metrics
    assert capped["loss"] < free["loss"]


@pytest.mark.parametrize("scenario", ["many-to-one:4", "many-to-one:4@fat-tree:4:25"])
def test_decisions_from_outside_are_capped_alike(steering, from_outside, scenario):
    teacher = steering(limits=LIMITS, in_flight=CAP)
    inside = Simulation(scenario, teacher, seed=1, record=True)
    inside.run(1 * MS)
    rows = inside.drain_records()
    outside = from_outside(teacher, rows, scenario, seed=1, duration_ps=1 * MS)
    for name in ("t_ps", "flow", "rate_q30", "in_flight_bytes", "action_q16"):
        np.testing.assert_array_equal(outside[name], rows[name], name)


def test_other_networks_need_what_their_parameters_follow_from(steering):
    policy = steering(in_flight=CAP).policy
    spec = policies.program(in_flight_program(policy.observation.agents), policies.Installed(policy.params()))
    with pytest.raises(InputError, match="policy's in_flight"):
        Simulation("many-to-one:4@fat-tree:4:25", spec, seed=1)


FIRST = {"bdp": 1.2, "first": 0.5}


def sent_before_deciding(spec):
    """Packets of the one flow shortly before the end of its first round trip."""
    run = Simulation("many-to-one:1", spec, seed=1, network=Network(start_jitter_ps=0), record=True)
    run.run(8 * US)
    assert run.drain_records()["t_ps"].size == 0
    return int(run.window()["sent_packets"][0])


def test_a_new_flow_has_its_first_window_in_flight_and_its_decisions_know_nothing_of_it(steering):
    started = {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"}
    assert sent_before_deciding(steering(limits=started, in_flight=FIRST)) == 51_200 // 1024
    assert sent_before_deciding(steering(limits=started, in_flight=CAP)) > 51_200 // 1024
    narrow = steering(limits=started, in_flight=FIRST | {"first": 0.0625})
    assert sent_before_deciding(narrow) == 16, "the least, below which a message waits for its acknowledgement"
    slow = steering(limits=started | {"rate_initial": "10 %"}, in_flight=FIRST)
    wide = steering(limits=started | {"rate_initial": "10 %"}, in_flight=FIRST | {"first": 64})
    assert sent_before_deciding(slow) == sent_before_deciding(wide), "a first window only takes away"
    assert steering(in_flight=FIRST).policy.params() == steering(in_flight={"bdp": 1.2}).policy.params()


def test_a_first_window_is_over_with_the_first_decision(steering):
    narrow = steering(limits=LIMITS | {"rate_initial": "90 %"}, in_flight=FIRST | {"first": 0.0625})
    run = Simulation("many-to-one:1", narrow, seed=1, network=Network(start_jitter_ps=0))
    run.run(60 * US)
    assert run.window()["sent_packets"][0] > 300, "seven round trips of 16 packets are 130"


def test_flows_from_outside_have_the_first_window_too(steering, from_outside):
    teacher = steering(limits=LIMITS | {"rate_initial": "90 %"}, in_flight=FIRST | {"first": 0.25})
    run = Simulation("many-to-one:4", teacher, seed=3, record=True, duration_ps=2 * MS)
    run.run(2 * MS)
    rows = run.drain_records()
    outside = from_outside(teacher, rows, "many-to-one:4", seed=3, duration_ps=2 * MS)
    for name in ("t_ps", "flow", "rate_q30", "in_flight_bytes"):
        np.testing.assert_array_equal(outside[name], rows[name], name)
