"""The claim: its witness can be evaluated again, its ends are sure, and what cannot be compared is refused."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from teacher_pairs import START, driven, policy, student, weights

from decision.artefact.errors import InputError
from decision.ir.forest import oblivious
from decision.policy.cells import act
from decision.policy.neighbourhood import Around
from teachers.inference import decide_states
from teachers.teacher import make_teacher
from verify.deviation import distance as module
from verify.deviation.distance import actions_within, distance
from verify.deviation.network import Network
from verify.trusted.deviation import TeacherClaim

AROUND = Around(0.2, 0.02)


def claimed(seed: int = 0, **changes: Any) -> TeacherClaim:
    of = policy(**changes)
    return distance(student(of, seed), of, weights(of, seed), "a" * 64, AROUND)


@pytest.mark.parametrize("seed", range(4))
def test_student_and_teacher_at_the_witness_are_as_far_apart_as_is_said(seed: int) -> None:
    claim, of = claimed(seed), policy()
    pupil, teacher = student(of, seed), make_teacher(of, weights(of, seed), "the test")
    assert tuple(claim.witness) == pupil.forest.features
    row = np.array([list(claim.witness.values())])
    assert claim.student == act(pupil, row)[0] / 2**16
    low, high = AROUND.box(of.observation, row.astype(float))
    places = low + (high - low) * np.asarray(list(product(np.linspace(0, 1, 9), repeat=4)))
    seen = Network.of(of, teacher.weights).features(places).reshape(len(places), 2, 2)
    told = decide_states(teacher, seen, 0)[:, 0] - 1.0
    assert claim.around == pytest.approx([told.min(), told.max()], abs=2e-3)
    assert claim.around[0] <= told.min()
    assert claim.around[1] >= told.max()
    off = max(claim.student - told.max(), told.min() - claim.student)
    assert claim.reached <= off
    assert off == pytest.approx(claim.bound, abs=2e-3)
    assert claim.reached <= claim.bound <= claim.reached + 2 * module.TOLERANCE


def test_the_same_pair_has_the_same_claim_and_it_can_be_read_again() -> None:
    claim = claimed()
    assert claimed() == claim
    assert TeacherClaim.model_validate_json(claim.model_dump_json()) == claim
    assert claim.signals == {"congestion_q20": [0, 2**24 - 1]}


def test_with_a_start_there_are_more_states() -> None:
    bounds = [claimed(3, start=start).bound for start in (None, START)]
    assert bounds[0] <= bounds[1]


@pytest.mark.parametrize("hidden", [(6,), (7, 5)])
def test_actions_within_a_box_are_those_of_a_fine_grid(hidden: tuple[int, ...]) -> None:
    of = policy(hidden=hidden, bias=True)
    network = Network.of(of, weights(of, 2))
    for row in driven(student(of, 1), 2, 1)[500:3000:500].astype(float):
        low, high = AROUND.box(of.observation, row[None])
        places = low + (high - low) * np.asarray(list(product(np.linspace(0, 1, 9), repeat=4)))
        ends = network.actions(network.outputs(network.features(places))[0])
        least, most = actions_within(network, low, high)
        assert least <= ends[1].min()
        assert most >= ends[0].max()
        assert (least, most) == pytest.approx((ends[0].min(), ends[1].max()), abs=2e-3)


def test_a_search_in_pieces_that_is_given_up_is_a_bound_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    of = policy()
    network = Network.of(of, weights(of, 2))
    low, high = np.array([[-5000.0, 10_000.0, -5000.0, 10_000.0]]), np.array([[5000.0, 40_000.0, 5000.0, 40_000.0]])
    sure = actions_within(network, low, high)
    monkeypatch.setattr(module, "MAX_PIECES", 1)
    wide = actions_within(network, low, high)
    assert wide[0] < sure[0]
    assert wide[1] > sure[1]


def test_what_the_teacher_does_not_see_or_do_is_refused() -> None:
    of = policy()
    pupil = student(of, 0)
    others = {
        "observation": pupil.with_parts(observation=of.observation.model_copy(update={"base_rtt": 4096})),
        "action": pupil.with_parts(action=of.action.model_copy(update={"step": 0.3})),
        "limits": pupil.with_parts(limits=of.limits.model_copy(update={"rate_min": 2000})),  # type: ignore[union-attr]
        "start": pupil.with_parts(start=policy(start=START).start),
    }
    for name, other in others.items():
        with pytest.raises(InputError, match=f"student's {name} "):
            distance(other, of, weights(of, 0), "a" * 64, AROUND)
    lstm = policy(window=1, lstm=4)
    with pytest.raises(InputError, match="is an LSTM"):
        distance(student(lstm, 0, window=2), lstm, weights(lstm, 0), "a" * 64, AROUND)


def test_a_bit_that_is_clear_is_judged_by_itself_also_without_any_history() -> None:
    """The student brakes always, the teacher only at a NACK: with one around a state without, nothing would be seen."""
    of = policy(features=[{"kind": "present", "signal": "nack_count"}], window=1, hidden=(1,), bias=True)
    brakes = np.array([[-10.0]], np.float32)
    teacher = {"fc0.weight": -brakes / 10, "fc0.bias": np.zeros(1, np.float32)}
    teacher |= {"out.weight": brakes, "out.bias": np.array([5.0], np.float32)}
    drawn = student(of, 1, trees=1, depth=1)
    always = oblivious(((0, 0),), (-10_922, -10_922))
    pupil = replace(drawn, forest=replace(drawn.forest, trees=(always,), bias=(0,)))
    claim = distance(pupil, of, teacher, "a" * 64, AROUND)
    assert claim.bound == pytest.approx(0.2 + 1 / 6, abs=1e-2)
    assert list(claim.witness.values()) == [0]
