"""The fast path against the RTL on drawn programs: the same cycles, results, memories and stack in every call."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import both, drawn_function, engine, inputs, linked
from reproducible import examples

from emulator.fast.machine import STATES
from emulator.job import State
from emulator.profile import Profile

ENGINES: dict[str, Profile] = {
    "small": engine("ibex-small"),
    "maxperf": engine("ibex-maxperf"),
    "small, data waits": engine("ibex-small", data=3),
    "maxperf, data waits": engine("ibex-maxperf", data=2),
}
SMALL_CACHE, TINY_CACHE = (256, 16, 2, 7), (64, 16, 1, 9)
WAITING: dict[str, Profile] = {
    "small, waits": engine("ibex-small", fetch=3, data=2),
    "maxperf, caches": engine("ibex-maxperf", fetch=SMALL_CACHE, data=TINY_CACHE),
}
MORE_WAITING: dict[str, Profile] = {
    "small, a wait": engine("ibex-small", fetch=1),
    "maxperf, waits": engine("ibex-maxperf", fetch=2, data=3),
    "small, caches": engine("ibex-small", fetch=(128, 8, 4, 5), data=TINY_CACHE),
    "small, long misses": engine("ibex-small", fetch=(1024, 64, 1, 150), data=(1024, 64, 4, 150)),
    "small, instruction cache alone": engine("ibex-small", fetch=SMALL_CACHE),
    "maxperf, data cache alone": engine("ibex-maxperf", data=TINY_CACHE),
    "small, branch-target ALU, waits": engine("ibex-small", fetch=2, data=1, branch_target_alu=True),
    "maxperf, no branch-target ALU, fetch waits": engine("ibex-maxperf", fetch=2, branch_target_alu=False),
    "small, compressed, a wait": engine("ibex-small", fetch=1, isa="rv32imc"),
    "small, compressed, caches": engine("ibex-small", fetch=SMALL_CACHE, data=TINY_CACHE, isa="rv32imc"),
    "maxperf, compressed, waits": engine("ibex-maxperf", fetch=1, data=2, isa="rv32imc"),
    "maxperf, compressed, caches": engine("ibex-maxperf", fetch=SMALL_CACHE, data=TINY_CACHE, isa="rv32imc"),
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


def compare(profile: Profile, data: st.DataObject, calls: int, states: Sequence[State] = ("hot",)) -> None:
    function = data.draw(drawn_function(profile.core.isa))
    image, records = linked(function, profile), inputs(len(function), calls)
    for state in states:
        pair = both(image, profile, records, state=state)
        assert pair.rtl.fault is None
        assert (state, pair.differences()) == (state, [])


@pytest.mark.slow_except("maxperf", "small, data waits")
@pytest.mark.parametrize("name", ENGINES)
@settings(max_examples=5)
@given(data=st.data())
def test_drawn_programs_take_the_same_cycles(name: str, data: st.DataObject) -> None:
    compare(ENGINES[name], data, calls=24)


@pytest.mark.parametrize("name", WAITING)
@settings(max_examples=3)
@given(data=st.data())
def test_drawn_programs_wait_as_long_for_memories(name: str, data: st.DataObject) -> None:
    compare(WAITING[name], data, calls=24, states=STATES)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ENGINES, *OTHERS])
@settings(max_examples=examples(50))
@given(data=st.data())
def test_many_drawn_programs_take_the_same_cycles(name: str, data: st.DataObject) -> None:
    compare((ENGINES | OTHERS)[name], data, calls=64)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*WAITING, *MORE_WAITING])
@settings(max_examples=examples(40))
@given(data=st.data())
def test_many_drawn_programs_wait_as_long_for_memories(name: str, data: st.DataObject) -> None:
    compare((WAITING | MORE_WAITING)[name], data, calls=24, states=STATES)
