"""A network over another layout of its rows decides as it did there."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reproducible import examples

import teachers
from decision.policy.input_layout import InputLayout
from teachers.folding import folded, trained_shapes
from teachers.save import policy_toml
from teachers.teacher import Weights

FEATURES = ["previous_action", "rl_cc_congestion"]


def first_layer(weights: Weights, rows: Any) -> Any:
    """What a network's first layer makes of its rows, in doubles."""
    name = next(n for n in ("fc0.weight", "lstm.weight_ih", "out.weight") if n in weights)
    bias = weights.get({"lstm.weight_ih": "lstm.bias_ih"}.get(name, name.replace("weight", "bias")), 0.0)
    return rows @ weights[name].T.astype(np.float64) + bias


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_the_first_layer_sees_what_it_saw(make_policy: Any, data: st.DataObject) -> None:
    lstm = data.draw(st.sampled_from([None, 5]))
    window = 1 if lstm else data.draw(st.integers(1, 4))
    hidden = data.draw(st.sampled_from([[], [3]]))
    policy = make_policy(hidden=hidden, lstm=lstm, window=window, bias=data.draw(st.booleans()))
    constants = data.draw(st.lists(st.floats(-2, 2), max_size=2))
    columns = data.draw(st.permutations([*FEATURES, *constants]))
    numbers = st.floats(0.25, 4)
    spread = st.one_of(
        numbers, *(st.lists(numbers, min_size=n, max_size=n) for n in {len(columns), len(columns) * window})
    )
    order = data.draw(st.sampled_from(["newest_first", "oldest_first"]))
    layout = InputLayout(order=order, columns=columns, offset=data.draw(spread), scale=data.draw(spread))
    layout.check(policy.observation.labels, window)
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    trained = {n: random.normal(size=s).astype(np.float32) for n, s in trained_shapes(policy, layout).items()}

    ours = random.normal(size=(20, window, 2))  # newest first
    theirs = np.zeros((20, window, len(columns)))
    for column, name in enumerate(columns):
        theirs[:, :, column] = ours[:, :, FEATURES.index(name)] if isinstance(name, str) else name
    if order == "oldest_first":
        theirs = theirs[:, ::-1]
    rows = theirs.reshape(20, -1)
    scale, offset = (np.resize(np.asarray(v), rows.shape[1]) for v in (layout.scale, layout.offset))
    after, weights = folded(policy, layout, trained)
    teachers.teacher.make_teacher(after, weights, "folded")
    expected = first_layer(trained, (rows - offset) * scale)
    assert np.abs(first_layer(weights, ours.reshape(20, -1)) - expected).max() < 1e-4


def test_an_order_alone_moves_columns_and_changes_no_bit(tmp_path: Path, make_policy: Any) -> None:
    policy = make_policy(hidden=[12], window=3)
    weights = {"fc0.weight": np.random.default_rng(0).normal(size=(12, 6)).astype(np.float32)}
    weights["out.weight"] = np.ones((1, 12), np.float32)
    path = tmp_path / "policy.safetensors"
    path.write_bytes(safetensors.numpy.save(weights))
    told = policy_toml(policy)
    (tmp_path / "policy.toml").write_text(told)
    as_ours = teachers.load(path)
    assert np.array_equal(as_ours.weights["fc0.weight"], weights["fc0.weight"])
    (tmp_path / "policy.toml").write_text(told.replace("newest_first", "oldest_first"))
    turned = teachers.load(path)
    assert np.array_equal(turned.weights["fc0.weight"], weights["fc0.weight"][:, [4, 5, 2, 3, 0, 1]])
    assert turned.policy == as_ours.policy
    assert turned.hash != as_ours.hash


@pytest.mark.parametrize("bias", [False, True])
def test_a_network_without_biases_has_them_where_a_constant_made_one(make_policy: Any, bias: bool) -> None:
    policy = make_policy(hidden=[4], window=1, bias=bias)
    layout = InputLayout(columns=["rl_cc_congestion", 2.0, "previous_action"])
    trained = {n: np.ones(s, np.float32) for n, s in trained_shapes(policy, layout).items()}
    after, weights = folded(policy, layout, trained)
    assert after.architecture.bias
    assert weights["fc0.bias"].tolist() == [2.0 + bias] * 4
    assert weights["out.bias"].tolist() == [float(bias)]
    assert weights["fc0.weight"].shape == (4, 2)
