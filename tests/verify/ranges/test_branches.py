"""What a comparison's outcome says: no pair for which it comes so is lost, and what cannot come so is seen."""

import pytest
from drawn_words import members, sets
from hypothesis import given
from hypothesis import strategies as st

from verify.ranges.branches import Compared, outcome, question
from verify.ranges.values import Address, AtCall
from verify.ranges.words import MODULUS, SIGN, Words, between
from verify.trusted.calibrate_programs import encode
from verify.trusted.execute import CONDITIONS
from verify.trusted.machine import BRANCHES, decode


def inside(address: Address) -> bool:
    low, high = address.offset.signed
    return low >= -64 and high <= 64


@given(st.data(), sets(), sets(), st.sampled_from(BRANCHES))
def test_no_pair_is_lost(data: st.DataObject, a: Words, b: Words, name: str) -> None:
    x, y = data.draw(members(a)), data.draw(members(b))
    found = outcome(name, a, b, CONDITIONS[name](x, y), inside)
    assert found is not None
    assert isinstance(found.left, Words)
    assert isinstance(found.right, Words)
    assert x in found.left
    assert y in found.right


@pytest.mark.parametrize(
    ("name", "a", "b", "taken", "left", "right"),
    [
        ("blt", between(-5, 9), Words(0), True, between(-5, -1), Words(0)),
        ("blt", between(-5, 9), Words(0), False, between(0, 9), Words(0)),
        ("bltu", between(-5, 9), Words(4), True, between(0, 3), Words(4)),
        ("bgeu", between(0, 9), between(3, 20), False, between(0, 9), between(3, 20)),
        ("bge", between(0, 9), between(3, 20), True, between(3, 9), between(3, 9)),
        ("beq", between(0, 9), between(7, 20), True, between(7, 9), between(7, 9)),
        ("bne", between(0, 9), Words(0), True, between(1, 9), Words(0)),
        ("bne", between(0, 9), Words(9), True, between(0, 8), Words(9)),
        ("bne", between(0, 9), Words(5), True, between(0, 9), Words(5)),
    ],
)
def test_each_side_is_narrowed(name: str, a: Words, b: Words, taken: bool, left: Words, right: Words) -> None:
    assert outcome(name, a, b, taken, inside) == Compared(left, right)


@pytest.mark.parametrize(
    ("name", "a", "b", "never"),
    [
        ("blt", between(0, 9), Words(0), True),
        ("bgeu", between(0, 9), Words(10), True),
        ("beq", between(0, 8, 2), Words(3), True),
        ("bne", Words(4), Words(4), True),
        ("beq", Address("frame", Words(8)), Address("frame", Words(8)), False),
        ("bne", Address("frame", Words(8)), Address("frame", Words(12)), False),
        ("bltu", Address("frame", Words(-8 % MODULUS)), Address("frame", Words(0)), False),
    ],
)
def test_what_cannot_come_so_is_seen(name: str, a: Words | Address, b: Words | Address, never: bool) -> None:
    assert outcome(name, a, b, never, inside) is None
    assert outcome(name, a, b, not never, inside) is not None


def test_of_addresses_elsewhere_nothing_is_known() -> None:
    frame, other, kept = Address("frame", Words(0)), Address("event", Words(0)), AtCall(8)
    far, near = Address("frame", Words(SIGN)), Address("frame", between(-65, -64))
    for a, b in ((frame, other), (kept, frame), (None, kept)):
        for name in BRANCHES:
            assert outcome(name, a, b, True, inside) == outcome(name, a, b, False, inside) == Compared(a, b)
    for a, b in ((far, frame), (frame, far), (near, frame), (frame, near)):  # the memory may end between them
        for name in ("blt", "bge", "bltu", "bgeu"):
            assert outcome(name, a, b, True, inside) == outcome(name, a, b, False, inside) == Compared(a, b)


def test_what_asks() -> None:
    def asked(name: str, imm: int = 0) -> object:
        return question(decode(encode(name, 5, 6, 7, imm), 0))

    assert all(asked(name, 8) for name in BRANCHES)
    assert asked("slt") == asked("blt", 8)
    assert asked("sltu") == asked("bltu", 8)
    assert asked("srai", 31) == asked("slti", 0)
    assert asked("srai", 15) == asked("srai", 31)
    assert asked("srai", 14) is None
    assert asked("add") is None
