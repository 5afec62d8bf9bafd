"""The agent of a fabric: it is told the sums and the longest of what the agents of its queues are told, to the byte,
and sets the marking of all ports of a layer as these would one by one."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.forest import Branch, Forest, Leaf
from decision.ir.interfaces import FABRIC_MARKING, QUEUE_MARKING
from decision.ir.interpret import trace
from decision.policy.policy import Policy
from decision.policy.records import Trajectories
from decision.policy.tree_decision import build, feature_names
from decision.policy.weights import shapes
from netsim import Cohort, Engines, Network, Simulation, policies
from netsim.assembly import told_in
from netsim.baselines import by_name
from netsim.deployment import Deployment
from netsim.network import MS, US
from netsim.places import Here, Threads
from netsim.processes import Processes
from netsim.scenarios import Flow, Scenario
from netsim.topology import RECEIVER, Port, Topology, leaf_spine
from netsim.topology import by_name as fabric_of
from netsim.trials import run as run_trials

PERIOD = 50 * US
DCQCN = by_name("dcqcn")
assert DCQCN.ecn is not None
DCQCN = DCQCN.model_copy(update={"ecn": DCQCN.ecn.model_copy(update={"marking": "enqueue"})})
FABRIC = "leaf-spine:3x4x2:25/25"  # twice as much down as up
UP = {"kmin_bytes": 10_000, "kmax_bytes": 40_000, "pmax_q16": 1 << 14}
DOWN = {"kmin_bytes": 20_000, "kmax_bytes": 90_000, "pmax_q16": 1 << 13}
KNOBS = {f"{prefix}{name}": knob for prefix, its in (("up_", UP), ("down_", DOWN)) for name, knob in its.items()}


def busy(fabric: Topology, seed: int = 1) -> Scenario:
    """Everybody sends to three others, drawn anew."""
    rng = np.random.default_rng(seed)
    flows = [
        Flow(host, int((host + away) % fabric.receivers))
        for host in range(fabric.hosts)
        for away in rng.integers(1, max(fabric.receivers, 2), 3)
    ]
    return Scenario("busy", fabric.hosts, fabric.receivers, tuple(flows), topology=fabric)


def levels(fabric: Topology) -> list[int]:
    """Of each switch, by the names of its kind."""
    return [("leaf", "edge", "spine", "aggregation", "core").index(n.rstrip("0123456789")) // 2 for n in fabric.names]


def goes_up(fabric: Topology) -> NDArray[np.bool_]:
    """Of each port."""
    level = levels(fabric)
    return np.array([port.to != RECEIVER and level[port.to] > level[port.switch] for port in fabric.ports])


def by_look(records: dict[str, NDArray[Any]], name: str, agents: int) -> NDArray[np.int64]:
    """A column of agents that are all asked at each look [looks, agents]."""
    return records[name].astype(np.int64).reshape(-1, agents)


@settings(max_examples=12, deadline=None)
@given(
    st.sampled_from([FABRIC, "leaf-spine:2x3x1:50/100", "leaf-spine:4x2x3:2x25/50", "fat-tree:4:25"]),
    st.sampled_from([{}, {"scheduled_ports": True}, {"class_weights": (1, 3)}, {"lossless": True}]),
    st.integers(1, 1000),
)
def test_it_is_told_what_all_queues_of_a_layer_are_told_together(name: str, net: dict[str, Any], seed: int) -> None:
    fabric, network = fabric_of(name), Network(link_gbps=100, buffer_bytes=32 << 20, **net)
    classes = len(network.class_weights)
    scenario = busy(fabric, seed)
    if classes > 1:
        flows = tuple(replace(flow, klass=number % classes) for number, flow in enumerate(scenario.flows))
        scenario = replace(scenario, flows=flows)
    queues = Cohort(policies.fixed(QUEUE_MARKING, UP), PERIOD)
    whole = Cohort(policies.fixed(FABRIC_MARKING, KNOBS), PERIOD)
    simulation = Simulation(scenario, DCQCN, seed=seed, record=True, network=network, cohorts=[queues, whole])
    simulation.run(2 * MS)
    each, all_ = simulation.drain_records(1), simulation.drain_records(2)
    agents = len(fabric.ports) * classes
    assert all_["network"].max() == classes - 1
    up = np.repeat(goes_up(fabric), classes)
    assert up.any()
    for layer, its in (("up_", up), ("down_", ~up)):
        for klass in range(classes):
            of_class = its & (np.arange(agents) % classes == klass)
            queue = by_look(each, "queue_bytes", agents)[:, of_class]
            told = {n: by_look(all_, f"{layer}{n}_bytes", classes)[:, klass] for n in ("queue", "longest")}
            np.testing.assert_array_equal(told["queue"], queue.sum(axis=1))
            np.testing.assert_array_equal(told["longest"], queue.max(axis=1))
            for counted in ("sent_bytes", "marked_bytes"):
                expected = by_look(each, counted, agents)[:, of_class].sum(axis=1)
                np.testing.assert_array_equal(by_look(all_, f"{layer}{counted}", classes)[:, klass], expected)
    assert all_["up_sent_bytes"].max() > 0
    assert all_["down_marked_bytes"].max() > 0


@pytest.mark.parametrize("scheduled", [False, True])
def test_what_it_sets_is_the_static_marking_of_each_port_bit_for_bit(scheduled: bool) -> None:
    """The thresholds that the ports have from the start, set again every period; others are not the same."""
    scenario, network = busy(fabric_of(FABRIC)), Network(scheduled_ports=scheduled)
    assert scenario.topology is not None
    up = goes_up(scenario.topology)

    def read(*cohorts: Cohort) -> dict[str, Any]:
        simulation = Simulation(scenario, DCQCN, seed=2, network=network, cohorts=cohorts)
        for port, leads_up in enumerate(up):
            its = UP if leads_up else DOWN
            simulation.set_red(port, its["kmin_bytes"], its["kmax_bytes"], its["pmax_q16"] / 65536)
        simulation.run(3 * MS)
        return {"window": simulation.window(), "ports": simulation.ports(), "rates": simulation.rates()}

    static, again = read(), read(Cohort(policies.fixed(FABRIC_MARKING, KNOBS), PERIOD))
    np.testing.assert_equal(again, static)
    assert static["ports"]["marked"][up].sum() > 0
    assert static["ports"]["marked"][~up].sum() > 0
    for layer in ("up_", "down_"):
        other = KNOBS | {f"{layer}kmin_bytes": 0, f"{layer}kmax_bytes": 1000}
        changed = read(Cohort(policies.fixed(FABRIC_MARKING, other), PERIOD))
        assert not np.array_equal(changed["ports"]["marked"], static["ports"]["marked"])


def test_a_decision_holds_when_the_latency_of_a_controller_is_over() -> None:
    """Ports that mark nothing are told to mark all that meets a queue, 700 us late."""
    scenario = busy(fabric_of(FABRIC))
    for latency_ps in (0, 700 * US):
        marks_all = dict.fromkeys(KNOBS, 0) | {"up_pmax_q16": 65_536, "down_pmax_q16": 65_536}
        cohort = Cohort(policies.fixed(FABRIC_MARKING, marks_all), PERIOD, latency_ps)
        simulation = Simulation(scenario, DCQCN, seed=1, record=True, cohorts=[cohort])
        for port in range(simulation.ports()["marked"].size):
            simulation.set_red(port, 2**30, 2**30, 0)
        simulation.run(PERIOD + latency_ps)
        assert simulation.ports()["marked"].sum() == 0
        simulation.run(PERIOD + latency_ps + 100 * US)
        assert simulation.ports()["marked"].sum() > 0
        assert simulation.decisions(1) == (PERIOD + latency_ps + 100 * US) // PERIOD - 1


def test_a_newer_event_that_takes_an_older_ones_place_counts_for_both() -> None:
    """A controller that is busy for four periods is told all that was sent since its last decision."""
    runs = {}
    for engines in (None, Engines(1, "coalesce")):
        cohort = Cohort(policies.fixed(FABRIC_MARKING, KNOBS), PERIOD, 4 * PERIOD - 1, engines)
        simulation = Simulation(busy(fabric_of(FABRIC)), DCQCN, seed=1, record=True, cohorts=[cohort])
        for port in range(simulation.ports()["marked"].size):
            simulation.set_red(port, 2**30, 2**30, 0)
        simulation.run(3 * PERIOD)  # nothing has been set
        runs[engines is None] = simulation
        simulation.run(20 * PERIOD)
    each, merged = (runs[every].drain_records(1) for every in (True, False))
    assert merged["t_ps"].size < each["t_ps"].size / 3
    assert merged["up_sent_bytes"][0] == each["up_sent_bytes"][0]
    for layer in ("up_", "down_"):
        mean = each[f"{layer}sent_bytes"].mean()
        assert merged[f"{layer}sent_bytes"][2:].mean() == pytest.approx(4 * mean, rel=0.2)


# --- what it is told of a network, and where it cannot live -----------------------------------------------------------


def test_it_is_told_what_each_layer_can_send() -> None:
    fabric = leaf_spine(2, 3, 2, links=2, host_gbps=25, spine_gbps=100)
    named = Deployment(Network(), FABRIC_MARKING, DCQCN, (), PERIOD).places(f"incast:4@{fabric.name}", 1, MS)
    up, spine_down, to_hosts = 2 * 2 * 2, 2 * 2 * 2, 6
    a_period = PERIOD // 80
    assert named["up_capacity_bytes"].tolist() == [up * a_period]
    assert named["down_capacity_bytes"].tolist() == [spine_down * a_period + to_hosts * (PERIOD // 320)]


def test_a_switch_with_senders_alone_is_a_leaf() -> None:
    """Ports from both leaves to the spine lead up, those back down; of 100 us."""
    senders, spine, receivers = 0, 1, 2
    both_ways = Topology(
        name="apart",
        hosts=2,
        receivers=1,
        switches=3,
        host_gbps=100,
        uplink_switch=(senders, senders),
        uplink_delay_ps=US,
        ports=(
            Port(receivers, 25, US),
            Port(senders, 100, US, spine),
            Port(spine, 50, US, receivers),
            Port(receivers, 10, US, spine),
            Port(spine, 40, US, senders),
        ),
    )
    there = Scenario("apart", 2, 1, (Flow(0, 0), Flow(1, 0)), topology=both_ways)
    named = dict(told_in(there, Network(), FABRIC_MARKING, 100 * US, 1).known())
    assert named["up_capacity_bytes"].tolist() == [1_250_000 + 125_000]
    assert named["down_capacity_bytes"].tolist() == [312_500 + 625_000 + 500_000]


def test_a_network_without_layers_is_refused_in_a_sentence() -> None:
    cohort = Cohort(policies.fixed(FABRIC_MARKING, KNOBS), PERIOD)
    for scenario in ("many-to-one:4", "incast:4@star:8", "websearch:50%@planes:2x4:25"):
        with pytest.raises(InputError, match="agents of fabric_marking cannot live in this network: no port leads up"):
            Simulation(scenario, DCQCN, seed=1, cohorts=[cohort])
    joined = Topology(
        name="two",
        hosts=2,
        receivers=2,
        switches=2,
        host_gbps=100,
        uplink_switch=(0, 1),
        uplink_delay_ps=US,
        ports=(Port(0, 100, US), Port(1, 100, US), Port(0, 100, US, 1), Port(1, 100, US, 0)),
    )
    across = Scenario("across", 2, 2, (Flow(0, 1),), topology=joined)
    with pytest.raises(InputError, match="leads neither up nor down"):
        Simulation(across, DCQCN, seed=1, cohorts=[cohort])


# --- a teacher and a student there ------------------------------------------------------------------------------------

FEATURES: list[dict[str, Any]] = [
    feature
    for layer in ("up_", "down_")
    for feature in (
        {"kind": "bucket", "signal": f"{layer}longest_bytes", "first": 5_000, "count": 12},
        {"kind": "ratio", "of": f"{layer}queue_bytes", "over": f"{layer}capacity_bytes"},
        {"kind": "ratio", "of": f"{layer}sent_bytes", "over": f"{layer}capacity_bytes"},
        {"kind": "ratio", "of": f"{layer}marked_bytes", "over": f"{layer}sent_bytes"},
        {"kind": "previous_knob", "knob": f"{layer}kmin_bytes", "unit": 1000},
    )
]
GROUPS = {
    "kind": "choice",
    "groups": [
        [
            {f"{layer}kmin_bytes": kmin, f"{layer}kmax_bytes": 4 * kmin, f"{layer}pmax_q16": pmax}
            for kmin, pmax in ((5_000, 655), (20_000, 13_107), (80_000, 65_536))
        ]
        for layer in ("up_", "down_")
    ],
}
CAPACITY = {"up_capacity_bytes": 6 * PERIOD // 320, "down_capacity_bytes": 18 * PERIOD // 320}
POLICY = Policy.model_validate(
    {
        "format": 1,
        "name": "fabric",
        "architecture": {"kind": "mlp", "hidden": [8], "bias": True},
        "observation": {"interface": "fabric_marking", "window": 2, "params": CAPACITY, "features": FEATURES},
        "action": GROUPS,
    }
)


def teacher(seed: int) -> policies.NativePolicy:
    rng = np.random.default_rng(seed)
    drawn = {name: (rng.normal(size=shape) * 2).astype(np.float32) for name, shape in shapes(POLICY).items()}
    return policies.native(POLICY, drawn)


def forest(seed: int) -> Forest:
    """Trees that ask about every feature, over what a run shows of them."""
    rng = np.random.default_rng(seed)
    names = feature_names(POLICY.observation)

    def grown(depth: int) -> Any:
        if depth == 0:
            return Leaf(tuple(int(v) for v in rng.integers(0, 600, POLICY.action.sums)))
        return Branch(int(rng.integers(len(names))), int(2 ** rng.uniform(0, 8)), grown(depth - 1), grown(depth - 1))

    return Forest(names, tuple(grown(3) for _ in range(6)), (0,) * POLICY.action.sums, POLICY.action.leaf_bits)


def decided(decider: Any) -> dict[str, NDArray[Any]]:
    cohort = Cohort(decider, PERIOD, 10 * US)
    simulation = Simulation(busy(fabric_of(FABRIC)), DCQCN, seed=3, record=True, cohorts=[cohort])
    simulation.run(10 * MS)
    return simulation.drain_records(1)


def test_a_teacher_decides_what_numpy_makes_of_its_records() -> None:
    native = teacher(6)
    records = decided(native)
    rows, known = Trajectories.of(records, FABRIC_MARKING).float_rows(POLICY.observation)
    assert known.all()
    w, x = native.weights, rows.astype(np.float32)
    outputs = np.maximum(x @ w["fc0.weight"].T + w["fc0.bias"], 0) @ w["out.weight"].T + w["out.bias"]
    knobs = POLICY.action.decided(outputs.astype(np.float64))
    recorded = np.stack([records[name] for name in FABRIC_MARKING.knob_names], axis=1)
    assert np.unique(recorded, axis=0).shape[0] > 1
    gaps = [np.diff(np.sort(part, axis=1)[:, -2:], axis=1)[:, 0] for part in np.split(outputs, 2, axis=1)]
    clear = np.minimum(*gaps) > 1e-4
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(recorded[clear], knobs[clear])


def test_a_student_decides_by_the_rows_of_its_records() -> None:
    its = forest(7)
    program = build(POLICY.observation, POLICY.action, its)
    assert program.interface is FABRIC_MARKING
    records = decided(policies.program(program, policies.Installed(POLICY.params())))
    rows, known = Trajectories.of(records, FABRIC_MARKING).integer_rows(POLICY.observation, POLICY.params())
    assert known.all()
    recorded = np.stack([records[name] for name in FABRIC_MARKING.knob_names], axis=1)
    assert np.unique(recorded, axis=0).shape[0] > 1
    np.testing.assert_array_equal(recorded, POLICY.action.decided(its.evaluate(rows).astype(np.float64)))


SIGNAL = st.one_of(st.integers(0, 2**32 - 1), st.integers(0, 30).flatmap(lambda n: st.integers(0, 2**n)))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(*[SIGNAL] * 8), min_size=1, max_size=6),
    st.tuples(st.integers(1, 2**32 - 1), st.integers(1, 2**32 - 1)),
    st.integers(0, 99),
)
def test_the_interpreter_in_cxx_is_the_one_in_numpy(
    events: list[tuple[int, ...]], capacities: tuple[int, int], seed: int
) -> None:
    program = build(POLICY.observation, POLICY.action, forest(seed))
    params = dict(zip(FABRIC_MARKING.param_names, capacities, strict=True))
    core = policies.program(program, policies.Installed(params)).build(1)
    context = {field.name: 0 for field in program.state}
    for event in events:
        values = trace(program, dict(zip(FABRIC_MARKING.event_names, event, strict=True)), params, context)
        assert core.trace(list(event), list(context.values())) == [int(v[0]) for v in values]
        context = {field.name: int(values[field.node][0]) for field in program.state}


def test_runs_are_the_same_wherever_they_run() -> None:
    deployment = Deployment(Network(), FABRIC_MARKING, DCQCN, (), PERIOD)
    trials = [
        deployment.trial(
            teacher(6), f"websearch:60%@{FABRIC}", seed=s, duration_ps=5 * MS, record_ps=5 * MS, decision_latency_ps=US
        )
        for s in (1, 2)
    ]
    here, threads, processes = ([*run_trials(trials, place)] for place in (Here(), Threads(2), Processes(2)))
    assert here[0].records[1]["t_ps"].size == 99
    for other in (threads, processes):
        for one, same in zip(here, other, strict=True):
            np.testing.assert_equal(same.metrics, one.metrics)
            np.testing.assert_equal(same.records, one.records)
