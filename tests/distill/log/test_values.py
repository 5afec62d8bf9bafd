"""Values of logs as integers: exact where they can be, refused by row and column where not."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.errors import InputError
from distill.log.columns import Column, Quantity
from distill.log.values import codes, whole_numbers

WIDE = Quantity(-(2**62), 2**62, {})


def column(factor: Fraction | int = 1, unit: str = "") -> Column:
    return Column("rtt_ns", "RTT", Fraction(factor), unit)


@given(st.lists(st.integers(-(2**53), 2**53), min_size=1), st.sampled_from(["text", "integer", "float"]))
def test_whole_numbers_of_any_type_are_read_as_they_are(values: list[int], kind: str) -> None:
    array = pa.array([str(v) for v in values] if kind == "text" else values)
    array = array.cast(pa.float64()) if kind == "float" else array
    assert whole_numbers(array, column(), WIDE, "log", 0).tolist() == values


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1), st.integers(1, 10**6), st.integers(1, 10**6))
def test_units_round_to_the_nearest(values: list[int], above: int, below: int) -> None:
    factor = Fraction(above, below)
    read = whole_numbers(pa.array(values), column(factor, "us"), WIDE, "log", 0)
    for value, integer in zip(values, read.tolist(), strict=True):
        exact = value * factor
        assert abs(integer - exact) <= Fraction(1, 2) + abs(exact) / 2**51


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["1", "", "3"], "is empty"),
        (["1", "two", "3"], "'two'"),
        (["1", "nan", "3"], "nan is not"),
        (["1", "inf", "3"], "inf is not"),
        (["1", "2.5", "3"], "2.5 is not"),
        ([1, None, 3], "is empty"),
        ([1.0, float("nan"), 3.0], "nan is not"),
        ([1, -1, 3], "0 and 4294967295"),
        ([1, 2**32, 3], "4294967296 is not"),
        (["1", "99999999999999999999", "3"], "not"),
    ],
)
def test_the_first_wrong_value_is_named_by_row_and_column(values: list[object], said: str) -> None:
    with pytest.raises(InputError) as error:
        whole_numbers(pa.array(values), column(), Quantity(0, 2**32 - 1, {}), "log.csv", 100)
    assert "row 102" in str(error.value)
    assert "'RTT' (rtt_ns)" in str(error.value)
    assert said in str(error.value)


def test_a_range_is_told_in_the_units_of_the_log() -> None:
    quantity = Quantity(-10_923, 13_107, {}, whole=2**16, offset=-(2**16))
    with pytest.raises(InputError, match=r"0\.833328 and 1\.2"):
        whole_numbers(pa.array([1.0, 1.3]), column(2**16), quantity, "log", 0)


def test_the_least_integer_is_out_of_any_range() -> None:
    with pytest.raises(InputError, match="row 2"):
        whole_numbers(pa.array([1, -(2**63)]), column(1000, "us"), Quantity(0, 2**40, {}), "log", 0)


def test_a_column_of_lists_is_no_number() -> None:
    with pytest.raises(InputError, match="list"):
        whole_numbers(pa.array([[1]]), column(), WIDE, "log", 0)


def test_names_are_numbered_as_they_come_also_across_batches() -> None:
    known: dict[object, int] = {}
    agent = Column("flow", "conn", Fraction(1), "")
    assert codes(pa.array(["b", "a", "b"]), agent, "log", 0, known).tolist() == [0, 1, 0]
    assert codes(pa.array(["c", "a"]), agent, "log", 3, known).tolist() == [2, 1]
    with pytest.raises(InputError, match="row 7"):
        codes(pa.array(["c", ""]), agent, "log", 5, known)
    with pytest.raises(InputError, match="double"):
        codes(pa.array([1.5]), agent, "log", 0, known)


def test_rounding_is_to_even_on_halves() -> None:
    assert whole_numbers(pa.array([1, 3]), column(Fraction(1, 2), "us"), WIDE, "log", 0).tolist() == [0, 2]
    assert np.issubdtype(whole_numbers(pa.array([1]), column(), WIDE, "log", 0).dtype, np.int64)
