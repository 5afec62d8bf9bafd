"""Quantities with units, as they stand in TOML: "8192 ns", "100 Gb/s", "5 MiB".

A number without a unit is refused: the worst bugs of congestion control are a factor of eight or of a thousand.
Values are exact rationals until the caller asks for integers.
"""

import re
from collections.abc import Mapping
from fractions import Fraction

from decision.artefact.errors import InputError

TIME_PS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
SIZE_BYTES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
RATE_BPS = {"b/s": 1, "Kb/s": 10**3, "Mb/s": 10**6, "Gb/s": 10**9, "Tb/s": 10**12}
LINE_FRACTION = {"line": Fraction(1), "%": Fraction(1, 100), "ppm": Fraction(1, 10**6)}

MAX_QUANTITY = 10**30
"""Above every time, size and rate there is."""

_NUMBER_AND_UNIT = re.compile(r"^\s*([0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?)\s*([^\s0-9.]\S*)\s*$")


def parse(text: object, units: Mapping[str, int | Fraction], example: str) -> Fraction:
    """The value of ``text`` in the base unit of ``units`` (ps, bytes, b/s or Hz), exactly.

    Raises InputError where the unit is missing or is not one of ``units``.
    """
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        raise InputError(f'{text} has no unit; write it as text with one, for example "{example}"')
    match = _NUMBER_AND_UNIT.match(text) if isinstance(text, str) and len(text) <= 64 else None
    if match is None:
        raise InputError(f'{text!r} is not a number with a unit; write for example "{example}"')
    number, unit = match.groups()
    if unit not in units:
        raise InputError(f"{text!r} has the unit {unit!r}, which is none of {', '.join(units)}")
    return Fraction(number) * units[unit]


def parse_duration_ps(text: object) -> int:
    """A duration in whole picoseconds."""
    return _whole(parse(text, TIME_PS, "8192 ns"), text, "picoseconds")


def parse_duration_ns(text: object) -> int:
    """A duration in whole nanoseconds, the resolution of the device's timestamps."""
    return _whole(parse(text, TIME_PS, "8192 ns") / TIME_PS["ns"], text, "nanoseconds")


def parse_size_bytes(text: object) -> int:
    """A size in whole bytes."""
    return _whole(parse(text, SIZE_BYTES, "5 MiB"), text, "bytes")


def parse_rate_bps(text: object) -> int:
    """A rate in whole bits a second."""
    return _whole(parse(text, RATE_BPS, "100 Gb/s"), text, "bits a second")


def parse_line_fraction_q30(text: object) -> int:
    """A fraction of line rate ("100 %", "1 ppm", "0.5 line") with 30 fraction bits, rounded to nearest, at least 1."""
    value = parse(text, LINE_FRACTION, "100 %")
    if not 0 < value <= 1:
        raise InputError(f"{text!r} is not within 0 and line rate")
    return max(1, round(value * 2**30))


def _whole(value: Fraction, text: object, unit: str) -> int:
    if value > MAX_QUANTITY:
        raise InputError(f"{text!r} is more than anything in rlcc can be")
    if value.denominator != 1:
        raise InputError(f"{text!r} is not a whole number of {unit}")
    return int(value)
