"""Bit-vector terms for the checker: built once each, constants folded, printed as SMT-LIB.

    word("x", ...)       32 bits; conditions have width 0; a product of two words has 64 bits

``prod`` is the full unsigned product. A solver sees it as a number of which it knows little (``verify.check.solver``),
so that equal factors, not the multiplier's 32 x 32 gates, make two products equal.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

WORD, BOOL = 32, 0


class Term:
    """A node of the formula. Equal terms are the same object."""

    __slots__ = ("args", "leaves", "op", "products", "serial", "value", "width")

    def __init__(self, op: str, width: int, args: tuple["Term", ...], value: Any) -> None:
        self.op, self.width, self.args, self.value, self.serial = op, width, args, value, len(_KNOWN)
        own, none = frozenset((self,)), frozenset[Term]()
        self.leaves: frozenset[Term] = reduce(frozenset.union, (a.leaves for a in args), own if op == "var" else none)
        self.products: frozenset[Term] = reduce(
            frozenset.union, (a.products for a in args), own if op == "prod" else none
        )


_KNOWN: dict[tuple[Any, ...], Term] = {}


def _term(op: str, width: int, args: tuple[Term, ...] = (), value: Any = None) -> Term:
    key = (op, width, args, value)
    found = _KNOWN.get(key)
    if found is None:
        found = _KNOWN[key] = Term(op, width, args, value)
    return found


def const(value: int, width: int = WORD) -> Term:
    return _term("const", width, (), value & ((1 << width) - 1) if width else int(bool(value)))


def var(name: str, width: int = WORD) -> Term:
    return _term("var", width, (), name)


TRUE, FALSE = const(1, BOOL), const(0, BOOL)


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) & 1 else value


# Meaning on integers: (width of the operands, operands) -> value before it is cut to the term's width.
MEANING: dict[str, Callable[..., int]] = {
    "bvadd": lambda w, a, b: a + b,
    "bvsub": lambda w, a, b: a - b,
    "bvmul": lambda w, a, b: a * b,
    "bvand": lambda w, a, b: a & b,
    "bvor": lambda w, a, b: a | b,
    "bvxor": lambda w, a, b: a ^ b,
    "bvshl": lambda w, a, b: a << b if b < w else 0,
    "bvlshr": lambda w, a, b: a >> b,
    "bvashr": lambda w, a, b: signed(a, w) >> min(b, w),
    "bvult": lambda w, a, b: a < b,
    "bvslt": lambda w, a, b: signed(a, w) < signed(b, w),
    "=": lambda w, a, b: a == b,
    "not": lambda w, a: not a,
    "prod": lambda w, a, b: a * b,
}
COMMUTATIVE = {"bvadd", "bvmul", "bvand", "bvor", "bvxor", "=", "prod"}
COMPARISONS = ("=", "bvult", "bvslt")
PREDICATES = {*COMPARISONS, "not"}


def make(op: str, *args: Term) -> Term:
    """An operation of ``MEANING``, simplified where that is simple."""
    width = BOOL if op in PREDICATES else 64 if op == "prod" else args[0].width
    if all(a.op == "const" for a in args):
        return const(MEANING[op](args[0].width, *(a.value for a in args)), width)
    if op == "not":
        return args[0].args[0] if args[0].op == "not" else _term(op, width, args)
    a, b = args
    if op == "bvsub":
        if a is b:
            return const(0, width)
        if b.op == "const":
            return make("bvadd", a, const(-b.value, width))
        if b.op == "bvsub" and b.args[0] is const(0, width):  # a - (0 - c)
            return make("bvadd", a, b.args[1])
    if op == "bvadd":
        for x, minus in ((a, b), (b, a)):
            if minus.op == "bvsub" and minus.args[0] is const(0, width):  # x + (0 - c)
                return make("bvsub", x, minus.args[1])
    if op == "bvadd" and a is b:
        return make("bvshl", a, const(1, width))
    if op in COMMUTATIVE and (a.op == "const" or (b.op != "const" and a.serial > b.serial)):
        a, b = b, a
    if op in COMPARISONS and a is b:
        return TRUE if op == "=" else FALSE
    if op == "bvor" and {a.op, b.op} == {"bvshl", "bvlshr"} and a.args[1].op == b.args[1].op == "const":
        upper, lower = (a, b) if a.op == "bvshl" else (b, a)
        k = upper.args[1].value
        if 0 < k < width and lower.args[1].value == width - k:  # bits of two words side by side
            return extract(concat(upper.args[0], lower.args[0]), 2 * width - 1 - k, width - k)
    if op == "bvult" and b.op == "bvadd" and b.args[0] is a and b.args[1].op == "const":  # a + c does not wrap
        return make("bvult", a, const(-b.args[1].value, a.width))
    if op == "bvult" and a.op == "bvadd" and a.args[0] is b and a.args[1].op == "const":
        return negate(make("bvult", b, const(-a.args[1].value, b.width)))
    if b.op == "const":
        if b.value == 0 and op == "bvult":
            return FALSE
        if b.value == 0 and op in ("bvadd", "bvor", "bvxor", "bvshl", "bvlshr", "bvashr"):
            return a
        if b.value == 0 and op in ("bvand", "prod", "bvmul"):
            return const(0, width)
        if op == "bvadd" and a.op == "bvadd" and a.args[1].op == "const":
            return make("bvadd", a.args[0], const(a.args[1].value + b.value, width))
        if op == "bvshl" and a.op == "bvshl" and a.args[1].op == "const" and a.args[1].value + b.value < width:
            return make("bvshl", a.args[0], const(a.args[1].value + b.value, width))
        if op == "bvshl" and a.op in ("zero", "sign") and a.args[0].width + b.value >= width:
            inner = a.args[0]  # what the shift drops need not be there
            if inner.op == "extract" and inner.value[1] == 0 and inner.args[0].width == width:
                return make(op, inner.args[0], b)
        if op in ("bvlshr", "bvashr") and a.op == "bvshl" and a.args[1] is b and 0 < b.value < width:
            return extend(extract(a.args[0], width - b.value - 1, 0), width, op == "bvashr")
        if op == "bvand" and a.op == "bvashr" and a.args[1] is const(width - 1, width):  # bits where there is a sign
            return ite(make("bvslt", a.args[0], const(0, width)), b, const(0, width))
        if op == "bvand" and b.value & (b.value + 1) == 0:
            return extend(extract(a, b.value.bit_length() - 1, 0), width, False)
        if op == "bvand" and (low := ~b.value & (1 << width) - 1) & (low + 1) == 0:  # the low bits cleared: shifted out
            return make("bvshl", make("bvlshr", a, const(k := low.bit_length(), width)), const(k, width))
        if op in (*COMPARISONS, "bvadd", "bvshl") and a.op == "ite" and {x.op for x in a.args[1:]} == {"const"}:
            return ite(a.args[0], make(op, a.args[1], b), make(op, a.args[2], b))
    if op in COMPARISONS and a.op == "const" and b.op == "ite" and {x.op for x in b.args[1:]} == {"const"}:
        return ite(b.args[0], make(op, a, b.args[1]), make(op, a, b.args[2]))
    return _term(op, width, (a, b))


def unshifted(a: Term) -> tuple[Term, int]:
    """A word before it was shifted left by a constant, and by how much; (x << k) + (c << k) is (x + c) << k."""
    if a.op == "bvshl" and a.args[1].op == "const" and a.args[1].value < WORD:
        return a.args[0], a.args[1].value
    if a.op == "bvadd" and a.width == WORD and a.args[1].op == "const":
        inner, k = unshifted(a.args[0])
        if k and a.args[1].value % (1 << k) == 0:
            return make("bvadd", inner, const(a.args[1].value >> k)), k
    if a.op == "const" and a.value:
        zeros = (a.value & -a.value).bit_length() - 1
        return const(a.value >> zeros), zeros
    return a, 0


def shifted_factors(product: Term) -> list[tuple[Term, int]]:
    """Returns the two factors of a product before they were shifted left, and by how much."""
    return sorted(map(unshifted, product.args), key=lambda part: part[0].serial)


def whole_factors(product: Term) -> list[tuple[Term, int]]:
    """Returns those of ``shifted_factors`` whose shift may lose bits."""
    return [(x, k) for x, k in shifted_factors(product) if k and x.op != "const"]


def negate(a: Term) -> Term:
    return make("not", a)


def ite(condition: Term, a: Term, b: Term) -> Term:
    if condition.op == "const":
        return a if condition.value else b
    if a is b:
        return a
    if (a, b) == (TRUE, FALSE):
        return condition
    if (a, b) == (FALSE, TRUE):
        return negate(condition)
    return _term("ite", a.width, (condition, a, b))


def extract(a: Term, high: int, low: int) -> Term:
    if low == 0 and high == a.width - 1:
        return a
    if a.op == "const":
        return const(a.value >> low, high - low + 1)
    if a.op == "extract":
        return extract(a.args[0], a.value[1] + high, a.value[1] + low)
    if a.op in ("zero", "sign") and high < a.args[0].width:
        return extract(a.args[0], high, low)
    if a.op == "zero" and low >= a.args[0].width:
        return const(0, high - low + 1)
    if a.op in ("bvshl", "bvlshr") and a.args[1].op == "const":
        by = a.args[1].value if a.op == "bvlshr" else -a.args[1].value
        if low + by >= 0 and high + by < a.width:
            return extract(a.args[0], high + by, low + by)
    if a.op == "concat":
        upper, lower = a.args
        if low >= lower.width:
            return extract(upper, high - lower.width, low - lower.width)
        if high < lower.width:
            return extract(lower, high, low)
    return _term("extract", high - low + 1, (a,), (high, low))


def part(a: Term, high: int, low: int) -> Term:
    """Bits of a word as they are kept in memory: put together again they are the word, however it was made."""
    if a.op in ("bvshl", "bvlshr") and high - low + 1 < a.width:
        return _term("extract", high - low + 1, (a,), (high, low))
    return extract(a, high, low)


def extend(a: Term, width: int, sign: bool) -> Term:
    if a.width == width:
        return a
    if a.op == "const":
        return const(signed(a.value, a.width) if sign else a.value, width)
    inner = a.args[0] if a.op == "extract" and a.value[1] == 0 else None
    if inner is not None and inner.width == width and inner.op == "var" and inner in NARROW:
        narrow, of_sign = NARROW[inner]
        if narrow <= a.width and of_sign == sign:
            return inner
    return _term("sign" if sign else "zero", width, (a,))


NARROW: dict[Term, tuple[int, bool]] = {}
"""Word variables that are known to be the extension of fewer bits: (bits, by their sign)."""


def concat(upper: Term, lower: Term) -> Term:
    if upper.op == lower.op == "const":
        return const(upper.value << lower.width | lower.value, upper.width + lower.width)
    if upper.op == lower.op == "extract" and upper.args == lower.args and upper.value[1] == lower.value[0] + 1:
        return part(upper.args[0], upper.value[0], lower.value[1])
    return _term("concat", upper.width + lower.width, (upper, lower))


def text(a: Term) -> str:
    """One level of SMT-LIB, for ``solver`` to put the operands in."""
    match a.op:
        case "const":
            return ("true" if a.value else "false") if a.width == BOOL else f"(_ bv{a.value} {a.width})"
        case "extract":
            return f"((_ extract {a.value[0]} {a.value[1]}) {{}})"
        case "zero" | "sign":
            return f"((_ {a.op}_extend {a.width - a.args[0].width}) {{}})"
        case _:
            return f"({a.op} {' '.join('{}' for _ in a.args)})"
