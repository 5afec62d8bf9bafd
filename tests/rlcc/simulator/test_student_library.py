"""A student as a simulator has it decides as its program does."""

import numpy as np
import pytest

from decision.artefact.errors import InputError
from decision.ir.interpret import evaluate
from decision.policy.student import Student
from rlcc.simulator.student_library import DrivenStudent


def event(now_ns: int, rtt_ns: int) -> dict[str, int]:
    return {"request_sent_ns": (now_ns - rtt_ns) % 2**32, "response_ns": now_ns % 2**32}


def test_decisions_are_the_programs_for_agents_that_take_turns(own_student: Student, given: DrivenStudent) -> None:
    program, random = own_student.program(), np.random.default_rng(1)
    contexts = {agent: {field.name: 0 for field in program.state} for agent in ("a", "b")}
    for step in range(200):
        agent = "ab"[random.integers(2)]
        seen = event(2**32 - 100_000 + 9_000 * step, int(random.integers(8_000, 60_000)))
        whole = dict.fromkeys(program.interface.event_names, 0) | seen
        (rate,), left = evaluate(program, whole, own_student.params(), contexts[agent])
        contexts[agent] = {name: value.item() for name, value in left.items()}
        assert given.decide(agent, seen) == {"rate_q20": rate.item()}
    given.contexts.clear()


def test_an_agent_that_is_forgotten_is_new(given: DrivenStudent) -> None:
    first = given.decide("x", event(10**6, 60_000))
    second = given.decide("x", event(2 * 10**6, 60_000))
    assert second["rate_q20"] < first["rate_q20"]
    given.forget("x")
    assert given.decide("x", event(10**6, 60_000)) == first
    given.forget("x")
    given.forget("never asked")


@pytest.mark.parametrize("wrong", [{"rtt": 1}, {"cnp_count": -1}, {"cnp_count": 2**32}, {"cnp_count": 1.5}])
def test_a_signal_that_is_none_is_refused(given: DrivenStudent, wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        given.decide("x", wrong)


def test_a_simulator_learns_what_it_hands_over(given: DrivenStudent) -> None:
    assert given.agent == "flow"
    assert given.knobs == ("rate_q20",)
    assert given.signals[:2] == ("request_sent_ns", "response_ns")
    assert given.library.is_file()
