"""Who sends to whom."""

import numpy as np
import pytest

from netsim import Network, Scenario, Simulation, scenarios
from netsim.network import MS
from netsim.policies import native
from netsim.scenarios import Flow
from spec.errors import InputError


@pytest.mark.parametrize(
    ("flows", "hosts", "queue_pairs"),
    [
        (2, 2, 1),
        (4, 4, 1),
        (8, 8, 1),
        (16, 16, 1),
        (64, 64, 1),
        (128, 64, 2),
        (256, 32, 8),
        (512, 64, 8),
        (1024, 32, 32),
        (2048, 64, 32),
        (4096, 64, 64),
        (8192, 64, 128),
        (96, 48, 2),
        (1, 1, 1),
    ],
)
def test_many_to_one_has_the_hosts_and_queue_pairs_of_rl_cc(flows: int, hosts: int, queue_pairs: int) -> None:
    scenario = scenarios.parse(f"many-to-one:{flows}")
    assert np.bincount(scenario.column("host")).tolist() == [queue_pairs] * hosts
    assert scenario.receivers == 1


def test_a_prime_number_of_flows_is_spread_evenly() -> None:
    counts = np.bincount(scenarios.parse("many-to-one:65521").column("host"))
    assert counts.size == 64
    assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize("hosts", [2, 3, 8, 31])
def test_all_to_all_loads_every_port_alike_and_nobody_sends_to_itself(hosts: int) -> None:
    scenario = scenarios.parse(f"all-to-all:{hosts}")
    host, receiver = scenario.column("host"), scenario.column("receiver")
    assert (host != receiver).all()
    assert np.bincount(host).tolist() == np.bincount(receiver).tolist() == [2 * hosts] * hosts
    assert np.unique(np.stack([host, receiver]), axis=1).shape[1] == hosts * (hosts - 1)


def test_long_short_has_one_flow_for_ever_and_others_that_come_back(steering) -> None:
    scenario = scenarios.parse("long-short:8")
    assert [f.packets == 0 for f in scenario.flows] == [True] + [False] * 7
    run = Simulation(scenario, steering(0.3), seed=1)
    run.run(5 * MS)
    assert run.metrics()["long_bandwidth"] > 0.92
    run.run(35 * MS)
    metrics = run.metrics()
    assert metrics["completions"] == 21
    assert metrics["recoveries"] == 3
    assert metrics["completion_normalised_mean"] > 7  # eight share the link
    assert 100 < metrics["recovery_us"] < 10_000
    assert run.window()["delivered_packets"][1:].tolist() == [3 * 1200] * 7


@pytest.mark.parametrize("flows", [2, 16, 100, 2048])
def test_short_flows_fit_their_period(flows: int) -> None:
    scenario = scenarios.parse(f"long-short:{flows}")
    assert len(scenario.flows) == flows
    short = sum(f.packets for f in scenario.flows[1:])
    assert short * 88_480 < 0.7 * scenarios.SHORT_PERIOD_PS


@pytest.mark.parametrize(
    "text", ["", "many-to-one", "many-to-one:", "many-to-one:1e3", "all-to-all:1", "long-short:1", "all-to-all:4096"]
)
def test_names_that_mean_nothing_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        scenarios.parse(text)


@pytest.mark.parametrize(
    "flows",
    [
        (),
        (Flow(1, 0), Flow(0, 0)),
        (Flow(2, 0),),
        (Flow(0, 1),),
        (Flow(0, 0, packets=-1),),
        (Flow(0, 0, packets=1, start_ps=-1),),
        (Flow(0, 0, packets=0, period_ps=5),),
    ],
)
def test_scenarios_that_cannot_be_are_refused(flows: tuple[Flow, ...]) -> None:
    with pytest.raises(InputError, match="scenario wrong"):
        Scenario("wrong", 2, 1, flows)


def test_a_late_decision_does_not_reach_the_flow_that_came_after(make_policy) -> None:
    """The flow's first decision (a tenth of the rate) is due 10.05 ms later, when the flow has ended and come back."""
    policy = make_policy(architecture={"hidden": [], "bias": True}, action={"kind": "table", "multipliers": [0.1, 1.5]})
    weights = {"out.weight": np.zeros((2, 4), np.float32), "out.bias": np.array([1, 0], np.float32)}
    scenario = Scenario("again", 1, 1, (Flow(0, 0, 2000, 0, 10 * MS),))
    run = Simulation(
        scenario, native(policy, weights), seed=1, decision_latency_ps=10 * MS + 50_000_000, record=True,
        network=Network(start_jitter_ps=0),
    )  # fmt: skip
    run.run(10 * MS + 100_000_000)
    assert run.drain_records()["step"].tolist() == [0, 0]
    assert run.rates().tolist() == [1.0]


def test_one_scenario_has_one_name() -> None:
    with pytest.raises(InputError, match="unknown scenario"):
        scenarios.parse("many-to-one:08")
