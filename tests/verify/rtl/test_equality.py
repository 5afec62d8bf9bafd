"""The proof holds of what is emitted, and of nothing else."""

import re

import pytest
from drawing import drawn_programs
from hypothesis import HealthCheck, given, settings

from codegen.rtl.emit import logic_of
from codegen.templates import environment
from decision.artefact.errors import InputError
from decision.ir.program import Op
from verify.rtl.equality import prove
from verify.rtl.netlist import Refuted, read

NODE = re.compile(r"wire \[(\d+):0\] (n\d+_\w+) = ")
DIGIT = re.compile(r"= \((\w+\[\d\]) ([&|]) ")
EQUAL = re.compile(r"== (\d+)'d(\d+);")
MOVE = re.compile(r"^ +s(\d+)_(\w+) <= (s\d+_)?\2;$", re.MULTILINE)


def proved(text, program):
    return prove(read(text.encode(), "rlcc_policy"), program)


def once(pattern, change, text, which=0):
    """The text with one of the pattern's places changed."""
    found = list(re.finditer(pattern, text))
    assert found, "the mutant has no place"
    place = found[which % len(found)]
    return text[: place.start()] + change(place) + text[place.end() :]


def narrower(text):
    """A wrong width: the highest bit of a node is cut off."""
    return once(NODE, lambda m: f"wire [{int(m[1]) - 1}:0] {m[2]} = ", text)


def other_lowest_digit(text):
    """Another threshold: a bit of one of its digits is the other way round."""
    return once(DIGIT, lambda m: f"= ({m[1]} {'&' if m[2] == '|' else '|'} ", text, -1)


def other_upper_digits(text):
    return once(EQUAL, lambda m: f"== {m[1]}'d{int(m[2]) ^ 1};", text, -1)


def missed_register(text):
    """A wire is read where its register should be."""
    return once(r"= s1_(\w+)(?=[\[; ])", lambda m: f"= {m[1]}", text)


def swapped_stage(text):
    """A register takes what is a stage older than it should be."""
    first = next(m for m in MOVE.finditer(text) if f"s{int(m[1]) + 1}_{m[2]} <=" in text)
    later = f"s{int(first[1]) + 1}_{first[2]}"
    return text.replace(f"{later} <= s{first[1]}_{first[2]};", f"{later} <= {first[3] or ''}{first[2]};")


def other_entry(text):
    return once(r"(\d+'d\d+: \w+ = \d+'d)(\d+);", lambda m: f"{m[1]}{int(m[2]) ^ 1};", text)


def no_reset(text):
    return text.replace("if (rst) valid <= ", "if (1'b0) valid <= ")


def always_moving(text):
    return text.replace("    if (step) begin", "    if (1'b1) begin")


def always_ready(text):
    return text.replace("assign in_ready = step;", "assign in_ready = 1'b1;")


def swapped_operands(text):
    return once(
        r"(event_response_ns\}) - (\{\{1\{1'b0\}\}, event_request_sent_ns\})", lambda m: f"{m[1]} + {m[2]}", text
    )


def clamped_without_end(text):
    return once(r"\? (\d\d+)'d([1-9]\d*) : ", lambda m: f"? {m[1]}'d{int(m[2]) - 1} : ", text)


MUTANTS = [
    narrower, other_lowest_digit, other_upper_digits, missed_register,
    swapped_stage, other_entry, no_reset, always_moving, always_ready,
    swapped_operands, clamped_without_end,
]  # fmt: skip


def test_what_is_emitted_is_proved(firmware, text, program):
    found = proved(text, program)
    assert found.stages == firmware.details["rtl"]["stages"]
    assert found.outputs == len(program.outputs)
    assert found.cuts > 10


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_mutant_is_refuted(mutant, text, program):
    changed = mutant(text)
    assert changed != text
    with pytest.raises(Refuted):
        proved(changed, program)


def test_a_wire_that_is_named_after_another_node_is_refuted(text, program):
    first, other = (m[2] for m in list(NODE.finditer(text))[:2])
    swap = {first: other, other: first}
    with pytest.raises(Refuted):
        proved(re.sub(rf"\b({first}|{other})\b", lambda m: swap[m[0]], text), program)


def test_the_proof_needs_no_names_that_it_does_not_check(text, program):
    """Without the names of sums and of most nodes there are fewer cuts, and the same is proved."""
    assert proved(re.sub(r"\bt(\d+_\d)", r"u\1", text), program).outputs == len(program.outputs)


@pytest.mark.parametrize("edit", ["module rlcc_policy (", "endmodule"])
def test_what_yosys_does_not_read_is_one_sentence(edit, text):
    with pytest.raises(InputError):
        read(text.replace(edit, "").encode(), "rlcc_policy")


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn_programs(nodes=12))
def test_any_program_is_proved(program):
    logic = logic_of(program, 60)
    words = {"name": "drawn", "hash": "0" * 64, "prefix": "rlcc", "rlcc_version": "0"}
    text = environment().get_template("rtl/rlcc_policy.v.j2").render(m=logic.module, logic=logic.to_json(), **words)
    if not any(node.op in (Op.MUL, Op.MUL_SHR) for node in program.nodes):
        assert proved(text, program).stages == logic.module.stages
