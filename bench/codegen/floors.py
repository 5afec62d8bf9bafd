"""Plain integer C of the trees, as anybody would write it: what a compiler of trees has to beat."""

from bench.codegen.contender import Source
from bench.codegen.outside import AnySubject, Outside
from bench.codegen.retold import Leaf, Question, binary
from bench.codegen.subjects import FloatTree, Subject
from decision import model as model_tree
from decision.ensemble import Tree


def if_else(subject: AnySubject, _: str) -> Source:
    """One comparison a node (all 15 of a symmetric tree of depth 4), one function. Where a leaf has several values, it
    adds each of them to its sum: nobody would ask a tree's questions once an output."""
    if isinstance(subject, Outside):
        return _outside(subject)
    trees = "".join(_every_question(tree, 0, 0, "  ") for tree in subject.ensemble.trees)
    return _function(subject, trees)


def pruned_if_else(subject: Subject, _: str) -> Source:
    """The same without the questions that an earlier answer on the path has decided."""
    trees = "".join(_open_questions(binary(_as_floats(tree)), "  ") for tree in subject.ensemble.trees)
    return _function(subject, trees)


def oblivious_tables(subject: Subject, _: str) -> Source:
    """One comparison a level; the answers are the bits of an index into the tree's table of leaves."""
    trees = subject.ensemble.trees
    tables = "".join(
        f"static const int32_t leaves_{n}[{len(t.leaves)}] = {{{', '.join(map(_literal, t.leaves))}}};\n"
        for n, t in enumerate(trees)
    )
    bits = [
        " | ".join(f"(uint32_t)(x[{s.feature}] > {_literal(s.threshold)}) << {i}" for i, s in enumerate(t.splits))
        for t in trees
    ]
    sums = "".join(f"  sum += leaves_{n}[{index or 0}];\n" for n, index in enumerate(bits))
    return _function(subject, sums, tables)


def _function(subject: Subject, body: str, before: str = "") -> Source:
    text = (
        f"#include <stdint.h>\n{before}int32_t bench_model(const int32_t *x);\n"
        f"int32_t bench_model(const int32_t *x) {{\n  int32_t sum = {_literal(subject.ensemble.bias)};\n"
        f"{body}  return sum;\n}}\n"
    )
    return Source(text, "int32", "int32")


def _outside(subject: Outside) -> Source:
    model = subject.integers
    body = "".join(_nodes(tree, "  ") for tree in model.trees)
    sums = "".join(f"  int32_t sum_{k} = {_literal(bias)};\n" for k, bias in enumerate(model.bias))
    if model.outputs > 1:
        head = "void bench_model(const int32_t *x, int32_t *out)"
        end = "".join(f"  out[{k}] = sum_{k};\n" for k in range(model.outputs))
    else:
        head, end = "int32_t bench_model(const int32_t *x)", "  return sum_0;\n"
    text = f"#include <stdint.h>\n{head};\n{head} {{\n{sums}{body}{end}}}\n"
    return Source(text, "int32", "int32", outputs=model.outputs)


def _nodes(node: model_tree.Leaf | model_tree.Branch, indent: str) -> str:
    if isinstance(node, model_tree.Leaf):
        return "".join(f"{indent}sum_{k} += {_literal(v)};\n" for k, v in enumerate(node.value) if v)
    above, below = _nodes(node.above, indent + "  "), _nodes(node.below, indent + "  ")
    return _branch(node.feature, node.threshold, above, below, indent)


def _every_question(tree: Tree, level: int, index: int, indent: str) -> str:
    if level == tree.depth:
        return f"{indent}sum += {_literal(tree.leaves[index])};\n"
    split = tree.splits[level]
    above = _every_question(tree, level + 1, index | 1 << level, indent + "  ")
    below = _every_question(tree, level + 1, index, indent + "  ")
    return _branch(split.feature, split.threshold, above, below, indent)


def _open_questions(node: Leaf | Question, indent: str) -> str:
    if isinstance(node, Leaf):
        return f"{indent}sum += {_literal(int(node.value))};\n"
    above = _open_questions(node.above, indent + "  ")
    below = _open_questions(node.below, indent + "  ")
    return _branch(node.feature, int(node.border), above, below, indent)


def _branch(feature: int, threshold: int, above: str, below: str, indent: str) -> str:
    return f"{indent}if (x[{feature}] > {_literal(threshold)}) {{\n{above}{indent}}} else {{\n{below}{indent}}}\n"


def _as_floats(tree: Tree) -> FloatTree:
    """Integers of 32 bits are exact in double."""
    return FloatTree(tuple((s.feature, float(s.threshold)) for s in tree.splits), tuple(map(float, tree.leaves)))


def _literal(value: int) -> str:
    """-2^31 has no literal of its own in C."""
    return str(value) if value > -(2**31) else "(-2147483647 - 1)"
