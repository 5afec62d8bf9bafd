"""Treelite's serialised models (``Model.serialize("model.tl")``), read with treelite, which is imported only here.

Through it come LightGBM, XGBoost and the ensembles of scikit-learn. A node says with which operator it goes left. The
float that the first library saw an input as is no longer known; the narrowest, float32, is assumed. Properties that
treelite drops (LightGBM's zero_as_missing, names, labels) are lost before: the predictions are treelite's, and the
model says so. Every field that decides a value is known here or refused. treelite reads a file that was cut without a
word, so what it writes of the model must be the file.

Types are those of the trees' own arrays: treelite 4 returns another field where the header is asked for
``leaf_output_type``.
"""

from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any

from codegen.frontends.forest import FLOAT32_BITS, FLOAT64_BITS, Ask, Forest, Question, Value, as_many, grow, only
from decision.artefact.documents import read_bytes
from decision.artefact.errors import InputError
from decision.artefact.extras import needed
from decision.policy.model import Task

LIBRARY = "treelite"
LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL = 2, 3, 4, 5
LEAF, NUMERICAL = 0, 1
SUM_BITS = {("float32", "float32"): FLOAT32_BITS, ("float64", "float64"): FLOAT64_BITS}
"""By the types of thresholds and leaves: bits of the float that treelite adds up leaves in."""
TASKS: dict[int, Task] = {0: "binary", 1: "regression", 2: "argmax", 3: "regression"}
"""treelite's binary classifier, regressor, multi-class classifier, learning to rank."""
POSTPROCESSORS: dict[Task, tuple[str, ...]] = {
    "binary": ("sigmoid",),
    "argmax": ("identity_multiclass", "softmax", "multiclass_ova"),
    "regression": ("identity", "signed_square", "exponential", "logarithm_one_plus_exp", "sigmoid"),
}
"""What may follow the raw value: it never changes which class has the greatest output, or lies above the cut."""
OPTIONAL = ("num_opt_field_per_tree", "num_opt_field_per_node")
VERSION_BYTES = 12
SERIAL_MAJORS = (3, 4)
"""Versions of treelite whose serialised files are known by their first bytes."""


def is_treelite(content: bytes) -> bool:
    """Returns whether a file starts as treelite's: its version as three int32, then two types."""
    if len(content) < 16:
        return False
    major, minor, patch = (int.from_bytes(content[at : at + 4], "little") for at in (0, 4, 8))
    return (
        major in SERIAL_MAJORS and minor < 100 and patch < 1000 and content[12] in (2, 3) and content[13] in (1, 2, 3)
    )


def read_treelite(path: Path) -> Forest:
    """The forest of a serialised treelite model; InputError where it is not one or asks for more than numbers."""
    with needed():
        import treelite
    content = read_bytes(path)
    try:
        model = treelite.Model.deserialize_bytes(content)
        if model.serialize_bytes()[VERSION_BYTES:] != content[VERSION_BYTES:]:
            raise InputError(
                f"{path} is not what treelite {treelite.__version__} writes of it: it was cut, or another version "
                f"wrote it; serialise it again"
            )
        return from_treelite(model)
    except treelite.TreeliteError:
        raise InputError(f"{path} is not a model that treelite can read; serialise it again") from None
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise InputError(f"{path} is not a whole treelite model ({error!r}); serialise it again") from None


def from_treelite(model: Any) -> Forest:
    """The forest of a treelite model in memory."""
    header = model.get_header_accessor()
    classes = [int(c) for c in header.get_field("num_class")]
    outputs = as_many(sum(classes))
    task = _task(header, classes, outputs)
    per_tree = [
        _output(int(target), int(kind), len(classes), max(classes))
        for target, kind in zip(*map(header.get_field, ("target_id", "class_id")), strict=True)
    ]
    _check_counts(header, model, len(per_tree), classes)
    averaged = _flag(header, "average_tree_output")
    shares = [sum(output in (None, k) for output in per_tree) if averaged else 1 for k in range(outputs)]
    bias = [float(b) for b in header.get_field("base_scores")]
    if len(bias) != outputs or not all(map(isfinite, bias)):
        raise InputError(f"treelite's model has base_scores {bias} for {outputs} outputs; serialise it again")
    names = tuple(f"f{i}" for i in range(model.num_feature))
    accessors = [model.get_tree_accessor(number) for number in range(len(per_tree))]
    trees = tuple(
        _tree(accessor, f"tree {number}", output, shares, names)
        for number, (accessor, output) in enumerate(zip(accessors, per_tree, strict=True))
    )
    return Forest(LIBRARY, names, trees, tuple(map(Fraction, bias)), task, FLOAT32_BITS, _sum_bits(accessors))


def _task(header: Any, classes: list[int], outputs: int) -> Task:
    """Returns the task; InputError where it, or what follows the raw value, is not known."""
    task = TASKS.get(int(header.get_field("task_type")[0]))
    if task is None or len(set(classes)) > 1 or (len(classes) > 1 and classes[0] > 1):
        raise InputError("treelite's model has a task that is not read; give a regressor, a classifier or a ranker")
    postprocessor = str(header.get_field("postprocessor"))
    if task == "binary" and (outputs != 1 or postprocessor != "sigmoid"):
        raise InputError("treelite's binary classifier has no sigmoid; give it as a multi-class one")
    if postprocessor not in POSTPROCESSORS[task]:
        raise InputError(
            f"treelite's model has the postprocessor {postprocessor!r}, which is not known for its task; "
            f"{', '.join(POSTPROCESSORS[task])} are"
        )
    alpha = float(header.get_field("sigmoid_alpha")[0])
    if not 0 < alpha < float("inf"):
        raise InputError(f"treelite's model has sigmoid_alpha {alpha}; a sigmoid that rises has one above 0")
    return task


def _check_counts(header: Any, model: Any, trees: int, classes: list[int]) -> None:
    """InputError where the header counts other trees, targets or fields than there are."""
    counts = {
        "num_tree": (int(header.get_field("num_tree")[0]), trees),
        "the model's trees": (int(model.num_tree), trees),
        "num_target": (int(header.get_field("num_target")[0]), len(classes)),
        "num_opt_field_per_model": (int(header.get_field("num_opt_field_per_model")[0]), 0),
    }
    for name, (count, expected) in counts.items():
        if count != expected:
            raise InputError(f"treelite's model says {count} for {name} and holds {expected}; serialise it again")
    shape = tuple(int(n) for n in header.get_field("leaf_vector_shape"))
    if len(shape) != 2 or shape[0] not in (1, len(classes)) or shape[1] not in (1, max(classes)):
        raise InputError(f"treelite's model has leaves of shape {shape} for {len(classes)} x {max(classes)} outputs")


def _flag(header: Any, name: str) -> bool:
    value = int(header.get_field(name)[0])
    if value not in (0, 1):
        raise InputError(f"treelite's model has {name} = {value}, which is neither 0 nor 1; serialise it again")
    return bool(value)


def _sum_bits(trees: list[Any]) -> int:
    """Returns the bits of the float that leaves are added up in; InputError where trees have other types."""
    types = {tuple(str(tree.get_field(key).dtype) for key in ("threshold", "leaf_value")) for tree in trees}
    known = {SUM_BITS.get((pair[0], pair[1])) for pair in types}
    if None in known or len(known) > 1:
        kinds = " and ".join(map("/".join, sorted(types)))
        raise InputError(
            f"treelite's model has thresholds and leaves of type {kinds}; trees of float32 or of float64 are read"
        )
    return min((bits for bits in known if bits is not None), default=FLOAT32_BITS)


def _output(target: int, kind: int, targets: int, classes: int) -> int | None:
    """The output that a tree works for; None where its leaves hold all."""
    if not -1 <= target < targets or not -1 <= kind < classes:
        raise InputError(
            f"a tree of treelite's model is of target {target}, class {kind}; there are {targets} and {classes}"
        )
    return None if target < 0 or kind < 0 else max(target, kind)


def _tree(tree: Any, where: str, output: int | None, shares: list[int], names: tuple[str, ...]) -> Value | Ask:
    if any(int(tree.get_field(key)[0]) for key in OPTIONAL):
        raise InputError(f"{where} has fields of a later treelite, which are not known; serialise it with treelite 4")
    keys = ("node_type", "cleft", "cright", "split_index", "threshold", "cmp", "leaf_value")
    columns = [tree.get_field(key).tolist() for key in keys]
    vectors, begin, end = (tree.get_field(f"leaf_vector{part}").tolist() for part in ("", "_begin", "_end"))
    if int(tree.get_field("num_nodes")[0]) != len(columns[0]):
        raise InputError(f"{where} says num_nodes other than the {len(columns[0])} nodes it has; serialise it again")
    nodes: list[Value | Question] = []
    for number, (kind, left, right, feature, border, operator, value) in enumerate(zip(*columns, strict=True)):
        if kind == LEAF:
            if begin[number] != end[number]:
                leaf = vectors[begin[number] : end[number]]
                nodes.append(_vector(leaf if output is None else _spread(leaf, output, shares, where), shares, where))
            elif output is None:
                raise InputError(f"{where} has leaves of one value for all outputs; export one tree an output")
            else:
                nodes.append(only(output, len(shares), Fraction(value) / shares[output]))
            continue
        if not 0 <= feature < len(names):
            raise InputError(f"{where} asks for feature {feature} of {len(names)}; serialise it again")
        if kind != NUMERICAL:
            raise InputError(f"feature {names[feature]!r} is categorical, which integer firmware cannot be exact about")
        nodes.append(_question(feature, border, operator, left, right, where))
    return grow(nodes, where)


def _question(feature: int, border: float, operator: int, left: int, right: int, where: str) -> Question:
    if operator in (LESS, LESS_OR_EQUAL):
        return Question(feature, border, operator == LESS, above=right, below=left)
    if operator in (GREATER, GREATER_OR_EQUAL):
        return Question(feature, border, operator == GREATER_OR_EQUAL, above=left, below=right)
    raise InputError(f"{where} compares with an operator other than <, <=, > and >=; export the model again")


def _spread(leaf: list[float], output: int, shares: list[int], where: str) -> list[float]:
    """Returns the leaf of a tree of one output, as a vector over all."""
    if len(leaf) != 1:
        raise InputError(f"{where} has leaves of {len(leaf)} values for one output; export one tree an output")
    return [leaf[0] if k == output else 0.0 for k in range(len(shares))]


def _vector(values: list[float], shares: list[int], where: str) -> Value:
    if len(values) != len(shares):
        raise InputError(f"{where} has leaves of {len(values)} values for {len(shares)} outputs; export one a class")
    return Value(tuple(Fraction(v) / share for v, share in zip(values, shares, strict=True)))
