"""A log's values as rlcc's integers. A text that is no value is refused by row and column; rows count from 1."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from decision.artefact.errors import InputError
from decision.ir.arrays import Floats, Integers
from distill.log.columns import Column, Quantity

if TYPE_CHECKING:
    import pyarrow as pa

EXACT = 2**53
"""Floats up to here are whole numbers without a gap."""


def place(where: str, row: int, column: Column) -> str:
    """Returns how a sentence names a value: "log.csv, row 17, column 'RTT' (rtt_ns)"."""
    shown = f" ({column.name})" if column.source != column.name else ""
    return f"{where}, row {row}, column {column.source!r}{shown}"


def whole_numbers(array: pa.Array, column: Column, quantity: Quantity, where: str, first: int) -> Integers:
    """The column's values [rows] in rlcc's unit, rounded to the nearest where a unit was named. ``first``: rows before
    these. InputError names the first value that is empty, no number, not whole, or out of range."""

    def refuse(at: int, reason: str) -> InputError:
        return InputError(f"{place(where, first + at + 1, column)}: {reason}")

    numbers = _numbers(array, refuse)
    if column.factor == 1 and not column.unit:
        integers = _already_whole(numbers, refuse)
    else:
        integers = _converted(numbers, column.factor)
    integers = integers + quantity.offset
    low, high = quantity.low, quantity.high
    wrong = np.flatnonzero((integers < low) | (integers > high))
    if wrong.size:
        at = int(wrong[0])
        ends = (_shown((Fraction(end) - quantity.offset) / column.factor) for end in (low, high))
        unit = f" {column.unit}" if column.unit else ""
        raise refuse(at, f"{_shown(Fraction(numbers[at].item()))} is not within {' and '.join(ends)}{unit}")
    return integers


def decimals(array: pa.Array, column: Column, where: str, first: int) -> Floats:
    """The column's values [rows] as they are. InputError names the first that is empty or no number."""

    def refuse(at: int, reason: str) -> InputError:
        return InputError(f"{place(where, first + at + 1, column)}: {reason}")

    return _numbers(array, refuse).astype(np.float64)


def codes(array: pa.Array, column: Column, where: str, first: int, known: dict[Any, int]) -> Integers:
    """A number [rows] for each value of a column of names or numbers, in the order in which they come; ``known`` is
    added to. InputError where a value is empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_floating(array.type) or pa.types.is_nested(array.type):
        raise InputError(
            f"{where}: column {column.source!r} ({column.name}) is of type {array.type}; give a name or a number"
        )
    encoded = pc.dictionary_encode(array)
    missing = np.flatnonzero(encoded.indices.is_null().to_numpy(zero_copy_only=False))
    values = encoded.dictionary.to_pylist()
    if not missing.size and "" in values:
        missing = np.flatnonzero(encoded.indices.to_numpy(zero_copy_only=False) == values.index(""))
    if missing.size:
        raise InputError(f"{place(where, first + int(missing[0]) + 1, column)}: it is empty")
    numbers = np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int64)
    return numbers[encoded.indices.to_numpy(zero_copy_only=False)] if len(numbers) else np.zeros(0, dtype=np.int64)


def _numbers(array: pa.Array, refuse: Callable[[int, str], InputError]) -> Integers | Floats:
    """int64 where all values are whole numbers, else float64; finite."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    nulls = np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))
    if nulls.size:
        raise refuse(int(nulls[0]), "it is empty")
    kind = array.type
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if not (text or pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise refuse(0, f"it is of type {kind}, not a number")
    if text:
        array = pc.utf8_trim_whitespace(array)
    for wanted in (pa.int64(), pa.float64()):
        try:
            numbers = np.asarray(pc.cast(array, wanted).to_numpy(zero_copy_only=False))
        except pa.ArrowException:
            continue
        infinite = np.flatnonzero(~np.isfinite(numbers))
        if infinite.size:
            raise refuse(int(infinite[0]), f"{numbers[infinite[0]]} is not a number")
        return numbers
    at = next(n for n, value in enumerate(array.to_pylist()) if not _is_number(value))
    value = array[at].as_py()
    raise refuse(at, "it is empty" if value == "" else f"{str(value)[:40]!r} is not a number")


def _is_number(text: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        pc.cast(pa.array([text]), pa.float64())
    except pa.ArrowException:
        return False
    return True


def _already_whole(numbers: Integers | Floats, refuse: Callable[[int, str], InputError]) -> Integers:
    if numbers.dtype == np.int64:
        return np.asarray(numbers, dtype=np.int64)
    wrong = np.flatnonzero((numbers != np.rint(numbers)) | (np.abs(numbers) > EXACT))
    if wrong.size:
        at = int(wrong[0])
        raise refuse(at, f"{numbers[at]:.10g} is not a whole number; name its unit with --column, or round it")
    return np.rint(numbers).astype(np.int64)


def _converted(numbers: Integers | Floats, factor: Fraction) -> Integers:
    """Times the factor, to the nearest, halves to even. Whole numbers by a whole factor stay exact; what leaves 63 bits
    becomes the greatest or least number, which no range holds."""
    if numbers.dtype == np.int64 and factor.denominator == 1:
        most = np.iinfo(np.int64).max // max(abs(factor.numerator), 1)
        # Not by np.abs: the least int64 is its own.
        return np.asarray(np.clip(numbers, -most, most) * factor.numerator, dtype=np.int64)
    scaled = np.rint(numbers.astype(np.float64) * factor.numerator / factor.denominator)
    return np.asarray(np.clip(scaled, -(2.0**62), 2.0**62), dtype=np.int64)


def _shown(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.6g}"
