"""LightGBM's text models (``save_model("model.txt")``).

A feature and a threshold are doubles; ``x <= threshold`` goes left; a child below zero is leaf ``~child``. The mean of
the target is in the leaves of the first trees already. Numbers stand with 17 digits: the decimal is the very double.
"""

from fractions import Fraction

from codegen.frontends.forest import FLOAT64_BITS, INT32_BITS, Ask, Forest, Question, Value, as_many, grow, only
from decision.errors import InputError
from decision.model import Task

FIRST_LINE = "tree"
TASKS: dict[str, Task] = {"binary": "binary", "multiclass": "argmax", "multiclassova": "argmax"}
CATEGORICAL = 1
"""The bit of ``decision_type``; the missing type is in bits 2 and 3, 0 where none was met in training."""


def is_lightgbm(text: str) -> bool:
    return text.partition("\n")[0].strip() == FIRST_LINE


def read_lightgbm(text: str, where: str) -> Forest:
    """The forest of a text model; InputError where it is not one or asks for more than numbers."""
    try:
        return _forest(text)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise InputError(f"{where} is not a LightGBM text model ({error!r}); save it again") from None


def _forest(text: str) -> Forest:
    body = text.partition("\nend of trees")[0]
    head, *trees = body.split("\nTree=")
    header = _fields(head)
    names = tuple(header["feature_names"].split())
    if len(names) != int(header["max_feature_idx"]) + 1:
        raise ValueError(f"{len(names)} feature names for {int(header['max_feature_idx']) + 1} features")
    outputs = as_many(int(header["num_tree_per_iteration"]))
    objective = (header.get("objective") or "custom").split()[0]
    averaged = len(trees) // outputs if "average_output" in header else 1
    return Forest(
        library="LightGBM",
        names=names,
        trees=tuple(_tree(_fields(tree), n, outputs, averaged, names) for n, tree in enumerate(trees)),
        bias=(Fraction(0),) * outputs,
        task=TASKS.get(objective, "regression"),
        input_bits=INT32_BITS,
        sum_bits=FLOAT64_BITS,
    )


def _tree(fields: dict[str, str], number: int, outputs: int, averaged: int, names: tuple[str, ...]) -> Value | Ask:
    if fields.get("is_linear", "0") != "0":
        raise InputError(f"tree {number} has linear leaves, which are no constants; train with linear_tree=false")
    leaves = [Fraction(float(v)) / averaged for v in fields["leaf_value"].split()]
    values = [only(number % outputs, outputs, leaf) for leaf in leaves]
    if len(values) != int(fields["num_leaves"]):
        raise ValueError(f"tree {number} has {len(values)} leaves and says {fields['num_leaves']}")
    if len(values) == 1:
        return values[0]
    columns = [fields[key].split() for key in ("split_feature", "threshold", "decision_type")]
    children = [[int(c) for c in fields[key].split()] for key in ("left_child", "right_child")]
    inner = len(columns[0])

    def place(child: int) -> int:
        return child if child >= 0 else inner + ~child

    asked: list[Value | Question] = []
    for feature, border, decision, left, right in zip(*columns, *children, strict=True):
        _check_decision(int(decision), names[int(feature)])
        asked.append(Question(int(feature), float(border), False, above=place(right), below=place(left)))
    return grow([*asked, *values], f"tree {number}")


def _check_decision(decision: int, name: str) -> None:
    if decision & CATEGORICAL:
        raise InputError(f"feature {name!r} is categorical, which integer firmware cannot be exact about")
    if decision >> 2 & 3:
        raise InputError(
            f"feature {name!r} was trained with missing values, which integers do not have; fill them in and train "
            f"with use_missing=false"
        )


def _fields(section: str) -> dict[str, str]:
    """The ``key=value`` lines of a section; a line without ``=`` is a key alone."""
    fields = {}
    for line in section.splitlines():
        key, _, value = line.partition("=")
        fields[key.strip()] = value.strip()
    return fields
