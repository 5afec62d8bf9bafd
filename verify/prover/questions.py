"""Questions for the solvers: SMT-LIB 2 over bit-vectors, written once and put to every solver as the same text.

A question asserts what a lane knows and that two values differ; "unsat" proves them equal. Words of the machine are
32 bits; values of the program's nodes are 64 bits in two's complement, which hold them exactly. A product of two words
is one 64-bit number that mul, mulhu, mulh and mulhsu take their halves from; in a proof nothing else is known of it
(``exact=False``), so that a proof never needs to reason about multiplication, and holds whatever a product is.
"""

import hashlib
from dataclasses import dataclass, field

from decision.ir.program import Op, Program
from verify.prover.expressions import FIRST, MODULUS, UNKNOWN, WORD, Pool

HALF = MODULUS >> 1


@dataclass(frozen=True)
class Question:
    """``atoms``: symbols and the expressions they stand for, to read a model back."""

    text: str
    atoms: tuple[tuple[str, int], ...]

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass
class Writer:
    """Writes expressions and nodes as SMT-LIB definitions.

    ``known``: node -> expression that stands for it (an input of the program, a cut, or what the lane says it is).
    """

    pool: Pool
    program: Program
    known: dict[int, int]
    exact: bool = False
    lines: list[str] = field(default_factory=list)
    atoms: list[tuple[str, int]] = field(default_factory=list)
    _words: dict[int, str] = field(default_factory=dict)
    _nodes: dict[int, str] = field(default_factory=dict)
    _products: dict[tuple[str, str], str] = field(default_factory=dict)

    def word(self, e: int) -> str:
        """A 32-bit word."""
        if e < FIRST:
            assert e != UNKNOWN
            return f"#x{e:08x}"
        name = self._words.get(e)
        if name is None:
            todo = [e]
            while todo:  # operands first, without recursion
                at = todo[-1]
                parts = [w for w, _ in self.pool.linear(at)[1]] if self.pool.op(at) == "linear" else []
                missing = [p for p in (*parts, *self.pool.operands(at)[:2]) if p >= FIRST and p not in self._words]
                if missing and self.pool.op(at) != "atom":
                    todo += missing
                    continue
                todo.pop()
                if at not in self._words:
                    self._words[at] = self._define(at)
            name = self._words[e]
        return name

    def node(self, n: int) -> str:
        """A node's value, 64 bits."""
        name = self._nodes.get(n)
        if name is None:
            name = self._nodes[n] = self._name(f"n{n}", 64, self._node(n))
        return name

    def define(self, names: dict[int, int]) -> None:
        """Assert what the nodes are whose names (atom -> node) are in the lines: what the lane knows them to be, and
        what the program makes of them. It ends at the inputs, and where there is neither a word nor an expression for
        an operand, as for a sum of trees beyond a word.
        """
        told = set[int]()
        while missing := [atom for _, atom in self.atoms if atom in names and atom not in told]:
            for atom in missing:
                told.add(atom)
                self._is_node(atom, names[atom])

    def _is_node(self, atom: int, n: int) -> None:
        node, value = self.program.nodes[n], self._extended(n, atom)
        same = [self.node(n)] if self.known.get(n, atom) != atom else []
        if node.args and self._expressed(n):
            same.append(self._by_expression(n))
        self.lines += [f"(assert (= {value} {other}))" for other in same]

    def _expressed(self, n: int) -> bool:
        """Whether a node can be written by its operands."""
        node = self.program.nodes[n]
        return node.op is not Op.TREES and all(
            self.known.get(a, UNKNOWN) != UNKNOWN or self.program.nodes[a].op is Op.CONST or self._expressed(a)
            for a in node.args
        )

    def interval(self, e: int, low: int, high: int) -> None:
        """Assert that the integer that a word stands for lies in low..high (shorter than 2^32; where low > high there
        is none)."""
        if low > high:
            self.lines.append("(assert false)")
            return
        text = self.word(e)
        if high - low >= WORD:
            return
        span = f"(bvsub {text} #x{low & WORD:08x})"
        self.lines.append(f"(assert (bvule {span} #x{high - low:08x}))")

    def fact(self, condition: int, holds: bool) -> None:
        self.lines.append(f"(assert (= {self.word(condition)} #x{int(holds):08x}))")

    def question(self, *assertions: str) -> Question:
        lines = ["(set-logic QF_BV)", *self.lines, *(f"(assert {a})" for a in assertions)]
        return Question("\n".join(lines) + "\n", tuple(self.atoms))

    def _name(self, name: str, bits: int, body: str) -> str:
        self.lines.append(f"(define-fun {name} () (_ BitVec {bits}) {body})")
        return name

    def _define(self, e: int) -> str:
        pool, op = self.pool, self.pool.op(e)
        if op == "atom":
            name = f"|{pool.name(e)}|"
            self.lines.append(f"(declare-const {name} (_ BitVec 32))")
            self.atoms.append((pool.name(e), e))
            self._words[e] = name
            self.interval(e, *pool.range(e))
            return name
        if op == "linear":
            body = self._sum(e)
        elif op == "product":
            a, b, shift = pool.operands(e)
            body = f"((_ extract 31 0) (bvlshr {self._product(a, b)} #x{shift:016x}))"
        else:
            body = self._operation(op, *pool.operands(e))
        return self._name(f"w{e - FIRST}", 32, body)

    def _sum(self, e: int) -> str:
        constant, terms = self.pool.linear(e)
        parts = []
        for word, factor in terms:
            text, negative = self.word(word), factor >= HALF
            factor = MODULUS - factor if negative else factor
            if factor & (factor - 1) == 0:
                text = text if factor == 1 else f"(bvshl {text} #x{factor.bit_length() - 1:08x})"
            else:
                text = f"(bvmul {text} #x{factor:08x})"
            parts.append(f"(bvneg {text})" if negative else text)
        total = parts[0]
        for part in parts[1:]:
            total = f"(bvadd {total} {part})"
        return f"(bvadd {total} #x{constant:08x})" if constant else total

    def _operation(self, op: str, a: int, b: int) -> str:
        x, y = self.word(a), self.word(b)
        match op:
            case "and" | "or" | "xor":
                return f"(bv{op} {x} {y})"
            case "srl" | "sra" | "sll":
                name = {"srl": "bvlshr", "sra": "bvashr", "sll": "bvshl"}[op]
                return f"({name} {x} (bvand {y} #x0000001f))"
            case "sltu" | "slt" | "eq":
                name = {"sltu": "bvult", "slt": "bvslt", "eq": "="}[op]
                return f"(ite ({name} {x} {y}) #x00000001 #x00000000)"
            case "mul":
                return f"((_ extract 31 0) {self._product(a, b)})"
        high = f"((_ extract 63 32) {self._product(a, b)})"
        if op in ("mulhsu", "mulh"):
            high = f"(bvsub {high} (ite (bvslt {x} #x00000000) {y} #x00000000))"
        if op == "mulh":
            high = f"(bvsub {high} (ite (bvslt {y} #x00000000) {x} #x00000000))"
        return high

    def _product(self, a: int, b: int) -> str:
        """The unsigned product of two words. Powers of two are taken out: (x << k) * y is (x * y) << k."""
        (a, i), (b, j) = self.pool.stripped(a), self.pool.stripped(b)
        product = self._wide(*sorted((self.word(a), self.word(b))))
        return f"(bvshl {product} #x{i + j:016x})" if i + j else product

    def _wide(self, x: str, y: str) -> str:
        key = (x, y)
        product = self._products.get(key)
        if product is None:
            product = f"p{len(self._products)}"
            if self._multiplied(x, y):
                self._name(product, 64, f"(bvmul ((_ zero_extend 32) {x}) ((_ zero_extend 32) {y}))")
            else:
                self.lines.append(f"(declare-const {product} (_ BitVec 64))")
            self._same_factors(key, product)
            self._products[key] = product
        return product

    def _multiplied(self, x: str, y: str) -> bool:
        return self.exact or "#" in x + y

    def _same_factors(self, key: tuple[str, str], product: str) -> None:
        """One of two products with a common factor may be multiplied and the other not: the other one's factor may
        be known to be that number (an odd one: powers of two are taken out of it)."""
        for factors, other in self._products.items():
            if self._multiplied(*key) != self._multiplied(*factors):
                for common in set(key) & set(factors):
                    x, y = (pair[pair[0] == common] for pair in (key, factors))  # of each the other one
                    self.lines.append(f"(assert (=> (= {x} {y}) (= {product} {other})))")

    def _node(self, n: int) -> str:
        word = self.known.get(n, UNKNOWN)
        return self._extended(n, word) if word != UNKNOWN else self._by_expression(n)

    def _extended(self, n: int, word: int) -> str:
        """A word that stands for a node in 64 bits."""
        extension = "zero_extend" if self.program.nodes[n].low >= 0 else "sign_extend"
        return f"((_ {extension} 32) {self.word(word)})"

    def _by_expression(self, n: int) -> str:
        node = self.program.nodes[n]
        if node.op in (Op.MUL, Op.MUL_SHR):
            return self._node_product(n)
        a, b, c = ([self.node(x) for x in node.args] + ["", "", ""])[:3]
        one, zero = f"#x{1:016x}", f"#x{0:016x}"
        match node.op:
            case Op.CONST:
                return f"#x{node.imm & (1 << 64) - 1:016x}"
            case Op.ADD | Op.SUB:
                return f"(bv{node.op.name.lower()} {a} {b})"
            case Op.SHL | Op.SHR:
                return f"({'bvshl' if node.op is Op.SHL else 'bvlshr'} {a} #x{node.imm:016x})"
            case Op.MASK:
                return f"(bvand {a} #x{(1 << node.imm) - 1:016x})"
            case Op.WRAP_SUB:
                return f"(bvand (bvsub {a} {b}) #x00000000ffffffff)"
            case Op.MIN | Op.MAX:
                return f"(ite ({'bvslt' if node.op is Op.MIN else 'bvsgt'} {a} {b}) {a} {b})"
            case Op.GT | Op.EQ:
                return f"(ite ({'bvsgt' if node.op is Op.GT else '='} {a} {b}) {one} {zero})"
            case Op.SELECT:
                return f"(ite (= {a} {zero}) {c} {b})"
            case Op.TABLE:
                return self._table(a, self.program.tables[node.imm])
        raise AssertionError(f"node {n} has no expression")

    def _node_product(self, n: int) -> str:
        """A product of two nodes: the shared one where both are words, else exactly 64 bits."""
        node = self.program.nodes[n]
        factors = [self.known.get(x, UNKNOWN) for x in node.args]
        words = all(self.program.nodes[x].low >= 0 and self.program.nodes[x].high <= WORD for x in node.args)
        if words and UNKNOWN not in factors:
            product = self._product(factors[0], factors[1])
        elif words:
            halves = sorted(self._name(f"f{n}_{k}", 32, f"((_ extract 31 0) {self.node(x)})")
                            for k, x in enumerate(node.args))  # fmt: skip
            product = self._wide(halves[0], halves[1])
        else:
            product = f"(bvmul {self.node(node.args[0])} {self.node(node.args[1])})"
        return product if node.op is Op.MUL else f"(bvlshr {product} #x{node.imm:016x})"

    def _table(self, index: str, entries: tuple[int, ...]) -> str:
        text = f"#x{entries[-1] & (1 << 64) - 1:016x}"
        for n in range(len(entries) - 2, -1, -1):
            text = f"(ite (= {index} #x{n:016x}) #x{entries[n] & (1 << 64) - 1:016x} {text})"
        return text
