"""What facts say: never what is not so for some input, and of multiples of a word as much as there is to say."""

import itertools

import numpy as np
import pytest

from verify.prover.expressions import FIRST, WORD
from verify.prover.implications import by_neighbours, contradicted, implied
from verify.prover.lanes import Lanes
from verify.prover.spans import Spans
from verify.prover.state import State

MOST = 6
"""Of both words."""


def test_what_is_said_of_a_multiple_by_another_is_so_wherever_the_other_is() -> None:
    """factor * w against d + more, in either order: every pair of such comparisons, at every pair of numbers."""
    state = State((), (0, b""))
    w, d = state.pool.atom("w", 0, MOST), state.pool.atom("d", 0, MOST)
    words = list(itertools.product(range(MOST + 1), repeat=2))
    asked, truth = [], {}
    for factor, more, turned in itertools.product((1, 2, 3), (0, 1, 2), (False, True)):
        sides = state.pool.sum(0, ((w, factor),)), state.pool.sum(more, ((d, 1),))
        condition = state.pool.make("sltu", *sides[::-1] if turned else sides)
        if condition >= FIRST:
            asked.append(condition)
            truth[condition] = [(v + more < factor * u) if turned else (factor * u < v + more) for u, v in words]
    said = 0
    for known, holds, question in itertools.product(asked, (False, True), asked):
        found = implied(state, frozenset({(known, holds)}), question)
        met = {q for k, q in zip(truth[known], truth[question], strict=True) if k == holds}
        assert found is None or met <= {found}
        said += found is not None
    assert said > len(asked) * 4


@pytest.mark.parametrize("wide", ["w", "d"])
def test_nothing_is_said_of_a_multiple_or_a_sum_that_may_wrap(wide: str) -> None:
    """2 w < d + 1 of w = 2^31 and of d = 2^32 - 1 are no comparisons of what they look like."""
    state = State((), (0, b""))
    w, d = (state.pool.atom(name, 0, WORD if name == wide else MOST) for name in "wd")
    less = [state.pool.make("sltu", state.pool.sum(0, ((w, k),)), state.pool.sum(1, ((d, 1),))) for k in (2, 1)]
    assert implied(state, frozenset({(less[0], True)}), less[1]) is None


def test_nothing_is_said_of_another_words_multiple() -> None:
    state = State((), (0, b""))
    w, v, d = (state.pool.atom(name, 0, MOST) for name in "wvd")
    known, asked = (state.pool.make("sltu", state.pool.sum(0, ((word, k),)), d) for word, k in ((w, 2), (v, 1)))
    assert implied(state, frozenset({(known, True)}), asked) is None
    assert implied(state, frozenset({(known, True)}), state.pool.make("sltu", w, d)) is True


def test_a_lane_is_taken_by_no_input_if_what_it_learnt_since_excludes_what_was_compared() -> None:
    """Lanes that know different facts, of each whether its own leave it an input."""
    ends = [(a, b) for a in range(4) for b in range(4) if a <= b]
    cases = list(itertools.product(ends, ends, (False, True)))
    state = State((), (0, b""))
    x, y = state.pool.atom("x", 0, 3), state.pool.atom("y", 0, 3)
    rows = [state.base(x), state.base(y)]
    low = np.array([(a, c) for (a, _), (c, _), _ in cases]).T[rows]
    high = np.array([(b, d) for (_, b), (_, d), _ in cases]).T[rows]
    less = state.pool.make("sltu", x, y)
    facts = np.array([state.facts(frozenset({(less, holds)})) for _, _, holds in cases])
    none = np.zeros(len(cases), dtype=np.int64)
    lanes = Lanes(np.zeros((0, len(cases)), dtype=np.int64), low, high, facts, none - 1, none, none, none)
    inputs = [
        any((p < q) == holds for p in range(a, b + 1) for q in range(c, d + 1)) for (a, b), (c, d), holds in cases
    ]
    assert (~contradicted(state, lanes)).tolist() == inputs


def test_what_is_said_by_a_third_word_is_so_wherever_it_is_compared() -> None:
    """Two of three words compared, and one of them within an interval; a multiple of one against another."""
    state = State((), (0, b""))
    atoms = [state.pool.atom(name, 0, MOST) for name in "xyz"]
    words = [*atoms, state.pool.sum(0, ((atoms[0], 2),)), state.pool.sum(0, ((atoms[0], 3),))]
    row = state.base(atoms[2])
    lanes = state.start()
    state.widen(lanes)
    lanes.low[row], lanes.high[row] = 2, 4
    spans = Spans(state, lanes)
    inputs = [v for v in itertools.product(range(MOST + 1), repeat=3) if 2 <= v[2] <= 4]
    values = {word: [v[k] for v in inputs] for k, word in enumerate(atoms)}
    values |= {word: [(k + 2) * v[0] for v in inputs] for k, word in enumerate(words[3:])}
    pairs = [(p, q) for p, q in itertools.permutations([*words, 3], 2) if state.pool.make("sltu", p, q) >= FIRST]
    values[3] = [3] * len(inputs)
    said = 0
    for known, holds, question in itertools.product(pairs, (False, True), pairs):
        facts = frozenset({(state.pool.make("sltu", *known), holds)})
        (found,) = by_neighbours(spans, facts, state.pool.make("sltu", *question), np.array([0]))
        less = [a < b for a, b in zip(values[known[0]], values[known[1]], strict=True)]
        met = {a < b for k, a, b in zip(less, values[question[0]], values[question[1]], strict=True) if k == holds}
        assert found < 0 or met <= {bool(found)}
        said += found >= 0
    assert said > 100
