"""Is a set of conditions impossible? Asked of cvc5, or bitwuzla, as SMT-LIB text.

Products of two unknown factors are first left abstract: a number that is the same wherever the factors are the same
and within the product of the factors' bounds. Multiples of one word are ordered: if b << s - 1 <= a <= b << s, then
bx << s - 1 <= ax <= bx << s. If that is impossible, so is the real thing. Else they are multiplied.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

import bitwuzla
import cvc5

from verify.check.assignments import Assignment, Bounds, Factors, pairs, unsigned
from verify.check.linear import linear
from verify.check.terms import Term, shifted_factors, text, whole_factors

MILLISECONDS = 20_000
SEVERAL = 3
Prove = Callable[[str], None]
"""Proves that a script is unsatisfiable, or raises (verify.check.proofs)."""


class Undecided(Exception):
    """The solver gave no answer in its time."""


def impossible(
    conditions: Sequence[Term],
    bounds: Bounds,
    solver: str,
    multiply: bool,
    prove: Prove | None = None,
    found: Callable[[Assignment], None] | None = None,
) -> bool:
    """Whether no values satisfy all conditions. ``bounds`` of a factor follow from the conditions.

    Without ``multiply`` products stay abstract: True is as good, False may be wrong. If ``prove`` is set, True is
    proved. ``found`` gets the assignment that satisfies them with abstract products, if the solver has one.
    """
    script = Script(exact=False)
    values: dict[str, int] | None = None if found is None else {}
    if _unsat(script.question(conditions, bounds), solver, prove, values):
        return True
    if found is not None and values:
        found(script.assignment(conditions, values.__getitem__))
    if not (multiply and script.products):
        return False
    return _unsat(Script(exact=True).question(conditions, bounds), solver, prove, None)


def _unsat(script: str, solver: str, prove: Prove | None, values: dict[str, int] | None) -> bool:
    if SOLVERS[solver](script, values) != "unsat":
        return False
    if prove is not None:
        prove(script)
    return True


class Script:
    """Terms as SMT-LIB, each defined once. ``exact``: products are multiplied; else they are numbers of their own.

    ``names``: of the terms; ``products``: of the numbers that the solver sees as products, by their factors."""

    def __init__(self, exact: bool) -> None:
        self.exact = exact
        self.names: dict[Term, str] = {}
        self.products: dict[Factors, str] = {}
        self._sums: dict[tuple[Term, ...], str] = {}
        self._lines = ["(set-logic QF_BV)"]

    def question(self, conditions: Sequence[Term], bounds: Bounds) -> str:
        """Returns the lines so far, with the claims asserted."""
        claims = self.claims(conditions, bounds)
        return "\n".join([*self.taken(), *(f"(assert {claim})" for claim in claims)])

    def claims(self, conditions: Sequence[Term], bounds: Bounds) -> list[str]:
        """Returns what holds together if the conditions can hold: also what is known of products that are numbers."""
        for term in _in_order(conditions, self.names):
            self._define(term)
        found = [] if self.exact else list(self._of_products(conditions, bounds))
        return [*found, *(self.names[a] for a in conditions)]

    def taken(self) -> list[str]:
        """Returns the lines that were added since it was called last."""
        lines, self._lines = self._lines, []
        return lines

    def assignment(self, conditions: Sequence[Term], value: Callable[[str], int]) -> Assignment:
        """Returns the values of the conditions' variables and products, each by the name that the solver knows."""
        variables = {v: value(self.names[v]) for c in conditions for v in c.leaves}
        return Assignment(variables, {x: value(self.products[x]) for x in self._factors(conditions)})

    def _factors(self, conditions: Sequence[Term]) -> list[Factors]:
        """The factors of the products in conditions, in the order of their making."""
        products = sorted({p for c in conditions for p in c.products}, key=lambda p: p.serial)
        return list(dict.fromkeys(pair for p in products for pair in pairs(p)))

    def _of_products(self, conditions: Sequence[Term], bounds: Bounds) -> Iterator[str]:
        factors = self._factors(conditions)
        for x, y in factors:
            low, high = (a * b for a, b in zip(unsigned(bounds(x)), unsigned(bounds(y)), strict=True))
            name = self.products[x, y]
            yield f"(and (bvule (_ bv{low} 64) {name}) (bvule {name} (_ bv{high} 64)))"
        for left, right in combinations(factors, 2):
            (a, b), (c, d) = ([self.names[x] for x in one] for one in (left, right))
            same = f"(or (and (= {a} {c}) (= {b} {d})) (and (= {a} {d}) (= {b} {c})))"
            yield f"(=> {same} (= {self.products[left]} {self.products[right]}))"
            yield from self._order(left, right, bounds)

    def _order(self, left: Factors, right: Factors, bounds: Bounds) -> Iterator[str]:
        """Two multiples of one word, as numbers, are ordered as their factors are, after a shift too."""
        (x, a), (y, b) = (sorted(factors, key=lambda f: f.op == "const") for factors in (left, right))
        if x is y and a.op == b.op == "const" and a is not b:
            (least, few), (most, many) = sorted(((a.value, self.products[left]), (b.value, self.products[right])))
            s = (-(-most // least) - 1).bit_length()
            yield f"(bvule (bvshl {few} (_ bv{s - 1} 64)) {many})"
            if unsigned(bounds(x))[1] * least << s < 1 << 64:
                yield f"(bvule {many} (bvshl {few} (_ bv{s} 64)))"

    def _define(self, a: Term) -> None:
        if a in self.names:
            return
        name = self.names[a] = f"t{len(self.names)}"
        sort = f"(_ BitVec {a.width})" if a.width else "Bool"
        if a.op == "var":
            self._lines.append(f"(declare-const {name} {sort})")
        else:
            body = self._product(a) if a.op == "prod" else self._sum(a) if a.op == "bvadd" else self._plain(a)
            self._lines.append(f"(define-fun {name} () {sort} {body})")

    def _plain(self, a: Term) -> str:
        return text(a).format(*(self.names[x] for x in a.args))

    def _sum(self, a: Term) -> str:
        """A sum of several words, in one order however the code or the program adds them: two that differ by a
        constant have all else in common."""
        constant, parts = linear(a) if a.width == 32 else (0, ())
        if len(parts) < SEVERAL or any(times != 1 for _, times in parts):
            return self._plain(a)
        words = [word for word, _ in parts]
        for last in range(2, len(words) + 1):
            key = tuple(words[:last])
            if key not in self._sums:
                before = self._sums[key[:-1]] if last > 2 else self.names[words[0]]
                self._sums[key] = f"s{len(self._sums)}"
                body = f"(bvadd {before} {self.names[words[last - 1]]})"
                self._lines.append(f"(define-fun {self._sums[key]} () (_ BitVec 32) {body})")
        return f"(bvadd {self._sums[tuple(words)]} (_ bv{constant} 32))"

    def _product(self, a: Term) -> str:
        """A product by that of its factors before they were shifted left, where the shift has lost nothing."""
        (x, left), (y, right) = shifted_factors(a)
        for part in _in_order((x, y)):
            self._define(part)
        shift = left + right
        inner = f"(bvshl {self._number(x, y)} (_ bv{shift} 64))"
        if not (whole := whole_factors(a)):
            return inner
        kept = " ".join(f"(bvule {self.names[v]} (_ bv{(1 << 32 - k) - 1} 32))" for v, k in whole)
        return f"(ite (and true {kept}) {inner} {self._number(*a.args)})"

    def _number(self, x: Term, y: Term) -> str:
        """The 64 bits of x times y."""
        if self.exact:
            self.products[x, y] = f"(bvmul ((_ zero_extend 32) {self.names[x]}) ((_ zero_extend 32) {self.names[y]}))"
        elif (x, y) not in self.products:
            name = self.products[x, y] = f"p{len(self.products)}"
            self._lines.append(f"(declare-const {name} (_ BitVec 64))")
        return self.products[x, y]


def _in_order(roots: Iterable[Term], known: Container[Term] = ()) -> list[Term]:
    """Every term once that is not known, operands first. Operands of what is known are known."""
    order: dict[Term, None] = {}
    stack = [(a, False) for a in roots]
    while stack:
        a, ready = stack.pop()
        if a in order or a in known:
            continue
        if ready:
            order[a] = None
        else:
            stack.append((a, True))
            stack += [(x, False) for x in a.args]
    return list(order)


def answer_of_cvc5(solver: cvc5.Solver, script: str) -> str:
    """Returns the answer of a cvc5 with its options; raises Undecided after its time."""
    solver.setOption("tlimit-per", str(MILLISECONDS))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script + "\n(check-sat)", "query")
    symbols, answer = parser.getSymbolManager(), ""
    while not (command := parser.nextCommand()).isNull():
        answer += command.invoke(solver, symbols)
    return answer_of(answer)


def _bitwuzla(script: str, values: dict[str, int] | None) -> str:
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.TIME_LIMIT_PER, MILLISECONDS)
    options.set(bitwuzla.Option.PRODUCE_MODELS, values is not None)
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    parser.parse(script, True, False)
    solver = parser.bitwuzla()
    answer = answer_of(str(solver.check_sat()))
    if answer == "sat" and values is not None:
        values |= {str(name.symbol()): int(solver.get_value(name).value(10)) for name in parser.get_declared_funs()}
    return answer


def _cvc5(script: str, values: dict[str, int] | None) -> str:
    return answer_of_cvc5(cvc5.Solver(), script)


def answer_of(answer: Any) -> str:
    word = str(answer).strip()
    if word not in ("sat", "unsat"):
        raise Undecided(f"the solver did not answer within {MILLISECONDS // 1000} s ({word})")
    return word


Solve = Callable[[str, dict[str, int] | None], str]
SOLVERS: dict[str, Solve] = {"cvc5": _cvc5, "bitwuzla": _bitwuzla}
"""Each answers a script, and may add values of its declared constants that satisfy it, if a table is given."""
