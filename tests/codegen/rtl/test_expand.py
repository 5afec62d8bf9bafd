"""The wires of a program are its meaning: value for value, within their ranges."""

from random import Random

import pytest
from drawing import drawn_programs
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples
from wide_programs import DRAWN, between, program_around
from wire_values import values

from codegen.rtl.expand import expand
from codegen.rtl.wires import Gate
from decision.ir.interpret import evaluate
from decision.ir.program import STORAGE_RANGE, Program


def inputs_of(program: Program, rng: Random) -> dict[str, int]:
    interface = program.interface
    groups = {"event": interface.event, "params": interface.params, "context": program.state}
    return {
        f"{group}.{one.name}": between(rng, *STORAGE_RANGE[one.storage])
        for group, ones in groups.items()
        for one in ones
    }


def same(program: Program, inputs: dict[str, int]) -> None:
    made = expand(program)
    found = values(made.wires, inputs)
    groups = [
        {k.partition(".")[2]: v for k, v in inputs.items() if k.startswith(f"{g}.")}
        for g in ("event", "params", "context")
    ]
    knobs, state = evaluate(program, *groups)
    expected = [int(knob[0]) for knob in knobs] + [int(value[0]) for value in state.values()]
    assert [found[wire] for wire in made.outputs.values()] == expected


@settings(max_examples=examples(60), deadline=None)
@given(drawn_programs(), st.integers(0, 2**32))
def test_any_program_means_the_same_in_wires(program, seed):
    rng = Random(seed)
    for _ in range(8):
        same(program, inputs_of(program, rng))


@pytest.mark.parametrize("op", DRAWN, ids=lambda op: op.name.lower())
def test_every_operator_means_the_same_as_wide_as_it_can_be(op):
    for seed in range(12):
        drawn = program_around(op, seed)
        for inputs in drawn.inputs:
            same(drawn.program, inputs)


@settings(max_examples=examples(20), deadline=None)
@given(drawn_programs())
def test_no_multiplier_is_wider_than_the_parts(program):
    wires = expand(program).wires
    for wire in wires.wires:
        if wire.gate is Gate.MUL:
            signed = any(wires[a].signed for a in wire.args)
            assert all(wires[a].width + (signed and not wires[a].signed) <= 18 for a in wire.args)
