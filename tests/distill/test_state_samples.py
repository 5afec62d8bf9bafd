"""Uniform-state and frozen-signal samples: the student's own past, the teacher's labels, a small weight."""

from pathlib import Path

import numpy as np
import pytest

from decision.ir.forest import Forest, oblivious
from decision.policy.cells import act
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names
from distill.state_samples import state_samples
from teachers.inference import decide_states
from teachers.load import load

TEACHERS = Path(__file__).resolve().parents[2] / "fixtures/teachers"


@pytest.mark.parametrize(("name", "window"), [("rl-cc-mlp", 2), ("rl-cc-lstm-small", 3)])
def test_past_actions_are_the_students_and_labels_the_teachers(name: str, window: int) -> None:
    teacher = load(TEACHERS / name)
    policy = teacher.policy
    observation = policy.observation.with_window(window)
    ensemble = Forest(feature_names(observation), (oblivious(((1, 40_000),), (900, -1200)),), (100,), 16)
    student = Student("s", policy.header.model_copy(update={"observation": observation}), ensemble, teacher.hash)
    data = state_samples(student, teacher, 0.3, 5)
    assert data.weight.sum() == pytest.approx(0.3)
    flows = 1000
    first, second = data.x[:flows], data.x[flows : 2 * flows]
    assert not first[:, [0, *range(2, 2 * window)]].any()  # a new flow has no past
    assert np.array_equal(second[:, 0], act(student, first))
    assert np.array_equal(second[:, 3], first[:, 1])
    # Half of all congestions below a thousandth of the range, as on a logarithmic scale.
    assert 0.3 < np.mean(data.x[:, 1] < 2**14) < 0.9
    rows = [
        np.stack([f.float_of(x[:, n].astype(float)) for n, f in enumerate(observation.features)], 1)
        for x in (second, first)
    ]
    states = np.stack(rows, axis=1)
    assert data.y[flows : 2 * flows, 0] == pytest.approx(decide_states(teacher, states, 0)[:, 0] - 1.0)
    assert np.array_equal(data.x, state_samples(student, teacher, 0.3, 5).x)
    assert not np.array_equal(data.x, state_samples(student, teacher, 0.3, 6).x)


def test_frozen_signals_are_those_of_a_flow_that_sees_the_same_again_and_again() -> None:
    teacher = load(TEACHERS / "rl-cc-mlp")
    policy, observation = teacher.policy, teacher.policy.observation
    ensemble = Forest(feature_names(observation), (oblivious(((1, 40_000),), (900, -1200)),), (100,), 16)
    student = Student("s", policy.header.model_copy(update={"observation": observation}), ensemble, teacher.hash)
    data = state_samples(student, teacher, 0.3, 5, frozen=True)
    flows = 1000
    first, later = data.x[:flows], data.x[flows:].reshape(-1, flows, 4)
    assert not first[:, [0, 2, 3]].any()  # a new flow has no past
    assert len(np.unique(first[:, 1])) > flows / 2
    assert (later[..., [1, 3]] == first[None, :, [1, 1]]).all()
    for before, after in zip([first, *later[:-1]], later, strict=True):
        assert np.array_equal(after[:, 0], act(student, before))
    # Where a flood holds, its teacher slows a flow.
    flood = later[-1][:, 1] > 2**17
    assert (data.y[-flows:, 0][flood] < 0).all()
