"""Accesses: what was written is read, narrow or wide; what may lie outside is refused."""

import pytest

from verify.code.arguments import Field, Structure
from verify.code.failures import Refused
from verify.ranges.memory import Layout, Memory
from verify.ranges.values import Address, AtCall, Value
from verify.ranges.words import MODULUS, Words, between
from verify.trusted.calibrate_programs import encode
from verify.trusted.machine import Instruction, decode

BASE = 0x1000_0000
CONSTANTS = bytes([1, 0, 2, 0, 0xFD, 0xFF, 4, 0])
LAYOUT = Layout(
    (
        Structure("context", 8, (Field("rate", 0, 4, 0, (1 << 32) - 1), Field("last", 4, 2, -32768, 32767)), True),
        Structure("event", 4, (Field("rtt", 0, 4, 0, (1 << 32) - 1),), False),
        Structure("action", 4, (Field("knob", 0, 4, 0, (1 << 32) - 1),), True),
    ),
    (BASE, CONSTANTS),
    64,
)


def access(name: str) -> Instruction:
    return decode(encode(name, 0 if name in ("sb", "sh", "sw") else 5, 6, 7), 0x100)


def at(region: str, offset: int, end: int | None = None, step: int = 1) -> Address:
    return Address(region, between(offset, offset if end is None else end, step))


def memory() -> Memory:
    return Memory.at_call(LAYOUT)


def test_fields_hold_what_they_can_and_an_action_nothing() -> None:
    assert memory().load(access("lh"), at("context", 4)) == between(-32768, 32767)
    assert memory().load(access("lhu"), at("context", 4)) == between(0, 65535)
    assert memory().load(access("lbu"), at("event", 3)) == between(0, 255)
    with pytest.raises(Refused, match="offset 0 of action"):
        memory().load(access("lw"), at("action", 0))
    with pytest.raises(Refused, match="offset 6 of context"):  # padding
        memory().load(access("lh"), at("context", 6))


def test_what_was_written_is_read() -> None:
    m = memory()
    m.store(access("sh"), at("frame", -8), between(-3, 70_000))
    assert m.load(access("lh"), at("frame", -8)) == between(-32768, 32767)
    m.store(access("sh"), at("frame", -8), between(-3, 7))
    assert m.load(access("lh"), at("frame", -8)) == between(-3, 7)
    assert m.load(access("lhu"), at("frame", -8)) == between(0, 65535)
    m.store(access("sh"), at("frame", -8), between(65530, 65535))
    assert m.load(access("lh"), at("frame", -8)) == between(-6, -1)
    m.store(access("sw"), at("frame", -8), AtCall(8))
    assert m.load(access("lw"), at("frame", -8)) == AtCall(8)
    assert m.stack_bytes == 8


def test_a_write_over_a_part_leaves_the_rest_unknown_but_written() -> None:
    m = memory()
    m.store(access("sw"), at("frame", -8), Words(7))
    m.store(access("sb"), at("frame", -7), Words(1))
    assert m.load(access("lw"), at("frame", -8)) == between(0, (1 << 32) - 1)
    assert m.load(access("lbu"), at("frame", -7)) == Words(1)
    assert m.load(access("lbu"), at("frame", -8)) == between(0, 255)


def test_a_place_of_which_one_way_wrote_nothing_is_not_read() -> None:
    a, b = memory(), memory()
    a.store(access("sw"), at("frame", -4), Words(3))
    with pytest.raises(Refused, match="offset -4 of frame"):
        a.joined(b).load(access("lw"), at("frame", -4))
    b.store(access("sw"), at("frame", -4), Words(5))
    assert a.joined(b).load(access("lw"), at("frame", -4)) == between(3, 5, 2)


def test_what_both_ways_wrote_by_other_widths_is_anything() -> None:
    a, b = memory(), memory()
    a.store(access("sw"), at("frame", -4), Words(3))
    for offset in (-4, -2):
        b.store(access("sh"), at("frame", offset), Words(5))
    assert a.joined(b).load(access("lhu"), at("frame", -2)) == between(0, 65535)
    assert b.joined(a).load(access("lw"), at("frame", -4)) == between(0, (1 << 32) - 1)


def test_of_an_index_all_that_it_may_meet() -> None:
    assert memory().load(access("lh"), between(BASE, BASE + 4, 2)) == between(-3, 2)
    assert memory().load(access("lh"), Words(BASE + 4)) == Words(-3 % MODULUS)
    m = memory()
    for n in range(4):
        m.store(access("sh"), at("frame", -8 + 2 * n), Words(n * n))
    assert m.load(access("lh"), at("frame", -8, -2, 2)) == between(0, 9)


@pytest.mark.parametrize(
    ("name", "address", "kind"),
    [
        ("lh", between(BASE, BASE + 8, 2), "load-outside"),
        ("lh", between(BASE - 2, BASE, 2), "load-outside"),
        ("lh", between(BASE, BASE + 4), "misaligned"),
        ("lh", Words(BASE + 1), "misaligned"),
        ("lw", at("event", 0, 4, 4), "load-outside"),
        ("lw", at("event", -4), "load-outside"),
        ("lw", at("event", 2), "misaligned"),
        ("lw", at("frame", 0), "load-outside"),
        ("lw", at("frame", -68), "load-outside"),
        ("lw", at("frame", -8), "load-unwritten"),
        ("lw", AtCall(8), "load-address"),
        ("lw", None, "load-address"),
        ("lbu", Address("frame", between(0, (1 << 32) - 1)), "load-address"),
    ],
)
def test_loads_that_may_lie_outside_are_refused(name: str, address: Value, kind: str) -> None:
    with pytest.raises(Refused) as refused:
        memory().load(access(name), address)
    assert refused.value.failure.kind == kind


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        (at("event", 0), "store-outside"),
        (at("context", 8), "store-outside"),
        (at("context", 0, 4, 4), "store-outside"),
        (at("frame", -68), "store-outside"),
        (at("frame", 0), "store-outside"),
        (at("frame", -6), "misaligned"),
        (Words(BASE), "store-outside"),
        (None, "store-outside"),
    ],
)
def test_stores_that_may_lie_outside_are_refused(address: Value, kind: str) -> None:
    with pytest.raises(Refused) as refused:
        memory().store(access("sw"), address, Words(1))
    assert refused.value.failure.kind == kind
