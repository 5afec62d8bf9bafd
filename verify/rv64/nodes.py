"""The decision program's nodes as unknowns of the solver, each with its range and its definition, and on samples.

A shifted product (MUL_SHR) gets a further node, the product itself: compilers compare that with shifted thresholds.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from bitwuzla import Kind, Term

from decision.ir.arrays import Integers
from decision.ir.interpret import trace
from decision.ir.program import Node, Op, Program
from verify.rv64.words import XLEN, Numbers
from verify.terms.bits import BitTerms
from verify.terms.operators import INPUTS, OperatorTerms, signed_width


class NodeUnknowns(OperatorTerms):
    """Terms of the nodes. ``products``: the further nodes by the shifted products that they belong to."""

    def __init__(self, bits: BitTerms, program: Program) -> None:
        nodes, products = list(program.nodes), dict[int, int]()
        for n, node in enumerate(program.nodes):
            if node.op is Op.MUL_SHR:
                ends = [x * y for x in _range(program, node.args[0]) for y in _range(program, node.args[1])]
                products[n] = len(nodes)
                nodes.append(Node(Op.MUL, node.args, 0, min(ends), max(ends)))
        super().__init__(bits, replace(program, nodes=tuple(nodes)))
        self.products = products
        self._places = {product: n - 0.5 for n, product in products.items()}
        self._values: dict[int, Term] = {}
        self._definitions: dict[int, Term] = {}

    def value(self, n: int) -> Term:
        """Returns a node's value, with its sign: an unknown, or a constant."""
        if n not in self._values:
            node = self.program.nodes[n]
            width = signed_width(node.low, node.high)
            constant = node.op is Op.CONST
            self._values[n] = self.bits.number(node.imm, width) if constant else self.bits.unknown(f"n{n}", width)
        return self._values[n]

    def word(self, n: int) -> Term:
        """Returns a node's value as 64 bits of two's complement."""
        return self.bits.resized(self.value(n), XLEN, True)

    def within(self, n: int) -> list[Term]:
        """Returns the range of a node's value."""
        node, value = self.program.nodes[n], self.value(n)
        low, high = (self.bits.number(end, value.sort().bv_size()) for end in (node.low, node.high))
        return [self.bits.term(Kind.BV_SLE, [low, value]), self.bits.term(Kind.BV_SLE, [value, high])]

    def operands(self, n: int) -> tuple[int, ...]:
        """Returns the nodes that a node's definition contains."""
        return (self.products[n],) if n in self.products else self.program.nodes[n].args

    def defined(self, n: int) -> bool:
        """Returns whether a node is computed from others."""
        return self.program.nodes[n].op not in {*INPUTS, Op.CONST}

    def definition(self, n: int) -> Term:
        """Returns that a node's value is what its operator gives."""
        if n not in self._definitions:
            self._definitions[n] = self.bits.term(Kind.EQUAL, [self.value(n), self.operator(n)])
        return self._definitions[n]

    def above_trees(self, due: Iterable[int], about: Collection[int]) -> bool:
        """Returns whether trees lie between some nodes and those that they are to be shown from."""
        rest, found = [n for n in due if n not in about], set[int]()
        while rest:
            n = rest.pop()
            if self.program.nodes[n].op is Op.TREES:
                return True
            new = [a for a in self.operands(n) if a not in about and a not in found]
            found.update(new)
            rest += new
        return False

    def depth(self, n: int) -> float:
        """Returns a node's place in the program's order; a product's is right before that of the shifted one."""
        return self._places.get(n, n)

    def multiplied(self, n: int) -> Term:
        """Returns a product of 64-bit words, as machine code makes it; a shifted one from its further node."""
        node = self.program.nodes[n]
        if n in self.products:
            product = self.value(self.products[n])
            return self.bits.term(Kind.BV_SHR, [product, self.bits.number(node.imm, product.sort().bv_size())])
        if node.low < -(1 << XLEN - 1) or node.high >= 1 << (XLEN - 1 if node.low < 0 else XLEN):
            return super().multiplied(n)
        product = self.bits.term(Kind.BV_MUL, [self.word(a) for a in node.args])
        return self.bits.resized(product, XLEN + 1, node.low < 0)


def sampled(nodes: NodeUnknowns, columns: Sequence[Mapping[str, Integers]]) -> Numbers:
    """Returns the value of each node on each sampled input as a 64-bit word [nodes, inputs]; ``columns`` as
    decision.ir.interpret takes them."""
    own = len(nodes.program.nodes) - len(nodes.products)
    event, params, state = columns
    values = trace(replace(nodes.program, nodes=nodes.program.nodes[:own]), event, params, state)
    words = [value.view(np.uint64) for value in np.broadcast_arrays(*[np.ascontiguousarray(v) for v in values])]
    for node in nodes.program.nodes[own:]:
        words.append(words[node.args[0]] * words[node.args[1]])
    return np.stack([np.ascontiguousarray(word) for word in words])


def _range(program: Program, n: int) -> tuple[int, int]:
    return program.nodes[n].low, program.nodes[n].high
