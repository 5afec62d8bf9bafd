"""The fast path against the RTL on drawn programs: the same cycles, results, memories and stack in every call."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import both, drawn_function, engine, inputs, linked

from emulator.profile import Profile

ENGINES: dict[str, Profile] = {
    "small": engine("ibex-small"),
    "maxperf": engine("ibex-maxperf"),
    "small, data waits": engine("ibex-small", data=3),
    "maxperf, data waits": engine("ibex-maxperf", data=2),
}
OTHERS: dict[str, Profile] = {
    "small, no multiplier": engine("ibex-small", isa="rv32i", multiplier="none"),
    "small, compressed": engine("ibex-small", isa="rv32imc"),
    "small, compressed, data waits": engine("ibex-small", data=1, isa="rv32imc"),
    "maxperf, compressed": engine("ibex-maxperf", isa="rv32imc"),
    "maxperf, compressed, data waits": engine("ibex-maxperf", data=3, isa="rv32imc"),
    "small, bits": engine("ibex-small", isa="rv32im_zba_zbb_zbs"),
    "maxperf, bits": engine("ibex-maxperf", isa="rv32im_zba_zbb_zbs"),
    "small, branch-target ALU": engine("ibex-small", branch_target_alu=True),
    "maxperf, no branch-target ALU": engine("ibex-maxperf", branch_target_alu=False),
}


def compare(profile: Profile, data: st.DataObject, calls: int) -> None:
    function = data.draw(drawn_function(profile.core.isa))
    pair = both(linked(function, profile), profile, inputs(len(function), calls))
    assert pair.rtl.fault is None
    assert pair.differences() == []


@pytest.mark.parametrize("name", ENGINES)
@settings(max_examples=6)
@given(data=st.data())
def test_drawn_programs_take_the_same_cycles(name: str, data: st.DataObject) -> None:
    compare(ENGINES[name], data, calls=24)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ENGINES, *OTHERS])
@settings(max_examples=60)
@given(data=st.data())
def test_many_drawn_programs_take_the_same_cycles(name: str, data: st.DataObject) -> None:
    compare((ENGINES | OTHERS)[name], data, calls=64)
