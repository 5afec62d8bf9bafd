"""No network, however it signals, leaves a flow with a history that is not among those that are told."""

import numpy as np
import pytest
from numpy.typing import NDArray
from teacher_pairs import ACTION, CONGESTION, INFLATION, RATIO, START, driven, policy, student

from decision.ir.arrays import Integers
from verify.deviation import histories as module
from verify.deviation.histories import Histories, histories


def held(states: Integers, of: Histories) -> NDArray[np.bool_]:
    """Which states' histories lie in one of the boxes."""
    columns = list(of.columns.history)
    inside = np.zeros(len(states), dtype=np.bool_)
    for low, high in zip(of.low[:, columns], of.high[:, columns], strict=True):
        inside |= ((states[:, columns] >= low) & (states[:, columns] <= high)).all(axis=1)
    return inside


CASES = [
    ((ACTION, CONGESTION), 2, 2, None),
    ((ACTION, CONGESTION), 2, 2, START),
    ((ACTION, CONGESTION), 1, 2, None),
    ((ACTION, CONGESTION), 3, 3, START),
    ((CONGESTION, ACTION, RATIO), 2, 2, None),
    ((INFLATION,), 3, 3, None),
]


@pytest.mark.slow_except("200-1", "3000-1", "1000000-3", "200-4", "3000-5", "200-0", "3000-2", "1000000-5")
@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("step", [200, 3000, 10**6])
def test_whatever_a_network_signals_the_history_is_among_them(case: int, step: int) -> None:
    features, window, teacher_window, start = CASES[case]
    step = max(step, 8000) if window == 3 else step  # cells of six columns are many
    pupil = student(policy(features, teacher_window, start=start), seed=case, window=window)
    told = histories(pupil, max(window, teacher_window), step)
    assert held(driven(pupil, max(window, teacher_window), 8), told).all()
    assert (told.low <= told.high).all()


def test_they_are_not_everything() -> None:
    """A history that the student cannot have is not told: an action that it never takes after what came before."""
    pupil = student(policy(), seed=0)
    told = histories(pupil, 2, 200)
    random = np.random.default_rng(0)
    states = np.zeros((2000, 4), dtype=np.int64)
    states[:, [0, 2]] = random.integers(told.columns.low[0], told.columns.high[0], (2000, 2))
    states[:, 3] = 2.0 ** random.uniform(0, 24, 2000)
    assert held(states, told).mean() < 0.2
    assert held(states, histories(pupil, 2, 10**6)).all(), "followed by none, it is everything"


def test_a_start_is_remembered_as_a_multiplier_of_one() -> None:
    """After any signals at all the action before can be 0: the brake, and each step of the recovery."""
    plain, started = (student(policy(start=start), seed=1) for start in (None, START))
    crowded = np.array([[0, 0, 0, 2**23]], dtype=np.int64)
    crowded[0, 2] = module.act(plain, np.array([[0, 2**23, 0, 2**23]]))[0]
    assert held(crowded, histories(started, 2, 1)).all()
    assert not held(crowded, histories(plain, 2, 1)).all()


def test_too_many_cells_are_cut_more_coarsely(monkeypatch: pytest.MonkeyPatch) -> None:
    pupil = student(policy(), seed=0)
    fine = histories(pupil, 2, 200)
    monkeypatch.setattr(module, "MAX_CELLS", len(fine) - 1)
    coarse = histories(pupil, 2, 200)
    assert len(coarse) < len(fine)
    assert held(driven(pupil, 2, 9), coarse).all()
    monkeypatch.setattr(module, "MAX_CELLS", 1)
    assert len(histories(pupil, 2, 200)) == 1
