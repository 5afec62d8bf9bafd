"""Calls in RV64 assembly: nothing may rest on what a function leaves behind, and a proof that lets it is too weak.

Each of ``UNSAFE`` is proved once the rule that it breaks is taken out of the walk.
"""

from pathlib import Path

import pytest
from rv64_by_hand import BASE, assembled, image_of

from verify.adapter.build import AdapterBuild
from verify.adapter.external import AdapterWalk, ExternalCall
from verify.adapter.prove import AdapterProof, _Case
from verify.adapter.transition import Transition
from verify.adapter.values import Unknowns, Unsigned
from verify.code.failures import Refused
from verify.rv64.decoder import RA
from verify.rv64.values import MachineWord

CODE = """
    .option norvc
    j 1f
    ret
1:  addi sp, sp, -32
    sd ra, 24(sp)
    sd s0, 16(sp)
    sd s1, 8(sp)
    mv s0, a0
    lw s1, 0(s0)
    call_the_function
    addw s1, s1, a0
    sw s1, 0(s0)
    ld ra, 24(sp)
    ld s0, 16(sp)
    ld s1, 8(sp)
    addi sp, sp, 32
    ret
"""
CALL = "jal ra, . - {back}"
UNSAFE = {
    "a register that is not kept": ("_registers_after", "mv t0, s1", "mv s1, t0"),
    "the stack that was given back": (
        "_memory_after",
        "addi sp, sp, -16\n    sd s1, 0(sp)\n    addi sp, sp, 16",
        "addi sp, sp, -16\n    ld s1, 0(sp)\n    addi sp, sp, 16",
    ),
}
"""The rule by the walk's method, and what stands before the call and behind it."""


def case_of(before: str, after: str, folder: Path) -> tuple[_Case, AdapterProof]:
    """The function adds what an external function returns to a word of the context."""
    lines = [
        line.strip() for line in CODE.replace("call_the_function", f"{before}\n    CALL\n    {after}").splitlines()
    ]
    instructions = [line for line in lines if line and not line.startswith(".")]
    place = instructions.index("CALL")
    text = "\n".join(lines).replace("CALL", CALL.format(back=4 * (place - 1)))
    unknowns, proof = Unknowns(), AdapterProof("by hand")
    word, answer = unknowns.u32("word"), unknowns.u32("answer")
    transition = Transition("entry", unknowns, [unknowns.words.pointer("context")])
    transition.add("context", [word], written=True)
    transition.leave("context", {"word": word + answer})
    transition.hand({"calls": unknowns.number(1)})

    def model(call: ExternalCall) -> MachineWord:
        call.count("calls")
        return unknowns.returned("answer")

    build = AdapterBuild(image_of(assembled(text, folder)), BASE, {BASE + 4: "answer"}, 64)
    return _Case(build, transition, {"answer": model}, proof), proof


def test_a_call_is_proved(tmp_path):
    case, proof = case_of("mv t0, s1", "nop", tmp_path)
    case.run()
    assert (proof.outputs, proof.calls) == (2, 1)


@pytest.mark.parametrize("name", UNSAFE)
def test_what_a_function_may_overwrite_holds_nothing(name, tmp_path):
    _, before, after = UNSAFE[name]
    with pytest.raises(Refused, match="nothing"):
        case_of(before, after, tmp_path)[0].run()


def keep_registers(walk, state, result):
    return (*state.registers[:RA], None, *state.registers[2:10], result, *state.registers[11:])


@pytest.mark.parametrize("name", UNSAFE)
def test_without_that_rule_wrong_code_is_proved(name, tmp_path, monkeypatch):
    rule, before, after = UNSAFE[name]
    mutants = {"_registers_after": keep_registers, "_memory_after": lambda walk, call: call.slots}
    monkeypatch.setattr(AdapterWalk, rule, mutants[rule])
    case, proof = case_of(before, after, tmp_path)
    case.run()
    assert proof.outputs == 2


def test_a_function_that_is_called_twice_is_seen(tmp_path):
    case, _ = case_of("nop", "mv t1, a0", tmp_path)
    case.transition.due[-1] = type(case.transition.due[-1])("calls", case.transition.due[-1].slot, number(case, 2))
    with pytest.raises(Exception, match="calls is 0x1, specified 0x2"):
        case.run()


def number(case: _Case, value: int) -> Unsigned:
    return case.transition.unknowns.number(value)
