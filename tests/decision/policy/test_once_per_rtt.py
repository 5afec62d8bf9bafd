"""At most one decision a round trip: which answers are late, and that they leave a context as it is."""

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, drawn_students, make_student
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from reproducible import examples

from decision.ir.formats import U32_MAX
from decision.ir.interfaces.flow_rate import FLOW_RATE, LINE_RATE_Q30, flow_interface
from decision.ir.interpret import evaluate, trace
from decision.policy.in_flight import InFlight
from decision.policy.once_per_rtt import DECIDED, decides_once, late_program
from decision.policy.policy import Header
from decision.policy.start import Start
from decision.policy.student import Student

WINDOW = 1 << 22
WORDS = st.integers(0, U32_MAX)


def late(decided_ns: int, sent_ns: int, rate: int = 1000) -> int:
    program, node = late_program(FLOW_RATE)
    event = dict.fromkeys(FLOW_RATE.event_names, 0) | {"request_sent_ns": sent_ns}
    context = {"rate_q30": rate, DECIDED: decided_ns}
    return int(trace(program, event, dict.fromkeys(FLOW_RATE.param_names, 1), context)[node][0])


@given(WORDS, WORDS)
@settings(max_examples=examples(300), deadline=None)
def test_a_request_from_before_the_last_decision_is_late(decided_ns: int, sent_ns: int) -> None:
    assert late(decided_ns, sent_ns) == (1 <= (decided_ns - sent_ns) & U32_MAX <= WINDOW)


@pytest.mark.parametrize("before", [-1, 0, 1, WINDOW - 1, WINDOW, WINDOW + 1, 1 << 31])
@pytest.mark.parametrize("decided_ns", [0, 5, 1 << 31, U32_MAX])
def test_the_ends_of_the_window_through_the_wrap(before: int, decided_ns: int) -> None:
    assert late(decided_ns, (decided_ns - before) & U32_MAX) == (1 <= before <= WINDOW)


def test_a_new_flow_has_no_late_answer() -> None:
    assert late(5000, 4000, rate=0) == 0 < late(5000, 4000, rate=1)


def with_rule(student: Student, *, start: bool, cap: bool, told: bool) -> tuple[Student, Student]:
    """The student with these options of flows, without the rule and with it."""
    parts = {"start": Start() if start else None, "in_flight": InFlight() if cap else None}
    names = [name for name, part in parts.items() if part is not None] + ["device_rate"] * told
    observation = student.observation.model_copy(update={"interface": flow_interface(names).name, "device_rate": told})
    base = student.with_parts(observation=observation, **parts)
    return base, base.with_parts(once_per_rtt=True)


@given(drawn_students(windows=3, trees=3), st.booleans(), st.booleans(), st.booleans(), st.data())
@settings(max_examples=examples(40), deadline=None)
def test_late_answers_change_nothing_and_others_decide_as_ever(student, start, cap, told, data) -> None:
    """Whatever the context holds: a late answer leaves every field, and gives the rate in force; any other gives the
    knobs and the fields that the program without the rule gives, and keeps when it came."""
    base, ruled = with_rule(student, start=start, cap=cap, told=told)
    plain, program = base.program(), ruled.program()
    assert decides_once(program)
    assert not decides_once(plain)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    rows = 64
    event = {s.name: rng.integers(0, 1 << rng.integers(1, 33), rows) for s in program.interface.event}
    event["response_ns"] = (event["request_sent_ns"] + rng.integers(0, 1 << 20, rows)) & U32_MAX
    context = {}
    for field in program.state:
        low, high = {"uint32": (0, U32_MAX), "int16": (-(2**15), 2**15 - 1)}.get(field.storage, (0, 127))
        context[field.name] = rng.integers(low, high + 1, rows)
    context["rate_q30"][::8] = 0
    context[DECIDED][::2] = (event["request_sent_ns"][::2] + rng.integers(1, WINDOW, rows // 2)) & U32_MAX
    params = base.params()
    knobs, after = evaluate(program, event, params, context)
    expected, then = evaluate(plain, event, params, {s.name: context[s.name] for s in plain.state})
    before = (context[DECIDED] - event["request_sent_ns"]) & U32_MAX
    is_late = (context["rate_q30"] != 0) & (before >= 1) & (before <= WINDOW)
    assert is_late.any()
    assert not is_late.all()
    for name, values in after.items():
        assert (values[is_late] == context[name][is_late]).all(), name
        others = event["response_ns"] if name == DECIDED else then[name]
        assert (values[~is_late] == np.broadcast_to(others, rows)[~is_late]).all(), name
    for got, same in zip(knobs, expected, strict=True):
        assert (got[~is_late] == same[~is_late]).all()
    if not told:
        held = context["rate_q30"][is_late] & LINE_RATE_Q30
        assert (knobs[0][is_late] == (held >> 10) + 1).all()


def test_the_key_stands_in_a_header_and_only_of_flows() -> None:
    student = make_student([FEATURES["rl_cc_congestion"]], ACTIONS[0], ())
    content = student.header.model_dump(mode="json")
    assert "once_per_rtt" not in content
    assert not student.once_per_rtt
    asked = Header.model_validate(content | {"once_per_rtt": True})
    assert asked.once_per_rtt
    assert asked.model_dump(mode="json")["once_per_rtt"] is True
    for wrong in ("true", 1, None):
        with pytest.raises(ValidationError):
            Header.model_validate(content | {"once_per_rtt": wrong})
