"""The value of a checker's term where its variables have values: what SMT-LIB says, written once more."""

from collections.abc import Callable

from verify.check.terms import BOOL, Term


def signed(value: int, width: int) -> int:
    return value - (value >> (width - 1) << width)


# (width of the operands, operands without sign) -> value, before it is cut to the term's width.
SMT: dict[str, Callable[..., int]] = {
    "bvadd": lambda w, a, b: a + b,
    "bvsub": lambda w, a, b: a - b,
    "bvmul": lambda w, a, b: a * b,
    "bvand": lambda w, a, b: a & b,
    "bvor": lambda w, a, b: a | b,
    "bvxor": lambda w, a, b: a ^ b,
    "bvshl": lambda w, a, b: a * 2**b if b < w else 0,
    "bvlshr": lambda w, a, b: a // 2**b if b < w else 0,
    "bvashr": lambda w, a, b: signed(a, w) >> min(b, w),
    "bvult": lambda w, a, b: a < b,
    "bvslt": lambda w, a, b: signed(a, w) < signed(b, w),
    "=": lambda w, a, b: a == b,
    "not": lambda w, a: 1 - a,
    "prod": lambda w, a, b: a * b,
    "zero": lambda w, a: a,
    "sign": lambda w, a: signed(a, w),
}


def value_of(root: Term, values: dict[str, int], done: dict[Term, int]) -> int:
    """The term's value without sign. ``done`` keeps those of its parts, for other terms of the same ``values``."""
    stack = [root]
    while stack:
        term = stack[-1]
        missing = [a for a in term.args if a not in done]
        if missing:
            stack += missing
            continue
        stack.pop()
        done[term] = cut(_value(term, [done[a] for a in term.args], values), term.width)
    return done[root]


def cut(value: int, width: int) -> int:
    return int(value) & ((1 << width) - 1 if width != BOOL else 1)


def _value(term: Term, args: list[int], values: dict[str, int]) -> int:
    match term.op:
        case "const":
            return int(term.value)
        case "var":
            return values[term.value]
        case "extract":
            return args[0] >> int(term.value[1])
        case "concat":
            return args[0] << term.args[1].width | args[1]
        case "ite":
            return args[1] if args[0] else args[2]
        case op:
            return SMT[op](term.args[0].width, *args)
