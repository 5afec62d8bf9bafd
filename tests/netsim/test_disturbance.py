"""Decisions that are lost or come late, responses that are stamped late, flows with first rates of their own."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from decision.artefact.errors import InputError
from netsim import ArrayEnv, Engines, Network, Scenario, Simulation
from netsim.baselines import by_name
from netsim.network import MS, US
from netsim.policies import NativePolicy
from netsim.scenarios import Flow

Policies = Callable[..., NativePolicy]
ALONE = Scenario("alone", 1, 1, (Flow(0, 0),))


def run_of(policy: Any, scenario: Scenario | str = ALONE, until_ps: int = 20 * MS, **network: Any) -> Simulation:
    run = Simulation(scenario, policy, seed=1, record=True, network=Network(start_jitter_ps=0, **network))
    run.run(until_ps)
    return run


def test_a_share_of_the_responses_is_lost(constant: Policies) -> None:
    run = run_of(constant("10 %"), "many-to-one:4", decision_loss=0.25)
    responses = run.window()["counts"]["rtts"]
    assert run.decisions() / responses == pytest.approx(0.75, abs=4 * np.sqrt(0.25 * 0.75 / responses))
    records = run.drain_records()
    # What a flow counts goes on counting: no byte of those it sent is missing from its events.
    delivered = 1024 * run.delivered().astype(np.int64)
    counted = np.bincount(records["flow"], records["sent_bytes"])
    assert (np.abs(counted - delivered) < 200 * 1024).all()


def test_a_late_decision_delays_the_next_one(constant: Policies) -> None:
    usual = np.diff(run_of(constant()).drain_records()["t_ps"]).mean()
    late = np.diff(run_of(constant(), decision_late=0.5, decision_late_by_ps=40 * US).drain_records()["t_ps"])
    assert late.mean() - usual == pytest.approx(10 * US, rel=0.15)
    assert late.max() - usual < 45 * US


def test_decisions_of_a_cohort_take_effect_in_their_order(steering: Policies) -> None:
    disturbed = {"decision_late": 0.3, "decision_late_by_ps": 30 * US}
    one, two = (run_of(steering(), "many-to-one:8", 5 * MS, **disturbed).drain_records() for _ in range(2))
    assert all(np.array_equal(one[name], two[name]) for name in one)
    assert one["t_ps"].size > 500


def test_noise_makes_a_measured_rtt_longer(constant: Policies) -> None:
    def rtts(**network: Any) -> np.ndarray:
        records = run_of(constant("1 %"), **network).drain_records()
        return records["response_ns"] - records["request_sent_ns"]

    plain, noisy = rtts(), rtts(rtt_noise_ps=2 * US)
    assert plain.max() - plain.min() <= 90
    assert plain.min() <= noisy.min() < noisy.max() <= plain.max() + 2000
    assert noisy.mean() - plain.mean() == pytest.approx(1000, rel=0.1)


def test_a_baseline_hears_the_noise_and_the_network_does_not_have_it() -> None:
    """Swift holds the delay that it hears, so that its queue is shorter by the noise's mean, 2 us."""

    def queue_us(**network: Any) -> float:
        run = run_of(by_name("swift"), "many-to-one:8", 0, **network)
        run.run(5 * MS)
        run.reset_window()
        run.run(15 * MS)
        return run.metrics()["queue_mean_us"]

    plain, noisy = queue_us(), queue_us(rtt_noise_ps=4 * US)
    assert noisy == queue_us(rtt_noise_ps=4 * US)
    assert plain - 4 < noisy < plain - 1


@pytest.mark.parametrize("name", ["timely", "nscc", "swift"])
def test_noise_of_nothing_changes_nothing(name: str) -> None:
    runs = [run_of(by_name(name), "many-to-one:8", 3 * MS, **network) for network in ({}, {"rtt_noise_ps": 1})]
    zero, one = (run.delivered() for run in runs)
    assert np.array_equal(zero, run_of(by_name(name), "many-to-one:8", 3 * MS, rtt_noise_ps=0).delivered())
    assert zero.sum() == pytest.approx(one.sum(), rel=0.05)


def test_decisions_from_outside_are_disturbed_too() -> None:
    env = ArrayEnv(ALONE, 1, duration_ps=2 * MS, network=Network(decision_late=1.0, decision_late_by_ps=0))
    decisions = 0
    while (batch := env.recv()) is not None:
        decisions += len(batch)
        env.send(rate_q30=np.full(len(batch), 2**29))
    assert decisions > 50
    assert env.rates()[0] == 0.5


def test_flows_start_at_rates_of_their_own_each_time_they_come(constant: Policies) -> None:
    flows = (Flow(0, 0, packets=64, period_ps=2 * MS), Flow(0, 0, packets=64, period_ps=2 * MS))
    scenario = Scenario("two", 1, 1, flows)
    starts = np.array([2**29, 2**20], np.uint32)
    run = Simulation(scenario, constant(), seed=1, record=True, starts_q30=starts)
    run.run(1 * US + 10 * US)
    assert run.rates().tolist() == [0.5, 2**-10]
    run.run(6 * MS)
    records = run.drain_records()
    new = records["step"] == 0
    assert np.bincount(records["flow"][new]).tolist() == [3, 1]  # at 2^-10 a round takes longer than the run
    assert (records["rate_q30"][new] == starts[records["flow"][new]]).all()
    assert run.started_ps()[1] < 10 * US
    assert 4 * MS <= run.started_ps()[0] < 4 * MS + 10 * US


def test_refusals(constant: Policies) -> None:
    for starts in (np.zeros(1, np.uint32), np.ones(2, np.uint32), np.ones(1, np.int64), np.array([2**31], np.uint32)):
        with pytest.raises(InputError, match=r"rates .*1 uint32"):
            Simulation(ALONE, constant(), seed=1, starts_q30=starts)
    with pytest.raises(InputError, match="for native policies"):
        Simulation(ALONE, by_name("dctcp"), seed=1, starts_q30=np.ones(1, np.uint32))
    with pytest.raises(InputError, match="leave decision_late out"):
        Simulation(ALONE, constant(), seed=1, engines=Engines(1), network=Network(decision_late=0.1))
