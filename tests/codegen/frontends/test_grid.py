"""The grid file, the choice of fraction bits, and what is refused of both."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from codegen.frontends.forest import FLOAT32_BITS, INT32_BITS
from codegen.frontends.grid import Range, grid_feature, load_grid, threshold
from decision.artefact.errors import InputError
from decision.policy.model import GridFeature


def toml(tmp_path, text: str):
    path = tmp_path / "grid.toml"
    path.write_text(text)
    return load_grid(path)


def feature(low, high, bits, borders=(), input_bits=FLOAT32_BITS) -> GridFeature:
    declared = Range(Fraction(low), Fraction(high), bits)
    return grid_feature("rtt", declared, [(Fraction(b), False) for b in borders], input_bits)


def test_numbers_are_the_decimals_that_are_written(tmp_path):
    grid = toml(
        tmp_path, "leaf_bits = 16\n[features.rtt]\nlow = -0.1\nhigh = 1e3\n[features.'my rate']\nlow = 0\nhigh = 1"
    )
    assert grid.leaf_bits == 16
    assert grid.features == {
        "rtt": Range(Fraction(-1, 10), Fraction(1000)),
        "my rate": Range(Fraction(0), Fraction(1)),
    }


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("low = 1", "no key 'low'"),
        ("leaf_bits = 16", r"no \[features.NAME\] table"),
        ("leaf_bits = 31\n[features.a]\nlow = 0\nhigh = 1", "leaf_bits .*integer from 0 to 30"),
        ("[features]\na = 1", "features.a .*table"),
        ("[features.a]\nlow = 0", "features.a.high is missing"),
        ("[features.a]\nlow = true\nhigh = 1", "features.a.low .*number"),
        ("[features.a]\nlow = 2\nhigh = 1", "low .*above high"),
        ("[features.a]\nlow = 0\nhigh = 1\nbits = 3", "no key 'bits'"),
        ("[features.a]\nlow = 0\nhigh = 1\nfraction_bits = 3.0", "fraction_bits .*integer"),
        ("[features.a]\nlow = 0\nhigh = 1\nfraction_bits = 31", r"fraction_bits is not within -30..30"),
        ("[features.a]\nlow = 0\nhigh = inf", "not valid TOML"),
        ("[features.a]\nlow = 0\nhigh = 1e999999999", "not valid TOML"),
        ("[features.a", "not valid TOML"),
    ],
)
def test_what_a_grid_file_must_not_say(tmp_path, text, sentence):
    with pytest.raises(InputError, match=sentence):
        toml(tmp_path, text)


@given(
    border=st.floats(-100, 100, width=32), q=st.integers(-3, 12), or_equal=st.booleans(), k=st.integers(-(2**20), 2**20)
)
def test_a_question_on_the_grid_is_the_question(border, q, or_equal, k):
    exact, value = Fraction(border), Fraction(k) / Fraction(2) ** q
    assert (k > threshold((exact, or_equal), q)) == (value >= exact if or_equal else value > exact)


def test_the_range_is_what_lies_within_it():
    assert feature("-0.3", "0.3", 2) == GridFeature("rtt", 2, -1, 1)
    assert feature(0, 1000, -6) == GridFeature("rtt", -6, 0, 15)
    with pytest.raises(InputError, match="no value between"):
        feature("0.3", "0.4", 2)


@pytest.mark.parametrize(
    ("borders", "bits"),
    [
        ([], 0),
        ([3.5], 0),
        ([3.25, 3.5], 1),
        ([0.5, 0.5 + 2**-10], 10),
        ([-3.5, -3.25], 2),
        ([9.5], 4),
        ([99.0, 98.5], 0),
    ],
)
def test_the_fewest_bits_that_keep_borders_apart_are_chosen(borders, bits):
    """Borders beyond the range do not count; one between the last whole number and the end does."""
    assert feature(-8, Fraction("9.6"), None, borders).fraction_bits == bits


@given(st.lists(st.floats(-60, 60, width=32), min_size=2, max_size=6, unique=True))
def test_chosen_bits_keep_every_two_borders_apart_and_one_bit_less_does_not(borders):
    values = sorted(borders)
    assume(all(second - first > 2.0**-15 for first, second in pairwise(values)) and min(map(abs, borders)) > 0)
    found = feature(-64, 64, None, borders)
    bits = found.fraction_bits
    places = {threshold((Fraction(b), False), bits) for b in borders}
    assert len(places) == len(set(map(Fraction, borders)))
    assert all(found.low <= t < found.high for t in places)
    if bits > 0:
        fewer = {threshold((Fraction(b), False), bits - 1) for b in borders}
        assert len(fewer) < len(set(map(Fraction, borders)))


def test_borders_that_fall_together_are_refused_with_the_bits_that_it_takes():
    near = [1.0, 1.0 + 2.0**-22]
    assert feature(0, 2, None, near).fraction_bits == 22
    with pytest.raises(InputError, match=r"'rtt': .* 1 and 1.000000238 .* 14 .* 22"):
        feature(0, 1000, None, near)


def test_a_declared_grid_may_let_borders_fall_together():
    assert feature(0, 8, 0, [3.25, 3.5]) == GridFeature("rtt", 0, 0, 8)


def test_a_grid_that_the_library_would_not_see_exactly_is_refused():
    assert feature(0, 2**14, 10).high == 2**24
    with pytest.raises(InputError, match=r"24 bits .* at most 9"):
        feature(0, 2**14 + 1, 10)
    assert feature(0, 2**14 + 1, 10, input_bits=INT32_BITS).high == (2**14 + 1) << 10


def test_a_grid_that_32_bits_cannot_hold_is_refused():
    with pytest.raises(InputError, match=r"31 bits .* at most 20"):
        feature(0, 2**10, 21, input_bits=INT32_BITS)
