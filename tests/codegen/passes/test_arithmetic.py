"""Passes over a program's arithmetic: what each does to a node that shows it, and that none changes a decision."""

from collections.abc import Callable

import numpy as np
import pytest
from drawing import drawn_programs, random_inputs
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from codegen.lower import Options
from codegen.passes.highword import high_words
from codegen.passes.program import lower_program, text_of
from decision.artefact.errors import InputError
from decision.ir.fixed import fixed
from decision.ir.forest import Forest, oblivious
from decision.ir.formats import U32_MAX
from decision.ir.idle import without_idle_clamps
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import evaluate
from decision.ir.program import Node, Op, Program, ProgramBuilder
from decision.ir.rewrite import needed, rewritten

NO_TREES = Forest((), (), (0,), 0)
PASSES: dict[str, Callable[[Program], Program]] = {
    "idle": without_idle_clamps,
    "high-word": high_words,
    "nothing": lambda program: rewritten(program, lambda b, node, args: None),
}


def builder() -> ProgramBuilder:
    b = ProgramBuilder(NO_TREES, FLOW_RATE)
    b.state_in("rate_q30", "uint32")
    return b


def finished(b: ProgramBuilder, result: int) -> Program:
    """With the result as the only thing that counts."""
    b.state_out("rate_q30", b.const(0))
    return b.finish(b.add(Op.MIN, (result, b.const(U32_MAX))) if b.nodes[result].high > U32_MAX else result)


def bits(b: ProgramBuilder, event: str, count: int) -> int:
    """A node of 0..2^count - 1."""
    return b.add(Op.SHR, (b.event(event),), 32 - count)


def operators(program: Program) -> list[Op]:
    return [node.op for node in program.nodes if node.op not in (Op.CONST, Op.EVENT, Op.PARAM, Op.STATE)]


def same(one: Program, other: Program, seed: int) -> bool:
    knobs, context = evaluate(one, *random_inputs(one, 60, seed))
    others, other_context = evaluate(other, *random_inputs(one, 60, seed))
    equal = all((a == b).all() for a, b in zip(knobs, others, strict=True))
    return equal and all((context[name] == other_context[name]).all() for name in context)


@pytest.mark.parametrize("name", PASSES)
@settings(max_examples=examples(60))
@given(drawn_programs(), st.integers(0, 2**32))
def test_no_pass_changes_a_decision(name: str, program: Program, seed: int) -> None:
    assert same(program, PASSES[name](program), seed)


# --- idle clamps -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "bound", "left"),
    [
        (Op.MIN, 255, []),  # the value is 0..255: never above
        (Op.MIN, 254, [Op.MIN]),
        (Op.MAX, 0, []),
        (Op.MAX, 1, [Op.MAX]),
    ],
)
def test_a_clamp_that_ranges_decide_is_its_operand(op: Op, bound: int, left: list[Op]) -> None:
    for turned in (False, True):
        b = builder()
        value, limit = bits(b, "request_sent_ns", 8), b.const(bound)
        clamped = b.add(op, (limit, value) if turned else (value, limit))
        program = finished(b, clamped)
        assert operators(without_idle_clamps(program)) == [Op.SHR, *left]


def test_a_clamp_that_always_acts_is_its_bound() -> None:
    b = builder()
    program = finished(b, b.add(Op.MIN, (b.add(Op.ADD, (bits(b, "request_sent_ns", 8), b.const(9))), b.const(9))))
    done = without_idle_clamps(program)
    assert [(node.op, node.imm) for node in done.nodes if node.op is not Op.CONST] == []
    assert done.nodes[done.results[0]].imm == 9


# --- high words ------------------------------------------------------------------------------------------------------


def product(first: int, second: int, shift: int) -> Program:
    b = builder()
    return finished(b, b.add(Op.MUL_SHR, (bits(b, "request_sent_ns", first), bits(b, "response_ns", second)), shift))


@pytest.mark.parametrize(
    ("first", "second", "shift", "left"),
    [
        (16, 16, 20, [(Op.MUL_SHR, 20)]),  # 32 bits hold the whole product
        (32, 32, 32, [(Op.MUL_SHR, 32)]),  # it is the high word already
        (32, 32, 31, [(Op.MUL_SHR, 31)]),  # no operand has room for a bit
        (31, 32, 31, [(Op.SHL, 1), (Op.MUL_SHR, 32)]),
        (30, 30, 28, [(Op.SHL, 2), (Op.SHL, 2), (Op.MUL_SHR, 32)]),
        (30, 30, 27, [(Op.MUL_SHR, 27)]),
        (30, 30, 40, [(Op.MUL_SHR, 32), (Op.SHR, 8)]),
    ],
)
def test_a_product_becomes_a_high_word_where_its_operands_have_room(
    first: int, second: int, shift: int, left: list[tuple[Op, int]]
) -> None:
    program = product(first, second, shift)
    done = high_words(program)
    kept = [
        (n.op, n.imm)
        for n in done.nodes
        if n.op in (Op.SHL, Op.MUL_SHR) or (n.op is Op.SHR and shift > 32 and n.imm == shift - 32)
    ]
    assert kept == left
    assert same(program, done, seed=first)


def test_a_shifted_operand_is_shared_and_named_with_its_format() -> None:
    b = builder()
    rate = b.add(Op.SHR, (b.event("request_sent_ns"),), 2, "rate_q30")
    products = [b.add(Op.MUL_SHR, (bits(b, name, 30), rate), 30) for name in ("response_ns", "sent_bytes")]
    shifts = [node for node in high_words(finished(b, b.add(Op.MIN, tuple(products)))).nodes if node.op is Op.SHL]
    assert [node.name for node in shifts] == ["rate_q32"]


# --- fixed parameters ------------------------------------------------------------------------------------------------


def test_a_fixed_parameter_is_a_constant_and_decides_the_clamps_behind_it() -> None:
    b = builder()
    name = b.interface.param_names[0]
    program = finished(b, b.add(Op.MIN, (bits(b, "request_sent_ns", 8), b.param(name))))
    acts, idle = fixed(program, {name: 100}), fixed(program, {name: 300})
    assert operators(acts) == [Op.SHR, Op.MIN]
    assert operators(idle) == [Op.SHR]
    assert not [node for made in (acts, idle) for node in made.nodes if node.op is Op.PARAM]
    event, params, context = random_inputs(program, 60, seed=3)
    params[name] = np.full(60, 100, dtype=np.int64)
    assert (evaluate(program, event, params, context)[0][0] == evaluate(acts, event, params, context)[0][0]).all()


def test_a_parameter_that_there_is_not_is_refused_by_name() -> None:
    program = finished(b := builder(), b.const(1))
    with pytest.raises(InputError, match="parameter 'rtt'"):
        fixed(program, {"rtt": 1})


# --- rewriting -------------------------------------------------------------------------------------------------------


def test_what_nothing_needs_is_left_out_and_the_rest_keeps_its_order() -> None:
    b = builder()
    used = bits(b, "request_sent_ns", 8)
    unused = b.add(Op.ADD, (used, b.const(5)))
    program = finished(b, b.add(Op.ADD, (used, b.const(7))))
    assert unused not in needed(program)
    done = rewritten(program, lambda b, node, args: None)
    assert [node.op for node in done.nodes] == [program.nodes[n].op for n in needed(program)]
    assert 5 not in [node.imm for node in done.nodes]


def test_a_rewritten_node_stands_wherever_it_was_used() -> None:
    b = builder()
    five = b.const(5)
    program = finished(b, b.add(Op.ADD, (b.add(Op.ADD, (five, bits(b, "request_sent_ns", 8))), five)))

    def six(made: ProgramBuilder, node: Node, args: tuple[int, ...]) -> int | None:
        return made.const(6) if node.op is Op.CONST and node.imm == 5 else None

    done = rewritten(program, six)
    event = {name: np.zeros(1, dtype=np.int64) for name in program.interface.event_names}
    params = dict.fromkeys(program.interface.param_names, 0)
    assert evaluate(done, event, params, {"rate_q30": 0})[0][0].tolist() == [12]


# --- the whole program -----------------------------------------------------------------------------------------------


def clamped_trees(*clamps: tuple[Op, int], used_twice: bool = False) -> Program:
    """0..255 through a tree of -50 or 70, then the clamps."""
    forest = Forest(("signal",), (oblivious([(0, 100)], [-50, 70]),), (0,), 0)
    b = ProgramBuilder(forest, FLOW_RATE)
    b.state_in("rate_q30", "uint32")
    trees = node = b.add(Op.TREES, (bits(b, "request_sent_ns", 8),))
    for op, bound in clamps:
        node = b.add(op, (node, b.const(bound)))
    b.state_out("rate_q30", b.add(Op.MAX, (trees, b.const(0))) if used_twice else b.const(0))
    return b.finish(b.add(Op.MAX, (node, b.const(0))))


def test_clamps_to_constants_behind_the_trees_are_taken_over() -> None:
    made = lower_program(clamped_trees((Op.MIN, 60), (Op.MAX, -40)), Options(form="branches", without=("limits",)))
    (total,) = made.forests[0].walk.sums
    assert (total.low, total.high) == (0, 60)  # the clamp to 0 of the result too
    assert len(made.clamped) == 3
    assert [made.program.nodes[n].op for n in made.sums] == [Op.MAX]


def test_an_outer_clamp_clamps_the_bounds_of_an_inner_one() -> None:
    made = lower_program(
        clamped_trees((Op.MAX, 30), (Op.MIN, 20)), Options(form="branches", without=("idle", "limits"))
    )
    (total,) = made.forests[0].walk.sums
    assert (total.low, total.high) == (20, 20)


def test_a_clamp_stays_where_the_sum_is_used_without_it() -> None:
    made = lower_program(clamped_trees((Op.MIN, 60), used_twice=True), Options(form="branches", without=("limits",)))
    (total,) = made.forests[0].walk.sums
    assert (total.low, total.high) == (-(2**31), 2**31 - 1)
    assert not made.clamped


def test_each_pass_is_dumped_unless_it_is_left_out() -> None:
    program = clamped_trees((Op.MIN, 60))
    stages = [dump.name for dump in lower_program(program, Options()).dumps]
    assert stages[:3] == ["program", "idle", "high-word"]
    without = [dump.name for dump in lower_program(program, Options(without=("idle", "merge"))).dumps]
    assert without == [name for name in stages if name not in ("idle", "merge")]


def test_the_text_of_a_program_has_a_line_a_node_and_one_an_output() -> None:
    program = clamped_trees((Op.MIN, 60))
    lines = text_of(program).splitlines()
    assert len(lines) == len(program.nodes) + len(program.state) + len(program.results)
    assert lines[-2].startswith("context->rate_q30 = ")
    assert "min(" in "\n".join(lines)


def test_trees_that_do_not_fit_a_word_are_refused() -> None:
    forest = Forest(("signal",), tuple(oblivious([(0, n)], [0, 2**31 - 1]) for n in range(2)), (0,), 0)
    b = ProgramBuilder(forest, FLOW_RATE)
    b.state_in("rate_q30", "uint32")
    b.state_out("rate_q30", b.const(0))
    program = b.finish(b.add(Op.MIN, (b.add(Op.TREES, (bits(b, "request_sent_ns", 8),)), b.const(5))))
    with pytest.raises(InputError, match=r"32 bits .*leaf bits"):
        lower_program(program, Options())
