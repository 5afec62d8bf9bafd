"""choice: the greatest sum's row, the lowest of equals, in floats as in integers; nothing beyond the table."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from maps import knobs_of, program_of
from pydantic import TypeAdapter, ValidationError

from decision.artefact.errors import InputError
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.ir.program import Op
from decision.ir.tape import Reading, evaluate
from decision.policy.actions import AnyAction, Choice

ROWS = [
    {"kmin_bytes": 20_000, "kmax_bytes": 80_000, "pmax_q16": 13_107},
    {"kmin_bytes": 5_000, "kmax_bytes": 200_000, "pmax_q16": 655},
    {"kmin_bytes": 400_000, "kmax_bytes": 400_000, "pmax_q16": 65_536},
    {"kmin_bytes": 0, "kmax_bytes": 2**31 - 1, "pmax_q16": 0},
]
INT32 = st.one_of(st.integers(-(2**31), 2**31 - 1), st.integers(-3, 3), st.sampled_from([-(2**31), 2**31 - 1]))


KMIN = [{"kmin_bytes": 20_000}, {"kmin_bytes": 40_000}, {"kmin_bytes": 80_000}]
KMAX = [{"kmax_bytes": 80_000}, {"kmax_bytes": 400_000}]
PMAX = [{"pmax_q16": 655}, {"pmax_q16": 65_536}]


def choice(rows=ROWS):
    return Choice(kind="choice", rows=rows)


def factored(*groups):
    return Choice(kind="choice", groups=list(groups or (KMIN, KMAX, PMAX)))


@st.composite
def groups_and_sums(draw):
    """Each knob in a group of its own, of 2 to 6 rows; sums that often are equal."""
    kmin = draw(st.lists(st.integers(0, 2**20), min_size=2, max_size=6, unique=True))
    kmax = draw(st.lists(st.integers(2**20, 2**30), min_size=2, max_size=6, unique=True))
    pmax = draw(st.lists(st.integers(0, 2**16), min_size=2, max_size=6, unique=True))
    columns = {"kmin_bytes": kmin, "kmax_bytes": kmax, "pmax_q16": pmax}
    action = factored(*([{name: value} for value in values] for name, values in columns.items()))
    each = st.lists(INT32, min_size=action.outputs, max_size=action.outputs)
    return action, np.array(draw(st.lists(each, min_size=1, max_size=20)), dtype=np.int64)


@given(groups_and_sums())
def test_each_group_chooses_its_own_greatest(drawn):
    action, sums = drawn
    program = program_of(action)
    knobs = knobs_of(program, sums)
    assert knobs.tolist() == action.decided(sums.astype(np.float64)).astype(int).tolist()
    for row, votes in zip(knobs.tolist(), sums.tolist(), strict=True):
        for table, value in zip(action.groups, row, strict=True):
            its, votes = votes[: len(table)], votes[len(table) :]
            assert table[its.index(max(its))] == {next(iter(table[0])): value}
    action.check_shown(program)


def test_a_factored_choice_is_one_number_and_a_label_a_group():
    action = factored()
    action.check(QUEUE_MARKING)
    assert (action.outputs, action.sizes, action.values) == (7, (3, 2, 2), ("kmin_bytes", "kmax_bytes", "pmax_q16"))
    outputs = np.array([[0.0, 2.0, 1.0, 0.0, 1.0, 3.0, 0.0], [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0]])
    assert action.chosen(outputs).tolist() == [1 * 4 + 1 * 2 + 0, 2 * 4 + 0 * 2 + 1]
    label = action.label(action.decided(outputs))
    assert label.tolist() == [[0, 1, 0, 0, 1, 1, 0], [0, 0, 1, 1, 0, 0, 1]]
    wrong = outputs.copy()
    wrong[0, 3] = 2.0  # another Kmax, and nothing else
    assert action.loss(wrong, label, np.array([1.0, 3.0])) == 0.25
    tape = action.tape()
    said = evaluate(tape, Reading(outputs=outputs))[tape.results[0]]
    assert said.tolist() == action.chosen(outputs).tolist()
    with pytest.raises(InputError, match="no row"):
        action.label(np.array([[20_000.0, 80_000.0, 656.0]]))


def test_a_program_that_reads_another_groups_row_is_not_shown():
    action = factored()
    program = program_of(action)
    with pytest.raises(InputError, match="knobs from one"):
        action.check_shown(replace(program, results=(program.results[1], program.results[0], program.results[2])))
    pair = factored(KMIN, [{**kmax, **pmax} for kmax, pmax in zip(KMAX, PMAX, strict=True)])
    program = program_of(pair)
    nodes = list(program.nodes)
    nodes[program.results[2]] = replace(nodes[program.results[2]], args=nodes[program.results[0]].args)
    with pytest.raises(InputError, match="knobs from one"):
        pair.check_shown(replace(program, nodes=tuple(nodes)))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (
            [KMIN, [{"kmax_bytes": 79_999}, {"kmax_bytes": 400_000}], PMAX],
            "kmax_bytes of 79999",
        ),
        ([KMIN, KMAX], "set kmin_bytes, kmax_bytes; .*kmin_bytes, kmax_bytes, pmax_q16"),
        ([KMAX, KMIN, PMAX], "set kmax_bytes, kmin_bytes, pmax_q16; "),
        ([KMIN, KMAX, [{"pmax_q16": 655}, {"pmax_q16": 65_537}]], "group 2, row 1: pmax_q16 .*65537, .*0 to 65536"),
    ],
)
def test_groups_that_the_interface_does_not_take(groups, message):
    with pytest.raises(ValueError, match=message):
        factored(*groups).check(QUEUE_MARKING)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({}, "rows .*or groups"),
        ({"rows": ROWS, "groups": [KMIN, KMAX]}, "rows .*or groups"),
        ({"groups": [KMIN]}, "at least 2"),
        ({"groups": [KMIN, KMAX[:1]]}, "at least 2"),
        ({"groups": [KMIN, [*KMAX, {"pmax_q16": 1}]]}, "group 1, row 2 .*pmax_q16, row 0 .*kmax_bytes"),
        ({"groups": [[*KMIN, KMIN[0]], KMAX]}, "group 0, row 3 .*twice"),
        ({"groups": [[{"a": n} for n in range(200)], [{"b": n} for n in range(57)]]}, "together have 257 rows"),
    ],
)
def test_what_is_no_choice_is_refused_by_a_sentence(written, message):
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(AnyAction).validate_python({"kind": "choice", **written})


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
    with pytest.raises(InputError, match="no row"):
        action.label(np.array([[1.0, 2.0, 3.0]]))


def test_a_program_that_reads_another_row_is_not_shown():
    action = choice()
    program = program_of(action)
    with pytest.raises(InputError, match="knobs from one"):
        action.check_shown(replace(program, results=program.results[::-1]))
    with pytest.raises(InputError, match="knobs from one"):
        action.check_shown(replace(program, tables=(program.tables[0][::-1], *program.tables[1:])))
    index = program.nodes[program.results[1]].args[0]
    other = next(n for n, node in enumerate(program.nodes) if node.op is Op.SELECT and n != index)
    nodes = list(program.nodes)
    nodes[program.results[1]] = replace(nodes[program.results[1]], args=(other,))
    with pytest.raises(InputError, match="knobs from one"):
        action.check_shown(replace(program, nodes=tuple(nodes)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kmax_bytes": 19_999}, "row 1: kmax_bytes is below kmin_bytes"),
        ({"pmax_q16": 65_537}, "row 1: pmax_q16 .*65537, .*0 to 65536"),
        ({"kmin_bytes": -1}, "row 1: kmin_bytes .*-1, .*0 to 2147483647"),
    ],
)
def test_rows_that_the_interface_does_not_take(change, message):
    with pytest.raises(ValueError, match=message):
        choice([ROWS[0], ROWS[0] | change]).check(QUEUE_MARKING)


def test_a_choice_sets_all_knobs_of_agents_that_keep_none():
    choice().check(QUEUE_MARKING)
    with pytest.raises(ValueError, match=r"sets a; .*kmin_bytes, kmax_bytes, pmax_q16, .*order"):
        choice([{"a": 1}, {"a": 2}]).check(QUEUE_MARKING)
    with pytest.raises(ValueError, match=r"choice .*flow_rate .*rate_q30"):
        choice([{"rate_q20": 1}, {"rate_q20": 2}]).check(FLOW_RATE)


@pytest.mark.parametrize(
    "rows", [[{"a": 1}], [{"a": 1}, {"b": 1}], [{"a": 1}, {"a": 1}], [{"a": 1.5}, {"a": 1}], [{"a": True}, {"a": 2}]]
)
def test_refused(rows):
    with pytest.raises(ValidationError):
        TypeAdapter(AnyAction).validate_python({"kind": "choice", "rows": rows})
