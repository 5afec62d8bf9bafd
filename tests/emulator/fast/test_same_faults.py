"""A function that does what it may not ends on both machines at the same call, in the same words."""

import pytest
from programs import FAULTS, LOOPS, WAYS, both, function, inputs, linked

from emulator import fast
from emulator.core_run import run_on_core


@pytest.mark.parametrize("body", FAULTS)
def test_both_machines_fault_alike(body: str) -> None:
    image = linked(function(body), WAYS[0])
    for profile in WAYS:
        pair = both(image, profile, inputs(3, 4))
        assert pair.rtl.fault is not None
        assert pair.differences() == []


@pytest.mark.parametrize("body", LOOPS)
def test_the_core_ends_a_loop_in_the_same_words(body: str) -> None:
    """It is stopped at any instruction of the loop, the simulator at the jump that closes it."""
    image = linked(function(body), WAYS[0])
    ends = run_on_core(image, "f", WAYS[0], inputs(3, 1)).fault, fast.run(image, "f", WAYS[0], inputs(3, 1)).fault
    core, ours = (None if fault is None else fault.text.partition(",")[0] for fault in ends)
    assert core == ours
    assert core is not None
