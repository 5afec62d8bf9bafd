"""Distilling what decides at the queues of switch ports: several knobs, from rollouts to a program that sets them."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import TypeAdapter
from queue_actions import LEVEL, choice

from decision.artefact.errors import InputError
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.policy.features import AnyFeature
from decision.policy.policy import Policy
from decision.policy.student import load_student
from decision.policy.weights import shapes
from distill import rollout
from distill.dataset import worth
from distill.distil import distil, save
from distill.options import DistillOptions, RolloutOptions
from netsim.baselines import by_name
from netsim.deployment import Deployment
from netsim.network import MS, US
from teachers.inference import decide
from teachers.teacher import Teacher, make_teacher

DEPLOYMENT = Deployment(flows=by_name("dcqcn"), interface=QUEUE_MARKING, period_ps=50 * US)
ROLLOUTS = RolloutOptions.model_validate(
    {"scenarios": ["many-to-one:8", "many-to-one:32"], "seeds": [1], "duration": "20 ms", "decision_latency": "3 us"}
)
OPTIONS = {"trees": 10, "depth": 4, "rounds": 1, "comparison_window": ("5 ms", "20 ms"), "rows": 2000}
CHOICE = choice(((5_000, 655), (40_000, 13_107), (320_000, 65_536)))


def teacher_of(action: dict[str, Any]) -> Teacher:
    """A long queue asks for high thresholds, one that has just grown for low ones."""
    policy = Policy.model_validate(
        {
            "format": 1,
            "name": "queues",
            "architecture": {"kind": "mlp", "hidden": [4], "bias": True},
            "observation": {
                "interface": "queue_marking",
                "window": 2,
                "params": {"capacity_bytes": 50 * US // 80},
                "features": [
                    {"kind": "level", "signal": "queue_bytes", "unit": 65_536, "fraction_bits": 8},
                    {"kind": "ratio", "of": "marked_bytes", "over": "sent_bytes"},
                ],
            },
            "action": action,
        }
    )
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes(policy).items()}
    weights["fc0.weight"][:2, [0, 2]] = [[1.0, 0.0], [1.0, -1.0]]
    weights["fc0.weight"][2, 1] = 4.0
    outputs: NDArray[np.float32] = np.array([[-1.0, 0.5, 0.5, 0], [0, 0.2, -0.5, 0], [1.0, -0.5, 0, 0]], np.float32)
    weights["out.weight"][:] = outputs
    weights["out.bias"][:] = [0.5, 0.3, -0.5]
    return make_teacher(policy, weights, "here")


@pytest.mark.parametrize(
    ("action", "labels"),
    [(CHOICE, "decisions"), (CHOICE, "values"), (LEVEL, "decisions")],
    ids=["choice", "choice by its values", "level"],
)
def test_a_student_of_several_knobs_decides_as_its_teacher_mostly_does(
    action: dict[str, Any], labels: str, tmp_path
) -> None:
    teacher = teacher_of(action)
    runs = rollout.collect(rollout.teacher_policy(teacher), ROLLOUTS, DEPLOYMENT)
    rollout.write(runs, teacher, tmp_path / "rollouts", ROLLOUTS, DEPLOYMENT)
    back = list(rollout.read(tmp_path / "rollouts", teacher, DEPLOYMENT))
    for run, again in zip(runs, back, strict=True):
        np.testing.assert_equal(dict(run.trajectories.columns), dict(again.trajectories.columns))

    options = DistillOptions.model_validate(OPTIONS | {"labels": labels})
    fitted = distil(teacher, back, options, ROLLOUTS, seed=1, deployment=DEPLOYMENT)
    save(fitted, "0" * 64, tmp_path / "student", seed=1)
    student = load_student(tmp_path / "student" / "student.json")
    assert student == fitted.student
    assert student.forest.outputs == 3
    assert student.program().interface is QUEUE_MARKING

    (held,) = rollout.collect(
        rollout.teacher_policy(teacher),
        ROLLOUTS.model_copy(update={"scenarios": ["many-to-one:16"], "seeds": [9]}),
        DEPLOYMENT,
    )
    told, _ = decide(teacher, held.trajectories)
    rows, _ = held.trajectories.integer_rows(student.observation, student.params())
    sums = student.forest.evaluate(rows) / 2**student.forest.leaf_bits
    label = student.action.label(told)
    weight = np.ones(len(told))
    loss = student.action.loss(sums, label, weight)
    constant = min(
        student.action.loss(np.tile(each, (len(label), 1)), label, weight) for each in [*np.unique(label, axis=0)]
    )
    assert loss < 0.5 * constant


def test_what_a_row_is_worth_keeps_the_greatest_and_weighs_by_the_difference() -> None:
    values = np.array([[1.0, 3.0, 2.0], [10.0, 10.0, 10.1]])
    told = worth(values)
    np.testing.assert_array_equal(told.argmax(axis=1), values.argmax(axis=1))
    np.testing.assert_allclose(told.mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(np.ptp(told, axis=1), np.array([2.0, 0.1]) / 1.05)
    assert not worth(np.ones((2, 3))).any()  # of equals nothing is to be told


def test_only_a_choice_has_values() -> None:
    options = DistillOptions.model_validate(OPTIONS | {"labels": "values"})
    with pytest.raises(InputError, match=r"distill\.labels: .*choice .*level"):
        distil(teacher_of(LEVEL), [], options, ROLLOUTS, seed=1, deployment=DEPLOYMENT)


@pytest.mark.parametrize("option", ["uniform_state_samples", "max_deviation"])
def test_states_from_anywhere_and_distances_are_those_of_flows(option: str) -> None:
    teacher = teacher_of(CHOICE)
    options = DistillOptions.model_validate(OPTIONS | {option: 0.1})
    with pytest.raises(InputError, match=rf"distill\.{option} .*multiplies"):
        distil(teacher, [], options, ROLLOUTS, seed=1, deployment=DEPLOYMENT)


def test_what_each_port_was_told_is_known_of_its_records() -> None:
    """On ports of 25 and 100 Gb/s the share of what a port can send is its own: of no row above 1."""
    teacher = teacher_of(CHOICE)
    observation = {"kind": "ratio", "of": "sent_bytes", "over": "capacity_bytes"}
    observed = teacher.policy.observation.model_copy(
        update={"features": [TypeAdapter(AnyFeature).validate_python(observation)], "window": 1}
    )
    network = ROLLOUTS.model_copy(update={"scenarios": ["many-to-one:3@leaf-spine:2x2x1:25/100"], "duration": 2 * MS})
    (run,) = rollout.collect(rollout.teacher_policy(teacher), network, DEPLOYMENT)
    capacity = run.trajectories.places["capacity_bytes"]
    assert len(set(capacity.tolist())) == 2
    columns = run.trajectories.columns
    share = columns["sent_bytes"] // 256 / (capacity[columns["queue"]] // 256)
    np.testing.assert_array_equal(run.trajectories.float_rows(observed)[0][:, 0], np.minimum(share, 1.0))
    assert (share > 0.5).any()
