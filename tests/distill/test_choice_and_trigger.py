"""A choice and its trigger, fitted beside each other: who sees what was saved, and what is refused."""

import numpy as np
import pytest
from triggered_students import ROWS, observation

from decision.artefact.errors import InputError
from decision.ir.forest import branches, leaves
from decision.policy.actions import Choice
from decision.policy.tree_decision import seen_names
from decision.policy.trigger import SAVED, Trigger
from distill.choice_and_trigger import fit_both, loss_of_both
from distill.dataset import Dataset
from distill.options import DistillOptions

ACTION = Choice(kind="choice", rows=ROWS[:3])
NAMES = seen_names(observation(), Trigger(hidden=[], saved=1))
OPTIONS = DistillOptions.model_validate({"trees": 3, "depth": 2, "trigger": {"trees": 2, "depth": 2}})


def drawn(fires: bool | None = None) -> Dataset:
    """The trigger fires where the newest bucket is another than the one that was saved, the row follows the bucket."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 12, (4000, len(NAMES)))
    now, then = x[:, 0], x[:, NAMES.index(SAVED + NAMES[0])]
    fired = np.abs(now - then) > 4 if fires is None else np.full(4000, fires)
    y = np.concatenate([np.eye(3)[np.minimum(now // 4, 2)], fired[:, None]], axis=1)
    return Dataset(x, y, np.ones(4000))


def test_one_forest_has_both_and_no_tree_adds_to_both() -> None:
    data = drawn()
    both = fit_both(ACTION, data, OPTIONS, NAMES, seed=1, excluded=())
    assert both.forest.outputs == 4
    saved = {place for place, name in enumerate(NAMES) if name.startswith(SAVED)}
    for number, tree in enumerate(both.forest.trees):
        adds = {column for leaf in leaves(tree) for column, value in enumerate(leaf.value) if value}
        assert adds <= ({3} if number < 2 else {0, 1, 2})
        assert number < 2 or not saved & {branch.feature for branch in branches(tree)}
    assert saved & {branch.feature for tree in both.forest.trees[:2] for branch in branches(tree)}
    sums = both.forest.evaluate(data.x) / 2**both.forest.leaf_bits
    assert loss_of_both(ACTION, sums, data.y, data.weight) < 0.25
    assert loss_of_both(ACTION, data.y, data.y, data.weight) == 0


@pytest.mark.parametrize("fires", [True, False])
def test_a_trigger_that_always_or_never_fires_is_refused(fires: bool) -> None:
    with pytest.raises(InputError, match=f"trigger {'always' if fires else 'never'} fires"):
        fit_both(ACTION, drawn(fires), OPTIONS, NAMES, seed=1, excluded=())
