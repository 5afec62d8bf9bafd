"""Comparisons that the lanes do not decide: each side becomes a lane of its own, with what it now knows.

A question about one word splits its interval exactly (``verify.intervals``); any other question becomes a fact. So all
lanes together always stand for all inputs, and each lane for no input that it should not.
"""

from dataclasses import dataclass

import numpy as np

from verify import bits
from verify.expressions import FIRST, MODULUS, UNKNOWN, WORD, Linear, Pool, signed
from verify.failures import Refused
from verify.intervals import Truth, preimage, simple, truth
from verify.lanes import Bools, Ints, Lanes, constants, joined, pairs
from verify.memory import address_of
from verify.spans import Spans
from verify.state import Fact, State

MOST_ENTRIES = 4096
"""Of a table that is looked up at once."""


def compare(state: State, lanes: Lanes, op: str, a: Ints, b: Ints) -> tuple[Lanes, Bools]:
    """Lanes in each of which ``op`` (sltu, slt, eq) of the two columns is decided, and how."""
    count = len(lanes)
    plain = (a >= 0) & (b >= 0) & (a < FIRST) & (b < FIRST)
    if plain.all():
        return lanes, constants(op, a, b).astype(bool)
    parts = [_Part(np.flatnonzero(plain), constants(op, a[plain], b[plain]).astype(bool))]
    rest = np.flatnonzero(~plain)
    for x, y, at in pairs(a[rest], b[rest]):
        parts += _decide(state, lanes, op, x, y, rest[at])
    return _gathered(state, lanes, parts, count)


def compared(state: State, lanes: Lanes, op: str, a: Ints, b: Ints) -> tuple[Lanes, Ints]:
    """A comparison as a word of 0 or 1: decided in each lane, but of what the program only counts the question itself
    where a lane does not know the answer."""
    kept = np.full(len(lanes), UNKNOWN, dtype=np.int64)
    for x, y, rows in pairs(a, b) if state.counted else ():
        word = UNKNOWN if UNKNOWN in (x, y) else bits.asked(state.pool, op, x, y)
        if word >= FIRST and frozenset(state.pool.atoms(word)) in state.counted:
            low, high = (end[rows] for end in Spans(state, lanes).of(word))
            kept[rows] = np.where(low == high, low, word)
    whole = np.flatnonzero(kept != UNKNOWN)
    if len(whole) == len(lanes):
        return lanes, kept
    rest = np.flatnonzero(kept == UNKNOWN)
    decided, holds = compare(state, lanes.take(rest) if len(whole) else lanes, op, a[rest], b[rest])
    if not len(whole):
        return decided, holds.astype(np.int64)
    state.widen(lanes)
    state.widen(decided)
    return joined([lanes.take(whole), decided]), np.concatenate([kept[whole], holds.astype(np.int64)])


class _Part:
    """Lanes (by their rows so far) for which a question is decided in one way, and what each knows by it."""

    def __init__(self, rows: Ints, holds: Bools, base: int = -1, low: Ints | None = None, high: Ints | None = None):
        self.rows, self.holds, self.base, self.low, self.high = rows, holds, base, low, high
        self.fact = self.compared = UNKNOWN


def _decide(state: State, lanes: Lanes, op: str, x: int, y: int, rows: Ints) -> list[_Part]:
    pool = state.pool
    condition = pool.make(op, x, y)
    if 0 <= condition < FIRST:
        return [_Part(rows, np.full(len(rows), condition, dtype=bool))]
    if condition == UNKNOWN:
        raise Refused("load-unwritten", 0, "a comparison uses a value that nothing has written")
    kind, (x, y) = pool.op(condition), pool.operands(condition)
    known = truth(pool, kind, x, y)
    if known is not None:
        return _pieces(state, lanes, known, rows, x if x >= FIRST else y)
    spans = Spans(state, lanes)
    decided = _by_spans(spans, kind, x, y)[rows]
    parts = [_Part(rows[decided == side], np.full(int((decided == side).sum()), bool(side))) for side in (0, 1)]
    rows = rows[decided < 0]
    for number in np.unique(lanes.facts[rows]):
        at = rows[lanes.facts[rows] == number]
        holds = implied_in(state, int(number), condition)
        if holds is None:
            holds = by_common_factor(spans, state.fact_sets[number], condition, at)
        if holds is not None:
            parts.append(_Part(at, np.full(len(at), holds, dtype=bool)))
            continue
        for side in (False, True):
            part = _Part(at, np.full(len(at), side, dtype=bool))
            part.fact = condition
            parts.append(part)
    return parts


def _by_spans(spans: Spans, op: str, x: int, y: int) -> Ints:
    """1 where x < y by what the lanes know of both, 0 where not, -1 where that does not say."""
    (a, b), (c, d) = spans.of(x), spans.of(y)
    first, last = (0, WORD) if op == "sltu" else (-1 - (WORD >> 1), WORD >> 1)
    fine = (np.minimum(a, c) >= first) & (np.maximum(b, d) <= last) & (op != "eq")
    return np.where(fine & (b < c), 1, np.where(fine & (a >= d), 0, -1))


def implied_in(state: State, number: int, condition: int) -> bool | None:
    """What a set of facts, by its number, says about a condition."""
    key = number, condition
    if key not in state.implied:
        state.implied[key] = implied(state.pool, state.fact_sets[number], condition)
    return state.implied[key]


def implied(pool: Pool, facts: frozenset[tuple[int, bool]], condition: int) -> bool | None:
    """What the facts say about a condition: itself, or for x < y that y < x holds or x = y."""
    for side in (False, True):
        if (condition, side) in facts:
            return side
    op, (x, y) = pool.op(condition), pool.operands(condition)
    if op in ("sltu", "slt"):
        if (pool.make(op, y, x), True) in facts or (pool.make("eq", x, y), True) in facts:
            return False
        if op == "sltu":
            return _by_multiples(pool, facts, x, y)
    elif op == "eq":
        constant, terms = pool.linear(x)
        if constant == 0 and len(terms) == 2 and {c for _, c in terms} == {1, (1 << 32) - 1}:
            (a, _), (b, _) = terms
            if any((pool.make(less, p, q), True) in facts for less in ("sltu", "slt") for p, q in ((a, b), (b, a))):
                return False
    return None


def by_common_factor(spans: Spans, facts: frozenset[Fact], condition: int, rows: Ints) -> bool | None:
    """What the facts say about x < y by that of u < v, where x is c * u + a and y is c * v + b, a and b below c, and no
    lane of these rows lets either wrap: compilers compare counts without the factor that both have."""
    pool = spans.pool
    if pool.op(condition) != "sltu" or not facts:
        return None
    ends = [pool.linear(word) for word in pool.operands(condition)]
    together = MODULUS
    for _, terms in ends:
        for _, times in terms:
            together |= times
    factor = together & -together
    if factor == 1:
        return None
    parts, rests = [], []
    for constant, terms in ends:
        rest = constant % factor
        part = pool.sum(constant // factor, [(word, signed(times) // factor) for word, times in terms])
        low, high = spans.of(part)
        if (low[rows] < 0).any() or (high[rows] > (WORD - rest) // factor).any():
            return None
        parts.append(part)
        rests.append(rest)
    (u, v), (a, b) = parts, rests
    if a < b:  # x < y is u <= v
        greater = _asked(pool, facts, v, u)
        return None if greater is None else not greater
    return _asked(pool, facts, u, v)


def _asked(pool: Pool, facts: frozenset[Fact], x: int, y: int) -> bool | None:
    """Whether x < y, by the facts."""
    condition = pool.make("sltu", x, y)
    return bool(condition) if condition < FIRST else implied(pool, facts, condition)


@dataclass(frozen=True)
class _AtMost:
    """factor * word <= rest + more, or where ``holds`` is false the contrary: the rest a word without sign, and nothing
    wraps that is done to it."""

    word: int
    factor: int
    rest: Linear
    more: int
    holds: bool


def _by_multiples(pool: Pool, facts: frozenset[tuple[int, bool]], x: int, y: int) -> bool | None:
    """What is known of other multiples of a word says about x < y: of c * w <= d, that b * w <= d for b <= c; of the
    contrary the contrary for b >= c."""
    for asked in _multiples(pool, x, y, True):
        for fact, holds in facts:
            if pool.op(fact) != "sltu":
                continue
            a, b = pool.operands(fact)
            for known in _multiples(pool, a, b, holds):
                if (known.word, known.rest) != (asked.word, asked.rest):
                    continue
                if known.holds and asked.factor <= known.factor and asked.more >= known.more:
                    return asked.holds
                if not known.holds and asked.factor >= known.factor and asked.more <= known.more:
                    return not asked.holds
    return None


def _multiples(pool: Pool, x: int, y: int, less: bool) -> list[_AtMost]:
    """x < y, or where ``less`` is false the contrary, as comparisons of a multiple of a word with something else."""
    found = []
    for multiple, other, below in ((x, y, True), (y, x, False)):
        (constant, terms), rest = pool.linear(multiple), pool.linear(other)
        part = pool.sum(0, rest[1])
        if constant or len(terms) != 1 or part < FIRST:
            continue
        (word, factor), (low, high) = terms[0], pool.range(part)
        bounds = pool.range(word)
        fits = (low >= 0 and high + rest[0] <= WORD) or pool.multiple(part, 1 << rest[0].bit_length())
        if bounds[0] < 0 or factor * bounds[1] > WORD or not fits:
            continue
        more = rest[0] - 1 if below else rest[0]  # c * w < d is c * w <= d - 1; d < c * w the contrary of c * w <= d
        found.append(_AtMost(word, factor, (0, rest[1]), more, less == below))
    return found


def _pieces(state: State, lanes: Lanes, known: Truth, rows: Ints, compared: int) -> list[_Part]:
    row = state.base(known.base)
    state.widen(lanes)
    low, high = (end[rows] for end in Spans(state, lanes).of(known.base))
    parts = []
    for first, last, holds in known.pieces:
        a, b = np.maximum(low, first), np.minimum(high, last)
        at = a <= b
        if at.any():
            part = _Part(rows[at], np.full(int(at.sum()), holds), row, a[at], b[at])
            part.compared = compared
            parts.append(part)
    return parts


def _gathered(state: State, lanes: Lanes, parts: list[_Part], count: int) -> tuple[Lanes, Bools]:
    rows = np.concatenate([p.rows for p in parts])
    holds = np.concatenate([p.holds for p in parts])
    new = lanes if len(rows) == count and (rows == np.arange(count)).all() else lanes.take(rows)
    start = 0
    for part in parts:
        at = slice(start, start + len(part.rows))
        start += len(part.rows)
        if part.base >= 0:
            assert part.low is not None
            assert part.high is not None
            _narrow(state, new, at, part.base, part.low, part.high, part.compared)
        elif part.fact != UNKNOWN and len(part.rows):
            side = bool(part.holds[0])
            for number in np.unique(new.facts[at]):
                chosen = np.flatnonzero(new.facts[at] == number) + at.start
                new.facts[chosen] = state.facts(state.fact_sets[number] | {(part.fact, side)})
                _note(state, new, chosen, part.fact, np.full(len(chosen), side), np.full(len(chosen), side))
    return new, holds


def _narrow(state: State, lanes: Lanes, at: slice, row: int, low: Ints, high: Ints, compared: int) -> None:
    """Put a base's interval into some lanes; where it, or the word that was ``compared``, has one value left, that
    takes the word's place."""
    changed = np.flatnonzero((lanes.low[row, at] != low) | (lanes.high[row, at] != high))
    if not changed.size:
        return
    lanes.low[row, at], lanes.high[row, at] = low, high
    word = state.words[row]
    _note(state, lanes, changed + at.start, word, low[changed], high[changed])
    single = changed[low[changed] == high[changed]]
    if single.size:
        part = lanes.values[:, single + at.start]
        lanes.values[:, single + at.start] = np.where(part == word, low[single] & 0xFFFF_FFFF, part)
    if compared not in (UNKNOWN, word):
        rows = changed + at.start
        low, high = Spans(state, lanes.take(rows)).of(compared)
        single = rows[low == high]
        part = lanes.values[:, single]
        lanes.values[:, single] = np.where(part == compared, low[low == high] & 0xFFFF_FFFF, part)


def _note(state: State, lanes: Lanes, rows: Ints, word: int, low: Ints, high: Ints) -> None:
    words = np.full(len(rows), word, dtype=np.int64)
    lanes.trail[rows] = state.trails.extend(lanes.trail[rows], words, low.astype(np.int64), high.astype(np.int64))


def split_addresses(state: State, lanes: Lanes, address: Ints, step: int) -> tuple[Lanes, Ints]:
    """Lanes in each of which the address is plain: a look-up at a computed index becomes one lane an entry.

    ``step``: bytes of an entry. Only addresses that are a simple function of one word with few values are split.
    """
    parts: list[_Part] = []
    fixed: list[Ints] = []
    for word in np.unique(address):
        rows = np.flatnonzero(address == word)
        if address_of(state, int(word)) is not None or simple(state.pool, int(word)) == word:
            parts.append(_Part(rows, np.ones(len(rows), dtype=bool)))
            fixed.append(np.full(len(rows), word, dtype=np.int64))
            continue
        low, high = state.pool.range(int(word))
        low, high = max(low, state.constants[0] - step), min(high, state.constants[0] + len(state.constants[1]) + step)
        if high - low > MOST_ENTRIES * step:
            raise Refused("load-address", 0, f"a look-up at {state.pool.text(int(word))} has too many cases")
        covered = np.zeros(len(rows), dtype=np.int64)
        base, _ = preimage(state.pool, int(word), [(0, (1 << 32) - 1)])
        row = state.base(base)
        state.widen(lanes)
        width = lanes.high[row, rows] - lanes.low[row, rows] + 1
        for value in range(low, high + 1):
            holds = truth(state.pool, "eq", int(word), value)
            if holds is None:
                continue
            for first, last, true in holds.pieces:
                a, b = np.maximum(lanes.low[row, rows], first), np.minimum(lanes.high[row, rows], last)
                at = (a <= b) & true
                if at.any():
                    covered[at] += (b - a + 1)[at]
                    parts.append(_Part(rows[at], np.ones(int(at.sum()), dtype=bool), row, a[at], b[at]))
                    fixed.append(np.full(int(at.sum()), value, dtype=np.int64))
        if (covered != width).any():
            raise Refused("load-outside", 0, f"a look-up at {state.pool.text(int(word))} may leave the constants")
    new, _ = _gathered(state, lanes, parts, len(lanes))
    return new, np.concatenate(fixed)
