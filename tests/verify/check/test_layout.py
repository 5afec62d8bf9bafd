"""The checker's tie between layout and program: the fields it takes, and each kind of misfit it refuses."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from decision.ir.forest import Forest
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.ir.program import Program, ProgramBuilder, StateField
from emulator.layout import Layout
from verify.check.layout import Field, fields_of, structures_of
from verify.check.refused import Refused

STATE = {"a": "int32", "b": "int16", "c": "uint16", "d": "int8", "e": "uint32"}
SPELT = {"a": "<i4", "b": "<i2", "c": "<u2", "d": "|i1", "e": "<u4"}
OFFSETS = {"a": 4, "b": 0, "c": 2, "d": 12, "e": 8}
"""Not in the program's order, and without a gap but behind the last."""
SIZE = 13


def program() -> Program:
    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE)
    for name, storage in STATE.items():
        b.state_out(name, b.state_in(name, storage))
    return b.finish(b.const(0))


def words(name: str, fields: tuple[str, ...], **other: str) -> Layout:
    return Layout(name, np.dtype([(f, other.get(f, "<u4")) for f in fields]))


def flow(types: dict[str, str] = SPELT, offsets: dict[str, int] = OFFSETS, size: int = SIZE) -> Layout:
    return said("context", types, offsets, size)


def said(name: str, types: dict[str, str], offsets: dict[str, int], size: int) -> Layout:
    """A structure as it is said to be; NumPy itself would refuse some of them."""

    class Said:
        itemsize = size
        fields = {field: (np.dtype(kind), offsets[field]) for field, kind in types.items()}  # noqa: RUF012

    return Layout(name, Said())  # type: ignore[arg-type]


def tied(**layouts: Layout) -> dict[str, list[Field]]:
    return tied_of(program(), **layouts)


def tied_of(whose: Program, **layouts: Layout) -> dict[str, list[Field]]:
    right = {
        "context": flow(),
        "event": words("event", FLOW_RATE.event_names),
        "params": words("params", FLOW_RATE.param_names),
    }
    return fields_of(whose, {**right, **layouts})


def test_the_fields_are_given_in_the_programs_order_with_their_places() -> None:
    found = tied()
    assert found["context"] == [("a", 4, 4), ("b", 0, 2), ("c", 2, 2), ("d", 12, 1), ("e", 8, 4)]
    assert found["event"] == [(name, 4 * n, 4) for n, name in enumerate(FLOW_RATE.event_names)]
    assert found["params"] == [(name, 4 * n, 4) for n, name in enumerate(FLOW_RATE.param_names)]


KINDS = ("<u4", "<i4", "<u2", "<i2", "|i1", "|u1", "<i8", "<u8", ">i2", ">u4", "<f4", "<f2")


@pytest.mark.parametrize("field", list(STATE))
def test_a_field_is_of_no_type_but_the_programs(field: str) -> None:
    for kind in KINDS:
        if kind != SPELT[field]:
            with pytest.raises(Refused, match=f"context.{field} .*, {STATE[field]} "):
                tied(context=flow({**SPELT, field: kind}, size=64))


@pytest.mark.parametrize(("name", "fields"), [("event", FLOW_RATE.event_names), ("params", FLOW_RATE.param_names)])
def test_event_and_params_are_words_without_sign(name: str, fields: tuple[str, ...]) -> None:
    for field in fields:
        for kind in ("<i4", "<u2", "|i1", ">u4"):
            with pytest.raises(Refused, match=f"{name}.{field} .*, uint32 "):
                tied(**{name: words(name, fields, **{field: kind})})


@pytest.mark.parametrize(
    ("name", "fields"), [("event", FLOW_RATE.event_names), ("params", FLOW_RATE.param_names), ("context", tuple(STATE))]
)
def test_a_structure_has_all_the_programs_fields_and_no_other(name: str, fields: tuple[str, ...]) -> None:
    for wrong in (fields[1:], fields[:-1], (*fields, "more"), ("other", *fields[1:])):
        with pytest.raises(Refused, match=f"structure {name} .*fields"):
            tied(**{name: words(name, wrong)})


def test_a_structure_without_fields_has_other_fields() -> None:
    class Plain:
        itemsize, fields = 4, None

    with pytest.raises(Refused, match=r"structure event .*fields"):
        tied(event=Layout("event", Plain()))  # type: ignore[arg-type]


def test_a_name_that_stands_twice_in_the_program_is_refused() -> None:
    stored = replace(program(), state=(StateField("a", "int32", 0), StateField("a", "int32", 1)))
    layouts = {"event": words("event", FLOW_RATE.event_names), "params": words("params", FLOW_RATE.param_names)}
    with pytest.raises(Refused, match=r"structure context .*fields"):
        fields_of(stored, {**layouts, "context": flow({"a": "<i4"})})


def test_a_storage_type_that_the_checker_does_not_know_is_refused() -> None:
    stored = replace(program(), state=(StateField("a", "uint64", 0),))
    layouts = {"event": words("event", FLOW_RATE.event_names), "params": words("params", FLOW_RATE.param_names)}
    with pytest.raises(Refused, match="uint64 in the program"):
        fields_of(stored, {**layouts, "context": flow({"a": "|u1"})})


PLACES: dict[str, dict[str, Any]] = {
    "before the structure": {"b": -2},
    "a byte before the structure": {"d": -1},
    "over the field before it": {"c": 0},
    "inside the field before it": {"d": 11},
    "over a wider one": {"d": 4},
    "a halfword at an odd byte": {"c": 15},
    "a word at an odd byte": {"e": 17},
    "a word at a halfword": {"e": 18},
    "a byte behind the end": {"d": 24},
    "a word over the end": {"e": 24 - 3},
    "a word behind the end": {"e": 24},
}


@pytest.mark.parametrize("what", PLACES)
def test_a_field_at_a_place_that_it_cannot_have_is_refused(what: str) -> None:
    with pytest.raises(Refused, match=r"overlaps .*outside"):
        tied(context=flow(offsets={**OFFSETS, **PLACES[what]}, size=24))


def test_a_field_may_end_with_the_structure_and_not_a_byte_later() -> None:
    assert tied(context=flow(offsets={**OFFSETS, "e": 16}, size=20))["context"][4] == ("e", 16, 4)
    for size in (19, 18, 16):
        with pytest.raises(Refused, match=r"context\.e overlaps another field"):
            tied(context=flow(offsets={**OFFSETS, "e": 16}, size=size))
    with pytest.raises(Refused, match=r"context\.d overlaps another field"):
        tied(context=flow(size=SIZE - 1))


@pytest.mark.parametrize(
    ("part", "why"),
    [("event", "structure event has"), ("params", "structure params has"), ("knobs", "1 results .*2 knobs")],
)
def test_a_program_of_another_kind_of_decision_is_refused(part: str, why: str) -> None:
    mine = program()
    other = replace(
        mine.interface, name="of_the_test", **{part: (*getattr(FLOW_RATE, part), *getattr(FLOW_RATE, part)[:1])}
    )
    with pytest.raises(Refused, match=why):
        tied_of(replace(mine, interface=other))


@pytest.mark.parametrize(
    ("value", "holds"),
    [((1 << 32) - 1, True), (1 << 32, False), (0, True), (-1, False)],
)
def test_a_result_is_what_its_knob_holds(value: int, holds: bool) -> None:
    mine = program()
    nodes = list(mine.nodes)
    nodes[mine.results[0]] = replace(nodes[mine.results[0]], imm=value, low=value, high=value)
    returning = replace(mine, nodes=tuple(nodes))
    if holds:
        assert tied_of(returning)
    else:
        with pytest.raises(Refused, match=f"rate_q20 {value}..{value}, .*uint32"):
            tied_of(returning)


def test_the_structures_are_those_of_the_interface_in_the_order_of_the_arguments() -> None:
    flow = structures_of(program())
    assert list(flow) == ["context", "event", "params"]
    assert flow["context"] == list(STATE.items())
    assert flow["event"] == [(name, "uint32") for name in FLOW_RATE.event_names]
    b = ProgramBuilder(Forest((), (), (0,), 16), QUEUE_MARKING)
    queue = structures_of(b.finish(b.const(0), b.const(1), b.const(2)))
    assert list(queue) == ["event", "params", "action"]
    assert queue["action"] == [(name, "uint32") for name in ("kmin_bytes", "kmax_bytes", "pmax_q16")]


# --- structures of the interface, which lie as a C compiler lays them out ---


def mixed() -> Program:
    """Fields of several widths, in both structures of the interface that are there, and no context."""
    x, knob = FLOW_RATE.event[0], FLOW_RATE.knobs[0]
    event = tuple(replace(x, name=name, storage=storage) for name, storage in EVENT.items())
    knobs = tuple(replace(knob, name=name, storage=storage) for name, storage in ACTION.items())
    interface = replace(FLOW_RATE, name="mixed", event=event, params=(), knobs=knobs, context=(), mixes=())
    b = ProgramBuilder(Forest((), (), (0,), 16), interface)
    return b.finish(b.const(1), b.const(2))


EVENT, ACTION = {"x": "uint32", "y": "uint16", "z": "int8"}, {"p": "int8", "q": "uint32"}
PLACED = {"event": ({"x": 0, "y": 4, "z": 6}, 8), "action": ({"p": 0, "q": 4}, 8)}
SPELLING = {"uint32": "<u4", "uint16": "<u2", "int8": "|i1"}


def mixed_tied(**placed: tuple[dict[str, int], int]) -> dict[str, list[Field]]:
    fields = {"event": EVENT, "action": ACTION, "more": {"x": "int8"}}
    layouts = {
        name: said(name, {f: SPELLING[storage] for f, storage in fields[name].items()}, offsets, size)
        for name, (offsets, size) in (PLACED | placed).items()
        if size
    }
    return fields_of(mixed(), layouts)


def test_what_c_lays_out_is_taken() -> None:
    found = mixed_tied()
    assert found == {"event": [("x", 0, 4), ("y", 4, 2), ("z", 6, 1)], "action": [("p", 0, 1), ("q", 4, 4)]}


@pytest.mark.parametrize(
    ("name", "offsets", "size", "why"),
    [
        ("event", {"x": 0, "y": 6, "z": 4}, 8, r"event\.y is at byte 6"),
        ("event", {"x": 4, "y": 0, "z": 2}, 8, r"event\.x is at byte 4"),
        ("event", {"x": 0, "y": 4, "z": 7}, 8, r"event\.z is at byte 7"),
        ("action", {"p": 1, "q": 4}, 8, r"action\.p is at byte 1"),
        ("action", {"p": 0, "q": 8}, 12, r"action\.q is at byte 8"),
        ("event", {"x": 0, "y": 4, "z": 6}, 7, "event has 7 bytes"),
        ("event", {"x": 0, "y": 4, "z": 6}, 9, "event has 9 bytes"),
        ("event", {"x": 0, "y": 4, "z": 6}, 12, "event has 12 bytes"),
        ("action", {"p": 0, "q": 4}, 12, "action has 12 bytes"),
        ("more", {"x": 0}, 1, "action, more, .*action"),
        ("event", {}, 0, "has action, .*event"),
        ("action", {}, 0, r"has event, (?!action)"),
    ],
)
def test_what_no_c_lays_out_is_refused(name: str, offsets: dict[str, int], size: int, why: str) -> None:
    with pytest.raises(Refused, match=why):
        mixed_tied(**{name: (offsets, size)})


@pytest.mark.parametrize(("storage", "width"), [("int8", 1), ("uint16", 2), ("uint32", 4)])
def test_a_structure_is_a_multiple_of_its_widest_field(storage: str, width: int) -> None:
    alone = replace(mixed().interface, event=(replace(FLOW_RATE.event[0], name="x", storage=storage),), params=())
    whose = replace(mixed(), interface=replace(alone, knobs=FLOW_RATE.knobs[:1]), results=(0,))
    for size in (width, width + 1, 2 * width):
        layout = said("event", {"x": SPELLING[storage]}, {"x": 0}, size)
        if size == width:
            assert fields_of(whose, {"event": layout}) == {"event": [("x", 0, width)]}
        else:
            with pytest.raises(Refused, match=f"event .*{size} bytes"):
                fields_of(whose, {"event": layout})
