"""The grid: which integers each feature of a model is given as, declared in TOML beside it.

    leaf_bits = 16                 # optional: fraction bits of the outputs

    [features.rtt_inflation]
    low = 0.0                      # what the feature can be
    high = 64.0
    fraction_bits = 10             # k stands for k / 1024; left out: the fewest that keep all borders apart

On the grid ``x > b`` is ``k > floor(b * 2^q)`` and ``x >= b`` is ``k > ceil(b * 2^q) - 1``, decided on rationals.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, isfinite
from pathlib import Path
from typing import Any

from decision.artefact.documents import read_text
from decision.artefact.errors import InputError
from decision.policy.model import GridFeature

BITS = (-30, 30)
"""Fraction bits that may be declared."""
MAX_SEARCHED_BITS = 1100
"""Two distinct doubles differ with this many fraction bits."""
LIMIT = 1e30
"""More than any feature is."""
KEYS = {"low", "high", "fraction_bits"}

Border = tuple[Fraction, bool]
"""A question's border, and whether it asks ``>=``."""


@dataclass(frozen=True)
class Range:
    """Range of a feature, in its own unit; ``fraction_bits`` None: to be chosen."""

    low: Fraction
    high: Fraction
    fraction_bits: int | None = None


@dataclass(frozen=True)
class Grid:
    """Ranges by feature name, in the order of the emitted struct. ``leaf_bits`` None: to be chosen."""

    features: dict[str, Range]
    leaf_bits: int | None = None

    @staticmethod
    def of(features: dict[str, tuple[float, float, int | None]], leaf_bits: int | None = None) -> "Grid":
        """From plain numbers: name -> (low, high, fraction bits or None)."""
        ranges = {name: Range(Fraction(low), Fraction(high), bits) for name, (low, high, bits) in features.items()}
        for name, ends in ranges.items():
            _check(name, ends)
        return Grid(ranges, leaf_bits)


def load_grid(path: Path) -> Grid:
    """Read a grid file; numbers are taken as the decimals that are written. InputError where it is not one."""
    try:
        data = tomllib.loads(read_text(path), parse_float=_decimal)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not valid TOML: {error}") from None
    try:
        return _grid(data)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def threshold(border: Border, fraction_bits: int) -> int:
    """t such that the question is ``k > t`` on the grid."""
    value, or_equal = border
    scaled = value * Fraction(2) ** fraction_bits
    return ceil(scaled) - 1 if or_equal else floor(scaled)


def grid_feature(name: str, declared: Range, borders: Iterable[Border], input_bits: int) -> GridFeature:
    """The feature's integers. ``borders``: all that the model asks of it; ``input_bits``: see Forest.

    InputError where the library would not see every one of the grid's values exactly, or, with the fraction bits to be
    chosen, where two borders would have to fall together.
    """
    room = _room(declared, input_bits)
    bits = declared.fraction_bits
    if bits is None:
        bits = _apart(name, declared, sorted(set(borders)), room, input_bits)
    elif bits > room:
        raise InputError(
            f"feature {name!r} from {_shown(declared.low)} to {_shown(declared.high)} with {bits} fraction bits needs "
            f"more than the {input_bits} bits that hold it exactly; declare at most {room}, or a narrower range"
        )
    low, high = ceil(declared.low * Fraction(2) ** bits), floor(declared.high * Fraction(2) ** bits)
    if low > high:
        raise InputError(f"feature {name!r} has no value between its low and high; declare more fraction_bits")
    return GridFeature(name, bits, low, high)


def _apart(name: str, declared: Range, borders: list[Border], room: int, input_bits: int) -> int:
    """The fewest fraction bits with which all borders in the range, and the range's own ends, stay apart."""
    inside = [b for b in borders if _inside(b, declared)]

    def apart(bits: int) -> bool:
        low, high = ceil(declared.low * Fraction(2) ** bits), floor(declared.high * Fraction(2) ** bits)
        thresholds = [threshold(b, bits) for b in inside]
        return len(set(thresholds)) == len(thresholds) and all(low <= t < high for t in thresholds) and low <= high

    least = max(BITS[0], min(0, room))
    needed = next((bits for bits in range(least, MAX_SEARCHED_BITS) if apart(bits)), None)
    if needed is not None and needed <= min(room, BITS[1]):
        return needed
    bits = min(room, BITS[1])
    first, second = _together(inside, bits)
    lacking = "more fraction bits than there are" if needed is None else f"{needed} fraction bits"
    raise InputError(
        f"feature {name!r}: its borders {first} and {second} fall together with the {bits} fraction bits that its "
        f"range leaves of {input_bits} bits; it takes {lacking}: declare a narrower range, or the fraction_bits that "
        f"its inputs really have"
    )


def _together(borders: list[Border], bits: int) -> tuple[str, str]:
    for first, second in pairwise(borders):
        if threshold(first, bits) == threshold(second, bits):
            return _shown(first[0]), _shown(second[0])
    return _shown(borders[0][0]), "an end of the range"


def _inside(border: Border, declared: Range) -> bool:
    """Whether the range has values on both sides."""
    value, or_equal = border
    return declared.low < value <= declared.high if or_equal else declared.low <= value < declared.high


def _room(declared: Range, input_bits: int) -> int:
    """The most fraction bits with which the range fits ``input_bits`` bits (31: an int32_t)."""
    most = max(abs(declared.low), abs(declared.high))
    limit = (1 << input_bits) - (input_bits == 31)
    bits = BITS[1]
    while bits > BITS[0] and most * Fraction(2) ** bits > limit:
        bits -= 1
    return bits


def _grid(data: dict[str, Any]) -> Grid:
    unknown = set(data) - {"features", "leaf_bits"}
    if unknown:
        raise InputError(f"there is no key {min(unknown)!r}; a grid has leaf_bits and [features.NAME] tables")
    tables = data.get("features")
    if not isinstance(tables, dict) or not tables:
        raise InputError("no [features.NAME] table; declare low and high of each feature")
    bits = data.get("leaf_bits")
    if bits is not None and (type(bits) is not int or not 0 <= bits <= 30):
        raise InputError("leaf_bits is not an integer from 0 to 30")
    return Grid({str(name): _range(str(name), table) for name, table in tables.items()}, bits)


def _range(name: str, table: Any) -> Range:
    if not isinstance(table, dict):
        raise InputError(f"features.{name} is not a table; write [features.{name}] with low and high")
    unknown = set(table) - KEYS
    if unknown:
        raise InputError(f"features.{name}: there is no key {min(unknown)!r}; there are low, high and fraction_bits")
    for key in ("low", "high"):
        if type(table.get(key)) not in (int, Fraction):
            raise InputError(f"features.{name}.{key} is missing or not a number")
    bits = table.get("fraction_bits")
    if bits is not None and type(bits) is not int:
        raise InputError(f"features.{name}.fraction_bits is not an integer")
    ends = Range(Fraction(table["low"]), Fraction(table["high"]), bits)
    _check(name, ends)
    return ends


def _check(name: str, ends: Range) -> None:
    if not -LIMIT <= ends.low <= ends.high <= LIMIT:
        raise InputError(f"features.{name}: low is above high, or one of them is beyond 1e30")
    if ends.fraction_bits is not None and not BITS[0] <= ends.fraction_bits <= BITS[1]:
        raise InputError(f"features.{name}.fraction_bits is not within {BITS[0]}..{BITS[1]}")


def _decimal(text: str) -> Fraction:
    """A TOML float as the decimal that is written: 0.1 is one tenth."""
    number = float(text)
    if not isfinite(number) or abs(number) > LIMIT or 0 < abs(number) < 1 / LIMIT or len(text) > 64:
        raise ValueError(f"{text[:64]} is no number that a feature can be")
    return Fraction(text.replace("_", "")) if number else Fraction(0)


def _shown(value: Fraction) -> str:
    return f"{float(value):.10g}"
