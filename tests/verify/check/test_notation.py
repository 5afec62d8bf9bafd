"""The certificate's notation: what each expression stands for, as arithmetic on 32 bits, and what is none."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from term_values import signed, value_of

from decision.ir.forest import Branch, Forest, Leaf, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, Program, ProgramBuilder
from verify.check.meaning import Meaning
from verify.check.notation import MAX_CHARACTERS, evaluate, names_in
from verify.check.refused import Refused
from verify.check.terms import TRUE, Term, const, extract, make, var

WORD = (1 << 32) - 1
A, B = "event.response_ns", "params.rate_max_q30"
WORDS = (0, 1, 2, 5, 31, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, 0xDEAD_BEEF, WORD - 1, WORD)
FREE = {"node.5": 1 << 40 | 1 << 31 | 77 << 9, "tree.0": 7, "tree.1": 8, "sum.0": 9, "sum.1": 10}


def program() -> Program:
    """Six nodes, the last two wider than a word, and two trees."""
    b = ProgramBuilder(
        Forest(("x",), (oblivious(((0, 5),), (1, 2)), oblivious(((0, 9),), (3, 4))), (0,), 16), FLOW_RATE
    )
    x = b.event("cnp_count")
    trees = b.add(Op.TREES, (x,))
    most = b.event("response_ns")
    b.add(Op.ADD, (most, b.const(1)))
    b.add(Op.SHL, (most,), 9)
    return b.finish(trees)


PROGRAM = program()


def meaning() -> Meaning:
    return Meaning(PROGRAM, frozenset(FREE), lambda c: c, lambda a, b: make("prod", a, b))


def word(text: str, **values: int) -> int:
    return value_of(evaluate(text, meaning()), {**FREE, **{k.replace("__", "."): v for k, v in values.items()}}, {})


def of(text: str, a: int, b: int) -> int:
    return value_of(evaluate(text, meaning()), {A: a, B: b}, {})


def by_sign(value: int) -> int:
    return signed(value, 32)


OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "mul": lambda a, b: a * b,
    "mulhu": lambda a, b: a * b >> 32,
    "mulh": lambda a, b: by_sign(a) * by_sign(b) >> 32,
    "mulhsu": lambda a, b: by_sign(a) * b >> 32,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "sltu": lambda a, b: a < b,
    "slt": lambda a, b: by_sign(a) < by_sign(b),
    "eq": lambda a, b: a == b,
}
SHIFTS: dict[str, Callable[[int, int], int]] = {
    "sll": lambda a, k: a << k,
    "srl": lambda a, k: a >> k,
    "sra": lambda a, k: by_sign(a) >> k,
}


@pytest.mark.parametrize("op", OPERATIONS)
def test_an_operation_of_two_words_is_that_of_32_bits(op: str) -> None:
    for a in WORDS:
        for b in WORDS:
            wanted = int(OPERATIONS[op](a, b)) & WORD
            assert of(f"({op} {A} {B})", a, b) == wanted, (a, b)
            assert of(f"({op} {a} {B})", 0, b) == wanted, (a, b)


@pytest.mark.parametrize("op", SHIFTS)
def test_a_shift_is_that_of_32_bits(op: str) -> None:
    for a in WORDS:
        for k in (0, 1, 7, 31):
            assert of(f"({op} {A} {k})", a, 0) == SHIFTS[op](a, k) & WORD, (a, k)


def test_a_sum_has_as_many_operands_as_it_likes() -> None:
    assert of(f"(+ {A} {B} 7 {A})", 100, WORD) == 206
    assert of(f"(+ (+ {A} 1) (* 3 (+ {B} -1)))", 10, 4) == 20


def test_a_power_of_two_is_a_shift() -> None:
    """Such a product needs no multiplier, and no solver."""
    for k in (0, 2, 31):
        assert evaluate(f"(* {1 << k} {A})", meaning()) is make("bvshl", var(A), const(k))


def test_a_word_times_minus_one_is_taken_away() -> None:
    """As the program and the code write a difference: else a solver would have to find that they are one."""
    for text in (f"(+ {A} (* {WORD} {B}) 0)", f"(+ (* {WORD} {B}) {A} 0)"):
        assert evaluate(text, meaning()) is make("bvsub", var(A), var(B))
    for a, b in ((0, 0), (5, 9), (WORD, 1), (1, WORD)):
        assert of(f"(* {WORD} {A})", a, b) == -a & WORD
        assert of(f"(* {WORD - 1} {A})", a, b) == -2 * a & WORD


@pytest.mark.parametrize("bit", [0, 1, 16, 31, 32, 40, 63])
def test_a_word_of_a_product_begins_at_a_bit_of_its_64(bit: int) -> None:
    for a in WORDS:
        for b in WORDS:
            assert of(f"(product {A} {B} {bit})", a, b) == a * b >> bit & WORD, (a, b)
    shifted = make("bvlshr", make("prod", var(A), var(B)), const(bit, 64))  # as wide as the product it shifts
    assert evaluate(f"(product {A} {B} {bit})", meaning()) is extract(shifted, 31, 0)


def test_a_choice_is_its_second_operand_where_the_first_is_one() -> None:
    for a, b in ((3, 4), (4, 4), (WORD, 0)):
        assert of(f"(if (sltu {A} {B}) (+ {A} 5) 9)", a, b) == ((a + 5) & WORD if a < b else 9)
        assert of(f"(if {A} 7 9)", a, b) == of(f"(if {a} 7 9)", 0, 0) == 9
    assert of(f"(if {A} 7 9)", 1, 0) == 7
    asked: list[Term] = []

    def choose(condition: Term) -> Term:
        asked.append(condition)
        return TRUE

    known = Meaning(PROGRAM, frozenset(), choose, lambda a, b: make("prod", a, b))
    assert evaluate(f"(if (slt {A} {B}) 7 9)", known) is const(7)
    assert asked == [make("bvslt", var(A), var(B))]


@pytest.mark.parametrize("number", [0, 7, -1, -(1 << 31), WORD])
def test_a_number_is_a_word(number: int) -> None:
    assert evaluate(str(number), meaning()) is const(number)


@pytest.mark.parametrize(
    "name", ["event.response_ns", "params.rate_max_q30", "context.rate_q30", "register.8", "pointer.context"]
)
def test_an_input_a_register_and_a_pointer_are_variables(name: str) -> None:
    assert evaluate(name, meaning()) is var(name)


def test_a_name_of_the_program_is_the_low_word_of_its_value() -> None:
    assert len(PROGRAM.nodes) == 6
    assert [word(name) for name in FREE] == [1 << 31 | 77 << 9, 7, 8, 9, 10]
    assert value_of(evaluate("node.0", meaning()), {"event.cnp_count": 3}, {}) == 3
    assert value_of(evaluate("(+ node.4 0)", meaning()), {A: WORD}, {}) == 0


def test_the_names_in_an_expression_are_those_of_the_program() -> None:
    text = f"(+ node.12 (* 4 tree.3) sum.07 {A} register.8 edge.5)"
    assert names_in(text) == {"node.12", "tree.3", "sum.07"}


UNREADABLE = [
    *("", "(", ")", "()", "(+", "(+ 1 2", "7 (+ 1 2", "+ 1 2)", "(+ 1 2))", "1 2", "1 2 )", "1 2 3 )", "1 )"),
    *("(+)", "(+ 1)", "(and 1)", "(and 1 2 3)", "(* 1 2 3)", "(sltu 1 2 3)", "(mulhu 1 2 3)"),
    *(
        "(product 1 2)",
        f"(product 1 2 {A})",
        "(product 1 2 3 4)",
        "(if 1 2)",
        "(if 1 2 3 4)",
        "(frob 1 2)",
        f"(frob {A} 2)",
        "(frob 1 2 3)",
    ),
    *("node.6", "tree.2", "sum.2", "node.9999999999", "node.", "node.-1", "edge.1", "xnode.1", "node.1x", "-", "--1"),
    *("event.", "event", "events.a", "1.5", "0x10", "²", "123456789012345678901"),
]


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(Refused, match=r"prove .*again"):
        evaluate(text, meaning())


def test_an_expression_is_at_most_so_long() -> None:
    assert MAX_CHARACTERS == 20_000
    assert evaluate("7".ljust(MAX_CHARACTERS), meaning()) is const(7)
    with pytest.raises(Refused, match=r"20001 characters, .*20000"):
        evaluate("7".ljust(MAX_CHARACTERS + 1), meaning())


def test_what_the_lane_knows_of_a_product_is_used() -> None:
    asked: list[tuple[Term, Term]] = []

    def multiply(a: Term, b: Term) -> Term:
        asked.append((a, b))
        return make("prod", a, b)

    known = Meaning(PROGRAM, frozenset(), lambda c: c, multiply)
    evaluate(f"(mulhu {A} {B})", known)
    assert asked == [(var(A), var(B))]


@pytest.mark.parametrize("outputs", [1, 2, 3])
def test_every_tree_of_every_output_has_a_name_and_no_other(outputs: int) -> None:
    trees = tuple(Branch(0, 5 + k, Leaf((k,) * outputs), Leaf((k + 9,) * outputs)) for k in range(2))
    forest = Forest(("x",), trees, (0,) * outputs, 16)
    several = Meaning(replace(PROGRAM, forest=forest), frozenset(), lambda c: c, lambda a, b: make("prod", a, b))
    for kind in ("tree", "sum"):
        for k in range(2 * outputs):
            assert evaluate(f"{kind}.{k}", several).leaves == {var("event.cnp_count")}
        for k in (2 * outputs, 2 * outputs + 1):
            with pytest.raises(Refused, match="cannot be read"):
                evaluate(f"{kind}.{k}", several)
