"""The search for the state where a student is furthest outside its teacher's actions, on teachers that are formulas."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from decision.ir.arrays import Floats
from decision.policy.cells import States
from decision.policy.neighbourhood import Around
from decision.policy.policy import Observation
from rlcc.gate import neighbourhood
from rlcc.gate.neighbourhood import BATCH, extreme, furthest, teacher_actions
from rlcc.recipe import Neighbourhood

Formula = Callable[[Floats], Floats]
PATH = {"base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
KINDS = [{"kind": "previous_action"}, {"kind": "rtt_inflation"}]
SEEN = Observation.model_validate({"window": 2, "features": KINDS, **PATH})
"""Columns: the last action, the inflation, and both of the decision before; Q16 and Q10."""
OPTIONS = Neighbourhood(share=0.2, action=0.02, warm_up=3, seed=7)
STUDENT: Any = SimpleNamespace(observation=SEEN)
TEACHER: Any = "a formula"


def found(monkeypatch: pytest.MonkeyPatch, rows: Any, actions: Any, formula: Formula) -> neighbourhood.Outside:
    """``furthest`` for a student of these actions in these states."""
    known = States(np.asarray(rows, dtype=np.int64), np.asarray(actions, dtype=np.float64), 50, 40, 3, False)

    def states(student: Any, seed: int) -> States:
        assert (student, seed) == (STUDENT, 7)
        return known

    def asked(teacher: Any, observation: Observation, at: Floats, warm_up: int) -> Floats:
        assert (teacher, observation, warm_up) == (TEACHER, SEEN, 3)
        return formula(at)

    monkeypatch.setattr(neighbourhood, "states", states)
    monkeypatch.setattr(neighbourhood, "teacher_actions", asked)
    return furthest(STUDENT, TEACHER, OPTIONS)


def steep(rows: Floats) -> Floats:
    """Of the inflation mostly, so that a neighbourhood has a range."""
    return np.asarray(0.1 * np.tanh((rows[:, 1] - 2000) / 500) + rows[:, 0] / 2**18, dtype=np.float64)


def drawn(count: int, seed: int = 0) -> tuple[NDArray[np.int64], Floats]:
    random = np.random.default_rng(seed)
    rows = np.stack([random.integers(-9000, 9000, count), random.integers(0, 4000, count)] * 2, axis=1)
    return rows, random.uniform(-0.3, 0.3, count)


@pytest.mark.parametrize(("count", "seed", "bias"), [(1, 0, 0.0), (700, 1, 0.0), (700, 2, 0.3), (700, 3, -0.3)])
def test_the_furthest_of_all_states_is_found_on_either_side(
    monkeypatch: pytest.MonkeyPatch, count: int, seed: int, bias: float
) -> None:
    rows, actions = drawn(count, seed)
    actions += bias
    outside = found(monkeypatch, rows, actions, steep)
    least, most = (extreme(TEACHER, SEEN, rows.astype(float), np.full(count, s), OPTIONS) for s in (-1, 1))
    off = np.maximum(np.maximum(actions - most, least - actions), 0)
    at = int(off.argmax())
    assert outside.distance == pytest.approx(off[at])
    assert outside.action == actions[at]
    assert outside.teacher == pytest.approx((least[at], most[at]))
    assert outside.direct == pytest.approx(np.abs(actions - steep(rows.astype(float))).max())
    assert (outside.states, outside.cells, outside.visited, outside.missed, outside.closed) == (count, 50, 40, 3, False)


def test_the_search_ends_where_no_state_can_be_further_out(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 3 * BATCH
    rows, flat = drawn(count)[0], lambda at: np.zeros(len(at))
    far = np.full(count, 0.1)
    far[BATCH + 5] = -0.4  # against a teacher that does nothing the distance is the action
    outside = found(monkeypatch, rows, far, flat)
    assert (outside.distance, outside.compared) == (0.4, BATCH)
    alike = found(monkeypatch, rows, np.full(count, 0.1), flat)
    assert (alike.distance, alike.compared) == (pytest.approx(0.1), BATCH), "as far is not further"
    states = {tuple(row) for row in rows.astype(float).tolist()}

    def more_around(at: Floats) -> Floats:
        """Nothing in a state, 0.15 wherever else in its neighbourhood."""
        return np.asarray([0.0 if tuple(place) in states else 0.15 for place in at.tolist()])

    falling = np.where(np.arange(count) < BATCH, 0.3, 0.1)
    falling[-1] = 0.2
    more = found(monkeypatch, rows, falling, more_around)
    assert more.distance == pytest.approx(0.15)
    assert more.compared == BATCH + 1, "of a batch only those that could be further out"


def test_a_student_inside_everywhere_is_outside_by_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _ = drawn(5)
    outside = found(monkeypatch, rows, steep(rows.astype(float)), steep)
    assert (outside.distance, outside.direct, outside.compared) == (0, 0, 5)
    inside = found(monkeypatch, rows, steep(rows.astype(float)) + 1e-6, steep)
    assert inside.distance == 0


@pytest.mark.parametrize("silent", [np.nan, np.inf, -np.inf])
def test_what_a_teacher_does_not_say_is_no_number(monkeypatch: pytest.MonkeyPatch, silent: float) -> None:
    rows, actions = drawn(9)
    rows[:, 1] = 1000
    rows[4, 1], rows[6, 1] = 3000, 3100

    def at_some(at: Floats) -> Floats:
        return np.where(at[:, 1] >= 3000, silent, 0.0)

    outside = found(monkeypatch, rows, actions, at_some)
    assert np.isnan(outside.distance)
    assert np.isnan(outside.direct)
    assert f"rtt_inflation_q10 = {rows[4, 1]} " in outside.state
    assert (outside.action, outside.compared) == (actions[4], 0)


def test_a_teacher_that_says_nothing_around_a_state_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, actions = drawn(9)
    rows[:, 1] = 1000
    rows[4, 1], actions[:] = 2900, -0.1  # in itself it says something

    def above(at: Floats) -> Floats:
        return np.where(at[:, 1] > 3000, np.nan, 0.0)

    outside = found(monkeypatch, rows, actions, above)
    assert np.isnan(outside.distance)
    assert np.isnan(outside.direct)
    assert "rtt_inflation_q10 = 2900 " in outside.state
    assert outside.compared == 9


def test_the_state_is_told_feature_by_feature_newest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    outside = found(monkeypatch, [[6554, 512, -3277, 1024]], [0.5], lambda at: np.zeros(len(at)))
    assert outside.state == (
        "action_1 = 6554 (previous action 1.1000), rtt_inflation_q10 = 512 (rtt inflation 1.5000), "
        "action_2 = -3277 (previous action 0.9500), rtt_inflation_q10_1 = 1024 (rtt inflation 2.0000)"
    )
    content = json.loads(json.dumps(vars(outside)))
    assert (content["teacher"], content["distance"], content["state"]) == ([0.0, 0.0], 0.5, outside.state)


def test_a_teacher_sees_the_windows_decisions_in_its_own_units(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def decided(*given: Any) -> Floats:
        asked.append(given)
        return np.array([[1.25, 9.0], [0.5, 9.0]])

    monkeypatch.setattr(neighbourhood, "decide_states", decided)
    rows = np.array([[6553.6, 512.0, -3276.8, 1024.0], [0.0, 0.0, 0.0, 256.0]])
    assert teacher_actions(TEACHER, SEEN, rows, 3).tolist() == [0.25, -0.5]
    ((teacher, seen, warm_up),) = asked
    assert (teacher, warm_up) == (TEACHER, 3)
    assert seen.tolist() == [[[1.1, 1.5], [0.95, 2.0]], [[1.0, 1.0], [1.0, 1.25]]]


# --- the range over a neighbourhood, of formulas of the place in it ---------------------------------------------------


def searched(monkeypatch: pytest.MonkeyPatch, formula: Formula, sign: int = 1, rows: int = 1) -> tuple[Floats, Floats]:
    """What is found where every neighbourhood goes from 0 to 1, and all places that were tried."""
    tried: list[Floats] = []

    def asked(teacher: Any, observation: Any, at: Floats, warm_up: int) -> Floats:
        tried.append(at)
        return formula(at)

    monkeypatch.setattr(Around, "box", lambda _, __, states: (np.zeros_like(states), np.ones_like(states)))
    monkeypatch.setattr(neighbourhood, "teacher_actions", asked)
    ends = extreme(TEACHER, SEEN, np.zeros((rows, 4)), np.full(rows, sign), OPTIONS)
    return ends, np.concatenate(tried)


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_range_ends_where_each_feature_says_so(monkeypatch: pytest.MonkeyPatch, sign: int) -> None:
    weights = np.array([1.0, -2.0, 4.0, -8.0])
    ends, tried = searched(monkeypatch, lambda at: at @ weights, sign, rows=2)
    assert ends.tolist() == [5 if sign > 0 else -10] * 2
    assert set(tried.reshape(-1).tolist()) == {0.0, 0.25, 0.5, 0.75, 1.0}


@pytest.mark.parametrize("start", [0.0, 0.5, 1.0])
def test_a_peak_is_found_from_each_start(monkeypatch: pytest.MonkeyPatch, start: float) -> None:
    """All features together at the low end, in the middle, at the high end: no single one would show the way."""
    ends, _ = searched(monkeypatch, lambda at: (at == start).all(axis=1) * 1.0)
    assert ends.tolist() == [1.0]


def test_no_more_than_these_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    _, tried = searched(monkeypatch, lambda at: np.zeros(len(at)))
    corners = {tuple(row) for row in tried.tolist() if len(set(row)) == 1}
    assert corners == {(start,) * 4 for start in (0.0, 0.5, 1.0)}


def test_a_place_that_was_found_is_kept_over_three_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stairs of two features: each sweep climbs one step of each."""
    stairs = [(0.0, 0.0), (0.25, 0.0), (0.25, 0.25), (0.5, 0.25), (0.5, 0.5), (0.75, 0.5), (0.75, 0.75)]
    height = {place: float(n) for n, place in enumerate(stairs)}

    def climbed(at: Floats) -> Floats:
        return np.asarray([height.get((u, v), -1.0) if (w, x) == (0, 0) else -1.0 for u, v, w, x in at])

    ends, _ = searched(monkeypatch, climbed)
    assert ends.tolist() == [6.0]


def test_the_greatest_of_all_that_was_tried_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a later sweep, or a later start, finds less."""
    random = np.random.default_rng(4)
    values = {}

    def drawn_once(at: Floats) -> Floats:
        return np.asarray([values.setdefault(tuple(row), float(random.random())) for row in at.tolist()])

    for sign in (1, -1):
        ends, tried = searched(monkeypatch, drawn_once, sign)
        every = [values[tuple(row)] for row in tried.tolist()]
        assert ends.tolist() == [max(every) if sign > 0 else min(every)]


def test_each_state_is_searched_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    low = np.arange(12.0).reshape(3, 4) * 10
    monkeypatch.setattr(Around, "box", lambda *_: (low, low + np.array([1.0, 2.0, 4.0, 8.0])))
    monkeypatch.setattr(neighbourhood, "teacher_actions", lambda _, __, at, ___: at.sum(axis=1))
    rows, sign = np.zeros((3, 4)), np.array([1, -1, 1])
    ends = extreme(TEACHER, SEEN, rows, sign, OPTIONS)
    assert ends.tolist() == (low.sum(axis=1) + np.array([15, 0, 15])).tolist()
