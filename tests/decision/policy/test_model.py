"""The integer model: its meaning, its file, its limits."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.errors import InputError
from decision.ir.forest import Branch, Leaf
from decision.ir.interpret import evaluate
from decision.ir.program_json import program_from_json, program_to_json
from decision.policy.model import GridFeature, Model, load_model

FEATURES = (GridFeature("rtt", 10, 0, 100), GridFeature("rate", 0, -50, 50))


def trees(outputs: int):
    values = st.lists(st.integers(-1000, 1000), min_size=outputs, max_size=outputs)
    asked = st.tuples(st.integers(0, 1), st.integers(-60, 110))
    return st.recursive(
        values.map(lambda v: Leaf(tuple(v))),
        lambda inner: st.builds(lambda a, above, below: Branch(*a, above, below), asked, inner, inner),
        max_leaves=8,
    )


@st.composite
def models(draw) -> Model:
    outputs = draw(st.integers(1, 3))
    return Model(
        FEATURES,
        tuple(draw(st.lists(trees(outputs), max_size=3))),
        tuple(draw(st.lists(st.integers(-1000, 1000), min_size=outputs, max_size=outputs))),
        draw(st.integers(0, 30)),
        draw(st.sampled_from(["regression", "argmax", *(["binary"] if outputs == 1 else [])])),
        cut=draw(st.integers(-1000, 1000)),
        error=tuple(draw(st.lists(st.floats(0, 1), min_size=outputs, max_size=outputs))),
        margin=draw(st.floats(0, 1)),
    )


@given(models())
def test_a_file_gives_the_model_back(model):
    assert Model.from_json(json.loads(model.dump())) == model
    assert Model.from_json(json.loads(model.dump())).dump() == model.dump()


def model(*trees, bias=(0,), task="regression", **more) -> Model:
    return Model(FEATURES, trees, bias, 4, task, **more)


def test_the_first_of_the_greatest_wins_and_a_binary_value_must_be_above_its_cut():
    tie = model(Branch(1, 0, Leaf((5, 5, 3)), Leaf((1, 2, 2))), bias=(0, 0, 0), task="argmax")
    assert tie.predict(np.array([[0, 1], [0, 0]])).tolist() == [0, 1]
    binary = model(Branch(1, 0, Leaf((5,)), Leaf((4,))), task="binary", cut=4)
    assert binary.predict(np.array([[0, 1], [0, 0]])).tolist() == [1, 0]
    assert model(bias=(7,)).predict(np.array([[0, 1]])).tolist() == [[7]]


def test_thresholds_and_depth():
    tree = Branch(0, 5, Branch(1, -3, Leaf((1,)), Leaf((2,))), Branch(0, 2, Leaf((3,)), Leaf((4,))))
    found = model(tree, Branch(1, -3, Leaf((0,)), Leaf((1,))))
    assert found.forest.thresholds() == {0: [2, 5], 1: [-3]}
    assert found.forest.depth == 2
    assert found.class_count == 0


def test_what_a_model_must_not_be():
    leaf, deep = Leaf((1,)), Leaf((1,))
    for n in range(121):
        deep = Branch(0, n % 100, deep, leaf)
    for wrong, sentence in (
        (lambda: model(bias=()), "no output"),
        (lambda: model(task="guess"), "task 'guess'"),
        (lambda: model(bias=(0, 0), task="binary"), "one output, not 2"),
        (lambda: model(Leaf((1, 2))), "leaf of 2 .*1 outputs"),
        (lambda: model(Branch(2, 0, leaf, leaf)), "feature 2 of 2"),
        (lambda: model(Branch(0, 2**32, leaf, leaf)), "compares with 4294967296"),
        (lambda: model(name="*/"), "in a comment"),
        (lambda: model(task="binary", cut=2**31), "cut is 2147483648"),
        (lambda: model(deep), "deeper than 120"),
        (lambda: model(Leaf((2**30,)), Leaf((2**30,))), "0..2147483648"),
        (lambda: model(Leaf((-(2**31),)), Leaf((2**30,)), bias=(-1,)), "-2147483649"),
        (lambda: model(error=(0.0, 0.0)), "2 errors for 1 outputs"),
        (lambda: model(bias=(0, 0), task="argmax", classes=("a",)), "1 classes .*2"),
        (lambda: Model((FEATURES[0], FEATURES[0]), (), (0,), 0, "regression"), "the same name"),
        (lambda: Model((GridFeature("a", 0, 0, 2**31),), (), (0,), 0, "regression"), "within 32 bits"),
    ):
        with pytest.raises(InputError, match=sentence):
            wrong()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", 1),
        ("kind", "student"),
        ("forest", None),
        ("forest", {"features": [], "leaf_bits": True, "bias": 0, "trees": []}),
        ("forest", {"features": [], "leaf_bits": 0, "bias": 1.5, "trees": []}),
        ("cut", 0.5),
        ("features", [["a", 0, 0]]),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path, key, value):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model().to_json() | {key: value}))
    with pytest.raises(InputError, match=f"{path}: .*make it again"):
        load_model(path)


@given(models(), st.integers(0, 10**6))
def test_the_program_decides_what_the_model_predicts(model, seed):
    rows = np.random.default_rng(seed).integers(-70, 120, size=(30, 2))
    event = dict(zip(model.fields, rows.T, strict=True))
    knobs, context = evaluate(model.program(), event, model.params(), {})
    assert np.array_equal(np.stack(knobs, axis=1), model.predict(rows).reshape(len(rows), -1))
    assert context == {}


@given(models())
def test_the_program_is_read_back(model):
    program = model.program()
    assert program_from_json(json.loads(json.dumps(program_to_json(program)))) == program
