"""LightGBM's text models (``save_model("model.txt")``).

A feature and a threshold are doubles; ``x <= threshold`` goes left; a child below zero is leaf ``~child``. The mean of
the target is in the leaves of the first trees already. Numbers stand with 17 digits: the decimal is the very double.

A file is whole where it says "end of trees", its trees are numbered 0, 1, .. and, where ``tree_sizes`` stand in it,
each tree has as many bytes as its size.
"""

from fractions import Fraction

from codegen.frontends.forest import FLOAT64_BITS, INT32_BITS, Ask, Forest, Question, Value, as_many, grow, only
from decision.artefact.errors import InputError
from decision.policy.model import Task

FIRST_LINE = "tree"
TASKS: dict[str, Task] = {"binary": "binary", "multiclass": "argmax", "multiclassova": "argmax"}
VERSIONS = ("v2", "v3", "v4")
END = "\nend of trees"
CATEGORICAL = 1
DECISION_BITS = 4
"""The bit of ``decision_type``; the missing type is in bits 2 and 3, 0 where none was met in training. No other is."""


def is_lightgbm(text: str) -> bool:
    return text.partition("\n")[0].strip() == FIRST_LINE


def read_lightgbm(text: str, where: str) -> Forest:
    """The forest of a text model; InputError where it is not one or asks for more than numbers."""
    try:
        return _forest(text)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise InputError(f"{where} is not a LightGBM text model ({error!r}); save it again") from None


def _forest(text: str) -> Forest:
    body, ended, _ = text.partition(END)
    head, *trees = body.split("\nTree=")
    header = _fields(head)
    if header["version"] not in VERSIONS:
        raise InputError(f"the LightGBM model has version {header['version']}; {', '.join(VERSIONS)} are read")
    names = tuple(header["feature_names"].split())
    if len(names) != int(header["max_feature_idx"]) + 1:
        raise ValueError(f"{len(names)} feature names for {int(header['max_feature_idx']) + 1} features")
    outputs = as_many(int(header["num_tree_per_iteration"]))
    _check_whole(header, trees, bool(ended), outputs)
    task = TASKS.get((header.get("objective") or "custom").split()[0], "regression")
    classes = outputs if task == "argmax" else int(header["num_class"])
    if int(header["num_class"]) != classes or (task == "binary" and outputs != 1):
        raise ValueError(f"num_class={header['num_class']} with {outputs} trees an iteration")
    averaged = len(trees) // outputs if "average_output" in header else 1
    return Forest(
        library="LightGBM",
        names=names,
        trees=tuple(_tree(_fields(tree), n, outputs, averaged, names) for n, tree in enumerate(trees)),
        bias=(Fraction(0),) * outputs,
        task=task,
        input_bits=INT32_BITS,
        sum_bits=FLOAT64_BITS,
    )


def _check_whole(header: dict[str, str], trees: list[str], ended: bool, outputs: int) -> None:
    """InputError where the file does not hold every tree that it says, whole and in its place."""
    sizes = [int(size) for size in header.get("tree_sizes", "").split()]
    counted = f" of {len(sizes)} trees (tree_sizes)" if sizes else " trees"
    if not ended or (sizes and len(sizes) != len(trees)):
        raise InputError(
            f"the LightGBM model is not whole: it holds {len(trees)}{counted} and "
            f"{'ends' if ended else 'does not end'} with {END.strip()!r}; copy or save it again"
        )
    for place, tree in enumerate(trees):
        number, _, _ = tree.partition("\n")
        if number.strip() != str(place):
            raise InputError(
                f"the LightGBM model has tree {number.strip()!r} where tree {place} belongs; save it again"
            )
        size = len(f"Tree={tree}\n".encode())
        if sizes and sizes[place] != size:
            raise InputError(
                f"tree {place} of the LightGBM model has {size} bytes, and tree_sizes says {sizes[place]}, by which "
                f"LightGBM reads it; save the model again"
            )
    if len(trees) % outputs:
        raise InputError(f"the LightGBM model has {len(trees)} trees, {outputs} an iteration; save it again")


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
    if inner != len(values) - 1:
        raise ValueError(f"tree {number} has {inner} splits and {len(values)} leaves")

    def place(child: int) -> int:
        return child if child >= 0 else inner + ~child

    asked: list[Value | Question] = []
    for feature, border, decision, left, right in zip(*columns, *children, strict=True):
        _check_decision(int(decision), names[int(feature)])
        asked.append(Question(int(feature), float(border), False, above=place(right), below=place(left)))
    return grow([*asked, *values], f"tree {number}")


def _check_decision(decision: int, name: str) -> None:
    if decision >> DECISION_BITS:
        raise InputError(f"feature {name!r} has decision_type {decision}, which is not known; save the model again")
    if decision & CATEGORICAL:
        raise InputError(f"feature {name!r} is categorical, which integer firmware cannot be exact about")
    if decision >> 2 & 3:
        raise InputError(
            f"feature {name!r} was trained with missing values, which integers do not have; fill them in and train "
            f"with use_missing=false"
        )


def _fields(section: str) -> dict[str, str]:
    """The ``key=value`` lines of a section; a line without ``=`` is a key alone."""
    fields: dict[str, str] = {}
    for line in section.splitlines():
        key, _, value = line.partition("=")
        if key.strip() and fields.setdefault(key.strip(), value.strip()) != value.strip():
            raise ValueError(f"{key.strip()} stands twice")
    return fields
