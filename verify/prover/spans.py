"""Ranges of words in the lanes: what a lane's intervals say about everything that is computed from the compared words.

A range low..high is one of integers that the word is congruent to mod 2^32, as ``Pool.range``, but for each lane.
"""

import numpy as np

from decision.ir.arrays import Bools
from verify.prover.bits import COMPARISONS, question
from verify.prover.expressions import FIRST, MODULUS, UNKNOWN, WORD, signed
from verify.prover.lanes import Ints, Lanes, pairs, words
from verify.prover.state import State

HALF = MODULUS >> 1
FITS = 1 << 62
Span = tuple[Ints, Ints]


class Spans:
    """Ranges of words in some lanes, each computed once."""

    def __init__(self, state: State, lanes: Lanes) -> None:
        self.state, self.pool, self.lanes = state, state.pool, lanes
        self._known: dict[int, Span] = {}
        self._less: dict[tuple[str, int, int], Ints] = {}
        self._masked: dict[int, list[tuple[int, int]]] = {}
        for word, row in state.bases.items():
            if state.pool.op(word) == "and" and row < len(lanes.low):
                mask, rest = sorted(state.pool.operands(word))
                if mask < FIRST and mask & (mask + 1) == 0:
                    self._masked.setdefault(rest, []).append((mask, row))

    def of(self, word: int) -> Span:
        """Bounds, one a lane."""
        span = self._known.get(word)
        if span is None:
            low, high = self._computed(word)
            row = self.state.bases.get(word)
            if row is not None and row < len(self.lanes.low):
                first, last = self.lanes.low[row], self.lanes.high[row]
                a, b = np.maximum(low, first), np.minimum(high, last)
                low, high = np.where(a <= b, a, first), np.where(a <= b, b, last)
            for mask, masked in self._masked.get(word, ()):  # a mask that drops nothing: what is known of the rest
                fine = (low >= 0) & (high <= mask)
                first, last = self.lanes.low[masked], self.lanes.high[masked]
                a, b = np.maximum(low, first), np.minimum(high, last)
                low, high = np.where(fine & (a <= b), a, low), np.where(fine & (a <= b), b, high)
            span = self._known[word] = (_shared(low), _shared(high))
        return span

    def congruent(self, word: int) -> Span:
        """Bounds of integers that the word is congruent to, which may lie beyond its range: of a sum with a constant
        those of what was compared without it."""
        low, high = self.of(word)
        constant, terms = self.pool.linear(word)
        rest = self.pool.sum(0, terms) if constant else word
        if rest == word or rest not in self.state.bases:
            return low, high
        first, last = (end + signed(constant) for end in self.of(rest))
        narrower = last - first < high - low
        return np.where(narrower, first, low), np.where(narrower, last, high)

    def less(self, op: str, x: int, y: int) -> Ints:
        """1 where x < y (sltu, slt) by what the lanes know of both, 0 where not, -1 where that does not say."""
        if (op, x, y) not in self._less:
            (a, b), (c, d), ordered = self.of(x), self.of(y), self.ordered(op, x, y)
            known = np.where(ordered & (b < c), 1, np.where(ordered & (a >= d), 0, -1))
            self._less[op, x, y] = known.astype(np.int8)  # there may be 100,000 of them
        return self._less[op, x, y]

    def ordered(self, op: str, x: int, y: int) -> Bools:
        """Whether the machine orders two words as the integers that they stand for."""
        (a, b), (c, d) = self.of(x), self.of(y)
        first, last = (0, WORD) if op == "sltu" else (-HALF, HALF - 1)
        return np.asarray((np.minimum(a, c) >= first) & (np.maximum(b, d) <= last) & (op in ("sltu", "slt")))

    def _computed(self, word: int) -> Span:
        """From the ranges of the operands, where they say more than ``Pool.range``."""
        pool, count = self.pool, len(self.lanes)
        bounds = pool.range(word)
        widest = (np.full(count, bounds[0], dtype=np.int64), np.full(count, bounds[1], dtype=np.int64))
        op, args = pool.op(word), pool.operands(word)
        span: Span | None = None
        if op == "linear":
            span = self._sum(word)
        elif op in ("srl", "sra") and args[1] < FIRST:
            low, high = self.of(args[0])
            least = 0 if op == "srl" else -HALF
            if (low >= least).all() and (high < (MODULUS if op == "srl" else HALF)).all():
                span = (low >> args[1], high >> args[1])
        elif op == "and" and min(args) < FIRST:
            low, high = self.of(max(args))
            mask = min(args)  # within one turn of it the order stays
            fine = (low // (mask + 1) == high // (mask + 1)) & (mask & (mask + 1) == 0)
            span = (np.where(fine, low & mask, widest[0]), np.where(fine, high & mask, widest[1]))
        elif op == "and" and pool.range(args[0]) == pool.range(args[1]) == (0, 1):
            (a, b), (c, d) = self.of(args[0]), self.of(args[1])
            span = (a & c, b & d)
        elif op in COMPARISONS:
            span = self._answer(word)
        elif op in ("product", "mul"):
            span = self._product(args[0], args[1], args[2] if op == "product" else 0)
        if span is None:
            return widest
        fine = (widest[0] <= span[0]) & (span[0] <= span[1]) & (span[1] <= widest[1])
        return np.where(fine, span[0], widest[0]), np.where(fine, span[1], widest[1])

    def _answer(self, word: int) -> Span | None:
        """Returns the span of a comparison about one word."""
        known = question(self.pool, word)
        if known is None:
            return None
        low, high = self.of(known.base)
        some = {side: np.zeros(len(self.lanes), dtype=bool) for side in (False, True)}
        for first, last, holds in known.pieces:
            some[holds] |= (low <= last) & (high >= first)
        return (~some[False]).astype(np.int64), some[True].astype(np.int64)

    def _sum(self, word: int) -> Span | None:
        constant, terms = self.pool.linear(word)
        constant = constant - MODULUS if constant >= HALF else constant
        factors = [f - MODULUS if f >= HALF else f for _, f in terms]
        ranges = [self.pool.range(w) for w, _ in terms]
        if sum(abs(f) * max(abs(a), abs(b)) for f, (a, b) in zip(factors, ranges, strict=True)) >= FITS:
            return None
        low = high = np.full(len(self.lanes), constant, dtype=np.int64)
        rest = self.pool.sum(0, terms)
        if constant and rest in self.state.bases:  # what was compared is the sum without its constant
            a, b = self.of(rest)
            low, high = low + a, high + b
        else:
            for (part, _), factor in zip(terms, factors, strict=True):
                a, b = self.of(part)
                low, high = low + np.minimum(a * factor, b * factor), high + np.maximum(a * factor, b * factor)
        first, last = self.pool.range(word)
        turn = np.where(low < first, MODULUS, np.where(high > last, -MODULUS, 0))
        return low + turn, high + turn

    def _product(self, x: int, y: int, shift: int) -> Span | None:
        (a, b), (c, d) = self.of(x), self.of(y)
        if (a < 0).any() or (c < 0).any() or (b > WORD).any() or (d > WORD).any():
            return None
        ends = [(p.astype(np.uint64) * q.astype(np.uint64)) >> np.uint64(shift) for p, q in ((a, c), (b, d))]
        fine = ends[1] <= np.uint64(WORD)
        return tuple(np.where(fine, e, np.uint64(w)).astype(np.int64) for e, w in zip(ends, (0, WORD), strict=True))  # type: ignore[return-value]


def products(spans: Spans, a: Ints, b: Ints, shift: int) -> Ints:
    """The low words of (a * b) >> shift, as ``Pool.product``; powers of two are also taken out where only the lane
    says that a factor has not overflowed."""
    pool = spans.pool
    result = np.full(len(a), UNKNOWN, dtype=np.int64)
    for x, y, rows in pairs(a, b):
        if UNKNOWN in (x, y):
            continue
        for p, i, some in _factors(spans, x, rows):
            for q, j, both in _factors(spans, y, rows[some]):
                at = rows[some][both]
                if at.size:
                    taken = i + j <= shift
                    result[at] = pool.product(p, q, shift - i - j) if taken else pool.product(x, y, shift)
    return result


def masked(spans: Spans, a: Ints, b: Ints) -> Ints:
    """The words a & b. A mask of neighbouring bits, if the lane knows that there is nothing above them, only drops the
    low bits, which is a simple function. A sign spread over a word, if the lane knows it, keeps the other word or none
    of it: GCC writes max(x, 0) as x & (~x >> 31)."""
    result = words(spans.pool, "and", a, b)
    word, mask = np.maximum(a, b), np.minimum(a, b)
    rows = np.flatnonzero((mask > 0) & (mask < FIRST) & (word >= FIRST))
    for x, m, at in pairs(word[rows], mask[rows]):
        step = m & -m
        if m & (m + step):
            continue
        low, high = (end[rows[at]] for end in spans.of(x))
        fine = rows[at][(low >= 0) & (high < m + step)]
        result[fine] = spans.pool.make("and", x, MODULUS - step & WORD)
    for x, y, at in pairs(a, b):
        for sign, other in ((x, y), (y, x)):
            if min(sign, other) >= FIRST and spans.pool.op(sign) == "sra" and spans.pool.operands(sign)[1] == 31:
                low, high = (end[at] for end in spans.of(spans.pool.operands(sign)[0]))
                result[at[(low >= 0) & (high < HALF)]] = 0
                result[at[((low >= -HALF) & (high < 0)) | ((low >= HALF) & (high <= WORD))]] = other
    return result


def united(spans: Spans, a: Ints, b: Ints) -> Ints:
    """The words a | b; their sum where only the lane says that they share no bit: one is a multiple of a power of two
    that is above the other."""
    pool, result = spans.pool, words(spans.pool, "or", a, b)
    rows = np.flatnonzero(result >= FIRST)
    for x, y, at in pairs(a[rows], b[rows]):
        if pool.op(int(result[rows[at[0]]])) != "or":
            continue
        for above, below in ((x, y), (y, x)):
            step = pool.step(above)
            low, high = (end[rows[at]] for end in spans.of(below))
            result[rows[at][(low >= 0) & (high < step)]] = pool.sum(0, ((x, 1), (y, 1)))
    return result


def _factors(spans: Spans, word: int, rows: Ints) -> list[tuple[int, int, Bools]]:
    """A factor without its power of two in the lanes where that is exact, as it is in the others."""
    everywhere = np.ones(len(rows), dtype=bool)
    if word < FIRST or spans.pool.stripped(word)[1]:
        return [(word, 0, everywhere)]
    for inner, k in spans.pool.halved(word):
        low, high = spans.of(inner)
        fine = (low[rows] >= 0) & (high[rows] <= WORD >> k)
        if fine.any():
            return [(inner, k, fine), (word, 0, ~fine)]
    return [(word, 0, everywhere)]


def _shared(ends: Ints) -> Ints:
    """The same numbers, in the memory of one where all are equal: most words are in few lanes, and elsewhere nothing is
    known of them but their range."""
    return np.broadcast_to(ends[0], ends.shape) if len(ends) and (ends == ends[0]).all() else ends
