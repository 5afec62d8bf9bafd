"""The vectors hit what they claim: every threshold with its neighbours, every branch visibly, and the extremes.

Slow: thresholds at further base RTTs.
"""

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, drawn_students, make_student
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from codegen.edges import stored_key, trees_node
from codegen.inputs import split
from codegen.passes.prune import pruned
from codegen.paths import visits
from codegen.vectors import make
from decision.ir.forest import Forest, depth, oblivious, unrolled, value
from decision.ir.formats import U32_MAX
from decision.ir.interpret import evaluate, trace
from decision.policy.actions import Choice
from decision.policy.model import GridFeature, Model
from decision.policy.policy import Observation
from decision.policy.tree_decision import build
from emulator.vectors import KIND

THRESHOLDS = {
    "previous_action": (-9000, -1, 0, 77, 12000),
    "rl_cc_congestion": (0, 1, 63, 4294, 4295, 70_000, 2**22),
    "pcc_rl_congestion": (0, 1, 63, 4294, 262_144, 2**20, 2**22),
    "rtt_inflation": (-1000, -1, 0, 1, 517, 40_000),
    "queue_inflation": (0, 1, 517, 40_000),
    "rate": (0, 1, 64, 4096, 2**19, 2**20 - 1),
    "cnp_ratio": (0, 1, 17, 128, 254, 255),
    "nack_ratio": (0, 1, 17, 128, 254, 255),
}


def features_of(program, vectors):
    values = trace(program, *split(program, vectors.columns))
    trees = trees_node(program)
    return np.array([values[n] for n in program.nodes[trees].args], dtype=np.int64).reshape(-1, values[trees].size).T


@pytest.mark.slow_except("*-8192 ns")
@pytest.mark.parametrize("base_rtt", ["1025 ns", "2000 ns", "8192 ns", "100 us"])
@pytest.mark.parametrize("kind", FEATURES)
def test_every_threshold_of_every_kind_is_hit_now_and_in_the_past(kind, base_rtt):
    thresholds = THRESHOLDS[kind]
    for lag in (0, 1):
        trees = tuple(oblivious(((lag, t),), (-50, 50)) for t in thresholds)
        student = make_student([FEATURES[kind]], ACTIONS[0], trees, window=2, base_rtt=base_rtt)
        program = student.program()
        vectors, edges = make(program, student.params(), seed=3)
        wanted = {t + step for t in thresholds for step in (-1, 0, 1)}
        node = program.nodes[program.nodes[trees_node(program)].args[0]]
        wanted = {point for point in wanted if node.low <= point <= node.high}
        assert wanted <= set(features_of(program, vectors)[:, 0].tolist())
        assert (edges.hit, edges.wanted) == (len(wanted), len(wanted))


def test_thresholds_of_a_send_ratio_near_and_above_1_are_hit():
    """Sent and acknowledged bytes drawn apart hardly ever have a ratio of 1.04; cnp_ratio falls with what was sent."""
    ratio = {
        "kind": "ratio",
        "of": "sent_bytes",
        "over": "acked_bytes",
        "of_unit": 1024,
        "over_unit": 1024,
        "at_most": 4,
    }
    thresholds = (0, 127, 219, 233, 255, 256, 262, 265, 272, 282, 291, 371, 1022)
    trees = tuple(oblivious(((0, t), (1, 17)), (-50, 50, 9, 7)) for t in thresholds)
    student = make_student([ratio, FEATURES["cnp_ratio"]], ACTIONS[0], trees, acks=True)
    vectors, edges = make(student.program(), student.params(), seed=3)
    wanted = {t + step for t in thresholds for step in (-1, 0, 1)} - {-1}
    assert wanted <= set(features_of(student.program(), vectors)[:, 0].tolist())
    assert edges.hit == edges.wanted == len(wanted) + 3


def test_thresholds_of_a_count_are_hit_though_it_grows_with_nothing():
    """Six more of ten flows on one path than on another: plausible signals drawn apart hardly ever have that."""
    lead = {"kind": "count", "called": "lead", "slots": "active", "first": 1, "last": 10}
    lead |= {"where": {"ends": [2, 3, 4], "path": "active_0_path"}, "less": {"ends": [2, 3, 4], "path": 1}}
    seen = Observation.model_validate({"interface": "long_flow", "window": 1, "features": [lead]})
    rows = [{"priority_class": 3, "limit_q16": 65_536, "path_number": path} for path in range(2)]
    action = Choice.model_validate({"kind": "choice", "rows": rows})
    trees = tuple(oblivious(((0, t),), ((0, 9), (9, 0))) for t in (-5, 0, 4))
    program = build(seen, action, Forest(("lead",), trees, (3, 3), action.leaf_bits))
    vectors, edges = make(program, {}, seed=3)
    assert {-6, -5, -4, 3, 4, 5} <= set(features_of(program, vectors)[:, 0].tolist())
    assert edges.hit == edges.wanted == 9


def test_a_point_out_of_reach_is_counted_as_wanted_and_not_as_hit():
    """Saturated, the excess squared is 65535^2, and a rate less by 2^-30 of line rate makes it less by 4."""
    highest = (65535**2 * (2**30 - 1)) >> 30
    student = make_student([FEATURES["rl_cc_congestion"]], ACTIONS[0], (oblivious(((0, highest - 2),), (-50, 50)),))
    _, edges = make(student.program(), student.params(), seed=0)
    assert (edges.wanted, edges.hit) == (3, 0)


def test_a_threshold_that_no_stored_value_can_reach_costs_only_its_own_visits():
    """A past action is an int16: a tree that asks whether it is above -60000 always goes one way."""
    trees = (oblivious(((0, -60_000), (1, 4294)), (-50, 50, 10, 20)),)
    kinds = [FEATURES["previous_action"], FEATURES["rl_cc_congestion"]]
    student = make_student(kinds, ACTIONS[0], trees)
    vectors, edges = make(student.program(), student.params(), seed=0)
    assert edges.visits_made == edges.visits_wanted > 0
    assert len(vectors) > 1000


@settings(max_examples=examples(25))
@given(student=drawn_students(kinds=("previous_action", "rl_cc_congestion", "cnp_ratio"), windows=2, trees=4))
def test_each_side_of_each_reachable_branch_is_visited_on_its_path(student):
    """One current feature of each raw signal, so that every path that the past allows can be taken."""
    program = student.program()
    vectors, edges = make(program, student.params(), seed=0, random_rows=64)
    x = features_of(program, vectors)
    on_path = 0
    for visit in visits(program):
        bounds = visit.bounds.items()
        on_path += bool(np.all([(x[:, f] >= low) & (x[:, f] <= high) for f, (low, high) in bounds], axis=0).any())
    assert on_path == len(visits(program)) == edges.visits_wanted
    assert edges.visits_made <= edges.visits_wanted


def test_visits_are_visible_in_the_outputs():
    """Swapping the two sides of any one branch changes an expected output of some vector."""
    rng = np.random.default_rng(5)
    features = [FEATURES["previous_action"], FEATURES["rl_cc_congestion"]]
    trees = tuple(
        oblivious(
            ((1, int(rng.integers(0, 9000))), (0, int(rng.integers(-9000, 9000))), (3, 4000)),
            tuple(rng.integers(-1500, 1500, 8).tolist()),
        )
        for _ in range(8)
    )
    student = make_student(features, ACTIONS[0], trees, window=2)
    program = student.program()
    vectors, edges = make(program, student.params(), seed=0)
    assert edges.visits_made == edges.visits_wanted == len(visits(program)) > 100
    x, node = features_of(program, vectors), trees_node(program)
    inputs = split(program, vectors.columns)
    values = trace(program, *inputs)
    for visit in visits(program):
        here = np.all([(x[:, f] >= low) & (x[:, f] <= high) for f, (low, high) in visit.bounds.items()], axis=0)
        error = np.where(here, (value(visit.instead, x) - value(visit.here, x))[:, 0], 0)
        wrong = trace(program, *inputs, forced={node: values[node] + error})
        assert any((wrong[n] != values[n]).any() for n in program.outputs), visit.label


@settings(max_examples=examples(20))
@given(student=drawn_students())
def test_expectations_are_the_interpreters(student):
    program = student.program()
    vectors, _ = make(program, student.params(), seed=1, random_rows=32)
    (rate,), state = evaluate(program, *split(program, vectors.columns))
    assert np.array_equal(vectors.columns["expect.rate_q20"], rate)
    for name, values in state.items():
        assert np.array_equal(vectors.columns[f"expect.context.{name}"], values)


def test_extremes_wrap_and_new_flow_are_there():
    student = make_student([FEATURES["rl_cc_congestion"]], ACTIONS[0], (oblivious(((1, 9),), (-5, 5)),), window=2)
    vectors, _ = make(student.program(), student.params(), seed=0)
    c = vectors.columns
    for key, column in c.items():
        if not key.startswith("expect."):
            assert {0, U32_MAX, 2**31} <= set(column.tolist()), key
    wrapped = (c["event.response_ns"] < c["event.request_sent_ns"]) & (
        ((c["event.response_ns"] - c["event.request_sent_ns"]) & U32_MAX) < 4_000_000
    )
    assert wrapped.sum() >= 3
    new = np.all([c[key] == 0 for key in c if key.startswith("context.")], axis=0)
    assert new.sum() >= 8


def test_csv_has_one_line_a_vector_and_no_comma_in_a_kind():
    student = make_student([FEATURES["rate"]], ACTIONS[0], (oblivious(((0, 9),), (-5, 5)),))
    vectors, _ = make(student.program(), student.params(), seed=0, random_rows=16)
    header, *lines = vectors.to_csv().splitlines()
    assert len(lines) == len(vectors)
    assert {line.count(",") for line in lines} == {header.count(",")}


# Few thresholds on few features: splits that decide each other, equal ones and neighbours among them.
crowded = st.lists(st.tuples(st.integers(0, 2), st.integers(-2, 4)), max_size=6).flatmap(
    lambda splits: st.builds(
        oblivious,
        st.just(tuple(splits)),
        st.lists(st.integers(0, 3), min_size=1 << len(splits), max_size=1 << len(splits)),
    )
)


@settings(max_examples=examples(300))
@given(tree=crowded)
def test_pruned_trees_equal_unpruned_ones_on_all_cells(tree):
    x = np.stack([g.reshape(-1) for g in np.meshgrid(*[np.arange(-3, 7)] * 3)], axis=1)
    index = np.zeros(len(x), dtype=np.int64)
    splits, ends = unrolled(tree)
    for level, (feature, threshold) in enumerate(splits):
        index += (x[:, feature] > threshold) * 2**level
    leaves = np.asarray([leaf.value[0] for leaf in ends])[index]
    less = pruned(tree, dict.fromkeys(range(3), (-3, 6)))
    assert np.array_equal(value(tree, x)[:, 0], leaves)
    assert np.array_equal(value(less, x)[:, 0], leaves)
    assert depth(less) <= depth(tree) == len(splits)


def test_no_branch_of_a_pruned_tree_is_decided_by_those_above_it():
    tree = oblivious(((0, 10), (0, 20), (0, 10), (1, 5)), tuple(range(16)))
    student = make_student([FEATURES["rate"], FEATURES["cnp_ratio"]], ACTIONS[0], (tree,))
    below, between, above = 0, 1 + 4, 1 + 2 + 4
    leaves = sorted(int(v.label.split()[-1]) for v in visits(student.program()) if " leaf " in v.label)
    assert leaves == sorted(leaf + side for leaf in (below, between, above) for side in (0, 8))


def test_a_leaf_of_many_outputs_has_a_label_that_readers_of_vectors_take():
    for outputs, shown in ((256, ".."), (6, "-1999999995")):
        leaf = tuple(range(-2_000_000_000, outputs - 2_000_000_000))
        trees = (oblivious(((0, 5),), (leaf[::-1], leaf)),)
        model = Model((GridFeature("a", 0, 0, 63),), trees, (0,) * outputs, 0, "argmax")
        labels = [v.label for v in visits(model.program()) if " leaf " in v.label]
        assert len(labels) == 2
        assert all(KIND.fullmatch(f"edge:{label}") for label in labels)
        assert labels[1].startswith("tree 0 leaf -2000000000 -1999999999 ")
        assert labels[1].endswith(f" {shown}")


def test_a_past_feature_is_set_and_a_current_one_computed():
    trees = (oblivious(((0, 9), (1, 9)), (1, 2, 3, 4)),)
    program = make_student([FEATURES["rl_cc_congestion"]], ACTIONS[0], trees, window=2).program()
    assert [stored_key(program, f) for f in (0, 1)] == [None, "context.congestion_q20_1"]
