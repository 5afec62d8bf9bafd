"""The same trees told to libraries that cannot read CatBoost: LightGBM, treelite, a scikit-learn forest.

Symmetric trees become binary ones that ask ``x <= border``, left if so, without the questions that an earlier answer on
the path has decided. Whether the retold model says what CatBoost says is checked by whoever retells it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from math import inf
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree._tree import Tree

from bench.codegen.subjects import ExportSubject, FloatTree


@dataclass(frozen=True)
class TreeLeaf:
    value: float


@dataclass(frozen=True)
class TreeQuestion:
    """``x[feature] <= border`` goes to ``below``, else to ``above``."""

    feature: int
    border: float
    below: "TreeLeaf | TreeQuestion"
    above: "TreeLeaf | TreeQuestion"


def binary(tree: FloatTree) -> TreeLeaf | TreeQuestion:
    """The tree as nested questions, each one open on its path."""
    return _grow(tree, 0, 0, {})


def _grow(tree: FloatTree, level: int, index: int, known: dict[int, tuple[float, float]]) -> TreeLeaf | TreeQuestion:
    if level == len(tree.splits):
        return TreeLeaf(tree.leaves[index])
    feature, border = tree.splits[level]
    over, most = known.get(feature, (-inf, inf))  # over < x <= most
    if border <= over:
        return _grow(tree, level + 1, index | 1 << level, known)
    if border >= most:
        return _grow(tree, level + 1, index, known)
    below = _grow(tree, level + 1, index, known | {feature: (over, border)})
    above = _grow(tree, level + 1, index | 1 << level, known | {feature: (border, most)})
    return TreeQuestion(feature, border, below, above)


def nodes(root: TreeLeaf | TreeQuestion) -> Iterator[TreeLeaf | TreeQuestion]:
    """All nodes, each before its children, ``below`` first (scikit-learn's order)."""
    yield root
    if isinstance(root, TreeQuestion):
        yield from nodes(root.below)
        yield from nodes(root.above)


def lightgbm_model(subject: ExportSubject) -> Any:
    """A fitted LGBMRegressor. LightGBM has no bias of its own: the first tree's leaves carry it."""
    lightgbm = import_module("lightgbm")
    trees, bias = subject.parts()
    names = " ".join(f"f{i}" for i in range(subject.features))
    infos = " ".join(f"[{low}:{high}]" for low, high in subject.ranges)
    head = ["tree", "version=v4", "num_class=1", "num_tree_per_iteration=1", "label_index=0"]
    head += [f"max_feature_idx={subject.features - 1}", "objective=regression"]
    head += [f"feature_names={names}", f"feature_infos={infos}"]
    text = "\n".join(head) + "\n\n"
    for number, tree in enumerate(trees):
        text += f"Tree={number}\n{_lightgbm_tree(binary(tree), bias if number == 0 else 0.0)}\n\n"
    model = lightgbm.LGBMRegressor()
    model._Booster = lightgbm.Booster(model_str=text + "end of trees\n")
    model._n_features, model.fitted_ = subject.features, True
    return model


def _lightgbm_tree(root: TreeLeaf | TreeQuestion, bias: float) -> str:
    everything = list(nodes(root))
    questions = [n for n in everything if isinstance(n, TreeQuestion)]
    leaves = [n for n in everything if isinstance(n, TreeLeaf)]
    where = {id(n): i for i, n in enumerate(questions)} | {id(n): -i - 1 for i, n in enumerate(leaves)}
    lines: dict[str, list[object]] = {
        "num_leaves": [len(leaves)],
        "num_cat": [0],
        "split_feature": [q.feature for q in questions],
        "split_gain": [1] * len(questions),
        "threshold": [repr(q.border) for q in questions],
        "decision_type": [0] * len(questions),  # numerical, missing values are not told apart
        "left_child": [where[id(q.below)] for q in questions],
        "right_child": [where[id(q.above)] for q in questions],
        "leaf_value": [repr(leaf.value + bias) for leaf in leaves],
        "leaf_weight": [1] * len(leaves),
        "leaf_count": [1] * len(leaves),
        "internal_value": [0] * len(questions),
        "internal_weight": [0] * len(questions),
        "internal_count": [1] * len(questions),
        "is_linear": [0],
        "shrinkage": [1],
    }
    return "\n".join(f"{key}={' '.join(map(str, values))}" for key, values in lines.items())


def treelite_model(subject: ExportSubject, kind: str) -> Any:
    """A treelite model; ``kind`` (float32 or float64) is the type of its thresholds and leaves."""
    treelite = import_module("treelite.model_builder")
    trees, bias = subject.parts()
    builder = treelite.ModelBuilder(
        threshold_type=kind,
        leaf_output_type=kind,
        metadata=treelite.Metadata(
            num_feature=subject.features,
            task_type="kRegressor",
            average_tree_output=False,
            num_target=1,
            num_class=[1],
            leaf_vector_shape=(1, 1),
        ),
        tree_annotation=treelite.TreeAnnotation(len(trees), [0] * len(trees), [0] * len(trees)),
        postprocessor=treelite.PostProcessorFunc(name="identity"),
        base_scores=[bias],
    )
    for tree in trees:
        everything = list(nodes(binary(tree)))
        key = {id(n): i for i, n in enumerate(everything)}
        builder.start_tree()
        for node in everything:
            builder.start_node(key[id(node)])
            if isinstance(node, TreeLeaf):
                builder.leaf(node.value)
            else:
                builder.numerical_test(
                    feature_id=node.feature,
                    threshold=node.border,
                    default_left=True,
                    opname="<=",
                    left_child_key=key[id(node.below)],
                    right_child_key=key[id(node.above)],
                )
            builder.end_node()
        builder.end_tree()
    return builder.commit()


def forest(subject: ExportSubject) -> Any:
    """A scikit-learn RandomForestRegressor. It averages: a leaf holds its value times the number of trees."""
    trees, bias = subject.parts()
    corners = np.array(subject.ranges, dtype=np.float64).T
    model = RandomForestRegressor(n_estimators=len(trees), bootstrap=False, random_state=0)
    model.fit(corners, [0.0, 1.0])  # to be of the right shape; its trees are replaced
    for estimator, tree in zip(model.estimators_, trees, strict=True):
        everything = list(nodes(binary(tree)))
        key = {id(n): i for i, n in enumerate(everything)}
        state = estimator.tree_.__getstate__()
        table = np.zeros(len(everything), dtype=state["nodes"].dtype)
        values = np.zeros((len(everything), 1, 1))
        table["left_child"] = table["right_child"] = -1
        table["feature"] = table["threshold"] = -2
        table["n_node_samples"] = table["weighted_n_node_samples"] = 1
        for i, node in enumerate(everything):
            if isinstance(node, TreeLeaf):
                values[i] = node.value * len(trees) + bias
            else:
                table[i]["left_child"], table[i]["right_child"] = key[id(node.below)], key[id(node.above)]
                table[i]["feature"], table[i]["threshold"] = node.feature, node.border
        grown = Tree(subject.features, np.array([1], dtype=np.intp), 1)
        state |= {"max_depth": len(tree.splits), "node_count": len(everything), "nodes": table, "values": values}
        grown.__setstate__(state)
        estimator.tree_ = grown
    return model
