"""Where a path may stop at a cut and what it goes on with behind it: places, ranges by their sign, the frame."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from decision_by_hand import (
    A0,
    A1,
    AT,
    BASE,
    CODE,
    CUT,
    CYCLES,
    KEPT,
    LEAST,
    PROGRAM,
    RA,
    SP,
    T0,
    T1,
    judge,
    with_code,
)

from decision.ir.forest import Forest, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.ir.program import Op, Program, ProgramBuilder
from emulator.layout import Layout
from emulator.memory_map import CONSTANTS_BASE
from verify.check.judge import START, Cut, Judge, _location, place
from verify.check.path_facts import Bounds, Known, Oracle, bounded
from verify.check.refused import Refused
from verify.check.terms import FALSE, NARROW, TRUE, Term, const, extract, make, negate, var
from verify.check.walk import Lane, at_call
from verify.trusted.calibrate_programs import encode

NODE, WRITTEN = f"node.{LEAST}", {"context+0:4": f"node.{LEAST}"}
HALF = Cut(AT["half"], {**KEPT, "x5": NODE, **WRITTEN}, {})
SENT = var("event.request_sent_ns")


def lane(bounds: dict[Term, Bounds] | None = None, **changes: object) -> Lane:
    made = Lane(BASE, (const(0), *(at_call(r) for r in range(1, 32))), {}, {}, Known(bounds or {}))
    return replace(made, **changes)  # type: ignore[arg-type]


# --- ranges ---

WHOLE, MIN_SIGNED, MAX_SIGNED, MAX_WORD = None, -(1 << 31), (1 << 31) - 1, (1 << 32) - 1
RANGES = [  # known, stated, whether that follows
    ((5, 9), (5, 9), True),
    ((5, 9), (6, 9), False),
    ((5, 9), (5, 8), False),
    ((5, 9), (0, 9), True),
    ((5, 9), (5, MAX_WORD), True),
    ((0, 9), (0, 9), True),
    ((0, 9), (0, 8), False),
    ((7, 7), (7, 7), True),
    (WHOLE, (0, MAX_WORD), True),
    (WHOLE, (1, MAX_WORD), False),
    (WHOLE, (0, MAX_WORD - 1), False),
    (WHOLE, (0, MAX_SIGNED), False),
    (WHOLE, (MIN_SIGNED, MAX_SIGNED), True),
    (WHOLE, (MIN_SIGNED + 1, MAX_SIGNED), False),
    (WHOLE, (MIN_SIGNED, MAX_SIGNED - 1), False),
    ((-5, 9), (-5, 9), True),
    ((-5, 9), (-4, 9), False),
    ((-5, 9), (-5, 8), False),
    ((-5, 9), (-1, 9), False),
    ((-5, 9), (0, 9), False),
    ((-1, 9), (-1, 9), True),
    ((-5, -2), (-5, -2), True),
    ((1 << 31, MAX_WORD), (1 << 31, MAX_WORD), True),
    ((1 << 31, MAX_WORD), (-(1 << 31), -1), True),
    ((1 << 31, MAX_WORD), (-5, -1), False),
]


@pytest.mark.parametrize(("known", "stated", "follows"), RANGES)
def test_a_range_is_believed_only_where_it_follows_with_its_sign(
    known: tuple[int, int] | None, stated: tuple[int, int], follows: bool
) -> None:
    found = lane({SENT: bounded(*known)} if known else {})
    assert judge()._holds(found, frozenset(), Cut(BASE, {}, {"event.request_sent_ns": stated}), {}) is follows


@pytest.mark.parametrize("signed", [True, False])
def test_every_range_of_a_cut_has_to_follow(signed: bool) -> None:
    both = {"event.response_ns": (-9, 9) if signed else (0, 9), "event.request_sent_ns": (3, 4)}
    known = {SENT: bounded(3, 4), var("event.response_ns"): bounded(-9, 9) if signed else bounded(0, 9)}
    for bounds in (both, dict(reversed(both.items()))):
        assert judge()._holds(lane(known), frozenset(), Cut(BASE, {}, bounds), {}) is True
        for word in known:
            less = {w: b for w, b in known.items() if w is not word}
            assert judge()._holds(lane(less), frozenset(), Cut(BASE, {}, bounds), {}) is False


def test_all_ranges_of_a_cut_are_known_behind_it() -> None:
    cut = replace(CUT, bounds={NODE: (3, 7), "event.response_ns": (-5, 9)})
    known = judge(None, cut)._start((0, None)).known
    assert known.bounds[var(NODE)] == bounded(3, 7)
    assert known.bounds[var("event.response_ns")] == bounded(-5, 9)
    assert known.bounds[SENT] == bounded(0, MAX_WORD)


def test_a_range_of_one_number_is_one() -> None:
    assert judge(None, replace(CUT, bounds={NODE: (7, 7)})).cuts


RTT, HALVED, HIGH = (
    next(n for n, node in enumerate(PROGRAM.nodes) if node.op is op) for op in (Op.WRAP_SUB, Op.SHR, Op.MUL_SHR)
)


def behind(**holds: str) -> Known:
    return judge(None, replace(CUT, holds={**CUT.holds, **holds}))._start((0, None)).known


def test_behind_a_cut_a_value_is_what_the_program_makes_of_others_that_the_cut_holds() -> None:
    least, rtt, rate_max = var(NODE), var(f"node.{RTT}"), var("params.rate_max_q30")
    known, oracle = behind(x6=f"node.{RTT}"), Oracle()
    for impossible in (make("bvult", rtt, least), make("bvult", rate_max, least)):
        assert oracle.impossible([impossible, *known.everything()], known)
        assert not oracle.impossible([impossible, *behind().everything()], behind())
    for possible in (make("bvult", least, rtt), make("bvult", least, rate_max), make("=", least, rtt)):
        assert not oracle.impossible([possible, *known.everything()], known)


def test_nothing_is_said_of_a_value_whose_operands_are_lost_nor_of_a_product_nor_of_inputs_alone() -> None:
    assert not behind().facts
    assert not behind(x6=f"node.{HIGH}", x7=f"node.{HALVED}").facts - behind(x7=f"node.{HALVED}").facts
    assert len(behind(x7=f"node.{HALVED}").facts) == 1
    only = Cut(AT["write"], {**KEPT, "x5": f"node.{RTT}"}, {})
    assert not judge(None, only)._start((0, None)).known.facts


def test_behind_a_cut_a_value_is_what_the_program_makes_of_inputs_that_registers_hold() -> None:
    """In memory every field of the context is, of which most are asked no more."""
    only = {**KEPT, "x5": f"node.{RTT}"}
    both = {**only, "x6": "event.response_ns", "x7": "event.request_sent_ns"}
    oracle, same = Oracle(), make("=", var(f"node.{RTT}"), make("bvsub", var("event.response_ns"), SENT))
    for holds in (both, {**only, "x6": "(+ event.response_ns 1)"}):
        known = judge(None, Cut(AT["write"], holds, {}))._start((0, None)).known
        assert oracle.impossible([negate(same), *known.everything()], known)
        assert not oracle.impossible([same, *known.everything()], known)
    frame = judge(None, Cut(AT["write"], {**only, "frame-8:4": "event.response_ns"}, {}))._start((0, None)).known
    assert not frame.facts


def test_a_value_is_known_by_others_that_are_held_with_operators_between() -> None:
    """Half of the lesser of the RTT and a parameter is no more than the RTT; of its square nothing is said."""
    last, oracle = len(PROGRAM.nodes) - 1, Oracle()

    def held(*nodes: int) -> Known:
        holds = {f"x{5 + k}": f"node.{n}" for k, n in enumerate(nodes)}
        return judge(None, Cut(AT["write"], {**KEPT, **holds}, {}))._start((0, None)).known

    known = held(RTT, HALVED)
    more = make("bvult", var(f"node.{RTT}"), var(f"node.{HALVED}"))
    assert oracle.impossible([more, *known.everything()], known)
    for facts in (held(HALVED).facts, held(HALVED, last).facts, held(RTT, last).facts):
        assert not facts


def test_a_value_with_many_operators_between_is_not_known_by_others(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = Cut(AT["write"], {**KEPT, "x5": f"node.{RTT}", "x6": f"node.{HALVED}"}, {})
    assert judge(None, cut)._start((0, None)).known.facts
    monkeypatch.setattr("verify.check.judge.MAX_OPERATORS", 1)
    assert not judge(None, cut)._start((0, None)).known.facts


# --- places ---


@pytest.mark.parametrize(
    ("text", "found"),
    [
        *((f"x{r}", ("x", r, 4)) for r in range(1, 32)),
        ("frame-16:4", ("frame", -16, 4)),
        ("frame+8:2", ("frame", 8, 2)),
        ("context+4:1", ("context", 4, 1)),
        ("action+8:4", ("action", 8, 4)),
        ("context-999999:4", ("context", -999999, 4)),
    ],
)
def test_a_place_is_read_as_it_is_written(text: str, found: tuple[str, int, int]) -> None:
    assert place(text) == found


@pytest.mark.parametrize(
    "text",
    ["x01", "x40", "x100", " x1", "x1 ", "frame-16:8", "frame-16", "context+4:3", "event+0:4", "context+1000000:4"],
)
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="no place"):
        place(text)


def test_memory_of_which_a_byte_is_not_known_is_not_known() -> None:
    word = var("w")
    parts = {k: extract(word, 8 * k + 7, 8 * k) for k in range(4)}
    for missing in range(4):
        some = {-4 + k: part for k, part in parts.items() if k != missing}
        assert _location(lane(frame=some), "frame", -4, 4) is None
        assert _location(lane(context=some), "context", -4, 4) is None
    assert _location(lane(frame={-4 + k: part for k, part in parts.items()}), "frame", -4, 4) is word
    assert _location(lane(context=parts), "context", 0, 4) is word
    assert _location(lane(context=parts), "context", 2, 2) is extract(word, 31, 16)


# --- at a cut ---


def test_a_place_of_which_nothing_is_known_is_not_what_a_cut_says() -> None:
    found = judge(None, CUT, replace(HALF, holds={**HALF.holds, "x7": "event.response_ns"}))
    assert found.bound() == CYCLES
    assert found.met == {0}


def test_a_value_that_is_the_same_by_proof_only_is_what_a_cut_says() -> None:
    twice = f"(xor (xor {NODE} event.response_ns) event.response_ns)"
    for expression, met in ((twice, {0}), (twice.replace("response_ns)", "request_sent_ns)", 1), set())):
        found = judge(None, replace(HALF, holds={**HALF.holds, "x6": "params.rate_max_q30", "x5": expression}))
        assert found.bound() == CYCLES
        assert found.met == met


def test_constants_tell_cuts_at_one_address_apart_without_a_question() -> None:
    """The number of a table's entry, say: who comes with another number is at another cut."""
    code = with_code(less=encode("addi", 7, 0, imm=5), take=encode("addi", T0, T1))
    right = Cut(AT["write"], {**KEPT, "x7": "5", "x5": "params.rate_max_q30", "x10": "pointer.context"}, {})
    other = replace(right, holds={**right.holds, "x7": "6"})
    found = judge(code, other, right)
    start = next(iter(found.paths((START, None))))
    assert start.following == (1, None)
    assert found.met == {1}
    assert found.oracle.asked == 0


@pytest.mark.parametrize(("number", "met"), [("0", {0}), ("1", set())])
def test_a_word_that_is_a_number_by_proof_only_is_what_a_cut_says(number: str, met: set[int]) -> None:
    code = with_code(take=encode("xor", 7, T0, T0))
    cut = Cut(AT["write"], {**KEPT, "x7": number, "x10": "pointer.context"}, {})
    found = judge(code, cut)
    with pytest.raises(Refused):
        found.bound()
    assert found.met == met


def test_a_place_that_holds_nothing_holds_no_number() -> None:
    cut = Cut(AT["write"], {**KEPT, "frame-4:4": "0", "x10": "pointer.context"}, {})
    found = judge(None, cut)
    found.bound()
    assert found.met == set()


def test_a_cut_may_leave_out_a_context_that_nothing_has_written() -> None:
    """Also one behind a cut that says it is as it was."""
    found = judge(with_code(write=CODE["half"], half=encode("addi", 0, 0)), CUT, Cut(AT["half"], KEPT, {}))
    with pytest.raises(Refused):
        found.bound()
    assert found.met == {0, 1}


def test_a_cut_may_not_leave_out_a_context_that_was_written() -> None:
    """Neither in the path that comes to it nor before the cut that the path comes from."""
    square = Cut(AT["square"], {**KEPT, "x5": f"(srl {NODE} 1)"}, {})
    found = judge(None, HALF, square)
    assert found.bound() == CYCLES
    assert found.met == {0}


def test_only_places_of_the_context_name_its_bytes() -> None:
    """Not registers with the same numbers."""
    code = with_code(write=encode("sh", rs1=A0, rs2=T0, imm=2))
    found = judge(code, Cut(AT["half"], {**KEPT, "x5": NODE}, {}))
    with pytest.raises(Refused, match=r"another value .*context\.rate_q30"):
        found.bound()
    assert found.met == set()


# --- behind a cut ---


def test_behind_a_cut_the_values_it_holds_are_free_and_the_registers_are_its_own() -> None:
    found = judge(None, CUT)
    start = found._start((0, None))
    assert found._free(0) == {NODE}
    assert found._free(START) == frozenset()
    assert len(start.registers) == len(found._start((START, None)).registers) == 32
    assert start.registers[0] is const(0)
    assert start.registers[T0] is var(NODE)
    assert {n for n, value in enumerate(start.registers) if value is None} == {
        n for n in range(1, 32) if f"x{n}" not in CUT.holds
    }
    assert start.known.bounds[var(NODE)] == bounded(PROGRAM.nodes[LEAST].low, PROGRAM.nodes[LEAST].high)


@pytest.mark.parametrize(
    ("text", "ends", "fixed"),
    [
        (NODE, (7, 7), {LEAST: const(7)}),
        (NODE, (-7, -7), {LEAST: const(-7)}),
        (NODE, (7, 8), {}),
        (f"(eq {NODE} event.response_ns)", (1, 1), {LEAST: var("event.response_ns")}),
        (f"(eq {NODE} (+ event.response_ns 1))", (1, 1), {LEAST: make("bvadd", var("event.response_ns"), const(1))}),
        (f"(eq {NODE} event.response_ns)", (0, 0), {}),
        (f"(eq {NODE} event.response_ns)", (0, 1), {}),
        (f"(eq event.response_ns {NODE})", (1, 1), {}),
        (f"(slt {NODE} event.response_ns)", (1, 1), {}),
        (f"(+ {NODE} 1)", (7, 7), {}),
        ("event.response_ns", (7, 7), {}),
    ],
)
def test_behind_a_cut_a_value_of_which_it_says_what_it_is_is_that(
    text: str, ends: tuple[int, int], fixed: dict[int, Term]
) -> None:
    start = judge(None, replace(CUT, bounds={text: ends}))._start((0, None))
    assert start.fixed == fixed
    assert start.registers[T0] is fixed.get(LEAST, var(NODE))


def test_a_sum_of_leaves_fixes_no_node_of_its_number() -> None:
    b = ProgramBuilder(Forest(("a",), (oblivious(((0, 5),), (1, 2)),), (0,), 16), FLOW_RATE)
    b.state_in("rate_q30", "uint32")
    b.state_out("rate_q30", b.event("response_ns"))
    program = b.finish(b.add(Op.TREES, (b.event("request_sent_ns"),), 0))
    cut = replace(CUT, holds=KEPT, bounds={"tree.0": (1, 1), "sum.0": (1, 1)})
    assert judge(None, cut, program=program)._start((0, None)).fixed == {}


def test_what_a_cut_fixes_is_still_known_of_what_it_is_made_of() -> None:
    bounds = {**CUT.holds, "x5": "event.response_ns"}, {NODE: (7, 7)}
    start = judge(None, Cut(CUT.pc, *bounds))._start((0, None))
    difference = make("bvsub", var("event.response_ns"), SENT)
    assert judge()._meaning(None, frozenset()).value(LEAST) in start.known.bounds
    assert start.known.decide(make("bvult", difference, const(7)), Oracle()) is FALSE


@pytest.mark.parametrize("number", [0, 7])
def test_a_number_that_a_value_need_not_be_is_not_believed(number: int) -> None:
    """Neither with the code behind the cut right nor where it returns what such a value would give."""
    always = encode("addi", A0, 0, imm=((number >> 1) ** 2 >> 32) + 1)
    for code in (None, with_code(plus=always)):
        found = judge(code, replace(CUT, bounds={NODE: (number, number)}))
        if code is None:
            assert found.bound() == CYCLES
        else:
            with pytest.raises(Refused, match="another value"):
                found.bound()
        assert found.met == set()


@pytest.mark.parametrize("holds", [0, 1])
def test_how_words_compare_is_known_behind_a_cut_without_a_question(holds: int) -> None:
    less, oracle = "(sltu event.response_ns event.request_sent_ns)", Oracle()
    cut = replace(CUT, bounds={less: (holds, holds)})
    known = judge(None, cut)._start((0, None)).known
    assert known.decide(make("bvult", var("event.response_ns"), SENT), oracle) is (TRUE if holds else FALSE)
    assert oracle.asked == 0
    found = judge(None, cut)  # it need not be so where paths come
    assert found.bound() == CYCLES
    assert found.met == set()


SPILLED = {
    **{name: word for name, word in CODE.items() if name not in ("half", "square", "plus", "return")},
    "spill": encode("sw", rs1=SP, rs2=T0, imm=-8),
    "gone": encode("addi", T0, 0),
    "back": encode("lw", T0, SP, imm=-8),
    "half": CODE["half"],
    "square": CODE["square"],
    "plus": CODE["plus"],
    "return": CODE["return"],
}
GONE = Cut(BASE + 4 * list(SPILLED).index("gone"), {**KEPT, **WRITTEN, "frame-8:4": NODE}, {})


@pytest.mark.parametrize("cuts", [(), (GONE,)])
def test_a_value_is_kept_in_the_frame_and_its_depth_is_counted(cuts: tuple[Cut, ...]) -> None:
    found = judge(SPILLED, *cuts)
    assert found.bound() == CYCLES + 2 + 1 + 2
    assert found.met == set(range(len(cuts)))
    assert found.deepest == 8


def test_another_value_in_the_frame_is_not_what_a_cut_says() -> None:
    found = judge(SPILLED, replace(GONE, holds={**GONE.holds, "frame-8:4": "context.rate_q30"}))
    assert found.bound() == CYCLES + 2 + 1 + 2
    assert found.met == set()


def test_a_result_of_which_nothing_is_known_is_refused() -> None:
    end = Cut(AT["return"], {**KEPT, **WRITTEN}, {})
    with pytest.raises(Refused, match=r"which nothing .*known"):
        judge(None, end).bound()


def test_the_program_is_read_with_what_the_lane_has_decided() -> None:
    found = judge()
    start = found._start((START, None))
    difference, most = make("bvsub", var("event.response_ns"), SENT), var("params.rate_max_q30")
    known = start.known.assume(make("bvult", difference, most))
    assert found._meaning(replace(start, known=known), frozenset()).value(LEAST) is difference
    assert found._meaning(None, frozenset()).value(LEAST).op == "ite"


def test_an_access_before_a_cut_matters_where_it_holds_up_a_branch_not_taken() -> None:
    """With a branch-target ALU and a slow memory, one that is taken waits anyhow."""
    found = judge(None, profile="ibex-maxperf")
    store, branch = found._code.instructions[AT["write"]], AT["less"]
    assert found._matters(lane(pc=branch, before=store)) is None
    found.model = replace(found.model, branch_taken=2, data_wait=1)
    assert found._matters(lane(pc=branch, before=store)) is store


@pytest.mark.parametrize("held_up", [False, True])
def test_an_access_before_a_cut_matters_whichever_way_of_a_branch_it_holds_up(held_up: bool) -> None:
    """In this model of the cycles no access holds up only a branch that is taken; in another it may."""
    found = judge(None)
    store = found._code.instructions[AT["write"]]
    step = lambda _, taken, before: 1 + (before is store and taken is held_up)  # noqa: E731
    found.model = SimpleNamespace(step=step)  # type: ignore[assignment]
    assert found._matters(lane(pc=AT["less"], before=store)) is store


# --- the program's inputs and the image ---


def wide() -> Program:
    """The sum of two fields needs 33 bits; the result is the sum's upper part."""
    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE)
    a = b.state_in("a", "uint32")
    b.state_out("a", a)
    b.state_in("unread", "int16")
    b.state_out("unread", b.const(0))
    both = b.add(Op.ADD, (a, b.event("response_ns")), name="both")
    return b.finish(b.add(Op.SHR, (both,), 1))


WIDE = wide()
BOTH = next(n for n, node in enumerate(WIDE.nodes) if node.name == "both")


def test_what_the_function_writes_is_read_from_the_lane_and_nowhere_else() -> None:
    """The bytes that the context had at the call would be there after a store, too."""
    code = judge()._code
    assert set(code.structures) == {"event", "params"}
    assert set(code.fields) == {"context"}


def several_knobs() -> Judge:
    """Of a program that sets three knobs to 1, 2 and 3, whatever comes."""
    b = ProgramBuilder(Forest((), (), (0,), 16), QUEUE_MARKING)
    made = b.finish(*(b.const(n) for n in (1, 2, 3)))
    names = {
        "event": QUEUE_MARKING.event_names,
        "params": QUEUE_MARKING.param_names,
        "action": QUEUE_MARKING.knob_names,
    }
    layouts = {group: Layout(group, np.dtype([(name, "<u4") for name in fields])) for group, fields in names.items()}
    like = judge()
    return Judge(like.image, BASE, made, layouts, (), like.model, 64, Oracle())


KNOBS = {4 * n + k: const(value if k == 0 else 0, 8) for n, value in enumerate((1, 2, 3)) for k in range(4)}


def test_context_and_action_are_written_what_else_is_handed_over_is_read() -> None:
    both = several_knobs()._code
    assert set(both.structures) == {"event", "params"}
    assert both.fields == {"action": frozenset(range(12))}
    one = judge()._code
    assert set(one.fields) == {"context"}
    assert "context" not in one.structures


def test_knobs_are_what_was_written_to_each_and_nothing_is_returned() -> None:
    found = several_knobs()
    unknown = (*(at_call(r) if r else const(0) for r in range(A0)), None, *(at_call(r) for r in range(A0 + 1, 32)))
    found._returned(lane(registers=unknown, action=KNOBS), frozenset())
    for byte in KNOBS:
        name = QUEUE_MARKING.knob_names[byte // 4]
        less = {at: value for at, value in KNOBS.items() if at != byte}
        with pytest.raises(Refused, match=rf"not write .*action\.{name} "):
            found._returned(lane(action=less), frozenset())
        with pytest.raises(Refused, match=rf"another value .*action\.{name}"):
            found._returned(lane(action={**KNOBS, byte: const(9, 8)}), frozenset())


def test_ranges_are_known_of_the_inputs_and_of_what_fits_a_word() -> None:
    found = judge(program=WIDE)
    inputs = {var("context.a"), var("context.unread"), var("event.response_ns")}
    assert set(found._ranges(frozenset())) == inputs
    result = var(f"node.{WIDE.result}")
    free = found._ranges(frozenset((f"node.{BOTH}", f"node.{WIDE.result}")))
    assert set(free) == {*inputs, result}
    assert free[result] == bounded(0, MAX_WORD)


def test_what_an_earlier_program_had_narrow_is_not_narrow_for_the_next() -> None:
    """Not even where no node reads the field: code may."""
    event, field = var("event.response_ns"), var("context.unread")
    NARROW[event] = NARROW[field] = (8, False)
    made = Judge.__new__(Judge)
    made.program, made._fields = WIDE, judge(program=WIDE)._fields
    NARROW[event] = NARROW[field] = (8, False)
    made._structure("event")
    assert event not in NARROW
    made._structure("context")
    assert NARROW[field] == (16, True)


def test_constants_are_those_of_their_section() -> None:
    one = {
        **{name: word for name, word in CODE.items() if name not in ("plus", "return")},
        "where": encode("lui", T1, imm=CONSTANTS_BASE + 0x800 & ~0xFFF),
        "load": encode("lw", T1, T1, imm=(CONSTANTS_BASE & 0xFFF ^ 0x800) - 0x800),
        "plus": encode("add", A0, A0, T1),
        "return": CODE["return"],
    }
    assert judge(one, constants=bytes((1, 0, 0, 0))).bound() > CYCLES
    with pytest.raises(Refused, match="returns another value"):
        judge(one, constants=bytes((2, 0, 0, 0))).bound()
    with pytest.raises(Refused, match="outside the constants"):
        judge(one).bound()


def test_a_cut_that_no_input_meets_lends_no_term_to_another() -> None:
    """The program says whether two trees sum to more than 4; the code always says so. A path that no input takes, which
    only the exact square shows, comes to a cut where the first tree is 5. It is 1 or 9: there anything can be decided.
    The cut of the other path is at the same place."""
    made = ProgramBuilder(
        Forest(("a",), (oblivious(((0, 5),), (1, 9)), oblivious(((0, 100),), (0, 1))), (0,), 16), FLOW_RATE
    )
    made.state_in("rate_q30", "uint32")
    row = made.event("request_sent_ns")
    made.state_out("rate_q30", made.event("response_ns"))
    says = made.finish(made.add(Op.GT, (made.add(Op.TREES, (row,), 0), made.const(4))))
    first_tree = [encode("sltiu", 7, 5, imm=6), encode("slli", 7, 7, imm=3), encode("addi", 5, 0, imm=9)]
    square = [encode("mul", 7, 6, 6), encode("andi", 7, 7, imm=3), encode("xori", 7, 7, imm=2)]
    words = [
        *(encode("lw", 5, A1, imm=0), encode("lw", 6, A1, imm=4), *first_tree, encode("sub", 5, 5, 7)),
        *(*square, encode("bltu", rs1=0, rs2=7, imm=8), encode("addi", 0, 0)),
        *(encode("lw", 6, A1, imm=4), encode("sw", rs1=A0, rs2=6), encode("addi", A0, 0, imm=1), encode("jalr", 0, RA)),
    ]
    code = {str(number): word for number, word in enumerate(words)}
    kept = {**KEPT, "x10": "pointer.context", "x11": "pointer.event"}
    tree = Cut(BASE + 4 * 6, {**kept, "x5": "tree.0", "x6": "event.response_ns"}, {})
    never, end = Cut(BASE + 4 * 11, kept, {"tree.0": (5, 5)}), Cut(BASE + 4 * 11, kept, {})
    for cuts in ((tree, end), (tree, never, end)):
        with pytest.raises(Refused):
            judge(code, *cuts, program=says).bound()
