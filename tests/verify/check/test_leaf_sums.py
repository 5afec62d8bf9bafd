"""What trees can add together: exactly, of small forests; and that a value which follows from it needs all of it."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from decision_by_hand import A0, BASE, KEPT, RA, T0, T1, judge
from hypothesis import given
from hypothesis import strategies as st

from decision.ir.forest import Branch, Forest, Leaf, oblivious
from decision.ir.forest import Node as TreeNode
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, Program, ProgramBuilder
from verify.check import judge as judge_module
from verify.check import leaf_sums
from verify.check.judge import START, Cut
from verify.check.leaf_sums import sum_range
from verify.check.path_facts import Known
from verify.check.refused import Refused
from verify.trusted.calibrate_programs import encode

FEATURES = 3


def trees(outputs: int) -> st.SearchStrategy[TreeNode]:
    leaves = st.lists(st.integers(-100, 100), min_size=outputs, max_size=outputs).map(lambda v: Leaf(tuple(v)))
    asked = st.tuples(st.integers(0, FEATURES - 1), st.integers(-3, 3))
    return st.recursive(
        leaves,
        lambda inner: st.builds(lambda a, above, below: Branch(*a, above, below), asked, inner, inner),
        max_leaves=8,
    )


@st.composite
def forests(draw: st.DrawFn) -> Forest:
    outputs = draw(st.integers(1, 2))
    drawn = tuple(draw(st.lists(trees(outputs), max_size=5)))
    bias = tuple(draw(st.lists(st.integers(-50, 50), min_size=outputs, max_size=outputs)))
    return Forest(tuple("xyz"), drawn, bias, 7)


EVERYWHERE = np.array(list(product(range(-3, 5), repeat=FEATURES)))
"""A value of each feature in every cell that thresholds from -3 to 3 leave."""


@given(forests())
def test_the_range_of_a_sum_is_the_least_and_the_greatest_of_all_inputs(forest: Forest) -> None:
    values = forest.evaluate(EVERYWHERE)
    for output in range(forest.outputs):
        assert sum_range(forest, output) == (values[:, output].min(), values[:, output].max())


@given(forests(), st.integers(0, 60))
def test_where_the_search_ends_early_every_sum_is_still_within(forest: Forest, most: int) -> None:
    values = forest.evaluate(EVERYWHERE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaf_sums, "MAX_LEAVES", most)
        for output in range(forest.outputs):
            low, high = sum_range(forest, output)
            assert low <= values[:, output].min()
            assert values[:, output].max() <= high


def test_the_search_ends_with_the_bound_that_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    apart = Forest(("x",), (oblivious(((0, 0),), (0, 10)), oblivious(((0, 0),), (5, -3))), (1,), 7)
    assert sum_range(apart, 0) == (6, 8)
    monkeypatch.setattr(leaf_sums, "MAX_LEAVES", 0)
    assert sum_range(apart, 0) == (-2, 16) == apart.range(0)


# --- at the return ---

CODE = {  # a0 = (a > 0 ? 10 : 0) + (a > 0 ? -3 : 5) + 11
    "load": encode("lw", T0, A0),
    "positive": encode("blt", rs1=0, rs2=T0, imm=16),
    "first": encode("addi", T0, 0, imm=0),
    "second": encode("addi", T1, 0, imm=5),
    "over": encode("jal", 0, imm=12),
    "first above": encode("addi", T0, 0, imm=10),
    "second above": encode("addi", T1, 0, imm=-3),
    "sum": encode("add", A0, T0, T1),
    "bias": encode("addi", A0, A0, imm=11),
    "return": encode("jalr", 0, RA),
}
LEAVES = Cut(BASE + 4 * list(CODE).index("sum"), {**KEPT, "x5": "tree.0", "x6": "tree.1"}, {})
"""Behind it each leaf is any of its tree's."""


def clamped(op: Op, number: int) -> Program:
    """The sum of two trees that ask the same, 16 or 18, clamped on one side."""
    asked = tuple(oblivious(((0, 0),), leaves) for leaves in ((0, 10), (5, -3)))
    b = ProgramBuilder(Forest(("a",), asked, (11,), 16), FLOW_RATE)
    a = b.state_in("a", "int32")
    b.state_out("a", a)
    return b.finish(b.add(op, (b.add(Op.TREES, (a,)), b.const(number))))


def accepted(program: Program, *cuts: Cut) -> bool:
    found = judge(CODE, *cuts, program=program)
    try:
        found.bound()
    except Refused:
        return False
    assert len(found.met) == len(cuts)
    return True


SIDES = [(Op.MIN, 18, True), (Op.MIN, 17, False), (Op.MAX, 16, True), (Op.MAX, 17, False)]


@pytest.mark.parametrize(("op", "number", "idle"), SIDES)
def test_a_clamp_that_no_sum_reaches_may_be_left_out_behind_leaves(op: Op, number: int, idle: bool) -> None:
    assert accepted(clamped(op, number)) is idle
    assert accepted(clamped(op, number), LEAVES) is idle


@pytest.mark.parametrize(("op", "number", "idle"), SIDES)
def test_the_clamp_is_seen_by_the_whole_range_and_by_no_more(
    op: Op, number: int, idle: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By ranges of the leaves alone it would never be; by a range that is one too narrow where it clamps, too."""
    monkeypatch.setattr(judge_module, "sum_range", lambda forest, output: forest.range(output))
    assert accepted(clamped(op, number), LEAVES) is False
    narrow = (16, 17) if op is Op.MIN else (17, 18)
    monkeypatch.setattr(judge_module, "sum_range", lambda *_: narrow)
    assert accepted(clamped(op, number), LEAVES)


def two_sums() -> Program:
    """Of two outputs of the same trees, one after the other."""
    asked = tuple(oblivious(((0, 0),), leaves) for leaves in (((0, 1), (10, 2)), ((5, 3), (-3, 4))))
    b = ProgramBuilder(Forest(("a",), asked, (11, 20), 16), FLOW_RATE)
    a = b.state_in("a", "int32")
    b.state_out("a", a)
    return b.finish(b.add(Op.ADD, (b.add(Op.TREES, (a,), 0), b.add(Op.TREES, (a,), 1))))


@pytest.mark.parametrize(
    ("held", "told"),
    [
        ((), ()),
        (("node.1",), ()),  # what holds the sum asks for no tree
        (("tree.0", "tree.1"), ((16, 18),)),
        (("tree.0", "sum.1"), ((16, 18),)),
        (("tree.2", "tree.3"), ((24, 26),)),
        (("tree.0", "tree.1", "sum.3"), ((16, 18), (24, 26))),
    ],
)
def test_a_range_is_told_of_sums_of_which_leaves_are_held(
    held: tuple[str, ...], told: tuple[tuple[int, int], ...]
) -> None:
    """Of others nobody asks how the trees decide: that is a solver's work where a feature is a quotient."""
    found = judge(CODE, program=two_sums())
    lane = replace(found._start((START, None)), known=Known({}))
    known = found._knowing_sums(lane, frozenset(held)).known
    assert {of[:2] for of in known.bounds.values()} & {(16, 18), (24, 26)} == set(told)
    assert (known == lane.known) is (not told)


def test_a_leaf_that_is_another_is_refused_all_the_same() -> None:
    wrong = {**CODE, "second above": encode("addi", T1, 0, imm=-4)}
    with pytest.raises(Refused, match="another value"):
        judge(wrong, program=clamped(Op.MIN, 18)).bound()
    found = judge(wrong, LEAVES, program=clamped(Op.MIN, 18))
    with pytest.raises(Refused, match="another value"):
        found.bound()


def test_what_a_path_knows_of_a_sum_is_kept_beside_its_range() -> None:
    """A path on which the sum is a number that the trees never have together is none."""
    cut = Cut(LEAVES.pc, LEAVES.holds, {"tree.0": (10, 10), "tree.1": (5, 5)})
    found = judge(CODE, cut, program=clamped(Op.MIN, 18))
    known = found._knowing_sums(found._start((0, None)), found._free(0)).known
    assert found.oracle.impossible(known.everything(), known)
