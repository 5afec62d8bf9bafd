"""The page of batches: a model is timed, its rows compared, and what is slower or wrong is shown."""

import pytest

from bench.codegen import batch
from bench.codegen.batch import BatchModel, BatchTimes, measured, page


@pytest.mark.slow
def test_a_small_model_is_timed_in_pairs(monkeypatch):
    monkeypatch.setattr(batch, "ROWS", 300)
    times = measured(BatchModel(3, 2, 2, 6), rounds=2)
    assert times.wrong == 0
    assert len(times.catboost) == 2
    assert {len(of) for part in (times.batch, times.each) for of in part.values()} == {2}


def test_a_ratio_is_of_one_round_and_wrong_rows_are_counted():
    model = BatchModel(3, 2, 2, 6)
    times = BatchTimes([10.0, 40.0, 60.0], {"cc": [20.0, 20.0, 20.0]}, {"cc": [7.0, 8.0, 9.0]}, 12)
    text = page({model: times, BatchModel(4, 2, 2, 6): times}, 3)
    (row, _) = [line for line in text.splitlines() if "| cc |" in " ".join(line.split())]
    assert [cell.strip() for cell in row.split("|")[3:7]] == ["20", "8", "40", "2.0 (0.5 to 3.0)"]
    assert ": 24." in text
