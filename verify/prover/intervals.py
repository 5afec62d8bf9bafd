"""Truth of a condition on one word: the intervals of the word in which it holds.

Many words are a simple function of one other, the *base*: base + c, c - base, base * c, base >> k. A comparison of
such words is then true on some intervals of the base and false on the others, and a program's branches cut the base's
range into pieces. ``truth`` finds them; a piece is exact, not an estimate.
"""

from collections.abc import Container
from dataclasses import dataclass

from verify.prover.expressions import FIRST, MODULUS, WORD, Pool, signed

Interval = tuple[int, int]
MAX_TURNS = 4


@dataclass(frozen=True)
class Truth:
    """``pieces``: (low, high, holds), ascending, covering the whole range of ``base``."""

    base: int
    pieces: tuple[tuple[int, int, bool], ...]


def simple(pool: Pool, e: int) -> int:
    """The base of a word: the word itself where it is no simple function of another."""
    while e >= FIRST:
        inner = _inside(pool, e)
        if inner is None:
            return e
        e = inner
    return e


def _inside(pool: Pool, e: int) -> int | None:
    """The word that ``e`` is one simple step away from."""
    op = pool.op(e)
    if op == "linear":
        _, terms = pool.linear(e)
        word, factor = terms[0]
        if len(terms) > 1:
            constant = pool.linear(e)[0]
            return pool.sum(0, terms) if constant else None
        low, high = pool.range(word)
        if factor in (1, WORD):
            return word
        return word if low >= 0 and high * factor <= WORD else None
    if op == "and" and _mask(pool, e):
        return pool.operands(e)[1]
    return pool.operands(e)[0] if op in ("srl", "sra") and pool.operands(e)[1] < FIRST else None


def _mask(pool: Pool, e: int) -> int:
    """2^k - 1 where ``e`` is the low k bits of a word whose range meets few multiples of 2^k."""
    mask, word = pool.operands(e)
    if mask >= FIRST or mask & (mask + 1):
        return 0
    low, high = pool.range(word)
    return mask if high // (mask + 1) - low // (mask + 1) < MAX_TURNS else 0


def preimage(pool: Pool, e: int, image: list[Interval]) -> tuple[int, list[Interval]]:
    """The base of ``e`` and the unsigned intervals of it for which the word ``e`` lies in ``image`` (unsigned)."""
    while True:
        inner = _inside(pool, e) if e >= FIRST else None
        if inner is None:
            return e, image
        if pool.op(e) == "linear":
            constant, terms = pool.linear(e)
            factor = terms[0][1] if len(terms) == 1 else 1
            if factor == WORD:  # constant - base
                image = [p for low, high in image for p in _turned(constant - high, constant - low)]
            else:
                moved = [p for low, high in image for p in _turned(low - constant, high - constant)]
                image = [(-(-low // factor), high // factor) for low, high in moved]
        elif pool.op(e) == "and":
            turn = _mask(pool, e) + 1
            low, high = pool.range(inner)
            turns = range(low // turn * turn, high + 1, turn)
            unwrapped = [(max(a, 0), min(b, turn - 1)) for a, b in image if a < turn]
            image = [p for a, b in unwrapped for t in turns for p in _turned(a + t, b + t)]
        else:
            k = pool.operands(e)[1]
            if pool.op(e) == "srl":
                image = [(low << k, (high << k) + (1 << k) - 1) for low, high in image]
            else:
                image = [p for low, high in image for p in _unshifted(low, high, k)]
        image = [(low, high) for low, high in ((max(a, 0), min(b, WORD)) for a, b in image) if low <= high]
        e = inner


def truth(pool: Pool, op: str, a: int, b: int, known: Container[int] = ()) -> Truth | None:
    """Returns the intervals in which ``op`` (sltu, slt, eq) holds; None if it is not a question about one word.

    ``known``: words of which something is known. An equality is as well one of the negated difference, and is that
    where only the negated one is known.
    """
    same = _same_word(pool, op, a, b)
    if same is not None:
        word, value, holds = same
        found = truth(pool, "eq", word, value, known)
        return found if found is None or holds else _otherwise(found)
    if op == "eq":
        difference, opposite = (pool.sum(0, ((a, sign), (b, -sign))) for sign in (1, -1))
        if simple(pool, difference) not in known and simple(pool, opposite) in known:
            difference = opposite
        return _pieces(pool, *preimage(pool, difference, [(0, 0)]))
    if b < FIRST or a < FIRST:
        e, image = (a, _below(op, b)) if b < FIRST else (b, _above(op, a))
        return _pieces(pool, *preimage(pool, e, image))
    if simple(pool, a) == simple(pool, b):
        return _same_base(pool, op, a, b)
    return None


def _same_word(pool: Pool, op: str, a: int, b: int) -> tuple[int, int, bool] | None:
    """(word, value, holds) of a question about word xor a constant that asks whether (or, with ``holds`` false, whether
    not) the word is a value: the form in which compilers add the answer to a number. None of any other question."""
    if op == "eq":
        mixed, other, holds = (a, b, True) if a >= FIRST else (b, a, True)
        if other >= FIRST:
            return None
    elif op == "sltu" and b == 1:
        mixed, other, holds = a, 0, True
    elif op == "sltu" and a == 0:
        mixed, other, holds = b, 0, False
    else:
        return None
    if mixed < FIRST or pool.op(mixed) != "xor" or pool.operands(mixed)[0] >= FIRST:
        return None
    mask, word = pool.operands(mixed)
    return word, mask ^ other, holds


def _otherwise(found: Truth) -> Truth:
    """The same pieces of the opposite question."""
    return Truth(found.base, tuple((low, high, not holds) for low, high, holds in found.pieces))


def _pieces(pool: Pool, base: int, holds: list[Interval]) -> Truth | None:
    """Unsigned intervals as pieces of the base's range."""
    if base < FIRST:
        return None
    low, high = pool.range(base)
    inside = sorted(
        (max(a + turn, low), min(b + turn, high))
        for a, b in holds
        for turn in (-MODULUS, 0, MODULUS)
        if max(a + turn, low) <= min(b + turn, high)
    )
    pieces: list[tuple[int, int, bool]] = []
    at = low
    for a, b in inside:
        if a > at:
            pieces.append((at, a - 1, False))
        if pieces and pieces[-1][2] and pieces[-1][1] == a - 1:
            pieces[-1] = (pieces[-1][0], b, True)
        elif b >= at:
            pieces.append((max(a, at), b, True))
        at = max(at, b + 1)
    if at <= high:
        pieces.append((at, high, False))
    return Truth(base, tuple(pieces))


def _same_base(pool: Pool, op: str, a: int, b: int) -> Truth | None:
    """base + c against base + d: constant between the points at which one of them wraps (or changes its sign)."""
    base = simple(pool, a)
    (c, left), (d, right) = pool.linear(a), pool.linear(b)
    if left != right or pool.sum(0, left) != base:
        return None
    low, high = pool.range(base)
    turns = (0,) if op == "sltu" else (0, MODULUS >> 1)
    points = {(turn - shift + k * MODULUS) for turn in turns for shift in (c, d) for k in range(-2, 3)}
    starts = sorted({low, *(p for p in points if low < p <= high)})
    pieces: list[tuple[int, int, bool]] = []
    for n, start in enumerate(starts):
        end = starts[n + 1] - 1 if n + 1 < len(starts) else high
        x, y = (start + c) & WORD, (start + d) & WORD
        holds = x < y if op == "sltu" else signed(x) < signed(y)
        if pieces and pieces[-1][2] == holds:
            pieces[-1] = (pieces[-1][0], end, holds)
        else:
            pieces.append((start, end, holds))
    return Truth(base, tuple(pieces))


def _below(op: str, bound: int) -> list[Interval]:
    """Words less than the bound."""
    if op == "sltu":
        return [(0, bound - 1)] if bound else []
    return _signed_range(-(MODULUS >> 1), signed(bound) - 1)


def _above(op: str, bound: int) -> list[Interval]:
    """Words greater than the bound."""
    if op == "sltu":
        return [(bound + 1, WORD)] if bound < WORD else []
    return _signed_range(signed(bound) + 1, (MODULUS >> 1) - 1)


def _signed_range(low: int, high: int) -> list[Interval]:
    """Signed integers as unsigned intervals."""
    if low > high:
        return []
    if low >= 0 or high < 0:
        return [(low & WORD, high & WORD)]
    return [(low & WORD, WORD), (0, high)]


def _turned(low: int, high: int) -> list[Interval]:
    """An interval of integers (shorter than 2^32) as words."""
    a, b = low % MODULUS, high % MODULUS
    if high - low >= WORD:
        return [(0, WORD)]
    return [(a, b)] if a <= b else [(a, WORD), (0, b)]


def _unshifted(low: int, high: int, k: int) -> list[Interval]:
    """Words that an arithmetic shift right by k brings into an unsigned interval."""
    half = MODULUS >> 1
    parts = [(low, min(high, half - 1)), (max(low, half), high)]
    words: list[Interval] = []
    for a, b in parts:
        if a <= b:
            first = max(signed(a), -half >> k)
            last = min(signed(b), half - 1 >> k)
            if first <= last:
                words += _signed_range(first << k, (last << k) + (1 << k) - 1)
    return words
