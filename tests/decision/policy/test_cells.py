"""The states that a student can run into: none is invented, none is left out, and no interval is too narrow.

Slow: further lags, and the same cells from the same seed.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.ir.forest import Forest, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import evaluate
from decision.policy.actions import TanhMap
from decision.policy.cells import States, act, states
from decision.policy.policy import Header, Limits, Observation
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names

CONGESTION = {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5}
MOST = 2**24 - 1


def student(trees, window=2, features=({"kind": "previous_action"}, CONGESTION), bias=0):
    path = {"base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
    observation = Observation.model_validate({"window": window, "features": list(features), **path})
    made = tuple(oblivious(tuple((f, t) for f, t in splits), tuple(leaves)) for splits, leaves in trees)
    limits = Limits(rate_min="1 ppm", rate_max="100 %", rate_initial="100 %")
    ensemble = Forest(feature_names(observation), made, (bias,), 16)
    action = TanhMap(kind="tanh_map", step=0.2)
    return Student("drawn", Header(observation=observation, action=action, limits=limits), ensemble, "0" * 64)


@st.composite
def drawn(draw, window=2, most_trees=4):
    """Students whose thresholds crowd around few values, so that cells of one integer appear."""
    congestion = st.one_of(st.integers(0, 12), st.integers(0, MOST - 1), st.sampled_from([2**30, 5_000_000]))
    action = st.integers(-11_000, 13_200)
    trees = []
    for _ in range(draw(st.integers(1, most_trees))):
        columns = draw(st.lists(st.integers(0, 2 * window - 1), min_size=1, max_size=3))
        splits = [(c, draw(action if c % 2 == 0 else congestion)) for c in columns]
        leaves = draw(st.lists(st.integers(-12_000, 12_000), min_size=2 ** len(splits), max_size=2 ** len(splits)))
        trees.append((splits, leaves))
    return student(trees, window)


def cells_of(made, rows):
    own = made.forest.thresholds()
    cut = [np.searchsorted(np.asarray(own.get(c, [])), rows[:, c]) for c in range(rows.shape[1])]
    return {tuple(row) for row in np.stack(cut, axis=1).tolist()}


def walk(made, seed, flows=300, steps=30):
    """States that flows run into, from new ones on, while the network sends anything."""
    random, width = np.random.default_rng(seed), 2
    thresholds = np.asarray([t for c, ts in made.forest.thresholds().items() if c % 2 for t in ts], dtype=np.int64)
    row = np.zeros((flows, width * made.observation.window), dtype=np.int64)
    seen = []
    for _ in range(steps):
        anything = np.exp(random.uniform(0, np.log(MOST), flows)).astype(np.int64)
        edges = random.choice(thresholds, flows) + random.integers(0, 2, flows) if len(thresholds) else anything
        row[:, 1] = np.where(random.random(flows) < 0.5, anything, edges)
        seen.append(row.copy())
        following = np.zeros_like(row)
        following[:, width:] = row[:, :-width]
        following[:, 2::2] = row[:, :-2:2]
        following[:, 0] = act(made, row)
        row = following
    return np.concatenate(seen)


@given(drawn())
@settings(max_examples=examples(25))
def test_no_flow_runs_into_a_cell_that_was_not_looked_into(made: Student) -> None:
    found = states(made, 1)
    assert found.closed
    assert cells_of(made, walk(made, 5)) <= cells_of(made, found.rows)
    assert found.visited == len(cells_of(made, found.rows)) <= found.cells


@given(drawn())
@settings(max_examples=examples(25))
def test_past_actions_are_the_students_own(made: Student) -> None:
    found = states(made, 1)
    own = {0, *np.rint(found.actions * 2**16).astype(int).tolist()}
    assert set(found.rows[:, [0, 2]].reshape(-1).tolist()) <= own


@given(drawn())
@settings(max_examples=examples(25))
def test_there_is_a_state_on_both_sides_of_every_threshold_of_the_newest_signal(made: Student) -> None:
    values = set(states(made, 1).rows[:, 1].tolist())
    for threshold in made.forest.thresholds().get(1, []):
        assert {threshold, threshold + 1} <= values


def many(window: int, seed: int = 3) -> Student:
    """More histories than are all followed."""
    random = np.random.default_rng(seed)
    trees = []
    for column in list(range(2 * window)) * 3:
        other = int(random.integers(0, 2 * window))
        splits = [
            (c, int(random.integers(-9000, 9000) if c % 2 == 0 else np.exp(random.uniform(3, 16))))
            for c in (column, other)
        ]
        trees.append((splits, random.integers(-4000, 4000, 4).tolist()))
    return student(trees, window)


@pytest.mark.slow_except("0")
@pytest.mark.parametrize("lag", range(4))
def test_a_narrow_interval_is_hit_also_where_cells_are_too_many(lag: int) -> None:
    """Behind it, whatever the other features are: in the company of every interval of the newest signal."""
    made = many(4)
    at, column = 7_654_321, 2 * lag + 1
    narrow = oblivious(((column, at), (column, at + 1)), (0, 9, 0, 0))
    e = made.forest
    found = states(Student(**vars(made) | {"forest": Forest(e.features, (*e.trees, narrow), (0,), 16)}), 1)
    assert not found.closed
    assert found.visited < found.cells
    hit = found.rows[found.rows[:, column] == at + 1]
    assert len(hit)
    newest = found.rows[:, 1]
    assert set(hit[:, 1].tolist()) == ({at + 1} if lag == 0 else set(newest.tolist()))


@pytest.mark.slow
def test_the_same_seed_looks_into_the_same_cells() -> None:
    made = many(4)
    first, second, other = states(made, 1), states(made, 1), states(made, 2)
    assert np.array_equal(first.rows, second.rows)
    assert not np.array_equal(first.rows, other.rows)


def test_an_action_is_what_the_decision_does_there() -> None:
    made = student([([(1, 5000), (0, 100)], [3000, -4000, 20_000, -20_000]), ([(3, 9)], [5, -7])], bias=1)
    program = made.program()
    flow = {"rate_q30": np.array([2**29]), "action_1": np.array([101]), "congestion_q20_1": np.array([10])}
    event = {name: np.array([0]) for name in FLOW_RATE.event_names} | {"response_ns": np.array([30_000])}
    _, after = evaluate(program, event, made.params(), flow)
    row = np.array([[101, after["congestion_q20_1"][0], 0, 10]])
    assert after["action_1"] == act(made, row)
    assert act(made, row) == -10_923  # clamped to the action map's least


def test_a_student_without_a_past_has_the_newest_signals_cells() -> None:
    made = student([([(0, 100)], [5, 9])], 1, (CONGESTION,))
    found: States = states(made, 1)
    assert found.rows[:, 0].tolist()[:3] == [0, 9, 100]
    assert (found.cells, found.visited, found.closed) == (2, 2, True)


def test_signals_stay_in_their_range() -> None:
    kinds = [{"kind": "rate"}, {"kind": "cnp_ratio"}, {"kind": "rtt_inflation"}]
    made = student([([(0, 2**21), (1, 300), (2, -500)], range(8))], 1, kinds)
    rows = states(made, 1).rows
    assert rows[:, 0].max() < 2**20
    assert rows[:, 1].max() == 256
    assert rows[:, 2].min() == -1024


def hidden(dummies: int) -> Student:
    """A tree for a narrow interval of the past, among trees that do nothing but cut both signals into intervals."""
    random = np.random.default_rng(5)
    cuts = [([(1, int(a)), (3, int(b))], [0, 0, 0, 0]) for a, b in random.integers(1, MOST - 1, (dummies, 2))]
    return student([([(3, 7_000_000), (3, 7_000_040)], [0, 9000, 0, 0]), ([(1, 4000), (0, 100)], range(4)), *cuts])


def test_intervals_that_are_not_looked_into_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thresholds that do nothing would otherwise crowd out the one interval that does."""
    assert states(hidden(3), 1).missed == 0
    monkeypatch.setattr("decision.policy.cells.STATES", 20_000)
    found = states(hidden(120), 1)
    past = found.rows[:, 3]
    assert not ((past > 7_000_000) & (past <= 7_000_040)).any() or found.missed > 0
    assert found.missed > 0
    assert not found.closed


@settings(max_examples=10)
@given(made=drawn())
def test_no_interval_of_a_small_student_is_missed(made: Student) -> None:
    assert states(made, 1).missed == 0
