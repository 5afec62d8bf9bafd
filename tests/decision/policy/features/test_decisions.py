"""The feature that counts an agent's decisions: in the program's context, in rows of records, in floats."""

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student
from pydantic import ValidationError

from decision.ir.forest import oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE, flow_interface
from decision.ir.interpret import evaluate
from decision.policy.features import Decisions
from decision.policy.policy import Observation
from decision.policy.records import Trajectories, record_columns
from decision.policy.start import Start

MOST = 5
COUNTING = [FEATURES["rate"], {"kind": "decisions", "most": MOST}]
LATER = oblivious(((1, 2),), (0, 6554))
"""Faster from the fourth decision on."""


def student(window=1, start=False):
    one = make_student(COUNTING, ACTIONS[0], (LATER,), window=window)
    if not start:
        return one
    observation = one.observation.model_copy(update={"interface": flow_interface(("start",)).name})
    return one.with_parts(observation=observation, start=Start())


def run(program, params, decisions, context=None):
    """The contexts after each of so many decisions on an RTT that no phase cares about."""
    event = dict.fromkeys(program.interface.event_names, 0) | {"response_ns": 8 * 8192}
    contexts, context = [], context or {field.name: 0 for field in program.state}
    for _ in range(decisions):
        _, context = evaluate(program, event, params, context)
        contexts.append({name: int(values[0]) for name, values in context.items()})
    return contexts


@pytest.mark.parametrize("start", [False, True])
def test_a_context_counts_up_to_most(start):
    """Whoever makes a step, it counts."""
    one = student(start=start)
    contexts = run(one.program(), one.params(), 9)
    assert [c["decisions_made"] for c in contexts] == [1, 2, 3, 4, 5, 6, 6, 6, 6]


def test_trees_see_the_decisions_before():
    one = student()
    slow = one.params() | {"rate_initial_q30": 1 << 20}
    rates = [c["rate_q30"] for c in run(one.program(), slow, 5)]
    assert rates[:3] == [1 << 20] * 3
    assert rates[2] < rates[3] < rates[4]


@pytest.mark.parametrize("kept", [MOST, MOST + 1, 65535])
def test_whatever_a_context_holds_is_at_most_most(kept):
    one = student()
    (after,) = run(one.program(), one.params(), 1, {"rate_q30": 1 << 20, "decisions_made": kept})
    assert after["decisions_made"] == MOST + 1


def test_it_costs_a_field_only_where_a_tree_looks_at_it():
    blind = make_student(COUNTING, ACTIONS[0], (oblivious(((0, 9000),), (0, 6554)),))
    assert [field.name for field in blind.program().state] == ["rate_q30"]


@pytest.mark.parametrize("window", [1, 3])
def test_rows_know_their_number_wherever_records_begin(window):
    observation = student(window).observation
    step = np.array([3, 4, 5, 6, 7, 0, 1, 2], dtype=np.uint32)
    records = {name: np.zeros(step.size, dtype=kind) for name, kind in record_columns(FLOW_RATE).items()}
    records |= {"t_ps": np.arange(step.size), "step": step, "rate_q30": np.full(step.size, 1 << 20, np.uint32)}
    t = Trajectories.of(records)
    floats, valid = t.float_rows(observation)
    integers, same = t.integer_rows(observation, student().params())
    np.testing.assert_array_equal(valid, same)
    assert valid.tolist() == [window == 1] * 2 + [True] * 6 if window == 3 else valid.all()
    for lag in range(window):
        counted = np.minimum(np.maximum(step.astype(int) - lag, 0), MOST)[valid]
        np.testing.assert_array_equal(integers[valid, 2 * lag + 1], counted)
        np.testing.assert_allclose(floats[valid, 2 * lag + 1], counted / MOST, rtol=1e-15)


def test_its_words(wording):
    feature = Decisions(kind="decisions", most=MOST)
    assert feature.name == "decisions"
    assert feature.exact
    assert feature.initial == 0.0
    wording(feature.physical(2))
    wording(feature.meaning())


@pytest.mark.parametrize("most", [0, 65535, 1.5, True])
def test_what_16_bits_cannot_count_is_refused(most):
    with pytest.raises(ValidationError):
        Decisions(kind="decisions", most=most)


def test_it_stands_once():
    path = {"base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms", "window": 1}
    with pytest.raises(ValidationError, match="stands twice"):
        Observation.model_validate(path | {"features": [COUNTING[1], COUNTING[1] | {"most": 9}]})
