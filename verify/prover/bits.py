"""Comparisons as words of 0 or 1, in a form of their own: however the code asks, the same question is the same word.

A comparison that is about one word (its base, ``verify.prover.intervals``) asks whether that lies in an interval, or
beside one: x - low < count without sign, or one less that; of one number x = low. For example, x > 1 and 5 > x together
are x - 2 < 3, as compilers write it. Sound because the intervals are exact: the word is 1 for the same values of the
base.
"""

from verify.prover.expressions import WORD, Pool
from verify.prover.intervals import Truth, truth

COMPARISONS = ("sltu", "slt", "eq")


def asked(pool: Pool, op: str, x: int, y: int) -> int:
    """The word that is 1 where ``op`` (sltu, slt, eq) holds of two words, and 0 where not."""
    condition = pool.make(op, x, y)
    known = question(pool, condition)
    return condition if known is None else _word(pool, known, condition)


def both(pool: Pool, a: int, b: int) -> int:
    """The word that is 1 where two words of 0 or 1 are."""
    condition = pool.make("and", a, b)
    first, second = question(pool, a), question(pool, b)
    if first is None or second is None or first.base != second.base:
        return condition
    ends = sorted({low for low, _, _ in (*first.pieces, *second.pieces)})
    lasts = [*(end - 1 for end in ends[1:]), first.pieces[-1][1]]
    pieces: list[tuple[int, int, bool]] = []
    for low, high in zip(ends, lasts, strict=True):
        holds = _holds(first, low) and _holds(second, low)
        if pieces and pieces[-1][2] == holds:
            low = pieces.pop()[0]
        pieces.append((low, high, holds))
    return _word(pool, Truth(first.base, tuple(pieces)), condition)


def either(pool: Pool, a: int, b: int) -> int:
    """The word that is 1 where one of two words of 0 or 1 is."""
    return without(pool, both(pool, without(pool, a), without(pool, b)))


def without(pool: Pool, a: int) -> int:
    """1 where a word of 0 or 1 is 0."""
    return pool.sum(1, ((a, -1),))


def question(pool: Pool, bit: int) -> Truth | None:
    """Returns what a word of 0 or 1 asks about its base, if it is a comparison about one word, or one less that."""
    constant, terms = pool.linear(bit)
    if len(terms) != 1 or pool.op(terms[0][0]) not in COMPARISONS or (constant, terms[0][1]) not in ((0, 1), (1, WORD)):
        return None
    a, b = pool.operands(terms[0][0])
    known = truth(pool, pool.op(terms[0][0]), a, b)
    if known is None or not constant:
        return known
    return Truth(known.base, tuple((low, high, not holds) for low, high, holds in known.pieces))


def _holds(known: Truth, value: int) -> bool:
    return next(holds for low, high, holds in known.pieces if low <= value <= high)


def _word(pool: Pool, known: Truth, otherwise: int) -> int:
    """A question's own word; ``otherwise`` where it asks for more than one interval."""
    if len(known.pieces) == 1:
        return int(known.pieces[0][2])
    inside = [(low, high) for low, high, holds in known.pieces if holds]
    outside = [(low, high) for low, high, holds in known.pieces if not holds]
    single = inside if len(known.pieces) == 2 and known.pieces[0][2] else outside if len(known.pieces) == 2 else None
    if single is None:
        if len(known.pieces) != 3:
            return otherwise
        single = inside if len(inside) == 1 else outside
    low, high = single[0]
    if pool.range(known.base) == (0, 1):  # the base asks it already, or the contrary
        word = without(pool, known.base)
    elif low == high:
        word = _equal(pool, known.base, low)
    else:
        word = pool.make("sltu", pool.sum(-low, ((known.base, 1),)), high - low + 1)
    return word if single is inside else without(pool, word)


def _equal(pool: Pool, base: int, value: int) -> int:
    """x = value; of x ^ y that nothing is left, x = y."""
    if pool.op(base) == "xor" and value == 0:
        x, y = pool.operands(base)
        return asked(pool, "eq", x, y)
    return pool.make("eq", base, value & WORD)
