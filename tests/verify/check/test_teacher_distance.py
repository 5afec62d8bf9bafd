"""The checker's own proof of a distance: it agrees with the prover's, and refuses whatever is not so."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from teacher_pairs import START, driven, policy, student, weights

from decision.policy.neighbourhood import Around
from decision.policy.policy import Policy
from decision.policy.student import Student
from verify.check import teacher_distance as module
from verify.check.refused import Refused
from verify.check.teacher_distance import CheckedTeacher, TeacherNetwork, _Space, distance_again
from verify.deviation.distance import actions_within, distance, rounding
from verify.deviation.histories import histories
from verify.deviation.network import Network
from verify.trusted.deviation import TeacherClaim

HASH = "a" * 64
AROUND = Around(0.2, 0.02)
CASES: list[tuple[dict[str, Any], int]] = [
    ({}, 0),
    ({"start": START}, 1),
    ({"hidden": (7, 5), "bias": True}, 2),
    ({"window": 1}, 3),
    ({"action": {"kind": "multiplier", "low": 0.5, "high": 1.5}}, 4),
]


def pair(case: int) -> tuple[Student, Policy, dict[str, Any]]:
    changes, seed = CASES[case]
    of = policy(**changes)
    return student(of, seed), of, weights(of, seed, gain=0.7)


@cache
def claimed(case: int, around: Around = AROUND) -> TeacherClaim:
    return distance(*pair(case), HASH, around)


def again(case: int, claim: TeacherClaim, **changes: Any) -> int:
    pupil, of, made = pair(case)
    return distance_again(claim.model_copy(update=changes), pupil, TeacherNetwork(of, made, HASH))


@pytest.mark.slow_except("around0-3", "around1-4", "around1-1", "around1-0")
@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("around", [AROUND, Around(0.4, 0.05)])
def test_what_the_prover_claims_is_found_again(case: int, around: Around) -> None:
    assert again(case, claimed(case, around)) > 0


@pytest.mark.parametrize("off", [1e-5, 5e-5])
def test_no_part_of_the_witness_is_believed_by_a_hair(off: float) -> None:
    """A range around the witness that is moved inwards past what is sure, and the distance with it."""
    _, of, made = pair(0)
    claim = claimed(0)
    sure = module._distance(
        CheckedTeacher.of(of, made), AROUND, np.array([*claim.witness.values()]), claim.student, 1.0
    )
    least = claim.around[0]
    with pytest.raises(Refused):
        again(0, claim, around=[least, claim.student - sure - off], reached=sure + off)
    with pytest.raises(Refused):
        again(0, claim, reached=claim.reached + off)


@pytest.mark.slow_except("2")
@pytest.mark.parametrize("seed", [2, 3])
def test_a_network_whose_float32_is_coarse_is_found_again_too(seed: int) -> None:
    """Two units of large weights that cancel: float32 can be 300 times as far off as with RL-CC's. In such a state the
    checker's means are coarser than the prover's by more than a constant."""
    of = policy(hidden=(8,), window=1)
    pupil, made = student(of, seed), weights(of, seed, gain=0.7)
    made["fc0.weight"][-2:] = made["fc0.weight"][0]
    made["out.weight"][:, -2:] = np.array([300.0, -300.0], np.float32)
    claim = distance(pupil, of, made, HASH, AROUND)
    assert distance_again(claim, pupil, TeacherNetwork(of, made, HASH)) > 0
    network, row = Network.of(of, made), np.array([[*claim.witness.values()]], dtype=float)
    low, high = AROUND.box(of.observation, row)
    assert rounding(network, low, high) > 1e-4
    least, most = actions_within(network, low, high)
    assert claim.around[0] < least < most < claim.around[1]


@pytest.mark.slow_except("0.0005-1", "0.01-0", "0.1-2")
@pytest.mark.parametrize("case", range(3))
@pytest.mark.parametrize("less", [0.0005, 0.01, 0.1])
def test_a_bound_that_is_too_low_is_refused_with_its_state(case: int, less: float) -> None:
    """Also where the witness is a state of less: an honest one of a student that is nearer to its teacher."""
    claim = claimed(case)
    with pytest.raises(Refused, match="its state is"):
        again(case, claim, bound=claim.reached - less)
    pupil, of, made = pair(case)
    space = _Space(pupil, 2, claim.step)
    nearer = _some_state(claim, CheckedTeacher.of(of, made), space, pupil)
    with pytest.raises(Refused, match="further outside"):
        again(case, nearer, bound=max(claim.reached - less, nearer.reached))


def _some_state(claim: TeacherClaim, network: CheckedTeacher, space: _Space, pupil: Student) -> TeacherClaim:
    """The claim with the state of a new flow in place of its own, and all that is said of it true."""
    row = np.zeros((1, 4), dtype=np.int64)
    action = float(module.act(pupil, row)[0]) / 2**16
    low, high = AROUND.box(network.observation, row.astype(float))
    ends = network.features(low), network.features(high)
    sure = [module._surely(network, np.minimum(*ends), np.maximum(*ends), action, sign) for sign in (1.0, -1.0)]
    return claim.model_copy(
        update={
            "witness": dict.fromkeys(claim.witness, 0),
            "student": action,
            "reached": max(*sure, 0.0),
            "around": [action + sure[1], action - sure[0]],
        }
    )


FORGED: dict[str, tuple[dict[str, Any], str]] = {
    "another teacher": ({"teacher": "b" * 64}, "is from the teacher bbbbbbbbbbbb, this one is aaaaaaaaaaaa"),
    "more than the state shows": ({"reached": 0.4}, "its state is"),
    "another action": ({"student": 0.123}, "the student's action is"),
    "a hair more than the state shows": ({"reached": 0.34}, "its state is"),
    "a wider range around": ({"around": [-1.0, 1.0]}, "its state is"),
    "a range that is too small": ({"around": [0.0, 0.0]}, "are not as the certificate says"),
    "fewer signals": ({"signals": {"congestion_q20": [0, 1000]}}, "is of signals"),
    "a feature too few": ({"witness": {"action_1": 0}}, "does not have what student and teacher see"),
    "a share of 1": ({"share": 1.0}, "below 1"),
    "steps without measure": ({"step": 3}, "more than can be followed"),
}


@pytest.mark.parametrize("name", FORGED)
def test_whatever_else_is_not_so_is_refused(name: str) -> None:
    changes, sentence = FORGED[name]
    with pytest.raises(Refused, match=sentence):
        again(0, claimed(0), **changes)


def test_a_state_that_nothing_leads_to_or_that_is_out_of_range_is_refused() -> None:
    claim = claimed(0)
    with pytest.raises(Refused, match="its range"):
        again(0, claim, witness=claim.witness | {"congestion_q20": 2**30})
    with pytest.raises(Refused, match="no network leads"):
        again(0, claim, witness=claim.witness | {"action_1": -10_923, "action_2": 13_107})


def test_another_student_or_a_teacher_that_is_not_followed_is_refused() -> None:
    claim, (pupil, of, made) = claimed(0), pair(0)
    other = pupil.with_parts(action=of.action.model_copy(update={"step": 0.3}))
    with pytest.raises(Refused, match="see and set"):
        distance_again(claim, other, TeacherNetwork(of, made, HASH))
    lstm = policy(window=1, lstm=4)
    with pytest.raises(Refused, match="no multilayer perceptron"):
        distance_again(claim, student(lstm, 0), TeacherNetwork(lstm, weights(lstm, 0), HASH))


@pytest.mark.parametrize("name", ["MAX_BOXES", "MAX_CELLS"])
def test_what_is_too_much_to_look_into_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = claimed(0)
    monkeypatch.setattr(module, name, 20)
    with pytest.raises(Refused, match="20"):
        again(0, claim)


@pytest.mark.parametrize("case", [0, 1])
@pytest.mark.parametrize("step", [300, 3000, 0])
def test_its_histories_hold_all_that_networks_lead_to(case: int, step: int) -> None:
    pupil, _, _ = pair(case)
    low, high = _Space(pupil, 2, step).histories(None)
    states = driven(pupil, 2, 5)
    behind = [0, 2, 3]
    inside = np.zeros(len(states), dtype=np.bool_)
    for least, most in zip(low[:, behind], high[:, behind], strict=True):
        inside |= ((states[:, behind] >= least) & (states[:, behind] <= most)).all(axis=1)
    assert inside.all()
    if step:
        theirs = histories(pupil, 2, step)
        assert len(theirs) == len(low), "both proofs find the same, each by itself"


@pytest.mark.parametrize("hidden", [(6,), (7, 5)])
def test_its_bound_over_a_box_is_below_everything_in_it(hidden: tuple[int, ...]) -> None:
    of = policy(hidden=hidden, bias=True)
    made = weights(of, 3)
    ours, theirs = CheckedTeacher.of(of, made), Network.of(of, made)
    random = np.random.default_rng(1)
    low = random.uniform(-3, 3, (200, 4))
    for width in (0.0, 0.1, 2.0):
        high = low + random.uniform(0, 1, (200, 4)) * width
        for sign in (1.0, -1.0):
            least = ours.least(low, high, np.full(200, sign))
            for _ in range(50):
                place = low + (high - low) * random.choice([0.0, 0.5, 1.0], (200, 4))
                output, error = theirs.outputs(place)
                assert (least <= sign * output - 0.99 * error).all()


@pytest.mark.parametrize("keys", [1 << 62, 200])
def test_boxes_are_merged_by_the_cell_of_their_low_end(keys: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_KEYS", keys)
    rng = np.random.default_rng(1)
    space = _Space.__new__(_Space)
    space.size, space.cuts = 4, [np.array([2, 5]), np.array([], dtype=np.int64), np.arange(0, 9, 2), np.array([7])]
    low = rng.integers(0, 10, size=(500, 4))
    high = low + rng.integers(0, 3, size=low.shape)
    wanted: dict[tuple[int, ...], list[int]] = {}
    for n, row in enumerate(low):
        cell = tuple(sum(int(value > cut) for cut in space.cuts[c]) for c, value in enumerate(row))
        wanted.setdefault(cell, []).append(n)
    cells, least, most = space._merged(low, high)
    assert [tuple(cell) for cell in cells.tolist()] == sorted(wanted)
    for cell, *ends in zip(map(tuple, cells.tolist()), least, most, strict=True):
        rows = wanted[cell]
        assert (ends[0] == low[rows].min(axis=0)).all()
        assert (ends[1] == high[rows].max(axis=0)).all()
    assert len(space._merged(low[:0], high[:0])[0]) == 0
