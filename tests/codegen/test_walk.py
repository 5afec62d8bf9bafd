"""Trees with several outputs: walked once whatever their number is, in every form, to the bit."""

import ctypes
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from codegen.choose import Limits
from codegen.kernel import kernel
from codegen.lower import Options
from decision.ir.forest import Branch, Forest, Leaf, oblivious

RANGES = ((-500, 500), (0, 1000), (-2000, 2000))
FORMS = ("branches", "index", "joint")


def options(form: str) -> Options:
    return Options(form=form, limits=Limits(table=1 << 16))


def drawn(outputs: int, trees: int, seed: int, *, each_for_one: bool = False) -> Forest:
    """Symmetric trees of depth 3; ``each_for_one``: as XGBoost grows them, a tree an output in turn."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(trees):
        questions = [(int(f), int(rng.integers(*RANGES[f]))) for f in rng.integers(0, 3, 3)]
        rows = rng.integers(-9000, 9000, (8, outputs))
        if each_for_one:
            rows[:, [k for k in range(outputs) if k != number % outputs]] = 0
        made.append(oblivious(questions, [tuple(map(int, row)) for row in rows]))
    return Forest(("a", "b", "c"), tuple(made), tuple(map(int, rng.integers(-99, 99, outputs))), 0)


def ran(forest: Forest, source: str, rows: np.ndarray, folder, run) -> np.ndarray:
    """What the compiled C gives [N, outputs]."""
    (folder / "trees.c").write_text(source)
    strict = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-shared", "-fPIC")
    built = run("gcc", *strict, folder / "trees.c", "-o", folder / f"trees{abs(hash(source))}.so")
    assert built.returncode == 0, built.stderr
    function = ctypes.CDLL(str(folder / f"trees{abs(hash(source))}.so")).rlcc_trees
    pointer = ctypes.POINTER(ctypes.c_int32)
    sums = np.zeros((len(rows), forest.outputs), dtype=np.int32)
    for row, into in zip(rows.astype(np.int32), sums, strict=True):
        if forest.outputs == 1:
            into[0] = function(row.ctypes.data_as(pointer))
        else:
            function(row.ctypes.data_as(pointer), into.ctypes.data_as(pointer))
    return sums


def points(forest: Forest, seed: int) -> np.ndarray:
    """Rows on, below and above thresholds, and anywhere."""
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.integers(low, high + 1, 300) for low, high in RANGES], axis=1)
    for feature, thresholds in forest.thresholds().items():
        near = np.clip(rng.choice(thresholds, 150) + rng.integers(-1, 2, 150), *RANGES[feature])
        rows[:150, feature] = near
    return rows


@pytest.mark.parametrize("form", [*FORMS, "auto"])
@pytest.mark.parametrize("each_for_one", [False, True], ids=["rows", "a tree an output"])
@pytest.mark.parametrize("outputs", [1, 3])
def test_every_form_gives_every_output_to_the_bit(form, each_for_one, outputs, tmp_path, run):
    forest = drawn(outputs, 6, 1, each_for_one=each_for_one)
    rows = points(forest, 2)
    source = kernel(forest, RANGES, options(form)).c_source()
    assert np.array_equal(ran(forest, source, rows, tmp_path, run), forest.evaluate(rows))


def free_trees(outputs: int):
    values = st.lists(st.integers(-(2**20), 2**20), min_size=outputs, max_size=outputs).map(lambda v: Leaf(tuple(v)))
    asked = st.tuples(st.integers(0, 2), st.integers(-600, 1100))
    return st.recursive(
        values, lambda inner: st.builds(lambda a, x, y: Branch(*a, x, y), asked, inner, inner), max_leaves=9
    )


@settings(max_examples=examples(25), deadline=None)
@given(data=st.data())
def test_trees_of_any_shape_too(data, tmp_path_factory, run):
    outputs = data.draw(st.integers(1, 4))
    trees = tuple(data.draw(st.lists(free_trees(outputs), max_size=4)))
    forest = Forest(("a", "b", "c"), trees, tuple(range(outputs)), 0)
    rows = points(forest, 3)
    source = kernel(forest, RANGES, options(data.draw(st.sampled_from(["auto", "branches", "joint"])))).c_source()
    assert np.array_equal(ran(forest, source, rows, tmp_path_factory.mktemp("walk"), run), forest.evaluate(rows))


@pytest.mark.parametrize("form", FORMS)
def test_a_walk_asks_as_many_questions_for_eight_outputs_as_for_one(form):
    def questions(outputs: int) -> int:
        source = kernel(drawn(outputs, 6, 4), RANGES, options(form)).c_source()
        source = re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL)
        return source.count(" > ") + source.count(" <= ")

    one, eight = questions(1), questions(8)
    assert 0 < eight <= one + 2  # pruning keeps a question whose sides differ in any output


def test_eight_outputs_cost_less_than_three_copies():
    cycles = {outputs: kernel(drawn(outputs, 6, 5), RANGES).choice.lowered.cycles for outputs in (1, 8)}
    assert cycles[8] < 3 * cycles[1]


def test_trees_of_the_same_questions_become_one_for_all_outputs():
    first = oblivious([(0, 5), (1, 9)], [(1, 0), (2, 0), (3, 0), (4, 0)])
    second = oblivious([(0, 5), (1, 9)], [(0, 7), (0, 6), (0, 5), (0, 4)])
    made = kernel(Forest(("a", "b", "c"), (first, second), (0, 0), 0), RANGES, options("branches"))
    assert len(made.choice.lowered.walk.trees) == 1
    assert made.c_source().count("if (") == 3


def mixed(outputs: int, size: int) -> Forest:
    """A tree of seven questions, three a path."""
    rows = iter([tuple(size - 100 * k - n for n in range(outputs)) for k in range(8)])
    asked = iter([(1, 7), (2, 9), (1, 70), (2, 90), (0, 50), (0, -8)])
    low = [Branch(*next(asked), Leaf(next(rows)), Leaf(next(rows))) for _ in range(4)]
    sides = [Branch(*next(asked), *low[k : k + 2]) for k in (0, 2)]
    return Forest(("a", "b", "c"), (Branch(0, 3, *sides),), (5,) * outputs, 0)


def test_a_tree_of_other_questions_on_other_paths_is_given_the_sum_so_far():
    source = kernel(mixed(1, 100), RANGES, options("branches")).c_source()
    assert "tree_00(const int32_t so_far, " in source
    assert "sum = tree_00(sum, features[0]" in source
    assert "so_far" not in kernel(mixed(2, 100), RANGES, options("branches")).c_source()
    symmetric = kernel(drawn(1, 1, 3), RANGES, options("branches")).c_source()
    assert "so_far" not in symmetric


@pytest.mark.parametrize(("size", "halved"), [(1000, False), (300_000, True), (2**29 - 1, True), (2**29, False)])
def test_large_leaves_of_several_sums_are_added_to_two_words_a_sum(size, halved, tmp_path, run):
    forest = mixed(2, size)
    source = kernel(forest, RANGES, options("branches")).c_source()
    assert ("sum_0 += sum_0_upper * 4096;" in source) == halved
    rows = points(forest, 4)
    assert np.array_equal(ran(forest, source, rows, tmp_path, run), forest.evaluate(rows))
    if halved:
        wrong = source.replace("sum_1_upper * 4096", "sum_1_upper * 2048")
        assert not np.array_equal(ran(forest, wrong, rows, tmp_path, run), forest.evaluate(rows))
