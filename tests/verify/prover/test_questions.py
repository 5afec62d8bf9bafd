"""What the solvers are asked: of products only what must be so."""

import pytest

from decision.ir.forest import Forest, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, Program, ProgramBuilder
from verify.prover.expressions import WORD, Pool
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


@pytest.mark.parametrize("wrong", [False, True])
def test_a_name_is_what_the_program_makes_of_it(wrong: bool) -> None:
    """The least of two parameters is node n; of the name that stands for it nothing is known but the definition."""
    b = ProgramBuilder(Forest((), (), (), 16), FLOW_RATE)
    one, other = b.add(Op.PARAM, (), 1), b.add(Op.PARAM, (), 2)
    half = b.add(Op.SHR, (b.add(Op.MIN, (one, other)),), 1)
    least = b.nodes[half].args[0]
    pool = Pool()
    atoms = {n: pool.atom(name) for n, name in ((one, "params.one"), (other, "params.other"), (least, "node.least"))}
    for known in (atoms, {**atoms, least: atoms[one]}):  # the lane knows its name, or that it is the first
        for defined in (False, True):
            writer = Writer(pool, b.finish(half), dict(known))
            code = pool.make("srl", atoms[least], 2 if wrong else 1)
            asked = f"(not (= ((_ zero_extend 32) {writer.word(code)}) {writer.node(half)}))"
            if defined:
                writer.define({atoms[least]: least})
            expected = not wrong and (defined or known is atoms)
            assert Solvers(SECONDS).prove(writer.question(asked), "a half") == expected


def test_a_name_of_what_is_made_of_a_sum_beyond_a_word_stays_open() -> None:
    """There is neither a word nor an expression for the sum."""
    leaves = tuple(oblivious(((0, 1),), (2**30, 2**31 - 1)) for _ in range(3))
    b = ProgramBuilder(Forest(("x",), leaves, (0,), 0), FLOW_RATE)
    x = b.add(Op.PARAM, (), 1)
    least = b.add(Op.MIN, (b.add(Op.TREES, (x,)), b.const(1000)))
    last = b.add(Op.SHR, (b.add(Op.MAX, (least, b.const(0))),), 1)
    program, pool = b.finish(last), Pool()
    node = program.nodes[last]
    assert program.nodes[program.nodes[least].args[0]].high > WORD
    assert node.high <= WORD
    name = pool.atom("node.last")
    writer = Writer(pool, program, {x: pool.atom("params.x"), last: name})
    asked = f"(not (= {writer.word(name)} #x00000000))"
    writer.define({name: last})
    assert not Solvers(SECONDS).prove(writer.question(asked), "a name")


@pytest.mark.parametrize(("low", "high", "is_open"), [(0, 1, True), (1, 1, False)])
def test_a_question_is_open_once_a_solver_has_found_values(low: int, high: int, is_open: bool) -> None:
    pool = Pool()
    writer, solvers = Writer(pool, NOTHING, {}), Solvers(SECONDS)
    x = pool.atom("x")
    writer.interval(x, low, high)
    question = writer.question(f"(= {writer.word(x)} #x00000000)")
    assert not solvers.open(question)
    assert solvers.prove(question, "a number") is not is_open
    assert solvers.open(question) is is_open
