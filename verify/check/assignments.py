"""Assignments that satisfied earlier questions. A question that one of them satisfies is possible, without a solver.

Questions of neighbouring paths have most conditions in common, so one answer of the solver satisfies many of them
([KLEE] section 3.3, "counter-example cache"). "Possible" is the answer that proves nothing: whatever stands here, no
claim holds by it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from verify.check.terms import BOOL, MEANING, WORD, Term, shifted_factors, signed, whole_factors

Bounds = Callable[[Term], tuple[int, int]]
Factors = tuple[Term, Term]
MAX_ASSIGNMENTS = 32
MAX_TERMS = 50_000
"""Values that an assignment remembers from question to question, at most."""


class Assignment:
    """Values of variables, and of products that the solver took for numbers; others are multiplied."""

    def __init__(self, variables: Mapping[Term, int], products: Mapping[Factors, int]) -> None:
        self.variables, self.products = variables, products
        self._values = dict(variables)

    def satisfies(self, conditions: Sequence[Term], bounds: Bounds) -> bool:
        """Whether all conditions hold, and each product is within those of its factors' bounds and the same for the
        same factors: what the solver is told of them."""
        if len(self._values) > MAX_TERMS:
            self._values = dict(self.variables)
        return all(map(self.value, conditions)) and self._consistent(conditions, bounds)

    def value(self, term: Term) -> int:
        """Returns the value of a term, unsigned; variables without one are 0."""
        values, stack = self._values, [term]
        while stack:
            last = stack[-1]
            missing = [] if last in values else [a for a in _operands(last) if a not in values]
            if missing:
                stack += missing
                continue
            if last not in values:
                values[last] = self._computed(last)
            stack.pop()
        return values[term]

    def _computed(self, a: Term) -> int:
        args = [self._values[x] for x in a.args]
        match a.op:
            case "const":
                return int(a.value)
            case "var":
                return 0
            case "ite":
                return args[1] if args[0] else args[2]
            case "extract":
                found = args[0] >> a.value[1]
            case "zero":
                found = args[0]
            case "sign":
                found = signed(args[0], a.args[0].width)
            case "concat":
                found = args[0] << a.args[1].width | args[1]
            case "prod":
                found = self._product(a)
            case _:
                found = MEANING[a.op](a.args[0].width, *args)
        return int(bool(found)) if a.width == BOOL else found & (1 << a.width) - 1

    def _product(self, a: Term) -> int:
        (x, left), (y, right) = shifted_factors(a)
        if all(self._values[v] < 1 << WORD - k for v, k in whole_factors(a)):
            return self._number(x, y) << left + right
        return self._number(*a.args)

    def _number(self, x: Term, y: Term) -> int:
        known = self.products.get((x, y))
        return self.value(x) * self.value(y) if known is None else known

    def _consistent(self, conditions: Iterable[Term], bounds: Bounds) -> bool:
        seen: dict[tuple[int, ...], int] = {}
        for x, y in dict.fromkeys(pair for c in conditions for a in c.products for pair in pairs(a)):
            number = self._number(x, y)
            (low, high), (other_low, other_high) = unsigned(bounds(x)), unsigned(bounds(y))
            factors = tuple(sorted((self.value(x), self.value(y))))
            if not low * other_low <= number <= high * other_high or seen.setdefault(factors, number) != number:
                return False
        return True


@dataclass
class Assignments:
    """The last ones that were useful, the latest first."""

    latest: list[Assignment] = field(default_factory=list)

    def satisfy(self, conditions: Sequence[Term], bounds: Bounds) -> bool:
        """Whether one of them satisfies all conditions."""
        for number, each in enumerate(self.latest):
            if each.satisfies(conditions, bounds):
                self.latest.insert(0, self.latest.pop(number))
                return True
        return False

    def add(self, assignment: Assignment) -> None:
        """Keeps an assignment; the one that was not useful for longest is dropped for it."""
        self.latest.insert(0, assignment)
        del self.latest[MAX_ASSIGNMENTS:]


def _operands(a: Term) -> tuple[Term, ...]:
    return a.args if a.op != "prod" else (*a.args, *(x for x, _ in shifted_factors(a)))


def pairs(product: Term) -> list[Factors]:
    """Returns the factors of the numbers that a product stands for (verify.check.solver)."""
    (x, _), (y, _) = shifted_factors(product)
    return [(x, y), (product.args[0], product.args[1])] if whole_factors(product) else [(x, y)]


def unsigned(span: tuple[int, int]) -> tuple[int, int]:
    """Returns the bounds of a word without its sign."""
    return span if 0 <= span[0] <= span[1] else (0, (1 << WORD) - 1)
