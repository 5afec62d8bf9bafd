"""Quantities: units are demanded, values are exact, and what is written reads back as the same integer."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from decision.artefact import quantity as q
from decision.artefact import quantity_fields as fields
from decision.artefact.errors import InputError


class Everything(BaseModel):
    time_ps: fields.DurationPs
    time_ns: fields.DurationNs
    size: fields.SizeBytes
    rate: fields.RateBps
    fraction: fields.LineFractionQ30


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (q.parse_duration_ns, "8192 ns", 8192),
        (q.parse_duration_ns, "8.192us", 8192),
        (q.parse_duration_ns, "4e-3 s", 4_000_000),
        (q.parse_duration_ps, "0.1 ns", 100),
        (q.parse_size_bytes, "5 MiB", 5 * 2**20),
        (q.parse_size_bytes, "5 MB", 5_000_000),
        (q.parse_size_bytes, "3 B", 3),
        (q.parse_size_bytes, "3 KB", 3000),
        (q.parse_size_bytes, "3 KiB", 3072),
        (q.parse_size_bytes, "0.5 KiB", 512),
        (q.parse_size_bytes, "3 GB", 3 * 10**9),
        (q.parse_size_bytes, "3 GiB", 3 * 2**30),
        (q.parse_rate_bps, "100 Gb/s", 10**11),
        (q.parse_rate_bps, "0.1 Tb/s", 10**11),
        (q.parse_line_fraction_q30, "100 %", 2**30),
        (q.parse_line_fraction_q30, "1 ppm", 1074),
        (q.parse_line_fraction_q30, "0.5 line", 2**29),
        (q.parse_line_fraction_q30, "1e-9 ppm", 1),
    ],
)
def test_read(read, text, value):
    assert read(text) == value


@pytest.mark.parametrize(
    ("read", "wrong"),
    [
        (q.parse_duration_ns, 8192),
        (q.parse_duration_ns, "8192"),
        (q.parse_duration_ns, "8192 B"),
        (q.parse_duration_ns, "1 ps"),
        (q.parse_duration_ns, "-1 ns"),
        (q.parse_duration_ns, "1 2 ns"),
        (q.parse_duration_ns, True),
        (q.parse_duration_ns, None),
        (q.parse_duration_ns, "1" * 65 + " ns"),
        (q.parse_rate_bps, "100 GB/s"),
        (q.parse_rate_bps, "100 gb/s"),
        (q.parse_size_bytes, "0.5 B"),
        (q.parse_line_fraction_q30, "101 %"),
        (q.parse_line_fraction_q30, "0 %"),
        (q.parse_line_fraction_q30, 0.5),
    ],
)
def test_refused(read, wrong, wording):
    with pytest.raises(InputError) as caught:
        read(wrong)
    wording(caught.value)


@given(st.integers(0, 10**15), st.sampled_from(sorted(q.TIME_PS)))
def test_whole_numbers_of_any_unit_are_exact(number, unit):
    assert q.parse_duration_ps(f"{number} {unit}") == number * q.TIME_PS[unit]


@given(st.decimals(0, 10**6, allow_nan=False, places=6), st.sampled_from(sorted(q.TIME_PS)))
def test_decimals_are_exact_and_not_binary_floats(number, unit):
    assert q.parse(f"{number:f} {unit}", q.TIME_PS, "1 ns") == Fraction(number) * q.TIME_PS[unit]


integers = st.integers(0, 2**62)


@given(integers, integers, integers, integers, st.integers(1, 2**30))
def test_what_is_written_reads_back_as_the_same_integers(ps, ns, size, rate, fraction):
    text = {
        "time_ps": f"{ps} ps",
        "time_ns": f"{ns} ns",
        "size": f"{size} B",
        "rate": f"{rate} b/s",
        "fraction": f"{fraction / 2**30!r} line",
    }
    read = Everything.model_validate(text)
    assert (read.time_ps, read.time_ns, read.size, read.rate) == (ps, ns, size, rate)
    assert read.fraction == fraction
    assert Everything.model_validate(read.model_dump()) == read
    assert Everything.model_validate(read.model_dump(mode="json")) == read
    assert Everything.model_validate_json(read.model_dump_json()) == read


def test_a_model_refuses_a_number_without_unit():
    with pytest.raises(ValidationError, match="has no unit"):
        Everything.model_validate({"time_ps": 1})


def test_a_number_beyond_all_sense_is_refused_in_few_words() -> None:
    with pytest.raises(InputError, match="more than anything") as refused:
        q.parse_duration_ps("1e999 us")
    assert len(str(refused.value)) < 80
