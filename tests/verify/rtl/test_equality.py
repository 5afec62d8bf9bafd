"""The proof holds of what is emitted, and of nothing else."""

import re

import pytest
from drawing import drawn_programs
from hypothesis import HealthCheck, given, settings
from reproducible import examples

from bench.logic_mutants import MUTANTS
from codegen.rtl.emit import logic_of
from codegen.templates import environment
from decision.artefact.errors import InputError
from decision.ir.program import Op
from verify.rtl.equality import prove
from verify.rtl.netlist import Refuted, read

NODE = re.compile(r"wire \[(\d+):0\] (n\d+_\w+) = ")
LAST_PLACE = ("lowest_digit", "upper_digits")
"""Mutants whose change at the first place can leave the function as it is."""


def proved(text, program):
    return prove(read(text.encode(), "rlcc_policy"), program)


def test_what_is_emitted_is_proved(firmware, text, program):
    found = proved(text, program)
    assert found.stages == firmware.details["rtl"]["stages"]
    assert found.outputs == len(program.outputs)
    assert found.cuts > 10


@pytest.mark.slow_except("table-*")
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_refuted(mutant, text, program):
    place = mutant.places(text)[-1 if mutant.name in LAST_PLACE else 0]
    assert mutant.applied(text, place) != text
    with pytest.raises(Refuted):
        proved(mutant.applied(text, place), program)


@pytest.mark.slow_except("table")
def test_a_wire_that_is_named_after_another_node_is_refuted(text, program):
    first, other = (m[2] for m in list(NODE.finditer(text))[:2])
    swap = {first: other, other: first}
    with pytest.raises(Refuted):
        proved(re.sub(rf"\b({first}|{other})\b", lambda m: swap[m[0]], text), program)


@pytest.mark.slow_except("table")
def test_the_proof_needs_no_names_that_it_does_not_check(text, program):
    """Without the names of sums and of most nodes there are fewer cuts, and the same is proved."""
    assert proved(re.sub(r"\bt(\d+_\d)", r"u\1", text), program).outputs == len(program.outputs)


@pytest.mark.slow_except("table-*")
@pytest.mark.parametrize("edit", ["module rlcc_policy (", "endmodule"])
def test_what_yosys_does_not_read_is_one_sentence(edit, text):
    with pytest.raises(InputError):
        read(text.replace(edit, "").encode(), "rlcc_policy")


@pytest.mark.slow
@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn_programs(nodes=12))
def test_any_program_is_proved(program):
    logic = logic_of(program, 60)
    words = {"name": "drawn", "hash": "0" * 64, "prefix": "rlcc", "rlcc_version": "0"}
    text = environment().get_template("rtl/rlcc_policy.v.j2").render(m=logic.module, logic=logic.to_json(), **words)
    if not any(node.op in (Op.MUL, Op.MUL_SHR) for node in program.nodes):
        assert proved(text, program).stages == logic.module.stages
