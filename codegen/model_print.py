"""A model's trees as C: one static function a tree, nested if-else, and the statements that add them up.

    static int32_t tree_00(const int32_t rtt_q10)         a tree that works for one output
    static void tree_01(const int32_t rtt_q10, int32_t *sum)      and one that works for several

Every form of the trees goes through ``print_trees``: what calls it needs ``sum`` and nothing else.
"""

import re
from dataclasses import dataclass

from codegen.ctypes99 import I32, literal
from spec.model import Branch, GridFeature, Leaf, Model, branches, leaves


@dataclass(frozen=True)
class TreeFunction:
    """A static C function; ``output`` is the only output that it adds to, None where there are several."""

    name: str
    parameters: tuple[str, ...]
    body: tuple[str, ...]
    output: int | None


@dataclass(frozen=True)
class PrintedTrees:
    """``statements`` leave the outputs in ``sum`` (one output: an int32_t, else an array) and read ``x``."""

    functions: tuple[TreeFunction, ...]
    statements: tuple[str, ...]


def print_trees(model: Model) -> PrintedTrees:
    """The trees as if-else, in their order."""
    names = field_names(model.features)
    several = model.outputs > 1
    functions: list[TreeFunction] = []
    statements = [f"{_sum(k, several)} = {literal(bias, I32)};" for k, bias in enumerate(model.bias)]
    statements[0] = statements[0] if several else f"int32_t {statements[0]}"
    if several:
        statements.insert(0, f"int32_t sum[{model.outputs}];")
    for number, tree in enumerate(model.trees):
        function = _function(number, tree, model, names)
        functions.append(function)
        arguments = [f"x->{name}" for name in function.parameters]
        if function.output is None:
            statements.append(f"{function.name}({', '.join([*arguments, 'sum'])});")
        else:
            call = f"{function.name}({', '.join(arguments)})"
            statements.append(f"{_sum(function.output, several)} += {call};")
    return PrintedTrees(tuple(functions), tuple(statements))


def field_names(features: tuple[GridFeature, ...]) -> list[str]:
    """C identifiers with their format: ``rtt_q10``; ``bytes_qm6`` for steps of 2^6. Twins get a number."""
    names: list[str] = []
    for feature in features:
        bare = re.sub(r"\W", "_", feature.name, flags=re.ASCII).strip("_") or "x"
        bare = f"x{bare}" if bare[0].isdigit() else bare
        bits = feature.fraction_bits
        q = f"q{bits}" if bits >= 0 else f"qm{-bits}"
        twin, name = 1, f"{bare}_{q}"
        while name in names:
            twin += 1
            name = f"{bare}_{twin}_{q}"
        names.append(name)
    return names


def comment_text(text: str) -> str:
    """Text that can stand in a C comment: nothing that ends one, continues a line or is a trigraph."""
    return re.sub(r"[^A-Za-z0-9 _.,:()%+=-]", "_", text)[:80]


def shown_name(feature: GridFeature) -> str:
    """The feature's own name in a comment; one that is a mere number, as CatBoost's without names, is x0, x1, ..."""
    return comment_text(f"x{feature.name}" if feature.name.isdigit() else feature.name)


def _function(number: int, tree: Leaf | Branch, model: Model, names: list[str]) -> TreeFunction:
    output = _only_output(tree)
    body = [*_node(tree, model.features, names, output, 1)]
    if output is not None:
        body = ["    int32_t leaf;", "", *body, "", "    return leaf;"]
    used = sorted({branch.feature for branch in branches(tree)})
    return TreeFunction(f"tree_{number:02d}", tuple(names[f] for f in used), tuple(body), output)


def _only_output(tree: Leaf | Branch) -> int | None:
    touched = {k for leaf in leaves(tree) for k, value in enumerate(leaf.value) if value != 0}
    return min(touched, default=0) if len(touched) < 2 else None


def _node(
    node: Leaf | Branch, features: tuple[GridFeature, ...], names: list[str], output: int | None, level: int
) -> list[str]:
    pad = "    " * level
    if isinstance(node, Leaf):
        if output is not None:
            return [f"{pad}leaf = {literal(node.value[output], I32)};"]
        return [f"{pad}sum[{k}] += {literal(v, I32)};" for k, v in enumerate(node.value) if v != 0]
    feature = features[node.feature]
    physical = f"{shown_name(feature)} > {physical_value(node.threshold, feature)}"
    return [
        f"{pad}if ({names[node.feature]} > {literal(node.threshold, I32)}) {{ /* {physical} */",
        *_node(node.above, features, names, output, level + 1),
        f"{pad}}} else {{",
        *_node(node.below, features, names, output, level + 1),
        f"{pad}}}",
    ]


def physical_value(k: int, feature: GridFeature) -> str:
    """What the integer stands for, in the feature's own unit."""
    return f"{k / 2.0**feature.fraction_bits:.9g}"


def _sum(output: int, several: bool) -> str:
    return f"sum[{output}]" if several else "sum"
