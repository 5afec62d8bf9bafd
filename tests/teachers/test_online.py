"""Learning where agents decide: each switch its own network, exchanged experience, exploring that decays."""

from typing import Any

import numpy as np
import pytest
from ddqn_recipe import KMIN, POLICY, config

from decision.errors import InputError
from decision.policy import Policy
from decision.records import Trajectories
from decision.weights import shapes
from netsim import Cohort, Simulation
from netsim.assembly import switches_of_queues
from netsim.baselines import by_name
from netsim.network import MS, US
from netsim.policies import native
from teachers.ddqn_options import Online
from teachers.online import OnlineLearning
from teachers.teacher import make_teacher
from teachers.transitions import transitions

FABRIC = "incast:4@leaf-spine:2x4x1:25/100"


def constant(row: int) -> dict[str, Any]:
    """A network that always chooses this row."""
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes(Policy.model_validate(POLICY)).items()}
    weights["out.bias"][row] = 1.0
    return weights


def running(weights: dict[str, Any]) -> Simulation:
    policy = Policy.model_validate(POLICY)
    marking = Cohort(native(policy, weights), 50 * US, 10 * US)
    return Simulation(FABRIC, by_name("dcqcn"), seed=1, duration_ps=40 * MS, record=True, cohorts=[marking])


def test_queues_belong_to_the_switch_of_their_port() -> None:
    """Two leaves of four hosts and an uplink each, and a spine of two ports; hosts' ports come first."""
    simulation = running(constant(0))
    queues = switches_of_queues(simulation.scenario, simulation.network)
    assert queues.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 2, 2]


def test_each_group_decides_by_its_own_network() -> None:
    simulation = running(constant(0))
    group = switches_of_queues(simulation.scenario, simulation.network)
    simulation.set_networks(1, [constant(row) for row in (1, 2, 3)], group)
    simulation.run(2 * MS)
    records = simulation.drain_records(1)
    np.testing.assert_array_equal(records["kmin_bytes"], np.array(KMIN)[group[records["queue"]] + 1])
    for networks, of in (([constant(1)], group), ([], group), ([constant(1)], group[:1] * 0)):
        with pytest.raises(InputError, match="networks of one shape, and the number of one for each agent"):
            simulation.set_networks(1, networks, of)
    with pytest.raises(InputError, match="cohort 0 runs no native policy"):
        simulation.set_networks(0, [], group)


def learning(simulation: Simulation, **options: Any) -> OnlineLearning:
    policy = Policy.model_validate(POLICY)
    group = switches_of_queues(simulation.scenario, simulation.network)
    online = Online.model_validate({"exchange": "1 ms", "updates": 3} | options)
    teacher = make_teacher(policy, constant(0), "a test")
    return OnlineLearning(simulation, 1, teacher, config(idle_every=1, memory=100_000), online, group, {})


def test_every_decision_is_learnt_from_once_by_its_own_switch() -> None:
    simulation = running(constant(0))
    simulation.set_networks(1, [constant(0)] * 3, switches_of_queues(simulation.scenario, simulation.network))
    simulation.run(4 * MS)
    records = simulation.drain_records(1)
    policy = Policy.model_validate(POLICY)
    together = transitions(Trajectories.of(records, policy.observation.agents), policy, config().ddqn.reward)
    learner = learning(running(constant(0)), explore=0.0, updates=1, learning_rate=1e-9, shared=0.0)
    learner.advance(4 * MS)
    parts = [len(each.memory) for each in learner.learners]
    assert sum(parts) == len(together)
    assert len(learner.shared) == 0
    assert learner.exchanges == 4


def test_switches_learn_apart_and_exchange() -> None:
    learner = learning(running(constant(0)), explore=1.0, explore_decay=0.5)
    assert learner.online.exploring(3) == 0.125
    learner.advance(3 * MS)
    weights = [each.network.weights()["out.bias"] for each in learner.learners]
    assert (weights[0] != weights[1]).any()
    assert len(learner.shared) > 0
    again = learning(running(constant(0)), explore=1.0, explore_decay=0.5)
    again.advance(3 * MS)
    np.testing.assert_array_equal(weights[0], again.learners[0].network.weights()["out.bias"])
