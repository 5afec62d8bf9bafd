"""The BPF congestion control: run in a user-space VM beside its host build and the integer program, and verified by the
kernel where this machine may load programs.

Slow: each student at each version of the instruction set.
"""

import csv
import ctypes
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from bpf_kernel import verified
from bpf_vm import Fault, Machine
from flow_model import Flow
from target_students import STUDENTS

from decision.artefact.manifest import opened
from decision.ir.interfaces.flow_rate import RTT_SLACK
from decision.policy.once_per_rtt import decides_once

CLANG = (sys.executable, "-m", "ziglang", "cc", "-target", "bpfel-freestanding", "-std=c11", "-g", "-O2")
STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
LICENCE = '-DRLCC_BPF_LICENCE="GPL"'
LINE_RATE = 12_500_000_000
FITTING = (
    "rl_cc",
    "table",
    "losing",
    "options",
    "first-window",
    "told",
    "losing-once",
    "all-once",
    "acks",
    "delivered",
)
WIDTHS = {"uint32_t": 4, "int32_t": 4, "uint16_t": 2, "int16_t": 2}


class TcpSock(ctypes.Structure):
    """As linux_bpf_shim.h lays it out."""

    _fields_ = (
        ("sk_pacing_rate", ctypes.c_uint64),
        ("sk_pacing_status", ctypes.c_uint32),
        ("icsk_ca_priv", ctypes.c_uint64 * 13),
        ("tcp_mstamp", ctypes.c_uint64),
        ("mss_cache", ctypes.c_uint32),
        ("snd_cwnd", ctypes.c_uint32),
        ("lost_out", ctypes.c_uint32),
        ("lost", ctypes.c_uint32),
        ("bytes_sent", ctypes.c_uint64),
    )


class CappedSock(ctypes.Structure):
    """.. where the policy is told of the owner's cap."""

    _fields_ = (TcpSock._fields_[0], ("sk_max_pacing_rate", ctypes.c_uint64), *TcpSock._fields_[1:])


class AckedSock(ctypes.Structure):
    """.. where the policy looks at what was acknowledged."""

    _fields_ = (*TcpSock._fields_, ("bytes_acked", ctypes.c_uint64))


class MarkedSock(ctypes.Structure):
    """.. and at how much of it was marked."""

    _fields_ = (*AckedSock._fields_, ("delivered_ce", ctypes.c_uint32))


SOCKS: dict[str, type[ctypes.Structure]] = {"told": CappedSock, "acks": MarkedSock, "delivered": AckedSock}
"""Of students whose adapter reads more of a socket."""


class AckSample(ctypes.Structure):
    _fields_ = (("pkts_acked", ctypes.c_uint32), ("rtt_us", ctypes.c_int32))


@pytest.fixture(scope="module")
def built(firmware, run, tmp_path_factory) -> Callable[..., Path]:
    """The object file of a student."""

    def build(student: str, *flags: str) -> Path:
        folder, made = firmware(student, "linux-bpf"), tmp_path_factory.mktemp("bpf") / "rlcc_bpf.o"
        done = run(*CLANG, *STRICT, LICENCE, *flags, "-I", folder, "-c", folder / "rlcc_bpf.c", "-o", made)
        assert done.returncode == 0, done.stderr
        return made

    return build


class OnHost:
    """The adapter as the host's compiler builds it."""

    def __init__(self, path: Path) -> None:
        self.code = ctypes.CDLL(str(path))

    def call(self, name: str, sock: TcpSock, sample: AckSample) -> None:
        arguments = (ctypes.c_uint64 * 2)(ctypes.addressof(sock), ctypes.addressof(sample))
        getattr(self.code, name)(arguments)

    def tune(self, words: list[int]) -> None:
        memory = (ctypes.c_uint32 * len(words)).in_dll(self.code, "rlcc_tuned")
        memory[:] = words


class InVm:
    """The BPF object in the interpreter."""

    def __init__(self, path: Path) -> None:
        self.machine = Machine(path)

    def call(self, name: str, sock: TcpSock, sample: AckSample) -> None:
        places = [self.machine.map(bytes(sock)), self.machine.map(bytes(sample))]
        context = self.machine.map(b"".join(place.to_bytes(8, "little") for place in places))
        self.machine.call(name, context)
        ctypes.memmove(ctypes.addressof(sock), bytes(self.machine.regions[places[0]]), ctypes.sizeof(sock))
        for place in (*places, context):
            del self.machine.regions[place]

    def tune(self, words: list[int]) -> None:
        place = self.machine.symbols["rlcc_tuned"]
        for index, word in enumerate(words):
            self.machine.write(place + 4 * index, 4, word)


@dataclass
class Tuning:
    """rlcc_tuned as the adapter has it by default."""

    params: dict[str, int]
    line_rate: int = LINE_RATE
    start: int = 1 << 27
    shift: int = 0
    least: int = 0
    window: int = 0

    def words(self) -> list[int]:
        line = [self.line_rate & 0xFFFFFFFF, self.line_rate >> 32]
        params = [
            *self.params.values(),
            *([0] if len(self.params) % 2 else []),
        ]  # 64 bits stand at a multiple of 8 bytes
        return [*params, *line, self.start, self.shift, self.least, self.window]

    def of_new(self) -> dict[str, int]:
        """The parameters with the start of a new connection."""
        policys = self.params["rate_initial_q30"]
        return self.params | {"rate_initial_q30": min(policys, self.start or policys)}


def paced(line_rate: int, mss: int) -> int:
    """Of a line's bytes a second the payload."""
    return line_rate * mss // (mss + 66) if mss else line_rate


BEYOND = [0, 2**31, 0, 2**32 - 1, 2**24 + 1, 2**25, 0, 2**32 - 1, 2**32 - 1, 0]
"""Of each parameter a value that no operator may set."""


def expected_window(flow: Flow, rate: int, rtt_us: int, mss: int, before: int) -> int:
    if flow.in_flight and mss:
        return min(max(flow.in_flight // mss, 4), 1 << 20)
    if rtt_us == 0 or mss == 0:
        return before
    return min(max(rate * rtt_us // 500_000 // mss, 4), 1 << 20)


def drive(side: OnHost | InVm, student: str, *, acks: int = 250) -> Iterator[str]:
    """ACKs of one socket; where it was not what the integer program and the documented map to TCP give."""
    rng, losses = np.random.default_rng(11), np.random.default_rng(12)
    tuned = Tuning(STUDENTS[student].params())
    told = "device_rate_q20" in STUDENTS[student].observation.agents.event_names
    sock, flow = SOCKS.get(student, TcpSock)(snd_cwnd=10, mss_cache=536), Flow(STUDENTS[student].program())
    once = decides_once(STUDENTS[student].program())
    most = 2**64 - 1
    sock.icsk_ca_priv[:] = [0x0000000100000001] * 13  # another's leavings
    now, decided, rtt, least = 2**32 - 3000, 0, 0, 0  # the 32 bits of the time wrap soon
    sock.lost, sock.bytes_sent = 2**32 - 40, 2**32 - 10**5  # these wrap too
    sock.bytes_acked, sock.delivered_ce, marks = 2**32 - 10**5, 2**32 - 10, 0
    side.tune(tuned.words())  # without the adapter's slow start, which has a test of its own
    if "brake_above_q10" in tuned.params:  # nothing but a loss ends a long start
        tuned.start = 1 << 24
        tuned.params |= {"slow_start_until_q10": 1 << 24, "brake_above_q10": 1 << 24, "rate_initial_q30": 1 << 14}
        side.tune(tuned.words())
    if student in ("losing", "losing-once"):
        tuned.least = 1
        side.tune(tuned.words())
    if told:
        sock.sk_max_pacing_rate = most
    side.call("rlcc_init", sock, AckSample())
    flow.without_decision(tuned.of_new())
    if (sock.sk_pacing_rate, sock.sk_pacing_status) != ((paced(tuned.line_rate, sock.mss_cache) * flow.rate) >> 20, 1):
        yield f"at the start: {sock.sk_pacing_rate}"
    for number in range(acks):
        if number == acks // 3:
            halves = {name: value // 2 for name, value in tuned.params.items()}
            tuned = Tuning(halves, 3_125_000_000, start=0, shift=3, least=1)
            side.tune(tuned.words())
        if number == 2 * acks // 3:  # out of range, one by one: the defaults
            side.tune([*BEYOND[: len(tuned.params)], 0, 2**31, 2**31, 11, 2, 1025])
            tuned = Tuning(STUDENTS[student].params(), 1 << 40, start=0)
        now += int(rng.integers(1, 40))
        if told and number % 10 == 5:
            most = (2**64 - 1, tuned.line_rate // 3, tuned.line_rate // 5000, 0)[losses.integers(4)]
        if told:
            sock.sk_max_pacing_rate = most
        measured = int(
            rng.choice([-1, 0, rng.integers(4, 300), rng.integers(4, 300), 2**31 - 1], p=[0.1, 0.1, 0.4, 0.38, 0.02])
        )
        sock.tcp_mstamp, sock.mss_cache = now, int(rng.choice([0, 536, 1448, 8948]))
        before, lost, sent = (
            sock.snd_cwnd,
            int(losses.choice([0, 0, 0, 3])) * (number > 20),
            int(losses.integers(20_000)),
        )
        sock.lost, sock.bytes_sent = (sock.lost + lost) & 0xFFFFFFFF, sock.bytes_sent + sent
        acked, marked = number * 7919 % 30_000, number * 31 % 5
        sock.bytes_acked += acked
        sock.delivered_ce, marks = (sock.delivered_ce + marked) % 2**32, marks + marked
        flow.count(nack_count=lost, sent_bytes=sent, acked_bytes=acked)
        measured = measured if number else -1
        sample = AckSample(1, measured)
        side.call("rlcc_pkts_acked", sock, sample)
        if measured > 0:
            least = min(least or measured, measured)
        passed = ((now & 0xFFFFFFFF) - decided) % 2**32
        if measured > 0 and (rtt == 0 or passed >= (measured if once else rtt)):
            rtt, decided = min(least if tuned.least else measured, 4_294_967), now & 0xFFFFFFFF
            least = 0
            if rtt > 10**6:
                now += rtt  # else nothing would be decided for the rest of the test
            full = paced(tuned.line_rate, sock.mss_cache)
            in_force = flow.rate if most >= (full * flow.rate) >> 20 else (most << 20) // full + 1
            sent_ns, response_ns = 0, 1000 * rtt >> tuned.shift
            if once:  # the policy's clock goes on by what has passed
                clock = flow.state.get("decided_ns", 0) + (1000 * min(passed, 4_294_967) >> tuned.shift)
                sent_ns, response_ns = (clock - response_ns) % 2**32, clock % 2**32
            flow.count(marked_bytes=marks * sock.mss_cache)
            marks = 0
            flow.decide(tuned.of_new(), request_sent_ns=sent_ns, response_ns=response_ns, device_rate_q20=in_force)
            if flow.late:
                yield f"ack {number}: late"
        side.call("rlcc_cong_control", sock, sample)
        rate = min((paced(tuned.line_rate, sock.mss_cache) * flow.rate) >> 20, most)
        wanted = (rate, 1, expected_window(flow, rate, rtt, sock.mss_cache, before))
        got = (sock.sk_pacing_rate, sock.sk_pacing_status, sock.snd_cwnd)
        if got != wanted:
            yield f"ack {number}: {got}, expected {wanted}"


@pytest.mark.slow_except("v3-rl_cc", "v1-table", "v4-losing-once", "v3-all-once", "v4-acks")
@pytest.mark.parametrize("student", FITTING)
@pytest.mark.parametrize("flags", [("-mcpu=v3",), ("-mcpu=v1", "-O1"), ("-mcpu=v4",)], ids=lambda f: f[0][-2:])
def test_the_vm_does_what_the_integer_program_and_the_map_to_tcp_say(student, flags, built):
    assert list(drive(InVm(built(student, *flags)), student)) == []


@pytest.mark.slow_except("options", "all-once", "losing-once", "acks", "delivered", "table")
@pytest.mark.parametrize("student", FITTING)
def test_so_does_the_host_build(student, firmware, library):
    assert list(drive(OnHost(library(firmware(student, "linux-bpf"), "rlcc_bpf.c")), student, acks=1000)) == []


OPENING = ("rl_cc", "losing", "told")
"""Whose policies have no start of their own, and a first rate that can be set."""


def opened_wrongly(side: OnHost | InVm, student: str, *, connections: int = 60) -> Iterator[str]:
    """Connections from their first ACK to the policy's first decisions; where they were not as docs/how-to/targets.md
    says."""
    rng = np.random.default_rng(5)
    told = "device_rate_q20" in STUDENTS[student].observation.agents.event_names
    for number in range(connections):
        tuned = Tuning(STUDENTS[student].params(), int(rng.choice([10**6, 12_500_000, LINE_RATE, 1 << 40])))
        tuned.window = int(rng.choice([1, 4, 10, 1024]))
        base_us, tuned.shift = [(8, 0), (100, 0), (100, 4), (1000, 4)][rng.integers(4)]
        tuned.params |= {"base_rtt_recip_q42": 2**42 // max(1000 * base_us >> tuned.shift, 1)}
        if RTT_SLACK in tuned.params:
            tuned.params[RTT_SLACK] = int(rng.integers(0, 3)) * (1000 * base_us >> tuned.shift) // 8
        side.tune(tuned.words())
        mss = int(rng.choice([536, 1448, 8948]))
        sock, flow = SOCKS.get(student, TcpSock)(snd_cwnd=10, mss_cache=mss), Flow(STUDENTS[student].program())
        most = tuned.line_rate // 5 if told and number % 2 else 2**64 - 1
        if told:
            sock.sk_max_pacing_rate = most
        side.call("rlcc_init", sock, AckSample())
        if sock.snd_cwnd != tuned.window:
            yield f"connection {number} begins with {sock.snd_cwnd} packets"
        pacing = sock.sk_pacing_rate
        for ack in range(40):
            rtt = int(rng.integers(base_us, 1 + base_us * 15 // 10 + (base_us if ack > 8 else 0)))
            sock.tcp_mstamp += rtt
            acked = int(rng.integers(0, 3 * sock.snd_cwnd))
            sock.lost_out = int(rng.random() < 0.02)
            before = sock.snd_cwnd
            side.call("rlcc_pkts_acked", sock, AckSample(acked, rtt))
            side.call("rlcc_cong_control", sock, AckSample(acked, rtt))
            rate = before * (mss + 66) * 10**6 // rtt
            late = ((1000 * rtt >> tuned.shift) + tuned.params.get(RTT_SLACK, 0)) * tuned.params[
                "base_rtt_recip_q42"
            ] > 3 << 41
            if not (late or sock.lost_out or rate >= tuned.line_rate):
                pacing = min(paced(min(2 * rate, tuned.line_rate), mss), most)
                wanted = (before + min(acked, before), pacing)
                if (sock.snd_cwnd, sock.sk_pacing_rate) != wanted:
                    yield f"connection {number}, ack {ack}: {sock.snd_cwnd, sock.sk_pacing_rate}, not {wanted}"
                continue
            low, high = (tuned.params[f"rate_{end}_q30"] >> 10 for end in ("min", "max"))
            first = (min(rate, tuned.line_rate) << 19) // tuned.line_rate
            policys = tuned.of_new()["rate_initial_q30"]
            first = first if low + 1 <= first <= high else (policys >> 10) + 1
            full = paced(tuned.line_rate, mss)
            in_force = first if most >= (full * first) >> 20 else (most << 20) // full + 1
            flow.count(nack_count=0, sent_bytes=0)
            params = tuned.params | {"rate_initial_q30": first << 10}
            flow.decide(params, request_sent_ns=0, response_ns=1000 * rtt >> tuned.shift, device_rate_q20=in_force)
            wanted_rate = min((full * flow.rate) >> 20, most)
            if sock.sk_pacing_rate != wanted_rate:
                yield f"connection {number} is handed over at {sock.sk_pacing_rate}, not {wanted_rate}"
            break


@pytest.mark.slow_except("told", "rl_cc")
@pytest.mark.parametrize("student", OPENING)
def test_a_connection_opens_with_a_slow_start(student, firmware, library, built):
    assert (
        list(opened_wrongly(OnHost(library(firmware(student, "linux-bpf"), "rlcc_bpf.c")), student, connections=400))
        == []
    )
    assert list(opened_wrongly(InVm(built(student, "-mcpu=v3")), student)) == []


OPENERS = {
    "no brake on a late RTT": ("<= RLCC_LATE_Q42)", "<= (RLCC_LATE_Q42 << 8U))"),
    "no brake on a loss": ("(tp->lost_out == 0U)", "(tp->lost_out != 77U)"),
    "beyond the line": ("(rate < line_rate)) {", "(rate != 0U)) {"),
    "the whole window": ("(most << 19U)", "(most << 20U)"),
    "all that is acknowledged": ("((acked < window) ? acked : window)", "acked"),
    "not paced": ("            sk->sk_pacing_rate = paced;", "            (void)paced;"),
    "the kernel's first window": ("        tp->snd_cwnd = window;\n    }\n    sk", "    }\n    sk"),
    "the policy's first rate": ("        params.rate_initial_q30 = context->rate_q20 << 10U;", ""),
    "an hour of it": ("    context->starting = 0U;", ""),
}


@pytest.mark.parametrize("name", OPENERS)
def test_a_broken_opening_is_noticed(name, firmware, library):
    path = library(firmware("rl_cc", "linux-bpf"), "rlcc_bpf.c", edit=("rlcc_bpf.c", *OPENERS[name]))
    assert any(opened_wrongly(OnHost(path), "rl_cc", connections=400))


MUTANTS = {
    "rl_cc": {
        "ns for us": ("rtt_us * 1000U", "rtt_us * 1024U"),
        "a decision an ACK": (">= context->rtt_us)", ">= 0U)"),
        "time compared, not subtracted": (
            "(now_us - context->decided_us) >= context->rtt_us",
            "now_us >= (context->decided_us + context->rtt_us)",
        ),
        "invalid samples taken": ("measured_us <= 0", "measured_us == 0"),
        "no check of the parameters": (
            "((value < low) || (value > high)) ? otherwise : value",
            "(low > high) ? otherwise : value",
        ),
        "line rate overflows": ("(tuned > RLCC_LINE_RATE_MOST) ? RLCC_LINE_RATE_MOST : tuned", "tuned"),
        "one round trip of window": ("500000U", "1000000U"),
        "another's context": ("context->flow.rate_q30 = 0;", ""),
        "the policy's own start": ("params->rate_initial_q30 = rlcc_tuned.rate_start_q30;", ""),
        "an initial window at once": ("    sk->sk_pacing_rate = rlcc_pacing_rate(tp, context);\n}", "}"),
        "the wire paced as payload": ("(wire * payload) / (payload + RLCC_WIRE_OVERHEAD)", "wire"),
        "no payload": ("(payload == 0U) ? wire :", "(payload > 65535U) ? wire :"),
        "ns for the tuned unit": ("(rtt_us * 1000U) >> shift", "(rtt_us * 1000U)"),
        "any unit": ("0U, RLCC_TIME_SHIFT_MOST, 0U", "0U, 31U, 0U"),
        "the last for the least": ("(rlcc_tuned.least_of_trip == 1U)", "(rlcc_tuned.least_of_trip == 3U)"),
        "the least of all time": ("        context->least_us = 0U;\n    }", "    }"),
        "a stall": ("(packets < RLCC_WINDOW_LEAST) ? RLCC_WINDOW_LEAST : packets", "packets"),
    },
    "losing": {
        "losses counted twice": ("        context->nack_count = tp->lost;", ""),
        "bytes counted twice": ("        context->sent_bytes = (uint32_t)tp->bytes_sent;", ""),
        "another's least": ("    context->least_us = 0U;\n    context->nack", "    context->nack"),
        "no losses": ("tp->lost - context->nack_count", "0U"),
    },
    "options": {
        "another's losses": ("    context->nack_count = tp->lost;\n    sk", "    sk"),
        "the window kept": ("        context->in_flight_bytes = action.in_flight_bytes;", ""),
        "no window before the first decision": ("rlcc_first_in_flight(&params)", "0U"),
        "bytes for packets": ("context->in_flight_bytes / mss", "context->in_flight_bytes"),
    },
}
MUTANTS["acks"] = {
    "bytes sent for bytes acknowledged": ("(uint32_t)tp->bytes_acked - context", "(uint32_t)tp->bytes_sent - context"),
    "acknowledged twice": ("        context->acked_bytes = (uint32_t)tp->bytes_acked;", ""),
    "packets for bytes": ("(tp->delivered_ce - context->marked_bytes) * (uint32_t)rlcc_payload(tp)",
                          "(tp->delivered_ce - context->marked_bytes)"),
    "marked twice": ("        context->marked_bytes = tp->delivered_ce;", ""),
}  # fmt: skip
MUTANTS["told"] = {
    "the cap not told": ("most < ((full * rate_q20) >> 20U)", "most < 0U"),
    "the cap not kept": ("(asked < most) ? asked : most", "asked"),
    "nothing told where there is no rate": ("/ full) + 1U", "/ full)"),
}
"""Of the adapter, by the student around which it is broken."""


@pytest.mark.parametrize(("student", "name"), [(student, name) for student in MUTANTS for name in MUTANTS[student]])
def test_a_broken_adapter_is_noticed(student, name, firmware, library):
    path = library(firmware(student, "linux-bpf"), "rlcc_bpf.c", edit=("rlcc_bpf.c", *MUTANTS[student][name]))
    assert any(drive(OnHost(path), student, acks=1000))


@pytest.mark.slow_except("all-once", "table", "delivered")
@pytest.mark.parametrize("student", FITTING)
def test_the_policys_own_vectors_hold_in_the_vm(student, firmware, built):
    """rlcc_decide alone, every fifth row of vectors.csv: any bit pattern of event, parameters and context."""
    folder = firmware(student, "linux-bpf")
    layout = opened(folder, "firmware").details["layout"]
    machine = Machine(built(student))
    with (folder / "vectors.csv").open() as file:
        rows = list(csv.DictReader(file))[::5]
    for row in rows:
        places = {}
        for kind in ("context", "event", "params"):
            places[kind] = machine.map(bytes(layout[kind]["size"]))
            for f in layout[kind]["fields"]:
                machine.write(places[kind] + f["offset"], WIDTHS[f["ctype"]], int(row[f"{kind}.{f['name']}"]))
        if "action" in layout:
            places["action"] = machine.map(bytes(layout["action"]["size"]))
        rate = (machine.call("rlcc_decide", *places.values()) or 0) & 0xFFFFFFFF
        got = {"rate_q20": rate} | {
            f["name"]: machine.read(places["action"] + f["offset"], 4)
            for f in layout.get("action", {}).get("fields", [])
        }
        after = {
            f["name"]: machine.read(places["context"] + f["offset"], WIDTHS[f["ctype"]])
            for f in layout["context"]["fields"]
        }
        wanted = {
            f["name"]: int(row[f"expect.context.{f['name']}"]) % (1 << 8 * WIDTHS[f["ctype"]])
            for f in layout["context"]["fields"]
        }
        assert (got, after) == ({name: int(row[f"expect.{name}"]) for name in got}, wanted), row["kind"]
        for place in places.values():
            del machine.regions[place]


INSTRUCTIONS = """
#include <stdint.h>
#define EACH(T, U) \\
    q[n++] = (uint64_t)(T)((T)a + (T)b); q[n++] = (uint64_t)((T)a - (T)b); q[n++] = (uint64_t)((T)a * (T)b); \\
    q[n++] = (uint64_t)((T)a & (T)b); q[n++] = (uint64_t)((T)a | (T)b); q[n++] = (uint64_t)((T)a ^ (T)b); \\
    q[n++] = (uint64_t)((U)a << (b & (8 * sizeof(T) - 1))); q[n++] = (uint64_t)((T)a >> (b & (8 * sizeof(T) - 1))); \\
    q[n++] = (T)a > (T)b ? 3 : 5; q[n++] = (T)a >= (T)b ? 3 : 5; q[n++] = (T)a == (T)b ? 3 : 5; \\
    q[n++] = (T)a < 77 ? 3 : 5; \\
    q[n++] = (uint64_t)-(T)a; q[n++] = (uint64_t)(T)~(T)a; q[n++] = (T)a <= (T)b ? 3 : 5; q[n++] = (T)a != (T)b ? 3 : 5;
#define DIVIDE(T) q[n++] = (T)b ? (T)a / (T)b : 1; q[n++] = (T)b ? (T)a % (T)b : 1;
uint64_t f(volatile uint64_t *p, volatile uint64_t *q);
uint64_t f(volatile uint64_t *p, volatile uint64_t *q)
{
    const uint64_t a = p[0], b = p[1];
    int n = 0;

    EACH(uint64_t, uint64_t) EACH(int64_t, uint64_t) EACH(uint32_t, uint32_t) EACH(int32_t, uint32_t)
    DIVIDE(uint64_t) DIVIDE(uint32_t)
    q[n++] = (uint64_t)*(volatile int8_t *)(p + 1); q[n++] = (uint64_t)*(volatile int16_t *)(p + 1);
    q[n++] = (uint64_t)*(volatile int32_t *)(p + 1); q[n++] = *(volatile uint16_t *)((volatile char *)p + 6);
    *(volatile uint8_t *)(q + n) = (uint8_t)a; n++;
    *(volatile uint32_t *)(q + n) = 0xFEDCBA98U; n++;
    q[n++] = __builtin_bswap64(a); q[n++] = __builtin_bswap32((uint32_t)a); q[n++] = __builtin_bswap16((uint16_t)a);
    return (uint64_t)n;
}
"""


@pytest.mark.parametrize("cpu", ["v1", "v3", "v4"])
def test_the_vm_computes_as_the_host_does(cpu, host_compiler, run, tmp_path):
    source = tmp_path / "instructions.c"
    source.write_text(INSTRUCTIONS)
    flags = ("-O1", "-fwrapv", "-Wno-everything")
    on_bpf = run(*CLANG, *flags, f"-mcpu={cpu}", "-fno-sanitize=all", "-c", source, "-o", tmp_path / "bpf.o")
    assert on_bpf.returncode == 0, on_bpf.stderr
    here = run(*host_compiler, "-O1", "-fwrapv", "-shared", "-fPIC", source, "-o", tmp_path / "host.so")
    assert here.returncode == 0, here.stderr
    host, machine = ctypes.CDLL(str(tmp_path / "host.so")), Machine(tmp_path / "bpf.o")
    rng = np.random.default_rng(2)
    values = [0, 1, 76, 77, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
    for _ in range(150):
        pair = [int(rng.choice(np.array(values, dtype=np.uint64))), int(rng.integers(2**64, dtype=np.uint64))]
        pair = pair[:: int(rng.choice([1, -1]))]
        given, wanted = (ctypes.c_uint64 * 2)(*pair), (ctypes.c_uint64 * 100)()
        places = [machine.map(bytes(given)), machine.map(bytes(wanted))]
        assert machine.call("f", *places) == host.f(given, wanted)
        assert bytes(machine.regions[places[1]]) == bytes(wanted), pair
        for place in places:
            del machine.regions[place]


def test_the_vm_refuses_what_a_verifier_would(run, tmp_path):
    programs = {
        "outside": "uint64_t f(uint64_t *p) { return p[2]; }",
        "store": "uint64_t f(uint64_t *p) { *(volatile uint8_t *)((char *)p - 1) = 1; return 0; }",
        "forever": "uint64_t f(volatile uint64_t *p) { while (*p == 0) { } return 0; }",
        "deep": "__attribute__((noinline)) uint64_t f(uint64_t *p) { volatile uint64_t a = *p; return f(p) + a; }",
        "helper": "uint64_t f(uint64_t *p) { return ((uint64_t (*)(void))5)() + *p; }",
    }
    for name, text in programs.items():
        (tmp_path / f"{name}.c").write_text(f"#include <stdint.h>\n{text}\n")
        done = run(*CLANG, "-Wno-infinite-recursion", "-c", tmp_path / f"{name}.c", "-o", tmp_path / f"{name}.o")
        assert done.returncode == 0, done.stderr
        machine = Machine(tmp_path / f"{name}.o")
        with pytest.raises(Fault):
            machine.call("f", machine.map(bytes(16)))


@pytest.mark.parametrize("student", FITTING)
def test_the_kernel_verifies_it_within_its_budget(student, built):
    """Loaded and thrown away, never attached. With a function a tree the count grows with the code, not with its
    paths."""
    counts = verified(built(student))
    assert set(counts) == {f"rlcc_{n}" for n in ("init", "pkts_acked", "cong_control", "ssthresh", "undo_cwnd")}
    assert max(counts.values()) < 8_000, counts


def test_with_the_trees_in_line_the_verifier_walks_their_paths(firmware, run, tmp_path):
    """So that the limit above means something."""
    folder = firmware("rl_cc", "linux-bpf")
    old = "#define RLCC_PART __attribute__((noinline))"
    text = (folder / "rlcc_bpf.c").read_text()
    assert old in text
    (tmp_path / "in_line.c").write_text(text.replace(old, "#define RLCC_PART static"))
    made = tmp_path / "in_line.o"
    done = run(*CLANG, LICENCE, "-I", folder, "-c", tmp_path / "in_line.c", "-o", made)
    assert done.returncode == 0, done.stderr
    assert verified(made)["rlcc_pkts_acked"] > 100_000
