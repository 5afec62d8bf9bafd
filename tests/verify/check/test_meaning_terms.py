"""The terms of the checker's meaning: which names are variables, how wide a question is, what the lane is asked.

Two terms may have one value and yet not be one to a checker that compares terms; test_check_meaning.py holds values.
"""

from collections.abc import Callable, Collection, Mapping

import pytest

from decision.ir.forest import Branch, Forest, Leaf
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Node, Op, Program
from verify.check.meaning import Meaning, first_place, fits, free_range, leaves_at, signs, zeros
from verify.check.refused import Refused
from verify.check.terms import FALSE, TRUE, Term, concat, const, extend, extract, ite, make, negate, var

U32, I32 = (1 << 32) - 1, 1 << 31
Range = tuple[int, int]
NO_TREES = Forest((), (), (0,), 16)


def value_in(low: int, high: int) -> Node:
    """A node that the tests hold free: a variable of this range."""
    return Node(Op.WRAP_SUB, (0, 0), 0, low, high)


def program_of(*nodes: Node, forest: Forest = NO_TREES, tables: tuple[tuple[int, ...], ...] = ()) -> Program:
    return Program(FLOW_RATE, nodes, (), (0,), forest, tables)


class Asked:
    """What the meaning asks of the lane: conditions, which it knows or leaves open, and products."""

    def __init__(self, known: Mapping[Term, Term] | None = None) -> None:
        self.known, self.conditions, self.factors = known or {}, list[Term](), list[tuple[Term, Term]]()

    def choose(self, condition: Term) -> Term:
        self.conditions.append(condition)
        return self.known.get(condition, condition)

    def multiply(self, a: Term, b: Term) -> Term:
        self.factors.append((a, b))
        return make("prod", a, b)

    def meaning(self, program: Program, free: Collection[str] = ()) -> Meaning:
        return Meaning(program, frozenset(free), self.choose, self.multiply)


def node(n: int, low: int, high: int) -> Term:
    """The variable of a free node."""
    return var(f"node.{n}", 32 if 0 <= low <= high <= U32 or -I32 <= low <= high < I32 else 64)


LOW_ZEROS = {
    "a constant": (Node(Op.CONST, (), 24, 24, 24), 3),
    "a negative constant": (Node(Op.CONST, (), -48, -48, -48), 4),
    "no constant but 0": (Node(Op.CONST, (), 0, 0, 0), 31),
    "a shift": (Node(Op.SHL, (1,), 2, 0, 40), 5),
    "a shift by much": (Node(Op.SHL, (1,), 30, 0, 0), 31),
    "a sum": (Node(Op.ADD, (1, 2), 0, 0, 40), 3),
    "a difference": (Node(Op.SUB, (2, 3), 0, -40, 40), 1),
    "a minimum": (Node(Op.MIN, (2, 1), 0, 0, 40), 3),
    "a maximum": (Node(Op.MAX, (2, 3), 0, 0, 40), 1),
    "a choice": (Node(Op.SELECT, (0, 1, 2), 0, 0, 40), 3),
    "a difference that wraps": (Node(Op.WRAP_SUB, (1, 2), 0, 0, U32), 0),
    "a product": (Node(Op.MUL, (1, 2), 0, 0, 40), 0),
    "a shift to the right": (Node(Op.SHR, (1,), 1, 0, 40), 0),
}
"""Node 4 over node 0, of which nothing is known, and 8, 24 and 6 at 1, 2 and 3: its low bits that are 0."""


@pytest.mark.parametrize("what", LOW_ZEROS)
def test_a_free_node_keeps_the_low_zeros_of_its_operators(what: str) -> None:
    node_, low = LOW_ZEROS[what]
    constants = (Node(Op.CONST, (), n, n, n) for n in (8, 24, 6))
    program = program_of(value_in(0, 1), *constants, node_)
    assert zeros(program, 4) == low
    if node_.op is not Op.CONST:
        free = Asked().meaning(program, {"node.4"}).value(4)
        assert free is make("bvand", var("node.4"), const(-1 << low))


def wide(n: int, low: int, high: int) -> Term:
    return extend(node(n, low, high), 64, low < 0)


def of_two(op: Op, a: Range, b: Range, result: Range = (0, 1), *, known: Mapping[Term, Term] | None = None) -> Term:
    """The value of an operator over two free nodes, 0 and 1."""
    program = program_of(value_in(*a), value_in(*b), Node(op, (0, 1), 0, *result))
    return Asked(known).meaning(program, ("node.0", "node.1")).value(2)


@pytest.mark.parametrize(
    ("low", "high", "whether"),
    [
        (0, 0, True),
        (0, U32, True),
        (1, U32, True),
        (0, U32 + 1, False),
        (-1, I32 - 1, True),
        (-1, I32, False),
        (-I32, -1, True),
        (-I32, I32 - 1, True),
        (-I32, I32, False),
        (-I32 - 1, -1, False),
        (-I32 - 1, 0, False),
    ],
)
def test_a_word_holds_a_range_by_its_sign_or_without_one(low: int, high: int, whether: bool) -> None:
    assert fits(low, high) is whether
    meaning = Asked().meaning(program_of(value_in(low, high)), ("node.0",))
    assert meaning.value(0) is var("node.0", 32 if whether else 64)


def test_a_value_is_made_once() -> None:
    asked = Asked()
    program = program_of(value_in(0, 9), value_in(0, 9), Node(Op.GT, (0, 1), 0, 0, 1))
    meaning = asked.meaning(program, ("node.0", "node.1"))
    assert meaning.value(2) is meaning.value(2)
    assert len(asked.conditions) == 1


def test_a_free_value_is_not_looked_into() -> None:
    asked = Asked()
    program = program_of(value_in(0, 9), value_in(0, 9), Node(Op.GT, (0, 1), 0, 0, 1))
    assert asked.meaning(program, ("node.2",)).value(2) is var("node.2")
    assert asked.conditions == []


@pytest.mark.parametrize("number", [0, 9, U32, -1])
def test_a_fixed_value_is_a_number_and_not_looked_into(number: int) -> None:
    asked = Asked()
    low, high = min(number, 0), max(number, 9)
    program = program_of(value_in(low, high), value_in(low, high), Node(Op.MIN, (0, 1), 0, low, high))
    for free in ((), ("node.2",)):
        meaning = Meaning(program, frozenset(free), asked.choose, asked.multiply, {2: const(number)})
        assert meaning.value(2) is const(number)
    assert asked.conditions == []


def test_no_word_fixes_a_value_of_more_bits() -> None:
    program = program_of(value_in(0, U32 + 1), Node(Op.ADD, (0, 0), 0, 0, 2 * U32))
    asked = Asked()
    fixed = Meaning(program, frozenset(("node.0",)), asked.choose, asked.multiply, {0: const(5), 1: const(5)})
    open_ = asked.meaning(program, ("node.0",))
    assert [fixed.value(n) for n in (0, 1)] == [open_.value(n) for n in (0, 1)]
    assert fixed.value(0) is var("node.0", 64)


def unsigned(a: Range, b: Range) -> Term:
    return make("bvult", node(1, *b), node(0, *a))


def signed(a: Range, b: Range) -> Term:
    return make("bvslt", node(1, *b), node(0, *a))


def in_64_bits(a: Range, b: Range) -> Term:
    return make("bvslt", wide(1, *b), wide(0, *a))


COMPARED: list[tuple[Range, Range, Callable[[Range, Range], Term] | bool]] = [
    ((0, 5), (5, 9), False),
    ((0, 5), (6, 9), False),
    ((0, 6), (5, 9), unsigned),
    ((6, 9), (0, 5), True),
    ((5, 9), (0, 5), unsigned),
    ((-9, -5), (-5, 3), False),
    ((-4, -1), (-9, -5), True),
    ((-5, -1), (-9, -5), signed),
    ((0, U32), (0, U32), unsigned),
    ((0, U32 + 1), (0, U32), in_64_bits),
    ((0, U32), (0, U32 + 1), in_64_bits),
    ((-1, 5), (0, 5), signed),
    ((0, 5), (-1, 5), signed),
    ((-I32, I32 - 1), (-I32, I32 - 1), signed),
    ((-1, I32), (0, 5), in_64_bits),
    ((-1, 5), (0, I32), in_64_bits),
    ((0, I32), (-1, 5), in_64_bits),
    ((0, 5), (-1, I32), in_64_bits),
    ((-I32 - 1, 5), (0, 5), in_64_bits),
    ((0, 5), (-I32 - 1, 5), in_64_bits),
    ((0, 5), (-I32, 5), signed),
    ((0, U32), (-1, 5), in_64_bits),
]


@pytest.mark.parametrize(("a", "b", "question"), COMPARED)
def test_a_comparison_is_no_wider_than_its_operands(
    a: Range, b: Range, question: Callable[[Range, Range], Term] | bool
) -> None:
    """What the ranges decide is no question; words are compared as words, by their sign only where one has a sign."""
    if isinstance(question, bool):
        assert of_two(Op.GT, a, b) is const(question)
    else:
        assert of_two(Op.GT, a, b) is ite(question(a, b), const(1), const(0))


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ((0, U32), (0, 5), True),
        ((0, U32 + 1), (0, 5), False),
        ((0, 5), (0, U32 + 1), False),
        ((0, U32), (-1, 5), False),
        ((-1, 5), (0, U32), False),
        ((-I32, 5), (0, I32 - 1), True),
        ((-I32, 5), (0, I32), False),
        ((0, 5), (-I32 - 1, 5), False),
    ],
)
def test_an_equality_is_of_words_where_one_word_holds_both(a: Range, b: Range, words: bool) -> None:
    sides = (node(0, *a), node(1, *b)) if words else (wide(0, *a), wide(1, *b))
    assert of_two(Op.EQ, a, b) is ite(make("=", *sides), const(1), const(0))


@pytest.mark.parametrize("op", [Op.MIN, Op.MAX])
@pytest.mark.parametrize(("a", "b"), [((0, 7), (3, 9)), ((-5, 7), (-9, 9)), ((0, 1 << 40), (5, 1 << 50))])
def test_the_lesser_and_the_greater_are_known_by_either_question(op: Op, a: Range, b: Range) -> None:
    """Where both are equal the code's comparison decides one of the two questions, and not the other."""
    question = unsigned if a[0] >= 0 and b[1] <= U32 else signed if b[1] <= U32 else in_64_bits
    more, less = question(a, b), make(question(a, b).op, *reversed(question(a, b).args))
    both = (min, max)[op is Op.MAX](a[0], b[0]), (min, max)[op is Op.MAX](a[1], b[1])
    first, second = node(0, *a), node(1, *b)
    greater, lesser = (first, second) if op is Op.MAX else (second, first)
    assert of_two(op, a, b, both, known={more: TRUE}) is greater
    assert of_two(op, a, b, both, known={less: TRUE}) is (second if op is Op.MAX else first)
    assert of_two(op, a, b, both, known={more: FALSE}) is lesser
    assert of_two(op, a, b, both, known={less: FALSE}) is (first if op is Op.MAX else second)
    open_ = of_two(op, a, b, both)
    assert open_ is (ite(less, second, first) if op is Op.MAX else ite(more, second, first))


@pytest.mark.parametrize("decided", [TRUE, FALSE])
def test_what_the_lane_knows_of_a_condition_chooses(decided: Term) -> None:
    a, b = (0, 9), (3, 12)
    for op, condition in ((Op.GT, unsigned(a, b)), (Op.EQ, make("=", node(0, *a), node(1, *b)))):
        assert of_two(op, a, b, known={condition: decided}) is const(decided.value)
    chosen = program_of(value_in(0, 1), value_in(*a), value_in(*b), Node(Op.SELECT, (0, 1, 2), 0, 0, 12))
    free = ("node.0", "node.1", "node.2")
    condition = make("=", var("node.0"), const(1))
    assert Asked().meaning(chosen, free).value(3) is ite(condition, var("node.1"), var("node.2"))
    known = Asked({condition: decided}).meaning(chosen, free).value(3)
    assert known is (var("node.1") if decided is TRUE else var("node.2"))
    table = program_of(value_in(0, 2), Node(Op.TABLE, (0,), 1, 7, 9), tables=((0,), (7, 8, 9)))
    entries = [make("=", var("node.0"), const(k)) for k in (0, 1)]
    asked = Asked()
    open_ = asked.meaning(table, ("node.0",)).value(1)
    assert asked.conditions == entries[::-1], "for the last entry nothing is asked"
    assert open_ is ite(entries[0], const(7), ite(entries[1], const(8), const(9)))
    assert Asked({entries[0]: FALSE, entries[1]: decided}).meaning(table, ("node.0",)).value(1) is const(
        8 if decided is TRUE else 9
    )


@pytest.mark.parametrize("result", [(0, 9), (0, 1 << 40)])
def test_an_operator_is_as_wide_as_its_result(result: Range) -> None:
    width = 32 if result[1] <= U32 else 64
    a, b = (0, 1 << 33), (0, 7)
    words = [extract(node(0, *a), 31, 0), node(1, *b)] if width == 32 else [wide(0, *a), wide(1, *b)]
    assert of_two(Op.ADD, a, b, result) is make("bvadd", *words)
    assert of_two(Op.SUB, a, b, result) is make("bvsub", *words)
    shift = program_of(value_in(*a), Node(Op.SHL, (0,), 3, *result), Node(Op.SHR, (0,), 3, *result))
    meaning = Asked().meaning(shift, ("node.0",))
    assert meaning.value(1) is make("bvshl", words[0], const(3, width))
    right = make("bvlshr", node(0, *a), const(3, 64))
    assert meaning.value(2) is (extract(right, 31, 0) if width == 32 else right)
    constant = program_of(Node(Op.CONST, (), 5, *result))
    assert Asked().meaning(constant).value(0) is const(5, width)


U, S = (0, U32), (-I32, I32 - 1)
BEYOND = (0, U32 + 1)


@pytest.mark.parametrize(
    ("a", "b"), [(U, U), (S, S), (U, S), (S, U), ((-1, 5), (0, I32 - 1)), ((0, 5), (0, 7)), (BEYOND, U), (U, BEYOND)]
)
def test_a_product_is_of_words_where_one_word_holds_both_factors(a: Range, b: Range) -> None:
    """Without sign it is the lane's product; with one it is that less what the signs have too much in it."""
    for op, imm in ((Op.MUL, 0), (Op.MUL_SHR, 5)):
        asked = Asked()
        program = program_of(value_in(*a), value_in(*b), Node(op, (0, 1), imm, -(1 << 62), 1 << 62))
        found = asked.meaning(program, ("node.0", "node.1")).value(2)
        x, y = node(0, *a), node(1, *b)
        if not fits(min(a[0], b[0]), max(a[1], b[1])):
            product = make("bvmul", wide(0, *a), wide(1, *b))
            assert asked.factors == []
        else:
            product = make("prod", x, y)
            assert asked.factors == [(x, y)]
            if min(a[0], b[0]) < 0:
                product = make("bvsub", product, concat(signs(x, y), const(0)))
        assert found is (product if op is Op.MUL else make("bvlshr", product, const(5, 64)))
    asked = Asked()
    program = program_of(value_in(*a), value_in(*b), Node(Op.MUL, (0, 1), 0, 0, 9))
    low = asked.meaning(program, ("node.0", "node.1")).value(2)
    words = extract(node(0, *a), 31, 0), extract(node(1, *b), 31, 0)
    assert low is extract(make("prod", *words), 31, 0)
    assert asked.factors == [words]


def test_what_the_signs_have_too_much_is_the_other_factor() -> None:
    x, y, zero = var("meaning.x"), var("meaning.y"), const(0)
    below = [negate(make("bvslt", const(-1), v)) for v in (x, y)]
    assert signs(x, y) is make("bvadd", ite(below[0], y, zero), ite(below[1], x, zero))


# --- trees -----------------------------------------------------------------------------------------------------------


def leaf(*value: int) -> Leaf:
    return Leaf(value)


def tree(threshold: int, above: Leaf, below: Leaf, feature: int = 0) -> Branch:
    return Branch(feature, threshold, above, below)


SMALL = Forest(
    ("a", "b"),
    (tree(10, leaf(1, -20), leaf(3, 40)), tree(20, leaf(5, 60), leaf(7, 80)), tree(30, leaf(9, 100), leaf(2, 120))),
    (1000, 2000),
    16,
)
"""Two outputs, of places 0, 1, 2 and 3, 4, 5."""


def of_trees(forest: Forest, free: Collection[str] = (), asked: Asked | None = None) -> Meaning:
    """Nodes 0 and 1 are the features, 2 and 3 the outputs, the last is the first output over swapped features."""
    outputs = [Node(Op.TREES, (0, 1), k, *forest.range(k)) for k in range(forest.outputs)]
    program = program_of(
        value_in(0, 99), value_in(0, 99), *outputs, Node(Op.TREES, (1, 0), 0, *forest.range(0)), forest=forest
    )
    return (asked or Asked()).meaning(program, ("node.0", "node.1", *free))


def above(threshold: int, feature: int = 0) -> Term:
    return make("bvult", const(threshold), var(f"node.{feature}"))


@pytest.mark.parametrize("side", [TRUE, FALSE])
def test_what_is_below_the_side_not_taken_of_a_question_is_not_asked(side: Term) -> None:
    tree = Branch(0, 50, Branch(1, 7, Leaf((1,)), Leaf((2,))), Branch(1, 8, Leaf((3,)), Leaf((4,))))
    asked = Asked({above(50): side})
    word = of_trees(Forest(("a", "b"), (tree,), (0,), 16), asked=asked).tree(0)
    threshold, beyond, below = (7, 1, 2) if side is TRUE else (8, 3, 4)
    assert asked.conditions == [above(50), above(threshold, 1)]
    assert word is ite(above(threshold, 1), const(beyond), const(below))


def total(*terms: Term) -> Term:
    found = terms[0]
    for term in terms[1:]:
        found = make("bvadd", found, term)
    return found


LEAVES = [
    ite(above(10), const(1), const(3)),
    ite(above(20), const(5), const(7)),
    ite(above(30), const(9), const(2)),
    ite(above(10), const(-20), const(40)),
    ite(above(20), const(60), const(80)),
    ite(above(30), const(100), const(120)),
]


def test_a_place_is_a_tree_of_an_output() -> None:
    meaning = of_trees(SMALL)
    for place, term in enumerate(LEAVES):
        assert meaning.tree(place) is term
        assert of_trees(SMALL, (f"tree.{place}",)).tree(place) is var(f"tree.{place}")
        assert of_trees(SMALL, (f"tree.{place + 1}",)).tree(place) is term
    sums = [meaning.sum(place) for place in range(6)]
    assert sums == [total(*LEAVES[first : place + 1]) for place in range(6) for first in (place // 3 * 3,)]
    assert meaning.value(2) is make("bvadd", sums[2], const(1000))
    assert meaning.value(3) is make("bvadd", sums[5], const(2000))


def test_a_sum_goes_on_from_the_last_one_that_is_free() -> None:
    for place in range(6):
        first = place // 3 * 3
        for held in range(6):
            found = of_trees(SMALL, (f"sum.{held}",)).sum(place)
            if first <= held <= place:
                assert found is total(var(f"sum.{held}"), *LEAVES[held + 1 : place + 1])
            else:
                assert found is total(*LEAVES[first : place + 1])
    assert of_trees(SMALL, ("sum.0", "sum.1")).sum(2) is total(var("sum.1"), LEAVES[2])
    assert of_trees(SMALL, ("tree.1", "sum.0")).sum(2) is total(var("sum.0"), var("tree.1"), LEAVES[2])


def test_names_are_of_the_first_node_of_trees() -> None:
    free = ("sum.2", "tree.0")
    assert of_trees(SMALL, free).value(2) is make("bvadd", var("sum.2"), const(1000))
    other = of_trees(SMALL, free).value(4)
    assert other.leaves == {var("node.1")}
    swapped = [ite(above(t, 1), const(x), const(y)) for t, x, y in ((10, 1, 3), (20, 5, 7), (30, 9, 2))]
    assert other is make("bvadd", total(*swapped), const(1000))


def test_a_question_of_a_tree_is_asked_once() -> None:
    asked = Asked()
    thrice = tree(10, tree(10, leaf(1), leaf(2)), tree(10, leaf(3), tree(11, leaf(4), leaf(5), 1)))  # type: ignore[arg-type]
    meaning = of_trees(Forest(("a", "b"), (thrice,), (0,), 16), (), asked)
    meaning.tree(0)
    assert sorted(asked.conditions, key=lambda c: c.serial) == sorted([above(10), above(11, 1)], key=lambda c: c.serial)
    known = Asked({above(10): TRUE})
    assert of_trees(Forest(("a", "b"), (thrice,), (0,), 16), (), known).tree(0) is const(1)


WIDE = Forest(
    ("a", "b"), (tree(1, leaf(I32 - 1), leaf(0)), tree(2, leaf(I32 - 1), leaf(0)), tree(3, leaf(9), leaf(0))), (5,), 16
)
"""Sums of one, two words without sign, and beyond."""


def test_a_sum_is_as_wide_as_its_range_and_extended_by_its_sign() -> None:
    meaning = of_trees(WIDE)
    assert [meaning.sum(k).width for k in range(3)] == [32, 32, 64]
    parts = [ite(above(k + 1), const(v), const(0)) for k, v in enumerate((I32 - 1, I32 - 1, 9))]
    by_sign = [extend(part, 64, True) for part in parts]
    assert meaning.sum(2) is total(*by_sign)
    assert of_trees(WIDE, ("sum.1",)).sum(2) is make("bvadd", extend(var("sum.1"), 64, False), by_sign[2])
    assert of_trees(WIDE, ("sum.2",)).sum(2) is var("sum.2", 64)
    assert meaning.value(2) is make("bvadd", meaning.sum(2), const(5, 64))
    negative = Forest(("a", "b"), (tree(1, leaf(-I32), leaf(-1)), tree(2, leaf(-1), leaf(-2))), (0,), 16)
    second = ite(above(2), const(-1), const(-2))
    held = of_trees(negative, ("sum.0",)).sum(1)
    assert held is make("bvadd", extend(var("sum.0"), 64, True), extend(second, 64, True))


def test_a_bias_alone_is_an_output_and_has_no_trees() -> None:
    bare = Forest(("a", "b"), (), (77,), 16)
    assert of_trees(bare).value(2) is const(77)
    without = Asked().meaning(program_of(value_in(0, 9), forest=SMALL))
    with pytest.raises(Refused, match=r"tree 4, .*no trees"):
        without.tree(4)


def test_an_operator_that_the_checker_does_not_know_is_refused() -> None:
    program = program_of(Node(Op.NETWORK, (), 0, 0, 1))
    with pytest.raises(Refused, match="node network, "):
        Asked().meaning(program).value(0)


def test_the_range_of_a_free_name() -> None:
    program = of_trees(SMALL).program
    assert free_range(program, "node.1") == (0, 99)
    assert [free_range(program, f"tree.{k}") for k in (0, 2, 3, 5)] == [(1, 3), (2, 9), (-20, 40), (100, 120)]
    assert [free_range(program, f"sum.{k}") for k in range(3)] == [(1, 3), (6, 10), (8, 19)]
    assert [free_range(program, f"sum.{k}") for k in range(3, 6)] == [(-20, 40), (40, 120), (140, 240)]
    assert [first_place(program, k) for k in range(6)] == [0, 0, 0, 3, 3, 3]
    assert [sorted(leaves_at(program, k)) for k in (1, 3)] == [[5, 7], [-20, 40]]
