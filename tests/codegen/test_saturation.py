"""Which clamps one test decides; that they are printed right is proved of whole decisions."""

import pytest

from codegen.saturation import Saturation, saturations
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
