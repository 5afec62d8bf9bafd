"""Each step from a student to its states by itself: the grid, the histories, the extremes, the corners, the draw."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from decision.ir.arrays import Integers
from decision.ir.forest import Forest, oblivious
from decision.ir.formats import FEATURE_LIMIT
from decision.policy import cells
from decision.policy.actions import TanhMap
from decision.policy.cells import act, states
from decision.policy.policy import Header, Limits, Observation
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names

CONGESTION = {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5}
ACTION, INFLATION, RATIO = {"kind": "previous_action"}, {"kind": "rtt_inflation"}, {"kind": "cnp_ratio"}
MOST, LEAST = FEATURE_LIMIT - 1, -(2**31)
Split = tuple[int, int]


def student(
    trees: Sequence[tuple[Sequence[Split], Sequence[int]]], features: Sequence[Any], window: int = 2
) -> Student:
    path = {"base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
    observation = Observation.model_validate({"window": window, "features": list(features), **path})
    made = tuple(oblivious(tuple(splits), tuple(leaves)) for splits, leaves in trees)
    limits = Limits(rate_min="1 ppm", rate_max="100 %", rate_initial="100 %")  # type: ignore[arg-type]
    forest = Forest(feature_names(observation), made, (0,), 16)
    action = TanhMap(kind="tanh_map", step=0.2)
    return Student("drawn", Header(observation=observation, action=action, limits=limits), forest, "0" * 64)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def listed(arrays: Sequence[Integers]) -> list[list[int]]:
    return [array.tolist() for array in arrays]


TWO = student(
    [([(0, 100), (1, 5000)], [900, -900, 500, 300]), ([(3, 9), (2, -7)], [40, 50, 60, 70])], [ACTION, CONGESTION]
)
"""The action, the congestion, and both of the decision before."""


def tuples(rows: Integers) -> list[tuple[int, ...]]:
    return [tuple(row) for row in rows.tolist()]


# --- the grid --------------------------------------------------------------------------------------------------------


def test_a_column_is_cut_by_the_thresholds_of_all_lags_together() -> None:
    grid = cells._CellGrid.of(TWO)
    assert listed(grid.thresholds) == [[100], [5000], [-7], [9]]
    assert listed(grid.low) == [[LEAST, -6, 101], [0, 10, 5001]] * 2
    assert listed(grid.high) == [[-7, 100, MOST], [9, 5000, MOST]] * 2
    assert (grid.signals, grid.kept, grid.actions, grid.width) == ([1], [3], [0, 2], 2)


@pytest.mark.parametrize(
    ("thresholds", "low", "high"),
    [
        ([], [0], [256]),
        ([-1, 0, 7], [0, 1, 8], [0, 7, 256]),
        ([254, 255], [0, 255, 256], [254, 255, 256]),
        ([255, 256, 300], [0, 256], [255, 256]),
    ],
)
def test_a_signal_is_cut_where_it_can_be(thresholds: list[int], low: list[int], high: list[int]) -> None:
    """The ratio goes from 0 to 256; a threshold of its last value, or of none, cuts nothing."""
    grid = cells._CellGrid.of(student([([(0, t)], [1, 2]) for t in thresholds], [RATIO], 1))
    assert (listed(grid.low), listed(grid.high)) == ([low], [high])
    assert (grid.signals, grid.kept, grid.actions, grid.width) == ([0], [], [], 1)


@pytest.mark.parametrize(("threshold", "most"), [(5, MOST), (MOST - 1, MOST), (MOST, MOST + 1), (2**30, 2**30 + 1)])
def test_above_the_last_threshold_there_is_one_value_more(threshold: int, most: int) -> None:
    grid = cells._CellGrid.of(student([([(1, threshold)], [1, 2])], [ACTION, CONGESTION], 1))
    assert (listed(grid.low)[1], listed(grid.high)[1]) == ([0, threshold + 1], [threshold, most])
    assert (listed(grid.low)[0], listed(grid.high)[0]) == ([LEAST], [MOST])


def test_of_several_thresholds_the_last_one_counts() -> None:
    grid = cells._CellGrid.of(student([([(1, t)], [1, 2]) for t in (5, 2**30)], [ACTION, CONGESTION], 1))
    assert listed(grid.high)[1] == [5, 2**30, 2**30 + 1]
    past = cells._CellGrid.of(student([([(0, t)], [1, 2]) for t in (2**31 - 2, 2**31 - 1, 3 * 2**30)], [ACTION], 1))
    assert (listed(past.low), listed(past.high)) == ([[LEAST, 2**31 - 1]], [[2**31 - 2, 2**31 - 1]])


def test_three_features_over_three_decisions_each_have_their_columns() -> None:
    grid = cells._CellGrid.of(student([([(0, 5), (4, 6), (8, 7)], range(8))], [INFLATION, ACTION, RATIO], 3))
    assert (grid.signals, grid.kept, grid.actions, grid.width) == ([0, 2], [3, 5, 6, 8], [1, 4, 7], 3)
    assert listed(grid.low)[::3] == [[-1024, 6]] * 3
    assert listed(grid.low)[2::3] == [[0, 8]] * 3
    assert listed(grid.high)[2::3] == [[7, 256]] * 3


def test_the_newest_signals_are_at_both_ends_and_between() -> None:
    grid = cells._CellGrid.of(TWO)
    assert grid.newest(rng()).tolist() == [[0], [69], [5000], [5001], [289_687], [MOST]], "their own thresholds only"
    assert grid.next_signals(rng()).tolist() == [[0], [10], [5001]]
    beyond = cells._CellGrid.of(student([([(0, t)], [1, 2]) for t in (-1, 0, 7, 255, 256, 300)], [RATIO], 1))
    assert beyond.newest(rng())[:, 0].tolist() == [0, 1, 3, 7, 8, 47, 255, 256]


def test_a_history_is_placed_by_its_signals_intervals_and_the_actions_own_thresholds() -> None:
    grid = cells._CellGrid.of(TWO)
    rows = np.array([[100, 77, -7, 9], [101, 0, -6, 10], [-7, 0, 100, 5000], [-6, 0, 101, 5001]])
    assert grid.places(rows).tolist() == [[0, 0, 0, 1], [1, 0, 1, 2], [0, 0, 1, 2], [0, 0, 1, 3]]


# --- small steps -----------------------------------------------------------------------------------------------------


def test_between_two_edges_is_the_geometric_mean_or_the_middle_below_zero() -> None:
    low = np.array([0, 0, 5, 99, -10, -7, -3, 8, -1])
    high = np.array([0, 99, 5, 9999, 20, -2, 4, 9, 99])
    assert cells._middle(low, high).tolist() == [0, 9, 5, 999, 5, -5, 0, 8, 49]


def test_all_combinations_or_so_many_drawn_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    axes = [np.array([1, 2, 3]), np.array([10, 20])]
    monkeypatch.setattr(cells, "NEWEST", 6)
    assert tuples(cells._product(axes, rng())) == list(product((1, 2, 3), (10, 20)))
    assert cells._product([], rng()).shape == (1, 0)
    monkeypatch.setattr(cells, "NEWEST", 5)
    some = cells._product(axes, rng())
    assert some.shape == (5, 2)
    assert set(tuples(some)) <= set(product((1, 2, 3), (10, 20)))
    monkeypatch.setattr(cells, "NEWEST", 300)
    many = cells._product([np.arange(50), np.arange(50) + 100], rng())
    assert many.shape == (300, 2)
    assert [len(set(column)) > 40 for column in many.T.tolist()] == [True, True]


def test_rows_are_told_apart_by_a_number_that_is_the_same_everywhere() -> None:
    """Which histories a seed draws depends on it: the order of these numbers is the order of the rows."""
    rows = np.array([[1, 2, 3], [1, 3, 2], [-1, 0, 2**31], [0, 0, 0]])
    assert cells._digest(rows).tolist() == [8355014272348655469, 1257387303492879259, 5539296149031480103, 0]
    every = np.array(list(product(range(-8, 8), repeat=3)))
    assert len(np.unique(cells._digest(every))) == len(every)


def test_an_action_is_the_programs_not_the_trees() -> None:
    """Clamped to the action map's least and most, whatever the trees add up to."""
    made = student([([(1, 5000)], [100_000, -100_000]), ([(0, 0)], [0, 7])], [ACTION, CONGESTION], 1)
    assert act(made, np.array([[0, 0], [0, 5001], [1, 5001], [1, 0]])).tolist() == [13_107, -10_923, -10_923, 13_107]
    gentle = student([([(1, 5000)], [100, -100]), ([(0, 0)], [0, 7])], [ACTION, CONGESTION], 1)
    assert act(gentle, np.array([[0, 0], [1, 0], [0, 5001], [1, 5001]])).tolist() == [100, 107, -100, -93]


# --- histories -------------------------------------------------------------------------------------------------------


def followed(made: Student) -> set[tuple[int, ...]]:
    """All histories of a student, by what becomes of each state."""
    grid = cells._CellGrid.of(made)
    width, columns = grid.width, len(grid.thresholds)
    newest = list(product(*(grid.low[c].tolist() for c in grid.signals)))
    front = {(0,) * columns}
    seen = set(front)
    while front:
        rows = []
        for row, signals in product(sorted(front), newest):
            now = dict(enumerate(row)) | dict(zip(grid.signals, signals, strict=True))
            rows.append([now[c] for c in range(columns)])
        after = [[0] * width + row[: columns - width] for row in rows]
        for became, row, action in zip(after, rows, act(made, np.array(rows)).tolist(), strict=True):
            for n, column in enumerate(grid.actions):
                became[column] = row[grid.actions[n - 1]] if n else action
        front = set(map(tuple, after)) - seen
        seen |= front
    return seen


def many(window: int, trees: int = 10) -> Student:
    """A student of many histories: actions of one decision lead to other ones."""
    random = rng(3)
    splits = [(n % (2 * window), int(random.integers(0, 250) - 125 * (n % 2 == 0))) for n in range(trees)]
    return student([([s], random.integers(-90, 90, 2).tolist()) for s in splits], [ACTION, RATIO], window)


SMALL = {
    "two decisions": TWO,
    "the action behind the signal": student(
        [([(0, 3), (1, 50)], [900, -900, 500, 300]), ([(2, 9), (3, -7)], [40, 50, 60, 70])], [INFLATION, ACTION]
    ),
    "one decision": student([([(0, 100), (1, 5)], [900, -900, 500, 300])], [ACTION, RATIO], 1),
    "three decisions": student([([(5, 3), (2, 20)], [90, -90, 50, 30]), ([(4, 10)], [3, -40])], [ACTION, RATIO], 3),
    "no action": student([([(0, 3), (3, 50)], [900, -900, 500, 300])], [INFLATION, RATIO]),
    "only actions": student([([(0, 3), (1, 50)], [900, -900, 500, 300])], [ACTION]),
    "three signals": student([([(0, 3), (4, 50), (5, 7)], range(0, 80, 10))], [INFLATION, RATIO, {"kind": "rate"}]),
    "two signals": student([([(1, 3), (2, 50), (3, 7)], range(0, 80, 10))], [ACTION, INFLATION, RATIO]),
}


@pytest.mark.parametrize("name", SMALL)
def test_histories_are_all_that_the_student_can_produce(name: str) -> None:
    made = SMALL[name]
    histories, closed = cells._histories(made, cells._CellGrid.of(made), rng())
    assert closed
    assert len(histories) == len(set(tuples(histories)))
    assert set(tuples(histories)) == followed(made)


def test_a_forest_of_many_histories_is_followed_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never more than ``FOLLOWED`` a generation once there are ``EXACT``."""
    made = many(2)
    every = followed(made)
    grid = cells._CellGrid.of(made)
    fronts: list[int] = []
    width = len(grid.next_signals(rng()))
    real = cells.act

    def counted(of: Student, rows: Integers) -> Integers:
        fronts.append(len(rows) // width)
        return real(of, rows)

    monkeypatch.setattr(cells, "act", counted)
    monkeypatch.setattr(cells, "FOLLOWED", 20)
    monkeypatch.setattr(cells, "GENERATIONS", 2)
    for exact in (30, 100):
        fronts.clear()
        monkeypatch.setattr(cells, "EXACT", exact)
        histories, closed = cells._histories(made, grid, rng())
        assert not closed
        assert len(histories) == len(set(tuples(histories)))
        assert set(tuples(histories)) < every
        cut = fronts.index(20)
        assert sum(fronts[:cut]) <= exact
        assert len(fronts) > cut + 1
        assert max(fronts[cut:]) == 20
    monkeypatch.setattr(cells, "EXACT", len(every))
    histories, closed = cells._histories(made, grid, rng())
    assert (set(tuples(histories)), closed) == (every, True), "just as many are all followed"
    monkeypatch.setattr(cells, "EXACT", 0)
    largest = max(fronts)
    for followed_rows, whole in ((largest, True), (largest - 1, False)):
        monkeypatch.setattr(cells, "FOLLOWED", followed_rows)
        closed = cells._histories(made, grid, rng())[1]
        assert closed is whole, "a generation that is small enough is followed as a whole"


def test_a_part_of_the_histories_is_drawn_by_the_seed_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    made = many(3, 16)
    grid = cells._CellGrid.of(made)
    asked: list[int] = []
    real = cells.act
    monkeypatch.setattr(cells, "act", lambda of, rows: asked.append(len(rows)) or real(of, rows))
    for name, value in (("EXACT", 10), ("FOLLOWED", 5), ("GENERATIONS", 2)):
        monkeypatch.setattr(cells, name, value)
    first = cells._histories(made, grid, rng(1))
    assert not first[1]
    assert len(asked) == 2 * 3 + 1
    assert np.array_equal(first[0], cells._histories(made, grid, rng(1))[0])
    assert not np.array_equal(first[0], cells._histories(made, grid, rng(2))[0])


def test_where_signals_were_drawn_not_all_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = cells._CellGrid.of(TWO)
    for newest, closed in ((4, True), (3, False)):  # three intervals of the congestion
        monkeypatch.setattr(cells, "NEWEST", newest)
        assert cells._histories(TWO, grid, rng())[1] is closed


# --- extremes, corners, draws ----------------------------------------------------------------------------------------


def grid_of(actions: int, kept: int) -> cells._CellGrid:
    """Columns: a signal, past signals cut at 10 and 20, actions cut at 0."""
    thresholds = [np.array([5]), *[np.array([9, 19])] * kept, *[np.array([0])] * actions]
    low = [np.array([0, 6]), *[np.array([0, 10, 20])] * kept, *[np.array([LEAST, 1])] * actions]
    high = [np.array([5, 99]), *[np.array([9, 19, 50])] * kept, *[np.array([0, 99])] * actions]
    places = list(range(1 + kept + actions))
    return cells._CellGrid(thresholds, low, high, [0], places[1 : 1 + kept], places[1 + kept :], 1)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_of_each_cell_those_go_on_whose_actions_lie_furthest_out(count: int) -> None:
    grid = grid_of(count, 1)
    rows = rng(count).integers(-1000, 1000, (600, 2 + count))
    rows[:, 1] = rng(9).choice([0, 10, 20], 600)
    rows[:, 0] = 0
    chosen = cells._extremes(rows, grid, rng())
    assert len(set(tuples(chosen))) == len(chosen)
    assert set(tuples(chosen)) <= set(tuples(rows))
    units = [*np.eye(count, dtype=int), *-np.eye(count, dtype=int)]
    signs = list(product((-1, 0, 1), repeat=count)) if count <= 3 else units
    place, own = grid.places(rows), grid.places(chosen)
    distinct = np.unique(place, axis=0)
    for cell in distinct:
        there, kept = rows[(place == cell).all(axis=1)], chosen[(own == cell).all(axis=1)]
        assert 1 <= len(kept) <= len(signs)
        for sign in signs:
            assert (kept[:, 2:] @ np.array(sign)).max() == (there[:, 2:] @ np.array(sign)).max() or not any(sign)
        if count <= 2 and len(there) > 40:
            assert len(kept) < len(there)


def test_beside_the_extremes_one_of_a_cell_is_drawn() -> None:
    grid = grid_of(1, 0)
    rows = np.stack([np.zeros(400), np.arange(1, 401)], axis=1).astype(np.int64)
    drawn = [set(cells._extremes(rows, grid, rng(seed))[:, 1].tolist()) for seed in range(4)]
    assert all({1, 400} < chosen and len(chosen) == 3 for chosen in drawn)
    assert len(set().union(*drawn)) >= 5


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_extremes_of_the_last_cell_are_there_however_many_there_are(count: int) -> None:
    every = {(signal, action) for signal in (5, 15, 25)[:count] for action in (0, 5, 10)}
    kept = cells._extremes(np.array([(0, *row) for row in sorted(every)]), grid_of(1, 1), rng())
    assert {(0, signal, action) for signal, action in every if action != 5} <= set(tuples(kept))


def test_without_actions_one_of_a_cell_is_all() -> None:
    rows = np.array([[0, 0], [0, 3], [0, 10], [0, 12], [0, 20]])
    chosen = cells._extremes(rows, grid_of(0, 1), rng())
    assert len(chosen) == 3
    assert {min(n // 10, 2) for n in chosen[:, 1].tolist()} == {0, 1, 2}


@pytest.mark.parametrize("kept", [1, 2])
def test_a_history_stands_for_the_corners_of_its_cell(kept: int) -> None:
    grid = grid_of(1, kept)
    places = {0: (0, 9, 2), 10: (10, 19, 13), 20: (20, 50, 31)}
    rows = np.array([[0, *past, 77] for past in list(product(places, repeat=kept))[:5]])
    wanted = {
        (0, *corner, 77)
        for row in rows.tolist()
        for corner in [
            *product(*(places[past][:2] for past in row[1:-1])),
            tuple(places[past][2] for past in row[1:-1]),
        ]
    }
    made = cells._cornered(rows, grid, 2**kept, rng())
    assert set(tuples(made)) == wanted
    assert len(made) == len(rows) * (2**kept + 1)
    one = cells._cornered(np.repeat(rows, 60, axis=0), grid, None, rng())
    assert one.shape == (len(rows) * 60, rows.shape[1])
    for n, row in enumerate(rows.tolist()):
        for column in range(1, 1 + kept):
            assert set(one[60 * n : 60 * n + 60, column].tolist()) == set(places[row[column]])
    assert set(one[:, -1].tolist()) == {77}
    often = cells._cornered(np.repeat(rows[:1], 900, axis=0), grid, None, rng())
    shares = [np.mean(often[:, 1] == place) for place in places[int(rows[0, 1])]]
    assert shares == pytest.approx([1 / 3] * 3, abs=0.06), "each of the three as often"
    assert cells._cornered(rows, grid_of(1 + kept, 0), 1, rng()) is rows


def test_a_draw_takes_one_of_every_cell_before_a_second() -> None:
    places = np.repeat(np.arange(40)[:, None], 25, axis=0)
    for count in (10, 40, 60, 80):
        drawn = cells._spread(places, count, rng())
        assert drawn.tolist() == sorted(set(drawn.tolist()))
        assert len(drawn) == count
        _, times = np.unique(places[drawn], return_counts=True)
        assert set(times.tolist()) <= {count // 40, -(-count // 40)} - {0}
    assert not np.array_equal(cells._spread(places, 10, rng(1)), cells._spread(places, 10, rng(2)))


def test_a_draw_takes_rare_values_as_often_as_others() -> None:
    """Two columns, and one that makes a cell of every row: of each value of a column about as many are drawn."""
    first = np.repeat(np.arange(4), [3000, 700, 250, 50])
    second = rng().permutation(np.repeat(np.arange(2), [3900, 100]))
    places = np.stack([first, second, np.arange(4000)], axis=1)
    times = np.zeros((2, 4))
    for seed in range(20):
        drawn = cells._spread(places, 60, rng(seed))
        for n, column in enumerate((first, second)):
            times[n] += np.bincount(column[drawn], minlength=4)
    of_first, of_second = times[0] / times[0].sum(), times[1] / times[1].sum()
    # A third of the weight is each column's: 1/12 of it for each of four values, 1/6 for each of two, the rest even.
    assert of_first[3] == pytest.approx(1 / 12 + (50 / 4000) * 2 / 3, abs=0.035)
    assert of_first[0] == pytest.approx(1 / 12 + (3000 / 4000) * 2 / 3, abs=0.06)
    assert of_second[1] == pytest.approx(1 / 6 + (100 / 4000) * 2 / 3, abs=0.05)


def test_intervals_that_no_state_lies_in_are_counted() -> None:
    grid = grid_of(1, 1)
    every = np.array([[0, 0, 0], [1, 1, 0], [0, 2, 1]])
    assert cells._missed(every, grid) == 0
    assert cells._missed(every[:2], grid) == 1
    assert cells._missed(every[:1], grid) == 3
    assert cells._missed(np.array([[0, 0, 0], [1, 1, 0]]), grid_of(2, 0)) == 0, "of actions none is missed"
    # A threshold below the signal's least value, or at its greatest, makes an interval that nothing lies in.
    outer = cells._CellGrid([np.array([-1, 5, 99])], *([[np.array(x)] for x in ([0, 6], [5, 99])]), [0], [], [], 1)
    assert cells._missed(np.array([[1], [2]]), outer) == 0
    assert cells._missed(np.array([[1]]), outer) == 1


# --- all together ----------------------------------------------------------------------------------------------------


def wanted_rows(made: Student, corners: bool) -> set[tuple[int, ...]]:
    """The chosen histories at all their corners behind all newest signals."""
    grid = cells._CellGrid.of(made)
    chosen = cells._extremes(cells._histories(made, grid, rng())[0], grid, rng())
    past = cells._cornered(chosen, grid, 2 ** len(grid.kept), rng()) if corners else chosen
    found = set()
    for row in past.tolist():
        for signals in grid.newest(rng()).tolist():
            for column, value in zip(grid.signals, signals, strict=True):
                row[column] = value
            found.add(tuple(row))
    return found


@pytest.mark.parametrize("name", ["two decisions", "one decision", "no action", "only actions"])
def test_states_are_the_corners_of_all_cells(name: str) -> None:
    made = SMALL[name]
    found = states(made, 1)
    if name == "no action":  # which of a cell's histories stands for it does not matter there
        assert {row[0] for row in wanted_rows(made, True)} == set(found.rows[:, 0].tolist())
    own = made.forest.thresholds()
    keys = [tuple(int(np.searchsorted(own.get(c, []), v)) for c, v in enumerate(row)) for row in found.rows.tolist()]
    assert tuples(found.rows) == sorted(set(tuples(found.rows)))
    assert found.actions.tolist() == (act(made, found.rows) / 65536).tolist()
    assert found.cells == np.prod([len(own.get(c, [])) + 1 for c in range(found.rows.shape[1])])
    assert (found.visited, found.missed, found.closed) == (len(set(keys)), 0, True)


@pytest.mark.parametrize("name", ["two decisions", "one decision", "no action", "three signals", "only actions"])
def test_states_are_those_of_the_chosen_histories(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With every history chosen nothing is drawn: just these rows. All corners of the past where that is not too many,
    else one place in each, else of some histories."""
    made = SMALL[name]
    monkeypatch.setattr(cells, "_extremes", lambda histories, *_: histories)
    grid = cells._CellGrid.of(made)
    each = len(followed(made)) * len(grid.newest(rng()))
    wanted = wanted_rows(made, corners=True)
    for most in (cells.STATES, each * 2 ** len(grid.kept)):
        monkeypatch.setattr(cells, "STATES", most)
        found = states(made, 1)
        assert (set(tuples(found.rows)), found.closed) == (wanted, True), "as many as that are not too many"
    if grid.kept:
        for most in (each * 2 ** len(grid.kept) - 1, each):
            monkeypatch.setattr(cells, "STATES", most)
            fewer = states(made, 1)
            assert fewer.closed
            assert each / 3 < len(fewer.rows) <= each
            for now, all_ in zip(fewer.rows.T.tolist(), np.array(sorted(wanted)).T.tolist(), strict=True):
                assert set(now) <= set(all_)
    monkeypatch.setattr(cells, "STATES", each - 1)
    assert states(made, 1).closed is False


def test_where_states_are_too_many_some_histories_stand_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = cells._spread
    monkeypatch.setattr(cells, "_spread", lambda places, n, random: asked.append(n) or real(places, n, random))
    monkeypatch.setattr(cells, "_extremes", lambda histories, *_: histories)
    made = many(2)
    newest = len(cells._CellGrid.of(made).newest(rng()))
    for most, count in (
        (100 * newest, 100),
        (100 * newest + newest - 1, 100),
        (65 * newest, 65),
        (newest, 64),
        (1, 64),
    ):
        monkeypatch.setattr(cells, "STATES", most)
        found = states(made, 1)
        assert asked.pop() == count
        assert not found.closed
        assert len(found.rows) <= count * newest
        histories = {row[:1] + row[2:] for row in tuples(found.rows)}
        assert len(histories) <= count
        behind = {row[1] for row in tuples(found.rows)}
        assert behind == set(cells._CellGrid.of(made).newest(rng())[:, 0].tolist())
    first, again, other = states(made, 1), states(made, 1), states(made, 2)
    assert np.array_equal(first.rows, again.rows)
    assert not np.array_equal(first.rows, other.rows)
