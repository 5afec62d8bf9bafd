"""Comparisons that the lanes do not decide: each side becomes a lane of its own, with what it now knows.

A question about one word splits its interval exactly (``verify.prover.intervals``); any other becomes a fact, and
narrows what it is about. All lanes together therefore always stand for all inputs, and each lane for no input that it
should not.
"""

import numpy as np

from decision.ir.arrays import Bools
from verify.code.failures import Refused
from verify.prover import bits
from verify.prover.expressions import FIRST, UNKNOWN
from verify.prover.implications import by_common_factor, by_neighbours, implied_in
from verify.prover.intervals import Truth, simple, truth
from verify.prover.lanes import Ints, Lanes, constants, joined, pairs
from verify.prover.memory import address_of
from verify.prover.spans import Spans
from verify.prover.state import Fact, State

MAX_ENTRIES = 4096
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
    known = truth(pool, kind, x, y, state.bases)
    if known is not None:
        return _pieces(state, lanes, known, rows, x if x >= FIRST else y)
    spans = Spans(state, lanes)
    decided = spans.less(kind, x, y)[rows]
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
        answers = by_neighbours(spans, state.fact_sets[number], condition, at)
        parts += [_Part(at[answers == side], answers[answers == side].astype(bool)) for side in (0, 1)]
        at = at[answers < 0]
        for side in (False, True):
            part = _Part(at, np.full(len(at), side, dtype=bool))
            part.fact = condition
            parts.append(part)
    return parts


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
    learnt: dict[Fact, list[Ints]] = {}
    start = 0
    for part in parts:
        at = np.arange(start, start + len(part.rows))
        start += len(part.rows)
        if part.base >= 0:
            assert part.low is not None
            assert part.high is not None
            narrower = _narrow(state, new, at, part.base, part.low, part.high, part.compared)
            if narrower.size:
                low, high = (ends[part.base, narrower] for ends in (new.low, new.high))
                _note(state, new, narrower, state.words[part.base], low, high)
        elif part.fact != UNKNOWN and len(part.rows):
            side = bool(part.holds[0])
            learnt.setdefault((part.fact, side), []).append(at)
            for number in np.unique(new.facts[at]):
                chosen = at[new.facts[at] == number]
                new.facts[chosen] = state.facts(state.fact_sets[number] | {(part.fact, side)})
                _note(state, new, chosen, part.fact, np.full(len(chosen), side), np.full(len(chosen), side))
    for (fact, side), some in learnt.items():
        _bound(state, new, np.concatenate(some), fact, side)
    return new, holds


def _bound(state: State, lanes: Lanes, at: Ints, fact: int, holds: bool) -> None:
    """Narrow the inputs and cuts that a comparison is about by what the lanes know of the other side, where that tells
    that one is not 0, or which number it is: of counts that is what programs ask. Any other end would only be one more
    thing for a certificate to say of each cut. Sums and shifts are left as they are, and a lane that nothing would be
    left of. It follows from the comparison, so that no condition is noted on the way."""
    kind, (x, y) = state.pool.op(fact), state.pool.operands(fact)
    if not any(state.pool.op(word) == "atom" for word in (x, y)):
        return
    spans = Spans(state, lanes.take(at))
    (a, b), (c, d), ordered = spans.of(x), spans.of(y), spans.ordered(kind, x, y)
    if holds:
        left, right = (a, np.minimum(b, d - 1)), (np.maximum(c, a + 1), d)
    else:
        left, right = (np.maximum(a, c), b), (c, np.minimum(d, b))
    for word, before, (low, high) in ((x, (a, b), left), (y, (c, d), right)):
        tells = (low == high) | ((low > 0) & (before[0] <= 0))
        rows = np.flatnonzero(ordered & (low <= high) & tells & ((low > before[0]) | (high < before[1])))
        if state.pool.op(word) == "atom" and rows.size:
            row = state.base(word)
            state.widen(lanes)
            _narrow(state, lanes, at[rows], row, low[rows], high[rows], word)


def _narrow(state: State, lanes: Lanes, at: Ints, row: int, low: Ints, high: Ints, compared: int) -> Ints:
    """Put a base's interval into some lanes, and return those that it says more of; where it, or the word that was
    ``compared``, has one value left, that takes the word's place."""
    changed = np.flatnonzero((lanes.low[row, at] != low) | (lanes.high[row, at] != high))
    word, rows = state.words[row], at[changed]
    if not changed.size:
        return rows
    lanes.low[row, at], lanes.high[row, at] = low, high
    single = changed[low[changed] == high[changed]]
    if single.size:
        part = lanes.values[:, at[single]]
        lanes.values[:, at[single]] = np.where(part == word, low[single] & 0xFFFF_FFFF, part)
    if compared not in (UNKNOWN, word):
        low, high = Spans(state, lanes.take(rows)).of(compared)
        single = rows[low == high]
        part = lanes.values[:, single]
        lanes.values[:, single] = np.where(part == compared, low[low == high] & 0xFFFF_FFFF, part)
    return rows


def _note(state: State, lanes: Lanes, rows: Ints, word: int, low: Ints, high: Ints) -> None:
    words = np.full(len(rows), word, dtype=np.int64)
    lanes.trail[rows] = state.trails.extend(lanes.trail[rows], words, low.astype(np.int64), high.astype(np.int64))


def split_addresses(state: State, lanes: Lanes, address: Ints, step: int) -> tuple[Lanes, Ints]:
    """Lanes in each of which the address is plain: a look-up at a computed index becomes one lane an entry.

    ``step``: bytes of an entry. Only addresses that are a simple function of words with few values are split: of a sum
    of several words first by one of them after the other.
    """
    pool, more = state.pool, True
    while more:
        more = False
        made: list[tuple[int, _Part]] = []
        for word in map(int, np.unique(address)):
            rows = np.flatnonzero(address == word)
            term = _term(state, word)
            if term is not None:
                more = True
                rest = pool.sum(0, ((word, 1), (term[0], -term[1])))
                by_value = _by_value(state, lanes, term[0], rows, *pool.range(term[0]))
                made += [(pool.sum(value * term[1], ((rest, 1),)), part) for value, part in by_value]
            elif address_of(state, word) is not None or simple(pool, word) == word:
                made.append((word, _Part(rows, np.ones(len(rows), dtype=bool))))
            else:
                low, high = pool.range(word)
                end = state.constants[0] + len(state.constants[1]) + step
                low, high = max(low, state.constants[0] - step), min(high, end)
                if high - low > MAX_ENTRIES * step:
                    raise Refused("load-address", 0, f"a look-up at {pool.text(word)} has too many cases")
                made += _by_value(state, lanes, word, rows, low, high)
        lanes, _ = _gathered(state, lanes, [part for _, part in made], len(lanes))
        address = np.concatenate([np.full(len(part.rows), value, dtype=np.int64) for value, part in made])
    return lanes, address


def _by_value(state: State, lanes: Lanes, word: int, rows: Ints, low: int, high: int) -> list[tuple[int, _Part]]:
    """The lanes of these rows by the value of a word; it has no other than ``low`` to ``high``."""
    questions = {value: truth(state.pool, "eq", word, value) for value in range(low, high + 1)}
    bases = {holds.base for holds in questions.values() if holds is not None}
    if len(bases) != 1:
        raise Refused("load-address", 0, f"a look-up at {state.pool.text(word)} is by no one word")
    row = state.base(bases.pop())
    state.widen(lanes)
    covered = np.zeros(len(rows), dtype=np.int64)
    width = lanes.high[row, rows] - lanes.low[row, rows] + 1
    made = []
    for value, holds in questions.items():
        for first, last, true in () if holds is None else holds.pieces:
            a, b = np.maximum(lanes.low[row, rows], first), np.minimum(lanes.high[row, rows], last)
            at = (a <= b) & true
            if at.any():
                covered[at] += (b - a + 1)[at]
                made.append((value, _Part(rows[at], np.ones(int(at.sum()), dtype=bool), row, a[at], b[at])))
    if (covered != width).any():
        raise Refused("load-outside", 0, f"a look-up at {state.pool.text(word)} may leave the constants")
    return made


def _term(state: State, word: int) -> tuple[int, int] | None:
    """The term of a sum of several that has the fewest values, and its factor; None where the word is no address in
    question, or a term has more values than a table has entries."""
    if word < FIRST or address_of(state, word) is not None:
        return None
    _, terms = state.pool.linear(word)
    spans = [high - low for low, high in (state.pool.range(part) for part, _ in terms)]
    if len(terms) < 2 or max(spans) > MAX_ENTRIES:
        return None
    return terms[spans.index(min(spans))]
