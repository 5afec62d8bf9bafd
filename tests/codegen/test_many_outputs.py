"""Forests of many outputs: what emitting them costs grows with their leaves, not with leaves times outputs squared."""

import numpy as np
import pytest

from codegen import model_body, paths, walk
from decision.artefact.manifest import opened
from decision.ir.forest import Leaf, oblivious
from decision.policy.model import GridFeature, Model

OUTPUTS, TREES = 40, 4


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    trees = []
    for _ in range(TREES):
        asked = [(int(rng.integers(2)), int(rng.integers(1, 60))) for _ in range(3)]
        trees.append(oblivious(asked, [tuple(map(int, rng.integers(-500, 500, OUTPUTS))) for _ in range(8)]))
    features = (GridFeature("a", 0, 0, 63), GridFeature("b", 0, 0, 63))
    return Model(features, tuple(trees), (0,) * OUTPUTS, 4, "argmax")


def test_leaves_are_not_walked_for_every_leaf_and_output(model, tmp_path, monkeypatch):
    """A few dozen times a tree; with sums looked up anew for each leaf it was 381,440 times in all."""
    walked = []
    original = walk.leaves

    def counted(tree):
        walked.append(tree)
        return original(tree)

    monkeypatch.setattr(walk, "leaves", counted)
    model_body.emit_model(model, tmp_path / "firmware")
    assert len(walked) < 100 * TREES


def test_rows_are_tried_in_batches_that_memory_holds_and_no_byte_depends_on_them(model, tmp_path, monkeypatch):
    model_body.emit_model(model, tmp_path / "whole")
    numbers = []
    original = paths.trace

    def counted(program, event, *more, **forced):
        numbers.append(next(iter(event.values())).size * len(program.nodes))
        return original(program, event, *more, **forced)

    monkeypatch.setattr(paths, "trace", counted)
    monkeypatch.setattr(paths, "MAX_NUMBERS", 1 << 18)
    model_body.emit_model(model, tmp_path / "parts")
    assert len(numbers) > 4
    assert max(numbers) <= 1 << 18
    assert opened(tmp_path / "parts", "firmware").hash == opened(tmp_path / "whole", "firmware").hash


def test_sums_that_a_tree_adds_to_are_those_of_its_leaves(model):
    added = walk.walk_of(model.forest, [(0, 63)] * 2)
    few = Leaf(tuple(int(k in (3, 7)) for k in range(OUTPUTS)))
    assert added.columns(few) == (3, 7)
    assert added.columns(Leaf((0,) * OUTPUTS)) == (0,)
    for number, tree in enumerate(added.trees):
        assert added.columns(tree) == walk.added(tree)
        assert all((number in added.adding_to(k)) == (k in walk.added(tree)) for k in range(OUTPUTS))
