"""Comparisons by what is compared, however the code came to it: 3 * x is (x << 1) + x, and L < x is not x < L + 1.

A compiler makes products with constants of shifts, sums and differences, and moves a 1 from one side of a comparison to
the other. Both sides as sums, mod 2^32, show that two comparisons are one without a solver.
"""

from collections.abc import Callable, Mapping
from functools import cache

from verify.check.terms import Term

MODULUS = 1 << 32
Sum = tuple[int, tuple[tuple[Term, int], ...]]
"""A constant, and words with their factors, by the order in which they were made."""
Question = tuple[Sum, Sum]
"""Whether the first is less than the second, without sign."""
Span = Callable[[Term], tuple[int, int]]


@cache
def linear(word: Term) -> Sum:
    """A word of 32 bits as a sum."""
    match word.op:
        case "const":
            return word.value, ()
        case "bvadd":
            return _added(linear(word.args[0]), linear(word.args[1]), 1)
        case "bvsub":
            return _added(linear(word.args[0]), linear(word.args[1]), -1)
        case "bvshl" if word.args[1].op == "const" and word.args[1].value < 32:
            return _added((0, ()), linear(word.args[0]), 1 << word.args[1].value)
        case "extract" if word.value == (31, 0):
            whole, factor = word.args[0], 1
            if whole.op == "bvshl" and whole.args[1].op == "const" and whole.args[1].value < 32:
                whole, factor = whole.args[0], 1 << whole.args[1].value
            if whole.op == "prod" and whole.args[1].op == "const":
                return _added((0, ()), linear(whole.args[0]), factor * whole.args[1].value)
    return 0, ((word, 1),)


def _added(a: Sum, b: Sum, factor: int) -> Sum:
    """a + factor * b, mod 2^32."""
    total = dict(a[1])
    for word, times in b[1]:
        total[word] = (total.get(word, 0) + factor * times) % MODULUS
    kept = sorted(((word, times) for word, times in total.items() if times), key=lambda part: part[0].serial)
    return (a[0] + factor * b[0]) % MODULUS, tuple(kept)


def question(condition: Term, span: Span) -> tuple[Question, bool] | None:
    """A comparison without sign of two words as sums, and the answer to it where the condition holds; None for any
    other condition. ``span``: bounds of a word without sign."""
    if condition.op == "not":
        asked = question(condition.args[0], span)
        return None if asked is None else (asked[0], not asked[1])
    if condition.op != "bvult" or condition.args[0].width != 32:
        return None
    less, more = condition.args
    a, b = linear(less), linear(more)
    one_more = more.op == "bvadd" and more.args[1].op == "const" and more.args[1].value == 1
    if (one_more or b[0] == 1) and span(more)[0] >= 1:  # a < L + 1 is not L < a: L is what it is without wrapping
        return (((b[0] - 1) % MODULUS, b[1]), a), False
    return (a, b), True


def ascending(asked: Question, answers: Mapping[Question, bool], span: Span) -> bool | None:
    """The answer to a question from those to others, of which the same word or another multiple of one was compared:
    what is at least 161 x is at least 14 x, where 161 x does not wrap. None where that says nothing."""
    if asked in answers:
        return answers[asked]
    for side, other in ((0, 1), (1, 0)):
        own = multiple(asked[side])
        if own is None:
            continue
        for known, less in answers.items():
            compared = multiple(known[side]) if known[other] == asked[other] else None
            if compared is None or compared[0] is not own[0]:
                continue
            greater = max(own[1], compared[1])
            # A side that has become less on the left, or more on the right, is less all the more; else not less.
            grew = own[1] == greater
            if less == (grew == bool(side)) and greater * span(own[0])[1] < MODULUS:
                return less
    return None


def multiple(total: Sum) -> tuple[Term, int] | None:
    """The word, and how many times it is there, of a sum that is nothing else."""
    constant, parts = total
    return parts[0] if constant == 0 and len(parts) == 1 else None
