"""The decision program as terms: what each node means, in words where its range fits a word, else in 64 bits.

After ``decision.ir.program`` (the operators' meanings) and ``decision.ir.forest`` (the trees'). A node that a cut holds
is a variable of its own, as large as its range.
"""

from collections.abc import Callable, Hashable, Mapping
from math import inf

from decision.ir.forest import Branch, Leaf, leaves
from decision.ir.multiples import Multiples
from decision.ir.program import Node, Op, Program
from verify.check.refused import Refused
from verify.check.terms import BOOL, FALSE, NARROW, TRUE, Term, concat, const, extend, extract, ite, make, negate, var

Choose = Callable[[Term], Term]
"""A condition as the lane knows it: TRUE, FALSE or itself."""
Multiply = Callable[[Term, Term], Term]
"""All 64 bits of the product of two words."""
Remember = Callable[[Hashable, tuple[int, ...], Callable[[], Term]], Term]
"""A term by its name and the nodes that it depends on, as it was made before or as it is made now."""


def input_name(program: Program, node: Node) -> str | None:
    """The variable that an input node is."""
    match node.op:
        case Op.EVENT:
            return f"event.{program.interface.event[node.imm].name}"
        case Op.PARAM:
            return f"params.{program.interface.params[node.imm].name}"
        case Op.STATE:
            return f"context.{program.state[node.imm].name}"
    return None


def input_word(name: str, low: int, high: int) -> Term:
    """An input as the word that a load of its size and sign gives."""
    word = var(name)
    bits = (high - low).bit_length()
    if bits < 32:
        NARROW[word] = (bits, low < 0)
    else:  # another program in this process may have had a narrow one of this name
        NARROW.pop(word, None)
    return word


def fits(low: int, high: int) -> bool:
    """Whether a word holds the range, by its sign or without one."""
    return (low >= 0 and high < 1 << 32) or (low >= -(1 << 31) and high < 1 << 31)


class Meaning:
    """Terms of the nodes. ``free`` names are variables, nodes without the low bits that are surely 0; ``fixed`` nodes
    are these words; ``choose`` and ``multiply`` use what the lane knows. ``counted``: nodes that count multiples
    (``decision.ir.multiples``).

    A name is node.n, tree.k (what the leaf of tree k adds) or sum.k (what the leaves of trees 0..k add together,
    without the bias), over the operands of the first node of trees. The second output of n trees counts k on from n,
    and so forth: this number is a place.
    """

    def __init__(
        self,
        program: Program,
        free: frozenset[str],
        choose: Choose,
        multiply: Multiply,
        fixed: Mapping[int, Term] | None = None,
        remember: Remember = lambda _name, _nodes, make: make(),
        counted: Mapping[int, Multiples] | None = None,
    ) -> None:
        self.program, self.free, self.choose, self.multiply = program, free, choose, multiply
        self.fixed, self.remember, self.counted = fixed or {}, remember, counted or {}
        self._known: dict[int, Term] = {}
        self._open: dict[tuple[str, int, int], Term] = {}
        self._between: dict[int, tuple[float, float]] = {}
        """By node the greatest threshold that it is surely above, and the least that it is surely not above."""
        self._named = next((node.args for node in program.nodes if node.op is Op.TREES), None)

    def word(self, n: int) -> Term:
        """The low 32 bits of a node."""
        return extract(self.value(n), 31, 0)

    def wide(self, n: int) -> Term:
        """A node in 64 bits."""
        return extend(self.value(n), 64, self.program.nodes[n].low < 0)

    def value(self, n: int) -> Term:
        """A node in 32 bits if its range fits them, else in 64."""
        if n not in self._known:
            node = self.program.nodes[n]
            narrow = fits(node.low, node.high)
            if narrow and n in self.fixed:
                term = self.fixed[n]
            elif f"node.{n}" in self.free and node.op is not Op.CONST and input_name(self.program, node) is None:
                term = self.remember(n, (), lambda: self._any(n, 32 if narrow else 64))
            else:
                term = self.remember(n, (n,), lambda: self._value(node, narrow))
                term = extract(term, 31, 0) if narrow else term
            self._known[n] = term
        return self._known[n]

    def _any(self, n: int, width: int) -> Term:
        return make("bvand", var(f"node.{n}", width), const(-1 << zeros(self.program, n), width))

    def tree(self, k: int) -> Term:
        """Returns the term that the leaf of tree k adds."""
        if f"tree.{k}" in self.free:
            return var(f"tree.{k}")
        if self._named is None:
            raise Refused(f"a value is said to be that of tree {k}, and the program has no trees")
        return self._leaf(k, self._named)

    def sum(self, last: int) -> Term:
        """The leaves of trees 0..last together, without the bias, in 32 bits if their range fits them, else in 64."""
        name = f"sum.{last}"
        return self._sum(last, 32 if fits(*free_range(self.program, name)) else 64, self._named)

    def _sum(self, last: int, width: int, operands: tuple[int, ...] | None) -> Term:
        """The leaves of an output's trees up to a place over some operands in 32 bits (modulo 2^32) or, exactly, in 64.

        From the last sum that is free; names of leaves and sums are those of the first node of trees."""
        named = operands == self._named
        start = first_place(self.program, last)
        first = max((k for k in range(start, last + 1) if named and f"sum.{k}" in self.free), default=start - 1)
        total = const(0, width)
        if first >= start:
            low, high = free_range(self.program, f"sum.{first}")
            total = _resized(var(f"sum.{first}", 32 if fits(low, high) else 64), width, low < 0)
        for k in range(first + 1, last + 1):
            leaf = self.tree(k) if named else self._leaf(k, operands or ())
            total = make("bvadd", total, _resized(leaf, width, sign=True))
        return total

    def _leaf(self, k: int, operands: tuple[int, ...]) -> Term:
        """The leaf of tree k over some operands, a word with sign: every leaf fits one."""
        output, number = divmod(k, len(self.program.forest.trees))
        tree = self.program.forest.trees[number]

        def word(node: Leaf | Branch) -> Term:
            if isinstance(node, Leaf):
                return const(node.value[output])
            above = self._answer(operands[node.feature], node.threshold)
            if above.op == "const":  # what is below the other side need not be asked about
                return word(node.above if above.value else node.below)
            return ite(above, word(node.above), word(node.below))

        asked = tuple(operands[feature] for feature in self.program.forest.asked[number])
        return self.remember(("leaf", k, asked), asked, lambda: word(tree))

    def _answer(self, node: int, threshold: int) -> Term:
        """Whether a node is above a threshold, as the lane knows it: above one is above all that are lower."""
        above, below = self._between.get(node, (-inf, inf))
        if threshold <= above or threshold >= below:
            return TRUE if threshold <= above else FALSE
        name = "above", node, threshold
        answer = self._open.get(name) or self.remember(name, (node,), lambda: self.choose(self._above(node, threshold)))
        if answer.op != "const":
            return self._open.setdefault(name, answer)
        self._between[node] = (threshold, below) if answer is TRUE else (above, threshold)
        return answer

    def _value(self, node: Node, narrow: bool) -> Term:
        args, imm = node.args, node.imm
        operand = self.word if narrow else self.wide
        match node.op:
            case Op.CONST:
                return const(imm, 64)
            case Op.EVENT | Op.PARAM | Op.STATE:
                name = input_name(self.program, node)
                assert name is not None
                return input_word(name, node.low, node.high)
            case Op.ADD | Op.SUB:
                return make("bvadd" if node.op is Op.ADD else "bvsub", operand(args[0]), operand(args[1]))
            case Op.WRAP_SUB:
                return make("bvsub", self.word(args[0]), self.word(args[1]))
            case Op.MUL:
                return self.multiply(self.word(args[0]), self.word(args[1])) if narrow else self._product(*args)
            case Op.MUL_SHR:
                return make("bvlshr", self._product(*args), const(imm, 64))
            case Op.SHL:
                return make("bvshl", operand(args[0]), const(imm, 32 if narrow else 64))
            case Op.SHR:
                inner = self.value(args[0])
                return make("bvlshr", inner, const(imm, inner.width))
            case Op.MASK:
                inner = self.value(args[0])
                return make("bvand", inner, const((1 << imm) - 1, inner.width))
            case Op.MIN | Op.MAX:
                a, b = args
                greater = self._greater(a, self.wide(b), b), self._greater(b, self.wide(a), a)
                first, second = greater if node.op is Op.MAX else greater[::-1]
                # where both are equal, either question may be the decided one
                if second.op == "const" or self.choose(first).op != "const":
                    return ite(self.choose(second), operand(b), operand(a))
                return ite(self.choose(first), operand(a), operand(b))
            case Op.GT:
                return ite(self.choose(self._greater(args[0], self.wide(args[1]), args[1])), const(1), const(0))
            case Op.EQ:
                return ite(self.choose(self._equal(*args)), const(1), const(0))
            case Op.SELECT:
                condition = self.choose(make("=", self.word(args[0]), const(1)))
                if condition.op == "const":  # what the other side is made of need not be asked about
                    return operand(args[1] if condition.value else args[2])
                return ite(condition, operand(args[1]), operand(args[2]))
            case Op.TABLE:
                table = self.program.tables[imm]
                chosen = const(table[-1], 32 if narrow else 64)
                for k in reversed(range(len(table) - 1)):
                    entry = const(table[k], chosen.width)
                    chosen = ite(self.choose(make("=", self.word(args[0]), const(k))), entry, chosen)
                return chosen
            case Op.TREES:
                forest, width = self.program.forest, 32 if narrow else 64
                bias = const(forest.bias[imm], width)
                last = (imm + 1) * len(forest.trees) - 1
                return make("bvadd", self._sum(last, width, args), bias) if forest.trees else bias
        raise Refused(f"the program has a node {node.op.name.lower()}, whose meaning this checker does not know")

    def _above(self, node: int, threshold: int) -> Term:
        """Whether a node is above a threshold; of one that counts the multiples which a value is above, whether the
        value is above that multiple: they ascend, and none leaves 32 bits."""
        counts = self.counted.get(node)
        if counts is None or not 0 <= threshold < len(counts.factors) or f"node.{node}" in self.free:
            return self._greater(node, const(threshold, 64))
        multiple = self.multiply(self.word(counts.over), const(counts.factors[threshold]))
        return make("bvult", extract(multiple, 31, 0), self.word(counts.x))

    def _range(self, n: int) -> tuple[int, int]:
        return self.program.nodes[n].low, self.program.nodes[n].high

    def _greater(self, a: int, bound: Term, b: int | None = None) -> Term:
        """a > bound (64 bits, or node b)."""
        low, high = self._range(a)
        if b is None:
            value = bound.value - (1 << 64) if bound.value >> 63 else bound.value
            below, above = value, value
        else:
            below, above = self._range(b)
        if high <= below:
            return const(0, BOOL)
        if low > above:
            return const(1, BOOL)
        if low >= 0 and below >= 0 and max(high, above) < 1 << 32:
            return make("bvult", extract(bound, 31, 0), self.word(a))
        if min(low, below) >= -(1 << 31) and max(high, above) < 1 << 31:
            return make("bvslt", extract(bound, 31, 0), self.word(a))
        return make("bvslt", bound, self.wide(a))

    def _equal(self, a: int, b: int) -> Term:
        low, high = (f(x, y) for f, x, y in zip((min, max), self._range(a), self._range(b), strict=True))
        if fits(low, high):
            return make("=", self.word(a), self.word(b))
        return make("=", self.wide(a), self.wide(b))

    def _product(self, a: int, b: int) -> Term:
        """All 64 bits of a product."""
        low, high = min(self._range(a)[0], self._range(b)[0]), max(self._range(a)[1], self._range(b)[1])
        if not fits(low, high):
            return make("bvmul", self.wide(a), self.wide(b))
        x, y = self.word(a), self.word(b)
        plain = self.multiply(x, y)
        return plain if low >= 0 else make("bvsub", plain, concat(signs(x, y), const(0)))


def _resized(a: Term, width: int, sign: bool) -> Term:
    """The low word of a value, or the value in 64 bits."""
    return extract(a, 31, 0) if width == 32 else extend(a, 64, sign)


def signs(x: Term, y: Term) -> Term:
    """(x < 0 ? y : 0) + (y < 0 ? x : 0): what the high word has too much when factors with signs are taken without."""
    zero = const(0)
    return make("bvadd", negative(x, y, zero), negative(y, x, zero))


def negative(x: Term, then: Term, otherwise: Term) -> Term:
    return ite(negate(make("bvslt", const(-1), x)), then, otherwise)


def free_range(program: Program, name: str) -> tuple[int, int]:
    """The range of a name that may be free."""
    kind, number = name.split(".")
    if kind == "node":
        return program.nodes[int(number)].low, program.nodes[int(number)].high
    last = int(number)
    first = last if kind == "tree" else first_place(program, last)
    ends = [leaves_at(program, place) for place in range(first, last + 1)]
    return sum(map(min, ends)), sum(map(max, ends))


def zeros(program: Program, n: int) -> int:
    """Low bits of a node that are 0 whatever its operands are; of a quotient those that are not computed yet."""
    known: list[int] = []
    for node in program.nodes[: n + 1]:
        match node.op:
            case Op.CONST:
                found = (node.imm & -node.imm).bit_length() - 1 if node.imm else 31
            case Op.ADD | Op.SUB | Op.MIN | Op.MAX:
                found = min(known[a] for a in node.args)
            case Op.SELECT:
                found = min(known[a] for a in node.args[1:])
            case Op.SHL:
                found = known[node.args[0]] + node.imm
            case _:
                found = 0
        known.append(min(found, 31))
    return known[n]


def first_place(program: Program, place: int) -> int:
    """The place of the first tree of the same output."""
    return place - place % len(program.forest.trees)


def leaves_at(program: Program, place: int) -> list[int]:
    """Returns what the leaves of a place's tree add to its output."""
    output, number = divmod(place, len(program.forest.trees))
    return [leaf.value[output] for leaf in leaves(program.forest.trees[number])]
