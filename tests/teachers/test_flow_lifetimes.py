"""Flows that come back are others, and who is there when is what the simulation says."""

from dataclasses import replace
from typing import Any

import numpy as np

from decision.policy.policy import Policy
from netsim import Network, Scenario, Simulation
from netsim.network import MS, US
from netsim.policies import native
from netsim.scenarios import Flow
from teachers.adpg import AdpgRun, loss
from teachers.credit import Credit
from teachers.curriculum import TrainConfig, Training
from teachers.flow_lifetimes import Lives
from teachers.networks import seeded


def simulation(make_policy: Any, *flows: Flow, hosts: int = 1, receivers: int = 1) -> Simulation:
    policy = make_policy(hidden=[2])
    weights = {"fc0.weight": np.zeros((2, 4), np.float32), "out.weight": np.zeros((1, 2), np.float32)}
    scenario = Scenario("by hand", hosts, receivers, flows)
    return Simulation(
        scenario, native(policy, weights), seed=1, record=True, network=Network(start_jitter_ps=0, message_packets=4)
    )


def test_counts_of_those_who_came_and_left(make_policy: Any) -> None:
    long, short = Flow(0, 0), Flow(0, 0, packets=200, start_ps=500 * US, period_ps=MS)
    elsewhere = Flow(1, 1, packets=20, start_ps=0)
    run = simulation(make_policy, long, short, elsewhere, hosts=2, receivers=2)
    run.run(2 * MS)
    lives = Lives(run.scenario)
    at = np.array([100, 510, 900, 1400, 1510, 1900]) * US
    begun, ended = lives.until(run, np.zeros(6, np.int64), at)
    assert begun.tolist() == [1, 2, 2, 2, 3, 3]
    assert ended.tolist() == [0, 0, 1, 1, 1, 2]
    there, gone = lives.until(run, np.array([2, 2]), np.array([1, 100]) * US)
    assert (there.tolist(), gone.tolist()) == ([1, 1], [0, 1])
    assert lives.done(run, np.array([0, 1, 1, 2]), np.array([1900, 600, 1600, 1]) * US).tolist() == [
        False, True, True, True,
    ]  # fmt: skip


def test_every_life_is_a_column_that_ends_where_its_flow_does(make_policy: Any) -> None:
    run = simulation(make_policy, Flow(0, 0), Flow(0, 0, packets=400, start_ps=0, period_ps=MS))
    training = Training(
        seed=1, scenarios=["long-short:2"], episodes=1, horizon=10, segment_time="1500 us", credit=Credit()
    )
    segments = AdpgRun(run, make_policy(hidden=[2]), training)
    weights = native(make_policy(hidden=[2]), run.policy.weights).weights  # type: ignore[union-attr]
    first, second = segments.advance(weights), segments.advance(weights)
    assert first.done is not None
    assert second.done is not None
    assert first.presence is not None
    assert first.length.size == 3  # the long flow, two rounds of the short one
    assert first.done.tolist() == [False, True, True]
    assert first.presence.step[0].tolist() == [0, 0, 0]
    assert second.length.size == 2  # the long flow goes on, the short one's third round
    assert second.presence is not None
    assert second.presence.step[0].tolist() == [first.length[0], 0]
    counted = first.counted(training, 0.064).sum(axis=0)
    assert counted.tolist() == [first.length[0] - 10, first.length[1] - 1, first.length[2] - 1]


def test_a_life_is_done_where_its_flow_has_begun_anew(make_policy: Any) -> None:
    run = simulation(make_policy, Flow(0, 0, packets=200, start_ps=0, period_ps=MS))
    run.run(MS + 3 * US)
    assert run.rates()[0] > 0
    assert Lives(run.scenario).done(run, np.array([0, 0]), np.array([10, 1001]) * US).tolist() == [True, False]


def test_a_new_life_has_an_empty_memory(make_policy: Any) -> None:
    policy = make_policy(hidden=[2], lstm=3, bias=True)
    weights = seeded(policy, 1).weights()
    scenario = Scenario("two", 1, 1, (Flow(0, 0), Flow(0, 0, packets=400, start_ps=0, period_ps=MS)))
    run = Simulation(scenario, native(policy, weights), seed=1, record=True, network=Network(start_jitter_ps=0))
    training = Training(seed=1, scenarios=["long-short:2"], episodes=1, segment_time="900 us")
    segments = AdpgRun(run, policy, training)
    segments.advance(weights)
    assert (run.hidden_state() != 0).any(axis=1).all()
    goes_on, new = segments.advance(weights).memory
    assert (goes_on != 0).any()
    assert (new == 0).all()


def test_what_the_limits_clip_is_known(make_policy: Any) -> None:
    """A flow at line rate that would go faster, and one that would not."""
    training = Training(seed=1, scenarios=["long-short:2"], episodes=1, segment_time="300 us")
    for output, clipped in ((1.0, True), (0.0, False)):
        policy = make_policy(hidden=[2])
        weights = {"fc0.weight": np.eye(2, 4, dtype=np.float32), "out.weight": np.full((1, 2), output, np.float32)}
        scenario = Scenario("one", 1, 1, (Flow(0, 0, packets=10**6),))
        run = Simulation(scenario, native(policy, weights), seed=1, record=True, network=Network(start_jitter_ps=0))
        segment = AdpgRun(run, policy, training).advance(weights)
        assert segment.presence is not None
        assert (segment.presence.clipped == clipped).all()


def test_without_ends_and_weights_there_are_no_lives(make_policy: Any) -> None:
    run = simulation(make_policy, Flow(0, 0), Flow(0, 0))
    training = Training(seed=1, scenarios=["many-to-one:2"], episodes=1)
    segment = AdpgRun(run, make_policy(hidden=[2]), training).advance(run.policy.weights)  # type: ignore[union-attr]
    assert (segment.done, segment.presence) == (None, None)


def test_what_the_start_does_is_no_decision_of_the_policy(make_policy: Any) -> None:
    config = make_policy(hidden=[2]).model_dump(mode="json") | {"start": {}}
    config["limits"]["rate_initial"] = "1 %"
    policy = Policy.model_validate(config)
    weights = {"fc0.weight": np.ones((2, 4), np.float32), "out.weight": np.ones((1, 2), np.float32)}
    training = Training(seed=1, scenarios=["many-to-one:8"], episodes=1, credit=Credit(), start_phase=True)
    run = Simulation("many-to-one:8", native(policy, weights), seed=1, record=True)
    segment = AdpgRun(run, policy, training).advance(weights)
    assert segment.own is not None
    assert not segment.own[:3].any()  # slow start
    assert segment.own.any()
    assert not segment.counted(training, 0.064)[~segment.own].any()
    # Whatever they saw, the gradient is that of the others.
    network = seeded(policy, 1)
    gradients = []
    for scale in (1.0, 5.0):
        rows = np.where(segment.own[..., None], segment.rows, np.float32(scale) * segment.rows)
        network.zero_grad()
        loss(network, replace(segment, rows=rows), training, 0.064).backward()  # type: ignore[no-untyped-call]
        gradients.append(network.out.weight.grad.clone())  # type: ignore[union-attr]
    assert bool((gradients[0] == gradients[1]).all())
    assert bool(gradients[0].abs().max() > 0)


def test_a_policy_learns_without_its_start_unless_asked(make_policy: Any) -> None:
    content = make_policy(hidden=[2]).model_dump(mode="json")
    recipe: dict[str, Any] = {
        "format": 1,
        "policy": content | {"start": {}},
        "training": {"seed": 1, "scenarios": ["many-to-one:2"], "episodes": 1},
    }
    config = TrainConfig.model_validate(recipe)
    assert config.policy.start is not None
    assert config.learner == make_policy(hidden=[2])
    recipe["training"]["start_phase"] = True
    assert TrainConfig.model_validate(recipe).learner == config.policy


def test_a_cap_stays_where_the_start_is_left_out(make_policy: Any) -> None:
    content = make_policy(hidden=[2]).model_dump(mode="json") | {"start": {}, "in_flight": {}}
    training = {"seed": 1, "scenarios": ["many-to-one:2"], "episodes": 1}
    learner = TrainConfig.model_validate({"format": 1, "policy": content, "training": training}).learner
    assert learner.start is None
    assert learner.in_flight is not None
    assert set(learner.params()) == set(learner.observation.agents.param_names)
