"""Flows whose policy scales a rate and sets a window by it: decisions, what is counted between them, losses."""

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student, with_window

from decision.artefact.errors import InputError
from decision.ir.forest import Branch, Leaf
from decision.ir.interfaces.flow_rate import LINE_RATE_Q30, WINDOWED, flow_interface
from decision.ir.interpret import evaluate
from decision.policy.records import ACTION
from decision.policy.student import Student
from netsim import Network, Simulation
from netsim.network import MS
from netsim.policies import PolicySpec, interpreted, native
from teachers.load import load

SCALED = flow_interface(WINDOWED[0])
TREE = Branch(0, 5000, Branch(0, 900_000, Leaf((-9000,)), Leaf((400,))), Leaf((2000,)))


def student() -> Student:
    return with_window(
        make_student([FEATURES["rl_cc_congestion"], FEATURES["previous_action"]], ACTIONS[0], (TREE,), window=2)
    )


def teacher() -> PolicySpec:
    loaded = load("fixtures/teachers/robust-window")
    return native(loaded.policy, loaded.weights)


def run(policy: PolicySpec, scenario: str, until: int = 4 * MS, **network: object) -> Simulation:
    net = Network(transport="selective-repeat", **network)
    simulation = Simulation(scenario, policy, seed=3, duration_ps=until, record=True, network=net)
    simulation.run(until)
    return simulation


@pytest.mark.parametrize("policy", [interpreted(student()), teacher()], ids=["program", "network"])
def test_a_flow_decides_once_a_round_trip_and_counts_all_the_while(policy: PolicySpec) -> None:
    simulation = run(policy, "many-to-one:8")
    records = {name: column.astype(np.int64) for name, column in simulation.drain_records().items() if name != "output"}
    assert simulation.late_answers() > 10 * len(records["flow"])
    for flow in range(8):
        mine = records["flow"] == flow
        apart = np.diff(records["now_ns"][mine]) & (2**32 - 1)
        assert (apart >= records["rtt_ns"][mine][1:]).all()
    told, delivered = records["acked_bytes"].sum(), int(simulation.delivered().sum()) * 1024
    assert 0.98 * delivered < told <= delivered


def test_each_decision_is_the_program_s() -> None:
    """From an empty context on, with the parameters that follow from the network."""
    simulation, made = run(interpreted(student()), "many-to-one:4"), student()
    records, places, program = simulation.drain_records(), simulation.places(), made.program()
    params = made.params() | {name: places[name] for name in SCALED.param_names if name in places}
    params |= made.in_flight.params(int(places["base_rtt_ns"][0]), 100 * 10**9)
    assert len(set(places["base_rtt_ns"])) == 1
    mine = [np.flatnonzero(records["flow"] == flow)[:80] for flow in range(4)]
    context = {field.name: np.zeros(4, np.int64) for field in program.state}
    for step in zip(*mine, strict=True):
        event = {name: records[name][list(step)] for name in SCALED.event_names}
        (_, window), context = evaluate(program, event, params, context)
        assert window.tolist() == records["window_bytes"][list(step)].tolist()


def test_the_window_is_the_rate_s() -> None:
    """The rate in force before the next decision is that of this one."""
    simulation = run(teacher(), "many-to-one:8")
    records, made = simulation.drain_records(), load("fixtures/teachers/robust-window").policy
    cap = made.in_flight.params(int(simulation.places()["base_rtt_ns"][0]), 100 * 10**9)
    mine = np.flatnonzero(records["flow"] == 0)
    rates = records["rate_q30"][mine[1:]].astype(object)
    share = [min(int(rate), LINE_RATE_Q30) * cap["in_flight_line_q2"] >> 32 for rate in rates]
    assert records["window_bytes"][mine[:-1]].tolist() == [max(each, cap["in_flight_min_bytes"]) for each in share]


def test_trims_are_decided_on_and_lower_the_rate() -> None:
    """A trimmed packet counts as the longest RTT, whether or not another one is timed since the last decision."""
    simulation = run(teacher(), "many-to-one:16", until=MS, trim_bytes=20_000)
    records = simulation.drain_records()
    untimed, trimmed = records["rtt_ns"] == 0, records["trimmed_bytes"] > 0
    assert (untimed & trimmed).any()
    assert (~untimed & trimmed).any()
    assert trimmed[untimed].all()
    for kind in (untimed & trimmed, ~untimed & trimmed):  # a cut that follows one may be none
        assert (records[ACTION][kind] < 0).mean() > 0.7
        assert records[ACTION][kind].mean() < -0.15 * 2**16
    assert simulation.metrics()["timeouts"] == 0


def test_a_timer_that_expires_is_told_however_late_other_answers_are() -> None:
    """Nothing but a decision ends the one packet in flight."""
    simulation = run(
        teacher(), "many-to-one:1", until=30 * MS, policer_gbps=10, policer_burst_bytes=1110, retransmit_timeout_ps=MS
    )
    records, timeouts = simulation.drain_records(), simulation.metrics()["timeouts"]
    assert timeouts > 0
    assert (records["expired_bytes"] > 0).sum() == timeouts


def test_a_path_longer_than_any_rtt_that_is_told_is_refused() -> None:
    with pytest.raises(InputError, match="base RTT"):
        run(teacher(), "many-to-one:2", until=1, base_rtt_ps=5 * MS)


def test_the_shipped_teacher_keeps_a_short_queue_and_shares_it() -> None:
    simulation = run(teacher(), "many-to-one:8", until=2 * MS)
    simulation.reset_window()
    simulation.run(6 * MS)
    metrics = simulation.metrics()
    assert metrics["goodput"] > 0.92
    assert metrics["queue_mean_us"] < 4
    assert metrics["jain"] > 0.99
    assert metrics["dropped_packets"] == 0
