"""choice: the greatest sum's row, the lowest of equals, in floats as in integers; nothing beyond the table."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from maps import knobs_of, program_of
from pydantic import TypeAdapter, ValidationError

from decision.actions import AnyAction, Choice
from decision.errors import InputError
from decision.interfaces import FLOW_RATE, QUEUE_MARKING
from decision.program import Op

ROWS = [
    {"kmin_bytes": 20_000, "kmax_bytes": 80_000, "pmax_q16": 13_107},
    {"kmin_bytes": 5_000, "kmax_bytes": 200_000, "pmax_q16": 655},
    {"kmin_bytes": 400_000, "kmax_bytes": 400_000, "pmax_q16": 65_536},
    {"kmin_bytes": 0, "kmax_bytes": 2**31 - 1, "pmax_q16": 0},
]
INT32 = st.one_of(st.integers(-(2**31), 2**31 - 1), st.integers(-3, 3), st.sampled_from([-(2**31), 2**31 - 1]))


def choice(rows=ROWS):
    return Choice(kind="choice", rows=rows)


@st.composite
def choices_and_sums(draw):
    """A table of 2 to 12 rows, and sums that often are equal."""
    column = st.tuples(st.integers(0, 2**30), st.integers(0, 2**30), st.integers(0, 2**16))
    drawn = draw(st.lists(column, min_size=2, max_size=12, unique=True))
    rows = [{"kmin_bytes": kmin, "kmax_bytes": kmin + more, "pmax_q16": pmax} for kmin, more, pmax in drawn]
    each = st.lists(INT32, min_size=len(rows), max_size=len(rows))
    return choice(rows), np.array(draw(st.lists(each, min_size=1, max_size=20)), dtype=np.int64)


@given(choices_and_sums())
def test_the_integers_choose_the_floats_row(drawn):
    action, sums = drawn
    program = program_of(action)
    knobs = knobs_of(program, sums)
    assert knobs.tolist() == action.decided(sums.astype(np.float64)).astype(int).tolist()
    rows = [list(row.values()) for row in action.rows]
    for row, votes in zip(knobs.tolist(), sums.tolist(), strict=True):
        assert row == rows[votes.index(max(votes))]
    action.check_shown(program)


@example(8)
@given(st.integers(2, 9))
def test_all_equal_is_the_first_row(rows):
    action = choice([{**ROWS[0], "kmin_bytes": k} for k in range(rows)])
    assert knobs_of(program_of(action), np.zeros((1, rows), dtype=np.int64))[0, 0] == 0


def test_the_range_of_a_knob_is_its_columns():
    program = program_of(choice())
    ranges = [(program.nodes[result].low, program.nodes[result].high) for result in program.results]
    assert ranges == [(0, 400_000), (80_000, 2**31 - 1), (0, 65_536)]


def test_a_student_learns_which_row_was_chosen_and_loses_by_the_others():
    action = choice()
    logits = np.array([[0.0, 2.0, 1.0, 2.0], [3.0, 0.0, 0.0, 0.0]])
    label = action.label(action.decided(logits))
    assert label.tolist() == [[0, 1, 0, 0], [1, 0, 0, 0]]
    assert not action.squashed
    assert action.sums == action.outputs == 4
    assert action.loss(np.array([[0.2, 0.3, 0.3, 0.2], [0.1, 0.2, 0.0, 0.0]]), label, np.array([1.0, 3.0])) == 0.75
    with pytest.raises(InputError, match="is no row of the action's table"):
        action.label(np.array([[1.0, 2.0, 3.0]]))


def test_a_program_that_reads_another_row_is_not_shown():
    action = choice()
    program = program_of(action)
    with pytest.raises(InputError, match="does not read its knobs from one row"):
        action.check_shown(replace(program, results=program.results[::-1]))
    with pytest.raises(InputError, match="does not read its knobs from one row"):
        action.check_shown(replace(program, tables=(program.tables[0][::-1], *program.tables[1:])))
    index = program.nodes[program.results[1]].args[0]
    other = next(n for n, node in enumerate(program.nodes) if node.op is Op.SELECT and n != index)
    nodes = list(program.nodes)
    nodes[program.results[1]] = replace(nodes[program.results[1]], args=(other,))
    with pytest.raises(InputError, match="does not read its knobs from one row"):
        action.check_shown(replace(program, nodes=tuple(nodes)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kmax_bytes": 19_999}, "row 1: kmax_bytes is below kmin_bytes"),
        ({"pmax_q16": 65_537}, "row 1: pmax_q16 is 65537, not 0 to 65536"),
        ({"kmin_bytes": -1}, "row 1: kmin_bytes is -1, not 0 to 2147483647"),
    ],
)
def test_rows_that_the_interface_does_not_take(change, message):
    with pytest.raises(ValueError, match=message):
        choice([ROWS[0], ROWS[0] | change]).check(QUEUE_MARKING)


def test_a_choice_sets_all_knobs_of_agents_that_keep_none():
    choice().check(QUEUE_MARKING)
    with pytest.raises(ValueError, match="a row sets a; it must set kmin_bytes, kmax_bytes, pmax_q16, in this order"):
        choice([{"a": 1}, {"a": 2}]).check(QUEUE_MARKING)
    with pytest.raises(ValueError, match="choice sets knobs anew, and agents of flow_rate go on from their rate_q30"):
        choice([{"rate_q20": 1}, {"rate_q20": 2}]).check(FLOW_RATE)


@pytest.mark.parametrize(
    "rows", [[{"a": 1}], [{"a": 1}, {"b": 1}], [{"a": 1}, {"a": 1}], [{"a": 1.5}, {"a": 1}], [{"a": True}, {"a": 2}]]
)
def test_refused(rows):
    with pytest.raises(ValidationError):
        TypeAdapter(AnyAction).validate_python({"kind": "choice", "rows": rows})
