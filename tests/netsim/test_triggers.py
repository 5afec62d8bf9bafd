"""A policy with a trigger in a network: the teacher's records say what its networks said, a program's what it says; and
an engine takes its time only where a trigger fires."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from triggered_students import OBSERVATION, ROWS, triggered_student

from decision.artefact.errors import InputError
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.policy.policy import Policy
from decision.policy.records import Trajectories
from decision.policy.weights import shapes
from netsim.baselines import by_name
from netsim.cohorts import Cohort
from netsim.deployment import Deployment
from netsim.engines import Engines
from netsim.network import MS, US
from netsim.policies import fixed, interpreted, native
from netsim.simulation import Simulation
from netsim.trials import run
from rlcc.gate.teacher_match import actions
from teachers.inference import decide, triggers
from teachers.teacher import Teacher, make_teacher

PLACE = "incast:8@leaf-spine:2x8x2:25/100"
DEPLOYED = Deployment(flows=by_name("dcqcn"), interface=QUEUE_MARKING, period_ps=50 * US)


def teacher(seed: int) -> Teacher:
    policy = Policy.model_validate(
        {
            "format": 1,
            "name": "triggered",
            "architecture": {"kind": "mlp", "hidden": [8], "bias": True},
            "observation": OBSERVATION,
            "action": {"kind": "choice", "rows": ROWS},
            "trigger": {"hidden": [6], "saved": 1},
        }
    )
    rng = np.random.default_rng(seed)
    return make_teacher(policy, {k: rng.normal(0, 1, s).astype(np.float32) for k, s in shapes(policy).items()}, "drawn")


def driven(policy: Any) -> Trajectories:
    trial = DEPLOYED.trial(policy, PLACE, seed=1, duration_ps=2 * MS, record_ps=2 * MS, decision_latency_ps=0)
    (outcome,) = run([trial])
    return Trajectories.of(outcome.records[1], policy.interface, DEPLOYED.places(PLACE, 1, 2 * MS))


@pytest.mark.parametrize("explore", [None, (0.5, 3)])
def test_a_teachers_records_say_when_its_trigger_fired_and_what_it_chose(explore: tuple[float, int] | None) -> None:
    made = teacher(5)
    states = driven(replace(native(made.policy, made.weights), explore_trigger=explore))
    fired, known = triggers(made, states)
    assert known.all()
    assert 0.02 < states.triggered().mean() < 0.98
    assert (fired == states.triggered()).all() == (explore is None)
    if explore is None:
        decided, _ = decide(made, states)
        assert (decided == np.stack(list(states.decided().values()), axis=1)).all()


def test_a_programs_records_are_what_it_says_of_them() -> None:
    student = triggered_student(4, fires=900)
    states = driven(interpreted(student))
    assert 0.02 < states.triggered().mean() < 0.98
    said = actions(student.program(), student.observation, student.params(), states, student.trigger)
    assert (said == np.stack(list(states.decided().values()), axis=1)).all()


def test_an_engine_takes_the_quiet_time_where_the_trigger_does_not_fire() -> None:
    cohort = Cohort(interpreted(triggered_student(4, fires=900)), 50 * US, 3 * US, Engines(1), quiet_ps=1 * US)
    simulation = Simulation(PLACE, by_name("dcqcn"), seed=1, record=True, cohorts=[cohort])
    simulation.run(1 * MS)
    assert simulation.engine_events(1)["holds"]
    fired = float(simulation.drain_records(1)["triggered"].mean())
    assert 0.02 < fired < 0.98
    assert simulation.metrics()["engine_service_mean_us"] == pytest.approx(1 + 2 * fired, rel=1e-6)


def test_a_quiet_time_without_engines_or_without_a_trigger_is_refused() -> None:
    knobs = {"kmin_bytes": 1, "kmax_bytes": 2, "pmax_q16": 3}
    with pytest.raises(InputError, match=r"decider .*trigger"):
        Cohort(fixed(QUEUE_MARKING, knobs), 50 * US, 3 * US, Engines(1), quiet_ps=1)
    with pytest.raises(InputError, match=r"decider .*trigger"):
        Cohort(interpreted(triggered_student(4)), 50 * US, 3 * US, quiet_ps=1)
