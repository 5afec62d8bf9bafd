"""Properties of a policy that decides once a round trip: those of its decisions, if late answers keep contexts."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drawing import FEATURES, make_student, random_inputs

from codegen.emit import emit
from decision.artefact.errors import InputError
from decision.artefact.output import writing
from decision.ir.forest import oblivious
from decision.ir.interfaces.flow_rate import flow_interface
from decision.ir.interpret import evaluate
from decision.ir.program import Node, Op, Program
from decision.policy.in_flight import InFlight
from decision.policy.once_per_rtt import DECIDED, answers_of
from decision.policy.start import Start
from decision.policy.student import Student
from emulator.firmware_folder import read_firmware
from rlcc.gate.behaviour import decided_twice
from verify.check.due import due_program
from verify.check.refused import Refused
from verify.trusted.properties import FixedPoint, Monotone, NoCycle, Property, Step, Yields

OPTIONS: dict[str, tuple[str, ...]] = {
    "none": (),
    "start": ("start",),
    "cap": ("in_flight",),
    "all": ("start", "in_flight", "device_rate"),
}
ASKED: tuple[Property, ...] = (
    Monotone(kind="monotone"),
    Step(kind="step", at_most=1.25),
    NoCycle(kind="no_cycle"),
    Yields(kind="yields", inflation=8.0, to="0.01 line", decisions=100),
    FixedPoint(kind="fixed_point", flows=(2, 64), within=100),
)


def student(options: tuple[str, ...]) -> Student:
    """RL-CC's congestion now and a decision ago, with the rule."""
    trees = [oblivious(((0, 4295),), (6550, -8192)), oblivious(((1, 90000),), (100, -3000))]
    base = make_student([FEATURES["rl_cc_congestion"]], {"kind": "tanh_map", "step": 0.2}, trees, window=2, bias=7)
    observation = base.observation.model_copy(
        update={"interface": flow_interface(options).name, "device_rate": "device_rate" in options}
    )
    parts = {
        "start": Start() if "start" in options else None,
        "in_flight": InFlight() if "in_flight" in options else None,
    }
    return base.with_parts(observation=observation, once_per_rtt=True, **parts)


def plain(one: Student) -> Student:
    return one.with_parts(once_per_rtt=False)


def edited(program: Program, which: Callable[[Node], bool], change: Callable[[Node], Node]) -> Program:
    assert any(which(node) for node in program.nodes)
    return replace(program, nodes=tuple(change(node) if which(node) else node for node in program.nodes))


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_answers_that_are_due_are_decided_as_without_the_rule(options: tuple[str, ...]) -> None:
    one = student(options)
    due, without = due_program(one.program()), plain(one).program()
    assert {field.name for field in due.state} == {field.name for field in without.state}
    event, _, context = random_inputs(without, 400, 5)
    params = {name: np.full(400, value) for name, value in one.params().items()}
    event = {name: event.get(name, event["response_ns"]) for name in without.interface.event_names}
    here, there = (evaluate(program, event, params, context) for program in (due, without))
    for mine, other in zip(here[0], there[0], strict=True):
        assert np.array_equal(mine, other)
    assert all(np.array_equal(here[1][name], there[1][name]) for name in there[1])


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("field", ["rate_q30", "congestion_q20_1"])
def test_a_late_answer_that_changes_the_context_is_refused(field: str, options: tuple[str, ...]) -> None:
    """Mutants: one field is written as if the answer were due."""
    one = student(options)
    program, due = one.program(), plain(one).program()
    assert due.state
    late = answers_of(program).late
    place = [s.name for s in program.state].index(field)
    held = program.state[place].node
    nodes = (*program.nodes, Node(Op.SHR, (held,), 1, "", "", 0, program.nodes[held].high >> 1))
    state = tuple(replace(s, node=len(nodes) - 1) if s.name == field else s for s in program.state)
    assert late.state[place].name == field
    with pytest.raises(Refused, match=field):
        due_program(replace(program, nodes=nodes, state=state))


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_program_that_forgets_when_it_decided_is_refused(options: tuple[str, ...]) -> None:
    """A mutant: a late answer counts as the last decision."""
    program = student(options).program()
    response = next(
        n
        for n, node in enumerate(program.nodes)
        if node.op is Op.EVENT and program.interface.event[node.imm].name == "response_ns"
    )
    state = tuple(replace(s, node=response) if s.name == DECIDED else s for s in program.state)
    with pytest.raises(InputError):
        answers_of(replace(program, state=state))
    with pytest.raises(Refused):
        due_program(replace(program, state=state))


def test_properties_are_those_of_the_policy_without_the_rule(tmp_path: Path) -> None:
    found = []
    for name, one in (("ruled", student(())), ("plain", plain(student(())))):
        with writing(tmp_path / name / "student", "student") as work:
            one.save(work)
        emit(tmp_path / name / "student", tmp_path / name / "firmware", target="generic", seed=0)
        found.append(decided_twice(read_firmware(tmp_path / name / "firmware"), ASKED).findings)
    assert found[0] == found[1]
    assert not [finding for finding in found[0] if finding.verdict == "undecided"]
