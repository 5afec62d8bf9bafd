"""What a decision answers for: nothing beyond its flow's life, and as little as asked of what others caused."""

from dataclasses import replace
from typing import Any

import numpy as np

from teachers.credit import Credit, Presence, answered, counted, to_go


def column(values: list[Any], kind: Any = np.float32) -> Any:
    return np.array(values, dtype=kind)[:, None]


def presence(begun: list[int], ended: list[int], rate: float = 1.0) -> Presence:
    steps = len(begun)
    never = column([False] * steps, bool)
    order = column(list(range(steps)), int)
    return Presence(order, column([rate] * steps), never, column(begun, int), column(ended, int))


def answers(delta: list[float], credit: Credit, there: Presence | None = None, horizon: int = 2) -> list[float]:
    return [round(float(v), 6) for v in to_go(column(delta), there, credit, horizon=horizon, gamma=0.5)[:, 0]]


def test_without_weights_a_decision_answers_for_the_deltas_that_follow() -> None:
    assert answers([9.0, 1.0, 2.0, 4.0], Credit()) == [2.0, 4.0, 4.0, 0.0]
    there = presence([1, 5, 9, 9], [0, 0, 3, 3])
    assert answers([9.0, 1.0, 2.0, 4.0], Credit(), there) == [2.0, 4.0, 4.0, 0.0]


def test_a_horizon_beyond_the_segment_ends_with_it() -> None:
    assert answers([9.0, 1.0], Credit(), horizon=10) == [1.0, 0.0]


def test_what_came_with_others_counts_by_those_who_were_there() -> None:
    """Two flows; eight more begin after the first decision: of ten that are there later, two were there."""
    there = presence([2, 10, 10], [0, 0, 0])
    assert answers([0.0, -1.0, -1.0], Credit(others="shared"), there) == [-0.3, -1.0, 0.0]


def test_what_came_as_others_left_counts_by_those_who_stayed() -> None:
    there = presence([10, 10, 10], [0, 8, 8])
    assert answers([0.0, 1.0, 1.0], Credit(others="shared"), there, horizon=1) == [0.2, 1.0, 0.0]


def test_apart_nothing_counts_from_where_others_come_or_leave_nor_what_an_observation_cannot_show_yet() -> None:
    there = presence([2, 2, 2, 3, 3, 3], [0, 0, 0, 0, 0, 0])
    assert answers([1.0] * 6, Credit(others="apart"), there) == [1.5, 1.0, 0.0, 0.0, 1.0, 0.0]
    left = presence([2] * 6, [0, 0, 0, 1, 1, 1])
    assert answers([1.0] * 6, Credit(others="apart"), left) == [1.5, 1.0, 0.0, 0.0, 1.0, 0.0]


def test_the_first_deltas_of_a_flow_are_nobodys() -> None:
    there = presence([1, 1, 1, 1], [0] * 4)
    assert answers([-1.0, -1.0, -1.0, -1.0], Credit(newcomer=3), there, horizon=1) == [0.0, 0.0, -1.0, 0.0]


def test_who_sends_little_answers_for_little_congestion_and_for_all_that_is_free() -> None:
    there = presence([4, 4, 4], [0, 0, 0], rate=1 / 16)
    assert answers([0.0, -1.0, 1.0], Credit(by_rate=True), there, horizon=1) == [-0.25, 1.0, 0.0]
    fast = presence([4, 4, 4], [0, 0, 0], rate=1.0)
    assert answers([0.0, -1.0, 1.0], Credit(by_rate=True), fast, horizon=1) == [-1.0, 1.0, 0.0]


def test_a_life_that_is_over_is_answered_to_its_end() -> None:
    length, done = np.array([4, 4, 1]), np.array([False, True, True])
    assert answered(length, done, 4, 2).T.tolist() == [
        [True, True, False, False],
        [True, True, True, False],
        [False, False, False, False],
    ]


def test_decisions_whose_rate_the_limits_clip_are_left_out() -> None:
    there = replace(presence([1, 1, 1], [0, 0, 0]), clipped=column([True, False, True], bool))
    assert counted(column([0.5] * 3), there, Credit(count_clipped=False), 1)[:, 0].tolist() == [False, True, False]
    assert counted(column([0.5] * 3), there, Credit(), 1).all()


def test_decisions_in_a_link_that_stays_empty_are_left_out() -> None:
    delta = column([1.0, 1.0, 1.0, 0.4, 1.0, 1.0, 1.0])
    assert counted(delta, None, Credit(count_idle=False), 2)[:, 0].tolist() == [
        False,
        True,
        True,
        True,
        False,
        False,
        False,
    ]
    assert counted(delta, None, Credit(), 2).all()
