"""What flows are told of their paths: one switch says it as a fabric does, and a run shows it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from decision.artefact.errors import InputError
from decision.ir.interfaces.flow_rate import RTT_BITS, base_rtt_recip_q42
from decision.policy.in_flight import InFlight
from decision.policy.records import Trajectories
from netsim import ArrayEnv, Network, Simulation, baselines, simulate, topology
from netsim.deployment import Deployment
from netsim.environments import Task
from netsim.environments.episode import Episode
from netsim.network import MS, NS
from netsim.places import InThisThread, at_place
from netsim.policies import NativePolicy
from netsim.scenarios import instantiate
from netsim.trials import run

Steering = Callable[..., NativePolicy]
FAR_NS = 30_000
FAR = Network(base_rtt_ps=FAR_NS * NS)
WINDOW = {"seed": 1, "duration_ps": 4 * MS, "window_ps": (2 * MS, 4 * MS)}


def as_a_fabric(name: str, network: Network) -> Any:
    """The scenario on the very switch that it would have, given as a topology."""
    scenario = instantiate(name, 1, WINDOW["duration_ps"], network)
    return replace(scenario, topology=topology.star(scenario.hosts, scenario.receivers, network))


@pytest.mark.parametrize("base_rtt_ns", [8_192, FAR_NS, 100_000])
@pytest.mark.parametrize("who", ["policy", "hpcc", "swift", "nscc", "dcqcn"])
def test_one_switch_by_the_network_is_that_switch_as_a_fabric(who: str, base_rtt_ns: int, steering: Steering) -> None:
    network = Network(base_rtt_ps=base_rtt_ns * NS)
    decider = steering() if who == "policy" else baselines.by_name(who)
    both = "many-to-one:4", as_a_fabric("many-to-one:4", network)
    one, other = (simulate(scenario, decider, network=network, **WINDOW).metrics for scenario in both)
    assert one == other


@pytest.mark.parametrize("base_rtt_ns", [FAR_NS, 100_000])
def test_a_policy_fills_a_longer_path_too(base_rtt_ns: int, steering: Steering) -> None:
    """One that takes its own base RTT for the network's sees a flood, and sends next to nothing."""
    options = WINDOW | {"duration_ps": 20 * MS, "window_ps": (10 * MS, 20 * MS)}
    found = simulate("many-to-one:8", steering(), network=Network(base_rtt_ps=base_rtt_ns * NS), **options).metrics
    assert found["goodput"] > 0.85


def test_what_a_policy_assumes_changes_nothing_where_the_network_says_it(steering: Steering) -> None:
    """A base RTT of a policy's own is what an operator sets: the network's takes its place."""
    usual = steering()
    assuming = steering(observation={"base_rtt": "20 us"})
    assert assuming.policy.params() != usual.policy.params()
    one, other = (simulate("many-to-one:4", each, **WINDOW).metrics for each in (usual, assuming))
    assert one == other


def test_a_default_network_is_as_ever(steering: Steering) -> None:
    """Nobody is told more there than a policy made for it assumes."""

    class Untold(NativePolicy):
        def build(self, agents: int, where: Any = None) -> Any:
            return super().build(agents, None)

    told = steering()
    both = told, Untold(told.policy, told.weights)
    one, other = (simulate("many-to-one:8", each, **WINDOW).metrics for each in both)
    assert one == other


def test_a_base_rtt_beyond_what_a_device_can_be_told_is_refused_for_policies_only(steering: Steering) -> None:
    far = Network(base_rtt_ps=(1 << RTT_BITS) * NS)
    with pytest.raises(InputError, match=r"4\.194\d* ms, .* 4\.19 ms"):
        Simulation("many-to-one:2", steering(), seed=1, network=far)
    Simulation("many-to-one:2", baselines.by_name("swift"), seed=1, network=far)
    Simulation("many-to-one:2", steering(), seed=1, network=replace(far, base_rtt_ps=far.base_rtt_ps - NS))


@pytest.mark.parametrize("slack", [False, True], ids=["", "slack"])
@pytest.mark.parametrize("scenario", ["many-to-one:3", "many-to-one:5@fat-tree:4"])
def test_records_are_read_by_what_their_flows_were_told(scenario: str, slack: bool, steering: Steering) -> None:
    """What the network saw at each flow's last decision is the last of its rows."""
    who = steering(observation={"rtt_slack": slack})
    simulation = Simulation(scenario, who, seed=2, duration_ps=MS, record=True, network=FAR)
    simulation.run(MS)
    places = Deployment(FAR).places(scenario, 2, MS, who.interface)
    assert {name: values.tolist() for name, values in simulation.places().items()} == {
        name: values.tolist() for name, values in places.items()
    }
    rows = Trajectories.of(simulation.drain_records(), simulation.interfaces[0], places)
    floats, _ = rows.float_rows(who.policy.observation)
    flow = rows.columns["flow"].astype(np.int64)
    last = np.append(np.flatnonzero(np.diff(flow)), len(flow) - 1)
    np.testing.assert_array_equal(floats[last].astype(np.float32), simulation.observations()[flow[last]])
    integers, _ = rows.integer_rows(who.policy.observation, who.policy.params())
    elsewhere, _ = Trajectories.of(rows.columns, rows.interface).integer_rows(
        who.policy.observation, who.policy.params()
    )
    assert (integers != elsewhere).any()
    each = dict(zip(places["base_rtt_ns"].tolist(), places["base_rtt_recip_q42"].tolist(), strict=True))
    assert each == {ns: base_rtt_recip_q42(ns) for ns in each}


SLACK = {"observation": {"rtt_slack": True}}
FABRIC = "many-to-one:5@fat-tree:4"


def test_with_a_slack_all_flows_of_a_fabric_share_one_base_rtt(steering: Steering) -> None:
    plain, slack = (
        Simulation(FABRIC, steering(**changes), seed=2, duration_ps=MS, network=FAR).places() for changes in ({}, SLACK)
    )
    assert len(set(plain["base_rtt_ns"].tolist())) > 1
    assert len(set(slack["base_rtt_ns"].tolist())) == 1
    assert (slack["base_rtt_ns"] - slack["rtt_slack_ns"]).tolist() == plain["base_rtt_ns"].tolist()
    assert set(slack["base_rtt_recip_q42"].tolist()) == {base_rtt_recip_q42(int(slack["base_rtt_ns"][0]))}


@pytest.mark.parametrize("start", [{}, {"start": {}, "in_flight": {}}], ids=["", "start"])
def test_a_slack_changes_what_is_decided_in_fabrics_only(start: dict[str, Any], steering: Steering) -> None:
    policies = steering(**start), steering(**start, **SLACK)
    for scenario, alike in (("many-to-one:5", True), (FABRIC, False)):
        one, other = (simulate(scenario, each, network=FAR, **WINDOW).metrics for each in policies)
        assert (one == other) == alike


def test_flows_outside_know_their_slack(steering: Steering) -> None:
    who = steering(**SLACK)
    task = Task(FABRIC, who.policy.observation, who.policy.action, duration_ps=MS, network=FAR)
    episode = Episode(task, 1)
    inside = Simulation(FABRIC, who, seed=1, duration_ps=MS, network=FAR)
    while not episode.over:
        seen = episode.observations.copy()
        episode.answer(np.tanh(-0.1 * seen[:, 1]))
    inside.run(MS)
    np.testing.assert_allclose(seen, inside.observations(), rtol=1e-6)


def test_flows_outside_observe_what_they_would_inside(steering: Steering) -> None:
    who = steering()
    task = Task("many-to-one:3", who.policy.observation, who.policy.action, duration_ps=MS, network=FAR)
    episode = Episode(task, 1)
    inside = Simulation("many-to-one:3", who, seed=1, duration_ps=MS, network=FAR)
    while not episode.over:
        seen = episode.observations.copy()
        episode.answer(np.tanh(-0.1 * seen[:, 1]))
    inside.run(MS)
    np.testing.assert_allclose(seen, inside.observations(), rtol=1e-6)


def test_a_cap_of_what_is_in_flight_follows_the_base_rtt() -> None:
    caps = [ArrayEnv("many-to-one:2", 1, network=net, in_flight=InFlight()).places() for net in (Network(), FAR)]
    assert [set(each["base_rtt_ns"].tolist()) for each in caps] == [{8_192}, {FAR_NS}]


def test_trials_of_a_deployment_are_told(steering: Steering) -> None:
    trial = Deployment(FAR).trial(steering(), "many-to-one:4", decision_latency_ps=0, **WINDOW)
    with at_place(InThisThread()):
        (outcome,) = run([trial])
    assert (
        outcome.metrics == simulate("many-to-one:4", steering(), network=FAR, decision_latency_ps=0, **WINDOW).metrics
    )
