"""What follows the trees' sum goes into their one table, where it fits and nobody else asks for the sum."""

import pytest
from drawing import ACTIONS, FEATURES, make_student

from codegen.choose import Limits
from codegen.lower import Options
from codegen.passes.program import LoweredProgram, lower_program
from decision.ir.forest import oblivious
from decision.ir.program import Op

TREES = (oblivious(((0, 4295), (0, 17_180)), (1966, -3000, 0, -8192)), oblivious(((1, 0), (1, 4295)), (6, 7, 8, 9)))


def lowered(features: tuple[str, ...] = ("rl_cc_congestion",), **options: object) -> LoweredProgram:
    student = make_student([FEATURES[name] for name in features], ACTIONS[0], TREES, window=2, bias=-12)
    return lower_program(student.program(), Options(form="joint", **options))  # type: ignore[arg-type]


def entries(made: LoweredProgram) -> tuple[int, ...]:
    return made.forests[0].array


def test_the_table_holds_the_factor_of_the_rate_as_its_product_takes_it() -> None:
    plain, made = lowered(without=("entries",)), lowered()
    assert entries(made) == tuple((entry + (1 << 16)) << 14 for entry in entries(plain))
    (product,) = made.sums
    assert made.program.nodes[product].op is Op.SHL
    assert made.program.nodes[plain.sums[0]].op is not Op.SHL
    assert made.forests[0].cycles < plain.forests[0].cycles
    assert made.forests[0].table_bytes == 2 * plain.forests[0].table_bytes


@pytest.mark.parametrize(
    "options",
    [{"limits": Limits(table=30)}, {"optimise": "size"}, {"limits": Limits(cycles=500)}],
    ids=["no room", "size counts", "fast enough"],
)
def test_a_table_that_may_not_grow_holds_the_sum(options: dict[str, object]) -> None:
    assert max(entries(lowered(**options))) < 1 << 16


def test_a_sum_that_the_context_keeps_stays_in_the_table() -> None:
    assert max(entries(lowered(("previous_action", "rl_cc_congestion")))) < 1 << 16
