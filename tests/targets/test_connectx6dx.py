"""The rl_algo adapter, driven event by event on the host, against the integer program.

Slow: further students; every broken adapter is noticed in the fast suite.
"""

import ctypes
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from adapter_mutants import CONNECTX6DX
from flow_model import Flow, round_trips
from target_students import STUDENTS

from decision.ir.interfaces.flow_rate import ACKED, DEVICE_RATE, FLOW_RATE, MARKED

ENGINE = Path(__file__).parent / "devices" / "engine.c"
SET = "-DRLCC_SET_IN_FLIGHT(of,bytes)=do { extern uint32_t device_in_flight; device_in_flight = (bytes); } while (0)"
"""How an integrator's build would say where the second knob goes."""
SOURCES = ("rlcc_policy.c", "rlcc_rl_algo.c", ENGINE)


class Event(ctypes.Structure):
    """The last signals are of students that ask for them: the rate in force, or in its place what was acknowledged."""

    _fields_ = tuple((name, ctypes.c_uint32) for name in (*FLOW_RATE.event_names, "first", "second"))


class Engine:
    """The adapter, and the engine's memory: 120 bytes a flow and the operator's parameters."""

    def __init__(self, path: Path, params: list[int]) -> None:
        self.code = ctypes.CDLL(str(path))
        self.memory = (ctypes.c_uint32 * len(params))(*params)
        self.contexts: dict[int, ctypes.Array[ctypes.c_uint32]] = {}

    def event(self, flow: int, *, is_response: bool, **signals: int) -> tuple[int, ...]:
        """Rate, whether a probe is asked for, and the other fields of the result."""
        context = self.contexts.setdefault(flow, (ctypes.c_uint32 * 30)())
        more = [signals.pop(name) for name in (DEVICE_RATE, ACKED, MARKED) if name in signals]
        event = Event(**signals, **dict(zip(("first", "second"), more, strict=False)))
        size = 24 + 4 * len(more)
        ctypes.memmove(ctypes.addressof(Event.in_dll(self.code, "engine_event")), ctypes.byref(event), size)
        ctypes.c_int32.in_dll(self.code, "engine_is_response").value = is_response
        answer = (ctypes.c_uint32 * 3)()
        self.code.engine_call(context, self.memory, answer)
        return tuple(answer)

    def in_flight(self) -> int:
        """What a build has set since the last call; 0: nothing."""
        place = ctypes.c_uint32.in_dll(self.code, "device_in_flight")
        value, place.value = place.value, 0
        return value


def drive(path: Path, student: str, *, events: int = 240, caps: bool = False, tells: bool = False) -> Iterator[str]:
    """Events of a few flows; where the adapter did otherwise than the model."""
    rng = np.random.default_rng(7)
    program, params = STUDENTS[student].program(), STUDENTS[student].params()
    engine = Engine(path, list(params.values()))
    flows: dict[int, Flow] = {}
    for number in range(events):
        if number == events // 2:  # the operator halves the rates while flows are in flight
            params = {name: value // 2 for name, value in params.items()}
            engine.memory[:] = list(params.values())
        flow = int(rng.integers(3)) + number // 100
        model = flows.setdefault(flow, Flow(program, STUDENTS[student].header.first_window_bytes))
        more = {
            "cnp_count": int(rng.integers(3)),
            "nack_count": int(rng.integers(3)),
            "sent_bytes": int(rng.integers(1 << 14)),
        }
        if ACKED in program.interface.event_names:
            more |= {ACKED: int(rng.integers(1 << 15)), MARKED: int(rng.integers(1 << 13))}
        model.count(**more)
        sent, answered = round_trips(rng)
        timestamps = {"request_sent_ns": sent, "response_ns": answered}
        if tells:
            timestamps[DEVICE_RATE] = int(rng.integers(1 << 21)) >> int(rng.integers(21))
        is_response = bool(rng.random() < 0.4)
        sets = caps and (is_response or model.rate == 0)
        rate = model.decide(params, **timestamps) if is_response else model.without_decision(params)
        got = engine.event(flow, is_response=is_response, **timestamps, **more)
        if got != (rate, 1, 0):
            yield f"event {number}: {got}, expected rate {rate}"
        if (cap := engine.in_flight()) != (model.in_flight if sets else 0):
            yield f"event {number}: {cap} bytes in flight, expected {model.in_flight}"
    if any(any(list(context)[20:]) for context in engine.contexts.values()):
        yield "the context holds something behind the adapter's part"


@pytest.mark.slow_except("counting", "all-once", "tunable", "acks")
@pytest.mark.parametrize("student", STUDENTS)
def test_every_event_gives_the_rate_of_the_integer_program(student, firmware, library):
    tells = ("-DENGINE_TELLS_ACKS",) if ACKED in STUDENTS[student].program().interface.event_names else ()
    assert list(drive(library(firmware(student, "connectx6dx"), *tells, *SOURCES), student)) == []


def test_an_engine_may_tell_the_rate_in_force(firmware, library):
    folder = firmware("told", "connectx6dx")
    assert list(drive(library(folder, "-DENGINE_TELLS_RATE", *SOURCES), "told", tells=True)) == []
    assert any(drive(library(folder, *SOURCES), "told", tells=True))


def test_a_build_may_say_where_what_may_be_in_flight_goes(firmware, library):
    folder = firmware("options", "connectx6dx")
    assert list(drive(library(folder, SET, *SOURCES), "options", caps=True)) == []
    edit = ("rlcc_rl_algo.c", "first * params->in_flight_line_q2", "first / 2U * params->in_flight_line_q2")
    assert any(drive(library(folder, SET, *SOURCES, edit=edit), "options", caps=True))


@pytest.mark.parametrize("name", ["acked_bytes", "marked_bytes"])
def test_what_was_acknowledged_is_added_up(name, firmware, library):
    edit = ("rlcc_rl_algo.c", f"memory.context.{name} += event.{name}", f"memory.context.{name} = event.{name}")
    path = library(firmware("acks", "connectx6dx"), "-DENGINE_TELLS_ACKS", *SOURCES, edit=edit)
    assert any(drive(path, "acks"))


@pytest.mark.parametrize("name", CONNECTX6DX)
def test_a_broken_adapter_is_noticed(name, firmware, library):
    path = library(firmware("counting", "connectx6dx"), *SOURCES, edit=("rlcc_rl_algo.c", *CONNECTX6DX[name]))
    assert any(drive(path, "counting"))
