"""A choice and its trigger: two fits of one dataset, one forest.

The trigger's trees see what was saved too and regress whether it fires; the choice's trees see what its teacher's
network saw, and weigh the decisions in which it is asked: of the others it is not asked, but a student's trigger may
fire a little off its teacher's. The last sum is the trigger's, and no tree adds to both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from catboost import CatBoostRegressor

from decision.artefact.errors import InputError
from decision.ir.arrays import Floats
from decision.ir.forest import Branch, Forest, Leaf, Node
from decision.policy.actions import Action
from decision.policy.trigger import SAVED
from distill import boost, quantise
from distill.dataset import Dataset
from distill.options import DistillOptions

UNASKED = 0.1
"""Weight of a decision in which the choice is not asked."""


@dataclass(frozen=True)
class Both:
    """``forest``: of both; ``points``: on which both are equal to CatBoost's."""

    forest: Forest
    choice: CatBoostRegressor
    trigger: CatBoostRegressor
    points: int


def fit_both(
    action: Action,
    data: Dataset,
    options: DistillOptions,
    names: tuple[str, ...],
    *,
    seed: int,
    excluded: Sequence[int],
) -> Both:
    """Fit the choice to all labels but the last, and the trigger to that. InputError where one has nothing to learn."""
    fires = data.y[:, -1]
    if fires.min() == fires.max():
        raise InputError(
            f"the teacher's trigger {'always' if fires.max() else 'never'} fires in these rollouts; train it again, or "
            "leave [trigger] out of its policy"
        )
    saved = [place for place, name in enumerate(names) if name.startswith(SAVED)]
    asked = Dataset(data.x, data.y[:, :-1], data.weight * np.where(fires > 0, 1.0, UNASKED))
    models, forests, points = [], [], 0
    for part, limits, loss, unseen in (
        (asked, options, action.loss, {*excluded, *saved}),
        (
            replace(data, y=data.y[:, -1:]),
            options.model_copy(update=dict(options.trigger)),
            lambda sums, label, weight: _missed(sums[:, 0], label[:, 0], weight),
            set(excluded),
        ),
    ):
        model = boost.fit(part, limits, loss, seed=seed, bits=action.leaf_bits, excluded=sorted(unseen))
        forest = quantise.quantise(model, names, action.leaf_bits)
        points = max(points, quantise.check_equal(model, forest, data.x, seed=seed))
        models.append(model)
        forests.append(forest)
    choice, trigger = models
    return Both(_beside(*forests), choice, trigger, points)


def loss_of_both(action: Action, sums: Floats, label: Floats, weight: Floats) -> float:
    """The share of decisions in which the trigger is wrong, and of those in which it is to fire the choice's loss."""
    asked = weight * (label[:, -1] > 0)
    wrong = action.loss(sums[:, :-1], label[:, :-1], asked) if asked.any() else 0.0
    return _missed(sums[:, -1], label[:, -1], weight) + wrong


def _missed(sums: Floats, label: Floats, weight: Floats) -> float:
    return float(np.average((sums > 0.5) != (label > 0.5), weights=weight))


def _beside(choice: Forest, trigger: Forest) -> Forest:
    """One forest, the sums of both in turn; the trigger's trees stand first, as they are asked first."""
    none, more = (0,) * trigger.outputs, (0,) * choice.outputs
    trees = [_widened(tree, more, ()) for tree in trigger.trees] + [_widened(tree, (), none) for tree in choice.trees]
    return Forest(choice.features, tuple(trees), (*choice.bias, *trigger.bias), choice.leaf_bits)


def _widened(node: Node, before: tuple[int, ...], behind: tuple[int, ...]) -> Node:
    if isinstance(node, Leaf):
        return Leaf((*before, *node.value, *behind))
    return Branch(
        node.feature, node.threshold, _widened(node.above, before, behind), _widened(node.below, before, behind)
    )
