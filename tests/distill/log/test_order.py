"""The order of decisions: the same whatever the batches, and what is out of order is named by its row."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.errors import InputError
from distill.log.columns import Column
from distill.log.order import Order

TIME, STEP = (Column(name, name, Fraction(1), "") for name in ("t_ps", "step"))


def numbered(rows: list[tuple[int, int, int | None]], batch: int, gaps: bool = False) -> list[int]:
    """Steps of rows of agent, time, step (None: the log has none), read in batches."""
    with_steps = bool(rows) and rows[0][2] is not None
    order = Order("log", TIME, STEP if with_steps else None, gaps)
    names = [f"flow {n}" for n in range(100)]
    out: list[int] = []
    for begin in range(0, len(rows), batch):
        agents, times, steps = zip(*rows[begin : begin + batch], strict=True)
        given = np.array(steps, dtype=np.int64) if with_steps else None
        out += order.steps(np.array(agents), np.array(times), given, names, begin).tolist()
    return out


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(1, 7))
def test_agents_are_counted_apart_whatever_the_batches(agents: list[int], batch: int) -> None:
    rows = [(agent, 10 * n, None) for n, agent in enumerate(agents)]
    assert numbered(rows, batch) == [agents[:n].count(agent) for n, agent in enumerate(agents)]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), min_size=2, max_size=40), st.integers(1, 40))
def test_the_first_row_out_of_time_is_the_same_in_any_batches(pairs: list[tuple[int, int]], batch: int) -> None:
    rows = [(agent, time, None) for agent, time in pairs]
    first = next((n for n, (a, t) in enumerate(pairs) if any(b == a and u >= t for b, u in pairs[:n])), None)
    if first is None:
        numbered(rows, batch)
        return
    with pytest.raises(InputError) as error:
        numbered(rows, batch)
    assert f"row {first + 1}," in str(error.value)


@pytest.mark.parametrize("batch", [1, 2, 10])
@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([(0, 1, None), (0, 1, None)], "row 2, column 't_ps'"),
        ([(0, 2, None), (1, 1, None), (0, 1, None)], "row 3, column 't_ps'"),
        ([(0, 1, 0), (0, 2, 1), (0, 3, 3)], "step 1 to"),
        ([(0, 1, 5), (0, 2, 5)], "step 5 to"),
        ([(0, 1, 5), (0, 2, 4)], "row 2, column 'step'"),
    ],
)
def test_duplicates_disorder_and_gaps_are_named(rows: list[tuple[int, int, int | None]], said: str, batch: int) -> None:
    with pytest.raises(InputError) as error:
        numbered(rows, batch)
    assert said in str(error.value)


@pytest.mark.parametrize("batch", [1, 2, 10])
def test_gaps_may_be_allowed_and_an_agent_may_be_new_again(batch: int) -> None:
    rows: list[tuple[int, int, int | None]] = [(0, 1, 3), (0, 2, 4), (0, 3, 9), (0, 4, 0), (0, 5, 1)]
    assert numbered(rows, batch, gaps=True) == [3, 4, 9, 0, 1]
    with pytest.raises(InputError, match="step 4 to"):
        numbered([(0, 1, 4), (0, 2, 3)], batch, gaps=True)
