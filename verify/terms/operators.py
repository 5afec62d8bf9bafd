"""Terms of the decision program's operators, after decision.ir.program. Each has a sign, and the bits of its range."""

from collections.abc import Sequence

from bitwuzla import Kind, Term

from decision.ir.forest import Branch, Leaf, leaves
from decision.ir.program import Op, Program
from verify.terms.bits import BitTerms

INPUTS = {Op.EVENT: "event", Op.PARAM: "params", Op.STATE: "context"}


class UnknownOperator(Exception):
    """A node whose operator has no term here."""


class OperatorTerms:
    """Terms over the values of nodes, which a subclass gives."""

    def __init__(self, bits: BitTerms, program: Program) -> None:
        self.bits, self.program = bits, program

    def value(self, n: int) -> Term:
        """Returns the value of a node, ``signed_width`` of its range wide or wider, with a sign."""
        raise NotImplementedError

    def operator(self, n: int) -> Term:
        """Returns the term of a node's operator over its operands' values, as wide as the node's range."""
        node = self.program.nodes[n]
        width = signed_width(node.low, node.high)
        return self.bits.resized(self._operator(n, width), width, True)

    def _operator(self, n: int, width: int) -> Term:
        bits, node = self.bits, self.program.nodes[n]
        if node.op is Op.CONST:
            return bits.number(node.imm, width)
        if node.op is Op.TREES:
            return self.trees(n, None)
        if node.op in (Op.MUL, Op.MUL_SHR):
            return self.multiplied(n)
        a = [self.value(argument) for argument in node.args]
        wide = max([width, *(t.sort().bv_size() for t in a)]) + 1

        def full(place: int, width: int = wide) -> Term:
            return bits.resized(a[place], width, True)

        match node.op:
            case Op.ADD:
                return bits.term(Kind.BV_ADD, [full(0), full(1)])
            case Op.SUB:
                return bits.term(Kind.BV_SUB, [full(0), full(1)])
            case Op.WRAP_SUB:
                low = bits.term(Kind.BV_EXTRACT, [bits.term(Kind.BV_SUB, [full(0, 40), full(1, 40)])], [31, 0])
                return bits.resized(low, 33, False)
            case Op.SHL:
                return bits.term(Kind.BV_SHL, [full(0), bits.number(node.imm, wide)])
            case Op.SHR:
                return bits.term(Kind.BV_SHR, [full(0), bits.number(node.imm, wide)])
            case Op.MASK:
                return bits.term(Kind.BV_AND, [full(0), bits.number((1 << node.imm) - 1, wide)])
            case Op.MIN | Op.MAX:
                greater = bits.term(Kind.BV_SGT, [full(0), full(1)])
                first, second = (full(0), full(1)) if node.op is Op.MAX else (full(1), full(0))
                return bits.choice(greater, first, second)
            case Op.GT | Op.EQ:
                kind = Kind.BV_SGT if node.op is Op.GT else Kind.EQUAL
                return bits.flag(bits.term(kind, [full(0), full(1)]), 2)
            case Op.SELECT:
                return bits.choice(bits.true(a[0]), full(1), full(2))
            case Op.TABLE:
                table = self.program.tables[node.imm]
                chosen = bits.number(table[-1], wide)
                for place in reversed(range(len(table) - 1)):
                    here = bits.term(Kind.EQUAL, [full(0), bits.number(place, wide)])
                    chosen = bits.choice(here, bits.number(table[place], wide), chosen)
                return chosen
        raise UnknownOperator(f"node {n} is a {node.op.name.lower()}, which no proof here knows")

    def multiplied(self, n: int) -> Term:
        """Returns a product, shifted for MUL_SHR."""
        bits, node = self.bits, self.program.nodes[n]
        wide = self.product_width(n)
        product = self.multiple(n, wide)
        if product is None:
            product = bits.term(Kind.BV_MUL, [bits.resized(self.value(a), wide, True) for a in node.args])
        return bits.term(Kind.BV_SHR, [product, bits.number(node.imm, wide)]) if node.op is Op.MUL_SHR else product

    def product_width(self, n: int) -> int:
        """Returns how many bits hold a node's product and its sign."""
        left, right = self.program.nodes[n].args
        return max(abs(x * y) for x in self._ends(left) for y in self._ends(right)).bit_length() + 2

    def multiple(self, n: int, wide: int) -> Term | None:
        """Returns a product with a constant as a sum of shifts; None where no factor is one."""
        args = self.program.nodes[n].args
        for factor, other in (args, args[::-1]):
            constant = self.program.nodes[factor]
            if constant.op is Op.CONST:
                return self.times(self.bits.resized(self.value(other), wide, True), constant.imm)
        return None

    def times(self, term: Term, factor: int) -> Term:
        """Returns a multiple as a sum of shifts.

        They are those of the powers of two with a sign, no two next to each other, that the factor is. Solvers are slow
        to find that one sum of shifts is another."""
        bits, wide, place = self.bits, term.sort().bv_size(), 0
        total = bits.number(0, wide)
        powers = []
        while factor:
            if factor & 1:
                sign = 2 - (factor & 3)
                powers.append((-sign, place))
                factor -= sign
            factor, place = factor >> 1, place + 1
        for sign, shift in sorted(powers):
            moved = bits.term(Kind.BV_SHL, [term, bits.number(shift, wide)])
            total = bits.term(Kind.BV_ADD if sign < 0 else Kind.BV_SUB, [total, moved])
        return total

    def _ends(self, n: int) -> tuple[int, int]:
        return self.program.nodes[n].low, self.program.nodes[n].high

    def trees(self, n: int, numbers: frozenset[int] | None) -> Term:
        """Returns the sum of the leaves of some trees. Without ``numbers`` it is the sum of all trees and the bias."""
        bits, node, forest = self.bits, self.program.nodes[n], self.program.forest
        left = set(range(len(forest.trees)) if numbers is None else numbers)
        wide = 2 + sum(max(abs(v.value[node.imm]) for v in leaves(tree)) for tree in forest.trees).bit_length()
        wide = max(wide, abs(forest.bias[node.imm]).bit_length() + 2, signed_width(node.low, node.high)) + 1
        total = bits.number(forest.bias[node.imm] if numbers is None else 0, wide)
        for trees, value in self.partial_sums(n):
            if trees <= left:
                total = bits.term(Kind.BV_ADD, [total, bits.resized(value, wide, True)])
                left -= trees
        for number in sorted(left):
            total = bits.term(Kind.BV_ADD, [total, self._leaf(forest.trees[number], node.args, node.imm, wide)])
        return total

    def partial_sums(self, n: int) -> Sequence[tuple[frozenset[int], Term]]:
        """Returns known sums of some trees of a node, which stand for these trees, the largest first."""
        return ()

    def _leaf(self, tree: Branch | Leaf, operands: Sequence[int], output: int, wide: int) -> Term:
        if isinstance(tree, Leaf):
            return self.bits.number(tree.value[output], wide)
        feature = self.value(operands[tree.feature])
        size = max(feature.sort().bv_size(), signed_width(tree.threshold, tree.threshold)) + 1
        compared = [self.bits.resized(feature, size, True), self.bits.number(tree.threshold, size)]
        above, below = (self._leaf(side, operands, output, wide) for side in (tree.above, tree.below))
        return self.bits.choice(self.bits.term(Kind.BV_SGT, compared), above, below)


def signed_width(low: int, high: int) -> int:
    """Returns how many bits hold a range with a sign."""
    return 1 + max(high.bit_length(), (-low - 1).bit_length() if low < 0 else 0)
