"""Plain integer C of the trees, as anybody would write it: what a compiler of trees has to beat."""

from bench.codegen.contender import ExportSource
from bench.codegen.foreign_models import AnySubject, OutsideExporter
from bench.codegen.subjects import ExportSubject, FloatTree
from bench.codegen.translated_trees import TreeLeaf, TreeQuestion, binary
from decision.ir import forest
from decision.ir.forest import Node, unrolled


def if_else(subject: AnySubject, _: str) -> ExportSource:
    """One comparison a node (all 15 of a symmetric tree of depth 4), one function. If a leaf has several values, it
    adds each of them to its sum: nobody would evaluate a tree once per output."""
    if isinstance(subject, OutsideExporter):
        return _outside(subject)
    trees = "".join(_every_question(tree, "  ") for tree in subject.forest.trees)
    return _function(subject, trees)


def pruned_if_else(subject: ExportSubject, _: str) -> ExportSource:
    """The same without the questions that an earlier answer on the path has decided."""
    trees = "".join(_open_questions(binary(_as_floats(tree)), "  ") for tree in subject.forest.trees)
    return _function(subject, trees)


def oblivious_tables(subject: ExportSubject, _: str) -> ExportSource:
    """One comparison a level; the answers are the bits of an index into the tree's table of leaves."""
    trees = [unrolled_tree(tree) for tree in subject.forest.trees]
    tables = "".join(
        f"static const int32_t leaves_{n}[{len(leaves)}] = {{{', '.join(map(_literal, leaves))}}};\n"
        for n, (_, leaves) in enumerate(trees)
    )
    bits = [
        " | ".join(f"(uint32_t)(x[{f}] > {_literal(t)}) << {i}" for i, (f, t) in enumerate(questions))
        for questions, _ in trees
    ]
    sums = "".join(f"  sum += leaves_{n}[{index or 0}];\n" for n, index in enumerate(bits))
    return _function(subject, sums, tables)


def _function(subject: ExportSubject, body: str, before: str = "") -> ExportSource:
    text = (
        f"#include <stdint.h>\n{before}int32_t bench_model(const int32_t *x);\n"
        f"int32_t bench_model(const int32_t *x) {{\n  int32_t sum = {_literal(subject.forest.bias[0])};\n"
        f"{body}  return sum;\n}}\n"
    )
    return ExportSource(text, "int32", "int32")


def _outside(subject: OutsideExporter) -> ExportSource:
    model = subject.integers
    body = "".join(_nodes(tree, "  ") for tree in model.trees)
    sums = "".join(f"  int32_t sum_{k} = {_literal(bias)};\n" for k, bias in enumerate(model.bias))
    if model.outputs > 1:
        head = "void bench_model(const int32_t *x, int32_t *out)"
        end = "".join(f"  out[{k}] = sum_{k};\n" for k in range(model.outputs))
    else:
        head, end = "int32_t bench_model(const int32_t *x)", "  return sum_0;\n"
    text = f"#include <stdint.h>\n{head};\n{head} {{\n{sums}{body}{end}}}\n"
    return ExportSource(text, "int32", "int32", outputs=model.outputs)


def _nodes(node: Node, indent: str) -> str:
    if isinstance(node, forest.Leaf):
        return "".join(f"{indent}sum_{k} += {_literal(v)};\n" for k, v in enumerate(node.value) if v)
    above, below = _nodes(node.above, indent + "  "), _nodes(node.below, indent + "  ")
    return _branch(node.feature, node.threshold, above, below, indent)


def unrolled_tree(tree: Node) -> tuple[tuple[tuple[int, int], ...], list[int]]:
    """Questions and leaves of a symmetric tree."""
    shape = unrolled(tree)
    assert shape is not None
    return shape[0], [leaf.value[0] for leaf in shape[1]]


def _every_question(tree: Node, indent: str) -> str:
    if isinstance(tree, forest.Leaf):
        return f"{indent}sum += {_literal(tree.value[0])};\n"
    above, below = _every_question(tree.above, indent + "  "), _every_question(tree.below, indent + "  ")
    return _branch(tree.feature, tree.threshold, above, below, indent)


def _open_questions(node: TreeLeaf | TreeQuestion, indent: str) -> str:
    if isinstance(node, TreeLeaf):
        return f"{indent}sum += {_literal(int(node.value))};\n"
    above = _open_questions(node.above, indent + "  ")
    below = _open_questions(node.below, indent + "  ")
    return _branch(node.feature, int(node.border), above, below, indent)


def _branch(feature: int, threshold: int, above: str, below: str, indent: str) -> str:
    return f"{indent}if (x[{feature}] > {_literal(threshold)}) {{\n{above}{indent}}} else {{\n{below}{indent}}}\n"


def _as_floats(tree: Node) -> FloatTree:
    """Integers of 32 bits are exact in double."""
    questions, leaves = unrolled_tree(tree)
    return FloatTree(tuple((f, float(t)) for f, t in questions), tuple(map(float, leaves)))


def _literal(value: int) -> str:
    """-2^31 has no literal of its own in C."""
    return str(value) if value > -(2**31) else "(-2147483647 - 1)"
