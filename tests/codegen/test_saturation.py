"""Which clamps one test decides; that they are printed right is proved of whole decisions."""

from typing import Any

import pytest

from codegen.saturation import Excess, Saturation, excesses, saturations
from decision.ir.forest import Forest
from decision.ir.formats import U32_MAX
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, Program, ProgramBuilder


def program(floor: int = 1536, less: int = 1536, limit: int = 65535, raised_kept: bool = False) -> Program:
    b = ProgramBuilder(Forest((), (), (0,), 0), FLOW_RATE)
    b.state_in("rate_q30", "uint32")
    raised = b.add(Op.MAX, (b.event("response_ns"), b.const(floor)))
    clamped = b.add(Op.MIN, (b.add(Op.SUB, (raised, b.const(less))), b.const(limit)))
    b.state_out("rate_q30", raised if raised_kept else clamped)
    return b.finish(clamped)


def of(made: Program) -> dict[int, Saturation]:
    uses = {n: sum(n in node.args for node in made.nodes) for n in range(len(made.nodes))}
    return saturations(made, uses, range(len(made.nodes)))


def test_a_difference_clamped_on_both_sides_is_one() -> None:
    made = program()
    ((number, clamp),) = of(made).items()
    assert made.nodes[number].op is Op.MIN
    assert made.nodes[clamp.x].op is Op.EVENT
    assert (clamp.floor, clamp.limit) == (1536, 65535)
    assert [made.nodes[n].op for n in clamp.inner] == [Op.MAX, Op.SUB]


@pytest.mark.parametrize(
    "other",
    [
        program(less=1535),  # not what it was raised to
        program(raised_kept=True),  # somebody asks for what is within
        program(limit=U32_MAX - 1535),  # what wraps might not be beyond it
    ],
    ids=["another difference", "kept", "no room"],
)
def test_what_one_test_does_not_decide_is_none(other: Program) -> None:
    assert of(other) == {}
    assert of(program(limit=U32_MAX - 1536))


def excess(op: Op = Op.GT, other: int = 0, limit: int = U32_MAX, kept: bool = False) -> dict[int, Excess]:
    b = ProgramBuilder(Forest((), (), (0,), 0), FLOW_RATE)
    b.state_in("rate_q30", "uint32")
    x, y = b.event("response_ns"), b.event("request_sent_ns")
    difference = b.add(Op.WRAP_SUB, (x, y))
    chosen = b.add(
        Op.SELECT, (b.add(op, (x, y)), b.add(Op.MIN, (difference, b.const(limit))), b.const(other)), name="chosen"
    )
    b.state_out("rate_q30", difference if kept else chosen)
    made = b.finish(chosen)
    uses = {n: sum(n in node.args for node in made.nodes) for n in range(len(made.nodes))}
    return excesses(made, uses, range(len(made.nodes)))


def test_a_difference_that_is_taken_above_its_subtrahend_needs_no_limit() -> None:
    ((_, found),) = excess().items()
    assert found.x != found.y
    assert len(found.inner) == 2


@pytest.mark.parametrize(
    "other",
    [{"op": Op.EQ}, {"other": 1}, {"limit": U32_MAX - 1}, {"kept": True}],
    ids=["another condition", "another value below", "a limit that may hold", "kept"],
)
def test_another_difference_keeps_its_limit(other: dict[str, Any]) -> None:
    assert excess(**other) == {}
