"""What the solvers are asked: of products only what must be so."""

import pytest

from decision.ir.forest import Forest
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Program
from verify.prover.expressions import Pool
from verify.prover.questions import Writer
from verify.prover.solve import Solvers

SECONDS = 20.0
NOTHING = Program(FLOW_RATE, (), (), (), Forest((), (), (), 16))


def proved(factors: tuple[str | int, str | int], others: tuple[str | int, str | int], known: tuple[int, int]) -> bool:
    """Whether two products are one by what is known of y."""
    pool = Pool()
    writer = Writer(pool, NOTHING, {})
    atoms = {name: pool.atom(name) for name in "xyz"}
    words = [[atoms[f] if isinstance(f, str) else f for f in pair] for pair in (factors, others)]
    a, b = (writer.word(pool.make("mulhu", *pair)) for pair in words)
    writer.interval(atoms["y"], *known)
    return Solvers(SECONDS).prove(writer.question(f"(not (= {a} {b}))"), "two products")


@pytest.mark.parametrize("turned", [False, True])
def test_a_factor_that_is_known_to_be_a_number_is_that_number(turned: bool) -> None:
    one, other = ("x", "y"), ("x", 1001)
    if turned:
        one, other = other[::-1], one[::-1]
    assert proved(one, other, (1001, 1001))
    assert not proved(one, other, (1001, 1002))
    assert not proved(one, ("z", 1001) if not turned else ("z", "y"), (1001, 1001))


def test_a_square_is_the_product_with_what_its_factor_is() -> None:
    assert proved(("y", "y"), ("y", 1001), (1001, 1001))
    assert not proved(("y", "y"), ("y", 1001), (1000, 1001))
