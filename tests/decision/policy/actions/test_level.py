"""level: a knob between its ends, ascending where it must be; a student's label gives the teacher's integer back."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps import knobs_of, program_of
from pydantic import ValidationError

from decision.artefact.errors import InputError
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.policy.actions import Level
from decision.policy.actions.level import LEAF_BITS

INT32 = st.one_of(st.integers(-(2**31), 2**31 - 1), st.integers(-2, 2**16 + 2))


def level(kmin=(1_000, 400_000), kmax=(5_000, 2_000_000), pmax=(655, 65_536)):
    ends = {"kmin_bytes": kmin, "kmax_bytes": kmax, "pmax_q16": pmax}
    knobs = {name: {"low": low, "high": high} for name, (low, high) in ends.items()}
    knobs["kmax_bytes"]["not_below"] = "kmin_bytes"
    return Level.model_validate({"kind": "level", "knobs": knobs})


def two(most):
    return st.lists(st.integers(0, most), min_size=2, max_size=2, unique=True).map(sorted).map(tuple)


levels = st.builds(level, two(2**31 - 1), two(2**31 - 1), two(2**16))


@given(levels, st.lists(st.tuples(INT32, INT32, INT32), min_size=1, max_size=20))
def test_the_integers_lie_between_the_ends_and_ascend(action, sums):
    program = program_of(action)
    knobs = knobs_of(program, np.array(sums, dtype=np.int64))
    for (kmin, kmax, pmax), row in zip(knobs.tolist(), sums, strict=True):
        share = [min(max(s, 0), 1 << LEAF_BITS) for s in row]
        plain = [e.low + (s * (e.high - e.low) >> LEAF_BITS) for s, e in zip(share, action.knobs.values(), strict=True)]
        assert [kmin, kmax, pmax] == [plain[0], max(plain[0], plain[1]), plain[2]]
    action.check_shown(program)


@given(st.integers(0, 2**20), st.integers(1, 2**LEAF_BITS), st.lists(st.floats(-1.5, 1.5), min_size=1))
def test_a_student_that_learned_its_label_sets_the_teachers_knob(low, span, outputs):
    """As long as a unit of the sum is not more than half a unit of the knob; beyond that, to within one."""
    action = level((low, low + span), (low, low + span), (0, span))
    teacher = action.decided(np.repeat(np.array(outputs)[:, None], 3, axis=1))
    learned = np.rint(action.label(teacher) * 2**LEAF_BITS).astype(np.int64)
    off = np.abs(knobs_of(program_of(action), learned) - teacher)
    assert off.max() <= (span > 2**LEAF_BITS // 2)


def test_the_floats_span_their_ends_clip_and_ascend():
    action = level()
    outputs = np.array([[-2.0, -1.0, 0.0], [1.0, -1.0, 1.0], [0.0, 5.0, -5.0]])
    assert action.decided(outputs).tolist() == [
        [1_000, 5_000, 33_096], [400_000, 400_000, 65_536], [200_500, 2_000_000, 655],
    ]  # fmt: skip
    assert action.squashed
    assert action.sums == action.outputs == 3


def test_the_range_of_a_knob_is_between_its_ends():
    program = program_of(level((10, 20), (5, 30), (0, 9)))
    ranges = [(program.nodes[result].low, program.nodes[result].high) for result in program.results]
    assert ranges == [(10, 20), (10, 30), (0, 9)]


def test_what_does_not_ascend_or_leaves_its_ends_is_not_shown():
    action = level()
    program = program_of(action)
    kmin, kmax, pmax = program.results
    plain = next(n for n in program.nodes[kmax].args if n != kmin)
    with pytest.raises(InputError, match=r"kmax_bytes .*below kmin_bytes"):
        action.check_shown(replace(program, results=(kmin, plain, pmax)))
    with pytest.raises(InputError, match=r"pmax_q16 can reach 5000\.\.2000000, beyond 655\.\.65536"):
        action.check_shown(replace(program, results=(kmin, kmax, plain)))
    apart = level((10, 20), (20, 30))  # ranges that meet in one value ascend without a comparison
    shown = program_of(apart)
    lowest = next(n for n in shown.nodes[shown.results[1]].args if n != shown.results[0])
    apart.check_shown(replace(shown, results=(shown.results[0], lowest, shown.results[2])))


def test_the_loss_weighs_knobs_by_their_span():
    action = level()
    label = action.label(np.array([[1_000.0, 5_000.0, 655.0]]))
    off = label + np.array([[0.0, 0.3, 0.0]])
    assert action.loss(off, label, np.ones(1)) == pytest.approx(0.3 / np.sqrt(3))


def test_ends_that_the_interface_does_not_take():
    level().check(QUEUE_MARKING)
    with pytest.raises(ValueError, match=r"pmax_q16 .*0 to 65537, .*0\.\.65536"):
        level(pmax=(0, 65_537)).check(QUEUE_MARKING)
    with pytest.raises(ValueError, match=r"level .*flow_rate"):
        level().check(FLOW_RATE)
    knobs = level().model_dump()["knobs"]
    with pytest.raises(ValueError, match=r"sets pmax_q16; .*kmin_bytes, kmax_bytes, pmax_q16, .*order"):
        Level.model_validate({"kind": "level", "knobs": {"pmax_q16": knobs["pmax_q16"]}}).check(QUEUE_MARKING)
    knobs["kmax_bytes"]["not_below"] = None
    with pytest.raises(ValueError, match='kmax_bytes needs not_below = "kmin_bytes": so has it the interface'):
        Level.model_validate({"kind": "level", "knobs": knobs}).check(QUEUE_MARKING)


@pytest.mark.parametrize(
    "ends",
    [{"low": 2, "high": 2}, {"low": 0.5, "high": 2}, {"low": 0, "high": 2, "not_below": "b"}, {"low": 0}],
)
def test_refused(ends):
    with pytest.raises(ValidationError):
        Level.model_validate({"kind": "level", "knobs": {"a": ends, "b": {"low": 0, "high": 1}}})
