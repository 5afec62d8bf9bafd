"""Stages: no clock holds more than its period, and nothing is used before it is there."""

import re

import pytest
from drawing import drawn_programs
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from codegen.rtl.expand import expand
from codegen.rtl.schedule import schedule
from decision.artefact.errors import InputError


@settings(max_examples=examples(40), deadline=None)
@given(drawn_programs(), st.integers(40, 400))
def test_a_wire_comes_after_its_operands_and_a_clock_that_is_refused_names_one_that_is_not(program, clock):
    made = expand(program)
    outputs = list(made.outputs.values())
    try:
        plan = schedule(made.wires, outputs, clock)
    except InputError as error:
        (highest,) = map(int, re.findall(r"rtl@(\d+)MHz", str(error)))
        assert highest < clock
        return
    assert plan.longest_ns <= 1000 / clock + 0.01
    for number, wire in enumerate(made.wires.wires):
        for a in wire.args:
            assert made.wires.static[a] or plan.stage[a] <= plan.stage[number]
    assert all(plan.stage[n] < plan.stages for n in outputs if not made.wires.static[n])


def test_a_faster_clock_takes_no_fewer_stages(program_of_kinds):
    made = expand(program_of_kinds)
    outputs = list(made.outputs.values())
    stages = [schedule(made.wires, outputs, clock).stages for clock in (20, 60, 100, 130, 160)]
    assert stages == sorted(stages)
    assert stages[-1] > stages[0]


def test_a_clock_that_no_multiplier_meets_is_refused(program_of_kinds):
    made = expand(program_of_kinds)
    with pytest.raises(InputError):
        schedule(made.wires, list(made.outputs.values()), 400)
