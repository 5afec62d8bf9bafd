"""GBRL's files, without GBRL: gbrl/make_models.py saved them with GBRL 1.1.9 and recorded what it predicts."""

import struct
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.frontends import Grid, gbrl_binary, load, load_with_format
from codegen.frontends.comparison import Predictions, judged
from codegen.frontends.forest import Value, questions
from codegen.frontends.gbrl_trees import read_gbrl
from codegen.frontends.quantise import library_error
from decision.artefact.errors import InputError
from tests.codegen.frontends.gridded import grid

FILES = Path(__file__).parent / "gbrl"
NAMES = ("f0", "f1", "f2")
READ = ("oblivious", "greedy", "linear", "actor-critic")
RECORDED = np.load(FILES / "predictions.npz")
LEAF_BITS = 30


def content(name: str) -> bytes:
    return (FILES / f"{name}.gbrl_model").read_bytes()


def evaluate(forest, row):
    sums = list(forest.bias)
    for tree in forest.trees:
        while not isinstance(tree, Value):
            x = Fraction(float(row[tree.feature]))
            tree = tree.above if x > tree.border or (tree.or_equal and x == tree.border) else tree.below
        sums = [total + value for total, value in zip(sums, tree.values, strict=True)]
    return sums


def differences(forest, rows, theirs):
    """The largest difference of each output."""
    ours = [evaluate(forest, row) for row in rows]
    return [max(abs(row[k] - Fraction(float(t[k]))) for row, t in zip(ours, theirs, strict=True)) for k in range(2)]


@pytest.mark.parametrize("name", READ)
def test_a_file_gives_what_gbrl_predicts_on_drawn_rows_and_at_every_border(name):
    forest = read_gbrl(content(name), name)
    stated = library_error(forest, LEAF_BITS)
    assert max(stated) < 2e-5
    for rows, theirs in (("rows", name), (f"{name}_border_rows", f"{name}_borders")):
        for found, allowed in zip(differences(forest, RECORDED[rows], RECORDED[theirs]), stated, strict=True):
            assert found <= allowed


MISREADINGS = {
    "or_equal": lambda tree: replace(tree, or_equal=True),
    "other side": lambda tree: replace(tree, above=tree.below, below=tree.above),
    "border": lambda tree: replace(tree, border=tree.border + Fraction(1, 1 << 10)),
}


@pytest.mark.parametrize("misread", MISREADINGS)
@pytest.mark.parametrize("name", READ)
def test_the_recorded_rows_show_each_misreading_of_a_question(name, misread):
    """Every tree's first question, read wrongly, is off by more than what is stated on some recorded row."""
    forest = read_gbrl(content(name), name)
    stated = library_error(forest, LEAF_BITS)
    rows = np.concatenate([RECORDED["rows"], RECORDED[f"{name}_border_rows"]])
    theirs = np.concatenate([RECORDED[name], RECORDED[f"{name}_borders"]])
    for number, tree in enumerate(forest.trees):
        ours = [evaluate(forest, row) for row in rows]
        trees = (*forest.trees[:number], MISREADINGS[misread](tree), *forest.trees[number + 1 :])
        wrong = [evaluate(replace(forest, trees=trees), row) for row in rows]
        changed = [k for k in range(len(rows)) if ours[k] != wrong[k]]
        assert any(
            abs(wrong[k][output] - Fraction(float(theirs[k][output]))) > stated[output]
            for k in changed
            for output in range(2)
        )


@pytest.mark.parametrize("name", READ)
def test_a_model_on_a_grid_is_held_against_the_recorded_predictions(name):
    steps = Grid.of(dict.fromkeys(NAMES, (-4, 4, 6)))
    model, kind = load_with_format(FILES / f"{name}.gbrl_model", steps)
    assert (kind, model.outputs, model.task) == ("gbrl", 2, "regression")
    integers = (RECORDED["rows"] * 64).astype(np.int64)
    theirs = Predictions(RECORDED[name][:, :2].astype(np.float64), None, "gbrl", "1.1.9")
    assert judged(model, integers, theirs).rows == 200
    with pytest.raises(InputError, match="off by more"):
        judged(model, integers, replace(theirs, raw=theirs.raw[:, ::-1]))


def test_the_critic_of_a_shared_model_is_left_out():
    found = gbrl_binary.parse(content("actor-critic"), "")
    assert (found.sizes.outputs, found.sizes.policy_outputs) == (3, 2)
    assert len(read_gbrl(content("actor-critic"), "").bias) == 2
    assert RECORDED["actor-critic"].shape[1] == 3


def test_a_linear_rate_falls_from_tree_to_tree_and_states_its_roundings():
    forest, constant = read_gbrl(content("linear"), ""), read_gbrl(content("greedy"), "")
    assert forest.doubt > 0 == constant.doubt


REFUSED = {
    "adam": "Adam, whose moments",
    "categorical": "1 categorical features",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_sum_of_numerical_trees_is_refused(name):
    with pytest.raises(InputError, match=REFUSED[name]):
        load(FILES / f"{name}.gbrl_model", grid(*NAMES))


@pytest.mark.parametrize("name", READ)
def test_a_file_that_was_cut_or_has_bytes_behind_its_end_is_refused(name, tmp_path):
    whole = content(name)
    for end in (*range(110, len(whole), 61), len(whole) - 1):
        (tmp_path / "cut.gbrl_model").write_bytes(whole[:end])
        with pytest.raises(InputError, match="whole GBRL model"):
            load(tmp_path / "cut.gbrl_model", grid(*NAMES))
    with pytest.raises(InputError, match="bytes and describes"):
        read_gbrl(whole + b"\0", name)


def edited(name: str, place: int, layout: str, value) -> bytes:
    edit = bytearray(content(name))
    struct.pack_into("<" + layout, edit, place, value)
    return bytes(edit)


METADATA = gbrl_binary.HEADER.size
EDITS = {
    "another version": (4, "H", 8, "was saved by GBRL 1.1.8"),
    "more leaves": (METADATA, "i", 1000, "not a whole"),
    "no tree": (METADATA + 4, "i", 0, "has no tree"),
    "negative trees": (METADATA + 4, "i", -5, "not a whole"),
    "outputs": (METADATA + 28, "i", 1 << 30, "models of 1 to 1024"),
    "actor": (METADATA + 32, "i", 3, "3 of 2 outputs"),
    "depth": (METADATA + 36, "i", 4000, "max_depth of 4000"),
    "growth": (METADATA + 67, "B", 7, "policy 7"),
    "numerical": (METADATA + 68, "i", 2, "2 of 3 inputs"),
    "constraints": (METADATA + 80, "i", -1, "not a whole"),
    "name": (METADATA + 86, "Q", 1 << 60, "a name of"),
    "flag": (METADATA + 98, "B", 0, "flagged 0"),
    "bias": (METADATA + 99, "f", float("nan"), "no finite number"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_every_size_and_number_that_decides_is_checked(edit):
    place, layout, value, reason = EDITS[edit]
    with pytest.raises(InputError, match=reason):
        read_gbrl(edited("oblivious", place, layout, value), "model")


@given(st.integers(0, 1 << 30), st.integers(0, 255), st.sampled_from(READ))
def test_a_file_with_another_byte_is_read_or_refused(place, byte, name):
    whole = bytearray(content(name))
    whole[place % len(whole)] = byte
    try:
        forest = read_gbrl(bytes(whole), "model")
    except InputError:
        return
    assert all(asked.feature < len(forest.names) for tree in forest.trees for asked in questions(tree))


def test_leaves_that_do_not_form_a_tree_are_refused():
    """A direction that is turned round leaves a side of a question without a leaf, or with another one's."""
    whole, sizes = content("greedy"), gbrl_binary.parse(content("greedy"), "").sizes
    directions = gbrl_binary.parse(whole, "").directions
    start = whole.index(bytes(directions.tobytes()))
    refused = 0
    for place in range(sizes.leaves * sizes.max_depth):
        turned = bytearray(whole)
        turned[start + place] ^= 1
        with pytest.raises(InputError, match="form a tree"):
            read_gbrl(bytes(turned), "model")
        refused += 1
    assert refused == sizes.leaves * sizes.max_depth
