"""Teachers that start, brake and recover in closed loop: their records against the start's own program."""

import numpy as np
import pytest

from decision.artefact.errors import InputError
from decision.ir.interfaces.flow_rate import LINE_RATE_Q30, Phase, flow_interface
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.ir.interpret import trace
from decision.policy.records import Trajectories
from decision.policy.start import start_program
from netsim import Cohort, Network, Simulation, Wire, assembly, policies, simulate
from netsim.network import MS
from netsim.policies import fixed
from netsim.simulation import at_random

FLOW_START = flow_interface(("start",))

START = {"slow_start": {"until": 4}, "brake": {"above": 8, "to": "0.5 %"}}
LIMITS = {"rate_min": "1 ppm", "rate_max": "90 %", "rate_initial": "10 %"}


def recorded(teacher, scenario, network=None):
    simulation = Simulation(scenario, teacher, seed=3, record=True, network=network)
    simulation.run(20 * MS)
    return Trajectories.of(simulation.drain_records(), simulation.interfaces[0])


@pytest.mark.parametrize(
    "rule", [{}, {"clear_path": {"below": 1.2}}, {"loss": {"cut": 0.125}}], ids=["start", "clear path", "loss"]
)
@pytest.mark.parametrize(
    ("scenario", "network"),
    [("incast:32", None), ("many-to-one:40", Network(buffer_bytes=150_000)), ("many-to-one:40@fat-tree:4:25", None)],
)
def test_every_step_is_the_phases_or_the_policys(steering, scenario, network, rule):
    teacher = steering(start=START | rule, limits=LIMITS)
    policy = teacher.policy
    t = recorded(teacher, scenario, network)
    program, nodes = start_program(policy.start, policy.observation.place)
    event = {name: t.columns[name].astype(np.int64) for name in FLOW_START.event_names}
    rate, phase = t.columns["rate_q30"].astype(np.int64), t.columns["phase"].astype(np.int64)
    params = dict(policy.params())
    if "@" in scenario:
        recips = paths_of(scenario, network or Network())
        params["base_rtt_recip_q42"] = recips[t.columns["flow"].astype(np.int64)]
    values = trace(program, event, params, {"rate_q30": rate + (phase << 30)})
    made = values[nodes.made] == 1
    np.testing.assert_array_equal(t.of_policy(), ~made)
    action = t.columns["action_q16"].astype(np.int64)
    assert (action[made] == 0).all()
    assert (action[~made] != 0).any()
    follows = np.clip((rate * (65536 + action) + 32768) >> 16, policy.limits.rate_min, policy.limits.rate_max)
    word = values[program.state[0].node]
    follows = np.where(made, word & LINE_RATE_Q30, follows)
    stays = np.where(made, word >> 30, phase)
    same = t.position[1:] > 0
    np.testing.assert_array_equal(rate[1:][same], follows[:-1][same])
    np.testing.assert_array_equal(phase[1:][same], stays[:-1][same])
    new = t.starts()
    assert (rate[new] == policy.limits.rate_initial).all()
    assert (phase[new] == Phase.STARTING).all()
    assert {Phase.STARTING, Phase.RECOVERING, Phase.SETTLED} <= set(phase.tolist())
    assert network is not None or Phase.ARMED in phase
    if network is not None:
        assert t.columns["nack_count"].max() > 0


def paths_of(scenario, network):
    """As a simulation tells its flows."""
    scene = at_random(scenario, 3, 8 * MS, network)
    fabric, net = assembly.place(scene, network)
    return assembly.paths(scene, fabric, net).params(FLOW_START)["base_rtt_recip_q42"].astype(np.int64)


CONGESTED = {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5}


@pytest.mark.parametrize("second", [CONGESTED, {"kind": "decisions", "most": 50}], ids=lambda f: f["kind"])
def test_the_history_is_that_of_the_records(steering, second):
    """Features of a phase's steps are there too: the network was shown them all."""
    observation = {"features": [{"kind": "previous_action"}, second]}
    teacher = steering(start=START, limits=LIMITS, observation=observation)
    simulation = Simulation("incast:32", teacher, seed=3, record=True)
    simulation.run(20 * MS)
    t = Trajectories.of(simulation.drain_records(), FLOW_START)
    rows, valid = t.float_rows(teacher.policy.observation)
    assert valid.all()
    last = np.append(t.starts()[1:] - 1, len(t) - 1)
    of_flow = {int(t.columns["flow"][row]): row for row in last}
    np.testing.assert_allclose(
        simulation.observations()[list(of_flow)], rows[list(of_flow.values())], rtol=1e-6, atol=1e-6
    )


def test_a_crowd_that_starts_slowly_loses_less(steering):
    """What the start is for: the first 10 ms of 64 flows."""
    first = {"duration_ps": 10 * MS, "window_ps": (0, 10 * MS)}
    plain = simulate("many-to-one:64", steering(), seed=1, **first).metrics
    table = {"brake": {"to": "0.2 %"}}
    starts = simulate("many-to-one:64", steering(start=table, limits={"rate_initial": "25 %"}), seed=1, **first).metrics
    assert starts["loss"] < plain["loss"] / 4
    assert starts["goodput"] > 0.8 * plain["goodput"]


def test_a_long_flow_has_an_empty_path_back_sooner(steering):
    """What a clear path is for: a flow that others held down."""
    times = {"duration_ps": 40 * MS, "window_ps": (10 * MS, 40 * MS)}
    plain, sooner = (
        simulate("long-short:33", steering(start=START | rule, limits=LIMITS), seed=1, **times).metrics
        for rule in ({}, {"clear_path": {}})
    )
    assert sooner["goodput"] > plain["goodput"] + 0.02


def test_flows_at_a_policer_lose_less(steering):
    """What a cut by losses is for: a bucket queues nothing, so that no delay tells of it."""
    network = Network(policer_gbps=50, transport="selective-repeat")
    times = {"duration_ps": 30 * MS, "window_ps": (10 * MS, 30 * MS), "network": network}
    plain, cut = (
        simulate("many-to-one:3", steering(start=START | rule, limits=LIMITS), seed=1, **times).metrics
        for rule in ({}, {"loss": {"cut": 0.0625}})
    )
    assert plain["loss"] > 0.2
    assert cut["loss"] < plain["loss"] / 2
    assert cut["goodput"] > plain["goodput"]


def test_records_of_the_usual_interface_have_no_phases(steering):
    t = recorded(steering(), "many-to-one:4")
    assert "phase" not in t.columns
    assert t.of_policy().all()


def test_who_made_a_step_is_not_guessed(steering):
    t = recorded(steering(start=START, limits=LIMITS), "many-to-one:4")
    columns = dict(t.columns) | {"maker": np.full(len(t), 2, dtype=np.uint8)}
    with pytest.raises(InputError, match="firmware does not"):
        Trajectories.of(columns, FLOW_START).of_policy()


def test_a_teachers_start_is_at_the_end_of_no_wire(steering):
    marking = Cohort(fixed(QUEUE_MARKING, {"kmin_bytes": 1, "kmax_bytes": 2, "pmax_q16": 3}), period_ps=MS)
    wire = Wire(1, "kmin_bytes", 0, "brake_rate_q30")
    with pytest.raises(InputError, match="no parameter"):
        Simulation("many-to-one:4", steering(start=START), seed=1, cohorts=[marking], wires=[wire])


@pytest.mark.parametrize("integers", [False, True], ids=["teacher", "program"])
@pytest.mark.parametrize("slack", [False, True])
def test_delays_are_as_long_in_every_network(steering, integers, slack):
    """16 us above the base RTT are 3 base RTTs of 8 us and 1.5 of 32 us."""

    def run(brake_above, base_rtt_ns):
        start = START | {"brake": {"above": brake_above, "to": "0.5 %"}, "recovery": {"until": 1.25}}
        teacher = steering(start=start, limits=LIMITS, observation={"base_rtt": "8000 ns", "rtt_slack": slack})
        spec = teacher
        if integers:
            policy = teacher.policy
            program, _ = start_program(policy.start, policy.observation.place)
            spec = policies.program(program, policies.Installed(policy.params(), header=policy.header))
        network = Network(base_rtt_ps=1000 * base_rtt_ns)
        records = recorded(spec, "incast:48", network).columns
        return records["t_ps"], records["rate_q30"]

    for base_rtt_ns, inflation in ((8000, 3.0), (32_000, 1.5)):
        by_delay, by_inflation = run("16 us", base_rtt_ns), run(inflation, base_rtt_ns)
        for some, others in zip(by_delay, by_inflation, strict=True):
            np.testing.assert_array_equal(some, others)
    assert not np.array_equal(run("16 us", 32_000)[1], run(2.9, 32_000)[1])
