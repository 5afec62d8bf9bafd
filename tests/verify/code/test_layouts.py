"""What the manifest says of the structures is what the program takes its inputs to be; else nothing is proved."""

from pathlib import Path
from typing import Any

import numpy as np
import policy_by_hand as hand
import pytest

from decision.artefact.errors import InputError
from decision.ir.forest import Forest
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, Program, ProgramBuilder
from emulator.layout import Layout
from verify.prover.concrete import Runner
from verify.prover.prove import ENTRY, Limits, prove
from verify.trusted.costs import cycle_model

LOOK_UP = """
#include <stdint.h>
typedef struct { uint32_t request_sent_ns, response_ns, cnp_count, nack_count, sent_bytes, queue_bytes; } event_t;
typedef struct { uint32_t recip, low, high, initial; } params_t;
typedef struct { uint32_t rate_q30; WIDTH action; } flow_t;

static const uint8_t table[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

uint32_t rlcc_decide(flow_t *flow, const event_t *event, const params_t *params)
{
    (void)event;
    (void)params;
    return table[(uint32_t)(flow->action + 32768) >> 12];
}
"""


def look_up() -> Program:
    """A table at an index that an int16 cannot bring out of it, and anything wider can."""
    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE)
    b.tables = [tuple(range(1, 17))]
    b.state_out("rate_q30", b.state_in("rate_q30", "uint32"))
    action = b.state_in("action", "int16")
    b.state_out("action", action)
    return b.finish(b.add(Op.TABLE, (b.add(Op.SHR, (b.add(Op.ADD, (action, b.const(32768))),), 12),)))


def flow(kind: str, **changes: Any) -> Layout:
    """The context with ``action`` of a NumPy type; the changes are of np.dtype's parts."""
    parts: dict[str, Any] = {
        "names": ["rate_q30", "action"],
        "formats": ["<u4", kind],
        "offsets": [0, 4],
        "itemsize": 8,
    }
    return Layout("context", np.dtype({**parts, **changes}))


def words(name: str, names: tuple[str, ...], kind: str = "<u4", **changes: Any) -> Layout:
    """Event or parameters, the first field of a type."""
    parts: dict[str, Any] = {"names": list(names), "formats": [kind, *["<u4"] * (len(names) - 1)]}
    parts |= {"offsets": [4 * n for n in range(len(names))], "itemsize": 4 * len(names)}
    return Layout(name, np.dtype({**parts, **changes}))


def test_a_read_behind_a_table_is_not_certified_for_a_context_wider_than_the_program(tmp_path: Path) -> None:
    image = hand.linked(LOOK_UP.replace("WIDTH", "int32_t"), tmp_path)
    layouts = {**hand.layouts(), "context": flow("<i4")}
    runner = Runner(image, look_up(), layouts, hand.PROFILE, cycle_model(hand.PROFILE), ENTRY)
    data = [layouts["context"].pack({"rate_q30": np.array([0]), "action": np.array([1 << 30])}, 1).tobytes()]
    with pytest.raises(Exception, match="load out"):  # it does happen
        runner.simulator.call([*data, bytes(24), bytes(16)])
    with pytest.raises(InputError, match=r"context\.action .*int32, .*int16"):
        prove(image, look_up(), layouts, hand.PROFILE)
    right = hand.linked(LOOK_UP.replace("WIDTH", "int16_t"), tmp_path / "right")
    assert prove(right, look_up(), hand.layouts(), hand.PROFILE, limits=Limits(worst_seconds=1)).proved
    wide = prove(image, look_up(), hand.layouts(), hand.PROFILE)  # the layout right, the C's structure wide
    assert [f.kind for f in wide.failures] == ["load-outside"]


SWAPPED = [*FLOW_RATE.event_names[1::-1], *FLOW_RATE.event_names[2:]]
LAYOUTS: dict[str, tuple[str, Layout, str]] = {
    "wider": ("context", flow("<i4"), "as int32"),
    "unsigned": ("context", flow("<u2"), "as uint16"),
    "narrower": ("context", flow("i1"), "as int8"),
    "the other byte order": ("context", flow(">i2"), "as int16"),
    "a word signed": ("context", flow("<i2", formats=["<i4", "<i2"]), "rate_q30 as int32"),
    "overlapping": ("context", flow("<i2", offsets=[0, 2]), "at byte 2"),
    "misaligned": ("context", flow("<i2", offsets=[0, 5]), "at byte 5"),
    "without a field": ("context", Layout("context", np.dtype([("rate_q30", "<u4")])), "lacks context.action"),
    "with one more": (
        "context",
        Layout("context", np.dtype([("rate_q30", "<u4"), ("action", "<i2"), ("more", "<i2")])),
        "lays out context.more",
    ),
    "an event's halfword": ("event", words("event", FLOW_RATE.event_names, "<u2"), "as uint16"),
    "an event's sign": ("event", words("event", FLOW_RATE.event_names, "<i4"), "as int32"),
    "an event in another order": ("event", words("event", tuple(SWAPPED)), "at byte 4"),
    "an event moved": (
        "event",
        words("event", FLOW_RATE.event_names, offsets=[24, 4, 8, 12, 16, 20], itemsize=28),
        "at byte 24",
    ),
    "an event without its last": ("event", words("event", FLOW_RATE.event_names[:-1]), "lacks event.queue_bytes"),
    "a longer event": ("event", words("event", FLOW_RATE.event_names, itemsize=28), "28 bytes, C gives it 24"),
    "a parameter's byte": ("params", words("params", FLOW_RATE.param_names, "u1"), "as uint8"),
    "a parameter's sign": ("params", words("params", FLOW_RATE.param_names, "<i4"), "as int32"),
    "a parameter renamed": ("params", words("params", (*FLOW_RATE.param_names[:-1], "first")), "rate_initial_q30"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_that_is_not_the_programs_is_refused(name: str, tmp_path: Path) -> None:
    struct, layout, words_ = LAYOUTS[name]
    image = hand.linked(hand.SOURCE, tmp_path)
    with pytest.raises(InputError, match=words_):
        prove(image, hand.program(), {**hand.layouts(), struct: layout}, hand.PROFILE)
