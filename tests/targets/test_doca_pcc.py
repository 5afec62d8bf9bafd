"""The DOCA PCC adapter, driven event by event on the host through its shim, against the integer program.

Slow: further students; every broken adapter is noticed in the fast suite.
"""

import ctypes
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from adapter_mutants import DOCA_PCC, DOCA_PCC_ONCE
from flow_model import Flow, round_trips
from target_students import STUDENTS

from codegen.emit import emit
from decision.artefact.output import writing
from decision.ir.formats import U32_MAX
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.policy.once_per_rtt import decides_once

DEVICE = Path(__file__).parent / "devices" / "doca.c"
SOURCES = ("rlcc_policy.c", "rlcc_doca_pcc.c", DEVICE)
CNP, TX, ACK, NACK, RTT = 2, 3, 4, 5, 6
OURS, BUILT_IN = 0, 15
SET = "-DRLCC_SET_IN_FLIGHT(of,bytes)=do { extern uint32_t device_in_flight; device_in_flight = (bytes); } while (0)"
"""How an integrator's build would say where the second knob goes."""
FAILED = 1


class Event(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint32)
        for name in ("type", "subtype", "port", "request_sent_ns", "response_ns", "sent_32bytes", "num_coalesced")
    )


class Results(ctypes.Structure):
    _fields_ = (("rate", ctypes.c_uint32), ("rtt_req", ctypes.c_uint32), ("probe_type_slot", ctypes.c_uint32))


class Device:
    """The adapter, and the device's memory: 48 bytes a flow, parameters, counters."""

    def __init__(self, path: Path) -> None:
        self.code = ctypes.CDLL(str(path))
        self.contexts: dict[int, ctypes.Array[ctypes.c_uint32]] = {}

    def word(self, name: str) -> int:
        return ctypes.c_uint32.in_dll(self.code, name).value

    def words(self, name: str, count: int) -> list[int]:
        return list((ctypes.c_uint32 * count).in_dll(self.code, name))

    def take(self, name: str) -> int:
        """A word, which is 0 afterwards."""
        place = ctypes.c_uint32.in_dll(self.code, name)
        value, place.value = place.value, 0
        return value

    def give(self, name: str, memory: "ctypes.Array[ctypes.c_uint32] | None") -> None:
        pointer = ctypes.c_void_p.in_dll(self.code, name)
        pointer.value = None if memory is None else ctypes.addressof(memory)

    def event(self, flow: int, slot: int = OURS, **fields: int) -> Results:
        context = self.contexts.setdefault(flow, (ctypes.c_uint32 * 12)())
        results = Results(77, 77, 77)
        attr = ctypes.c_uint32(slot)
        event = Event(**fields)
        self.code.doca_pcc_dev_user_algo(context, ctypes.byref(event), ctypes.byref(attr), ctypes.byref(results))
        return results

    def set_params(
        self, base: int, values: list[int], stored: "ctypes.Array[ctypes.c_uint32]", slot: int = OURS
    ) -> int:
        array = (ctypes.c_uint32 * max(len(values), 1))(*values)
        status: int = self.code.doca_pcc_dev_user_set_algo_params(0, slot, base, len(values), array, stored)
        return status


def drive(
    device: Device, student: str, *, events: int = 600, seed: int = 5, caps: bool = False, told: int = 0
) -> Iterator[str]:
    """A long day of a few flows; what the adapter did otherwise than the model. ``caps``: the build says where what may
    be in flight goes; ``told``: the rate in force that it says, of all flows."""
    rng = np.random.default_rng(seed)
    program, defaults = STUDENTS[student].program(), STUDENTS[student].params()
    params = defaults
    once = decides_once(program)
    counters, stored = (ctypes.c_uint32 * (6 if once else 4))(), (ctypes.c_uint32 * len(defaults))(*defaults.values())
    expected = [0] * len(counters)
    flows: dict[int, Flow] = {}
    for number in range(events):
        if number == events // 3:
            device.give("device_counters", counters)
        if number == 2 * events // 3:  # the operator doubles the base RTT and halves the rates
            params = {name: value // 2 for name, value in defaults.items()} | {"rate_initial_q30": 1 << 20}
            device.give("device_params", stored)
            assert device.set_params(0, list(params.values()), stored) == 0
        flow = int(rng.integers(3)) + number // 100
        if flow not in flows:
            expected[3] += number >= events // 3
        model = flows.setdefault(flow, Flow(program, STUDENTS[student].header.first_window_bytes))
        kind = int(rng.choice([CNP, TX, ACK, NACK, RTT]))
        sent, answered = round_trips(rng)
        if once and rng.random() < 0.3 and "decided_ns" in model.state:  # one of another queue pair of the context
            sent = (model.state["decided_ns"] - int(rng.integers(1, 1 << 14))) & U32_MAX
            answered = (sent + int(rng.integers(1 << 14))) & U32_MAX
        units, coalesced = int(rng.integers(1 << 8)), int(rng.integers(4))
        times = max(coalesced, 1)
        sets = caps and (kind == RTT or model.rate == 0)
        if kind == RTT:
            rate = model.decide(params, request_sent_ns=sent, response_ns=answered, device_rate_q20=told)
        else:
            model.count(
                cnp_count=times * (kind == CNP), nack_count=times * (kind == NACK), sent_bytes=32 * units * (kind == TX)
            )
            rate = model.without_decision(params)
        if number >= events // 3:
            expected[0] += kind == RTT and not model.late
            if once:
                expected[4] += kind == RTT and model.late
            expected[1] += times * (kind == CNP)
            expected[2] += times * (kind == NACK)
        fields = {"request_sent_ns": sent, "response_ns": answered, "sent_32bytes": units, "num_coalesced": coalesced}
        if kind != TX:  # fields of other events' types hold anything
            fields["sent_32bytes"] = 12345
        got = device.event(flow, type=kind, subtype=int(rng.integers(4)), **fields)
        if (got.rate, got.rtt_req, got.probe_type_slot) != (rate, 1, 0):
            yield f"event {number}, type {kind}: rate {got.rate}, expected {rate}"
        if (cap := device.take("device_in_flight")) != (model.in_flight if sets else 0):
            yield f"event {number}, type {kind}: {cap} bytes in flight, expected {model.in_flight}"
    if list(counters) != expected:
        yield f"counters {list(counters)}, expected {expected}"


@pytest.mark.slow_except("counting", "all-once", "tunable")
@pytest.mark.parametrize("student", [name for name in STUDENTS if name not in ("acks", "delivered")])
def test_every_event_gives_the_rate_of_the_integer_program(student, firmware, library):
    """Through wraps, coalesced events, new flows, without counters and with, before and after new parameters."""
    assert list(drive(Device(library(firmware(student, "doca-pcc"), *SOURCES)), student)) == []


def test_a_build_may_tell_the_rate_in_force(firmware, library):
    device = Device(library(firmware("told", "doca-pcc"), "-DRLCC_DEVICE_RATE_Q20(event)=1234U", *SOURCES))
    assert list(drive(device, "told", told=1234)) == []
    assert any(drive(device, "told"))


@pytest.mark.parametrize("student", ["options", "first-window"])
def test_a_build_may_say_where_what_may_be_in_flight_goes(student, firmware, library):
    device = Device(library(firmware(student, "doca-pcc"), SET, *SOURCES))
    assert list(drive(device, student, caps=True)) == []


def test_a_wrong_first_window_is_noticed(firmware, library):
    edit = ("rlcc_doca_pcc.c", "(share < RLCC_FIRST_WINDOW_BYTES) ? share : RLCC_FIRST_WINDOW_BYTES", "share")
    device = Device(library(firmware("first-window", "doca-pcc"), SET, *SOURCES, edit=edit))
    assert any(drive(device, "first-window", caps=True))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("action.in_flight_bytes);", "action.in_flight_bytes + 1U);"),
        ("(share > params->in_flight_min_bytes) ? share : params->in_flight_min_bytes", "share"),
        ("first * params->in_flight_line_q2) >> 32U", "first * params->in_flight_line_q2) >> 30U"),
    ],
)
def test_a_wrong_cap_is_noticed(old, new, firmware, library):
    edit = ("rlcc_doca_pcc.c", old, new)
    device = Device(library(firmware("options", "doca-pcc"), SET, *SOURCES, edit=edit))
    assert any(drive(device, "options", caps=True))


@pytest.mark.parametrize("name", DOCA_PCC)
def test_a_broken_adapter_is_noticed(name, firmware, library):
    folder = firmware("counting", "doca-pcc")
    device = Device(library(folder, *SOURCES, edit=("rlcc_doca_pcc.c", *DOCA_PCC[name])))
    assert any(drive(device, "counting"))


@pytest.mark.parametrize("name", DOCA_PCC_ONCE)
def test_a_broken_adapter_of_a_policy_that_decides_once_is_noticed(name, firmware, library):
    edit = ("rlcc_doca_pcc.c", *DOCA_PCC_ONCE[name])
    assert any(drive(Device(library(firmware("once", "doca-pcc"), *SOURCES, edit=edit)), "once"))


def test_late_answers_decided_on_are_noticed(firmware, library):
    """The rule itself, broken in the C: an answer to a request from before the last decision is decided on."""
    edit = ("rlcc_policy.c", "(asked_since_high == 1023U)", "(asked_since_high == 1024U)")
    assert any(drive(Device(library(firmware("once", "doca-pcc"), *SOURCES, edit=edit)), "once"))


OWNER = "-DRLCC_OWNER(of)=rlcc_owner_of(of)", "-include", str(DEVICE.with_name("owner.h"))


def owned(device: Device, owners: list[int]) -> tuple[list[int], int]:
    """TX events of these owners on one context, 320 bytes each: counters 4 and 5, and the bytes it has counted."""
    counters = (ctypes.c_uint32 * 6)()
    device.give("device_counters", counters)
    place = ctypes.c_uint32.in_dll(device.code, "device_owner")
    for owner in owners:
        place.value = owner
        device.event(0, type=TX, sent_32bytes=10)
    return list(counters)[4:], list(device.contexts[0])[SENT_BYTES]


SENT_BYTES = 9
"""Word of the context of `once`: 20 bytes of the policy, its rate, its owner, then counters, the last of them."""


def test_a_foreign_context_is_not_taken(firmware, library):
    """What another function's or queue pair's events count is not the context's own; the owner is the first."""
    device = Device(library(firmware("once", "doca-pcc"), *OWNER, *SOURCES))
    assert owned(device, [7, 7, 9, 7, 9, 9]) == ([0, 3], 3 * 320)


def test_where_nobody_tells_of_owners_none_is_foreign(firmware, library):
    device = Device(library(firmware("once", "doca-pcc"), *SOURCES))
    assert owned(device, [7, 9, 9]) == ([0, 0], 3 * 320)


@pytest.mark.parametrize(
    ("old", "new"),
    [("(owner != context->owner)", "(owner == 12345U)"), ("context->owner = owner;", "context->owner = 1U;")],
)
def test_a_foreign_context_that_is_taken_is_noticed(old, new, firmware, library):
    device = Device(library(firmware("once", "doca-pcc"), *OWNER, *SOURCES, edit=("rlcc_doca_pcc.c", old, new)))
    assert owned(device, [7, 7, 9, 7, 9, 9]) != ([0, 3], 3 * 320)


def test_events_of_another_slot_go_to_the_internal_algorithm(firmware, library):
    device = Device(library(firmware("rl_cc", "doca-pcc"), *SOURCES))
    got = device.event(0, slot=BUILT_IN, type=RTT)
    assert (got.rate, device.word("device_foreign_calls"), list(device.contexts[0])) == (77, 1, [0] * 12)
    device.event(0, slot=OURS, type=RTT)
    assert device.word("device_foreign_calls") == 1


def test_registration_says_what_there_is(firmware, library):
    device = Device(library(firmware("rl_cc", "doca-pcc"), "-DRLCC_PORTS=2", *SOURCES))
    disabled = ctypes.c_uint32(99)
    device.code.doca_pcc_dev_user_init(ctypes.byref(disabled))
    assert disabled.value == 0
    assert device.words("device_metadata", 3) == [0, 4, 4]
    assert device.word("device_counter_count") == 4
    registered = device.words("device_param", 12)
    assert dict(zip(FLOW_RATE.param_names, registered[::3], strict=True)) == STUDENTS["rl_cc"].params()
    assert all(least <= value <= most for value, most, least in zip(*[iter(registered)] * 3, strict=True))
    assert device.words("device_slots", 8) == [0, 0, 0, 1, 1, 0, 0, 1]


def test_parameters_out_of_range_are_refused_all_or_none(firmware, library):
    device = Device(library(firmware("rl_cc", "doca-pcc"), *SOURCES))
    device.code.doca_pcc_dev_user_init(ctypes.byref(ctypes.c_uint32()))
    registered = device.words("device_param", 12)
    stored = (ctypes.c_uint32 * 4)(1, 2, 3, 4)
    for index, (value, most, least) in enumerate(zip(*[iter(registered)] * 3, strict=True)):
        for bad in (least - 1, most + 1, 2**32 - 1):
            assert device.set_params(index, [bad], stored) == FAILED
        assert device.set_params(0, [value] * index + [0], stored) == FAILED, "a good one before a bad one"
    assert device.set_params(3, [5, 5], stored) == FAILED, "one too many"
    assert device.set_params(4, [5], stored) == FAILED, "no such parameter"
    assert device.set_params(2**32 - 1, [5, 5], stored) == FAILED, "a sum that wraps"
    assert device.set_params(1, [5], stored, slot=3) == FAILED, "another slot's"
    assert list(stored) == [1, 2, 3, 4]
    for index in range(4):
        for end in (1, 2):
            assert device.set_params(index, [registered[3 * index + end]], stored) == 0
            assert stored[index] == registered[3 * index + end]
    assert device.set_params(1, [7, 8], stored) == 0
    assert list(stored)[1:3] == [7, 8]
    assert device.set_params(0, [], stored) == 0


def test_a_parameter_fixed_at_emission_takes_no_other_value(library, tmp_path):
    """It is a constant in the policy: a tool that could set it would see it change nothing."""
    with writing(tmp_path / "student", "student") as work:
        STUDENTS["rl_cc"].save(work)
    emit(tmp_path / "student", tmp_path / "firmware", target="doca-pcc", fix=("base_rtt_recip_q42",))
    device = Device(library(tmp_path / "firmware", *SOURCES))
    device.code.doca_pcc_dev_user_init(ctypes.byref(ctypes.c_uint32()))
    value, most, least = device.words("device_param", 3)
    assert value == most == least == STUDENTS["rl_cc"].params()["base_rtt_recip_q42"]
    stored = (ctypes.c_uint32 * 4)()
    assert device.set_params(0, [value + 1], stored) == device.set_params(0, [value - 1], stored) == FAILED
    assert device.set_params(0, [value], stored) == 0


def test_a_context_full_of_ones_is_survived(firmware, library):
    """A bit flip in the card's memory: the rate is wrong for a while, but it is a rate."""
    device = Device(library(firmware("counting", "doca-pcc"), *SOURCES))
    device.contexts[0] = (ctypes.c_uint32 * 12)(*[2**32 - 1] * 12)
    assert 1 <= device.event(0, type=RTT, request_sent_ns=2**32 - 1, response_ns=7).rate <= 1 << 20


DPACC = """#!/bin/sh
# As DOCA's compiler is called: sources, -o, options of the device's compiler behind one another with commas.
for word; do
  case "$word" in
    --devicecc-options=*) options=$(echo "${word#*=}" | tr , " ");;
    *.c) sources="$sources $word";;
    *.a) made=$word;;
  esac
done
for source in $sources; do
  CC -target riscv64-freestanding -std=c99 $options -c "$source" -o "$made.o" || exit 1
done
: > "$made"
"""
"""A stand-in, with a clang in the place of the DPA's."""


@pytest.mark.parametrize("missing", [None, "doca_pcc_dev_init_algo_slot"])
def test_the_job_that_compiles_against_the_sdk_does(missing, firmware, run, tmp_path):
    """`make doca-sdk` before a stand-in of the SDK: its headers in the place of the shim, its compiler. What they
    do not declare is an error."""
    sdk, made = tmp_path / "sdk", tmp_path / "build" / "doca-pcc"
    shutil.copytree(firmware("rl_cc", "doca-pcc"), made)
    (sdk / "include").mkdir(parents=True)
    text = (made / "doca_pcc_shim.h").read_text()
    (made / "doca_pcc_shim.h").unlink()
    (sdk / "include" / "doca_pcc_dev.h").write_text(text.replace(str(missing), "another_name"))
    for name in ("doca_pcc_dev_algo_access.h", "doca_pcc_dev_event.h"):
        (sdk / "include" / name).write_text("/* as above */\n")
    dpacc = tmp_path / "dpacc"
    dpacc.write_text(DPACC.replace("CC ", f"{sys.executable} -m ziglang cc "))
    dpacc.chmod(0o755)
    makefile = Path(__file__).parents[2] / "Makefile"
    done = run(
        "make", "--no-print-directory", "-f", makefile, f"DOCA={sdk}", f"DPACC={dpacc}", "doca-sdk", cwd=tmp_path
    )
    assert (done.returncode == 0) == (missing is None), done.stderr
    assert (made / "rlcc.a").exists() == (missing is None)
    assert missing is None or missing in done.stderr
