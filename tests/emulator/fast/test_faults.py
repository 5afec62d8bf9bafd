"""A function that does what it may not is ended, and its fault is named. No RTL is needed."""

import pytest
from programs import FAULTS, LOOPS, WAYS, engine, function, inputs, linked

from decision.artefact.errors import InputError
from emulator import fast
from emulator.profile import Profile, load_profile


@pytest.mark.parametrize("body", FAULTS)
def test_a_fault_is_named(body: str) -> None:
    image = linked(function(body), WAYS[0])
    for profile in WAYS:
        run = fast.run(image, "f", profile, inputs(3, 4))
        assert run.fault is not None
        assert FAULTS[body] in run.fault.text


@pytest.mark.parametrize("body", LOOPS)
def test_a_loop_without_end_is_ended(body: str) -> None:
    for profile in WAYS:
        run = fast.run(linked(function(body), WAYS[0]), "f", profile, inputs(3, 1))
        assert run.fault is not None
        assert run.fault.text.startswith("no return within 1000000 ")


@pytest.mark.parametrize("body", ["lw a2, 2(a1); ret", "lhu a2, 3(a1); ret", "sw zero, 1(a0); ret"])
def test_misaligned_accesses_are_refused(body: str) -> None:
    """The core makes two accesses of one; no compiler of ours asks for that."""
    profile = engine("ibex-small")
    run = fast.run(linked(function(body), profile), "f", profile, inputs(3, 16))
    assert run.fault is not None
    assert (run.fault.index, len(run.cycles)) == (0, 0)
    assert "misaligned access" in run.fault.text


def test_a_jump_into_an_instruction_is_refused() -> None:
    profile = engine("ibex-small")
    run = fast.run(linked("lla a2, .\njr 2(a2)\nret", profile), "f", profile, inputs(3, 2))
    assert run.fault is not None
    assert "into the middle" in run.fault.text


def test_the_first_fault_counts_however_many_threads() -> None:
    profile = engine("ibex-small")
    image = linked("lw a2, 0(a1)\nlw a3, 4(a1)\nbne a2, a3, 1f\nsw a2, 0(a1)\n1: ret", profile)
    records = inputs(5, 40_000)
    words = records[1][1]["words"]
    words[:, 1] = words[:, 0] + 1
    words[[9001, 20_000, 33_000], 1] = words[[9001, 20_000, 33_000], 0]
    for threads in (1, 2, 7):
        run = fast.run(image, "f", profile, records, threads=threads)
        assert run.fault is not None
        assert (run.fault.index, len(run.cycles), len(run.written["out"])) == (9001, 9001, 9001)


def test_memory_is_not_passed_on_to_the_next_call() -> None:
    """The stack of a call is as the one before found it, so that shards can be made in any order."""
    profile = engine("ibex-small")
    image = linked("lw a2, -4(sp)\nlw a3, 0(a1)\nsw a3, -4(sp)\nmv a0, a2\nret", profile)
    assert not fast.run(image, "f", profile, inputs(1, 50), threads=1).returned.any()


def test_an_instruction_that_is_not_modelled_is_named() -> None:
    profile = engine("ibex-small")
    with pytest.raises(InputError, match=r"0x2b54533 at f\+0x4; .*RTL"):
        fast.run(linked("nop\ndiv a0, a0, a1\nret", profile), "f", profile, inputs(1, 1))


@pytest.mark.parametrize(
    ("profile", "why"),
    [
        (load_profile("picorv32"), "cycles of a picorv32"),
        (engine("ibex-small", multiplier="slow"), "a slow multiplier"),
    ],
)
def test_an_engine_that_cannot_be_timed_exactly_is_refused(profile: Profile, why: str) -> None:
    with pytest.raises(InputError, match=why):
        fast.timing(profile)
