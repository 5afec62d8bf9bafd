"""Falcon's rate update engine: the adapter driven event by event on the host, as the datapath would carry its state
from a response to the next event, against the integer program and the map to windows in exact fractions."""

import ctypes
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from adapter_mutants import FALCON_RUE, FALCON_RUE_2
from falcon_packing import pack, unpack
from flow_model import Flow
from target_students import FALCON_STUDENTS, STUDENTS

from decision.artefact.manifest import opened
from decision.ir.formats import U32_MAX
from decision.policy.once_per_rtt import decides_once
from verify.adapter.falcon_lines import ACK, FABRIC, FORWARD, LINES, NACK, RETRANSMISSION, REVERSE, TIME, fields

ADAPTER = "rlcc_falcon_rue.c"
SOURCES = ("rlcc_policy.c", ADAPTER)
NO_RESOURCES = 1
UNIT, TICK = Fraction(131072, 1000), Fraction(512)
"""ns."""
CARRIED = ("fabric_congestion_window", "nic_congestion_window", "fabric_window_time_marker", "nic_window_time_marker",
           "base_delay", "delay_state", "rtt_state", "cc_opaque", "event_queue_select", "delay_select")  # fmt: skip
"""By the datapath from a response to the next event, in both generations."""


@dataclass(frozen=True)
class Tuned:
    """What the operator tunes beside the policy's parameters."""

    line_q16: int = 26214
    window_most_q10: int = 256 << 10
    nic_window: int = 64
    gap_most: int = 65535
    retransmit_least: int = 1907
    packet_bytes: int = 4096


LEAST, MOST = Tuned(1, 1024, 1, 1, 1, 1), Tuned(2**24 - 1, 2**21 - 1, 2047, 2**20 - 1, 2**24 - 1, 65535)

SIZED = ("losing", "options", "first-window", "losing-once", "all-once", "delivered")
"""Students that count bytes, for which the operator says what a packet has."""


def words_of(student: str, policy: dict[str, int], tuned: Tuned) -> tuple[int, ...]:
    """An rlcc_rue_params; the size of a packet is there where something counts bytes."""
    own = list(vars(tuned).values())
    return (
        *policy.values(),
        *(own if student in SIZED else own[:-1]),
    )


@dataclass
class Connection:
    """What the adapter has to do, around the integer program of one flow."""

    flow: Flow
    carried: dict[str, int] = field(default_factory=dict)

    def expected(
        self, gen: int, event: dict[str, int], policy: dict[str, int], tuned: Tuned, now: int, told: int
    ) -> dict[str, int]:
        kind, t = event["event_type"], [event[f"timestamp_{n}"] for n in (1, 2, 3, 4)]
        rtt, held = (t[3] - t[0]) & TIME, (t[2] - t[1]) & TIME
        delay = {FABRIC: max(rtt - held, 0), FORWARD: (t[1] - t[0]) & TIME, REVERSE: (t[3] - t[2]) & TIME}.get(
            event["delay_select"], rtt
        )
        marker, passed = event["fabric_window_time_marker"], (now - event["fabric_window_time_marker"]) & TIME
        samples = {name: event[name] for name in ("delay_state", "rtt_state")}
        if kind == RETRANSMISSION or (kind == NACK and event["nack_code"] == NO_RESOURCES):
            self.flow.count(nack_count=1)
        if kind in (ACK, NACK):
            acked = event["num_packets_acked"] * tuned.packet_bytes
            self.flow.count(sent_bytes=acked, acked_bytes=acked)
            samples = {"delay_state": delay, "rtt_state": rtt}
            if self.flow.rate == 0 or passed >= rtt:
                sent, ns = 0, int(delay * UNIT)
                if decides_once(self.flow.program):  # the policy's clock goes on by what has passed
                    clock = self.flow.state.get("decided_ns", 0) + int(passed * UNIT)
                    sent, ns = (clock - ns) & U32_MAX, clock & U32_MAX
                self.flow.decide(policy, request_sent_ns=sent, response_ns=ns, device_rate_q20=told)
                marker = now & TIME
        elif passed > event["rtt_state"]:
            marker = (now - event["rtt_state"]) & TIME
        self.flow.without_decision(policy)
        orders = paced(self.flow, samples["rtt_state"], tuned)
        same = ["connection_id", "cc_metadata", "event_queue_select", "delay_select", "nic_window_time_marker"]
        same += ["base_delay", "cc_opaque", *(["nic_window_direction"] if gen == 1 else ["plb_state", "csig_enable"])]
        response = dict.fromkeys((name for name, _, _ in fields(f"Response_Gen{gen}")), 0)
        response |= orders | samples | {name: event[name] for name in same}
        response["fabric_window_time_marker"] = marker
        response["nic_congestion_window"] = tuned.nic_window << (10 * (gen == 2))
        if gen == 2:
            paths = event["multipath_enable"]
            response |= {f"flow_label_{n}_weight": paths for n in (1, 2, 3, 4)}
            response["flow_id"] = event["flow_label"] & 3 if paths else 0
            response["ar_rate"] = 0 if orders["fabric_congestion_window"] < 8.5 * 1024 else 4
            response["alpha_request"] = response["alpha_response"] = 7 if kind == RETRANSMISSION else 6
        return response


def paced(flow: Flow, rtt: int, tuned: Tuned) -> dict[str, int]:
    """Window, gap and timeout of a rate, in exact fractions of packets and units of time."""
    pace = Fraction(flow.rate * tuned.line_q16, 1 << 36)  # packets a unit
    bounded = min(rtt, 2**20 - 1)
    window = int(pace * bounded * 1024)
    gap = Fraction(0)
    if window < 1024:
        gap = min(Fraction(int((1 / pace - bounded) * UNIT / TICK + Fraction(1, 2))), Fraction(tuned.gap_most))
        window = max(window, 1)
    else:
        most = tuned.window_most_q10
        if flow.in_flight:
            most = min(most, max(flow.in_flight * 1024 // tuned.packet_bytes, 1024))
        window = min(window, most)
    timeout = min(2 * rtt + int(gap * TICK / UNIT), TIME)
    return {
        "fabric_congestion_window": window,
        "inter_packet_gap": int(gap),
        "retransmit_timeout": max(timeout, tuned.retransmit_least),
    }


def drawn(rng: np.random.Generator, gen: int, carried: dict[str, int], now: int) -> dict[str, int]:
    """An event: every field any bits, but what the datapath has carried and, mostly, timestamps that make sense."""
    event = {name: int(rng.integers(1 << min(width, 62))) for name, _, width in fields(f"Event_Gen{gen}")}
    event["event_type"] = int(rng.choice([ACK, NACK, RETRANSMISSION, 3], p=[0.7, 0.12, 0.12, 0.06]))
    event["nack_code"] = int(rng.integers(9)) if event["event_type"] == NACK else event["nack_code"]
    event["num_packets_acked"] = int(rng.choice([0, 1, 2, 1023]))
    shape = rng.random()
    if shape < 0.9:
        rtt = int(np.exp(rng.uniform(np.log(10), np.log(30_000 if shape < 0.8 else 2**24))))
        held = int(rng.integers(rtt + 1)) if shape < 0.75 else int(rng.integers(2 * rtt))
        there = int(rng.integers(rtt - held + 1)) if held <= rtt else 0
        times = (now - rtt, now - rtt + there, now - rtt + there + held, now)
        event |= {f"timestamp_{n}": time & TIME for n, time in enumerate(times, 1)}
    elif shape < 0.92:
        event |= {f"timestamp_{n}": now & TIME for n in (1, 2, 3, 4)}  # no time at all
    event |= carried if rng.random() < 0.95 else {}
    if rng.random() < 0.05:  # the packet left in the very moment of the last decision
        event["fabric_window_time_marker"] = event["timestamp_1"]
    return event


@dataclass(frozen=True)
class Step:
    """An event line, with what the adapter is given beside it, and the response that it has to give."""

    connection: int
    event: bytes
    words: tuple[int, ...]
    now: int
    response: dict[str, int]


def turned(rng: np.random.Generator) -> Tuned:
    ends = zip(vars(LEAST).values(), vars(MOST).values(), strict=True)
    return Tuned(*(int(np.exp(rng.uniform(np.log(low), np.log(high)))) for low, high in ends))


@cache
def story(student: str, gen: int, *, told: int = 0) -> tuple[Step, ...]:
    """A long day of a few connections, which the datapath carries as it was told to."""
    rng = np.random.default_rng(3 + gen)
    program, policy, tuned = STUDENTS[student].program(), STUDENTS[student].params(), Tuned()
    connections: dict[int, Connection] = {}
    now, steps = 2**24 - 4000, []
    for number in range(320 if student in FALCON_RUE else 120):
        if number % 20 == 19:  # the operator turns everything
            policy = {name: max(value - value // 4, 1) for name, value in policy.items()}
            tuned = LEAST if number % 100 == 59 else MOST if number % 100 == 99 else turned(rng)
        now += int(rng.choice([1, 40, 700, 20_000, 2**24 - 5], p=[0.3, 0.4, 0.25, 0.04, 0.01]))
        name = int(rng.integers(3)) + number // 15
        connection = connections.setdefault(
            name, Connection(Flow(program, STUDENTS[student].header.first_window_bytes))
        )
        event = drawn(rng, gen, connection.carried, now) | {"connection_id": name}
        response = connection.expected(gen, event, policy, tuned, now, told)
        connection.carried = {key: response[key] for key in CARRIED}
        steps.append(Step(name, pack(f"Event_Gen{gen}", event), words_of(student, policy, tuned), now, response))
    return tuple(steps)


def drive(path: Path, student: str, gen: int, *, told: int = 0) -> Iterator[str]:
    """What the adapter did otherwise than the model."""
    answer = getattr(ctypes.CDLL(str(path)), f"rlcc_rue_gen{gen}")
    memory: dict[int, ctypes.Array[ctypes.c_char]] = {}
    for number, step in enumerate(story(student, gen, told=told)):
        own = memory.setdefault(step.connection, ctypes.create_string_buffer(64))
        response = ctypes.create_string_buffer(b"\xff" * 64, 64)
        params = (ctypes.c_uint32 * len(step.words))(*step.words)
        answer(ctypes.create_string_buffer(step.event, 64), response, own, params, ctypes.c_uint32(step.now))
        got = unpack(f"Response_Gen{gen}", response.raw)
        for key, value in step.response.items():
            if got[key] != value:
                yield f"event {number}: {key} {got[key]}, expected {value}"
    if any(connection.raw[40:] != bytes(24) for connection in memory.values()):
        yield "the memory holds something behind the adapter's part"


@pytest.mark.slow_except("carrying-1", "tunable-1", "all-once-1", "losing-2", "delivered-1", "table-1")
@pytest.mark.parametrize(
    ("student", "gen"), [(s, g) for s in FALCON_STUDENTS for g in (1, 2) if g == 1 or s == "losing"]
)
def test_every_event_gives_the_window_of_the_integer_programs_rate(student, gen, firmware, library):
    """Whole responses to the bit: times that wrap and that make no sense, every delay, types that there are not,
    parameters at their ends, new connections in the middle, state that something else has overwritten."""
    assert list(drive(library(firmware(student, "falcon-rue"), *SOURCES), student, gen)) == []


def test_a_build_may_tell_the_rate_in_force(firmware, library):
    path = library(firmware("told", "falcon-rue"), "-DRLCC_DEVICE_RATE_Q20(connection)=1234U", *SOURCES)
    assert list(drive(path, "told", 1, told=1234)) == []
    assert any(drive(path, "told", 1))


@pytest.mark.parametrize("gen", [1, 2])
def test_memory_that_something_else_has_overwritten_stays_at_line_rate(gen, firmware, library):
    """A rate of 2048 lines, at which a division by zero would wait; nothing is decided on an unknown type."""
    answer = getattr(ctypes.CDLL(str(library(firmware("rl_cc", "falcon-rue"), *SOURCES))), f"rlcc_rue_gen{gen}")
    words = words_of("rl_cc", STUDENTS["rl_cc"].params(), Tuned(line_q16=1 << 21))
    said = []
    for rate in (1 << 20, 1 << 31):
        memory, response = ctypes.create_string_buffer(64), ctypes.create_string_buffer(64)
        layout = opened(firmware("rl_cc", "falcon-rue"), "firmware").details["layout"]["context"]["size"]
        ctypes.memmove(ctypes.addressof(memory) + layout, rate.to_bytes(4, "little"), 4)
        event = pack(f"Event_Gen{gen}", {"event_type": 3})
        answer(ctypes.create_string_buffer(event, 64), response, memory, (ctypes.c_uint32 * len(words))(*words), 5)
        said.append(unpack(f"Response_Gen{gen}", response.raw))
    assert said[0] == said[1]


def test_a_policy_that_hears_of_marks_is_refused(firmware):
    with pytest.raises(Exception, match=r"marked_bytes, .*falcon-rue"):
        firmware("acks", "falcon-rue")


def test_a_policy_that_hears_of_cnps_is_refused(firmware):
    with pytest.raises(Exception, match=r"cnp_count, .*falcon-rue"):
        firmware("counting", "falcon-rue")


@pytest.fixture(scope="module")
def policy(firmware, host_compiler, run, tmp_path_factory):
    """A student's compiled decision, for the adapters that are broken around it."""

    @cache
    def compiled(student: str) -> Path:
        made = tmp_path_factory.mktemp("policy") / "policy.o"
        source = firmware(student, "falcon-rue") / "rlcc_policy.c"
        built = run(*host_compiler, "-std=c99", "-O1", "-fPIC", "-c", source, "-o", made)
        assert built.returncode == 0, built.stderr
        return made

    return compiled


@pytest.mark.parametrize(
    ("student", "name"), [(student, name) for student in FALCON_RUE for name in FALCON_RUE[student]]
)
def test_a_broken_adapter_is_noticed(student, name, firmware, policy, library):
    edit = (ADAPTER, *FALCON_RUE[student][name])
    path = library(firmware(student, "falcon-rue"), policy(student), ADAPTER, edit=edit)
    assert any(drive(path, student, 1))


@pytest.mark.parametrize("name", FALCON_RUE_2)
def test_so_is_one_of_generation_2(name, firmware, policy, library):
    edit = (ADAPTER, *FALCON_RUE_2[name])
    path = library(firmware("losing", "falcon-rue"), policy("losing"), ADAPTER, edit=edit)
    assert any(drive(path, "losing", 2))


def test_parameters_are_in_range_or_not(firmware, library):
    """Each at its ends, and one beyond."""
    code = ctypes.CDLL(str(library(firmware("options", "falcon-rue"), *SOURCES)))
    policy = STUDENTS["options"].params()
    interface = STUDENTS["options"].program().interface
    ranges = {s.name: s.settable for s in interface.params} | {
        name: (low, high) for (name, low), high in zip(vars(LEAST).items(), vars(MOST).values(), strict=True)
    }
    defaults = policy | vars(Tuned())

    def taken(**changed: int) -> bool:
        values = defaults | changed
        return bool(code.rlcc_rue_params_in_range((ctypes.c_uint32 * len(values))(*values.values())))

    assert taken()
    for name, (low, high) in ranges.items():
        assert taken(**{name: low}), name
        assert taken(**{name: high}), name
        assert not low or not taken(**{name: low - 1}), name
        assert high == 2**32 - 1 or not taken(**{name: high + 1}), name


def test_the_header_lays_the_lines_out_as_they_are_published(firmware):
    """Two readings of one specification: the header's fields in their order are those of falcon_lines.py."""
    text = (firmware("rl_cc", "falcon-rue") / "falcon_rue.h").read_text()
    for gen in (1, 2):
        for kind in ("Event", "Response"):
            said = re.findall(rf"#define RUE{gen}_{kind.upper()}_\w+ RUE_FIELD\((\d+)U, (\d+)U\)", text)
            placed = [(str(at), str(width)) for _, at, width in fields(f"{kind}_Gen{gen}")]
            assert said == placed
    assert len(LINES) == 4


def test_a_field_moved_or_forgotten_does_not_compile(firmware, host_compiler, run, tmp_path):
    """The header's own assertions."""
    text = (firmware("rl_cc", "falcon-rue") / "falcon_rue.h").read_text()
    policy = (firmware("rl_cc", "falcon-rue") / "rlcc_policy.h").read_text()
    (tmp_path / "rlcc_policy.h").write_text(policy)
    (tmp_path / "it.c").write_text('#include "falcon_rue.h"\n')
    for old, new in (
        ("RUE1_EVENT_T3 RUE_FIELD(74U, 24U)", "RUE1_EVENT_T3 RUE_FIELD(75U, 24U)"),
        ("RUE2_RESPONSE_PADDING_1 RUE_FIELD(448U, 64U)", "RUE2_RESPONSE_PADDING_1 RUE_FIELD(448U, 63U)"),
        ("uint32_t rate_q20;", "uint32_t rate_q20; uint32_t more[16];"),
    ):
        assert old in text
        (tmp_path / "falcon_rue.h").write_text(text.replace(old, new))
        built = run(*host_compiler, "-std=c99", "-fsyntax-only", tmp_path / "it.c")
        assert re.search("negative|array", built.stderr), old
        assert built.returncode != 0
