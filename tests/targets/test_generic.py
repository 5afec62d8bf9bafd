"""The sketch of a main loop, run over a list of events on the host."""

import ctypes
from pathlib import Path

import numpy as np
import pytest
from flow_model import Flow, round_trips
from target_students import STUDENTS

from decision.ir.formats import U32_MAX
from decision.ir.interfaces.flow_rate import FLOW_RATE

LOOP = Path(__file__).parent / "devices" / "loop.c"
TABLE = 64


class Event(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint32) for name in ("flow", "is_new", *FLOW_RATE.event_names))


@pytest.mark.slow_except("None-counting", "edit1-counting", "edit2-counting", "None-once")
@pytest.mark.parametrize("name", ["counting", "once"])
@pytest.mark.parametrize("edit", [None, ("*flow = new_flow;", ";"), ("event.flow < RLCC_FLOWS", "event.flow < 63U")])
def test_the_loop_decides_for_each_event_and_starts_new_flows_from_zero(name, edit, firmware, library):
    rng = np.random.default_rng(3)
    student = STUDENTS[name]
    program, params = student.program(), student.params()
    late = 0
    flows: dict[int, Flow] = {}
    events, rates = [], []
    for _ in range(500):
        number = int(rng.choice([0, 1, 2, TABLE - 1, TABLE, 2**32 - 1]))  # the last two have no place in the table
        is_new = bool(rng.random() < 0.1)
        sent, answered = round_trips(rng)
        signals = {
            "request_sent_ns": sent,
            "response_ns": answered,
            "cnp_count": int(rng.integers(3)),
            "sent_bytes": 9000,
        }
        events.append(Event(flow=number, is_new=is_new, **signals))
        if number < TABLE:
            flow = Flow(program) if is_new else flows.setdefault(number, Flow(program))
            flow.counts = {}
            flows[number] = flow
            if name == "once" and rng.random() < 0.3 and flow.state:  # from before its last decision
                signals["request_sent_ns"] = (flow.state["decided_ns"] - 1000) & U32_MAX
                events[-1].request_sent_ns = signals["request_sent_ns"]
            rates.append(flow.decide(params, **signals))
            late += flow.late
    mutant = ("rlcc_main_loop.c", *edit) if edit else None
    code = ctypes.CDLL(str(library(firmware(name, "generic"), "rlcc_policy.c", "rlcc_main_loop.c", LOOP, edit=mutant)))
    array, got = (Event * len(events))(*events), (ctypes.c_uint32 * len(events))()
    ctypes.c_void_p.in_dll(code, "loop_events").value = ctypes.addressof(array)
    ctypes.c_void_p.in_dll(code, "loop_rates").value = ctypes.addressof(got)
    ctypes.c_uint32.in_dll(code, "loop_count").value = len(events)
    code.rlcc_main_loop()
    assert (list(got)[: len(rates)] == rates) is (edit is None)
    if edit is None:
        assert ctypes.c_uint32.in_dll(code, "loop_late").value == late
        assert (late > 0) == (name == "once")
