"""Implications of facts for a condition that no interval decides."""

from math import gcd

import numpy as np

from decision.ir.arrays import Bools
from verify.prover.expressions import FIRST, MODULUS, WORD, Pool, signed
from verify.prover.lanes import Ints, Lanes
from verify.prover.multiples import AtMost, multiples
from verify.prover.spans import Spans
from verify.prover.state import Fact, State


def implied_in(state: State, number: int, condition: int) -> bool | None:
    """Returns what a set of facts, by its number, says about a condition."""
    key = number, condition
    if key not in state.implied:
        state.implied[key] = implied(state, state.fact_sets[number], condition)
    return state.implied[key]


def implied(state: State, facts: frozenset[Fact], condition: int) -> bool | None:
    """Returns whether a condition holds according to the facts; None where they do not decide.

    Facts about x < y are the condition itself, y < x, x = y and comparisons of other multiples. Facts about x = y are
    the condition itself, x < y and y < x.
    """
    pool = state.pool
    for side in (False, True):
        if (condition, side) in facts:
            return side
    op, (x, y) = pool.op(condition), pool.operands(condition)
    if op in ("sltu", "slt"):
        if (pool.make(op, y, x), True) in facts or (pool.make("eq", x, y), True) in facts:
            return False
        if op == "sltu":
            return _by_multiples(state, facts, condition)
    elif op == "eq":
        constant, terms = pool.linear(x)
        if constant == 0 and len(terms) == 2 and {c for _, c in terms} == {1, (1 << 32) - 1}:
            (a, _), (b, _) = terms
            if any((pool.make(less, p, q), True) in facts for less in ("sltu", "slt") for p, q in ((a, b), (b, a))):
                return False
    return None


def contradicted(state: State, lanes: Lanes) -> Bools:
    """Lanes that no input takes: a fact was learnt when the intervals of both sides were wider, and they now say the
    contrary."""
    spans, wrong = Spans(state, lanes), np.zeros(len(lanes), dtype=bool)
    ends: dict[int, Ints] = {}
    for number in np.unique(lanes.facts):
        rows = lanes.facts == number
        for condition, holds in state.fact_sets[number]:
            if state.pool.op(condition) in ("sltu", "slt"):
                if condition not in ends:
                    ends[condition] = spans.less(state.pool.op(condition), *state.pool.operands(condition))
                wrong |= rows & (ends[condition] == 1 - holds)
    return wrong


def by_common_factor(spans: Spans, facts: frozenset[Fact], condition: int, rows: Ints) -> bool | None:
    """Returns x < y from the facts about u < v, for x = c * u + a and y = c * v + b with a and b below c.

    It returns None if x or y may wrap in a lane of these rows. Compilers compare counts without their common factor.
    """
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
        greater = _asked(spans.state, facts, v, u)
        return None if greater is None else not greater
    return _asked(spans.state, facts, u, v)


def by_neighbours(spans: Spans, facts: frozenset[Fact], condition: int, rows: Ints) -> Ints:
    """Returns x < y in these lanes from facts about a third word: 1, 0, or -1 where they do not decide.

    An example: if z <= x, and z is not less than y, then x is not less than y.
    """
    pool = spans.pool
    op, (x, y) = pool.op(condition), pool.operands(condition)
    result = np.full(len(rows), -1, dtype=np.int64)
    if op not in ("sltu", "slt"):
        return result
    for fact, holds in facts:
        if pool.op(fact) != op or not {x, y} & set(pool.operands(fact)):
            continue
        less, more = pool.operands(fact)  # less < more, or more <= less
        if not holds:
            less, more = more, less
        if less == x:
            known = _side(_less(spans, op, y, more), 0, 1) if holds else _side(_less(spans, op, more, y), 1, 1)
        elif more == y:
            known = _side(_less(spans, op, less, x), 0, 1) if holds else _side(_less(spans, op, x, less), 1, 1)
        elif more == x:
            known = _side(_less(spans, op, less, y), 0, 0)
        else:
            known = _side(_less(spans, op, x, more), 0, 0)
        result = np.where(result < 0, known[rows], result)
    return result


def _less(spans: Spans, op: str, x: int, y: int) -> Ints:
    """``Spans.less``, of two multiples of one word also where their ranges meet."""
    known = spans.less(op, x, y)
    (word, times), (other, factor) = (_as_multiple(spans.pool, each) for each in (x, y))
    if op != "sltu" or word != other or not (known < 0).any():
        return known
    low, high = spans.of(word)
    fine = (known < 0) & (low >= 0) & (high <= WORD // max(times, factor))
    if times >= factor:
        return np.where(fine, 0, known)
    return np.where(fine & (low > 0), 1, known)


def _as_multiple(pool: Pool, word: int) -> tuple[int, int]:
    """The word that another is a multiple of, and how many times it is there."""
    constant, terms = pool.linear(word)
    factors = [signed(times) for _, times in terms]
    common = gcd(constant, *factors)
    if common <= 1:
        return word, 1
    parts = [(part, times // common) for (part, _), times in zip(terms, factors, strict=True)]
    return pool.sum(constant // common, parts), common


def _side(known: Ints, wanted: int, answer: int) -> Ints:
    """The answer where something is known to be so, else -1."""
    return np.where(known == wanted, answer, -1)


def _asked(state: State, facts: frozenset[Fact], x: int, y: int) -> bool | None:
    """Whether x < y, by the facts."""
    condition = state.pool.make("sltu", x, y)
    return bool(condition) if condition < FIRST else implied(state, facts, condition)


def _by_multiples(state: State, facts: frozenset[Fact], condition: int) -> bool | None:
    """Returns x < y from facts about other multiples of a word; None where they do not decide.

    The fact c * w <= d implies b * w <= d for b <= c; its contrary implies the contrary for b >= c.
    """
    for asked in _as_multiples(state, condition, True):
        for fact, holds in facts:
            for known in _as_multiples(state, fact, holds) if state.pool.op(fact) == "sltu" else ():
                if (known.word, known.rest) != (asked.word, asked.rest):
                    continue
                if known.holds and asked.factor <= known.factor and asked.more >= known.more:
                    return asked.holds
                if not known.holds and asked.factor >= known.factor and asked.more <= known.more:
                    return not asked.holds
    return None


def _as_multiples(state: State, condition: int, holds: bool) -> list[AtMost]:
    """``multiples``, each found once."""
    found = state.multiples.get((condition, holds))
    if found is None:
        found = state.multiples[condition, holds] = multiples(state.pool, condition, holds)
    return found
