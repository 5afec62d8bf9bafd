"""A model over a policy's features: every question means what its library means, whatever the column's scale."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from reproducible import examples

from codegen.frontends.forest import FLOAT32_BITS, FLOAT64_BITS, INT32_BITS, Ask, Forest, Value
from codegen.frontends.policy_comparison import edge_rows
from codegen.frontends.policy_forest import PolicyForest, policy_forest, student_of_model
from decision.artefact.documents import validate
from decision.artefact.errors import InputError
from decision.policy.model_policy import ModelPolicy

PATH = {"base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
LIMITS = {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"}
CONGESTION = {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5}
FEATURES: tuple[dict[str, Any], ...] = (
    {"kind": "rtt_inflation"},
    {"kind": "rate"},
    CONGESTION,
    {"kind": "previous_action"},
    {"kind": "nack_ratio"},
    {"kind": "level", "signal": "cnp_count"},
)
HASH = "0" * 64


def policy(
    features=FEATURES[:2],
    output: str = "change",
    action: dict[str, Any] | None = None,
    window: int = 1,
    **parts: Any,
) -> ModelPolicy:
    flows = {"action": action or {"kind": "multiplier", "low": 0.5, "high": 1.5}, "limits": LIMITS}
    observation = {"window": window, "features": list(features), **PATH}
    said = {"format": 1, "name": "drawn", "model": {"output": output}, "observation": observation}
    return validate(ModelPolicy, said | flows | parts, "policy.toml")


def names(count: int) -> tuple[str, ...]:
    return tuple(f"f{place}" for place in range(count))


def forest(trees, columns: int, bias=(0,), task: str = "regression", bits: int = FLOAT32_BITS, **more) -> Forest:
    return Forest(
        "a library", names(columns), tuple(trees), tuple(map(Fraction, bias)), task, bits, FLOAT64_BITS, **more
    )


def leaf(*values) -> Value:
    return Value(tuple(map(Fraction, values)))


def predicted(read: PolicyForest, rows) -> list[list[Fraction]]:
    """The library's own sums, on what the model is handed."""
    values = read.rows(rows)

    def end(node, row):
        while isinstance(node, Ask):
            x = Fraction(float(row[node.feature]))
            node = node.above if x > node.border or (node.or_equal and x == node.border) else node.below
        return node.values

    each = [[end(tree, row) for tree in read.forest.trees] for row in values]
    return [[b + sum(v[k] for v in ends) for k, b in enumerate(read.forest.bias)] for ends in each]


NUMBERS = st.sampled_from([-2.5, -1.0, -0.25, 0.0, 0.5, 0.999, 1.0, 1.25, 3.0, 17.0, 250.0]) | st.floats(
    -20, 300, width=32
)


@st.composite
def drawn_models(draw) -> PolicyForest:
    window = draw(st.integers(1, 3))
    features = draw(st.lists(st.sampled_from(FEATURES), min_size=1, max_size=4, unique_by=lambda f: f["kind"]))
    labels = policy(features).observation.labels
    columns: list[Any] = list(draw(st.permutations(labels)))
    if draw(st.booleans()):
        columns.insert(draw(st.integers(0, len(columns))), 0.5)
    scales = st.sampled_from([-12.5, -1.0, 0.1, 1.0, 64.0])
    layout: dict[str, Any] = {"columns": columns, "order": draw(st.sampled_from(["newest_first", "oldest_first"]))}
    layout["scale"] = draw(st.one_of(scales, st.lists(scales, min_size=len(columns), max_size=len(columns))))
    layout["offset"] = draw(st.sampled_from([0.0, -1.0, 1.0, 0.3]))
    made = policy(features, draw(st.sampled_from(["change", "multiplier", "action"])), window=window, input=layout)

    def tree(depth: int):
        if depth == 0 or draw(st.integers(0, 5)) == 0:
            return leaf(draw(st.integers(-64, 64)) / 64)
        border = Fraction(float(np.float32(draw(NUMBERS))))
        feature = draw(st.integers(0, made.columns - 1))
        return Ask(feature, border, draw(st.booleans()), tree(depth - 1), tree(depth - 1))

    trees = [tree(3) for _ in range(draw(st.integers(1, 3)))]
    bits = draw(st.sampled_from([FLOAT32_BITS, INT32_BITS]))
    try:
        return policy_forest(forest(trees, made.columns, bits=bits), made)
    except InputError:  # a border beyond an integer's end
        reject()


@given(drawn_models())
@settings(max_examples=examples(60), deadline=None)
def test_the_student_answers_every_question_as_the_library(read):
    rows = edge_rows(read)[:: max(1, len(edge_rows(read)) // 300)]
    for mine, theirs in zip(read.integers.evaluate(rows).tolist(), predicted(read, rows), strict=True):
        factor, offset = read.affine[0]
        off = abs(Fraction(mine[0], 1 << read.leaf_bits) - (factor * theirs[0] + offset))
        assert off <= Fraction(read.errors[0])


@given(drawn_models())
@settings(max_examples=examples(20), deadline=None)
def test_it_is_a_whole_student(read):
    student = student_of_model(read, HASH)
    assert (student.teacher, student.model) == ("", HASH)
    assert student.program().results


@pytest.mark.parametrize("scale", [12.5, -12.5])
def test_a_feature_that_falls_turns_its_questions_round(scale):
    """scale (target - x) > border, in x^2 with 20 fraction bits."""
    border = Fraction(scale) * Fraction(0.064 - 0.5)
    tree = Ask(0, border, False, leaf(0.25), leaf(-0.25))
    read = policy_forest(forest([tree], 1, bits=INT32_BITS), policy([CONGESTION | {"scale": scale}]))
    (branch,) = read.integers.trees
    assert abs(branch.threshold - 2**18) <= 1
    assert (branch.above.value[0] < 0) == (scale > 0) == read.columns[0].falls


def test_of_a_classifier_the_row_of_the_greatest_score_is_taken():
    table = {"kind": "table", "multipliers": [0.5, 1.0, 1.25]}
    tree = Ask(0, Fraction(2), False, leaf(0.75, 0.25, 0), leaf(0, 0.25, 0.75))
    read = policy_forest(forest([tree], 2, (0, 0, 0), "argmax"), policy(output="row", action=table))
    student = student_of_model(read, HASH)
    assert student.forest.outputs == 3
    rows = np.array([[0, 0], [1023, 0], [1025, 0]])
    assert read.integers.evaluate(rows).argmax(axis=1).tolist() == [2, 2, 0]


@pytest.mark.parametrize(("or_equal", "least"), [(False, 2), (True, 1)])
def test_a_cut_of_two_classes_is_the_first_score(or_equal, least):
    """Class 1 above the cut (from it on), over two rows of a table."""
    table = {"kind": "table", "multipliers": [0.5, 1.25]}
    tree = Ask(0, Fraction(1), False, Ask(0, Fraction(2), False, leaf(1), leaf(0)), leaf(-1))
    read = policy_forest(
        forest([tree], 1, task="binary", cut=Fraction(0), cut_or_equal=or_equal),
        policy([{"kind": "level", "signal": "cnp_count"}], output="row", action=table),
    )
    classes = read.integers.evaluate(np.arange(4)[:, None]).argmax(axis=1)
    assert classes.tolist() == [k > least for k in range(4)]


def test_levels_of_knobs_are_met_to_the_integer():
    action = {
        "kind": "level",
        "knobs": {
            "kmin_bytes": {"low": 2000, "high": 200000},
            "kmax_bytes": {"low": 10000, "high": 400000, "not_below": "kmin_bytes"},
            "pmax_q16": {"low": 655, "high": 65536},
        },
    }
    observation = {
        "interface": "queue_marking",
        "window": 1,
        "params": {"capacity_bytes": 1250000},
        "features": [{"kind": "level", "signal": "queue_bytes"}],
    }
    said = {"format": 1, "name": "levels", "model": {"output": "knobs"}, "observation": observation, "action": action}
    tree = Ask(0, Fraction(5), False, leaf(50000, 120000, 10000), leaf(3000, 20000, 700))
    read = policy_forest(forest([tree], 1, (0, 0, 0)), validate(ModelPolicy, said, "policy.toml"))
    from decision.ir.interpret import evaluate

    program = student_of_model(read, HASH).program()
    zeros = np.zeros(2, dtype=np.int64)
    event = dict.fromkeys(program.interface.event_names, zeros) | {"queue_bytes": np.array([5, 6])}
    knobs, _ = evaluate(program, event, {"capacity_bytes": 1250000}, {s.name: zeros for s in program.state})
    off = np.abs(np.stack(knobs, axis=1) - [[3000, 20000, 700], [50000, 120000, 10000]])
    assert (off <= [4, 7, 2]).all()  # 2^-16 of each knob's range, rounded up, and one


WRONG = {
    "columns": (lambda: policy_forest(forest([leaf(0)], 3), policy()), "3 columns"),
    "beyond": (
        lambda: policy_forest(
            forest([Ask(0, Fraction(2**25), False, leaf(0), leaf(1))], 1),
            policy([{"kind": "level", "signal": "cnp_count"}]),
        ),
        "larger unit",
    ),
    "outputs": (lambda: policy_forest(forest([leaf(0, 0)], 2, (0, 0)), policy()), "2 outputs"),
    "classes": (lambda: policy_forest(forest([leaf(0, 0)], 2, (0, 0), "argmax"), policy()), "is a classifier"),
    "rows": (
        lambda: policy_forest(
            forest([leaf(0, 0)], 2, (0, 0), "argmax"),
            policy(output="row", action={"kind": "table", "multipliers": [0.5, 1, 2]}),
        ),
        "3 rows",
    ),
    "order": (
        lambda: policy_forest(
            Forest("a", ("rate", "rtt_inflation"), (), (Fraction(0),), "regression", FLOAT32_BITS, FLOAT64_BITS),
            policy(),
        ),
        "column 0",
    ),
    "one of several names": (
        lambda: policy_forest(
            Forest("a", ("x", "rtt_inflation"), (), (Fraction(0),), "regression", FLOAT32_BITS, FLOAT64_BITS),
            policy(input={"columns": ["rtt_inflation", "rate"]}),
        ),
        "column 1",
    ),
    "a name of a feature's integer": (
        lambda: policy_forest(
            Forest("a", ("rate_q20", "y"), (), (Fraction(0),), "regression", FLOAT32_BITS, FLOAT64_BITS),
            policy(),
        ),
        "column 0",
    ),
    "tanh": (lambda: policy(output="action", action={"kind": "tanh_map", "step": 0.2}), "tanh_map takes"),
    "row of a multiplier": (lambda: policy(output="row"), "multiplier takes"),
    "network": (lambda: policy(architecture={"kind": "mlp"}), "of a network"),
    "window": (lambda: policy(window=2), "input.order is missing"),
    "column": (lambda: policy(input={"columns": ["rate"]}), "rtt_inflation"),
    "scale": (lambda: policy(input={"scale": 0.0}), "scale is 0"),
    "output": (lambda: policy(output="delta"), "model.output"),
}
"""What is wrong, and what the sentence names."""


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_is_refused_in_a_sentence(case):
    make, named = WRONG[case]
    with pytest.raises(InputError) as caught:
        make()
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)
