"""Firmware folders made by hand: a tiny policy in C with its layout and vectors, small enough to check by eye."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from decision.artefact.documents import dump_json
from decision.artefact.output import writing
from decision.ir.forest import Forest
from decision.ir.interface import Interface, Knob, Signal, Uniform
from decision.ir.interfaces import INTERFACES
from decision.ir.program import Op, Program, ProgramBuilder
from decision.ir.program_json import program_to_json
from emulator import sources
from emulator.compile import toolchain
from emulator.timing import time_function

HEADER = """\
#ifndef RLCC_POLICY_H
#define RLCC_POLICY_H
#include <stdint.h>
typedef struct { uint32_t rate_q30; int16_t action_1; uint16_t seen; } rlcc_flow;
typedef struct { uint32_t request_sent_ns; uint32_t response_ns; } rlcc_event;
typedef struct { uint32_t base_rtt_recip_q32; } rlcc_params;
uint32_t rlcc_decide(rlcc_flow *flow, const rlcc_event *event, const rlcc_params *params);
#endif
"""

POLICY = """\
#include "rlcc_policy.h"
uint32_t rlcc_decide(rlcc_flow *flow, const rlcc_event *event, const rlcc_params *params) {
  const uint32_t rtt_ns = event->response_ns - event->request_sent_ns;
  const uint32_t inflation = (uint32_t)(((uint64_t)rtt_ns * params->base_rtt_recip_q32) >> 32);
  if (inflation > 3U) {
    flow->rate_q30 = flow->rate_q30 >> 1;
    flow->action_1 = -100;
  } else {
    flow->rate_q30 = flow->rate_q30 + 7U;
    flow->action_1 = 100;
  }
  flow->seen = (uint16_t)(flow->seen + 1U);
  return flow->rate_q30 >> 10;
}
"""

BY_HAND = Interface(
    name="by_hand",
    agent="flow",
    trigger="response",
    event=tuple(Signal(name, "ns", "time", Uniform(0, 2**32 - 1)) for name in ("request_sent_ns", "response_ns")),
    params=(Signal("base_rtt_recip_q32", "2^32 / ns", "reciprocal"),),
    knobs=(Knob("rate_q20", "line rate / 2^20", "rate", 0, 2**22 - 1),),
)
INTERFACES[BY_HAND.name] = BY_HAND  # as a file of decision/interfaces would


def program() -> Program:
    """What POLICY computes."""
    b = ProgramBuilder(Forest((), (), (0,), 16), BY_HAND)
    rate, _, seen = b.state_in("rate_q30", "uint32"), b.state_in("action_1", "int16"), b.state_in("seen", "uint16")
    rtt = b.add(Op.WRAP_SUB, (b.event("response_ns"), b.event("request_sent_ns")))
    inflation = b.add(Op.MUL_SHR, (rtt, b.param("base_rtt_recip_q32")), 32)
    congested = b.add(Op.GT, (inflation, b.const(3)))
    more = b.add(Op.WRAP_SUB, (rate, b.const(2**32 - 7)))
    new = b.add(Op.SELECT, (congested, b.add(Op.SHR, (rate,), 1), more))
    b.state_out("rate_q30", new)
    b.state_out("action_1", b.add(Op.SELECT, (congested, b.const(-100), b.const(100))))
    last = b.add(Op.EQ, (seen, b.const(2**16 - 1)))
    next_seen = b.add(Op.MIN, (b.add(Op.ADD, (seen, b.const(1))), b.const(2**16 - 1)))
    b.state_out("seen", b.add(Op.SELECT, (last, b.const(0), next_seen)))
    return b.finish(b.add(Op.SHR, (new,), 10))


STRUCTS = {
    "context": {
        "size": 8,
        "fields": [
            {"name": "rate_q30", "ctype": "uint32_t", "offset": 0},
            {"name": "action_1", "ctype": "int16_t", "offset": 4},
            {"name": "seen", "ctype": "uint16_t", "offset": 6},
        ],
    },
    "event": {
        "size": 8,
        "fields": [
            {"name": "request_sent_ns", "ctype": "uint32_t", "offset": 0},
            {"name": "response_ns", "ctype": "uint32_t", "offset": 4},
        ],
    },
    "params": {"size": 4, "fields": [{"name": "base_rtt_recip_q32", "ctype": "uint32_t", "offset": 0}]},
}

COLUMNS = [
    *("kind", "event.request_sent_ns", "event.response_ns", "params.base_rtt_recip_q32"),
    *("context.rate_q30", "context.action_1", "context.seen"),
    *("expect.rate_q20", "expect.context.rate_q30", "expect.context.action_1", "expect.context.seen"),
]


def decide(kind: str, sent: int, response: int, recip: int, rate: int, action: int, seen: int) -> tuple[Any, ...]:
    """POLICY again, in Python: one row of vectors.csv."""
    congested = ((response - sent) % 2**32 * recip >> 32) > 3
    new = rate >> 1 if congested else (rate + 7) % 2**32
    return (
        kind,
        sent,
        response,
        recip,
        rate,
        action,
        seen,
        new >> 10,
        new,
        -100 if congested else 100,
        (seen + 1) % 2**16,
    )


VECTORS = [
    decide("edge:new agent", 0, 0, 0, 0, 0, 0),
    decide("random", 1000, 9000, 2**32 // 8192, 2**29, 5, 41),
    decide("edge:congested", 1000, 1000 + 4 * 8192, 2**32 // 8192, 2**30, -32768, 65535),
    decide("edge:rtt wraps", 2**32 - 500, 4 * 8192 - 500, 2**32 // 8192, 12345678, 32767, 7),
    decide("edge:below", 0, 4 * 8192 - 1, 2**32 // 8192, 12345678, 0, 0),
    decide("edge:largest", 0, 2**32 - 1, 2**32 - 1, 2**32 - 1, 0, 0),
]

FolderMaker = Callable[..., Path]


@pytest.fixture
def firmware_folder(tmp_path: Path) -> FolderMaker:
    """Makes a firmware folder; every part can be replaced."""

    def make(
        policy: str = POLICY,
        vectors: Sequence[Sequence[Any]] = VECTORS,
        structs: Mapping[str, Any] = STRUCTS,
        header: str = HEADER,
        columns: Sequence[str] = COLUMNS,
        name: str = "firmware",
    ) -> Path:
        with writing(tmp_path / name, "firmware", details={"layout": structs}) as folder:
            (folder / "rlcc_policy.c").write_text(policy)
            (folder / "rlcc_policy.h").write_text(header)
            lines = [",".join(map(str, row)) for row in [columns, *vectors]]
            (folder / "vectors.csv").write_text("\n".join(lines) + "\n")
            (folder / "program.json").write_text(dump_json(program_to_json(program())))
        return tmp_path / name

    return make


@pytest.fixture
def policy_source() -> str:
    """The hand-written policy, for tests that edit it."""
    return POLICY


@pytest.fixture
def header_source() -> str:
    """Its header, for tests that edit it."""
    return HEADER


@pytest.fixture
def compiler_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets hand-made policies use words of the compiler's own that emitted C never has, to make a core trap."""
    allowed = sources.RESERVED | {"__builtin_trap", "__attribute__"}
    monkeypatch.setattr(sources, "RESERVED", allowed)


@pytest.fixture
def good_vectors() -> list[tuple[Any, ...]]:
    """Its vectors, for tests that edit them."""
    return list(VECTORS)


SnippetTimer = Callable[..., int]


def assembly(body: str) -> str:
    """A C file whose only function, f, is this assembly and a return."""
    lines = body.replace(";", "\\n")
    return f'__asm__(".text\\n.globl f\\n.type f,@function\\nf:\\n{lines}\\nret\\n.size f,.-f");\n'


@pytest.fixture
def cycles(tmp_path: Path) -> SnippetTimer:
    """Times a snippet of assembly and the return behind it on a profile's core."""

    def timed(body: str, profile: str | Path, row: tuple[int, ...] = (5, 3, 0, 7)) -> int:
        source = tmp_path / "snippet.c"
        source.write_text(assembly(body))
        return time_function(source, "f", [row], toolchain(profile)).cycles.max

    return timed


@pytest.fixture
def assembled(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a snippet of assembly as the function f of a C file."""

    def write(body: str) -> Path:
        source = tmp_path / "snippet.c"
        source.write_text(assembly(body))
        return source

    return write
