"""Treelite's serialised models (``Model.serialize("model.tl")``), read with treelite, which is imported only here.

Through it come LightGBM, XGBoost and the ensembles of scikit-learn. A node says with which operator it goes left. The
float that the first library saw an input as is no longer known; the narrowest, float32, is assumed.
"""

from fractions import Fraction
from pathlib import Path
from typing import Any

from codegen.frontends.forest import FLOAT32_BITS, FLOAT64_BITS, Ask, Forest, Question, Value, grow, only
from decision.errors import InputError
from decision.extras import needed
from decision.model import Task

LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL = 2, 3, 4, 5
LEAF, NUMERICAL = 0, 1
FLOAT32 = 2
TASKS: dict[int, Task] = {0: "binary", 1: "regression", 2: "argmax", 3: "regression"}
"""treelite's binary classifier, regressor, multi-class classifier, learning to rank."""


def read_treelite(path: Path) -> Forest:
    """The forest of a serialised treelite model; InputError where it is not one or asks for more than numbers."""
    with needed():
        import treelite
    try:
        return from_treelite(treelite.Model.deserialize(str(path)))
    except treelite.TreeliteError:
        raise InputError(f"{path} is not a model that treelite can read; serialise it again") from None


def from_treelite(model: Any) -> Forest:
    """The forest of a treelite model in memory."""
    header = model.get_header_accessor()
    classes = [int(c) for c in header.get_field("num_class")]
    outputs = sum(classes)
    task = TASKS.get(int(header.get_field("task_type")[0]))
    if task is None or len(set(classes)) > 1 or (len(classes) > 1 and classes[0] > 1):
        raise InputError("treelite's model has a task that is not read; give a regressor, a classifier or a ranker")
    if task == "binary" and (outputs != 1 or header.get_field("postprocessor") != "sigmoid"):
        raise InputError("treelite's binary classifier has no sigmoid; give it as a multi-class one")
    per_tree = [
        _output(int(target), int(kind))
        for target, kind in zip(*map(header.get_field, ("target_id", "class_id")), strict=True)
    ]
    averaged = bool(header.get_field("average_tree_output")[0])
    shares = [sum(output in (None, k) for output in per_tree) if averaged else 1 for k in range(outputs)]
    names = tuple(f"f{i}" for i in range(model.num_feature))
    trees = tuple(
        _tree(model.get_tree_accessor(number), f"tree {number}", output, shares, names)
        for number, output in enumerate(per_tree)
    )
    sum_bits = FLOAT32_BITS if int(header.get_field("leaf_output_type")[0]) == FLOAT32 else FLOAT64_BITS
    bias = tuple(Fraction(float(b)) for b in header.get_field("base_scores"))
    return Forest("treelite", names, trees, bias, task, FLOAT32_BITS, sum_bits)


def _output(target: int, kind: int) -> int | None:
    """The output that a tree works for; None where its leaves hold all."""
    return None if target < 0 or kind < 0 else max(target, kind)


def _tree(tree: Any, where: str, output: int | None, shares: list[int], names: tuple[str, ...]) -> Value | Ask:
    keys = ("node_type", "cleft", "cright", "split_index", "threshold", "cmp", "leaf_value")
    columns = [tree.get_field(key).tolist() for key in keys]
    vectors, begin, end = (tree.get_field(f"leaf_vector{part}").tolist() for part in ("", "_begin", "_end"))
    nodes: list[Value | Question] = []
    for number, (kind, left, right, feature, border, operator, value) in enumerate(zip(*columns, strict=True)):
        if kind == NUMERICAL:
            nodes.append(_question(feature, border, operator, left, right, where))
        elif kind != LEAF:
            raise InputError(f"feature {names[feature]!r} is categorical, which integer firmware cannot be exact about")
        elif output is None:
            nodes.append(_vector(vectors[begin[number] : end[number]], shares, where))
        else:
            nodes.append(only(output, len(shares), Fraction(value) / shares[output]))
    return grow(nodes, where)


def _question(feature: int, border: float, operator: int, left: int, right: int, where: str) -> Question:
    if operator in (LESS, LESS_OR_EQUAL):
        return Question(feature, border, operator == LESS, above=right, below=left)
    if operator in (GREATER, GREATER_OR_EQUAL):
        return Question(feature, border, operator == GREATER_OR_EQUAL, above=left, below=right)
    raise InputError(f"{where} compares with an operator other than <, <=, > and >=; export the model again")


def _vector(values: list[float], shares: list[int], where: str) -> Value:
    if len(values) != len(shares):
        raise InputError(f"{where} has leaves of {len(values)} values for {len(shares)} outputs; export one a class")
    return Value(tuple(Fraction(v) / share for v, share in zip(values, shares, strict=True)))
