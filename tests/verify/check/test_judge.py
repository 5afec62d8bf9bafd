"""The checker on a decision of nine instructions, written by hand: what it accepts, and each thing it refuses."""

import struct
from dataclasses import replace

import numpy as np
import pytest
from decision_by_hand import (
    A0,
    A1,
    A2,
    AT,
    BASE,
    CODE,
    CUT,
    CYCLES,
    KEPT,
    LAYOUTS,
    LEAST,
    MOST,
    RA,
    S0,
    SP,
    T0,
    T1,
    judge,
    layout,
    with_code,
)

from decision.ir.forest import Forest
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, ProgramBuilder, StateField
from emulator.elf import Image, LoadedSection
from emulator.layout import Layout
from emulator.profile import load_profile
from verify.check.judge import Cut, Judge
from verify.check.layout import fields_of
from verify.check.path_facts import Oracle
from verify.check.refused import Refused
from verify.trusted.calibrate_programs import encode
from verify.trusted.costs import cycle_model
from verify.trusted.machine import IllegalInstruction


@pytest.mark.parametrize("solver", ["bitwuzla", "cvc5"])
@pytest.mark.parametrize("cuts", [(), (CUT,)])
def test_a_right_decision_is_accepted_with_its_worst_case(cuts: tuple[Cut, ...], solver: str) -> None:
    found = judge(None, *cuts, solver=solver)
    assert found.bound() == CYCLES
    assert found.deepest == 0
    assert found.walked == (3 if cuts else 2)
    assert next(found.dearer_chains(CYCLES), None) is None
    assert next(found.dearer_chains(CYCLES - 1), None) is not None


def test_the_instruction_before_a_cut_is_not_forgotten() -> None:
    """With a write-back stage the first instruction behind a cut may wait for a load before it."""
    loads = with_code(take=encode("lw", T0, A2, imm=MOST))
    cut = replace(CUT, holds={**CUT.holds, "x12": "pointer.params"})
    plain, cutted = judge(loads, profile="ibex-maxperf"), judge(loads, cut, profile="ibex-maxperf")
    assert plain.bound() == cutted.bound() == 1 + 1 + 2 + 1 + 2 + 1 + 2 + 1 + 2 + 1 + 2


REFUSED = {
    "another result": (with_code(plus=encode("addi", A0, A0, imm=2)), "returns another value"),
    "the low word of the square": (with_code(square=encode("mul", A0, T0, T0)), "returns another value"),
    "a signed comparison": (with_code(less=encode("blt", rs1=T0, rs2=T1, imm=8)), "another value"),
    "the difference turned round": (with_code(rtt=encode("sub", T0, T0, T1)), "another value"),
    "nothing written back": (with_code(write=encode("addi", 0, 0)), "leaves another value in context.rate_q30"),
    "half of it written back": (with_code(write=encode("sh", rs1=A0, rs2=T0)), "leaves another value"),
    "a store beside the context": (with_code(write=encode("sw", rs1=A0, rs2=T0, imm=4)), "outside the frame"),
    "a store into the event": (with_code(write=encode("sw", rs1=A1, rs2=T0)), "outside the frame"),
    "a store above the frame": (with_code(take=encode("sw", rs1=SP, rs2=T1)), "outside the frame"),
    "a store far below": (with_code(take=encode("sw", rs1=SP, rs2=T1, imm=-68)), "outside the frame"),
    "a load beside the event": (with_code(response=encode("lw", T1, A1, imm=24)), "where nothing is"),
    "a load of what was never written": (with_code(sent=encode("lw", T0, SP, imm=-4)), "where nothing is"),
    "a load of a constant that is not there": (with_code(sent=encode("lw", T0, 0, imm=64)), "outside the constants"),
    "a load from anywhere": (with_code(most=encode("lw", T1, T0)), "not known"),
    "a misaligned load": (with_code(response=encode("lw", T1, A1, imm=2)), "misaligned"),
    "a register that is not kept": (with_code(take=encode("addi", S0, 0)), "register x8"),
    "the stack pointer moved": (with_code(take=encode("addi", SP, SP, imm=-16)), "register x2"),
    "a jump to anywhere": (with_code(take=encode("jalr", 0, T0)), "does not go to one place"),
    "a loop": (with_code(take=encode("jal", 0, imm=0)), "loop"),
    "a jump out of the code": (with_code(take=encode("jal", 0, imm=-64)), "leaves the code"),
    "no return": ({k: w for k, w in CODE.items() if k != "return"}, "leaves the code"),
    "a return that links": (with_code(**{"return": encode("jalr", RA, RA)}), "does not go to one place"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_wrong_decision_is_refused(what: str) -> None:
    code, why = REFUSED[what]
    with pytest.raises(Refused, match=why):
        judge(code).bound()


CALLERS = (2, 3, 4, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27)
"""sp, gp, tp and s0 to s11, by the calling convention; all others are the function's to change."""


def changing(register: int) -> dict[str, int]:
    """The decision with one register increased right before the return."""
    return {**without_return(), "change": encode("addi", register, register, imm=1), "return": CODE["return"]}


def without_return() -> dict[str, int]:
    return {name: word for name, word in CODE.items() if name != "return"}


@pytest.mark.parametrize("register", CALLERS)
def test_every_register_of_the_caller_is_found_as_it_was(register: int) -> None:
    with pytest.raises(Refused, match=f"register x{register} .*caller"):
        judge(changing(register)).bound()


@pytest.mark.parametrize("register", sorted({*range(5, 32)} - {*CALLERS, A0}))
def test_every_other_register_may_be_changed(register: int) -> None:
    assert judge(changing(register)).bound() == CYCLES + 1


def test_the_return_address_and_the_result_are_no_registers_to_change() -> None:
    with pytest.raises(Refused, match="to one place"):
        judge(changing(RA)).bound()
    with pytest.raises(Refused, match="returns another value"):
        judge(changing(A0)).bound()


@pytest.mark.parametrize("register", CALLERS)
def test_a_register_of_the_caller_that_is_put_back_is_accepted(register: int) -> None:
    back = encode("addi", register, register, imm=-1)
    code = {**without_return(), "change": encode("addi", register, register, imm=1), "back": back}
    assert judge({**code, "return": CODE["return"]}).bound() == CYCLES + 2


def test_forbidden_code_is_refused_even_where_it_is_never_reached() -> None:
    with pytest.raises(IllegalInstruction, match="division"):
        judge({**CODE, "after": 0x02B5_4533})


def changed(**holds: str) -> Cut:
    return replace(CUT, holds={**CUT.holds, **holds})


WRONG_CUTS = {
    "another node": changed(x5="node.0"),
    "another pointer": changed(x10="pointer.event"),
    "a register nothing is known of": changed(x7="event.response_ns"),
    "the context as it will be": changed(**{"context+0:4": f"node.{LEAST}"}),
    "a constant in the frame": changed(**{"frame-4:4": "7"}),
    "a bound too tight": replace(CUT, bounds={f"node.{LEAST}": (0, 1 << 31)}),
    "a bound too tight from below": replace(CUT, bounds={f"node.{LEAST}": (1, (1 << 32) - 1)}),
    "not all of the context": Cut(AT["half"], {**KEPT, "x5": f"node.{LEAST}"}, {}),
    "an address beside": replace(CUT, pc=CUT.pc + 4),
}


@pytest.mark.parametrize("what", WRONG_CUTS)
def test_nothing_rests_on_a_wrong_cut(what: str) -> None:
    found = judge(None, WRONG_CUTS[what])
    assert found.bound() == CYCLES
    assert found.met == set()


@pytest.mark.parametrize(
    "span", [(1 << 32, 1 << 33), (-(1 << 40), -(1 << 31) - 1), (5, 4), (-1, 1 << 31), (-(1 << 40), 1 << 40)]
)
def test_a_bound_that_is_no_range_of_a_word_is_refused(span: tuple[int, int]) -> None:
    """Cut to 32 bits the comparisons with it hold of every word; believed behind the cut, they hold of none."""
    with pytest.raises(Refused, match="of a word"):
        judge(None, replace(CUT, bounds={"event.response_ns": span}))


def test_two_bounds_that_no_word_keeps_prove_nothing() -> None:
    """They would make every path behind the cut impossible, and any worst case true."""
    span = (-(1 << 40), -(1 << 31) - 1)
    nowhere = Cut(BASE + 4, {}, {"event.response_ns": span, f"(xor event.response_ns {1 << 31})": span})
    with pytest.raises(Refused):
        judge(None, nowhere).bound()


def test_a_cut_is_met_and_may_lie_behind_the_write() -> None:
    whole = Cut(AT["half"], {**KEPT, "x5": f"node.{LEAST}", "context+0:4": f"node.{LEAST}"}, {})
    bounded = replace(CUT, bounds={f"node.{LEAST}": (0, (1 << 32) - 1), "params.rate_max_q30": (0, (1 << 32) - 1)})
    found = judge(None, whole, bounded)
    assert found.bound() == CYCLES
    assert found.met == {0, 1}


@pytest.mark.parametrize("register", ["x1", "x5", "x10"])
def test_a_cut_that_says_too_little_is_refused(register: str) -> None:
    poor = replace(CUT, holds={place: value for place, value in CUT.holds.items() if place != register})
    with pytest.raises(Refused, match=f"register {register}"):
        judge(None, poor).bound()


@pytest.mark.parametrize("place", ["x32", "x0", "y7", "frame", "frame-4", "context+0:3", "flow:4"])
def test_a_place_that_is_none_is_refused(place: str) -> None:
    with pytest.raises(Refused, match="no place"):
        judge(None, changed(**{place: "7"})).bound()


@pytest.mark.parametrize(
    "text",
    ["", "(+ 1", "node.9999", "(frobnicate 1 2)", "(+ 1)", "1 2", "event.", "(and 1 2 3)", "--5", "²", "(+ 1 " * 3000],
)
def test_an_expression_that_cannot_be_read_is_one_sentence(text: str) -> None:
    with pytest.raises(Refused, match="cannot be read"):
        judge(None, changed(x5=text)).bound()


U4, I4, U2, I2, I1 = "<u4", "<i4", "<u2", "<i2", "|i1"
SIGNED = replace(FLOW_RATE, knobs=(replace(FLOW_RATE.knobs[0], storage="int32"),))
STATE = (("a", "int32"), ("b", "int16"), ("c", "uint16"), ("d", "int8"))


def judged_layout(flow: list[tuple[str, str, int]], size: int = 12, **others: Layout) -> Judge:
    """A judge of a program with four fields, laid out so: (name, type, offset)."""
    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE)
    for name, storage in STATE:
        b.state_out(name, b.state_in(name, storage))
    names, types, offsets = zip(*flow, strict=True)
    dtype = np.dtype({"names": names, "formats": types, "offsets": offsets, "itemsize": size})
    image = judge().image
    model = cycle_model(load_profile("ibex-small"))
    layouts = {**LAYOUTS, "context": Layout("context", dtype), **others}
    return Judge(image, BASE, b.finish(b.const(0)), layouts, (), model, 64, Oracle())


LAID_OUT = [("a", I4, 0), ("b", I2, 4), ("c", U2, 6), ("d", I1, 8)]
MISFITS = {
    "wider": (1, ("b", I4, 4)),
    "narrower": (0, ("a", I2, 0)),
    "unsigned for signed": (1, ("b", U2, 4)),
    "signed for unsigned": (2, ("c", I2, 6)),
    "a word without sign": (0, ("a", U4, 0)),
    "a byte widened": (3, ("d", I2, 8)),
    "a byte without sign": (3, ("d", "|u1", 8)),
    "of the other byte order": (1, ("b", ">i2", 4)),
    "a float": (0, ("a", "<f4", 0)),
    "renamed": (3, ("e", I1, 8)),
    "over another": (3, ("d", I1, 5)),
    "at the same place": (2, ("c", U2, 4)),
    "misaligned": (1, ("b", I2, 9)),
}


@pytest.mark.parametrize("what", MISFITS)
def test_a_field_of_the_context_that_is_not_the_programs_is_refused(what: str) -> None:
    judged_layout(LAID_OUT)
    place, changed_field = MISFITS[what]
    flow = [changed_field if n == place else field for n, field in enumerate(LAID_OUT)]
    with pytest.raises(Refused, match=r"in the layout|other fields|overlaps"):
        judged_layout(flow)


def test_a_field_more_or_less_is_refused() -> None:
    for flow in (LAID_OUT[:3], [*LAID_OUT, ("e", I1, 9)]):
        with pytest.raises(Refused, match=r"structure context .*fields"):
            judged_layout(flow)


def test_a_field_beyond_its_structure_is_refused() -> None:
    """Which NumPy refuses as well; a layout that is none of NumPy's is not."""

    class Short:
        names, itemsize = ("a",), 2
        fields = {"a": (np.dtype(I4), 0)}  # noqa: RUF012

    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE)
    b.state_out("a", b.state_in("a", "int32"))
    with pytest.raises(Refused, match="outside the structure"):
        fields_of(b.finish(b.const(0)), {**LAYOUTS, "context": Layout("context", Short())})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["event", "params"])
def test_event_and_params_have_the_fields_and_types_of_every_policy(name: str) -> None:
    names = FLOW_RATE.event_names if name == "event" else FLOW_RATE.param_names
    for wrong in (I4, U2):
        dtype = np.dtype([(f, wrong if f == names[1] else U4) for f in names])
        with pytest.raises(Refused, match=f"{name}.{names[1]} .*{wrong} .*, uint32 "):
            judged_layout(LAID_OUT, **{name: Layout(name, dtype)})
    for fields in (names[:-1], (*names, "more"), ("other", *names[1:])):
        with pytest.raises(Refused, match=f"structure {name} .*fields"):
            judged_layout(LAID_OUT, **{name: layout(name, *fields)})


def test_a_name_that_stands_twice_in_the_context_is_refused() -> None:
    """The range of one would be believed of the other."""
    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE)
    b.state = [StateField("a", "int32", 0), StateField("a", "int8", 1)]
    b.add(Op.STATE, (), 0)
    b.add(Op.STATE, (), 1)
    flow = Layout("context", np.dtype([("a", I4)]))
    with pytest.raises(Refused, match="other fields"):
        fields_of(b.finish(b.const(0)), {**LAYOUTS, "context": flow})


def test_a_narrow_field_of_one_program_is_forgotten_for_the_next() -> None:
    """Sign extension of a half-word is idle where the field is an int16_t, and only there."""
    code = {"load": encode("lh", A0, A0), "return": encode("jalr", 0, RA)}
    words = list(code.values())
    data = struct.pack(f"<{len(words)}I", *words)
    image = Image((LoadedSection(".text", BASE, data),), {}, (BASE, BASE + len(data)), (0, 0), 0)

    def judged(storage: str, kind: str) -> int:
        b = ProgramBuilder(Forest((), (), (0,), 16), SIGNED)
        field = b.state_in("a", storage)
        b.state_out("a", field)
        flow = Layout("context", np.dtype({"names": ["a"], "formats": [kind], "offsets": [0], "itemsize": 4}))
        model = cycle_model(load_profile("ibex-small"))
        return Judge(image, BASE, b.finish(field), {**LAYOUTS, "context": flow}, (), model, 64, Oracle()).bound()

    assert judged("int16", "<i2") > 0
    with pytest.raises(Refused, match="another value"):
        judged("int32", "<i4")
